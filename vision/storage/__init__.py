"""Model files and photos, read and written."""
