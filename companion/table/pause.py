"""A game that begins, or is taken up again after a long time: the board is laid out, and nobody
makes a move by that."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from companion.explain.hypothesis import Look
from companion.explain.verdict import ILLEGAL, UNCLEAR, UNFINISHED, Verdict
from companion.table.journal import Event
from engine import State
from engine.layout import Contents, Layout
from vision.evidence.site_evidence import Evidence

LONG = 30 * 60.0  # seconds without an event after which people may have cleared the board away
CLEAR = 4.0  # nats by which the picture must prefer other contents: a poor reading is no difference


class Pause(msgspec.Struct, frozen=True):
    """since: when the last event was, seconds since 1970; None: the game has not begun. differs:
    site -> (what should lie there, what is seen); None till the camera has seen the board."""

    since: float | None
    differs: dict[str, tuple[Contents, Contents]] | None = None

    def compared(
        self,
        state: State,
        evidence: Evidence,
        reads: dict[str, str],
        optional: frozenset[str],
        excused: Layout,
    ) -> Pause:
        """The pause with the places that now lie otherwise than the game left them."""
        look = Look(evidence, reads, optional, excused)
        layout, out = state.layout(), {}
        for site in evidence.sites:
            want, seen = layout.get(site, ()), look.best(site)
            if (
                seen is not None
                and look.logp(site, want) < -CLEAR
                and not state.shows_same(site, want, seen, reads.get(site, "pile"))
            ):
                out[site] = (want, seen)
        return msgspec.structs.replace(self, differs=out)

    def holds(self, verdict: Verdict) -> bool:
        """Whether it goes on: who just plays on ends it, and so does a board laid out as it was. A
        board that shows an earlier
        moment of the game is not laid out whole: nobody thinks a move over after a week."""
        waits = verdict.verdict == UNFINISHED and not verdict.actions
        return waits or verdict.verdict in (ILLEGAL, UNCLEAR) or bool(verdict.undo)


def resumed_pause(events: Sequence[Event]) -> Pause | None:
    """The pause that a journal's game comes out of; None for a game that has not begun or has just
    been played."""
    moved = any(e.kind == "action" for e in events)
    return Pause(events[-1].at) if moved and time.time() - events[-1].at > LONG else None
