"""Begins a copy's prints, the pictures that its network looks for wherever they lie on a place, with
what its kinds look like. `begin_prints` is what fitting its classes begins with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vision.learned.network import (
    ANGLES,
    SITE_PIXELS,
    SITE_TEMPLATE,
    TEMPLATES,
    Weights,
    slide_templates,
    turn_templates,
)

SPARE_PRINTS = 8  # prints that stay as they were drawn, for what no class looks like
FEWEST_SHOWN, MOST_SHOWN = 5, 100  # pictures of a class that its print is begun from
FIRST_LAID = 16  # of them that the others are laid on to begin with
JUDGES = 60  # of them that say on which of these they lie best
ALIGNED = 3  # times that all are laid on their median
# of the mean scatter of a picture's numbers, added to each: there are more numbers than pictures. Of
# the Nile's discs 83.7 % are told by their prints alone with 0.03, 81.7 with 0.1, 80.3 with 0.3
RIDGE = 0.03
SCALED = 1024  # places by which prints are scaled to fit them alike
OWN_SAYS = 1.0  # how much a class's own print says for it at first
OTHERS_SAY = 0.3  # of what the other prints were drawn to say


def begin_prints(name: str, weights: Weights, rows: Mapping[str, np.ndarray]) -> Weights:
    """The weights of a classifier, "site" or "piece", whose prints are what tells each class that is
    often shown from the others, however it lies: Fisher's linear discriminants (1936).

    rows: the places that are shown, as of `class_fit.rows_of`"""
    places = np.flatnonzero(rows["matched"] > 0)
    label, pixels = rows["label"][places], rows["pixels"][places].astype(np.float32)
    turned = ~rows["upright"][places] if "upright" in rows else np.zeros(len(places), bool)
    counts = np.bincount(label)
    often = [int(c) for c in np.argsort(-counts, kind="stable") if counts[c] >= FEWEST_SHOWN]
    shown = np.array(often[: TEMPLATES - SPARE_PRINTS])
    if len(shown) < 2:
        return weights
    middles, strays = [], []
    for c in shown:
        mine = np.flatnonzero(label == c)[:MOST_SHOWN]
        middle, lying = align_pictures(lay_anywhere(name, pixels[mine], bool(turned[mine[0]])))
        middles.append(middle)
        strays.append(lying - middle)
    filters = discriminate_classes(np.stack(middles), np.concatenate(strays))
    prints = weights[f"classes/{name}_prints"].copy()
    prints[..., : len(shown)] = filters.T.reshape(*prints.shape[:-1], len(shown))
    some = pixels[:: max(len(pixels) // SCALED, 1)]
    fits = (
        slide_templates(some, prints, bool(turned.any()))
        if name == "site"
        else turn_templates(some, prints)
    )
    spread = fits.std(0) + 1e-6
    said = weights[f"classes/{name}"].copy()
    said[-TEMPLATES:] *= OTHERS_SAY
    said[len(said) - TEMPLATES + np.arange(len(shown)), shown] += OWN_SAYS
    return dict(weights) | {
        f"classes/{name}_prints": prints / spread,
        f"classes/{name}_prints.bias": -fits.mean(0) / spread,
        f"classes/{name}": said,
    }


def lay_anywhere(name: str, pixels: np.ndarray, quarters: bool) -> np.ndarray:
    """(r, p, n) all parts of pictures (r, ...) that a print may be laid on, each in all ways that it
    may be turned; as it lies in the middle of them first. quarters: whether a site's may be turned"""
    if name == "piece":
        turns = [np.roll(pixels, -n, 1) for n in range(ANGLES)]
        return np.stack(turns, 1).reshape(len(pixels), ANGLES, -1)
    k, slack = SITE_TEMPLATE, SITE_PIXELS - SITE_TEMPLATE
    middle_first = sorted(
        np.ndindex(slack + 1, slack + 1), key=lambda at: np.hypot(*np.array(at) - slack / 2)
    )
    return np.stack(
        [
            np.rot90(pixels[:, y : y + k, x : x + k], -q, (1, 2)).reshape(len(pixels), -1)
            for y, x in middle_first
            for q in (range(4) if quarters else (0,))
        ],
        1,
    )


def align_pictures(ways: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """((n,) the median of pictures, (r, n) these), each in that of its ways (r, p, n) in which it is
    most like it"""
    size = (ways**2).sum(2)

    def square_distance(picture: np.ndarray, count: int | None = None) -> np.ndarray:
        return size[:count] - 2 * ways[:count] @ picture + picture @ picture

    found = [np.median(square_distance(way[0], JUDGES).min(1)) for way in ways[:FIRST_LAID]]
    middle = ways[int(np.argmin(found)), 0]
    for _ in range(ALIGNED):
        lying = ways[np.arange(len(ways)), square_distance(middle).argmin(1)]
        middle = np.median(lying, 0)
    return middle, lying


def discriminate_classes(middles: np.ndarray, strays: np.ndarray) -> np.ndarray:
    """(classes, n) directions of length 1 that tell pictures like middles (classes, n) apart, given
    how they stray from these (r, n)"""
    scatter = strays.T @ strays / len(strays)
    scatter += RIDGE * np.trace(scatter) / len(scatter) * np.eye(len(scatter), dtype=scatter.dtype)
    found = np.linalg.solve(scatter, (middles - middles.mean(0)).T).T
    return found / (np.linalg.norm(found, axis=1, keepdims=True) + 1e-9)
