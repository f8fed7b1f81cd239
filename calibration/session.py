"""A copy made step by step, as on the phone: each photo is stored when it is taken, so that nothing
is lost on the way."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from calibration.copy import BadCopy, check_corners, load_plan_of, read_copy_toml, read_layout
from calibration.files import write_whole
from calibration.fit import Progress, Report, calibrate_copy
from calibration.framing import Bare
from engine.text import Text
from vision.plan import Plan
from vision.storage.photo_file import BadPhoto, encode_photo, load_photo

AnyLayout = Mapping[str, Sequence[str]]
Corners = Sequence[Sequence[float]]
STEP_NAME = re.compile(r"(empty|sampler)-\d+\.jpg")


class Step(msgspec.Struct):
    """One photo to take: its name and what has to lie on the board; remarks: what was wrong with
    the photo taken."""

    name: str
    layout: dict[str, list[str]]
    taken: bool = False
    remarks: list[Text] = []


class Session:
    """folder: created if necessary; samplers: the layouts to photograph after the empty board,
    which is photographed twice."""

    def __init__(
        self,
        folder: str | Path,
        plan: Plan,
        name: str,
        markers: bool,
        samplers: Sequence[AnyLayout],
    ) -> None:
        self.folder, self.plan, self.name, self.markers = Path(folder), plan, name, markers
        self.steps = [Step("empty-1", {}), Step("empty-2", {}), *_sampler_steps(samplers)]
        self._corners: Corners | None = None
        self._bare: Bare | None = None

    @classmethod
    def broken_off(
        cls, folder: str | Path, samplers: Callable[[Plan], Sequence[AnyLayout]]
    ) -> Session:
        """Continues an interrupted session in a folder: existing photos count as taken, the other
        steps remain. Raises BadCopy."""
        folder = Path(folder)
        data = begun_in(folder)
        if data is None:
            raise BadCopy(f"{folder / 'copy.toml'}: its photos were not taken step by step")
        plan = load_plan_of(folder, data)
        session = cls(
            folder,
            plan,
            str(data.get("name", folder.name)),
            bool(data.get("markers", False)),
            samplers(plan),
        )
        for entry in data["photo"]:
            name = Path(entry["file"]).stem
            if not (folder / entry["file"]).is_file():
                continue
            if name not in [s.name for s in session.steps]:
                session.steps.append(Step(name, {}))  # an additional photo
            step = next(s for s in session.steps if s.name == name)
            shown = read_layout(folder / f"{name}.json", plan)
            step.layout, step.taken = {site: list(kinds) for site, kinds in shown.items()}, True
        session._corners = data["photo"][0].get("corners")
        with contextlib.suppress(BadPhoto):  # a damaged photo can be taken again
            session._bare = session._compared_with(load_photo(folder / "empty-1.jpg"))
        return session

    @property
    def next(self) -> int | None:
        """The number of the first photo not taken yet; None if all are there."""
        return next((i for i, step in enumerate(self.steps) if not step.taken), None)

    def take(self, number: int, image: np.ndarray, corners: Corners | None = None) -> None:
        """Stores a photo, (h, w, 3) uint8 BGR, replacing an earlier one of that step. corners: as
        tapped, required with the first photo if there are no cards. Raises BadCopy; OSError if it
        cannot be written."""
        if not 0 <= number < len(self.steps):
            raise BadCopy(f"{self.folder}: there is no photo {number}")
        step = self.steps[number]
        if not self.markers and number == 0:
            if corners is None:
                raise BadCopy(f"{step.name}: without cards the board's four corners must be tapped")
            self._corners = check_corners(corners, image, step.name).round(1).tolist()
        if number == 0:
            self._bare = self._compared_with(image)
        step.remarks = self.remarks(image, number)
        self.folder.mkdir(parents=True, exist_ok=True)
        data = encode_photo(image)
        if data is None:
            raise BadCopy(f"{step.name}: the picture cannot be kept")
        write_whole(self.folder / f"{step.name}.jpg", data)
        write_whole(
            self.folder / f"{step.name}.json", (json.dumps(step.layout, indent=0) + "\n").encode()
        )
        step.taken = True
        write_whole(self.folder / "copy.toml", self._toml().encode())

    def remarks(self, image: np.ndarray, number: int | None) -> list[Text]:
        """Advice on a picture that depends on the first photo and on what should lie there; number:
        of the step it is for, None if for none"""
        if self._bare is None:
            return []
        if number == 0:
            return [] if self.markers else self._bare.small()
        layout = None if number is None else self.steps[number].layout
        return list(self._bare.remarks(image, layout))

    def add(self, layout: AnyLayout) -> None:
        """One more photo to take, of this layout"""
        number = sum(bool(step.layout) for step in self.steps) + 1
        self.steps += _sampler_steps([layout], number)

    @property
    def corners(self) -> Corners | None:
        """The board's corners in the first photo as tapped, as shares of its width and height; None
        with cards, or if nothing was tapped yet"""
        if self._corners is None or self._bare is None:
            return None
        width, height = self._bare.size
        return [[x / width, y / height] for x, y in self._corners]

    def bare_board(self, widest: int) -> np.ndarray | None:
        """The board of the first photo seen from above, (h, w, 3) uint8 BGR, its longer side
        `widest` pixels; None if the board is not located in that photo. Raises BadPhoto."""
        if self._bare is None or not self.steps[0].taken:
            return None
        image = load_photo(self.folder / f"{self.steps[0].name}.jpg")
        pose = self._bare.view.pose.resized((image.shape[1], image.shape[0]))
        return pose.rectify(image, 0, 0, *self.plan.size, widest / max(self.plan.size))

    def use_plan(self, plan: Plan, samplers: Sequence[AnyLayout]) -> None:
        """Switches to the copy's own plan, now in its folder: photos of the empty board stay,
        samplers must be laid again. Raises OSError."""
        self.plan = plan
        if self._bare is not None:
            self._bare = msgspec.structs.replace(self._bare, plan=plan)
        self.steps = [*self.steps[:2], *_sampler_steps(samplers)]
        write_whole(self.folder / "copy.toml", self._toml().encode())

    def calibrate(
        self,
        progress: Progress | None = None,
        ready: Callable[[], None] | None = None,
    ) -> Report:
        """ready: see `calibrate_copy`. Raises BadCopy."""
        return calibrate_copy(self.folder, progress, ready=ready)

    def _compared_with(self, image: np.ndarray) -> Bare | None:
        corners = np.array(self._corners) if self._corners is not None else None
        return Bare.of(self.plan, image, corners, self.markers)

    def _toml(self) -> str:
        # JSON strings are valid TOML strings.
        lines = [
            f"game = {json.dumps(self.plan.game)}",
            f"name = {json.dumps(self.name)}",
            f"markers = {json.dumps(self.markers)}",
        ]
        for number, step in enumerate(self.steps):
            if step.taken:
                lines += ["", "[[photo]]"]
                lines += [f'file = "{step.name}.jpg"', f'layout = "{step.name}.json"']
                if number == 0 and self._corners is not None:
                    lines.append(f"corners = {json.dumps(self._corners)}")
        return "\n".join(lines) + "\n"


def begun_in(folder: Path) -> dict[str, Any] | None:
    """The copy.toml of a folder with photos taken step by step but without a model yet; otherwise
    None"""
    try:
        data = read_copy_toml(folder / "copy.toml")
    except BadCopy:
        return None
    photos = data.get("photo")
    ours = isinstance(photos, list) and all(
        isinstance(p, dict) and STEP_NAME.fullmatch(str(p.get("file"))) for p in photos
    )
    ours = ours and bool(photos) and isinstance(data.get("game"), str)
    return data if ours and not (folder / "model.npz").exists() else None


def _sampler_steps(layouts: Sequence[AnyLayout], first: int = 1) -> list[Step]:
    return [
        Step(f"sampler-{n}", {s: list(c) for s, c in layout.items()})
        for n, layout in enumerate(layouts, first)
    ]
