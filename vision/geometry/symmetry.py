"""How a board looks like itself: its squares, and the turns in which its outline lies as it does
unturned."""

from __future__ import annotations

import numpy as np

from vision.plan import Plan

SQUARES_ASTRAY = 3  # squares by which a board may seem to lie off at most
EQUAL = 0.02  # by which a square's sides may differ


def site_spacing(plan: Plan) -> np.ndarray:
    """(2,) mm from one site to the next, across and down; 0 where no two lie so"""
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
    """By how many quarter turns the board's outline lies as it does unturned, a half turn first"""
    return (2, 1, 3) if is_square(plan) else (2,)


def turned_corners(plan: Plan) -> list[tuple[np.ndarray, int]]:
    """(4, 2) mm where the board's corners lie in each turn in which its outline lies the same, and
    the quarters; unturned first"""
    return [(np.roll(plan.corners, k, 0), k) for k in (0, *symmetric_turns(plan))]


def quarter_placements(plan: Plan) -> list[tuple[np.ndarray, int]]:
    """Of a longish board of squares, of which many lie on squares if it is turned by a quarter: (4,
    2) mm as candidates() has them, about where it lay, and the quarters; none of other boards"""
    step, middle, out = site_spacing(plan), plan.corners.mean(0), []
    if is_square(plan) or not step.all() or np.ptp(step) > EQUAL * step.max():
        return []
    # the outermost may be narrower
    lines = min((np.array(s.centre) for s in plan.site), key=lambda at: np.linalg.norm(at - middle))
    for k, turn in ((1, np.array([[0, -1], [1, 0]])), (3, np.array([[0, 1], [-1, 0]]))):
        aside = lines - (turn @ (lines - middle) + middle)  # up to whole squares
        out.append(
            ((plan.corners - middle) @ turn.T + middle + aside - step * np.rint(aside / step), k)
        )
    return out
