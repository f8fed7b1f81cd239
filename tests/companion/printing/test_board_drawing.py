"""The drawn twin's data: every site and kind of every game's plan, places for pieces inside their
sites."""

import gzip
import json
from importlib import resources

import numpy as np
import pytest

import engine
from companion.printing.board_drawing import Drawing, board_drawing, drawn_shape, free_spots
from engine.game import Statement
from vision.plan import BadPlan, load_plan

FOLDERS = sorted(
    f.name for f in resources.files("engine").iterdir() if f.joinpath("plan.toml").is_file()
)


def plan_of(game):
    return load_plan(str(resources.files(f"engine.{game}").joinpath("plan.toml")))


@pytest.mark.parametrize("game", FOLDERS)
def test_every_site_and_kind_is_drawn(game):
    plan = plan_of(game)
    made = board_drawing(game, plan)
    assert set(made["sites"]) == set(plan.sites) and set(made["pieces"]) == set(plan.pieces)
    assert all(piece["shapes"] and piece["name"]["t"] for piece in made["pieces"].values())
    assert all(
        ("d" in s) + ("c" in s) + ("t" in s) == 1
        for p in made["pieces"].values()
        for s in p["shapes"]
    )
    json.dumps(made)


def test_what_a_turned_card_may_show_is_drawn_on_its_buttons():
    state = engine.game("nile").setup(
        ["red", "blue"],
        [
            Statement(n, tuple(line.split()))
            for n, line in enumerate(
                ["layout clear", "layout L4.1 water:12 L5.1 water:22", "tide ebb1", "phase tide"]
            )
        ],
    )
    choices = state.apply(state.parse("red: ebb L4.1")).decision().choices
    faces = board_drawing("nile", plan_of("nile"))["faces"]
    assert len(choices) == 14 and all(faces[c.picture]["shapes"] for c in choices)
    assert len({json.dumps(f["shapes"]) for f in faces.values()}) == 14


@pytest.mark.parametrize(
    ("game", "kind", "seat"),
    [
        ("tigris", "leader:bull:black", "bull"),
        ("tigris", "monument:black-red", None),
        ("nile", "rotten:white:flax", "white"),
        ("nile", "water:12", None),
        ("ur", "black", "black"),
        ("ur", "tile:war/trade", None),
        ("deluge", "ship:green", "green"),
    ],
)
def test_a_piece_is_the_seats_that_its_name_says(game, kind, seat):
    assert board_drawing(game, plan_of(game))["pieces"][kind]["seat"] == seat


@pytest.mark.parametrize("game", FOLDERS)
def test_loose_pieces_lie_inside_their_site(game):
    for site in plan_of(game).site:
        if site.reads == "cluster":
            box = np.array(site.outline)
            at = np.array(free_spots(site.outline, 12.0))
            assert len(at) and (at >= box.min(0)).all() and (at <= box.max(0)).all(), site.id
            assert len({tuple(p) for p in at}) == len(at)


def test_spots_of_a_crooked_cell_are_inside_it():
    """An L: the middle of its box is outside."""
    outline = [(0, 0), (100, 0), (100, 30), (30, 30), (30, 100), (0, 100)]
    for x, y in free_spots(outline, 15):
        assert (0 <= x <= 100 and 0 <= y <= 30) or (0 <= x <= 30 and 0 <= y <= 100)


def test_a_plan_without_drawings_of_its_own_gets_letters(tmp_path):
    (tmp_path / "plan.toml").write_text(
        'game = "checkers"\nsize = [20, 20]\n[[piece]]\nkind = "man"\nsize = 8\n'
        '[[site]]\nid = "a1"\noutline = [[0, 0], [10, 0], [10, 10], [0, 10]]\n'
    )
    made = board_drawing("checkers", load_plan(tmp_path / "plan.toml"))
    assert (
        made["board"]
        and made["pieces"]["man"]["shapes"]
        and made["pieces"]["man"]["name"] == {"t": "man"}
    )


def test_a_copys_own_plan_is_drawn_and_a_broken_one_refused(tmp_path):
    text = resources.files("engine.tigris").joinpath("plan.toml").read_text()
    (tmp_path / "plan.toml").write_text(text.replace("size = [520, 370]", "size = [600, 400]", 1))
    body, _ = Drawing(tmp_path / "plan.toml").of({"game": "tigris"})
    assert json.loads(gzip.decompress(body))["size"] == [600, 400]
    (tmp_path / "plan.toml").write_text("game = ")
    with pytest.raises(BadPlan, match="plan.toml"):
        Drawing(tmp_path / "plan.toml")


def test_texts_of_drawings_are_text():
    assert (
        drawn_shape(
            {"p": "text", "at": [1, 2], "text": "<b>", "size": 3, "turn": 0, "fill": "#000000"}
        )["t"]
        == "<b>"
    )
