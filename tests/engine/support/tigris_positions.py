"""Positions written as script lines, played and asserted."""

from tests.engine.support.positions import do, played, refused  # noqa: F401

# enough treasures for the game to go on
FAR = "layout P2 temple treasure O9 temple treasure K11 temple treasure\n"


def position(lines="", seats="bull lion", clear=True):
    """The state after these set-up lines, actions and expectations; on a bare board but for three
    far treasures."""
    return played(
        f"game tigris\nseats {seats}\n" + ("layout clear\n" + FAR if clear else "") + lines
    )
