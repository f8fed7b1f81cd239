"""Pieces the empty board together if no photo shows it. Entry point:
`reconstruct.with_empty_board`."""
