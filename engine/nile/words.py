"""What people call seats, kinds, events and phases."""

from __future__ import annotations

from engine.nile.board import fruit_marker
from engine.text import Text, say

SEATS = {
    "red": Text("Red"),
    "blue": Text("Blue"),
    "yellow": Text("Yellow"),
    "green": Text("Green"),
    "white": Text("White"),
}
SHADES = {
    "red": "#c0303a",
    "blue": "#2f62b8",
    "yellow": "#e3b92f",
    "green": "#2f8f57",
    "white": "#f7f4ea",
}
FRUIT = {
    "flax": Text("flax"),
    "grain": Text("grain"),
    "grapes": Text("grapes"),
    "onion": Text("onion"),
    "aubergine": Text("aubergine"),
}
TIDE = {"flood": Text("flood"), "ebb1": Text("ebb 1"), "ebb2": Text("ebb 2")}
EVENTS = {
    "spoil1": Text("one palm: two fruits of the row at the house go bad"),
    "spoil2": Text("two palms: two fruits of one of the two right rows go bad"),
    "spoil3": Text("three palms: two fruits of one of the three right rows go bad"),
    "spoil4": Text("four palms: two fruits of any row go bad"),
    "desert": Text("the desert"),
    "hippo": Text("a hippo"),
    "none": Text("nothing of these"),
}
PHASES = {
    "bid": Text("First round: bidding for the first start"),
    "boat": Text("First round: two markers each into the boat"),
    "water": Text("First round: one water card each"),
    "plant": Text("First round: one seed and one ripe fruit each"),
    "tide": Text("1 Ebb or flood"),
    "actions": Text("2 Actions of the players"),
    "extra": Text("1 The hippo's extra turn"),
    "over": Text("The game is over"),
}
_SIDE = {
    "seed": Text("the seed {fruit} of {seat}"),
    "ripe": Text("the ripe {fruit} of {seat}"),
    "rotten": Text("the rotten {fruit} of {seat}"),
}


def seat_name(seat: str) -> Text:
    """A seat's name, for translation."""
    return SEATS.get(seat) or Text(seat)


PALMS = {
    "spoil1": Text("one palm"),
    "spoil2": Text("two palms"),
    "spoil3": Text("three palms"),
    "spoil4": Text("four palms"),
}


def face_name(picture: str, arrow: bool) -> Text:
    """The text for a card's face with its picture: "two palms, and the arrow"."""
    face = PALMS.get(picture) or EVENTS[picture]
    return say("{picture}, and the arrow", picture=face) if arrow else face


def event_name(picture: str, arrow: bool) -> Text:
    """An event's name, for translation."""
    if not arrow:
        return EVENTS[picture]
    return (
        Text("the arrow")
        if not picture
        else say("{picture}, and the arrow", picture=EVENTS[picture])
    )


def kind_name(kind: str) -> Text:
    """ "the ripe flax of Red"; a kind that this game does not have keeps its own name."""
    m = fruit_marker(kind)
    if m and m[2] in FRUIT:
        return Text(_SIDE[m[0]].template, {"fruit": FRUIT[m[2]], "seat": seat_name(m[1])})
    if kind.startswith("water:") and len(kind) == 8:
        return say(
            "the water card with waves {inner} to the river and {outer} to the desert",
            inner=kind[6],
            outer=kind[7],
        )
    if kind.startswith("figure:"):
        return say("the figure of {seat}", seat=seat_name(kind[7:]))
    return {
        "desert": Text("the desert card"),
        "cover": Text("the cover strip"),
        "obelisk": Text("the obelisk"),
        "tide": Text("the tide stone"),
        "starter": Text("the start player's marker"),
    }.get(kind) or Text(kind)


def fruit_name(colour: str, fruit: str) -> Text:
    """A marker's name, for translation."""
    return say("{fruit} of {seat}", fruit=FRUIT[fruit], seat=seat_name(colour))
