"""The reference view of a copy's calibration photos, and each photo's light."""

from __future__ import annotations

import numpy as np

from vision.geometry.posed_photo import Shot
from vision.geometry.site_windows import Pyramid
from vision.photometry.room_light import RoomLight, estimate_light, small_view
from vision.plan import Plan


def fit_lights(plan: Plan, shots: list[Shot]) -> tuple[np.ndarray, list[RoomLight]]:
    """The reference view and each shot's light. The reference is the mean of the empty photos, each
    in its own light."""
    views = [small_view(Pyramid(s.image), s.pose, plan.size) for s in shots]
    empties = [v for v, s in zip(views, shots) if not s.layout] or [
        np.median(views, 0).astype(np.float32)
    ]
    first = empties[0]
    reference = np.mean([estimate_light(v, first, plan.size).within(v) for v in empties], 0)
    return reference.astype(np.float32), [estimate_light(v, reference, plan.size) for v in views]
