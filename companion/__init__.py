"""Runs the table: from camera to verdict and journal, with configuration, set-up and printing."""

import os

# Set before numpy is loaded: the matrix products here are small, and on a busy machine threads that
# wait for each other make them many times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
