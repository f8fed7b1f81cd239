"""Where the samplers' pieces lie: by their outline, and by the colour that their form has."""

import numpy as np
import pytest

from calibration.cutouts.cut_out import cut_specimens, mark_covered
from calibration.cutouts.seek import Samplers, body_colours
from calibration.cutouts.specimens import Specimen
from tests.support.towers import camera
from vision.geometry.posed_photo import Shot
from vision.learned.canvas import Canvas
from vision.plan import parse_plan

SIDE = 30
KINDS = ("sun", "moon", "star")
COLUMNS = 6
PLAN = parse_plan(
    {
        "game": "discs",
        "size": [SIDE * COLUMNS, SIDE * 3],
        "site": [
            {
                "id": f"{kind}{x}",
                "reads": "pile",
                "outline": [
                    [SIDE * x, SIDE * y],
                    [SIDE * (x + 1), SIDE * y],
                    [SIDE * (x + 1), SIDE * (y + 1)],
                    [SIDE * x, SIDE * (y + 1)],
                ],
            }
            for y, kind in enumerate(KINDS)
            for x in range(COLUMNS)
        ],
        "piece": [{"kind": k, "size": 20, "height": 1} for k in KINDS],
    },
    "discs",
)
VIEW = Canvas((SIDE * COLUMNS * 1.0, SIDE * 3.0), 2.0)
BOARD = np.array([5.0, 5.1, 5.2])
WOOD = np.array([4.90, 5.05, 5.28])  # hardly another colour
PRINTS = {"sun": (4.0, 4.2, 4.4), "moon": (4.6, 4.0, 3.8), "star": (3.9, 4.4, 4.0)}


def draw_discs(seed: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """(a log canvas of pale discs on a pale board, each with a dark print at its rim, and a shadow
    beside it; site -> (2,) mm where each disc lies)"""
    rng = np.random.default_rng(seed)
    canvas = BOARD + rng.normal(0, 0.03, (*VIEW.shape, 3))
    rows, columns = np.mgrid[: VIEW.shape[0], : VIEW.shape[1]]
    mm = VIEW.to_mm(np.stack([columns, rows], -1).reshape(-1, 2).astype(float))
    places = {}
    for site in PLAN.site:
        at = places[site.id] = site.centre + rng.uniform(-2.5, 2.5, 2)
        a = rng.uniform(0, 2 * np.pi)
        away = np.array([np.cos(a), np.sin(a)])
        off = (mm - at).reshape(*VIEW.shape, 2)
        disc = np.hypot(*off.transpose(2, 0, 1)) < 10
        shadow = np.hypot(*(off - 2.5 * away).transpose(2, 0, 1)) < 10
        canvas[shadow] -= 0.15
        canvas[disc] = WOOD + rng.normal(0, 0.03, (disc.sum(), 3))
        mark = np.hypot(*(off + 5 * away).transpose(2, 0, 1)) < 3.5
        canvas[mark & disc] = PRINTS[site.id[:-1]]
    return canvas.astype(np.float32), places


@pytest.fixture(scope="module")
def found_discs():
    canvas, places = draw_discs(3)
    image = np.zeros((8, 8, 3), np.uint8)
    shot = Shot(image, {s.id: (s.id[:-1],) for s in PLAN.site}, camera(tilt=0.0), "sampler")
    empty = np.broadcast_to(BOARD, (*VIEW.shape, 3)).astype(np.float32)
    specimens = cut_specimens(Samplers(PLAN, VIEW, [shot], [canvas], [empty]))
    return specimens, places


def test_pale_discs_on_a_pale_board_are_found_by_their_wood(found_discs):
    specimens, places = found_discs
    away = [np.hypot(*(s.top - places[s.site])) for s in specimens]
    assert len(away) == len(PLAN.site)
    assert max(away) < 1.5


def test_kinds_of_one_material_share_its_colour(found_discs):
    colours = body_colours(PLAN, found_discs[0])
    assert set(colours) == set(KINDS)
    for colour in colours.values():
        assert colour == pytest.approx(WOOD, abs=0.05)


def test_kinds_of_other_colours_have_their_own(found_discs):
    specimens, _ = found_discs
    for s in specimens:
        s.look = np.full((20, 20, 3), PRINTS[s.kind], np.float32)
    colours = body_colours(PLAN, specimens)
    for kind in KINDS:
        assert colours[kind] == pytest.approx(PRINTS[kind], abs=1e-5)


ROW = parse_plan(
    {
        "game": "a row of tiles",
        "size": [260, 60],
        "site": [
            {
                "id": f"s{n}",
                "reads": "pile",
                "outline": [[20 * n, 20], [20 * n + 20, 20], [20 * n + 20, 40], [20 * n, 40]],
            }
            for n in range(2, 11)
        ],
        "piece": [{"kind": k, "size": [19.5, 19.5], "height": 1} for k in KINDS],
    },
    "a row",
)


@pytest.mark.parametrize("seed", range(4))
def test_tiles_that_touch_are_not_taken_for_their_neighbours(seed):
    """Pale tiles side by side with hardly a seam, some pushed up against the next"""
    rng, view = np.random.default_rng(seed), Canvas((260.0, 60.0), 2.0)
    rows, columns = np.mgrid[: view.shape[0], : view.shape[1]]
    mm = view.to_mm(np.stack([columns, rows], -1).reshape(-1, 2).astype(float))
    mm = mm.reshape(*view.shape, 2)
    empty = np.broadcast_to(np.array([5.4, 4.8, 4.4]), (*view.shape, 3)).astype(np.float32)
    canvas, places, layout = empty + rng.normal(0, 0.02, empty.shape), {}, {}
    for n, site in enumerate(ROW.site):
        at = places[site.id] = site.centre + (2.0 - 0.4 * n, rng.uniform(-1, 1))
        off = mm - at
        canvas[np.abs(off).max(2) < 9.75] = (5.0, 5.1, 5.2)
        canvas[(np.abs(off[..., 0] - 2) < 4) & (np.abs(off[..., 1]) < 5)] = PRINTS[KINDS[n % 3]]
        layout[site.id] = (KINDS[n % 3],)
    shot = Shot(np.zeros((8, 8, 3), np.uint8), layout, camera(tilt=0.0), "sampler")
    samplers = Samplers(ROW, view, [shot], [canvas.astype(np.float32)], [empty])
    specimens = cut_specimens(samplers)
    away = [np.hypot(*(s.top - places[s.site])) for s in specimens]
    assert len(away) == len(ROW.site) and max(away) < 1.5


def test_of_two_that_lie_in_one_another_neither_is_whole():
    def lay_specimen(kind, x, base=0.0):
        look = np.zeros((40, 40, 3), np.float32)
        return Specimen(0, "sun0", kind, np.array([x, 15.0]), base, 0.0, look, np.ones((40, 40)))

    shot = Shot(np.zeros((8, 8, 3), np.uint8), {}, camera(tilt=0.0), "sampler")
    apart, beside, hidden, hiding = (
        lay_specimen("sun", 20),
        lay_specimen("sun", 39),
        lay_specimen("sun", 90),
        lay_specimen("moon", 102),
    )
    below, above = lay_specimen("star", 150), lay_specimen("star", 150, 1.0)
    samplers = Samplers(PLAN, VIEW, [shot], [], [])
    mark_covered(samplers, [apart, beside, hidden, hiding, below, above])
    assert all(s.clear.min() == 1 for s in (apart, beside, below, above))
    assert hidden.clear[20, -12:].max() < 0.1 and hidden.clear[:, :10].min() == 1
    assert hiding.clear[20, :12].max() < 0.1 and hiding.clear[:, -10:].min() == 1
