"""The empty board put together from photos of positions."""

import cv2
import msgspec
import numpy as np
import pytest

from calibration.empty_board.reconstruct import (
    as_dark,
    reconstruct_empty_board,
    with_empty_board,
)
from calibration.survey.registrar_fit import fit_registrar
from tests.support.studio import DOTS, Studio
from vision.geometry.pose import Pose
from vision.geometry.posed_photo import Shot
from vision.plan import parse_plan

SQUARE, COUNT, EDGE = 20, 8, 10
COLOURS = {
    "plain": (90, 120, 60),
    "double": (170, 140, 230),
    "triple": (60, 60, 200),
    "pale": (200, 190, 120),
}
RED = (40, 60, 200)


def printed(column: int, row: int) -> str:
    """As on a scrabble board: squares of four prints, the same mirrored and turned"""
    x, y = (min(n, COUNT - 1 - n) for n in (column, row))
    return (
        "triple" if x == y == 0 else "double" if x == y else "pale" if {x, y} == {0, 2} else "plain"
    )


def drawn() -> tuple[np.ndarray, dict]:
    size = 2 * EDGE + COUNT * SQUARE
    rng = np.random.default_rng(3)
    canvas = np.full((size * DOTS, size * DOTS, 3), (70, 80, 50), np.uint8)
    sites = []
    for row in range(COUNT):
        for column in range(COUNT):
            x, y = EDGE + SQUARE * column, EDGE + SQUARE * row
            cv2.rectangle(
                canvas,
                (x * DOTS, y * DOTS),
                ((x + SQUARE) * DOTS, (y + SQUARE) * DOTS),
                COLOURS[printed(column, row)],
                -1,
            )
            cv2.rectangle(
                canvas,
                (x * DOTS, y * DOTS),
                ((x + SQUARE) * DOTS, (y + SQUARE) * DOTS),
                (30, 40, 30),
                2,
            )
            corners = [[x, y], [x + SQUARE, y], [x + SQUARE, y + SQUARE], [x, y + SQUARE]]
            sites.append({"id": f"{'ABCDEFGH'[column]}{row + 1}", "outline": corners})
    canvas = np.clip(canvas + rng.normal(0, 2, canvas.shape), 0, 255).astype(np.uint8)
    return canvas, {
        "game": "drawn",
        "size": [size, size],
        "site": sites,
        "piece": [{"kind": "tile", "size": [18, 18], "height": 4, "count": 40}],
    }


@pytest.fixture(scope="module")
def table():
    canvas, plan = drawn()
    return Studio(parse_plan(plan), canvas)


def photo(table, pose, sites, light=1.0) -> Shot:
    return Shot(
        table.film(pose, {s: RED for s in sites}, light), {s: ("tile",) for s in sites}, pose
    )


def shown_at(table, shot, site) -> np.ndarray:
    """(3,) the colour in a site's middle"""
    x, y = table.plan.sites[site].centre
    return shot.pose.rectify(shot.image, x - 6, y - 6, x + 6, y + 6, 2).reshape(-1, 3).mean(0)


def test_sites_show_what_any_photo_has_of_them_bare_and_else_what_is_printed_alike(table):
    pose, other = table.pose(), table.pose(turn=4, tilt=12)
    # of all prints; covered in both photos, in one
    always, once = {"A1", "D4", "H6", "C6"}, {"B2", "G7", "E8", "F4"}
    shots = [
        photo(table, pose, always | once, 0.8),
        photo(table, other, always | {"A5", "F1", "C3", "E2", "G2"}, 1.1),
    ]
    made = reconstruct_empty_board(table.plan, shots)
    true = table.film(made.pose, {}, 0.8 if made.pose is pose else 1.1)
    truth = msgspec.structs.replace(made, image=true)
    assert set(made.guessed) == always and not made.layout
    for site in table.plan.sites:
        off = np.abs(
            np.log((shown_at(table, made, site) + 8) / (shown_at(table, truth, site) + 8))
        ).max()
        assert off < 0.12, f"{site} is {off:.2f} off what it shows when it is empty"
    assert max(made.guessed.values()) < 0.2, (
        "mirrored squares of this board are alike, and it is told so"
    )


def test_a_lamp_mirrored_in_one_photo_is_not_taken_for_print(table):
    pose, other = table.pose(), table.pose(turn=4, tilt=12)
    # the lamp stands over D4, which is bare in both, and D5, on which a tile lies in the other
    shots = [photo(table, pose, {"A1"}), photo(table, other, {"D5", "A1", "H8"})]
    truth = table.film(pose, {}, 1.0)
    middle = table.plan.sites["D4"].centre + (0, SQUARE / 2)
    x, y = np.meshgrid(np.arange(pose.size[0]), np.arange(pose.size[1]))
    mm = pose.to_mm(np.stack([x, y], -1).reshape(-1, 2)).reshape(*x.shape, 2)
    lamp = np.exp(-0.5 * (np.linalg.norm(mm - middle, axis=2) / 12) ** 4)[..., None]
    shots[0].image[:] = np.maximum(shots[0].image, np.rint(235 * lamp).astype(np.uint8))
    made = reconstruct_empty_board(table.plan, shots)
    bare = msgspec.structs.replace(made, image=truth)
    assert made.pose is pose
    for site in ("D4", "D5", "C4", "E5", "F6"):
        off = np.abs(
            np.log((shown_at(table, made, site) + 8) / (shown_at(table, bare, site) + 8))
        ).max()
        assert off < 0.25, f"{site} is {off:.2f} off what it shows when no lamp is mirrored on it"


def test_a_photo_of_the_empty_board_is_taken_as_it_is(table):
    pose = table.pose()
    empty = photo(table, pose, set())
    laid = photo(table, pose, {"A1"})
    assert with_empty_board(table.plan, [laid, empty]) == [laid, empty]
    kept, made = with_empty_board(table.plan, [laid])
    assert kept is laid and not made.layout


def test_one_photo_of_rows_of_pieces_tells_the_whole_of_a_chequered_board():
    canvas, plan = drawn()
    for row, column in np.ndindex(COUNT, COUNT):
        x, y = ((EDGE + SQUARE * v) * DOTS for v in (column, row))
        canvas[y : y + SQUARE * DOTS, x : x + SQUARE * DOTS] = (
            (60, 90, 120) if (row + column) % 2 else (150, 190, 210)
        )
    table = Studio(parse_plan(plan), canvas)
    pose, rows = table.pose(), {s for s in table.plan.sites if s[1] in "1278"}
    made = reconstruct_empty_board(table.plan, [photo(table, pose, rows)])
    truth = msgspec.structs.replace(made, image=table.film(pose, {}))
    assert set(made.guessed) == rows
    for site in rows:
        assert (
            np.abs(
                np.log((shown_at(table, made, site) + 8) / (shown_at(table, truth, site) + 8))
            ).max()
            < 0.12
        )


def test_where_no_print_is_like_another_it_is_told_that_nothing_is_known():
    canvas, plan = drawn()
    rng = np.random.default_rng(5)
    for row, column in np.ndindex(COUNT, COUNT):
        x, y = ((EDGE + SQUARE * v) * DOTS for v in (column, row))
        canvas[y : y + SQUARE * DOTS, x : x + SQUARE * DOTS] = rng.integers(20, 230, 3)
    table = Studio(parse_plan(plan), canvas)
    made = reconstruct_empty_board(table.plan, [photo(table, table.pose(), {"C3", "F6"})])
    assert set(made.guessed) == {"C3", "F6"} and min(made.guessed.values()) > 0.3


def test_beyond_a_pictures_edge_nothing_is_shown_bare(table):
    pose = table.pose()
    edge = pose.to_px(np.array([[EDGE + 2.5 * SQUARE, EDGE + 4.0 * SQUARE]]))[0, 0]
    # ends among the third column
    cut = msgspec.structs.replace(pose, K=pose.K - [[0, 0, edge], [0, 0, 0], [0, 0, 0]])
    made = reconstruct_empty_board(
        table.plan, [photo(table, pose, {"B4", "F4"}), photo(table, cut, {"F2", "G6", "H4"})]
    )
    assert set(made.guessed) == {"B4"}, "of F4 the second photo tells"


def test_cards_in_every_photo_lie_on_what_is_round_about():
    canvas, plan = drawn()
    canvas[:] = (70, 80, 50)
    plan["site"] = [
        {**s, "reads": "cluster"} for s in plan["site"] if s["id"] in {"C3", "D3", "C4", "D4", "G7"}
    ]
    table = Studio(parse_plan(plan), canvas)
    pose = table.pose()
    made = reconstruct_empty_board(
        table.plan,
        [
            photo(table, pose, {"C3", "D3", "C4", "D4"}),
            photo(table, pose, {"C3", "D3", "C4", "D4", "G7"}, 0.9),
        ],
    )
    for site in table.plan.sites:
        assert (
            np.abs(np.log((shown_at(table, made, site) + 8) / (np.array([70, 80, 50]) + 8))).max()
            < 0.25
        ), site


def test_sites_of_other_tags_are_not_printed_alike():
    canvas, plan = drawn()
    for s in plan["site"]:
        column, row = "ABCDEFGH".index(s["id"][0]), int(s["id"][1]) - 1
        if row in (2, 5):
            s["tags"] = ["river"] if row == 2 else ["road"]
            y, x = ((EDGE + SQUARE * v) * DOTS for v in (row, column))
            canvas[y : y + SQUARE * DOTS, x : x + SQUARE * DOTS] = (
                (200, 120, 40) if row == 2 else (60, 70, 80)
            )
    table = Studio(parse_plan(plan), canvas)
    pose = table.pose()
    made = reconstruct_empty_board(table.plan, [photo(table, pose, {"C3", "F6"})])
    for site, colour in {"C3": (200, 120, 40), "F6": (60, 70, 80)}.items():
        assert (
            np.abs(np.log((shown_at(table, made, site) + 8) / (np.array(colour) + 8))).max() < 0.15
        ), site


def test_what_is_printed_below_pieces_in_all_photos_belongs_to_the_map(table):
    poses, always = (
        [table.pose(), table.pose(turn=5, tilt=12)],
        {"C3", "D3", "C4", "D4", "C5", "D5"},
    )
    shots = [
        photo(table, pose, always | some)
        for pose, some in zip(poses, ({"B7", "G2"}, {"A1", "F6", "H5"}))
    ]
    corners = [poses[0].to_px(table.plan.corners) + 2, None]
    registrar, found = fit_registrar(
        table.plan, [s.image for s in shots], corners, False, [s.layout for s in shots]
    )
    spots = registrar.printed.mm(registrar.printed.spots) - EDGE
    inside = (spots > [2 * SQUARE, 2 * SQUARE]) & (spots < [4 * SQUARE, 5 * SQUARE])
    assert inside.all(1).any(), "where squares meet below tiles"
    for pose, truth in zip(found, poses):
        assert (
            np.linalg.norm(
                pose.to_px(table.plan.corners) - truth.to_px(table.plan.corners), axis=1
            ).max()
            < 0.5
        )


def fields(*pieces: tuple[str, str, int, int]) -> tuple[np.ndarray, dict]:
    """A table of twelve fields with two trees each, on the first two farther down, and the plan;
    pieces: (site, kind, mm across, mm down from the site's corner)"""
    rng = np.random.default_rng(4)
    canvas, sites = np.full((170 * DOTS, 220 * DOTS, 3), (150, 200, 220), np.uint8), []
    for n in range(12):
        x, y = 10 + 50 * (n % 4), 10 + 50 * (n // 4)
        cv2.rectangle(
            canvas, (x * DOTS, y * DOTS), ((x + 50) * DOTS, (y + 50) * DOTS), (70, 160, 90), -1
        )
        for tree in (15, 35):
            cv2.circle(
                canvas,
                ((x + tree) * DOTS, (y + (20 if n < 2 else 12)) * DOTS),
                5 * DOTS,
                (30, 60, 30),
                -1,
            )
        sites.append(
            {
                "id": f"F{n + 1}",
                "reads": "cluster",
                "outline": [[x, y], [x + 50, y], [x + 50, y + 50], [x, y + 50]],
            }
        )
        for kind, across, down in (p[1:] for p in pieces if p[0] == f"F{n + 1}"):
            at = ((x + across) * DOTS, (y + down) * DOTS)
            if kind == "disc":
                cv2.circle(canvas, at, 8 * DOTS, (40, 60, 200), -1)
            else:
                cv2.rectangle(
                    canvas,
                    tuple(np.subtract(at, 24 * DOTS)),
                    tuple(np.add(at, 24 * DOTS)),
                    (200, 120, 40),
                    -1,
                )
    canvas = np.clip(canvas + rng.normal(0, 2, canvas.shape), 0, 255).astype(np.uint8)
    kinds = [
        {"kind": "disc", "size": 16, "height": 3, "count": 9},
        {"kind": "card", "size": [48, 48], "height": 1, "count": 9},
    ]
    return canvas, {"game": "fields", "size": [220, 170], "site": sites, "piece": kinds}


def test_a_field_shows_its_print_beside_what_lies_loose_on_it_in_one_photo():
    """F1 and F2 have a disc in one photo and a card in the other; what lies on the others is a disc
    here and there"""
    everywhere = [(f"F{n}", "disc", 12, 38) for n in range(3, 13)]
    lies = [
        [("F1", "disc", 25, 40), ("F2", "card", 25, 25), *everywhere],
        [
            ("F1", "card", 25, 25),
            ("F2", "disc", 15, 40),
            *((f, k, 50 - x, y) for f, k, x, y in everywhere),
        ],
    ]
    shots = []
    for pieces in lies:
        canvas, plan = fields(*pieces)
        table = Studio(parse_plan(plan), canvas)
        shots.append(
            Shot(table.film(table.pose(), {}), {f: (kind,) for f, kind, *_ in pieces}, table.pose())
        )
    made = reconstruct_empty_board(table.plan, shots)
    for site in ("F1", "F2"):
        for place, colour in {
            (15, 20): (30, 60, 30),
            (35, 20): (30, 60, 30),
            (25, 40): (70, 160, 90),
            (25, 20): (70, 160, 90),
        }.items():
            at = np.min(table.plan.sites[site].outline, axis=0) + place
            seen = made.pose.rectify(made.image, *(at - 2), *(at + 2), 2).reshape(-1, 3).mean(0)
            assert np.abs(np.log((seen + 8) / (np.array(colour) + 8))).max() < 0.25, (
                site,
                place,
                seen,
            )


DRAWN_SITES = [
    ("P1", "pile", 20, 20, 26),
    ("P2", "pile", 50, 20, 26),
    ("F1", "cluster", 100, 20, 60),
]
DRAWN = parse_plan(
    {
        "game": "drawn",
        "size": [180, 120],
        "piece": [{"kind": k, "size": 18, "height": 2} for k in ("stone", "coin")]
        + [{"kind": "lid", "size": 9, "height": 4}],
        "site": [
            {"id": s, "reads": reads, "outline": [[x, y], [x + w, y], [x + w, y + w], [x, y + w]]}
            for s, reads, x, y, w in DRAWN_SITES
        ],
    }
)
PAINT = {"stone": (40, 50, 200), "coin": (220, 120, 40), "lid": (60, 160, 60)}
ABOVE = Pose(
    np.array([[900.0, 0, 360], [0, 900, 240], [0, 0, 1]]),
    np.zeros(4),
    np.zeros(3),
    np.array([-90.0, -60, 270]),
    (720, 480),
    "markers",
    0.3,
)


def sampler(name, *lying):
    """A board seen from straight above; lying: site, kind, (x, y) mm"""
    image = cv2.GaussianBlur(
        np.random.default_rng(len(name)).normal(180, 25, (480, 720, 3)).astype(np.float32),
        (0, 0),
        3,
    )
    layout = {}
    for site, kind, at in lying:
        ((x, y),) = ABOVE.to_px(np.array([at], float))
        cv2.circle(
            image,
            (round(x), round(y)),
            round(DRAWN.pieces[kind].footprint[0] / 2 * 3.4),
            PAINT[kind],
            -1,
            cv2.LINE_AA,
        )
        layout[site] = (*layout.get(site, ()), kind)
    return Shot(np.clip(image, 0, 255).astype(np.uint8), layout, ABOVE, name)


def test_the_empty_board_is_put_together_that_no_photo_showed():
    """Piles on squares and loose pieces on a field, from two samplers"""
    shots = [
        sampler(
            "sampler-1",
            ("P1", "stone", (33, 33)),
            ("F1", "stone", (115, 40)),
            ("F1", "coin", (140, 45)),
            ("F1", "lid", (130, 70)),
        ),
        sampler(
            "sampler-12",
            ("P1", "coin", (33, 33)),
            ("F1", "lid", (112, 38)),
            ("F1", "stone", (135, 60)),
        ),
    ]
    made = with_empty_board(DRAWN, shots)[-1]
    assert not made.layout and "P2" not in made.guessed
    assert made.guessed["P1"] > 0.3 > made.guessed["F1"], "no print is like that below both"


def test_nothing_is_darker_than_black():
    rng = np.random.default_rng(1)
    brighter = rng.uniform(40, 200, (64, 64, 3)).astype(np.float32)
    first = brighter - 38  # a camera with a deeper black
    brighter[:4] = 3.0  # what only this photo shows
    clear = np.ones((64, 64), np.float32)
    clear[:4] = 0
    assert as_dark(brighter, first, clear).min() >= 0
