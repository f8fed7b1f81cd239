"""Cuts the pieces out of a copy's samplers: where each lies, which it is, and how it looks."""
