"""Detects hands, arms and large objects in a still picture by its differences from a view known to
be free of them."""

from __future__ import annotations

from functools import cache, reduce

import cv2
import msgspec
import numpy as np

from vision.geometry.coarse_grid import grid_nodes, interpolate_nodes, sample_at
from vision.geometry.pose import Pose, board_scale
from vision.geometry.site_groups import outline_mask
from vision.photometry.small_picture import SMALL_PX, View
from vision.plan import Plan

# differences in grey levels: too strong for any change of light; the least that is more than noise
STRONG, WEAK = 26.0, 12.0
NOISES = 5.0  # ... and this many times the usual difference between pictures
GAIN = (0.45, 2.0)  # factors by which a shadow darkens and a lamp brightens
# least share of the area beside the sites that differs strongly where an arm crosses it
ARM_SHARE = 0.015
ARM_MM = 18.0  # least width of an arm, or of a finger on the board
# pixels on either side of an edge for measuring its sharpness; least number of such pixels
EDGE_REACH, FEWEST_EDGE_PIXELS = 2, 20
# at half of its edge or more, an object differs from its surroundings by at least this share of its
# difference from the earlier view
SHARP = 0.25
# margin around a glow in pixels; degree of the polynomial fitted to it; iterations that reject
# outliers
GLOW_REACH, GLOW_DEGREE, GLOW_ROUNDS = 21, 3, 8
# least contrast of print in grey levels; pixels of its neighbourhood; least share of it visible in
# any light (0.45 in a deep shadow; where arms hid it, up to 0.26)
LEAST_CONTRAST, CONTRAST_REACH, LEAST_KEPT = 3.0, 9, 0.3
THREE = np.ones((3, 3), np.uint8)


class ForeignObject(msgspec.Struct, frozen=True, eq=False):
    """Something that reaches from the picture's edge over the board.

    mask: (h, w) bool on the small picture; sites: those it covers, completely or partly; share: of
    the board's area."""

    mask: np.ndarray
    sites: frozenset[str]
    share: float


def reproject_view(view: View, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    """A view warped to another pose, and (h, w) bool where that is known (assuming a flat table)"""
    w, h = pose.size
    if pose.size == view.pose.size and np.allclose(
        pose.to_px(PROBES), view.pose.to_px(PROBES), atol=0.1
    ):
        return view.small, np.ones((h, w), bool)
    few = grid_nodes((h, w), 8)
    at = interpolate_nodes(
        view.pose.to_px(pose.to_mm(few.reshape(-1, 2))).reshape(few.shape), (h, w), 8
    )
    vh, vw = view.small.shape[:2]
    known = (at > 0).all(2) & (at[..., 0] < vw - 1) & (at[..., 1] < vh - 1)
    return sample_at(view.small, at, cv2.BORDER_REPLICATE), known


PROBES = np.array([[0, 0], [300, 0], [0, 300], [300, 300]], float)


def match_lighting(before: np.ndarray, now: np.ndarray, known: np.ndarray) -> np.ndarray:
    """`before` in the light of `now`: per channel a factor that varies linearly over the picture,
    (h, w, 3) float.

    Fitted robustly to most of the picture, so that a hand does not count as light."""
    h, w = known.shape
    across, down = np.linspace(-1, 1, w)[None], np.linspace(-1, 1, h)[:, None]
    x, y = np.broadcast_arrays(across[:, ::4], down[::4])
    out = before.astype(np.float32)
    for c in range(3):
        b, n = before[::4, ::4, c].astype(np.float64) + 4, now[::4, ::4, c].astype(np.float64) + 4
        ratio = np.log(n / b)
        good = known[::4, ::4] & (n < 245) & (b < 245)
        if good.sum() < 100:
            continue
        A = np.column_stack([np.ones(good.sum()), x[good], y[good]])
        r, k = ratio[good], np.array([np.median(ratio[good]), 0, 0])
        for _ in range(8):
            off = r - A @ k
            s = max(1.5 * np.median(np.abs(off)), 0.02)
            weight = 1 / (1 + (off / s) ** 2) ** 2
            k = np.linalg.solve(A.T @ (A * weight[:, None]) + 1e-6 * np.eye(3), A.T @ (weight * r))
        gain = np.exp(k[0] + k[1] * across + k[2] * down)
        out[..., c] = (out[..., c] + 4) * gain - 4
    return np.clip(out, 0, 255)


def find_differences(
    before: np.ndarray, now: np.ndarray, known: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two (h, w) bool masks, differences too strong for light and noticeable differences; and (h,
    w) the grey levels by which every colour is brighter. before: from `match_lighting`"""
    # sums along short axes are slow
    b = cv2.split(cv2.GaussianBlur(before, (0, 0), 1.2))
    n = cv2.split(cv2.GaussianBlur(now.astype(np.float32), (0, 0), 1.2))
    size = (SMALL_PX // 24 | 1,) * 2
    up, down = (cv2.blur(reduce(np.add, map(np.multiply, b, c)), size) for c in (n, b))
    gain = np.clip(up / np.maximum(down, 1), *GAIN)
    apart = reduce(cv2.max, map(cv2.absdiff, n, b))
    apart_in_light = reduce(cv2.max, [cv2.absdiff(q, gain * p) for p, q in zip(b, n)])
    strong = np.minimum(apart, apart_in_light) > STRONG
    # the half with the smaller differences shows the effect of noise and of light that is not
    # linear
    usual = float(np.percentile(apart[known], 40)) if known.any() else 0.0
    weak = apart > max(WEAK, NOISES * usual)
    return strong & known, weak & known, reduce(cv2.min, map(cv2.subtract, n, b))


def print_contrast(picture: np.ndarray) -> np.ndarray:
    """(h, w) grey levels by which each pixel of (h, w, 3) differs from its neighbourhood"""
    grey = cv2.GaussianBlur(picture.astype(np.float32), (0, 0), 0.8).mean(2)
    return grey - cv2.blur(grey, (CONTRAST_REACH, CONTRAST_REACH))


def is_hidden(part: np.ndarray, before: np.ndarray, now: np.ndarray, wide: float) -> bool:
    """Whether the print on a part (h, w) bool is no longer visible, which light cannot cause, not
    even light the colour of skin. before, now: (h, w) from `print_contrast`; wide: pixels; at least
    wide squared pixels must have had print"""
    plain = part & (np.abs(before) > LEAST_CONTRAST)
    return bool(
        plain.sum() >= wide**2
        and (before[plain] * now[plain]).sum() < LEAST_KEPT * (before[plain] ** 2).sum()
    )


def is_glow(part: np.ndarray, lit: np.ndarray, board: np.ndarray, width: int) -> bool:
    """Whether a changed part (h, w) bool of the board is brighter, by lit (h, w) grey levels, and
    fades out along most of its edge, like a lamp reflected in varnish and unlike any object. board:
    its mask; width: pixels; narrower appendages are pieces"""
    wide = cv2.morphologyEx(part.astype(np.uint8), cv2.MORPH_OPEN, round_element(width))
    near = np.ones((2 * EDGE_REACH + 1,) * 2, np.uint8)
    inside = cv2.erode(board.astype(np.uint8), near) > 0
    # not where a piece ends
    edge = (cv2.erode(wide, THREE) < wide) & (cv2.erode(part.astype(np.uint8), THREE) == 0) & inside
    step = cv2.dilate(lit, near) - cv2.erode(lit, near)
    return bool(
        edge.sum() >= FEWEST_EDGE_PIXELS
        and np.median(step[edge]) < SHARP * np.median(lit[part & inside])
    )


def glow_levels(
    part: np.ndarray, before: np.ndarray, now: np.ndarray, known: np.ndarray
) -> np.ndarray:
    """(h, w, 3) grey levels that a glow, part (h, w) bool, adds to the earlier view: a smooth fit
    that ignores objects in it"""
    near = cv2.dilate(part.astype(np.uint8), np.ones((GLOW_REACH, GLOW_REACH), np.uint8)) > 0
    y, x = np.nonzero(near & known)
    across, down = (2 * (v - v.min()) / max(np.ptp(v), 1) - 1 for v in (x, y))
    powers = [(i, j) for i in range(GLOW_DEGREE + 1) for j in range(GLOW_DEGREE + 1 - i)]
    terms = np.stack([across**i * down**j for i, j in powers], 1)
    out = np.zeros(before.shape, np.float32)
    for c in range(3):
        more = now[y, x, c].astype(float) - before[y, x, c]
        use = np.flatnonzero(now[y, x, c] < 250)[::3]
        weight = np.ones(len(use))
        for _ in range(GLOW_ROUNDS if len(use) else 0):
            A = terms[use] * weight[:, None]
            fit = np.linalg.solve(A.T @ terms[use] + 1e-3 * np.eye(terms.shape[1]), A.T @ more[use])
            weight = 1 / (1 + ((more[use] - terms[use] @ fit) / WEAK) ** 2)
            out[y, x, c] = (terms @ fit).clip(0)
    return out


def find_foreign(plan: Plan, now: View, before: View) -> ForeignObject | None:
    """A hand or an arm over the board in a picture, given a view without one; None if there is
    none."""
    ref, known = reproject_view(before, now.pose)
    edge = np.linspace(0, 1, 16)[:-1, None]
    corners = plan.corners
    outline = np.vstack([corners[i] + edge * (corners[(i + 1) % 4] - corners[i]) for i in range(4)])
    board = outline_mask([outline], now.pose.to_px, known.shape)
    beside = ~outline_mask(
        (o for site in plan.site for o in site.outlines), now.pose.to_px, known.shape
    )
    wide = ARM_MM * board_scale(now.pose, plan)
    ref = match_lighting(ref, now.small, known)
    parts, lit = find_arms(ref, now.small, known, board, beside, wide)
    glows = [p for p in parts if is_glow(p, lit, board & known, 2 * len(round_element(wide)))]
    if glows:  # an arm may reach into the glow
        ref = (ref + glow_levels(np.any(glows, 0), ref, now.small, known)).clip(0, 255)
        ref = match_lighting(ref, now.small, known)
        parts, _ = find_arms(ref, now.small, known, board, beside, wide)
    if not parts:
        return None
    mask = np.any(parts, 0)
    reach = cv2.dilate(mask.astype(np.uint8), round_element(wide)).astype(bool)
    share = float((mask & board).sum() / max(board.sum(), 1))
    return ForeignObject(mask, masked_sites(plan, now.pose, reach), share)


def find_arms(
    before: np.ndarray,
    now: np.ndarray,
    known: np.ndarray,
    board: np.ndarray,
    beside: np.ndarray,
    wide: float,
) -> tuple[list[np.ndarray], np.ndarray]:
    """(h, w) bool each: differences at least `wide` pixels wide that reach from the picture's edge
    over the board; and (h, w) the grey levels by which it is brighter. before: from
    `match_lighting`; beside: the area beside the sites"""
    strong, weak, lit = find_differences(before, now, known)
    body = cv2.morphologyEx((strong | weak).astype(np.uint8), cv2.MORPH_OPEN, round_element(wide))
    labels = cv2.connectedComponents(body)[1]
    # the border of the other view counts as the picture's edge
    rim = np.pad(known[2:-2, 2:-2].astype(np.uint8), 2)
    rim = cv2.erode(rim, THREE) == 0
    contrasts = cache(lambda: (print_contrast(before), print_contrast(now)))  # few parts need it
    out = []
    for i in set(np.unique(labels[rim]).tolist()) - {0}:
        part = labels == i
        over = part & board
        other = (over & strong).sum() >= max(0.3 * over.sum(), wide**2)
        if not other and not is_hidden(over, *contrasts(), wide):
            continue
        way = part & beside  # an arm shows there too; light beside pieces does not
        if (
            way.sum() < wide**2
            or (way & strong).sum() >= ARM_SHARE * way.sum()
            or is_hidden(way, *contrasts(), wide)
        ):
            out.append(part)
    return out, lit


def round_element(wide: float) -> np.ndarray:
    """A round structuring element: an opening with it removes what is narrower than `wide`
    pixels"""
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (max(round(wide), 2),) * 2)


def masked_sites(plan: Plan, pose: Pose, mask: np.ndarray) -> frozenset[str]:
    """The sites that the mask hides to a noticeable part"""

    def is_masked(outline: np.ndarray) -> bool:
        area = outline_mask([outline], pose.to_px, mask.shape)
        return bool((mask & area).sum() > 0.05 * max(area.sum(), 1))

    return frozenset(site.id for site in plan.site if any(map(is_masked, site.outlines)))
