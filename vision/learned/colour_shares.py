"""How much of a place each of a copy's own colours takes, wherever on it they lie (Swain and Ballard
1991): a thin line or a small piece that prints miss still shows its colour. Shared by who reads and
who teaches."""

from __future__ import annotations

import numpy as np

from vision.learned.network import ANGLES, FINER, RINGS, SITE_PIXELS, SITE_REACH

OWN_COLOURS = 48  # of a copy: with 32 lines and small pieces are told worse, with 64 as well
# of numbers as of `picture_of`: log units over LOG_SPREAD from the table's blackest to white paper
DARKEST, LIGHTEST = -1.5, 2.6
SHADES = 24  # of each colour, finer than noise
# outer radii of a site's disc and of the ring about it, in sides of the site; what remains of the
# site, and what lies beyond, are zones too
SITE_RADII = (0.22, 0.42)
PIECE_ZONES = 3  # rings about a piece's middle


def map_zones(name: str) -> np.ndarray:
    """(h, w) int: which zone of a site's or a piece's fine picture each place is in"""
    if name == "piece":
        rings = FINER * RINGS
        return np.tile(np.arange(rings) * PIECE_ZONES // rings, (ANGLES, 1))
    n = FINER * SITE_PIXELS
    off = (np.mgrid[:n, :n] + 0.5 - n / 2) / n * SITE_REACH
    inside = np.abs(off).max(0) < 0.5
    return np.select([np.hypot(*off) < r for r in SITE_RADII] + [inside], [0, 1, 2], 3)


def tabulate_colours(colours: np.ndarray) -> np.ndarray:
    """(SHADES^3,) int: the nearest of colours (k, 3) to each that a picture may show, in steps"""
    step = (LIGHTEST - DARKEST) / SHADES
    levels = DARKEST + step * (np.arange(SHADES, dtype=np.float32) + 0.5)
    every = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1).reshape(-1, 3)
    return (np.square(colours).sum(1) - 2 * every @ colours.T).argmin(1)


def share_colours(name: str, fine: np.ndarray, table: np.ndarray, count: int) -> np.ndarray:
    """(r, zones * count) square roots of the share of each zone that each colour takes. fine: (r, h,
    w, 3) sites' or pieces' pictures; table: as of `tabulate_colours`, of so many colours"""
    steps = np.clip((fine - DARKEST) * (SHADES / (LIGHTEST - DARKEST)), 0, SHADES - 1).astype(int)
    shown = table[(steps[..., 0] * SHADES + steps[..., 1]) * SHADES + steps[..., 2]]
    zone = map_zones(name)
    sizes = np.bincount(zone.ravel())
    row = np.arange(len(fine))[:, None, None] * len(sizes)
    found = np.bincount(
        ((row + zone) * count + shown).ravel(), minlength=len(fine) * len(sizes) * count
    )
    shares = found.reshape(len(fine), len(sizes), count) / sizes[:, None]
    return np.sqrt(shares).reshape(len(fine), len(sizes) * count).astype(np.float32)
