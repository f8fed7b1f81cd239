"""The kernels of the piles' reader do what numpy does beside them."""

from functools import partial

import cv2
import numpy as np
import pytest

from vision import kernels
from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid, Windows
from vision.kernels import Kernel, numpy_only
from vision.photometry.colour_sampling import PictureField, WindowField, window_colours
from vision.photometry.room_light import RoomLight
from vision.readers.pile.classifier import tiles_unlike
from vision.readers.pile.coarse_search import Slide
from vision.readers.pile.exemplar import Exemplar
from vision.readers.pile.face_match import Faces
from vision.readers.pile.features import describe, held_against
from vision.readers.pile.fine_match import ANGLES, RINGS, Fine, Rings, largest, series_of
from vision.registration.print_map import best_matches, patch_correlations

pytestmark = pytest.mark.skipif(
    not Kernel("built_from", ""), reason=f"kernels: {kernels.kernel_mode()}"
)
RNG = np.random.default_rng(1)
LIES = ("any", "quarters", "upright")


def smooth(n: int, side: int) -> np.ndarray:
    """(n, side, side, 3) opponent colours without sharp noise"""
    return np.stack(
        [
            cv2.GaussianBlur(RNG.random((side, side, 3)).astype(np.float32), (0, 0), 1.5) * 4
            for _ in range(n)
        ]
    )


def cut_outs(n: int, lies: str = "any") -> list[Exemplar]:
    return [
        Exemplar((str(k),), (10.0, 10.0), False, p, 3.0, "A1", 0, lies=lies)
        for k, p in enumerate(smooth(n, 38))
    ]


def alike(work, off: float = 1e-3) -> None:
    """work() gives the same with kernels and without, within `off`"""
    with numpy_only():
        wanted = work()
    for got, want in zip(work(), wanted, strict=True):
        assert got.shape == want.shape and np.abs(got - want).max() < off


def photographed() -> PictureField:
    """Nine sites, some out of the picture"""
    picture = (smooth(1, 120)[0] * 60).astype(np.uint8)
    lens = np.array([[100, 0, 60], [0, 100, 60], [0, 0, 1]], float)
    pose = Pose(
        lens,
        np.array([0.01, 0, 0, 0]),
        np.array([0.02, 0.01, 2.0]),
        np.array([0.0, 0, 100]),
        (120, 120),
    )
    return PictureField(
        picture,
        0,
        pose,
        RNG.uniform(-70, 70, (9, 2)),
        2.0,
        RNG.uniform(0.5, 1.5, (9, 3)).astype(np.float32),
    )


def test_a_picture_in_the_light_of_each_site():
    field, grid = (
        photographed(),
        np.stack(np.meshgrid(np.linspace(-1, 1, 13), np.linspace(-1, 1, 7)), -1),
    )
    where = (
        RNG.integers(0, 9, 21),
        RNG.uniform(-3, 3, (21, 2)),
        RNG.uniform(0, 6, 21),
        grid,
        RNG.uniform(2, 9, 21),
    )
    with numpy_only():
        wanted = field.sample(*where)
    # a grey level more or less where it lies between two
    off = np.abs(field.sample(*where) - wanted)
    assert off.shape == (21, 7, 13, 3) and (off > 1e-4).mean() < 0.01 and off.max() < 0.2


def test_pieces_in_a_picture_laid_straight():
    fine, field = Fine.fit(cut_outs(4), 40, 1.12), photographed()
    laid = (
        RNG.integers(0, 9, 21),
        RNG.integers(0, 4, 21),
        RNG.uniform(-1, 1, (21, 2)),
        RNG.uniform(0, 6, 21),
    )
    start = [a.copy() for a in laid]
    with numpy_only():
        wanted = fine.straightened(field, *laid)
    middle, turn, pictures = fine.straightened(field, *laid)
    assert all((a == b).all() for a, b in zip(laid, start))
    assert np.abs(middle - wanted[0]).max() < 0.01 and np.abs(turn - wanted[1]).max() < 1e-3
    assert np.abs(pictures - wanted[2]).mean() < 1e-3


def test_places_of_a_pose():
    pose, mm = photographed().pose, RNG.uniform(-50, 50, (30, 2))
    alike(lambda: [pose.to_px(mm, 3.0), pose.to_px(mm, np.arange(30.0)), pose.to_px(mm[0])], 1e-9)


def test_rings_as_series_and_back():
    seen = smooth(5, ANGLES)[:, :, :RINGS]
    alike(lambda: series_of(seen.copy()))
    values = RNG.random((7, 4, 33)).astype(np.float32)
    alike(lambda: largest(values), 1e-9)


def fits_alike(work) -> None:
    """work() gives (misfits, how each lies ...): the misfits are the same both ways, and so is
    nearly all of the rest: now and then two places fit as well"""
    with numpy_only():
        wanted = work()
    got = work()
    assert np.abs(got[0] - wanted[0]).max() < 0.01
    assert all(
        a.shape == b.shape and (np.abs(a - b) > 1e-3).mean() <= 0.02
        for a, b in zip(got[1:], wanted[1:], strict=True)
    )


@pytest.mark.parametrize("lies", LIES)
def test_the_turn_in_which_rings_fit(lies):
    rings, field, site = (
        Rings.fit(cut_outs(5, lies)),
        WindowField(smooth(70, 30), 2.5),
        np.arange(70),
    )
    middle = RNG.uniform(-1, 1, (70, 2))
    fits_alike(lambda: rings.best(field, site, middle))
    least, turn = rings.best(field, site, middle)
    every = np.where(rings.allowed, rings.compare(field, site, middle), np.inf)
    assert np.abs(least - every.min(2)).max() < 0.01
    assert (np.abs(turn - every.argmin(2) * 2 * np.pi / ANGLES) > 1e-6).mean() <= 0.02


def test_fine_fits():
    fine, field, site = (
        Fine.fit(cut_outs(4), 40, 1.12),
        WindowField(smooth(9, 30), 2.5),
        np.arange(9),
    )
    laid = RNG.integers(0, 4, 9), RNG.uniform(-1, 1, (9, 2)), RNG.uniform(0, 6, 9)
    alike(lambda: fine.refine(field, site, *laid))
    alike(lambda: [fine.misfit(field, site, *laid)])


@pytest.mark.parametrize("faint", [0.0, 0.5])
def test_what_a_piece_laid_straight_looks_like(faint):
    pictures, models = smooth(6, 40), smooth(3, 40)
    alike(lambda: [describe(pictures)], 0.01)
    alike(lambda: held_against(pictures, models, np.array([0, 2, 1, 1, 0, 2]), faint))


@pytest.mark.parametrize("side", [24, 36, 48])
def test_cells_and_edges_of_small_windows(side):
    empty, seen = smooth(5, side), smooth(4, side)
    alike(lambda: tiles_unlike(seen, empty, np.array([4, 0, 2, 2])))


@pytest.mark.parametrize("free, count", [(0.3, 1), (2.0, 9)])
def test_looks_slid_over_windows(free, count):
    slide = Slide.fit(dict(enumerate([c] for c in cut_outs(count))), 0.8, 16, np.full(2, free), 1.1)
    seen, bare = smooth(6, 16), RNG.random((6, 16, 16)).astype(np.float32)
    expected = RNG.uniform(-1, 1, (6, count, 2))
    alike(lambda: slide.search(seen, bare, expected))


def test_small_windows_of_a_picture():
    picture = (smooth(1, 200)[0] * 60).astype(np.uint8)
    lens = np.array([[180, 0, 100], [0, 180, 100], [0, 0, 1]], float)
    pose = Pose(
        lens,
        np.array([-0.1, 0, 0, 0]),
        np.array([0.1, 0.0, 3.0]),
        np.array([0.0, 0, 120]),
        (200, 200),
    )
    windows = Windows(RNG.uniform(-50, 50, (8, 2)), 9.0, 2.0)
    light = RoomLight(RNG.uniform(-0.1, 0.1, (6, 3)).astype(np.float32), (100, 100))
    look = partial(window_colours, windows, Pyramid(picture), pose, light, np.array([3, 0, 7]), 0.0)
    with numpy_only():
        wanted = look()
    off = np.abs(look() - wanted)
    assert off.shape == (3, 36, 36, 3) and (off > 1e-4).mean() < 0.01 and off.max() < 0.2


@pytest.mark.parametrize("lies", LIES)
def test_faces(lies):
    faces, field, site = (
        Faces.fit(cut_outs(5, lies)),
        WindowField(smooth(20, 30), 2.5),
        np.arange(20),
    )
    middle = RNG.uniform(-1, 1, (20, 2))
    fits_alike(lambda: faces.compare(field, site, middle))


@pytest.mark.parametrize("margin", [3, 8])
def test_patches_correlated_as_opencv_does(margin):
    rng = np.random.default_rng(21)
    seen = cv2.GaussianBlur(
        rng.integers(0, 256, (5 * 40, 40), dtype=np.uint8), (0, 0), 1.5
    ).reshape(5, 40, 40)
    patches = np.ascontiguousarray(seen[:, margin : 40 - margin, margin : 40 - margin] // 2 + 90)
    patches[3], seen[4] = 77, 50  # all of one grey
    got = patch_correlations(seen, patches)
    with numpy_only():
        wanted = patch_correlations(seen, patches)
    assert (
        got.shape == (5, 2 * margin + 1, 2 * margin + 1) and (got[:3, margin, margin] > 0.99).all()
    )
    assert np.abs(got - wanted)[:3].max() < 1e-3 and (got[3:] == 0).all()
    shift, alike = best_matches(seen, patches)
    assert np.abs(shift[:3]).max() < 0.3 and (alike[:3] > 0.99).all() and (alike[3:] == -1).all()
