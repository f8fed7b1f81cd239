"""A board photographed by hand, from quite another side than the photo whose corners were tapped."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.survey.registrar_fit import fit_registrar
from vision.registration.print_map import Picture
from vision.registration.registrar import Registrar


@pytest.fixture(scope="module")
def lines(tools):
    """A plain board of lines that look alike, with a grain, on a table of its own colour: no
    outline stands out, and only the grain tells one crossing from another"""
    plan = tools.grid_plan(7, 7, 40.0, 20.0, {"kind": "stone", "size": 21, "height": 6})
    canvas = np.full(
        (round(plan.size[1] * tools.DOTS), round(plan.size[0] * tools.DOTS), 3),
        (110, 170, 210),
        np.uint8,
    )
    for k in range(7):
        at, first, last = (round(v * tools.DOTS) for v in (40 + 40 * k, 40, 40 + 40 * 6))
        cv2.line(canvas, (at, first), (at, last), (30, 40, 50), 3)
        cv2.line(canvas, (first, at), (last, at), (30, 40, 50), 3)
    grain = np.random.default_rng(7).normal(0, 12, (90, 90)).astype(np.float32)
    canvas[:] = np.clip(
        canvas + cv2.resize(grain, canvas.shape[1::-1], interpolation=cv2.INTER_CUBIC)[..., None],
        0,
        255,
    )
    studio = tools.Studio(plan, canvas)
    studio.table[:] = (108, 168, 207)
    return studio


def test_a_plain_board_is_found_by_its_grain_from_quite_another_side(lines, tools):
    truth = lines.pose(fill=0.7, tilt=17, turn=13)
    registrar, _ = fit_registrar(
        lines.plan,
        [lines.film(truth), lines.film(truth, light=0.8)],
        [truth.to_px(lines.plan.corners)] * 2,
        False,
        [{}, {}],
    )
    true = lines.pose(fill=0.5, tilt=35, turn=-47)
    image = lines.film(true, [s.id for s in lines.plan.site][::6], light=0.7)
    rough = registrar._by_features(Picture(image), slanted=True)
    assert tools.off_by(lines.plan, rough, true) < 4.0
    registrar = Registrar.unpack(lines.plan, registrar.pack())
    assert tools.off_by(lines.plan, registrar.locate(image), true) < 1.0
