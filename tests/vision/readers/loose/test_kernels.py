"""Each kernel does what numpy does beside it, and without a compiler numpy does it."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import cv2
import msgspec
import numpy as np
import pytest

import hatch_build
from vision import kernels
from vision.kernels import Kernel, numpy_only
from vision.photometry.canvas import Empty, Frame, pad_channels, remap_canvas, sample_canvas
from vision.readers.loose.cards.card_level import Level
from vision.readers.loose.cards.coarse_search import Rough
from vision.readers.loose.cards.hypotheses import Tries, bareness, settled, softly
from vision.readers.loose.pieces.blocks import side_gain
from vision.readers.loose.pieces.figures import TallLook, gains_of, upright
from vision.readers.loose.pieces.fit import Fine, approached, slid, weighed
from vision.readers.loose.pieces.fit_compare import best_at, compared
from vision.readers.loose.pieces.search import Kit, Net, strange_around
from vision.readers.loose.residual_blobs import Place, left_on
from vision.readers.loose.scene.compositing import Print, lay
from vision.readers.loose.scene.polar_patches import Form, Rings
from vision.readers.loose.scene.scene import FOLD, LIGHT_STEP, Scene, Stage
from vision.readers.loose.scene.softening import Softened

compiled = pytest.mark.skipif(
    not Kernel("built_from", ""), reason=f"kernels: {kernels.kernel_mode()}"
)


@compiled
@pytest.mark.parametrize(
    "shape, dtype", [((60, 80, 4), np.uint8), ((60, 80), np.float32), ((60, 80, 3), np.float32)]
)
def test_sampled_as_opencv_does(shape, dtype):
    rng = np.random.default_rng(1)
    canvas = (rng.random(shape) * 255).astype(dtype)
    px = rng.uniform((-9, -9), (89, 69), (7, 31, 2)).astype(np.float32)
    with numpy_only():
        wanted = sample_canvas(canvas, px)
    got = sample_canvas(canvas, px)
    assert got.shape == wanted.shape == (7, 31, min(canvas[0, 0].size, 3))
    off = np.abs(got - wanted)
    assert (off.max() <= 1 and (off > 0).mean() < 0.001) if dtype == np.uint8 else off.max() < 1e-3


@pytest.mark.parametrize(
    "canvas", [np.zeros((60, 80, 4), np.uint8), np.zeros((60, 80), np.float32)]
)
def test_nowhere_nothing_is_sampled(canvas):
    with numpy_only():
        assert sample_canvas(canvas, np.zeros((0, 31, 2), np.float32)).shape == (
            0,
            31,
            3 if canvas.ndim == 3 else 1,
        )


def test_where_one_card_alone_is_likely_no_others_are_laid():
    laid = []

    def settle(seen, frame, kind, pose, *_, **__):
        laid.append(len(kind))
        return pose, np.ones((len(pose), 3))

    level = SimpleNamespace(
        settle=settle, misfits_at=lambda seen, frame, pose, light: np.zeros((len(pose), 2))
    )
    close = np.array([[True, False], [False, True]])
    tries = Tries.none(2, 2)
    tries.misfit[:] = np.where(close, 1.0, 9.0)
    settled(SimpleNamespace(seen=None, frame=None), level, close, tries, np.ones((2, 3)), 0.5)
    assert laid == [2]


@compiled
def test_a_kernel_takes_no_array_of_another_type_or_layout():
    of_floats = Kernel("sample_floats", "fnnnfnf")
    canvas, px, out = (
        np.zeros((9, 9), np.float32),
        np.zeros((4, 2), np.float32),
        np.zeros((4, 1), np.float32),
    )
    of_floats(canvas, 9, 9, 1, px, 4, out)
    for wrong in (canvas.astype(np.uint8), canvas.T[:, ::2]):
        with pytest.raises(TypeError):
            of_floats(wrong, 9, 9, 1, px, 4, out)


def test_numpy_does_it_where_that_is_asked_for():
    program = "import json; from vision import kernels; print(json.dumps([kernels.kernel_mode(), bool(kernels.Kernel('built_from', ''))]))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[4],
        env={"NILOMETER_KERNELS": "numpy", "PATH": ""},
    )
    assert json.loads(done.stdout) == ["numpy (NILOMETER_KERNELS is set to numpy)", False]


def test_without_a_compiler_nothing_is_built_and_what_was_is_gone(tmp_path, monkeypatch):
    old = tmp_path / "built.so"
    old.write_bytes(b"of another version")
    assert (
        kernels.load_library(old)[0] is None and "cannot be loaded" in kernels.load_library(old)[1]
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "cc")
    assert hatch_build.build(old) == "no C compiler"
    assert list(tmp_path.iterdir()) == [] and kernels.load_library(tmp_path / "none.so")[
        1
    ].startswith("not compiled")


@compiled
def test_one_built_from_other_sources_is_not_used(tmp_path, monkeypatch):
    library = kernels.LIBRARY
    assert kernels.load_library(library)[0] is not None
    (tmp_path / "one.c").write_text("int changed;\n")
    monkeypatch.setattr(kernels, "SOURCES", tmp_path)
    again = tmp_path / "again.so"
    again.write_bytes(library.read_bytes())
    assert (
        kernels.load_library(again)[0] is None
        and "another version" in kernels.load_library(again)[1]
    )


def made_up_scene(rng, height=200, width=240):
    """A scene of noise, part of it covered, in uneven light"""
    frame = Frame(0.0, 0.0, 2.0, width, height)
    weight = rng.uniform(0.001, 0.01, (height, width)).astype(np.float32)
    weight[40:90, 50:120] *= -1
    seen, ground = (
        cv2.blur(rng.integers(0, 256, (height, width, 4), dtype=np.uint8), (5, 5)) for _ in range(2)
    )
    light = rng.uniform(0.8, 1.25, (height // LIGHT_STEP + 1, width // LIGHT_STEP + 1, 3)).astype(
        np.float32
    )
    return Scene(
        frame, None, seen, ground, weight, np.zeros((height // 2, width // 2), np.float32), light
    )


def made_up_fine(rng, form, kinds, brightest=255.0, angles=64):
    rings = Rings(form.outer, 0.7, angles)
    looks = rng.uniform(0, brightest, (kinds, len(rings.r), angles, 3)).astype(np.float32)
    return Fine(form, 2.0, [str(k) for k in range(kinds)], looks, rings=rings)


@compiled
@pytest.mark.parametrize("angles, brightest", [(64, 120.0), (32, 120.0), (32, 255.0)])
def test_looks_compared_in_every_turn(angles, brightest):
    rng = np.random.default_rng(2)
    scene, fine = (
        made_up_scene(rng),
        made_up_fine(rng, Form((14.0, 14.0), 2.0, True), 5, brightest, angles),
    )
    if brightest > 250:  # some places are too bright for some looks
        scene.seen[100:, :] = 250
    at = rng.uniform((0, 0), (120, 100), (41, 2))
    gains, turns, burnt = compared(scene, fine.rings, fine.table, at)
    with numpy_only():
        wanted, their_turns, their_burnt = compared(scene, fine.rings, fine.table, at)
    assert np.allclose(gains, wanted, rtol=1e-4, atol=0.5)
    assert (turns == their_turns).mean() > 0.98
    assert (burnt == their_burnt).all() and burnt.any() == (brightest > 250)
    only = rng.integers(0, 5, 41)
    one, its_turn, _ = compared(scene, fine.rings, fine.table, at, only)
    n = np.arange(41)
    assert (one[n, only] == gains[n, only]).all() and (its_turn[n, only] == turns[n, only]).all()


@compiled
@pytest.mark.parametrize("top, one", [(1, False), (3, False), (1, True)])
def test_places_weighed(top, one):
    rng = np.random.default_rng(3)
    scene, fine = made_up_scene(rng), made_up_fine(rng, Form((12.0, 12.0), 2.0, False), 6, 120.0)
    at = rng.uniform((0, 0), (120, 100), (30, 2))
    kinds = rng.integers(0, 6, 30) if one else None
    got = weighed(scene, fine, at, kinds, top)
    with numpy_only():
        wanted = weighed(scene, fine, at, kinds, top)
    # in noise two turns may be as good as each other
    same = np.isclose(got[3], wanted[3]).nonzero()[0]
    assert len(same) > 27
    for a, b in zip(got[1:3], wanted[1:3]):
        assert np.allclose(a[same], b[same], rtol=1e-3, atol=0.1)
    # of others than the one asked for, or the best, nothing need be told
    told = kinds if one else wanted[0].argmax(1)
    which = np.arange(6) == told[:, None] if top == 1 else np.ones((30, 6), bool)
    assert np.allclose(
        got[0][which & np.isin(np.arange(30), same)[:, None]],
        wanted[0][which & np.isin(np.arange(30), same)[:, None]],
        rtol=1e-3,
        atol=0.5,
    )


@compiled
def test_flat_pieces_slid():
    rng = np.random.default_rng(4)
    scene, fine = made_up_scene(rng), made_up_fine(rng, Form((12.0, 12.0), 2.0, True), 3, 120.0)
    fine = Fine(
        fine.form,
        2.0,
        fine.kinds,
        cv2.blur(fine.looks.reshape(-1, 64, 3), (9, 9)).reshape(fine.looks.shape),
        rings=fine.rings,
    )
    at = rng.uniform((10, 10), (110, 90), (30, 2))
    for kinds in (None, rng.integers(0, 3, 30)):
        got = slid(scene, fine, at, 1, kinds)
        with numpy_only():
            wanted = slid(scene, fine, at, 1, kinds)
        assert (np.linalg.norm(got - at, axis=1) > 0.01).sum() > 20 and (
            np.abs(got - wanted).max(1) < 2e-3
        ).sum() >= 28


@compiled
@pytest.mark.parametrize("dim", [1.0, 0.7])
def test_cards_settled_and_judged(dim):
    rng = np.random.default_rng(5)
    scene = made_up_scene(rng)
    print_ = cv2.GaussianBlur(rng.integers(40, 256, (40, 60, 3)).astype(np.float32), (0, 0), 2)
    level = Level(np.stack([print_, print_[::-1]]).copy(), (30.0, 20.0), 2.0)
    scene.seen[60:100, 80:140, :3] = print_ * dim
    scene.light[:] = 1 / dim
    pose = np.array([[54.0, 40.9, 0.05], [56.5, 39.0, -0.04], [20.0, 20.0, 0.0]])
    light, kinds = scene.light_at(pose[:, :2]), np.array([0, 0, 1])

    def all_of_it():
        return [
            *level.settle(scene.seen, scene.frame, kinds, pose, 6, light),
            bareness(scene, level, pose, light),
            level.misfits_at(scene.seen, scene.frame, pose, light),
        ]

    got = all_of_it()
    with numpy_only():
        wanted = all_of_it()
    assert np.abs(got[0][:2, :2] - [55.0, 40.0]).max() < 0.15
    for a, b in zip(got, wanted):
        assert a.shape == b.shape and np.allclose(a, b, rtol=1e-2, atol=1e-2)


class Leaning:
    """Things lean away from a point, as far as they are from it"""

    def shift(self, mm, height):
        return (np.asarray(mm) - (60.0, -80.0)) * height / 400

    def foot(self, seen, height):
        return (np.asarray(seen) - (60.0, -80.0)) / (1 + height / 400) + (60.0, -80.0)


@compiled
@pytest.mark.parametrize("disc", [True, False])
def test_sides_of_blocks(disc):
    rng = np.random.default_rng(6)
    scene, form = made_up_scene(rng), Form((9.0, 11.0 if not disc else 9.0), 10.0, disc)
    scene.lean = Leaning()
    foot, turn = rng.uniform((10, 10), (110, 90), (25, 2)), rng.uniform(0, 7, 25)
    tops, shades = rng.uniform(50, 255, (25, 3)), np.tile([0.5, 0.9], (25, 1))
    got = side_gain(form, scene, foot, turn, tops, shades)
    with numpy_only():
        wanted = side_gain(form, scene, foot, turn, tops, shades)
    assert (
        all(np.allclose(a, b, rtol=1e-3, atol=0.5) for a, b in zip(got, wanted))
        and np.ptp(got[0]) > 10
    )


@compiled
@pytest.mark.parametrize("every", [1, 4])
def test_figures(every):
    rng = np.random.default_rng(7)
    scene, form = made_up_scene(rng), Form((8.0, 8.0), 20.0, True)
    scene.lean = Leaning()
    shape = upright(form, 9.0).shape[:2]
    look = TallLook(
        form,
        9.0,
        ("a", "b"),
        rng.uniform(0, 1, (2, *shape, 3)).astype(np.float32) * np.float32([[[[255]]], [[[120]]]]),
        rng.uniform(0, 1, shape).astype(np.float32),
    )
    foot = rng.uniform((10, 10), (110, 90), (25, 2))
    got = gains_of(look, scene, foot, every)
    with numpy_only():
        wanted = gains_of(look, scene, foot, every)
    assert (
        all(np.allclose(a, b, rtol=2e-3, atol=0.5) for a, b in zip(got, wanted))
        and np.ptp(got[0]) > 10
    )


@compiled
@pytest.mark.parametrize("bright", [1.0, 1.4])
def test_cards_looked_for(bright):
    rng = np.random.default_rng(9)
    scene = made_up_scene(rng)
    prints = np.stack(
        [
            cv2.GaussianBlur(rng.integers(0, 256, (40, 60, 3)).astype(np.float32), (0, 0), 3)
            for _ in range(3)
        ]
    )
    # some places are too bright for some of them
    prints = ((prints - 127) * 4 + 127).clip(0, 255) * bright
    rough, pose = (
        Rough(prints, (30.0, 20.0)),
        np.array([[54.0, 41.0, 0.05], [30.0, 30.0, 1.6], [2.0, 2.0, 0.0]]),
    )
    scene.seen[60:100, 80:140, :3] = prints[1].clip(0, 250)
    light = np.float32([[1.0, 1.0, 1.0], [0.9, 1.1, 1.0], [1.2, 1.2, 1.3]])
    soft = softly(scene, rough, pose)
    poses, cost = rough.search(soft, scene.frame, pose, light)
    with numpy_only():
        wanted = rough.search(soft, scene.frame, pose, light)
    assert (
        cost[0].argmin() == 1
        and np.allclose(poses, wanted[0])
        and np.allclose(cost, wanted[1], rtol=1e-3)
    )
    assert np.allclose(
        rough.only(np.array([2])).search(soft, scene.frame, pose, light)[1], cost[:, 2:], rtol=1e-3
    )
    # only the likeliest, and what comes next
    for among in (np.ones(cost.shape, bool), np.arange(3) != cost.argmin(1)[:, None]):
        first, least = rough.search(soft, scene.frame, pose, light, among)
        likeliest = np.arange(3), np.where(among, cost, np.inf).argmin(1)
        assert (least.argmin(1) == likeliest[1]).all() and np.isinf(least[0]).any()
        assert np.allclose(least[likeliest], cost[likeliest], rtol=1e-5) and np.allclose(
            first[likeliest], poses[likeliest]
        )


def blurred_whole(scene):
    """What blurred() makes of the ground, after all of it was asked for"""
    soft = scene.blurred(3)
    soft.near(
        np.stack(
            np.meshgrid(*(np.arange(0, v, 9.0) for v in scene.weight.shape[::-1])), -1
        ).reshape(-1, 2),
        9,
    )
    return soft.ground.copy()


@compiled
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 16])
def test_averaged_where_it_is_asked_for(n):
    canvas = np.random.default_rng(n).integers(0, 256, (90, 131, 4)).astype(np.uint8)
    soft, wanted = Softened.of(canvas, n), cv2.blur(canvas, (n, n))
    got = soft.around(np.array([[70.0, 40.0]]), 5.0)[35:46, 65:76]
    assert np.abs(got.astype(int) - wanted[35:46, 65:76]).max() <= 1 and 0 < soft.done.sum() < 5
    every = np.stack(np.meshgrid(np.arange(0, 131, 10.0), np.arange(0, 90, 10.0)), -1).reshape(
        -1, 2
    )
    for part in np.array_split(every, 9):
        soft.around(part, 5)
    off = np.abs(soft.picture.astype(int) - wanted)
    assert soft.done.all() and off.max() <= 1 and (off.max() == 0 or n > 5)
    canvas[50:60, 20:30] = 255
    soft.changed([(20, 50, 30, 60)])
    assert (
        np.abs(
            soft.around(np.array([[25.0, 55.0]]), 20).astype(int) - cv2.blur(canvas, (n, n))
        ).max()
        <= 1
    )
    for most in (Softened.of(canvas, n), soft):
        assert (most.around(every, 20) == cv2.blur(canvas, (n, n))).all() or most is soft
    with numpy_only():
        assert (soft.around(every, 1) == cv2.blur(canvas, (n, n))).all()


@compiled
@pytest.mark.parametrize("n", [1, 4, 9])
def test_where_something_may_lie(n):
    rng = np.random.default_rng(n)
    strange, allowed = (
        cv2.blur(rng.random((60, 83), np.float32), (5, 5)),
        np.zeros((60, 83), np.uint8),
    )
    allowed[:45, 10:] = 1
    args = strange, allowed, np.arange(0, 83, 2), np.arange(1, 60, 3), n, 0.5
    got = strange_around(*args)
    with numpy_only():
        wanted = strange_around(*args)
    assert (got == wanted).mean() > 0.999 and 0.1 < got.mean() < 0.7


@compiled
@pytest.mark.parametrize("radius", [0.5, 2.0, 3.7, 6.0])
def test_the_best_of_the_places_around(radius):
    net, rng = Net.__new__(Net), np.random.default_rng(1)
    net.shape, net.step = (23, 31), 1.2
    net.y, net.x = np.nonzero(rng.random(net.shape) < 0.4)
    values = rng.normal(size=len(net.y)).astype(np.float32)
    got = net.most_near(values, radius)
    with numpy_only():
        assert (got == net.most_near(values, radius)).all()
    assert len(net.most_near(values[:0], radius)) == 0


@compiled
@pytest.mark.parametrize("pose", [(55.0, 40.0, 0.3), (3.0, 5.0, -1.2)])
def test_cards_laid(pose):
    scene = made_up_scene(np.random.default_rng(10))
    scene.weight = np.abs(scene.weight)
    print_ = cv2.GaussianBlur(
        np.random.default_rng(11).integers(0, 256, (44, 66, 3)).astype(np.float32), (0, 0), 2
    )
    laid = []
    for way in ("kernel", "numpy"):
        one = copy.deepcopy(scene)
        soft = blurred_whole(one)
        args = (
            one,
            Print.of(print_, (30.0, 20.0), 2.0),
            (30.0, 20.0),
            np.array(pose),
            7.0,
            np.array([0.9, 1.0, 1.1]),
        )
        if way == "kernel":
            lay(*args)
        else:
            with numpy_only():
                lay(*args)
        now = blurred_whole(one)
        assert (now == cv2.blur(one.ground, (3, 3))).all() and (now != soft).any()
        laid.append(one)
    got, wanted = laid
    off = np.abs(got.ground[..., :3].astype(int) - wanted.ground[..., :3])
    # OpenCV warps by 32nds of a pixel
    assert off.max() < 30 and (off > 2).mean() < 1e-3 and (wanted.ground != scene.ground).any()
    assert (np.abs(np.log(got.weight / wanted.weight)) < 0.05).mean() > 0.999 and (
        (got.weight != scene.weight) == (wanted.weight != scene.weight)
    ).all()
    assert (np.abs(got.strange - wanted.strange) < 0.1).mean() > 0.999 and np.ptp(
        wanted.strange
    ) > 0.5
    assert got.strange.shape == (scene.weight.shape[0] // FOLD, scene.weight.shape[1] // FOLD)


@compiled
def test_places_that_colours_exclude_are_left_out():
    rng = np.random.default_rng(12)
    scene, rings = made_up_scene(rng), Rings(6.0, 1.0, 32)
    looks = rng.uniform(60, 120, (3, 1, 1, 3)) + rng.uniform(-5, 5, (3, len(rings.r), 32, 3))
    fine = Fine(Form((9.0, 9.0), 9.0, False), 2.0, "abc", looks.astype(np.float32), rings=rings)
    at = np.vstack(
        [rng.uniform((0, 0), (120, 100), (200, 2)), rng.uniform((65, 65), (85, 85), (50, 2))]
    )
    scene.seen[120:180, 120:180], scene.light[:] = (*looks[0].mean((0, 1)), 0), 1
    assert fine.table.plain
    wanted, turns, _ = compared(scene, rings, fine.table, at)
    most, which = wanted.max(1), wanted.argmax(1)
    for least in (0.0, 25.0):
        gain, its, turn, _ = (
            v.squeeze() for v in best_at(scene, rings, fine.table, at, least=least)
        )
        told = most > least
        assert (
            5 < told.sum() < 230
            and (gain[~told] <= least).all()
            and np.allclose(gain[told], most[told], rtol=1e-4, atol=0.1)
        )
        assert (its[told] == which[told]).all() and (
            turn[told] == turns[told, which[told]]
        ).mean() > 0.95
    kit = Kit([fine])
    own = kit.coloured(scene, at)
    with numpy_only():
        assert (own == kit.coloured(scene, at)).mean() > 0.99
    assert 20 < own.sum() < 100


def test_flat_pieces_without_hope_are_not_looked_at_finely():
    rng = np.random.default_rng(14)
    scene, fine = made_up_scene(rng), made_up_fine(rng, Form((12.0, 12.0), 2.0, False), 2, 250.0)
    fine = Fine(fine.form, 2.0, fine.kinds, np.full_like(fine.looks, 60), rings=fine.rings)
    scene.ground[:], scene.seen[:] = 150, 150
    scene.seen[80:120, 140:180] = 60  # at (80, 50) mm lies one
    at = approached(scene, fine, np.array([[30.0, 80.0], [79.0, 51.0], [100.0, 20.0]]))
    assert len(at) == 1 and np.abs(at[0] - (80, 50)).max() < 3


@compiled
@pytest.mark.parametrize("angles, dazzled", [(32, False), (64, False), (64, True)])
def test_best_looks(angles, dazzled):
    rng = np.random.default_rng(13)
    scene, rings = made_up_scene(rng), Rings(6.0, 0.7, angles)
    looks = cv2.blur(rng.uniform(0, 250, (12 * len(rings.r), angles, 3)), (7, 7)).reshape(
        12, len(rings.r), angles, 3
    )
    fine = Fine(
        Form((9.0, 9.0), 9.0, False), 2.0, "abcdefghijkl", looks.astype(np.float32), rings=rings
    )
    if dazzled:
        scene.seen[60:140, 60:140], scene.light[:] = 255, rng.uniform(0.3, 0.8, scene.light.shape)
    at, owner = rng.uniform((0, 0), (120, 100), (203, 2)), np.repeat(np.arange(3), (5, 1, 6))
    gains, turns, burnt = compared(scene, rings, fine.table, at)
    assert not dazzled or 20 < burnt.sum() < 203
    got = best_at(scene, rings, fine.table, at, owner)
    with numpy_only():
        wanted = best_at(scene, rings, fine.table, at, owner)
    for gain, which, turn, _ in (got, wanted):
        assert (
            gain.shape == which.shape == turn.shape == (203, 3)
            and (owner[which] == np.arange(3)).all()
        )
        for p in range(3):
            best = gains[:, owner == p]
            assert np.allclose(gain[:, p], best.max(1), rtol=1e-3, atol=0.5) or dazzled
            same = which[:, p] == best.argmax(1) + (owner < p).sum()
            assert (
                same.mean() > 0.98 and (turn[same, p] == turns[same, which[same, p]]).mean() > 0.95
            )
    assert (
        np.allclose(got[0], wanted[0], rtol=1e-3, atol=0.5)
        and (got[3] == burnt).all()
        and (wanted[3] == burnt).all()
    )


@compiled
@pytest.mark.parametrize(
    "outline",
    [
        [(9, 8), (80, 20), (70, 90), (20, 70)],
        [(-20, 60), (40, 40), (60, 160)],
        [(500, 500), (510, 500), (510, 510)],
    ],
)
def test_what_is_left_on_a_site(outline):
    rng = np.random.default_rng(13)
    scene = made_up_scene(rng)
    # most of it a shadow on the ground, a part none
    scene.ground = cv2.convertScaleAbs(scene.seen, alpha=1.3)
    scene.ground[60:140, 40:110] = 90
    scene.light[:] = rng.uniform(0.98, 1.02, scene.light.shape)
    scene.strange = (
        cv2.GaussianBlur(rng.random(scene.strange.shape).astype(np.float32), (0, 0), 4) * 6 - 2.2
    ).clip(0, 1)
    place = Place.of(scene.frame, np.array(outline, float))
    got = left_on(scene, place)
    with numpy_only():
        wanted = left_on(scene, place)
    assert np.allclose(msgspec.structs.astuple(got), msgspec.structs.astuple(wanted), rtol=1e-3)
    assert place.mask.size == 0 or wanted.lump > 0.5 and wanted.unknown > wanted.patch > 0


@compiled
def test_a_picture_flattened_as_opencv_does():
    image = np.random.default_rng(15).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    y, x = np.mgrid[:70, :90].astype(np.float32)
    # beyond all four edges
    maps = cv2.convertMaps(1.1 * x + 0.2 * y - 6, 0.9 * y - 0.1 * x + 5, cv2.CV_16SC2)
    with numpy_only():
        wanted = remap_canvas(image, *maps)
    assert (remap_canvas(image, *maps) == wanted).all()


@compiled
@pytest.mark.parametrize("rect", [(0, 0, 241, 203), (24, 48, 190, 200)])
def test_a_picture_made_ready(rect):
    rng = np.random.default_rng(14)
    frame, (x0, y0, x1, y1) = Frame(0.0, 0.0, 2.0, 241, 203), rect
    board = cv2.GaussianBlur(rng.integers(0, 256, (203, 241, 3), dtype=np.uint8), (0, 0), 2)
    stage = Stage(
        Empty(frame, board, rng.uniform(4, 12, board.shape[:2]).astype(np.float32)),
        np.ones(board.shape[:2], np.float32),
    )
    light = cv2.resize(rng.uniform(0.4, 1.2, (3, 4, 3)).astype(np.float32), stage.cells)
    seen = pad_channels(
        (board / cv2.resize(light, (241, 203)) + rng.normal(0, 40, board.shape))
        .clip(0, 255)
        .astype(np.uint8)
    )
    seen, light = (
        np.ascontiguousarray(seen[y0:y1, x0:x1]),
        light[y0 // 24 : y1 // 24 + 1, x0 // 24 : x1 // 24 + 1],
    )
    image, pose = (
        rng.integers(0, 256, (240, 320, 3), dtype=np.uint8),
        SimpleNamespace(to_px=lambda mm: mm * 2.7 - 3),
    )

    def made():
        strange = np.zeros(((y1 - y0) // FOLD, (x1 - x0) // FOLD), np.float32)
        scene = Scene(
            frame.part(*rect),
            None,
            seen,
            stage.ground(light, rect),
            None,
            strange,
            light,
            corner=(x0, y0),
        )
        stage.estrange(scene, (0, 0, x1 - x0, y1 - y0))
        stage.estrange(scene, (20, 10, 60, 40))
        return scene, stage.low(image, pose)

    got, low = made()
    with numpy_only():
        wanted, wanted_low = made()
    assert (
        np.abs(got.ground.astype(int) - wanted.ground).max() <= 3
        and (got.ground != stage.board[y0:y1, x0:x1]).any()
    )
    assert np.abs(got.strange - wanted.strange).mean() < 0.002 and np.ptp(wanted.strange) > 0.5
    off = np.abs(low.astype(int) - wanted_low)
    assert off.max() <= 2 and off.mean() < 0.2


def test_of_no_cards_nothing_is_told():
    level = Level(np.zeros((2, 8, 12, 3), np.float32), (12.0, 8.0), 1.0)
    with numpy_only():
        assert bareness(
            made_up_scene(np.random.default_rng(1)), level, np.zeros((0, 3)), np.zeros((0, 3))
        ).shape == (0,)
