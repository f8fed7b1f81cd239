"""Old: one picture made ready, a canvas seen straight from above."""
