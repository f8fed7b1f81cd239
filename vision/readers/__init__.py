"""The matchers: one reader for each way of reading sites (`pile`, `loose`).

`vision.learned` takes their place: what lies in this package is old and will be deleted, with
`calibration.readers`, which fits it."""
