"""Old: loose pieces found and fitted."""
