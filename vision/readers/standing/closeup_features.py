"""What is seen close up where something stands: colours and the way edges run, height by height up
the thing. Its value: Closeup."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.readers.standing.lean_geometry import FAINT, FINER, Frame

ROWS, BELOW = 22, 2  # heights that are looked at; of which so many lie before the foot
COLUMNS = 9  # places across
WAYS = 5  # numbers that say how much edge there is, and which way it runs
ABOVE = 1.06  # times the tallest thing's height that is looked at


class Closeup(msgspec.Struct, frozen=True, eq=False):
    """Places round a thing. frame: of the coarse windows; heights: (ROWS,) mm; larger: (ROWS,) how
    much larger things are seen so high; across: (COLUMNS,) mm."""

    frame: Frame
    heights: np.ndarray
    larger: np.ndarray
    across: np.ndarray

    @classmethod
    def of(cls, frame: Frame, tallest: float, widest: float, above: float) -> Closeup:
        """tallest, widest: mm, height and radius of what stands; above: mm that the camera is above
        the board"""
        heights = (np.arange(ROWS) - BELOW) / (ROWS - BELOW - 1) * tallest * ABOVE
        return cls(
            frame,
            heights,
            1 / np.maximum(1 - np.maximum(heights, 0) / above, 0.1),
            np.linspace(-1.1, 1.1, COLUMNS) * widest,
        )

    def seen(
        self,
        close: np.ndarray,
        window: np.ndarray,
        empty: np.ndarray,
        free: np.ndarray,
        foot: np.ndarray,
        lean: np.ndarray,
    ) -> np.ndarray:
        """(n, D) what is seen in windows: close (n, FINER V, FINER U) the brightness; window,
        empty: (n, V, U, 4); free: (n, V, U) nought where something else hides what is there; foot:
        (n, 2) mm across and along; lean: (n,) mm a mm"""
        step = self.across[1] - self.across[0]
        v, u = self.frame.shape
        broad = max(round(step * self.frame.scale), 1)
        out = []
        for c, w, e, f, at, slope in zip(close, window, empty, free, foot, lean):
            x = at[0] + self.across * self.larger[:, None]
            y = (
                at[1]
                + (slope * self.heights * self.larger + np.minimum(self.heights, 0))[:, None]
                + 0 * x
            )
            x, y = (
                (x + self.frame.wide) * self.frame.scale - 0.5,
                (y + self.frame.back) * self.frame.scale - 0.5,
            )
            i, j = (np.clip(np.rint(q).astype(int), 0, m - 1) for q, m in ((y, v), (x, u)))
            fi, fj = (
                np.clip(np.rint((q + 0.5) * FINER - 0.5).astype(int), 0, m * FINER - 1)
                for q, m in ((y, v), (x, u))
            )
            # no more of the window than these places and what is blurred into them
            top, left = (max(int(n.min()) - broad // 2 - 3, 0) for n in (i, j))
            part = (
                slice(top, int(i.max()) + broad // 2 + 4),
                slice(left, int(j.max()) + broad // 2 + 4),
            )
            c = c[top * FINER : part[0].stop * FINER, left * FINER : part[1].stop * FINER]
            w, e, f = w[part], e[part], f[part]
            i, j, fi, fj = i - top, j - left, fi - top * FINER, fj - left * FINER
            open_ = cv2.resize(f, c.shape[::-1], interpolation=cv2.INTER_NEAREST)
            fine = cv2.blur(ways(np.ascontiguousarray(c)) * open_[..., None], (broad * FINER,) * 2)
            flat = cv2.blur(
                np.dstack([(w[..., :3] - e[..., :3]) * 2, w[..., :1]]) * f[..., None],
                (broad, broad),
            )
            rough = cv2.blur(f, (broad, broad))
            out.append(
                np.concatenate([fine[fi, fj].ravel(), flat[i, j].ravel(), rough[i, j].ravel()])
            )
        return np.array(out, np.float32)


def ways(bright: np.ndarray) -> np.ndarray:
    """(V, U, WAYS) how much edge there is, and which way it runs: (cos, sin) of two and of four
    times its angle"""
    x, y = (cv2.Sobel(bright, cv2.CV_32F, *way, ksize=3, scale=0.125) for way in ((1, 0), (0, 1)))
    steep = cv2.magnitude(x, y)
    much = np.log1p(steep / FAINT)
    steep += 1e-6
    x /= steep
    y /= steep
    c, s = x * x - y * y, 2 * x * y
    return np.dstack([much, much * c, much * s, much * (c * c - s * s), much * (2 * c * s)])
