"""On a board of squares each square of the table is looked at once, and every place of the board is
weighed by that."""

from types import SimpleNamespace

import cv2
import msgspec
import numpy as np
import pytest

from tests.support.towers import camera, towers_plan
from vision.geometry.symmetry import SQUARES_ASTRAY
from vision.learned import square_grid
from vision.learned.groups import FOREIGN, group_sites
from vision.learned.square_grid import SquareGrid, nearest_cells, rank_places


@pytest.fixture
def plan():
    return towers_plan()


@pytest.fixture
def towers_grid(plan):
    found = SquareGrid.of(plan)
    assert found is not None
    return found


def test_only_boards_wholly_of_squares_have_them(plan, towers_grid):
    assert towers_grid.shape == (4, 4) and towers_grid.step == pytest.approx([40, 40])
    gap = msgspec.structs.replace(plan, site=plan.site[:-1])
    one = plan.site[5]
    moved = msgspec.structs.replace(one, outline=tuple((x + 9, y) for x, y in one.outline))
    aside = msgspec.structs.replace(plan, site=(*plan.site[:5], moved, *plan.site[6:]))
    assert SquareGrid.of(gap) is None and SquareGrid.of(aside) is None


def test_sites_lie_where_the_board_has_its_corners(plan, towers_grid):
    places = towers_grid.possible_places(plan)
    assert len(places) == 4 * (2 * SQUARES_ASTRAY + 1) ** 2
    centres = np.array([s.centre for s in plan.site], np.float32)
    for lies, corners in places:
        here, there = (np.asarray(c, np.float32) for c in (corners, plan.corners))
        onto = cv2.getPerspectiveTransform(here, there)
        seen = cv2.perspectiveTransform(centres[None], onto)[0]
        assert seen == pytest.approx(towers_grid.first + towers_grid.step * lies, abs=0.01)


def test_the_nearest_square_of_a_colour_is_the_boards(towers_grid):
    table = np.array(list(np.ndindex(10, 10))) - SQUARES_ASTRAY
    for odd in (0, 1):
        own = nearest_cells(towers_grid, table, odd)
        assert (own >= 0).all() and (own < 4).all()
        assert ((own.sum(1) - table.sum(1)) % 2 == odd).all()


@pytest.mark.parametrize("nth", [0, 24, 30, 61, 120, 190])
def test_the_place_at_which_all_squares_are_the_boards_comes_first(
    plan, towers_grid, nth, monkeypatch
):
    """A corner's piece tells which way round"""
    layout = {"00": ("tower",), "10": ("night",), "33": ("night",)}
    group = group_sites(plan, [layout])[0]
    lies, corners = towers_grid.possible_places(plan)[nth]
    logs = np.full((2, 10, 10, len(group.classes)), -9.0)
    logs[..., FOREIGN] = -0.01
    for site, (x, y) in zip(plan.site, lies + SQUARES_ASTRAY):
        logs[:, x, y, FOREIGN] = -7.0
        logs[:, x, y, group.classes.index(layout.get(site.id, ()))] = -0.01
    monkeypatch.setattr(square_grid, "look_at_squares", lambda *_: logs)
    prior = {"tower": np.where([s.id == "00" for s in plan.site], 2.0, -2.0)}
    reader = SimpleNamespace(plan=plan, groups=(group,))
    best = rank_places(reader, prior, towers_grid, np.zeros((8, 8, 3), np.uint8), camera(), 3)
    assert len(best) == 3 and best[0] == pytest.approx(corners)
