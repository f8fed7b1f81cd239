"""Light and colour: the room's light, and what a camera makes of it."""
