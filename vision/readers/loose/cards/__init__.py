"""Old: cards and tiles that lie below loose pieces."""
