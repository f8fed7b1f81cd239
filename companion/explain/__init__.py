"""What people did: the legal run of actions that explains what is seen, and the verdict."""
