"""Pictures of cards cut out of a canvas, however they lie."""

from __future__ import annotations

import numpy as np

from vision.photometry.canvas import Frame, sample_canvas


def placed(grid: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """(N, h, w, 2) mm, float32, of a grid laid at (N, 3) poses: x, y in mm, turn in radians"""
    c, s, x, y = (
        v.astype(np.float32)[:, None, None]
        for v in (np.cos(pose[:, 2]), np.sin(pose[:, 2]), pose[:, 0], pose[:, 1])
    )
    out = np.empty((len(pose), *grid.shape), np.float32)
    u, v = grid[..., 0].astype(np.float32), grid[..., 1].astype(np.float32)
    np.add(u * c - v * s, x, out=out[..., 0])
    np.add(u * s + v * c, y, out=out[..., 1])
    return out


def cut(
    canvas: np.ndarray,
    frame: Frame,
    grid: np.ndarray,
    pose: np.ndarray,
    light: np.ndarray | None = None,
) -> np.ndarray:
    """(N, h, w, 3) float32 patches at (N, 3) poses; light: (N, 3) factors"""
    px = placed(
        grid * np.float32(frame.scale), np.column_stack([frame.to_px(pose[:, :2]), pose[:, 2]])
    )
    got = sample_canvas(canvas, px)
    return got if light is None else got * light[:, None, None, :].astype(np.float32)


def in_pixels(frame: Frame, pose: np.ndarray) -> np.ndarray:
    """(N, 3) poses in pixels of the canvas and radians"""
    return np.column_stack([frame.to_px(pose[:, :2]), pose[:, 2]])


def is_canvas(canvas: np.ndarray) -> bool:
    """Whether kernels can take it: (h, w, 4) uint8 in one piece"""
    return (
        canvas.ndim == 3
        and canvas.shape[2] == 4
        and canvas.dtype == np.uint8
        and canvas.flags.c_contiguous
    )


def is_whole(*canvases: np.ndarray) -> bool:
    """Whether each lies in memory in one piece, as kernels take them"""
    return all(c.flags.c_contiguous for c in canvases)
