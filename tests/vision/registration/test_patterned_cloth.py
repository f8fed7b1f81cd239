"""Tiles on a cloth whose pattern finds them again: fingers alone say where it lies under them,
until the tiles do."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.survey.registrar_fit import fit_registrar
from vision.registration.registrar import Registrar


@pytest.fixture(scope="module")
def evening(tools):
    """(plan, registrar, poses and true ones of two bare photos and two with tiles; the corners
    tapped in the first lie some millimetres beside), a later photo and its true pose"""
    plan = tools.grid_plan(6, 5, 40.0, 12.0, {"kind": "tile", "size": [38, 38], "height": 2})
    table = tools.Studio(plan, np.zeros((3, 3, 3), np.uint8), board=False)
    rng = np.random.default_rng(8)
    flowers = cv2.resize(
        rng.normal(0, 1, (180, 180, 1)).astype(np.float32),
        (900, 900),
        interpolation=cv2.INTER_CUBIC,
    )
    table.table = np.clip(np.array([90, 110, 120]) + 45 * flowers[..., None], 0, 255).astype(
        np.uint8
    )
    colours = {
        s.id: tuple(map(int, rng.integers(150, 255, 3))) for s in plan.site if rng.random() < 0.6
    }
    truth, layouts = [table.pose()] * 4, [{}, {}, *[{s: ("tile",) for s in colours}] * 2]
    images = [table.film(p, colours if layout else ()) for p, layout in zip(truth, layouts)]
    taps = truth[0].to_px(plan.corners) + (5, -5) + rng.normal(0, 2, (4, 2))
    registrar, poses = fit_registrar(plan, images, [taps, None, None, None], False, layouts)
    later = table.pose(turn=1.5, shift=(6, -4))
    return plan, registrar, poses, truth, table.film(later, colours), later


def test_the_tiles_say_where_they_lie_on_it(tools, evening):
    plan, registrar, poses, truth, image, later = evening
    assert registrar.printed is not None and registrar.tiles is not None
    found = Registrar.unpack(plan, registrar.pack()).locate(image)
    for pose, true in [*zip(poses, truth), (found, later)]:
        assert tools.off_by(plan, pose, true) < 3.0
        assert 0.5 < pose.error_px / tools.off_by(plan, pose, true) < 3
