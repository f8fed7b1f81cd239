"""Guesses at what was done between two looks: whole phases of movement at once, harvests, buildings, flights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engine.deluge import actions as act
from engine.deluge.checks import willing
from engine.deluge.flow import explain_flow
from engine.deluge.legal import crossings, payments
from engine.deluge.state import BUILDING, FLIGHT, HARVEST, MOVEMENT, PHASES, TRADE, DelugeState
from engine.deluge.words import COLOURS, kind_name
from engine.game import Action, Difference, Proposal, Violation
from engine.layout import Contents
from engine.text import say

SILENT = -0.85        # nobody says "done" aloud: a run with it costs hardly more
FERRY = 1.6           # against 1 for a move by land
Change = dict[str, Counter]


def explain(state: DelugeState, difference: Difference) -> list[Proposal]:
    """See `engine.game.State.explain`."""
    cells = {n: _change(*both) for n, both in difference.items() if n in state.world.touching}
    bare = [n for n, (_, seen) in difference.items() if n in state.world.cell_of and "bare" in seen]
    out: list[Proposal] = []
    out += _forgotten(state, cells)
    if state.phase == FLIGHT:
        out += _goings(state, cells, difference)
    elif state.phase in PHASES:
        for phase in PHASES[PHASES.index(state.phase):]:
            out += {MOVEMENT: _goings, HARVEST: _harvests, TRADE: _nothing, BUILDING: _builds}[phase](
                state, bare if phase == HARVEST else cells, difference)
    out += _impossible(state, cells, difference)
    return out[:40]


def _change(before: Contents, seen: Contents) -> Counter:
    """kind -> how many more (or, below 0, fewer) are seen"""
    out = Counter(seen)
    out.subtract(Counter(before))
    return Counter({k: n for k, n in out.items() if n})


def _nothing(state: DelugeState, cells: object, difference: Difference) -> list[Proposal]:
    return []


def until(state: DelugeState, phase: str, seat: str) -> tuple[tuple[Action, ...], DelugeState] | None:
    """The `done`s that bring a seat's part of a phase about, and the state then; None when they do not."""
    said: list[Action] = []
    for _ in range(4 * len(state.seats)):
        if state.phase == phase and state.turn == seat:
            return tuple(said), state
        if state.turn is None or state.phase not in PHASES:
            return None
        if PHASES.index(state.phase) > PHASES.index(phase):
            return None
        said.append(act.Done(state.turn))
        if state.check(said[-1]):
            return None
        state = state.apply(said[-1])
    return None


def _run(said: tuple[Action, ...], doings: list[Action], **more) -> Proposal:
    return Proposal((*said, *doings), cost=SILENT * len(said) + more.pop("cost", 0.0), **more)


# Movement

def _goings(state: DelugeState, cells: Change, difference: Difference) -> list[Proposal]:
    """A run for each colour whose pawns or ships are elsewhere, its seats' `done`s before it"""
    out = []
    for seat in _in_turn(state):
        own = {f"{k}:{seat}" for k in ("people", "soldier", "ship")}
        if not any(own & set(c) for c in cells.values()):
            continue
        ready = ((), state) if state.phase == FLIGHT else until(state, MOVEMENT, seat)
        if ready is None or ready[1].turn != seat:
            continue
        doings, strays = goings_of(ready[1], seat, cells)
        if doings:
            out.append(_run(ready[0], doings))
            out += [_run(ready[0], [d]) for d in doings] if len(doings) > 1 else []
        out += [_run(ready[0], [stray], changes=_by_hand(state, stray, difference)) for stray in strays]
    return out


def _in_turn(state: DelugeState) -> Iterator[str]:
    order = [state.seats[k] for k in state.order]
    yield from order[state.at:]


def goings_of(state: DelugeState, seat: str, cells: Change) -> tuple[list[Action], list[Action]]:
    """What a seat did, and the moves of pawns that cannot have come where they are (illegal ones, for the rule's sake)."""
    i, fleeing = state.colour(seat), state.phase == FLIGHT
    doings: list[Action] = []
    strays: list[Action] = []
    if not fleeing:
        ships, lost, found = _ships(state, seat, i, cells)
        strays += [act.Sail(seat, a, b, min(n, m)) for a, n in lost.items() for b, m in found.items()][:2]
    else:
        ships = []
    attacks = _battles(state, seat, i, cells)
    soldiers = {c: state.unmoved(c, i)[1] if not fleeing else state.cell(c).soldiers[i] for c in state.world.lands}
    people = {c: state.unmoved(c, i)[0] if not fleeing else state.cell(c).people[i] for c in state.world.lands}
    people = {c: 0 if state.cell(c).slaves()[i] else n for c, n in people.items()}
    change = {c: k[f"soldier:{seat}"] + attacks.get(c, 0) for c, k in cells.items() if state.is_land(c)}
    marches, lost, found = explain_flow(soldiers, change, lambda c: _ways(state, i, c, True, set()))
    strays += [act.Move(seat, a, b, 0, min(n, m)) for a, n in lost.items() for b, m in found.items()][:2]
    taken = {b for _, b in marches if state.ruler(b) not in (None, i)}
    change = {c: k[f"people:{seat}"] for c, k in cells.items() if state.is_land(c)}
    walks, lost, found = explain_flow(people, change, lambda c: _ways(state, i, c, False, taken))
    kind = act.Flee if fleeing else act.Move
    strays += [kind(seat, a, b, min(n, m)) for a, n in lost.items() for b, m in found.items()][:3]
    slaves = _slaves(state, seat, i, cells, marches)
    for (a, b), n in marches.items():
        with_them = 0 if b in taken else walks.pop((a, b), 0)
        doings.append(_go(state, seat, i, a, b, with_them, n, slaves.get((a, b), ()) if b not in taken else ()))
    doings += [_go(state, seat, i, a, b, n, 0, ()) for (a, b), n in walks.items()]
    return doings + ships, strays


def _go(state: DelugeState, seat: str, i: int, a: str, b: str, people: int, soldiers: int, slaves: tuple) -> Action:
    if state.phase == FLIGHT:
        return act.Flee(seat, a, b, people, soldiers, slaves)
    if b in state.world.touching[a]:
        return act.Move(seat, a, b, people, soldiers, slaves)
    via = next((via for via, land in crossings(state, i, a) if land == b), ())
    return act.Ferry(seat, a, b, people, soldiers, slaves, via=via) if via else act.Move(seat, a, b, people, soldiers, slaves)


def _ways(state: DelugeState, i: int, cell: str, armed: bool, taken: set[str]) -> Iterator[tuple[str, float]]:
    """Where a pawn can go from a cell in one move"""
    def open_to(land: str) -> bool:
        if not state.is_land(land) or state.cell(land).taken or land in state.sinking:
            return False
        if armed:
            return True
        ruler = state.ruler(land)
        if state.phase == FLIGHT:
            return ruler == i or not (state.cell(land).pawns or state.cell(land).fanatics)
        return ruler in (None, i) or land in taken

    if state.phase == FLIGHT and cell not in state.sinking:
        return
    near = [land for land in state.world.borders[cell] if open_to(land)]
    yield from ((land, 1.0) for land in near)
    if state.phase != FLIGHT and any(willing(state, i, s) for s in state.world.borders[cell] if state.is_sea(s)):
        yield from ((land, FERRY) for land in {land for _, land in crossings(state, i, cell)} if open_to(land) and land not in near)


def _battles(state: DelugeState, seat: str, i: int, cells: Change) -> dict[str, int]:
    """cell -> own soldiers that must have come and fallen: as many as the enemy's that are gone"""
    out = {}
    for name, change in cells.items():
        fallen = sum(-n for k, n in change.items() if k.startswith("soldier:") and n < 0 and not k.endswith(seat))
        if fallen and state.is_land(name) and not state.cell(name).soldiers[i]:
            out[name] = fallen
    return out


def _slaves(state: DelugeState, seat: str, i: int, cells: Change, marches: dict) -> dict[tuple[str, str], tuple]:
    """Slaves that went along with soldiers: (from, to) -> ((colour, n), ...)"""
    out: dict[tuple[str, str], tuple] = {}
    for a, b in marches:
        along = []
        for c, colour in enumerate(COLOURS):
            kind = f"people:{colour}"
            n = min(-cells.get(a, Counter())[kind], cells.get(b, Counter())[kind])
            if c != i and n > 0 and state.cell(a).slaves()[c] >= n:
                along.append((colour, n))
        if along:
            out[a, b] = tuple(along)
    return out


def _ships(state: DelugeState, seat: str, i: int, cells: Change) -> tuple[list[Action], dict[str, int], dict[str, int]]:
    """Sails, and ships that cannot have sailed: fewer, more"""
    kind = f"ship:{seat}"
    fallen = {c: sum(-n for k, n in d.items() if k.startswith("ship:") and k != kind and n < 0)
              for c, d in cells.items() if state.is_sea(c) and not state.cell(c).ships[i]}
    change = {c: d[kind] + fallen.get(c, 0) for c, d in cells.items() if state.is_sea(c)}
    ready = {c: state.unmoved(c, i)[2] - ((i, c) in state.ferried) for c in state.world.cells if state.is_sea(c)}
    sails, lost, found = explain_flow(ready, change, lambda c: [(o, 1.0) for o in state.world.borders[c] if state.is_sea(o)])
    return [act.Sail(seat, a, b, n) for (a, b), n in sails.items()], lost, found


def _by_hand(state: DelugeState, action: Action, difference: Difference) -> dict[str, Contents]:
    return {c: difference[c][1] for c in (action.origin, action.target) if c in difference}


# Harvest

def _harvests(state: DelugeState, bare: list[str], difference: Difference) -> list[Proposal]:
    """Cards laid on forests: wood, of whoever rules the cell"""
    out: list[Proposal] = []
    by_cell: dict[str, list[str]] = {}
    for spot in bare:
        by_cell.setdefault(state.world.cell_of[spot], []).append(spot)
    by_seat: dict[str, list[Action]] = {}
    for cell, spots in by_cell.items():
        ruler = state.ruler(cell) if state.is_land(cell) else None
        seat = COLOURS[ruler] if ruler is not None and COLOURS[ruler] in state.seats else str(state.turn)
        by_seat.setdefault(seat, []).append(wood(state, seat, cell, spots))
    for seat in _in_turn(state) if state.phase == HARVEST else [state.seats[k] for k in state.order]:
        if seat not in by_seat:
            continue
        ready = until(state, HARVEST, seat)
        if ready is None:
            continue
        doings = by_seat[seat]
        legal = [a for a in doings if not ready[1].check(a)]
        certain = all(_all_work(ready[1], a) and not a.spots for a in legal)
        if legal:
            out.append(_run(ready[0], legal, certain=certain))
        for a in doings:
            if a not in legal:
                spots = {s: ("bare",) for s in by_cell[a.cell]}
                out.append(_run(ready[0], [a], changes=spots))
    for seat, doings in by_seat.items():
        if seat not in [state.seats[k] for k in state.order[state.at:]] and state.phase == HARVEST:
            out += [Proposal((a,), {s: ("bare",) for s in by_cell[a.cell]}) for a in doings]
    return out


def wood(state: DelugeState, seat: str, cell: str, spots: list[str]) -> act.Harvest:
    """The harvest that covers these spots; they are named only where the first free ones would be others."""
    free = [s for s in state.world.spots[cell] if s not in state.cell(cell).bare]
    ordered = tuple(s for s in state.world.spots[cell] if s in spots)
    return act.Harvest(seat, cell, (("wood", len(spots)),), () if tuple(free[: len(spots)]) == ordered else ordered)


def _all_work(state: DelugeState, a: act.Harvest) -> bool:
    return state.work(a.cell)[0] == sum(n for _, n in a.goods)


def _forgotten(state: DelugeState, cells: Change) -> list[Proposal]:
    """Pawns that should be fanatics by now but are not: they worked in a mine, which nobody said (D25, D28)."""
    out: list[Proposal] = []
    late: list[Action] = []
    if state.phase == TRADE and not state.at:
        return out                                   # the red pawns may just not have been put down yet
    for name, idle in state.idle.items():
        if name not in cells or cells[name]["fanatic"] >= 0:
            continue
        for i, n in enumerate(idle):
            ruler = [k for k in range(4) if state.cell(name).people[k] or state.cell(name).soldiers[k] or idle[k]]
            mineral = state.world.mineral[name]
            owner = i if i in ruler else next(iter(ruler), i)
            n = min(n, 1 + 3 * state.cell(name).mines)
            if n and mineral and COLOURS[owner] in state.seats:
                late.append(act.Harvest(COLOURS[owner], name, ((mineral, n),)))
    if late:
        out.append(Proposal(tuple(late), belated=True, certain=False))
        out += [Proposal((a,), belated=True, certain=False) for a in late[:8]] if len(late) > 1 else []
    return out


# Building

def _builds(state: DelugeState, cells: Change, difference: Difference) -> list[Proposal]:
    """New ships, mines, soldiers, dolmens; where it could have been paid in several ways, each is a guess."""
    out: list[Proposal] = []
    for name, change in cells.items():
        for kind, n in change.items():
            what, _, colour = kind.partition(":")
            if n <= 0 or what not in ("ship", "mine", "soldier", "dolmen"):
                continue
            ruler = state.ruler(name) if name in state.world.mineral else None
            seat = colour or (COLOURS[ruler] if ruler is not None else str(state.turn))
            if seat not in state.seats:
                continue
            ready = until(state, BUILDING, seat)
            if ready is None:
                continue
            after = {name: difference[name][1]}
            if what == "ship":
                out.append(_run(ready[0], [act.Build(seat, what, name)] * n, changes=after))
                continue
            ways = list(payments(ready[1], state.colour(seat)))[::-1][:4] or [(("wood", 10),)]
            out += [_run(ready[0], [act.Build(seat, what, name, pay)], changes=after) for pay in ways]
    return out


# What no doing does

def _impossible(state: DelugeState, cells: Change, difference: Difference) -> list[Proposal]:
    """Pieces that came from nowhere or went nowhere, a counter or a blue card that nobody asked for."""
    out: list[Proposal] = []
    for name, change in cells.items():
        more = [k for k, n in change.items() if n > 0]
        fewer = [k for k, n in change.items() if n < 0]
        changes = {name: difference[name][1]}
        for kinds, rule, words in ((more, "D40", "{piece} on {cell} came from nowhere"),
                                   (fewer, "D17", "{piece} went from {cell} without a conflict")):
            if kinds:
                rule = {"water": "D47", "mine": "D37", "fanatic": "D31"}.get(kinds[0], rule)
                out.append(Proposal((), changes, (Violation(rule, say(words, piece=kind_name(kinds[0]), cell=name)),), 1.0))
    squares = [s for s in difference if s in state.world.squares]
    if squares:
        changes = {s: difference[s][1] for s in squares}
        out.append(Proposal((), changes, (Violation("D44", say("the counter belongs on {n}", n=state.counter)),)))
    spots = [s for s in difference if s in state.world.cell_of]
    if spots and state.phase != HARVEST:
        changes = {s: difference[s][1] for s in spots}
        out.append(Proposal((), changes, (Violation("D24", say("forests are covered in the harvest only")),), 1.0))
    elif any("bare" not in difference[s][1] for s in spots):
        gone = {s: difference[s][1] for s in spots if "bare" not in difference[s][1]}
        out.append(Proposal((), gone, (Violation("D41", say("forests grow at the end of a round only")),), 1.0))
    return out
