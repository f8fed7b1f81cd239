"""Pictures of simulated scenes: things are where the camera's geometry says, light and lens do what
they do."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from hardware import props
from hardware.film import Film
from hardware.scene import CARD, Light, Scene, Thing, View, card_places, look_down

SIZE = (300.0, 200.0)
EVEN = Light(ambient=1.0, shadow=0.0, gloss=0.0)
LOOKS = {
    "tile": [
        {
            "z": [0.0, 2.0],
            "outline": [[-13, -13], [13, -13], [13, 13], [-13, 13]],
            "disc": False,
            "side": "#aa0000",
            "top": [
                {
                    "p": "polygon",
                    "points": [[-13, -13], [13, -13], [13, 13], [-13, 13]],
                    "fill": "#ff0000",
                    "stroke": None,
                    "width": 0.0,
                }
            ],
        }
    ],
    "tower": [
        {
            "z": [0.0, 60.0],
            "outline": [[-8, -8], [8, -8], [8, 8], [-8, 8]],
            "disc": False,
            "side": "#00c000",
            "top": [
                {
                    "p": "polygon",
                    "points": [[-8, -8], [8, -8], [8, 8], [-8, 8]],
                    "fill": "#0000ff",
                    "stroke": None,
                    "width": 0.0,
                }
            ],
        }
    ],
    **{name: make() for name, make in props.PROPS.items()},
}
SHEET = [
    {
        "p": "polygon",
        "points": [[0, 0], [300, 0], [300, 200], [0, 200]],
        "fill": "#c8c8c8",
        "stroke": None,
        "width": 0.0,
    }
]


def scene(*things, **more):
    cards = tuple((x, y, 0.0) for x, y in card_places(SIZE))
    return Scene(SIZE, SHEET, LOOKS, things, cards=cards, paper=0.0, **more)


def camera(**more) -> View:
    return look_down(
        SIZE,
        **{
            "resolution": (820, 616),
            "margin": 54,
            "fill": 0.95,
            "vignette": 0.0,
            "noise": 0.0,
            "blur": 0.0,
        }
        | more,
    )


def at(image, view, mm, height=0.0):
    x, y = np.round(view.to_px([mm], height)[0]).astype(int)
    return image[y, x].astype(int)


@pytest.mark.parametrize(
    "turn, k1, tilt", [(0, 0.0, 0), (0, -0.08, 10), (180, -0.05, 8), (90, 0.02, 5)]
)
def test_cards_are_found_where_the_camera_should_see_them(turn, k1, tilt):
    view = camera(turn=turn, k1=k1, tilt=tilt, resolution=(1640, 1232))
    image = Film().take(scene(), view, EVEN)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary, parameters).detectMarkers(image)
    assert sorted(np.ravel(ids).tolist()) == [0, 1, 2, 3]
    h = CARD / 2
    for number, found in zip(np.ravel(ids), corners):
        square = np.array(card_places(SIZE)[number]) + [[-h, -h], [h, -h], [h, h], [-h, h]]
        assert np.abs(found.reshape(4, 2) - view.to_px(square)).max() < 0.6


@pytest.mark.parametrize("size", [SIZE, (860.0, 630.0), (100.0, 400.0)])
@pytest.mark.parametrize("turn, tilt, azimuth", [(0, 3, 90), (180, 12, 30), (37, 20, 200)])
def test_the_whole_board_is_in_the_middle_of_the_picture(size, turn, tilt, azimuth):
    view = look_down(size, turn=turn, tilt=tilt, azimuth=azimuth, fill=0.9, k1=-0.05)
    w, h = size
    p = view.to_px([[0, 0], [w, 0], [w, h], [0, h]])
    assert (p > 0).all() and (p < view.size).all()
    assert np.abs((p.min(0) + p.max(0)) / 2 - np.array(view.size) / 2).max() < 3
    assert (np.ptp(p, axis=0) / view.size).max() == pytest.approx(0.9, abs=0.01)
    assert view.eye[2] > 0


def test_a_tall_things_top_stands_off_its_foot_by_parallax():
    view = camera(tilt=5)
    spot = (40.0, 40.0)
    image = Film().take(scene(Thing("tower", spot)), view, EVEN)
    assert at(image, view, spot, 60.0).tolist() == [255, 0, 0]
    foot, top = view.to_px([spot], 0)[0], view.to_px([spot], 60.0)[0]
    assert np.hypot(*(top - foot)) > 15
    b, g, r = at(image, view, (48.0, 40.0), 30.0)  # the side turned to the camera
    assert g > 60 and b < 30 and r < 30


def test_pieces_lie_turned_and_upon_each_other():
    view = camera()
    image = Film().take(
        scene(Thing("tile", (150, 100)), Thing("tower", (150, 100), 45.0, 2.0)), view, EVEN
    )
    assert at(image, view, (150, 100), 62.0).tolist() == [255, 0, 0]
    assert at(image, view, (139, 111), 2.0).tolist() == [0, 0, 255]
    # the turned square's corner reaches there
    assert at(image, view, (150, 110), 62.0).tolist() == [255, 0, 0]


def test_the_lamp_throws_shadows_away_from_itself():
    view, lamp = camera(), replace(EVEN, lamp=(-400.0, 0.0, 500.0), shadow=0.6, size=40.0)
    with_it = Film().take(scene(Thing("tower", (150, 100))), view, lamp)
    without = Film().take(scene(), view, lamp)
    behind, before = (190.0, 100.0), (110.0, 100.0)
    assert at(with_it, view, behind).mean() < 0.7 * at(without, view, behind).mean()
    assert np.abs(at(with_it, view, before) - at(without, view, before)).max() <= 2


def test_light_is_warm_or_cold_dim_or_bright_and_falls_off():
    view = camera()
    plain = Film().take(scene(), view, EVEN)
    warm = Film().take(scene(), view, replace(EVEN, warmth=0.5))
    assert at(warm, view, (150, 100))[0] < 0.9 * at(plain, view, (150, 100))[0]
    assert at(warm, view, (150, 100))[2] >= at(plain, view, (150, 100))[2]
    dim = Film().take(scene(), view, replace(EVEN, exposure=0.5))
    assert at(dim, view, (150, 100)).mean() == pytest.approx(
        at(plain, view, (150, 100)).mean() / 2, abs=3
    )
    aside = Film().take(scene(), view, replace(EVEN, ambient=0.3, lamp=(-500.0, 0.0, 400.0)))
    assert at(aside, view, (20, 100)).mean() > 1.3 * at(aside, view, (280, 100)).mean()
    glossy = Film().take(scene(), view, replace(EVEN, gloss=0.4, lamp=(0.0, 0.0, 900.0)))
    assert at(glossy, view, (150, 100)).mean() > at(plain, view, (150, 100)).mean() + 20


@pytest.mark.parametrize("prop", sorted(props.PROPS))
def test_a_prop_covers_what_is_below_and_goes_away_again(prop):
    view, film = camera(), Film()
    bare = film.take(scene(), view, EVEN)
    held = film.take(scene(over=(Thing(prop, (150.0, 90.0)),)), view, EVEN)
    changed = np.abs(held.astype(int) - bare).max(2) > 20
    assert 0.01 < changed.mean() < 0.6
    assert (film.take(scene(), view, EVEN) == bare).all()


def test_a_resting_table_differs_by_noise_alone_and_the_same_seed_gives_the_same_picture():
    view = camera(noise=3.0)
    film, again = Film(7), Film(7)
    one, two = film.take(scene(), view, EVEN), film.take(scene(), view, EVEN)
    spread = (one.astype(int) - two).std()
    assert not (one == two).all() and 2.5 < spread < 6
    assert (one == again.take(scene(), view, EVEN)).all()
    assert (
        film.take(scene(), view, EVEN, noise=0) == again.take(scene(), view, EVEN, noise=0)
    ).all()


def test_moving_one_piece_changes_the_picture_there_and_nowhere_else():
    view, film = camera(), Film()
    a = film.take(scene(Thing("tile", (60, 60)), Thing("tile", (200, 150))), view, EVEN)
    b = film.take(scene(Thing("tile", (63, 60)), Thing("tile", (200, 150))), view, EVEN)
    ys, xs = np.nonzero(np.abs(a.astype(int) - b).max(2) > 8)
    x, y = view.to_px([(61.5, 60)])[0]
    assert len(xs) and np.abs(xs - x).max() < 40 and np.abs(ys - y).max() < 40


def test_a_knock_moves_the_picture():
    view = camera()
    knocked = view.moved([0.5, 0, 1.0], [2, 0, 0])
    assert 2 < np.hypot(*(knocked.to_px([(150, 100)]) - view.to_px([(150, 100)]))[0]) < 40
    assert knocked.key != view.key


@pytest.mark.parametrize("table", ["wood", "cloth", "plain"])
def test_tables_differ_and_mottled_print_keeps_its_mean(table):
    view = camera()
    image = Film().take(scene(table=table), view, EVEN)
    assert image[:40].std() > 0.5
    rough = Film().take(
        replace(scene(Thing("tile", (150, 100)), table=table), paper=4.0, grain=4.0), view, EVEN
    )
    x, y = view.to_px([(40, 40), (110, 160)]).astype(int).T
    patch, before = rough[y[0] : y[1], x[0] : x[1]], image[y[0] : y[1], x[0] : x[1]]
    assert patch.std() > 4 + before.std() and abs(patch.mean() - before.mean()) < 25
