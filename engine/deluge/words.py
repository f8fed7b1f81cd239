"""Names: colours, goods, kinds of piece, and what people call them."""

from __future__ import annotations

from collections.abc import Iterable

from engine.text import Text, say

COLOURS = ("yellow", "blue", "green", "white")
GOODS = ("wood", "gold", "bronze", "marble", "granite")
MINERALS = GOODS[1:]
HOME = {"yellow": "eurasia", "blue": "africa", "green": "australia", "white": "america"}

SOLDIERS, SHIPS, MINES, FORESTS = 5, 8, 3, 3  # the most per colour (D2), per cell (D37, D6)
PEOPLE_AT_START = 4  # D5
PRICE = {1: 10, 2: 4, 3: 2, 4: 1}  # kinds of goods used -> of each (D36)
SHIP_WOOD = 4  # D35
RISES = {5: 1, 8: 2, 11: 3}  # the counter's marks -> which rise (D45, D46)
END = 14  # D50

_COLOURS = {c: say(c) for c in COLOURS}
_SEATS = {
    "yellow": say("Yellow"),
    "blue": say("Blue"),
    "green": say("Green"),
    "white": say("White"),
}
_GOODS = {g: say(g) for g in GOODS}
_KINDS = {
    "fanatic": say("a fanatic"),
    "mine": say("a mine"),
    "bare": say("a “deforested” card"),
    "water": say("a blue card"),
    "counter": say("the counter"),
}
_OWNED = {
    "people": say("a {colour} pawn"),
    "soldier": say("a {colour} soldier"),
    "ship": say("a {colour} ship"),
    "dolmen": say("a {colour} dolmen"),
}


_MANY = {
    "fanatic": say("{n} fanatics"),
    "mine": say("{n} mines"),
    "bare": say("{n} “deforested” cards"),
    "people": say("{n} {colour} pawns"),
    "soldier": say("{n} {colour} soldiers"),
    "ship": say("{n} {colour} ships"),
    "dolmen": say("{n} {colour} dolmens"),
}


def colour_name(colour: str) -> Text:
    """A colour's name, for translation."""
    return _COLOURS.get(colour) or say(colour)


def seat_name(seat: str) -> Text:
    """A seat's name, for translation."""
    return _SEATS.get(seat) or say(seat)


def good_name(good: str) -> Text:
    """A good's name, for translation."""
    return _GOODS.get(good) or say(good)


def kind_name(kind: str) -> Text:
    """What people call a kind, such as "a white soldier"."""
    if kind in _KINDS:
        return _KINDS[kind]
    head, _, colour = kind.partition(":")
    if head in _OWNED and colour:
        return Text(_OWNED[head].template, {"colour": colour_name(colour)})
    return say(kind)


def several_of(kind: str, n: int) -> Text:
    """A number of pieces of a kind: "2 white soldiers"."""
    head, _, colour = kind.partition(":")
    if n == 1 or head not in _MANY:
        return kind_name(kind)
    return Text(
        _MANY[head].template, {"n": n, "colour": colour_name(colour)} if colour else {"n": n}
    )


def listed_parts(parts: Iterable[Text], template: str = "{first}, {next}") -> Text:
    """The parts one after another; "nothing" if there are none."""
    out: Text | None = None
    for part in parts:
        out = part if out is None else Text(template, {"first": out, "next": part})
    return out or say("nothing")


def goods_text(goods: Iterable[tuple[str, int]]) -> Text:
    """ "2 wood, 1 gold" """
    return listed_parts(say("{n} {good}", n=n, good=good_name(g)) for g, n in goods)


def pieces_words(counts: Iterable[tuple[str, int]]) -> Text:
    """ "2 white soldiers, a blue soldier" """
    return listed_parts(several_of(kind, n) for kind, n in counts if n > 0)
