"""A day by a faster clock: that it looks as often as `run` does, and that memory that grows is
told."""

from types import SimpleNamespace

import numpy as np
import pytest

import engine
from companion.runtime.config import Config
from devtools.soak.day import Day, Served, memory_slope
from vision.storage.photo_file import load_photo


@pytest.mark.slow
def test_a_minute_has_as_many_looks_as_a_minute_of_run(copy, tmp_path):
    game = engine.game("tigris")
    beginning = game.setup(["bull", "lion"], (), game.plan())
    served = Served(str(copy), str(tmp_path / "game.journal"), beginning.to_json())
    try:
        served.show(load_photo(sorted(copy.glob("sampler*.jpg"))[0]))
        served.until(60.0)
        stands = served.stands()
    finally:
        served.server.stop()
        served.table.journal.close()
    assert 60 * Config("").looks_per_second <= stands["looks"] < 400 and not stands["faults"]
    assert stands["megabytes"] > 50 and served.now == 60.0


@pytest.mark.parametrize("grows", [0.0, 1.5])
def test_memory_that_grows_is_told(grows):
    rng = np.random.default_rng(1)
    hours = np.arange(1, 24 * 60) / 60
    memory = [(h, 150 + 40 * min(h, 1.0) + grows * h + rng.normal(0, 2)) for h in hours]
    assert abs(memory_slope(memory) - grows) < 0.1, "the first hour does not count"


def test_what_the_table_had_not_found_is_counted_and_told_it(monkeypatch):
    game = engine.game("tigris")
    day = Day.__new__(Day)
    day.__dict__ |= {
        "game": game,
        "state": game.setup(["bull", "lion"]),
        "out": SimpleNamespace(unknown=0, actions=0, over=False),
        "stands": {"layout": {}},
        "players": SimpleNamespace(next=lambda s: SimpleNamespace(action=1, after=s)),
        "director": SimpleNamespace(set=lambda layout: None, picture=lambda: None),
    }
    asked = []
    monkeypatch.setattr(day, "_ask", lambda what, argument: asked.append(what))
    day._do()
    assert asked == ["edit", "show"] and (day.out.unknown, day.out.actions) == (1, 1)
    day.players.next = lambda s: SimpleNamespace(action=None, after=s)
    day.stands["layout"] = day.state.layout()
    day._do()
    assert asked == ["edit", "show"] and day.out.over, "it rests when the game is over"
