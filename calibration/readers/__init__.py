"""Fits the matchers of `vision.readers` to a copy's photos; old as they are, and deleted with
them."""
