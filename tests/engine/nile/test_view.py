"""What the page shows, what is asked on phones, and what waits to be done on the board."""

import json

from engine.art import load_art
from engine.text import pack_text
from tests.engine.support.nile_playing import GAME, play, start


def track(state, name):
    return next(t for t in state.view()["tracks"] if t["id"] == name)


def facts(state, seat):
    seats = {s["id"]: s["facts"] for s in state.view()["seats"]}
    return {str(f["label"]): f["value"] for f in seats[seat]}


def table(state, title):
    return next(t for t in state.view()["tables"] if str(t["title"]) == title)


MID = """option freshen on
layout L4.1 water:12 M2.1 ripe:blue:flax M2.2 ripe:red:grain M2.3 seed:blue:onion
layout M4.1 ripe:red:flax M4.2 ripe:blue:grain
layout boat seed:red:flax seed:blue:flax seed:blue:onion
score red 7
score blue 12
obelisk 25
jokers red 2
"""


def test_the_tide_and_who_decides():
    state = start(MID + "starter blue\nphase tide")
    assert [str(s) for s in track(state, "tide")["steps"]] == ["flood", "ebb 1", "ebb 2"]
    assert track(state, "tide")["value"] == 0
    assert (
        str(track(state, "tide")["means"]) == "Blue lays two water cards from the tops of two piles"
    )
    assert str(state.view()["left"]) == "2 cards to lay"
    ebb = start(MID + "tide ebb2\nphase tide")
    assert "Red takes two water cards" in str(track(ebb, "tide")["means"])
    assert "L4.1" in ebb.view()["highlight"] and "L4.4" in ebb.view()["highlight"]
    assert "Blue will lay two" in str(track(start(MID + "phase actions"), "tide")["means"])


def test_the_phases_of_the_round_as_the_overview_card_has_them():
    state = start(MID + "phase actions")
    steps = [str(s) for s in track(state, "phases")["steps"]]
    assert [s[0] for s in steps] == ["1", "2", "3", "4"] and track(state, "phases")["value"] == 1
    assert str(state.view()["phase"]) == steps[1]
    assert track(GAME.setup(("red", "blue")), "phases")["value"] is None


def test_points_and_jokers_left():
    state = play(start(MID + "phase actions"), "red: sow L4.2 flax")
    assert str(state.view()["left"]) == "2 action points left, 2 jokers"
    assert facts(state, "red")["jokers"] == 2 and facts(state, "red")["action points left"] == 2
    assert "action points left" not in facts(state, "blue")
    assert facts(state, "red")["points"] == 7


def test_the_market_with_its_next_place_and_what_it_refuses():
    rows = {r[0]: r for r in table(start(MID + "phase actions"), "Market")["rows"]}
    assert rows["M2"][2] == "M2.4" and str(rows["M2"][3]) == "grain, onion" and rows["M2"][4] == 1
    assert str(rows["M4"][2]) == "full"
    assert rows["M1"][2] == "M1.1" and rows["M1"][3] == ""


def test_the_coming_scoring_and_the_distance():
    state = start(MID + "phase actions")
    coming = [str(t) for t in state.view()["coming"]]
    assert coming[0] == "row M4 is full: Blue 4, Red 2"
    assert coming[1] == "then the boat is emptied and the obelisk moves 2 squares"
    assert track(state, "distance")["value"] == 25 - 13
    assert track(state, "obelisk")["marks"] == [8, 13]


def test_the_boat_by_colour():
    rows = table(start(MID + "phase actions"), "Boat")["rows"]
    assert [r[-1] for r in rows] == [1, 2]


def test_the_variants_in_force():
    notes = [str(n) for n in start(MID + "phase actions").view()["notes"]]
    assert notes == ["variant: jokers freshen bad fruit"]
    assert [str(n) for n in start("phase actions").view()["notes"]] == ["no variants"]


def test_an_event_is_asked_with_pictures():
    state = play(start(MID + "layout L4.2 water:21\ntide ebb1\nphase tide"), "red: ebb L4.2")
    decision = state.decision()
    assert decision.seat == "red" and decision.sites == ("L4.2",)
    assert {c.picture for c in decision.choices} >= {
        "event:spoil3",
        "event:desert",
        "event:hippo-arrow",
        "event:none",
    }
    art = load_art("nile")
    assert all(art.knows(c.picture) and art.piece(c.picture) for c in decision.choices)
    assert [t.seat for t in state.todo() if t.sites == ("L4.2",)] == ["red"]
    arrow = play(state, "red: event arrow")
    assert len(arrow.decision().choices) == 7  # only its picture is open now


def test_choosing_what_goes_bad_is_seen_not_asked():
    state = play(
        start(MID + "layout L4.2 water:21\ntide ebb1\nphase tide"), "red: ebb L4.2 : spoil2"
    )
    assert not state.decision().ask
    # an empty row only words can tell
    assert [str(c.action) for c in state.decision().choices] == ["red: spoil M1"]


def test_fists_are_asked_seat_by_seat():
    state = play(
        start("option hippo on\nlayout L4.1 water:12 R3.1 water:11\ntide ebb1\nphase tide"),
        "red: ebb L4.1 : hippo",
    )
    assert state.decision().seat == "red" and state.actors == ("red", "blue")
    state = play(state, "red: fist 0")
    assert state.decision().seat == "blue" and state.turn == "blue"
    state = play(state, "blue: fist 2")
    assert not state.decision().ask and state.decision().sites == ("boat",)


def test_the_page_can_show_any_moment():
    json.dumps(pack_text(start(MID + "phase actions").view()))
    names = [
        str(GAME.kind_name(k))
        for k in ("ripe:red:flax", "water:21", "tide", "figure:blue", "cover", "mystery")
    ]
    assert names == [
        "the ripe flax of Red",
        "the water card with waves 2 to the river and 1 to the desert",
        "the tide stone",
        "the figure of Blue",
        "the cover strip",
        "mystery",
    ]


def test_the_tide_says_what_is_still_to_be_laid_or_taken():
    ebb = start(MID + "layout L5.1 water:22\ntide ebb2\nphase tide")
    one = ebb.apply(ebb.parse(f"{ebb.turn}: ebb L4.1 : none"))
    assert (
        "one more water card" in str(track(one, "tide")["means"])
        and str(one.view()["left"]) == "1 card to take"
    )
    # N22: the arrow brings flood, its picture is asked
    over = ebb.apply(ebb.parse(f"{ebb.turn}: ebb L4.1 : arrow"))
    assert over.p.phase == "tide" and "will lay two water cards" in str(
        track(over, "tide")["means"]
    )
    assert over.view()["left"] is None


def test_what_may_go_bad_is_marked_and_told():
    ebb = start(
        "layout clear\nlayout L4.1 water:12 L5.1 water:22 M1.1 ripe:red:flax M1.2 "
        "rotten:blue:grain M3.1 seed:red:onion\n"
        "tide ebb1\nphase tide"
    )
    state = ebb.apply(ebb.parse(f"{ebb.turn}: ebb L4.1 : spoil2"))
    assert str(state.view()["coming"][0]) == "Two fruits of one of these rows go bad: M1, M2"
    assert list(state.view()["highlight"]) == ["M1.1"]


def test_two_rows_scored_are_told_together():
    state = start(
        "layout clear\nlayout M4.1 ripe:red:flax M4.2 ripe:blue:grain M3.1 ripe:red:flax "
        "M3.2 ripe:red:grain "
        "M3.3 ripe:red:onion\nphase scoring"
    )
    texts = [str(s.text) for s in state.steps]
    assert any("rows M3, M4 are scored: Red 8, Blue 4 in all" in t for t in texts), texts
