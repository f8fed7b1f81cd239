"""Old: reads sites on which things stand. Its value: `reader.StandingReader`."""
