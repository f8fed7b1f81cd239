"""The actions, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.game import Action, BadText
from engine.notation import Notation, Part, Syntax, UsageError, one_word, several_words
from engine.ur.board import Board, is_tile
from engine.ur.words import DOMAINS, SEATS

BOX = "box"  # who "acts" when the tiles are laid at the beginning
SPARE = "spare"

Stones = tuple[tuple[str, int], ...]
Moves = tuple[tuple[str, str, int], ...]

_PLUS = re.compile(r"^([A-Za-z]+\d*)\+([0-9]{1,4})$")
_MOVE = re.compile(r"^([A-Za-z]+\d*)>([A-Za-z]+\d*):([0-9]{1,4})$")


# Two ways to write the same action give equal objects


def site_order(site: str, board: Board) -> tuple[int, str]:
    """Sorting key for sites: the order of the plan, then the name."""
    return board.index.get(site, len(board.sites)), site


def canonical_stones(pairs: Sequence[tuple[str, int]], board: Board) -> Stones:
    """Canonical form: each site once, in the square's order, none without a stone."""
    total: dict[str, int] = {}
    for site, n in pairs:
        total[site] = total.get(site, 0) + n
    return tuple(
        (s, total[s]) for s in sorted(total, key=lambda s: site_order(s, board)) if total[s]
    )


def canonical_moves(triples: Sequence[tuple[str, str, int]], board: Board) -> Moves:
    """The moves of politics (from, to, stones), summed per pair and sorted."""
    total: dict[tuple[str, str], int] = {}
    for a, b, n in triples:
        total[a, b] = total.get((a, b), 0) + n
    return tuple(
        (a, b, total[a, b])
        for a, b in sorted(total, key=lambda k: (site_order(k[0], board), site_order(k[1], board)))
        if total[a, b]
    )


# Turning words into values; each raises UsageError


def known_site(word: str, board: Board) -> str:
    """A site's id from the word for it. Raises BadText if there is none."""
    if word not in board.plan.sites:
        raise UsageError(f"no site called {word}")
    return word


def _stone_words(words: Sequence[str], board: Board) -> Stones:
    found = []
    for word in words:
        m = _PLUS.match(word)
        if m is None:
            raise UsageError(f"{word!r} should name a tile and stones, such as C3+2")
        found.append((known_site(m[1], board), int(m[2])))
    return canonical_stones(found, board)


def _some_stones(words: Sequence[str], board: Board) -> Stones:
    found = _stone_words(words, board)
    if not found:
        raise UsageError(EXTRA)
    return found


def _plus_words(found: Stones) -> str:
    return " ".join(f"{site}+{n}" for site, n in found)


def _one_move(word: str, board: Board) -> tuple[str, str, int]:
    m = _MOVE.match(word)
    if m is None:
        raise UsageError(f"{word!r} should read FROM>TO:STONES, such as C3>D3:2")
    return known_site(m[1], board), known_site(m[2], board), int(m[3])


def _several_moves(words: Sequence[str], board: Board) -> Moves:
    return canonical_moves([_one_move(word, board) for word in words], board)


def _attack_words(words: list[str], board: Board) -> tuple[str, str, int]:
    return _one_move(words.pop(0), board) if words else ("", "", 0)


def _place_and_tile(words: list[str], board: Board) -> tuple[str, str]:
    """A place and a tile."""
    place, tile = words.pop(0), words.pop(0).removeprefix("tile:")
    if not is_tile(tile):
        raise UsageError(LAY)
    return known_site(place, board), tile


def _swap_words(words: list[str], board: Board) -> tuple[str, str, str]:
    """A place, what the hand tile then shows, and what its back shows if that is stated."""
    place, *faces = words
    words.clear()
    if place == SPARE and not faces or place == board.spare and len(faces) <= 1:
        return SPARE, "", ""
    if len(faces) != 1:
        raise UsageError(SWAP)
    up = faces[0].removeprefix("tile:")
    if up in DOMAINS:
        return known_site(place, board), up, ""
    if is_tile(up):
        a, _, b = up.partition("/")
        return known_site(place, board), a, b
    raise UsageError(f"{faces[0]!r} is not a domain ({', '.join(DOMAINS)})")


def _built_sites(words: Sequence[str], board: Board) -> tuple[str, ...]:
    return tuple(sorted([known_site(w, board) for w in words], key=lambda s: site_order(s, board)))


ONE, NONE = "names one tile, not {n}", "stands alone"
LAY = "names a place and a tile, such as A1 war/trade"
SWAP = "names the tile and the face the hand tile then shows, such as C3 war"
EXTRA = "names the tile and the stones, such as C3+1"
SITE, STONES = one_word("site", known_site), several_words("stones", _stone_words, _plus_words)


class Lay(Action, frozen=True):
    """A tile is laid at the beginning, on the square or beside it (U4, U5)."""

    site: str
    tile: str

    syntax = Syntax(
        "lay",
        Part(("site", "tile"), _place_and_tile, lambda a: f"{a.site} {a.tile}", 2, 2),
        usage=LAY,
    )


class Put(Action, frozen=True):
    """One stone in the set-up (U6, U7)."""

    site: str

    syntax = Syntax("put", SITE, usage=ONE)


class Pass(Action, frozen=True):
    """No swap in the set-up (U8); in a turn: the seat is done, if no swap is possible (U23)."""

    syntax = Syntax("pass", usage=NONE)


class Swap(Action, frozen=True):
    """`face`: what the hand tile shows once laid down; "" for the spare. `back`: its other domain,
    stated only if the hand is unknown."""

    site: str
    face: str = ""
    back: str = ""

    def tile(self) -> str:
        """What is swapped, as people write it: "C3 war" or "spare"."""
        return (
            self.site
            + (f" {self.face}" if self.face else "")
            + (f"/{self.back}" if self.back else "")
        )

    syntax = Syntax("swap", Part(("site", "face", "back"), _swap_words, tile, 1), usage=SWAP)


class Agriculture(Action, frozen=True):
    """The domain agriculture: stones are laid; without any, stones are only removed."""

    stones: Stones = ()

    syntax = Syntax("agriculture", STONES, usage="")


class Trade(Action, frozen=True):
    """The domain trade: stones are laid on a tile."""

    stones: Stones = ()

    syntax = Syntax("trade", STONES, usage="")


class Culture(Action, frozen=True):
    """`stones`: where the stones of owners who are short of them go, all of them named; () lays
    them in the square's order."""

    stones: Stones = ()

    syntax = Syntax("culture", STONES, usage="")


class Politics(Action, frozen=True):
    """The domain politics: stones are moved to neighbouring tiles."""

    moves: Moves = ()

    syntax = Syntax(
        "politics",
        several_words(
            "moves", _several_moves, lambda found: " ".join(f"{a}>{b}:{n}" for a, b, n in found)
        ),
        usage="",
    )


class War(Action, frozen=True):
    """One attack; `stones` move from `source` to `target`."""

    source: str = ""
    target: str = ""
    stones: int = 0

    def attack(self) -> str:
        """Where from, where to and with how many stones, as people write it: "C3>D3:2"."""
        return f"{self.source}>{self.target}:{self.stones}" if self.source else ""

    syntax = Syntax(
        "war",
        Part(("source", "target", "stones"), _attack_words, attack, 0, 1),
        usage="each attack is a line of its own",
    )


class Extra(Action, frozen=True):
    """The extra stones of a turn (U13)."""

    stones: Stones = ()

    syntax = Syntax("extra", several_words("stones", _some_stones, _plus_words, 1), usage=EXTRA)


class Settle(Action, frozen=True):
    """One stone is put on a free tile."""

    site: str

    syntax = Syntax("settle", SITE, usage=ONE)


class Ziggurat(Action, frozen=True):
    """A ziggurat is built."""

    sites: tuple[str, ...]

    syntax = Syntax(
        "ziggurat",
        several_words("sites", _built_sites, " ".join, 1),
        usage="names one or two tiles",
    )


class Return(Action, frozen=True):
    """Three stones for a player who has none on the board (U21)."""

    site: str

    syntax = Syntax("return", SITE, usage=ONE)


NOTATION = Notation[Action](
    (
        Lay,
        Put,
        Pass,
        Swap,
        Agriculture,
        Trade,
        Culture,
        Politics,
        War,
        Extra,
        Settle,
        Ziggurat,
        Return,
    )
)


def parse_action(text: str, board: Board) -> Action:
    """`"black: trade C3+2"` -> Action. Raises BadText if it is not an action at all."""
    seat, colon, rest = text.partition(":")
    seat, words = seat.strip(), rest.split()
    if not colon or not words:
        raise BadText(f"{text!r}: an action reads SEAT: WHAT, such as black: trade C3+2")
    if seat not in SEATS and seat != BOX:
        raise BadText(f"{seat!r} is not a seat of this game ({', '.join(SEATS)})")
    verb = words[0]
    if verb not in NOTATION.sorts:
        raise BadText(
            f"{verb!r} is nothing one can do (there are: {', '.join(sorted(NOTATION.sorts))})"
        )
    if (seat == BOX) != (verb == "lay"):
        raise BadText(f"{text!r}: only the box lays tiles, and that is all it does")
    try:
        return NOTATION.read(verb, seat, words[1:], board)
    except UsageError as e:
        raise BadText(f"{verb}: {e}") from None
