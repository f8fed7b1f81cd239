"""From set-up lines (docs/contracts.md, Notation) to a position; the beginning of a game in open
mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.game import BadText, Statement, Step
from engine.layout import Contents, canonical_contents
from engine.nile import flow
from engine.nile.actions import card_face
from engine.nile.board import COLOURS, FRUITS, TIDES, Board, card_on, counted_markers, fruit_marker
from engine.nile.fit import DESERTS, STRIPS
from engine.nile.position import SETUP, UNKNOWN, Draft, Pile, Position, Wait
from engine.nile.write import FLAGS, NUMBERS, SEAT_NUMBERS, read_numbers, read_stock, read_wait
from engine.text import whole_number

JOKERS = 2  # each player's at the beginning (N6)
WATER_CARDS = 45  # N1; a plan that counts them takes precedence
VARIANTS = ("hippo", "bidding", "buy-others", "freshen")
PHASES = ("tide", "actions", "scoring")
WRITTEN = (*SETUP, "extra", "over")


def check_seats(seats: Sequence[str]) -> tuple[str, ...]:
    """Raises BadText if these seats cannot play."""
    for s in seats:
        if s not in COLOURS:
            raise BadText(f"{s!r} is not a seat of this game (there are: {', '.join(COLOURS)})")
    if len(set(seats)) != len(seats) or not 2 <= len(seats) <= 5:
        raise BadText("two to five different seats play")
    return tuple(seats)


def check_options(options: Mapping[str, str]) -> tuple[str, ...]:
    """The variants that are switched on. Raises BadText."""
    for name, value in options.items():
        if name not in VARIANTS:
            raise BadText(f"no option is called {name!r} (there are: {', '.join(VARIANTS)})")
        if value not in ("on", "off"):
            raise BadText(f"option {name} is on or off, not {value!r}")
    return tuple(v for v in VARIANTS if options.get(v) == "on")


def cards_dealt(board: Board, players: int) -> int:
    """Water cards a player gets (N7)."""
    return (sum(board.wave_counts.values()) or WATER_CARDS) // players


def piles_of(n: int) -> tuple[Pile, Pile]:
    """Two piles of about equal size, of n cards that nobody has looked at."""
    a = (n + 1) // 2
    return ("?" if a else "", a), ("?" if n - a else "", n - a)


def beginning_position(seats: Sequence[str], options: Mapping[str, str], board: Board) -> Position:
    """The beginning in open mode: strips, desert cards and top cards come first, by decision and by
    chance."""
    names, on = check_seats(seats), check_options(options)
    n = len(names)
    left = list(STRIPS[n])
    for sites in board.rows.values():
        if len(sites) in left:
            left.remove(len(sites))
    strips = len(STRIPS[n]) - len(left)  # a plan may lack such rows
    waits = [Wait("cover")] * strips + [Wait("desert")] * min(DESERTS, len(board.edges) - strips)
    waits += [Wait("top", seat=i, number=k) for i in range(n) for k in (0, 1)]
    p = _blank_position(names, on, board, open=True)
    d = Draft(p, board)
    d.jokers, d.deserts = [JOKERS] * n, board.deserts - JOKERS * n
    d.piles = [list(piles_of(cards_dealt(board, n))) for _ in names]
    d.phase, d.fresh = "boat", True
    if "bidding" in on:
        open_bidding(d)
    d.waiting = waits + d.waiting
    return d.freeze()


def open_bidding(d: Draft) -> None:
    """Begins the bidding for the first turn."""
    d.phase, d.fists = "bid", [-1] * len(d.seats)
    d.waiting.append(Wait("fist"))


def _blank_position(
    seats: tuple[str, ...], options: tuple[str, ...], board: Board, open: bool = False
) -> Position:
    n = len(seats)
    none = tuple([0] * len(FRUITS))
    unknown: Pile = ("?", UNKNOWN)
    return Position(
        seats=seats,
        options=options,
        open=open,
        lay={},
        tide="flood",
        scores=(0,) * n,
        obelisk=board.last_square,
        stock=tuple(board.box[s] for s in seats),
        out=(none,) * n,
        jokers=(0,) * n,
        deserts=board.deserts,
        discard=0,
        piles=((unknown, unknown),) * n,
        bids=(0,) * n,
        owed=(0,) * n,
        lost=(0,) * n,
    )


def position_after(
    seats: Sequence[str], statements: Sequence[Statement], board: Board
) -> tuple[Position, tuple[Step, ...]]:
    """The position, and the steps that followed from it immediately (a scoring). Raises BadText,
    naming the line at fault."""
    lines = _Lines(check_seats(seats), board)
    for s in statements:
        try:
            lines.read(s.words)
        except BadText as e:
            raise BadText(f"line {s.line}: {e}") from None
        except (ValueError, IndexError):
            raise BadText(f"line {s.line}: {' '.join(s.words)!r} cannot be read") from None
    return lines.position(), tuple(lines.d.steps)


class _Lines:
    """Reads set-up lines one by one; `position` puts them together."""

    def __init__(self, seats: tuple[str, ...], board: Board) -> None:
        self.seats, self.board = seats, board
        self.d = Draft(_blank_position(seats, (), board), board)
        self.options: dict[str, str] = {}
        self.lay: dict[str, Contents] = {}
        self.jokers: dict[str, int] = {}
        self.tops: dict[str, tuple[Pile, Pile]] = {}
        self.phase: str | None = None
        self.stock_shown: bool | None = None
        self.now: set[str] = set()

    def read(self, words: Sequence[str]) -> None:
        head, rest = words[0], list(words[1:])
        reader: Callable[[list[str]], None] | None = {
            "layout": self._layout,
            "option": self._option,
            "phase": self._phase,
            "starter": self._starter,
            "score": self._score,
            "obelisk": self._obelisk,
            "tops": self._tops,
            "jokers": self._jokers,
            "tide": self._tide,
            "cover": self._cover,
            "boat": self._boat,
            "water": self._water,
            "plant": self._plant,
            "desert": self._desert,
            "now": self._now,
        }.get(head)
        if reader is None and head in VARIANTS:
            rest, reader = [head, *rest], self._option
        if reader is None:
            raise BadText(f"{head!r} is not a set-up line of this game")
        reader(rest)

    def _seat(self, name: str) -> int:
        if name not in self.seats:
            raise BadText(f"nobody here is called {name!r} (there are: {', '.join(self.seats)})")
        return self.seats.index(name)

    def _number(self, word: str, what: str, low: int, high: int) -> int:
        n = whole_number(word)
        if n is None or not low <= n <= high:
            raise BadText(f"{word!r} is not a {what} ({low} to {high})")
        return n

    def _words(self, rest: list[str], n: int, form: str) -> list[str]:
        if len(rest) != n:
            raise BadText(f"write `{form}`")
        return rest

    def _layout(self, rest: list[str]) -> None:
        if rest == ["clear"]:
            self.lay.clear()
            return
        at: dict[str, list[str]] = {}
        site = None
        for word in rest:
            if word in self.board.sites:
                site = word
                at[site] = []
            elif site is None:
                raise BadText(f"{word!r} is not a site of this plan")
            elif word not in self.board.kinds:
                raise BadText(f"{word!r} is neither a site nor a kind of piece of this plan")
            else:
                at[site].append(word)
        if not at:
            raise BadText("layout names a site and what lies there, or says `layout clear`")
        for site, kinds in at.items():
            self._put(site, kinds)

    def _put(self, site: str, kinds: list[str]) -> None:
        if site in self.board.square:
            for k in kinds:
                if k == "obelisk":
                    self.d.obelisk = self.board.square[site] + 1
                elif k.startswith("figure:"):
                    self.d.scores[self._seat(k[7:])] = self.board.square[site]
                else:
                    raise BadText(f"{k} does not stand on the track")
        elif site in TIDES:
            if kinds and kinds != ["tide"]:
                raise BadText(f"{' '.join(kinds)} does not lie on the tide circle")
            if kinds:
                self.d.tide = site
        elif site == "desert-stock":
            self.stock_shown = bool(kinds)
        elif site in self.board.fields or site in self.board.places or site == "boat":
            self._ground(site, kinds)

    def _ground(self, site: str, kinds: list[str]) -> None:
        for k in kinds:
            if fruit_marker(k) is None and (site not in self.board.fields or card_on((k,)) is None):
                raise BadText(f"{k} cannot lie on {site}")
        if site in self.board.places and len(kinds) > 1:
            raise BadText(f"only one fruit lies on {site}")
        kinds = sorted(kinds, key=lambda k: card_on((k,)) is None)
        if sum(card_on((k,)) is not None for k in kinds) > 1:
            raise BadText(f"only one card lies on {site}")
        self.lay[site] = canonical_contents(kinds, "cluster")

    def _option(self, rest: list[str]) -> None:
        if len(rest) not in (1, 2):
            raise BadText("write `option hippo on`")
        self.options[rest[0]] = rest[1] if len(rest) == 2 else "on"
        check_options(self.options)

    def _phase(self, rest: list[str]) -> None:
        (word,) = self._words(rest, 1, "phase tide")
        if word not in (*PHASES, *WRITTEN):
            raise BadText(f"{word!r} is not a phase (there are: {', '.join(PHASES)})")
        self.phase = word

    def _starter(self, rest: list[str]) -> None:
        (word,) = self._words(rest, 1, "starter red")
        self.d.starter = self.d.turn = self._seat(word)

    def _score(self, rest: list[str]) -> None:
        seat, n = self._words(rest, 2, "score red 5")
        self.d.scores[self._seat(seat)] = self._number(n, "score", 0, 999)

    def _obelisk(self, rest: list[str]) -> None:
        (n,) = self._words(rest, 1, "obelisk 28")
        self.d.obelisk = self._number(
            n.removeprefix("V"), "square of the track", 1, self.board.last_square
        )

    def _tops(self, rest: list[str]) -> None:
        seat, pairs = rest[0], rest[1:]
        self._seat(seat)
        if len(pairs) > 2:
            raise BadText("a player has two piles")
        for pair in pairs:
            if pair not in self.board.waves and pair != "?":
                raise BadText(f"{pair!r}: no water card has these waves")
        piles = [(card_face(pair), UNKNOWN) for pair in pairs] + [("", 0)] * (2 - len(pairs))
        self.tops[seat] = (piles[0], piles[1])

    def _jokers(self, rest: list[str]) -> None:
        seat, n = self._words(rest, 2, "jokers red 2")
        self._seat(seat)
        self.jokers[seat] = self._number(n, "number of jokers", 0, max(self.board.deserts, 1))

    def _tide(self, rest: list[str]) -> None:
        (word,) = self._words(rest, 1, "tide ebb1")
        if word not in TIDES:
            raise BadText(f"{word!r} is not a tide (there are: {', '.join(TIDES)})")
        self.d.tide = word

    def _cover(self, rest: list[str]) -> None:
        (row,) = self._words(rest, 1, "cover L2")
        if row not in self.board.rows:
            raise BadText(
                f"{row!r} is not a row of fields (there are: {', '.join(self.board.rows)})"
            )
        for site in self.board.rows[row]:
            self.lay[site] = ("cover",)

    def _owned(self, word: str, side: str = "seed") -> str:
        """`red:flax` or `seed:red:flax` as a kind. Raises BadText without a colour, since nobody
        would know whose it is."""
        kind = word if fruit_marker(word) else f"{side}:{word}"
        if kind not in self.board.kinds:
            raise BadText(
                f"{word!r}: whose is it? Say red:flax, or let the seat say it: `red: "
                f"boat flax grain`"
            )
        return kind

    def _boat(self, rest: list[str]) -> None:
        self._ground("boat", [*self.lay.get("boat", ()), *map(self._owned, rest)])

    def _water(self, rest: list[str]) -> None:
        site, pair = self._words(rest, 2, "water L5.1 12")
        if site not in self.board.fields or pair not in self.board.waves:
            raise BadText(f"no card {pair!r} on {site!r}")
        self._ground(
            site, [f"water:{pair}", *(k for k in self.lay.get(site, ()) if fruit_marker(k))]
        )

    def _plant(self, rest: list[str]) -> None:
        site, side, word = (
            self._words(rest, 3, "plant L5.1 seed red:flax")
            if len(rest) != 2
            else (rest[0], "seed", rest[1])
        )
        if site not in self.board.fields or side not in ("seed", "ripe"):
            raise BadText("write `plant L5.1 seed red:flax`")
        self._ground(site, [*self.lay.get(site, ()), self._owned(word, side)])

    def _desert(self, rest: list[str]) -> None:
        (site,) = self._words(rest, 1, "desert L3.3")
        if site not in self.board.fields:
            raise BadText(f"{site!r} is not a field of this plan")
        self._ground(site, ["desert"])

    def _now(self, rest: list[str]) -> None:
        """The lines that `write` adds for a moment inside a round."""
        name, rest = rest[0], rest[1:]
        d = self.d
        self.now.add(name)
        if name in FLAGS:
            setattr(d, name, True)
        elif name in NUMBERS:
            setattr(d, name, int(rest[0]))
        elif name in SEAT_NUMBERS:
            setattr(d, name, list(read_numbers(rest, len(self.seats))))
        elif name in ("stock", "out"):
            getattr(d, name)[self._seat(rest[0])] = list(read_stock(rest[1:]))
        elif name == "piles":
            a, n, b, m = rest[1:]
            d.piles[self._seat(rest[0])] = [
                (a.replace("-", ""), int(n)),
                (b.replace("-", ""), int(m)),
            ]
        elif name == "turn":
            d.turn = self._seat(rest[0])
        elif name == "mode" and rest[0] in ("flood", "ebb"):
            d.mode = rest[0]
        elif name == "active":
            d.active.add(" ".join(rest))
        elif name == "bought":
            d.bought = set(map(self._seat, rest))
        elif name == "planted":
            d.planted = tuple(rest)
        elif name == "unsaid":
            (d.unsaid,) = rest
        elif name == "waiting":
            d.waiting.append(read_wait(rest, self.seats))
        else:
            raise BadText(f"no such line: now {name}")

    def position(self) -> Position:
        d = self.d
        d.options = check_options(self.options)
        d.lay = {s: c for s, c in self.lay.items() if c}
        if self.now:
            d.jokers = [self.jokers.get(s, 0) for s in self.seats]
            d.phase = self.phase or d.phase
            return d.freeze()
        cards = {card_on(c) for c in d.lay.values()} - {None, "cover"}
        loose = any(fruit_marker(k) for c in d.lay.values() for k in c)
        played = self.phase is None and not cards and not loose
        if self.phase in SETUP:
            played = True
        self._hands(played)
        if played:
            self._first_round()
        else:
            d.asif = self.phase is None and not loose and cards <= {"desert"}
            self._in_round()
        return d.freeze()

    def _hands(self, played: bool) -> None:
        d, board = self.d, self.board
        n = len(self.seats)
        shown = sum((counted_markers(c) for c in d.lay.values()), start=counted_markers(()))
        d.stock = [
            [max(0, have - shown[s, f]) for f, have in zip(FRUITS, board.box[s])]
            for s in self.seats
        ]
        d.jokers = [self.jokers.get(s, JOKERS if played else 0) for s in self.seats]
        on_fields = sum(card_on(c) == "desert" for c in d.lay.values())
        d.deserts = max(0, board.deserts - on_fields - sum(d.jokers))
        if self.stock_shown is not None:
            d.deserts = max(d.deserts, 1) if self.stock_shown else 0
        unknown: tuple[Pile, Pile] = (
            piles_of(cards_dealt(board, n)) if played else (("?", UNKNOWN), ("?", UNKNOWN))
        )
        d.piles = [list(unknown) for _ in self.seats]
        for seat, tops in self.tops.items():
            known = d.piles[self._seat(seat)]
            d.piles[self._seat(seat)] = [
                (top, n if top else 0) for (top, _), (_, n) in zip(tops, known)
            ]

    def _first_round(self) -> None:
        d = self.d
        d.fresh, d.phase = True, self.phase or "boat"
        if d.phase in ("bid", "boat") and "bidding" in d.options:
            open_bidding(d)

    def _in_round(self) -> None:
        d = self.d
        d.mode = "flood" if d.tide == "flood" else "ebb"
        if self.phase == "actions":
            flow.start_actions(d)
        elif self.phase == "scoring":
            flow.end_round(d)
        elif self.phase == "over":
            d.phase = "over"
        else:
            flow.begin_tide(d)
