"""Canvases averaged over some pixels, as coarse looks are compared with them: only where somebody
looks."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.kernels import Kernel
from vision.readers.loose.scene.resampling import is_canvas

TILE = 32  # pixels a side that are averaged together, as in vision/kernels/around.c
WIDEST = 16  # pixels that it averages over at most: so many sums fit in 16 bits
_soften = Kernel("soften", "BnnndnxBnnBB")


class Softened(msgspec.Struct, eq=False):
    """A canvas, (h, w, 4) uint8 or another, averaged over n x n pixels. picture: the same size,
    true in the tiles that are `done`;
    None: in all"""

    canvas: np.ndarray
    n: int
    picture: np.ndarray
    done: np.ndarray | None = None

    @classmethod
    def of(cls, canvas: np.ndarray, n: int) -> Softened:
        if _soften and n <= WIDEST and is_canvas(canvas):
            return cls(
                canvas,
                n,
                np.empty_like(canvas),
                np.zeros([-(-v // TILE) for v in canvas.shape[:2]], np.uint8),
            )
        return cls(canvas, n, cv2.blur(canvas, (n, n)))

    def around(self, px: np.ndarray, reach: float) -> np.ndarray:
        """The picture, true within `reach` pixels of (N, 2) places"""
        most = np.ones(1, np.uint8)  # of it is asked for: OpenCV is quicker with all of it
        if self.done is not None and _soften:
            _soften(
                self.canvas,
                *self.canvas.shape[:2],
                self.n,
                np.ascontiguousarray(px, float),
                len(px),
                reach,
                self.done,
                *self.done.shape,
                self.picture,
                most,
            )
        if self.done is not None and most[0]:
            self.picture[:], self.done = cv2.blur(self.canvas, (self.n, self.n)), None
        return self.picture

    def changed(self, rects: Sequence[tuple[int, int, int, int]]) -> None:
        """The canvas is another in rectangles of it: x0, y0, x1, y1 in pixels"""
        if self.done is None and rects:
            self.picture = cv2.blur(self.canvas, (self.n, self.n))
        for x0, y0, x1, y1 in rects if self.done is not None else ():
            self.done[
                max(y0 - self.n, 0) // TILE : (y1 + self.n) // TILE + 1,
                max(x0 - self.n, 0) // TILE : (x1 + self.n) // TILE + 1,
            ] = 0
