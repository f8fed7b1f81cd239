"""What can be done, and its notation (DESIGN 8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from engine.game import Action, BadText
from engine.ur.board import Board, is_tile
from engine.ur.words import DOMAINS, SEATS

BOX = "box"                      # who lays the tiles at the beginning
SPARE = "spare"

Stones = tuple[tuple[str, int], ...]
Moves = tuple[tuple[str, str, int], ...]


def _plus(stones: Stones) -> str:
    return "".join(f" {site}+{n}" for site, n in stones)


class Lay(Action, frozen=True):
    """A tile is laid at the beginning, on the square or beside it (U4, U5)."""

    site: str
    tile: str

    def words(self) -> str:
        return f"lay {self.site} {self.tile}"


class Put(Action, frozen=True):
    """One stone in the set-up (U6, U7)."""

    site: str

    def words(self) -> str:
        return f"put {self.site}"


class Pass(Action, frozen=True):
    """No swap in the set-up (U8); in a turn: done, where no swap is possible (U23)."""

    def words(self) -> str:
        return "pass"


class Swap(Action, frozen=True):
    """`face`: what the hand tile laid down shows; "" for the spare. `back`: its other domain, said only of an unknown hand."""

    site: str
    face: str = ""
    back: str = ""

    def words(self) -> str:
        return f"swap {self.site}" + (f" {self.face}" if self.face else "") + (f"/{self.back}" if self.back else "")


class Agriculture(Action, frozen=True):
    stones: Stones = ()

    def words(self) -> str:
        return "agriculture" + _plus(self.stones)


class Trade(Action, frozen=True):
    stones: Stones = ()

    def words(self) -> str:
        return "trade" + _plus(self.stones)


class Culture(Action, frozen=True):
    """`stones`: where the stones of owners short of them go, all of them named; () lays them in the square's order."""

    stones: Stones = ()

    def words(self) -> str:
        return "culture" + _plus(self.stones)


class Politics(Action, frozen=True):
    moves: Moves = ()

    def words(self) -> str:
        return "politics" + "".join(f" {a}>{b}:{n}" for a, b, n in self.moves)


class War(Action, frozen=True):
    """One attack; `stones` move from `source` to `target`."""

    source: str = ""
    target: str = ""
    stones: int = 0

    def words(self) -> str:
        return f"war {self.source}>{self.target}:{self.stones}" if self.source else "war"


class Extra(Action, frozen=True):
    stones: Stones = ()

    def words(self) -> str:
        return "extra" + _plus(self.stones)


class Settle(Action, frozen=True):
    site: str

    def words(self) -> str:
        return f"settle {self.site}"


class Ziggurat(Action, frozen=True):
    sites: tuple[str, ...]

    def words(self) -> str:
        return "ziggurat " + " ".join(self.sites)


class Return(Action, frozen=True):
    """Three stones of a player who has none on the board (U21)."""

    site: str

    def words(self) -> str:
        return f"return {self.site}"


DOMAIN_OF: dict[type[Action], str] = {
    Agriculture: "agriculture", Trade: "trade", Culture: "culture", Politics: "politics", War: "war",
}

_PLUS = re.compile(r"^([A-Za-z]+\d*)\+([0-9]{1,4})$")
_MOVE = re.compile(r"^([A-Za-z]+\d*)>([A-Za-z]+\d*):([0-9]{1,4})$")


def parse(text: str, board: Board) -> Action:
    """`"black: trade C3+2"` -> Action. Raises BadText for what is no action at all."""
    seat, colon, rest = text.partition(":")
    seat, words = seat.strip(), rest.split()
    if not colon or not words:
        raise BadText(f"{text!r}: an action reads SEAT: WHAT, such as black: trade C3+2")
    if seat not in SEATS and seat != BOX:
        raise BadText(f"{seat!r} is no seat of this game ({', '.join(SEATS)})")
    verb, args = words[0], words[1:]
    read = _READ.get(verb)
    if read is None:
        raise BadText(f"{verb!r} is nothing one can do (there are: {', '.join(sorted(_READ))})")
    if (seat == BOX) != (verb == "lay"):
        raise BadText(f"{text!r}: only the box lays tiles, and that is all it does")
    try:
        return read(seat, args, board)
    except _Form as e:
        raise BadText(f"{verb}: {e}") from None


class _Form(ValueError):
    pass


def _site(word: str, board: Board) -> str:
    if word not in board.plan.sites:
        raise _Form(f"no site called {word}")
    return word


def _one(args: Sequence[str], board: Board) -> str:
    if len(args) != 1:
        raise _Form(f"names one tile, not {len(args)}")
    return _site(args[0], board)


def order(site: str, board: Board) -> tuple[int, str]:
    """Sorting key of sites: the order of the plan, then the name."""
    return board.index.get(site, len(board.sites)), site


def stones(pairs: Sequence[tuple[str, int]], board: Board) -> Stones:
    """Canonical: a site once, in the square's order, none without a stone."""
    total: dict[str, int] = {}
    for site, n in pairs:
        total[site] = total.get(site, 0) + n
    return tuple((s, total[s]) for s in sorted(total, key=lambda s: order(s, board)) if total[s])


def moves(triples: Sequence[tuple[str, str, int]], board: Board) -> Moves:
    """Politics' moves (from, to, stones) summed per pair and sorted, so that equal doings are equal actions."""
    total: dict[tuple[str, str], int] = {}
    for a, b, n in triples:
        total[a, b] = total.get((a, b), 0) + n
    return tuple((a, b, total[a, b]) for a, b in sorted(total, key=lambda k: (order(k[0], board), order(k[1], board)))
                 if total[a, b])


def _stones(args: Sequence[str], board: Board) -> Stones:
    found = []
    for word in args:
        m = _PLUS.match(word)
        if m is None:
            raise _Form(f"{word!r} should name a tile and stones, such as C3+2")
        found.append((_site(m[1], board), int(m[2])))
    return stones(found, board)


def _moves(args: Sequence[str], board: Board) -> list[tuple[str, str, int]]:
    found = []
    for word in args:
        m = _MOVE.match(word)
        if m is None:
            raise _Form(f"{word!r} should read FROM>TO:STONES, such as C3>D3:2")
        found.append((_site(m[1], board), _site(m[2], board), int(m[3])))
    return found


def _swap(seat: str, args: Sequence[str], board: Board) -> Swap:
    if args == [SPARE] or (args and args[0] == board.spare and len(args) <= 2):
        return Swap(seat, SPARE)
    if len(args) != 2:
        raise _Form("names the tile and the face the hand tile then shows, such as C3 war")
    up = args[1].removeprefix("tile:")
    if up in DOMAINS:
        return Swap(seat, _site(args[0], board), up)
    if is_tile(up):
        a, _, b = up.partition("/")
        return Swap(seat, _site(args[0], board), a, b)
    raise _Form(f"{args[1]!r} is no domain ({', '.join(DOMAINS)})")


def _lay(seat: str, args: Sequence[str], board: Board) -> Lay:
    if len(args) != 2 or not is_tile(tile := args[1].removeprefix("tile:")):
        raise _Form("names a place and a tile, such as A1 war/trade")
    return Lay(seat, _site(args[0], board), tile)


def _war(seat: str, args: Sequence[str], board: Board) -> War:
    if not args:
        return War(seat)
    if len(args) > 1:
        raise _Form("each attack is a line of its own")
    return War(seat, *_moves(args, board)[0])


def _pass(seat: str, args: Sequence[str], board: Board) -> Pass:
    if args:
        raise _Form("stands alone")
    return Pass(seat)


def _extra(seat: str, args: Sequence[str], board: Board) -> Extra:
    found = _stones(args, board)
    if not found:
        raise _Form("names the tile and the stones, such as C3+1")
    return Extra(seat, found)


def _ziggurat(seat: str, args: Sequence[str], board: Board) -> Ziggurat:
    if not args:
        raise _Form("names one or two tiles")
    return Ziggurat(seat, tuple(sorted((_site(a, board) for a in args), key=lambda s: order(s, board))))


_READ: dict[str, Callable[[str, Sequence[str], Board], Action]] = {
    "lay": _lay,
    "put": lambda seat, args, board: Put(seat, _one(args, board)),
    "pass": _pass,
    "swap": _swap,
    "agriculture": lambda seat, args, board: Agriculture(seat, _stones(args, board)),
    "trade": lambda seat, args, board: Trade(seat, _stones(args, board)),
    "culture": lambda seat, args, board: Culture(seat, _stones(args, board)),
    "politics": lambda seat, args, board: Politics(seat, moves(_moves(args, board), board)),
    "war": _war,
    "extra": _extra,
    "settle": lambda seat, args, board: Settle(seat, _one(args, board)),
    "ziggurat": _ziggurat,
    "return": lambda seat, args, board: Return(seat, _one(args, board)),
}
