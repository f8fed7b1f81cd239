"""Sites that look as the empty board does: of these nothing more is asked."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

from vision.learned.canvas import Canvas
from vision.learned.groups import EMPTY, FOREIGN, SiteGroup, site_box
from vision.learned.network import grid_places, square_axes
from vision.learned.sampling import gather_places
from vision.plan import Site

CELL = 4  # canvas pixels across the cells that are compared: a camera's noise is 0.01 in them
PLAIN_GRID = 10  # places a side at which a site is compared
# of how unlike the empty board the least visible thing is that a copy's photos show on a site; log units
# at most, for what nobody showed. Six copies' test photos:
# docs/lab/2026-11-28-boards-nobody-had-looked-at.md
SURELY_PLAIN, MOST_PLAIN = 0.5, 0.12
# chances told of such a site: that nothing lies there, and each class
PLAINLY_EMPTY, HARDLY_ELSE = 0.999, 1e-6


def average_cells(logs: np.ndarray) -> np.ndarray:
    """(h/4, w/4, 3) of a log canvas (h, w, 3), its sides multiples of `CELL`"""
    h, w = logs.shape[:2]
    return cv2.resize(logs, (w // CELL, h // CELL), interpolation=cv2.INTER_AREA)


def differ_from_empty(off: np.ndarray, at: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(r, places) log units by which sites differ from the empty board, in the colour in which they differ
    most. off: (h/4, w/4, 3) difference of both canvases' cells; at: (r, 2) px, axes: (r, 2, 2) px sides"""
    places = grid_places(at, axes, PLAIN_GRID, CELL, off.shape[:2])
    return np.abs(gather_places(off, *places)).max(2)


def compare_sites(
    view: Canvas,
    group: SiteGroup,
    sites: Sequence[Site],
    off: np.ndarray,
    origin: np.ndarray | float = 0.0,
) -> np.ndarray:
    """As `differ_from_empty`, of a group's sites, each looked at as it lies; origin: (2,) canvas pixel of
    the differences' first"""
    at = view.to_px(np.array([s.centre for s in sites])) - origin
    side = view.scale * np.array([site_box(s).max() for s in sites])
    return differ_from_empty(off, at, square_axes(side, group.degrees_of(sites)))


def plain_logs(classes: int) -> np.ndarray:
    """(classes,) log-probabilities of what lies on a site that looks as when it is empty"""
    out = np.full(classes, math.log(HARDLY_ELSE))
    out[FOREIGN] = math.log(1 - PLAINLY_EMPTY)
    out[EMPTY] = math.log(PLAINLY_EMPTY)
    return out
