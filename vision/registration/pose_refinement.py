"""Refines a rough pose: robustly from many points, and by following the print from coarse to
fine."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.geometry.lens import Lens
from vision.geometry.pose import Pose, board_scale
from vision.plan import Plan
from vision.registration.print_map import SEEN_CORRELATION, Picture, PrintMap

LEAST_PATCHES = 8  # patches that must agree before a board counts as seen
# standard deviations of log focal, k1, k2 of another camera from the calibrated one's
GIVE = np.array([0.35, 0.1, 0.05])
# typical residual above which the calibrated lens does not fit, pixels at 1640 wide
STRAINED_PX = 0.5
FLOOR_PX = 0.12  # residual error of interpolation and lens model, pixels at 1640 wide


class PrintFit(msgspec.Struct, frozen=True, eq=False):
    """pose: with its error_px; inliers: (N,) bool of the patches searched for, share: of inliers;
    mm, px: (M, 2) the positions of the inliers; typical: their median residual, pixels."""

    pose: Pose
    inliers: np.ndarray
    mm: np.ndarray
    px: np.ndarray
    share: float
    typical: float


def robust_pose(
    mm: np.ndarray,
    px: np.ndarray,
    start: Pose,
    loose: float,
    give: bool = False,
    height: float = 0.0,
    noise: float = 0.1,
) -> tuple[Pose, np.ndarray]:
    """The pose nearest `start` on which most of the points agree, each up to about `loose` pixels
    off; and (N,) errors.

    Points farther off than three times the typical error have almost no weight. give: the lens may
    differ too; height: of the points above the board, mm; noise: least error of a good point,
    pixels."""
    points = np.column_stack([mm, np.full(len(mm), -height)])
    free = 9 if give else 6
    held = np.concatenate([np.zeros(6), 1 / GIVE**2])[:free]
    x = np.zeros(free)
    pose, damp = start, 1e-4

    def seen(pose: Pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        at, jac = cv2.projectPoints(points, pose.rvec, pose.tvec, pose.K, pose.dist)
        r = at.reshape(-1, 2) - px
        focal = (jac[:, 6] + jac[:, 7]) * pose.K[0, 0]
        J = np.column_stack([jac[:, :6], focal, jac[:, 10:12]])[:, :free]
        return r.ravel(), np.linalg.norm(r, axis=1), J

    def cost(off: np.ndarray, x: np.ndarray, scale: float) -> float:
        u = (off / (2 * scale)) ** 2
        return float(4 * (u / (1 + u)).sum() + held @ x**2)

    r, off, J = seen(pose)
    for _ in range(30 if give else 12):
        scale = min(max(1.5 * float(np.median(off)), 1.5 * noise), loose)
        w = np.repeat(1 / (1 + (off / (2 * scale)) ** 2) ** 2, 2) / scale**2
        A, g = J.T @ (J * w[:, None]) + np.diag(held), J.T @ (w * r) + held * x
        step = -np.linalg.solve(A + damp * np.diag(np.diag(A) + 1e-12), g)
        tried = lens_and_pose(start, pose, step, x + step)
        new_r, new_off, new_J = seen(tried)
        if cost(new_off, x + step, scale) > cost(off, x, scale) * (1 + 1e-9):
            damp *= 10
            continue
        small = np.abs(J @ step).max() < 0.01
        pose, x, r, off, J, damp = tried, x + step, new_r, new_off, new_J, max(damp / 10, 1e-9)
        if small:
            break
    return pose, off


def lens_and_pose(start: Pose, pose: Pose, step: np.ndarray, total: np.ndarray) -> Pose:
    """The pose changed by a step (rvec, tvec, perhaps log focal, k1, k2), with the lens changed by
    the total since the start"""
    out = msgspec.structs.replace(pose, rvec=pose.rvec + step[:3], tvec=pose.tvec + step[3:6])
    if len(step) == 6:
        return out
    K = start.K.copy()
    K[[0, 1], [0, 1]] *= np.exp(total[6])
    dist = start.dist.copy()
    dist[:2] += total[7:]
    return msgspec.structs.replace(out, K=K, dist=dist)


def expected_error(plan: Plan, pose: Pose, mm: np.ndarray, off: np.ndarray) -> float:
    """Root mean square error in pixels to expect over the board, from points (N, 2) mm and their
    residuals (N,)"""

    def jacobian(at):
        flat = np.column_stack([at, np.zeros(len(at))])
        return cv2.projectPoints(flat, pose.rvec, pose.tvec, pose.K, pose.dist)[1][:, :6]

    J = jacobian(mm)
    freedom = max(2 * len(mm) - 6, 1)
    variance = float((off**2).sum()) / freedom
    C = np.linalg.pinv(J.T @ J) * variance
    grid = spread_over(plan)
    G = jacobian(grid)
    over = np.einsum("ij,jk,ik->i", G, C, G).sum() / len(grid)
    return float(np.sqrt(over + (FLOOR_PX * max(pose.size) / 1640) ** 2))


def spread_over(plan: Plan) -> np.ndarray:
    """(25, 2) mm: points spread over the board, over which errors are averaged"""
    u = np.linspace(0, 1, 5)
    return np.stack(np.meshgrid(u, u), -1).reshape(-1, 2) * plan.size


def consensus_pose(
    lens: Lens, mm: np.ndarray, px: np.ndarray, size: tuple[int, int], loose: float, by: str
) -> Pose | None:
    """A pose from points of which many may be wrong; None without agreement."""
    if len(mm) < LEAST_PATCHES:
        return None
    K = lens.K(size)
    seen = np.ascontiguousarray(px, float).reshape(-1, 1, 2)
    flat = cv2.undistortPoints(seen, K, lens.dist, P=K).reshape(-1, 2)
    H, good = cv2.findHomography(mm, flat, cv2.USAC_MAGSAC, loose, maxIters=2000, confidence=0.999)
    if H is None or good is None or good.sum() < LEAST_PATCHES:
        return None
    good = good.ravel().astype(bool)
    try:
        return lens.pose(mm[good], px[good], size, by)[0]
    except ValueError:
        return None


def follow_print(
    plan: Plan,
    lens: Lens,
    known: PrintMap,
    picture: Picture,
    start: Pose,
    levels: tuple[int, ...] = (2, 1, 0),
    margins: tuple[int, ...] = (8, 4, 3),
    most: int = 120,
    give: bool = False,
) -> PrintFit | None:
    """From a rough pose, the pose at which the print is seen; None if it is not. margins: search
    range in pixels of each level; give: the lens may differ from the calibrated one."""
    pose, fit = start, np.zeros(0, bool)
    for k, (level, margin) in enumerate(zip(levels, margins)):
        mm, px, alike = known.measure(picture, pose, level, margin, slice(0, most))
        step = 2**level / known.px_per_mm * board_scale(pose, plan)
        good = alike > SEEN_CORRELATION
        if good.sum() < LEAST_PATCHES:
            return None
        if k == 0 and level > 1:
            rough = consensus_pose(lens, mm[good], px[good], picture.size, 1.5 * step, start.by)
            if rough is None:
                return None
            pose = rough
        pose, off = robust_pose(mm[good], px[good], pose, 1.5 * step, give)
        near = off < min(max(3 * np.median(off), 0.3 * step), 1.5 * step)
        if near.sum() < LEAST_PATCHES:
            return None
        fit = good.copy()
        fit[good] = near
    off = np.linalg.norm(pose.to_px(mm[fit]) - px[fit], axis=1)
    typical = float(np.median(off))
    # whatever displaces the patches distorts the rest of the board even more
    strain = 4 * max(typical - STRAINED_PX * max(pose.size) / 1640, 0.0)
    error = float(np.hypot(expected_error(plan, pose, mm[fit], off), strain))
    pose = msgspec.structs.replace(pose, error_px=error)
    return PrintFit(pose, fit, mm[fit], px[fit], float(fit.mean()), typical)


def follow_other_lens(
    plan: Plan, lens: Lens, known: PrintMap, picture: Picture, fit: PrintFit
) -> PrintFit:
    """The fit with a different lens if the calibrated one does not explain the picture (another
    camera, zoomed, refocused)"""
    best = fit
    for levels, margins in (((1, 0), (6, 3)), ((0,), (4,)), ((0,), (3,))):
        if best.typical < STRAINED_PX / 2 * picture.scale:
            break
        other = follow_print(plan, lens, known, picture, best.pose, levels, margins, give=True)
        if other is not None and other.typical * fit.share < best.typical * other.share:
            best = other
    return best
