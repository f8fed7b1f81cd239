"""What measures and tries the whole house: bench, soak run, self-test, the docs' pictures."""
