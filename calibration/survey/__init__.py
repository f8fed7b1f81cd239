"""From calibration photos to a Registrar and each photo's pose. Its value:
`registrar_fit.fit_registrar`."""
