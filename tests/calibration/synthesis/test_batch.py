"""Places that are shown as "none lies here"."""

import numpy as np

from calibration.synthesis.batch import BESIDE, Shapes
from calibration.synthesis.compose import SIDE, Sample
from vision.learned.groups import Form


def shown_places(arrays: dict[str, np.ndarray], kind: int) -> np.ndarray:
    """(n, 2) sample pixels at which pieces of this kind, by number, are shown to lie"""
    half = SIDE // 2
    mine = (arrays["piece_counts"] > 0) & (arrays["piece_label"] == kind)
    index, weight = arrays["piece_index"][mine], arrays["piece_weight"][mine][..., None]
    at = np.stack([index % half, index // half], -1)
    return ((at * weight).sum(2).mean(1) + 0.5) * 2 - 0.5


ABOVE = np.array([SIDE / 2, SIDE / 2, 2000.0])  # px


def test_places_near_a_pieces_middle_are_shown_to_be_none_of_another():
    """A ship was found twice, at either end"""
    ship = Form((18.0, 12.0), False, 2.0, ("ship",))
    shapes, middle = Shapes.of((), (ship,), 2.0), np.array([SIDE / 2, SIDE / 2])
    x = np.zeros((SIDE // 2, SIDE // 2, 24), np.float16)
    sample = Sample(x, np.array([[0, 0, *middle]]), np.zeros((0, 8), np.float32), ABOVE)
    rng, seen = np.random.default_rng(0), np.zeros((SIDE, SIDE, 3), np.float32)
    none = np.vstack(
        [shown_places(shapes.piece_arrays(sample, 0, seen, rng), 1) for _ in range(40)]
    )
    apart = np.hypot(*(none - middle).T) / (18.0 * shapes.scale)
    assert apart.min() > BESIDE - 0.02
    assert ((apart > 0.3) & (apart < 0.4)).sum() > 20
