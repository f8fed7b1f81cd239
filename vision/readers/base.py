"""What the matchers have in common. Its value: `SiteReader`."""

from __future__ import annotations

from typing import Literal, Protocol

from vision.evidence.site_evidence import SiteEvidence
from vision.frame_cache import FrameCache
from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid
from vision.storage import model_file


class SiteReader(Protocol):
    """Reads some of a plan's sites. name: of its part of a model file and of a cache; prepared: the
    kind of PreparedPicture that it is given."""

    name: str
    prepared: Literal["matched", "cleaned"]

    def read(
        self,
        picture: Pyramid,
        pose: Pose,
        sites: set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> dict[str, SiteEvidence]:
        """site -> evidence for those of these sites that it reads (None: all). Raises StaleCache
        where what the cache holds is of another light."""
        ...

    def pack(self) -> model_file.Arrays:
        """As arrays for the model file"""
        ...
