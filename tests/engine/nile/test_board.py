"""The board, the box and the beginning: N1 to N8; other copies' boards."""

from importlib import resources

import pytest

from engine import BadPlan, Plan, script
from engine.nile.board import COLOURS, FRUITS, Board, board_of
from engine.nile.chance import BadEvents, chance_table, read_events
from engine.nile.fit import STRIPS
from engine.nile.setup import cards_dealt
from tests.engine.support.nile_playing import GAME, SEATS, play, rules, start

TEXT = resources.files("engine.nile").joinpath("plan.toml").read_text(encoding="utf-8")
BOARD = board_of(None)


def test_n1_the_box():
    """N1: 75 markers, 15 a colour, in these kinds; 30 desert cards; 2 to 5 players."""
    assert {c: BOARD.box[c] for c in COLOURS} == dict.fromkeys(COLOURS, (5, 4, 3, 2, 1))
    assert FRUITS == ("flax", "grain", "grapes", "onion", "aubergine")
    assert BOARD.deserts == 30
    assert GAME.players == (2, 5)


def test_n2_fields():
    """N2: on each bank rows of 2, 3, 4 and 5, river to desert; palms fall off toward the desert."""
    assert sorted(len(r) for r in BOARD.rows.values()) == [2, 2, 3, 3, 4, 4, 5, 5]
    assert len(BOARD.fields) == 28
    for row in BOARD.rows.values():
        palms = [BOARD.fields[s].palms for s in row]
        assert palms == sorted(palms, reverse=True) and palms[-1] in (1, 2)
        assert BOARD.fields[row[0]].river in (1, 2)


def test_n3_tide_boat_track_market():
    """N3: four market rows, five places in the one at the house; 30 squares; the plan says so."""
    assert [len(BOARD.market[n]) for n in sorted(BOARD.market)] == [5, 4, 3, 2]
    assert len(BOARD.track) == 30 and BOARD.track[0] == "V1"


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_n4_strips_cover_rows_of_these_lengths(n):
    """N4: a row of two and one of three; two of two; one of two; none."""
    assert STRIPS[n] == {2: (2, 3), 3: (2, 2), 4: (2,), 5: ()}[n]
    state = GAME.setup(SEATS[:n])
    covers = [a for a in state.legal_actions() if str(a).startswith("red: cover")]
    assert {len(BOARD.rows[a.row]) for a in covers} == set(STRIPS[n])


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_n5_to_n7_the_beginning(n):
    """N5: 15 markers, figures on the first square, obelisk on the last, flood. N6: two jokers. N7:
    cards dealt evenly."""
    state = GAME.setup(SEATS[:n])
    layout = state.layout()
    assert sorted(layout["V1"]) == sorted(f"figure:{s}" for s in SEATS[:n])
    assert layout["V30"] == ("obelisk",) and layout["flood"] == ("tide",)
    assert [sum(s) for s in state.p.stock] == [15] * n
    assert state.p.jokers == (2,) * n and state.p.deserts == 30 - 2 * n
    assert [state.p.water_left(i) for i in range(n)] == [45 // n] * n
    assert all(abs(a[1] - b[1]) <= 1 for a, b in state.p.piles)
    assert cards_dealt(BOARD, n) == 45 // n


def test_n8_the_starter_gets_the_pillar():
    """N8: who starts is said at set-up, else the first seat."""
    assert GAME.setup(("blue", "red")).turn == "blue"
    assert start("starter blue").turn == "blue"


def changed(**replacements):
    text = TEXT
    for old, new in replacements.values():
        assert old in text
        text = text.replace(old, new)
    return Plan.parse(text)


def test_palms_waves_and_market_come_from_the_plan():
    """N2, N3, N29: a copy with other palms, another river and a shorter market."""
    plan = changed(
        palms=(
            'id = "L4.1"\nreads = "cluster"\ntags = ["field", "palms4", "river1"]',
            'id = "L4.1"\nreads = "cluster"\ntags = ["field", "palms1", "river2"]',
        ),
        market=(
            '[[site]]\nid = "M3.3"\nreads = "pile"\ntags = ["market"]',
            '[[site]]\nid = "X1"\nreads = "pile"\ntags = []',
        ),
    )
    state = start(
        "layout L4.1 ripe:red:flax M3.1 ripe:red:grain M3.2 ripe:blue:grain\nphase actions",
        plan=plan,
    )
    assert "N29" in rules(state, "red: harvest L4.1 M2")
    assert not rules(state, "red: harvest L4.1 M1")
    # two places are a full row
    assert play(state, "red: pass", "blue: pass").scores() == {"red": 2, "blue": 4}
    tide = start("layout L4.2 seed:red:flax\nphase tide", plan=plan)
    assert "N13" in rules(tide, "red: flood L4.1 11")
    assert not rules(tide, "red: flood L4.1 22")


@pytest.mark.parametrize(
    "old, new, word",
    [
        ('tags = ["field", "palms4", "river1"]', 'tags = ["field", "river1"]', "palms"),
        ('id = "boat"', 'id = "ship"', "boat"),
        ('"track"', '"trace"', "track"),
        ('id = "L2.1"', 'id = "L2"', "L2"),
    ],
)
def test_a_plan_that_cannot_be_used_says_why(old, new, word):
    with pytest.raises(BadPlan, match=word):
        Board(Plan.parse(TEXT.replace(old, new)))


def test_events_are_in_an_editable_file():
    """No source gives the counts: the file says so, and a faulty one is named."""
    text = resources.files("engine.nile").joinpath("events.toml").read_text(encoding="utf-8")
    assert "NO SOURCE" in text
    assert set(chance_table()) == {"water", "desert", "arrow", "waves"}
    for broken, word in (
        (text.replace("hippo = 6", "hippos = 6"), "hippos"),
        (text.replace("hippo = 6", "hippo = -1"), "hippo"),
        (text.replace("[arrow]", "[arrows]"), "arrow"),
        ("[", "events.toml"),
        (text.replace("water = 30", "water = 130"), "hundred"),
    ):
        with pytest.raises(BadEvents, match=word):
            read_events(broken)


def test_wave_counts_of_the_plan_go_first():
    plan = changed(counts=('kind = "water:22"\ncount = 0', 'kind = "water:22"\ncount = 40'))
    state = GAME.new(("red", "blue"), plan=plan)
    while not state.chance() or "top" not in str(state.chance()[0][0]):
        state = state.apply(state.chance()[0][0] if state.chance() else state.legal_actions()[0])
    assert [(str(a), p) for a, p in state.chance()] == [("cards: top red 22", 1.0)]


def test_made_up_players_of_some_sense_lay_while_every_card_fits_somewhere():
    state = script.run_script("game nile\nseats red blue yellow\nphase tide\ntide flood\n").state
    legal = {a.words() for a in state.legal_actions()}
    assert "pass" in legal, "nobody sees the cards: it may be"
    assert {a.words() for a in state.promising()} == legal - {"pass"}
    ebb = script.run_script(
        "game nile\nseats red blue yellow\nphase tide\ntide ebb1\nwater L3.1 12\n"
    ).state
    assert ebb.promising() == [], "the score is guide enough"
