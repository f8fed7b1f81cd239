"""What can be going on inside an action (a conflict, a choice of treasures), and the sentences of
steps."""

from __future__ import annotations

from typing import Any

from engine.text import Text, say
from engine.tigris.pieces import Pieces
from engine.tigris.words import GREEN, RED, colour_name, kind_name, seat_name

TEMPLES, SUPPORTERS = "temples", "supporters"  # the two kinds of conflict


class Fight:
    """A conflict in which both sides add tiles: the numbers of the two leaders, and what the
    attacker has added (-1: nothing yet)."""

    __slots__ = ("added", "attacker", "colour", "defender", "kind")

    def __init__(
        self, kind: str, colour: int, attacker: int, defender: int, added: int = -1
    ) -> None:
        self.kind, self.colour, self.attacker, self.defender, self.added = (
            kind,
            colour,
            attacker,
            defender,
            added,
        )

    @property
    def adder(self) -> int:
        """The number of the leader whose side adds next."""
        return self.attacker if self.added < 0 else self.defender


def war_colours(pieces: Pieces) -> list[int]:
    """The colours that have two leaders in the kingdom of the union tile (T44)."""
    if pieces.union < 0:
        return []
    joined = pieces.region(pieces.union)
    count = [0, 0, 0, 0]
    for n, cell in enumerate(pieces.leaders):
        if cell >= 0 and joined >> cell & 1:
            count[n % 4] += 1
    return [c for c in range(4) if count[c] > 1]


def war_fight(pieces: Pieces, colour: int, active: int, players: int) -> Fight:
    """The conflict in a colour: the active player attacks if involved, otherwise the next involved
    player clockwise; the one after that defends (T45)."""
    joined = pieces.region(pieces.union)
    sides = [
        n
        for n, cell in enumerate(pieces.leaders)
        if cell >= 0 and n % 4 == colour and joined >> cell & 1
    ]
    sides.sort(key=lambda n: (n // 4 - active) % players)
    return Fight(SUPPORTERS, colour, sides[0], sides[1])


def side_of(pieces: Pieces, leader: int) -> int:
    """A leader's former kingdom: what is connected to it without the union tile (T46). A mask."""
    return pieces.board.flood(1 << pieces.leaders[leader], pieces.occupied & ~(1 << pieces.union))


def side_strength(pieces: Pieces, fight: Fight, leader: int) -> int:
    """The strength of a side on the board: temples next to its leader (T38), or supporters in its
    former kingdom (T46)."""
    if fight.kind == TEMPLES:
        return (pieces.board.near[pieces.leaders[leader]] & pieces.tiles[RED]).bit_count()
    return (side_of(pieces, leader) & pieces.tiles[fight.colour]).bit_count()


def supporters_lost(pieces: Pieces, fight: Fight, loser: int) -> int:
    """The tiles that leave the board with the losing leader (T48), without those that T49 spares in
    a red war. A mask."""
    lost = side_of(pieces, loser) & pieces.tiles[fight.colour]
    if fight.colour == RED:
        others = 0
        for n, cell in enumerate(pieces.leaders):
            if cell >= 0 and n % 4 != RED:
                others |= 1 << cell
        lost &= ~pieces.treasures & ~pieces.board.around(others)
    return lost


def treasure_choice(pieces: Pieces, active: int, players: int) -> tuple[int, int, int]:
    """The first trader, clockwise from the active seat, who takes treasures and has a choice:
    (seat, mask of the kingdom's treasures, mask of those of which one stays). (-1, 0, 0): there is
    none."""
    for owner, treasures, may_stay in treasure_claims(pieces, active, players):
        if may_stay & (may_stay - 1):
            return owner, treasures, may_stay
    return -1, 0, 0


def treasure_claims(pieces: Pieces, active: int, players: int) -> list[tuple[int, int, int]]:
    """The kingdoms with a trader and more than one treasure (T59), each as in `treasure_choice`."""
    lying, corner = pieces.treasures, pieces.board.corner
    out = []
    for mask, leaders, _ in pieces.kingdoms() if lying & (lying - 1) else ():
        treasures = mask & lying
        if treasures & (treasures - 1):
            traders = [n // 4 for n in leaders if n % 4 == GREEN]
            if traders:
                owner = min(traders, key=lambda s: (s - active) % players)
                out.append((owner, treasures, (treasures & ~corner) or treasures))
    return sorted(out, key=lambda c: (c[0] - active) % players) if out else out


def step_sentence(template: str, args: dict[str, Any]) -> Text:
    """The sentence of a step: `piece` is a kind, `colour` a colour, `seat` and `other` are
    seats."""
    named = {"piece": kind_name, "colour": colour_name, "seat": seat_name, "other": seat_name}
    return say(template, **{k: named[k](v) if k in named else v for k, v in args.items()})
