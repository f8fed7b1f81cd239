"""What the rules know about a game of Tigris & Euphrates at one moment, and simple questions about
it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from engine.game import State, Step
from engine.layout import Layout
from engine.tigris.actions import BAG
from engine.tigris.board import Board, cells_of
from engine.tigris.moment import Fight, step_sentence, treasure_choice
from engine.tigris.pieces import Pieces
from engine.tigris.words import ACTIONS, POINTS


class Position(State):
    """See `engine.game.State`. Numbers stand for seats (in order of play), colours (COLOURS) and
    cells (`Board`).

    phase: action, commit, war, build, treasure, draw (has to happen next: the bag's tiles are
    known), over. `known`, `unknown`: a hand is its known tiles (four counts) and a number of
    others; the draws of `open` hands are stated by `bag: draw`. `bag_known`: the bag's four counts
    in a game whose draws are known. `draws`: pending (seat, number); if `bag_known` is None they
    may be stated or left unknown. `spent`: per colour, tiles that are out of the game or face-down;
    `lost`: such tiles of unknown colour. `laid`: the cell of the tile laid in this action. `over`:
    the rule that ended the game.
    """

    game = "tigris"

    def __init__(self, board: Board, seats: Sequence[str], pieces: Pieces) -> None:
        n = len(seats)
        self.board, self.plan, self.seats, self.pieces = board, board.plan, tuple(seats), pieces
        self.active, self.left, self.phase, self.over = 0, ACTIONS, "action", ""
        self.points: tuple[int, ...] = (0,) * (5 * n)
        self.catastrophes: tuple[int, ...] = (2,) * n
        self.known: tuple[tuple[int, ...], ...] = ((0, 0, 0, 0),) * n
        self.unknown: tuple[int, ...] = (6,) * n
        self.open: tuple[bool, ...] = (False,) * n
        self.bag = 0
        self.bag_known: tuple[int, ...] | None = None
        self.draws: tuple[tuple[int, int], ...] = ()
        self.spent: tuple[int, ...] = (0, 0, 0, 0)
        self.lost = 0
        self.laid = -1
        self.fight: Fight | None = None
        self._before: Pieces = pieces
        self._events: list[tuple[str, dict[str, Any], bool, Pieces]] = []
        self._key: bytes | None = None

    # Making the next state

    def copy(self) -> Self:
        """A copy that may be changed until it is handed out; its events are empty."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._before, new._events, new._key = self.pieces, [], None
        return new

    def tell(
        self, template: str, pieces: Pieces | None = None, by_hand: bool = False, **args: Any
    ) -> None:
        """Adds a step: what happened, and how the board looks after it."""
        if pieces is not None:
            self.pieces = pieces
        self._events.append((template, args, by_hand, self.pieces))

    @property
    def steps(self) -> tuple[Step, ...]:
        out, before = [], self._before
        for template, args, by_hand, after in self._events:
            changed = cells_of(before.differs(after)) if after is not before else ()
            out.append(
                Step(
                    step_sentence(template, args),
                    {self.board.ids[c]: after.contents(c, self.seats) for c in changed},
                    by_hand,
                )
            )
            before = after
        return tuple(out)

    # Whose turn it is

    @property
    def turn(self) -> str | None:
        return None if self.over else self.seats[self.active]

    @property
    def actor(self) -> int:
        """The number of the seat that acts; -1: the bag, or nobody."""
        if self.phase in ("over", "draw"):
            return -1
        if self.phase == "commit":
            return self.conflict.adder // 4
        if self.phase == "treasure":
            return treasure_choice(self.pieces, self.active, len(self.seats))[0]
        return self.active

    @property
    def conflict(self) -> Fight:
        """The conflict to which tiles are being added. Raises ValueError if there is none."""
        if self.fight is None:
            raise ValueError("no conflict is going on")
        return self.fight

    @property
    def actors(self) -> tuple[str, ...]:
        if self.phase == "over":
            return ()
        if self.phase == "draw":
            return (BAG,)
        seat = self.seats[self.actor]
        return (seat, BAG) if self.draws else (seat,)

    # Hands and the bag

    def hand(self, seat: int) -> int:
        """Tiles in a hand, without those still to be drawn."""
        return sum(self.known[seat]) + self.unknown[seat]

    def drawing(self, seat: int) -> int:
        """How many tiles a seat still has to draw."""
        return sum([n for s, n in self.draws if s == seat]) if self.draws else 0

    def may_draw(self, seat: int) -> tuple[int, ...]:
        """How many tiles one draw may state: those of a swap and of the end of the turn one after
        the other, or all at once."""
        own = [n for s, n in self.draws if s == seat]
        return (
            tuple(dict.fromkeys((own[0], sum(own)) if self.phase != "draw" else own[:1]))
            if own
            else ()
        )

    def unseen(self, colour: int) -> int:
        """Tiles of a colour that nobody has seen: they may be in hidden hands or in the bag."""
        n = self.board.totals[colour] - self.pieces.tiles[colour].bit_count() - self.spent[colour]
        for known in self.known:
            n -= known[colour]
        if self.bag_known is not None:
            n -= self.bag_known[colour]
        return n if n > 0 else 0

    def has(self, seat: int, colour: int) -> int:
        """How many tiles of a colour the hand could hold."""
        unknown = self.unknown[seat]
        return self.known[seat][colour] + (min(unknown, self.unseen(colour)) if unknown else 0)

    def may_hold(self, seat: int) -> list[int]:
        """The colours of which the hand could hold a tile."""
        known, hidden = self.known[seat], self.unknown[seat] > 0
        return [c for c in range(4) if known[c] or hidden and self.unseen(c)]

    # What everybody can see

    def layout(self) -> Layout:
        return self.pieces.layout(self.seats)

    def scores(self) -> dict[str, Any]:
        return {
            s: dict(zip(POINTS, self.points[i * 5 : i * 5 + 5])) for i, s in enumerate(self.seats)
        }
