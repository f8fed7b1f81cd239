"""Pieces cut out of the sampler photos: where exactly each lies, and how it looks in the reference light."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import cv2
import msgspec
import numpy as np

from vision.evidence import Contents
from vision.light import Light, compare, paint, small_view
from vision.plan import Plan
from vision.pose import Pose
from vision.shot import Shot
from vision.sites import Group, blocks, groups
from vision.windows import Pyramid, Windows, pixels_a_mm

MARGIN = 1.25      # a cut-out's side as a multiple of the footprint's, so that its edge is in it
SLOP = 0.25        # how far off its site's middle a piece may lie, in sides of the site
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
    reference = np.mean([v - np.log(compare(v, first, plan.size).at(mm)).reshape(v.shape) for v in empties], 0)
    return reference.astype(np.float32), [compare(v, reference, plan.size) for v in views]


def log_windows(windows: Windows, shot_pyramid: Pyramid, pose, light: Light, which: np.ndarray, height: float
                ) -> np.ndarray:
    """(n, side, side, 3) float32 log colours in the reference light"""
    cut = windows.cut(shot_pyramid, pose, which, height)
    return paint(cut, light.at(windows.centres[which]))


def difference(seen: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """(..., h, w) float32: how unlike each pixel is; colour counts more than brightness (shadows)"""
    d = seen - empty
    bright = d.mean(-1)
    return np.sqrt(0.3 * bright ** 2 + ((d - bright[..., None]) ** 2).sum(-1))


def best_place(score: Callable[[float], np.ndarray], tilts: Iterable[float], doubt: np.ndarray, scale: float
               ) -> tuple[np.ndarray, float]:
    """The highest point over all tilts of score(tilt) - doubt, both (S, S): (offset from the middle (2,) mm, tilt)"""
    best = (-np.inf, np.zeros(2), 0.0)
    side = len(doubt)
    for tilt in tilts:
        total = score(tilt) - doubt
        y, x = np.unravel_index(int(total.argmax()), total.shape)
        if total[y, x] > best[0]:
            best = float(total[y, x]), (np.array([x, y], float) + 0.5 - side / 2) / scale, float(tilt)
    return best[1], best[2]


def localise(unlike: np.ndarray, edges: np.ndarray, size: tuple[float, float], disc: bool, scale: float, doubt: np.ndarray
             ) -> tuple[np.ndarray, float]:
    """Where a footprint lies in a window: (offset of its middle (2,) mm, tilt in degrees).

    unlike: (S, S) difference to the empty site; edges: (S, S) strength of edges that the empty site has not; doubt:
    (S, S) how unlikely a middle is there."""
    side = len(unlike)
    m = min(int(np.ceil(max(size) * 1.35 * scale)) | 1, side | 1)
    pad = cv2.BORDER_REFLECT
    level = unlike / (np.percentile(unlike, 90) + 1e-6)
    strength = edges / (np.percentile(edges, 95) + 1e-6)

    def score(tilt: float) -> np.ndarray:
        grown = [footprint_mask(size, disc, m, scale, px / scale, tilt) for px in (-1.0, -0.5, 0.5, 2.0)]
        inner, outer, rim = grown[1], grown[3] - grown[2], grown[2] - grown[0]
        return (cv2.filter2D(level, cv2.CV_32F, inner / inner.sum() - outer / outer.sum(), borderType=pad)
                + cv2.filter2D(strength, cv2.CV_32F, rim / rim.sum(), borderType=pad))

    return best_place(score, [0.0] if disc else np.arange(-12, 12.1, 2.0), doubt, scale)


def doubt_map(side: int, scale: float, free: np.ndarray, expected: np.ndarray, give: float) -> np.ndarray:
    """(S, S): how unlikely a piece's middle is at each pixel of a window. free: (2,) mm either way that it may lie off
    `expected` (2,) mm without sticking out of its site; give: mm beyond that cost one."""
    t = (np.arange(side) + 0.5 - side / 2) / scale
    x = np.maximum(np.abs(t - expected[0]) - free[0], 0)
    y = np.maximum(np.abs(t - expected[1]) - free[1], 0)
    return ((x[None] ** 2 + y[:, None] ** 2) / give ** 2).astype(np.float32)


def own_part(side: int, scale: float, reach: np.ndarray, expected: np.ndarray, fade: float) -> np.ndarray:
    """(S, S) 0..1: how much a pixel of a window counts for what lies on its site; less beyond `reach` (2,) mm from
    `expected`, since neighbours may lie there"""
    return np.exp(-doubt_map(side, scale, reach, expected, fade))


def edge_strength(logs: np.ndarray) -> np.ndarray:
    """(S, S) float32: gradient's length, the strongest of the colours"""
    gx = cv2.Sobel(logs, cv2.CV_32F, 1, 0, ksize=3)
    gy = cv2.Sobel(logs, cv2.CV_32F, 0, 1, ksize=3)
    return np.sqrt(gx * gx + gy * gy).max(-1)


def fine_windows(group: Group, shots: list[Shot]) -> Windows:
    native = min(pixels_a_mm(s.pose, group.centres) for s in shots)
    slop = SLOP / 2 if group.block else SLOP
    return Windows(group.centres, group.side * (0.5 + slop), min(native, FINE / group.side))


def straighten(window: np.ndarray, scale: float, offset: np.ndarray, tilt: float, size: tuple[float, float],
               side: int | None = None) -> np.ndarray:
    """(m, m, ...): the window turned and shifted so that the footprint lies straight in the middle; m: `side` pixels"""
    m = side or int(np.ceil(max(size) * MARGIN * scale))
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


class Found(msgspec.Struct, eq=False):
    """A piece in a photo on the way to becoming an exemplar. unlike, edges, doubt: (S, S); offset: mm; tilt: degrees"""

    contents: Contents
    size: tuple[float, float]
    disc: bool
    where: str
    photo: int
    window: np.ndarray
    unlike: np.ndarray
    edges: np.ndarray
    doubt: np.ndarray
    offset: np.ndarray
    tilt: float


def height_of(contents: Contents, plan: Plan) -> float:
    """mm: a pile's top above the board; what is hidden counts as the thinnest kind"""
    thin = min(p.height for p in plan.piece)
    return sum(plan.pieces[k].height if k != "?" else thin for k in contents)


def plane_of(group: Group, plan: Plan) -> float:
    """mm above the board where a group's windows are cut: the board's own plane, so that its print keeps its place; half
    way up for what covers several sites, which is judged without the board"""
    return max((p.height for p in plan.piece if p.spans == group.spans), default=0.0) / 2 if group.block else 0.0


def lean_at(pose: Pose, mm: np.ndarray) -> np.ndarray:
    """(N, 2): how far, in mm a mm of height, the top of something upright is seen off its foot"""
    return (pose.to_mm(pose.to_px(mm, 10.0)) - mm) / 10.0


def find(plan: Plan, group: Group, windows: Windows, shots: list[Shot], pyramids: list[Pyramid], room: list[Light]
         ) -> list[Found]:
    """The pieces on a group's sites, each roughly where it lies"""
    everything = np.arange(len(group.ids))
    plane = plane_of(group, plan)
    bare = [log_windows(windows, pyramids[n], s.pose, room[n], everything, plane) for n, s in enumerate(shots) if not s.layout]
    side, scale = windows.side, windows.scale
    out = []
    for n, s in enumerate(shots):
        hidden = covered_by_blocks(plan, s.layout) if not group.block else set()
        which = np.array([i for i, site in enumerate(group.ids) if s.layout.get(site) and site not in hidden
                          and plan.pieces[s.layout[site][-1]].spans == (group.spans if group.block else None)], int)
        if not len(which):
            continue
        leans = lean_at(s.pose, group.centres[which])
        for i, window, lean in zip(which, log_windows(windows, pyramids[n], s.pose, room[n], which, plane), leans):
            contents = s.layout[group.ids[i]]
            size, disc = seen_size(contents[-1:] if group.block else contents, plan)
            top = lean * (height_of(contents, plan) - plane)
            free = np.maximum(group.boxes[i] / 2 - np.array(size) / 2, 0.03 * group.side)
            doubt = doubt_map(side, scale, free, top, 0.1 * group.side)
            own = own_part(side, scale, group.boxes[i] / 2 + 0.03 * group.side, top, 0.08 * group.side)
            empty = np.mean([b[i] for b in bare], 0) if bare else np.zeros_like(window)
            unlike = difference(window, empty) * own
            edges = np.maximum(edge_strength(window) - edge_strength(empty), 0) * own
            offset, tilt = localise(unlike, edges, size, disc, scale, doubt)
            out.append(Found(contents, size, disc, group.ids[i], n, window, unlike, edges, doubt, offset, tilt))
    return out


def agree(found: list[Found], scale: float) -> None:
    """Moves pieces of one footprint to where they look most like the middle one of their kind: what is unlike the board,
    and edges, have the same shape in all of them, whatever is printed on them."""
    size, disc = found[0].size, found[0].disc
    m = int(np.ceil(max(size) * 1.2 * scale)) | 1
    if len(found) < 4 or m >= len(found[0].unlike):
        return

    def parts(f: Found) -> tuple[np.ndarray, np.ndarray]:
        return tuple(v / (v.std() + 1e-6) for v in (cv2.GaussianBlur(w, (0, 0), 0.7) for w in (f.unlike, f.edges)))

    for _ in range(2):
        views = [[np.ascontiguousarray(straighten(v, scale, f.offset, f.tilt, size, m)) for v in parts(f)] for f in found]
        middle = [np.median([v[k] for v in views], 0) for k in (0, 1)]
        if disc:
            middle = [np.mean([turn(v, a) for a in np.arange(0, 360, 15)], 0) for v in middle]
        middle = [((v - v.mean()) / (v.std() * v.size)).astype(np.float32) for v in middle]
        for f in found:
            score = partial(likeness, parts(f), middle)
            f.offset, f.tilt = best_place(score, [0.0] if disc else f.tilt + np.array([-2.0, 0, 2]), 0.5 * f.doubt, scale)


def likeness(views: Sequence[np.ndarray], models: Sequence[np.ndarray], tilt: float) -> np.ndarray:
    """(S, S): the sum of each view's correlation with its model, turned by `tilt`, put there"""
    return sum(cv2.filter2D(v, cv2.CV_32F, turn(t, tilt), borderType=cv2.BORDER_REFLECT) for v, t in zip(views, models))


def turn(picture: np.ndarray, angle: float) -> np.ndarray:
    """The picture turned about its middle, degrees clockwise as seen"""
    if not angle:
        return picture
    m = len(picture)
    return cv2.warpAffine(picture, cv2.getRotationMatrix2D((m / 2 - 0.5, m / 2 - 0.5), -angle, 1), (m, m),
                          borderMode=cv2.BORDER_REPLICATE)


def exemplars(plan: Plan, shots: list[Shot]) -> list[Exemplar]:
    """Every piece of the samplers that lies on a pile site, cut out."""
    _, room = lights(plan, shots)
    pyramids = [Pyramid(s.image) for s in shots]
    spans = sorted({p.spans for p in plan.piece if p.spans})
    out = []
    for group in groups(plan) + [b for s in spans if (b := blocks(plan, s)) is not None]:
        windows = fine_windows(group, shots)
        found = find(plan, group, windows, shots, pyramids, room)
        for shape in {(f.size, f.disc) for f in found}:
            agree([f for f in found if (f.size, f.disc) == shape], windows.scale)
        out += [Exemplar(f.contents, f.size, f.disc, straighten(f.window, windows.scale, f.offset, f.tilt, f.size),
                         windows.scale, f.where, f.photo, f.offset, f.tilt) for f in found]
    return out
