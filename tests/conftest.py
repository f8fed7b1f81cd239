"""What tests of several rooms share, and the order in which they run."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

import engine
from devtools.test_models import SIMULATED
from tests.support.chromium import chromium, mark_browser_tests  # noqa: F401
from tests.support.sharing import made_once

TESTS = Path(__file__).resolve().parent
PHOTOS = TESTS / "photos" / "tigris"


def model_of(name):
    """The file of a copy's model that is kept with the tests; "tigris" is the photographed copy"""
    return TESTS / "models" / f"{name}.npz"


# the games whose simulated copies a model is kept of
SIMULATED_GAMES = sorted(
    p.stem.removeprefix(SIMULATED) for p in (TESTS / "models").glob(f"{SIMULATED}*.npz")
)


# The files that take longest, in this order before all others, so that no worker is left alone with
# one at the end. A file runs in one process, which keeps what its module's fixtures made.
SLOWEST = (
    "calibration/training/test_learned.py",
    "vision/registration/test_registration.py",
    "companion/explain/test_evenings.py",
    "companion_web/test_evening_together.py",
    "companion_web/blueprints/test_setup_browser.py",
    "companion_web/test_browser_evening.py",
    "calibration/training/test_refit.py",
    "companion_web/test_browser.py",
    "devtools/test_bench.py",
    "calibration/synthesis/test_made_up.py",
    "calibration/test_trace.py",
    "calibration/cutouts/test_standing_looks.py",
    "cli/test_filmed_game.py",
)

# what JAX compiles is kept for all processes of a run: it takes longer than most learning here
COMPILED = pytest.StashKey[tempfile.TemporaryDirectory]()


def pytest_configure(config):
    """In the process that starts the others, which have its environment"""
    if "PYTEST_XDIST_WORKER" not in os.environ and "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        config.stash[COMPILED] = tempfile.TemporaryDirectory(prefix="nilometer-jax-")
        os.environ["JAX_COMPILATION_CACHE_DIR"] = config.stash[COMPILED].name
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        # several threads in each of several processes mostly wait for one another
        os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")


def pytest_unconfigure(config):
    if COMPILED in config.stash:
        del os.environ["JAX_COMPILATION_CACHE_DIR"]
        config.stash[COMPILED].cleanup()


def pytest_collection_modifyitems(items):
    """Sorts the slowest files to the front; within and after them the order stays."""
    mark_browser_tests(items)
    rank = {TESTS / name: n for n, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.fixture(scope="session")
def copy(tmp_path_factory):
    """The photographed copy with the model that was learnt from its four photos (`make
    test-models`)"""

    def copy_model(folder):
        leave = shutil.ignore_patterns("test", "game")
        shutil.copytree(PHOTOS, folder, ignore=leave, dirs_exist_ok=True)
        shutil.copyfile(model_of("tigris"), folder / "model.npz")

    return made_once(tmp_path_factory, "tigris", copy_model)


@pytest.fixture
def names():
    return sorted(engine.games())
