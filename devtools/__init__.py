"""What measures and tests the whole house: bench, soak run, self-test, load, and the docs'
pictures."""
