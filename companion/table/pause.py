"""A game that begins, or is resumed after a long time: while the board is being laid out, nothing
on it is a move."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from companion.explain.hypothesis import Look
from companion.explain.verdict import ILLEGAL, UNCLEAR, UNFINISHED, Verdict
from companion.table.journal import Event
from engine import State, Text, say
from engine.layout import Contents, Layout
from vision.evidence.site_evidence import Evidence

LONG = 30 * 60.0  # seconds without an event after which people may have cleared the board away
# nats by which the picture must prefer other contents; a poor reading is not a difference
CLEAR = 4.0


class Pause(msgspec.Struct, frozen=True):
    """since: the time of the last event, in seconds since 1970; None: the game has not begun.
    differs: site -> (what should lie there, what is seen); None until the camera has seen the
    board."""

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
        """The pause with the sites that now differ from what the game left there."""
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

    @property
    def text(self) -> Text:
        """What people have to do now: take away what does not belong there (what lay there for the
        calibration's photos), then lay out what is missing."""
        if self.since is not None:
            return say("lay the board out as it was")
        n = sum(bool(seen) for _, seen in (self.differs or {}).values())
        if n > 1:
            return say(
                "the board is not laid out yet: take away what does not belong on {n} places", n=n
            )
        if n:
            return say("the board is not laid out yet: take away what does not belong on one place")
        return say("the board is not laid out yet")

    def holds(self, verdict: Verdict) -> bool:
        """Whether the pause continues. It ends if people simply play on, or once the board is laid
        out as it was. A board that shows an earlier moment of the game is not laid out completely:
        nobody reconsiders a move after a week."""
        waits = verdict.verdict == UNFINISHED and not verdict.actions
        return waits or verdict.verdict in (ILLEGAL, UNCLEAR) or bool(verdict.undo)


def resumed_pause(events: Sequence[Event]) -> Pause | None:
    """The pause with which a journal's game resumes; None if the game has not begun or was played
    just now."""
    moved = any(e.kind == "action" for e in events)
    return Pause(events[-1].at) if moved and time.time() - events[-1].at > LONG else None
