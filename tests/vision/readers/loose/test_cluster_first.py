"""Which cards samplers show."""

from __future__ import annotations

import importlib.resources

import cv2
import numpy as np

from vision.geometry.posed_photo import Shot
from vision.photometry.canvas import Frame
from vision.plan import load_plan
from vision.readers.loose.cards.card_level import Level, Sheet
from vision.readers.loose.cards.card_reader import Tried, cards_of
from vision.readers.loose.cards.coarse_search import Rough
from vision.readers.loose.cards.hypotheses import Tries, bareness, turn_round
from vision.readers.loose.scene.scene import Scene
from vision.readers.loose.site_assignment import Bounded, Homes


def kinds(layout):
    plan = load_plan(importlib.resources.files("engine.nile") / "plan.toml")
    (cards,) = cards_of(
        plan, [Shot(np.zeros((8, 8, 3), np.uint8), layout, None, "sampler-1")]
    ).values()
    return {(site, kind) for _, site, kind in cards}


def test_a_card_that_only_its_stock_shows_is_learnt_there():
    assert kinds({"L2.2": ["cover"], "desert-stock": ["desert"]}) == {
        ("L2.2", "cover"),
        ("desert-stock", "desert"),
    }


def test_a_stock_teaches_nothing_that_a_cluster_shows():
    assert kinds({"L2.2": ["desert"], "desert-stock": ["desert"]}) == {("L2.2", "desert")}


def test_ground_a_little_paler_than_around_is_no_card_and_much_darker_ground_is():
    frame = Frame(0.0, 0.0, 2.2, 132, 132)
    ground = np.full((132, 132, 3), (80, 150, 90), np.uint8)
    ground[60:72, 40:90] = 40, 60, 30  # palms
    level = Level(np.full((1, 106, 106, 3), 120, np.float32), (48.0, 48.0), 2.2, 2)

    def bare(tone):
        seen = (ground * tone).astype(np.uint8)
        scene = Scene(
            frame,
            None,
            seen,
            ground,
            np.ones((132, 132), np.float32),
            seen[..., 0],
            np.ones((6, 6, 3), np.float32),
        )
        return float(bareness(scene, level, np.array([[30.0, 30.0, 0.0]]), np.ones((1, 3)))[0])

    assert bare(1.1) < 0.05 and bare(0.9) < 0.05 and bare(0.6) > 1


def test_a_card_laid_upside_down_is_turned_though_another_kind_seemed_likelier():
    frame = Frame(0.0, 0.0, 2.2, 132, 132)
    desert, cover = (
        np.full((88, 88, 3), (130, 190, 203), np.float32),
        np.full((88, 88, 3), (170, 190, 200), np.float32),
    )
    cv2.circle(desert, (22, 18), 9, (90, 120, 150), 3)
    cv2.line(desert, (50, 10), (60, 80), (90, 120, 150), 3)
    cover[40:44] = cover[:, 30:33] = 150
    sheet = Sheet((40.0, 40.0), 0.0, 2.2, ("desert", "cover"), np.stack([desert, cover]))
    level = Level(sheet.looks, sheet.size, 2.2, 2)
    seen = np.full((132, 132, 3), 60, np.uint8)
    seen[22:110, 22:110] = desert[::-1, ::-1].astype(np.uint8)
    scene = Scene(
        frame,
        None,
        seen,
        seen * 0 + 60,
        np.ones((132, 132), np.float32),
        seen[..., 0],
        np.ones((6, 6, 3), np.float32),
    )
    home = np.array([[30.0, 30.0, 0.0]])
    tries = Tries.none(1, 2)
    tries.misfit[:], tries.poses[:] = [[2.7, 1.9]], home
    turn_round(scene, Rough(sheet.looks, sheet.size), level, home, tries, np.ones((1, 3)))
    assert tries.misfit[0].argmin() == 0 and tries.misfit[0, 0] < 0.5
    assert abs(tries.poses[0, 0, 2] - np.pi) < 0.1


def test_a_piece_stands_on_the_card_below_it_also_beyond_the_site_it_belongs_to():
    square = np.array([(0, 0), (50, 0), (50, 50), (0, 50)], float)
    homes = Homes([Bounded.of("A1", square), Bounded.of("B1", square + (50, 0))])
    # a small one only lies on its site
    for size, home in (((48.0, 48.0), "A1"), ((20.0, 20.0), "B1")):
        sheet = Sheet(size, 2.0, 2.2, ("tile",), np.zeros((1, 4, 4, 3), np.float32))
        tried = {
            s: Tried(
                sheet,
                np.zeros(1, int),
                np.array([(x + 4.0, 25.0, 0.0)]),
                np.ones((1, 3)),
                np.array([x, 25.0, 0.0]),
            )
            for s, x in (("A1", 25.0), ("B1", 75.0))
        }
        assert (
            homes.around(dict.fromkeys(tried, "tile"), tried).home(np.array([52.0, 25.0])) == home
        )
    askew = Tried(
        sheet=Sheet((48.0, 48.0), 2.0, 2.2, ("tile",), np.zeros((1, 4, 4, 3), np.float32)),
        kinds=np.zeros(1, int),
        poses=np.array([(25.0, 25.0, np.radians(10))]),
        light=np.ones((1, 3)),
        home=np.array([25.0, 25.0, 0.0]),
    )
    corner = askew.along("tile", square)[1]
    assert np.allclose(
        corner,
        (
            25 + 25 * np.sqrt(2) * np.cos(np.radians(-35)),
            25 + 25 * np.sqrt(2) * np.sin(np.radians(-35)),
        ),
    )
