"""The lines between sites say where the board lies when one of its sides is taken for another line."""

import cv2
import msgspec
import numpy as np
import pytest

from calibration.survey.print_survey import tapped_in_some_order
from calibration.survey.registrar_fit import fit_registrar
from vision.geometry.lens import Lens
from vision.geometry.pose import Pose
from vision.plan import Plan, parse_plan
from vision.registration.printed_lines import (
    middle_lines,
    printed_lines,
    seen_line,
    site_lines,
)
from vision.registration.registrar import Registrar

SIDE, N, EDGE = 40.0, 8, 20.0
BOARD = N * SIDE + 2 * EDGE


def chess() -> Plan:
    sites = [
        {"id": f"{c}{r}", "outline": [(x, y), (x + SIDE, y), (x + SIDE, y + SIDE), (x, y + SIDE)]}
        for r in range(N)
        for c in range(N)
        for x, y in [(EDGE + c * SIDE, EDGE + r * SIDE)]
    ]
    return parse_plan(
        {
            "game": "chess",
            "size": [BOARD, BOARD],
            "site": sites,
            "piece": [{"kind": "man", "size": 30}],
        }
    )


def camera() -> Pose:
    lens = Lens(0.85, 0.0)
    rvec = np.array([0.3, 0.05, 0.02])
    tvec = np.array([0, 0, 620.0]) - cv2.Rodrigues(rvec)[0] @ np.array([BOARD / 2, BOARD / 2, 0])
    return Pose(lens.K((1200, 900)), lens.dist, rvec, tvec, (1200, 900))


def widened_board(plan: Plan, pose: Pose) -> np.ndarray:
    """A picture of a chequered board beside which on one side something of the colour of its rim
    lies, 5 mm wide"""
    rng = np.random.default_rng(2)
    image = np.full((900, 1200, 3), (150, 165, 175), np.uint8)

    def fill(mm: np.ndarray, height: float, colour: tuple[int, int, int]) -> None:
        cv2.fillPoly(
            image, [np.rint(pose.to_px(mm, height) * 16).astype(int)], colour, cv2.LINE_AA, 4
        )

    fill(plan.corners + [(0, 0), (5, 0), (5, 0), (0, 0)], 0.0, (45, 60, 85))
    for n, s in enumerate(plan.site):
        fill(np.array(s.outline), 0.0, (170, 200, 220) if (n // N + n) % 2 else (70, 95, 130))
    return np.clip(
        cv2.GaussianBlur(image, (0, 0), 0.8) + rng.normal(0, 2, image.shape), 0, 255
    ).astype(np.uint8)


def test_what_lies_along_a_side_is_not_taken_for_it() -> None:
    plan, pose = chess(), camera()
    image = widened_board(plan, pose)
    taps = pose.to_px(plan.corners) + [(4, -3), (-3, 5), (2, 4), (-5, 2)]
    _, (found,) = fit_registrar(plan, [image], [taps], False, [{}])
    off = np.linalg.norm(found.to_px(plan.corners) - pose.to_px(plan.corners), axis=1)
    assert off.mean() < 1.5 and found.error_px < 1.0  # 5 mm are 8 pixels


def rimmed_board(plan: Plan, pose: Pose, rim: float) -> np.ndarray:
    """The same board in a frame that stands `rim` mm above the squares, on a pale table"""
    image = np.full((900, 1200, 3), (190, 200, 205), np.uint8)

    def fill(mm: np.ndarray, height: float | np.ndarray, colour: tuple[int, int, int]) -> None:
        cv2.fillPoly(
            image, [np.rint(pose.to_px(mm, height) * 16).astype(int)], colour, cv2.LINE_AA, 4
        )

    fill(plan.corners, 0.0, (30, 40, 60))
    for n, s in enumerate(plan.site):
        fill(np.array(s.outline), 0.0, (170, 200, 220) if (n // N + n) % 2 else (70, 95, 130))
    inner = EDGE + (plan.corners > 0) * (BOARD - 2 * EDGE)
    for k in range(4):
        fill(
            np.array([plan.corners[k - 1], plan.corners[k], inner[k], inner[k - 1]]),
            rim,
            (45, 60, 85),
        )
    return cv2.GaussianBlur(image, (0, 0), 0.8)


def test_a_rim_that_stands_above_the_squares_does_not_draw_them_aside() -> None:
    plan, first = chess(), camera()
    # held elsewhere, steeply
    R = cv2.Rodrigues(np.array([0.65, 0.0, 0.0]))[0] @ cv2.Rodrigues(np.array([0.0, 0.0, 0.8]))[0]
    tvec = np.array([0, 0, 700.0]) - R @ np.array([BOARD / 2, BOARD / 2, 0])
    other = Pose(first.K, first.dist, cv2.Rodrigues(R)[0].ravel(), tvec, first.size)
    images = [rimmed_board(plan, pose, 8.0) for pose in (first, other)]
    taps = first.to_px(plan.corners, 8.0) + [(4, -3), (-3, 5), (2, 4), (-5, 2)]
    registrar, found = fit_registrar(plan, images, [taps, None], False, [{}, {}])
    assert abs(Registrar.unpack(plan, registrar.pack()).rise - 8.0) < 2.5
    for pose, true in zip(found, (first, other)):
        middles = np.array([s.centre for s in plan.site])
        ways = (
            np.linalg.norm(pose.to_px(m) - true.to_px(middles), axis=1).mean()
            for m in (middles, BOARD - middles)
        )
        # cv2 draws each square half a pixel too large; drawn out to the rim they were 5 px off
        assert min(ways) < 1.2


def test_lines_are_those_that_many_sites_share() -> None:
    plan = chess()
    assert len(site_lines(plan)) == len(middle_lines(plan)) + 2 == 2 * (N + 1)
    lines = printed_lines(widened_board(plan, camera()), camera(), plan)
    assert lines is not None
    apart = ((camera().to_px(lines.mm) - lines.px) * lines.normal).sum(1)
    assert abs(apart.mean()) < 0.3 and np.abs(apart).max() < 3
    bare = np.full((900, 1200, 3), 120, np.uint8)
    assert printed_lines(bare, camera(), plan) is None


def from_above(lens: Lens, pixels: int) -> Pose:
    """The board fills a square picture of so many pixels to its very edge"""
    rvec, size = np.array([0.0, 0.0, 0.01]), (pixels, pixels)
    tvec = np.array([0, 0, BOARD * lens.focal * 0.96]) - cv2.Rodrigues(rvec)[0] @ np.array(
        [BOARD / 2, BOARD / 2, 0]
    )
    return Pose(lens.K(size), lens.dist, rvec, tvec, size)


def played_board(
    plan: Plan, pose: Pose, layout: dict[str, tuple[str, ...]], high: float
) -> np.ndarray:
    """A chequered board with square pieces, 36 mm wide and `high`, in rows"""
    image = np.full((*pose.size[::-1], 3), (60, 90, 70), np.uint8)

    def fill(mm: np.ndarray, height: float, colour: tuple[int, int, int]) -> None:
        cv2.fillPoly(
            image, [np.rint(pose.to_px(mm, height) * 16).astype(int)], colour, cv2.LINE_AA, 4
        )

    for n, s in enumerate(plan.site):
        fill(np.array(s.outline), 0.0, (150, 175, 160) if (n // N + n) % 2 else (95, 120, 100))
    for s in plan.site:
        if s.id in layout:
            fill(s.centre + 0.9 * (np.array(s.outline) - s.centre), high, (215, 235, 240))
    return cv2.GaussianBlur(image, (0, 0), 0.8)


def test_a_board_that_the_picture_cuts_at_its_sides_is_found_by_its_lines() -> None:
    plan, pose = chess(), from_above(Lens(0.9, -0.04), 800)
    layout = {
        s.id: ("man",)
        for n, s in enumerate(plan.site)
        if n % N in (2, 3, 6) and n // N in (1, 2, 3, 6)
    }
    taps = np.clip(pose.to_px(plan.corners), 0, 799) + [(2, -2), (-2, 1), (1, 2), (-2, -1)]
    _, (found,) = fit_registrar(
        plan, [played_board(plan, pose, layout, 10.0)], [taps], False, [layout]
    )
    middles = np.array([s.centre for s in plan.site])
    off = np.linalg.norm(found.to_px(middles) - pose.to_px(middles), axis=1)
    assert off.mean() < 1.2  # cv2 draws each square half a pixel too large


def test_a_row_of_pieces_is_no_line() -> None:
    plan, pose = chess(), from_above(Lens(0.9, 0.0), 800)
    layout = {
        s.id: ("man",) for n, s in enumerate(plan.site) if n % N in (1, 2, 6, 7) and n // N < 5
    }
    image = played_board(plan, pose, layout, 12.0)
    lines = printed_lines(image, pose, plan, layout)
    assert lines is not None
    assert np.abs(((pose.to_px(lines.mm) - lines.px) * lines.normal).sum(1)).max() < 1.5


def test_corners_tapped_at_the_outermost_lines_stay_there(tools) -> None:
    """as a plan may mean them: a go board's sides, 14 mm further out, are plainer than its lines"""
    n, gap, margin = 13, 22.0, 14.0
    last, half = gap * (n - 1), gap / 2
    board = tools.grid_plan(n, n, gap, margin - half, {"kind": "stone", "size": 21, "height": 6})
    sites = [
        {"id": s.id, "outline": [(x - margin, y - margin) for x, y in s.outline]}
        for s in board.site
    ]
    plan = parse_plan(
        {
            "game": "go",
            "size": [last, last],
            "site": sites,
            "piece": [{"kind": "stone", "size": 21, "height": 6}],
        }
    )
    canvas = np.full(
        (round(board.size[1] * tools.DOTS), round(board.size[0] * tools.DOTS), 3),
        (110, 170, 210),
        np.uint8,
    )
    at = [round((margin + gap * k) * tools.DOTS) for k in range(n)]
    for k in at:
        cv2.rectangle(canvas, (k, at[0]), (k, at[-1]), (50, 75, 95), -1)
        cv2.rectangle(canvas, (at[0], k), (at[-1], k), (50, 75, 95), -1)
    studio = tools.Studio(board, canvas)
    true = studio.pose(fill=0.8)
    corners = true.to_px(plan.corners + margin)
    taps = corners + [(-2, 1), (1, -3), (-2, -2), (3, -1)]
    _, (found,) = fit_registrar(plan, [studio.film(true)], [taps], False, [{}])
    assert np.linalg.norm(found.to_px(plan.corners) - corners, axis=1).max() < 1.5


@pytest.mark.parametrize(
    "off", [((2, -5), (-4, -22), (16, 10), (-3, 7)), ((18, -23), (4, -5), (-4, -2), (-18, -2))]
)
def test_corners_tapped_near_the_field_are_the_fields(off: tuple[tuple[float, float], ...]) -> None:
    """a plan may be of the squares alone: then the lines between them tell where fingers meant, not
    the board's edge outside"""
    board, pose = chess(), camera()
    sites = [
        {"id": s.id, "outline": [(x - EDGE, y - EDGE) for x, y in s.outline]} for s in board.site
    ]
    plan = parse_plan(
        {
            "game": "chess",
            "size": [N * SIDE, N * SIDE],
            "site": sites,
            "piece": [{"kind": "man", "size": 30}],
        }
    )
    corners = pose.to_px(plan.corners + EDGE)
    _, (found,) = fit_registrar(
        plan, [rimmed_board(board, pose, 0.0)], [corners + off], False, [{}]
    )
    # 5 and 30 by the sides
    assert np.linalg.norm(found.to_px(plan.corners) - corners, axis=1).max() < 1.5


def test_a_tapped_photo_is_not_taken_to_lie_a_square_further() -> None:
    plan, pose = chess(), camera()
    taps = pose.to_px(plan.corners) + [(4, -3), (-5, 2), (3, 6), (-2, -4)]
    further = msgspec.structs.replace(
        pose, tvec=pose.tvec + cv2.Rodrigues(pose.rvec)[0] @ (SIDE, 0, 0)
    )
    for first in range(4):
        tapped = np.roll(taps, first, 0)
        assert tapped_in_some_order(plan, tapped, pose) and not tapped_in_some_order(
            plan, tapped, further
        )


@pytest.mark.parametrize("ends", [(1, 0.5), (0.5, 1), (-1, -0.5), (-0.5, -1)])
@pytest.mark.parametrize("reach", [90, 120])
def test_a_line_far_off_and_askew_is_followed_too(ends, reach):
    """As a curve between its ends it would bulge beyond what is looked at"""
    K = np.array([[800.0, 0, 320], [0, 800, 240], [0, 0, 1]])
    pose = Pose(K, np.zeros(4), np.zeros(3), np.array([-200.0, -150.0, 500.0]), (640, 480))
    mm = np.array([[20.0, 150.0], [380.0, 150.0]])
    drawn = np.round(pose.to_px(mm) + np.outer(ends, (0, reach))).astype(int)
    image = np.full((480, 640, 3), 60, np.float32)
    cv2.line(image, *map(tuple, drawn.tolist()), (220, 220, 220), 3)
    found = seen_line(image, pose, *mm, reach, 0, np.zeros((0, 2, 2)), True)
    x, y = found.px.T
    assert np.interp(x, drawn[:, 0], drawn[:, 1]) == pytest.approx(y, abs=3)
