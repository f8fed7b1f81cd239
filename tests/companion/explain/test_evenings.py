"""Every evening of tests/companion/evenings comes out as its file says: told by a perfect reader,
and those of games of which a model is kept filmed and really read, too."""

from functools import cache

import pytest

from devtools.test_models import CONDITIONS, SIMULATED
from tests.companion.support.evening import FOLDER, Clear, Evening, Filmed
from tests.conftest import SIMULATED_GAMES, model_of
from vision.reader import Reader

EVENINGS = sorted(FOLDER.glob("*.txt"))
# Six cubes on one tile, where five lay, are read with doubt; so are, on some processors, four where
# five lay. Cubes hide the small sign in a tile's corner: which tile was put down is a guess then.
UNSURE = {
    "ur-what-is-named",
    "ur-what-was-guessed-lay-on-the-way",
    "ur-a-stone-taken-for-a-bonus",
    "ur-a-swap-and-the-whole-next-turn",
}
FILMED = [
    path
    for path in EVENINGS
    if path.stem not in UNSURE and path.stem.split("-")[0] in SIMULATED_GAMES
]


@pytest.fixture(scope="session")
def readers():
    """game -> a reader of its simulated copy"""
    return cache(lambda game: Reader.load(model_of(SIMULATED + game)))


@pytest.mark.parametrize("path", EVENINGS, ids=lambda p: p.stem)
def test_an_evening_clearly_seen(path, tmp_path):
    assert Evening(path, lambda state: Clear(state.plan), tmp_path).run() == []


@pytest.mark.slow
@pytest.mark.parametrize("path", FILMED, ids=lambda p: p.stem)
def test_an_evening_filmed(path, tmp_path, readers):
    assert (
        Evening(path, lambda state: Filmed(readers(state.game), CONDITIONS), tmp_path).run() == []
    )
