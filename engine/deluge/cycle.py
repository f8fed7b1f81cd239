"""The round: from phase to phase, and everything that happens automatically at its end (D28, D40 to
D50)."""

from __future__ import annotations

from engine.deluge.cell import NONE, add_pawns
from engine.deluge.conflict import take_over
from engine.deluge.legal import possible_refuges
from engine.deluge.position import BUILDING, FLIGHT, HARVEST, MOVEMENT, OVER, TRADE, Position
from engine.deluge.words import COLOURS, END, FORESTS, RISES, pieces_words, seat_name
from engine.text import say


def end_part(new: Position) -> None:
    """Ends the active seat's part of the phase, and after the last seat the phase."""
    seat = new.seats[new.active]
    new.tell(say("{seat} is done", seat=seat_name(seat)), by_hand=True)
    new.at += 1
    if new.at < len(new.seats):
        return
    new.at = 0
    if new.phase == MOVEMENT:
        new.arrived, new.ferried, new.agreed = {}, frozenset(), frozenset()
        new.worked, new.idle, new.phase = {}, {}, HARVEST
    elif new.phase == HARVEST:
        turn_idle(new)
        new.phase = TRADE
    elif new.phase == TRADE:
        new.phase = BUILDING
    elif new.phase == BUILDING:
        end_of_round(new)


def turn_idle(new: Position) -> None:
    """Pawns that did not work become fanatics (D27 to D29); the box may run out of red pawns."""
    new.idle = {}
    for name in new.world.lands:
        cell = new.cell(name)
        if not new.is_land(name) or cell.taken or not any(cell.people):
            continue
        ruler = cell.ruler()
        worked = sum(new.worked.get(name, (0, 0)))
        own = cell.people[ruler] if ruler is not None else 0
        slaves = sum(cell.people) - own
        turning = {ruler: own - max(0, worked - slaves)} if ruler is not None else {}
        left = slaves - min(slaves, worked)
        for i in colours_in_order(new):
            if i != ruler:
                turning[i] = min(cell.people[i], left)
                left -= turning[i]
        people, idle, room = cell.people, NONE, new.fanatics_left()
        for i, n in turning.items():
            n = min(max(n, 0), room)
            people, idle, room = add_pawns(people, i, -n), add_pawns(idle, i, n), room - n
        if any(idle):
            new.idle[name] = idle
            new.put(name, people=people, fanatics=cell.fanatics + sum(idle))
            loss = pieces_words((f"people:{c}", n) for c, n in zip(COLOURS, idle))
            new.tell(
                say(
                    "without work on {cell}: take off {loss}, put {pieces} there",
                    cell=name,
                    loss=loss,
                    pieces=pieces_words([("fanatic", sum(idle))]),
                ),
                (name,),
            )
    for name in new.world.lands:
        take_over(new, name)


def end_of_round(new: Position) -> None:
    """Births, forests, takeovers, counter, floods; then the next round or the end."""
    give_births(new)
    grow_forests(new)
    for name in new.world.lands:
        take_over(new, name)
    count_bare_cells(new)
    new.rising = tuple(rise for mark, rise in sorted(RISES.items()) if new.counter >= mark)
    rise_next(new)


def colours_in_order(new: Position) -> list[int]:
    """The starter's colour first, then clockwise; colours that nobody plays come last."""
    return [new.colour(new.seats[k]) for k in new.order] + [
        i for i, c in enumerate(COLOURS) if c not in new.seats
    ]


def give_births(new: Position) -> None:
    """Every two of a colour on a cell get one more; the starter's colour first, fanatics last (D40,
    D42)."""
    lands = [n for n in new.world.lands if new.is_land(n) and not new.cell(n).taken]
    born: dict[str, list[tuple[str, int]]] = {}
    for i in colours_in_order(new):
        room = new.world.people(COLOURS[i]) - new.on_map("people", i)
        for name in lands:
            n = min(new.cell(name).people[i] // 2, room)
            if n > 0:
                room -= n
                born.setdefault(name, []).append((f"people:{COLOURS[i]}", n))
    room = new.fanatics_left()
    for name in lands:
        n = min(new.cell(name).fanatics // 2, room)
        if n > 0:
            room -= n
            born.setdefault(name, []).append(("fanatic", n))
    for name in lands:
        for kind, n in born.get(name, ()):
            cell = new.cell(name)
            if kind == "fanatic":
                new.put(name, fanatics=cell.fanatics + n)
            else:
                new.put(
                    name, people=add_pawns(cell.people, COLOURS.index(kind.partition(":")[2]), n)
                )
        if name in born:
            new.tell(
                say(
                    "born on {cell}: put {pieces} there", cell=name, pieces=pieces_words(born[name])
                ),
                (name,),
            )


def grow_forests(new: Position) -> None:
    """Two forests grow a third; one alone grows nothing (D41)."""
    for name in new.world.lands:
        cell = new.cell(name)
        if (
            new.is_land(name)
            and not cell.taken
            and len(cell.bare) == 1
            and new.forests(name) == FORESTS - 1
        ):
            new.put(name, bare=())
            new.tell(say("a forest grows again on {cell}: take the card off", cell=name), (name,))


def count_bare_cells(new: Position) -> None:
    """Moves the counter one forward for each cell newly without forests (D44); flooded ones never
    count (D49)."""
    fresh = [
        n
        for n in new.world.lands
        if new.is_land(n) and not new.forests(n) and not new.cell(n).counted and new.world.spots[n]
    ]
    if not fresh:
        return
    squares = new.world.squares
    before = squares[min(new.counter, len(squares) - 1)] if squares else ""
    for name in fresh:
        new.put(name, counted=True)
    new.counter += len(fresh)
    after = squares[min(new.counter, len(squares) - 1)] if squares else ""
    new.tell(
        say(
            "the counter goes to {n}: {cells} lost the last forest",
            n=new.counter,
            cells=", ".join(fresh),
        ),
        sites={before: (), after: ("counter",)} if after != before else None,
    )


# The water


def rise_next(new: Position) -> None:
    """The next rise that floods anything: its fanatics drown, then those who can flee do; without
    one the round ends."""
    while new.rising:
        rise, new.rising = new.rising[0], new.rising[1:]
        sinking = tuple(n for n in new.world.lands if new.world.rise[n] == rise and new.is_land(n))
        if not sinking:
            continue
        new.sinking = sinking
        for name in sinking:
            if new.cell(name).fanatics:
                n = new.cell(name).fanatics
                new.put(name, fanatics=0)
                new.tell(
                    say(
                        "fanatics drown on {cell}: take off {loss}",
                        cell=name,
                        loss=pieces_words([("fanatic", n)]),
                    ),
                    (name,),
                )
        new.phase, new.at = FLIGHT, 0
        new.arrived = {}
        go_on_fleeing(new)
        return
    end_or_go_on(new)


def can_flee(new: Position, seat: str) -> bool:
    """Whether a seat has a pawn on a sinking cell that can go somewhere (D48)."""
    i = new.colour(seat)
    for name in new.sinking:
        cell = new.cell(name)
        if not cell.soldiers[i] and not cell.people[i]:
            continue
        targets = possible_refuges(new, i, name)
        if (
            cell.soldiers[i]
            and targets
            or cell.people[i]
            and not cell.slaves()[i]
            and any(targets.values())
        ):
            return True
    return False


def go_on_fleeing(new: Position) -> None:
    """The next seat in order that can still flee, with a second pass if departing soldiers have set
    others free; once nobody can, the water comes."""
    for _ in new.seats:
        if can_flee(new, new.seats[new.active]):
            return
        new.at = (new.at + 1) % len(new.seats)
    for name in new.sinking:
        cell = new.cell(name)
        lost = [(f"people:{c}", n) for c, n in zip(COLOURS, cell.people)]
        lost += [(f"soldier:{c}", n) for c, n in zip(COLOURS, cell.soldiers)]
        lost += [("mine", cell.mines), ("bare", len(cell.bare))]
        new.put(name, people=NONE, soldiers=NONE, mines=0, bare=(), flooded=True, taken=False)
        if any(n for _, n in lost):
            new.tell(
                say(
                    "{cell} is flooded: put a blue card there, take off {loss}",
                    cell=name,
                    loss=pieces_words(lost),
                ),
                (name,),
            )
        else:
            new.tell(say("{cell} is flooded: put a blue card there", cell=name), (name,))
    new.sinking, new.at = (), 0
    rise_next(new)


def end_or_go_on(new: Position) -> None:
    """Fourteen cells: the end (D50). Otherwise the left neighbour of this round's starter begins
    the next (D9)."""
    if new.counter >= END:
        new.phase = OVER
        new.tell(say("the counter stands at {n}: the game is over", n=new.counter))
        return
    new.phase, new.at, new.round = MOVEMENT, 0, new.round + 1
    new.starter = (new.starter + 1) % len(new.seats)
    new.arrived, new.worked = {}, {}
