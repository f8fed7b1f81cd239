"""Made-up light: a log picture as it would look on another evening, by another camera."""

from __future__ import annotations

import math

import cv2
import numpy as np

from vision.photometry.room_light import DARK

# What remains of the lighting after correction, made somewhat stronger than was measured on eight
# copies (docs/lab/2026-11-24-prints-and-crowds.md). Standard deviations, in log units, of a smooth
# light field and of its colour; the highest level of noise
LIGHT, TINT, NOISE = 0.09, 0.02, 0.03
# of the samples show a lamp or a window mirrored: from so much to so much light, of 255, across so much of a
# sample's half side. On real/chess one lightens the dark squares of a whole rank by 100
GLOSS, GLEAM, GLEAM_SIZE = 0.2, (7.0, 130.0), (0.08, 1.5)
# of the samples, in which the empty board that they are compared with shows one
VEILED = 0.1
# of the samples, lit more than the camera takes in: what is brighter than white, less so many log units at
# most, is cut off. It is 0.3 where there is 1.35 times the light of the photos learnt from
OVEREXPOSED, MOST_CUT_OFF = 0.08, 0.4
# of one colour besides, in every other of them: of a lamp that the camera is not set to
MOST_CUT_OF_COLOUR = 0.6
# what is left of how vividly and how clearly a camera shows the same table on another day, once that is
# undone (`Rendition`): one standard deviation of the log of how far colours are from grey, and by how much
# dark and bright are farther apart or nearer at most. From photo to photo of one camera it is 0.02
VIVID, HAZE = 0.05, 0.05
MIDDLE_LEVEL = 150.0  # of 255, from which they are; a board's bright ground as a rule
WHITE_LOG = math.log(255 + DARK)  # in a canvas, whose light is that of a photo of the empty board
# of the samples, across which somebody's shadow falls: at most so many log units darker, its edge soft over
# so many pixels
OVERSHADOWED, DEEPEST_SHADOW, SHADOW_EDGE = 0.1, 1.0, (1.0, 25.0)


def render_otherwise(x: np.ndarray, vivid: float, clear: float) -> np.ndarray:
    """A log picture (h, w, 3) whose colours are so many log units farther from grey, and whose grey
    levels are by so much farther from their middle"""
    grey = x.mean(2, keepdims=True)
    levels = cv2.exp(grey + (x - grey) * np.float32(math.exp(vivid)))
    haze = np.float32(clear * (MIDDLE_LEVEL + DARK))
    return cv2.log(np.maximum(levels * np.float32(1 + clear) - haze, DARK / 2))


def mirror_lamp(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """A log picture (h, w, 3) in which a lamp is mirrored, which adds the same light to dark and bright"""
    u, v = (np.linspace(-1, 1, n, dtype=np.float32) for n in x.shape[1::-1])
    (cx, cy), (sx, sy) = rng.uniform(-1, 1, 2), np.exp(rng.uniform(*np.log(GLEAM_SIZE), 2))
    bright = np.exp(rng.uniform(*np.log(GLEAM)))
    gleam = np.float32(bright * np.exp(-(((u - cx) / sx) ** 2) - ((v[:, None] - cy) / sy) ** 2))
    return np.minimum(np.log(np.exp(x) + gleam[..., None]), np.maximum(x, np.float32(WHITE_LOG)))


def relight_picture(
    rng: np.random.Generator, x: np.ndarray, grain: float = 1.0, odd: float = 1.0
) -> np.ndarray:
    """A log picture (h, w, 3) in other light than was undone: gain, contrast, a lamp mirrored,
    somebody's shadow, blur, noise, too much of it. grain: how wide a pixel of the photos is in the picture's;
    odd: of the usual share that lies in somebody's shadow or too much light"""
    h, w = x.shape[:2]
    u = np.linspace(-1, 1, w, dtype=np.float32)[None]
    v = np.linspace(-1, 1, h, dtype=np.float32)[:, None]
    much = rng.choice([0.3, 1.0, 1.6], p=[0.4, 0.4, 0.2])
    shape = np.array([1, 0.45, 0.45, 0.3, 0.3, 0.3])[:, None]
    k = rng.normal(0, much * TINT, (6, 3)) * shape + rng.normal(0, much * LIGHT, (6, 1)) * shape
    field = np.stack(
        [
            (a + b * u + e * u * u) + (c * v + f * v * v) + d * (u * v)
            for a, b, c, d, e, f in k.T.astype(np.float32)
        ],
        -1,
    )
    x = (x - 4.6) * np.float32(1 + much * rng.uniform(-0.07, 0.07)) + 4.6 + field
    x = render_otherwise(x, much * rng.normal(0, VIVID), much * rng.uniform(-HAZE, HAZE))
    if rng.random() < GLOSS:
        x = mirror_lamp(rng, x)
    if rng.random() < odd * OVERSHADOWED:
        a, edge = rng.uniform(0, 2 * np.pi), rng.uniform(*SHADOW_EDGE) / (w / 2)
        inside = (u * np.cos(a) + v * np.sin(a) - rng.uniform(-0.8, 0.8)) / edge
        shade = np.clip(inside + 0.5, 0, 1) * rng.uniform(0.1, DEEPEST_SHADOW)
        x = x - shade.astype(np.float32)[..., None]
    s = rng.uniform(0, 1.0) * min(grain, 1.0)
    if s > 0.3:
        x = cv2.GaussianBlur(x, (0, 0), s)
    elif s < 0.1:
        x = x + 0.5 * (x - cv2.GaussianBlur(x, (0, 0), 1.0))  # a phone that sharpens
    noise = rng.standard_normal(x.shape, np.float32)
    noise *= np.float32(np.exp(rng.uniform(np.log(0.003), np.log(NOISE))))
    if rng.random() < 0.5:
        noise = cv2.GaussianBlur(noise, (0, 0), 0.6) * 1.6
    x = x + noise
    if rng.random() < odd * OVEREXPOSED:
        cut = np.full(3, rng.uniform(0, MOST_CUT_OFF))
        cut[rng.integers(3)] += rng.choice([0.0, rng.uniform(0, MOST_CUT_OF_COLOUR)])
        x = np.minimum(x, np.float32(WHITE_LOG - cut))
    return x
