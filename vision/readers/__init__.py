"""The matcher, a second voice beside `vision.learned` where pieces lie loose.

What lies in this package is old and will be deleted, with `calibration.readers`, which fits it."""
