"""The kernels of what stands do what numpy does beside them."""

import cv2
import numpy as np
import pytest

from vision import kernels
from vision.kernels import Kernel, numpy_only
from vision.readers.standing.closeup_features import Closeup
from vision.readers.standing.lean_geometry import SLICES, Frame, needed
from vision.readers.standing.shape_model import (
    CHANNELS,
    Looks,
    Man,
    first_form,
    fitted_form,
    speaking,
)
from vision.readers.standing.shape_search import Searcher, Seen

pytestmark = pytest.mark.skipif(
    not Kernel("built_from", ""), reason=f"kernels: {kernels.kernel_mode()}"
)
FRAME, ABOVE, HEIGHTS = Frame(20.0, 20.0, 40.0, 1.0), 500.0, np.array([24.0, 40.0, 40.0])


def smooth(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return np.array(
        [cv2.GaussianBlur(a.astype(np.float32), (0, 0), 1.5) * 3 for a in rng.random(shape)]
    )


def test_what_explains_windows_best():
    rng = np.random.default_rng(3)
    leans, n = np.array([0.2, 0.5]), 7
    shown = smooth(rng, 6, *FRAME.shape, CHANNELS)
    clear = rng.random((6, *FRAME.shape)) < 0.9
    men = [
        Man(i % 3, 0, i, np.zeros(2), np.array([0.0, 1]), leans[i % 2], ABOVE, w, w[..., 0], c)
        for i, (w, c) in enumerate(zip(shown, clear))
    ]
    looks = Looks.fit(men, FRAME, HEIGHTS, np.linspace(11, [3, 6, 8], 24).T, leans, ABOVE)
    searcher = Searcher(looks, FRAME, 5, 32.0, Closeup.of(FRAME, 40.0, 11.0, ABOVE))
    window = np.concatenate([shown[:4], smooth(rng, n - 4, *FRAME.shape, CHANNELS)])
    window += rng.normal(0, 0.1, (n, 1, 1, 1)).astype(np.float32)
    before, behind = rng.random((2, n, *FRAME.shape)) < 0.1
    seen = Seen.among(
        window,
        smooth(rng, n, *FRAME.shape, CHANNELS),
        smooth(rng, n, *FRAME.shape) * 3,
        before,
        behind,
        np.arange(n) % 2,
        np.arange(n) % 3 - 1,
        np.repeat(np.repeat(window[..., 0], 2, 1), 2, 2),
        leans[np.arange(n) % 2],
    )
    with numpy_only():
        wanted = searcher.search(seen)
    found = searcher.search(seen)
    assert np.array_equal(found.at, wanted.at)
    assert np.allclose(found.gain, wanted.gain, atol=1e-3) and np.allclose(
        found.inputs, wanted.inputs, atol=2e-3
    )


def test_how_wide_the_slices_of_a_form_are():
    rng = np.random.default_rng(5)
    needs = [needed(FRAME, 40.0, lean, ABOVE) for lean in (0.1, 0.3, 0.5, 0.6)]
    speaks = [smooth(rng, 1, *FRAME.shape)[0] - 1.3 for _ in needs]
    found = fitted_form(speaks, needs, first_form(20.0), 14.0)
    with numpy_only():
        assert np.array_equal(found, fitted_form(speaks, needs, first_form(20.0), 14.0))
    need, at = (
        rng.integers(0, 13, (SLICES, 1300)).astype(np.uint8),
        rng.integers(0, 5, SLICES).astype(np.int32),
    )
    cover = (need <= at[:, None]).sum(0, dtype=np.uint8)
    args = need, cover, speaks[0].ravel()[:1300].copy(), at, slice(3, 20)
    speaking(*args, *(told := (np.zeros(14), np.zeros(1))))
    with numpy_only():
        speaking(*args, *(wanted := (np.zeros(14), np.zeros(1))))
    assert all(np.allclose(a, b) for a, b in zip(told, wanted)) and (told[0] != 0).sum() > 3
