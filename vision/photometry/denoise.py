"""A sensor's noise in a picture of the board, as in an evening's weak light: how much there is, and
what takes most of it off.

Noise differs from what is fine in a print, in wood or in cloth: pixels of it know little of each
other, so half of it is left at half the size. Neighbours do know of each other where a camera made
three colours of a mosaic, so it is told at half size and a quarter."""

from __future__ import annotations

import cv2
import numpy as np

from vision.geometry.pose import Pose
from vision.photometry.room_light import CLIPPED, DARK

ACROSS = 5  # places a side of the board where it is looked for
PLACE_PX = 32  # pixels of a place
FEWEST_PLACES = 8  # places that tell anything
# of the brightness: less is what cameras leave by daylight, and readers bear it
NOISE_WORTH_REMOVING = 0.012
# pixels for as much noise as there is light: the detail lost grows with the square of a blur, the
# noise left with its inverse, so that the best goes with the cube root
BLUR = 5.5


def estimate_noise(image: np.ndarray, pose: Pose, size: tuple[float, float]) -> float:
    """The share of its brightness by which two by two pixels of an image (h, w, 3) uint8 are off at
    random on a board `size` mm, in the colour in which that is most"""
    share = (np.arange(ACROSS) + 0.5) / ACROSS
    px = (
        np.round(
            pose.to_px(np.stack(np.meshgrid(*(share * s for s in size)), -1).reshape(-1, 2))
        ).astype(int)
        - PLACE_PX // 2
    )
    px = px[((px >= 0) & (px + PLACE_PX <= image.shape[1::-1])).all(1)]
    if len(px) < FEWEST_PLACES:
        return 0.0
    tall = np.concatenate([image[y : y + PLACE_PX, x : x + PLACE_PX] for x, y in px])
    shown = tall.reshape(len(px), -1, 3).max(1) < CLIPPED  # (n, 3)
    half = half_size(tall.astype(np.float32))
    fine, coarse = (
        noise_deviation(v.reshape(len(px), -1, *v.shape[1:])) for v in (half, half_size(half))
    )
    told = np.sqrt((fine**2 - coarse**2).clip(0) * (4 / 3)) / (
        half.reshape(len(px), -1, 3).mean(1) + DARK
    )
    return max(
        (
            float(np.median(told[shown[:, c], c]))
            for c in range(3)
            if shown[:, c].sum() >= FEWEST_PLACES
        ),
        default=0.0,
    )


def half_size(image: np.ndarray) -> np.ndarray:
    """A picture (h, w, 3) uint8 at half its size, two by two pixels averaged"""
    return cv2.resize(image, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)


def noise_deviation(places: np.ndarray) -> np.ndarray:
    """(n, 3) standard deviation of the noise that (n, s, s, 3) would have if nothing else made them
    uneven (Immerkær)"""
    rows = places[:, :-2] - 2 * places[:, 1:-1] + places[:, 2:]
    return np.abs(rows[:, :, :-2] - 2 * rows[:, :, 1:-1] + rows[:, :, 2:]).mean((1, 2)) * (
        np.sqrt(np.pi / 2) / 6
    )


def denoise_image(image: np.ndarray, noise: float, usual: float) -> np.ndarray:
    """An image uint8 with as much of its noise taken off as costs no detail worth more; itself
    where there is hardly more than usual"""
    more = np.sqrt(max(noise**2 - usual**2, 0.0))
    return (
        cv2.GaussianBlur(image, (0, 0), BLUR * more ** (1 / 3))
        if more > max(NOISE_WORTH_REMOVING, usual)
        else image
    )
