"""Finds where the board lies in a picture: by its cards, by its print, by its tiles. Its central value: Registrar."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from vision import cv5
from vision.evidence import Contents, NoBoard
from vision.lens import Lens, usual_lens
from vision.markers import IDS, find_cards, find_cards_near, turned_to_fit
from vision.plan import Plan
from vision.pose import Pose

Corners = np.ndarray


class Registrar(msgspec.Struct, frozen=True, eq=False):
    """cards: id -> (4, 2) mm where each card's corners really lie; empty without cards."""

    plan: Plan
    lens: Lens
    cards: dict[int, np.ndarray]
    first: Pose

    @classmethod
    def fit(cls, plan: Plan, images: Sequence[np.ndarray], corners: Sequence[Corners | None] | None = None,
            markers: bool = True, layouts: Sequence[dict[str, Contents]] | None = None
            ) -> tuple[Registrar, list[Pose]]:
        """From a copy's calibration photos: where cards and print lie, what the lens is like, and each photo's pose.

        images: (h, w, 3) uint8 BGR; corners: per photo (4, 2) pixels of the board's corners as tapped, or None;
        markers: whether the four cards lie at the corners; layouts: what lies in each photo, same order.
        Raises NoBoard, naming the photo's number, where a photo cannot be used."""
        corners = list(corners) if corners is not None else [None] * len(images)
        seen = []
        for n, image in enumerate(images):
            size = image.shape[1], image.shape[0]
            found = find_cards(cv5.grey(image)) if markers else {}
            if len(found) == 4:
                mm = turned_to_fit(found, plan)
                seen.append((size, np.vstack([mm[i] for i in IDS]), np.vstack([found[i] for i in IDS]), mm))
            elif corners[n] is not None:
                seen.append((size, plan.corners, np.asarray(corners[n], float), {}))
            else:
                raise NoBoard(f"photo {n + 1}: {len(found)} of 4 cards found and no corners tapped")
        size, mm, px, cards = seen[0]
        lens = usual_lens(mm, px, size, 1.0)
        poses = [lens.pose(mm, px, size, "markers" if cards else "print")[0] for size, mm, px, cards in seen]
        return cls(plan, lens, cards, poses[0]), poses

    def locate(self, image: np.ndarray, last: Pose | None = None) -> Pose:
        """The board's pose in a picture; last: the pose before, tried first. Raises NoBoard with the reason."""
        size = image.shape[1], image.shape[0]
        if not self.cards:
            return last or self.first
        grey = cv5.grey(image)
        found = {}
        if last is not None and last.size == size:
            found = find_cards_near(grey, {i: last.to_px(c) for i, c in self.cards.items()})
        if len(found) < 4:
            found = find_cards(grey)
        if len(found) < 2:
            raise NoBoard(f"{len(found)} of 4 marker cards in view")
        pose, off = self.lens.pose(np.vstack([self.cards[i] for i in found]), np.vstack(list(found.values())), size,
                                   "markers")
        return msgspec.structs.replace(pose, error_px=float(np.sqrt((off ** 2).mean())))

    def pack(self) -> dict[str, np.ndarray]:
        """As arrays for the model file"""
        out = {"lens": np.array([self.lens.focal, self.lens.k1, self.lens.k2]),
               "first": np.concatenate([self.first.rvec, self.first.tvec, self.first.size])}
        for i, c in self.cards.items():
            out[f"card{i}"] = c
        return out

    @classmethod
    def unpack(cls, plan: Plan, arrays: dict[str, np.ndarray]) -> Registrar:
        """Back from pack(); raises KeyError where something is missing"""
        lens = Lens(*map(float, arrays["lens"]))
        a = arrays["first"]
        size = int(a[6]), int(a[7])
        first = Pose(lens.K(size), lens.dist, a[:3], a[3:6], size)
        return cls(plan, lens, {i: arrays[f"card{i}"] for i in IDS if f"card{i}" in arrays}, first)
