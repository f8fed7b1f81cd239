"""A copy made step by step, as on the phone: each photo is written when it is taken, so that nothing is lost on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import msgspec
import numpy as np

from calibration.copy import BadCopy, check_corners
from calibration.files import write_whole
from calibration.fit import Progress, Report, calibrate
from vision.plan import Plan

Layout = Mapping[str, Sequence[str]]
Corners = Sequence[Sequence[float]]


class Step(msgspec.Struct):
    """One photo to take: its name and what has to lie on the board."""

    name: str
    layout: dict[str, list[str]]
    taken: bool = False


class Session:
    """folder: made if need be; samplers: the layouts to photograph after the empty board, which is taken twice."""

    def __init__(self, folder: str | Path, plan: Plan, name: str, markers: bool, samplers: Sequence[Layout]) -> None:
        self.folder, self.plan, self.name, self.markers = Path(folder), plan, name, markers
        self.steps = [Step("empty-1", {}), Step("empty-2", {}), *_samplers(samplers)]
        self._corners: Corners | None = None

    @property
    def next(self) -> int | None:
        """The number of the first photo not taken yet; None: all are there."""
        return next((i for i, step in enumerate(self.steps) if not step.taken), None)

    def take(self, number: int, image: np.ndarray, corners: Corners | None = None) -> None:
        """Keeps a photo, (h, w, 3) uint8 BGR, instead of an earlier one of that step. corners: as tapped, needed with the
        first photo where there are no cards. Raises BadCopy; OSError when it cannot be written."""
        if not 0 <= number < len(self.steps):
            raise BadCopy(f"{self.folder}: there is no photo {number}")
        step = self.steps[number]
        if not self.markers and number == 0:
            if corners is None:
                raise BadCopy(f"{step.name}: without cards the board's four corners must be tapped")
            self._corners = check_corners(corners, image, step.name).round(1).tolist()
        self.folder.mkdir(parents=True, exist_ok=True)
        good, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 95])
        if not good:
            raise BadCopy(f"{step.name}: the picture cannot be kept")
        write_whole(self.folder / f"{step.name}.jpg", data.tobytes())
        write_whole(self.folder / f"{step.name}.json", (json.dumps(step.layout, indent=0) + "\n").encode())
        step.taken = True
        write_whole(self.folder / "copy.toml", self._toml().encode())

    def use_plan(self, plan: Plan, samplers: Sequence[Layout]) -> None:
        """The copy's own plan lies in its folder now: the empty board's photos stay, samplers are laid anew. Raises OSError."""
        self.plan = plan
        self.steps = [*self.steps[:2], *_samplers(samplers)]
        write_whole(self.folder / "copy.toml", self._toml().encode())

    def calibrate(self, progress: Progress | None = None, processes: int | None = 1) -> Report:
        """Raises BadCopy."""
        return calibrate(self.folder, progress, processes=processes)

    def _toml(self) -> str:
        # JSON's strings are TOML's, too.
        lines = [f"game = {json.dumps(self.plan.game)}", f"name = {json.dumps(self.name)}",
                 f"markers = {json.dumps(self.markers)}"]
        for number, step in enumerate(self.steps):
            if step.taken:
                lines += ["", "[[photo]]", f'file = "{step.name}.jpg"', f'layout = "{step.name}.json"']
                if number == 0 and self._corners is not None:
                    lines.append(f"corners = {json.dumps(self._corners)}")
        return "\n".join(lines) + "\n"


def _samplers(layouts: Sequence[Layout]) -> list[Step]:
    return [Step(f"sampler-{n}", {s: list(c) for s, c in layout.items()}) for n, layout in enumerate(layouts, 1)]
