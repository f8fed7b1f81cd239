"""Without board or cards, loose tiles laid by hand in a pattern serve as the frame, although each
is a little off."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.pose import Pose, board_scale
from vision.plan import Plan
from vision.registration.board_edges import edge_profiles, peaks_between
from vision.registration.pose_refinement import expected_error, robust_pose
from vision.storage.image_array import halve_image

TILE_STATIONS = 10  # along each side of a tile
SLOPPY_MM = 5.0  # the farthest that a tile lies from its site's middle
PATTERN_MM = 2.0  # with a larger expected error, it is not a pattern of tiles
FAR_MM = 20.0  # how far the table may have moved in the picture: less than half a tile
FEWEST_TILES = 6  # least number of tiles for a frame
POSES_FOLLOWED = 6  # rough poses followed to the end
INSETS = np.arange(0, 4.1, 0.4)  # possible widths of a printed tile's border, mm
TURNS_TRIED = np.radians([0, -1.5, 1.5, -3, 3, -5, 5])
SIDE_NORMALS = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], float)
ALONG_TILE = np.linspace(-0.85, 0.85, TILE_STATIONS)
TILE_LEANS = np.radians([0, -2, 2, -4, 4, -6, 6])  # possible rotations of single tiles
# whether the far end of each side moves outwards or inwards when a tile is rotated
TURNED_ENDS = np.array([-1, 1, 1, -1])


class Tiles(msgspec.Struct, frozen=True, eq=False):
    """centres: (N, 2) mm of sites that a tile fills; half: (N, 2) mm, half the width and depth of
    the most visible outline: a tile's edge, or the border of its print; change: (3,) the colour
    change outwards across that outline, as a unit vector of blue, green, red; height: of a tile,
    mm."""

    centres: np.ndarray
    half: np.ndarray
    change: np.ndarray
    height: float

    def pack(self) -> dict[str, np.ndarray]:
        """As arrays for the model file"""
        return {
            "tiles": np.column_stack([self.centres, self.half]),
            "tiles_change": np.append(self.change, self.height),
        }

    @classmethod
    def unpack(cls, arrays: dict[str, np.ndarray]) -> Tiles:
        """The inverse of pack(); raises KeyError if something is missing"""
        places, change = arrays["tiles"].astype(float), arrays["tiles_change"].astype(float)
        return cls(places[:, :2], places[:, 2:], change[:3], float(change[3]))

    @classmethod
    def learn(
        cls,
        plan: Plan,
        images: Sequence[np.ndarray],
        poses: Sequence[Pose],
        layouts: Sequence[dict[str, Contents]],
    ) -> Tiles | None:
        """From photos with tiles, with poses that are at most a finger's width off. None if tiles
        do not serve as a frame."""
        places = tile_places(plan)
        found = []
        for image, pose, layout in zip(images, poses, layouts):
            lying = [s for s in places if layout.get(s)]
            if len(lying) < FEWEST_TILES:
                continue
            centres, half = (np.array(a) for a in zip(*(places[s][:2] for s in lying)))
            tiles = cls(centres, half, np.zeros(3), places[lying[0]][2])
            found.append(tiles._plainest(image, pose, board_scale(pose, plan)))
        if not found:
            return None
        inset = float(np.median([i for i, _ in found]))
        near = [v for i, v in found if abs(i - inset) <= INSETS[1] - INSETS[0] or len(found) == 1]
        change = sum(near, np.zeros(3))
        if not np.any(change):
            inset, change = found[0]
        strength = np.linalg.norm(change)
        if strength == 0:  # no photo shows a tile's edge
            return None
        centres, half, heights = (np.array(a) for a in zip(*places.values()))
        return cls(centres, half - inset, change / strength, float(np.median(heights)))

    def _plainest(self, image: np.ndarray, pose: Pose, scale: float) -> tuple[float, np.ndarray]:
        """How many mm inside the tiles' edges the outline is that most tiles show on all four
        sides, and (3,) its colour change; scale: pixels a mm"""
        reach = round(2 * SLOPPY_MM * scale)
        # (4, steps, 3): all tiles together
        mean = self._profiles(image, pose, round(reach + INSETS[-1] * scale)).mean(0)
        middle, shift = mean.shape[1] // 2, np.arange(-reach // 2, reach // 2 + 1)
        best = INSETS[0], np.zeros(3)
        for inset in INSETS:
            at = middle - round(inset * scale)
            across, down = (mean[k, at + shift] + mean[k + 1, at - shift] for k in (0, 2))
            v = across[:, None] + down[None]  # (shifts, shifts, 3)
            v = v.reshape(-1, 3)[(v**2).sum(-1).argmax()]
            if v @ v > best[1] @ best[1]:
                best = float(inset), v
        return best

    def _profiles(self, image: np.ndarray, pose: Pose, reach: int) -> np.ndarray:
        """(N, 4, 2 reach + 1, 3): the colour change outwards across each side of each tile,
        averaged along the side"""
        return self._stations(image, pose, reach).mean(2)

    def _stations(self, image: np.ndarray, pose: Pose, reach: int) -> np.ndarray:
        """(N, 4, TILE_STATIONS, 2 reach + 1, 3): the colour change outwards at positions along each
        tile's sides (right, left, lower, upper), as seen in the picture, one pixel per step"""
        n = len(self.centres)
        along = np.abs(SIDE_NORMALS[:, ::-1])
        # (4, stations, 2)
        offsets = SIDE_NORMALS[:, None] + along[:, None] * ALONG_TILE[None, :, None]
        mm = self.centres[:, None, None] + offsets[None] * self.half[:, None, None]
        ends = np.stack([mm, mm + SIDE_NORMALS[:, None]]).reshape(-1, 2)
        px = pose.to_px(ends, self.height).reshape(2, -1, 2)
        normal = px[1] - px[0]
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        found = edge_profiles(image, px[0], normal, reach)
        if found.shape[2] == 1:
            found = np.repeat(found, 3, 2)
        return found.reshape(n, 4, TILE_STATIONS, 2 * reach + 1, 3)

    def measure(
        self, image: np.ndarray, pose: Pose, reach: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each tile's middle as seen: (N, 2) pixels of where it would be if the tile lay exactly on
        its site, (N, 2) of where it is, (N,) how clear its sides are, in grey levels."""
        stations = self._stations(image, pose, reach) @ self.change
        start, end = pose.to_px(self.centres[:1] + [[0, 0], [1, 0]])
        half = float(np.median(self.half)) * np.linalg.norm(end - start)
        turned = [
            self._middle(stations, TURNED_ENDS[:, None] * ALONG_TILE * half * turn, reach)
            for turn in TILE_LEANS
        ]
        best = np.argmax([sx + sy for _, _, sx, sy in turned], 0)
        dx, dy, sx, sy = np.take_along_axis(np.array(turned), best[None, None], 0)[0]
        mm = np.vstack([self.centres + d for d in ((0, 0), (1, 0), (0, 1))])
        at, *ends = pose.to_px(mm, self.height).reshape(3, -1, 2)
        ex, ey = ((e - at) / np.linalg.norm(e - at, axis=1, keepdims=True) for e in ends)
        seen = at + ex * (dx - reach)[:, None] + ey * (dy - reach)[:, None]
        return at, seen, np.minimum(sx, sy) / 2

    @staticmethod
    def _middle(
        stations: np.ndarray, askew: np.ndarray, reach: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Each tile's offset within `reach` pixels, (N,) across and down, and how clear it is, (N,)
        each; askew: (4, TILE_STATIONS) pixels by which positions along its sides are farther out
        because it is rotated"""
        at = np.clip(np.arange(2 * reach + 1) + np.rint(askew).astype(int)[..., None], 0, 2 * reach)
        side = np.take_along_axis(stations, at[None], 3).mean(2)
        side = cv2.GaussianBlur(
            side.reshape(-1, side.shape[2]), (0, 0), 1.0, borderType=cv2.BORDER_REPLICATE
        )
        right, left, lower, upper = side.reshape(-1, 4, 2 * reach + 1).transpose(1, 0, 2)
        (dx, sx), (dy, sy) = row_peaks(right + left[:, ::-1]), row_peaks(lower + upper[:, ::-1])
        return dx, dy, sx, sy

    def common_shift(self, image: np.ndarray, pose: Pose, reach: int) -> tuple[np.ndarray, float]:
        """(2,) pixels by which the whole pattern is off, and how well it fits after that shift, in
        grey levels"""
        side = np.clip(self._profiles(image, pose, reach) @ self.change, 0, None)
        right, left, lower, upper = (side[:, k].mean(0) for k in range(4))
        across, down = right + left[::-1], lower + upper[::-1]
        across, down = (
            cv2.blur(a.reshape(1, -1).astype(np.float32), (5, 1)).ravel() for a in (across, down)
        )
        x, y = int(across.argmax()), int(down.argmax())
        a, b, c = pose.to_px(self.centres.mean(0) + np.array([[0, 0], [1, 0], [0, 1]]), self.height)
        # the board's orientation in the picture: perhaps upside down
        axes = [(e - a) / np.linalg.norm(e - a) for e in (b, c)]
        return (x - reach) * axes[0] + (y - reach) * axes[1], float(across[x] + down[y]) / 4

    def seen(self, image: np.ndarray, pose: Pose, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
        """Near a good pose: (N, 2) mm of sites with a tile on them, and (N, 2) pixels of its
        middle"""
        _, px, clear = self.measure(image, pose, round(SLOPPY_MM * board_scale(pose, plan)))
        good = clear_enough(clear, px, pose.size)
        return self.centres[good], px[good]


def clear_enough(clear: np.ndarray, px: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(N,) bool: the tiles inside the picture whose sides are about as clear as those of the
    clearest"""
    good = clear > max(0.4 * np.percentile(clear, 80), 2.0)
    return good & ((px > 0) & (px < np.array(size) - 1)).all(1)


def row_peaks(score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N,) the subpixel peak of each row, and (N,) its height"""
    at = np.clip(score.argmax(1), 1, score.shape[1] - 2)
    row = np.arange(len(score))
    left, middle, right = (score[row, at + d] for d in (-1, 0, 1))
    return at + peaks_between(left, middle, right), middle


def tile_places(plan: Plan) -> dict[str, tuple[np.ndarray, np.ndarray, float]]:
    """site -> (middle, half size, height) in mm of the tile that fills it, for sites that some kind
    nearly fills"""
    out = {}
    for site in plan.site:
        outline = np.array(site.outline, float)
        if len(outline) != 4 or site.also:
            continue
        size = np.ptp(outline, axis=0)
        flat = [p for p in plan.piece if not p.disc and not p.spans]
        fitting = [
            (*p.footprint, p.height)
            for p in flat
            if ((p.footprint >= 0.85 * size) & (p.footprint <= 1.02 * size)).all()
        ]
        if fitting:
            usual = max(fitting, key=fitting.count)
            out[site.id] = site.centre, np.array(usual[:2]) / 2, usual[2]
    return out


def locate_tiles(
    plan: Plan, tiles: Tiles, image: np.ndarray, starts: Sequence[Pose]
) -> Pose | None:
    """The pose at which tiles lie on their sites, starting from rough poses; None if no pattern of
    tiles is seen."""
    found = []
    small = halve_image(image)
    for start in starts:
        start = start.resized((small.shape[1], small.shape[0]))
        reach = round(FAR_MM * board_scale(start, plan))
        best = -np.inf, start
        for turn in TURNS_TRIED:
            pose = nudge_pose(plan, start, np.zeros(2), turn)
            shift, score = tiles.common_shift(small, pose, reach)
            if score > 1.1 * best[0]:
                best = score, nudge_pose(plan, pose, shift, 0.0)
        found.append(best)
    found.sort(key=lambda f: -f[0])
    settled = (
        settle_tiles(plan, tiles, image, pose.resized(image.shape[1::-1]))
        for _, pose in found[:POSES_FOLLOWED]
    )
    return min((p for p in settled if p is not None), key=lambda p: p.error_px, default=None)


def settle_tiles(plan: Plan, tiles: Tiles, image: np.ndarray, pose: Pose) -> Pose | None:
    """The same from a pose that is a few millimetres off"""
    scale = board_scale(pose, plan)
    for reach, noise in ((1.6, 0.5), (1.0, 0.3), (1.0, 0.1)):
        reach, noise = reach * SLOPPY_MM, noise * SLOPPY_MM * scale
        site, px, clear = tiles.measure(image, pose, round(reach * scale))
        good = clear_enough(clear, px, pose.size)
        if good.sum() < FEWEST_TILES:
            return None
        pose, off = robust_pose(
            tiles.centres[good], px[good], pose, SLOPPY_MM * scale, height=tiles.height, noise=noise
        )
    close = off < 0.6 * SLOPPY_MM * scale
    if close.sum() < max(FEWEST_TILES, 0.5 * good.sum()):
        return None
    # tiles are pushed against each other: neighbours have the same errors, so many tell no more
    # than a few
    error = 2 * expected_error(plan, pose, tiles.centres[good][close], off[close])
    if error > PATTERN_MM * scale:
        return None
    return msgspec.structs.replace(pose, by="tiles", error_px=error)


def nudge_pose(plan: Plan, pose: Pose, shift_px: np.ndarray, turn: float) -> Pose:
    """The pose if the table were rotated by `turn` radians about the board's middle and the picture
    then shifted"""
    middle = np.append(np.array(plan.size) / 2, 0.0)
    R = cv2.Rodrigues(pose.rvec)[0]
    spin = cv2.Rodrigues(np.array([0, 0, turn]))[0]
    t = pose.tvec + R @ middle - R @ spin @ middle
    depth = (R @ middle + pose.tvec)[2]
    t = t + np.array([shift_px[0] * depth / pose.K[0, 0], shift_px[1] * depth / pose.K[1, 1], 0])
    return msgspec.structs.replace(pose, rvec=cv2.Rodrigues(R @ spin)[0].ravel(), tvec=t)
