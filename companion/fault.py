"""What bad input raises."""

from __future__ import annotations


class Fault(Exception):
    """Bad input: one line on stderr, exit code 2."""
