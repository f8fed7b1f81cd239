"""Pieces drawn on log canvases of their own, and found on them."""

import cv2
import numpy as np

from calibration.cutouts.specimens import Specimen, turn_matrix
from vision.learned.canvas import Canvas

MIDDLE = np.array([30.0, 30.0])  # mm, of the canvas


def fill_box(canvas: np.ndarray, view: Canvas, box, turn: float, value: float) -> None:
    """Fills a box, (x0, y0, x1, y1) mm about the middle, turned clockwise by degrees"""
    x0, y0, x1, y1 = box
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]) @ turn_matrix(turn).T
    where = np.round(view.to_px(MIDDLE + corners) * 16).astype(np.int32)
    cv2.fillConvexPoly(canvas, where, (value,) * 3, cv2.LINE_AA, 4)


def found_piece(n: int, kind: str, top: np.ndarray, turn: float = 0.0) -> Specimen:
    """A piece found on the n-th canvas, nobody looked yet how it looks"""
    none = np.zeros((0, 0, 3), np.float32)
    return Specimen(n, "F1", kind, top, 0.0, turn, none, none[..., 0])
