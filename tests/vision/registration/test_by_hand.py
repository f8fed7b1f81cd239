"""Photos taken by hand: from any side, steep, men standing out beyond the board."""

import cv2
import msgspec
import numpy as np

from tests.vision.registration.test_lines import BOARD, camera, chess
from vision.geometry.lens import Lens
from vision.geometry.pose import Pose
from vision.registration.board_outline import find_quads
from vision.registration.pose_ambiguity import CLEARLY_BETTER, pose_elsewhere
from vision.registration.print_map import Picture
from vision.registration.whole_board import WholeBoard

STEEP = np.array([[150, 120], [340, 110], [420, 300], [60, 290]])


def test_an_outline_is_found_behind_men_that_stand_out_beyond_it() -> None:
    mask = np.zeros((360, 480), np.uint8)
    cv2.fillConvexPoly(mask, STEEP, 255)
    for x in (165, 200, 228, 262, 300, 325):
        cv2.rectangle(mask, (x - 6, 85), (x + 6, 130), 255, -1)
    off = [
        min(np.abs(np.roll(q, k, 0) - STEEP).max() for k in range(4))
        for q in find_quads(mask, True)
    ]
    assert min(off) < 5


def filmed(pose: Pose, words: bool, seed: int) -> np.ndarray:
    """A chequered board, with a word on every fifth square"""
    scale, side, edge = 4, 160, 80  # pixels a mm, of a square, of the rim
    board = np.full((int(BOARD * scale),) * 2, 120, np.uint8)
    for n in range(64):
        y, x = edge + n // 8 * side, edge + n % 8 * side
        board[y : y + side, x : x + side] = 200 if (n // 8 + n) % 2 else 90
        if words and n % 5 == 0:
            cv2.putText(
                board, "abc", (x + 50, y + 90), cv2.FONT_HERSHEY_SIMPLEX, 1.0, 140, 3, cv2.LINE_AA
            )
    w, h = pose.size
    at = (
        pose.to_mm(np.stack(np.meshgrid(np.arange(w), np.arange(h)), -1).reshape(-1, 2)).reshape(
            h, w, 2
        )
        * scale
        - 0.5
    )
    image = cv2.remap(
        cv2.blur(board, (3, 3)),
        *np.float32(at).transpose(2, 0, 1),
        cv2.INTER_LINEAR,
        borderValue=60,
    )
    image = image[..., None] + np.random.default_rng(seed).normal(0, 6, (h, w, 3))
    return np.clip(image, 0, 255).astype(np.uint8)


def test_small_print_tells_how_a_board_lies_that_looks_the_same_turned_round() -> None:
    plan, first = chess(), camera()
    pose = msgspec.structs.replace(first, tvec=first.tvec + (3.3, -2.4, 5.0))
    around = pose_elsewhere(plan, Lens(0.85), pose, BOARD - plan.corners)
    for words in (True, False):
        whole = WholeBoard.of(plan, [filmed(first, words, 1)], [first], [{}])
        picture, back = (
            Picture(filmed(pose, words, 2)),
            whole.between(plan.corners, BOARD - plan.corners),
        )
        assert (whole.rather(plan, picture, pose, around, back) > CLEARLY_BETTER) == words
        assert (whole.rather(plan, picture, around, pose, back) < -CLEARLY_BETTER) == words
