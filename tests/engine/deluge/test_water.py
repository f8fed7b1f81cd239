"""D44 to D53: the counter, the rises, flights, the end."""

import pytest

from tests.engine.support.deluge_positions import all_done, at, bare, do, position, refused

DRY = (
    "america-1",
    "america-3",
    "america-5",
    "eurasia-1",
    "eurasia-3",
    "africa-2",
    "africa-1",
    "africa-3",
    "africa-5",
    "america-2",
    "australia-3",
    "australia-2",
    "america-6",
)


def before(counter, lines="", seats="yellow blue"):
    """The last done of building waits; counter stands at n with n bare cells, and one more goes
    bare on eurasia-5."""
    s = position(
        bare(*DRY[:counter])
        + f"layout count{counter} counter eurasia-5 people:yellow eurasia-5.forest1 bare "
        "eurasia-5.forest2 bare\nphase harvest\n" + lines,
        seats,
    )
    return do(s, "yellow: harvest eurasia-5 wood 1")


def to_the_end_of_round(s):
    while s.phase in ("harvest", "trade", "building"):
        s = do(s, f"{s.turn}: done")
    return s


def test_the_counter():
    """D44: one forward for each cell that lost its last forest this round, never twice for one."""
    s = to_the_end_of_round(before(2))
    assert s.counter == 3 and at(s, "count3") == "counter 1" and at(s, "count2") == ""
    assert any(
        "eurasia-5" in str(t.text) and set(t.sites) == {"count2", "count3"} for t in s.todo()
    )
    s = all_done(s, 4)
    assert s.counter == 3


def test_bare_cells_of_the_layout_are_counted():
    """D44: a cell bare in the layout is already counted, whether the counter is laid or not."""
    for lines in ("layout clear\n" + bare(*DRY[:3]), bare(*DRY[:3])):
        s = position(lines, clear=False)
        assert s.counter == 3 and at(s, "count3") == "counter 1"


@pytest.mark.parametrize("counter, tag", [(4, 1), (7, 2), (10, 3)])
def test_rises(counter, tag):
    """D45, D46: at 5 the islands, at 8 and 11 the cells marked for it."""
    flooded = " ".join(
        f"{c} water" for c, rise in position().world.rise.items() if rise and rise < tag
    )
    s = to_the_end_of_round(before(counter, "layout " + flooded + "\n" if flooded else ""))
    assert s.counter == counter + 1
    for cell, rise in s.world.rise.items():
        assert s.cell(cell).flooded == (rise is not None and rise <= tag), cell
    assert {c for c, r in s.world.rise.items() if r == 1} == {
        "atlantis",
        "mu",
        "easter-island",
        "antarctica",
    }


def test_a_jump_past_two_marks():
    """D46: both flood, in order."""
    s = position(
        bare(*DRY[:4])
        + "layout count4 counter "
        + " ".join(
            f"{c} people:yellow {c}.forest1 bare {c}.forest2 bare"
            for c in ("eurasia-5", "eurasia-3", "africa-2", "eurasia-2")
        )
        + " atlantis people:blue america-2 people:blue\nphase harvest\n"
    )
    for c in ("eurasia-5", "eurasia-3", "africa-2", "eurasia-2"):
        s = do(s, f"yellow: harvest {c} wood 1")
    s = do(s, "yellow: done", "blue: harvest atlantis wood 1", "blue: harvest america-2 wood 1")
    s = to_the_end_of_round(s)
    assert s.counter == 8 and s.phase == "flight" and s.turn == "blue"
    assert at(s, "atlantis") == "water 1" and at(s, "america-2") == "people:blue 1"
    s = do(s, "blue: flee america-2>america-4 people 1")
    assert at(s, "america-2") == "water 1" and s.phase == "movement"


def test_flooded_is_sea():
    """D47: a blue card, ships sail it; the dolmen stays with its points, mines, forests and cards
    go."""
    s = to_the_end_of_round(
        before(
            4, "layout mu mine dolmen:blue mu.forest1 bare mu.forest2 bare mid-indian ship:blue\n"
        )
    )
    assert (
        at(s, "mu") == "water 1 dolmen:blue 1"
        and at(s, "mu.forest1") == ""
        and s.scores()["blue"] == 2
    )
    assert "mu is flooded: put a blue card there, take off a mine, 2 “deforested” cards" in [
        str(t.text) for t in s.todo()
    ]
    assert s.turn == "blue"
    s = do(s, "blue: sail mid-indian>mu 1")
    assert at(s, "mu") == "water 1 ship:blue 1 dolmen:blue 1"


FLIGHT = (
    "layout america-2 people:blue people:blue soldier:blue soldier:blue fanatic "
    "eurasia-4 people:yellow\n"
    "layout america-1 people:yellow america-3 people:blue atlantis water mu water "
    "easter-island water antarctica water\n"
    "layout north-atlantic ship:blue\n"
)


def flight():
    s = before(7, FLIGHT)
    s = do(
        s,
        "yellow: harvest america-1 marble 1",
        "yellow: harvest eurasia-4 gold 1",
        "yellow: done",
        "blue: harvest america-2 marble 1 wood 1",
        "blue: harvest america-3 marble 1",
    )
    return to_the_end_of_round(s)


def test_flight():
    """D48: fanatics drown; people to cells of their own or empty land, soldiers into enemy land
    too; nobody by boat; all who can."""
    s = flight()
    assert (
        s.phase == "flight"
        and s.turn == "yellow"
        and at(s, "america-2") == "people:blue 3 soldier:blue 2"
    )
    assert refused(s, "yellow: done") == ["D48"]
    s = do(s, "yellow: flee eurasia-4>eurasia-3 people 1")
    assert s.turn == "blue"
    assert {"D48", "D13"} <= set(refused(s, "blue: flee america-2>america-1 people 1"))
    assert "D48" in refused(s, "blue: flee america-3>america-1 people 1")
    assert "D48" in refused(s, "blue: flee america-2>america-5 people 1")
    assert "D48" in refused(s, "blue: flee america-2>north-atlantic people 1")
    assert {"D8", "D48"} <= set(
        refused(s, "blue: ferry america-2>eurasia-1 via north-atlantic people 1")
    )
    s = do(s, "blue: flee america-2>america-1 soldier 2")
    assert at(s, "america-1") == "people:yellow 1 soldier:blue 2"
    assert s.phase == "flight"
    s = do(s, "blue: flee america-2>america-4 people 3")
    assert (
        s.phase == "movement"
        and at(s, "america-2") == "water 1"
        and at(s, "america-4") == "people:blue 3"
    )


def test_slaves_in_a_flight():
    """D48: slaves go with soldiers to a cell their colour rules, or drown; freed ones flee by
    themselves, also when their owner comes later in turn order."""
    start = (
        "layout america-2 people:yellow people:yellow soldier:blue soldier:blue "
        "america-3 people:blue\n"
        "layout atlantis water mu water easter-island water antarctica water\n"
    )
    s = before(7, start)
    s = do(
        s,
        "yellow: done",
        "blue: harvest america-2 wood 1 marble 1",
        "blue: harvest america-3 marble 1",
    )
    s = to_the_end_of_round(s)
    assert (
        s.phase == "flight"
        and s.turn == "blue"
        and at(s, "america-2") == "people:yellow 3 soldier:blue 2"
    )
    assert "D16" in refused(s, "blue: flee america-2>america-4 soldier 1 slaves yellow 1")
    t = do(
        s,
        "blue: flee america-2>america-3 soldier 1 slaves yellow 3",
        "blue: flee america-2>america-1 soldier 1",
    )
    assert (
        at(t, "america-3") == "people:yellow 3 people:blue 1 soldier:blue 1"
        and t.phase == "movement"
    )
    t = do(s, "blue: flee america-2>america-3 soldier 2")
    assert t.phase == "flight" and t.turn == "yellow"  # free now, so they can go
    assert do(t, "yellow: flee america-2>america-4 people 3").phase == "movement"


def test_the_drowned_do_not_count():
    """D48, D49: who cannot go is lost; a flooded cell that was not wholly deforested does not
    count. Soldiers may be rebuilt."""
    s = before(4, "layout atlantis people:blue soldier:blue atlantis.forest1 bare\n")
    s = do(s, "yellow: done", "blue: harvest atlantis wood 1")
    s = to_the_end_of_round(s)
    assert (
        s.counter == 5
        and at(s, "atlantis") == "water 1"
        and s.lost == (0, 0, 0, 0)
        and s.soldiers_left(1) == 5
    )
    assert all_done(s, 4).counter == 5


def test_the_end():
    """D50: fourteen at the end of a round."""
    s = to_the_end_of_round(before(12))
    assert s.outcome() is None and s.counter == 13
    s = to_the_end_of_round(before(13))
    assert (
        s.counter == 14
        and s.outcome() is not None
        and s.turn is None
        and s.actors == ()
        and s.legal_actions() == []
    )
    assert refused(s, "yellow: done") == ["D50"]


def ended(lines, seats="yellow blue"):
    return to_the_end_of_round(before(13, lines, seats))


def test_points():
    """D51, D52: two a dolmen, also a flooded one; three each for most trees, ships, soldiers and
    mines."""
    s = ended(
        "layout atlantis water dolmen:blue eurasia-2 soldier:blue mine arctic "
        "ship:yellow ship:yellow southern ship:blue\n"
    )
    # blue: dolmen 2, trees 3 (3 against 0), soldiers 3, mines 3; yellow: ships 3
    assert s.scores() == {"yellow": 3, "blue": 11}
    assert s.outcome().winners == ("blue",)


def test_ties_and_nothing_give_no_bonus():
    """D52: a tie gives it to nobody, zero is never most. D53: equal totals share the win."""
    s = ended("layout arctic ship:yellow southern ship:blue\n")
    assert s.scores() == {"yellow": 0, "blue": 0}
    assert set(s.outcome().winners) == {"yellow", "blue"}


def test_highest_total_wins():
    """D53"""
    s = ended("layout arctic ship:yellow atlantis water dolmen:blue\n")
    assert s.scores() == {"yellow": 3, "blue": 2} and s.outcome().winners == ("yellow",)
