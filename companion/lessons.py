"""Puts views of the table aside to learn from: where every site is read as the rules have it, and the game has moved on since."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np

from calibration.learning import KEPT, keep
from calibration.workers import free_mb
from companion.table import Table
from companion.verdict import MOVED, SAME, Verdict
from engine.layout import Layout, same_contents
from vision.evidence import Evidence

SURE = 0.5      # least probability of every site of a view
ROOM = 700      # MB that must be free: fitting takes so much, and must not cost the table its memory


class Lessons:
    """Told of every settled look; keeps at most so many views a game. A full disk or a folder that may not be written to ends
    the keeping, never the game."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.left, self.over = folder, KEPT, False
        self._waiting: tuple[int, np.ndarray, Layout] | None = None

    def look(self, table: Table, verdict: Verdict, evidence: Evidence, image: np.ndarray) -> None:
        event = table.lines[-1].event
        if self._waiting and self.left and verdict.verdict == MOVED and not verdict.undo and event > self._waiting[0]:
            try:
                keep(self.folder, self._waiting[1], self._waiting[2])
                self.left -= 1
            except OSError:
                self.left = 0
            self._waiting = None
        if self.left and verdict.verdict in (SAME, MOVED) and agreed(table, evidence):
            self._waiting = event, image.copy(), {s: tuple(c) for s, c in table.state.layout().items() if c}
        elif verdict.verdict not in (SAME, MOVED):
            self._waiting = None
        if table.state.outcome() is not None and not self.over:
            self.over = True
            learn_beside(self.folder)


def agreed(table: Table, evidence: Evidence) -> bool:
    """Whether every site is read, with some surety, as the rules have it"""
    layout = table.state.layout()
    for site, e in evidence.sites.items():
        if site in table.optional:
            continue
        if e.foreign or not e.options or e.options[0][1] < math.log(SURE) or \
                not same_contents(layout.get(site, ()), e.best, table.reads[site]):
            return False
    return True


def learn_beside(folder: Path) -> subprocess.Popen | None:
    """`nilometer learn` in a process of its own and of low priority, once the game is over: nobody waits for it. What came of it is
    told where the table tells things: in the terminal, or the service's log."""
    if free_mb() < ROOM:
        return None
    try:
        return subprocess.Popen(["nice", "-n", "19", sys.executable, "-m", "companion.cli", "learn", str(folder)],
                                start_new_session=True)
    except OSError:
        return None
