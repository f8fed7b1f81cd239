"""A board's symmetries: its grid of squares, and the rotations that leave its outline unchanged."""

from __future__ import annotations

import numpy as np

from vision.plan import Plan

SQUARES_ASTRAY = 3  # the most squares by which a board may be misplaced
EQUAL = 0.02  # relative tolerance for the sides of a square


def site_spacing(plan: Plan) -> np.ndarray:
    """(2,) mm from one site to the next, across and down; 0 if there is no such pair"""
    middles = np.array([s.centre for s in plan.site if s.of is None])
    some = middles[:: max(len(middles) // 60, 1)]
    apart = np.abs(some[:, None] - middles[None]).reshape(-1, 2)
    across, down = apart[apart[:, 1] < 1, 0], apart[apart[:, 0] < 1, 1]
    return np.array(
        [
            np.median(np.sort(d[d > 1])[: len(some)]) if (d > 1).any() else 0.0
            for d in (across, down)
        ]
    )


def is_square(plan: Plan) -> bool:
    """Whether the board's outline looks the same from all four sides"""
    return abs(plan.size[0] - plan.size[1]) < 0.04 * max(plan.size)


def symmetric_turns(plan: Plan) -> tuple[int, ...]:
    """The quarter turns that leave the board's outline unchanged, a half turn first"""
    return (2, 1, 3) if is_square(plan) else (2,)


def turned_corners(plan: Plan) -> list[tuple[np.ndarray, int]]:
    """((4, 2) mm of the board's corners, number of quarter turns) for each rotation that leaves its
    outline unchanged; unturned first"""
    return [(np.roll(plan.corners, k, 0), k) for k in (0, *symmetric_turns(plan))]


def quarter_placements(plan: Plan) -> list[tuple[np.ndarray, int]]:
    """For an oblong board of squares that largely coincide after a quarter turn: ((4, 2) mm of its
    corners near where it was, number of quarter turns); empty for other boards"""
    step, middle, out = site_spacing(plan), plan.corners.mean(0), []
    if is_square(plan) or not step.all() or np.ptp(step) > EQUAL * step.max():
        return []
    # the outermost squares may be narrower
    lines = min((np.array(s.centre) for s in plan.site), key=lambda at: np.linalg.norm(at - middle))
    for k, turn in ((1, np.array([[0, -1], [1, 0]])), (3, np.array([[0, 1], [-1, 0]]))):
        aside = lines - (turn @ (lines - middle) + middle)  # modulo whole squares
        out.append(
            ((plan.corners - middle) @ turn.T + middle + aside - step * np.rint(aside / step), k)
        )
    return out
