"""explain: from what changed on the board back to what people did."""

import random

import pytest

from engine.deluge import actions as act
from tests.engine.support.deluge_playing import diff, difference, random_game
from tests.engine.support.deluge_positions import do, position
from tests.engine.support.searching import followed, search


def said(proposal):
    return [str(a) for a in proposal.actions]


def shown(state, **seen):
    """explain for these sites, written `eurasia_5="people:yellow 2"`, "" for empty"""
    layout, change = state.layout(), {}
    for site, words in seen.items():
        site, kinds = site.replace("_", "-"), words.split()
        contents = tuple(k for kind, n in zip(kinds[::2], kinds[1::2]) for k in [kind] * int(n))
        change[site] = (layout.get(site, ()), contents)
    return state.explain(change)


def broken(state, proposal):
    """The rules that the proposal's first illegal action breaks, or those it names itself"""
    for a in proposal.actions:
        faults = state.check(a)
        if faults:
            return [v.rule for v in faults]
        state = state.apply(a)
    return [v.rule for v in proposal.violations]


# What people do at a table, found again


@pytest.mark.parametrize("k", [1, 2, 3])
def test_random_play_is_explained(k):
    """Layouts up to three actions apart, of any phases; what left no trace on the board (a soldier
    built and lost, pawns that came and fell) is out of reach, so one in forty may fail."""
    rnd, tried, failed = random.Random(k), 0, []
    for seed in range(200, 212):
        played = random_game(seed, 220)
        for _ in range(10):
            n = rnd.randrange(len(played) - k)
            before, after = played[n][0], played[n + k][0]
            if diff(before.layout(), after.layout()):
                tried += 1
                if search(before, after.layout(), difference, width=10) is None:
                    failed.append([str(a) for _, a in played[n + 1 : n + k + 1]])
    assert tried > 40 and len(failed) <= tried // 40, failed


def test_a_single_move_is_the_likeliest():
    s = position("", clear=False)
    first = shown(s, eurasia_5="people:yellow 3", eurasia_2="people:yellow 1")[0]
    assert said(first) == ["yellow: move eurasia-5>eurasia-2 people 1"]


def test_the_next_players_move_brings_the_done():
    s = position("", clear=False)
    first = shown(s, africa_3="people:blue 2", africa_1="people:blue 2")[0]
    assert said(first) == ["yellow: done", "blue: move africa-3>africa-1 people 2"]


def test_one_moves_up_behind_another():
    """D10: two cells away and still one cell each"""
    s = position(
        "layout eurasia-1 people:yellow people:yellow eurasia-2 people:yellow people:yellow\n"
    )
    runs = [said(p) for p in shown(s, eurasia_1="", eurasia_3="people:yellow 2")]
    assert sorted(runs[0]) == [
        "yellow: move eurasia-1>eurasia-2 people 2",
        "yellow: move eurasia-2>eurasia-3 people 2",
    ]


def test_over_several_seas():
    """D11: by the ships there are"""
    s = position(
        "layout eurasia-5 people:yellow people:yellow mediterranean ship:yellow "
        "mid-atlantic ship:yellow\n"
    )
    first = shown(s, eurasia_5="people:yellow 1", america_4="people:yellow 1")[0]
    assert said(first) == [
        "yellow: ferry eurasia-5>america-4 via mediterranean mid-atlantic people 1"
    ]


def test_anothers_ship_must_have_agreed():
    """D12: the run says so, and is less likely than one that needs nobody's leave"""
    s = position("layout eurasia-1 people:yellow north-atlantic ship:blue\n")
    first = shown(s, eurasia_1="", america_1="people:yellow 1")[0]
    assert said(first) == [
        "blue: agree yellow north-atlantic",
        "yellow: ferry eurasia-1>america-1 via north-atlantic people 1",
    ]
    assert first.cost > 1


def test_an_attack_with_losses():
    """D17: three came, two fell"""
    s = position(
        "layout eurasia-5 soldier:yellow soldier:yellow soldier:yellow eurasia-2 "
        "soldier:blue soldier:blue people:blue\n"
    )
    first = shown(s, eurasia_5="", eurasia_2="soldier:yellow 1 people:blue 1")[0]
    assert said(first) == ["yellow: move eurasia-5>eurasia-2 soldier 3"]
    first = shown(s, eurasia_5="soldier:yellow 2", eurasia_2="soldier:blue 1 people:blue 1")[0]
    assert said(first) == ["yellow: move eurasia-5>eurasia-2 soldier 1"]


def test_conquest_and_people_after_it():
    """D13, D18"""
    s = position(
        "layout eurasia-5 soldier:yellow people:yellow people:yellow eurasia-2 people:blue\n"
    )
    first = shown(s, eurasia_5="", eurasia_2="soldier:yellow 1 people:yellow 2 people:blue 1")[0]
    assert said(first) == [
        "yellow: move eurasia-5>eurasia-2 soldier 1",
        "yellow: move eurasia-5>eurasia-2 people 2",
    ]


def test_slaves_taken_along():
    """D16"""
    s = position(
        "layout eurasia-2 soldier:yellow people:blue people:blue eurasia-5 people:yellow\n"
    )
    first = shown(s, eurasia_2="", eurasia_5="soldier:yellow 1 people:yellow 1 people:blue 2")[0]
    assert said(first) == ["yellow: move eurasia-2>eurasia-5 soldier 1 slaves blue 2"]
    s = position(
        "layout eurasia-2 soldier:yellow soldier:yellow people:blue eurasia-1 people:green\n",
        "yellow blue green",
    )
    first = shown(s, eurasia_2="", eurasia_1="soldier:yellow 2 people:blue 1 people:green 1")[0]
    assert said(first) == [
        "yellow: move eurasia-2>eurasia-1 soldier 1",
        "yellow: move eurasia-2>eurasia-1 soldier 1 slaves blue 1",
    ]


def test_civil_war_left_behind():
    """D20: the loss is no move"""
    s = position(
        "layout eurasia-2 soldier:yellow people:yellow people:blue people:blue eurasia-5 "
        "people:yellow\n"
    )
    first = shown(s, eurasia_2="people:blue 1", eurasia_5="soldier:yellow 1 people:yellow 1")[0]
    assert said(first) == ["yellow: move eurasia-2>eurasia-5 soldier 1"]


def test_ships_built_among_enemies():
    """D35: both are gone"""
    s = position(
        "layout eurasia-5 people:yellow mediterranean ship:blue\nstock yellow wood "
        "4\nphase building\n"
    )
    assert ["yellow: build ship mediterranean"] in [said(p) for p in shown(s, mediterranean="")]


def test_a_whole_movement_phase():
    """A hundred pawns, many of them ferried over several seas: one run, and quickly."""
    rnd = random.Random(4)
    lands = ["eurasia-1", "eurasia-2", "eurasia-3", "eurasia-4", "eurasia-5", "eurasia-6"]
    text = (
        "layout " + " ".join(c + " people:yellow" * 4 for c in lands) + " eurasia-7 people:yellow\n"
    )
    text += (
        "layout "
        + " ".join(
            f"{c} ship:yellow"
            for c in (
                "mediterranean",
                "north-atlantic",
                "arctic",
                "north-indian",
                "mid-atlantic",
                "south-atlantic",
                "coral-sea",
            )
        )
        + "\n"
    )
    for colour, home in (("blue", "africa"), ("green", "australia"), ("white", "america")):
        text += (
            "layout "
            + " ".join(f"{home}-{n} " + f"people:{colour} " * 6 for n in (1, 2, 3, 4))
            + "\n"
        )
    start = state = position(text, "yellow blue green white")
    moves = 0
    while moves < 24:
        legal = [
            a
            for a in state.legal_actions()
            if isinstance(a, (act.Move, act.Ferry)) and a.people == 1
        ]
        if not legal:
            break
        ferries = [a for a in legal if isinstance(a, act.Ferry)]
        state = state.apply(rnd.choice(ferries if ferries and rnd.random() < 0.6 else legal))
        moves += 1
    assert sum(c.pawns for c in start.cells.values()) >= 97 and moves > 15
    change = diff(start.layout(), state.layout())
    there = followed(start, start.explain(change)[0].actions)
    assert there is not None and not diff(there.layout(), state.layout())


# What breaks the rules is named

STRAYS = {
    "too far": (
        "layout eurasia-5 people:yellow\n",
        {"eurasia_5": "", "eurasia_1": "people:yellow 1"},
        "D10",
    ),
    "over sea without a ship": (
        "layout africa-3 people:yellow\n",
        {"africa_3": "", "america_5": "people:yellow 1"},
        "D10",
    ),
    "a ship that moved": (
        "layout eurasia-1 people:yellow arctic ship:yellow\nyellow: sail arctic>north-atlantic 1\n",
        {"eurasia_1": "", "america_1": "people:yellow 1"},
        "D12",
    ),
    "a gap in the chain": (
        "layout eurasia-5 people:yellow mediterranean ship:yellow\n",
        {"eurasia_5": "", "america_4": "people:yellow 1"},
        "D11",
    ),
    "a cell another rules": (
        "layout eurasia-5 people:yellow eurasia-2 people:blue\n",
        {"eurasia_5": "", "eurasia_2": "people:yellow 1 people:blue 1"},
        "D13",
    ),
    "moved twice": (
        "layout eurasia-5 people:yellow\nyellow: move eurasia-5>eurasia-2 people 1\n",
        {"eurasia_2": "", "eurasia_1": "people:yellow 1"},
        "D10",
    ),
    "a cell of fanatics": (
        "layout eurasia-5 people:yellow eurasia-2 fanatic\n",
        {"eurasia_5": "", "eurasia_2": "people:yellow 1 fanatic 1"},
        "D32",
    ),
    "a slave by itself": (
        "layout eurasia-2 soldier:yellow people:blue\nyellow: done\n",
        {"eurasia_2": "soldier:yellow 1", "eurasia_1": "people:blue 1"},
        "D16",
    ),
    "a fanatic": (
        "layout eurasia-2 people:yellow fanatic eurasia-5 people:yellow people:yellow\n",
        {"eurasia_2": "people:yellow 1", "eurasia_5": "people:yellow 2 fanatic 1"},
        "D15",
    ),
    "out of turn": (
        "layout eurasia-5 people:yellow africa-3 people:blue\nyellow: done\n",
        {"eurasia_5": "", "eurasia_2": "people:yellow 1"},
        "D9",
    ),
    "a ship too far": (
        "layout arctic ship:yellow\n",
        {"arctic": "", "mid_atlantic": "ship:yellow 1"},
        "D10",
    ),
    "a fourth mine": (
        "layout eurasia-5 people:yellow mine mine mine\nstock yellow wood 10\nphase building\n",
        {"eurasia_5": "people:yellow 1 mine 4"},
        "D37",
    ),
    "a ship without wood": (
        "layout eurasia-5 people:yellow\nphase building\n",
        {"mediterranean": "ship:yellow 1"},
        "D35",
    ),
    "a mine on another's land": (
        (
            "layout eurasia-5 people:yellow africa-3 people:blue\nstock yellow wood "
            "10\nphase building\n"
        ),
        {"africa_3": "people:blue 1 dolmen:yellow 1"},
        "D34",
    ),
    "the counter pushed": ("", {"count0": "", "count1": "counter 1"}, "D44"),
    "a forest in the building": (
        "layout eurasia-5 people:yellow\nphase building\n",
        {"eurasia_5.forest1": "bare 1"},
        "D24",
    ),
}


@pytest.mark.parametrize("case", sorted(STRAYS))
def test_strays_are_named(case):
    """D9 to D16, D24, D32 to D37, D44: no legal run accounts for it, and the rule comes up, with
    how the board looks then."""
    lines, seen, rule = STRAYS[case]
    state = position(lines)
    named = [p for p in shown(state, **seen) if rule in broken(state, p)]
    assert named and named[0].changes
    target = {s: c for s, c in (state.layout() | named[0].changes).items() if c}
    assert search(state, target, difference, width=10) is None


def test_a_legal_move_beside_a_stray():
    """Both come up: what is explained, and from there what is not"""
    s = position("layout eurasia-5 people:yellow people:yellow eurasia-7 people:yellow\n")
    seen = dict(
        eurasia_5="people:yellow 1",
        eurasia_2="people:yellow 1",
        eurasia_7="",
        america_6="people:yellow 1",
    )
    first = shown(s, **seen)[0]
    assert said(first) == ["yellow: move eurasia-5>eurasia-2 people 1"]
    then = followed(s, first.actions)
    assert any(
        "D10" in broken(then, p) for p in shown(then, eurasia_7="", america_6="people:yellow 1")
    )


# Harvest, building, water


def test_cards_on_several_cells():
    """D24: wood of whoever rules, in turn order"""
    s = position(
        "layout eurasia-5 people:yellow people:yellow eurasia-2 people:yellow africa-3 "
        "people:blue\nphase harvest\n"
    )
    seen = {
        "eurasia_5.forest1": "bare 1",
        "eurasia_5.forest2": "bare 1",
        "eurasia_2.forest3": "bare 1",
        "africa_3.forest1": "bare 1",
    }
    runs = [said(p) for p in shown(s, **seen)]
    assert sorted(runs[0]) == [
        "yellow: harvest eurasia-2 wood 1 at forest3",
        "yellow: harvest eurasia-5 wood 2",
    ]
    assert ["yellow: done", "blue: harvest africa-3 wood 1"] in runs


def test_who_did_not_turn_worked():
    """D25, D28: red pawns tell who was idle, so the rest was in the mines"""
    s = position(
        "layout eurasia-5 people:yellow people:yellow people:yellow africa-3 "
        "people:blue\nphase harvest\n"
    )
    first = shown(s, **{"eurasia_5": "people:yellow 2 fanatic 1", "eurasia_5.forest1": "bare 1"})[0]
    assert said(first) == [
        "yellow: harvest eurasia-5 wood 1 gold 1",
        "yellow: done",
        "blue: harvest africa-3 granite 1",
        "blue: done",
    ]
    assert not first.certain


def test_forgotten_mine_work():
    """D25: a pawn that should have turned and did not had worked"""
    s = position(
        "layout eurasia-5 people:yellow people:yellow eurasia-2 people:yellow\nphase harvest\n"
        "yellow: harvest eurasia-5 wood 1\nyellow: done\nblue: done\nyellow: done\n"
    )
    first = shown(s, eurasia_5="people:yellow 2")[0]
    assert first.belated and said(first) == ["yellow: harvest eurasia-5 gold 1"]


def test_buildings():
    """D36: each way it may have been paid is a guess, the cheapest first"""
    s = position(
        "layout eurasia-5 people:yellow\nstock yellow wood 4 gold 4 bronze 1 marble "
        "1\nphase building\n"
    )
    runs = [said(p) for p in shown(s, eurasia_5="people:yellow 1 soldier:yellow 1")]
    assert runs[0] == ["yellow: build soldier eurasia-5 pay wood 1 gold 1 bronze 1 marble 1"]
    assert ["yellow: build soldier eurasia-5 pay wood 4 gold 4"] in runs
    assert said(shown(s, mediterranean="ship:yellow 1")[0]) == ["yellow: build ship mediterranean"]


def test_the_end_of_a_round():
    """D40: births are seen, so everybody was done"""
    s = position("layout eurasia-5 people:yellow people:yellow\nphase building\n")
    first = shown(s, eurasia_5="people:yellow 3")[0]
    assert said(first) == ["yellow: done", "blue: done"]


def test_a_flight_and_the_water():
    """D48: who fled, and the cards and cells that follow"""
    from tests.engine.deluge.test_water import flight

    s = flight()
    after = do(
        s,
        "yellow: flee eurasia-4>eurasia-3 people 1",
        "blue: flee america-2>america-3 people 2 soldier 1",
        "blue: flee america-2>america-1 soldier 1",
        "blue: flee america-2>america-4 people 1",
    )
    assert after.phase == "movement"
    found = search(s, after.layout(), difference)
    assert found is not None and {type(a) for a in found.run} == {act.Flee}


def test_cards_alone_do_not_end_a_harvest():
    """D28: a red pawn that no harvest brings about (it was misread) says nothing of who worked"""
    s = position(
        "layout eurasia-5 people:yellow people:yellow eurasia-2 people:yellow\nphase harvest\n"
        "yellow: harvest eurasia-2 gold 1\n"
    )
    runs = [
        said(p) for p in shown(s, **{"eurasia_5.forest1": "bare 1", "australia_1": "fanatic 1"})
    ]
    assert runs[0] == ["yellow: harvest eurasia-5 wood 1"]
    assert not any(
        "yellow: done" in run and "yellow: harvest eurasia-5 wood 1" in run for run in runs
    )
