"""Pictures of loose pieces, compared in whichever turn they are most alike. Its value: Views."""

from __future__ import annotations

from collections.abc import Sequence, Set

import cv2
import msgspec
import numpy as np

from calibration.cutouts.outlines import SHADE_WEIGHT
from calibration.cutouts.specimens import Shape, crop_patch, fill_mask, footprint_polygon
from vision.learned.canvas import Canvas

COMPARED_PIXELS = 24  # across pictures in which pieces are compared
TURNED_BY = 10.0  # degrees between turns in which they are
FOUND_ASIDE = 0.8  # mm by which they may be found off when they are
PLAIN_SPREAD = 1e-3  # log units squared by which a pixel of a plain piece varies


class Views:
    """Pictures of pieces of one form, each in every turn and a little off, to be compared.

    patches: (n, w, p, 3) of n pieces, w ways, p pixels inside the form"""

    def __init__(
        self,
        view: Canvas,
        shapes: Set[Shape],
        places: Sequence[tuple[np.ndarray, float, np.ndarray]],
    ) -> None:
        size, disc, _ = min(shapes, key=lambda s: min(s[0]))
        if len(shapes) > 1:  # what all of them cover
            size, disc = (min(size), min(size)), True
        across = float(max(size)) * (1.0 if disc else 2**0.5)
        scale = COMPARED_PIXELS / across
        polygon = footprint_polygon(size, disc, 0.0) * scale + COMPARED_PIXELS / 2 - 0.5
        window = COMPARED_PIXELS, COMPARED_PIXELS
        inside = fill_mask(polygon, window) > 0.5
        turns = np.arange(0, 360, TURNED_BY) if disc else np.arange(0, 360, 90)
        if not disc and size[0] != size[1]:
            turns = np.array([0, 180])
        offs = FOUND_ASIDE * np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])
        small = msgspec.structs.replace(view, scale=scale)
        zoom = scale / view.scale
        shrunk = {
            i: cv2.resize(canvas, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_AREA)
            for i, canvas in {id(canvas): canvas for _, _, canvas in places}.items()
        }
        self.patches = np.array(
            [
                [
                    crop_patch(shrunk[id(canvas)], small.to_px(top + off), turn + by, window, 1.0)[
                        inside
                    ]
                    for off in offs
                    for by in turns
                ]
                for top, turn, canvas in places
            ],
            np.float32,
        )

    def differences(self) -> np.ndarray:
        """(n, n) how differently two look, in whichever of their ways they are most alike; brightness
        alone, which light makes too, counts less"""
        bright = self.patches.mean(-1, keepdims=True)
        told = np.concatenate([self.patches - bright, SHADE_WEIGHT**0.5 * bright], -1)
        n, ways = told.shape[:2]
        flat = told.reshape(n, ways, -1)
        squares = (flat**2).sum(-1)
        straight = flat[:, 0]
        cross = (flat.reshape(n * ways, -1) @ straight.T).reshape(n, ways, n)
        apart = (squares[..., None] + squares[:, 0] - 2 * cross).min(1) / flat.shape[-1]
        out = np.minimum(apart, apart.T).clip(0)
        np.fill_diagonal(out, 0.0)
        return out

    def likenesses(self) -> np.ndarray:
        """(n, n) 0..1: what share of one's picture, in the best of its ways, the other's print
        explains, whatever its colours"""
        n, ways = self.patches.shape[:2]
        flat = self.patches - self.patches.mean(2, keepdims=True)
        spread = (flat**2).sum((2, 3)) + PLAIN_SPREAD * flat.shape[2]
        prints = []
        for straight in flat[:, 0]:
            mark = straight @ np.linalg.eigh(straight.T @ straight)[1][:, -1]
            prints.append(mark / (np.linalg.norm(mark) + 1e-6))
        columns = np.ascontiguousarray(flat.transpose(0, 1, 3, 2)).reshape(n * ways * 3, -1)
        both = ((columns @ np.transpose(prints)) ** 2).reshape(n, ways, 3, n).sum(2)
        return (both / spread[..., None]).max(1)
