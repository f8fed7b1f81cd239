"""What is known about a board from the previous picture. Central value: FrameCache."""

from __future__ import annotations

from typing import Any

from vision.evidence.site_evidence import SiteEvidence
from vision.geometry.pose import Pose


class FrameCache:
    """Earlier results for a board, valid as long as its pose and its light do not change.

    A caller that reads the same board repeatedly owns one and passes it with each picture; readings
    are faster, and the same except for noise.

    sites: the latest evidence of each site, read by itself; light: the picture's light, as
    estimated by the reader."""

    def __init__(self) -> None:
        self.forget()

    def forget(self, reader: object = None, pose: Pose | None = None) -> None:
        """Starts again, for a reader and a pose."""
        self.reader, self.pose = reader, pose
        self.sites: dict[str, SiteEvidence] = {}
        self.light: Any = None

    def begin(self, reader: object, pose: Pose) -> None:
        """Forgets everything if the reader has changed or the board has moved."""
        if self.reader is not reader or self.pose is not pose:
            self.forget(reader, pose)
