"""Pieces that samplers show only on sites of another sort, and how a piece lies that was not laid
straight."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from calibration.readers.pile.exemplars import exemplars
from vision.readers.pile.classifier import Stage
from vision.readers.pile.exemplar import Exemplar
from vision.readers.pile.fine_match import Fine, cut_field
from vision.readers.pile.orientation import STEPS, degrees_apart, off_straight, split

from vision.geometry.posed_photo import Lying, Shot
from vision.plan import parse_plan

FACES = {
    "seed:white:fan": (200, 60),
    "seed:yellow:bar": (150, 140),
    "seed:yellow:fan": (150, 140),
    "seed:white:star": (200, 60),
    "seed:yellow:star": (150, 90),
}
PLAN = parse_plan(
    {
        "game": "drawn",
        "size": [260, 182],
        "piece": [
            {"kind": "stone", "size": 18, "height": 2},
            {"kind": "coin", "size": 18, "height": 2},
            {"kind": "lid", "size": 9, "height": 4},
        ]
        + [
            p
            for k in FACES
            for p in (
                {"kind": k, "size": 18},
                {"kind": k.replace("seed", "rotten"), "size": 18, "looks": k, "turned": 45},
            )
        ],
        "site": [
            {
                "id": s,
                "reads": reads,
                "tags": tags,
                "outline": [[x, y], [x + w, y], [x + w, y + w], [x, y + w]],
            }
            for s, reads, tags, x, y, w in (
                ("P1", "pile", [], 30, 30, 26),
                ("P2", "pile", [], 60, 30, 26),
                ("F1", "cluster", [], 120, 40, 60),
                ("T1", "pile", ["tide"], 30, 100, 20),
                ("T2", "pile", ["tide"], 70, 100, 40),
            )
        ],
    }
)
STONE, COIN, LID = (40, 50, 200), (220, 120, 40), (60, 160, 60)


def film(tools, pieces):
    """A photo of the board with discs on it: ((x, y) mm, diameter, height, colour) each; and where
    it was taken from"""
    studio = tools.Studio(
        PLAN, np.full((182 * tools.DOTS, 260 * tools.DOTS, 3), (150, 190, 205), np.uint8)
    )
    pose = studio.pose(fill=0.9, size=(1230, 924))
    image = studio.film(pose)
    u = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    for at, size, height, colour in pieces:
        ring = np.array(at) + size / 2 * np.column_stack([np.cos(u), np.sin(u)])
        cv2.fillPoly(
            image, [np.rint(pose.to_px(ring, height) * 16).astype(np.int32)], colour, cv2.LINE_AA, 4
        )
    return image, pose


def test_pieces_are_learnt_from_wherever_they_lie(tools):
    empty, pose = film(tools, [])
    image, _ = film(
        tools,
        [
            ((43, 43), 18, 2, STONE),
            ((141, 60), 18, 2, STONE),
            ((160, 61), 18, 2, COIN),
            ((40, 110), 9, 4, LID),
        ],
    )
    layout = {"P1": ("stone",), "F1": ("stone", "coin"), "T1": ("lid",)}
    lying = [
        Lying(1, "F1", "stone", np.array([141.0, 60]), 0.0),
        Lying(1, "F1", "coin", np.array([160.0, 61]), 0.0),
    ]
    found = {
        group.ids: {(e.contents, e.borrowed): e for e in pieces}
        for group, pieces in exemplars(
            PLAN, [Shot(empty, {}, pose), Shot(image, layout, pose)], lying
        )
    }
    assert set(found["P1", "P2"]) == {(("stone",), False), (("stone",), True), (("coin",), True)}
    # no piece lay on T2: what lies on sites of its sort may
    assert set(found["T2",]) == {(("lid",), True)}
    for pieces in found.values():
        for e in pieces.values():
            m = len(e.picture)
            middle = np.exp(
                e.picture[m // 2 - 2 : m // 2 + 3, m // 2 - 2 : m // 2 + 3].mean((0, 1))
            )
            colour = {"stone": STONE, "coin": COIN, "lid": LID}[e.contents[0]]
            assert np.corrcoef(middle, colour)[0, 1] > 0.98


def face(kind, degrees):
    """(70, 70, 3) log colours of a token: a fan or a bar, bold on white and faint on yellow; turned
    clockwise as seen"""
    paper, ink = FACES[kind.replace("rotten", "seed")]
    picture = np.full((280, 280), 110.0, np.float32)
    cv2.circle(picture, (140, 140), 100, paper, -1)
    if kind.endswith("star"):
        for each in range(0, 360, 45):
            out = np.array([np.cos(np.radians(each)), np.sin(np.radians(each))])
            across = 14 * np.array([-out[1], out[0]])
            cv2.fillPoly(
                picture,
                [np.rint(140 + np.array([across, -across, 75 * out])).astype(np.int32)],
                ink,
            )
    elif kind.endswith("fan"):
        cv2.fillPoly(picture, [np.array([[140, 190], [90, 90], [190, 90]])], ink)
    else:
        cv2.rectangle(picture, (125, 80), (155, 200), ink, -1)
    turn = cv2.getRotationMatrix2D((139.5, 139.5), -degrees, 1)
    picture = cv2.warpAffine(picture, turn, (280, 280), borderMode=cv2.BORDER_REPLICATE)
    picture = cv2.resize(picture, (70, 70), interpolation=cv2.INTER_AREA)
    rng = np.random.default_rng(round(degrees) + len(kind))
    return np.log(np.repeat(picture[..., None], 3, 2) + 20 + rng.normal(0, 1, (70, 70, 3))).astype(
        np.float32
    )


def test_a_faint_print_is_laid_straight_by_a_bold_one_of_the_same_sign():
    pieces = [
        Exemplar((kind,), (18, 18), True, face(kind, degrees), 70 / 25.2, f"P{n}", 0, lent, "any")
        for n, (kind, degrees, lent) in enumerate(
            [
                ("seed:white:fan", 0, False),
                ("rotten:yellow:bar", 45, False),
                ("seed:yellow:fan", 70, True),
            ]
        )
    ]
    off = STEPS[off_straight(pieces, PLAN).argmax(1)]
    assert off[:2].tolist() == [0, 45] and abs(degrees_apart(off[2], 70)) < 8


@pytest.mark.parametrize("turned", [10, 25, 47, 70])
def test_a_print_that_looks_the_same_in_two_turns_leaves_both_likely(turned):
    pieces = [
        Exemplar((kind,), (18, 18), True, face(kind, degrees), 70 / 25.2, f"P{n}", 0, lent, "any")
        for n, (kind, degrees, lent) in enumerate(
            [("rotten:white:star", 45, False), ("seed:yellow:star", turned, True)]
        )
    ]
    lies = np.exp(off_straight(pieces, PLAN)[1])
    assert all(
        0.25 < lies[abs(degrees_apart(STEPS, straight)) < 12].sum() < 0.75
        for straight in (turned, turned + 45)
    )


def test_a_cut_out_that_lay_straight_tells_what_one_lent_in_two_ways_leaves_open():
    options, turn = {("seed",): 0.0, ("rotten",): 45.0}, np.array([[2.0, 47.0], [2.0, 47.0]])
    own = np.where(np.abs(degrees_apart(STEPS, 0)) < 4, 0.0, -30.0)
    either = np.log(np.where(np.isin(STEPS % 45, 0), 0.5, 1e-9))
    lent = split(options, turn[:1], np.array([[0.3, 0.9]]), either[None])
    both = split(options, turn, np.array([[0.3, 0.9], [0.4, 0.9]]), np.stack([either, own]))
    assert abs(lent["seed",] - lent["rotten",]) < 0.1 and both["seed",] > np.log(0.95)


@pytest.mark.parametrize(
    "turned, shift", [(t, s) for t in (2, 47, 317) for s in ((0, 0), (4, -3), (-4, 2))]
)  # pixels
def test_a_piece_found_a_little_off_its_middle_still_tells_its_turn(turned, shift):
    kind = "seed:white:fan"
    fine = Fine.fit([Exemplar((kind,), (18, 18), True, face(kind, 0), 70 / 25.2, "P1", 0)], 40, 1.2)
    seen = np.roll(face(kind, turned), shift, (1, 0)) - 0.2  # darker, too
    field = cut_field(Exemplar((kind,), (18, 18), True, seen, 70 / 25.2, "P2", 0))
    one = np.zeros(1, int)
    lying = SimpleNamespace(field=field, site=one, champion=one[:, None], spot=np.zeros((1, 1, 2)))
    stage = SimpleNamespace(fine=fine, zero=np.zeros(1), owner=one)
    told = split({(kind,): 0.0, ("rotten:white:fan",): 45.0}, *Stage.ways(stage, lying, 0, 0))
    true = kind if turned == 2 else "rotten:white:fan"
    assert told[true,] > np.log(0.95)


def test_the_clearer_of_two_tells_where_the_other_lies(tools):
    empty, pose = film(tools, [])
    image, _ = film(
        tools,
        [
            ((43, 43), 18, 2, STONE),
            ((73, 43), 18, 2, STONE),
            ((73, 40), 7, 2, LID),
            ((43, 40), 7, 2, LID),
        ],
    )
    shots = [Shot(empty, {}, pose), Shot(image, {"P1": ("stone",), "P2": ("stone",)}, pose)]
    # 2 mm off
    known = [
        Lying(1, "P1", "stone", np.array([43.0, 43]), 0.0),
        Lying(1, "P2", "stone", np.array([75.2, 44.6]), 0.0),
    ]
    ((_, pieces),) = exemplars(PLAN, shots, known)
    one, other = (e.picture for e in sorted(pieces, key=lambda e: e.where))
    assert np.abs(one - other).mean() < 0.05
