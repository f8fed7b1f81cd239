"""Old: reads sites on which pieces lie in piles. Its value: `reader.PileReader`."""
