"""Everything the rules know at one moment, as a frozen value, and the draft in which the next one
is written."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from engine.game import Step
from engine.layout import Contents, Layout, canonical_contents
from engine.nile.board import FRUITS, TIDES, Board, card_on, waves_on
from engine.text import Text

UNKNOWN = -1  # an unknown number of cards left in a pile
SETUP = ("bid", "boat", "water", "plant")  # the stages of the first round, in order
Pile = tuple[str, int]  # (waves of its top card: "?" unknown, "" none left; cards in it)


class Wait(msgspec.Struct, frozen=True):
    """Something that has to happen before the game continues.

    kind: cover, desert, top, event, spoil, fist, die, boat. site: where the turned card lay. cause:
    flood or ebb (event). seat: whose top card it is, or who puts markers into the boat. number:
    which pile, how many palms, or how many markers; 1 if the card's arrow has been followed and
    only its picture is open (event).
    """

    kind: str
    site: str = ""
    cause: str = ""
    seat: int = -1
    number: int = 0


class Position(msgspec.Struct, frozen=True):
    """The game between two actions. `lay` has fields, market and boat only; the rest of the layout
    follows from the numbers.

    stock, out (out of the game), piles: one tuple per seat. phase: one of SETUP, tide, actions,
    extra (N56), over. laid: cards laid or removed in this phase 1. mode: flood or ebb, whatever an
    arrow does to the stone meanwhile. tried: the other of the two had no effect. active: "SITE
    COLOUR" of markers sown or grown this round. bought: seats that bought a joker this round.
    fists: what each seat has in its hand, -1 not stated. bids: offers already made (N61). owed:
    gone from the stock, but nobody said which kinds; lost: those of them that are out of the game.
    unsaid: the field whose card was removed first at this ebb, as long as it may have been the
    second, since nobody said anything about it. fresh: nothing has been done yet. asif: set-up
    could still be played (only desert cards lie).
    """

    seats: tuple[str, ...]
    options: tuple[str, ...]
    open: bool
    lay: dict[str, Contents]
    tide: str
    scores: tuple[int, ...]
    obelisk: int
    stock: tuple[tuple[int, ...], ...]
    out: tuple[tuple[int, ...], ...]
    jokers: tuple[int, ...]
    deserts: int
    discard: int
    piles: tuple[tuple[Pile, Pile], ...]
    round: int = 1
    starter: int = 0
    phase: str = "tide"
    turn: int = 0
    mode: str = "flood"
    laid: int = 0
    tried: bool = False
    points: int = 0
    active: tuple[str, ...] = ()
    bought: tuple[int, ...] = ()
    waiting: tuple[Wait, ...] = ()
    fists: tuple[int, ...] = ()
    bids: tuple[int, ...] = ()
    rebids: int = 0
    owed: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    planted: tuple[str, ...] = ()
    unsaid: str = ""
    fresh: bool = False
    asif: bool = False

    @property
    def wait(self) -> Wait | None:
        """What the game is waiting for first; None if nothing is pending."""
        return self.waiting[0] if self.waiting else None

    def seat(self, name: str) -> int:
        """The index of a seat."""
        return self.seats.index(name)

    def covered(self, site: str) -> bool:
        """Whether a cover lies on a site."""
        return card_on(self.lay.get(site, ())) == "cover"

    def water_sites(self) -> list[str]:
        """The fields that water cards lie on."""
        return [s for s, c in self.lay.items() if waves_on(c)]

    def in_stock(self, seat: int) -> int:
        """Markers in a player's hands, without those already in the boat that nobody named."""
        return sum(self.stock[seat]) - self.owed[seat]

    def water_left(self, seat: int) -> int:
        """Cards left in both piles of a seat; UNKNOWN if the size of a pile is."""
        a, b = self.piles[seat]
        return UNKNOWN if UNKNOWN in (a[1], b[1]) else a[1] + b[1]


def layout_of(p: Position, board: Board) -> Layout:
    """What lies where, with score markers and stones."""
    out: Layout = dict(p.lay)
    for site, contents in off_board(p, board).items():
        if contents:
            out[site] = contents
    return out


def off_board(p: Position | Draft, board: Board) -> dict[str, Contents]:
    """Track, tide circle and the desert stock as the numbers say, including empty sites."""
    out: dict[str, list[str]] = {}
    for seat, score in zip(p.seats, p.scores):
        out.setdefault(board.track[min(score, board.last_square - 1)], []).append(f"figure:{seat}")
    out.setdefault(board.track[min(max(p.obelisk, 1), board.last_square) - 1], []).append("obelisk")
    if p.tide in board.sites:
        out[p.tide] = ["tide"]
    if p.deserts > 0 and "desert-stock" in board.sites:
        out["desert-stock"] = ["desert"]
    return {s: canonical_contents(c, "cluster") for s, c in out.items()}


class Draft:
    """A position being changed. `put` and the setters record which sites change; `step` closes one
    step of what happened."""

    def __init__(self, p: Position, board: Board) -> None:
        self.board = board
        self.seats, self.options, self.open = p.seats, p.options, p.open
        self.lay: dict[str, Contents] = dict(p.lay)
        self.tide, self.obelisk, self.scores = p.tide, p.obelisk, list(p.scores)
        self.stock, self.out = [list(s) for s in p.stock], [list(s) for s in p.out]
        self.jokers, self.deserts, self.discard = list(p.jokers), p.deserts, p.discard
        self.piles: list[list[Pile]] = [list(s) for s in p.piles]
        self.round, self.starter, self.phase, self.turn = p.round, p.starter, p.phase, p.turn
        self.mode, self.laid, self.tried, self.points = p.mode, p.laid, p.tried, p.points
        self.active, self.bought = set(p.active), set(p.bought)
        self.waiting = list(p.waiting)
        self.fists, self.bids, self.rebids = list(p.fists), list(p.bids), p.rebids
        self.owed, self.lost = list(p.owed), list(p.lost)
        self.planted, self.unsaid, self.fresh, self.asif = p.planted, p.unsaid, p.fresh, p.asif
        self.steps: list[Step] = []
        self._touched: set[str] = set()

    def freeze(self) -> Position:
        """The position as it is now."""
        return Position(
            seats=self.seats,
            options=self.options,
            open=self.open,
            lay=self.lay,
            tide=self.tide,
            scores=tuple(self.scores),
            obelisk=self.obelisk,
            stock=tuple(map(tuple, self.stock)),
            out=tuple(map(tuple, self.out)),
            jokers=tuple(self.jokers),
            deserts=self.deserts,
            discard=self.discard,
            piles=tuple((one, other) for one, other in self.piles),
            round=self.round,
            starter=self.starter,
            phase=self.phase,
            turn=self.turn,
            mode=self.mode,
            laid=self.laid,
            tried=self.tried,
            points=self.points,
            active=tuple(sorted(self.active)),
            bought=tuple(sorted(self.bought)),
            waiting=tuple(self.waiting),
            fists=tuple(self.fists),
            bids=tuple(self.bids),
            rebids=self.rebids,
            owed=tuple(self.owed),
            lost=tuple(self.lost),
            planted=tuple(self.planted),
            unsaid=self.unsaid,
            fresh=self.fresh,
            asif=self.asif,
        )

    def step(self, text: Text, by_hand: bool = False) -> None:
        """Everything put since the last step happened in this one."""
        numbers = off_board(self, self.board)
        changes = {s: self.lay.get(s) or numbers.get(s, ()) for s in sorted(self._touched)}
        self._touched.clear()
        self.steps.append(Step(text, changes, by_hand))

    def put(self, site: str, contents: Iterable[str]) -> None:
        """Replaces what lies on a site."""
        contents = canonical_contents(contents, "cluster")
        if contents != self.lay.get(site, ()):
            self._touched.add(site)
        if contents:
            self.lay[site] = contents
        else:
            self.lay.pop(site, None)

    def remove(self, site: str, kind: str) -> None:
        """Takes one piece of a kind off a site."""
        contents = list(self.lay.get(site, ()))
        contents.remove(kind)
        self.put(site, contents)

    def add(self, site: str, *kinds: str) -> None:
        """Lays pieces on a site."""
        self.put(site, self.lay.get(site, ()) + kinds)

    def into_boat(self, kinds: Iterable[tuple[str, str]]) -> None:
        """(colour, fruit) pairs go into the boat, seed side up."""
        self.add("boat", *(f"seed:{c}:{f}" for c, f in kinds))

    def set_tide(self, tide: str) -> None:
        """Sets the tide."""
        if tide != self.tide:
            self._touched.update({self.tide, tide} & self.board.sites)
            self.tide = tide

    def advance(self, seat: int, points: int) -> None:
        """Moves a figure forward."""
        track = self.board.track
        for score in (self.scores[seat], self.scores[seat] + points):
            self._touched.add(track[min(score, len(track) - 1)])
        self.scores[seat] += points

    def move_obelisk(self, squares: int) -> None:
        """Moves it towards the figures, to the first square at most."""
        track = self.board.track
        to = max(1, self.obelisk - squares)
        self._touched.update((track[self.obelisk - 1], track[to - 1]))
        self.obelisk = to

    def take_desert(self) -> None:
        """Takes one card off the desert stock."""
        self.deserts -= 1
        if self.deserts <= 0 and "desert-stock" in self.board.sites:
            self._touched.add("desert-stock")

    def take_stock(self, seat: int, fruit: str) -> None:
        """Takes a marker out of a seat's stock."""
        self.stock[seat][FRUITS.index(fruit)] -= 1

    def give_stock(self, seat: int, fruit: str) -> None:
        """Gives a marker back to a seat's stock."""
        self.stock[seat][FRUITS.index(fruit)] += 1

    def start_round(self) -> None:
        """Forgets who acted and bought in the previous round."""
        self.active, self.bought = set(), set()


def next_tide(tide: str) -> str:
    """The tide after this one."""
    return TIDES[(TIDES.index(tide) + 1) % len(TIDES)]
