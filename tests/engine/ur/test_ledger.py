"""The ledger's numbers, one test or more each; what a script shows better is in
tests/scripts/ur."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import BadText, script
from engine.plan import BadPlan, Plan
from engine.ur.board import Board
from engine.ur.scoring import WORTH, best_sets, best_with_hand, sets_worth
from engine.ur.words import DOMAINS

HANDS = ("hand black trade/agriculture", "hand white culture/war", "hand green politics/culture")


def test_U1_forty_tiles_in_ten_pairs_of_four(ur):
    board = ur.GAME.new(ur.SEATS).board
    assert len(board.pairs) == 10 and set(board.pairs.values()) == {4}
    state, _ = ur.opened(1, 4)
    tiles = [frozenset(t.split("/")) for t in (*state.tiles, *state.hands)]
    assert len(tiles) == 40 and all(tiles.count(both) == 4 for both in set(tiles))


def test_U1_no_fifth_tile_of_a_pair(ur):
    state = ur.GAME.setup(ur.SEATS)
    state = ur.run(
        state, *(f"box: lay {s} war/trade" for s in ("A1", "A2", "A3")), "box: lay A4 trade/war"
    )
    assert ur.broken(state, "box: lay A5 war/trade") == ["U1"]
    assert ur.broken(state, "box: lay A5 war/culture") == []


def test_U2_five_ziggurats_and_twenty_stones(ur):
    state = ur.GAME.new(ur.SEATS)
    assert state.board.ziggurats == 5
    assert state.supplies == (20, 20, 20, 20)


@pytest.mark.parametrize(
    "seats", [("black", "white"), ("black",), ("black", "white", "green", "black")]
)
def test_U3_three_or_four_players(ur, seats):
    with pytest.raises(BadText):
        ur.GAME.new(seats)


def test_U4_neighbours_with_the_same_face_are_warned_about(ur):
    state = ur.position(
        "layout A1 tile:war/trade B1 tile:war/culture A2 tile:culture/war B2 tile:culture/trade",
        *HANDS,
    )
    assert state.phase == "put"
    notes = " ".join(map(str, state.view()["notes"]))
    assert (
        "U4" in notes and "A1 and B1" in notes and "A2 and B2" in notes and "A1 and A2" not in notes
    )
    assert set(state.view()["highlight"]) == {"A1", "B1", "A2", "B2"}
    assert ur.broken(state, "black: put A1") == []
    assert not ur.position("layout A1 tile:war/trade B1 tile:trade/war", *HANDS).view()["highlight"]


def test_U4_the_last_tile_laid_brings_the_warning(ur):
    state = ur.GAME.setup(ur.SEATS[:3])
    left = [t for both in sorted(map(sorted, state.board.pairs)) for t in ["/".join(both)] * 4]
    for site, tile in zip(state.board.sites, left):
        assert state.phase == "lay"
        state = ur.run(state, f"box: lay {site} {tile}")
    assert state.phase == "put"
    assert any("U4" in str(s.text) and "A1 and B1" in str(s.text) for s in state.steps)


def test_U5_hand_tiles_beside_the_square_and_a_spare_for_three(ur):
    state, _ = ur.opened(3, 3)
    assert None not in state.hands and state.spare is not None
    assert {"hand1", "hand2", "hand3", "spare"} <= set(state.layout())
    state, _ = ur.opened(3, 4)
    assert state.spare is None and "spare" not in state.layout() and "hand4" in state.layout()
    four = ur.position(
        "layout A1 tile:war/culture black",
        *HANDS,
        "spare war/trade",
        seats="black white green blue",
    )
    assert "U22" in ur.broken(four, "black: swap spare")


def test_U6_U7_nine_stones_then_the_first_swaps(ur):
    state, _ = ur.opened(5, 3)
    assert sum(state.count) == 9 and all(state.count[i] <= 5 for i in range(36))
    for p in range(3):
        assert sum(state.count[i] for i in state.own(p)) == 3


def test_U8_swap_of_the_first_round_may_lay_either_face(ur):
    state = ur.position(
        "layout A1 tile:war/trade black B1 tile:trade/agriculture", *HANDS, "phase swap"
    )
    for up in ("trade", "agriculture"):
        assert ur.run(state, f"black: swap B1 {up}").layout()["B1"][0].startswith(f"tile:{up}/")
    assert ur.run(state, "black: pass", "white: pass", "green: pass").phase == "turn"


def test_U9_out_of_turn_and_not_on_the_hand_tile(ur):
    state = ur.position(
        "layout A1 tile:war/trade black B1 tile:trade/agriculture white C1 tile:politics/war",
        *HANDS,
    )
    assert "U9" in ur.broken(state, "white: culture")
    assert {"U9", "U11"} <= set(ur.broken(state, "black: politics"))
    assert "U9" in ur.broken(state, "black: put A1")


def test_U10_every_way_to_a_sixth_stone(ur):
    state = ur.position(
        (
            "layout A1 tile:trade/war black black black black black A2 tile:agriculture/war "
            "black black black black"
        ),
        "layout B1 tile:war/trade black black C1 tile:culture/war",
        "hand black trade/agriculture",
        *HANDS[1:],
    )
    assert "U10" in ur.broken(state, "black: trade A1+1")
    assert "U10" in ur.broken(state, "black: agriculture A2+2")
    assert "U10" in ur.broken(
        state.changed(hands=("politics/war", *state.hands[1:])), "black: politics B1>A1:1"
    )
    assert "U10" in ur.broken(ur.run(state, "black: trade"), "black: extra A1+1")


def test_U11_a_war_goes_on_until_another_domain(ur):
    state = ur.position(
        (
            "layout A1 tile:war/trade black black black black B1 tile:war/culture C1 "
            "tile:war/agriculture"
        ),
        "layout A2 tile:culture/war",
        "hand black war/trade",
        *HANDS[1:],
    )
    state = ur.run(state, "black: war A1>B1:2", "black: war B1>C1:1")
    assert ur.broken(state, "black: war A1>A2:1") == []
    assert ur.broken(ur.run(state, "black: trade"), "black: war A1>A2:1") == ["U11"]


def test_U12_U13_what_each_number_of_actions_earns(ur):
    lines = (
        "layout A1 tile:war/trade black B1 tile:trade/agriculture C1 tile:politics/war",
        "hand black trade/culture",
    )
    for option, earned in (("as-written", (0, 1, 2)), ("for-restraint", (2, 1, 0))):
        state = ur.position(*lines, *HANDS[1:], f"option bonus {option}")
        for n, line in zip(earned, ("", "black: trade", "black: culture")):
            state = ur.run(state, line) if line else state
            assert (not ur.broken(state, "black: extra A1+1")) == (n >= 1)
            assert (not ur.broken(state, "black: extra A1+2")) == (n == 2)
            assert (not ur.broken(state, "black: settle C1")) == (n == 2)
            for refused in ("black: extra A1+1", "black: settle C1"):
                assert set(ur.broken(state, refused)) <= {"U12", "U13", "U14"}


def test_U13_the_option_is_asked_in_words(ur):
    [option] = ur.GAME.options
    assert option.values == ("as-written", "for-restraint") and len(option.value_texts) == 2
    with pytest.raises(script.BadScript, match="line 4: option bonus"):
        ur.position("option bonus sometimes")


def test_U14_no_action_after_the_extra_stones(ur):
    state = ur.position(
        "layout A1 tile:war/trade black B1 tile:trade/agriculture",
        "hand black trade/culture",
        *HANDS[1:],
    )
    state = ur.run(state, "black: trade", "black: extra A1+1")
    assert ur.broken(state, "black: culture") == ["U14"]


def test_U14_no_extra_stone_before_an_action(ur):
    state = ur.position(
        "layout A1 tile:war/trade black B1 tile:trade/agriculture",
        "hand black trade/culture",
        *HANDS[1:],
    )
    assert {"U12", "U13", "U14"} == set(ur.broken(state, "black: extra A1+1"))


def test_U8_passes_nobody_says_are_implied(ur):
    state = ur.position(
        "layout A1 tile:war/trade black B1 tile:trade/agriculture", *HANDS, "phase swap"
    )
    assert [str(x) for x in state.implied(state.parse("green: swap B1 culture"))] == [
        "black: pass",
        "white: pass",
    ]
    assert [str(x) for x in state.implied(state.parse("black: trade"))] == [
        "black: pass",
        "white: pass",
        "green: pass",
    ]
    assert (
        state.implied(state.parse("black: culture"))
        == ()
        == state.implied(state.parse("black: pass"))
    )


def test_U15_a_short_supply(ur):
    full = " ".join(["black"] * 5)
    state = ur.position(
        f"layout A1 tile:trade/war black B3 tile:war/trade {full} C3 tile:war/trade {full}",
        f"layout D3 tile:war/trade {full} E3 tile:war/trade black black black",
        "layout F6 tile:culture/war",
        "hand black trade/culture",
        *HANDS[1:],
    )
    assert state.supplies[0] == 1
    assert ur.broken(state, "black: trade A1+2") == ["U15"]
    state = ur.run(state, "black: trade A1+1")
    assert ur.broken(state, "black: extra A1+1") == ["U15"]


def test_U16_U17_a_ziggurat_takes_five_stones(ur):
    five = " ".join(["black"] * 5)
    state = ur.position(f"layout A1 tile:war/trade {five} B1 tile:trade/war black", *HANDS)
    assert ur.broken(state, "black: ziggurat B1") == ["U16"]
    after = ur.run(state, "black: ziggurat A1")
    assert (
        after.layout()["A1"] == ("tile:war/trade", "ziggurat", "black") and after.supplies[0] == 18
    )
    shown = [s.changes["A1"] for s in after.steps]
    assert shown[0] == ("tile:war/trade", "ziggurat", *["black"] * 5) and shown[-1] == (
        "tile:war/trade",
        "ziggurat",
        "black",
    )
    assert "U16" in ur.broken(after, "black: trade B1+1")


def test_U18_U19_nothing_touches_a_ziggurat(ur):
    state = ur.position(
        (
            "layout B2 tile:culture/war ziggurat white C2 tile:culture/agriculture black A2 "
            "tile:trade/war white"
        ),
        "layout B1 tile:war/trade ziggurat black",
        "hand black culture/war",
        *HANDS[1:],
    )
    after = ur.run(state, "black: culture")
    assert after.layout() == state.layout()
    for line in (
        "black: war C2>B2:1",
        "black: war B1>B2:1",
        "black: swap B2 war",
        "black: extra B1+1",
    ):
        assert "U18" in ur.broken(state, line)
    assert "U19" in ur.broken(state, "black: war B1>A2:1")


def test_U20_another_pair_and_what_was_taken_is_shown(ur):
    state = ur.position(
        "layout A1 tile:war/culture black B1 tile:agriculture/trade C1 tile:war/politics", *HANDS
    )
    assert ur.broken(state, "black: swap B1 trade") == ["U20"]
    assert ur.broken(state, "black: swap A1 trade") == ["U20"]
    assert ur.broken(state, "black: swap C1 war") == ["U20"]
    after = ur.run(state, "black: swap C1 agriculture")
    assert after.layout()["hand1"] == ("tile:war/politics",) and after.layout()["C1"] == (
        "tile:agriculture/trade",
    )
    assert [s.by_hand for s in after.steps] == [True, False] and after.steps[1].sites == ("hand1",)


def test_U21_return(ur):
    state = ur.position(
        (
            "layout A1 tile:war/culture white B1 tile:agriculture/trade C1 tile:war/politics "
            "ziggurat black"
        ),
        *HANDS,
    )
    after = ur.run(state, "black: return B1")
    assert after.layout()["B1"] == ("tile:agriculture/trade", "black", "black", "black")
    assert "U21" in ur.broken(after, "black: trade")
    assert "U21" in ur.broken(state, "white: return B1")


def test_U22_the_spare_is_free_for_three(ur):
    state = ur.position(
        "layout A1 tile:war/culture black B1 tile:agriculture/trade", *HANDS, "spare war/politics"
    )
    after = ur.run(state, "black: swap spare")
    assert after.spare == "trade/agriculture" and after.hands[0] == "war/politics"
    assert str(after.parse("black: swap spare war")) == "black: swap spare"


def test_U23_only_while_nothing_can_be_swapped_for(ur):
    state = ur.position("layout A1 tile:war/culture black black B1 tile:agriculture/trade", *HANDS)
    assert not state.can_swap() and state.outcome() is None
    assert (
        str(state.decision().choices[0].action) == "black: pass"
        if None not in state.tiles
        else state.decision() is None
    )
    over = ur.run(state, "black: pass")
    assert (
        over.outcome().winners == ("black",)
        and over.legal_actions() == []
        and over.actors == ()
        and over.turn is None
    )
    assert ur.broken(over, "black: trade") == ["U23"]
    assert ur.broken(state.changed(spare="war/politics"), "black: pass") == ["U20"]


def test_U24_the_round_is_played_out(ur):
    zigs = " ".join(f"{s} tile:war/trade ziggurat white" for s in ("A1", "A3", "A5", "C1", "C3"))
    state = ur.position(
        f"layout {zigs}",
        "layout F1 tile:politics/war F2 tile:trade/politics F3 tile:culture/trade",
        *HANDS,
    )
    state = ur.run(state, "black: swap F1 trade")
    assert any("the last ziggurat" in str(t) for t in state.view()["coming"])
    state = ur.run(state, "white: swap F2 war")
    assert state.outcome() is None
    state = ur.run(state, "green: swap F3 politics")
    assert state.outcome() is not None and ur.broken(state, "black: culture") == [
        "U24",
        "U9",
        "U11",
    ]


def test_U25_U26_U27_worth_of_sets():
    assert [WORTH[k] for k in range(7)] == [0, 1, 3, 6, 10, 15, 21]
    assert best_with_hand({}, 0, "war/trade")[0] == 1
    assert best_with_hand({"war": 1}, 0, "war/trade")[0] == 3  # the hand tile counts as trade
    assert sets_worth(best_sets({}, 3)) == 3  # no two ziggurats in a set
    assert sets_worth(best_sets(dict.fromkeys(DOMAINS, 1), 1)) == 21


def test_U28_the_example():
    tiles = {"agriculture": 3, "trade": 2, "war": 2, "politics": 1, "culture": 1}
    points, sets, face = best_with_hand(tiles, 1, "war/politics")
    assert (points, face) == (32, "politics") and [len(s) for s in sets] == [6, 4, 1]


def divisions(counts):
    """Every division of so many pieces a kind into sets without doubles, by trying all."""
    counts = tuple(counts)
    if not any(counts):
        yield 0
        return
    there = [k for k, n in enumerate(counts) if n]
    first = there[0]
    for size in range(len(there)):
        for rest in itertools.combinations(there[1:], size):
            members = {first, *rest}
            for worth_of_rest in divisions([n - (k in members) for k, n in enumerate(counts)]):
                yield WORTH[len(members)] + worth_of_rest


@given(st.lists(st.integers(0, 2), min_size=6, max_size=6).filter(lambda c: sum(c) <= 8))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_U26_U27_the_division_is_the_best_there_is(counts):
    tiles = dict(zip(DOMAINS, counts))
    sets = best_sets(tiles, counts[5])
    assert sets_worth(sets) == max(divisions(counts))
    assert sum(map(len, sets)) == sum(counts)


def test_U27_any_number_of_tiles_is_quick_and_exact():
    assert sets_worth(best_sets({"war": 1000, "trade": 999}, 5)) == 5 * 6 + 994 * 3 + 1


def test_U27_equal_totals_share(ur):
    state = ur.position(
        "layout A1 tile:war/culture black B1 tile:war/trade white C1 tile:agriculture/trade",
        *HANDS,
        "phase over",
        "done game U24",
    )
    assert state.outcome().winners == ("black", "white") and state.scores() == {
        "black": 3,
        "white": 3,
        "green": 1,
    }


def test_U29_U30_agriculture_takes_first_and_gives_after(ur):
    state = ur.position(
        (
            "layout A1 tile:agriculture/war black B1 tile:war/trade black C1 tile:trade/war "
            "black black"
        ),
        "hand black agriculture/war",
        *HANDS[1:],
    )
    after = ur.run(state, "black: agriculture A1+2")
    assert after.layout()["A1"].count("black") == 3 and after.layout()["B1"].count("black") == 1
    assert after.layout()["C1"].count("black") == 1
    assert [str(t.text) for t in after.todo()] == ["take one black stone off C1"]
    assert ur.broken(state, "black: agriculture B1+1") == ["U30"]


def test_U31_sides(ur):
    state = ur.position(
        (
            "layout B1 tile:trade/war black C1 tile:trade/culture white A1 tile:war/trade "
            "black B2 tile:war/culture"
        ),
        "hand black trade/war",
        *HANDS[1:],
    )
    assert ur.broken(state, "black: trade B1+2") == []  # the border above, white to the right
    assert ur.broken(state, "black: trade B1+3") == ["U31"]
    assert ur.broken(state, "black: trade") == []


def test_U32_culture_for_everybody(ur):
    state = ur.position(
        (
            "layout B2 tile:culture/war black B1 tile:trade/culture white A2 tile:war/trade "
            "green green"
        ),
        "layout C2 tile:war/culture",
        "hand black culture/war",
        *HANDS[1:],
    )
    after = ur.run(state, "black: culture")
    assert [str(t.text) for t in after.todo()] == [
        "one more white stone on B1",
        "one more green stone on A2",
    ]
    assert after.layout()["C2"] == ("tile:war/culture",)


def test_U33_politics_keeps_the_number(ur):
    state = ur.position(
        "layout B2 tile:culture/war black black F6 tile:trade/culture black C2 tile:war/culture",
        "hand black politics/war",
        *HANDS[1:],
    )
    after = ur.run(state, "black: politics B2>F6:2")
    assert after.supplies == state.supplies and after.free(after.board.index["B2"])
    assert ur.broken(state, "black: politics B2>C2:1") == ["U33"]
    assert ur.broken(state, "black: politics B2>F6:3") == ["U33"]


def test_U34_U35_an_attack_in_steps(ur):
    state = ur.position(
        (
            "layout C3 tile:war/trade black black black black black D3 tile:culture/war "
            "white white E3 tile:war/culture"
        ),
        "hand black politics/war",
        *HANDS[1:],
    )
    assert ur.broken(state, "black: war C3>E3:1") == ["U34"]
    assert ur.broken(state, "black: war C3>D3:3") == ["U35"]
    assert ur.broken(state, "black: war") == ["U34"]
    after = ur.run(state, "black: war C3>D3:2")
    assert [str(t.text) for t in after.todo()] == [
        "take two white stones off D3",
        "take three black stones off C3",
    ]
    assert after.layout()["C3"] == ("tile:war/trade",) and after.layout()["D3"] == (
        "tile:culture/war",
        "black",
        "black",
    )
    assert (
        ur.broken(after, "black: war D3>E3:1") == ["U35"]
        or after.count[after.board.index["D3"]] == 2
    )


def test_a_plan_without_a_square_or_with_strange_tiles_is_refused():
    with pytest.raises(BadPlan, match="square"):
        Board(Plan({"game": "ur", "site": [{"id": "A1"}]}))
    with pytest.raises(BadPlan, match="two domains"):
        Board(
            Plan(
                {
                    "game": "ur",
                    "site": [{"id": "A1", "tags": ["square"]}],
                    "piece": [{"kind": "tile:war/war"}],
                }
            )
        )
    with pytest.raises(BadPlan, match="neither borders"):
        Board(Plan({"game": "ur", "site": [{"id": "x", "tags": ["square"]}]}))


def test_a_plan_may_be_of_another_size_or_tell_its_borders(ur):
    plan = Plan(
        {
            "game": "ur",
            "piece": [{"kind": "black", "count": 9}, {"kind": "tile:war/trade", "count": 7}],
            "site": [
                {"id": s, "tags": ["square"], "borders": b}
                for s, b in (("p", ["q"]), ("q", ["p", "r"]), ("r", ["q"]))
            ],
        }
    )
    board = Board(plan)
    assert board.border == (3, 2, 3) and board.near[1] == (0, 2)
    state = ur.GAME.new(ur.SEATS, plan=plan)
    assert state.supplies[0] == 9 and len(state.chance()) == 2
