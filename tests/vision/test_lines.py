"""The lines between sites say where the board lies when one of its sides is taken for another line."""

import cv2
import numpy as np

from vision.lens import Lens
from vision.lines import middle_lines, printed_lines, site_lines
from vision.plan import Plan, parse_plan
from vision.pose import Pose
from vision.registration import Registrar

SIDE, N, EDGE = 40.0, 8, 20.0
BOARD = N * SIDE + 2 * EDGE


def chess() -> Plan:
    sites = [{"id": f"{c}{r}", "outline": [(x, y), (x + SIDE, y), (x + SIDE, y + SIDE), (x, y + SIDE)]}
             for r in range(N) for c in range(N) for x, y in [(EDGE + c * SIDE, EDGE + r * SIDE)]]
    return parse_plan({"game": "chess", "size": [BOARD, BOARD], "site": sites, "piece": [{"kind": "man", "size": 30}]})


def camera() -> Pose:
    lens = Lens(0.85, 0.0)
    rvec = np.array([0.3, 0.05, 0.02])
    tvec = np.array([0, 0, 620.0]) - cv2.Rodrigues(rvec)[0] @ np.array([BOARD / 2, BOARD / 2, 0])
    return Pose(lens.K((1200, 900)), lens.dist, rvec, tvec, (1200, 900))


def widened_board(plan: Plan, pose: Pose) -> np.ndarray:
    """A picture of a chequered board beside which on one side something of the colour of its rim lies, 5 mm wide"""
    rng = np.random.default_rng(2)
    image = np.full((900, 1200, 3), (150, 165, 175), np.uint8)

    def fill(mm: np.ndarray, height: float, colour: tuple[int, int, int]) -> None:
        cv2.fillPoly(image, [np.rint(pose.to_px(mm, height) * 16).astype(int)], colour, cv2.LINE_AA, 4)

    fill(plan.corners + [(0, 0), (5, 0), (5, 0), (0, 0)], 0.0, (45, 60, 85))
    for n, s in enumerate(plan.site):
        fill(np.array(s.outline), 0.0, (170, 200, 220) if (n // N + n) % 2 else (70, 95, 130))
    return np.clip(cv2.GaussianBlur(image, (0, 0), 0.8) + rng.normal(0, 2, image.shape), 0, 255).astype(np.uint8)


def test_what_lies_along_a_side_is_not_taken_for_it() -> None:
    plan, pose = chess(), camera()
    image = widened_board(plan, pose)
    taps = pose.to_px(plan.corners) + [(4, -3), (-3, 5), (2, 4), (-5, 2)]
    _, (found,) = Registrar.fit(plan, [image], [taps], False, [{}])
    off = np.linalg.norm(found.to_px(plan.corners) - pose.to_px(plan.corners), axis=1)
    assert off.mean() < 1.5 and found.error_px < 1.0            # 5 mm are 8 pixels


def test_lines_are_those_that_many_sites_share() -> None:
    plan = chess()
    assert len(site_lines(plan)) == len(middle_lines(plan)) + 2 == 2 * (N + 1)
    lines = printed_lines(widened_board(plan, camera()), camera(), plan)
    assert lines is not None
    apart = ((camera().to_px(lines.mm) - lines.px) * lines.normal).sum(1)
    assert abs(apart.mean()) < 0.3 and np.abs(apart).max() < 3
    bare = np.full((900, 1200, 3), 120, np.uint8)
    assert printed_lines(bare, camera(), plan) is None
