"""Sets views of the table aside to learn from: those in which what the rules expect fits everything
that is seen, and after which the game has moved on. The views kept of a game are the most
informative ones, whose contents were read with most doubt."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np

from calibration.learning import DOUBTED, VIEWS_KEPT, keep_view
from calibration.workers import free_mb
from companion.explain.verdict import MOVED, SAME, Verdict
from companion.table.table import Table
from engine.layout import Layout
from vision.evidence.site_evidence import Evidence

# MB that must be free: fitting takes this much, and must not deprive the table of memory
ROOM = 700


class Lessons:
    """Told about every settled look; keeps at most a fixed number of views per game. A full disk or
    a read-only folder ends the keeping, never the game."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ended, self.over = folder, False, False
        # this game's views: name -> how much can be learnt from it
        self.kept: dict[str, float] = {}
        self._waiting: tuple[int, float, np.ndarray, Layout] | None = None

    def look(self, table: Table, verdict: Verdict, evidence: Evidence, image: np.ndarray) -> None:
        """Sets a settled view aside if the game has agreed with what it shows."""
        event = table.lines[-1].event
        if (
            self._waiting
            and not self.ended
            and verdict.verdict == MOVED
            and not verdict.undo
            and event > self._waiting[0]
        ):
            self._keep(*self._waiting[1:])
            self._waiting = None
        says = (
            surprise_of(table, evidence)
            if not self.ended and verdict.verdict in (SAME, MOVED)
            else None
        )
        if says is not None:
            self._waiting = (
                event,
                says,
                image.copy(),
                {s: tuple(c) for s, c in table.state.layout().items() if c},
            )
        elif verdict.verdict not in (SAME, MOVED):
            self._waiting = None
        if table.state.outcome() is not None and not self.over:
            self.over = True
            learn_beside(self.folder)

    def _keep(self, says: float, image: np.ndarray, layout: Layout) -> None:
        least = min(self.kept, key=self.kept.__getitem__) if len(self.kept) == VIEWS_KEPT else None
        if least is not None and says <= self.kept[least]:
            return
        try:
            name = keep_view(self.folder, image, layout, least)
        except OSError:
            self.ended = True
            return
        if least is not None:
            del self.kept[least]
        self.kept[name] = says


def surprise_of(table: Table, evidence: Evidence) -> float | None:
    """How much a reader could learn from this view, in nats: the sum over all sites of
    -log(probability) of what the rules expect. None if that is implausible on some site, or if
    something else lies there."""
    layout, surprise = table.state.layout(), 0.0
    for site, e in evidence.sites.items():
        if site in table.optional:
            continue
        given = e.logp(layout.get(site, ()), table.reads[site])
        if e.foreign or given < math.log(DOUBTED):
            return None
        surprise -= given
    return surprise


def learn_beside(folder: Path) -> subprocess.Popen | None:
    """Runs `nilometer learn` in a low-priority process of its own once the game is over; nobody
    waits for it. Its result appears where the table reports things: in the terminal, or the
    service's log."""
    if free_mb() < ROOM:
        return None
    try:
        return subprocess.Popen(
            ["nice", "-n", "19", sys.executable, "-m", "cli", "learn", str(folder)],
            start_new_session=True,
        )
    except OSError:
        return None
