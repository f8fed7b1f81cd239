"""The first evening, as a conversation on the phone: which game, who sits where, which rules, which
copy; its calibration; and at the end the configuration that `nilometer run` continues with."""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np

import engine
from calibration.copy import BadCopy, BadCorners, game_plan
from calibration.files import write_whole
from calibration.fit import Report
from calibration.framing import Bare, Framing, judge_framing
from calibration.session import Corners, Session, begun_in
from companion.fault import Fault
from companion.runtime.config import settings_of
from companion.runtime.copies import read_name
from companion.runtime.half_learnt import mark_half_learnt, mark_learnt
from companion.runtime.lens import Fixed, Lens, keep_focus
from companion.setup.mirrored import shows_mirrored_cards
from companion.setup.reaching_in import StillPictures, arms_across_edge
from companion.setup.sampler_layouts import one_more_layout, sampler_layouts
from engine import BadText, Statement, Text, say
from engine.text import pack_text
from vision.plan import BadPlan, load_plan
from vision.storage.photo_file import BadPhoto

STIRRED = 12.0  # grey levels by which a part of the picture differs from the previous one: a hand
LEARNS = "calibrate"  # name of the training thread, which may continue during the game
BESIDE = 10  # its niceness, in favour of the page and of a game in progress
WIDEST = 1000  # width of the empty board in pictures of what to lay

log = logging.getLogger(__name__)

Picture = Callable[[], tuple["np.ndarray | None", str]]


class NotSo(ValueError):
    """Something that cannot be done as requested; carries the sentence that says why."""

    def __init__(self, text: Text) -> None:
        self.text = text
        super().__init__(str(text))


class Setup:
    """What has been answered so far. All methods may be called from any thread; what cannot be done
    raises NotSo.

    path: the configuration to write, or to complete; copies are folders next to it. picture: what
    the camera sees now, or why there is no picture. camera: the `[camera]` section to write.
    cameras: those that can be chosen instead (hardware/found.py), with `look_through`. lens: that
    of the camera.
    """

    def __init__(
        self,
        path: str | Path,
        picture: Picture,
        camera: Mapping[str, Any],
        cameras: Sequence[Mapping[str, Any]] = (),
        look_through: Callable[[Mapping[str, Any]], object] = lambda camera: None,
        lens: Lens | None = None,
    ) -> None:
        self.path, self.folder, self._picture, self._camera = (
            Path(path),
            Path(path).resolve().parent,
            picture,
            dict(camera),
        )
        self._cameras, self._look_through, self._lens = list(cameras), look_through, lens or Fixed()
        # before and after the lens found its focus again
        self.sharper: tuple[tuple[np.ndarray, float], ...] = ()
        self._lock = threading.RLock()
        self._small: np.ndarray | None = None  # the previous picture, (18, 24) grey levels
        self._still = StillPictures()
        self.version = 1
        self.game: engine.Game | None = None
        # instead: the folder of a board without rules, with its plan.toml
        self.board: Path | None = None
        self.seats: list[str] = []
        self.options: dict[str, str] = {}
        self.copy: str | None = None
        self.session: Session | None = None
        self.framing: Framing | None = None
        self.progress: tuple[str, float] | None = None
        self._began = 0.0  # when training began, monotonic clock
        self.report: Report | None = None
        self.fault: str | None = None
        self.written = threading.Event()

    def choose(self, game: str, seats: Sequence[str], options: Mapping[str, str]) -> None:
        """Sets the game, who sits where (the first starts), and the options of its rules."""
        with self._lock:
            try:
                chosen = engine.game(game)
                chosen.setup(
                    list(seats), [Statement(0, ("option", k, v)) for k, v in options.items()]
                )
            except engine.UnknownGame:
                raise NotSo(say("there is no game called {game}", game=game[:40])) from None
            except BadText as e:
                raise NotSo(say("{reason}", reason=str(e).removeprefix("line 0: "))) from None
            if self.game is not chosen:
                self._stop_if_learning()
                self.copy = self.session = self.report = None
            self.game, self.board, self.seats, self.options = (
                chosen,
                None,
                list(seats),
                dict(options),
            )
            self.version += 1

    def boards(self) -> list[dict[str, str]]:
        """The boards of games without an engine whose plan.toml lies in a folder beside the
        configuration."""
        plans = ((path.parent, read_game(path)) for path in sorted(self.folder.glob("*/plan.toml")))
        return [
            {"folder": folder.name, "name": read_name(folder)[1]}
            for folder, game in plans
            if game is not None and game not in engine.games()
        ]

    def choose_board(self, folder: str) -> None:
        """Chooses one of these boards, to be photographed and read; nobody keeps its score."""
        with self._lock:
            if folder not in [b["folder"] for b in self.boards()]:
                raise NotSo(say("no board with its own plan is called {name}", name=folder[:80]))
            if self.board is None or self.board.name != folder:
                self._stop_if_learning()
                self.copy = self.session = self.report = None
            self.game, self.board, self.seats, self.options = None, self.folder / folder, [], {}
            self.version += 1

    def copies(self) -> list[dict[str, str]]:
        """The calibrated copies of the chosen game that lie beside the configuration."""
        found, chosen = [], self._plays
        for model in sorted(self.folder.glob("*/model.npz")):
            game, name = read_name(model.parent)
            if chosen is not None and game == chosen:
                found.append({"folder": model.parent.name, "name": name})
        return found

    def begun(self) -> list[dict[str, Any]]:
        """The copies of the chosen game that were photographed but not calibrated, because of a
        power cut or the late hour."""
        found, chosen = [], self._plays
        current = self.session.folder.name if self.session is not None else None
        for path in sorted(self.folder.glob("*/copy.toml")):
            data = (
                begun_in(path.parent)
                if chosen is not None and path.parent.name != current
                else None
            )
            if data is not None and data["game"] == chosen:
                name = str(data.get("name", path.parent.name))
                found.append(
                    {"folder": path.parent.name, "name": name, "photos": len(data["photo"])}
                )
        return found

    def go_on(self, folder: str) -> None:
        """Resumes a copy begun before; its photos are kept."""
        with self._lock:
            if folder not in [c["folder"] for c in self.begun()]:
                raise NotSo(say("no unfinished copy is called {name}", name=folder[:80]))
            self._stop_if_learning()
            try:
                self.session = Session.broken_off(self.folder / folder, sampler_layouts)
            except BadCopy as e:
                raise NotSo(say("{reason}", reason=str(e))) from None
            self.copy = self.report = self.fault = self.progress = None

    def use(self, folder: str) -> None:
        """Chooses a copy calibrated before."""
        with self._lock:
            if folder not in [c["folder"] for c in self.copies()]:
                raise NotSo(say("no calibrated copy is called {name}", name=folder[:80]))
            self._stop_if_learning()
            self.copy, self.session = folder, None

    def begin(self, name: str, markers: bool) -> None:
        """Begins a new copy, to be photographed now."""
        with self._lock:
            if self._plays is None:
                raise NotSo(say("choose a game first"))
            self._stop_if_learning()
            own = str(self.game.title) if self.game is not None else self._board().name
            name = name.strip()[:60] or own
            try:
                plan = (
                    load_plan(self._board() / "plan.toml")
                    if self.board is not None or self.game is None
                    else game_plan(self.game.name)
                )
                samplers = sampler_layouts(plan)
                folder = self._new_folder(name) if self.board is None else self._boards_folder(name)
            except (BadPlan, OSError) as e:
                raise NotSo(say("{reason}", reason=str(e))) from None
            self.session = Session(folder, plan, name, markers, samplers)
            self.copy = self.report = self.fault = self.progress = None

    @property
    def own_plan(self) -> Path | None:
        """The plan that was drawn for the copy being made, or supplied for the board; None: the
        game's."""
        folder = self.session.folder if self.session is not None else self.board
        path = folder / "plan.toml" if folder is not None else None
        return path if path is not None and path.is_file() else None

    def plan_drawn(self) -> None:
        """To be called when the copy's plan has been redrawn on its photo of the empty board."""
        with self._lock:
            session, path = self._open_session(), self.own_plan
            self._stop_if_learning()
            try:
                plan = load_plan(path or "plan.toml")
                session.use_plan(plan, sampler_layouts(plan))
            except (BadPlan, OSError) as e:
                raise NotSo(say("{reason}", reason=str(e))) from None
            self.copy = self.report = self.fault = None

    def see_with(self, number: int) -> None:
        """Switches to another of the cameras that were found."""
        with self._lock:
            if not 0 <= number < len(self._cameras):
                raise NotSo(say("there is no such camera"))
            self._look_through(self._cameras[number]["camera"])
            self._camera, self.framing, self.sharper = (
                dict(self._cameras[number]["camera"]),
                None,
                (),
            )

    def focus_again(self) -> None:
        """Lets the lens search for its focus, which takes seconds; `sharper` shows the result."""
        if not self._lens.focuses:
            raise NotSo(say("this camera's lens cannot be focused from here"))
        before = _middle_of(self.look()), self._sharpness()
        self._lens.focus_anew()
        self.sharper = before, (_middle_of(self.look()), self._sharpness())
        if self.session is not None and any(step.taken for step in self.session.steps):
            keep_focus(self.session.folder, self._lens.name, self._lens.focus)
        self.version += 1

    def look(self) -> np.ndarray:
        """The camera's picture, judged as it passes."""
        image, why = self._picture()
        if image is None:
            raise NotSo(say("the camera gives no picture: {why}", why=why))
        session = self.session
        framing = judge_framing(image, session is not None and session.markers, self._lens.focuses)
        if (
            session is not None
            and session.markers
            and not framing.cards
            and shows_mirrored_cards(image)
        ):
            framing = msgspec.structs.replace(
                framing,
                faults=(
                    say(
                        "The picture is mirrored, as all that is printed runs backwards in it: "
                        "switch that off in the camera's settings."
                    ),
                ),
            )
        if session is not None and not framing.faults and session.next != 0:
            remarks = _with_count(session, session.next, session.remarks(image, session.next))
            framing = msgspec.structs.replace(framing, advice=(*framing.advice, *remarks))
        stirs = self._stirs(image)
        self._still.note(image, stirs)
        if stirs and not framing.faults:
            framing = msgspec.structs.replace(
                framing,
                advice=(
                    *framing.advice,
                    say("Something moves in the picture: take your hands away and wait a moment."),
                ),
            )
        elif session is not None and session.next == 0 and not framing.faults:
            advice = self._hands_on_first(session, image, None)
            framing = msgspec.structs.replace(framing, advice=(*framing.advice, *advice))
        self.framing = framing
        return image

    def _hands_on_first(
        self, session: Session, image: np.ndarray, corners: Corners | None
    ) -> list[Text]:
        """Remarks on a hand in the first photo, for which there is no earlier photo to compare
        with. corners: as tapped."""
        tapped = np.array(corners, float) if corners is not None else None
        bare = Bare.of(session.plan, image, tapped, session.markers)
        if bare is None:
            return []
        view = bare.view
        if not (
            arms_across_edge(view.small, session.plan, view.pose)
            or self._still.came_in(session.plan, view)
        ):
            return []
        return [say("A hand or something else seems to reach over the board.")]

    def _stirs(self, image: np.ndarray) -> bool:
        """Whether some part of the picture differs from the previous picture."""
        small = cv2.resize(image, (24, 18), interpolation=cv2.INTER_AREA).mean(axis=2)
        before, self._small = self._small, small
        if before is None:
            return False
        change = small - before
        return bool(np.abs(change - np.median(change)).max() > STIRRED)  # not a lamp or a cloud

    def take(self, number: int, corners: Corners | None) -> None:
        """Takes a photo. corners: (4, 2) pixels as tapped. Raises NotSo."""
        with self._lock:
            session = self._open_session()
            if self._lens.focuses and not any(step.taken for step in session.steps):
                # at the start it may have focused on an empty table, or a hand
                self._lens.focus_anew()
            image = self.look()
            if self.framing is not None and self.framing.faults:
                raise NotSo(self.framing.faults[0])
            if number == 0 and not session.markers and corners is None:
                raise NotSo(say("The board's four corners must be tapped in the picture first."))
            try:
                session.take(number, image, corners)
                step = session.steps[number]
                step.remarks = _with_count(session, number, step.remarks)
                if number == 0:
                    step.remarks += self._hands_on_first(session, image, corners)
                keep_focus(session.folder, self._lens.name, self._lens.focus)
            except BadCorners:
                raise NotSo(
                    say(
                        "These cannot be the board's corners, or they are crossed. Tap "
                        "again: upper left, upper right, "
                        "lower right, lower left, as the board is printed."
                    )
                ) from None
            except BadCopy as e:
                raise NotSo(say("{reason}", reason=str(e))) from None
            except OSError as e:
                raise NotSo(
                    say("the picture cannot be saved: {why}", why=e.strerror or "?")
                ) from None

    def bare_board(self) -> np.ndarray:
        """The empty board from above, (h, w, 3) uint8 BGR."""
        try:
            image = self._open_session().bare_board(WIDEST)
        except BadPhoto as e:
            raise NotSo(say("{reason}", reason=str(e))) from None
        if image is None:
            raise NotSo(say("there is no photo of the empty board yet"))
        return image

    def more(self) -> None:
        """Asks for one more photo, of the kinds that were read worst."""
        with self._lock:
            session = self._open_session()
            self._stop_if_learning()
            if session.next is not None:
                raise NotSo(say("photo {n} is still to be taken", n=session.next + 1))
            if self.report is None or not self.report.more:
                raise NotSo(say("one more photo would not improve anything that these photos show"))
            session.add(
                one_more_layout(
                    session.plan, self.report.more, [step.layout for step in session.steps]
                )
            )

    def learn(self) -> threading.Thread:
        """Calibrates in a thread of its own; `progress`, then `report` or `fault` show how it
        goes."""
        with self._lock:
            session = self._open_session()
            if session.next is not None:
                raise NotSo(say("photo {n} is still to be taken", n=session.next + 1))
            self._stop_if_learning()
            self.progress, self.report, self.fault, self._began = (
                ("photos", 0.0),
                None,
                None,
                time.monotonic(),
            )
        thread = threading.Thread(target=self._learn, args=(session,), name=LEARNS, daemon=True)
        thread.start()
        return thread

    def go(self) -> None:
        """Writes the configuration, which `nilometer run` continues with; if the copy is still
        being learnt, that continues during the game."""
        with self._lock:
            if self.board is not None:
                raise NotSo(say("there are no rules for this board"))
            if self.game is None or self.copy is None:
                raise NotSo(say("choose a game and a calibrated copy first"))
            journal = f"{self.copy}-{datetime.datetime.now():%Y%m%d-%H%M}.journal"
            try:
                if self.progress is not None:
                    mark_half_learnt(self.folder / self.copy)
                write_whole(self.path, self._completed(journal).encode())
            except Fault as e:
                raise NotSo(say("{reason}", reason=str(e))) from None
            except OSError as e:
                raise NotSo(
                    say(
                        "{file} cannot be written: {why}",
                        file=self.path.name,
                        why=e.strerror or "?",
                    )
                ) from None
            self.written.set()

    def said(self) -> dict[str, Any]:
        """Everything the page shows, as plain data."""
        with self._lock:
            session, report = self.session, self.report
            return {
                "cameras": [
                    {"name": c["name"], "chosen": dict(c["camera"]) == self._camera}
                    for c in self._cameras
                ],
                "lens": {
                    "focuses": self._lens.focuses,
                    "sharper": [sharpness for _, sharpness in self.sharper],
                },
                "games": [_game_of(g) for g in engine.games().values()],
                "boards": self.boards(),
                "board": self.board.name if self.board is not None else None,
                "game": self.game.name if self.game else None,
                "seats": self.seats,
                "options": self.options,
                "copies": self.copies(),
                "begun": self.begun(),
                "copy": self.copy,
                "from_box": self._is_laid_out_by_chance(),
                "framing": pack_text(self.framing),
                "session": None
                if session is None
                else {
                    "name": session.name,
                    "markers": session.markers,
                    "next": session.next,
                    "corners": session.corners,
                    "steps": [pack_text(s) for s in session.steps],
                },
                "progress": self.progress,
                "since": round(time.monotonic() - self._began),
                "fault": self.fault,
                "done": self.written.is_set(),
                "report": None
                if report is None
                else {
                    "photos": report.photos,
                    "seconds": round(report.seconds),
                    "error_px": round(max(report.error_px, default=0), 1),
                    "advice": pack_text([self._in_words(text) for text in report.advice]),
                    "summary": pack_text(report.summary),
                    "pictures": report.page is not None,
                    "more": report.more,
                },
            }

    def _is_laid_out_by_chance(self) -> bool:
        """Whether the game begins with pieces from the box laid out at random."""
        if self.game is None or not self.seats:
            return False
        state = self.game.setup(self.seats)
        return bool(state.actors) and not set(state.actors) & set(state.seats)

    def _in_words(self, advice: Text) -> Text:
        """The advice with kinds of piece named as people call them, if the game has names for
        them."""
        if self.game is None:
            return advice
        named, pieces = self.game.kind_name, game_plan(self.game.name).pieces

        def people(value: object) -> object:
            kinds = value.split(", ") if isinstance(value, str) else []
            if not kinds or not all(k in pieces for k in kinds):
                return value
            *some, last = [named(k) for k in kinds]
            for more in reversed(some):
                last = say("{some} and {more}", some=more, more=last)
            return last

        return Text(advice.template, {k: people(v) for k, v in advice.args.items()})

    # The interface of a table that the page's thread needs, without a game

    def snapshot(self) -> dict[str, Any]:
        """Everything the set-up page shows, as JSON data."""
        return {
            "version": self.version,
            "game": self._plays,
            "title": pack_text(say("Set up the table")),
            "seats": [],
            "settings": {},
            "moves": [],
            "scores": {},
            "outcome": None,
        }

    def wait(self, version: int, timeout: float) -> int:
        """Blocks until something has changed since that version, or the seconds are over."""
        self.written.wait(timeout)
        return self.version

    @property
    def _plays(self) -> str | None:
        """The name of the game, or of the game that a board without rules belongs to."""
        return (
            self.game.name
            if self.game
            else read_game(self.board / "plan.toml")
            if self.board
            else None
        )

    def _boards_folder(self, name: str) -> Path:
        """Where the photos of a board without rules go: beside its plan, or into a new folder if a
        copy is already there."""
        board = self._board()
        if not (board / "copy.toml").exists():
            return board
        folder = self._new_folder(name)
        folder.mkdir(parents=True)
        write_whole(folder / "plan.toml", (board / "plan.toml").read_bytes())
        return folder

    def _board(self) -> Path:
        assert self.board is not None, "a game or a board was chosen"
        return self.board

    def _sharpness(self) -> float:
        assert self.framing is not None, "something was looked at"
        return self.framing.sharpness

    def _learn(self, session: Session) -> None:
        with contextlib.suppress(OSError):  # for this thread and the processes it starts
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), BESIDE)
        try:
            report = session.calibrate(
                lambda words, part: setattr(self, "progress", (words, part)),
                ready=lambda: self._can_be_read(session),
            )
        except (BadCopy, OSError) as e:
            self.fault, self.progress = str(e), None
            return
        # a programming error: people must not wait for something that will never come
        except Exception as e:
            log.exception("the pieces could not be learnt")
            self.fault, self.progress = (
                f"{session.folder}: the pieces could not be learnt: {e}",
                None,
            )
            return
        with self._lock:
            self.report, self.progress = report, None
            with contextlib.suppress(OSError):  # otherwise it is learnt again at the next start
                mark_learnt(session.folder)
            self._choose_learnt(session)

    def _can_be_read(self, session: Session) -> None:
        """The game may begin, although not all has been learnt yet. Raises OSError."""
        mark_half_learnt(session.folder)
        with self._lock:
            self._choose_learnt(session)

    def _choose_learnt(self, session: Session) -> None:
        """The game is played with this copy, unless people have gone on to another; the lock is
        held."""
        if self.session is session:
            self.copy = session.folder.name

    def _open_session(self) -> Session:
        if self.session is None:
            raise NotSo(say("begin with a new copy first"))
        return self.session

    def _stop_if_learning(self) -> None:
        if self.progress is not None:
            raise NotSo(say("the pieces are being learnt; one moment"))

    def _new_folder(self, name: str) -> Path:
        base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "copy"
        n = 1
        while (self.folder / (base if n == 1 else f"{base}-{n}")).exists():
            n += 1
        return self.folder / (base if n == 1 else f"{base}-{n}")

    def _completed(self, journal: str) -> str:
        """The answers, merged into an existing configuration; what its owner wrote stays."""
        own = self.path.read_text(encoding="utf-8") if self.path.is_file() else ""
        said = settings_of(own, self.path)
        answers = {"copy": self.copy, "seats": self.seats, "journal": journal}
        lines = [
            f"{key} = {json.dumps(value)}" for key, value in answers.items() if key not in said
        ]
        lines += [own.rstrip()] if own.strip() else []
        for head, table in (("options", self.options), ("camera", self._camera)):
            if table and head not in said:
                lines += [
                    "",
                    f"[{head}]",
                    *(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in table.items()),
                ]
        return "\n".join(lines) + "\n"


def _with_count(session: Session, number: int | None, remarks: Sequence[Text]) -> list[Text]:
    """Remarks on a photo, with the number of its pieces added where they mention pieces: the check
    is per site, and a site may hold a heap."""
    layout = session.steps[number].layout if number is not None else {}
    pieces = sum(len(contents) for contents in layout.values())
    return [
        Text(text.template, {**text.args, "all": pieces})
        if text.template == "None of the {all} pieces can be seen yet."
        else text
        for text in remarks
    ]


def _middle_of(image: np.ndarray) -> np.ndarray:
    """The middle quarter of the picture, where the board is, at full resolution, since that shows
    sharpness."""
    height, width = image.shape[:2]
    return image[3 * height // 8 : 5 * height // 8, 3 * width // 8 : 5 * width // 8]


def read_game(path: Path) -> str | None:
    """The game that a plan.toml names; None if it cannot be read."""
    try:
        return _read_game(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _read_game(path: Path, changed: int) -> str | None:
    try:
        # cached while the file does not change, since the page asks every second
        return load_plan(path).game
    except (BadPlan, OSError):
        return None


def _game_of(game: engine.Game) -> dict[str, Any]:
    return {
        "name": game.name,
        "title": pack_text(game.title),
        "players": list(game.players),
        "seats": [{"id": s.id, "name": pack_text(s.name), "colour": s.colour} for s in game.seats],
        "options": [
            {
                "name": o.name,
                "text": pack_text(o.text),
                "values": list(o.values),
                "texts": [pack_text(t) for t in o.value_texts] or list(o.values),
            }
            for o in game.options
        ],
    }
