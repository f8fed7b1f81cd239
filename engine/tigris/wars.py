"""The conflicts of a whole game, the biggest first, for the summary of the evening."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.game import Action
from engine.text import say
from engine.tigris.actions import Commit
from engine.tigris.moment import TEMPLES, side_strength, supporters_lost
from engine.tigris.position import Position
from engine.tigris.words import COLOURS, RED, colour_name, seat_name

SHOWN = 5


def greatest_wars(
    start: Position, played: Sequence[tuple[Action, Position]]
) -> list[dict[str, Any]]:
    """One table (as in `view`) with the conflicts that had most tiles on both sides together; [] if
    there were none."""
    rows: list[list[Any]] = []
    before = start
    for n, (action, after) in enumerate(played, 1):
        fight = before.fight
        if isinstance(action, Commit) and fight is not None and fight.added >= 0:
            attack = side_strength(before.pieces, fight, fight.attacker) + fight.added
            defence = side_strength(before.pieces, fight, fight.defender) + action.number
            loser = fight.defender if attack > defence else fight.attacker
            winner = fight.attacker if attack > defence else fight.defender
            lost = (
                0
                if fight.kind == TEMPLES
                else supporters_lost(before.pieces, fight, loser).bit_count()
            )
            who = [
                seat_name(before.seats[leader // 4])
                for leader in (fight.attacker, fight.defender, winner)
            ]
            colour = colour_name(COLOURS[RED if fight.kind == TEMPLES else fight.colour])
            rows.append(
                [
                    n,
                    say("{seat} with {n}", seat=who[0], n=attack),
                    say("{seat} with {n}", seat=who[1], n=defence),
                    colour,
                    who[2],
                    lost,
                    attack + defence,
                ]
            )
        before = after
    rows.sort(key=lambda row: -row[-1])
    if not rows:
        return []
    return [
        {
            "title": say("the biggest conflicts"),
            "rows": [row[:-1] for row in rows[:SHOWN]],
            "columns": [
                say("move"),
                say("attacker"),
                say("defender"),
                say("in"),
                say("won by"),
                say("tiles lost"),
            ],
        }
    ]
