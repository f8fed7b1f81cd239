"""Guesses at what was done between two looks: whole movement phases at once, harvests, buildings,
flights, the ends of phases with what follows automatically."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from engine.deluge import actions as act
from engine.deluge import working
from engine.deluge.going import Change, Goings, likely_goings
from engine.deluge.position import BUILDING, FLIGHT, HARVEST, MOVEMENT, PHASES, Position
from engine.deluge.words import COLOURS, kind_name
from engine.game import Action, Difference, Proposal, Violation
from engine.layout import Contents
from engine.text import say

SILENT = -0.85  # nobody says "done" aloud, so a run with it costs hardly more
# a seat's part of these phases in which it did nothing, although it could
IDLE = {MOVEMENT: 1.5, HARVEST: 1.5}
# several unspoken ends of phases, for each site that does not show what follows from them; at most
NOT_YET, WAITING = 1.0, 4.0
UNSEEN = 3.0  # a next round, although the board shows nothing of what ended the last one
LATER = 1.5  # a battle fought by a later seat, although it may have been the seat whose turn it is
ASKED = 2.0  # another player's ship used without a word
MOST = 40  # proposals

Run = tuple[Action, ...]


def explain_difference(state: Position, difference: Difference) -> list[Proposal]:
    """See `engine.game.State.explain`."""
    cells = {n: _kind_changes(*both) for n, both in difference.items() if n in state.world.touching}
    bare = [n for n, (_, seen) in difference.items() if n in state.world.cell_of and "bare" in seen]
    ahead = Ahead(state, difference)
    out = working.forgotten_harvests(state, cells, bare)
    if state.phase == FLIGHT:
        out += _movement_runs(state, ahead, cells, difference)
    elif state.phase in PHASES:
        out += _phase_ends(state, ahead, cells, bare, difference)
        out += _movement_runs(state, ahead, cells, difference)
        out += _wood_harvests(state, ahead, bare, difference)
        out += _new_buildings(state, ahead, cells, difference)
    out += _impossible_changes(state, cells, difference)
    return [same.proposal for same in dict.fromkeys(map(_Same, out))][:MOST]


class _Same:
    """Wraps a proposal so that proposals with the same actions, changes and rules are equal."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        self.mark = (
            proposal.actions,
            tuple(sorted(proposal.changes.items())),
            tuple(v.rule for v in proposal.violations),
            proposal.withdrawn,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.mark == other.mark

    def __hash__(self) -> int:
        return hash(self.mark)


def _kind_changes(before: Contents, seen: Contents) -> Counter:
    """kind -> how many more (or, below 0, fewer) are seen."""
    out = Counter(seen)
    out.subtract(Counter(before))
    return Counter({k: n for k, n in out.items() if n})


class Ahead:
    """The states that mere `done`s lead to from here, computed on demand: up to the next round, and
    through its movement if building has begun."""

    def __init__(self, state: Position, difference: Difference) -> None:
        self.start, self.difference = state, difference
        self.layout = state.layout()
        self.runs: list[tuple[Run, Position]] = [((), state)]
        self.idle = [0.0]  # what each run costs for parts of phases in which nothing was done

    def __iter__(self) -> Iterator[tuple[Run, Position]]:
        n = 0
        while n < len(self.runs) or self._further():
            yield self.runs[n]
            n += 1

    def _further(self) -> bool:
        said, state = self.runs[-1]
        fresh = state.round > self.start.round
        if (
            state.turn is None
            or state.phase not in PHASES
            or fresh
            and (self.start.phase != BUILDING or state.phase != MOVEMENT)
        ):
            return False
        self.runs.append(((*said, act.Done(state.turn)), state.apply(act.Done(state.turn))))
        self.idle.append(
            self.idle[-1] + (IDLE.get(state.phase, 0.0) if working.did_nothing(state) else 0.0)
        )
        return True

    def until(self, phase: str, seat: str) -> tuple[Run, Position, float] | None:
        """The `done`s that lead to a seat's part of a phase, the state then, and the cost beyond
        that of the `done`s."""
        for said, state in self:
            if state.phase == phase and state.turn == seat:
                new = state.round > self.start.round
                return (
                    said,
                    state,
                    self.idle[len(said)] + (UNSEEN if new and not self.shown(state) else 0.0),
                )
        return None

    def shown(self, later: Position) -> int:
        """On how many of the differing sites the board shows exactly what it shows later."""
        layout = later.layout()
        return sum(
            1
            for s, (_, seen) in self.difference.items()
            if layout.get(s, ()) != self.layout.get(s, ())
            and sorted(layout.get(s, ())) == sorted(seen)
        )

    def come_about(self, cells: list[str], later: Position) -> bool:
        """Whether one of these cells shows what it does in the end, or in the middle of what
        happens automatically last."""
        return any(
            sorted(step.changes[c]) == sorted(self.difference[c][1])
            for step in later.steps
            for c in cells
            if c in step.changes
        )

    def not_yet(self, later: Position) -> int:
        """On how many further sites something will have happened automatically by then."""
        layout = later.layout()
        return sum(
            1 for s in {*layout, *self.layout} if layout.get(s, ()) != self.layout.get(s, ())
        ) - self.shown(later)


def _run_proposal(said: Run, actions: list[Action], cost: float = 0.0, **more: Any) -> Proposal:
    return Proposal((*said, *actions), cost=SILENT * len(said) + cost, **more)


# The ends of phases


def _phase_ends(
    state: Position, ahead: Ahead, cells: Change, bare: list[str], difference: Difference
) -> list[Proposal]:
    """`done`s to the end of the harvest or of the round, if the board shows what follows from
    that."""
    out = []
    before = state.phase
    for said, later in ahead:
        if (
            before == HARVEST
            and later.phase != HARVEST
            or before == BUILDING
            and later.phase != BUILDING
        ):
            if ahead.shown(later):
                waiting = min(WAITING, NOT_YET * ahead.not_yet(later)) if len(said) > 1 else 0.0
                out.append(_run_proposal(said, [], ahead.idle[len(said)] + waiting))
        before = later.phase
        if later.round > state.round:
            break
    red = [n for n, c in cells.items() if c["fanatic"] > 0]
    if state.phase in (MOVEMENT, HARVEST) and red:
        said, begun = next(
            ((said, later) for said, later in ahead if later.phase == HARVEST), ((), state)
        )
        actions, later = working.whole_harvest(begun, cells, bare)
        if ahead.come_about(red, later):
            out.insert(
                0,
                Proposal(
                    (*said, *actions), cost=SILENT * (len(said) + len(actions)), certain=False
                ),
            )
    return out


# Movement


def _movement_runs(
    state: Position, ahead: Ahead, cells: Change, difference: Difference
) -> list[Proposal]:
    """A run for each colour whose pawns or ships have moved, with the `done`s before it."""
    out: list[Proposal] = []
    late: list[Proposal] = []
    for seat in _seats_in_question(state):
        if not _may_have_moved(seat, cells):
            continue
        if state.phase == FLIGHT:
            ready: tuple[Run, Position, float] | None = ((), state, 0.0)
        else:
            ready = ahead.until(MOVEMENT, seat)
        if state.phase != MOVEMENT or state.turn != seat:
            late += _too_late(state, seat, cells, difference)
        if ready is None or ready[1].turn != seat:
            continue
        said, begun, cost = ready
        for reading in likely_goings(begun, seat, cells):
            later = LATER if said and reading.fought else 0.0
            out += _going_proposals(said, reading, cost + later, difference)
    return out + late


def _may_have_moved(seat: str, cells: Change) -> bool:
    """Whether pieces of a colour changed, and something came, or was lost in a fight."""
    own = {f"{k}:{seat}" for k in ("people", "soldier", "ship")}
    if not any(own & set(change) for change in cells.values()):
        return False
    changes = [(kind, n) for change in cells.values() for kind, n in change.items()]
    return any(n > 0 or n < 0 and k.startswith(("soldier:", "ship:")) for k, n in changes)


def _going_proposals(
    said: Run, reading: Goings, cost: float, difference: Difference
) -> list[Proposal]:
    """A reading of how pieces went, whole and in parts. said: the `done`s before it."""
    out = []
    asked = ASKED * sum(isinstance(a, act.Agree) for a in reading.done)
    if reading.done:
        out.append(_run_proposal(said, reading.done, cost + asked))
    if reading.marches and len(reading.done) > len(reading.marches):
        out.append(_run_proposal(said, reading.marches, cost))
    if len(reading.done) > 1 and not asked:
        out += [_run_proposal(said, [d], cost) for d in reading.done[:8]]
    strays = reading.strays[:4]
    return out + [_run_proposal(said, [s], cost, changes=_by_hand(s, difference)) for s in strays]


def _seats_in_question(state: Position) -> list[str]:
    """The seats still to come in this phase, then those whose part is over."""
    order = [state.seats[k] for k in state.order]
    return order[state.at :] + order[: state.at]


def _too_late(state: Position, seat: str, cells: Change, difference: Difference) -> list[Proposal]:
    """Moves by a seat whose part of the movement is over (D9, D8)."""
    out: list[Proposal] = []
    for piece in ("people", "soldier", "ship"):
        kind = f"{piece}:{seat}"
        gone = {c: -d[kind] for c, d in cells.items() if d[kind] < 0}
        more = {c: d[kind] for c, d in cells.items() if d[kind] > 0}
        for a, b in [(a, b) for a in gone for b in more][:3]:
            n = min(gone[a], more[b])
            move: Action = (
                act.Sail(seat, a, b, n)
                if piece == "ship"
                else act.Move(seat, a, b, n * (piece == "people"), n * (piece == "soldier"))
            )
            out.append(Proposal((move,), _by_hand(move, difference)))
    return out


def _by_hand(action: Action, difference: Difference) -> dict[str, Contents]:
    return {c: difference[c][1] for c in (action.origin, action.target) if c in difference}  # type: ignore[attr-defined]


# Harvest


def _wood_harvests(
    state: Position, ahead: Ahead, bare: list[str], difference: Difference
) -> list[Proposal]:
    """Cards laid on forests: wood, for whoever rules the cell."""
    out: list[Proposal] = []
    if not bare:
        return out
    covered = working.by_cell(state, bare)
    by_seat: dict[str, list[act.Harvest]] = {}
    for cell, spots in covered.items():
        seat = working.ruling_seat(state, cell) or str(state.turn)
        by_seat.setdefault(seat, []).append(working.harvest_covering(state, seat, cell, spots))
    for seat in _seats_in_question(state):
        ready = ahead.until(HARVEST, seat) if seat in by_seat else None
        if ready is None or ready[1].round > state.round:
            out += [
                Proposal((a,), {s: ("bare",) for s in covered[a.cell]})
                for a in by_seat.get(seat, ())
            ]
            continue
        said, begun, cost = ready
        legal = [a for a in by_seat[seat] if not begun.check(a)]
        certain = all(begun.work(a.cell)[0] == len(covered[a.cell]) and not a.spots for a in legal)
        if legal:
            out.append(_run_proposal(said, list(legal), cost, certain=certain))
        out += [
            _run_proposal(said, [a], cost, changes={s: ("bare",) for s in covered[a.cell]})
            for a in by_seat[seat]
            if a not in legal
        ]
    return out


# Building


def _new_buildings(
    state: Position, ahead: Ahead, cells: Change, difference: Difference
) -> list[Proposal]:
    """New ships, mines, soldiers, dolmens; if it could have been paid for in several ways, each is
    a guess."""
    out: list[Proposal] = []
    for name, change in cells.items():
        for kind, n in change.items():
            what = kind.partition(":")[0]
            if n <= 0 or what not in ("ship", "mine", "soldier", "dolmen"):
                continue
            after = working.seen_after(difference, name)
            for seat in working.possible_builders(state, name, kind):
                ready = ahead.until(BUILDING, seat)
                if ready is None:
                    continue
                said, begun, cost = ready
                if what == "ship":
                    out.append(
                        _run_proposal(said, [act.Build(seat, what, name)] * n, cost, changes=after)
                    )
                    continue
                out += [
                    _run_proposal(said, [act.Build(seat, what, name, pay)], cost, changes=after)
                    for pay in working.possible_bills(begun, seat)
                ]
    if state.phase == BUILDING:
        for seat, sea in working.possible_rammers(state, cells):
            ready = ahead.until(BUILDING, seat)
            if ready is not None and not ready[1].check(act.Build(seat, "ship", sea)):
                out.append(_run_proposal(ready[0], [act.Build(seat, "ship", sea)]))
    return out


# What no action does


def _impossible_changes(state: Position, cells: Change, difference: Difference) -> list[Proposal]:
    """Pieces that came from nowhere or went nowhere, fanatics that moved, a counter or card moved
    without reason."""
    out: list[Proposal] = []
    out += _fanatics_moved(state, cells, difference)
    for name, change in cells.items():
        more = [k for k, n in change.items() if n > 0]
        fewer = [k for k, n in change.items() if n < 0]
        changes = {name: difference[name][1]}
        if more:
            out.append(Proposal((), changes, (_from_nowhere(more[0], name),), 1.0))
        if fewer:
            words = say(
                "{piece} left {cell} without a conflict", piece=kind_name(fewer[0]), cell=name
            )
            out.append(Proposal((), changes, (Violation(_RULES.get(fewer[0], "D17"), words),), 1.0))
    squares = [s for s in difference if s in state.world.squares]
    if squares:
        changes = {s: difference[s][1] for s in squares}
        out.append(
            Proposal(
                (), changes, (Violation("D44", say("the counter belongs on {n}", n=state.counter)),)
            )
        )
    spots = [s for s in difference if s in state.world.cell_of]
    if spots and state.phase != HARVEST:
        changes = {s: difference[s][1] for s in spots}
        out.append(
            Proposal(
                (),
                changes,
                (Violation("D24", say("forests are covered in the harvest only")),),
                1.0,
            )
        )
    elif any("bare" not in difference[s][1] for s in spots):
        gone = {s: difference[s][1] for s in spots if "bare" not in difference[s][1]}
        out.append(
            Proposal(
                (), gone, (Violation("D41", say("forests grow at the end of a round only")),), 1.0
            )
        )
    return out


_RULES = {"water": "D47", "mine": "D37", "fanatic": "D31", "bare": "D24"}


def _from_nowhere(kind: str, cell: str) -> Violation:
    piece = kind_name(kind)
    if kind == "bare":
        return Violation(
            "D24", say("{piece} on {cell} covers none of its forests", piece=piece, cell=cell)
        )
    return Violation(
        _RULES.get(kind, "D40"), say("{piece} on {cell} came from nowhere", piece=piece, cell=cell)
    )


def _fanatics_moved(state: Position, cells: Change, difference: Difference) -> list[Proposal]:
    gone = [c for c, d in cells.items() if d["fanatic"] < 0]
    more = [c for c, d in cells.items() if d["fanatic"] > 0]
    seat = state.turn if state.turn in state.seats else COLOURS[0]
    moves = [
        act.Move(str(seat), a, b, fanatics=min(-cells[a]["fanatic"], cells[b]["fanatic"]))
        for a in gone
        for b in more
    ]
    return [Proposal((m,), _by_hand(m, difference)) for m in moves[:3]]
