"""The actions, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.game import Action, BadText
from engine.notation import Notation, Part, Syntax, UsageError, one_word, several_words
from engine.text import whole_number
from engine.tigris.board import Board
from engine.tigris.words import COLOUR_OF, COLOURS, SEATS

BAG = "bag"


class Said(NamedTuple):
    """Who states an action, its whole text, the board, and where leaders stand: `stands(seat,
    colour)` is a site, or None."""

    seat: str
    text: str
    board: Board
    stands: Callable[[str, str], str | None]


# Turning words into values; each raises BadText


def known_seat(word: str) -> str:
    """A seat's name as written. Raises BadText if there is no such seat."""
    if word not in SEATS:
        raise BadText(f"no seat called {word!r} (there are: {', '.join(SEATS)})")
    return word


def known_colour(word: str, said: Said) -> str:
    """A colour's name from the word for it. Raises BadText if there is none."""
    word = word.lower()
    if word in COLOUR_OF:
        return COLOURS[COLOUR_OF[word]]
    if word not in COLOURS:
        raise BadText(f"no colour called {word!r} (there are: {', '.join(COLOURS)})")
    return word


def known_site(word: str, said: Said) -> str:
    """A site's id from the word for it. Raises BadText if there is none."""
    for site in (word, word.upper()):
        if site in said.board.index:
            return site
    raise BadText(f"no site called {word}")


def known_monument(word: str, said: Said) -> str:
    """A monument's name from the word for it. Raises BadText if there is none."""
    parts = word.lower().removeprefix("monument:").split("-")
    for name in said.board.monuments:
        if sorted(name.split("-")) == sorted(parts):
            return name
    raise BadText(f"no monument called {word!r} (there are: {', '.join(said.board.monuments)})")


def tile_number(word: str, said: Said) -> int:
    """A number of tiles. Raises BadText."""
    n = whole_number(word)
    if n is None:
        raise BadText(f"{said.text!r}: {word!r} is not a number")
    return n


def sorted_colours(words: Sequence[str], said: Said) -> tuple[str, ...]:
    """The colours, in the order of COLOURS."""
    return tuple(sorted([known_colour(w, said) for w in words], key=COLOURS.index))


def _leader_way(words: list[str], said: Said) -> tuple[str, str | None, str | None]:
    """Colour, origin and target: `red C4` from wherever it stands, `red C4>D4` or `red C4>`."""
    colour, way = known_colour(words.pop(0), said), words.pop(0)
    origin, arrow, target = way.rpartition(">")
    if not arrow:
        return colour, said.stands(said.seat, colour), known_site(target, said)
    if not origin:
        raise BadText(f"{said.text!r}: the site the leader comes from goes before the >")
    return colour, known_site(origin, said), known_site(target, said) if target else None


def _swapped_tiles(words: list[str], said: Said) -> tuple[int, tuple[str, ...]]:
    """How many tiles, and which if hands are open."""
    if len(words) == 1 and (n := whole_number(words[0])) is not None:
        words.clear()
        return n, ()
    colours = sorted_colours(words, said)
    words.clear()
    return len(colours), colours


def _taken_sites(words: Sequence[str], said: Said) -> tuple[str, ...]:
    sites = {known_site(w, said) for w in words}
    return tuple(s for s in said.board.plan.sites if s in sites)


class Tile(Action, frozen=True):
    """A tile is laid on a site."""

    colour: str
    site: str

    syntax = Syntax(
        "tile",
        one_word("colour", known_colour),
        one_word("site", known_site),
        usage="`tile COLOUR SITE`",
    )


class Leader(Action, frozen=True):
    """`origin` None: it was not on the board; `target` None: it is taken off the board."""

    colour: str
    origin: str | None
    target: str | None

    def way(self) -> str:
        """Where from and where to, as people write it: "D5", "D5>E5", "D5>"."""
        start = "" if self.origin is None else f"{self.origin}>"
        return f"{self.colour} {start}{self.target or ''}"

    syntax = Syntax(
        "leader",
        Part(("colour", "origin", "target"), _leader_way, way, 2, 2),
        usage="`leader COLOUR SITE, SITE>SITE or SITE>`",
    )


class Catastrophe(Action, frozen=True):
    """A catastrophe tile is laid on a site."""

    site: str

    syntax = Syntax("catastrophe", one_word("site", known_site), usage="`catastrophe SITE`")


class Swap(Action, frozen=True):
    """`colours` in the order of COLOURS if the hand is known; otherwise () and only their
    number."""

    number: int
    colours: tuple[str, ...] = ()

    def tiles(self) -> str:
        """What is swapped, as people write it: a number, or colours."""
        return " ".join(self.colours) if self.colours else str(self.number)

    syntax = Syntax(
        "swap",
        Part(("number", "colours"), _swapped_tiles, tiles, 1),
        usage="`swap NUMBER`, or the colours where hands are open",
    )


class Pass(Action, frozen=True):
    """No more actions this turn."""

    syntax = Syntax("pass", usage="`pass`")


class Commit(Action, frozen=True):
    """Temples or supporters are added to a conflict."""

    number: int

    syntax = Syntax("commit", one_word("number", tile_number), usage="`commit NUMBER`")


class War(Action, frozen=True):
    """Chooses which conflict is fought next."""

    colour: str

    syntax = Syntax("war", one_word("colour", known_colour), usage="`war COLOUR`")


class Build(Action, frozen=True):
    """Builds a monument; `site` is the upper left of the square."""

    monument: str
    site: str

    syntax = Syntax(
        "build",
        one_word("monument", known_monument),
        one_word("site", known_site),
        usage="`build COLOUR-COLOUR SITE`",
    )


class Keep(Action, frozen=True):
    """No monument is built."""

    syntax = Syntax("keep", usage="`keep`")


class Treasure(Action, frozen=True):
    """All treasures that are taken, in the order of the plan."""

    sites: tuple[str, ...]

    syntax = Syntax(
        "treasure",
        several_words("sites", _taken_sites, " ".join, 1),
        usage="`treasure SITE ...`, all that are taken",
    )


class Draw(Action, frozen=True):
    """The bag's action: what `drawer` drew, in the order of COLOURS. `seat` is "bag"."""

    drawer: str
    colours: tuple[str, ...]

    syntax = Syntax(
        "draw",
        one_word("drawer", lambda word, said: known_seat(word)),
        several_words("colours", sorted_colours, " ".join),
        usage="`bag: draw SEAT COLOUR ...`",
    )


NOTATION = Notation[Action](
    (Tile, Leader, Catastrophe, Swap, Pass, Commit, War, Build, Keep, Treasure)
)
BAGS = Notation[Action]((Draw,))


def parse_action(text: str, board: Board, stands: Callable[[str, str], str | None]) -> Action:
    """`"bull: tile red C4"` -> Action. Raises BadText if it is not an action at all."""
    seat, colon, rest = text.partition(":")
    seat, words = seat.strip().lower(), re.sub(r"\s*>\s*", ">", rest).replace(",", " ").split()
    if not colon or not words:
        raise BadText(
            f"{text.strip()!r} is not an action: write SEAT: ACTION, as in `bull: tile red C4`"
        )
    verb, words = words[0].lower(), words[1:]
    notation = BAGS if seat == BAG else NOTATION
    if seat == BAG and (verb not in BAGS.sorts or not words):
        raise BadText(f"the bag does one thing: {Draw.syntax.usage}")
    if verb not in notation.sorts:
        raise BadText(f"no action is called {verb!r} (there are: {', '.join(NOTATION.sorts)})")
    said = Said(seat if seat == BAG else known_seat(seat), text.strip(), board, stands)
    try:
        return notation.read(verb, said.seat, words, said)
    except UsageError as e:
        raise BadText(f"{said.text!r}: write {e}") from None
