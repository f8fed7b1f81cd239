"""The notation of DESIGN 8 for Zondvloed: text to actions and back."""

from __future__ import annotations

from collections.abc import Sequence

from engine.deluge.words import COLOURS, GOODS, SHIP_WOOD
from engine.deluge.world import Map
from engine.game import Action, BadText
from engine.text import whole_number


class Crew(Action, frozen=True):
    """Those who go from one cell to another: own people, own soldiers, slaves (colour, number); fanatics never may."""

    origin: str
    target: str
    people: int = 0
    soldiers: int = 0
    slaves: tuple[tuple[str, int], ...] = ()
    fanatics: int = 0

    def crew(self) -> str:
        parts = [f"people {self.people}"] * bool(self.people) + [f"soldier {self.soldiers}"] * bool(self.soldiers)
        parts += [f"slaves {c} {n}" for c, n in self.slaves]
        return " ".join(parts + [f"fanatic {self.fanatics}"] * bool(self.fanatics))


class Move(Crew, frozen=True):
    def words(self) -> str:
        return f"move {self.origin}>{self.target} {self.crew()}"


class Flee(Crew, frozen=True):
    def words(self) -> str:
        return f"flee {self.origin}>{self.target} {self.crew()}"


class Ferry(Crew, frozen=True):
    """via: the sea cells crossed, in order"""

    via: tuple[str, ...] = ()

    def words(self) -> str:
        return f"ferry {self.origin}>{self.target} via {' '.join(self.via)} {self.crew()}"


class Sail(Action, frozen=True):
    origin: str
    target: str
    ships: int = 1

    def words(self) -> str:
        return f"sail {self.origin}>{self.target} {self.ships}"


class Harvest(Action, frozen=True):
    """goods: (good, number) in the order of GOODS; spots: the forest spots covered, () for the first free ones."""

    cell: str
    goods: tuple[tuple[str, int], ...]
    spots: tuple[str, ...] = ()

    def words(self) -> str:
        at = f" at {' '.join(s.rpartition('.')[2] for s in self.spots)}" if self.spots else ""
        return f"harvest {self.cell} {bill(self.goods)}{at}"

    def without(self, part: Action) -> tuple[Action, ...] | None:
        if not isinstance(part, Harvest) or (part.seat, part.cell) != (self.seat, self.cell) or part.spots:
            return super().without(part)
        less = dict(part.goods)
        if any(n > dict(self.goods).get(g, 0) for g, n in less.items()):
            return None
        left = tuple((g, n - less.get(g, 0)) for g, n in self.goods if n > less.get(g, 0))
        return (Harvest(self.seat, self.cell, left, self.spots),) if left else ()


class Trade(Action, frozen=True):
    """giver's goods for taker's; the one who says it is one of them"""

    giver: str
    gives: tuple[tuple[str, int], ...]
    taker: str
    takes: tuple[tuple[str, int], ...]

    def asks(self) -> str:
        return self.taker if self.seat == self.giver else self.giver

    def words(self) -> str:
        return f"trade {self.giver} {bill(self.gives)} for {self.taker} {bill(self.takes)}"


class Build(Action, frozen=True):
    """what: ship, mine, soldier or dolmen; pay: () for a ship, whose price is fixed"""

    what: str
    cell: str
    pay: tuple[tuple[str, int], ...] = ()

    def words(self) -> str:
        return f"build {self.what} {self.cell}" + (f" pay {bill(self.pay)}" if self.pay else "")


class Agree(Action, frozen=True):
    """The ship's owner lets `guest` cross `sea` with it."""

    guest: str
    sea: str

    def words(self) -> str:
        return f"agree {self.guest} {self.sea}"


class Done(Action, frozen=True):
    def words(self) -> str:
        return "done"


def bill(goods: Sequence[tuple[str, int]]) -> str:
    """Goods as scripts write them: "wood 2 fish 1"."""
    return " ".join(f"{g} {n}" for g, n in goods)


class Reader:
    """Text to actions on one map."""

    def __init__(self, world: Map) -> None:
        self.world = world

    def action(self, text: str) -> Action:
        """Raises BadText for what is no action."""
        seat, colon, rest = text.partition(":")
        seat, words = seat.strip(), rest.split()
        if not colon or not words:
            raise BadText(f"not an action: {text!r} (it reads like `yellow: done`)")
        if seat not in COLOURS:
            raise BadText(f"no seat called {seat!r} (there are: {', '.join(COLOURS)})")
        verb, args = words[0], words[1:]
        read = getattr(self, f"_{verb}", None)
        if read is None or verb.startswith("_"):
            raise BadText(f"no doing called {verb!r} (move, sail, ferry, harvest, trade, build, flee, agree, done)")
        return read(seat, args)

    def _done(self, seat: str, args: list[str]) -> Action:
        if args:
            raise BadText("done takes no more words")
        return Done(seat)

    def _move(self, seat: str, args: list[str]) -> Action:
        origin, target = self.leg(args)
        return Move(seat, origin, target, *self.crew(args[1:]))

    def _flee(self, seat: str, args: list[str]) -> Action:
        origin, target = self.leg(args)
        return Flee(seat, origin, target, *self.crew(args[1:]))

    def _ferry(self, seat: str, args: list[str]) -> Action:
        origin, target = self.leg(args)
        rest = args[1:]
        if not rest or rest[0] != "via":
            raise BadText("ferry A>B via SEA ... people N")
        via = []
        for word in rest[1:]:
            if word in ("people", "soldier", "soldiers", "slaves", "fanatic"):
                break
            via.append(self.cell(word))
        if not via:
            raise BadText("ferry needs the sea cells it crosses, after via")
        return Ferry(seat, origin, target, *self.crew(rest[1 + len(via):]), via=tuple(via))

    def _sail(self, seat: str, args: list[str]) -> Action:
        origin, target = self.leg(args)
        if len(args) > 2:
            raise BadText("sail A>B N")
        return Sail(seat, origin, target, self.number(args[1]) if len(args) == 2 else 1)

    def _harvest(self, seat: str, args: list[str]) -> Action:
        if not args:
            raise BadText("harvest CELL wood N ...")
        cell = self.cell(args[0])
        rest, spots = args[1:], ()
        if "at" in rest:
            at = rest.index("at")
            named = {self.spot(cell, w) for w in rest[at + 1:]}
            spots = tuple(s for s in self.world.spots[cell] if s in named)
            rest = rest[:at]
        return Harvest(seat, cell, self.goods(rest), spots)

    def _trade(self, seat: str, args: list[str]) -> Action:
        if "for" not in args or args[0] not in COLOURS:
            raise BadText("trade yellow wood 2 for blue gold 1")
        at = args.index("for")
        giver, gets = args[0], args[at + 1:]
        if gets and gets[0] in COLOURS:
            taker, gets = gets[0], gets[1:]
        elif giver != seat:                          # "blue: trade yellow wood 2 for gold 1": blue gives it to yellow
            giver, taker = seat, giver
        else:
            raise BadText("with whom? trade yellow wood 2 for blue gold 1")
        return Trade(seat, giver, self.goods(args[1:at]), taker, self.goods(gets))

    def _build(self, seat: str, args: list[str]) -> Action:
        if len(args) < 2 or args[0] not in ("ship", "mine", "soldier", "dolmen"):
            raise BadText("build ship SEA, or build mine|soldier|dolmen CELL pay wood 10")
        pay: tuple[tuple[str, int], ...] = ()
        if len(args) > 2:
            if args[2] != "pay":
                raise BadText(f"after the cell comes `pay`, not {args[2]!r}")
            pay = self.goods(args[3:])
        if args[0] == "ship" and pay == (("wood", SHIP_WOOD),):
            pay = ()                                     # the price is fixed, so it need not be said
        return Build(seat, args[0], self.cell(args[1]), pay)

    def _agree(self, seat: str, args: list[str]) -> Action:
        if len(args) != 2 or args[0] not in COLOURS:
            raise BadText("agree SEAT SEA")
        return Agree(seat, args[0], self.cell(args[1]))

    # Words

    def cell(self, word: str) -> str:
        if word not in self.world.touching:
            raise BadText(f"no cell called {word!r}")
        return word

    def spot(self, cell: str, word: str) -> str:
        for spot in self.world.spots.get(cell, ()):
            if word in (spot, spot.rpartition(".")[2]):
                return spot
        raise BadText(f"{cell} has no forest called {word!r}")

    def leg(self, args: list[str]) -> tuple[str, str]:
        a, arrow, b = args[0].partition(">") if args else ("", "", "")
        if not arrow:
            raise BadText("from where to where is written A>B")
        return self.cell(a), self.cell(b)

    @staticmethod
    def number(word: str) -> int:
        n = whole_number(word)
        if n is None:
            raise BadText(f"not a number: {word!r}")
        return n

    def crew(self, words: list[str]) -> tuple[int, int, tuple[tuple[str, int], ...], int]:
        people = soldiers = fanatics = 0
        slaves: dict[str, int] = {}
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word == "people" and rest:
                people += self.number(rest.pop(0))
            elif word in ("soldier", "soldiers") and rest:
                soldiers += self.number(rest.pop(0))
            elif word in ("fanatic", "fanatics") and rest:
                fanatics += self.number(rest.pop(0))
            elif word == "slaves" and len(rest) > 1 and rest[0] in COLOURS:
                colour = rest.pop(0)
                slaves[colour] = slaves.get(colour, 0) + self.number(rest.pop(0))
            else:
                raise BadText(f"who goes is written people N, soldier N, slaves COLOUR N; not {word!r}")
        if people + soldiers + fanatics + sum(slaves.values()) == 0:
            raise BadText("nobody goes")
        return people, soldiers, tuple((c, slaves[c]) for c in COLOURS if slaves.get(c)), fanatics

    def goods(self, words: list[str]) -> tuple[tuple[str, int], ...]:
        out: dict[str, int] = {}
        if len(words) % 2:
            raise BadText("goods are written in pairs: wood 2 gold 1")
        for good, n in zip(words[::2], words[1::2]):
            if good not in GOODS:
                raise BadText(f"no goods called {good!r} ({', '.join(GOODS)})")
            out[good] = out.get(good, 0) + self.number(n)
        return tuple((g, out[g]) for g in GOODS if out.get(g))
