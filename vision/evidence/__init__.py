"""What was seen of a board, as every other room gets it, and what the box and the copy's habits
add to it."""
