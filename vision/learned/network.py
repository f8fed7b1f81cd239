"""The network's shape, and where its features are sampled. Shared by who reads and who teaches."""

from __future__ import annotations

import numpy as np

Weights = dict[str, np.ndarray]

FINE, WIDE, DEEP = 20, 32, 56  # channels at a half, a quarter, an eighth of the canvas
FEW = 12  # of a site's or piece's features that are kept at each of its places
SITE_GRID, PIECE_GRID = 12, 8  # places a side sampled of a site, of a piece
SITE_SIZE, PIECE_SIZE = 96, 64  # numbers that a site, a piece is described by
SITE_REACH, PIECE_REACH = 1.25, 1.5  # of its larger side that is sampled

# name: (size, channels in, out, stride, dilation)
TRUNK = {
    "half": (3, 24, FINE, 1, 1),
    "quarter": (3, FINE, WIDE, 2, 1),
    "quarter_res": (3, WIDE, WIDE, 1, 1),
    "eighth": (3, WIDE, DEEP, 2, 1),
    "eighth_a_res": (3, DEEP, DEEP, 1, 1),
    "eighth_b_res": (3, DEEP, DEEP, 1, 2),
    "eighth_c_res": (3, DEEP, DEEP, 1, 1),
    "eighth_up": (1, DEEP, WIDE, 1, 1),
    "join_res": (3, WIDE, WIDE, 1, 1),
    "quarter_up": (1, WIDE, FINE, 1, 1),
    "heat": (3, FINE, FINE, 1, 1),
}


def grid_places(
    middle_px: np.ndarray, side_px: np.ndarray, grid: int, stride: int, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Where a square grid about middles (r, 2) canvas px, `side_px` (r,) wide, falls on a feature
    map (h, w) of this stride: rows of the flattened map (r, grid^2, 4) int32 and their weights (r,
    grid^2, 4) float32"""
    h, w = shape
    t = (np.arange(grid) + 0.5) / grid - 0.5
    off = np.stack(np.meshgrid(t, t), -1).reshape(1, -1, 2) * np.asarray(side_px, float).reshape(
        -1, 1, 1
    )
    at = (np.asarray(middle_px, float)[:, None] + off + 0.5) / stride - 0.5
    low = np.floor(at)
    part = (at - low).astype(np.float32)
    low = low.astype(np.int32)
    x0, x1 = np.clip(low[..., 0], 0, w - 1), np.clip(low[..., 0] + 1, 0, w - 1)
    y0, y1 = np.clip(low[..., 1], 0, h - 1), np.clip(low[..., 1] + 1, 0, h - 1)
    fx, fy = part[..., 0], part[..., 1]
    index = np.stack([y0 * w + x0, y0 * w + x1, y1 * w + x0, y1 * w + x1], -1)
    weight = np.stack([(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx], -1)
    return index, weight
