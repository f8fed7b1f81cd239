"""Begins a copy's prints, the pictures that its network looks for wherever they lie on a place, with
what its kinds look like. `begin_prints` is what fitting its classes begins with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from vision.learned.colour_shares import OWN_COLOURS, share_colours, tabulate_colours
from vision.learned.network import (
    ANGLES,
    PART_COUNTS,
    RINGS,
    SITE_PIXELS,
    SITE_TEMPLATE,
    TEMPLATES,
    Weights,
    cut_parts,
    match_parts,
    match_templates,
)
from vision.photometry.palette_light import cluster_pixels

SPARE_PRINTS = 8  # prints that stay as they were drawn, for what no class looks like
FEWEST_SHOWN, MOST_SHOWN = 5, 100  # pictures of a class that its print is begun from
FIRST_LAID = 16  # of them that the others are laid on to begin with
JUDGES = 60  # of them that say on which of these they lie best
ALIGNED = 3  # times that all are laid on their median
# of the mean scatter of a picture's numbers, added to each: there are more numbers than pictures. Of
# the Nile's discs 83.7 % are told by their prints alone with 0.03, 81.7 with 0.1, 80.3 with 0.3
RIDGE = 0.03
ROWS_AT_ONCE = 1024  # places whose pictures are widened to 32 bits, or matched, together
SCALED = 1024  # places by which prints are scaled to fit them alike
OWN_SAYS = 1.0  # how much a class's own print says for it at first
OTHERS_SAY = 0.3  # of what the other prints were drawn to say
# pictures of a class, and pixels of these, that a copy's own colours are chosen from
COLOUR_PICTURES, COLOUR_PIXELS = 60, 3000
COLOUR_SEED = 0
LEAST_FIT = 1.0  # standard deviations under the mean: worse fits of parts are all the same


def begin_prints(name: str, weights: Weights, rows: Mapping[str, np.ndarray]) -> Weights:
    """The weights of a classifier, "site" or "piece", whose prints are what tells each class that is
    often shown from the others, however it lies: Fisher's linear discriminants (1936).

    rows: the places that are shown, as of `class_fit.rows_of`"""
    label, pixels, turned = matched_pictures(rows)
    shown = frequent_classes(label, TEMPLATES - SPARE_PRINTS)
    if len(shown) < 2:
        return weights

    def lay_rows(mine: np.ndarray) -> np.ndarray:
        return lay_anywhere(name, pixels[mine], bool(turned[mine[0]]))

    filters = draw_filters(label, shown, lay_rows)
    prints = weights[f"classes/{name}_prints"].copy()
    prints[..., : len(shown)] = filters.T.reshape(*prints.shape[:-1], len(shown))
    some = pixels[:: max(len(pixels) // SCALED, 1)].astype(np.float32)
    fits = match_templates(name, some, prints, bool(turned.any()))
    spread = fits.std(0) + 1e-6
    said = weights[f"classes/{name}"].copy()
    said[-TEMPLATES:] *= OTHERS_SAY
    said[len(said) - TEMPLATES + np.arange(len(shown)), shown] += OWN_SAYS
    return dict(weights) | {
        f"classes/{name}_prints": prints / spread,
        f"classes/{name}_prints.bias": -fits.mean(0) / spread,
        f"classes/{name}": said,
    }


def draw_parts(name: str, rows: Mapping[str, np.ndarray]) -> Weights:
    """Prints of the parts of a classifier's pictures, of each part those that tell the classes apart by
    it: what is laid on one part of a piece leaves the others to be known by.

    rows: the places that are shown, as of `class_fit.rows_of`"""
    label, fine, turned = matched_pictures(rows)
    shown = frequent_classes(label, TEMPLATES)
    shape = (ANGLES, RINGS, 3) if name == "piece" else (SITE_TEMPLATE, SITE_TEMPLATE, 3)
    prints = np.zeros((PART_COUNTS[name], *shape, TEMPLATES), np.float32)
    bias = np.zeros(PART_COUNTS[name] * TEMPLATES, np.float32)
    if len(shown) > 1:
        for n in range(PART_COUNTS[name]):
            filters = draw_filters(
                label,
                shown,
                lambda mine, part=n: lay_part(name, fine[mine], part, bool(turned[mine[0]])),
            )
            prints[n, ..., : len(shown)] = filters.T.reshape(*shape, len(shown))
        some = fine[:: max(len(fine) // SCALED, 1)].astype(np.float32)
        fits = match_parts(name, some, prints, bool(turned.any()))
        spread = fits.std(0) + 1e-6
        prints /= spread.reshape(PART_COUNTS[name], *np.ones(len(shape), int), TEMPLATES)
        bias = LEAST_FIT - fits.mean(0) / spread
    return {f"classes/{name}_parts": prints, f"classes/{name}_parts.bias": bias}


def slice_rows(count: int) -> list[slice]:
    """So many rows, some at a time: their pictures are hundreds of MB even in 16 bits"""
    return [slice(n, n + ROWS_AT_ONCE) for n in range(0, count, ROWS_AT_ONCE)]


def match_parts_of_rows(name: str, drawn: Weights, rows: Mapping[str, np.ndarray]) -> np.ndarray:
    """(r, n) what the prints of parts say of places as of `class_fit.rows_of`, as a reader has it"""
    fine, prints = rows["pixels"], drawn[f"classes/{name}_parts"]
    turned = turned_places(rows)
    fits = np.zeros((len(fine), PART_COUNTS[name] * TEMPLATES), np.float32)
    for quarters in (False, True):
        places = np.flatnonzero((rows["matched"] > 0) & (turned == quarters))
        for some in (places[part] for part in slice_rows(len(places))):
            fits[some] = match_parts(name, fine[some].astype(np.float32), prints, quarters)
            fits[some] += drawn[f"classes/{name}_parts.bias"]
    return np.maximum(fits, 0)


def draw_colours(name: str, rows: Mapping[str, np.ndarray]) -> Weights:
    """The copy's own colours, of all classes alike: (OWN_COLOURS, 3), as pictures have them; none of
    places that are shown as close-ups alone"""
    label = np.where(rows["matched"] > 0, rows["label"], -1)
    rng, some = np.random.default_rng(COLOUR_SEED), []
    for c in np.unique(label[label >= 0]):
        pixels = rows["pixels"][np.flatnonzero(label == c)[:COLOUR_PICTURES]].reshape(-1, 3)
        some.append(pixels[rng.integers(len(pixels), size=COLOUR_PIXELS)].astype(np.float32))
    if not some:
        return {}
    return {f"classes/{name}_colours": cluster_pixels(np.concatenate(some), OWN_COLOURS)[1]}


def share_colours_of_rows(name: str, drawn: Weights, rows: Mapping[str, np.ndarray]) -> np.ndarray:
    """(r, n) as of `share_colours`, of places as of `class_fit.rows_of`; 0 of close-ups"""
    colours = drawn.get(f"classes/{name}_colours")
    if colours is None:
        return np.zeros((len(rows["label"]), 0), np.float32)
    table, fine = tabulate_colours(colours), rows["pixels"]
    parts = [
        share_colours(name, fine[some].astype(np.float32), table, len(colours))
        for some in slice_rows(len(fine))
    ]
    return np.concatenate(parts) * (rows["matched"] > 0)[:, None]


def matched_pictures(
    rows: Mapping[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the places that prints are matched at: (r,) classes, (r, ...) pictures, (r,) whether what lies
    there may be turned by quarters"""
    matched = rows["matched"] > 0
    places = slice(None) if matched.all() else np.flatnonzero(matched)
    return rows["label"][places], rows["pixels"][places], turned_places(rows)[places]


def turned_places(rows: Mapping[str, np.ndarray]) -> np.ndarray:
    """(r,) whether what lies there may be turned by quarters"""
    return ~rows.get("upright", np.ones(len(rows["pixels"]), bool))


def frequent_classes(label: np.ndarray, most: int) -> np.ndarray:
    """The classes that are shown often enough, the most often shown first"""
    counts = np.bincount(label)
    often = [int(c) for c in np.argsort(-counts, kind="stable") if counts[c] >= FEWEST_SHOWN]
    return np.array(often[:most])


def draw_filters(
    label: np.ndarray, shown: np.ndarray, lay_rows: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """(shown, n) directions that tell these classes apart. lay_rows: of some rows what `align_pictures`
    takes"""
    middles, strays = [], []
    for c in shown:
        middle, lying = align_pictures(lay_rows(np.flatnonzero(label == c)[:MOST_SHOWN]))
        middles.append(middle)
        strays.append(lying - middle)
    return discriminate_classes(np.stack(middles), np.concatenate(strays))


def lay_part(name: str, fine: np.ndarray, part: int, quarters: bool) -> np.ndarray:
    """As `lay_anywhere`, of one part of pictures that are `FINER`"""
    turned = [np.rot90(fine, -q, (1, 2)) for q in range(4)] if quarters else [fine]
    parts = [cut_parts(name, v)[part] for v in turned]
    return np.concatenate([lay_anywhere(name, p, False) for p in parts], 1)


def lay_anywhere(name: str, pixels: np.ndarray, quarters: bool) -> np.ndarray:
    """(r, p, n) all parts of pictures (r, ...) that a print may be laid on, each in all ways that it
    may be turned; as it lies in the middle of them first. quarters: whether a site's may be turned"""
    pixels = pixels.astype(np.float32)
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
