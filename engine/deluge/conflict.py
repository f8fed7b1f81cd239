"""Conflicts and takeovers: what happens automatically on cells with pawns or ships of several
colours."""

from __future__ import annotations

from collections.abc import Iterable

from engine.deluge.cell import NONE, Four, fight_out
from engine.deluge.position import Position
from engine.deluge.words import COLOURS, pieces_words
from engine.text import Text, say


def settle_conflicts(new: Position, names: Iterable[str]) -> None:
    """Conflicts (D17 to D22) and takeovers (D32) on these cells, until nothing more happens
    there."""
    for name in names:
        cell = new.cell(name)
        if new.is_sea(name):
            if sum(1 for n in cell.ships if n) > 1:
                _fight_on_cell(new, name, "ships", cell.ships, "ship")
            continue
        if cell.taken:
            continue
        if sum(1 for n in cell.soldiers if n) > 1:
            _fight_on_cell(new, name, "soldiers", cell.soldiers, "soldier")
        cell = new.cell(name)
        if not any(cell.soldiers) and sum(1 for n in cell.people if n) > 1:
            _fight_on_cell(new, name, "people", cell.people, "people")
        take_over(new, name)


_CLASH = {
    "ships": say("ships fight on {cell}: take off {loss}"),
    "soldiers": say("soldiers fight on {cell}: take off {loss}"),
    "people": say("civil war on {cell}: take off {loss}"),
}


def _fight_on_cell(new: Position, name: str, field: str, before: Four, piece: str) -> None:
    after = fight_out(before)
    new.put(name, **{field: after})
    _cap_arrived(new, name)
    loss = pieces_words([(f"{piece}:{c}", b - a) for c, b, a in zip(COLOURS, before, after)])
    new.tell(Text(_CLASH[field].template, {"cell": name, "loss": loss}), (name,))


def _cap_arrived(new: Position, name: str) -> None:
    """Caps the pawns that have moved at the pawns there are."""
    if name in new.arrived:
        cell = new.cell(name)
        new.arrived[name] = tuple(  # type: ignore
            tuple(min(a, b) for a, b in zip(came, have))
            for came, have in zip(new.arrived[name], (cell.people, cell.soldiers, cell.ships))
        )


def take_over(new: Position, name: str) -> None:
    """If there are more fanatics than other pawns, the cell is theirs for good and the others are
    lost (D32)."""
    cell = new.cell(name)
    if cell.taken or not new.is_land(name) or cell.fanatics <= cell.pawns:
        return
    gone = [(f"people:{c}", n) for c, n in zip(COLOURS, cell.people)]
    gone += [(f"soldier:{c}", n) for c, n in zip(COLOURS, cell.soldiers)]
    new.lost = tuple(a + b for a, b in zip(new.lost, cell.soldiers))  # type: ignore
    new.put(name, people=NONE, soldiers=NONE, taken=True)
    new.arrived.pop(name, None)
    if cell.pawns:
        new.tell(
            say("fanatics take {cell}: take off {loss}", cell=name, loss=pieces_words(gone)),
            (name,),
        )
    else:
        new.tell(say("fanatics take {cell}", cell=name), (name,))
