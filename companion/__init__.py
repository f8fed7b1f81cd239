"""Runs the table: configuration, camera to verdict, journal, commands."""

import os

# Before numpy comes: its matrix products are small here, and threads that wait for each other make
# them many times slower on a machine that does anything else.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
