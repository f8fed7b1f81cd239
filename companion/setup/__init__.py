"""The first evening's questions, what to lay for a calibration, and the service."""
