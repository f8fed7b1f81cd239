"""The table: the state, its journal, what was concluded last, and everybody who follows it."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import cv2
import msgspec
import numpy as np

import engine
from companion.explain.hypothesis import UNKNOWN, Hypothesis, legal_run
from companion.explain.ranking import sure_readings
from companion.explain.reconcile import Context, Reconciliation
from companion.explain.sentences import sentence_of
from companion.explain.verdict import (
    BUSY,
    ILLEGAL,
    MOVED,
    SAME,
    UNCLEAR,
    UNFINISHED,
    Question,
    ToDo,
    Verdict,
    mend_text,
)
from companion.explain.wording import decision_question, todos_of
from companion.table.journal import (
    CAMERA,
    GUESS,
    BadJournal,
    Journal,
    Line,
    fold_events,
    setting_hash,
    state_hash,
)
from companion.table.pause import Pause, resumed_pause
from companion.table.persistent_misreads import PersistentMisreads
from companion.table.snapshot import result_json, table_snapshot
from engine import Action, BadText, State, Text, Violation, say
from engine.layout import Contents, Layout
from engine.plan import Plan
from vision.evidence.site_evidence import Evidence

MEMORY = 60  # how many events back an overlooked action may be inserted


class Sight(Protocol):
    """The camera's pictures, for people to look at."""

    def now(self) -> bytes | None:
        """What the camera sees, as a JPEG; None if there is no picture yet."""

    def place(self, site: str) -> bytes | None:
        """A site and its surroundings in the last settled view, as a JPEG."""


class Refused(ValueError):
    """A declared action that the rules forbid; carries the violations."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        self.violations = tuple(violations)
        super().__init__("; ".join(f"{v.rule}: {v.text}" for v in violations))


class Gone(ValueError):
    """An answer or undo that refers to something that no longer exists."""


class Table:
    """One game being played. All methods may be called from any thread.

    laid_out: False if people still have to lay out the game; until the board shows its beginning,
    nothing is illegal. state: where to begin, unless the journal already holds a game, which then
    continues. Raises BadJournal.
    """

    def __init__(
        self,
        state: State | None,
        journal: Journal | None = None,
        plan: Plan | None = None,
        settings: Mapping[str, Any] | None = None,
        laid_out: bool = True,
    ) -> None:
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self.journal = journal or Journal()
        self.version = 1
        self.camera: dict[str, Any] = {"state": "ok", "by": None, "error_px": None, "fps": None}
        self.trouble: Text | None = None
        self.machine: tuple[Text, ...] = ()  # what the host should know about the computer
        self.settings: dict[str, Any] = {"hidden_scores": False, **(settings or {})}
        self._before: bytes | None = None
        # moves as the snapshot shows them, by event
        self.move_data: dict[int, tuple[Line, dict[str, Any]]] = {}
        self._seen: Layout = {}
        self._excused: Layout = {}  # what people said is misread, site -> contents
        self._last: Evidence | None = None  # the last settled view
        self._sure: Layout = {}  # what was last read beyond doubt
        self._misreads = PersistentMisreads()
        self.sight: Sight | None = None  # what the camera sees, if there is one
        self._asked = 0
        self.question: Question | None = None
        events = self.journal.events()
        self.pause: Pause | None = resumed_pause(events)
        # what was taken back since the last action and can be redone; the last first
        self._undone: list[list[Line]] = []
        if events:
            self._lines = fold_events(events, plan, name=self.journal.path, undone=self._undone)
            if not self._lines:
                raise BadJournal(f"{self.journal.path}: no game in it")
            self._stand(self._lines)
            self._seen, self._excused = (
                self.journal.contents("seen"),
                self.journal.contents("misread"),
            )
            for e in events:
                if e.kind == "setting":
                    self.settings.update(e.data)
        elif state is None:
            raise BadJournal(f"{self.journal.path}: no game in it yet")
        else:
            data = {"game": state.game, "state": state.to_json()}
            [first] = self.journal.append([("start", data, "table", state_hash(state))])
            self._lines = [Line(first, None, state)]
        start = self.journal.events()[0]
        self.began = f"{start.at:.3f} {start.hash}"  # distinguishes this game from all others
        self.game = engine.game(self.state.game)
        self.plan: Plan = plan or getattr(self.state, "plan", None) or self.game.plan()
        self.reads = {s.id: s.reads for s in self.plan.sites.values()}
        self.optional = frozenset(s.id for s in self.plan.sites.values() if s.optional)
        if not laid_out and len(self._lines) == 1:
            self.pause = Pause(None)
        self.verdict = Verdict(SAME, self.state, seen=self._seen, text=say("ready"))
        self._ask(None)

    @property
    def state(self) -> State:
        """The state after the last event."""
        return self._lines[-1].state

    @property
    def question_id(self) -> str:
        """The id by which the open question is answered."""
        return f"q{self._asked}"

    @property
    def lines(self) -> tuple[Line, ...]:
        """What stands: the start and every action since that was not taken back."""
        with self._lock:
            return tuple(self._lines)

    @property
    def undone(self) -> tuple[Line, ...]:
        """What the last undo took back, as long as nothing has been done since; `redo` does it
        again."""
        with self._lock:
            return tuple(self._undone[-1]) if self._undone else ()

    def try_writing(self) -> None:
        """Writes to the journal at the start, so that a full or read-only disk is reported now and
        not with the first move that cannot be stored."""
        with self._lock, contextlib.suppress(BadJournal):
            self._write([], {"opened": f"{time.time():.0f}"})

    # What the camera sees

    def look(
        self,
        evidence: Evidence,
        image: np.ndarray | None = None,
        whole: Callable[[], Evidence] | None = None,
    ) -> Verdict:
        """Draws conclusions from a settled view, writes what happened to the journal and notifies
        everybody.

        whole: reads all sites afresh, with an empty cache; it is called before anybody is alarmed
        or asked.
        """
        verdict, event = self._looked(evidence, whole)
        if image is not None and verdict.verdict in (SAME, MOVED, UNFINISHED):
            # this takes time; people have been told by now, and nobody waits for the lock
            self._before = jpeg_of(image)
            if event is not None and self._before:
                self.journal.keep_picture(event, "after", self._before)
        return verdict

    def _looked(
        self, evidence: Evidence, whole: Callable[[], Evidence] | None
    ) -> tuple[Verdict, int | None]:
        """The verdict, and the last event that it added."""
        with self._lock:
            paused = self.pause is not None
            verdict = self._concluded(evidence)
            asking = verdict.question is not None and bool(verdict.question.seen)
            alarming = verdict.verdict in (ILLEGAL, UNCLEAR)
            if (alarming or asking) and evidence.busy is None and whole is not None:
                evidence = whole()
                verdict = self._concluded(evidence)
            if self.pause is not None:
                verdict = self._after_a_pause(verdict, evidence)
            if evidence.busy is None:
                self._last = evidence
                self._sure |= sure_readings(evidence)
                self._drop_excuses(evidence)
            registration = evidence.registration
            self.camera = {
                **self.camera,
                "state": "ok",
                "by": registration.by,
                "error_px": round(registration.error_px, 2),
            }
            event = self._record(verdict)
            if not self._is_known(verdict, paused, evidence.busy is not None):
                self._conclude(verdict)
            return verdict, event

    def _drop_excuses(self, evidence: Evidence) -> None:
        """Excuses only the sites that still show what people said is misread there. Raises
        BadJournal."""

        def still_misread(site: str, contents: Contents) -> bool:
            found = evidence.sites.get(site)
            return found is None or found.foreign or found.best == contents

        self._excuse({s: c for s, c in self._excused.items() if still_misread(s, c)})

    def _record(self, verdict: Verdict) -> int | None:
        """Writes what was concluded to the journal, if it is certain enough and anything has
        changed; the last event of a move. Raises BadJournal."""
        changed = verdict.actions or verdict.undo or dict(verdict.seen) != dict(self._seen)
        if not changed or verdict.verdict not in (MOVED, UNFINISHED, SAME):
            return None
        by = CAMERA if verdict.certain else GUESS
        ids = self._settle([str(a) for a in verdict.actions], verdict.undo, verdict.seen, by)
        return ids[-1] if ids and verdict.verdict != SAME else None

    def _is_known(self, verdict: Verdict, paused: bool, busy: bool) -> bool:
        """Whether people have been told just this already. paused: the game was until now; busy: a
        hand is in the way."""
        if verdict.verdict != self.verdict.verdict:
            return False
        if verdict.verdict == SAME:
            return self.trouble is None and not paused
        return busy and verdict.text == self.verdict.text

    def _after_a_pause(self, verdict: Verdict, evidence: Evidence) -> Verdict:
        """The verdict while the board is being laid out as it was: nothing that lies there is a
        move or breaks a rule. Hands come and go then; what is left to do stands meanwhile."""
        assert self.pause is not None
        if evidence.busy is None:
            pause = self.pause.compared(
                self.state, evidence, self.reads, self.optional, self._excused
            )
            self.pause = pause if pause.holds(verdict) else None
        if self.pause is None or not self.pause.differs:
            return verdict
        return Verdict(UNFINISHED, self.state, seen=self._seen, text=self.pause.text)

    def go_on(self, by: str = "host") -> Verdict:
        """Ends the pause, however the board lies; what is seen counts again. Raises BadJournal."""
        with self._lock:
            self.pause = None
            if self._last is not None:
                return self.look(self._last)
            self._tell()
            return self.verdict

    def _concluded(self, evidence: Evidence) -> Verdict:
        """The verdict on a view. Sites that were never read correctly are reported, but what people
        do elsewhere is still found."""
        past = self._past()
        who = [line.by for line in reversed(self._lines[-MEMORY:])]
        said = frozenset(n for n, by in enumerate(who) if by not in (CAMERA, GUESS))
        guessed = frozenset(n for n, by in enumerate(who) if by == GUESS)

        def verdict_on(excused: Layout) -> Verdict:
            context = Context(
                game=self.game,
                past=past,
                seen=self._seen,
                reads=self.reads,
                optional=self.optional,
                excused=excused,
                sure=self._sure,
                said=said,
                guessed=guessed,
            )
            return Reconciliation(context, evidence).verdict()

        verdict = verdict_on(self._excused)
        # what has not been laid out yet is not a misreading
        if evidence.busy is None and self.pause is None:
            self._misreads.note_view(self.state, evidence, self.reads, self._seen)
            odd = self._misreads.sites
            if verdict.verdict in (ILLEGAL, UNCLEAR) and odd:
                apart = verdict_on({**self._excused, **odd})
                if apart.verdict in (MOVED, UNFINISHED):
                    self._misreads.accept_known()
                    return apart
                if apart.verdict == SAME and odd.keys() <= self._misreads.known:
                    return apart
        return verdict

    def _excuse(self, misread: Layout) -> None:
        """Sets what is taken to be misread from now on; survives a power cut. Raises BadJournal."""
        if misread != self._excused:
            self._write([], {"misread": _plain_layout(misread)})
            self._excused = misread

    def _write(
        self, entries: Sequence[tuple[str, dict, str, str]], meta: dict[str, str]
    ) -> list[int]:
        try:
            return self.journal.append(entries, meta)
        except BadJournal as e:
            self.trouble = say("the journal cannot be written: {fault}", fault=str(e))
            self._tell()
            raise

    def _settle(self, actions: Sequence[str], undo: int, seen: Layout | None, by: str) -> list[int]:
        """Records new actions and returns the ids of their events.

        seen: where the board is behind the state afterwards; None: nobody has looked, so the board
        shows what it showed before. The journal is written first, then memory: what could not be
        written did not happen. Raises BadJournal, IllegalAction, BadText.
        """
        lines = self._lines[: len(self._lines) - undo] if undo else list(self._lines)
        entries: list[tuple[str, dict, str, str]] = []
        if undo:
            entries.append(("undo", {"to": lines[-1].event}, by, state_hash(lines[-1].state)))
        new: list[tuple[str, State, str]] = []
        state = lines[-1].state
        # the authors of what is only done again
        before = {line.action: line.by for line in self._lines[len(lines) :]}
        for text in actions:
            state = state.apply(state.parse(text))
            new.append((text, state, before.get(text, by)))
            entries.append(("action", {"action": text}, new[-1][2], state_hash(state)))
        if seen is None:
            seen = self._behind(self.state.layout(), state)
        ids = self._write(
            entries,
            {"seen": _plain_layout(seen), "result": self._result(state, lines, len(actions))},
        )
        self.trouble = self.pause = None
        if undo or actions:
            self._undone = [] if actions else [*self._undone, self._lines[len(lines) :]]
        ids = ids[1:] if undo else ids
        self._stand(lines + [Line(i, text, st, who) for i, (text, st, who) in zip(ids, new)])
        self._seen = {s: tuple(c) for s, c in seen.items()}
        for i in ids[:1]:
            if self._before:
                self.journal.keep_picture(i, "before", self._before)
        return ids

    def _stand(self, lines: list[Line]) -> None:
        """What stands from now on. States that nothing seen is compared with any more keep only
        themselves, or a long game would take ever more memory."""
        self._lines = lines
        for line in lines[:-MEMORY]:
            line.state.forget()

    def _conclude(self, verdict: Verdict) -> None:
        self.verdict = verdict
        if verdict.verdict != BUSY:
            self._ask(verdict.question)
        self._tell()

    def _ask(self, question: Question | None) -> None:
        if question is None:
            question = decision_question(self.state)
        if question != self.question:
            self._asked += question is not None
            self.question = question

    # What people say

    def meant(self, text: str) -> tuple[Action, ...]:
        """The actions that declaring this would do: unspoken passes, then the action. Raises
        BadText, Refused."""
        with self._lock:
            state = self.state
            action = state.parse(text)
            if action.seat not in state.actors and state.chance():
                state = state.skip_chance()
            violations = state.check(action)
            passed = state.implied(action) if violations else ()
            if violations and not passed:
                raise Refused(violations)
            return (*passed, action)

    def declare(
        self, text: str, by: str = "script", meant: Sequence[Action] | None = None
    ) -> Verdict:
        """Does an action that people state in the action notation.

        meant: what it meant when it was decided whether they may. Raises Gone if it now means
        something else (others have acted since, and would be passed over), BadText, Refused,
        BadJournal; then nothing has changed.
        """
        with self._lock:
            actions, earlier = self.meant(text), self.state
            if meant is not None and [*map(str, actions)] != [*map(str, meant)]:
                raise Gone("others have acted since")
            before = earlier.layout()
            self._settle([str(a) for a in actions], 0, None, by)
            verdict = Verdict(
                MOVED,
                self.state,
                actions,
                seen=self._seen,
                text=sentence_of(earlier, actions) or say("nothing changed"),
                todo=self._todo_after_declaring(before),
            )
            if verdict.todo:
                verdict = msgspec.structs.replace(verdict, verdict=UNFINISHED)
            self._conclude(verdict)
            return verdict

    def _behind(self, before: Layout, state: State) -> Layout:
        """What the board still shows after a declared action changed the state's layout from
        `before` to this state's. If the last view already shows a site as it is now, the action was
        done before it was declared."""
        after = state.layout()
        seen: dict[str, Contents] = {s: before.get(s, ()) for s in {*before, *after}} | dict(
            self._seen
        )
        view = self._last.sites if self._last is not None else {}

        def shown(site: str, contents: Contents) -> bool:
            return state.shows_same(
                site, after.get(site, ()), contents, self.reads.get(site, "pile")
            )

        return {
            s: c
            for s, c in seen.items()
            if not shown(s, c) and not (s in view and shown(s, view[s].best))
        }

    def _todo_after_declaring(self, before: Layout) -> tuple:
        done = Hypothesis(
            state=self.state,
            layout=self.state.layout(),
            base=before,
            steps=tuple(self.state.steps),
        )
        return todos_of(self.game, done, self._seen, self._past())

    def guesses(self, site: str) -> list[Contents]:
        """What the reader thinks may lie on a site, likeliest first, from the last settled view."""
        with self._lock:
            found = self._last.sites.get(site) if self._last is not None else None
            return [c for c, _ in found.options] if found is not None else []

    def correct(
        self,
        site: str,
        contents: Contents,
        by: str = "script",
        allowed: Callable[[Action], bool] = lambda action: True,
    ) -> Verdict:
        """People say what lies on a site now: a legal action that leads to it is done, and the
        reader was wrong from then on.

        allowed: whether the person may do such an action. Raises Refused if no legal action leads
        there, BadJournal; then nothing has changed.
        """
        with self._lock:
            have = self.state.layout().get(site, ())
            found = self._last.sites.get(site) if self._last is not None else None
            excused = self._excused
            if found is not None:
                excused = {**excused, site: UNKNOWN if found.foreign else found.best}
            if self.state.shows_same(site, have, contents, self.reads.get(site, "pile")):
                self._excuse(excused)
                self._conclude(Verdict(SAME, self.state, seen=self._seen))
                return self.verdict
            broken: tuple[Violation, ...] = ()
            for proposal in self.state.explain({site: (have, contents)}):
                if (
                    legal_run(self.state, proposal.actions)
                    and not proposal.belated
                    and all(map(allowed, proposal.actions))
                ):
                    before = self.state
                    self._excuse(excused)
                    self._settle([str(a) for a in proposal.actions], 0, None, by)
                    self._conclude(
                        Verdict(
                            MOVED,
                            self.state,
                            proposal.actions,
                            seen=self._seen,
                            text=sentence_of(before, proposal.actions) or say("nothing changed"),
                        )
                    )
                    return self.verdict
                broken = broken or proposal.violations
            raise Refused(broken)

    def _past(self) -> list[tuple[State, str | None]]:
        """The last states, newest first, each with the action that led there."""
        return [(line.state, line.action) for line in reversed(self._lines[-MEMORY:])]

    def answer(self, question_id: str, choice: int, by: str = "script") -> Verdict:
        """Answers the open question by the index of a choice. Raises Gone if that question is no
        longer open, Refused, BadJournal."""
        with self._lock:
            if (
                self.question is None
                or question_id != self.question_id
                or not 0 <= choice < len(self.question.answers)
            ):
                raise Gone("that question is no longer open")
            run = self.question.answers[choice]
            if run.misread:
                self._excuse({**self._excused, **self.question.seen})
            if run.run is None:
                todo = self._to_put_back(self.question)
                self.question = None
                if run.misread and self._last is not None:
                    return self.look(self._last)
                self._conclude(
                    Verdict(
                        UNFINISHED if todo else SAME,
                        self.state,
                        seen=self._seen,
                        todo=todo,
                        text=say("put it back as it was"),
                    )
                )
                return self.verdict
            try:
                self._settle(run.run, run.undo, None, by)
            except (engine.IllegalAction, BadText) as e:
                raise Refused(getattr(e, "violations", ())) from None
            self.question = None
            actions = tuple(
                line.state.parse(line.action)
                for line in self._lines[len(self._lines) - len(run.run) :]
                if line.action
            )
            self._conclude(
                Verdict(MOVED, self.state, actions, run.undo, seen=self._seen, text=run.text)
            )
            return self.verdict

    def _to_put_back(self, question: Question) -> tuple[ToDo, ...]:
        """What has to be done so that the board shows the state again, if the question was about
        something that lies there."""
        layout, wrong = self.state.layout(), self.verdict.wrong or question.seen
        return tuple(
            ToDo(
                say("take away what lies on {site}", site=s)
                if c == UNKNOWN
                else mend_text(s, c, layout.get(s, ()), self.game.kind_name),
                (s,),
            )
            for s, c in wrong.items()
        )

    def undo(self, event: int, by: str = "script", last: int | None = None) -> Verdict:
        """Goes back to how things stood after `event`; the board is compared with that state from
        the next look on.

        last: the last event when it was decided whether they may. Raises Gone for an event that
        does not stand, or if `last` is not the last any more; BadJournal.
        """
        with self._lock:
            at = next((i for i, line in enumerate(self._lines) if line.event == event), None)
            if at is None or last not in (None, self._lines[-1].event):
                raise Gone(f"event {event} does not stand any more")
            back, before = len(self._lines) - 1 - at, self.state.layout()
            if back:
                self._settle([], back, None, by)
            todo = self._todo_after_declaring(before)
            self._conclude(
                Verdict(
                    UNFINISHED if todo else MOVED,
                    self.state,
                    undo=back,
                    seen=self._seen,
                    todo=todo,
                    text=say("move taken back"),
                )
            )
            return self.verdict

    def redo(self, by: str = "script", first: int | None = None) -> Verdict:
        """Does again what the last undo took back.

        first: the first event of that when it was decided whether they may. Raises Gone if there
        is nothing, or something else; BadJournal.
        """
        with self._lock:
            if not self._undone or first not in (None, self._undone[-1][0].event):
                raise Gone("nothing was taken back")
            again = self._undone[-1]
            state = again[-1].state
            entries: list[tuple[str, dict[str, Any], str, str]] = [
                ("action", {"action": line.action, "again": by}, line.by, state_hash(line.state))
                if line.action
                else (
                    "edit",
                    {"state": line.state.to_json(), "again": by},
                    line.by,
                    state_hash(line.state),
                )
                for line in again
            ]
            seen = self._behind(self.state.layout(), state)
            ids = self._write(
                entries,
                {
                    "seen": _plain_layout(seen),
                    "result": self._result(state, [*self._lines, *again]),
                },
            )
            self._undone = self._undone[:-1]
            again = [msgspec.structs.replace(line, event=i) for i, line in zip(ids, again)]
            self._stand(self._lines + again)
            self._seen, self.trouble, self.pause = dict(seen), None, None
            self._conclude(Verdict(MOVED, state, seen=self._seen, text=say("done again")))
            return self.verdict

    def instead(self, event: int, text: str, by: str = "script") -> Verdict:
        """Replaces a move by the one that was really meant and replays everything since. Raises
        Gone, Refused (also if a later move is then illegal), BadText, BadJournal."""
        with self._lock:
            at = next(
                (i for i, line in enumerate(self._lines) if line.event == event and line.action),
                None,
            )
            if at is None or any(line.action is None for line in self._lines[at:]):
                raise Gone(f"event {event} does not stand any more")
            before = self._lines[at - 1].state
            action = before.parse(text)
            later = [str(line.action) for line in self._lines[at + 1 :]]
            try:
                self._settle([str(action), *later], len(self._lines) - at, None, by)
            except engine.IllegalAction as e:
                raise Refused(e.violations) from None
            self._conclude(
                Verdict(
                    MOVED,
                    self.state,
                    (action,),
                    seen=self._seen,
                    text=say("corrected: {actions}", actions=sentence_of(before, [action]) or text),
                )
            )
            return self.verdict

    def edit(self, state: State, by: str = "host") -> None:
        """Continues from another state (the board edited by hand); the journal keeps both. Raises
        BadJournal."""
        with self._lock:
            [i] = self.journal.append(
                [("edit", {"state": state.to_json()}, by, state_hash(state))],
                {"seen": "{}", "result": self._result(state, self._lines)},
            )
            self._stand([*self._lines, Line(i, None, state)])
            self._undone, self.pause = [], None
            self._seen = {}
            self._conclude(Verdict(MOVED, state, text=say("corrected by hand")))

    def set(self, by: str = "host", **settings: Any) -> None:
        """Changes table settings (hidden_scores ...). Raises BadJournal."""
        with self._lock:
            result = self._result(self.state, self._lines, names=settings.get("names"))
            self.journal.append(
                [("setting", settings, by, setting_hash(self.state, settings))], {"result": result}
            )
            self.settings.update(settings)
            self._tell()

    def _result(
        self,
        state: State,
        lines: Sequence[Line],
        more: int = 0,
        names: Mapping[str, str] | None = None,
    ) -> str:
        moves = sum(line.action is not None for line in lines) + more
        return result_json(state, moves, self.settings.get("names", {}) if names is None else names)

    # Who follows it

    def camera_state(self, state: str, **more: Any) -> None:
        """Sets the camera's state: "ok", "lost", "covered", "dark", "frozen", and whatever else is
        known (fps)."""
        with self._lock:
            new = {**self.camera, "state": state, **more}
            if new != self.camera:
                self.camera = new
                self._tell()

    def tell_machine(self, texts: tuple[Text, ...]) -> None:
        """Sets what the host should know about the computer that runs the table; replaces what was
        said before."""
        with self._lock:
            if texts != self.machine:
                self.machine = texts
                self._tell()

    def _tell(self) -> None:
        self.version += 1
        self._changed.notify_all()

    def wait(self, version: int, timeout: float) -> int:
        """Blocks until the version differs from this one or the time is up; returns the current
        version."""
        end = time.monotonic() + timeout
        with self._changed:
            while self.version == version and (left := end - time.monotonic()) > 0:
                self._changed.wait(left)
            return self.version

    def snapshot(self) -> dict[str, Any]:
        """Everything a page shows, as plain JSON data; docs/reference/companion.md describes its
        form."""
        with self._lock:
            return table_snapshot(self)


def _plain_layout(contents: Layout) -> str:
    return json.dumps({s: list(c) for s, c in contents.items()})


def jpeg_of(image: np.ndarray, longest: int = 960) -> bytes | None:
    """A picture as JPEG, scaled so that its longer side has at most `longest` pixels."""
    scale = longest / max(image.shape[:2])
    small = (
        cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        if scale < 1
        else image
    )
    ok, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return data.tobytes() if ok else None
