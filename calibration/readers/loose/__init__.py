"""Old: fits `vision.readers.loose`."""
