"""What is known of a board from the last look at it. Its central value: FrameCache."""

from __future__ import annotations

from typing import Any

from vision.evidence.site_evidence import SiteEvidence
from vision.geometry.pose import Pose


class FrameCache:
    """What was found when a board was last looked at that lies and is lit as it did then.

    Whoever looks at one board again and again owns one and hands it over with each picture;
    readings are the same as without but for what noise makes of them, only quicker.

    sites: the evidence of all sites, each as it was read last, by itself; light: of the
    picture, as the reader told it."""

    def __init__(self) -> None:
        self.forget()

    def forget(self, reader: object = None, pose: Pose | None = None) -> None:
        """Begins anew, for a reader and a pose."""
        self.reader, self.pose = reader, pose
        self.sites: dict[str, SiteEvidence] = {}
        self.light: Any = None

    def begin(self, reader: object, pose: Pose) -> None:
        """Forgets everything where another reader looks or the board has moved."""
        if self.reader is not reader or self.pose is not pose:
            self.forget(reader, pose)
