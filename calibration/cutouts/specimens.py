"""Pieces cut out of a copy's samplers, how each looks. Its central value: Specimen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set

import cv2
import msgspec
import numpy as np

from calibration.cutouts.outlines import colour_difference
from vision.geometry.corners import rectangle_corners
from vision.learned.canvas import Canvas
from vision.plan import Plan

Shape = tuple[tuple[float, float], bool, float]  # footprint in mm, whether round, height in mm

ASKEW = 12.0  # degrees that a piece which is laid straight may lie askew
BESIDE_OUTLINE = 0.5  # mm about a piece that are taken for it
LAID_ASKEW = 0.25  # of a form's pieces lie askew on piles, where they are laid any way
FOUND_OFF = 2  # double pixels of a look, 0.5 mm each or so, by which a piece may be found off


class Specimen(msgspec.Struct, eq=False):
    """A piece in a sampler. photo: its number; top: (2,) mm where its top's middle appears; base:
    mm of height beneath it; turn: degrees clockwise; look: (h, w, 3) log picture of its footprint,
    straight; clear: (h, w) 0..1, what of it nothing covers"""

    photo: int
    site: str
    kind: str
    top: np.ndarray
    base: float
    turn: float
    look: np.ndarray
    clear: np.ndarray

    def turn_quarters(self, q: int) -> None:
        """Takes it for lying turned clockwise by so many quarters more."""
        self.turn += 90.0 * q
        self.look, self.clear = (
            np.ascontiguousarray(np.rot90(v, q)) for v in (self.look, self.clear)
        )


def footprint_polygon(size: Sequence[float], disc: bool, turn: float) -> np.ndarray:
    """(n, 2) mm about the middle"""
    half = np.array(size) / 2
    if disc:
        t = np.linspace(0, 2 * np.pi, 20, endpoint=False)
        return np.column_stack([np.cos(t), np.sin(t)]) * half[0]
    return rectangle_corners(-half, half) @ turn_matrix(turn).T


def seen_sides(foot: np.ndarray, top: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(number, (4, 2) px, (2,) where it faces) of each side that the top of something with sides does
    not hide. foot, top: (n, 2) px the outlines of both"""
    middle = foot.mean(0)
    lean = top.mean(0) - middle
    for n in range(len(foot)):
        edge = [n, (n + 1) % len(foot)]
        facing = foot[edge].mean(0) - middle
        if facing @ lean < 0:
            yield n, np.concatenate([foot[edge], top[edge[::-1]]]), facing / np.hypot(*facing)


def turn_matrix(degrees: float) -> np.ndarray:
    """(2, 2): turns columns (x, y) clockwise"""
    a = np.deg2rad(degrees)
    return np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])


def fill_mask(polygon_px: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """(h, w) float32 0..1, soft at the edge"""
    mask = np.zeros(shape, np.uint8)
    cv2.fillConvexPoly(
        mask, np.round((polygon_px + 0.5) * 16 - 8).astype(np.int32), 255, cv2.LINE_AA, 4
    )
    return mask.astype(np.float32) / 255


def place_patch(at_px: np.ndarray, turn: float, shape: Sequence[int], zoom: float) -> np.ndarray:
    """(2, 3) float32: patch pixels to canvas pixels, its middle at `at_px`, turned clockwise by
    degrees"""
    m = zoom * turn_matrix(turn)
    middle = np.array([shape[1] / 2 - 0.5, shape[0] / 2 - 0.5])
    return np.column_stack([m, np.asarray(at_px) - m @ middle]).astype(np.float32)


def crop_patch(
    canvas: np.ndarray, at_px: np.ndarray, turn: float, shape: tuple[int, int], zoom: float
) -> np.ndarray:
    """(h, w, ...) what a canvas shows where a patch of this shape lies, as of `place_patch`"""
    m = place_patch(at_px, turn, shape, zoom)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(canvas, m, shape[::-1], flags=flags, borderMode=cv2.BORDER_REPLICATE)


def crop_straight(
    canvas: np.ndarray, view: Canvas, top: np.ndarray, turn: float, size: Sequence[float]
) -> np.ndarray:
    """(h, w, C) the footprint (w, d) mm about `top` mm, turned straight"""
    w, h = (max(round(v * view.scale), 4) for v in size)
    return crop_patch(canvas, view.to_px(top), turn, (h, w), 1.0)


def crop_window(
    canvas: np.ndarray, view: Canvas, centre: np.ndarray, n: int, scale: float, turn: float = 0.0
) -> np.ndarray:
    """(n, n, ...): a square window about `centre` mm at `scale` pixels a mm, turned clockwise by degrees"""
    return crop_patch(canvas, view.to_px(centre), turn, (n, n), view.scale / scale)


def silhouette_of(shape: Shape, turn: float, lean: np.ndarray, grown: float) -> np.ndarray:
    """(n, 2) float32 mm about its top's middle: the outline of top and sides. lean: (2,) mm from its
    foot to its top"""
    top = footprint_polygon(np.array(shape[0]) + 2 * grown, shape[1], turn)
    return cv2.convexHull(np.vstack([top, top - lean]).astype(np.float32)).reshape(-1, 2)


def piece_silhouette(plan: Plan, s: Specimen, lean: np.ndarray) -> np.ndarray:
    """(n, 2) mm: the outline of its top and sides as they appear"""
    piece = plan.pieces[s.kind]
    return s.top + silhouette_of(piece.shape, s.turn, lean * piece.height, BESIDE_OUTLINE)


def turn_like(plan: Plan, one: Specimen, other: Specimen) -> tuple[int, np.ndarray]:
    """(by how many quarters a specimen has to be turned to look like another of its kind, as far as
    both are clear; its look so turned, and shifted to lie on the other's: neither is found to the
    pixel)"""
    piece = plan.pieces[one.kind]
    if piece.disc or one.look.shape != other.look.shape:
        return 0, one.look
    h, w = ((n + 1) // 2 for n in one.clear.shape)
    mine, clear, seen, aim = (
        cv2.resize(v, (w, h), interpolation=cv2.INTER_AREA)
        for v in (one.look, one.clear, other.look, other.clear)
    )
    reach = min(FOUND_OFF, (min(h, w) - 1) // 4)
    size = h - 2 * reach, w - 2 * reach
    seen, aim = (v[reach : h - reach, reach : w - reach] for v in (seen, aim))
    windows_of = np.lib.stride_tricks.sliding_window_view
    best, out = np.inf, (0, one.look)
    for q in range(4) if piece.footprint[0] == piece.footprint[1] else (0, 2):
        looks = windows_of(np.rot90(mine, q), size, (0, 1)).transpose(0, 1, 3, 4, 2)
        both = np.minimum(windows_of(np.rot90(clear, q), size), aim) + 1e-3
        unlike = (np.minimum(colour_difference(looks, seen), 1) * both).sum((2, 3))
        unlike /= both.sum((2, 3))
        unlike -= 0.02 * (q == 0)
        if unlike.min() < best:
            off = 2 * (reach - np.array(np.unravel_index(unlike.argmin(), unlike.shape)))
            best, out = unlike.min(), (q, np.roll(np.rot90(one.look, q), off, (0, 1)))
    return out


def agreed_look(looks: Sequence[np.ndarray]) -> np.ndarray:
    """Of several pictures of a kind, each perhaps with other things on it, what most of them show
    at each pixel"""
    shape = looks[0].shape
    looks = [v for v in looks if v.shape == shape]
    if len(looks) == 1:
        return looks[0]
    if len(looks) == 2:
        one, other = looks
        alike = np.abs(one - other).max(-1) < 0.15
        return np.where(alike[..., None], (one + other) / 2, one)
    apart = []
    for a in looks:
        others = np.sort([cv2.blur(colour_difference(a, b), (5, 5)) for b in looks], 0)
        apart.append(others[1 : len(looks) // 2 + 1].mean(0))  # the first is the look itself
    best = np.argmin(apart, 0)
    return np.take_along_axis(np.stack(looks), best[None, ..., None], 0)[0]


def forms_laid_askew(plan: Plan, specimens: Sequence[Specimen]) -> set[tuple[float, float]]:
    """The footprints of pieces that people lay on piles any way, as they have room there"""
    askew: dict[tuple[float, float], list[bool]] = defaultdict(list)
    for s in specimens:
        site, piece = plan.sites[s.site], plan.pieces[s.kind]
        if site.reads == "pile" and not piece.disc:
            off = (s.turn - site.frame[1] + 45) % 90 - 45
            askew[piece.footprint].append(abs(off) > ASKEW)
    return {size for size, flags in askew.items() if np.mean(flags) > LAID_ASKEW}


def align_quarters(
    plan: Plan, specimens: Sequence[Specimen], told: Set[tuple] = frozenset()
) -> set[tuple]:
    """Turns the looks of each kind by quarters so that they look alike, in place: like those from
    clusters, where it is known how they lie; -> (how a site is read, footprint) of those that lie
    one way up throughout, as the plan says or the samplers show. told: (the same, kind) of those that
    would not be told apart else"""
    turned: dict[tuple, list[bool]] = defaultdict(list)
    turned_kinds: set[tuple] = set()
    directed = {(way, size) for way in ("pile", "cluster") for size in plan.directed_sizes}
    for kind in sorted({s.kind for s in specimens}):
        piece = plan.pieces[kind]
        mine = [s for s in specimens if s.kind == kind]
        mine.sort(key=lambda s: plan.sites[s.site].reads)  # clusters first
        if piece.disc or piece.footprint in plan.directed_sizes:
            continue
        for s in mine[1:]:
            if s.look.shape != mine[0].look.shape:
                continue
            q = turn_like(plan, s, mine[0])[0]
            key = plan.sites[s.site].reads, piece.footprint
            turned[key].append(q != 0)
            if q:
                turned_kinds.add((*key, kind))
            s.turn_quarters(q)
    seldom = {p for p, flags in turned.items() if len(flags) > 2 and np.mean(flags) <= 0.1}
    any_way = {(way, size) for way, size, _ in told & turned_kinds}
    return seldom | directed | {(way, size) for way, size, _ in told} - any_way
