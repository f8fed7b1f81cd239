"""What a page shows (issue item 4): hand tiles, scores with their sets, supplies, what the turn has
used, the option in words."""

import msgspec

from engine.text import Text, pack_text
from engine.ur.words import kind_name

LINES = (
    (
        "layout A1 tile:war/trade black black B1 tile:trade/culture black C1 "
        "tile:culture/war ziggurat black"
    ),
    "layout D1 tile:politics/war white E1 tile:trade/politics",
    "hand black agriculture/culture",
    "hand white war/trade",
)


def facts(state, seat):
    found = next(s for s in state.view()["seats"] if s["id"] == seat)
    return {str(f["label"]): str(f["value"]) for f in found["facts"]}


def sets(state, seat):
    """The sets of a seat as a page lists them: members, points; the sum last."""
    rows, on = [], False
    for who, what, points in state.view()["tables"][0]["rows"]:
        on = str(who) == seat if who else on
        if on:
            rows.append((str(what), points))
    return rows


def test_each_player_hand_score_tiles_ziggurats_and_supply(ur):
    state = ur.position(*LINES)
    black = facts(state, "black")
    assert (
        black["hand tile"] == "agriculture (culture on the back)"
        and black["would score now"] == "10"
    )
    assert (
        black["tiles held"] == "2"
        and black["ziggurats"] == "1"
        and black["stones in supply"] == "16"
    )
    assert facts(state, "green")["hand tile"] == "not seen"
    kinds = {f["kind"] for s in state.view()["seats"] for f in s["facts"]}
    assert {"tile:agriculture/culture", "black", "green"} <= kinds


def test_the_sets_behind_the_score_are_shown(ur):
    state = ur.position(*LINES)
    assert sets(state, "Black") == [
        ("agriculture (hand), trade, war, ziggurat", 10),
        ("together", 10),
    ]
    assert sets(state, "Green") == [("together", 0)]
    assert (
        sum(points for what, points in sets(state, "White") if what != "together")
        == state.scores()["white"]
    )


def test_used_actions_and_extra_stones_of_the_turn(ur):
    """U11 to U14: which of the two actions and which bonus this turn has used."""
    state = ur.position(*LINES)
    assert (
        facts(state, "black")["culture"] == "not used"
        and facts(state, "black")["extra stones"] == "none so far"
    )
    assert "agriculture" not in facts(state, "white")
    state = ur.run(state, "black: culture")
    assert (
        facts(state, "black")["culture"] == "used"
        and facts(state, "black")["extra stones"] == "one on a held tile"
    )
    assert str(state.view()["left"]) == "may still use: agriculture"
    done = ur.run(state, "black: extra B1+1")
    assert (
        facts(done, "black")["extra stones"] == "one on B1"
        and str(done.view()["left"]) == "only the swap is left"
    )
    state = ur.run(state, "black: agriculture")
    assert facts(state, "black")["extra stones"] == "two on a held tile, or one on a free tile"
    assert facts(ur.run(state, "black: settle E1"), "black")["extra stones"] == "settled E1"


def test_the_option_in_force_is_said(ur):
    """U13: the page says which reading of the rule is on."""
    notes = [
        " ".join(map(str, ur.position(*LINES, f"option bonus {o}").view()["notes"]))
        for o in ("as-written", "for-restraint")
    ]
    assert "for using both actions" in notes[0] and "for using neither action" in notes[1]


def test_tracks_and_what_comes(ur):
    state = ur.position(*LINES)
    tracks = {t["id"]: (t["value"], t["max"]) for t in state.view()["tracks"]}
    assert tracks == {"ziggurats": (4, 5), "free": (1, 36)}
    assert any(
        "come back" in str(t)
        for t in ur.run(state, "black: swap E1 culture", "white: swap E1 war").view()["coming"]
    )


def test_views_of_every_moment_are_plain_data(ur):
    import random

    rng = random.Random(3)
    state = ur.GAME.new(ur.SEATS[:3])
    while state.outcome() is None:
        view = state.view()
        assert msgspec.json.decode(msgspec.json.encode(pack_text(view)))
        assert isinstance(view["phase"], Text) and [s["id"] for s in view["seats"]] == list(
            state.seats
        )
        assert all(
            set(f) == {"label", "value", "colour", "kind", "secret"}
            for s in view["seats"]
            for f in s["facts"]
        )
        state = state.apply(ur.some_action(state, rng))
    assert str(state.view()["phase"]) == "the game is over"


def test_decisions_ask_only_what_no_camera_sees(ur):
    """U23: that a turn without a swap is done; and a hand tile that never was in view."""
    state, _ = ur.opened(8, 4)
    assert state.decision() is None
    unseen = state.changed(hands=(None, *state.hands[1:]))
    [choice] = unseen.decision().choices
    assert ur.run(unseen, choice.action).hands[0].split("/") == sorted(state.hands[0].split("/"))
    p = state.mover
    blocked = state.changed(
        owner=tuple(q if q >= 0 else p for q in state.owner),
        count=tuple(max(1, n) for n in state.count),
    )
    [choice] = blocked.decision().choices
    assert ur.run(blocked, choice.action).outcome() is not None
    assert blocked.todo()[-1].seat == state.seats[p]


def test_kind_names():
    assert str(kind_name("black")) == "a black stone"
    assert str(kind_name("tile:war/trade")) == "the tile war (trade on the back)"
    assert str(kind_name("ziggurat")) == "a ziggurat" and str(kind_name("cup")) == "cup"


def test_a_board_that_is_not_laid_out_says_how_many_tiles_are_missing(ur):
    """U4: an empty table waits for 36 tiles."""
    state = ur.GAME.setup(("black", "white", "green"))
    assert str(state.view()["left"]) == "tiles still to be laid out: 36"
    state = ur.run(state, "box: lay A1 war/trade")
    assert str(state.view()["left"]) == "tiles still to be laid out: 35"
