"""Simulated hours at a table where everything goes wrong: does the state stay true, and is nothing
lost?

    python -m devtools.soak --hours 4 --seed 1

The table runs in a process of its own (journal, loop, supervisor, page, club: the real ones; only
camera and reading are simulated), so that it can be killed with -9 while it is writing. The world
around it plays, and breaks things.
"""
