"""Whole boards are read by numpy, where there is no compiler, as they are by the kernels."""

import pytest

from companion.simulate import make_copy, plan_of
from devtools.test_models import CONDITIONS, SIMULATED
from tests.conftest import SIMULATED_GAMES, model_of
from vision.kernels import Kernel, kernel_mode
from vision.reader import Reader, load_photo

pytestmark = pytest.mark.skipif(kernel_mode() != "compiled", reason="no kernels to compare with")


@pytest.mark.slow
@pytest.mark.parametrize("game", SIMULATED_GAMES)
def test_a_board_is_read_as_it_is_by_the_kernels(game, tmp_path, monkeypatch):
    folder = make_copy(plan_of(game, None)[0], tmp_path / game, CONDITIONS, photos=1)
    reader = Reader.load(model_of(SIMULATED + game))
    (photo,) = (folder / "test").glob("*.jpg")
    image = load_photo(photo)
    by_kernels = reader.read(image)
    monkeypatch.setattr(Kernel, "__bool__", lambda self: False)
    by_numpy = reader.read(image)
    best = {site: (e.best, by_numpy.sites[site].best) for site, e in by_kernels.sites.items()}
    assert {site: two for site, two in best.items() if two[0] != two[1]} == {}
    assert sum(bool(one) for one, _ in best.values()) > 5, (
        "something must lie there, that there is anything to compare"
    )
