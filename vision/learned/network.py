"""The network's shape, and where its features are sampled. Shared by who reads and who teaches."""

from __future__ import annotations

import numpy as np

Weights = dict[str, np.ndarray]

FINE_CHANNELS, WIDE_CHANNELS, DEEP_CHANNELS = (
    20,
    32,
    56,
)  # channels at a half, a quarter, an eighth of the canvas
FEW_CHANNELS = 12  # of a site's or piece's features that are kept at each of its places
SITE_GRID, PIECE_GRID = 12, 8  # places a side sampled of a site, of a piece
SITE_SIZE, PIECE_SIZE = 96, 64  # numbers that a site, a piece is described by
SITE_REACH, PIECE_REACH = 1.25, 1.5  # of its larger side that is sampled
FOOT_REACH = 1.25  # of the widest foot that is shown about a standing piece's foot and top
HEAT_SPAN = (-3.0, 8.0)  # logits of heat between which it is believed
TEMPLATES = 80  # prints of its own that a copy's network looks for, wherever on a place they lie
SITE_PIXELS, SITE_TEMPLATE = 18, 14  # places a side sampled of a site's picture, and of a print
RINGS, ANGLES = 6, 24  # places sampled about a piece's middle, so that turning it shifts them
FINER = 2  # times as fine as for prints of the whole are pictures for prints of their parts
PART_COUNTS = {"site": 4, "piece": 2}  # quarters of a site, inner and outer rings of a piece
CLOSE_UP = (72, 144)  # pixels of the picture of a standing piece, its top to the right

# name: (size, channels in, out, stride, dilation)
TRUNK_LAYERS = {
    "half": (3, 24, FINE_CHANNELS, 1, 1),
    "quarter": (3, FINE_CHANNELS, WIDE_CHANNELS, 2, 1),
    "quarter_res": (3, WIDE_CHANNELS, WIDE_CHANNELS, 1, 1),
    "eighth": (3, WIDE_CHANNELS, DEEP_CHANNELS, 2, 1),
    "eighth_a_res": (3, DEEP_CHANNELS, DEEP_CHANNELS, 1, 1),
    "eighth_b_res": (3, DEEP_CHANNELS, DEEP_CHANNELS, 1, 2),
    "eighth_c_res": (3, DEEP_CHANNELS, DEEP_CHANNELS, 1, 1),
    "eighth_up": (1, DEEP_CHANNELS, WIDE_CHANNELS, 1, 1),
    "join_res": (3, WIDE_CHANNELS, WIDE_CHANNELS, 1, 1),
    "quarter_up": (1, WIDE_CHANNELS, FINE_CHANNELS, 1, 1),
    "heat": (3, FINE_CHANNELS, FINE_CHANNELS, 1, 1),
}


def square_axes(side: np.ndarray, turn: np.ndarray | float = 0.0) -> np.ndarray:
    """(r, 2, 2): the sides of squares (r,) wide that lie straight, or turned clockwise by so many degrees
    (r,), x first"""
    a = np.radians(np.atleast_1d(turn))
    x = np.column_stack([np.cos(a), np.sin(a)]).round(9)  # quarters exactly
    y = np.column_stack([-x[:, 1], x[:, 0]])
    return np.asarray(side, float).reshape(-1, 1, 1) * np.stack([x, y], 1)


def lean_axes(shift: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of (r, 2) shifts of tops off their feet: (r, 1) lengths, (r, 2) directions along and across;
    to the right where there is none"""
    length = np.linalg.norm(shift, axis=1, keepdims=True)
    along = np.where(length > 1e-6, shift / np.maximum(length, 1e-6), (1.0, 0.0))
    return length, along, np.stack([-along[:, 1], along[:, 0]], 1)


def standing_axes(shift: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Close-ups of pieces that stand, whose tops are seen `shift` (r, 2) off their feet: (r, 2) how
    far their middles lie from the feet, (r, 2, 2) their sides, the one along the lean first; all in
    the unit of `width`, how wide a piece is with what is shown about it"""
    length, along, across = lean_axes(shift)
    h, w = CLOSE_UP
    tall = np.maximum(length + width, width * w / h)
    return shift / 2, np.stack([along * tall, across * tall * h / w], 1)


def grid_places(
    middle_px: np.ndarray, axes_px: np.ndarray, grid: int, stride: int, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Where a grid about middles (r, 2) canvas px, whose sides are (r, 2, 2) px, falls on a feature
    map (h, w) of this stride: rows of the flattened map (r, grid^2, 4) int32 and their weights (r,
    grid^2, 4) float32"""
    t = (np.arange(grid) + 0.5) / grid - 0.5
    off = np.stack(np.meshgrid(t, t), -1).reshape(1, -1, 2) @ np.asarray(axes_px, float)
    return neighbours_of((np.asarray(middle_px, float)[:, None] + off + 0.5) / stride - 0.5, shape)


def polar_places(
    middle_px: np.ndarray, axes_px: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Where rings about middles (r, 2) px, out to a little more than half of their sides (r, 2, 2) px,
    fall on a picture (h, w): as `grid_places`, the angles first"""
    off = polar_offsets()[None] @ np.asarray(axes_px, float)
    return neighbours_of(np.asarray(middle_px, float)[:, None] + off, shape)


def polar_offsets() -> np.ndarray:
    """(ANGLES * FINER * RINGS, 2) of a piece's sides: where it is sampled about its middle"""
    rings = FINER * RINGS
    angle = np.repeat(2 * np.pi * np.arange(ANGLES) / ANGLES, rings)
    ring = np.tile(0.55 * (np.arange(rings) + 0.5) / rings, ANGLES)
    return np.column_stack([np.cos(angle), np.sin(angle)]) * ring[:, None]


def neighbours_of(at: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The four places of a map (h, w) about each of (r, n, 2), rows of the flattened map (r, n, 4)
    int32, and their weights (r, n, 4) float32"""
    h, w = shape
    low = np.floor(at)
    part = (at - low).astype(np.float32)
    low = low.astype(np.int32)
    x0, x1 = np.clip(low[..., 0], 0, w - 1), np.clip(low[..., 0] + 1, 0, w - 1)
    y0, y1 = np.clip(low[..., 1], 0, h - 1), np.clip(low[..., 1] + 1, 0, h - 1)
    fx, fy = part[..., 0], part[..., 1]
    index = np.stack([y0 * w + x0, y0 * w + x1, y1 * w + x0, y1 * w + x1], -1)
    weight = np.stack([(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx], -1)
    return index, weight


def coarsen_pictures(name: str, fine: np.ndarray) -> np.ndarray:
    """What prints of the whole are looked for in: sites (r, SITE_PIXELS, SITE_PIXELS, c), or pieces (r,
    ANGLES, RINGS, c). fine: the same, FINER times as many a side, or rings"""
    r, _, _, c = fine.shape
    if name == "piece":
        return fine.reshape(r, ANGLES, RINGS, FINER, c).mean(3)
    return fine.reshape(r, SITE_PIXELS, FINER, SITE_PIXELS, FINER, c).mean((2, 4))


def cut_parts(name: str, fine: np.ndarray) -> list[np.ndarray]:
    """The parts of such pictures, each as large as the whole is coarsely"""
    if name == "piece":
        return [fine[:, :, :RINGS], fine[:, :, RINGS:]]
    n = SITE_PIXELS
    return [fine[:, y : y + n, x : x + n] for y in (0, n) for x in (0, n)]


def match_parts(
    name: str, fine: np.ndarray, templates: np.ndarray, quarters: bool, chunk: int = 64
) -> np.ndarray:
    """(r, P * T) how well the prints of P parts (P, ..., c, T) fit pictures that are `FINER`, 0 where a
    print is all 0; quarters: of pictures turned by quarters too"""
    told = templates.any((1, 2, 3))
    out = np.where(told, -np.inf, 0).astype(np.float32)[None].repeat(len(fine), 0)
    wanted = turned_templates(templates, told, quarters)
    for n in range(0, len(fine), chunk):
        some = out[n : n + chunk]
        for part, mine in zip(cut_parts(name, fine[n : n + chunk]), wanted):
            prints = np.concatenate([t for _, t in mine], -1)
            if not prints.size:
                continue
            fits = match_templates(name, part, prints, False)
            for p, t in mine:
                some[:, p, told[p]] = np.maximum(some[:, p, told[p]], fits[:, : t.shape[-1]])
                fits = fits[:, t.shape[-1] :]
    return out.reshape(len(fine), told.size)


def turned_templates(
    templates: np.ndarray, told: np.ndarray, quarters: bool
) -> list[list[tuple[int, np.ndarray]]]:
    """For each part of a picture the prints that are looked for there: (number of the part they are of,
    (..., c, t) those that are told). A picture turned clockwise shows there what is of another part"""
    if not quarters:
        return [[(p, t[..., told[p]])] for p, t in enumerate(templates)]
    out: list[list[tuple[int, np.ndarray]]] = [[] for _ in templates]
    for q in range(4):
        lies = np.rot90(np.arange(len(templates)).reshape(2, 2), -q).ravel()
        for p, t in enumerate(templates):
            out[lies[p]].append((p, np.rot90(t[..., told[p]], q, (0, 1))))
    return out


def match_templates(
    name: str, pixels: np.ndarray, templates: np.ndarray, quarters: bool
) -> np.ndarray:
    """(r, T) how well templates fit pictures of sites or of pieces; quarters: of sites that may be turned"""
    if name == "piece":
        return turn_templates(pixels, templates)
    return slide_templates(pixels, templates, quarters)


def slide_templates(
    pixels: np.ndarray, templates: np.ndarray, quarters: bool, chunk: int = 64
) -> np.ndarray:
    """(r, T) how well each of the templates (k, k, c, T) fits pictures (r, n, n, c) where it fits
    best; quarters: turned by quarters too"""
    k, _, c, count = templates.shape
    turned = [np.rot90(templates, q, (0, 1)) for q in (range(4) if quarters else (0,))]
    filters = [np.ascontiguousarray(t).reshape(-1, count) for t in turned]
    out = np.full((len(pixels), count), -np.inf, np.float32)
    for n in range(0, len(pixels), chunk):
        some = pixels[n : n + chunk]
        windows = np.lib.stride_tricks.sliding_window_view(some, (k, k), (1, 2))
        rows = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, k * k * c)
        for f in filters:
            fits = (rows @ f).reshape(len(some), -1, count)
            out[n : n + chunk] = np.maximum(out[n : n + chunk], fits.max(1))
    return out


def turn_templates(pixels: np.ndarray, templates: np.ndarray) -> np.ndarray:
    """(r, T) how well each of the templates (ANGLES, RINGS, c, T) fits what lies about a middle (r,
    ANGLES, RINGS, c), turned as it fits best"""
    around = np.concatenate([pixels, pixels[:, :-1]], 1)
    windows = np.lib.stride_tricks.sliding_window_view(around, ANGLES, 1)
    count = templates.shape[-1]
    rows = windows.transpose(0, 1, 4, 2, 3).reshape(len(pixels) * ANGLES, -1)
    return (rows @ templates.reshape(-1, count)).reshape(len(pixels), ANGLES, count).max(1)
