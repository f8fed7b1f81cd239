"""How an action that has begun may have continued, judging by what the board shows: what was added
in a conflict, which war came first, what was built, which treasures were taken. Nobody says these
things aloud if the result shows them."""

from __future__ import annotations

from engine.game import Action
from engine.tigris import actions as act
from engine.tigris.effects import buildable_monuments
from engine.tigris.moment import TEMPLES, side_strength, war_colours
from engine.tigris.position import Position
from engine.tigris.seen import Seen
from engine.tigris.words import COLOURS, HAND, RED

Run = tuple[Action, ...]
MOST = 60  # states examined for one action


class Ending:
    """A run of declarations and the state that it leads to. `far`: how many squares still differ
    from what is seen."""

    __slots__ = ("cost", "far", "run", "state")

    def __init__(self, run: Run, state: Position, cost: float, far: int) -> None:
        self.run, self.state, self.cost, self.far = run, state, cost, far


def possible_endings(s: Position, seen: Seen) -> list[Ending]:
    """The states that the game may have reached through declarations that fit what is seen, best
    first; staying where it is counts as one."""
    out: list[Ending] = []
    waiting = [Ending((), s, 0.0, seen.far(s.pieces))]
    while waiting and len(out) < MOST:
        here = waiting.pop()
        out.append(here)
        for run, cost in fitting_runs(here.state, seen):
            after = here.state
            for a in run:
                after = after.apply(a)
            waiting.append(Ending(here.run + run, after, here.cost + cost, seen.far(after.pieces)))
    # the board does not show yet which war came first
    out = [e for e in out if not (e.run and isinstance(e.run[-1], act.War))]
    out.sort(key=lambda e: (e.far, e.cost, len(e.run)))
    return out


def fitting_runs(s: Position, seen: Seen) -> list[tuple[Run, float]]:
    """The declarations that are supported by what is seen."""
    if s.phase == "commit":
        fight, leaders = s.conflict, s.pieces.leaders
        attacker, defender = (
            seen.leaders[n] >> leaders[n] & 1 for n in (fight.attacker, fight.defender)
        )
        if attacker and defender:
            return []
        return decided_runs(s, not defender, not attacker)
    if s.phase == "war":
        return [
            ((act.War(s.seats[s.active], COLOURS[c]),), 0.1 * i)
            for i, c in enumerate(war_colours(s.pieces))
        ]
    if s.phase == "build":
        return _built_runs(s, seen)
    if s.phase == "treasure":
        taken = s.pieces.treasures & ~seen.treasures
        return [(run, cost) for run, cost, sites in _treasure_runs(s) if taken & sites][:4]
    return []


def forced_runs(s: Position) -> list[tuple[Run, float]]:
    """What must have happened in one way or another if people have gone on although the board shows
    nothing of it."""
    if s.phase == "commit":
        return [(run, cost + 2.0) for run, cost in decided_runs(s, True, True)]
    if s.phase == "war":
        return [((act.War(s.seats[s.active], COLOURS[c]),), 1.0) for c in war_colours(s.pieces)[:1]]
    if s.phase == "build":
        return [((act.Keep(s.seats[s.active]),), 0.0)]
    if s.phase == "treasure":
        return [(run, cost + 2.0) for run, cost, _ in _treasure_runs(s)[:1]]
    return []


def ready_states(s: Position, seen: Seen) -> list[Ending]:
    """The states from which somebody can take an action: resolved as the board shows, or in one way
    or another."""
    if s.phase == "action":
        return [Ending((), s, 0.0, 0)]
    out: list[Ending] = []
    waiting = [Ending((), s, 0.0, 0)]
    while waiting and len(out) < 4:
        here = waiting.pop(0)
        for run, cost in fitting_runs(here.state, seen) or forced_runs(here.state):
            after = here.state
            for a in run:
                after = after.apply(a)
            ending = Ending(here.run + run, after, here.cost + cost, 0)
            (out if after.phase == "action" else waiting).append(ending)
    return out


def decided_runs(
    s: Position, attack_may_win: bool, defence_may_win: bool
) -> list[tuple[Run, float]]:
    """The least that both sides can have added, for either outcome; and what the winner must have
    added if the bag cannot fill the hands again after it, which ends the game."""
    fight, out = s.conflict, []
    seats = [s.seats[n // 4] for n in (fight.attacker, fight.defender)]
    colour = RED if fight.kind == TEMPLES else fight.colour
    attack, defence = (side_strength(s.pieces, fight, n) for n in (fight.attacker, fight.defender))
    said = fight.added >= 0
    added = max(fight.added, 0)
    if attack_may_win:
        need = added if said else max(defence - attack + 1, 0)
        if attack + need > defence and (said or need <= s.has(fight.attacker // 4, colour)):
            out.append(((act.Commit(seats[0], need), act.Commit(seats[1], 0)), 0.1 * need))
    if defence_may_win:
        need = max(attack + added - defence, 0)
        if need <= s.has(fight.defender // 4, colour):
            out.append(((act.Commit(seats[0], added), act.Commit(seats[1], need)), 0.1 * need))
    runs: list[tuple[Run, float]] = [(run[1:] if said else run, cost) for run, cost in out]
    return runs + [more for run, _ in runs if (more := _emptying_run(s, run, colour)) is not None]


def _emptying_run(s: Position, run: Run, colour: int) -> tuple[Run, float] | None:
    """The run with so much more added by its winner that the bag cannot fill the hands again. None
    if it cannot anyway, or if the hand cannot hold so much."""
    after = s
    for action in run:
        after = after.apply(action)
    missing = sum(max(HAND - after.hand(seat), 0) for seat in range(len(s.seats)))
    spare = after.bag - missing
    winner = max((a for a in run if isinstance(a, act.Commit)), key=lambda a: a.number)
    number = winner.number + spare + 1
    if after.over or spare < 0 or number > s.has(s.seats.index(winner.seat), colour):
        return None
    more = act.Commit(winner.seat, number)
    return tuple(more if a is winner else a for a in run), 0.1 * number


def _built_runs(s: Position, seen: Seen) -> list[tuple[Run, float]]:
    seat = s.seats[s.active]
    out: list[tuple[Run, float]] = []
    for corner, monument in buildable_monuments(s):
        square = s.board.squares[corner]
        action = act.Build(seat, s.board.monuments[monument], s.board.ids[corner])
        if seen.monuments[monument] >> corner & 1:
            out.append(((action,), 0.0))
        elif (seen.flipped & square & ~s.pieces.flipped).bit_count() >= 2 and not any(
            m >> corner & 1 for m in seen.monuments
        ):
            out.append(((action,), 1.0))
    return out


def _treasure_runs(s: Position) -> list[tuple[Run, float, int]]:
    return [
        ((a,), 0.0, sum(1 << s.board.index[t] for t in a.sites))
        for a in s.legal_actions()
        if isinstance(a, act.Treasure)
    ]
