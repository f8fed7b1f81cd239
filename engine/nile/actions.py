"""Actions and their notation (DESIGN 8): typed values, `words()` one way, `parse` the other."""

from __future__ import annotations

from engine.game import Action, BadText
from engine.nile.board import COLOURS, FRUITS, Board
from engine.text import whole_number

PICTURES = ("spoil1", "spoil2", "spoil3", "spoil4", "desert", "hippo", "none")
CARDS, DIE = "cards", "die"                 # who "acts" when a card is turned, when the die is rolled


class Event(Action, frozen=True):
    """What a turned card shows: a picture, then perhaps the arrow. `picture` "": the arrow, and no word of a picture yet."""

    picture: str
    arrow: bool = False

    def words(self) -> str:
        return f"event {event_words(self.picture, self.arrow)}"


class Flood(Action, frozen=True):
    """A water card laid in phase 1; `picture` "" when nothing is said of a desert card below it."""

    site: str
    waves: str
    picture: str = ""
    arrow: bool = False

    def words(self) -> str:
        return f"flood {self.site} {self.waves}{_shown(self)}"


class Ebb(Action, frozen=True):
    """A water card taken off and turned over; `picture` "" when nothing is said of its face."""

    site: str
    picture: str = ""
    arrow: bool = False

    def words(self) -> str:
        return f"ebb {self.site}{_shown(self)}"


class Spoil(Action, frozen=True):
    """Fruit of market row `row` goes bad: places, counted from the house wall, sorted."""

    row: int
    places: tuple[int, ...] = ()

    def words(self) -> str:
        return " ".join([f"spoil M{self.row}", *map(str, self.places)])


class Sow(Action, frozen=True):
    site: str
    fruit: str

    def words(self) -> str:
        return f"sow {self.site} {self.fruit}"


class Grow(Action, frozen=True):
    site: str

    def words(self) -> str:
        return f"grow {self.site}"


class Harvest(Action, frozen=True):
    site: str
    row: int

    def words(self) -> str:
        return f"harvest {self.site} M{self.row}"


class Buy(Action, frozen=True):
    """A marker out of the boat; `colour` is the seat's own unless N63 is played."""

    colour: str
    fruit: str

    def words(self) -> str:
        return f"buy {self.fruit}" if self.colour == self.seat else f"buy {self.colour}:{self.fruit}"


class Joker(Action, frozen=True):
    """Buys the top desert card."""

    def words(self) -> str:
        return "joker"


class Spend(Action, frozen=True):
    """Gives a joker up for a point."""

    def words(self) -> str:
        return "spend"


class Freshen(Action, frozen=True):
    """Gives a joker up to turn bad fruit back (N64)."""

    site: str

    def words(self) -> str:
        return f"freshen {self.site}"


class Fist(Action, frozen=True):
    """So many markers in the closed hand (N57, N60)."""

    count: int

    def words(self) -> str:
        return f"fist {self.count}"


class Pass(Action, frozen=True):
    def words(self) -> str:
        return "pass"


class Boat(Action, frozen=True):
    """Own markers put into the boat: in the first round (N9), or what was in a fist (N59, N60). Sorted as in the box."""

    fruits: tuple[str, ...]

    def words(self) -> str:
        return " ".join(["boat", *self.fruits])


class Water(Action, frozen=True):
    """The water card of the first round (N10)."""

    site: str
    waves: str

    def words(self) -> str:
        return f"water {self.site} {self.waves}"


class Plant(Action, frozen=True):
    """A marker of the first round (N11): side is seed or ripe."""

    site: str
    side: str
    fruit: str

    def words(self) -> str:
        return f"plant {self.site} {self.side} {self.fruit}"


class Cover(Action, frozen=True):
    """A strip over a row of fields (N4)."""

    row: str

    def words(self) -> str:
        return f"cover {self.row}"


class Desert(Action, frozen=True):
    """A desert card put on a field before the first round (N6)."""

    site: str

    def words(self) -> str:
        return f"desert {self.site}"


class Top(Action, frozen=True):
    """The card that has come up on one of `who`'s piles (open mode)."""

    who: str
    waves: str

    def words(self) -> str:
        return f"top {self.who} {self.waves}"


class Start(Action, frozen=True):
    """Whom the die makes the first start player (N60)."""

    who: str

    def words(self) -> str:
        return f"start {self.who}"


def tells(action: Flood | Ebb) -> bool:
    """Whether it says anything of what the turned card shows."""
    return bool(action.picture or action.arrow)


def event_words(picture: str, arrow: bool) -> str:
    return " ".join([picture] * bool(picture) + ["arrow"] * arrow)


def _shown(action: Flood | Ebb) -> str:
    return f" : {event_words(action.picture, action.arrow)}" if tells(action) else ""


def parse_event(words: list[str]) -> tuple[str, bool]:
    """`["spoil3", "arrow"]` -> ("spoil3", True); `["arrow"]` -> ("", True). Raises BadText."""
    pictures = [w for w in words if w != "arrow"]
    arrow = len(words) - len(pictures)
    if not words or len(pictures) > 1 or arrow > 1:
        raise BadText("an event is one picture, then perhaps `arrow`")
    picture = pictures[0] if pictures else ""
    if pictures and picture not in PICTURES:
        raise BadText(f"{picture!r} is no event (there are: {', '.join(PICTURES[:-1])}, arrow, none)")
    return picture, bool(arrow)


def sort_fruits(fruits: list[str]) -> tuple[str, ...]:
    return tuple(sorted(fruits, key=FRUITS.index))


HEADS = ("flood", "ebb", "event", "spoil", "sow", "grow", "harvest", "buy", "joker", "spend", "freshen", "fist", "pass",
         "boat", "water", "plant", "cover", "desert", "top", "start")


def parse(text: str, board: Board, seats: tuple[str, ...]) -> Action:
    """`"red: flood L5.2 21"` -> Flood. Raises BadText for what is no action at all."""
    seat, colon, rest = text.partition(":")
    seat, rest = seat.strip(), rest.strip()
    if not colon or not rest:
        raise BadText(f"{text!r} is no action: one reads `red: sow L4.2 flax`")
    if seat not in (*COLOURS, CARDS, DIE):
        raise BadText(f"nobody here is called {seat!r} (there are: {', '.join(COLOURS)})")
    head = rest.split()[0]
    if seat in (CARDS, DIE) and head not in ("event", "top", "start", "desert"):
        raise BadText(f"{seat} does only what chance does")
    body, said, shown = rest, "", ""
    if head in ("flood", "ebb", "event"):
        body, said, shown = rest.replace("water:", "").partition(":")
    return _Reader(board, seats, seat, body.split(), shown.split(), bool(said)).read()


class _Reader:
    """Reads one action's words; each method one head word."""

    def __init__(self, board: Board, seats: tuple[str, ...], seat: str, words: list[str], shown: list[str], said: bool):
        self.board, self.seats, self.seat, self.shown, self.said = board, seats, seat, shown, said
        self.head, self.rest = words[0], words[1:]

    def read(self) -> Action:
        if self.head not in HEADS:
            raise BadText(f"{self.head!r} is no action of this game")
        return getattr(self, f"_{self.head}")()

    def need(self, low: int, high: int, form: str) -> list[str]:
        if not low <= len(self.rest) <= high:
            raise BadText(f"{self.head} is said as `{form}`")
        return self.rest

    def field(self, site: str) -> str:
        if site not in self.board.fields:
            raise BadText(f"{site!r} is no field of this plan")
        return site

    def fruit(self, word: str) -> str:
        if word not in FRUITS:
            raise BadText(f"{word!r} is no fruit (there are: {', '.join(FRUITS)})")
        return word

    def own(self, word: str) -> str:
        """A fruit, its colour perhaps before it when it is the seat's own."""
        colour, colon, fruit = word.rpartition(":")
        if colon and colour != self.seat:
            raise BadText(f"{word!r} is no marker of {self.seat}")
        return self.fruit(fruit)

    def market_row(self, word: str) -> int:
        row = whole_number(word[1:]) if word[:1] in ("M", "m") else None
        if row not in self.board.market:
            raise BadText(f"{word!r} is no market row (there are: {', '.join(f'M{n}' for n in self.board.market)})")
        return row

    def wave_pair(self, word: str) -> str:
        pair = word.removeprefix("water:")
        if pair not in self.board.waves:
            raise BadText(f"{word!r}: no water card has these waves (river side, desert side: "
                          f"{', '.join(sorted(self.board.waves))})")
        return pair

    def _flood(self) -> Action:
        site, pair = self.need(2, 2, "flood L5.2 21")
        picture, arrow = parse_event(self.shown) if self.said else ("", False)
        return Flood(self.seat, self.field(site), self.wave_pair(pair), picture, arrow)

    def _ebb(self) -> Action:
        (site,) = self.need(1, 1, "ebb L5.2 : desert")
        picture, arrow = parse_event(self.shown) if self.said else ("", False)
        return Ebb(self.seat, self.field(site), picture, arrow)

    def _event(self) -> Action:
        return Event(self.seat, *parse_event(self.rest + self.shown))

    def _spoil(self) -> Action:
        row, *places = self.need(1, 9, "spoil M3 1 2")
        number = self.market_row(row)
        numbers = []
        for p in places:
            place = whole_number(p.removeprefix(f"{row}."))
            if not place:
                raise BadText(f"{p!r} is no place of a market row")
            numbers.append(place)
        return Spoil(self.seat, number, tuple(sorted(numbers)))

    def _sow(self) -> Action:
        site, fruit = self.need(2, 2, "sow L4.2 flax")
        return Sow(self.seat, self.field(site), self.own(fruit))

    def _grow(self) -> Action:
        (site,) = self.need(1, 1, "grow L4.2")
        return Grow(self.seat, self.field(site))

    def _harvest(self) -> Action:
        site, row = self.need(2, 2, "harvest L4.2 M2")
        return Harvest(self.seat, self.field(site), self.market_row(row))

    def _buy(self) -> Action:
        (word,) = self.need(1, 1, "buy flax")
        colour, colon, fruit = word.rpartition(":")
        if colon and colour not in COLOURS:
            raise BadText(f"{colour!r} is no colour of this game")
        return Buy(self.seat, colour if colon else self.seat, self.fruit(fruit))

    def _joker(self) -> Action:
        self.need(0, 0, "joker")
        return Joker(self.seat)

    def _spend(self) -> Action:
        self.need(0, 0, "spend")
        return Spend(self.seat)

    def _pass(self) -> Action:
        self.need(0, 0, "pass")
        return Pass(self.seat)

    def _freshen(self) -> Action:
        (site,) = self.need(1, 1, "freshen M2.3")
        if site not in self.board.places:
            raise BadText(f"{site!r} is no place of the market")
        return Freshen(self.seat, site)

    def _fist(self) -> Action:
        (count,) = self.need(1, 1, "fist 3")
        n = whole_number(count)
        if n is None:
            raise BadText(f"{count!r} is no number of markers")
        return Fist(self.seat, n)

    def _boat(self) -> Action:
        fruits = self.need(1, 99, "boat flax grain")
        return Boat(self.seat, sort_fruits([self.own(f) for f in fruits]))

    def _water(self) -> Action:
        site, pair = self.need(2, 2, "water L5.1 12")
        return Water(self.seat, self.field(site), self.wave_pair(pair))

    def _plant(self) -> Action:
        site, side, fruit = self.need(3, 3, "plant L5.1 seed flax")
        if side not in ("seed", "ripe"):
            raise BadText(f"a marker is planted seed or ripe, not {side!r}")
        return Plant(self.seat, self.field(site), side, self.own(fruit))

    def _cover(self) -> Action:
        (row,) = self.need(1, 1, "cover L2")
        if row not in self.board.rows:
            raise BadText(f"{row!r} is no row of fields (there are: {', '.join(self.board.rows)})")
        return Cover(self.seat, row)

    def _desert(self) -> Action:
        (site,) = self.need(1, 1, "desert L3.3")
        return Desert(self.seat, self.field(site))

    def _top(self) -> Action:
        who, pair = self.need(2, 2, "top red 12")
        if who not in self.seats:
            raise BadText(f"nobody here is called {who!r}")
        return Top(self.seat, who, face(self.wave_pair(pair)))

    def _start(self) -> Action:
        who = (self.need(0, 1, "start red") or [self.seat])[0]
        if who not in self.seats:
            raise BadText(f"nobody here is called {who!r}")
        return Start(self.seat, who)


def face(pair: str) -> str:
    """A card's waves whichever way round it lies: "21" and "12" are one card."""
    return min(pair, pair[::-1])
