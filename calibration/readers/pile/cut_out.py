"""Pieces cut out of the sampler photos: where exactly each lies, and how it looks in the reference
light."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import cv2
import msgspec
import numpy as np

from vision.geometry.footprints import lean_at, pile_height
from vision.geometry.posed_photo import Shot
from vision.geometry.site_groups import SizeGroup, spare_reach
from vision.geometry.site_windows import Pyramid, Windows, scale_at
from vision.photometry.room_light import RoomLight, to_reference_logs
from vision.plan import Plan
from vision.readers.pile.exemplar import ASKEW, footprint_mask

MARGIN = 1.25  # a cut-out's side as a multiple of the footprint's, so that its edge is in it
SLOP = 0.25  # how far off its site's middle a piece may lie, in sides of the site
FINE = 60  # window pixels along a site at the finest
SMALLEST = 24  # window pixels along the smallest piece, where the site is much larger
TALL = 0.2  # of a site's side that a top may be seen off its foot before windows are cut higher up
CROOKED = 0.1  # of the score of a place, that lying across or crooked must gain to be believed
LARGEST = 110  # window pixels along a window at most


def log_windows(
    windows: Windows,
    shot_pyramid: Pyramid,
    pose,
    light: RoomLight,
    which: np.ndarray,
    height: float,
) -> np.ndarray:
    """(n, side, side, 3) float32 log colours in the reference light"""
    cut = windows.cut(shot_pyramid, pose, which, height)
    return to_reference_logs(cut, light.at(windows.centres[which]))


def difference(seen: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """(..., h, w) float32: how unlike each pixel is; colour counts more than brightness
    (shadows)"""
    d = seen - empty
    bright = d.mean(-1)
    return np.sqrt(0.3 * bright**2 + ((d - bright[..., None]) ** 2).sum(-1))


def best_place(
    score: Callable[[float], np.ndarray], tilts: Iterable[float], doubt: np.ndarray, scale: float
) -> tuple[np.ndarray, float, float]:
    """The highest point over all tilts of score(tilt) - doubt, both (S, S): (offset from the middle
    (2,) mm, tilt, score)"""
    best = (-np.inf, np.zeros(2), 0.0)
    side = len(doubt)
    for tilt in tilts:
        total = score(tilt) - doubt
        y, x = np.unravel_index(int(total.argmax()), total.shape)
        if total[y, x] > best[0]:
            best = (
                float(total[y, x]),
                (np.array([x, y], float) + 0.5 - side / 2) / scale,
                float(tilt),
            )
    return best[1], best[2], best[0]


def swept(mask: np.ndarray, by: np.ndarray) -> np.ndarray:
    """The mask together with all its places on the way to `by` (2,) px: a tall piece's top and the
    sides seen below it"""
    steps = int(np.ceil(np.abs(by).max()))
    out = mask
    for k in range(1, steps + 1):
        x, y = by * k / steps
        moved = cv2.warpAffine(
            mask,
            np.float32([[1, 0, x], [0, 1, y]]),
            mask.shape[::-1],
            borderMode=cv2.BORDER_CONSTANT,
        )
        out = np.maximum(out, moved)
    return out


def mask_side(size: tuple[float, float], by: np.ndarray, scale: float, most: int) -> int:
    """Pixels a side, odd, of a mask that holds a footprint and its rim, `swept` by (2,) px; most:
    the window's"""
    return min(int(np.ceil(max(size) * 1.35 * scale + 2 * np.abs(by).max())), most) | 1


def rim_score(
    unlike: np.ndarray,
    edges: np.ndarray,
    size: tuple[float, float],
    disc: bool,
    scale: float,
    foot: np.ndarray | None = None,
) -> Callable[[float], np.ndarray]:
    """tilt -> (S, S): how well a footprint's middle lies at each pixel: unlike the board inside
    more than round about, edges along its rim. All as in localise()"""
    by = np.zeros(2) if foot is None else foot * scale
    side = len(unlike)
    m = mask_side(size, by, scale, side)
    pad = cv2.BORDER_REFLECT
    # of the window that the piece takes
    share = min(size[0] * size[1] * scale**2 / unlike.size, 1.0)
    level = unlike / (np.percentile(unlike, 100 - 30 * share) + 1e-6)
    strength = edges / (np.percentile(edges, 100 - 10 * share) + 1e-6)

    def score(tilt: float) -> np.ndarray:
        grown = [
            swept(footprint_mask(size, disc, m, scale, px / scale, tilt), by)
            for px in (-1.0, -0.5, 0.5, 2.0)
        ]
        inner, outer, rim = grown[1], grown[3] - grown[2], grown[2] - grown[0]
        return cv2.filter2D(
            level, cv2.CV_32F, inner / inner.sum() - outer / outer.sum(), borderType=pad
        ) + cv2.filter2D(strength, cv2.CV_32F, rim / rim.sum(), borderType=pad)

    return score


def localise(
    unlike: np.ndarray,
    edges: np.ndarray,
    size: tuple[float, float],
    disc: bool,
    scale: float,
    doubt: np.ndarray,
    foot: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:
    """Where a footprint lies in a window: (offset of its middle (2,) mm, tilt in degrees).

    unlike: (S, S) difference to the empty site; edges: (S, S) strength of edges that the empty site
    has not; doubt: (S, S) how unlikely a middle is there; foot: (2,) mm from the top's middle,
    which is sought, to the foot's."""
    score = rim_score(unlike, edges, size, disc, scale, foot)
    if disc:
        return best_place(score, [0.0], doubt, scale)[:2]
    straight = np.arange(-ASKEW, ASKEW + 0.1, 2.0)
    oblique = np.arange(ASKEW + 3, 90 - ASKEW, 3.0)
    if size[0] == size[1]:
        oblique = oblique[oblique <= 45] if len(oblique) else oblique
        oblique = np.concatenate([oblique, -oblique])
    tried = [straight, oblique] if size[0] == size[1] else [straight, straight + 90, oblique]
    best = best_place(score, tried[0], doubt, scale)
    for other in (best_place(score, tilts, doubt, scale) for tilts in tried[1:]):
        # one hardly longer than wide would else lie across by chance
        best = other if other[2] >= best[2] + CROOKED else best
    return best[:2]


def doubt_map(
    side: int, scale: float, free: np.ndarray, expected: np.ndarray, give: float
) -> np.ndarray:
    """(S, S): how unlikely a piece's middle is at each pixel of a window. free: (2,) mm either way
    that it may lie off `expected` (2,) mm without sticking out of its site; give: mm beyond that
    cost one."""
    t = (np.arange(side) + 0.5 - side / 2) / scale
    x = np.maximum(np.abs(t - expected[0]) - free[0], 0)
    y = np.maximum(np.abs(t - expected[1]) - free[1], 0)
    return ((x[None] ** 2 + y[:, None] ** 2) / give**2).astype(np.float32)


def own_part(
    side: int, scale: float, reach: np.ndarray, expected: np.ndarray, fade: float
) -> np.ndarray:
    """(S, S) 0..1: how much a pixel of a window counts for what lies on its site; less beyond
    `reach` (2,) mm from `expected`, since neighbours may lie there"""
    return np.exp(-doubt_map(side, scale, reach, expected, fade))


def towards(side: int, scale: float, expected: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(S, S) bool: what of a window is nearer to one of the other places, (n, 2) mm from its
    middle, than to that itself, all of them seen `expected` (2,) mm aside"""
    t = (np.arange(side) + 0.5 - side / 2) / scale
    x, y = np.meshgrid(t - expected[0], t - expected[1])
    out = np.zeros((side, side), bool)
    for a, b in others[np.abs(others).max(1) < side / scale]:
        out |= x * a + y * b > (a * a + b * b) / 2
    return out


def edge_strength(logs: np.ndarray) -> np.ndarray:
    """(S, S) float32: gradient's length, the strongest of the colours"""
    gx = cv2.Sobel(logs, cv2.CV_32F, 1, 0, ksize=3)
    gy = cv2.Sobel(logs, cv2.CV_32F, 0, 1, ksize=3)
    return np.sqrt(gx * gx + gy * gy).max(-1)


def looked_at(group: SizeGroup, plan: Plan, shots: list[Shot]) -> tuple[SizeGroup, Windows]:
    """The group with the plane its windows are cut in, and the windows in which its pieces are
    looked at closely: as fine as the pictures are, or as is needed.

    The plane is the board's own, so that its print keeps its place; half way up for what covers
    several sites, which is judged without the board; between the tops of tall pieces, which else
    would be seen far off their sites."""
    seen = {c for s in shots for i in group.ids if (c := s.layout.get(i))}
    tops = [
        pile_height(c, plan)
        for c in seen
        if plan.pieces.get(c[-1]) and not plan.pieces[c[-1]].spans
    ] or [0.0]
    lean = max(float(np.abs(lean_at(s.pose, group.centres)).max()) for s in shots)
    plane, extra = 0.0, 0.0
    if group.block:
        plane = max((p.height for p in plan.piece if p.spans == group.spans), default=0.0) / 2
    elif max(tops) * lean > TALL * group.side:
        plane, extra = (max(tops) + min(tops)) / 2, (max(tops) - min(tops)) / 2 * lean
    largest = max(
        (max(plan.pieces[c[-1]].footprint) for c in seen if c[-1] in plan.pieces),
        default=group.side,
    )
    half = (
        group.side * (0.5 + (SLOP / 2 if group.block else SLOP))
        + extra
        + spare_reach(plan, group, largest)
    )
    native = min(scale_at(s.pose, group.centres) for s in shots)
    small = min(
        (min(plan.pieces[c[-1]].footprint) for c in seen if len(c) == 1 and c[-1] != "?"),
        default=group.side,
    )
    scale = min(native, max(FINE / group.side, SMALLEST / small), LARGEST / (2 * half))
    return msgspec.structs.replace(group, plane=plane), Windows(group.centres, half, scale)


def straighten(
    window: np.ndarray,
    scale: float,
    offset: np.ndarray,
    tilt: float,
    size: tuple[float, float],
    side: int | None = None,
) -> np.ndarray:
    """(m, m, ...): the window turned and shifted so that the footprint lies straight in the middle;
    m: `side` pixels"""
    m = side or int(np.ceil(max(size) * MARGIN * scale))
    a = np.deg2rad(tilt)
    middle = len(window) / 2 + np.asarray(offset) * scale - 0.5
    rotate = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    shift = middle - rotate @ np.array([m / 2 - 0.5, m / 2 - 0.5])
    return cv2.warpAffine(
        window,
        np.column_stack([rotate, shift]).astype(np.float32),
        (m, m),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
