"""The board from above, as the network sees it. Its central value: Canvas."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.geometry.footprints import camera_position, top_shift
from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid, scale_at
from vision.photometry.room_light import DARK, RoomLight, light_basis
from vision.plan import Plan

CANVAS_MARGIN = 12.0  # mm shown around the board at least: pieces on its rim lean over it
FINEST = 1.6  # pixels a millimetre at most: pieces of 8 mm are told, and time goes by its square
MOST_LEAN = 1.5  # mm a mm of height that is allowed for: from farther aslant little is told
MOST_PIXELS = 1_100_000  # of a canvas, for the time that a network pass over it takes
# pixels between places of the canvas whose pixel of the picture is computed exactly; windows begin and
# end at multiples of it, so that a part of the canvas is the same as in the whole
EXACT = 8

Window = tuple[int, int, int, int]  # x0, y0, x1, y1 in canvas pixels


class Canvas(msgspec.Struct, frozen=True):
    """size: (width, height) of the board, mm; scale: pixels a millimetre; margin: mm shown around
    the board"""

    size: tuple[float, float]
    scale: float
    margin: float = CANVAS_MARGIN

    @classmethod
    def suited_to(cls, plan: Plan, poses: list[Pose], tallest: float = 0.0) -> Canvas:
        """As fine as the photos are, within what a network pass may cost, and so wide that pieces
        `tallest` mm high on the rim are seen whole"""
        lean = max(
            (np.abs(top_shift(camera_position(p), plan.corners, tallest)).max() for p in poses),
            default=0.0,
        )
        margin = float(np.ceil(CANVAS_MARGIN + min(lean, MOST_LEAN * tallest)))
        middle = np.array([[plan.size[0] / 2, plan.size[1] / 2]])
        native = float(np.median([scale_at(p, middle) for p in poses]))
        area = (plan.size[0] + 2 * margin) * (plan.size[1] + 2 * margin)
        return cls(
            tuple(map(float, plan.size)),
            float(min(FINEST, 1.1 * native, np.sqrt(MOST_PIXELS / area))),
            margin,
        )

    def finer(self, scale: float) -> Canvas:
        """The same view at another scale, pixels a millimetre"""
        return Canvas(self.size, scale, self.margin)

    @property
    def shape(self) -> tuple[int, int]:
        """(height, width) in pixels, multiples of 8 as the network wants them"""
        w, h = (int(np.ceil((v + 2 * self.margin) * self.scale / 8)) * 8 for v in self.size)
        return h, w

    def to_px(self, mm: np.ndarray) -> np.ndarray:
        """(..., 2) board mm -> canvas pixels"""
        return (np.asarray(mm, float) + self.margin) * self.scale - 0.5

    def place_camera(self, camera: np.ndarray, origin: np.ndarray) -> np.ndarray:
        """(3,) pixels from a part's origin (2,), and pixels high, of a camera at (3,) mm"""
        return np.append(self.to_px(camera[:2]) - origin, camera[2] * self.scale)

    def to_mm(self, px: np.ndarray) -> np.ndarray:
        """(..., 2) canvas pixels -> board mm"""
        return (np.asarray(px, float) + 0.5) / self.scale - self.margin

    def beyond_rim(self) -> np.ndarray:
        """(h, w) bool: what lies farther than MARGIN from the board, where a table of which nothing
        is known shows"""
        h, w = self.shape
        xs, ys = (self.to_mm(np.arange(n)) for n in (w, h))
        out = [np.maximum(-v, v - n) > CANVAS_MARGIN for v, n in zip((xs, ys), self.size)]
        return out[0][None] | out[1][:, None]

    def rectify(
        self,
        picture: np.ndarray | Pyramid,
        pose: Pose,
        light: RoomLight,
        window: Window | None = None,
    ) -> np.ndarray:
        """(h, w, 3) float32: logarithm of the picture from above, with its light and rendition undone.
        window: the part of the canvas that is wanted"""
        picture = Pyramid.of(picture)
        x0, y0, x1, y1 = window or (0, 0, *self.shape[::-1])
        w, h = x1 - x0, y1 - y0
        rows, columns = h // EXACT + 1, w // EXACT + 1
        xs, ys = (
            self.to_mm(np.linspace(low - 0.5, low + n - 0.5, m))
            for low, n, m in ((x0, w, columns), (y0, h, rows))
        )
        grid = np.stack(np.meshgrid(xs, ys), -1).reshape(-1, 2)
        board = np.stack(np.meshgrid(*(np.linspace(0, n, 5) for n in self.size)), -1)
        native = scale_at(pose, board.reshape(-1, 2))
        level = max(int(np.log2(max(native / self.scale, 1.0)) + 0.4), 0)
        places = ((pose.to_px(grid) + 0.5) / 2**level - 0.5).reshape(rows, columns, 2)
        dimmer = np.exp(
            -(light_basis(np.clip(grid, 0, self.size), self.size) @ light.weights)
        ).reshape(rows, columns, 3)
        where, gain = (stretch_grid(v, h, w) for v in (places, dimmer))
        seen = cv2.remap(
            picture.level(level), where, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        paint = np.multiply(seen, gain)
        paint += np.float32(DARK)
        return light.rendition.undo(cv2.log(paint, paint))

    def window_around(self, low: np.ndarray, high: np.ndarray, around: int) -> Window:
        """The part of the canvas that shows a rectangle of (2,) board mm with `around` pixels about
        it, multiples of 8"""
        h, w = self.shape
        x0, y0 = (max(int(v) - around, 0) // 8 * 8 for v in self.to_px(low))
        x1, y1 = (min(-(-(int(v) + around) // 8) * 8, n) for v, n in zip(self.to_px(high), (w, h)))
        return x0, y0, max(x1, x0 + 8), max(y1, y0 + 8)


def stretch_grid(coarse: np.ndarray, h: int, w: int) -> np.ndarray:
    """(h, w, C) float32 of a grid `EXACT` times as coarse, whose outer rows and columns lie on the
    borders of the outer pixels"""
    rows, columns = coarse.shape[:2]
    wider = cv2.resize(np.float32(coarse), (EXACT * columns, EXACT * rows))
    half = EXACT // 2  # a grid's places are the middles of what `resize` makes of them
    return wider[half : half + h, half : half + w]


def picture_of(stacked: np.ndarray) -> np.ndarray:
    """(h, w, 3) what is there, of the network's input (h/2, w/2, 24)"""
    return unpack_pixels(stacked[None], 3)[0]


def unpack_pixels(stacked: np.ndarray, layers: int = 6) -> np.ndarray:
    """(n, h, w, layers) what is there, three, and how it differs from the empty board, three, of the
    network's inputs (n, h/2, w/2, 24); JAX's arrays too"""
    n, h, w = stacked.shape[:3]
    pixels = stacked.reshape(n, h, w, 2, 2, 6)[..., :layers].transpose(0, 1, 3, 2, 4, 5)
    return pixels.reshape(n, 2 * h, 2 * w, layers)


def pack_pixels(pixels: np.ndarray) -> np.ndarray:
    """(n, h/2, w/2, 24) of (n, h, w, 6): what `unpack_pixels` undoes"""
    n, h, w = pixels.shape[:3]
    packed = pixels.reshape(n, h // 2, 2, w // 2, 2, 6).transpose(0, 1, 3, 2, 4, 5)
    return packed.reshape(n, h // 2, w // 2, 24)


LOWEST_LOG = 3.0  # of the logarithms of light that are kept
LOG_STEP = 0.011  # how finely they are: grain is 0.03
GREY, LOG_SPREAD = 4.6, 0.7  # of log pictures: middle, and what a unit of the network's input is


def stack_input(seen: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """(h/2, w/2, 24) float32 that the network sees of a log canvas (h, w, 3) and the empty board's:
    what is there and how it differs from the empty board, four pixels' worth in a row"""
    return stack_shown(scale_logs(seen, np.float32(GREY)), seen, empty)


def stack_shown(shown: np.ndarray, seen: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """As `stack_input`. shown: (h, w, 3) as of `picture_of`"""
    h, w = seen.shape[:2]
    # channels first, as the network takes them: it is copied once, and not once more for that
    out = np.empty((2, 2, 6, h // 2, w // 2), np.float32)
    for first, part in ((0, shown), (3, scale_logs(seen, empty))):
        told = part.reshape(h // 2, 2, w // 2, 2, 3)
        out[:, :, first : first + 3] = told.transpose(1, 3, 4, 0, 2)
    return out.reshape(24, h // 2, w // 2).transpose(1, 2, 0)


def scale_logs(seen: np.ndarray, off: np.ndarray | np.float32) -> np.ndarray:
    """(h, w, 3) float32: how a log canvas differs from this, as the network is shown it"""
    out = np.subtract(seen, off, dtype=np.float32)
    out /= np.float32(LOG_SPREAD)
    return out


class CanvasPart(msgspec.Struct, frozen=True, eq=False):
    """What a photo shows in a window of the canvas. seen: (h, w, 3) log; pose: the photo's"""

    seen: np.ndarray
    window: Window
    pose: Pose

    @property
    def origin(self) -> np.ndarray:
        """(2,) canvas pixel of its first"""
        return np.array(self.window[:2])

    def crop_window(self, window: Window) -> CanvasPart:
        """The same of a window inside its own"""
        x0, y0, x1, y1 = move_window(window, -self.window[0], -self.window[1])
        return CanvasPart(self.seen[y0:y1, x0:x1], window, self.pose)


def overlap_windows(one: Window, other: Window) -> Window:
    """What lies in both"""
    (x0, y0), (x1, y1) = map(max, one[:2], other[:2]), map(min, one[2:], other[2:])
    return x0, y0, x1, y1


def enclose_windows(one: Window, other: Window) -> Window:
    """The least that holds both"""
    (x0, y0), (x1, y1) = map(min, one[:2], other[:2]), map(max, one[2:], other[2:])
    return x0, y0, x1, y1


def joins_cheaply(one: Window, other: Window) -> bool:
    """Whether to look at both as one is no more than to look at each"""
    return window_area(enclose_windows(one, other)) <= window_area(one) + window_area(other)


def move_window(window: Window, right: int, down: int) -> Window:
    """The same, so many pixels farther"""
    x0, y0, x1, y1 = window
    return x0 + right, y0 + down, x1 + right, y1 + down


def window_area(window: Window) -> int:
    """Its pixels"""
    x0, y0, x1, y1 = window
    return (x1 - x0) * (y1 - y0)


def narrow_logs(logs: np.ndarray) -> np.ndarray:
    """A log canvas in 8 bits, to be kept"""
    return np.clip(np.rint((logs - LOWEST_LOG) / LOG_STEP), 0, 255).astype(np.uint8)


def widen_logs(kept: np.ndarray) -> np.ndarray:
    """What `narrow_logs` kept, float32"""
    return kept.astype(np.float32) * np.float32(LOG_STEP) + np.float32(LOWEST_LOG)
