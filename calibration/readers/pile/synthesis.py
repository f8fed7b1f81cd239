"""Pictures of sites that nobody has taken: cut-outs laid on empty sites in other places, turns and
lights.

They are what the classifiers learn from, since a copy's few photos show each kind a handful of
times.
"""

from __future__ import annotations

from functools import cache

import cv2
import msgspec
import numpy as np

from calibration.readers.pile.cut_out import difference, doubt_map, localise
from vision.photometry.room_light import DARK, grey_levels, to_reference_logs
from vision.readers.pile.exemplar import Exemplar, Patch, footprint_mask, turned

MIDDLE = 110.0  # the grey level at which the board tells what the light is
LEAST_CROSSED = 0.15  # of what two prints differ in that either part of a crossed one must hold


def as_patch(e: Exemplar, height: float) -> Patch:
    """An exemplar as a cut-out with its footprint, for pictures to learn from. height: mm of its
    top."""
    alpha = footprint_mask(e.size, e.disc, len(e.picture), e.scale, 0.2)
    rim = (alpha > 0.9) & (footprint_mask(e.size, e.disc, len(e.picture), e.scale, -1.5) < 0.1)
    colour = np.median(e.picture[rim], 0) if rim.any() else e.picture.mean((0, 1))
    return Patch(e.picture, alpha, e.scale, max(e.size) / 2, height, colour - 0.25, e.lies)


def least_unlike(whole: np.ndarray, under: np.ndarray, about: int = 1) -> np.ndarray:
    """(m, m): difference of two pictures, the least over shifts of up to `about` pixels, so that
    edges do not count"""
    m = len(whole)
    padded = cv2.copyMakeBorder(under, about, about, about, about, cv2.BORDER_REPLICATE)
    return np.min(
        [
            difference(whole, padded[y : y + m, x : x + m])
            for y in range(2 * about + 1)
            for x in range(2 * about + 1)
        ],
        axis=0,
    )


def laid_under(whole: Exemplar, bases: list[Exemplar]) -> np.ndarray | None:
    """(m, m): where a pile is unlike its lower piece alone, for the cut-out and turn of that piece
    which fit it best"""
    m = len(whole.picture)
    core = footprint_mask(whole.size, whole.disc, m, whole.scale, -1.5) > 0.5
    best = None
    for b in bases:
        for turn in np.arange(0, 360, 15) if b.lies == "any" else (0, 90, 180, 270):
            under = turned(b.picture, float(turn), whole.scale / b.scale, m)
            for dx, dy in ((0, 0), (1.5, 0), (-1.5, 0), (0, 1.5), (0, -1.5)):
                moved = cv2.warpAffine(
                    under,
                    np.float32([[1, 0, dx], [0, 1, dy]]),
                    (m, m),
                    borderMode=cv2.BORDER_REPLICATE,
                )
                unlike = difference(whole.picture, moved)
                misfit = float(np.median(unlike[core])) + 0.3 * float(unlike[core].mean())
                if best is None or misfit < best[0]:
                    best = misfit, moved
    return None if best is None else least_unlike(whole.picture, best[1]) * core


def overlay(
    whole: Exemplar, bases: list[Exemplar], size: tuple[float, float], disc: bool, height: float
) -> Patch | None:
    """The upper piece of a pile alone, found where the pile differs from its lower piece alone."""
    unlike = laid_under(whole, bases)
    if unlike is None:
        return None
    m = len(unlike)
    free = np.array(whole.size) / 2 - min(size) / 3
    doubt = doubt_map(m, whole.scale, free, np.zeros(2), 0.1 * min(size))
    offset, tilt = localise(
        cv2.GaussianBlur(unlike, (0, 0), 0.8), np.zeros_like(unlike), size, disc, whole.scale, doubt
    )
    wide = int(np.ceil((max(size) * 1.5 + 0.8 * height) * whole.scale))
    middle = m / 2 - 0.5 + offset * whole.scale
    move = np.float32([[1, 0, middle[0] - wide / 2 + 0.5], [0, 1, middle[1] - wide / 2 + 0.5]])
    how = {"flags": cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, "borderMode": cv2.BORDER_REPLICATE}
    picture = cv2.warpAffine(whole.picture, move, (wide, wide), **how)
    there = cv2.warpAffine(unlike, move, (wide, wide), **how)
    sure = footprint_mask(size, disc, wide, whole.scale, 0.2, tilt)
    near = footprint_mask(size, disc, wide, whole.scale, 0.4 * height, tilt)
    level = np.median(there[sure > 0.5]) * 0.5 + 1e-6
    alpha = np.maximum(
        sure, cv2.GaussianBlur(np.clip(there / level - 0.5, 0, 1), (0, 0), 0.7) * near
    )
    colour = np.median(picture[sure > 0.5], 0)
    return Patch(
        picture, alpha.astype(np.float32), whole.scale, max(size) / 2, height, colour, "any"
    )


def glossed(rng: np.random.Generator, patch: Patch) -> Patch:
    """The same with a window or a lamp mirrored in all of its face: its print is paler, and its
    ground may be as bright as the camera shows"""
    grey = np.exp(patch.picture) - DARK
    most = np.percentile(grey, 95) * rng.uniform(1.0, 1.6)
    grey = np.minimum(grey + rng.uniform(10, 130), np.maximum(most, grey))
    return msgspec.structs.replace(
        patch, picture=np.log(np.maximum(grey, 0) + DARK).astype(np.float32)
    )


def agreeing(patches: list[tuple[Patch, int]]) -> list[tuple[Patch, int]]:
    """Without those whose colour is unlike most: they were cut out of the wrong place"""
    if len(patches) < 3:
        return patches
    colours = np.array([p.side for p, _ in patches])
    off = np.abs(colours - np.median(colours, 0)).max(1)
    return [p for p, o in zip(patches, off) if o <= max(2.5 * np.median(off), 0.1)]


def lay(
    window: np.ndarray,
    patch: Patch,
    middle: np.ndarray,
    angle: float,
    scale: float,
    lean: np.ndarray,
    shadow: tuple[np.ndarray, float, float] | None,
) -> None:
    """Lays a patch into a log window (S, S, 3), in place. middle: px; angle: degrees; lean: (2,) mm
    that the top stands off the foot a mm of height; shadow: (direction (2,), depth in log units,
    softness px) or None."""
    side = len(window)
    zoom = scale / patch.scale
    m = len(patch.picture)
    a = np.deg2rad(angle)
    inverse = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) / zoom
    half = int(np.ceil(m * zoom * 0.72 + 6))
    x0, y0 = (int(np.clip(np.floor(c) - half, 0, side)) for c in middle)
    x1, y1 = (int(np.clip(np.ceil(c) + half + 1, 0, side)) for c in middle)
    if x1 <= x0 or y1 <= y0:
        return

    def put(source: np.ndarray, at: np.ndarray, border: int) -> np.ndarray:
        shift = m / 2 - 0.5 - inverse @ (at - (x0, y0))
        return cv2.warpAffine(
            source,
            np.column_stack([inverse, shift]).astype(np.float32),
            (x1 - x0, y1 - y0),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=border,
        )

    # whole rows: numpy is slow where three numbers lie together
    part = window[y0:y1, x0:x1].reshape(y1 - y0, -1)
    foot = middle - lean * patch.height * scale
    if shadow is not None:
        away, depth, soft = shadow
        dark = put(patch.alpha, foot + away * patch.height * scale, cv2.BORDER_CONSTANT)
        part -= thrice(cv2.GaussianBlur(dark, (0, 0), soft) * np.float32(depth))
    steps = int(np.ceil(np.abs(lean).max() * patch.height * scale / 1.5))
    if steps:
        clear = 1 - put(patch.alpha, foot, cv2.BORDER_CONSTANT)
        for k in range(1, steps):
            clear *= 1 - put(patch.alpha, foot + (middle - foot) * k / steps, cv2.BORDER_CONSTANT)
        side = np.tile(patch.side, x1 - x0)
        part -= side
        part *= thrice(clear)
        part += side
    above = put(patch.picture, middle, cv2.BORDER_REPLICATE).reshape(part.shape)
    above -= part
    above *= thrice(put(patch.alpha, middle, cv2.BORDER_CONSTANT))
    part += above


def thrice(values: np.ndarray) -> np.ndarray:
    """(h, 3 * w) of (h, w): each as often as there are colours"""
    return cv2.cvtColor(values, cv2.COLOR_GRAY2BGR).reshape(len(values), -1)


@cache
def _grains(side: int) -> np.ndarray:
    return np.random.default_rng(side).standard_normal((2 * side, 2 * side, 3)).astype(np.float32)


def grain(rng: np.random.Generator, side: int) -> np.ndarray:
    """(side, side, 3) noise of spread 1: a part, taken anywhere, of a sheet made once"""
    y, x = rng.integers(0, side, 2)
    return _grains(side)[y : y + side, x : x + side, :: rng.choice([-1, 1])]


def relight(rng: np.random.Generator, window: np.ndarray) -> np.ndarray:
    """Another light, shadow, gloss, sharpness and noise on a log window (S, S, 3).

    The light's strength and colour change as in a camera, grey levels that clip and blacks that
    stay black, and are taken out again by their effect on a middle grey, as the reader does."""
    side = len(window)
    t = np.linspace(-1, 1, side, dtype=np.float32)
    x, y = t[None], t[:, None]
    k = rng.normal(0, 0.06, 3).astype(np.float32)
    shade = k[0] + k[1] * x + k[2] * y
    if rng.random() < 0.25:  # the edge of a cast shadow
        a = rng.uniform(0, 2 * np.pi)
        across = (
            np.float32(np.cos(a)) * x
            + np.float32(np.sin(a)) * y
            - np.float32(rng.uniform(-0.8, 0.8))
        )
        soft = np.tanh(across / np.float32(rng.uniform(0.04, 0.8)))
        shade = shade - np.float32(rng.uniform(0.05, 0.3)) * (1 + soft)
    # whole rows: numpy is slow where three numbers lie together
    grey = grey_levels(window).reshape(side, -1)
    grey *= thrice(cv2.exp(shade))
    if rng.random() < 0.2:  # gloss
        cx, cy, r, stretch, depth = rng.uniform(
            (-0.7, -0.7, 0.1, 0.5, 10), (0.7, 0.7, 0.5, 2, 90)
        ).astype(np.float32)
        grey += thrice(depth * cv2.exp(-((x - cx) ** 2 + ((y - cy) * stretch) ** 2) / r**2))
    gain = np.exp(rng.normal(0, 0.25) + rng.normal(0, 0.12, 3)).astype(np.float32)
    gain *= np.float32(
        min(1.0, 250 / max(float((grey[::6].reshape(-1, side, 3)[:, ::6] * gain).max()), 1))
    )
    black = np.float32(rng.normal(0, 3))
    grey *= np.tile(gain, side)
    grey += black
    if rng.random() < 0.7:
        grey = cv2.GaussianBlur(grey.reshape(window.shape), (0, 0), rng.uniform(0.2, 1.3)).reshape(
            side, -1
        )
    grey += grain(rng, side).reshape(side, -1) * np.float32(rng.uniform(0.5, 4))
    found = (MIDDLE * gain + black) / MIDDLE * np.exp(rng.normal(0, 0.03, 3)).astype(np.float32)
    return to_reference_logs(
        np.clip(grey, 0, 255, out=grey).reshape(1, *window.shape), found[None]
    )[0]


def unknown(rng: np.random.Generator, form: Patch, ground: np.ndarray) -> Patch:
    """A piece of a known form with a face that no photo shows: pale, little printed on it, not far
    from the colour of the ground (3,) log that it will lie on"""
    m, px = len(form.picture), form.scale
    brighter = rng.uniform(0.1, 0.5) if rng.random() < 0.5 else -rng.uniform(0.15, 0.6)
    colour = (ground + brighter + rng.normal(0, 0.08, 3)).astype(np.float32)
    cells = int(rng.integers(3, 9))
    rough = cv2.resize(
        rng.normal(0, 1, (cells, cells)).astype(np.float32), (m, m), interpolation=cv2.INTER_CUBIC
    )
    print_ = np.zeros((m, m), np.float32)
    for _ in range(rng.integers(0, 4)):
        a, b = (tuple(int(v) for v in rng.uniform(0.2 * m, 0.8 * m, 2)) for _ in "ab")
        cv2.line(print_, a, b, 1.0, max(round(rng.uniform(0.5, 1.5) * px), 1))
    inner = cv2.erode(
        (form.alpha > 0.5).astype(np.float32), np.ones((3, 3)), iterations=max(round(px), 1)
    )
    dark = rng.uniform(-0.1, 0.4) * print_ + rng.uniform(0, 0.4) * (1 - inner)
    face = colour + (rough * rng.uniform(0, 0.08) - cv2.GaussianBlur(dark, (0, 0), 0.6))[..., None]
    return msgspec.structs.replace(
        form, picture=face.astype(np.float32), side=colour - np.float32(0.25)
    )


def crossed(rng: np.random.Generator, one: Patch, other: Patch) -> Patch | None:
    """A piece with a print that is part of one's and part of the other's, as a kind never shown may
    have (a U with the dots of an Ö); None where they are not of one form, or alike in either
    part"""
    if one.picture.shape != other.picture.shape or one.radius != other.radius:
        return None
    m = len(one.picture)
    angle, off = rng.uniform(0, 2 * np.pi), rng.uniform(-0.3, 0.3)
    x, y = np.meshgrid(*2 * (np.linspace(-0.5, 0.5, m),))
    part = 1 / (1 + np.exp(-np.clip((x * np.cos(angle) + y * np.sin(angle) - off) * m, -30, 30)))
    unlike = np.abs(one.picture - other.picture).sum(2) * (one.alpha > 0.9)
    if min((unlike * part).sum(), (unlike * (1 - part)).sum()) < LEAST_CROSSED * unlike.sum():
        return None
    return msgspec.structs.replace(
        one,
        picture=(one.picture + part[..., None] * (other.picture - one.picture)).astype(np.float32),
    )


def foreign(rng: np.random.Generator, window: np.ndarray, plainly: float = 0.0) -> np.ndarray:
    """Something that is no piece over much of a log window: skin, cloth, a phone, a cup's rim,
    paper. plainly: how often it is something smooth that may hide all of it"""
    side = len(window)
    base = np.log(rng.uniform(15, 250) * np.clip(rng.normal(1, 0.25, 3), 0.4, 1.6) + DARK).astype(
        np.float32
    )
    if rng.random() < 0.4:  # skin, of any tone, B G R
        base = np.log(
            rng.uniform(0.25, 1.1) * np.array([130, 160, 215]) * rng.normal(1, 0.06, 3) + DARK
        ).astype(np.float32)
    plain = plainly > 0 and rng.random() < plainly
    if plain:  # a phone's glass, coffee, paper
        base = np.log(
            np.exp(rng.uniform(np.log(12), np.log(250))) * rng.normal(1, 0.08, 3).clip(0.7, 1.3)
            + DARK
        )
        base = base.astype(np.float32)
    cells = int(rng.integers(2, 10))
    rough = cv2.resize(
        rng.normal(0, 1, (cells, cells)).astype(np.float32),
        (side, side),
        interpolation=cv2.INTER_CUBIC,
    )
    colours = cv2.resize(
        rng.normal(0, 1, (3, 3, 3)).astype(np.float32), (side, side), interpolation=cv2.INTER_CUBIC
    )
    thing = (
        base
        + rough[..., None] * rng.uniform(0, 0.05 if plain else 0.3)
        + colours * rng.uniform(0, 0.12)
    )
    t = np.linspace(-1, 1, side, dtype=np.float32)
    x, y = np.meshgrid(t, t)
    a = rng.uniform(0, 2 * np.pi)
    if rng.random() < 0.5:  # an edge of it lies in the window
        inside = x * np.cos(a) + y * np.sin(a) + rng.uniform(0.0, 1.0)
    else:
        cx, cy = rng.uniform(-0.5, 0.5, 2)
        inside = rng.uniform(0.6, 1.6) - np.hypot((x - cx) * rng.uniform(0.5, 1.5), y - cy)
    if plain and rng.random() < 0.6:  # the whole site lies under it
        inside = np.ones_like(x)
    alpha = 1 / (1 + np.exp(-inside * side / rng.uniform(2, 8)))
    if rng.random() < 0.3:  # fingers: stripes
        across = -x * np.sin(a) + y * np.cos(a)
        alpha *= np.abs((across * rng.uniform(1, 2.5) + rng.uniform(0, 1)) % 1 - 0.5) < 0.38
        alpha = cv2.GaussianBlur(alpha.astype(np.float32), (0, 0), 1.0)
    shade = cv2.GaussianBlur(alpha.astype(np.float32), (0, 0), 5) * rng.uniform(0, 0.4)
    return (window - shade[..., None]) * (1 - alpha[..., None]) + thing * alpha[..., None]
