"""Geometry: poses, lenses, sites, windows around them, and what pieces hide."""
