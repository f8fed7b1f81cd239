"""What stands on one cell, as a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from engine.deluge.words import COLOURS
from engine.game import BadText
from engine.layout import Contents

Four = tuple[int, int, int, int]  # one number per colour (COLOURS)
NONE: Four = (0, 0, 0, 0)
_INDEX = {c: i for i, c in enumerate(COLOURS)}


class Cell(msgspec.Struct, frozen=True, cache_hash=True):
    """taken: by fanatics (D32); flooded: now a sea cell (D47); counted: already on the counter
    (D44)."""

    people: Four = NONE
    soldiers: Four = NONE
    ships: Four = NONE
    dolmens: Four = NONE
    fanatics: int = 0
    mines: int = 0
    bare: tuple[str, ...] = ()  # forest spots covered, in the plan's order
    taken: bool = False
    flooded: bool = False
    counted: bool = False

    @property
    def pawns(self) -> int:
        """People, slaves and soldiers; not fanatics."""
        return sum(self.people) + sum(self.soldiers)

    def ruler(self) -> int | None:
        """The index of the land's ruler (D7): the one colour with soldiers, otherwise the one
        colour with people; None if there is none."""
        if self.taken or self.flooded:
            return None
        return sole_colour(self.soldiers if any(self.soldiers) else self.people)

    def slaves(self) -> Four:
        """People of other colours than the soldiers that hold the cell."""
        holder = self.ruler() if any(self.soldiers) else None
        if holder is None:
            return NONE
        yellow, blue, green, white = (0 if i == holder else n for i, n in enumerate(self.people))
        return yellow, blue, green, white

    def free(self, seat: int) -> int:
        """People of a colour that are nobody's slaves."""
        return self.people[seat] - self.slaves()[seat]

    def contents(self) -> Contents:
        """The contents as a layout lists them: pieces of a cluster, in a fixed order."""
        return _kinds_on(self)

    @classmethod
    def of(cls, kinds: Iterable[str]) -> Cell:
        """The cell that these pieces make. Raises BadText for a kind that cannot lie on a cell."""
        fours = {"people": [0] * 4, "soldier": [0] * 4, "ship": [0] * 4, "dolmen": [0] * 4}
        counts = Counter(kinds)
        fanatics, mines, water = (
            counts.pop("fanatic", 0),
            counts.pop("mine", 0),
            counts.pop("water", 0),
        )
        for kind, n in counts.items():
            head, _, colour = kind.partition(":")
            if head not in fours or colour not in _INDEX:
                raise BadText(f"{kind} is not a piece that lies on a cell")
            fours[head][_INDEX[colour]] += n
        people, soldiers, ships, dolmens = (
            _four_numbers(fours[head]) for head in ("people", "soldier", "ship", "dolmen")
        )
        return cls(people, soldiers, ships, dolmens, fanatics, mines, flooded=bool(water))


@lru_cache(maxsize=4096)
def _kinds_on(cell: Cell) -> Contents:
    out: list[str] = ["water"] if cell.flooded else []
    for name, four in (
        ("people", cell.people),
        ("soldier", cell.soldiers),
        ("ship", cell.ships),
        ("dolmen", cell.dolmens),
    ):
        for colour, n in zip(COLOURS, four):
            out += [f"{name}:{colour}"] * n
    return tuple(out + ["fanatic"] * cell.fanatics + ["mine"] * cell.mines)


def sole_colour(four: Four) -> int | None:
    """The index of the only colour that has any; None if none or several have."""
    return four.index(sum(four)) if four.count(0) == 3 else None


def _four_numbers(numbers: Sequence[int]) -> Four:
    a, b, c, d = numbers
    return a, b, c, d


def add_pawns(four: Four, index: int, n: int) -> Four:
    """The four numbers with n added to one colour."""
    out = list(four)
    out[index] += n
    return _four_numbers(out)


def fight_out(four: Four) -> Four:
    """The numbers after a fight, one for one until at most one colour is left (D17, D20, D22);
    equal numbers all vanish (D21)."""
    out = list(four)
    while sum(1 for n in out if n) > 1:
        least = min(n for n in out if n)
        out = [n - least if n else 0 for n in out]
    return _four_numbers(out)
