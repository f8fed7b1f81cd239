"""A calibration photo: the picture, the layout on the board, and the board's pose."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.pose import Pose


class Shot(msgspec.Struct, frozen=True, eq=False):
    """image: (h, w, 3) uint8 BGR; layout: {site: contents}; name: the file, for messages and the
    report;
    guessed: for a reconstructed empty board, the sites that no photo shows empty -> how far off
    their guessed print may be, log units."""

    image: np.ndarray
    layout: dict[str, Contents]
    pose: Pose
    name: str = ""
    guessed: Mapping[str, float] | None = None
