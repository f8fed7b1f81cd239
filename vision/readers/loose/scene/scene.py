"""One picture made ready for reading: evened light, what is strange in it, and the ground as it
gets known."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose
from vision.kernels import Kernel
from vision.photometry.canvas import (
    Empty,
    Frame,
    Lean,
    are_clipped,
    channel_maximum,
    pad_channels,
    quadratic_terms,
    remap_canvas,
    robust_terms,
)
from vision.photometry.room_light import CLIPPED, telling_cells
from vision.readers.loose.scene.polar_patches import SCORE_NOISE, Form
from vision.readers.loose.scene.resampling import is_whole
from vision.readers.loose.scene.softening import Softened

LIGHT_STEP = 24  # canvas pixels a cell of the light's map
# cells around that have much the same light; by
NEARER = (6, 0.3), (6, 0.3), (4, 0.15), (4, 0.15), (3, 0.08), (2, 0.05)
# which logarithm one may differ and still count
RELIGHT = 45.0  # mm around a card within which its light is that of its neighbours
UNEVEN = 0.08  # logarithm of brightness by which cards differ anyway: no reason to mend the light
FOLD = 2  # the map of what is strange is that much coarser than the canvas
# pixels either way that a cell of light is judged by, where not all of a picture is flattened
SOFT = 9
Rect = tuple[int, int, int, int]
_estrange, _held_below = Kernel("estrange", "BBnfnnfnfnnnnn"), Kernel("held_below", "Bnfnnnnnn")
_softly_at = Kernel("softly_at", "BnnfnB")


class Scene(msgspec.Struct, eq=False):
    """seen: (h, w, 4) uint8, pad_channels(); ground: the same for the empty board and the cards
    found; weight: (h, w) float32, 1 / grey levels², negative where something known covers; strange:
    (h / FOLD, w / FOLD) 0..1; light: (h / LIGHT_STEP ..., 3) factors to the empty board's light;
    off: (h, w) how strange in units of noise, only kept for learning; corner: (x, y) pixels of the
    whole canvas at which this part of it begins; laid: rectangles in which ground was changed;
    softened: pictures averaged over so many pixels, the ground as it was after the first so many
    changes to it; soft: what is seen and the ground, where they are such"""

    frame: Frame
    lean: Lean
    seen: np.ndarray
    ground: np.ndarray
    weight: np.ndarray
    strange: np.ndarray
    light: np.ndarray
    off: np.ndarray | None = None
    corner: tuple[int, int] = (0, 0)
    laid: list[Rect] = msgspec.field(default_factory=list)
    softened: dict[int, tuple[Softened, Softened, int]] = msgspec.field(default_factory=dict)
    soft: tuple[Softened, ...] = ()

    def softly(self, n: int) -> tuple[Softened, Softened]:
        """What is seen and the ground as it is now, averaged over n x n pixels; kept, and the
        ground anew only where it changed"""
        seen, ground, laid = self.softened.get(n) or (
            Softened.of(self.seen, n),
            Softened.of(self.ground, n),
            len(self.laid),
        )
        ground.changed(self.laid[laid:])
        self.softened[n] = seen, ground, len(self.laid)
        return seen, ground

    def blurred(self, n: int) -> Scene:
        """The same, pictures averaged over n x n pixels; weights are shared. near() says where it
        is looked at."""
        soft = self.softly(n)
        return msgspec.structs.replace(
            self, seen=soft[0].picture, ground=soft[1].picture, laid=[], softened={}, soft=soft
        )

    def near(self, px: np.ndarray, reach: float) -> None:
        """Makes sure that pictures are there within `reach` pixels of (N, 2)"""
        for canvas in self.soft:
            if canvas.done is not None:
                canvas.around(px, reach)

    def light_at(self, mm: np.ndarray) -> np.ndarray:
        """(N, 3) factors at (N, 2) canvas mm"""
        f, (rows, columns) = self.frame, self.light.shape[:2]
        at = (np.asarray(mm, float) - (f.x0, f.y0)) * (f.scale / LIGHT_STEP) - 0.5 / LIGHT_STEP
        x, y = np.maximum(np.minimum(np.rint(at), (columns - 1, rows - 1)), 0).astype(int).T
        return self.light[y, x]

    def limit_at(self, mm: np.ndarray) -> np.ndarray:
        """(N, 3) what is brighter than this, in the empty board's light, is seen no brighter than
        this at (N, 2) canvas mm"""
        return CLIPPED * self.light_at(mm)

    def relit(self, mm: np.ndarray, gain: np.ndarray, sure: np.ndarray) -> None:
        """Mends the light around (N, 2) places, where it was off by (N, 3) factors: a table full of
        cards shows little of the ground that the light was first judged by. sure: (N,) 0..1 how far
        to trust each."""
        rows, columns = self.light.shape[:2]
        if not len(mm):
            return
        f = self.frame
        x, y = (
            (np.arange(k) * LIGHT_STEP + 0.5) / f.scale + first
            for k, first in ((columns, f.x0), (rows, f.y0))
        )
        across, down = (
            np.square(np.subtract.outer(x, mm[:, 0])),
            np.square(np.subtract.outer(y, mm[:, 1])),
        )
        at = down.argmin(0) * columns + across.argmin(0)
        near = (
            np.exp(down / (-2 * RELIGHT**2))[:, None] * np.exp(across / (-2 * RELIGHT**2))
        ).reshape(rows * columns, len(mm))
        logs, w = np.log(gain), near * sure
        # a card full of pieces, or taken for another, is not believed against its neighbours
        for _ in range(3):
            more = (w @ logs) / (w.sum(1, keepdims=True) + 0.3)
            w = near * (sure / (1 + (np.abs(logs - more[at]).max(1) / 0.15) ** 2))
        far = (np.abs(more).max(1, keepdims=True) / UNEVEN) ** 4
        more = more * (far / (1 + far))
        self.light = self.light * np.exp(more).reshape(self.light.shape).astype(np.float32)


class Stage:
    """What scenes of one copy share: the empty board, fine and coarse, and how far to trust it."""

    def __init__(self, empty: Empty, trusted: np.ndarray) -> None:
        self.empty, self.frame = empty, empty.frame
        f = self.frame
        self.board = pad_channels(empty.canvas)
        self.weight = (1 / (empty.spread**2 + SCORE_NOISE**2)).astype(np.float32)
        self.half_spread = cv2.resize(
            empty.spread, (f.width // FOLD, f.height // FOLD), interpolation=cv2.INTER_AREA
        )
        cells = f.width // LIGHT_STEP + 1, f.height // LIGHT_STEP + 1
        self.cells = cells
        xs, ys = np.meshgrid(np.arange(cells[0]) * LIGHT_STEP, np.arange(cells[1]) * LIGHT_STEP)
        self.cell_mm = f.to_mm(np.stack([xs, ys], -1).reshape(-1, 2))
        self.cell_terms = np.ascontiguousarray(quadratic_terms(f, self.cell_mm).T)
        self.dim_logs = np.log(thinned(empty.canvas, cells).reshape(-1, 3).T.astype(np.float32) + 4)
        self.brightest = thinned(cv2.dilate(empty.canvas, np.ones((LIGHT_STEP, LIGHT_STEP))), cells)
        self.cell_trust = thinned(trusted, cells).ravel() + 1e-3
        self._maps: tuple[Pose, tuple[np.ndarray, np.ndarray]] | None = None

    def scene(
        self, image: np.ndarray, pose: Pose, learning: bool = False, light: np.ndarray | None = None
    ) -> Scene:
        """All of the canvas; light: where it is known"""
        f = self.frame
        seen = remap_canvas(image, *self.maps(pose))
        light = self.light(thinned(seen, self.cells)[..., :3]) if light is None else light
        scene = self.made(seen, pose, light, (0, 0, f.width, f.height))
        if learning:
            full = cv2.resize(scene.light, (self.cells[0] * LIGHT_STEP, self.cells[1] * LIGHT_STEP))
            even = scene.seen[..., :3] * shifted(full)[: f.height, : f.width]
            scene.off = np.abs(even - scene.ground[..., :3]).max(-1) / self.empty.spread
        return scene

    def windows(
        self, image: np.ndarray, pose: Pose, rects: Sequence[Rect], light: np.ndarray
    ) -> list[Scene]:
        """Parts of the canvas, each as if it were one. rects: x0, y0, x1, y1 of each in pixels, cut
        where cells of light begin; light: all of it"""
        out = []
        for x0, y0, x1, y1 in rects:
            if self._maps is not None and self._maps[0] is pose:
                a, b = (m[y0:y1, x0:x1] for m in self._maps[1])
            else:
                a, b = self.frame.part(x0, y0, x1, y1).maps(pose)
            seen = remap_canvas(image, a, b)
            cells = (
                slice(y0 // LIGHT_STEP, y1 // LIGHT_STEP + 1),
                slice(x0 // LIGHT_STEP, x1 // LIGHT_STEP + 1),
            )
            # as kernels take it
            out.append(self.made(seen, pose, np.ascontiguousarray(light[cells]), (x0, y0, x1, y1)))
        return out

    def maps(self, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
        """Those of the whole canvas, kept while the board lies as it did"""
        if self._maps is None or self._maps[0] is not pose:
            self._maps = pose, self.frame.maps(pose)
        return self._maps[1]

    def made(self, seen: np.ndarray, pose: Pose, light: np.ndarray, rect: Rect) -> Scene:
        """The scene of a part of the canvas of which this is seen, (h, w, 4), in this light"""
        x0, y0, x1, y1 = rect
        strange = np.zeros(((y1 - y0) // FOLD, (x1 - x0) // FOLD), np.float32)
        scene = Scene(
            self.frame.part(*rect),
            Lean(pose),
            cv2.min(seen, (CLIPPED,) * 4, seen),
            self.ground(light, rect).copy(),
            self.weight[y0:y1, x0:x1].copy(),
            strange,
            light,
            corner=(x0, y0),
        )
        self.estrange(scene, (0, 0, x1 - x0, y1 - y0))
        return scene

    def ground(self, light: np.ndarray, rect: Rect) -> np.ndarray:
        """(h, w, 4) a part of the empty board as a picture in this light shows it: no brighter than
        the camera can"""
        x0, y0, x1, y1 = rect
        ground = self.board[y0:y1, x0:x1]
        rows, columns = light.shape[:2]
        cells = (
            slice(y0 // LIGHT_STEP, y0 // LIGHT_STEP + rows),
            slice(x0 // LIGHT_STEP, x0 // LIGHT_STEP + columns),
        )
        ys, xs = np.nonzero((self.brightest[cells] > CLIPPED * light).any(2))
        if len(ys):
            ground = ground.copy()
            high, wide = ground.shape[:2]
            top, left = (max(int(v.min()) - 1, 0) * LIGHT_STEP for v in (ys, xs))
            bottom, right = (
                min((int(ys.max()) + 2) * LIGHT_STEP, high),
                min((int(xs.max()) + 2) * LIGHT_STEP, wide),
            )
            limit = np.minimum(CLIPPED * light, 255).astype(np.uint8)
            if right <= left or bottom <= top:
                return ground
            if _held_below:
                limit = np.ascontiguousarray(limit, np.float32)
                _held_below(
                    ground, wide, limit, *limit.shape[:2], left, top, right - left, bottom - top
                )
                return ground
            part = ground[top:bottom, left:right]
            cv2.min(part, pad_channels(self.stretched(limit, left, top, right, bottom, 1)), part)
        return ground

    def estrange(self, scene: Scene, rect: Rect) -> None:
        """Fills in scene.strange in a rectangle of the scene's pixels"""
        h, w = scene.strange.shape
        x0, y0, x1, y1 = (min(v // FOLD, most) for v, most in zip(rect, (w, h, w, h)))
        if x1 <= x0 or y1 <= y0:
            return
        x, y = (v // FOLD for v in scene.corner)
        spread = self.half_spread[y + y0 : y + y1, x + x0 : x + x1]
        if _estrange and is_whole(scene.seen, scene.ground, scene.strange):
            light = np.ascontiguousarray(scene.light, np.float32)
            _estrange(
                scene.seen,
                scene.ground,
                scene.seen.shape[1],
                light,
                *light.shape[:2],
                np.ascontiguousarray(spread),
                x1 - x0,
                scene.strange,
                w,
                x0,
                y0,
                x1 - x0,
                y1 - y0,
            )
            return
        wide = slice(y0 * FOLD, y1 * FOLD), slice(x0 * FOLD, x1 * FOLD)
        small, ground = (
            cv2.cvtColor(
                cv2.resize(canvas[wide], (x1 - x0, y1 - y0), interpolation=cv2.INTER_AREA),
                cv2.COLOR_BGRA2BGR,
            )
            for canvas in (scene.seen, scene.ground)
        )
        scene.strange[y0:y1, x0:x1] = strangeness(
            small, self.stretched(scene.light, x0, y0, x1, y1, FOLD), ground, spread
        )

    @staticmethod
    def stretched(light: np.ndarray, x0: int, y0: int, x1: int, y1: int, fold: int) -> np.ndarray:
        """(y1 - y0, x1 - x0, 3) of a map like that of light, for a rectangle of a map that is
        `fold` times coarser than the canvas"""
        k = fold / LIGHT_STEP
        M = np.array([[k, 0, x0 * k], [0, k, y0 * k]])
        return cv2.warpAffine(
            light,
            M,
            (x1 - x0, y1 - y0),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )

    def low(self, image: np.ndarray, pose: Pose) -> np.ndarray:
        """The picture at one pixel a cell of light, without flattening all of it"""
        px = pose.to_px(self.cell_mm).reshape(self.cells[1], self.cells[0], 2)
        px = np.ascontiguousarray(px, np.float32)
        if _softly_at and image.flags.c_contiguous and min(image.shape[:2]) > SOFT:
            out = np.empty((*px.shape[:2], 3), np.uint8)
            _softly_at(image, *image.shape[:2], px, px.size // 2, out)
            return out
        return cv2.remap(
            cv2.blur(image, (SOFT, SOFT)),
            px,
            None,
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )

    def light(self, low: np.ndarray) -> np.ndarray:
        """(cells, 3) float32 factors that make the picture look as the empty board did: smooth over
        the board, and locally where enough of the empty board shows"""
        # a colour after the other: numpy is slow along short axes
        low = np.ascontiguousarray(low.reshape(-1, 3).T)
        ratio = self.dim_logs - np.log(low.astype(np.float32) + 4)
        white = are_clipped(low)
        terms = robust_terms(self.cell_terms, ratio, self.cell_trust, white)
        smooth = terms.T @ self.cell_terms
        rest, shape = ratio - smooth, self.cells[::-1]
        local = np.zeros_like(rest)
        for reach, scale in NEARER:
            left, told = telling_cells(rest - local, white)
            w = self.cell_trust / (1 + (np.abs(left).max(0) / scale) ** 2) ** 3 * told
            planes = np.concatenate([left * w, w[None]]).T.reshape(*shape, 4).astype(np.float32)
            planes = cv2.GaussianBlur(planes, (0, 0), reach).reshape(-1, 4).T
            local += planes[:3] / (planes[3] + 0.05)
        return np.ascontiguousarray(np.exp(smooth + local).T.reshape(*shape, 3), np.float32)


def thinned(canvas: np.ndarray, cells: tuple[int, int]) -> np.ndarray:
    """A canvas at one pixel for every cell of light, around the cell's corner point"""
    w, h = cells[0] * LIGHT_STEP, cells[1] * LIGHT_STEP
    m = LIGHT_STEP // 2
    wide = cv2.copyMakeBorder(
        canvas,
        m,
        max(h - m - canvas.shape[0], 0),
        m,
        max(w - m - canvas.shape[1], 0),
        cv2.BORDER_REPLICATE,
    )[:h, :w]
    return cv2.resize(wide, cells, interpolation=cv2.INTER_AREA)


def shifted(full: np.ndarray) -> np.ndarray:
    """cv2.resize puts a cell's middle where ours has its corner"""
    m = LIGHT_STEP // 2
    return cv2.copyMakeBorder(full[m:, m:], 0, m, 0, m, cv2.BORDER_REPLICATE)


def strangeness(
    seen: np.ndarray, light: np.ndarray, ground: np.ndarray, spread: np.ndarray
) -> np.ndarray:
    """(h, w) 0..1: how surely a pixel is not the ground; spread: grey levels of noise"""
    even = cv2.multiply(seen, light, dtype=cv2.CV_8U)
    off = channel_maximum(cv2.absdiff(even, ground)) / spread
    return cv2.blur(((off - 2) * (1 / 3)).clip(0, 1), (2, 2))


def folded(scene: Scene) -> np.ndarray:
    """(h / FOLD, w / FOLD, 3) uint8: what is seen, as coarse as what is strange"""
    h, w = scene.strange.shape
    small = cv2.resize(scene.seen[: h * FOLD, : w * FOLD], (w, h), interpolation=cv2.INTER_AREA)
    return cv2.cvtColor(small, cv2.COLOR_BGRA2BGR)


def cover(scene: Scene, form: Form, foot: np.ndarray, turn: float) -> None:
    """What a piece hides counts no more: its top, and for a high one its sides"""
    cover_within(scene, covered(scene.lean, form, foot, turn))


def covered(
    lean: Lean, form: Form, foot: np.ndarray, turn: float, grown: float = 0.8
) -> np.ndarray:
    """(n, 2) canvas mm around what a piece hides"""
    base = form.outline(foot, turn, grown)
    top = base + lean.shift(base, form.height)
    return (
        cv2.convexHull(np.vstack([base, top]).astype(np.float32)).reshape(-1, 2)
        if form.height > 3
        else top
    )


def cover_within(scene: Scene, hull: np.ndarray) -> None:
    """What is seen within (n, 2) canvas mm counts no more"""
    px = scene.frame.to_px(hull)
    lo, hi = (
        v.clip(0) for v in (np.floor(px.min(0)).astype(int), np.ceil(px.max(0)).astype(int) + 2)
    )
    mask = np.zeros((hi[1] - lo[1], hi[0] - lo[0]), np.uint8)
    if not mask.size:
        return  # all of it lies beyond the scene
    cv2.fillPoly(mask, [np.round(px - lo).astype(np.int32)], 1)
    mark(scene.weight[lo[1] : hi[1], lo[0] : hi[0]], mask)
    cv2.fillPoly(scene.strange, [np.round((px + 0.5) / FOLD - 0.5).astype(np.int32)], 0.0)


def mark(weight: np.ndarray, mask: np.ndarray) -> None:
    """Makes weights count no more where a mask is set, without forgetting them"""
    mask = mask[: weight.shape[0], : weight.shape[1]] > 0
    weight[mask] = -np.abs(weight[mask])


def corners_of(size: tuple[float, float], pose: np.ndarray) -> np.ndarray:
    """(4, 2) mm: the corners of what lies at a pose, x and y in mm and radians"""
    w, h = size
    box = np.array([[-w / 2, -h / 2], [w / 2, -h / 2], [w / 2, h / 2], [-w / 2, h / 2]])
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return box @ np.array([[c, s], [-s, c]]) + pose[:2]


def sharp(off: np.ndarray, scale: float) -> np.ndarray:
    """Where something lies, with its edge at half of its contrast: blur makes all that is strange
    look bigger"""
    n = 2 * max(int(round(1.2 * scale)), 1) + 1
    most = cv2.dilate(off, np.ones((n, n)))
    return (((off - 2) / 3).clip(0, 1) * (off / np.maximum(most, 1) * 4 - 1.2).clip(0, 1)).astype(
        np.float32
    )
