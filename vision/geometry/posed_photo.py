"""A calibration photo: the picture, what lies on the board in it, and where the board is in it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.pose import Pose


class Shot(msgspec.Struct, frozen=True, eq=False):
    """image: (h, w, 3) uint8 BGR; layout: {site: contents}; name: the file, for messages and the
    report;
    guessed: of an empty board put together from photos of positions, sites that none of these shows
    empty -> how far off what it shows of them may be, log units."""

    image: np.ndarray
    layout: dict[str, Contents]
    pose: Pose
    name: str = ""
    guessed: Mapping[str, float] | None = None
