"""Locates the lines between a board's sites as one lattice near the tapped corners, although each
tap may be off by nearly half a square."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.geometry.coarse_grid import sample_at
from vision.geometry.corners import rectangle_corners
from vision.geometry.lens import Lens
from vision.geometry.pose import Pose
from vision.plan import Plan
from vision.registration.printed_lines import FEWEST_LINES, Line, each_way, middle_lines, site_lines

GAP_PX = 24  # pixels from line to line in the view from above that is searched
EVEN = 0.1  # tolerance for uneven spacing, as a share of a gap
GAPS_AROUND = 1.5  # margin around the field, in gaps
OFF = 0.3  # assumed standard deviation of taps, as a share of a gap
BLURS = 0.16, 0.08, 0.04  # blur of the lines as a share of a gap, from coarse to fine
# random starting positions, those kept, and how many variations of each are tried in a round
STARTS, GRIDS_KEPT, TRIES = 400, 6, 60
BLUR_ROUNDS = 14  # rounds with each blur
PLACES_LOOKED_AT = 150  # sample points on all lines of one direction, and as many between them
STEADY = 3.0  # cap on a single point's strength, in multiples of the usual one


class Lattice(msgspec.Struct, frozen=True, eq=False):
    """at: positions of the lines in x and in y, mm, evenly spaced and including the outermost;
    field: (4, 2) mm, its corners"""

    at: tuple[np.ndarray, np.ndarray]
    field: np.ndarray

    @property
    def gap(self) -> np.ndarray:
        """(2,) mm from line to line"""
        return np.array([np.median(np.diff(a)) for a in self.at])


def plan_lattices(plan: Plan) -> list[Lattice]:
    """The lattices of lines that the board may have printed: between sites or through their
    middles, if evenly spaced"""
    outlines = np.vstack([o for s in plan.site for o in s.outlines])
    middles = np.array([s.centre for s in plan.site])
    kinds = even_lattice(site_lines(plan), outlines), even_lattice(middle_lines(plan), middles)
    return [lattice for lattice in kinds if lattice is not None]


def even_lattice(lines: list[Line], ends: np.ndarray) -> Lattice | None:
    """The lattice of these lines; the outermost, at the board's very sides, are not among them and
    follow from the lines' ends (N, 2) mm"""
    at = []
    for axis, those in enumerate(each_way(lines)):
        mine = np.array(sorted(a[axis] for a, _ in those))
        if len(mine) < FEWEST_LINES:
            return None
        low, high, gap = ends[:, axis].min(), ends[:, axis].max(), np.median(np.diff(mine))
        first = [low] if mine[0] - low > gap / 2 else []
        last = [high] if high - mine[-1] > gap / 2 else []
        mine = np.concatenate([first, mine, last])
        if np.abs(np.diff(mine) - gap).max() > EVEN * gap:
            return None
        at.append(mine)
    return Lattice(tuple(at), rectangle_corners(*np.transpose([each[[0, -1]] for each in at])))


class FromAbove(msgspec.Struct, frozen=True, eq=False):
    """A photo rectified by a pose, GAP_PX pixels from line to line. changes: for each of BLURS, the
    strength of lines in either direction; flat: (4, 2) pixels of the field's corners in it"""

    lattice: Lattice
    pose: Pose
    changes: dict[float, list[np.ndarray]]
    flat: np.ndarray

    @staticmethod
    def of(lattice: Lattice, image: np.ndarray, pose: Pose) -> FromAbove:
        """image: (h, w, 3) uint8"""
        rim = round(GAPS_AROUND * GAP_PX)
        lines = np.array([len(a) - 1 for a in lattice.at])
        w, h = lines * GAP_PX + 2 * rim
        grid = np.stack(np.meshgrid(np.arange(w), np.arange(h)), -1).reshape(-1, 2)
        px = pose.to_px((grid - rim) / GAP_PX * lattice.gap + lattice.field[0])
        at = px.reshape(h, w, 2).astype(np.float32)
        blur = np.sqrt(np.linalg.norm(at[-1, -1] - at[0, 0]) / np.hypot(w, h))
        smooth = cv2.GaussianBlur(image, (0, 0), max(0.5 * blur, 0.8))
        seen = sample_at(smooth, at, cv2.BORDER_REPLICATE)
        flat = (lattice.field - lattice.field[0]) / lattice.gap * GAP_PX + rim
        changes = [line_strength(seen, axis) for axis in (0, 1)]
        blurred = {
            blur: [cv2.GaussianBlur(change, (0, 0), blur * GAP_PX) for change in changes]
            for blur in BLURS
        }
        return FromAbove(lattice, pose, blurred, flat)

    def here(self, px: np.ndarray) -> np.ndarray:
        """(N, 2) pixels of the photo -> of this view"""
        return (
            self.pose.to_mm(px) - self.lattice.field[0]
        ) / self.lattice.gap * GAP_PX + self.flat[0]

    def there(self, at: np.ndarray) -> np.ndarray:
        """(N, 2) pixels of this view -> of the photo"""
        return self.pose.to_px(
            (at - self.flat[0]) / GAP_PX * self.lattice.gap + self.lattice.field[0]
        )

    def plain_at(self, pose: Pose) -> float:
        """plain() for the corners of a pose of the same photo"""
        return float(self.plain(self.here(pose.to_px(self.lattice.field))[None])[0])

    def plain(self, corners: np.ndarray, blur: float = BLURS[-1]) -> np.ndarray:
        """(N,) how much stronger lines are than what is between and beyond them, relative to the
        usual strength, if the field's corners are at (N, 4, 2)"""
        homographies = from_corners(self.flat, corners).astype(np.float32)
        total = np.zeros(len(corners))
        for axis, changes in enumerate(self.changes[blur]):
            n, across = len(self.lattice.at[axis]) - 1, len(self.lattice.at[1 - axis]) - 1
            k = np.arange(-2, 2 * n + 3)[:, None] / 2
            t = np.linspace(0, across, PLACES_LOOKED_AT // (n + 1) + 2)[None, 1:-1]
            places = np.broadcast_arrays(*((k, t) if axis == 0 else (t, k)))
            grid = np.stack(places, -1).reshape(-1, 2) * GAP_PX + self.flat[0]
            rays = np.concatenate([grid, np.ones((len(grid), 1))], 1).astype(np.float32)
            seen = rays @ homographies.transpose(0, 2, 1)
            x, y = (seen[..., way] / seen[..., 2] for way in (0, 1))
            found = cv2.remap(changes, x, y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
            there = found.reshape(len(corners), len(k), -1).mean(2)
            along = np.arange(2, 2 * n + 3, 2)
            total += there[:, along].mean(1) - np.delete(there, along, 1).mean(1)
        return total / 2


def seen_near(view: FromAbove, taps: np.ndarray) -> tuple[np.ndarray, float]:
    """(4, 2) pixels of the field's corners in the photo where the lattice is clearest near the
    tapped ones, (4, 2); and its clarity less a penalty for the distance of the taps"""
    tapped, rng = view.here(taps), np.random.default_rng(0)

    def better(best: np.ndarray, blur: float, near: float) -> tuple[np.ndarray, np.ndarray]:
        """The best variations of each (N, 4, 2), and (N,) their scores; near: the weight of the
        distance to the taps"""

        def score(corners: np.ndarray) -> np.ndarray:
            far = np.square((corners - tapped) / (OFF * GAP_PX)).sum(2).mean(1)
            return view.plain(corners, blur) * np.exp(-0.5 * near * far)

        top, step = score(best), 2 * blur * GAP_PX
        for _ in range(BLUR_ROUNDS if len(best) <= GRIDS_KEPT else 0):
            tried = best[:, None] + rng.normal(0, step, (len(best), TRIES, 4, 2)) * (
                rng.random((len(best), TRIES, 4, 1)) < 0.6
            )
            new = score(tried.reshape(-1, 4, 2)).reshape(len(best), TRIES)
            likeliest = tried[np.arange(len(best)), new.argmax(1)]
            best = np.where((new.max(1) > top)[:, None, None], likeliest, best)
            top = np.maximum(new.max(1), top)
            step *= 0.8
        order = np.argsort(-top)[:GRIDS_KEPT]
        return best[order], top[order]

    strewn = rng.normal(0, OFF * GAP_PX, (STARTS, 4, 2))
    best = tapped + np.concatenate([np.zeros((1, 4, 2)), strewn])
    for blur in (BLURS[0], *BLURS):
        best, top = better(best, blur, 0.25)
    return view.there(better(best[:1], BLURS[-1], 0.0)[0][0]), float(top[0])


def line_strength(view: np.ndarray, axis: int) -> np.ndarray:
    """(h, w) how strongly colours change across lines of one direction, independent of the light:
    relative to the usual change nearby, capped"""
    change = np.abs(cv2.Sobel(view, cv2.CV_32F, 1 - axis, axis, ksize=3)).sum(2)
    usual = cv2.GaussianBlur(change, (0, 0), 1.5 * GAP_PX) + 1.0
    return np.minimum(change / usual, STEADY)


def from_corners(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(N, 3, 3) homographies that map four corners (4, 2) to (N, 4, 2)"""
    x, y = before.T
    u, v = after[..., 0], after[..., 1]
    one, zero = np.ones_like(u), np.zeros_like(u)
    x, y = np.broadcast_to(x, u.shape), np.broadcast_to(y, u.shape)
    A = np.concatenate(
        [
            np.stack([x, y, one, zero, zero, zero, -u * x, -u * y], -1),
            np.stack([zero, zero, zero, x, y, one, -v * x, -v * y], -1),
        ],
        1,
    )
    h = np.linalg.solve(A, np.concatenate([u, v], 1)[..., None])[..., 0]
    return np.concatenate([h, np.ones((len(h), 1))], 1).reshape(-1, 3, 3)


def map_plane(before: np.ndarray, after: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (N, 2) mapped as four corners (4, 2) are mapped to four others"""
    H = cv2.getPerspectiveTransform(before.astype(np.float32), after.astype(np.float32))
    return cv2.perspectiveTransform(points[None], H.astype(float))[0]


def most_plain(
    plan: Plan, lens: Lens, image: np.ndarray, taps: np.ndarray
) -> tuple[FromAbove, np.ndarray] | None:
    """A rectified photo, and (4, 2) pixels of the board's corners with the plan's lines where they
    are clearest near the tapped corners; None if the plan has no lattice, or no camera could see a
    board so"""
    seen = []
    try:
        start, _ = lens.pose(plan.corners, taps, image.shape[1::-1], "")
    except ValueError:
        return None
    for lattice in plan_lattices(plan):
        view = FromAbove.of(lattice, image, start)
        there = map_plane(plan.corners, view.here(taps), lattice.field)
        field, plain = seen_near(view, view.there(there))
        corners = view.there(map_plane(lattice.field, view.here(field), plan.corners))
        seen.append((plain, view, corners))
    return max(seen, key=lambda s: s[0])[1:] if seen else None
