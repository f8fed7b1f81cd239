"""Corners tapped astray, at the playing field, or beginning at another corner; a board whose sides
are all seen too far out."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.survey.bundle_adjustment import Bundle, PhotoSight
from calibration.survey.registrar_fit import fit_registrar
from calibration.survey.tapped_corners import mend_corners, turns_by_pieces
from vision.evidence.site_evidence import NoBoard
from vision.registration.board_edges import BOARD_SIDES, EdgePoints

PIECES = ("A1", "B1", "B2", "C2", "C5", "E3", "F2", "F5", "G7", "H7", "H4", "J1", "E7", "D2")


@pytest.fixture(scope="module")
def framed(tools):
    """A chequered board with a rim as wide as half a field, much like the table; its picture and
    where it lies"""
    plan = tools.grid_plan(8, 8, 30.0, 16.0, {"kind": "disc", "size": 22, "height": 4})
    canvas = np.full(
        (round(plan.size[1] * tools.DOTS), round(plan.size[0] * tools.DOTS), 3),
        (90, 110, 150),
        np.uint8,
    )
    for n, site in enumerate(plan.site):
        (x0, y0), (x1, y1) = (
            np.rint(p * tools.DOTS).astype(int)
            for p in (np.min(site.outline, 0), np.max(site.outline, 0))
        )
        cv2.rectangle(
            canvas,
            (x0, y0),
            (x1 - 1, y1 - 1),
            (60, 80, 110) if (n + n // 8) % 2 else (190, 215, 225),
            -1,
        )
    studio = tools.Studio(plan, canvas, seed=4)
    studio.blurs_light = True
    true = studio.pose()
    return studio, true, studio.film(true)


def field(plan, pose):
    return pose.to_px(plan.corners + 16.0 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]))


@pytest.mark.parametrize("how", ["one", "all", "field", "well"])
def test_corners_tapped_beside_the_boards_are_taken_from_its_sides(framed, tools, how):
    studio, true, image = framed
    corners = true.to_px(studio.plan.corners)
    taps = {
        "one": corners + [[0, 0], [0, 0], [-22, -20], [0, 0]],
        "all": corners + [[14, -11], [-12, 16], [15, 12], [-13, -14]],
        "field": field(studio.plan, true),
        "well": corners + [[2, -3], [-2, 1], [3, 2], [-1, -2]],
    }[how]
    seen = mend_corners(studio.plan, tools.LENS, image, taps)
    if how == "well":
        assert seen is None
    else:
        assert np.linalg.norm(seen - corners, axis=1).max() < 4.0


def test_a_photo_tapped_at_the_playing_field_is_registered_as_one_tapped_at_the_board(
    framed, tools
):
    studio, true, image = framed
    images = [image, studio.film(true, light=0.8)]
    _, poses = fit_registrar(studio.plan, images, [field(studio.plan, true), None], False, [{}, {}])
    for pose in poses:
        assert tools.off_by(studio.plan, pose, true) < 0.6 and pose.error_px < 1.0


@pytest.mark.parametrize("turns", [0, 2])
def test_the_pieces_tell_which_corner_was_tapped_first(board, tools, turns):
    true = board.pose()
    images = [board.film(true), board.film(true, PIECES)]
    taps = np.roll(true.to_px(board.plan.corners), -turns, 0) + np.array(
        [[2, -1], [1, 2], [-2, 1], [0, -2]]
    )
    layouts = [{}, {s: ("disc",) for s in PIECES}]
    _, poses = fit_registrar(board.plan, images, [taps, None], False, layouts)
    for pose in poses:
        assert tools.off_by(board.plan, pose, true) < 0.6


def test_pieces_that_lie_alike_both_ways_tell_nothing(board):
    true = board.pose()
    sites = [s for s in board.plan.sites if s[0] in "ABIJ"]
    layouts = [{}, {s: ("disc",) for s in sites}]
    assert (
        turns_by_pieces(
            board.plan, [board.film(true), board.film(true, sites)], [true, true], layouts
        )
        == 0
    )


def test_cards_that_lie_another_way_round_than_the_layouts_count_are_told(carded):
    true = carded.pose(fill=0.6)
    images = [carded.film(true), carded.film(true, PIECES)]
    last = carded.plan.site[-1].id
    turned = {
        f"{chr(ord('A') + ord(last[0]) - ord(s[0]))}{int(last[1:]) + 1 - int(s[1:])}": ("disc",)
        for s in PIECES
    }
    with pytest.raises(NoBoard, match="turned by 180 degrees"):
        fit_registrar(carded.plan, images, None, True, [{}, turned])


def sides_and_lines(plan, pose, out):
    """What a photo shows of a board whose sides are seen `out` pixels too far out, and of 12
    lines"""
    parts, t = [], np.linspace(0.03, 0.97, 40)[:, None]
    w, h = plan.size
    lines = [(np.array([x, 0.0]), np.array([x, h])) for x in np.linspace(0, w, 8)[1:-1]]
    lines += [(np.array([0.0, y]), np.array([w, y])) for y in np.linspace(0, h, 8)[1:-1]]
    for k, (a, b) in enumerate([*zip(plan.corners, np.roll(plan.corners, -1, 0)), *lines]):
        mm = a + (b - a) * t
        px = pose.to_px(mm)
        along = np.gradient(px, axis=0)
        normal = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(
            along, axis=1, keepdims=True
        )
        parts.append(
            EdgePoints(
                mm,
                px + normal * out * (k < BOARD_SIDES),
                normal,
                np.full(len(mm), 0.1 if k < BOARD_SIDES else 0.2),
                np.full(len(mm), k),
            )
        )
    return EdgePoints.join(parts)


def test_sides_all_seen_too_far_out_do_not_widen_a_board_with_lines(board, tools):
    true = board.pose(size=(1640, 1232))
    sight = PhotoSight(
        true.size, taps=true.to_px(board.plan.corners), edges=sides_and_lines(board.plan, true, 1.0)
    )
    start = np.concatenate([true.rvec, true.tvec, [0.0]])
    lens = np.array([np.log(true.K[0, 0] / 1640), *true.dist[:2]])
    bundle = Bundle({}, board.plan.corners, [sight], lens, start[None], {}, np.zeros((0, 2)))
    bundle.solve()
    assert bundle.wider == pytest.approx(1.0, abs=0.3)
    assert tools.off_by(board.plan, bundle.pose(0), true) < 0.35
    assert bundle.strain() < 1.2


def test_photos_cropped_to_the_board_bend_no_lens(tools):
    """Made rectangles by a phone: the board has no sides in them, its print no lines, each is
    cropped a little elsewhere, and it did not lie quite flat"""
    plan = tools.grid_plan(7, 5, 40.0, 12.0, {"kind": "tile", "size": [38, 38], "height": 2})
    rng = np.random.default_rng(8)
    clouds = cv2.resize(rng.normal(0, 1, (60, 80, 3)), (1216, 896), interpolation=cv2.INTER_CUBIC)
    printed = np.clip(np.array([120, 140, 150]) + 40 * clouds, 0, 255).astype(np.float32)
    images, corners = [], []
    for bulge, size in ((0, (1216, 896)), (8, (1210, 893)), (-6, (1296, 955))):
        x, y = np.meshgrid(*(np.linspace(0, 1, n, dtype=np.float32) for n in size))
        out = bulge * np.sin(np.pi * x) * np.sin(np.pi * y)
        off = rng.uniform(-4, 4, 2)
        at = x * 1216 + off[0], y * 896 + out + off[1]
        seen = cv2.remap(
            printed, *(a.astype(np.float32) for a in at), cv2.INTER_LINEAR, None, cv2.BORDER_REFLECT
        )
        images.append(np.clip(seen + rng.normal(0, 3, seen.shape), 0, 255).astype(np.uint8))
        corners.append(np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float) * size)
    registrar, poses = fit_registrar(plan, images, corners, False)
    assert registrar.printed is not None and abs(registrar.lens.k1) < 0.02
    middles = np.array([s.centre for s in plan.site])
    for pose, held in zip(poses, corners):
        off = pose.to_px(middles) - middles / np.array(plan.size) * held[2]
        assert np.linalg.norm(off, axis=1).max() < 12 and pose.error_px < 6
