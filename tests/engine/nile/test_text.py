"""Notation and set-up lines: what is said wrongly is refused with a sentence, what is said
otherwise means the same."""

import re

import pytest

from engine import BadText, script
from engine.game import Statement
from tests.engine.support.nile_playing import GAME, play, start

STARTED = "layout L4.1 seed:red:flax\nphase actions\n"


@pytest.mark.parametrize(
    "line, word",
    [
        ("sow L4.2 flax", "action"),
        ("red sow", "action"),
        ("pink: sow L4.2 flax", "pink"),
        ("red: dance", "dance"),
        ("red: sow L4.9 flax", "L4.9"),
        ("red: sow L4.2 corn", "corn"),
        ("red: sow L4.2", "sow L4.2 flax"),
        ("red: sow L4.2 blue:flax", "blue:flax"),
        ("red: flood L5.2 33", "33"),
        ("red: flood M1.1 21", "M1.1"),
        ("red: flood L5.2 21 :", "event"),
        ("red: ebb L5.2 : rain", "rain"),
        ("red: ebb L5.2 : spoil1 desert", "one picture"),
        ("red: ebb L5.2 : spoil5", "spoil5"),
        ("red: harvest L4.1 M9", "M9"),
        ("red: harvest L4.1 L4", "L4"),
        ("red: spoil M3 0", "0"),
        ("red: spoil", "spoil M3 1 2"),
        ("red: fist many", "many"),
        ("red: buy pink:flax", "pink"),
        ("red: plant L5.1 bad flax", "bad"),
        ("red: cover L9", "L9"),
        ("red: freshen L4.1", "L4.1"),
        ("red: pass now", "pass"),
        ("cards: pass", "cards"),
        ("die: start green", "green"),
        ("red:", "action"),
        ("red: __init__", "__init__"),
        ("red: top blue 99", "99"),
        ("red: desert M1.1", "M1.1"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(line, word):
    with pytest.raises(BadText, match=word):
        start(STARTED).parse(line)


@pytest.mark.parametrize(
    "said, printed",
    [
        ("red: spoil M3 2 1", "red: spoil M3 1 2"),
        ("red: spoil M3 M3.2", "red: spoil M3 2"),
        ("red: boat grain red:flax", "red: boat flax grain"),
        ("red: buy red:flax", "red: buy flax"),
        ("red:  ebb  L5.2:desert", "red: ebb L5.2 : desert"),
        ("red: flood L5.2 water:21", "red: flood L5.2 21"),
        ("red: flood L5.2 21 : arrow spoil3", "red: flood L5.2 21 : spoil3 arrow"),
        ("red: ebb L5.2 : arrow", "red: ebb L5.2 : arrow"),
        ("red: event none arrow", "red: event none arrow"),
        ("red: event : hippo", "red: event hippo"),
        ("red: start", "red: start red"),
        ("cards: top blue 21", "cards: top blue 12"),
    ],
)
def test_order_is_free_print_is_not(said, printed):
    state = start(STARTED)
    action = state.parse(said)
    assert str(action) == printed
    assert state.parse(printed) == action


@pytest.mark.parametrize(
    "line, word",
    [
        ("layout K9 cover", "K9"),
        ("layout L4.1 temple", "temple"),
        ("layout", "layout"),
        ("layout L4.1 figure:red", "figure:red"),
        ("layout V3 tide", "tide"),
        ("layout V3 figure:green", "green"),
        ("layout flood desert", "desert"),
        ("layout M1.1 ripe:red:flax ripe:red:grain", "one fruit"),
        ("layout L4.1 desert water:11", "one card"),
        ("layout boat desert", "desert"),
        ("option music on", "music"),
        ("option hippo loud", "loud"),
        ("phase lunch", "lunch"),
        ("starter green", "green"),
        ("score red many", "many"),
        ("score red", "score red 5"),
        ("obelisk 31", "31"),
        ("tops red 99", "99"),
        ("tops red 11 11 11", "two piles"),
        ("jokers red -1", "-1"),
        ("tide spring", "spring"),
        ("cover M1", "M1"),
        ("boat flax", "whose"),
        ("plant L5.1 seed flax", "whose"),
        ("water L5.1 99", "99"),
        ("hand red flax", "hand"),
        ("now what", "now what"),
        ("now piles red 1", "now piles red 1"),
        ("now stock red 1 2", "now stock"),
    ],
)
def test_a_bad_set_up_line_is_named(line, word):
    with pytest.raises(script.BadScript, match=rf"^line 4: .*{word}"):
        script.parse_script(f"game nile\nseats red blue\nphase actions\n{line}\n").start()


@pytest.mark.parametrize("seats", [("red",), ("red", "red"), ("red", "pink"), ()])
def test_seats_that_cannot_play(seats):
    with pytest.raises(BadText):
        GAME.setup(seats)


def test_options_without_the_word():
    state = start("bidding\noption hippo\noption freshen off\nbuy-others on")
    assert state.p.options == ("hippo", "bidding", "buy-others")


def test_two_ways_to_say_a_score():
    """A score of n stands on V(n+1)."""
    for line in ("score red 5", "layout V6 figure:red"):
        state = start(f"{line}\nphase actions")
        assert state.scores() == {"red": 5, "blue": 0}
        assert state.layout()["V6"] == ("figure:red",)


def test_load_refuses_what_is_no_position():
    with pytest.raises(BadText):
        GAME.load({"seats": "red"})
    with pytest.raises(BadText):
        GAME.load({**start(STARTED).to_json(), "seats": ["red", "pink"]})


def test_a_moment_inside_an_event_is_written_and_read_back():
    state = play(
        start("option hippo on\nlayout L4.1 water:12 R3.1 water:11\ntide ebb1\nphase tide"),
        "red: ebb L4.1 : hippo",
        "red: fist 1",
    )
    again = script.parse_script(state.to_text()).start()
    assert again == state and again.actors == state.actors == ("blue",)
    assert GAME.load(state.to_json()) == state


def test_statement_order_does_not_matter():
    lines = [
        Statement(i, tuple(w.split()))
        for i, w in enumerate(
            (
                "phase actions",
                "starter blue",
                "layout L4.1 seed:blue:flax",
                "jokers blue 1",
                "option freshen on",
            )
        )
    ]
    assert GAME.setup(("red", "blue"), lines) == GAME.setup(("red", "blue"), lines[::-1])


def test_the_sentences_of_a_scoring_in_order():
    """N41, N42, N43: boat, obelisk, points, then the scored fruit for sale"""
    state = play(
        start(
            "layout M4.1 ripe:blue:flax boat seed:blue:onion seed:red:onion L4.1 "
            "ripe:red:grain\nobelisk 20\n"
            "phase actions\n",
            "red blue",
        ),
        "red: harvest L4.1 M4",
        "red: pass",
        "blue: pass",
    )
    assert [str(s.text) for s in state.steps] == [
        "Blue passes",
        "the pillar goes to Blue",
        "take all markers out of the boat: they leave the game",
        "move the obelisk 2 squares toward the figures, to V18",
        "row M4 is scored: Red 4, Blue 2: move the figures forward",
        "put the fruit of M4 into the boat, seed side up",
    ]


@pytest.mark.parametrize(
    "line, words",
    [
        ("ebb L4.1 : spoil2 arrow", "Red takes the water card off L4.1; the card shows two palms"),
        ("ebb L4.1", "Red takes the water card off L4.1$"),
        ("event desert", "the card shows the desert"),
        ("flood L5.5 11 : hippo", "Red lays the water card .* on L5.5; the card shows a hippo"),
    ],
)
def test_a_moves_words_name_what_the_card_shows(line, words):
    """N20, N18: what people did, as the list of moves tells it."""
    tide = "flood" if line.startswith("flood") else "ebb1"
    row = "L5.1 water:11 L5.2 water:11 L5.3 water:11 L5.4 water:11 L5.5 desert"
    state = start(f"layout L4.1 water:12 {row}\ntide {tide}\nphase tide\n")
    if line.startswith("event"):
        state = state.apply(state.parse("red: ebb L4.1"))
    after = state.apply(state.parse(f"red: {line}"))
    assert re.match(words, "; ".join(str(s.text) for s in after.steps if s.by_hand))


def test_two_cards_taken_in_silence_are_written_and_read_back():
    """N20: until more is said either may have been the second."""
    state = start("layout L4.1 water:12 L3.1 water:21\ntide ebb1\nphase tide\n")
    for text in ("red: ebb L4.1", "red: ebb L3.1"):
        state = state.apply(state.parse(text))
    assert state.p.unsaid == "L4.1"
    assert script.parse_script(state.to_text()).start().key() == state.key()
