"""Pieces cut out of the sampler photos: where exactly each lies, and how it looks in the reference light."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.evidence import Contents
from vision.light import LOG, Light, compare, small_view
from vision.plan import Plan
from vision.shot import Shot
from vision.sites import Group, blocks, groups
from vision.windows import Pyramid, Windows, pixels_a_mm

MARGIN = 1.25      # a cut-out's side as a multiple of the footprint's, so that its edge is in it
SLOP = 0.22        # how far off its site's middle a piece may lie, in sides of the site
FINE = 60          # window pixels along a site at the finest


class Exemplar(msgspec.Struct, frozen=True, eq=False):
    """One piece as one photo shows it. contents: what lies there; size: the footprint seen, (w, d) mm, disc: round;
    picture: (m, m, 3) float32 log colours in the reference light, the footprint's middle in the middle, its sides
    along the picture's; scale: pixels a millimetre; where: the site; photo: its number; centre: (2,) mm off the
    site's middle, tilt: degrees."""

    contents: Contents
    size: tuple[float, float]
    disc: bool
    picture: np.ndarray
    scale: float
    where: str
    photo: int
    centre: np.ndarray
    tilt: float


def seen_size(contents: Contents, plan: Plan) -> tuple[tuple[float, float], bool]:
    """The footprint that a pile shows: its largest piece's, the upper one's of equals. ((w, d) mm, round)"""
    best = None
    for kind in contents:
        if kind == "?":
            continue
        p = plan.pieces[kind]
        area = p.footprint[0] * p.footprint[1] * (0.785 if p.disc else 1.0)
        if best is None or area >= best[0]:
            best = area, p
    return best[1].footprint, best[1].disc


def footprint_mask(size: tuple[float, float], disc: bool, side: int, scale: float, grow: float = 0.0,
                   tilt: float = 0.0) -> np.ndarray:
    """(side, side) float32 in 0..1: the footprint in the middle of a picture, its edge soft over a pixel.

    grow: mm added all round; tilt: degrees clockwise as seen."""
    t = (np.arange(side) + 0.5 - side / 2) / scale
    x, y = np.meshgrid(t, t)
    if disc:
        inside = size[0] / 2 + grow - np.hypot(x, y)
    else:
        a = np.deg2rad(tilt)
        u, v = x * np.cos(a) + y * np.sin(a), -x * np.sin(a) + y * np.cos(a)
        inside = np.minimum(size[0] / 2 + grow - np.abs(u), size[1] / 2 + grow - np.abs(v))
    return np.clip(inside * scale + 0.5, 0, 1).astype(np.float32)


def lights(plan: Plan, shots: list[Shot]) -> tuple[np.ndarray, list[Light]]:
    """The reference view and each shot's light. The reference is the mean of the empty photos, each in its own light."""
    views = [small_view(s.image, s.pose, plan.size) for s in shots]
    empties = [v for v, s in zip(views, shots) if not s.layout] or [np.median(views, 0).astype(np.float32)]
    first = empties[0]
    h, w = first.shape[:2]
    ys, xs = np.mgrid[0:h, 0:w]
    mm = np.stack([(xs + 0.5) / w * plan.size[0], (ys + 0.5) / h * plan.size[1]], -1).reshape(-1, 2)
    reference = np.mean([v - compare(v, first, plan.size).at(mm).reshape(v.shape) for v in empties], 0)
    return reference.astype(np.float32), [compare(v, reference, plan.size) for v in views]


def log_windows(windows: Windows, shot_pyramid: Pyramid, pose, light: Light, which: np.ndarray, height: float
                ) -> np.ndarray:
    """(n, side, side, 3) float32 log colours in the reference light"""
    cut = windows.cut(shot_pyramid, pose, which, height)
    return LOG[cut] - light.at(windows.centres[which])[:, None, None, :]


def difference(seen: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """(..., h, w) float32: how unlike each pixel is; colour counts more than brightness (shadows)"""
    d = seen - empty
    bright = d.mean(-1)
    return np.sqrt(0.3 * bright ** 2 + ((d - bright[..., None]) ** 2).sum(-1))


def localise(unlike: np.ndarray, edges: np.ndarray, size: tuple[float, float], disc: bool, scale: float, reach: float
             ) -> tuple[np.ndarray, float]:
    """Where a footprint lies in a window: (offset of its middle (2,) mm, tilt in degrees).

    unlike: (S, S) difference to the empty site; edges: (S, S) strength of edges that the empty site has not."""
    side = len(unlike)
    best = (-np.inf, np.zeros(2), 0.0)
    m = min(int(np.ceil(max(size) * 1.35 * scale)) | 1, side | 1)
    pad = cv2.BORDER_REFLECT
    middle = side // 2
    r = min(int(np.ceil(reach * scale)), middle)
    level = unlike / (np.percentile(unlike, 90) + 1e-6)
    strength = edges / (np.percentile(edges, 95) + 1e-6)
    for tilt in ([0.0] if disc else np.arange(-12, 12.1, 2.0)):
        grown = [footprint_mask(size, disc, m, scale, px / scale, tilt) for px in (-1.0, -0.5, 0.5, 2.0)]
        inner, outer, rim = grown[1], grown[3] - grown[2], grown[2] - grown[0]
        score = (cv2.filter2D(level, cv2.CV_32F, inner / inner.sum() - outer / outer.sum(), borderType=pad)
                 + cv2.filter2D(strength, cv2.CV_32F, rim / rim.sum(), borderType=pad))
        part = score[middle - r:middle + r + 1, middle - r:middle + r + 1]
        at = np.unravel_index(int(part.argmax()), part.shape)
        if part[at] > best[0]:
            offset = (np.array([at[1], at[0]], float) - r + middle + 0.5 - side / 2) / scale
            best = float(part[at]), offset, float(tilt)
    return best[1], best[2]


def edge_strength(logs: np.ndarray) -> np.ndarray:
    """(S, S) float32: gradient's length, the strongest of the colours"""
    gx = cv2.Sobel(logs, cv2.CV_32F, 1, 0, ksize=3)
    gy = cv2.Sobel(logs, cv2.CV_32F, 0, 1, ksize=3)
    return np.sqrt(gx * gx + gy * gy).max(-1)


def fine_windows(group: Group, shots: list[Shot], slop: float = SLOP) -> Windows:
    native = min(pixels_a_mm(s.pose, group.centres) for s in shots)
    return Windows(group.centres, group.side * (0.5 + slop), min(native, FINE / group.side))


def straighten(window: np.ndarray, scale: float, offset: np.ndarray, tilt: float, size: tuple[float, float]) -> np.ndarray:
    """(m, m, 3): the window turned and shifted so that the footprint lies straight in the middle"""
    m = int(np.ceil(max(size) * MARGIN * scale))
    a = np.deg2rad(tilt)
    middle = len(window) / 2 + np.asarray(offset) * scale - 0.5
    rotate = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    shift = middle - rotate @ np.array([m / 2 - 0.5, m / 2 - 0.5])
    return cv2.warpAffine(window, np.column_stack([rotate, shift]).astype(np.float32), (m, m),
                          flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE)


def covered_by_blocks(plan: Plan, layout: dict[str, Contents]) -> set[str]:
    """Sites that lie under a piece covering several"""
    out: set[str] = set()
    for site, contents in layout.items():
        spans = plan.pieces[contents[-1]].spans if contents and contents[-1] != "?" else None
        if spans and (group := blocks(plan, spans)) is not None and site in group.ids:
            out |= set(group.members[group.ids.index(site)])
    return out


def exemplars(plan: Plan, shots: list[Shot]) -> list[Exemplar]:
    """Every piece of the samplers that lies on a pile site, cut out."""
    _, room = lights(plan, shots)
    pyramids = [Pyramid(s.image) for s in shots]
    spans = sorted({p.spans for p in plan.piece if p.spans})
    all_groups = groups(plan) + [b for s in spans if (b := blocks(plan, s)) is not None]
    out = []
    for group in all_groups:
        windows = fine_windows(group, shots, SLOP if not group.block else SLOP / 2)
        everything = np.arange(len(group.ids))
        bare = [log_windows(windows, pyramids[n], s.pose, room[n], everything, 0.0)
                for n, s in enumerate(shots) if not s.layout]
        for n, s in enumerate(shots):
            hidden = covered_by_blocks(plan, s.layout) if not group.block else set()
            which = [i for i, site in enumerate(group.ids) if s.layout.get(site) and site not in hidden
                     and (plan.pieces[s.layout[site][-1]].spans is not None) == group.block]
            if not which:
                continue
            which = np.array(which)
            seen = log_windows(windows, pyramids[n], s.pose, room[n], which, 2.0)
            for i, window in zip(which, seen):
                contents = s.layout[group.ids[i]]
                size, disc = seen_size(contents[-1:] if group.block else contents, plan)
                empty = np.mean([b[i] for b in bare], 0) if bare else np.zeros_like(window)
                unlike = difference(window[None], empty[None])[0]
                edges = np.maximum(edge_strength(window) - edge_strength(empty), 0)
                offset, tilt = localise(unlike, edges, size, disc, windows.scale, group.side * SLOP)
                out.append(Exemplar(contents, size, disc, straighten(window, windows.scale, offset, tilt, size),
                                    windows.scale, group.ids[i], n, offset, tilt))
    return out
