"""What can be done, and its notation (DESIGN 8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from engine.game import Action, BadText
from engine.text import whole_number
from engine.tigris.board import Board
from engine.tigris.words import COLOUR_OF, COLOURS, SEATS

BAG = "bag"


class Tile(Action, frozen=True):
    colour: str
    site: str

    def words(self) -> str:
        return f"tile {self.colour} {self.site}"


class Leader(Action, frozen=True):
    """`origin` None: from beside the board; `target` None: taken off the board."""

    colour: str
    origin: str | None
    target: str | None

    def words(self) -> str:
        if self.origin is None:
            return f"leader {self.colour} {self.target}"
        return f"leader {self.colour} {self.origin}>{self.target or ''}"


class Catastrophe(Action, frozen=True):
    site: str

    def words(self) -> str:
        return f"catastrophe {self.site}"


class Swap(Action, frozen=True):
    """`colours` in the order of COLOURS where the hand is known, else () and only their number."""

    number: int
    colours: tuple[str, ...] = ()

    def words(self) -> str:
        return "swap " + (" ".join(self.colours) if self.colours else str(self.number))


class Pass(Action, frozen=True):
    def words(self) -> str:
        return "pass"


class Commit(Action, frozen=True):
    number: int

    def words(self) -> str:
        return f"commit {self.number}"


class War(Action, frozen=True):
    colour: str

    def words(self) -> str:
        return f"war {self.colour}"


class Build(Action, frozen=True):
    """`site` is the upper left of the square."""

    monument: str
    site: str

    def words(self) -> str:
        return f"build {self.monument} {self.site}"


class Keep(Action, frozen=True):
    def words(self) -> str:
        return "keep"


class Treasure(Action, frozen=True):
    """All that are taken, in the plan's order."""

    sites: tuple[str, ...]

    def words(self) -> str:
        return "treasure " + " ".join(self.sites)


class Draw(Action, frozen=True):
    """The bag's doing: what `drawer` drew, in the order of COLOURS. `seat` is "bag"."""

    drawer: str
    colours: tuple[str, ...]

    def words(self) -> str:
        return " ".join(("draw", self.drawer, *self.colours))


def sorted_colours(colours: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(colours, key=COLOURS.index))


class Reader:
    """Reads the notation for one board. `stands(seat, colour)` is the site of a leader on the board, or None."""

    def __init__(self, board: Board, stands: Callable[[str, str], str | None]) -> None:
        self.board = board
        self.stands = stands

    def action(self, text: str) -> Action:
        """Raises BadText."""
        seat, colon, rest = text.partition(":")
        seat, words = seat.strip().lower(), re.sub(r"\s*>\s*", ">", rest).replace(",", " ").split()
        if not colon or not words:
            raise BadText(f"{text.strip()!r} is no action: write SEAT: ACTION, as in `bull: tile red C4`")
        verb, rest = words[0].lower(), words[1:]
        if seat == BAG:
            if verb != "draw" or not rest:
                raise BadText("the bag does one thing: `bag: draw SEAT COLOUR ...`")
            return Draw(BAG, self.seat(rest[0]), sorted_colours([self.colour(w) for w in rest[1:]]))
        read = self._verbs.get(verb)
        if read is None:
            raise BadText(f"no action is called {verb!r} (there are: {', '.join(self._verbs)})")
        return read(self, self.seat(seat), rest, text.strip())

    def seat(self, word: str) -> str:
        if word not in SEATS:
            raise BadText(f"no seat called {word!r} (there are: {', '.join(SEATS)})")
        return word

    def colour(self, word: str) -> str:
        word = word.lower()
        if word in COLOUR_OF:
            return COLOURS[COLOUR_OF[word]]
        if word not in COLOURS:
            raise BadText(f"no colour called {word!r} (there are: {', '.join(COLOURS)})")
        return word

    def site(self, word: str) -> str:
        for site in (word, word.upper()):
            if site in self.board.index:
                return site
        raise BadText(f"no site called {word}")

    def monument(self, word: str) -> str:
        parts = word.lower().removeprefix("monument:").split("-")
        for name in self.board.monuments:
            if sorted(name.split("-")) == sorted(parts):
                return name
        raise BadText(f"no monument called {word!r} (there are: {', '.join(self.board.monuments)})")

    def _tile(self, seat: str, rest: list[str], text: str) -> Action:
        _count(rest, 2, text, "tile COLOUR SITE")
        return Tile(seat, self.colour(rest[0]), self.site(rest[1]))

    def _leader(self, seat: str, rest: list[str], text: str) -> Action:
        _count(rest, 2, text, "leader COLOUR SITE, SITE>SITE or SITE>")
        colour = self.colour(rest[0])
        origin, arrow, target = rest[1].rpartition(">")
        if not arrow:
            return Leader(seat, colour, self.stands(seat, colour), self.site(target))
        if not origin:
            raise BadText(f"{text!r}: before > stands the site the leader comes from")
        return Leader(seat, colour, self.site(origin), self.site(target) if target else None)

    def _catastrophe(self, seat: str, rest: list[str], text: str) -> Action:
        _count(rest, 1, text, "catastrophe SITE")
        return Catastrophe(seat, self.site(rest[0]))

    def _swap(self, seat: str, rest: list[str], text: str) -> Action:
        if len(rest) == 1 and (n := whole_number(rest[0])) is not None:
            return Swap(seat, n)
        if not rest:
            raise BadText(f"{text!r}: write `swap NUMBER`, or the colours where hands are open")
        colours = sorted_colours([self.colour(w) for w in rest])
        return Swap(seat, len(colours), colours)

    def _pass(self, seat: str, rest: list[str], text: str) -> Action:
        _count(rest, 0, text, "pass")
        return Pass(seat)

    def _commit(self, seat: str, rest: list[str], text: str) -> Action:
        _count(rest, 1, text, "commit NUMBER")
        n = whole_number(rest[0])
        if n is None:
            raise BadText(f"{text!r}: {rest[0]!r} is no number")
        return Commit(seat, n)

    def _war(self, seat: str, rest: list[str], text: str) -> Action:
        _count(rest, 1, text, "war COLOUR")
        return War(seat, self.colour(rest[0]))

    def _build(self, seat: str, rest: list[str], text: str) -> Action:
        _count(rest, 2, text, "build COLOUR-COLOUR SITE")
        return Build(seat, self.monument(rest[0]), self.site(rest[1]))

    def _keep(self, seat: str, rest: list[str], text: str) -> Action:
        _count(rest, 0, text, "keep")
        return Keep(seat)

    def _treasure(self, seat: str, rest: list[str], text: str) -> Action:
        if not rest:
            raise BadText(f"{text!r}: write `treasure SITE ...`, all that are taken")
        sites = {self.site(w) for w in rest}
        return Treasure(seat, tuple(s for s in self.board.plan.sites if s in sites))

    _verbs = {"tile": _tile, "leader": _leader, "catastrophe": _catastrophe, "swap": _swap, "pass": _pass,
              "commit": _commit, "war": _war, "build": _build, "keep": _keep, "treasure": _treasure}


def _count(rest: Sequence[str], n: int, text: str, form: str) -> None:
    if len(rest) != n:
        raise BadText(f"{text!r}: write `{form}`")
