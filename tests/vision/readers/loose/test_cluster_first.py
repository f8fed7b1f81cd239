"""Which cards samplers show."""

from __future__ import annotations

import importlib.resources

import cv2
import numpy as np

from vision.geometry.posed_photo import Shot
from vision.photometry.canvas import Frame
from vision.plan import load_plan
from vision.readers.loose.cards.card_level import Level, Sheet
from vision.readers.loose.cards.card_reader import Firsts, Tried, cards_of
from vision.readers.loose.cards.coarse_search import Rough
from vision.readers.loose.cards.hypotheses import Tries, bareness, turn_round
from vision.readers.loose.cards.small_symbols import Cover
from vision.readers.loose.scene.polar_patches import Form
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


def block(x0, y0, x1, y1):
    """What a piece without sides hides between these canvas pixels"""
    at = np.array([x0 + x1, y0 + y1]) / 4.4
    return Cover(
        Form(((x1 - x0) / 2.2, (y1 - y0) / 2.2), 0.0, False), at, at, 0.0, np.array([60.0, 150, 60])
    )


def test_a_piece_on_a_small_sign_is_not_the_sign():
    frame = Frame(0.0, 0.0, 2.2, 132, 132)
    sheet = Sheet(
        (48.0, 48.0),
        2.0,
        2.2,
        ("tile:war/trade", "tile:war/agriculture"),
        np.full((2, 106, 106, 3), 120, np.float32),
    )
    for look, sign in zip(sheet.looks, ((30, 180, 220), (60, 150, 60))):
        look[74:100, 74:100] = sign
    firsts = Firsts((sheet,), {})
    seen = np.full((132, 132, 3), 120, np.uint8)
    seen[13:119, 13:119] = sheet.looks[0].astype(np.uint8)
    seen[90:110, 90:110] = 60, 150, 60  # a green piece: of the yellow sign only a rim is left
    light = np.ones((6, 6, 3), np.float32)
    scene = Scene(
        frame,
        None,
        seen,
        seen,
        np.ones((132, 132), np.float32),
        seen[..., 0],
        light,
        board=np.full_like(seen, 20),
    )
    hidden = np.zeros((132, 132), np.uint8)
    hidden[88:112, 88:112] = 1
    home = np.array([30.0, 30.0, 0.0])
    tried = {
        "A1": Tried(sheet, np.arange(2), np.array([home] * 2), np.ones((2, 3), np.float32), home)
    }
    told = {"A1": {"tile:war/trade": -90.0, "tile:war/agriculture": -20.0, "": -400.0}}
    again = firsts.again(scene, told, tried, hidden, [block(88, 88, 112, 112)])["A1"]
    assert again["tile:war/trade"] > again["tile:war/agriculture"] + 20
    assert again["tile:war/agriculture"] > again[""]
    hidden[80:, 80:] = 1
    blind = firsts.again(scene, told, tried, hidden, [block(80, 80, 132, 132)])["A1"]
    assert abs(blind["tile:war/trade"] - blind["tile:war/agriculture"]) < 1


def test_a_card_below_a_big_piece_is_laid_and_lit_by_what_shows_of_it():
    frame = Frame(0.0, 0.0, 2.2, 132, 132)
    looks = np.full((2, 106, 106, 3), (60, 160, 200), np.float32)
    looks[:, 20:60, 20:40] = 230
    for look, sign in zip(looks, ((150, 110, 40), (150, 40, 130))):
        look[74:100, 74:100] = sign
        look[:] = cv2.GaussianBlur(look, (0, 0), 2)
    sheet = Sheet((48.0, 48.0), 2.0, 2.2, ("tile:trade/politics", "tile:trade/culture"), looks)
    seen = np.full((132, 132, 3), 90, np.uint8)
    seen[15:121, 11:117] = looks[0].astype(np.uint8)  # 0.9 mm beside where it was thought to be
    seen[13:85, 40:119] = 120, 170, 190  # a big piece: of the sign two thirds are left
    scene = Scene(
        frame,
        None,
        seen,
        seen,
        np.ones((132, 132), np.float32),
        seen[..., 0],
        np.ones((6, 6, 3), np.float32),
    )
    hidden = np.zeros((132, 132), np.uint8)
    hidden[11:87, 38:121] = 1
    home = np.array([30.0, 30.0, 0.0])
    tried = {
        "A1": Tried(
            sheet,
            np.arange(2),
            np.array([home] * 2),
            np.full((2, 3), (1.0, 0.85, 1.2), np.float32),
            home,
        )
    }
    before = tried["A1"]
    told = {"A1": {"tile:trade/politics": -40.0, "tile:trade/culture": -20.0, "": -400.0}}
    again = Firsts((sheet,), {}).again(scene, told, tried, hidden, [block(38, 11, 121, 87)])
    found = tried["A1"]
    assert again["A1"]["tile:trade/politics"] > again["A1"]["tile:trade/culture"] + 20
    assert (
        np.abs(found.poses[0, :2] - (29.1, 30.9)).max() < 0.3
        and np.abs(found.light[0] - 1).max() < 0.08
    )
    assert found.otherwise(before, "tile:trade/politics")  # so pieces are looked for once more


def test_a_card_below_a_big_piece_may_be_one_that_nobody_thought_of():
    frame = Frame(0.0, 0.0, 2.2, 132, 132)
    looks = np.empty((3, 106, 106, 3), np.float32)
    # green, red and yellow cards
    looks[:] = np.array([(80, 150, 130), (70, 90, 190), (90, 170, 215)])[:, None, None]
    sheet = Sheet(
        (48.0, 48.0),
        2.0,
        2.2,
        ("tile:agriculture/war", "tile:war/politics", "tile:trade/culture"),
        looks,
    )
    seen = np.full((132, 132, 3), 90, np.uint8)
    seen[13:119, 13:119] = looks[2].astype(np.uint8)
    seen[33:99, 33:99] = 110, 160, 190
    scene = Scene(
        frame,
        None,
        seen,
        seen,
        np.ones((132, 132), np.float32),
        seen[..., 0],
        np.ones((6, 6, 3), np.float32),
        board=np.full_like(seen, 90),
    )
    hidden = np.zeros((132, 132), np.uint8)
    hidden[31:101, 31:101] = 1
    home = np.array([30.0, 30.0, 0.0])
    tried = {
        "A1": Tried(
            sheet,
            np.arange(2),
            np.array([home] * 2),
            np.array([(1, 1, 0.85), (0.9, 0.75, 1)], np.float32),
            home,
        )
    }
    told = {
        "A1": {
            "tile:agriculture/war": -90.0,
            "tile:war/politics": -80.0,
            "tile:trade/culture": -300.0,
            "": -400.0,
        }
    }
    again = Firsts((sheet,), {}).again(scene, told, tried, hidden, [])["A1"]
    assert max(again, key=again.get) == "tile:trade/culture"
    assert tried["A1"].number("tile:trade/culture") == 2


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


def test_ground_in_a_markers_shadow_is_still_that_ground():
    frame = Frame(0.0, 0.0, 2.2, 132, 132)
    ground = np.full((132, 132, 3), (70, 140, 150), np.uint8)
    shade = np.ones((132, 132, 1), np.float32)
    cv2.circle(shade, (70, 70), 30, 0.7, -1)
    seen = (ground * cv2.GaussianBlur(shade, (0, 0), 4)[..., None]).astype(np.uint8)
    level = Level(np.full((1, 88, 88, 3), (80, 120, 170), np.float32), (40.0, 40.0), 2.2, 2)
    # what it was taken for lies on the scene's ground, not on the board
    card = np.zeros_like(ground)
    scene = Scene(
        frame,
        None,
        seen,
        card,
        np.ones((132, 132), np.float32),
        seen[..., 0],
        np.ones((6, 6, 3), np.float32),
        board=ground,
    )
    pose, light = np.array([[30.0, 30.0, 0.0]]), np.ones((1, 3))
    marker = cv2.circle(np.zeros((132, 132), np.uint8), (66, 66), 20, 1, -1)
    assert bareness(scene, level, pose, light, marker)[0] < 0.4
    scene.board[:] = 200, 120, 90
    assert bareness(scene, level, pose, light, marker)[0] > 1.0


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
