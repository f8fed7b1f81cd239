"""The photos of a copy during the survey. Central value: SurveyPhotos."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.survey.bundle_adjustment import Bundle
from vision.evidence.site_evidence import Contents
from vision.geometry.pose import Pose
from vision.registration.print_map import Picture


class SurveyPhotos:
    """The photos with poses known from cards or tapped corners, with their layouts and the bundle
    that connects them; lent: those that use another photo's tapped corners; fingers: for each (4,
    2) px of the corners before any correction, or None"""

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

    def count_taps_once(self) -> None:
        """Takes the lent corners from photos that the print ties to the tapped one"""
        tapped = set(range(len(self.pictures))) - set(self.lent)
        if any(self.bundle.sights[n].tracks for n in tapped):
            for sight in (self.bundle.sights[n] for n in self.lent):
                if sight.tracks:
                    sight.taps = None
