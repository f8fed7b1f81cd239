"""The table: the state of the game, its journal, and what it publishes."""
