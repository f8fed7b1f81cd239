"""Fits the matcher of `vision.readers` to a copy's photos; old as it is, and deleted with it."""
