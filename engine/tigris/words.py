"""Names: seats, colours, kinds of piece, and what people call them."""

from __future__ import annotations

from engine.text import Text, say

SEATS = ("archer", "bull", "pot", "lion")
COLOURS = ("black", "red", "blue", "green")
BLACK, RED, BLUE, GREEN = range(4)
POINTS = (*COLOURS, "treasure")

TILES = ("settlement", "temple", "farm", "market")  # in the order of COLOURS
COLOUR_OF = {kind: c for c, kind in enumerate(TILES)}

HAND = 6  # tiles a hand is refilled to (T4, T34)
ACTIONS = 2  # actions a turn (T9)

_SEATS = {"archer": say("Archer"), "bull": say("Bull"), "pot": say("Pot"), "lion": say("Lion")}
_COLOURS = {"black": say("black"), "red": say("red"), "blue": say("blue"), "green": say("green")}
_LEADERS = {
    "black": say("the black leader of {seat}"),
    "red": say("the red leader of {seat}"),
    "blue": say("the blue leader of {seat}"),
    "green": say("the green leader of {seat}"),
}
_KINDS = {
    "settlement": say("a settlement (black)"),
    "temple": say("a temple (red)"),
    "farm": say("a farm (blue)"),
    "market": say("a market (green)"),
    "catastrophe": say("a catastrophe tile"),
    "union": say("the union tile"),
    "flipped": say("a face-down tile"),
    "treasure": say("a treasure"),
}


def seat_name(seat: str) -> Text:
    """A seat's name, for translation."""
    return _SEATS.get(seat) or say(seat)


def colour_name(colour: str) -> Text:
    """A colour's name, for translation."""
    return _COLOURS.get(colour) or say(colour)


def leader_kind(seat: str, colour: str) -> str:
    """The kind of a seat's leader: "leader:bull:red"."""
    return f"leader:{seat}:{colour}"


def kind_name(kind: str) -> Text:
    """What people call a kind, such as "the green leader of Lion"."""
    if kind in _KINDS:
        return _KINDS[kind]
    head, _, rest = kind.partition(":")
    if head == "leader" and rest.count(":") == 1:
        seat, colour = rest.split(":")
        if colour in _LEADERS:
            return Text(_LEADERS[colour].template, {"seat": seat_name(seat)})
    if head == "monument" and rest.count("-") == 1:
        a, b = rest.split("-")
        return say("the {first} and {second} monument", first=colour_name(a), second=colour_name(b))
    return say(kind)
