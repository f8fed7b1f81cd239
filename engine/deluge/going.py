"""Who went where between two looks: a whole part of the movement phase, or of a flight, as a flow
on the map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import heappop, heappush

from engine.deluge import actions as act
from engine.deluge.checks import ferries_colour, ready_to_sail
from engine.deluge.flow import explain_flow
from engine.deluge.legal import possible_refuges
from engine.deluge.position import FLIGHT, Position
from engine.deluge.words import COLOURS
from engine.game import Action

# by land; over sea; each further sea; a ship whose owner has not agreed yet
LAND, FERRY, SEA, ASKED = 1.0, 1.6, 0.05, 4.0
PERIL = 0.5  # pawns gone from such a cell need not have walked
Change = dict[str, Counter]


class Goings:
    """What one seat's pawns and ships did, from the change of numbers on the cells.

    `done`: legal one after the other, marches first. `marches`: the soldiers' part of it. `strays`:
    moves of pawns that cannot have come where they are (illegal ones, listed for the rule they
    break). fights: soldiers and ships that others lost were fought; otherwise they went away
    themselves.
    """

    def __init__(self, state: Position, seat: str, cells: Change, fights: bool = True) -> None:
        self.state, self.seat, self.i, self.cells = state, seat, state.colour(seat), cells
        self.fleeing, self.fights = state.phase == FLIGHT, fights
        self.strays: list[Action] = []
        self._crossings: dict[
            str, dict[str, tuple[float, tuple[str, ...], tuple[Action, ...]]]
        ] = {}
        marches, walks = self._marches(), {}
        self.taken = {b for _, b in marches if state.ruler(b) not in (None, self.i)}
        walks = self._walks()
        wanted = self._doings(marches, walks) + ([] if self.fleeing else self._sails())
        self.marches = self._legal([self._go(a, b, 0, n, ()) for (a, b), n in marches.items()])[0]
        self.done, left = self._legal(wanted)
        self.strays = left + self.strays

    def _standing(self, soldiers: bool) -> dict[str, int]:
        state, i = self.state, self.i
        out = {}
        for c, cell in state.cells.items():
            n = (cell.soldiers if soldiers else cell.people)[i]
            if n and state.is_land(c) and (soldiers or not cell.slaves()[i]):
                out[c] = n if self.fleeing else state.unmoved(c, i)[soldiers]
        return out

    def _marches(self) -> dict[tuple[str, str], int]:
        kind = f"soldier:{self.seat}"
        fallen = self._fallen("soldier") if self.fights else {}
        change = {
            c: k[kind] + fallen.get(c, 0) for c, k in self.cells.items() if self.state.is_land(c)
        }
        moves, lost, found = explain_flow(
            self._standing(True), change, lambda c: self._ways(c, True), self._perils
        )
        self._stray(lost, found, 0, 1)
        return moves

    def _walks(self) -> dict[tuple[str, str], int]:
        kind = f"people:{self.seat}"
        change = {c: k[kind] for c, k in self.cells.items() if self.state.is_land(c)}
        moves, lost, found = explain_flow(
            self._standing(False), change, lambda c: self._ways(c, False), self._perils
        )
        self._stray(lost, found, 1, 0)
        return moves

    def _perils(self, cell: str) -> float:
        """How unlikely it is that pawns gone from a cell walked away: where fanatics or other
        players' pawns stand, they may have fallen to a takeover or a civil war instead."""
        here = self.state.cell(cell)
        return (
            PERIL
            if here.fanatics or here.pawns > here.people[self.i] + here.soldiers[self.i]
            else 0.0
        )

    def _stray(
        self, lost: dict[str, int], found: dict[str, int], people: int, soldiers: int
    ) -> None:
        kind = act.Flee if self.fleeing else act.Move
        pairs = [(a, b, min(n, m)) for a, n in lost.items() for b, m in found.items() if a != b]
        for a, b, n in pairs[:4]:
            via = () if self.fleeing else self._wanting(a, b)
            if via:
                self.strays.append(act.Ferry(self.seat, a, b, people * n, soldiers * n, via=via))
            self.strays.append(kind(self.seat, a, b, people * n, soldiers * n))

    def _wanting(self, origin: str, target: str) -> tuple[str, ...]:
        """The seas of a crossing that has some ship on it but not all it needs; () if the cells
        border or no ship is near."""
        state, borders = self.state, self.state.world.borders
        if target in borders[origin] or not state.is_land(target):
            return ()
        queue: list[tuple[float, tuple[str, ...]]] = [(0.0, (origin,))]
        seen = set()
        while queue:
            cost, path = heappop(queue)
            if len(path) > 1 and target in borders[path[-1]]:
                return path[1:] if any(any(state.cell(sea).ships) for sea in path[1:]) else ()
            if path[-1] in seen:
                continue
            seen.add(path[-1])
            for sea in borders[path[-1]]:
                if state.is_sea(sea) and sea not in seen:
                    lack = (
                        0.1
                        if ferries_colour(state, self.i, sea)
                        else 0.5
                        if any(state.cell(sea).ships)
                        else 1.0
                    )
                    heappush(queue, (cost + lack, (*path, sea)))
        return ()

    def _fallen(self, piece: str) -> dict[str, int]:
        """cell -> own pieces that must have come and fallen: as many as others lost there."""
        out = {}
        for name, change in self.cells.items():
            own = (
                self.state.cell(name).soldiers
                if piece == "soldier"
                else self.state.cell(name).ships
            )[self.i]
            gone = sum(
                -n
                for k, n in change.items()
                if n < 0 and k.startswith(piece + ":") and k != f"{piece}:{self.seat}"
            )
            if gone and not own:
                out[name] = gone
        return out

    @property
    def fought(self) -> bool:
        """Whether the losses of others are taken for battles."""
        return self.fights and bool(self._fallen("soldier") or self._fallen("ship"))

    def _ways(self, cell: str, armed: bool) -> Iterator[tuple[str, float]]:
        """Where a pawn can go from a cell in one move, and how unlikely that is."""
        state = self.state
        if self.fleeing:
            if cell in state.sinking:
                yield from (
                    (t, LAND)
                    for t, people in possible_refuges(state, self.i, cell).items()
                    if armed or people
                )
            return
        near = [t for t in state.world.borders[cell] if self._open(t, armed)]
        yield from ((t, LAND) for t in near)
        yield from (
            (t, way[0])
            for t, way in self._over_sea(cell).items()
            if t not in near and self._open(t, armed)
        )

    def _open(self, land: str, armed: bool) -> bool:
        state = self.state
        if not state.is_land(land) or state.cell(land).taken:
            return False
        return armed or state.ruler(land) in (None, self.i) or land in self.taken

    def _over_sea(
        self, origin: str
    ) -> dict[str, tuple[float, tuple[str, ...], tuple[Action, ...]]]:
        """land -> (how unlikely, seas crossed, agreements given by owners of ships), for the
        likeliest way to each."""
        if origin in self._crossings:
            return self._crossings[origin]
        state, borders = self.state, self.state.world.borders
        out: dict[str, tuple[float, tuple[str, ...], tuple[Action, ...]]] = {}
        queue: list[tuple[float, tuple[str, ...], tuple[Action, ...]]] = [(FERRY, (origin,), ())]
        seen = set()
        while queue:
            cost, path, leave = heappop(queue)
            if path[-1] in seen:
                continue
            seen.add(path[-1])
            for other in borders[path[-1]]:
                if state.is_land(other):
                    if len(path) > 1 and other != origin and other not in out:
                        out[other] = (cost, path[1:], leave)
                elif other not in seen:
                    if ferries_colour(state, self.i, other):
                        heappush(queue, (cost + SEA, (*path, other), leave))
                    else:
                        owner = state.ruler(other)
                        if owner is not None and owner != self.i and COLOURS[owner] in state.seats:
                            said = act.Agree(COLOURS[owner], self.seat, other)
                            heappush(queue, (cost + ASKED, (*path, other), (*leave, said)))
        self._crossings[origin] = out
        return out

    def _go(self, a: str, b: str, people: int, soldiers: int, slaves: tuple) -> Action:
        if self.fleeing:
            return act.Flee(self.seat, a, b, people, soldiers, slaves)
        if b in self.state.world.touching[a] or b not in self._over_sea(a):
            return act.Move(self.seat, a, b, people, soldiers, slaves)
        return act.Ferry(self.seat, a, b, people, soldiers, slaves, via=self._over_sea(a)[b][1])

    def _doings(self, marches: dict, walks: dict) -> list[Action]:
        """Moves, conquests first and those that leave fanatics behind last; people go with the
        soldiers where they may."""
        slaves, walks = self._slaves(marches), dict(walks)
        first: list[Action] = []
        then: list[Action] = []
        for (a, b), n in marches.items():
            along = slaves.get((a, b), ())
            if b in self.taken:
                alone = n - 1 if along and n > 1 else n
                first.append(self._go(a, b, 0, alone, ()))
                if alone < n:
                    then.append(self._go(a, b, 0, 1, along))
            else:
                then.append(self._go(a, b, walks.pop((a, b), 0), n, along))
        then += [self._go(a, b, n, 0, ()) for (a, b), n in walks.items()]
        return first + sorted(then, key=lambda m: self.state.cell(m.origin).fanatics)  # type: ignore[attr-defined]

    def _slaves(self, marches: dict) -> dict[tuple[str, str], tuple]:
        """Slaves that went along with soldiers: (from, to) -> ((colour, n), ...)."""
        out: dict[tuple[str, str], tuple] = {}
        left = {c: Counter({k: -n for k, n in d.items() if n < 0}) for c, d in self.cells.items()}
        more = {c: Counter({k: n for k, n in d.items() if n > 0}) for c, d in self.cells.items()}
        for a, b in marches:
            along = []
            held = self.state.cell(a).slaves()
            for c, colour in enumerate(COLOURS):
                kind = f"people:{colour}"
                n = min(left.get(a, Counter())[kind], more.get(b, Counter())[kind], held[c])
                if c != self.i and n > 0:
                    along.append((colour, n))
                    left[a][kind] -= n
                    more[b][kind] -= n
            if along:
                out[a, b] = tuple(along)
        return out

    def _sails(self) -> list[Action]:
        state, kind = self.state, f"ship:{self.seat}"
        fallen = self._fallen("ship") if self.fights else {}
        change = {c: d[kind] + fallen.get(c, 0) for c, d in self.cells.items() if state.is_sea(c)}
        ready = {
            c: ready_to_sail(state, self.i, c)
            for c, cell in state.cells.items()
            if cell.ships[self.i]
        }
        sails, lost, found = explain_flow(
            ready, change, lambda c: [(o, 1.0) for o in state.world.borders[c] if state.is_sea(o)]
        )
        self.strays += [
            act.Sail(self.seat, a, b, min(n, m))
            for a, n in lost.items()
            for b, m in found.items()
            if a != b
        ][:2]
        return [act.Sail(self.seat, a, b, n) for (a, b), n in sails.items()]

    def _legal(self, wanted: list[Action]) -> tuple[list[Action], list[Action]]:
        """These in an order in which each is legal, with agreements before they are needed; and
        those that never are legal."""
        state, done = self.state, []
        while wanted:
            later: list[Action] = []
            for action in wanted:
                leave = (
                    []
                    if not isinstance(action, act.Ferry)
                    else [
                        a
                        for a in self._over_sea(action.origin)[action.target][2]
                        if not state.check(a) and a not in done
                    ]
                )
                asked = state
                for a in leave:
                    asked = asked.apply(a)
                if asked.turn != self.seat or asked.check(action):
                    later.append(action)
                    continue
                state = asked.apply(action)
                done += [*leave, action]
            if len(later) == len(wanted):
                return done, later
            wanted = later
        return done, []


def likely_goings(state: Position, seat: str, cells: Change) -> Iterator[Goings]:
    """The likely readings of the change for one seat: with battles, and, if others lost soldiers or
    ships, without."""
    first = Goings(state, seat, cells)
    yield first
    if first.fought:
        yield Goings(state, seat, cells, fights=False)
