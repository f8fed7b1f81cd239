"""Light and colour: the room's light, what a camera makes of it, and what is burnt out or in
shadow."""
