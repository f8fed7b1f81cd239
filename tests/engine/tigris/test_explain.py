"""explain: from what changed on the board back to what people did."""

import random

import pytest

from engine.layout import same_contents
from tests.engine.support.searching import followed, search
from tests.engine.support.tigris_playing import diff, difference, random_game
from tests.engine.support.tigris_positions import do, position

WAR = (
    "layout I5 temple I6 leader:bull:black H5 settlement G5 settlement\n"
    "layout K5 temple K6 leader:lion:black L5 settlement\n"
)


def best(state, **seen):
    """The likeliest proposal for these sites: `D5="temple treasure"`, "" for empty."""
    layout = state.layout()
    change = {s: (layout.get(s, ()), tuple(words.split())) for s, words in seen.items()}
    return state.explain(change)[0]


def said(proposal):
    return [str(a) for a in proposal.actions]


def violated(proposal):
    return [v.rule for v in proposal.violations]


# What people do at a table, found again


@pytest.mark.parametrize("k", [1, 2, 3])
def test_random_play_is_found_again(k):
    """Layouts one, two or three actions apart are explained exactly. What leaves no trace at all (a
    leader that came, took treasures or fought, and went on in the same look) may be missed: fewer
    than one in 150."""
    tried = missed = 0
    for seed in range(6):
        played = random_game(seed, "table")
        for i in range(seed % 3, len(played) - k, 2 * k):
            start, end = played[i][0], played[i + k][0]
            run = search(start, end.layout(), difference, depth=6)
            tried += 1
            missed += run is None
    assert tried > 150 and missed <= tried / 150


def test_tile_by_the_player_in_turn():
    assert said(best(position(), C5="temple")) == ["bull: tile red C5"]


def test_tile_by_the_next_player_means_a_pass():
    """A leader tells its owner: Bull has left one action."""
    state = do(position("layout D5 temple"), "bull: tile red F5")
    assert said(best(state, D6="leader:lion:black")) == ["bull: pass", "lion: leader black D6"]
    guesses = [said(p) for p in state.explain({"A1": ((), ("market",))})]
    assert guesses.index(["bull: tile green A1"]) < guesses.index(
        ["bull: pass", "lion: tile green A1"]
    )


def test_leader_brought_moved_taken_off():
    state = position("layout D5 temple C5 leader:bull:red H5 temple")
    assert said(best(state, H6="leader:bull:blue")) == ["bull: leader blue H6"]
    assert said(best(state, C5="", H6="leader:bull:red")) == ["bull: leader red C5>H6"]
    assert said(best(state, C5="")) == ["bull: leader red C5>"]


def test_conflict_told_by_the_leader_that_is_gone():
    """The least that both can have added: D5 and C6 count for both (T38), so Bull added one."""
    state = position("layout D5 temple C5 leader:lion:black C6 temple")
    assert said(best(state, D6="leader:bull:black")) == ["bull: leader black D6"]  # not decided yet
    assert said(best(state, D6="leader:bull:black", C5="")) == [
        "bull: leader black D6",
        "bull: commit 1",
        "lion: commit 0",
    ]


def test_conflict_decided_after_the_look():
    state = do(position("layout D5 temple C5 leader:lion:black"), "bull: leader black D6")
    assert said(best(state, C5="")) == ["bull: commit 1", "lion: commit 0"]
    assert said(best(state, D6="")) == ["bull: commit 0", "lion: commit 0"]
    begun = do(state, "bull: commit 2")
    assert said(best(begun, D6="")) == ["lion: commit 2"]
    assert said(best(begun, C5="")) == ["lion: commit 0"]


def test_war_in_one_look():
    state = position(WAR)
    assert said(best(state, J5="market", K6="", L5="")) == [
        "bull: tile green J5",
        "bull: commit 0",
        "lion: commit 0",
    ]
    assert said(best(state, J5="market", I6="", H5="", G5="")) == [
        "bull: tile green J5",
        "bull: commit 0",
        "lion: commit 1",
    ]
    assert said(best(state, J5="market")) == ["bull: tile green J5"]
    assert said(best(state, J5="market union")) == ["bull: tile green J5"]
    assert said(best(state, J5="? union", K6="", L5=""))[1:] == ["bull: commit 0", "lion: commit 0"]


def test_two_wars_in_one_look():
    state = position(WAR + "layout I4 leader:bull:green K4 leader:lion:green")
    run = said(best(state, J5="temple", K6="", L5="", I4=""))
    assert run[0] == "bull: tile red J5" and ("bull: war black" in run or "bull: war green" in run)
    assert (
        diff(
            do(state, *run).layout(),
            do(state, "bull: tile red J5").layout() | {"K6": (), "L5": (), "I4": ()},
        )
        == {}
    )


def test_war_half_cleared():
    """The leader is off, the supporter not yet: the war is decided all the same."""
    assert said(best(position(WAR), J5="market", K6="")) == [
        "bull: tile green J5",
        "bull: commit 0",
        "lion: commit 0",
    ]


def test_union_tile_alone_is_nothing():
    """Forgotten or left lying, it decides nothing."""
    state = do(position(WAR), "bull: tile green J5")
    assert state.explain({"J5": (("market", "union"), ("market",))}) == []
    state = do(state, "bull: commit 0", "lion: commit 0")
    assert state.explain({"J5": (("market",), ("market", "union"))}) == []
    assert said(best(state, J5="market union", A1="temple")) == ["bull: tile red A1"]


def test_conflict_that_nobody_showed():
    """Both leaders still stand and the next tile lies there: decided one way or the other, and
    played on."""
    state = do(position("layout D5 temple C5 leader:lion:black"), "bull: leader black D6")
    guesses = [said(p) for p in state.explain({"A1": ((), ("temple",))}) if not p.violations]
    assert ["bull: commit 0", "lion: commit 0", "bull: tile red A1"] in guesses
    assert ["bull: commit 1", "lion: commit 0", "bull: tile red A1"] in guesses


def test_what_was_added_may_have_emptied_the_bag():
    """The least that decides leaves one tile in the bag; two more, and no hand can be filled"""
    there = "layout D5 temple C5 leader:lion:black D7 temple\n"
    for bag, empties in ((0, False), (1, True), (9, False)):
        state = do(position(there + f"bag {bag}"), "bull: leader black D6")
        change = {"C5": (("leader:lion:black",), ())}
        runs = [said(p) for p in state.explain(change) if not p.violations]
        assert ["bull: commit 0", "lion: commit 0"] in runs
        assert (["bull: commit 2", "lion: commit 0"] in runs) is empties


SQUARE = "layout B5 settlement C5 settlement B6 settlement\n"
BUILT = {"B5": "flipped monument:black-red", "C5": "flipped", "B6": "flipped", "C6": "flipped"}


def test_monument():
    state = position(SQUARE)
    assert said(best(state, C6="settlement")) == ["bull: tile black C6"]
    assert said(best(state, **BUILT)) == ["bull: tile black C6", "bull: build black-red B5"]
    laid = do(state, "bull: tile black C6")
    assert said(best(laid, **BUILT)) == ["bull: build black-red B5"]
    assert said(best(laid, B5="flipped", C5="flipped", B6="flipped", C6="flipped"))[0].startswith(
        "bull: build black-"
    )


def test_nothing_built_and_played_on():
    laid = do(position(SQUARE), "bull: tile black C6")
    assert said(best(laid, A1="temple")) == ["bull: keep", "bull: tile red A1"]


CHOICE = (
    "layout F3 temple treasure G3 market H3 market I3 market J3 market K3 temple K1 temple "
    "treasure F4 leader:lion:green\n"
)


def test_treasures_chosen():
    state = position(CHOICE)
    assert said(best(state, K2="settlement")) == ["bull: tile black K2"]
    assert said(best(state, K2="settlement", F3="temple")) == [
        "bull: tile black K2",
        "lion: treasure F3",
    ]
    assert said(best(do(state, "bull: tile black K2"), K1="temple")) == ["lion: treasure K1"]


def test_catastrophe_and_who_goes_home():
    state = position("layout D5 temple C5 leader:lion:black")
    assert said(best(state, D5="catastrophe", C5="")) == ["bull: catastrophe D5"]
    assert said(best(state, D5="catastrophe")) == ["bull: catastrophe D5"]
    assert said(best(state, D5="? catastrophe")) == ["bull: catastrophe D5"]


# What breaks rules


@pytest.mark.parametrize(
    "seen, rule",
    [
        ({"E6": "leader:bull:black"}, "T13"),
        ({"D4": "leader:bull:black"}, "T14"),
        ({"E5": "leader:bull:black"}, "T15"),
        ({"E3": "temple"}, "T19"),
        ({"A1": "farm"}, "T19"),
        ({"H6": "temple"}, "T24"),
        ({"J5": "temple market"}, "T19"),
        ({"J5": "market"}, "T25"),
        ({"J5": ""}, "T25"),
        ({"J5": "", "A1": "temple"}, "T25"),
        ({"C5": ""}, "T11"),
        ({"P2": "temple"}, "T59"),
        ({"P2": "catastrophe"}, "T29"),
        ({"C5": "catastrophe"}, "T29"),
        (
            {
                "A10": "flipped monument:black-red",
                "B10": "flipped",
                "A11": "flipped",
                "B11": "flipped",
            },
            "T53",
        ),
        ({"J10": ""}, "T32"),
    ],
)
def test_one_wrong_doing_names_its_rule(seen, rule):
    """T11, T13, T14, T15, T19, T24, T25, T29, T32, T53, T59: the rule is named, and what was done
    is in the changes."""
    state = position(
        "layout D5 temple C5 leader:lion:blue F5 temple F4 leader:lion:green J5 temple "
        "J10 catastrophe\n"
        "layout H5 temple I5 leader:lion:black G6 temple F6 leader:lion:red H7 temple I7 "
        "leader:bull:green"
    )
    layout = state.layout()
    change = {s: (layout.get(s, ()), tuple(w.split())) for s, w in seen.items()}
    rules = {}
    for p in state.explain(change):
        named = violated(p) or [v.rule for a in p.actions[-1:] for v in state.check(a)]
        if rule in named:
            rules[rule] = p
            break
    assert rule in rules
    assert set(rules[rule].changes) == set(seen)
    legal = [
        p
        for p in state.explain(change)
        if not p.violations
        and not diff(
            followed(state, p.actions).layout(),
            layout | {s: tuple(w.split()) for s, w in seen.items()},
        )
    ]
    assert not [p for p in legal if len(p.actions) == 1]


def test_third_action_and_out_of_turn():
    """T9, T36: Bull's leader comes a third time: sooner that than all others leaving their
    turns."""
    state = do(position("layout D5 temple"), "bull: tile red A1", "bull: tile red A3")
    proposal = best(state, D6="leader:bull:black")
    assert {"T9", "T36"} <= set(violated(proposal)) and said(proposal) == ["bull: leader black D6"]


def test_two_whole_turns_are_not_left_out():
    """T36: Pot acts while Bull is in turn: out of turn, rather than that Bull and Lion both left
    theirs."""
    state = position("layout D5 temple", seats="bull lion pot archer")
    assert {"T9", "T36"} <= set(violated(best(state, D6="leader:pot:red")))
    assert said(best(state, D6="leader:lion:red")) == ["bull: pass", "lion: leader red D6"]


def test_wrong_treasure():
    """T60: the corner's treasure goes first; players took the other one."""
    state = position(
        "layout B2 temple treasure F3 temple treasure C2 market D2 market E2 farm E3 "
        "farm\nbull: leader green A2"
    )
    assert "T60" in violated(best(state, B2="temple treasure", F3="temple"))
    assert "T60" in violated(best(state, F3="temple"))
    waiting = do(
        position(CHOICE + "layout L1 market L2 market M2 farm N2 market O2 market"),
        "bull: tile black K2",
    )
    assert "T60" in violated(best(waiting, F3="temple", K1="temple"))


def test_monument_of_a_wrong_colour():
    """T53: none of its colours is the tiles'."""
    laid = do(position(SQUARE), "bull: tile black C6")
    proposal = best(laid, **(BUILT | {"B5": "flipped monument:green-red"}))
    assert "T53" in violated(proposal) and set(proposal.changes) == set(BUILT)


# How it takes rubbish


def test_rubbish_is_taken():
    """Unknown kinds, sites of no board, everything moved at once: an answer."""
    rnd = random.Random(1)
    state = random_game(3, "table")[60][0]
    kinds = [*state.plan.counts, "?", "cup"]
    for n in (1, 5, 40, 176):
        for _ in range(5):
            sites = rnd.sample(list(state.plan.sites), n)
            layout = state.layout()
            change = {
                s: (layout.get(s, ()), tuple(rnd.choices(kinds, k=rnd.randrange(3)))) for s in sites
            }
            change = {s: c for s, c in change.items() if not same_contents(*c)} | {
                "elsewhere": ((), ("temple",))
            }
            proposals = state.explain(change)
            assert len(proposals) <= 30
            for p in proposals:
                if not p.violations:
                    assert followed(state, p.actions) is not None


def test_over_or_nothing_changed():
    assert position().explain({}) == []
    over = do(position("bag 1"), "bull: swap 2")
    assert over.explain({"A1": ((), ("temple",))}) == []
