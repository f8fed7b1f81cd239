"""The actions, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.game import Action, BadText
from engine.nile.board import COLOURS, FRUITS, Board
from engine.notation import Notation, Part, Syntax, UsageError, one_word, several_words
from engine.text import whole_number

PICTURES = ("spoil1", "spoil2", "spoil3", "spoil4", "desert", "hippo", "none")
CARDS, DIE = "cards", "die"  # who "acts" when a card is turned over or the die is rolled


class Said(NamedTuple):
    """Who states an action, the board, who plays, and the words after a colon (None: there is no
    colon)."""

    seat: str
    board: Board
    seats: tuple[str, ...]
    shown: list[str] | None


# Turning words into values; each raises BadText


def known_field(word: str, said: Said) -> str:
    """A field's id from the word for it. Raises BadText if there is none."""
    if word not in said.board.fields:
        raise BadText(f"{word!r} is not a field of this plan")
    return word


def known_place(word: str, said: Said) -> str:
    """A market place's id from the word for it. Raises BadText if there is none."""
    if word not in said.board.places:
        raise BadText(f"{word!r} is no place of the market")
    return word


def known_fruit(word: str) -> str:
    """A fruit's name from the word for it. Raises BadText if there is none."""
    if word not in FRUITS:
        raise BadText(f"{word!r} is not a fruit (there are: {', '.join(FRUITS)})")
    return word


def own_fruit(word: str, said: Said) -> str:
    """A fruit, optionally with its colour in front if it is the seat's own."""
    colour, colon, fruit = word.rpartition(":")
    if colon and colour != said.seat:
        raise BadText(f"{word!r} is not a marker of {said.seat}")
    return known_fruit(fruit)


def market_row(word: str, said: Said) -> int:
    """The number of a market row ("M2"). Raises BadText."""
    row = whole_number(word[1:]) if word[:1] in ("M", "m") else None
    if row is None or row not in said.board.market:
        raise BadText(
            f"{word!r} is not a market row (there are: "
            f"{', '.join(f'M{n}' for n in said.board.market)})"
        )
    return row


def row_of_fields(word: str, said: Said) -> str:
    """A row of fields ("L2"). Raises BadText."""
    if word not in said.board.rows:
        raise BadText(f"{word!r} is not a row of fields (there are: {', '.join(said.board.rows)})")
    return word


def wave_pair(word: str, said: Said) -> str:
    """The two waves of a water card ("12"). Raises BadText."""
    pair = word.removeprefix("water:")
    if pair not in said.board.waves:
        raise BadText(
            f"{word!r}: no water card has these waves (river side, desert side: "
            f"{', '.join(sorted(said.board.waves))})"
        )
    return pair


def known_player(word: str, said: Said) -> str:
    """A seat that takes part. Raises BadText if there is no such seat."""
    if word not in said.seats:
        raise BadText(f"nobody here is called {word!r}")
    return word


def side_up(word: str, said: Said) -> str:
    """Which side of a marker is up ("seed" or "ripe"). Raises BadText."""
    if word not in ("seed", "ripe"):
        raise BadText(f"a marker is planted seed or ripe, not {word!r}")
    return word


def marker_number(word: str, said: Said) -> int:
    """A number of markers. Raises BadText."""
    n = whole_number(word)
    if n is None:
        raise BadText(f"{word!r} is not a number of markers")
    return n


def card_face(pair: str) -> str:
    """A card's waves regardless of which way round it lies: "21" and "12" are the same card."""
    return min(pair, pair[::-1])


def sort_fruits(fruits: Sequence[str]) -> tuple[str, ...]:
    """Fruits in the order in which they are always written."""
    return tuple(sorted(fruits, key=FRUITS.index))


def event_of(words: Sequence[str]) -> tuple[str, bool]:
    """`["spoil3", "arrow"]` -> ("spoil3", True); `["arrow"]` -> ("", True)."""
    pictures = [w for w in words if w != "arrow"]
    arrow = len(words) - len(pictures)
    if not words or len(pictures) > 1 or arrow > 1:
        raise BadText("an event is one picture, then perhaps `arrow`")
    picture = pictures[0] if pictures else ""
    if pictures and picture not in PICTURES:
        raise BadText(
            f"{picture!r} is not an event (there are: {', '.join(PICTURES[:-1])}, arrow, none)"
        )
    return picture, bool(arrow)


def event_words(picture: str, arrow: bool) -> str:
    """An event as people write it: its picture, then perhaps "arrow"."""
    return " ".join([picture] * bool(picture) + ["arrow"] * arrow)


def _event_words(words: list[str], said: Said) -> tuple[str, bool]:
    event = [*words, *(said.shown or ())]
    words.clear()
    return event_of(event)


def _shown_words(words: list[str], said: Said) -> tuple[str, bool]:
    return ("", False) if said.shown is None else event_of(said.shown)


def _row_and_places(words: list[str], said: Said) -> tuple[int, tuple[int, ...]]:
    """A market row and places in it."""
    row, *places = words
    words.clear()
    number, numbers = market_row(row, said), []
    for p in places:
        place = whole_number(p.removeprefix(f"{row}."))
        if not place:
            raise BadText(f"{p!r} is no place of a market row")
        numbers.append(place)
    return number, tuple(sorted(numbers))


def _bought_marker(words: list[str], said: Said) -> tuple[str, str]:
    """A colour (the seat's own if none is given) and a fruit."""
    colour, colon, fruit = words.pop(0).rpartition(":")
    if colon and colour not in COLOURS:
        raise BadText(f"{colour!r} is not a colour of this game")
    return colour if colon else said.seat, known_fruit(fruit)


def _starting_seat(words: list[str], said: Said) -> tuple[str]:
    return (known_player(words.pop(0) if words else said.seat, said),)


FIELD, ROW = one_word("site", known_field), one_word("row", market_row, "M{}".format)
WAVES, FRUIT = one_word("waves", wave_pair), one_word("fruit", own_fruit)
SHOWN = Part(
    ("picture", "arrow"),
    _shown_words,
    lambda a: f": {event_words(a.picture, a.arrow)}" if tells_event(a) else "",
    0,
    0,
)


def said_as(form: str) -> str:
    """How a verb is used, shown by an example."""
    return f"{form.split()[0]} is said as `{form}`"


class Event(Action, frozen=True):
    """What a turned card shows: a picture, then perhaps the arrow. `picture` "": the arrow, without
    the picture being stated yet."""

    picture: str
    arrow: bool = False

    syntax = Syntax(
        "event",
        Part(("picture", "arrow"), _event_words, lambda a: event_words(a.picture, a.arrow)),
        usage="",
    )


class Flood(Action, frozen=True):
    """A water card laid in phase 1. `picture` "" if nothing is said about a desert card below
    it."""

    site: str
    waves: str
    picture: str = ""
    arrow: bool = False

    syntax = Syntax("flood", FIELD, WAVES, SHOWN, usage=said_as("flood L5.2 21"))


class Ebb(Action, frozen=True):
    """A water card removed and turned over. `picture` "" if nothing is said about its face."""

    site: str
    picture: str = ""
    arrow: bool = False

    syntax = Syntax("ebb", FIELD, SHOWN, usage=said_as("ebb L5.2 : desert"))


class Spoil(Action, frozen=True):
    """Fruit of market row `row` spoils: its places, counted from the house wall, sorted."""

    row: int
    places: tuple[int, ...] = ()

    def fruits(self) -> str:
        """The places that spoil, as people write them."""
        return " ".join([f"M{self.row}", *map(str, self.places)])

    syntax = Syntax(
        "spoil",
        Part(("row", "places"), _row_and_places, fruits, 1, 9),
        usage=said_as("spoil M3 1 2"),
    )


class Sow(Action, frozen=True):
    """A seed marker is laid on a field."""

    site: str
    fruit: str

    syntax = Syntax("sow", FIELD, FRUIT, usage=said_as("sow L4.2 flax"))


class Grow(Action, frozen=True):
    """A seed is turned to its ripe side."""

    site: str

    syntax = Syntax("grow", FIELD, usage=said_as("grow L4.2"))


class Harvest(Action, frozen=True):
    """A ripe marker is moved from its field to the market."""

    site: str
    row: int

    syntax = Syntax("harvest", FIELD, ROW, usage=said_as("harvest L4.2 M2"))


class Buy(Action, frozen=True):
    """A marker is bought out of the boat; `colour` is the seat's own unless N63 is played."""

    colour: str
    fruit: str

    def marker(self) -> str:
        """What is bought, as people write it: "flax" or "blue:flax"."""
        return self.fruit if self.colour == self.seat else f"{self.colour}:{self.fruit}"

    syntax = Syntax(
        "buy", Part(("colour", "fruit"), _bought_marker, marker, 1, 1), usage=said_as("buy flax")
    )


class Joker(Action, frozen=True):
    """The top desert card is bought."""

    syntax = Syntax("joker", usage=said_as("joker"))


class Spend(Action, frozen=True):
    """A joker is given up for a point."""

    syntax = Syntax("spend", usage=said_as("spend"))


class Freshen(Action, frozen=True):
    """A joker is given up to turn spoilt fruit back (N64)."""

    site: str

    syntax = Syntax("freshen", one_word("site", known_place), usage=said_as("freshen M2.3"))


class Fist(Action, frozen=True):
    """The number of markers in the closed hand (N57, N60)."""

    count: int

    syntax = Syntax("fist", one_word("count", marker_number), usage=said_as("fist 3"))


class Pass(Action, frozen=True):
    """A turn ends; in phase 1 it says that none of one's cards fits."""

    syntax = Syntax("pass", usage=said_as("pass"))


class Boat(Action, frozen=True):
    """Own markers are put into the boat: in the first round (N9), or what was in a fist (N59, N60).
    Sorted as in the box."""

    fruits: tuple[str, ...]

    syntax = Syntax(
        "boat",
        several_words(
            "fruits",
            lambda words, said: sort_fruits([own_fruit(w, said) for w in words]),
            " ".join,
            1,
        ),
        usage=said_as("boat flax grain"),
    )


class Water(Action, frozen=True):
    """The water card of the first round (N10)."""

    site: str
    waves: str

    syntax = Syntax("water", FIELD, WAVES, usage=said_as("water L5.1 12"))


class Plant(Action, frozen=True):
    """A marker of the first round (N11): side is seed or ripe."""

    site: str
    side: str
    fruit: str

    syntax = Syntax(
        "plant", FIELD, one_word("side", side_up), FRUIT, usage=said_as("plant L5.1 seed flax")
    )


class Cover(Action, frozen=True):
    """A strip over a row of fields (N4)."""

    row: str

    syntax = Syntax("cover", one_word("row", row_of_fields), usage=said_as("cover L2"))


class Desert(Action, frozen=True):
    """A desert card put on a field before the first round (N6)."""

    site: str

    syntax = Syntax("desert", FIELD, usage=said_as("desert L3.3"))


class Top(Action, frozen=True):
    """The card that has come up on one of `who`'s piles (open mode)."""

    who: str
    waves: str

    syntax = Syntax(
        "top",
        one_word("who", known_player),
        one_word("waves", lambda word, said: card_face(wave_pair(word, said))),
        usage=said_as("top red 12"),
    )


class Start(Action, frozen=True):
    """Whom the die makes the first starting player (N60)."""

    who: str

    syntax = Syntax(
        "start", Part(("who",), _starting_seat, lambda a: a.who, 0, 1), usage=said_as("start red")
    )


def tells_event(action: Flood | Ebb) -> bool:
    """Whether the action says anything about what the turned card shows."""
    return bool(action.picture or action.arrow)


NOTATION = Notation[Action](
    (
        Flood,
        Ebb,
        Event,
        Spoil,
        Sow,
        Grow,
        Harvest,
        Buy,
        Joker,
        Spend,
        Freshen,
        Fist,
        Pass,
        Boat,
        Water,
        Plant,
        Cover,
        Desert,
        Top,
        Start,
    )
)
CHANCE = ("event", "top", "start", "desert")


def parse_action(text: str, board: Board, seats: tuple[str, ...]) -> Action:
    """`"red: flood L5.2 21"` -> Flood. Raises BadText if it is not an action at all."""
    seat, colon, rest = text.partition(":")
    seat, rest = seat.strip(), rest.strip()
    if not colon or not rest:
        raise BadText(f"{text!r} is not an action: write `red: sow L4.2 flax`")
    if seat not in (*COLOURS, CARDS, DIE):
        raise BadText(f"nobody here is called {seat!r} (there are: {', '.join(COLOURS)})")
    verb, shown = rest.split()[0], None
    if seat in (CARDS, DIE) and verb not in CHANCE:
        raise BadText(f"{seat} does only what chance does")
    if verb in ("flood", "ebb", "event"):
        rest, colon, after = rest.replace("water:", "").partition(":")
        shown = after.split() if colon else None
    if verb not in NOTATION.sorts:
        raise BadText(f"{verb!r} is not an action of this game")
    try:
        return NOTATION.read(verb, seat, rest.split()[1:], Said(seat, board, seats, shown))
    except UsageError as e:
        raise BadText(str(e)) from None
