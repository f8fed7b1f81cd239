"""Made-up small things that are no pieces: coins, caps, buttons, dice, keys, scraps. Its value:
littered."""

from __future__ import annotations

import cv2
import numpy as np

from vision.photometry.room_light import DARK

# B G R
METALS = np.array(
    [[150, 155, 160], [85, 140, 190], [60, 95, 160], [120, 125, 130], [105, 165, 205]], np.float32
)
SOFT = 0.7  # pixels by which edges are soft, as in a photo


def littered(
    rng: np.random.Generator, window: np.ndarray, size: float, most: float, at: np.ndarray
) -> np.ndarray:
    """A log window (S, S, 3) with a thing on it. size: px that a piece measures; most: px that a
    thing does at most; at: (2,) px, about where its middle lies"""
    side = len(window)
    across = np.exp(rng.uniform(np.log(0.5 * size), np.log(max(most, 0.6 * size)))) / 2
    middle = at + rng.uniform(-0.15, 0.15, 2) * size
    y, x = np.mgrid[:side, :side].astype(np.float32)
    turn = rng.uniform(0, 2 * np.pi)
    c, s = np.float32(np.cos(turn)), np.float32(np.sin(turn))
    u, v = (
        ((x - middle[0]) * c + (y - middle[1]) * s) / across,
        ((y - middle[1]) * c - (x - middle[0]) * s) / across,
    )
    depth = np.float32(across) * form(rng, u, v)  # px inside its outline
    alpha = cv2.GaussianBlur((depth > 0).astype(np.float32), (0, 0), SOFT)
    face = painted(rng, window, u, v) + shaded(rng, depth, u, v, across)[..., None]
    out = window.copy()
    if rng.random() < 0.85:
        far, way = rng.uniform(0.05, 0.35) * across, rng.uniform(0, 2 * np.pi)
        dark = cv2.warpAffine(
            alpha, np.float32([[1, 0, far * np.cos(way)], [0, 1, far * np.sin(way)]]), (side, side)
        )
        out -= cv2.GaussianBlur(dark, (0, 0), rng.uniform(0.5, 0.2 * across + 0.6))[
            ..., None
        ] * np.float32(rng.uniform(0.1, 0.7))
    return out + (face - out) * alpha[..., None]


def form(rng: np.random.Generator, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(S, S) how far inside an outline of half width 1 places (u, v) are, negative outside"""
    way, r = rng.random(), np.hypot(u, v)
    if way < 0.4:  # coin, button, cap with teeth
        teeth = rng.uniform(0.02, 0.06) * (rng.random() < 0.3)
        return 1 - r + np.float32(teeth) * np.cos(np.arctan2(v, u) * 21)
    if way < 0.5:  # ring, nut
        return np.minimum(1 - r, r - np.float32(rng.uniform(0.25, 0.7)))
    if way < 0.75:  # die, rubber, folded paper
        w, edge = np.float32(rng.uniform(0.4, 1)), np.float32(rng.uniform(0, 0.3))
        a, b = np.maximum(np.abs(u) - (1 - edge), 0), np.maximum(np.abs(v) - (w - min(edge, w)), 0)
        return np.minimum(np.minimum(1 - np.abs(u), w - np.abs(v)), min(edge, w) - np.hypot(a, b))
    if way < 0.87:  # key, screw: a head and a shaft
        head, thin = np.float32(rng.uniform(0.25, 0.5)), np.float32(rng.uniform(0.06, 0.2))
        return np.maximum(
            head - np.hypot(u + (1 - head), v), np.minimum(1 - np.abs(u), thin - np.abs(v))
        )
    waves = rng.normal(0, 1, (2, 4)) * 0.25 / np.arange(1, 5)  # a scrap, a sweet in its paper
    angle = np.arctan2(v, u)
    return (
        0.75
        + sum(
            np.float32(p) * np.cos(n * angle) + np.float32(q) * np.sin(n * angle)
            for n, (p, q) in enumerate(waves.T, 1)
        )
        - r
    )


def painted(
    rng: np.random.Generator, window: np.ndarray, u: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """(S, S, 3) log colours of its surface: metal, paper, plastic, or nearly the colour of what it
    lies on; a print, perhaps"""
    way = rng.random()
    if way < 0.35:
        colour = METALS[rng.integers(len(METALS))] * rng.uniform(0.4, 1.3) * rng.normal(1, 0.05, 3)
    elif way < 0.5:
        colour = rng.uniform(150, 245) * rng.normal(1, 0.06, 3)
    elif way < 0.65:
        colour = (np.exp(np.median(window, (0, 1))) - DARK) * np.exp(
            rng.normal(0, 0.25) + rng.normal(0, 0.12, 3)
        )
    else:
        colour = np.exp(rng.uniform(np.log(20), np.log(245), 3))
    out = np.broadcast_to(
        np.log(np.clip(colour, 3, 250) + DARK).astype(np.float32), window.shape
    ).copy()
    if rng.random() < 0.5:
        ink = np.log(np.exp(rng.uniform(np.log(15), np.log(240), 3)) + DARK).astype(np.float32)
        r, way = np.hypot(u, v), rng.random()
        if way < 0.3:  # another middle
            there = r < rng.uniform(0.3, 0.8)
        elif way < 0.55:  # pips, holes
            spots = rng.uniform(-0.55, 0.55, (rng.integers(1, 6), 2))
            there = np.min([np.hypot(u - a, v - b) for a, b in spots], 0) < rng.uniform(0.1, 0.22)
        else:  # lines
            k, off = rng.uniform(3, 9), rng.uniform(0, 6)
            there = (np.cos(k * v + off) > rng.uniform(0.2, 0.8)) & (
                np.abs(u) < rng.uniform(0.3, 0.8)
            )
        out += (
            (ink - out)
            * cv2.GaussianBlur(there.astype(np.float32), (0, 0), SOFT)[..., None]
            * np.float32(rng.uniform(0.4, 1))
        )
    return out


def shaded(
    rng: np.random.Generator, depth: np.ndarray, u: np.ndarray, v: np.ndarray, across: float
) -> np.ndarray:
    """(S, S) logarithm of how bright its relief is: a rim, a stamp, what it mirrors"""
    side = len(depth)
    rim, cells = np.float32(rng.uniform(0.05, 0.5) * across + 0.5), int(rng.integers(4, 12))
    high = np.clip(depth / rim, 0, 1) * np.float32(rng.uniform(0.3, 2))
    if rng.random() < 0.6:  # stamped
        stamp = cv2.resize(
            rng.normal(0, 1, (cells, cells)).astype(np.float32),
            (side, side),
            interpolation=cv2.INTER_CUBIC,
        )
        high = high + np.float32(rng.uniform(0.1, 0.6)) * np.sign(stamp)
    if rng.random() < 0.4:  # a raised ring
        off = (depth / across - np.float32(rng.uniform(0.1, 0.4))) / 0.07
        high = high + np.float32(rng.uniform(0.2, 0.8)) * np.exp(-(off**2))
    high = cv2.GaussianBlur(high.astype(np.float32), (0, 0), SOFT)
    a = rng.uniform(0, 2 * np.pi)
    c, s = np.float32(np.cos(a)), np.float32(np.sin(a))
    slope = (
        cv2.Sobel(high, cv2.CV_32F, 1, 0, scale=0.125) * c
        + cv2.Sobel(high, cv2.CV_32F, 0, 1, scale=0.125) * s
    )
    much, waves, off = (np.float32(v) for v in rng.uniform((0, 0.5, 0), (0.35, 3, 6)))
    return np.clip(slope * np.float32(rng.uniform(0.5, 4)), -1, 1) + much * np.cos(
        waves * (u * c + v * s) + off
    )
