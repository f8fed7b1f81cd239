"""The photos of a copy while it is surveyed. Its central value: SurveyPhotos."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.survey.bundle_adjustment import Bundle
from vision.evidence.site_evidence import Contents
from vision.geometry.pose import Pose
from vision.registration.print_map import Picture


class SurveyPhotos:
    """The photos whose poses are known from cards or fingers, with what lies in them and the bundle
    that joins them; lent: those of which another's fingers tell; fingers: of each
    (4, 2) px of the corners as the bundle came with them, before any are mended, or None"""

    def __init__(
        self,
        pictures: list[Picture],
        layouts: list[dict[str, Contents]],
        bundle: Bundle,
        lent: Sequence[int] = (),
    ) -> None:
        self.pictures, self.layouts, self.bundle, self.lent = pictures, layouts, bundle, lent
        self.images = [p.image for p in pictures]
        self.fingers = [sight.taps for sight in bundle.sights]

    @property
    def poses(self) -> list[Pose]:
        return [self.bundle.pose(n) for n in range(len(self.pictures))]

    @property
    def barest(self) -> int:
        """number of the photo with the fewest pieces"""
        return min(range(len(self.layouts)), key=lambda n: sum(map(len, self.layouts[n].values())))
