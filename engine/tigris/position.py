"""What the rules know of a game of Tigris & Euphrates at one moment, and plain questions about
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
    """See `engine.game.State`. Numbers stand for seats (order of play), colours (COLOURS) and cells
    (`Board`).

    phase: action, commit, war, build, treasure, draw (forced: the bag's tiles are known), over.
    `known`, `unknown`: a hand is known tiles (four counts) and a number of others; `open` hands
    draw by `bag: draw`. `bag_known`: the bag's four counts in a game whose draws are known.
    `draws`: (seat, number) that wait; with `bag_known` None they may be told or left unknown.
    `spent`: tiles a colour that are out of the game or face-down; `lost`: such tiles of unknown
    colour. `laid`: the cell of the tile of this action. `over`: the rule that ended the game.
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

    # A value, and the next one from it

    def copy(self) -> Self:
        """A state to be changed before anybody else sees it; its events begin anew."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._before, new._events, new._key = self.pieces, [], None
        return new

    def tell(
        self, template: str, pieces: Pieces | None = None, by_hand: bool = False, **args: Any
    ) -> None:
        """One more step: what happened, and how the board looks after it."""
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

    # Who

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
        """The conflict to which tiles are being added. Raises ValueError when there is none."""
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
        """Tiles in a hand, those it is just drawing not counted."""
        return sum(self.known[seat]) + self.unknown[seat]

    def drawing(self, seat: int) -> int:
        """How many tiles a seat has to draw."""
        return sum([n for s, n in self.draws if s == seat]) if self.draws else 0

    def may_draw(self, seat: int) -> tuple[int, ...]:
        """How many tiles a draw may tell: those of a swap and of the turn's end one after another,
        or all at once."""
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

    # What is to be seen

    def layout(self) -> Layout:
        return self.pieces.layout(self.seats)

    def scores(self) -> dict[str, Any]:
        return {
            s: dict(zip(POINTS, self.points[i * 5 : i * 5 + 5])) for i, s in enumerate(self.seats)
        }
