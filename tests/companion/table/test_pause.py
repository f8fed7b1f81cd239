"""A game goes on after a week: the board is laid out anew, the table says what differs, and nothing
of it is a move."""

import sqlite3

import msgspec
import pytest

import engine
from companion.explain.verdict import ILLEGAL, MOVED, SAME, UNFINISHED
from companion.setup.sampler_layouts import sampler_layouts
from companion.simulate import plan_of
from companion.table.journal import Journal
from companion.table.pause import LONG
from companion.table.table import Table

WEEK = 7 * 24 * 3600


@pytest.fixture
def after(tmp_path):
    """after(seconds) -> the table of a game of three moves, taken up again so much later"""

    def take_up(seconds):
        path = tmp_path / "game.journal"
        found = engine.game("tigris")
        table = Table(found.setup(["bull", "lion"]), Journal(path))
        for act in ("bull: leader black C2", "bull: tile red D2", "lion: leader red L1"):
            table.declare(act)
        table.journal.close()
        with sqlite3.connect(path) as db:
            db.execute("UPDATE event SET at = at - ?", (seconds,))
        db.close()
        return Table(None, Journal(path))

    return take_up


def see(table, perfect, layout):
    return table.look(perfect(layout, table.plan))


def test_an_empty_board_after_a_week_is_no_alarm_and_every_piece_is_asked_for(after, perfect):
    table = after(WEEK)
    before, lying = table.state, table.state.layout()
    assert table.snapshot()["pause"]["differs"] is None, "the camera has not looked yet"
    assert see(table, perfect, {}).verdict == UNFINISHED
    told = table.snapshot()["pause"]
    assert {d["site"]: tuple(d["should"]) for d in told["differs"]} == {
        s: c for s, c in lying.items() if c
    }
    assert (
        all(d["seen"] == [] for d in told["differs"])
        and table.state == before
        and not table.verdict.violations
    )


def test_piece_by_piece_it_comes_back_without_a_move(after, perfect):
    table = after(WEEK)
    events, lying = (
        len(table.journal.events()),
        {s: c for s, c in table.state.layout().items() if c},
    )
    shown = {}
    for site, contents in lying.items():
        shown[site] = contents
        verdict = see(table, perfect, shown)
        missing = {d["site"] for d in (table.snapshot()["pause"] or {"differs": []})["differs"]}
        assert missing == set(lying) - set(shown)
    assert verdict.verdict in (SAME, MOVED) and not verdict.actions
    assert table.pause is None and len(table.journal.events()) == events


def test_a_piece_on_the_wrong_square_is_named_with_what_is_seen(after, perfect):
    table = after(WEEK)
    lying = dict(table.state.layout())
    lying["D3"] = lying.pop("C2")
    see(table, perfect, lying)
    assert table.snapshot()["pause"]["differs"] == [
        {"site": "C2", "should": ["leader:bull:black"], "seen": []},
        {"site": "D3", "should": [], "seen": ["leader:bull:black"]},
    ]


def test_whoever_just_plays_on_ends_the_pause(after, perfect):
    table = after(WEEK)
    lying = {**table.state.layout(), "H4": ("temple",)}
    verdict = see(table, perfect, lying)
    assert (
        verdict.verdict == MOVED
        and [str(a) for a in verdict.actions] == ["lion: tile red H4"]
        and table.pause is None
    )


def test_the_host_goes_on_with_the_board_as_it_lies(after, perfect):
    table = after(WEEK)
    lying = {**table.state.layout(), "A11": ("farm",)}
    assert see(table, perfect, lying).verdict == UNFINISHED
    table.go_on()
    assert table.snapshot()["pause"] is None
    verdict = see(table, perfect, {**lying, "H4": ("temple",)})
    assert [str(a) for a in verdict.actions] == ["lion: tile red H4"], (
        "what lay there before hinders nobody"
    )


def test_after_a_power_cut_of_a_minute_nothing_is_put_off(after, perfect):
    table = after(60)
    assert LONG > 60 and table.pause is None
    see(table, perfect, table.state.layout())
    assert see(table, perfect, {**table.state.layout(), "A11": ("farm",)}).verdict == ILLEGAL


def test_what_still_lies_there_at_the_beginning_is_to_be_taken_away_hands_or_not(perfect):
    game = engine.game("ur")
    table = Table(game.setup(["black", "white", "green"]), laid_out=False)
    sampler = sampler_layouts(plan_of("ur", None)[0])[1]
    lying = {s: tuple(c) for s, c in sampler.items()}
    table.look(perfect(lying, table.plan))
    told = str(table.verdict.text)
    assert table.verdict.verdict == UNFINISHED and f"belong on {len(lying)} places" in told
    version = table.version
    for busy in ("hand", "moving", "hand"):
        hands = msgspec.structs.replace(perfect(lying, table.plan), busy=busy)
        assert table.look(hands).verdict == UNFINISHED and str(table.verdict.text) == told
    assert table.version == version, "nobody is told the same once more"
    table.look(perfect(dict([next(at for at in lying.items() if len(at[1]) > 1)]), table.plan))
    assert "belong on one place" in str(table.verdict.text)
