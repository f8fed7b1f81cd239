"""From a difference between two layouts to what was done: whole turns, part turns, several players,
wrong doings."""

import random
from functools import partial

import pytest

from engine import script
from engine.layout import canonical_contents
from engine.ur import actions as a
from tests.engine.support.searching import search

FILMED = """
game ur
seats black white green blue
layout A1 tile:war/culture B1 tile:culture/war C1 tile:trade/culture D1 tile:agriculture/culture E1 tile:war/politics
layout F1 tile:politics/agriculture A2 tile:politics/war B2 tile:trade/politics C2 tile:agriculture/trade
layout D2 tile:politics/agriculture black E2 tile:trade/war F2 tile:culture/trade A3 tile:trade/politics white
layout B3 tile:agriculture/culture white white C3 tile:culture/trade D3 tile:agriculture/war black black E3 tile:war/trade
layout F3 tile:trade/war green green A4 tile:war/trade B4 tile:politics/war C4 tile:agriculture/culture D4 tile:trade/culture
layout E4 tile:agriculture/war F4 tile:culture/politics green A5 tile:politics/agriculture B5 tile:agriculture/trade
layout C5 tile:trade/agriculture blue D5 tile:agriculture/trade blue blue E5 tile:war/culture F5 tile:politics/culture
layout A6 tile:trade/politics B6 tile:politics/culture C6 tile:war/politics D6 tile:politics/agriculture
layout E6 tile:agriculture/war F6 tile:culture/politics
hand black agriculture/war
hand white culture/war
hand green trade/politics
hand blue agriculture/culture
"""  # noqa: E501


def difference(state, seen, hidden=()):
    have = state.layout()
    return {
        s: (have.get(s, ()), seen.get(s, ()))
        for s in {*have, *seen}
        if s not in hidden
        and canonical_contents(have.get(s, ()), "cluster")
        != canonical_contents(seen.get(s, ()), "cluster")
    }


def beside(state):
    return {*state.board.hands, state.board.spare}


def changed(state, **sites):
    """The difference when these sites show that: `F3="tile:trade/war green*6"`."""
    seen = state.layout()
    for site, words in sites.items():
        contents = []
        for w in words.split():
            kind, _, n = w.partition("*")
            contents += [kind] * int(n or 1)
        seen[site] = tuple(contents)
    return difference(state, seen)


def best(state, diff):
    return [str(x) for x in state.explain(diff)[0].actions]


def named(state, diff, most=4):
    """The rules that the first few wrong doings name."""
    rules = []
    for p in state.explain(diff)[:most]:
        found = [v.rule for x in p.actions[-1:] for v in after(state, p.actions[:-1]).check(x)] or [
            v.rule for v in p.violations
        ]
        rules.append(found)
    return rules


def after(state, run):
    for x in run:
        state = state.apply(x)
    return state


def tile(state, site):
    return state.layout()[site][0]


@pytest.fixture
def filmed():
    return script.parse_script(FILMED).start()


TURNS = [
    ("black: agriculture D3+2", "black: extra D2+1", "black: swap F6 war"),
    ("white: war B3>B2:1", "white: extra A3+1", "white: swap C1 culture"),
    ("green: trade F3+1", "green: extra F4+1", "green: swap A5 trade"),
    ("blue: agriculture D5+2", "blue: extra C5+1", "blue: swap E1 agriculture"),
]


@pytest.mark.parametrize("in_view", [True, False])
def test_the_filmed_turns_are_found_whole(ur, filmed, in_view):
    """U9: the actions, the extra stones and the swap of one look, with the hand tiles in view and
    without."""
    state = filmed
    for turn in TURNS:
        seen = ur.run(state, *turn).layout()
        assert best(state, difference(state, seen, () if in_view else beside(state))) == list(turn)
        state = ur.run(state, *turn)
    seen = ur.run(state, "black: culture", "black: extra D3+1", "black: swap A6 culture").layout()
    found = next(
        p
        for p in state.explain(difference(state, seen))
        if after(state, p.actions).layout() == seen
    )
    assert len(found.actions) == 3 and str(found.actions[1]) == "black: extra D3+1"


def test_the_filmed_part_turn_and_its_swap(ur, filmed):
    state = ur.run(filmed, *TURNS[0], *TURNS[1])
    seen = ur.run(state, *TURNS[2][:2]).layout()
    assert best(state, difference(state, seen)) == list(TURNS[2][:2])
    state = ur.run(state, *TURNS[2][:2])
    assert best(state, difference(state, ur.run(state, TURNS[2][2]).layout())) == [TURNS[2][2]]


def test_the_filmed_wrong_doings(ur, filmed):
    state = ur.run(filmed, *TURNS[0], *TURNS[1])
    assert set(named(state, changed(state, F3="tile:trade/war green*6"))[0]) == {"U10", "U31"}
    state = ur.run(state, *TURNS[2])
    assert named(state, changed(state, C4="tile:culture/agriculture"))[0] == ["U20"]


def test_guesses_at_a_turn_are_said_to_be_guesses(ur, filmed):
    """Many sets of actions give the same board; the set-up's stones and tiles leave no doubt."""
    assert not filmed.explain(changed(filmed, D3="tile:agriculture/war black*3"))[0].certain
    state = ur.position("layout A1 tile:war/trade")
    assert state.explain(changed(state, A1="tile:war/trade black"))[0].certain


def test_two_turns_in_one_look(ur, filmed):
    seen = ur.run(filmed, *TURNS[0], *TURNS[1]).layout()
    first = filmed.explain(difference(filmed, seen))[0].actions
    assert [str(x) for x in first] == list(TURNS[0])
    state = after(filmed, first)
    assert best(state, difference(state, seen)) == list(TURNS[1])


@pytest.mark.parametrize("how, least", [("actions", 0.97), ("turn", 0.95), ("turns", 0.9)])
@pytest.mark.parametrize("in_view", [True, False])
def test_random_play_is_explained(ur, how, least, in_view):
    """Layouts one to three actions, a turn, or two turns apart are reached by proposals, and the
    right seat is on turn."""
    tried = right = 0
    for seed in range(6):
        state, rng = ur.opened(seed, bonus=("as-written", "for-restraint")[seed % 2])
        for _ in range(8):
            if state.outcome() is not None:
                break
            before = state
            if how == "actions":
                for _ in range(rng.choice((1, 2, 3))):
                    if state.outcome() is None:
                        state = state.apply(ur.some_action(state, rng))
            else:
                for _ in range(1 + (how == "turns")):
                    state, _ = ur.turn(state, rng)
            hidden = () if in_view else beside(state)
            found = search(
                before, state.layout(), partial(difference, hidden=hidden), width=6, depth=5, left=5
            )
            tried += 1
            right += found is not None and found.state.mover == state.mover
    assert right >= least * tried, (right, tried)


def test_the_set_up_is_explained(ur):
    """Tiles laid (U4), stones put in turn (U6, U7), swaps and passes (U8): each look as many as
    were done."""
    state = ur.GAME.new(ur.SEATS[:3])
    table = ur.GAME.setup(ur.SEATS[:3])
    rng = random.Random(9)
    while state.phase != "turn":
        before = state.phase
        for _ in range(20 if before == "lay" else rng.choice((1, 2, 4))):
            if state.phase == before:
                state = state.apply(ur.some_action(state, rng))
        diff = difference(table, state.layout())
        while diff:
            run = table.explain(diff)[0].actions
            table = after(table, run)
            smaller = difference(table, state.layout())
            assert len(smaller) < len(diff)
            diff = smaller
        if table.phase == "swap":
            # who passed last cannot be seen
            while table.mover != state.mover or table.phase != state.phase:
                table = ur.run(table, f"{table.turn}: pass")
        assert (table.layout(), table.phase, table.mover) == (
            state.layout(),
            state.phase,
            state.mover,
        )


def test_passes_are_put_in_when_a_later_seat_swaps_or_play_begins(ur):
    state = ur.position(
        (
            "layout A1 tile:trade/war black B1 tile:culture/war C1 tile:politics/war white "
            "D1 tile:war/culture green"
        ),
        "hand black war/agriculture",
        "hand white culture/politics",
        "hand green trade/agriculture",
        "phase swap",
    )
    assert best(state, changed(state, B1="tile:agriculture/trade")) == [
        "black: pass",
        "white: pass",
        "green: swap B1 agriculture",
    ]
    state = ur.position(
        (
            "layout A1 tile:agriculture/war black B1 tile:culture/war C1 tile:politics/war "
            "white D1 tile:war/culture green"
        ),
        "hand black war/agriculture",
        "hand white culture/politics",
        "hand green trade/agriculture",
        "phase swap",
    )
    assert best(state, changed(state, A1="tile:agriculture/war black*3")) == [
        "black: pass",
        "white: pass",
        "green: pass",
        "black: agriculture A1+2",
    ]


LINES = (
    (
        "layout B2 tile:culture/war black*2 B1 tile:trade/culture white A2 tile:war/trade "
        "green*2 C2 tile:politics/culture black"
    ),
    (
        "layout F6 tile:trade/politics F5 tile:trade/agriculture E6 tile:war/agriculture "
        "black*3 A6 tile:agriculture/war black"
    ),
    "layout D4 tile:trade/war D5 tile:war/politics white*2 D6 tile:agriculture/politics",
)


def place(ur, hand, *more, lines=LINES):
    spelled = [
        " ".join(
            " ".join([w.partition("*")[0]] * int(w.partition("*")[2] or 1)) for w in line.split()
        )
        for line in lines
    ]
    return ur.position(
        *spelled, f"hand black {hand}", "hand white war/culture", "hand green trade/politics", *more
    )


def test_culture_half_done_is_still_culture(ur):
    """U32: the stones not yet laid are to-dos, a tile, a colour and a number each."""
    state = place(ur, "culture/agriculture")
    run = state.explain(
        changed(state, B1="tile:trade/culture white*2", A2="tile:war/trade green*3")
    )[0].actions
    assert [str(x) for x in run] == ["black: culture"]
    assert "one more black stone on C2" in [str(t.text) for t in after(state, run).todo()]


def test_agriculture_seen_while_stones_are_taken_off(ur):
    """U29: the removal first; then nothing is laid yet."""
    state = place(ur, "agriculture/trade")
    whole = ur.run(state, "black: agriculture A6+1").layout()
    off = {s: " ".join(c) for s, c in whole.items() if s in ("B2", "C2", "E6")}
    assert best(state, changed(state, **off)) == ["black: agriculture"]
    assert best(state, difference(state, whole)) == ["black: agriculture A6+1"]
    less = {"A6": "tile:agriculture/war black*3", "E6": off["E6"]}  # two tiles still to be done
    run = state.explain(changed(state, **less))[0].actions
    assert [str(x) for x in run] == ["black: agriculture A6+2"]
    assert {"take one black stone off B2", "take one black stone off C2"} <= {
        str(t.text) for t in after(state, run).todo()
    }


def test_both_orders_of_two_domains(ur):
    """U11: agriculture may empty a tile before or after trade; only one order fits."""
    lines = (
        "layout A6 tile:agriculture/war black F1 tile:trade/war black C3 tile:war/culture black*2",
        "layout D1 tile:war/politics",
    )
    state = place(ur, "agriculture/trade", lines=lines)
    for run in (("black: agriculture A6+1",), ("black: trade F1+2", "black: agriculture A6+1")):
        seen = ur.run(state, *run, "black: swap D1 trade").layout()
        assert best(state, difference(state, seen)) == [*run, "black: swap D1 trade"]


@pytest.mark.parametrize(
    "run",
    [
        (
            "black: war E6>D6:1",
            "black: agriculture A6+2 D6+2",
        ),  # a conquered field is harvested too (U30, U35)
        ("black: culture", "black: war B2>B1:1"),  # white grew first, and cost more
    ],
)
def test_war_with_another_domain(ur, run):
    lines = (
        (
            "layout B2 tile:culture/war black*5 B1 tile:trade/culture white C2 "
            "tile:politics/culture black D1 tile:war/trade"
        ),
        (
            "layout E6 tile:agriculture/war black*3 A6 tile:agriculture/war black D6 "
            "tile:agriculture/politics"
        ),
    )
    hand = "war/agriculture" if "agriculture" in run[1] else "war/culture"
    state = place(ur, hand, lines=lines)
    seen = ur.run(state, *run).layout()
    found = state.explain(difference(state, seen))[0].actions
    assert after(state, found).layout() == seen and {type(x) for x in found} == {
        type(state.parse(x)) for x in run
    }


def test_attack_chains_and_free_tiles_passed_through(ur):
    """U35: a conquered tile attacks on, even over a free tile that is free again in the end."""
    lines = (
        "layout A1 tile:war/trade black*5 B1 tile:war/culture C1 tile:war/politics white",
        "layout F6 tile:trade/culture",
    )
    state = place(ur, "war/agriculture", lines=lines)
    seen = ur.run(state, "black: war A1>B1:4", "black: war B1>C1:3").layout()
    assert best(state, difference(state, seen)) == ["black: war A1>B1:4", "black: war B1>C1:3"]


def test_politics_with_the_least_moves(ur):
    """U33: only what lies there in the end is known; the fewest moves explain it."""
    state = place(ur, "politics/war")
    seen = ur.run(state, "black: politics B2>A6:2 E6>C2:1", "black: extra A6+1").layout()
    assert best(state, difference(state, seen)) == [
        "black: politics B2>A6:2 E6>C2:1",
        "black: extra A6+1",
    ]
    seen = ur.run(state, "black: politics E6>C2:1 C2>A6:1").layout()
    assert best(state, difference(state, seen)) == ["black: politics E6>A6:1"]


def test_settling_and_the_two_extra_stones(ur):
    """U13: both domains used without a trace still earn them, as written."""
    state = place(ur, "politics/trade")
    assert best(state, changed(state, F6="tile:trade/politics black")) == [
        "black: trade",
        "black: politics",
        "black: settle F6",
    ]
    state = place(ur, "politics/trade", "option bonus for-restraint")
    assert best(state, changed(state, F6="tile:trade/politics black")) == ["black: settle F6"]
    assert best(state, changed(state, A6="tile:agriculture/war black*3")) == ["black: extra A6+2"]


def test_ziggurats_and_returns(ur):
    """U16, U17, U21."""
    lines = (
        (
            "layout A1 tile:war/trade black*5 B1 tile:war/culture black*5 D1 "
            "tile:culture/trade F6 tile:trade/culture"
        ),
    )
    state = place(ur, "war/agriculture", lines=lines)
    seen = ur.run(state, "black: ziggurat A1 B1", "black: swap D1 war").layout()
    assert best(state, difference(state, seen)) == ["black: ziggurat A1 B1", "black: swap D1 war"]
    run = state.explain(changed(state, A1="tile:war/trade ziggurat"))[0].actions
    assert [str(x) for x in run] == ["black: ziggurat A1"]
    assert "one black stone on the ziggurat on A1" in [
        str(t.text) for t in after(state, run).todo()
    ]
    state = place(
        ur,
        "war/agriculture",
        lines=("layout A1 tile:war/trade white D1 tile:culture/trade F6 tile:trade/culture",),
    )
    assert best(
        state, changed(state, F6="tile:trade/culture black*3", D1="tile:agriculture/war")
    ) == ["black: return F6", "black: swap D1 agriculture"]


def test_short_supplies_are_laid_where_they_are_seen(ur):
    """U15: the player chooses where the owner's last stone goes."""
    lines = (
        (
            "layout B2 tile:culture/war black B1 tile:trade/culture white C2 "
            "tile:politics/culture white A4 tile:war/trade white*5"
        ),
        (
            "layout A5 tile:war/trade white*5 A6 tile:war/trade white*5 F1 tile:trade/war "
            "white*2 F6 tile:trade/war"
        ),
    )
    state = place(ur, "culture/agriculture", lines=lines)
    assert best(state, changed(state, C2="tile:politics/culture white*2")) == [
        "black: culture C2+1"
    ]
    assert best(state, changed(state, B1="tile:trade/culture white*2")) == ["black: culture B1+1"]


def test_the_spare_and_a_tile_taken_up_again(ur):
    """U22: what a swap leaves unseen is put in when the next seat has gone on."""
    state = place(ur, "trade/politics", "spare agriculture/politics")
    seen = ur.run(state, "black: swap spare").layout()
    assert best(state, difference(state, seen)) == ["black: swap spare"]
    seen = ur.run(state, "black: swap spare", "white: swap F5 war").layout()
    assert best(state, difference(state, seen, beside(state))) == [
        "black: swap spare",
        "white: swap F5 war",
    ]
    state = place(ur, "culture/politics")
    seen = ur.run(state, "black: swap F5 politics", "white: swap F5 war").layout()
    assert best(state, difference(state, seen)) == ["black: swap F5 politics", "white: swap F5 war"]


def test_a_hand_tile_turned_over_breaks_nothing(ur):
    state = place(ur, "trade/politics")
    assert state.shows_same("hand1", ("tile:trade/politics",), ("tile:politics/trade",))
    assert not state.shows_same("hand1", ("tile:trade/politics",), ("tile:politics/war",))
    assert not state.shows_same("F6", ("tile:trade/politics",), ("tile:politics/trade",))
    assert state.explain(changed(state, hand1="tile:politics/trade")) == []
    seen = {**ur.run(state, "black: swap F5 trade").layout(), "hand1": ("tile:agriculture/trade",)}
    assert best(state, difference(state, seen)) == ["black: swap F5 trade"]


def test_hand_tiles_come_into_view(ur):
    state = ur.position("layout A1 tile:trade/war black B1 tile:culture/war")
    assert best(state, changed(state, hand2="tile:politics/trade")) == [
        "box: lay hand2 politics/trade"
    ]


WRONG = [
    ("trade/politics", {"C2": "tile:politics/culture black*6"}, "U10"),  # a sixth stone
    ("trade/politics", {"F6": "tile:politics/trade"}, "U20"),  # the same pair
    ("trade/politics", {"B1": "tile:trade/culture white black"}, "U10"),  # two colours
    (
        "trade/politics",
        {"D4": "tile:trade/war black", "F5": "tile:trade/agriculture black"},
        "U13",
    ),  # two tiles settled
    (
        "war/politics",
        {"D5": "tile:war/politics black", "E6": "tile:war/agriculture black"},
        "U34",
    ),  # no common edge
    (
        "war/trade",
        {"A2": "tile:war/trade black", "B2": "tile:culture/war"},
        "U35",
    ),  # cannot be paid
    ("trade/politics", {"A6": "tile:agriculture/war black*4"}, "U13"),  # three extra stones
    (
        "trade/politics",
        {"C2": "tile:politics/culture ziggurat black"},
        "U16",
    ),  # one stone is not five
    ("trade/politics", {"C2": "tile:culture/politics black"}, "U20"),  # turned over under a stone
    ("trade/politics", {"F6": "tile:war/culture"}, "U9"),  # white's tile, black's turn
    ("trade/politics", {"B1": "tile:trade/culture white*3"}, "U9"),  # white's stones, black's turn
    ("trade/politics", {"B1": "tile:trade/culture"}, "U9"),  # a stone gone
    ("trade/politics", {"F6": ""}, "U20"),  # a tile gone
    ("trade/politics", {"F6": "tile:agriculture/culture"}, "U20"),  # a tile nobody had
    ("trade/politics", {"C2": "tile:trade/politics black"}, "U20"),  # a tile that is not free
    ("trade/politics", {"F6": "tile:trade/politics black*3"}, "U21"),  # back, though never gone
    ("trade/politics", {"hand1": "tile:war/culture"}, "U20"),
]


@pytest.mark.parametrize(
    "hand, sites, rule", WRONG, ids=[f"{rule} {' '.join(s)}" for _, s, rule in WRONG]
)
def test_a_wrong_doing_names_its_rule(ur, hand, sites, rule):
    state = place(ur, hand)
    diff = changed(state, **sites)
    assert any(rule in found for found in named(state, diff, 6)), [
        ([str(x) for x in p.actions], [v.rule for v in p.violations]) for p in state.explain(diff)
    ]
    last = [p for p in state.explain(diff) if p.changes]
    assert last and all(
        s in p.changes for p in last for s in diff if not after(state, p.actions[:-1]).steps
    )


def test_a_stone_on_a_ziggurat(ur):
    lines = (
        "layout A1 tile:war/trade ziggurat white B1 tile:trade/culture black F6 tile:culture/trade",
    )
    state = place(ur, "trade/politics", lines=lines)
    assert "U18" in named(state, changed(state, A1="tile:war/trade ziggurat white black"))[0]
    assert any("U18" in found for found in named(state, changed(state, A1="tile:war/trade white")))


def test_wrong_stones_in_the_set_up(ur):
    lines = ("layout A1 tile:war/trade B1 tile:trade/culture C1 tile:culture/trade",)
    state = place(ur, "trade/politics", lines=lines)
    assert any("U6" in found for found in named(state, changed(state, A1="tile:war/trade white")))
    state = ur.run(state, "black: put A1")
    assert any(
        {"U6", "U10"} <= set(found)
        for found in named(state, changed(state, A1="tile:war/trade black white"))
    )


def test_a_finished_game_explains_nothing_but_faults(ur):
    state = ur.run(place(ur, "war/trade", lines=("layout A1 tile:war/trade black",)), "black: pass")
    found = state.explain(changed(state, A1="tile:war/trade black*2"))
    assert found and all(p.violations for p in found)


def test_no_difference_no_guess(ur):
    state = place(ur, "trade/politics")
    assert state.explain({}) == []
    swapped = {"A2": (("tile:war/trade", "green", "green"), ("tile:war/trade", "green", "green"))}
    assert state.explain(swapped) == []


def test_strange_contents_do_no_harm(ur):
    state = place(ur, "trade/politics")
    for contents in (
        ("?",),
        ("cup",),
        ("tile:war",),
        ("black", "tile:war/trade"),
        ("tile:war/trade", "red"),
        ("blue",),
    ):
        for site in ("A1", "A2", "hand1", "spare", "nowhere"):
            for p in state.explain({site: (state.layout().get(site, ()), contents)}):
                assert all(isinstance(x, a.Action) for x in p.actions)
