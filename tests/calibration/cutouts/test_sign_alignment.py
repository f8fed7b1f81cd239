"""Loose pieces are laid by the signs of others: an outline on ground of a piece's own colour hardly
shows."""

import cv2
import numpy as np
import pytest

from calibration.cutouts.mistaken_kinds import find_exchanged
from calibration.cutouts.seek import Samplers
from calibration.cutouts.sign_alignment import tops_by_signs
from calibration.cutouts.specimens import Specimen
from tests.support.drawn_pieces import MIDDLE, fill_box, found_piece
from vision.learned.canvas import Canvas
from vision.plan import parse_plan

VIEW = Canvas((60.0, 60.0), 3.0)
PLAN = parse_plan(
    {
        "game": "drawn",
        "size": [60, 60],
        "site": [{"id": "F1", "reads": "cluster", "outline": [[0, 0], [60, 0], [60, 60]]}],
        "piece": [
            {"kind": f"{sign}:{colour}", "size": size, "height": 2, "artwork": [sign, colour]}
            for sign, size in (("man", 14), ("star", 14), ("gate", [14, 14]))
            for colour in ("red", "blue")
        ],
    },
    "drawn",
)
STROKES = {
    "man": [(-3, -2, 3, 2), (1, -4, 2, 3)],
    "gate": [(-4, -4, 4, -2), (-4, -4, -2, 4)],
    "star": [(-4, -1, 4, 1), (-1, -4, 1, 4)],
}


def seen_piece(kind: str, turn: float, off: tuple[float, float], light: bool = False):
    """(canvas, kind, (2,) mm, degrees): a piece in the middle of a canvas of its own, lying turned
    so, and found `off` mm aside"""
    canvas = np.full((*VIEW.shape, 3), 4.5, np.float32)
    for box in STROKES[kind.split(":")[0]]:
        fill_box(canvas, VIEW, box, turn, 5.3 if light else 3.6)
    canvas = cv2.GaussianBlur(canvas, (0, 0), 1.5)
    return canvas, kind, MIDDLE + off, 0.0 if PLAN.pieces[kind].disc else turn % 90


def told_tops(seen) -> list[np.ndarray]:
    """(2,) mm each of pieces as of `seen_piece`, by their signs"""
    canvases = [canvas for canvas, *_ in seen]
    found = [found_piece(n, kind, top, turn) for n, (_, kind, top, turn) in enumerate(seen)]
    return tops_by_signs(Samplers(PLAN, VIEW, (), canvases, canvases), found)


@pytest.mark.parametrize("kind", ["man:red", "gate:red"])
def test_a_piece_found_aside_is_laid_where_its_sign_lies(kind):
    turns, aside = (20, 110, 200, 290, 45), (2.5, -1.5)
    found = [seen_piece(kind, t, aside if n == 2 else (0, 0)) for n, t in enumerate(turns)]
    for top in told_tops(found):
        assert top == pytest.approx(MIDDLE, abs=0.5)


def test_signs_in_another_colour_tell_too():
    """Light for dark, of a kind of which only this one lies there"""
    found = [seen_piece("man:red", t, (0, 0)) for t in (0, 100, 200, 300)]
    found.append(seen_piece("man:blue", 60, (-2.0, 2.0), light=True))
    assert told_tops(found)[-1] == pytest.approx(MIDDLE, abs=0.5)


def test_two_alike_do_not_tell_which_of_them_was_found_aside():
    found = [seen_piece("man:red", 0, (0, 0)), seen_piece("man:red", 90, (2, 0))]
    for top, (_, _, before, _) in zip(told_tops(found), found):
        assert top == pytest.approx(before)


def test_pieces_without_a_sign_stay_where_they_were_found():
    rng = np.random.default_rng(0)
    found = [seen_piece("man:red", 0, (0.4 * n, 0)) for n in range(5)]
    for canvas, *_ in found:
        canvas[:] = rng.normal(4.5, 0.05, canvas.shape)
    for top, (_, _, before, _) in zip(told_tops(found), found):
        assert top == pytest.approx(before)


RELATIVES = [f"{sign}:blue" for sign in STROKES for _ in range(3)]


def exchanged_of(lie: list[str], told: list[str], relatives: list[str]) -> list[tuple[int, int]]:
    """The pairs found where pieces `lie` in one heap and are told to be `told`, cut out aside where
    another form is told. Each of the relatives lies on a heap of its own"""
    seen = [seen_piece(k, 30.0 + 50 * n, (0, 0)) for n, k in enumerate([*lie, *relatives])]
    samplers = Samplers(PLAN, VIEW, (), [canvas for canvas, *_ in seen], ())

    def lay_as(n: int, kind: str) -> Specimen:
        _, true, top, turn = seen[n]
        alike = PLAN.pieces[kind].shape == PLAN.pieces[true].shape
        aside, turn = ((0, 0), turn) if alike else ((6.0, 5.0), 0.0)
        return found_piece(n, kind, top + aside, turn)

    pieces = [lay_as(n, k) for n, k in enumerate([*told, *relatives])]
    heaps = [0] * len(lie) + list(range(1, len(relatives) + 1))
    laid = {
        (n, k): lay_as(n, k)
        for n in range(len(lie))
        for k in lie
        if PLAN.pieces[k].shape != PLAN.pieces[told[n]].shape
    }
    return find_exchanged(samplers, heaps, pieces, laid)


@pytest.mark.parametrize("lie", [["gate:red", "man:red"], ["star:red", "man:red"]])
def test_two_told_as_each_other_are_found_by_their_signs(lie):
    """A square told as a disc, and two signs on one form"""
    assert exchanged_of(lie, lie[::-1], RELATIVES) == [(0, 1)]
    assert exchanged_of(lie, lie, RELATIVES) == []


def test_of_three_in_a_ring_one_pair_is_found_at_a_time():
    lie = ["gate:red", "man:red", "star:red"]
    told = lie[1:] + lie[:1]
    for _ in range(2):
        [(i, j)] = exchanged_of(lie, told, RELATIVES)
        told[i], told[j] = told[j], told[i]
    assert told == lie


def test_nothing_is_found_where_no_relatives_show_the_signs():
    assert exchanged_of(["gate:red", "man:red"], ["man:red", "gate:red"], RELATIVES[:3]) == []


def test_a_sign_does_not_tell_colours():
    lie, told = ["man:red", "man:blue"], ["man:blue", "man:red"]
    assert exchanged_of(lie, told, [*RELATIVES, "star:red", "star:red"]) == []
