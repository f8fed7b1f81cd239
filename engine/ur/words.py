"""Names: seats, domains, kinds of piece, counts, and what people call them."""

from __future__ import annotations

from engine.text import Text, say

SEATS = ("black", "white", "green", "blue")
DOMAINS = ("agriculture", "trade", "culture", "politics", "war")

FIVE = 5  # stones a tile holds, and a ziggurat takes (U10, U16)
COPIES = 4  # tiles of each pair (U1)

_SEATS = {"black": say("Black"), "white": say("White"), "green": say("Green"), "blue": say("Blue")}
_COLOURS = {
    "black": say("black"),
    "white": say("white"),
    "green": say("green"),
    "blue": say("blue"),
}
_DOMAINS = {
    "agriculture": say("agriculture"),
    "trade": say("trade"),
    "culture": say("culture"),
    "politics": say("politics"),
    "war": say("war"),
}
_NUMBERS = (say("no"), say("one"), say("two"), say("three"), say("four"), say("five"))


def seat_name(seat: str) -> Text:
    """A seat's name, for translation."""
    return _SEATS.get(seat) or say(seat)


def colour_name(seat: str) -> Text:
    """The name of a seat's colour, for translation."""
    return _COLOURS.get(seat) or say(seat)


def domain_name(domain: str) -> Text:
    """A domain's name, for translation."""
    return _DOMAINS.get(domain) or say(domain)


def number_word(n: int) -> Text | int:
    """A small number in words, for translation."""
    return _NUMBERS[n] if 0 <= n < len(_NUMBERS) else n


def tile_name(tile: str) -> Text:
    """`"war/trade"` -> "war (trade on the back)" """
    face, _, back = tile.partition("/")
    if back not in _DOMAINS:
        return domain_name(face)
    return say("{face} ({back} on the back)", face=domain_name(face), back=domain_name(back))


def stones_words(seat: str, n: int) -> Text:
    """ "one black stone", "three white stones" """
    return say(
        "one {colour} stone" if n == 1 else "{n} {colour} stones",
        n=number_word(n),
        colour=colour_name(seat),
    )


def lay_more(seat: str, n: int, site: str) -> Text:
    """The to-do for n stones that still have to be laid."""
    return say(
        "one more {colour} stone on {site}" if n == 1 else "{n} more {colour} stones on {site}",
        n=number_word(n),
        colour=colour_name(seat),
        site=site,
    )


def take_off(seat: str, n: int, site: str) -> Text:
    """The to-do for n stones that still have to be removed."""
    return say("take {stones} off {site}", stones=stones_words(seat, n), site=site)


def listed_texts(parts: list[Text]) -> Text:
    """Several texts as one, separated by commas."""
    out = parts[0]
    for p in parts[1:]:
        out = say("{first}, {next}", first=out, next=p)
    return out


def kind_name(kind: str) -> Text:
    """What people call a kind, such as "a black stone" or "the tile war (trade on the back)"."""
    if kind in _SEATS:
        return say("a {colour} stone", colour=colour_name(kind))
    if kind == "ziggurat":
        return say("a ziggurat")
    if kind.startswith("tile:"):
        return say("the tile {tile}", tile=tile_name(kind[5:]))
    return say(kind)
