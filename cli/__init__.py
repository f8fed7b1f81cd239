"""The commands, and the pages they serve."""
