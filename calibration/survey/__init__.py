"""From calibration photos to a Registrar and each photo's pose. Entry point:
`registrar_fit.fit_registrar`."""
