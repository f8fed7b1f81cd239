"""Locates the board in a picture. Entry point: `vision.registration.registrar.Registrar`."""
