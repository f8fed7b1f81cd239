"""The printed board as a map: what it looks like from above, and how to find it again in any
picture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import cv2
import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.occlusion import hidden_mask
from vision.geometry.pose import Pose
from vision.geometry.site_windows import spread_grid
from vision.kernels import Kernel
from vision.plan import Plan
from vision.registration.board_edges import peaks_between
from vision.storage.image_array import decode_image, halve_image, to_grey

CANVAS = 900  # longer side of the map, pixels
RADIUS = 10  # of a patch, pixels of its own level
FEATURES = 2000  # the most features of the map and of a picture
# contrast threshold of SIFT: on a plain board the grain gives features
FAINT_FEATURE = 0.01
SEARCHED = 900  # longer side of a picture in which features are searched for
SPREAD_CELLS = 14  # cells along the longer side over which patches are spread
SLOPPY_REACH_MM = 4.0  # how far pieces may be off their place
SEEN_CORRELATION = 0.65  # least correlation at which a patch counts as seen
# if a picture has this many times more values than are sampled, it is not converted to grey as a
# whole
SPARSE = 100


class Picture:
    """A picture (image) and its grey pyramid, computed when first needed (level); size: (width,
    height) of the full picture; scale: pixels per pixel of a picture 1640 wide, the unit in which
    distances are limited."""

    def __init__(self, image: np.ndarray) -> None:
        self.image = image
        self.levels: list[np.ndarray] = []
        self.size = (image.shape[1], image.shape[0])
        self.scale = max(self.size) / 1640

    def level(self, k: int) -> np.ndarray:
        """The picture in grey, halved k times, (h, w) uint8"""
        while len(self.levels) <= k:
            grey = halve_image(self.levels[-1]) if self.levels else to_grey(self.image)
            self.levels.append(grey)
        return self.levels[k]

    def at(self, k: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(h, w) uint8 grey values at pixels (h, w) of a level. If there is no pyramid yet, a few
        pixels are converted to grey individually"""
        few = not k and not self.levels and x.size * SPARSE < self.image.size
        seen = cv2.remap(
            self.image if few else self.level(k),
            x,
            y,
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT,
        )
        return to_grey(seen)


def at_level(px: np.ndarray, k: int) -> np.ndarray:
    """Full-size pixels as pixels of a copy halved k times"""
    return (px + 0.5) / 2**k - 0.5


class PrintMap(msgspec.Struct, frozen=True, eq=False, dict=True):
    """canvas: (h, w) uint8 grey, the board from above; px_per_mm: its scale; origin: (2,) mm of its
    upper left;
    spots: (N, 2) canvas pixels: centres of good patches, the best spread first; likes, alikeness,
    telling: placements in which the board looks alike, how much, and the patches that distinguish
    them (see vision/registration/pose_ambiguity.py)."""

    canvas: np.ndarray
    px_per_mm: float
    origin: np.ndarray
    spots: np.ndarray
    likes: np.ndarray = np.zeros((0, 4, 2))
    alikeness: np.ndarray = np.zeros(0)
    telling: np.ndarray = np.zeros((0, 0), bool)

    def pack(self) -> dict[str, np.ndarray]:
        """As arrays for the model file"""
        return {
            "print": cv2.imencode(".png", self.canvas)[1].ravel(),
            "print_frame": np.array([self.px_per_mm, *self.origin]),
            "print_spots": self.spots.astype(np.uint16),
            "print_likes": self.likes,
            "print_alikeness": self.alikeness,
            "print_telling": self.telling,
        }

    @classmethod
    def unpack(cls, arrays: dict[str, np.ndarray]) -> PrintMap:
        """The inverse of pack(); raises KeyError if something is missing"""
        canvas = decode_image(arrays["print"], cv2.IMREAD_GRAYSCALE)
        scale, x, y = map(float, arrays["print_frame"])
        spots, likes, alikeness = (
            arrays[f"print_{name}"].astype(float) for name in ("spots", "likes", "alikeness")
        )
        telling = arrays["print_telling"].astype(bool)
        return cls(canvas, scale, np.array([x, y]), spots, likes, alikeness, telling)

    @cached_property
    def levels(self) -> list[np.ndarray]:
        """The map, and the map halved once, twice and three times, (h, w) uint8 each"""
        out = [self.canvas]
        for _ in range(3):
            out.append(halve_image(out[-1]))
        return out

    def mm(self, canvas_px: np.ndarray) -> np.ndarray:
        """(N, 2) canvas pixels -> mm"""
        return (np.asarray(canvas_px, float) + 0.5) / self.px_per_mm + self.origin

    @cached_property
    def patches(self) -> list[np.ndarray]:
        """Per level, (N, 2 RADIUS + 1, 2 RADIUS + 1): the patch around each spot"""
        size = (2 * RADIUS + 1,) * 2
        return [
            np.stack([cv2.getRectSubPix(c, size, s) for s in at_level(self.spots, k).tolist()])
            for k, c in enumerate(self.levels)
        ]

    @cached_property
    def features(self) -> tuple[np.ndarray, np.ndarray | None]:
        """(N, 2) mm and (N, 32) ORB descriptors of the map, at the scales at which a picture may
        show it"""
        small = cv2.resize(self.canvas, None, fx=0.8, fy=0.8, interpolation=cv2.INTER_AREA)
        at, descriptors = oriented_features(small, scales=5)
        return self.mm((at + 0.5) / 0.8 - 0.5), descriptors

    @cached_property
    def slanted(self) -> tuple[np.ndarray, np.ndarray | None]:
        """(N, 2) mm and (N, 128) SIFT descriptors of the map: these are found at any rotation and
        slant, but take five times as long"""
        at, descriptors = slanted_features(self.canvas)
        return self.mm(at), descriptors

    def match(
        self, picture: Picture, slanted: bool = False
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Features of the print found again in a picture: (N, 2) mm, (N, 2) full-size pixels; many
        may be wrong. None if there are too few. slanted: also for pictures taken from a completely
        different side."""
        mm, descriptors = self.slanted if slanted else self.features
        scale = SEARCHED / max(picture.size)
        k = max(int(np.floor(np.log2(1 / scale))), 0)
        image = picture.level(k)
        size = tuple(max(round(s * scale), 1) for s in picture.size)
        way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        image = cv2.resize(image, size, interpolation=way)
        at, seen = slanted_features(image) if slanted else oriented_features(image, scales=3)
        if seen is None or descriptors is None or len(at) < 8 or len(mm) < 8:
            return None
        matcher = cv2.BFMatcher(cv2.NORM_L2 if slanted else cv2.NORM_HAMMING)
        pairs = matcher.knnMatch(seen, descriptors, k=2)
        good = [m for m, *rest in pairs if rest and m.distance < 0.85 * rest[0].distance]
        if len(good) < 8:
            return None
        px = (at[[m.queryIdx for m in good]] + 0.5) / scale - 0.5
        return mm[[m.trainIdx for m in good]], px

    def measure(
        self,
        picture: Picture,
        pose: Pose,
        level: int,
        margin: int,
        which: slice | np.ndarray = slice(None),
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Locates the patches in a picture, within `margin` pixels of the level around where the
        pose puts them: (N, 2) mm, (N, 2) full-size pixels, (N,) correlation (-1 where out of the
        picture)."""
        spots = self.spots[which]
        if not len(spots):
            return np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0)
        mm = self.mm(spots)
        step = 2**level / self.px_per_mm
        at = pose.to_px(np.vstack([mm, mm + (step, 0), mm + (0, step)])).reshape(3, -1, 2)
        centre, across, down = at[0], at[1] - at[0], at[2] - at[0]
        areas = np.abs(across[:, 0] * down[:, 1] - across[:, 1] * down[:, 0])
        k = min(fitting_level(float(np.median(areas)) ** 0.5), 4)
        r = RADIUS + margin
        g = np.arange(-r, r + 1, dtype=float)
        matrix, grid = np.stack([across, down], -1) / 2**k, np.stack(np.meshgrid(g, g), -1)
        x, y = spread_grid(at_level(centre, k), matrix, grid)
        n = len(spots)
        seen = picture.at(k, x, y).reshape(n, 2 * r + 1, 2 * r + 1)
        w, h = picture.size
        inside = ((centre > 4) & (centre < (w - 5, h - 5))).all(1)
        shift, alike = np.zeros((n, 2)), np.full(n, -1.0)
        patches = self.patches[level][which]
        shift[inside], alike[inside] = best_matches(seen[inside], patches[inside])
        px = centre + across * shift[:, :1] + down * shift[:, 1:]
        return mm, px, alike


def fitting_level(zoom: float) -> int:
    """How many times a picture is halved before every `zoom` pixels of it are shown as one"""
    return max(int(np.floor(np.log2(max(zoom, 1e-6) / 1.3) + 1)), 0)


def oriented_features(grey: np.ndarray, scales: int) -> tuple[np.ndarray, np.ndarray | None]:
    """(N, 2) pixels and (N, 32) ORB descriptors of (h, w) uint8"""
    # large patches: prints are soft, and pieces are small compared with them
    orb = cv2.ORB.create(FEATURES, 1.2, scales, edgeThreshold=41, patchSize=41, fastThreshold=5)
    points, descriptors = orb.detectAndCompute(flatten_light(grey), None)
    return np.array([p.pt for p in points]).reshape(-1, 2), descriptors


def slanted_features(grey: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """(N, 2) pixels and (N, 128) SIFT descriptors of (h, w) uint8"""
    sift = cv2.SIFT.create(FEATURES, contrastThreshold=FAINT_FEATURE)
    points, descriptors = sift.detectAndCompute(grey, None)
    return np.array([p.pt for p in points]).reshape(-1, 2), descriptors


def flatten_light(grey: np.ndarray) -> np.ndarray:
    """(h, w) uint8 with light and shadow removed: each pixel relative to its surroundings"""
    f = grey.astype(np.float32)
    f -= cv2.blur(f, (41, 41))
    spread = np.sqrt(np.maximum(cv2.blur(f * f, (81, 81)), 9))
    return np.clip(128 + 42 * f / spread, 0, 255).astype(np.uint8)


def best_matches(seen: np.ndarray, patches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, 2) the subpixel shifts (x, y) of (N, p, p) patches within the picture's windows (N, s,
    s), and (N,) their correlations there; -1 if the peak is at the window's edge"""
    score = patch_correlations(seen, patches)
    n, m = np.arange(len(score)), score.shape[1]
    y, x = np.divmod(score.reshape(len(score), m * m).argmax(1), m)
    best = score[n, y, x]
    # NaN is not a peak either
    good = (x > 0) & (x < m - 1) & (y > 0) & (y < m - 1) & (best <= 1.01)
    n, x, y, best = n[good], x[good], y[good], best[good]
    shift, alike = np.zeros((len(score), 2)), np.full(len(score), -1.0)
    dx = peaks_between(score[n, y, x - 1], best, score[n, y, x + 1])
    dy = peaks_between(score[n, y - 1, x], best, score[n, y + 1, x])
    shift[good], alike[good] = np.stack([x + dx, y + dy], 1) - (m - 1) / 2, best
    return shift, alike


_correlate = Kernel("correlate", "BBnnnf")


def patch_correlations(seen: np.ndarray, patches: np.ndarray) -> np.ndarray:
    """(N, m, m) float32: the correlations of (N, p, p) patches with windows (N, s, s), at all
    shifts up to s - p pixels"""
    n, side, wide = len(seen), seen.shape[1], patches.shape[1]
    out = np.empty((n, side - wide + 1, side - wide + 1), np.float32)
    if _correlate:
        seen, patches = np.ascontiguousarray(seen), np.ascontiguousarray(patches)
        _correlate(seen, patches, n, side, wide, out)
        return out
    for i, (one, patch) in enumerate(zip(seen, patches)):
        out[i] = cv2.matchTemplate(one, patch, cv2.TM_CCOEFF_NORMED)
    return out


def compose_board(
    plan: Plan,
    images: Sequence[np.ndarray],
    poses: Sequence[Pose],
    layouts: Sequence[dict[str, Contents]],
    margin_mm: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """The empty board from above, assembled from the bare parts of the photos, the barest photo
    first.

    Returns the canvas, (h, w) bool where it is bare, its scale and origin."""
    w, h = plan.size[0] + 2 * margin_mm, plan.size[1] + 2 * margin_mm
    scale = CANVAS / max(w, h)
    origin = np.array([-margin_mm, -margin_mm])
    shape = round(h * scale), round(w * scale)
    around = np.ones((2 * int(SLOPPY_REACH_MM * scale) + 1,) * 2, np.uint8)
    bare = [
        cv2.dilate(hidden_mask(plan, layout, pose, shape, scale, origin), around) == 0
        for layout, pose in zip(layouts, poses)
    ]
    order = sorted(range(len(images)), key=lambda n: -int(bare[n].sum()))
    canvas, known = None, np.zeros(shape, bool)
    for n in order:
        pose, picture = poses[n], Picture(images[n])
        middle, beside_it = pose.to_px(np.array(plan.size) / 2 + [[0, 0], [1, 0]])
        k = fitting_level(float(np.linalg.norm(beside_it - middle)) / scale)
        a, b = pose.rectify_map(origin[0], origin[1], origin[0] + w, origin[1] + h, scale)
        seen = cv2.remap(picture.level(k), at_level(a, k), at_level(b, k), cv2.INTER_LINEAR)
        seen = seen[: shape[0], : shape[1]]
        fresh = bare[n] & ~known
        canvas = seen.copy() if canvas is None else np.where(fresh, seen, canvas)
        known |= fresh
        if known.all():
            break
    if canvas is None:
        raise ValueError("no photos")
    return canvas, known, scale, origin


def patch_centres(bare: np.ndarray, margin: int) -> np.ndarray:
    """(h, w) bool: the centres of patches that are completely bare, `margin` pixels or more from
    the canvas' edge"""
    inner = np.zeros(bare.shape, bool)
    inner[margin:-margin, margin:-margin] = True
    return inner & (cv2.erode(bare.astype(np.uint8), np.ones((2 * RADIUS + 1,) * 2)) > 0)


def choose_spots(canvas: np.ndarray, bare: np.ndarray) -> np.ndarray:
    """(N, 2) canvas pixels of corner-like spots, spread over the board, in an order such that the
    first n are spread too"""
    strength = cv2.cornerMinEigenVal(cv2.GaussianBlur(canvas, (0, 0), 1.0), 2 * RADIUS // 2 + 1)
    strength = np.where(patch_centres(bare, RADIUS), strength, 0)
    cell = max(canvas.shape) / SPREAD_CELLS
    found = []
    for row in range(round(canvas.shape[0] / cell)):
        for column in range(round(canvas.shape[1] / cell)):
            y0, x0 = round(row * cell), round(column * cell)
            part = strength[y0 : round(y0 + cell), x0 : round(x0 + cell)]
            if part.size and part.max() > 0:
                y, x = np.unravel_index(part.argmax(), part.shape)
                found.append((part.max(), x0 + x, y0 + y, (row % 2) * 2 + column % 2))
    if not found:
        return np.zeros((0, 2))
    floor = 0.02 * np.median(sorted(f[0] for f in found)[len(found) // 2 :])
    found = [f for f in found if f[0] > floor]
    order = {0: 0, 3: 1, 1: 2, 2: 3}
    found.sort(key=lambda f: (order[f[3]], -f[0]))
    return np.array([f[1:3] for f in found], float)
