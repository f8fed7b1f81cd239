"""Simulated tables and copies: layouts that could be, pieces that lie as people lay them, copies in
the contract's form."""

import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.copy import load_copy
from companion.simulate import (
    Conditions,
    Director,
    Tabletop,
    art_edition,
    art_for,
    full_samplers,
    make_copy,
    plan_of,
    random_layout,
)
from companion.simulate.samples import spanned_sites
from companion.simulate.tabletop import _is_inside
from vision.geometry.occlusion import visible_counts
from vision.plan import parse_plan

GAMES = ("tigris", "ur", "nile", "deluge")
SMALL = (640, 480)


def setting(game):
    plan, _ = plan_of(game, None)
    return plan, art_for(plan)


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    """A plan of a game without an engine"""
    sites = "".join(
        f'[[site]]\nid = "{c}{r}"\nreads = "pile"\noutline = [[{x}, {y}], [{x + 22}, '
        f"{y}], [{x + 22}, {y + 22}], "
        f"[{x}, {y + 22}]]\n"
        for c, x in zip("abcdef", range(10, 150, 22))
        for r, y in zip("123456", range(10, 150, 22))
    )
    kinds = "".join(
        f'[[piece]]\nkind = "{c}"\ncount = 3\nsize = [19, 19]\nheight = 4\n' for c in "AEIQÜ"
    )
    path = tmp_path_factory.mktemp("letters") / "plan.toml"
    path.write_text(f'game = "letters"\nsize = [152, 152]\n{kinds}{sites}')
    return path


def lawful(plan, layout):
    """Within the box, nothing outside the plan, pieces that span several sites with what lies under
    them"""
    counts = Counter(k for c in layout.values() for k in c)
    for kind, n in counts.items():
        assert n <= (plan.pieces[kind].count or 99), kind
    for site, contents in layout.items():
        assert contents and plan.sites[site]
        for kind in contents:
            if plan.pieces[kind].spans:
                covered = spanned_sites(plan, plan.sites[site], kind)
                assert len(covered) == 4 and all(
                    layout[c][0] == plan.pieces[kind].over for c in covered
                )


@pytest.mark.parametrize("game", GAMES)
def test_random_layouts_stay_within_the_box_and_the_rules_of_lying(game):
    plan, art = setting(game)
    for seed in range(4):
        layout = random_layout(plan, art.data["lie"], random.Random(seed))
        lawful(plan, layout)
        assert len(layout) > 5
    assert random_layout(plan, art.data["lie"], random.Random(3)) == layout


@pytest.mark.parametrize("game", GAMES)
def test_two_samplers_show_every_kind_in_sight(game):
    plan, art = setting(game)
    for seed in range(3):
        made = full_samplers(plan, art.data["lie"], random.Random(seed))
        shown = sum((visible_counts(plan, layout) for layout in made), Counter())
        assert all(shown[p.kind] for p in plan.piece)
        # Twice, where boards and box have room: the nile's 76 kinds on 60 places of a board have
        # not.
        twice = [p.kind for p in plan.piece if shown[p.kind] < 2 and p.count != 1]
        assert not twice or len(plan.piece) > 70, twice
        for layout in made:
            lawful(plan, layout)


@pytest.mark.parametrize(
    "game, kind", [("nile", "tide"), ("nile", "obelisk"), ("deluge", "counter")]
)
def test_what_there_is_one_of_lies_on_another_site_in_the_second_sampler(game, kind):
    plan, art = setting(game)
    for seed in range(6):
        first, second = (
            {s for s, c in made.items() if kind in c}
            for made in full_samplers(plan, art.data["lie"], random.Random(seed))
        )
        assert first and second and not first & second


@pytest.mark.parametrize("game", GAMES)
def test_drawings_and_plan_agree_on_the_other_side_of_a_piece(game):
    plan, art = setting(game)
    for kind, piece in plan.pieces.items():
        if piece.back:
            assert art.back(kind) == piece.back and art.back(piece.back) == kind


def test_what_may_not_lie_somewhere_does_not():
    plan, art = setting("tigris")
    for seed in range(5):
        for site, contents in random_layout(plan, art.data["lie"], random.Random(seed)).items():
            river = "river" in plan.sites[site].tags
            assert not (contents[0] == "farm" and not river) and not (
                contents[0] == "temple" and river
            )
            assert "treasure" not in contents or contents[0] == "temple"


def test_pieces_nobody_touches_stay_where_they_lie():
    plan, art = setting("deluge")
    top = Tabletop(plan, art, seed=1)
    top.lay({"africa-1": ["people:blue", "people:blue", "mine"], "arctic": ["ship:green"]})
    before = {t for t in top.scene().things}
    changed = top.lay(
        {
            "africa-1": ["people:blue", "people:blue", "people:blue", "mine"],
            "arctic": ["ship:green"],
        }
    )
    after = {t for t in top.scene().things}
    assert changed == {"africa-1"} and before < after and len(after) == len(before) + 1
    assert (
        top.lay(
            {
                "africa-1": ["mine", "people:blue", "people:blue", "people:blue"],
                "arctic": ["ship:green"],
            }
        )
        == set()
    )


def test_a_pile_keeps_what_lies_below_and_stands_on_it():
    plan, art = setting("tigris")
    top = Tabletop(plan, art, seed=1)
    top.lay({"D5": ["temple"]})
    below = top.scene().things[0]
    top.lay({"D5": ["temple", "treasure"]})
    temple, treasure = top.scene().things
    assert temple == below and treasure.z == 2.0
    assert np.abs(np.array(treasure.at) - temple.at).max() <= 13 - 4
    top.lay({"D5": ["?", "union"]})
    assert [t.look for t in top.scene().things] == ["union"]


def test_a_monument_stands_on_the_middle_of_its_four_squares():
    plan, art = setting("tigris")
    top = Tabletop(plan, art, seed=1)
    top.lay({s: ["flipped"] for s in ("E6", "D7", "E7")} | {"D6": ["flipped", "monument:blue-red"]})
    monument = next(t for t in top.scene().things if t.look.startswith("monument"))
    middle = np.mean([plan.sites[s].centre for s in ("D6", "E6", "D7", "E7")], 0)
    assert np.abs(np.array(monument.at) - middle).max() < 2 and monument.z == 2.0


def test_what_finds_no_room_stands_on_something_and_never_inside_it():
    plan, art = setting("tigris")
    top = Tabletop(plan, art, seed=1)
    top.lay(
        {
            "E6": ["flipped", "treasure"],
            "D7": ["flipped"],
            "E7": ["flipped"],
            "D6": ["flipped", "monument:blue-red"],
        }
    )
    treasure = next(t for t in top.scene().things if t.look == "treasure")
    # on one of the monument's steps, which stands on tiles of 2 mm
    assert treasure.z in (10.0, 17.0, 23.0)
    plan, art = setting("ur")
    top = Tabletop(plan, art, seed=1)
    top.lay({s.id: ["tile:war/trade", "ziggurat", "black"] for s in plan.site[:8]})
    for tile, ziggurat, stone in zip(*[iter(top.scene().things)] * 3):
        apart = np.abs(np.array(stone.at) - ziggurat.at).max()
        assert tile.z == 0 and ziggurat.z == 2.0 and (stone.z > 2.0 or apart > 10)


def test_heaps_lie_side_by_side_inside_their_cell_off_its_spots():
    plan, art = setting("deluge")
    top = Tabletop(plan, art, seed=4)
    heap = ["people:white"] * 6 + ["soldier:white", "dolmen:white", "mine"]
    top.lay({"africa-2": heap, "africa-2.forest1": ["bare"]})
    cell = plan.sites["africa-2"].outlines[0]
    lying = [np.array(t.at) for t in top.scene().things if t.look != "bare"]
    assert len(lying) == 9 and all(_is_inside(cell, at) for at in lying)
    apart = [np.hypot(*(a - b)) for n, a in enumerate(lying) for b in lying[:n]]
    assert min(apart) > 12.5
    spots = [s.centre for s in plan.site if s.of == "africa-2"]
    assert min(np.hypot(*(a - s)) for a in lying for s in spots) > 11


def test_the_tide_stone_lies_in_its_third():
    plan, art = setting("nile")
    top = Tabletop(plan, art, seed=1)
    for n in range(60):
        site = plan.sites[("flood", "ebb1", "ebb2")[n % 3]]
        top.lay({site.id: ["tide"]})
        [stone] = top.scene().things
        at = tuple(map(float, stone.at))
        assert (
            cv2.pointPolygonTest(np.array(site.outline, np.float32), at, True)
            > 0.29 * plan.pieces["tide"].size
        )


def test_what_is_put_into_a_heap_later_lies_beside_what_stays_there():
    plan, art = setting("nile")
    top = Tabletop(plan, art, seed=1)
    boat = [
        f"seed:{colour}:{fruit}"
        for fruit in ("onion", "flax")
        for colour in ("blue", "red", "yellow")
    ]
    for n in range(len(boat)):
        top.lay({"boat": sorted(boat[: n + 1])})  # what comes may stand before or after what stays
    lying = [np.array(t.at) for t in top.scene().things]
    assert (
        min(np.hypot(*(a - b)) for n, a in enumerate(lying) for b in lying[:n])
        > plan.pieces[boat[0]].size
    )


def test_turns_that_mean_something_are_kept_and_others_are_free():
    plan, art = setting("nile")
    top = Tabletop(plan, art, seed=2)
    top.lay(
        {
            "M1.1": ["rotten:red:flax"],
            "M1.2": ["seed:red:flax"],
            "R3.1": ["water:12"],
            "L3.1": ["water:12"],
        }
    )
    turned = {t.at: t for t in top.scene().things}
    by_site = {
        s: min(turned.values(), key=lambda t: np.hypot(*(np.array(t.at) - plan.sites[s].centre)))
        for s in ("M1.1", "M1.2", "R3.1", "L3.1")
    }
    assert by_site["M1.1"].look == by_site["M1.2"].look == "seed:red:flax"
    assert by_site["M1.1"].turn == pytest.approx(45, abs=12) and by_site[
        "M1.2"
    ].turn == pytest.approx(0, abs=12)
    assert by_site["R3.1"].turn == pytest.approx(180, abs=12) and by_site[
        "L3.1"
    ].turn == pytest.approx(0, abs=12)


def test_exact_people_lay_pieces_exactly():
    plan, art = setting("tigris")
    top = Tabletop(plan, art, seed=2, sloppiness=0.0)
    top.lay({"D5": ["temple"], "F6": ["settlement"]})
    for t in top.scene().things:
        assert t.turn % 90 == 0
        assert min(np.hypot(*(np.array(t.at) - s.centre)) for s in plan.site) < 1e-9


def test_hands_come_do_it_and_go():
    plan, _ = setting("tigris")
    table = Director(plan, layout={"C5": ["temple"]}, seed=1)
    scenes = list(
        table.top.towards({"C5": ["temple"], "D5": ["market"], "L9": ["leader:bull:red"]}, still=2)
    )
    hands = [bool(s.over) for s in scenes]
    assert hands[0] and hands[-3] and not any(hands[-2:])
    assert [len(s.things) for s in scenes][-1] == 3 and len(scenes[0].things) == 1
    assert all(s.over[0].look.startswith("hand") for s in scenes[:-2])


def test_the_director_shows_puts_nudges_and_breaks():
    plan, _ = setting("ur")
    slept = []
    from hardware.scene import look_down

    table = Director(
        plan,
        layout={"A1": ["tile:war/trade"]},
        view=look_down(plan.size, SMALL, margin=50),
        sleep=slept.append,
    )
    before = table.picture()
    table.put("cup", (200, 200))
    assert np.abs(table.picture().astype(int) - before).max() > 60
    table.clear()
    x = table.camera.scene.things[0].at[0]
    table.nudge("A1", (8, 0), 10)
    assert table.camera.scene.things[0].at[0] == pytest.approx(x + 8)
    table.nudge("B1", (8, 0))
    table.show({"A1": ["tile:war/trade", "black"]}, still=0.7)
    assert len(table.camera.scene.things) == 2 and not table.camera.scene.over and slept[-1] == 0.7
    table.fault("bumped", True)
    assert table.camera.faults == {"bumped"}
    table.fault("bumped", False)
    frames = list(table.frames({}, still=1))
    assert len(frames) == 5 and frames[0].shape == (480, 640, 3)
    for call in (lambda: table.put("elephant", (0, 0)), lambda: table.fault("haunted", True)):
        with pytest.raises(KeyError):
            call()


def test_the_directors_table_is_the_specimen_of_the_copy_with_the_same_conditions(tmp_path):
    plan, _ = setting("tigris")
    conditions = Conditions(seed=8, resolution=SMALL)
    make_copy(plan, tmp_path, conditions, photos=1)
    copy = cv2.imread(str(tmp_path / "empty-1.jpg"))
    for seed in (1, 2):
        seen = Director(plan, seed=seed, conditions=conditions).picture()
        cards = [
            cv2.aruco.ArucoDetector(
                cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
            ).detectMarkers(i)
            for i in (copy, seen)
        ]
        places = [
            dict(zip(np.ravel(ids).tolist(), np.array(corners).reshape(-1, 4, 2)))
            for corners, ids, _ in cards
        ]
        assert len(places[0]) == 4
        assert all(np.abs(places[0][n] - places[1][n]).max() < 1.0 for n in range(4))


@pytest.mark.parametrize("game", GAMES)
def test_editions_draw_every_kind_and_keep_kinds_apart(game):
    plan, art = setting(game)
    seen = set()
    for number in range(1, 5):
        other = art_edition(art, number)
        drawn = {p.kind: json.dumps(other.piece(p.kind)) for p in plan.piece}
        assert len(set(drawn.values())) == len(drawn)
        other.board(plan)
        seen.add(json.dumps(drawn))
    assert len(seen) == 4 and art_edition(art, 0) is art


@pytest.mark.parametrize(
    "game, more", [("tigris", {}), ("nile", {"markers": False, "edition": 2, "turned": True})]
)
def test_a_copy_is_complete_and_in_the_contracts_form(tmp_path, game, more):
    plan, _ = setting(game)
    conditions = Conditions(seed=3, resolution=(820, 616), **more)
    make_copy(plan, tmp_path / "copy", conditions, photos=5)
    copy = load_copy(tmp_path / "copy")
    assert len(copy.photos) == 4 and copy.markers == conditions.markers
    assert sorted(p.name for p in (tmp_path / "copy" / "test").glob("*.jpg")) == [
        f"{n:02}.jpg" for n in range(1, 6)
    ]
    for path in (tmp_path / "copy").rglob("*.json"):
        layout = json.loads(path.read_text())
        image = cv2.imread(str(path.with_suffix(".jpg")))
        assert image.shape == (616, 820, 3) and 40 < image.mean() < 200
        assert set(layout) <= set(plan.sites)
    truth = conditions.look(plan).to_px(plan.corners)
    if conditions.markers:
        assert all(p.corners is None for p in copy.photos)
    else:
        off = np.hypot(*(np.array([p.corners for p in copy.photos]) - truth).reshape(-1, 2).T)
        assert 0.5 < off.mean() < 12
        assert truth[0, 0] > truth[1, 0]  # turned: the board's left is on the right


def test_the_same_arguments_give_the_same_pictures(tmp_path):
    plan, _ = setting("ur")
    conditions = Conditions(seed=5, resolution=SMALL)
    for name in "ab":
        make_copy(plan, tmp_path / name, conditions, photos=1)
    make_copy(plan, tmp_path / "c", replace(conditions, seed=6), photos=1)
    a, b, c = ((tmp_path / name / "test" / "01.jpg").read_bytes() for name in "abc")
    assert a == b != c


def test_a_plan_without_an_engine_makes_a_copy_too(tmp_path, letters):
    plan, own = plan_of("-", str(letters))
    make_copy(plan, tmp_path, Conditions(resolution=SMALL), photos=1, plan_file=own)
    copy = load_copy(tmp_path)
    assert copy.game == "letters" and (tmp_path / "plan.toml").is_file()
    shown = Counter(
        k
        for n in (1, 2)
        for c in json.loads((tmp_path / f"sampler-{n}.json").read_text()).values()
        for k in c
    )
    assert min(shown[k] for k in "AEIQÜ") >= 2


def test_no_drawing_needs_no_plan_of_its_own_kind():
    plan = parse_plan(
        {
            "game": "dots",
            "size": [100, 100],
            "piece": [{"kind": "stone:black", "size": 20}],
            "site": [
                {
                    "id": "heap",
                    "reads": "cluster",
                    "outline": [[10, 10], [90, 10], [90, 90], [10, 90]],
                }
            ],
        }
    )
    layout = random_layout(plan, (), random.Random(2))
    top = Tabletop(plan, art_for(plan))
    top.lay({"heap": ["stone:black"] * 4})
    assert len(top.scene().things) == 4 and set(layout) <= {"heap"}


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["nogame", "x"], "nogame"),
        (["-", "x", "--plan", "none.toml"], "none.toml"),
        (["-", "x", "--resolution", "big"], "1920x1080"),
    ],
)
def test_wrong_arguments_get_one_line_and_exit_code_2(arguments, words, tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "companion.simulate", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode == 2 and words in run.stderr and "Traceback" not in run.stderr
