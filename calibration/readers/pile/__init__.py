"""Old: fits `vision.readers.pile`."""
