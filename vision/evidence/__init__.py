"""What was seen of a board, as every other room gets it, and how its probabilities are made to mean
what they say."""
