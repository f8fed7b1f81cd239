"""From a rough pose to a sharp one: robust pose from many points, and the print followed from coarse to fine."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.lens import Lens
from vision.plan import Plan
from vision.pose import Pose
from vision.printed import ALIKE, Picture, Print

LEAST = 8           # patches that must agree before a board counts as seen
FLOOR_PX = 0.12     # what interpolation and the lens's model leave, at 1640 wide


class Fit(msgspec.Struct, frozen=True, eq=False):
    """pose, its error_px filled in; inliers: (N,) bool of the points given; spread: how far apart they lie, 0 to 1."""

    pose: Pose
    inliers: np.ndarray
    share: float


def robust_pose(lens: Lens, mm: np.ndarray, px: np.ndarray, start: Pose, loose: float) -> tuple[Pose, np.ndarray]:
    """The pose nearest `start` that most of the points agree with, each up to about `loose` pixels off; (N,) errors.

    Points further off than three times the typical error weigh next to nothing."""
    points = np.column_stack([mm, np.zeros(len(mm))])
    x = np.concatenate([start.rvec, start.tvec]).astype(float)
    K, dist = lens.K(start.size), lens.dist
    for turn in range(12):
        seen, jac = cv2.projectPoints(points, x[:3], x[3:], K, dist)
        r = seen.reshape(-1, 2) - px
        off = np.linalg.norm(r, axis=1)
        scale = min(max(1.5 * np.median(off), 0.15), loose)
        w = np.repeat(1 / (1 + (off / (2 * scale)) ** 2) ** 2, 2)
        J = jac[:, :6]
        A = J.T @ (J * w[:, None])
        step = np.linalg.solve(A + 1e-9 * np.diag(np.diag(A)), -J.T @ (w * r.ravel()))
        x += step
        if turn > 2 and np.abs(J @ step).max() < 0.01:
            break
    pose = Pose(K, dist, x[:3], x[3:], start.size, start.by, start.error_px)
    return pose, np.linalg.norm(pose.to_px(mm) - px, axis=1)


def expected_error(plan: Plan, pose: Pose, mm: np.ndarray, off: np.ndarray) -> float:
    """Root mean square error in pixels to expect over the board, from points (N, 2) mm and their residuals (N,)"""
    def jacobian(at):
        return cv2.projectPoints(np.column_stack([at, np.zeros(len(at))]), pose.rvec, pose.tvec, pose.K,
                                 pose.dist)[1][:, :6]
    J = jacobian(mm)
    freedom = max(2 * len(mm) - 6, 1)
    variance = float((off ** 2).sum()) / freedom
    C = np.linalg.pinv(J.T @ J) * variance
    u = np.linspace(0, 1, 5)
    grid = np.stack(np.meshgrid(u, u), -1).reshape(-1, 2) * plan.size
    G = jacobian(grid)
    over = np.einsum("ij,jk,ik->i", G, C, G).sum() / len(grid)
    return float(np.sqrt(over + (FLOOR_PX * max(pose.size) / 1640) ** 2))


def consensus(lens: Lens, mm: np.ndarray, px: np.ndarray, size: tuple[int, int], loose: float, by: str
              ) -> tuple[Pose, np.ndarray] | None:
    """A pose from points of which many may be wrong, and (N,) bool which agree; None without agreement."""
    if len(mm) < LEAST:
        return None
    K = lens.K(size)
    flat = cv2.undistortPoints(np.ascontiguousarray(px, float).reshape(-1, 1, 2), K, lens.dist).reshape(-1, 2)
    H, good = cv2.findHomography(mm, flat, cv2.USAC_MAGSAC, loose / K[0, 0], maxIters=2000, confidence=0.999)
    if H is None or good is None or good.sum() < LEAST:
        return None
    good = good.ravel().astype(bool)
    try:
        pose, _ = lens.pose(mm[good], px[good], size, by)
    except ValueError:
        return None
    return pose, good


def follow(plan: Plan, lens: Lens, known: Print, picture: Picture, start: Pose, levels: tuple[int, ...] = (2, 1, 0),
           margins: tuple[int, ...] = (8, 4, 3), most: int = 120) -> Fit | None:
    """From a rough pose, the pose at which the print is seen; None where it is not. Margins are pixels of each level."""
    pose, fit = start, None
    for k, (level, margin) in enumerate(zip(levels, margins)):
        mm, px, alike = known.measure(picture, pose, level, margin, slice(0, most))
        step = 2 ** level / known.px_per_mm * pixels_a_mm(pose, plan)
        good = alike > ALIKE
        if good.sum() < LEAST:
            return None
        if k == 0 and len(levels) > 1:
            found = consensus(lens, mm[good], px[good], picture.size, 1.5 * step, start.by)
            if found is None:
                return None
            pose = found[0]
        pose, off = robust_pose(lens, mm[good], px[good], pose, 1.5 * step)
        near = off < max(3 * np.median(off), 0.3 * step)
        near &= off < 1.5 * step
        if near.sum() < LEAST:
            return None
        inliers = np.zeros(len(mm), bool)
        inliers[np.flatnonzero(good)[near]] = True
        fit = inliers
    error = expected_error(plan, pose, mm[fit], np.linalg.norm(pose.to_px(mm[fit]) - px[fit], axis=1))
    return Fit(msgspec.structs.replace(pose, error_px=error), fit, float(fit.mean()))


def pixels_a_mm(pose: Pose, plan: Plan) -> float:
    """The picture's scale in the board's middle"""
    middle = np.array(plan.size) / 2
    a, b, c = pose.to_px(np.array([middle, middle + (1, 0), middle + (0, 1)]))
    return float(np.sqrt(abs(np.linalg.det(np.array([b - a, c - a])))))
