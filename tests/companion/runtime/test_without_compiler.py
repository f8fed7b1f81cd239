"""Whole boards are read by numpy, where there is no compiler, as they are by the kernels: cards
alone, and piles, figures and goods."""

import pytest
from calibration.readers.reader_fit import fit_reader_without_network

from calibration.copy import load_copy
from calibration.fit import shots_of
from companion.simulate import Conditions, make_copy, plan_of
from vision.kernels import kernel_mode, numpy_only
from vision.reader import load_photo

pytestmark = pytest.mark.skipif(kernel_mode() != "compiled", reason="no kernels to compare with")


@pytest.mark.slow
@pytest.mark.parametrize("game", ["ur", "nile"])
def test_a_board_is_read_as_it_is_by_the_kernels(game, tmp_path):
    copy = load_copy(
        make_copy(
            plan_of(game, None)[0], tmp_path / game, Conditions(resolution=(800, 600)), photos=1
        )
    )
    registrar, shots = shots_of(copy)
    reader = fit_reader_without_network(copy.plan, registrar, shots, effort=0.05)
    (photo,) = (copy.folder / "test").glob("*.jpg")
    image = load_photo(photo)
    by_kernels = reader.read(image)
    with numpy_only():
        by_numpy = reader.read(image)
    best = {site: (e.best, by_numpy.sites[site].best) for site, e in by_kernels.sites.items()}
    assert {site: two for site, two in best.items() if two[0] != two[1]} == {}
    assert sum(bool(one) for one, _ in best.values()) > 5, (
        "something must lie there, that there is anything to compare"
    )
