"""A board of squares or of crossings is found from any side by its lines, where neither print nor
outline tell."""

import cv2
import numpy as np
import pytest

from vision.geometry.lens import Lens
from vision.geometry.pose import Pose
from vision.plan import Plan, parse_plan
from vision.registration.grid_detection import MOST_POSES, poses_by_lattice
from vision.registration.print_map import Picture

SIDE, ACROSS, DOWN, EDGE = 30.0, 9, 6, 12.0
SIZE = (1200, 900)
LENS = Lens(0.85, -0.1)


def plan_of(crossings: bool) -> Plan:
    sites = []
    for r in range(DOWN + crossings):
        for c in range(ACROSS + crossings):
            x, y = (EDGE + SIDE * (c - 0.5 * crossings), EDGE + SIDE * (r - 0.5 * crossings))
            sites.append(
                {
                    "id": f"{c}-{r}",
                    "outline": [(x, y), (x + SIDE, y), (x + SIDE, y + SIDE), (x, y + SIDE)],
                }
            )
    return parse_plan(
        {
            "game": "own",
            "size": [ACROSS * SIDE + 2 * EDGE, DOWN * SIDE + 2 * EDGE],
            "site": sites,
            "piece": [{"kind": "man", "size": 20}],
        }
    )


def seen_from(tilt: float, around: float, roll: float) -> Pose:
    """From `tilt` degrees off the upright, standing `around` degrees round the board, the camera
    held askew"""
    turns = [
        cv2.Rodrigues(np.radians(np.array(v, float)))[0]
        for v in ((0, 0, roll), (tilt, 0, 0), (0, 0, around))
    ]
    R = turns[0] @ turns[1] @ turns[2]
    t = np.array([12, -8, 480.0]) - R @ np.array(
        [ACROSS * SIDE / 2 + EDGE, DOWN * SIDE / 2 + EDGE, 0]
    )
    return Pose(LENS.K(SIZE), LENS.dist, cv2.Rodrigues(R)[0].ravel(), t, SIZE)


def drawn(plan: Plan, pose: Pose, crossings: bool) -> np.ndarray:
    """A picture of the board with men on it, on a table with books lying about"""
    rng = np.random.default_rng(3)
    image = np.full((*SIZE[::-1], 3), (90, 110, 120), np.uint8)

    def fill(mm, colour) -> None:
        cv2.fillPoly(
            image,
            [np.rint(pose.to_px(np.array(mm, float)) * 16).astype(int)],
            colour,
            cv2.LINE_AA,
            4,
        )

    for x, y, w, h, turn in (
        (-150, -60, 110, 60, 0.5),
        (330, 150, 60, 130, 1.1),
        (60, -140, 150, 70, 0.2),
    ):
        R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        fill(
            (x, y) + np.array([(0, 0), (w, 0), (w, h), (0, h)]) @ R.T,
            tuple(map(int, rng.integers(0, 255, 3))),
        )
    fill(plan.corners, (110, 175, 205))
    for c in range(ACROSS):
        for r in range(DOWN):
            a = np.array([EDGE + c * SIDE, EDGE + r * SIDE])
            square = a + np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * SIDE
            if crossings:
                cv2.polylines(
                    image,
                    [np.rint(pose.to_px(square) * 16).astype(int)],
                    True,
                    (30, 40, 50),
                    2,
                    cv2.LINE_AA,
                    4,
                )
            elif (c + r) % 2:
                fill(square, (50, 75, 110))
    round_ = np.column_stack([np.cos(a := np.linspace(0, 2 * np.pi, 24)), np.sin(a)])
    for n in rng.choice(len(plan.site), 14, replace=False):
        fill(
            plan.site[n].centre + rng.normal(0, 1.5, 2) + 10 * round_,
            (225, 230, 235) if n % 2 else (35, 30, 30),
        )
    return np.clip(
        cv2.GaussianBlur(image, (0, 0), 0.7) + rng.normal(0, 3, image.shape), 0, 255
    ).astype(np.uint8)


@pytest.mark.parametrize("crossings", [False, True])
@pytest.mark.parametrize("view", [(5, 0, 0), (40, 25, 15), (50, 110, -20), (35, 200, 35)])
def test_lines_tell_how_a_board_lies_up_to_whole_squares_and_a_half_turn(view, crossings) -> None:
    plan, pose = plan_of(crossings), seen_from(*view)
    found = poses_by_lattice(plan, LENS, Picture(drawn(plan, pose, crossings)))
    middle = plan.corners.mean(0)
    square = middle + np.array([(-1.5, -1.5), (1.5, -1.5), (1.5, 1.5), (-1.5, 1.5)]) * SIDE
    off = []
    for start in found:
        mm = start.to_mm(pose.to_px(square))
        half = 1 if (mm[1] - mm[0]) @ (1, 0) > 0 else -1
        aside = mm - (middle + (square - middle) * half)
        off.append(np.abs((aside / SIDE + 0.5) % 1 - 0.5).max())
    assert len(found) <= MOST_POSES and min(off, default=1.0) < 0.2


def test_where_a_plan_has_no_lines_or_a_picture_no_edges_nothing_is_said() -> None:
    away = parse_plan(
        {
            "game": "own",
            "size": [200, 200],
            "piece": [{"kind": "man", "size": 20}],
            "site": [
                {
                    "id": f"{n}",
                    "outline": [(x, y), (x + 20, y + 4), (x + 16, y + 24), (x - 4, y + 20)],
                }
                for n, (x, y) in enumerate(((20, 20), (90, 47), (150, 20), (33, 120), (140, 141)))
            ],
        }
    )
    pose = seen_from(40, 25, 15)
    assert poses_by_lattice(away, LENS, Picture(drawn(plan_of(False), pose, False))) == []
    assert (
        poses_by_lattice(plan_of(False), LENS, Picture(np.full((900, 1200, 3), 120, np.uint8)))
        == []
    )
