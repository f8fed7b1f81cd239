"""Learning at the table: pictures on which reading and rules agreed become further training photos,
if a held-out set confirms the result.

Kept pictures are in COPY/table: NN.jpg with NN.json, the layout. Every other one is trained on, the
rest are held out. Central value: Outcome.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from calibration.copy import BadCopy, Copy, load_copy, read_layout
from calibration.files import write_whole
from calibration.fit import shots_of
from calibration.training.fit import fit_reader
from calibration.trial import Row, kinds_shown, read_all
from vision.evidence.site_evidence import Contents, NoBoard
from vision.geometry.posed_photo import Shot
from vision.plan import Plan
from vision.reader import Reader
from vision.registration.registrar import Registrar
from vision.storage.photo_file import BadPhoto, encode_photo, load_photo

# least probability given to the agreed contents: misread sites teach most, but a completely
# different reading may be an error in the layout
DOUBTED = 0.02
# pictures kept of a copy: two for training, two held out; more would make fitting slow
VIEWS_KEPT = 4
LEARNT_FOLDER = "table"


class Outcome(msgspec.Struct, frozen=True):
    """learnt: whether the model was replaced; why: one sentence; left_out: pictures not used, and
    why"""

    learnt: bool
    why: str
    left_out: list[str] = []


def keep_view(
    folder: Path, image: np.ndarray, layout: Mapping[str, Contents], instead: str | None = None
) -> str:
    """Stores a picture, replacing the one named `instead`, or the oldest if there are enough;
    returns its name. Raises OSError."""
    place = folder / LEARNT_FOLDER
    place.mkdir(exist_ok=True)
    there = sorted(place.glob("*.json"), key=lambda p: p.stat().st_mtime_ns)
    free = [n for n in range(1, VIEWS_KEPT + 1) if not (place / f"{n:02d}.json").exists()]
    name = instead or (f"{free[0]:02d}" if free else there[0].stem)
    data = encode_photo(image)
    if data is None:
        raise OSError("the picture cannot be written")
    # the layout is deleted first and written last, so that it never belongs to another picture
    (place / f"{name}.json").unlink(missing_ok=True)
    for suffix, content in ((".jpg", data), (".json", json.dumps(layout).encode())):
        write_whole(place / f"{name}{suffix}", content)
    return name


def trusted_views(copy: Copy, reader: Reader) -> tuple[list[Shot], list[str]]:
    """The kept pictures that the present reader still reads (nearly) as agreed; and why others are
    left out"""
    good, bad = [], []
    for path in sorted((copy.folder / LEARNT_FOLDER).glob("*.json")):
        name = f"{LEARNT_FOLDER}/{path.stem}.jpg"
        try:
            layout = read_layout(path, copy.plan)
            image = load_photo(path.with_suffix(".jpg"))
            shot = Shot(image, layout, reader.registrar.locate(image), name)
        except (BadCopy, BadPhoto, NoBoard, ValueError, OSError) as e:
            bad.append(f"{name}: {e}")
            continue
        rows = read_all(reader, [shot], copy, set(copy.plan.pieces))
        wrong = sum(r.got is None or r.chance < DOUBTED for r in rows)
        if wrong:
            bad.append(f"{name}: {wrong} sites are read wholly otherwise than was agreed")
        else:
            good.append(shot)
    return good, bad


def reason_for_distrust(before: list[Row], after: list[Row]) -> str | None:
    """Why a new reader is not accepted: it misreads what the old one reads correctly; None if it
    does not"""
    lost = [a for b, a in zip(before, after, strict=True) if b.right and not a.right]
    if lost:
        return f"{lost[0].site} of {lost[0].photo} would be misread" + (
            f", and {len(lost) - 1} more" if len(lost) > 1 else ""
        )
    return None


def mean_surety(rows: list[Row]) -> float:
    """Mean log-probability given to what lies there"""
    return float(np.mean([math.log(max(r.chance, 1e-6)) for r in rows])) if rows else 0.0


def fit_again(plan: Plan, registrar: Registrar, shots: Sequence[Shot]) -> Reader:
    """Only the reader from the result of `fit_reader`"""
    return fit_reader(plan, registrar, shots)[0]


def learn_from_views(folder: str | Path, fit: Callable[..., Reader] = fit_again) -> Outcome:
    """Fits a model to the copy's photos and half the kept pictures. It replaces the old one if it
    misreads nothing that the old one reads correctly in any of them, and is surer of the held-out
    half. Otherwise the halves change roles. Raises BadCopy, BadModel."""
    copy = load_copy(folder)
    if not copy.model.is_file():
        raise BadCopy(f"{copy.model}: not there yet; make it with: nilometer calibrate {folder}")
    old = Reader.load(copy.model, copy.plan)
    good, bad = trusted_views(copy, old)
    if len(good) < 2:
        return Outcome(
            False, f"{len(good)} views of the table can be learnt from, two are needed", bad
        )
    registrar, shots = shots_of(copy)
    known = kinds_shown(shots, copy)
    before = read_all(old, [*shots, *good], copy, known)
    first = ""
    for lessons, guards in ((good[::2], good[1::2]), (good[1::2], good[::2])):
        new = fit(copy.plan, registrar, [*shots, *lessons])
        after, names = read_all(new, [*shots, *good], copy, known), {s.name for s in guards}
        was, now = (mean_surety([r for r in rows if r.photo in names]) for rows in (before, after))
        fault = reason_for_distrust(before, after)
        if fault is None and now > was:
            write_whole(copy.before, copy.model.read_bytes())
            new.save(copy.model)
            return Outcome(
                True,
                f"learnt from {len(lessons)} of {len(good)} views; to what lies in the "
                f"others it now gives "
                f"{100 * math.exp(now):.2f} % where it gave {100 * math.exp(was):.2f} %",
                bad,
            )
        first = first or fault or "views that were not learnt from would be read with more doubt"
    return Outcome(False, first, bad)


def undo_learning(folder: str | Path) -> None:
    """Restores the model from before the last learning, bit for bit, and removes the pictures
    learnt from. Raises BadCopy."""
    copy = load_copy(folder)
    if not copy.before.is_file():
        raise BadCopy(f"{copy.before}: nothing was learnt at the table that could be undone")
    os.replace(copy.before, copy.model)
    shutil.rmtree(copy.folder / LEARNT_FOLDER, ignore_errors=True)
