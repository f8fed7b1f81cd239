"""What people may have done between two looks at the board (docs/reference/engine.md). Each guess
is one action, with the declarations and passes that must have come before it; the reconciler asks
again for whatever is left."""

from __future__ import annotations

from engine.game import Action, Difference, Proposal, Violation
from engine.tigris import actions as act
from engine.tigris.board import cells_of
from engine.tigris.endings import Run, possible_endings, ready_states
from engine.tigris.position import Position
from engine.tigris.seen import Seen
from engine.tigris.words import BLUE, COLOURS, TILES
from engine.tigris.wrongs import wrong_doings

PASS_ONE = 1.5  # a player skips one action
PASS_TURN = 2.0  # a player skips a whole turn
PASS_MORE = 3.0  # another player does too; the alternative is that somebody acted out of turn
COME_ROUND = 6.0  # the only other player skips a turn; the alternative is a third action
WITHDRAWN = 3.0  # a leader taken off for good; far more often it lost a conflict
OUT_OF_TURN = 2.0
ACTION = 1.0  # each action of a run, as the reconciler counts them
# what goes without saying is not one more action: tiles added to a conflict, the choice of a war,
# nothing built
SILENT = -0.9
LEFT = 3.0  # each square that a guess leaves unexplained
ILLEGAL = 6.0
HIDDEN = 0.2  # a tile under the union tile is more likely of a colour of which more are left
MOST = 30
SITES = 16  # no action can be recognised if more squares than this have changed at once


Change = tuple[str, int, int, int]
"""Something new on the board: (sort, number, origin, target). sort: tile, leader, catastrophe or
monument; number: of the colour, leader or monument; origin and target are cells, -1: none."""


def explain_difference(state: Position, difference: Difference) -> list[Proposal]:
    """Guesses at what was done, likeliest first (`State.explain`)."""
    s = state.skip_chance()
    seen = Seen(s, difference)
    changed = seen.differs(s.pieces)
    if not changed or s.phase == "over":
        return []
    found = Guesses(s, seen)
    for e in possible_endings(s, seen)[:3]:
        if e.run:
            found.add(e.run, e.cost, e.far)
    for e in ready_states(s, seen):
        for change in new_changes(e.state, seen):
            _, _, origin, target = change
            # elsewhere something has merely not been cleared away yet
            if changed >> (target if target >= 0 else origin) & 1:
                _try_change(found, e.state, e.run, e.cost, change)
    if s.phase in ("build", "treasure"):
        _wrong_choice(found, s, seen)
    for guess in wrong_doings(s, seen):
        found.broken(guess)
    return (_uncovered_tiles(s, seen) + found.best())[:MOST]


def _uncovered_tiles(s: Position, seen: Seen) -> list[Proposal]:
    """The tile under the union tile, or where the union tile has just been removed, is different
    from what was guessed."""
    out, p, index = [], s.pieces, s.board.index
    lifted = {
        index[site]
        for step in s.steps
        if not step.by_hand
        for site, c in step.changes.items()
        if len(c) == 1
    }
    for cell in {p.union, *lifted} - {-1}:
        site = s.board.ids[cell]
        for guessed in (c for c in range(4) if p.tiles[c] >> cell & 1):
            for colour in (c for c in range(4) if c != guessed and seen.tiles[c] >> cell & 1):
                out += [
                    Proposal(
                        (act.Tile(seat, COLOURS[colour], site),),
                        cost=0.5,
                        belated=True,
                        certain=False,
                        uncovered=True,
                        withdrawn=(act.Tile(seat, COLOURS[guessed], site),),
                    )
                    for seat in s.seats
                ]
    return out


class Guesses:
    """Proposals ranked by their cost and by what they leave unexplained."""

    def __init__(self, s: Position, seen: Seen) -> None:
        self.s, self.seen = s, seen
        self._ranked: list[tuple[float, Proposal]] = []

    def add(self, run: Run, cost: float, far: int, certain: bool = True) -> None:
        """Records a legal run. far: how many squares still differ after it."""
        cost += SILENT * sum(isinstance(a, (act.Commit, act.War, act.Keep)) for a in run)
        self._ranked.append(
            (cost + ACTION * len(run) + LEFT * far, Proposal(run, {}, (), cost, certain=certain))
        )

    def illegal(self, run: Run, cost: float, violations: list[Violation], touched: int) -> None:
        """Records a run that breaks rules. touched: a mask of the squares that hands touched."""
        changes = self.changes(touched)
        far = (self.seen.differs(self.s.pieces) & ~touched).bit_count()
        self._ranked.append(
            (cost + ILLEGAL + LEFT * far, Proposal(run, changes, tuple(violations), cost))
        )

    def broken(self, guess: tuple[int, tuple[Violation, ...], float]) -> None:
        """Records something that no action can express, with the rules it breaks."""
        touched, violations, cost = guess
        self.illegal((), cost, list(violations), touched)

    def changes(self, touched: int) -> dict[str, tuple[str, ...]]:
        """What hands left on the sites of a mask."""
        ids = self.s.board.ids
        return {
            ids[c]: self.seen.sites[ids[c]] for c in cells_of(touched) if ids[c] in self.seen.sites
        }

    def best(self) -> list[Proposal]:
        """The best guesses as proposals, likeliest first."""
        self._ranked.sort(key=lambda r: r[0])
        out: list[Proposal] = []
        for _, p in self._ranked:
            if p not in out:
                out.append(p)
            if len(out) == MOST:
                break
        return out


def new_changes(s: Position, seen: Seen) -> list[Change]:
    """What is new on the board, at most SITES of it."""
    p, out = s.pieces, []
    for n, cell in seen.new_leaders(p):
        out.append(("leader", n, p.leaders[n], cell))
    for n in seen.gone_leaders(p):
        out.append(("leader", n, p.leaders[n], -1))
    for c, mask in enumerate(seen.tiles):
        out += [("tile", c, -1, cell) for cell in cells_of(mask & ~p.tiles[c])]
        out += [
            ("tile", c, -1, cell)
            for cell in cells_of(seen.hidden & p.free)
            if (c == BLUE) == bool(s.board.river >> cell & 1)
        ]
    out += [("tile", c, -1, cell) for c, cell in _turned_tiles(s, seen)]
    out += [("catastrophe", 0, -1, cell) for cell in cells_of(seen.catastrophes & ~p.catastrophes)]
    for m, mask in enumerate(seen.monuments):
        out += [("monument", m, -1, cell) for cell in cells_of(mask) if cell != p.monuments[m]]
    return out[:SITES]


def _turned_tiles(s: Position, seen: Seen) -> list[tuple[int, int]]:
    """(colour, cell) of tiles that were laid and immediately turned over for a monument; the other
    three tiles tell the colour."""
    p, board = s.pieces, s.board
    return [
        (c, cell)
        for cell in cells_of(seen.flipped & p.free)
        for c in range(4)
        if any(board.squares[q] & ~p.tiles[c] == 1 << cell for q in board.squares_of[cell])
    ]


def _action_of(s: Position, change: Change, seat: int) -> Action:
    sort, n, origin, target = change
    name, ids = s.seats[seat], s.board.ids
    if sort == "leader":
        return act.Leader(
            name,
            COLOURS[n % 4],
            ids[origin] if origin >= 0 else None,
            ids[target] if target >= 0 else None,
        )
    if sort == "tile":
        return act.Tile(name, COLOURS[n], ids[target])
    if sort == "catastrophe":
        return act.Catastrophe(name, ids[target])
    return act.Build(name, s.board.monuments[n], ids[target])


def _try_change(found: Guesses, s: Position, before: Run, cost: float, change: Change) -> None:
    """Tries this action for everybody who may have done it: the player whose turn it is, the next
    one, or a leader's owner."""
    sort, n, origin, target = change
    players = len(s.seats)
    # a later look will tell
    unknown = sort == "tile" and n != BLUE and bool(found.seen.hidden >> target & 1)
    if unknown:
        left = [
            s.plan.counts[kind] - tiles.bit_count() for kind, tiles in zip(TILES, s.pieces.tiles)
        ]
        cost += HIDDEN * sum(left[c] > left[n] for c in range(4) if c != BLUE)
    if sort == "leader":
        seats = [n // 4]
    elif sort == "monument":
        seats = [s.active]
    else:
        seats = [s.active, (s.active + 1) % players]
    for seat in seats:
        passes, price, now = _passes_before(s, seat)
        if sort == "leader" and target < 0:
            price += WITHDRAWN + (PASS_TURN if passes else 0)
        if now is None:  # the game would have ended before that
            if sort == "leader":
                found.illegal(
                    (*before, _action_of(s, change, seat)),
                    cost,
                    s.check(_action_of(s, change, seat)),
                    _touched_squares(s, change),
                )
            continue
        action = _action_of(now, change, seat)
        violations = now.check(action)
        if not violations:
            after = now.apply(action)
            for e in possible_endings(after, found.seen)[:2]:
                found.add(
                    (*before, *passes, action, *e.run), cost + price + e.cost, e.far, not unknown
                )
        elif seat == s.active or sort == "leader":
            found.illegal(
                (*before, *passes, action), cost + price, violations, _touched_squares(s, change)
            )
        if passes and sort == "leader":
            out_of_turn = s.check(action)
            found.illegal(
                (*before, action), cost + OUT_OF_TURN, out_of_turn, _touched_squares(s, change)
            )
    if sort == "leader" and n // 4 != s.active and target < 0:
        action = _action_of(s, change, s.active)  # somebody took another player's leader off
        found.illegal((*before, action), cost, s.check(action), _touched_squares(s, change))


def _passes_before(s: Position, seat: int) -> tuple[Run, float, Position | None]:
    """Everybody before this seat skips what is left of their turns: (the passes, their cost, the
    state then). The state is None if the game ends on the way."""
    run: list[Action] = []
    price, now = 0.0, s
    while now.active != seat:
        price += (PASS_TURN if now.left > 1 else PASS_ONE) + (PASS_MORE if run else 0.0)
        a = act.Pass(now.seats[now.active])
        run.append(a)
        now = now.apply(a).skip_chance()
        if now.over:
            return (), 0.0, None
    # unless the game has only just begun
    if len(run) == len(s.seats) - 1 and s.left > 1 and s._events:
        price += COME_ROUND
    return tuple(run), price, now


def _touched_squares(s: Position, change: Change) -> int:
    sort, _, origin, target = change
    out = (1 << origin if origin >= 0 else 0) | (1 << target if target >= 0 else 0)
    if sort == "monument":
        out |= s.board.squares.get(target, 0)
    return out


def _wrong_choice(found: Guesses, s: Position, seen: Seen) -> None:
    """A monument or treasures that the rules forbid at this moment, while the right ones are
    pending."""
    if s.phase == "build":
        for m, mask in enumerate(seen.monuments):
            for cell in cells_of(mask):
                if cell != s.pieces.monuments[m]:
                    change = ("monument", m, -1, cell)
                    action = _action_of(s, change, s.active)
                    violations = s.check(action)
                    if violations:
                        found.illegal((action,), 0.0, violations, _touched_squares(s, change))
        return
    taken = s.pieces.treasures & ~seen.treasures
    if taken:
        action = act.Treasure(s.seats[s.actor], tuple(s.board.sites(taken)))
        violations = s.check(action)
        if violations:
            found.illegal((action,), 0.0, violations, taken)
