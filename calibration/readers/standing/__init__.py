"""Old: fits `vision.readers.standing`."""
