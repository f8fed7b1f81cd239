"""The first evening's questions, what to lay out for a calibration, and the service."""
