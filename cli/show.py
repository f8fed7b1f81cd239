"""A game played by simulated hands in front of the simulated camera. Counts what the table gets
wrong."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import cv2
import msgspec

from companion.explain.verdict import BUSY, ILLEGAL, UNCLEAR
from companion.simulate import Director
from companion.simulate.players import Players, looks_alike, true_answer, wrong_doing
from companion.table.table import Gone, Refused, Table
from engine import Action, BadText, IllegalAction, State

PATIENCE = 12.0  # seconds the table may take to find an action before it counts as missed ...
# ... and this many pictures, so that a slow, busy machine is not counted as missing actions
PICTURES = 30
MOST = 120.0  # seconds for which it may be that slow


class Summary(msgspec.Struct):
    """found, missed: actions; caught, overlooked: illegal actions; alarms: a legal board called
    illegal."""

    found: int = 0
    missed: int = 0
    caught: int = 0
    overlooked: int = 0
    alarms: int = 0
    seconds: float = 0.0
    faults: list[str] = []

    @property
    def holds(self) -> bool:
        return not (self.missed or self.overlooked or self.alarms)

    def words(self) -> str:
        return (
            f"{self.found} actions found, {self.missed} missed; "
            f"{self.caught} illegal ones noticed, {self.overlooked} overlooked; "
            f"{self.alarms} false alarms; {self.seconds:.0f} s"
        )


class Show:
    """Lets simulated players play on a director's table and compares what the table concludes.
    pictures: how many it has taken; keep: a folder for what the camera saw when a conclusion was
    wrong."""

    def __init__(
        self,
        table: Table,
        director: Director,
        pictures: Callable[[], int],
        seed: int = 0,
        pace: float = 1.0,
        mischief: float = 0.12,
        keep: Path | None = None,
    ) -> None:
        self.table, self.director, self.pace, self.mischief = table, director, pace, mischief
        self.players, self.rng = Players(seed), random.Random(seed + 1)
        self._stop = False
        self._pictures, self._keep = pictures, keep
        self._tell: Callable[[str], object] = lambda line: None

    def stop(self) -> None:
        self._stop = True

    def play(self, moves: int = 0, tell: Callable[[str], object] = lambda line: None) -> Summary:
        """Plays to the end, or until `moves` actions are done."""
        self._tell = tell
        out, start = Summary(), time.monotonic()
        self._wait(lambda: self.table.verdict.verdict == "same", out)
        while (
            not self._stop
            and self.table.state.outcome() is None
            and (not moves or out.found + out.missed < moves)
        ):
            if self.rng.random() < self.mischief:
                self._misbehave(out)
            turn = self.players.next(self.table.state, self._say)
            if turn.action is None:
                break
            before = len(self.table.lines)
            self.director.show(turn.layout)
            done = self._wait(partial(self._found, turn.action, turn.after), out)
            if done or self._stop:
                out.found += done
                for line in self.table.lines[before:]:
                    tell(f"{line.action}    {self.table.verdict.verdict}")
            else:
                out.missed += 1
                self._note(
                    out,
                    (
                        f"not found: {turn.action} ({self.table.verdict.verdict}: "
                        f"{self.table.verdict.text})"
                    ),
                )
                self.table.edit(turn.after, "show")
            self._pause(self.pace)
        outcome = self.table.state.outcome()
        if outcome is not None:
            tell(f"{outcome.reason}; winner: {', '.join(outcome.winners)}")
        out.seconds = time.monotonic() - start
        return out

    def _found(self, action: Action, want: State) -> bool:
        """Whether the table knows what was done. What it asks because no camera can see it (how
        something was paid) is answered, or declared if the true answer is not on offer."""
        if self.table.verdict.verdict == UNCLEAR:
            question = self.table.question_id
            # a later picture may have made the question go away
            with suppress(BadText, IllegalAction, Gone, Refused):
                choice = true_answer(self.table, lambda state: state.key() == want.key())
                if choice is not None:
                    self.table.answer(question, choice, "phone")
                elif true_answer(self.table, lambda s: s.layout() == want.layout()) is not None:
                    self.table.declare(str(action), "phone")
        return looks_alike(self.table.state, want) and self.table.verdict.verdict != BUSY

    def _noticed(self, site: str) -> bool:
        """Whether people are told about an illegal action: by the lamp, by a question about the
        site, or as something that lies there."""
        verdict = self.table.verdict
        shown = (
            verdict.verdict != BUSY
            and not verdict.actions
            and site in str(verdict.text).replace("?", "").replace(",", "").split()
        )
        return verdict.verdict == ILLEGAL or shown

    def _say(self, action: Action) -> State:
        try:
            self.table.declare(str(action), "phone")
        except Refused:
            pass
        return self.table.state

    def _note(self, out: Summary, fault: str) -> None:
        """Reports a wrong conclusion, and keeps the picture."""
        out.faults.append(fault)
        if self._keep is not None:
            self._keep.mkdir(parents=True, exist_ok=True)
            path = self._keep / f"{len(out.faults):03}.jpg"
            cv2.imwrite(str(path), self.director.picture())
            fault = f"{fault}; picture: {path}"
        self._tell(fault)

    def _misbehave(self, out: Summary) -> None:
        """Somebody does something illegal, sees the lamp, and puts it back."""
        state = self.table.state
        wrong = wrong_doing(state, self.rng)
        if wrong is None:
            return
        site, layout, rules = wrong
        self.director.show(layout)
        if self._wait(lambda: self._noticed(site), out, expected=True):
            out.caught += 1
            verdict = self.table.verdict
            broken = "; ".join(f"{v.rule} {v.text}" for v in verdict.violations)
            self._tell(
                f"against the rules on {site}: {broken or f'{verdict.verdict}: {verdict.text}'}"
            )
        else:
            out.overlooked += 1
            self._note(out, f"overlooked on {site}: {sorted(rules)} ({self.table.verdict.verdict})")
            if self.table.state != state:
                self.table.edit(state, "show")
        self._pause(self.pace)
        self.director.show(state.layout())
        self._wait(lambda: self.table.verdict.verdict not in (ILLEGAL, BUSY), out, expected=True)

    def _wait(self, holds: Callable[[], bool], out: Summary, expected: bool = False) -> bool:
        """Waits until it holds or patience runs out; an undeserved `illegal` is a false alarm.

        While somebody has broken the camera from the page, patience does not run out: the table
        must continue when it works again.
        """
        end, enough = time.monotonic() + PATIENCE, self._pictures() + PICTURES
        alarmed = False
        while not self._stop:
            late = time.monotonic() - end
            if late > 0 and (self._pictures() >= enough or late > MOST):
                break
            if holds():
                return True
            if not expected and not alarmed and self.table.verdict.verdict == ILLEGAL:
                alarmed = True
                out.alarms += 1
                self._note(
                    out,
                    (
                        f"false alarm: "
                        f"{'; '.join(f'{v.rule} {v.text}' for v in self.table.verdict.violations)}"
                    ),
                )
            self.table.wait(self.table.version, 0.1)
            if self.director.disturbed:
                end = time.monotonic() + PATIENCE
        return False

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._stop and time.monotonic() < end:
            time.sleep(0.05)
