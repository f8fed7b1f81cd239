"""Evidence about a board, in the form that all other rooms get, adjusted by the box's contents and
the copy's habits."""
