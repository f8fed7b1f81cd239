"""Pictures of a copy's training data: how each kind was cut out of the samplers, and synthetic
boards. A misread piece was usually missing from them, or shown wrongly.

    python -m devtools.lesson_pictures COPY FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np

from calibration.copy import BadCopy
from calibration.synthesis.lesson import Lesson
from calibration.training.pretrain import copy_lesson
from vision.learned.canvas import GREY, LOG_SPREAD, picture_of
from vision.photometry.room_light import grey_levels

TILE, NAME_WIDTH = 96, 260  # pixels: each look's longer side, room for its kind's name
MOST_LOOKS = 16  # of a kind that are drawn
BOARDS, COLUMNS, SAMPLES_SEED = (
    12,
    4,
    5,
)  # synthetic boards drawn side by side, and a seed that training does not use


def as_picture(logs: np.ndarray) -> np.ndarray:
    """(h, w, 3) uint8 of log colours in the empty board's light"""
    return np.clip(grey_levels(logs), 0, 255).astype(np.uint8)


def draw_looks(lesson: Lesson) -> np.ndarray:
    """(h, w, 3) uint8: a row for each kind, its looks side by side"""
    rows = []
    both = [(k, v.patch) for some in (lesson.looks, lesson.standing) for k in some for v in some[k]]
    for kind in sorted({k for k, _ in both}):
        row = np.full((TILE + 4, NAME_WIDTH + MOST_LOOKS * (TILE + 4), 3), 255, np.uint8)
        cv2.putText(row, kind, (6, TILE // 2), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0))
        for n, patch in enumerate([p for k, p in both if k == kind][:MOST_LOOKS]):
            zoom = TILE / max(patch.shape[:2])
            seen = cv2.resize(as_picture(patch[..., :3]), None, fx=zoom, fy=zoom)[:TILE, :TILE]
            x = NAME_WIDTH + n * (TILE + 4)
            row[2 : 2 + seen.shape[0], x : x + seen.shape[1]] = seen
        rows.append(row)
    return np.concatenate(rows) if rows else np.full((1, 1, 3), 255, np.uint8)


def draw_boards(lesson: Lesson) -> np.ndarray:
    """(h, w, 3) uint8: synthetic boards as the network sees them, with a dot on each loose piece it
    has to find"""
    composer, seen = lesson.composer(SAMPLES_SEED), []
    for _ in range(BOARDS):
        sample = composer.make_sample()
        logs = picture_of(sample.x.astype(np.float32)) * LOG_SPREAD + GREY
        picture = np.ascontiguousarray(as_picture(logs))
        for x, y in sample.points[:, 2:]:
            cv2.circle(picture, (round(float(x)), round(float(y))), 1, (0, 0, 255), -1)
        seen.append(picture)
    rows = [np.concatenate(seen[n : n + COLUMNS], 1) for n in range(0, BOARDS, COLUMNS)]
    return np.concatenate(rows)


def write_pictures(copy: str | Path, folder: Path) -> None:
    """Writes FOLDER/looks.png and FOLDER/boards.png. Raises BadCopy, OSError."""
    lesson = copy_lesson(Path(copy))
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in (("looks", draw_looks(lesson)), ("boards", draw_boards(lesson))):
        path = folder / f"{name}.png"
        path.write_bytes(cv2.imencode(".png", picture)[1].tobytes())


def main(args: list[str]) -> str | None:
    """None if all is well, else what is wrong"""
    if len(args) != 2:
        return "python -m devtools.lesson_pictures COPY FOLDER"
    try:
        write_pictures(args[0], Path(args[1]))
    except BadCopy as e:
        return str(e)
    except OSError as e:
        return f"{e.filename or args[1]}: {e.strerror}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
