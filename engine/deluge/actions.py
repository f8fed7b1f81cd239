"""The actions of Zondvloed, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.deluge.words import COLOURS, GOODS, SHIP_WOOD
from engine.deluge.world import Map
from engine.game import Action, BadText
from engine.notation import Notation, Part, Syntax, UsageError, one_word
from engine.text import whole_number

Goods = tuple[tuple[str, int], ...]  # (good, number) in the order of GOODS


class Said(NamedTuple):
    """Who states an action, and the map."""

    seat: str
    world: Map


# Turning words into values; each raises BadText


def known_cell(word: str, said: Said) -> str:
    """A cell's id from the word for it. Raises BadText if there is none."""
    if word not in said.world.touching:
        raise BadText(f"no cell called {word!r}")
    return word


def known_seat(word: str, said: Said) -> str:
    """A seat that takes part. Raises BadText if there is no such seat."""
    if word not in COLOURS:
        raise UsageError(AGREE)
    return word


def number_of(word: str) -> int:
    """A whole number. Raises BadText."""
    n = whole_number(word)
    if n is None:
        raise BadText(f"not a number: {word!r}")
    return n


def _from_and_to(words: list[str], said: Said) -> tuple[str, str]:
    """Where from and where to."""
    a, arrow, b = words.pop(0).partition(">") if words else ("", "", "")
    if not arrow:
        raise BadText("from where to where is written A>B")
    return known_cell(a, said), known_cell(b, said)


def _pieces_going(words: list[str], said: Said) -> tuple[int, int, Goods, int]:
    """Own people, own soldiers, slaves per colour, fanatics."""
    people = soldiers = fanatics = 0
    slaves: dict[str, int] = {}
    while words:
        word = words.pop(0)
        if word == "people" and words:
            people += number_of(words.pop(0))
        elif word in ("soldier", "soldiers") and words:
            soldiers += number_of(words.pop(0))
        elif word in ("fanatic", "fanatics") and words:
            fanatics += number_of(words.pop(0))
        elif word == "slaves" and len(words) > 1 and words[0] in COLOURS:
            colour = words.pop(0)
            slaves[colour] = slaves.get(colour, 0) + number_of(words.pop(0))
        else:
            raise BadText(f"who goes is written people N, soldier N, slaves COLOUR N; not {word!r}")
    if people + soldiers + fanatics + sum(slaves.values()) == 0:
        raise BadText("nobody goes")
    return people, soldiers, tuple((c, slaves[c]) for c in COLOURS if slaves.get(c)), fanatics


def _seas_crossed(words: list[str], said: Said) -> tuple[tuple[str, ...]]:
    """The sea cells of a crossing, up to the pieces that go."""
    if not words or words.pop(0) != "via":
        raise BadText("ferry A>B via SEA ... people N")
    via = []
    while words and words[0] not in ("people", "soldier", "soldiers", "slaves", "fanatic"):
        via.append(known_cell(words.pop(0), said))
    if not via:
        raise BadText("ferry needs the sea cells it crosses, after via")
    return (tuple(via),)


def _number_of_ships(words: list[str], said: Said) -> tuple[int]:
    if len(words) > 1:
        raise UsageError(SAIL)
    return (number_of(words.pop(0)) if words else 1,)


def goods_of(words: Sequence[str]) -> Goods:
    """Goods and numbers in turn ("wood 2 gold 1"). Raises BadText."""
    out: dict[str, int] = {}
    if len(words) % 2:
        raise BadText("goods are written in pairs: wood 2 gold 1")
    for good, n in zip(words[::2], words[1::2]):
        if good not in GOODS:
            raise BadText(f"no goods called {good!r} ({', '.join(GOODS)})")
        out[good] = out.get(good, 0) + number_of(n)
    return tuple((g, out[g]) for g in GOODS if out.get(g))


def bill_words(goods: Goods) -> str:
    """Goods as scripts write them: "wood 2 fish 1"."""
    return " ".join(f"{g} {n}" for g, n in goods)


def _harvested_goods(words: list[str], said: Said) -> tuple[str, Goods, tuple[str, ...]]:
    """A cell, what is harvested there, and the forests covered if they are named."""
    cell, rest, spots = known_cell(words.pop(0), said), words.copy(), list[str]()
    words.clear()
    if "at" in rest:
        at = rest.index("at")
        named = {_known_spot(cell, w, said) for w in rest[at + 1 :]}
        spots = [s for s in said.world.spots[cell] if s in named]
        rest = rest[:at]
    return cell, goods_of(rest), tuple(spots)


def _known_spot(cell: str, word: str, said: Said) -> str:
    for spot in said.world.spots.get(cell, ()):
        if word in (spot, spot.rpartition(".")[2]):
            return spot
    raise BadText(f"{cell} has no forest called {word!r}")


def _both_sides(words: list[str], said: Said) -> tuple[str, Goods, str, Goods]:
    """Who gives what to whom for what."""
    mine = words.copy()
    words.clear()
    if "for" not in mine or mine[0] not in COLOURS:
        raise BadText("trade yellow wood 2 for blue gold 1")
    at = mine.index("for")
    giver, gets = mine[0], mine[at + 1 :]
    if gets and gets[0] in COLOURS:
        taker, gets = gets[0], gets[1:]
    elif giver != said.seat:  # "blue: trade yellow wood 2 for gold 1": blue gives it to yellow
        giver, taker = said.seat, giver
    else:
        raise BadText("with whom? trade yellow wood 2 for blue gold 1")
    return giver, goods_of(mine[1:at]), taker, goods_of(gets)


def _thing_built(words: list[str], said: Said) -> tuple[str, str, Goods]:
    """What is built where, and what is paid."""
    (what, where), rest = words[:2], words[2:]
    words.clear()
    if what not in ("ship", "mine", "soldier", "dolmen"):
        raise UsageError(BUILD)
    if rest and rest[0] != "pay":
        raise BadText(f"after the cell comes `pay`, not {rest[0]!r}")
    pay = goods_of(rest[1:])
    if what == "ship" and pay == (("wood", SHIP_WOOD),):
        pay = ()  # the price is fixed, so it need not be stated
    return what, known_cell(where, said), pay


SAIL, AGREE = "sail A>B N", "agree SEAT SEA"
BUILD = "build ship SEA, or build mine|soldier|dolmen CELL pay wood 10"
LEG = Part(("origin", "target"), _from_and_to, lambda a: f"{a.origin}>{a.target}")
CREW = Part(("people", "soldiers", "slaves", "fanatics"), _pieces_going, lambda a: a.crew())


class Crew(Action, frozen=True):
    """The pieces that go from one cell to another: own people, own soldiers, slaves (colour,
    number); fanatics are never allowed to."""

    origin: str
    target: str
    people: int = 0
    soldiers: int = 0
    slaves: Goods = ()
    fanatics: int = 0

    def crew(self) -> str:
        """The pieces that go, as people write them: "people 3 soldier 1 slaves blue 2"."""
        parts = [f"people {self.people}"] * bool(self.people) + [f"soldier {self.soldiers}"] * bool(
            self.soldiers
        )
        parts += [f"slaves {c} {n}" for c, n in self.slaves]
        return " ".join(parts + [f"fanatic {self.fanatics}"] * bool(self.fanatics))


class Move(Crew, frozen=True):
    """Pieces go from a cell to a neighbouring one."""

    syntax = Syntax("move", LEG, CREW, usage="")


class Flee(Crew, frozen=True):
    """Pieces leave a flooding cell for a neighbouring one."""

    syntax = Syntax("flee", LEG, CREW, usage="")


class Ferry(Crew, frozen=True):
    """Pieces cross seas by ship. via: the sea cells crossed, in order."""

    via: tuple[str, ...] = ()

    syntax = Syntax(
        "ferry",
        LEG,
        Part(("via",), _seas_crossed, lambda a: f"via {' '.join(a.via)}"),
        CREW,
        usage="",
    )


class Sail(Action, frozen=True):
    """A ship goes to a neighbouring sea."""

    origin: str
    target: str
    ships: int = 1

    syntax = Syntax(
        "sail", LEG, Part(("ships",), _number_of_ships, lambda a: str(a.ships)), usage=SAIL
    )


class Harvest(Action, frozen=True):
    """Goods are taken from a cell. spots: the forest spots covered, () for the first free ones."""

    cell: str
    goods: Goods
    spots: tuple[str, ...] = ()

    def harvested(self) -> str:
        """What is taken, as people write it: "wood 2 gold 1"."""
        at = f" at {' '.join(s.rpartition('.')[2] for s in self.spots)}" if self.spots else ""
        return f"{self.cell} {bill_words(self.goods)}{at}"

    syntax = Syntax(
        "harvest",
        Part(("cell", "goods", "spots"), _harvested_goods, harvested, 1),
        usage="harvest CELL wood N ...",
    )

    def without(self, part: Action) -> tuple[Action, ...] | None:
        if (
            not isinstance(part, Harvest)
            or (part.seat, part.cell) != (self.seat, self.cell)
            or part.spots
        ):
            return super().without(part)
        less = dict(part.goods)
        if any(n > dict(self.goods).get(g, 0) for g, n in less.items()):
            return None
        left = tuple((g, n - less.get(g, 0)) for g, n in self.goods if n > less.get(g, 0))
        return (Harvest(self.seat, self.cell, left, self.spots),) if left else ()


class Trade(Action, frozen=True):
    """The giver's goods for the taker's; either of them may state it."""

    giver: str
    gives: Goods
    taker: str
    takes: Goods

    def bargain(self) -> str:
        """Both sides of the trade, as people write them."""
        return f"{self.giver} {bill_words(self.gives)} for {self.taker} {bill_words(self.takes)}"

    syntax = Syntax(
        "trade", Part(("giver", "gives", "taker", "takes"), _both_sides, bargain), usage=""
    )

    def asks(self) -> str:
        return self.taker if self.seat == self.giver else self.giver


class Build(Action, frozen=True):
    """what: ship, mine, soldier or dolmen; pay: () for a ship, whose price is fixed."""

    what: str
    cell: str
    pay: Goods = ()

    def building(self) -> str:
        """What is built, where, and what is paid, as people write it."""
        return f"{self.what} {self.cell}" + (f" pay {bill_words(self.pay)}" if self.pay else "")

    syntax = Syntax("build", Part(("what", "cell", "pay"), _thing_built, building, 2), usage=BUILD)


class Agree(Action, frozen=True):
    """The ship's owner lets `guest` cross `sea` with it."""

    guest: str
    sea: str

    syntax = Syntax(
        "agree", one_word("guest", known_seat), one_word("sea", known_cell), usage=AGREE
    )


class Done(Action, frozen=True):
    """A player has finished their part of the phase."""

    syntax = Syntax("done", usage="done takes no more words")


NOTATION = Notation[Action]((Move, Sail, Ferry, Harvest, Trade, Build, Flee, Agree, Done))


def parse_action(text: str, world: Map) -> Action:
    """`"yellow: harvest eurasia-5 wood 2"` -> Action. Raises BadText if it is not an action at
    all."""
    seat, colon, rest = text.partition(":")
    seat, words = seat.strip(), rest.split()
    if not colon or not words:
        raise BadText(f"not an action: {text!r} (it reads like `yellow: done`)")
    if seat not in COLOURS:
        raise BadText(f"no seat called {seat!r} (there are: {', '.join(COLOURS)})")
    verb = words[0]
    if verb not in NOTATION.sorts:
        raise BadText(f"no action is called {verb!r} (there are: {', '.join(NOTATION.sorts)})")
    try:
        return NOTATION.read(verb, seat, words[1:], Said(seat, world))
    except UsageError as e:
        raise BadText(str(e)) from None
