"""How games begin: set-up lines, a new game, a state from JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from engine.game import BadText, Statement
from engine.plan import BadPlan, Plan
from engine.text import whole_number
from engine.tigris import conflict
from engine.tigris.board import Board, compiled_board
from engine.tigris.moment import SUPPORTERS, TEMPLES, Fight, treasure_choice, war_colours
from engine.tigris.pieces import Pieces
from engine.tigris.state import TigrisState
from engine.tigris.words import ACTIONS, COLOUR_OF, COLOURS, HAND, POINTS, SEATS, TILES

PHASES = ("action", "commit", "war", "build", "treasure", "draw", "over")
ENDS = ("T63", "T64")


def board_of(plan: Plan) -> Board:
    """The plan compiled for the rules. Raises BadText."""
    try:
        return compiled_board(plan)
    except BadPlan as e:
        raise BadText(str(e)) from None


def check_seats(seats: Sequence[str]) -> None:
    """Raises BadText for an unknown dynasty, for one that appears twice, and for a number of
    players that the game is not for."""
    for i, s in enumerate(seats):
        if s not in SEATS:
            raise BadText(f"seats: no dynasty called {s!r} (there are: {', '.join(SEATS)})")
        if s in seats[:i]:
            raise BadText(f"seats: {s} appears twice")
    if not 2 <= len(seats) <= 4:
        raise BadText(f"seats: 2 to 4 players, not {len(seats)}")


def printed_temples(board: Board) -> dict[str, tuple[str, ...]]:
    """A temple with a treasure on every winged creature (T3)."""
    return {site: ("temple", "treasure") for site in board.sites(board.winged)}


def pieces_of(board: Board, seats: Sequence[str], layout: Mapping[str, Iterable[str]]) -> Pieces:
    """The layout as pieces. Raises BadText for what cannot lie there."""
    masks = dict.fromkeys((*TILES, "flipped", "catastrophe", "treasure"), 0)
    leaders, monuments, union = [-1] * (4 * len(seats)), [-1] * len(board.monuments), -1
    for site, contents in layout.items():
        if site not in board.index:
            raise BadText(f"no site called {site}")
        cell, on_the_square = board.index[site], 0
        for kind in contents:
            head, _, rest = kind.partition(":")
            on_the_square += kind in masks and kind != "treasure" or head == "leader"
            if kind in masks:
                masks[kind] |= 1 << cell
            elif kind == "union":
                if union >= 0:
                    raise BadText(f"{site}: there is only one union tile")
                union = cell
            elif head == "leader":
                _stand_leader(leaders, seats, site, cell, rest)
            elif head == "monument":
                masks["flipped"] |= _put_monument(board, monuments, site, cell, rest)
            else:
                raise BadText(f"{site}: no piece of kind {kind!r}")
        if on_the_square > 1:
            raise BadText(f"{site}: {' '.join(contents)} cannot lie on one square")
    tiles, flipped = [masks[kind] for kind in TILES], masks["flipped"]
    for t in tiles:
        if t & flipped:
            raise BadText(
                f"{board.sites(t & flipped)[0]}: a monument stands on face-down tiles only"
            )
    if union >= 0 and not any(t >> union & 1 for t in tiles):
        raise BadText(f"{board.ids[union]}: the union tile lies on a tile")
    return Pieces(
        board,
        tuple(tiles),
        flipped,
        masks["catastrophe"],
        masks["treasure"],
        union,
        tuple(leaders),
        tuple(monuments),
    )


def _stand_leader(
    leaders: list[int], seats: Sequence[str], site: str, cell: int, name: str
) -> None:
    """Puts the leader `name` ("bull:black") on a cell. Raises BadText."""
    seat, _, colour = name.partition(":")
    if seat not in SEATS or colour not in COLOURS:
        raise BadText(f"{site}: no piece of kind 'leader:{name}'")
    if seat not in seats:
        raise BadText(f"{site}: {seat} does not play in this game")
    n = seats.index(seat) * 4 + COLOURS.index(colour)
    if leaders[n] >= 0:
        raise BadText(f"{site}: leader:{name} is on the board twice")
    leaders[n] = cell


def _put_monument(board: Board, monuments: list[int], site: str, cell: int, name: str) -> int:
    """Puts a monument on a cell and returns the mask of the four cells it covers. Raises
    BadText."""
    number = next(
        (
            i
            for i, m in enumerate(board.monuments)
            if sorted(m.split("-")) == sorted(name.split("-"))
        ),
        None,
    )
    if number is None:
        raise BadText(f"{site}: no piece of kind 'monument:{name}'")
    if cell not in board.squares:
        raise BadText(f"{site}: a monument has no room there")
    if monuments[number] >= 0:
        raise BadText(f"{site}: monument:{name} is on the board twice")
    monuments[number] = cell
    return board.squares[cell]


class Lines:
    """The set-up lines of a script, read one by one; `state()` puts them together."""

    def __init__(self, board: Board, seats: Sequence[str]) -> None:
        self.board, self.seats = board, tuple(seats)
        self.layout: dict[str, tuple[str, ...]] = printed_temples(board)
        self.given: dict[str, Any] = {"draws": ()}
        self.hands: dict[int, tuple[int, ...]] = {}
        self.hidden: dict[int, int] = {}
        self.points = [0] * (5 * len(seats))
        self.catastrophes = [2] * len(seats)

    def read(self, statement: Statement) -> None:
        """Reads one line. Raises BadText."""
        word, *rest = statement.words
        reader = self._words.get(word)
        if reader is None:
            raise BadText(
                f"no set-up line is called {word!r} (there are: {', '.join(self._words)})"
            )
        reader(self, rest)

    def _layout(self, rest: list[str]) -> None:
        if rest[:1] == ["clear"]:
            self.layout, rest = {}, rest[1:]
        elif not rest:
            raise BadText("layout: say `clear`, or sites with what lies on them")
        site = None
        for word in rest:
            if word in self.board.index:
                site = word
                self.layout[site] = ()
            elif site is None:
                raise BadText(f"no site called {word}")
            else:
                self.layout[site] += (word,)
                pieces_of(self.board, self.seats, {site: self.layout[site]})

    def _score(self, rest: list[str]) -> None:
        if len(rest) < 3 or len(rest) % 2 == 0:
            raise BadText("score: write `score SEAT COLOUR NUMBER`")
        seat = self._seat(rest[0])
        for colour, n in zip(rest[1::2], rest[2::2]):
            if colour not in POINTS:
                raise BadText(
                    f"score: no colour called {colour!r} (there are: {', '.join(POINTS)})"
                )
            self.points[seat * 5 + POINTS.index(colour)] = _number_of(n)

    def _hand(self, rest: list[str]) -> None:
        if not rest:
            raise BadText("hand: write `hand SEAT COLOUR ...`")
        self.hands[self._seat(rest[0])] = _colour_counts(rest[1:])

    def _hidden(self, rest: list[str]) -> None:
        seat, n = self._pair(rest, "hidden SEAT NUMBER")
        self.hidden[seat] = n

    def _catastrophes(self, rest: list[str]) -> None:
        seat, n = self._pair(rest, "catastrophes SEAT NUMBER")
        self.catastrophes[seat] = n

    def _bag(self, rest: list[str]) -> None:
        if len(rest) == 1:
            self.given["bag"] = _number_of(rest[0])
        else:
            self.given["bag_known"] = tuple(
                _numbers_by_name(rest, COLOURS, "bag").get(c, 0) for c in COLOURS
            )

    def _spent(self, rest: list[str]) -> None:
        counts = _numbers_by_name(rest, (*COLOURS, "unknown"), "spent")
        self.given["spent"] = tuple(counts.get(c, 0) for c in COLOURS)
        self.given["lost"] = counts.get("unknown", 0)

    def _turn(self, rest: list[str]) -> None:
        if len(rest) not in (1, 2):
            raise BadText("turn: write `turn SEAT ACTIONS-LEFT`")
        self.given["active"] = self._seat(rest[0])
        self.given["left"] = _number_of(rest[1]) if rest[1:] else ACTIONS

    def _laid(self, rest: list[str]) -> None:
        if len(rest) != 1 or rest[0] not in self.board.index:
            raise BadText("laid: write `laid SITE`, the tile of the action that goes on")
        self.given["laid"] = self.board.index[rest[0]]

    def _conflict(self, rest: list[str]) -> None:
        form = "conflict: write `conflict temples|supporters COLOUR ATTACKER DEFENDER [ADDED]`"
        if (
            len(rest) not in (4, 5)
            or rest[0] not in (TEMPLES, SUPPORTERS)
            or rest[1] not in COLOURS
        ):
            raise BadText(form)
        colour = COLOURS.index(rest[1])
        self.given["fight"] = Fight(
            rest[0],
            colour,
            self._seat(rest[2]) * 4 + colour,
            self._seat(rest[3]) * 4 + colour,
            _number_of(rest[4]) if rest[4:] else -1,
        )

    def _draws(self, rest: list[str]) -> None:
        self.given["draws"] += (self._pair(rest, "draws SEAT NUMBER"),)

    def _over(self, rest: list[str]) -> None:
        if len(rest) != 1 or rest[0] not in ENDS:
            raise BadText(f"over: write `over RULE`, one of {', '.join(ENDS)}")
        self.given["over"] = rest[0]

    def _phase(self, rest: list[str]) -> None:
        if len(rest) != 1 or rest[0] not in PHASES:
            raise BadText(f"phase: one of {', '.join(PHASES)}")
        self.given["phase"] = rest[0]

    _words: dict[str, Callable] = {
        "layout": _layout,
        "score": _score,
        "hand": _hand,
        "hidden": _hidden,
        "catastrophes": _catastrophes,
        "bag": _bag,
        "spent": _spent,
        "turn": _turn,
        "starter": _turn,
        "laid": _laid,
        "conflict": _conflict,
        "draws": _draws,
        "over": _over,
        "phase": _phase,
    }

    def _seat(self, word: str) -> int:
        if word not in self.seats:
            raise BadText(f"no seat called {word!r} (there are: {', '.join(self.seats)})")
        return self.seats.index(word)

    def _pair(self, rest: list[str], form: str) -> tuple[int, int]:
        if len(rest) != 2:
            raise BadText(f"{form.split()[0]}: write `{form}`")
        return self._seat(rest[0]), _number_of(rest[1])

    def state(self) -> TigrisState:
        """The state. Raises BadText if the lines do not fit together."""
        s = TigrisState(self.board, self.seats, pieces_of(self.board, self.seats, self.layout))
        for seat in range(len(self.seats)):
            tiles = self.hands.get(seat)
            if tiles is not None:
                conflict.set_hand(s, seat, tiles, 0)
                s.open = (*s.open[:seat], True, *s.open[seat + 1 :])
            if seat in self.hidden:
                conflict.set_hand(s, seat, s.known[seat], self.hidden[seat])
        s.points, s.catastrophes = tuple(self.points), tuple(self.catastrophes)
        for name in (
            "active",
            "left",
            "laid",
            "fight",
            "draws",
            "over",
            "spent",
            "lost",
            "bag_known",
        ):
            if name in self.given:
                setattr(s, name, self.given[name])
        _count_bag(s, self.given.get("bag"), "spent" in self.given)
        return _begin_phase(s, self.given.get("phase"))


def _count_bag(s: TigrisState, said: int | None, spent_said: bool) -> None:
    """The bag holds what is nowhere else, unless the lines gave its number; then the rest has left
    the game."""
    p = s.pieces
    elsewhere = sum(t.bit_count() for t in p.tiles) + sum(s.hand(i) for i in range(len(s.seats)))
    total = sum(s.board.totals)
    if not spent_said:
        s.lost = p.flipped.bit_count()
    if s.bag_known is not None:
        said = sum(s.bag_known)
    if said is None:
        s.bag = max(total - elsewhere - sum(s.spent) - s.lost, 0)
    else:
        s.bag = said
        if not spent_said:
            s.lost = max(total - elsewhere - said, s.lost)


def _begin_phase(s: TigrisState, phase: str | None) -> TigrisState:
    """Enters the given phase, or the one that the board calls for."""
    if phase is None:
        if war_colours(s.pieces):
            s.laid = s.pieces.union
            conflict.next_war(s)
        elif s.pieces.union >= 0:
            s.pieces = s.pieces.change(union=-1)
    else:
        s.phase = phase
        missing = {
            "commit": s.fight is None,
            "war": not war_colours(s.pieces),
            "build": s.laid < 0,
            "treasure": treasure_choice(s.pieces, s.active, len(s.seats))[0] < 0,
            "draw": not s.draws,
            "over": not s.over,
        }.get(phase, False)
        if missing or (
            s.fight
            and phase == "commit"
            and min(s.pieces.leaders[n] for n in (s.fight.attacker, s.fight.defender)) < 0
        ):
            raise BadText(f"phase {phase}: nothing on the board calls for it")
        if phase == "draw" and s.bag_known is None:
            raise BadText("phase draw: the tiles of the bag are not known")
    s._before, s._events = s.pieces, []
    return s


def set_up(plan: Plan, seats: Sequence[str], statements: Sequence[Statement]) -> TigrisState:
    """The state that a script's set-up lines describe. Raises BadText, naming the line."""
    check_seats(seats)
    lines = Lines(board_of(plan), seats)
    for statement in statements:
        try:
            lines.read(statement)
        except BadText as e:
            raise BadText(f"line {statement.line}: {e}") from None
    try:
        return lines.state()
    except BadText as e:
        last = statements[-1].line if statements else 1
        raise BadText(f"line {last}: {e}") from None


def new_state(plan: Plan, seats: Sequence[str]) -> TigrisState:
    """The state with all hands empty and the bag full: every seat draws its first six tiles
    (T4)."""
    check_seats(seats)
    board = board_of(plan)
    s = TigrisState(board, seats, pieces_of(board, seats, printed_temples(board)))
    n = len(seats)
    s.unknown, s.open = (0,) * n, (True,) * n
    s.bag_known = tuple(total - t.bit_count() for total, t in zip(board.totals, s.pieces.tiles))
    s.bag = sum(s.bag_known)
    s.draws, s.phase = tuple((i, HAND) for i in range(n)), "draw"
    return s


def load_state(plan: Plan, data: Mapping[str, Any]) -> TigrisState:
    """The state that `to_json` wrote. Raises BadText."""
    try:
        return _loaded_state(plan, data)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as e:
        if isinstance(e, BadText):
            raise
        raise BadText(f"not a state of this game: {type(e).__name__} {e}") from None


def _loaded_state(plan: Plan, data: Mapping[str, Any]) -> TigrisState:
    seats = tuple(data["seats"])
    check_seats(seats)
    board = board_of(plan)
    s = TigrisState(board, seats, pieces_of(board, seats, data["layout"]))
    s.active, s.left, s.phase, s.over = (
        seats.index(data["turn"]),
        int(data["left"]),
        data["phase"],
        data["over"],
    )
    s.points = tuple(int(data["points"][seat][p]) for seat in seats for p in POINTS)
    s.catastrophes = tuple(int(data["catastrophes"][seat]) for seat in seats)
    for i, seat in enumerate(seats):
        hand = data["hands"][seat]
        conflict.set_hand(s, i, _colour_counts(hand["known"]), int(hand["unknown"]))
        s.open = (*s.open[:i], bool(hand["open"]), *s.open[i + 1 :])
    s.bag = int(data["bag"])
    s.bag_known = (
        None if data["bag_known"] is None else tuple(int(data["bag_known"][c]) for c in COLOURS)
    )
    s.draws = tuple((seats.index(seat), int(n)) for seat, n in data["draws"])
    s.spent, s.lost = tuple(int(data["spent"][c]) for c in COLOURS), int(data["lost"])
    s.laid = -1 if data["laid"] is None else board.index[data["laid"]]
    fight = data["fight"]
    if fight is not None:
        colour = COLOURS.index(fight["colour"])
        s.fight = Fight(
            fight["kind"],
            colour,
            seats.index(fight["attacker"]) * 4 + colour,
            seats.index(fight["defender"]) * 4 + colour,
            -1 if fight["added"] is None else int(fight["added"]),
        )
    if s.phase not in PHASES:
        raise BadText(f"no phase called {s.phase!r}")
    if s.phase != "over":
        s.over = ""
    return _begin_phase(s, s.phase)


def _number_of(word: str) -> int:
    n = whole_number(word)
    if n is None:
        raise BadText(f"{word!r} is not a number")
    return n


def _numbers_by_name(rest: Sequence[str], names: Sequence[str], line: str) -> dict[str, int]:
    if not rest or len(rest) % 2:
        raise BadText(f"{line}: write names and numbers in turn ({', '.join(names)})")
    out = {}
    for name, n in zip(rest[::2], rest[1::2]):
        if name not in names:
            raise BadText(f"{line}: nothing called {name!r} (there are: {', '.join(names)})")
        out[name] = _number_of(n)
    return out


def _colour_counts(colours: Iterable[str]) -> tuple[int, ...]:
    counts = [0, 0, 0, 0]
    for word in colours:
        if word not in COLOURS and word not in TILES:
            raise BadText(f"no colour called {word!r} (there are: {', '.join(COLOURS)})")
        counts[COLOURS.index(word) if word in COLOURS else COLOUR_OF[word]] += 1
    return tuple(counts)
