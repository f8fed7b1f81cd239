"""Loose pieces are found wherever they lie, also between the places looked at first."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

import vision.readers.loose.pieces.search
from vision.geometry.pose import Pose
from vision.photometry.canvas import Frame, Lean
from vision.readers.loose.pieces.fit import Fine, Piece
from vision.readers.loose.pieces.search import Net, find, kits_of
from vision.readers.loose.reader import ClusterReader
from vision.readers.loose.scene.polar_patches import SCORE_NOISE, Form, Rings
from vision.readers.loose.scene.scene import FOLD, Scene

SCALE = 1.7
DISC = Form((14.0, 14.0), 2.0, True)
GROUND, PALE, DARK = 150, 205, 30


def bold(xy):
    """(...) grey levels of a pale disc with a dark bar and a dark spot, at (..., 2) mm off its
    middle"""
    x, y = xy[..., 0], xy[..., 1]
    dark = ((np.abs(y - 2.5) < 1.8) & (np.abs(x) < 4)) | (np.hypot(x, y + 2.5) < 2)
    return np.where(dark, DARK, PALE)


def look():
    """As a reader would have learnt it of discs not laid quite in the middle"""
    rings = Rings.around(DISC, SCALE)
    grey = np.mean(
        [bold(rings.offsets + shift) for shift in np.random.default_rng(1).normal(0, 0.4, (60, 2))],
        0,
    )
    return np.repeat(grey[None, ..., None], 3, 3).astype(np.float32)


@pytest.fixture(scope="module")
def kits():
    return kits_of([Fine(DISC, SCALE, ["person"], look())])


def filmed(discs, shadow=1.0):
    """A grey board of 190 x 140 mm; discs: (x, y, turn); shadow: what the light loses 2 mm to the
    right of and below each"""
    frame = Frame(0.0, 0.0, SCALE, 324, 238)
    K = np.array([[800, 0, 160], [0, 800, 120], [0, 0, 1.0]])
    lean = Lean(Pose(K, np.zeros(4), np.zeros(3), np.array([-95.0, -70.0, 900.0]), (190, 140)))
    fine = 4
    grey = np.full((238 * fine, 324 * fine), GROUND, np.float32)
    for x, y, _ in discs if shadow < 1 else ():
        middle = frame.to_px(np.array([x + 2, y + 2])) * fine
        cv2.circle(
            grey, (int(middle[0]), int(middle[1])), int(7 * SCALE * fine), GROUND * shadow, -1
        )
    for x, y, turn in discs:
        top = np.array([x, y]) + lean.shift(np.array([[x, y]]), DISC.height)[0]
        lo = (frame.to_px(top - 8) * fine).astype(int)
        px = lo + np.stack(np.meshgrid(np.arange(28 * fine), np.arange(28 * fine)), -1)
        c, s = np.cos(turn), np.sin(turn)
        off = (frame.to_mm((px + 0.5) / fine - 0.5) - top) @ np.array([[c, -s], [s, c]])
        there = px[DISC.inside(off) > 0]
        grey[there[:, 1], there[:, 0]] = bold(off[DISC.inside(off) > 0])
    grey = cv2.GaussianBlur(cv2.resize(grey, (324, 238), interpolation=cv2.INTER_AREA), (0, 0), 0.7)
    off = np.abs(grey - GROUND)
    seen = (
        (grey[..., None] + np.random.default_rng(2).normal(0, 4, (238, 324, 3)))
        .clip(0, 255)
        .astype(np.uint8)
    )
    ground = np.full((238, 324, 3), GROUND, np.uint8)
    strange = cv2.resize(
        ((off / 6 - 2) / 3).clip(0, 1), (324 // FOLD, 238 // FOLD), interpolation=cv2.INTER_AREA
    )
    return Scene(
        frame,
        lean,
        seen,
        ground,
        np.full((238, 324), 1 / (6**2 + SCORE_NOISE**2), np.float32),
        strange,
        np.ones((11, 15, 3), np.float32),
    )


def sure(scene, kits):
    return [p for p in find(scene, kits, np.ones_like(scene.strange, np.uint8)) if p.chance > 0.5]


def test_boldly_printed_pieces_are_found_wherever_they_lie(kits):
    rng = np.random.default_rng(3)
    for _ in range(3):
        places = [
            (20 + 25 * i + rng.uniform(-3, 3), 20 + 25 * j + rng.uniform(-3, 3))
            for i in range(7)
            for j in range(5)
        ]
        found = sure(filmed([(x, y, rng.uniform(0, 2 * np.pi)) for x, y in places]), kits)
        assert [p.kind for p in found] == ["person"] * len(places)
        for x, y in places:
            assert min(np.hypot(*(p.foot - (x, y))) for p in found) < 1


def test_places_of_a_net_near_others_are_those_that_are_measured_near():
    rng, scene = np.random.default_rng(8), filmed([])
    net = Net(
        scene,
        (rng.random(scene.strange.shape) < 0.7).astype(np.float32),
        3.0,
        np.ones_like(scene.strange, np.uint8),
        0.42,
        0.4,
    )
    assert 100 < len(net.at) < np.prod(net.shape)
    for radius in (0.2, 1.05, 4.0):
        at = rng.uniform((-5, -5), (195, 145), (60, 2))
        assert np.array_equal(
            net.near(at, radius), (np.linalg.norm(net.at[:, None] - at, axis=2) <= radius).any(1)
        )
    assert not net.near(np.empty((0, 2)), 1.0).any()


def test_what_no_piece_explains_is_not_searched_for_ever(kits, monkeypatch):
    """A sleeve over half a board of discs: they are found where it does not lie, and it is given up"""
    discs, looked, before = (
        [(25 + 35 * i, 25 + 30 * j, 0.3 * i) for i in range(5) for j in range(4)],
        [],
        vision.readers.loose.pieces.search.refined,
    )

    def refined(scene, fine, at, *more):
        looked.append(len(at))
        return before(scene, fine, at, *more)

    monkeypatch.setattr(vision.readers.loose.pieces.search, "refined", refined)
    monkeypatch.setattr(vision.readers.loose.pieces.search, "VAIN", 15)
    assert len(sure(filmed(discs), kits)) == 20

    def under_a_sleeve():
        rng = np.random.default_rng(5)
        # one printed over the other
        print_ = [(*rng.uniform((105, 15), (175, 125)), rng.uniform(0, 6)) for _ in range(400)]
        return filmed([*discs, *print_])

    looked.clear()
    found = sure(under_a_sleeve(), kits)
    least = sum(looked)
    clear = [d for d in discs if d[0] < 85]
    assert all(min(np.hypot(*(p.foot - (x, y))) for p in found) < 1 for x, y, _ in clear)
    monkeypatch.setattr(vision.readers.loose.pieces.search, "VAIN", 10**6)
    looked.clear()
    sure(under_a_sleeve(), kits)
    assert least < 0.7 * sum(looked), "it would have gone on"


def test_a_disc_that_figures_would_explain_badly_is_a_disc(kits):
    reader = ClusterReader.__new__(ClusterReader)
    reader.kits, reader.plan = kits, SimpleNamespace(pieces={"peg": SimpleNamespace(count=1)})
    scene = filmed([(60, 60, 0.4), (120, 60, 1.0)])
    peg = Form((10.0, 10.0), 22.0, True)
    whole = sure(filmed([(60, 60, 0.4)]), kits)[0].gain

    def figure(at, gain, ideal):
        return Piece(
            peg, np.array(at), np.array(at), 0.0, ("peg",), np.array([gain]), 0, ideal, ideal
        )

    odd, other, alone = (
        figure((57.0, 58.0), 0.4 * whole, 0.3 * whole),
        figure((64.0, 61.0), 0.3 * whole, 0.2 * whole),
        figure((30.0, 100.0), 300.0, 200.0),
    )
    assert reader.lying_flat(scene, [odd, other, alone]) == [odd, other]
    fitting = figure((57.0, 58.0), 0.4 * whole, 0.42 * whole)
    assert reader.lying_flat(scene, [fitting, alone]) == [], (
        "what fits as figures do is one where the ground shows through a disc"
    )
    x, y = np.round(scene.frame.to_px(np.array([60.0, 60.0])) / FOLD).astype(int).tolist()
    cv2.circle(scene.strange, (x, y), round(7 * SCALE / FOLD), 1.0, -1)
    assert reader.lying_flat(scene, [fitting, alone]) == [fitting], (
        "a disc's print may fit as well as figures do"
    )
    assert reader.lying_flat(scene, [figure((90.0, 100.0), 0.4 * whole, 0.42 * whole)]) == [], (
        "where no disc lies it is a figure"
    )
    pair = [
        figure((57.0, 58.0), 0.8 * whole, 0.8 * whole),
        figure((64.0, 61.0), 0.7 * whole, 0.7 * whole),
    ]
    assert reader.lying_flat(scene, pair) == pair, "there is but one"
    assert reader.lying_flat(scene, [figure((57.0, 58.0), 1.2 * whole, 0.9 * whole)]) == [], (
        "nor what explains more than a disc"
    )


def test_a_shadow_beside_a_piece_is_no_piece_under_it():
    dark = np.full_like(look(), GROUND * 0.5)
    both = kits_of([Fine(DISC, SCALE, ["person", "coal"], np.concatenate([look(), dark]))])
    rng = np.random.default_rng(4)
    scene = filmed(
        [(25 + 35 * i, 25 + 30 * j, rng.uniform(0, 6)) for i in range(5) for j in range(4)],
        shadow=0.35,
    )
    found = find(scene, both, np.ones_like(scene.strange, np.uint8))
    assert [p.kind for p in found if p.chance > 0.5] == ["person"] * 20
    assert max((p.chance for p in found if p.kind == "coal"), default=0) < 0.02
