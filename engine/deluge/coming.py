"""What happens next automatically, in words for the page: bare cells, births, and the water with
everybody in its way."""

from __future__ import annotations

from engine.deluge import cycle
from engine.deluge.legal import possible_refuges
from engine.deluge.position import OVER, Position
from engine.deluge.words import COLOURS, RISES, pieces_words, seat_name
from engine.text import Text, say


def coming_events(state: Position) -> list[Text]:
    """What happens next automatically: cells about to become bare, births, water."""
    if state.phase == OVER:
        return []
    out: list[Text] = []
    open_cells = [
        c
        for c in state.world.lands
        if state.is_land(c) and not state.cell(c).counted and state.world.spots[c]
    ]
    barren = [c for c in open_cells if not state.forests(c)]
    last = [c for c in open_cells if state.forests(c) == 1]
    if barren:
        out.append(say("bare at the end of this round: {cells}", cells=", ".join(barren)))
    if last:
        out.append(
            say("one forest, which will not grow again, is left on {cells}", cells=", ".join(last))
        )
    return out + _coming_water(state, len(barren))


def _coming_water(state: Position, more: int) -> list[Text]:
    """The next rise: what it floods, who stands there and where they could go (D45 to D48)."""
    lands = [c for c in state.world.lands if state.is_land(c)]
    for mark, number in sorted(RISES.items()):
        sinking = tuple(c for c in lands if state.world.rise[c] == number)
        if sinking or state.counter + more < mark:
            break
    else:
        return []
    out = [
        say(
            "at {mark} the water takes {cells}",
            mark=mark,
            cells=", ".join(sinking) or say("nothing"),
        )
    ]
    then = state.copy()
    then.sinking = sinking
    return out + [text for cell in sinking for text in _in_its_way(then, cell)]


def _in_its_way(state: Position, name: str) -> list[Text]:
    cell, out = state.cell(name), []
    slaves = cell.slaves()
    for i, colour in enumerate(COLOURS):
        goes = possible_refuges(state, i, name)
        free = cell.people[i] - slaves[i]
        for kind, n, targets in (
            (f"people:{colour}", free, [t for t, people in goes.items() if people]),
            (f"soldier:{colour}", cell.soldiers[i], list(goes)),
        ):
            if n:
                out.append(
                    say(
                        "{pieces} on {cell} could flee to {cells}",
                        pieces=pieces_words([(kind, n)]),
                        cell=name,
                        cells=", ".join(targets) or say("nowhere"),
                    )
                )
        if slaves[i]:
            out.append(
                say(
                    "slaves on {cell}: {pieces}; they flee with soldiers only",
                    pieces=pieces_words([(f"people:{colour}", slaves[i])]),
                    cell=name,
                )
            )
    if cell.fanatics:
        out.append(
            say(
                "{pieces} on {cell} will drown",
                pieces=pieces_words([("fanatic", cell.fanatics)]),
                cell=name,
            )
        )
    return out


def coming_births(state: Position) -> list[tuple[str, Text]]:
    """(cell, who is born there) if the round ended now."""
    after = state.copy()
    cycle.give_births(after)
    out = []
    for name in state.world.lands:
        old, new = state.cell(name), after.cell(name)
        born = [(f"people:{c}", b - a) for c, a, b in zip(COLOURS, old.people, new.people)]
        born.append(("fanatic", new.fanatics - old.fanatics))
        if any(n for _, n in born):
            out.append((name, pieces_words(born)))
    return out


def who_may_flee(state: Position) -> list[Text]:
    """The seats that may still flee from the water."""
    return [
        say("{seat} can still flee", seat=seat_name(s))
        for s in state.seats
        if cycle.can_flee(state, s)
    ]
