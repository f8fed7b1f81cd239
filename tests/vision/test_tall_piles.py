"""Pieces that stand on piles are told by the network alone."""

import json

import cv2
import msgspec
import numpy as np
import pytest

from calibration.copy import BadCopy
from calibration.fit import calibrate_copy
from calibration.synthesis.batch import Shapes
from calibration.training.export import export_trunk
from calibration.training.teach import initial_weights
from tests.support.towers import SIDE, N, camera, photo, random_layout, towers_plan, towers_shots
from vision.evidence.site_evidence import UNSEEN
from vision.geometry.site_windows import Pyramid
from vision.learned.canvas import Canvas, CanvasPart
from vision.learned.groups import EMPTY, FOREIGN, group_sites
from vision.learned.reader import FOREIGN_SHOWN, LearnedReader
from vision.learned.sampling import close_up
from vision.photometry.palette_light import LightReference
from vision.photometry.room_light import small_view
from vision.reader import Reader


@pytest.fixture(scope="module")
def plan():
    return towers_plan()


@pytest.fixture(scope="module")
def untaught(plan):
    shots = towers_shots(plan, 2)
    view = Canvas.suited_to(plan, [s.pose for s in shots], 56.0)
    groups = group_sites(plan, [s.layout for s in shots])
    weights = initial_weights(Shapes.of(groups, (), view.scale), 3)
    view_of_empty = small_view(Pyramid(shots[0].image), shots[0].pose, plan.size)
    reference = LightReference.of(view_of_empty, plan.size)
    empty = np.full((*view.shape, 3), 4.5, np.float32)
    return LearnedReader(plan, view, groups, (), reference, empty, weights, export_trunk(weights))


def test_every_site_is_told(plan, untaught):
    rng, pose = np.random.default_rng(3), camera()
    image = photo(plan, random_layout(plan, rng, 6), pose, rng)
    reader = Reader(plan, None, untaught)
    assert reader.read_sites(image, pose) == untaught.read(image, pose)
    assert reader.read_sites(image, pose, {"11"}).keys() == {"11"}


def test_flat_sites_are_left_alone_where_only_tall_ones_are_asked_for(plan, untaught):
    (whole,) = untaught.groups
    tall = msgspec.structs.replace(whole, ids=whole.ids[:8])
    flat = msgspec.structs.replace(whole, ids=whole.ids[8:], tall=0.0, foot=0.0)
    weights = initial_weights(Shapes.of((tall, flat), (), untaught.view.scale), 3)
    both = LearnedReader(
        plan,
        untaught.view,
        (tall, flat),
        (),
        untaught.reference,
        untaught.empty,
        weights,
        untaught.graph,
    )
    image = photo(plan, {}, camera(), np.random.default_rng(6))
    assert both.read(image, camera(), set(tall.ids[:2])).keys() == set(tall.ids[:2])
    assert both.read(image, camera(), set(flat.ids[:2])).keys() == set(flat.ids[:2])
    assert both.read(image, camera()).keys() == set(whole.ids)


def test_a_site_beyond_the_picture_is_not_seen(plan, untaught):
    pose = camera()
    pose.tvec[0] += 150  # the board's right half lies beside the picture
    image = photo(plan, {}, pose, np.random.default_rng(4))
    found = Reader(plan, None, untaught).read_sites(image, pose)
    assert found["30"] is UNSEEN and found["00"] is not UNSEEN


def test_where_no_network_can_be_learnt_calibrating_says_so_at_once(plan, tmp_path, monkeypatch):
    squares = "".join(
        f'[[site]]\nid = "{s.id}"\noutline = {[list(map(float, c)) for c in s.outline]}\n'
        for s in plan.site
    )
    pieces = "".join(
        f'[[piece]]\nkind = "{p.kind}"\nsize = 24\nheight = {p.height}\n' for p in plan.piece
    )
    (tmp_path / "plan.toml").write_text(
        f'game = "towers"\nsize = {[N * SIDE, N * SIDE]}\n{squares}{pieces}', encoding="utf-8"
    )
    photos = ("empty", {}), ("sampler-1", {"11": ["tower"]})
    rng = np.random.default_rng(5)
    tapped = camera().to_px(plan.corners).round().tolist()
    lines = ['game = "towers"', 'plan = "plan.toml"', "markers = false"]
    for name, layout in photos:
        cv2.imwrite(str(tmp_path / f"{name}.jpg"), photo(plan, layout, camera(), rng))
        (tmp_path / f"{name}.json").write_text(json.dumps(layout), encoding="utf-8")
        lines += [
            "[[photo]]",
            f'file = "{name}.jpg"',
            f'layout = "{name}.json"',
            f"corners = {tapped}",
        ]
    (tmp_path / "copy.toml").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr("calibration.fit.can_learn", lambda: "jax")
    with pytest.raises(BadCopy, match="learning needs jax, which is not installed: make install"):
        calibrate_copy(tmp_path)
    assert not (tmp_path / "model.npz").exists()


def test_a_man_and_its_mirror_image_are_told_alike(plan, untaught, monkeypatch):
    rng, pose, view = np.random.default_rng(6), camera(), untaught.view
    image = photo(plan, random_layout(plan, rng, 6), pose, rng)
    window = (0, 0, *view.shape[::-1])
    light = untaught.reference.light_of(Pyramid(image), pose)
    part = CanvasPart(view.rectify(image, pose, light, window), window, pose)
    ids = [s.id for s in plan.site]
    told = untaught.classify_closely(0, ids, part)
    monkeypatch.setattr("vision.learned.sampling.close_up", lambda *seen: close_up(*seen)[::-1])
    assert untaught.classify_closely(0, ids, part) == pytest.approx(told, abs=1e-4)


def test_something_foreign_is_as_seldom_as_on_tables(plan, untaught):
    rng, pose, view = np.random.default_rng(7), camera(), untaught.view
    image = photo(plan, random_layout(plan, rng, 6), pose, rng)
    window = (0, 0, *view.shape[::-1])
    light = untaught.reference.light_of(Pyramid(image), pose)
    part = CanvasPart(view.rectify(image, pose, light, window), window, pose)
    shown = []
    look = untaught.classify_pictures
    untaught.classify_pictures = lambda *asked: shown.append(look(*asked)) or shown[-1]
    told = untaught.classify_closely(0, [s.id for s in plan.site], part)
    del untaught.classify_pictures
    before = np.mean(shown, 0)
    odds = (v[:, FOREIGN] - v[:, EMPTY] for v in (before, told))
    assert np.subtract(*odds) == pytest.approx(FOREIGN_SHOWN, abs=1e-4)
