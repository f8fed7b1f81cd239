"""Where the board lies in a picture. Its value: `vision.registration.registrar.Registrar`."""
