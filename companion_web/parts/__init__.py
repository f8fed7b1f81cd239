"""The blueprints, one file each."""
