"""Finds the pieces of a heap by their outlines alone, which of them is which not being known. Its
value: `find_outlines`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from calibration.cutouts.outlines import colour_difference
from calibration.cutouts.seek import Samplers, outline_turns
from calibration.cutouts.specimens import Shape, crop_window, fill_mask, silhouette_of
from vision.learned.canvas import Canvas
from vision.learned.groups import base_contents, stands_upright

SOUGHT_SCALE = 1.5  # pixels a mm at which outlines are sought
RING_WIDTH = 1.6  # mm about an outline that should look like the ground
# how much what is strange about an outline counts, and what is bare inside it
AROUND_SHARE, INSIDE_SHARE = 0.8, 0.25
HALOS = (0.0, 0.5, 1.0, 1.5, 2.0)  # mm that shadows and blur may make everything look larger
FEW_PIECES, JUDGING_HEAPS = 2, 24  # of a heap, and of all, by which that is told
CONFUSED = 2.5  # mm within which a square taken for a disc is looked for anew
SHARPENED = 1.2  # mm within which the most unlike pixel tells what half of a contrast is
UNLIKE_NOISE = (2.0, 3.0)  # times the usual difference from which a pixel is strange, and surely
MEDIAN_DEVIATION = 1.4826  # standard deviations of a normal distribution's median one
# of the contrast beside, below which a pixel shows none of a piece, and how much more shows all
EDGE_SHARES = (0.3, 0.25)
NO_NOISE = 1e-3  # log units: a picture without any


class Heap(msgspec.Struct, frozen=True, eq=False):
    """The loose kinds on a site of a photo, each as it looks lying straight"""

    photo: int
    site: str
    kinds: Counter[str]


class Found(msgspec.Struct, eq=False):
    """A loose piece. heap: its number; shape: as of `Piece.shape`; top: (2,) mm where its top's middle
    appears; turn: degrees clockwise; score: how well its outline shows; kind: "" until it is told"""

    heap: int
    shape: Shape
    top: np.ndarray
    turn: float
    score: float
    kind: str = ""


def find_outlines(samplers: Samplers, heaps: Sequence[Heap]) -> list[Found]:
    """Where the pieces of heaps lie by their outlines alone"""
    scale, both = samplers.view.scale, zip(samplers.canvases, samplers.grounds)
    strange = [map_strangeness(canvas, ground, scale) for canvas, ground in both]

    def find_all(some: Sequence[Heap], grown: float) -> list[Found]:
        return [f for heap in some for f in outlines_on(samplers, heap, strange[heap.photo], grown)]

    some = [h for h in heaps if h.kinds.total() <= FEW_PIECES][:JUDGING_HEAPS]
    some = some or list(heaps[:JUDGING_HEAPS])

    def mean_score(grown: float) -> float:
        return float(np.mean([f.score for f in find_all(some, grown)] or [0]))

    halo = max(HALOS, key=mean_score)
    out = []
    for n, heap in enumerate(heaps):
        out += [msgspec.structs.replace(f, heap=n) for f in find_all([heap], halo)]
    return out


def loose_heaps(samplers: Samplers) -> list[Heap]:
    """What samplers show of loose pieces that lie"""
    plan, out = samplers.plan, []
    for n, shot in enumerate(samplers.shots):
        for site, contents in shot.layout.items():
            if plan.sites[site].reads != "cluster":
                continue
            below = base_contents(plan, plan.sites[site], tuple(contents))
            kinds = Counter(
                plan.pieces[k].looks_like
                for k in contents[len(below) :]
                if k in plan.pieces and not stands_upright(plan.pieces[k])
            )
            if kinds:
                out.append(Heap(n, site, kinds))
    return out


def map_strangeness(canvas: np.ndarray, ground: np.ndarray, scale: float) -> np.ndarray:
    """(h, w) float32 0..1: where something lies, with its edge at half of its contrast: blur makes
    all that is strange look larger"""
    unlike = cv2.blur(colour_difference(canvas, ground), (3, 3))
    unlike /= max(MEDIAN_DEVIATION * float(np.median(unlike)), NO_NOISE)
    n = 2 * max(round(SHARPENED * scale), 1) + 1
    most = cv2.dilate(unlike, np.ones((n, n), np.uint8))
    (least, wide), (least_share, rise) = UNLIKE_NOISE, EDGE_SHARES
    sure = np.clip((unlike - least) / wide, 0, 1)
    inside = np.clip((unlike / np.maximum(most, 1) - least_share) / rise, 0, 1)
    return (sure * inside).astype(np.float32)


def outlines_on(samplers: Samplers, heap: Heap, strange: np.ndarray, grown: float) -> list[Found]:
    """The likeliest places of a heap's pieces by their outlines, sides and all, on any of a site's
    parts"""
    plan = samplers.plan
    wanted: Counter[Shape] = Counter()
    for kind, count in heap.kinds.items():
        wanted[plan.pieces[kind].shape] += count
    got: list[Found] = []
    for outline in plan.sites[heap.site].outlines:
        lean = samplers.lean_at(heap.photo, outline.mean(0))
        got += outlines_within(samplers.view, strange, outline, wanted, lean, grown)
    best: list[Found] = []
    for shape, count in wanted.items():
        best += sorted((f for f in got if f.shape == shape), key=lambda f: -f.score)[:count]
    return best


class Search:
    """A window in which the outlines of a heap's pieces are sought. patch: (n, n) strangeness;
    allowed: (n, n) where tops' middles may appear; lean: (2,) mm a mm of height"""

    def __init__(
        self, patch: np.ndarray, allowed: np.ndarray, scale: float, lean: np.ndarray, grown: float
    ) -> None:
        self.patch, self.allowed, self.scale = patch, allowed, scale
        self.lean, self.grown = lean, grown
        self.kernels: dict[Shape, list[tuple[float, np.ndarray]]] = {}

    def kernels_of(self, shape: Shape) -> list[tuple[float, np.ndarray]]:
        if shape not in self.kernels:
            lean = self.lean * shape[2]
            self.kernels[shape] = outline_kernels(shape, self.scale, lean, self.grown)
        return self.kernels[shape]

    def best_of(
        self, shape: Shape, near: np.ndarray | None = None
    ) -> tuple[float, np.ndarray, float]:
        """(score, (2,) pixel, turn) of its best place, or of the best near a pixel"""
        kernels, patch, allowed, corner = self.kernels_of(shape), self.patch, self.allowed, (0, 0)
        if near is not None:
            reach = int(CONFUSED * self.scale)
            m = kernels[0][1].shape[0] // 2 + reach + 1
            x0, y0 = (max(int(v) - m, 0) for v in near)
            part = slice(y0, int(near[1]) + m + 1), slice(x0, int(near[0]) + m + 1)
            patch, corner = patch[part], (x0, y0)
            ys, xs = np.ogrid[: patch.shape[0], : patch.shape[1]]
            allowed = np.maximum(abs(xs + x0 - near[0]), abs(ys + y0 - near[1])) <= reach
        best = (-np.inf, np.zeros(2), 0.0)
        for turn, kernel in kernels:
            got = cv2.filter2D(patch, cv2.CV_32F, kernel, borderType=cv2.BORDER_CONSTANT)
            got[~allowed] = -np.inf
            y, x = np.unravel_index(int(got.argmax()), got.shape)
            if got[y, x] > best[0]:
                best = float(got[y, x]), np.array([x, y], float) + corner, turn
        return best

    def cover(self, shape: Shape, at: np.ndarray, turn: float) -> None:
        """What a piece covers is no longer strange."""
        outline = silhouette_of(shape, turn, self.lean * shape[2], self.grown) * self.scale + at
        cv2.fillPoly(self.patch, [np.round(outline).astype(np.int32)], 0.0)


def outlines_within(
    view: Canvas,
    strange: np.ndarray,
    outline: np.ndarray,
    wanted: Counter[Shape],
    lean: np.ndarray,
    grown: float,
) -> list[Found]:
    """As `outlines_on`, of one of the site's outlines, (n, 2) mm"""
    scale = min(view.scale, SOUGHT_SCALE)
    height = max(s[2] for s in wanted)
    area = outline + lean * height
    most = max(np.hypot(*s[0]) / 2 + np.abs(lean * s[2]).max() for s in wanted) + 2
    low, high = area.min(0) - most, area.max(0) + most
    centre, n = (low + high) / 2, int(np.ceil((high - low).max() * scale))
    soft = cv2.blur(strange, (2, 2))[..., None]
    patch = crop_window(soft, view, centre, n, scale).reshape(n, n).copy()
    area_px = (area - centre) * scale + n / 2 - 0.5
    allowed = cv2.fillPoly(np.zeros((n, n), np.uint8), [np.round(area_px).astype(np.int32)], 1) > 0
    search, left = Search(patch, allowed, scale, lean, grown), Counter(wanted)
    whole = patch.copy()
    got: list[tuple[Shape, tuple[float, np.ndarray, float]]] = []
    while left.total():
        found = [(shape, search.best_of(shape)) for shape, count in left.items() if count]
        shape, best = max(found, key=lambda b: b[1][0])
        got.append((shape, best))
        search.cover(shape, best[1], best[2])
        left[shape] -= 1
    search.patch = whole
    swap_confused(search, got)
    out = []
    for shape, (score, at, turn) in got:
        area = cv2.contourArea(silhouette_of(shape, turn, lean * shape[2], grown))
        out.append(Found(0, shape, centre + (at + 0.5 - n / 2) / scale, turn, score / area))
    return out


def swap_confused(search: Search, got: list[tuple[Shape, tuple[float, np.ndarray, float]]]) -> None:
    """A square taken for a disc and a disc for the square change places."""
    for i in range(len(got)):
        for j in range(i):
            (one, (_, here, _)), (other, (_, there, _)) = got[i], got[j]
            if one == other:
                continue
            swapped = search.best_of(other, here), search.best_of(one, there)
            now = search.best_of(one, here), search.best_of(other, there)
            if sum(b[0] for b in swapped) > sum(b[0] for b in now):
                got[i], got[j] = (other, swapped[0]), (one, swapped[1])


def outline_kernels(
    shape: Shape, scale: float, lean: np.ndarray, grown: float
) -> list[tuple[float, np.ndarray]]:
    """(turn, kernel) that adds what is strange inside a silhouette and takes off what is around it"""
    size = np.array(shape[0])
    n = int(np.ceil((np.hypot(*size) / 2 + np.abs(lean).max() + grown + RING_WIDTH) * scale)) + 1
    side, middle = 2 * n + 1, np.array([n, n])
    out = []
    for turn in outline_turns(shape):
        soft, wide = (
            fill_mask(silhouette_of(shape, turn, lean, more) * scale + middle, (side, side))
            for more in (grown, grown + RING_WIDTH)
        )
        kernel = soft - AROUND_SHARE * (wide - soft)
        kernel[soft > 0.5] -= INSIDE_SHARE
        out.append((float(turn), (kernel / scale**2).astype(np.float32)))
    return out
