"""A copy's photos in, its model out. `calibrate_copy` is what the command and the phone call."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from calibration.copy import BadCopy, Copy, load_copy, missing_kinds
from calibration.files import check_writable, write_whole
from calibration.framing import burnt_pieces
from calibration.report import Findings, report_page, unshown_advice
from calibration.survey.registrar_fit import fit_registrar
from calibration.suspect import layout_doubts, outlines_astray, tapped_astray
from calibration.training.fit import LEARNING_STEPS, can_learn, fit_reader
from calibration.training.teach import Unlearnt
from calibration.trial import own_photos_trial
from engine.text import Text
from vision.evidence.site_evidence import NoBoard
from vision.geometry.posed_photo import Shot
from vision.reader import Reader
from vision.registration.registrar import Registrar

LEARNING = ".learning.npz"  # in the copy's folder: checkpoint of an interrupted training
Progress = Callable[[str, float], None]


class Report(msgspec.Struct):
    """The result of a calibration. missing: kinds that no photo shows; summary: one
    sentence with figures;
    page: the report with pictures, None if it was not wanted; more: kinds that one more photo
    should show."""

    copy: str
    game: str
    photos: int
    seconds: float
    error_px: list[float]
    missing: list[str]
    advice: list[Text]
    summary: Text | str = ""
    page: Path | None = None
    more: list[str] = []


def shots_of(copy: Copy) -> tuple[Registrar, list[Shot]]:
    """Every photo with its pose. Raises BadCopy."""
    try:
        registrar, poses = fit_registrar(
            copy.plan,
            [p.image for p in copy.photos],
            [p.corners for p in copy.photos],
            copy.markers,
            [p.layout for p in copy.photos],
        )
    except NoBoard as e:
        if e.photo is None:
            raise BadCopy(f"{copy.folder}: {e.why}") from None
        photo = copy.photos[e.photo]
        more = ""
        if not copy.markers and photo.corners is None:
            more = "; corners of its own in copy.toml would tell where it lies"
        raise BadCopy(f"{copy.folder / photo.name}: {e.why}{more}") from None
    if not registrar.finds_boards:
        raise BadCopy(
            f"{copy.folder}: nothing that stays on the board tells where it lies in another photo; "
            "lay the four cards of `nilometer print` round it, and write markers = true"
        )
    return registrar, [Shot(p.image, p.layout, pose, p.name) for p, pose in zip(copy.photos, poses)]


def calibrate_copy(
    folder: str | Path,
    progress: Progress | None = None,
    report: bool = True,
    beside: bool = True,
    steps: int = LEARNING_STEPS,
    ready: Callable[[], None] | None = None,
) -> Report:
    """Fits the copy's model and writes it to COPY/model.npz (atomically), then COPY/report.html.
    Raises BadCopy.

    progress: called with the current stage and its progress, 0 to 1; report: whether to read the
    photos once more and report confusions; beside: whether other processes may share the work, for
    which multiprocessing needs an importable script; steps: training steps of the network; ready:
    called once a copy without a model has a first one, to be used until training is complete."""
    tell = progress or (lambda words, part: None)
    start = time.monotonic()
    tell("photos", 0.0)
    copy = load_copy(folder)
    try:
        check_writable(copy.folder)
    except OSError as e:
        raise BadCopy(f"{copy.folder}: the model cannot be written there: {e.strerror}") from None
    if (lacking := can_learn()) is not None:
        raise BadCopy(
            f"{copy.folder}: learning needs {lacking}, which is not installed: make install"
        )
    tell("board", 0.1)
    registrar, shots = shots_of(copy)
    tell("pieces", 0.2)

    def keep_first(reader: Reader) -> None:
        reader.save(copy.model)
        if ready is not None:
            ready()

    try:
        reader, lesson, trial = fit_reader(
            copy.plan,
            registrar,
            shots,
            steps,
            beside,
            lambda part: tell("network", 0.3 + 0.5 * part),
            keep=copy.folder / LEARNING,
            half_learnt=None if ready is None or copy.model.is_file() else keep_first,
        )
    except Unlearnt as e:
        raise BadCopy(f"{copy.folder}: the network could not be learnt ({e})") from None
    reader.save(copy.model)
    for kept in (copy.before, copy.folder / LEARNING):
        kept.unlink(missing_ok=True)
    missing = [p.kind for p in missing_kinds(copy)]
    astray = list(tapped_astray(copy, shots, registrar.rise))
    astray += outlines_astray(copy.plan, reader.plan)
    copy = msgspec.structs.replace(copy, plan=reader.plan)
    out = Report(
        copy.name,
        copy.game,
        len(copy.photos),
        0.0,
        [s.pose.error_px for s in shots],
        missing,
        [*astray, *(unshown_advice(kind) for kind in missing)],
    )
    if report:
        tell("report", 0.8)
        errors = [(s.name, s.pose.error_px) for s in shots]
        burnt = [s.name for s in shots if burnt_pieces(copy.plan, s)]
        mine = own_photos_trial(copy, reader, shots)
        odd = [*astray, *layout_doubts(copy.plan, shots, mine.rows, burnt, lesson.specimens)]
        found = Findings(trial, mine, errors, missing, burnt, odd)
        out.advice, out.summary = found.advice(), found.sentence
        out.more = [*missing, *found.doubtful()]
        out.page = copy.folder / "report.html"
        write_whole(out.page, report_page(copy, shots, found).encode())
    tell("done", 1.0)
    out.seconds = time.monotonic() - start
    return out
