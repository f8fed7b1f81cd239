"""States as values: random games keep their invariants, legal actions are just what `check` allows,
forms round-trip."""

import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import BadText, IllegalAction, script
from engine.ur import actions as a
from engine.ur.legal import FEW
from engine.ur.words import DOMAINS

GOLDEN = Path(__file__).with_name("golden.txt")


def followed(before, steps):
    """The layout after the steps' changes, one after the other."""
    at = dict(before)
    for step in steps:
        at.update(step.changes)
    return {s: c for s, c in at.items() if c}


@given(st.integers(0, 10**6))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_random_games_keep_what_must_not_change(ur, seed):
    """U1, U2, U10, U18: 20 stones a colour, 40 tiles in ten pairs of four, five stones at most, one
    colour, firm ziggurats."""
    rng = random.Random(seed)
    state = ur.GAME.new(
        ur.SEATS[: rng.choice((3, 4))], {"bonus": rng.choice(("as-written", "for-restraint"))}
    )
    zigs = {}
    for _ in range(600):
        if state.outcome() is not None:
            break
        action = ur.some_action(state, rng)
        assert state.parse(str(action)) == action and state.check(action) == []
        before = state
        state = state.apply(action)
        assert followed(before.layout(), state.steps) == state.layout()
        assert all(s.by_hand for s in state.steps[:1])
        on_board = [
            sum(n for p, n in zip(state.owner, state.count) if p == q)
            for q in range(len(state.seats))
        ]
        assert [20 - n for n in on_board] == list(state.supplies)
        assert max(state.count) <= 5
        tiles = [frozenset(t.split("/")) for t in (*state.tiles, *state.hands, state.spare) if t]
        assert all(tiles.count(both) <= 4 for both in set(tiles))
        assert state.phase == "lay" or len(tiles) == 40
        assert all(len(set(c[1:])) <= 1 or c[1] == "ziggurat" for c in state.layout().values())
        now = {s: c for s, c in state.layout().items() if "ziggurat" in c}
        assert zigs.items() <= now.items() and len(now) <= 5
        zigs = now
    if state.outcome() is not None:
        assert state.legal_actions() == [] and state.turn is None
        best = max(state.scores().values())
        assert all(
            (state.scores()[s] == best) == (s in state.outcome().winners) for s in state.seats
        )


@given(st.integers(0, 10**6))
@settings(max_examples=6, deadline=None, derandomize=True)
def test_text_and_json_forms_round_trip_at_every_moment(ur, seed):
    rng = random.Random(seed)
    state = ur.GAME.new(
        ur.SEATS[: rng.choice((3, 4))], {"bonus": rng.choice(("as-written", "for-restraint"))}
    )
    for n in range(220):
        if state.outcome() is not None:
            break
        state = state.apply(ur.some_action(state, rng))
        if n < 30 and n % 7:
            continue
        loaded = ur.GAME.load(msgspec.json.decode(msgspec.json.encode(state.to_json())))
        assert loaded == state and loaded.key() == state.key() and hash(loaded) == hash(state)
        again = script.parse_script(state.to_text()).start()
        assert again == state and again.to_text() == state.to_text()
        assert again.legal_actions() == state.legal_actions()


def any_action(state, rng):
    """Anything one can write down, legal or not."""
    seat = rng.choice(state.seats) if rng.random() < 0.2 else state.seats[state.mover]
    p = state.seats.index(seat)
    own = [state.board.sites[i] for i in state.own(p)] or ["A1"]

    def site():
        return rng.choice(own) if rng.random() < 0.6 else rng.choice(state.board.sites)

    plus = tuple((site(), rng.choice((1, 1, 2, 3))) for _ in range(rng.choice((0, 1, 1, 2))))
    moves = tuple((site(), site(), rng.choice((1, 1, 2))) for _ in range(rng.choice((0, 1, 2))))
    found = rng.choice(
        [
            a.Put(seat, site()),
            a.Pass(seat),
            a.Swap(seat, site(), rng.choice(DOMAINS)),
            a.Swap(seat, a.SPARE),
            a.Agriculture(seat, a.canonical_stones(plus, state.board)),
            a.Trade(seat, a.canonical_stones(plus, state.board)),
            a.Culture(seat),
            a.Culture(seat, a.canonical_stones(plus, state.board)),
            a.Politics(seat, a.canonical_moves(moves, state.board)),
            a.War(seat, site(), site(), rng.choice((1, 1, 2, 3))),
            a.Extra(seat, a.canonical_stones(plus or ((site(), 1),), state.board)),
            a.Settle(seat, site()),
            a.Ziggurat(seat, (site(),)),
            a.Return(seat, site()),
        ]
    )
    return found


def listed_whole(state, action):
    """Whether all choices of this domain are listed (they multiply beyond FEW only on large
    boards)."""
    p = state.mover
    if isinstance(action, a.Politics):
        return len(state.own(p)) <= 3
    most = {a.Agriculture: 3, a.Trade: 5}.get(type(action), 1)
    of = {a.Agriculture: "agriculture", a.Trade: "trade"}.get(type(action), "")
    return most ** sum(state.face(i) == of for i in state.own(p)) <= FEW


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_legal_actions_are_just_what_check_allows(ur, seed):
    rng = random.Random(seed)
    state, _ = ur.opened(seed, bonus=rng.choice(("as-written", "for-restraint")))
    for _ in range(40):
        if state.outcome() is not None:
            break
        legal = state.legal_actions()
        assert len(set(legal)) == len(legal)
        for action in rng.sample(legal, min(6, len(legal))):
            assert state.check(action) == [], (action, state.to_text())
        for _ in range(25):
            action = any_action(state, rng)
            violations = state.check(action)
            if violations:
                assert action not in legal
                with pytest.raises(IllegalAction):
                    state.apply(action)
            elif listed_whole(state, action) and action not in legal:
                after = state.apply(action).key()
                assert any(
                    state.apply(x).key() == after for x in legal if type(x) is type(action)
                ), str(action)
        state = state.apply(ur.some_action(state, rng))


def test_set_up_is_checked_the_same_way(ur):
    rng = random.Random(4)
    state = ur.GAME.new(ur.SEATS)
    while state.phase in ("lay", "put", "swap"):
        if state.phase != "lay":
            legal = state.legal_actions()
            for _ in range(20):
                action = any_action(state, rng)
                assert (state.check(action) == []) == (action in legal), str(action)
        state = state.apply(ur.some_action(state, rng))


def test_the_box_lays_no_neighbours_alike_while_it_can(ur):
    state = ur.GAME.new(ur.SEATS)
    rng = random.Random(7)
    while state.phase == "lay":
        outcomes = state.chance()
        assert abs(sum(w for _, w in outcomes) - 1) < 1e-9
        state = state.apply(ur.some_action(state, rng))
    assert state.phase == "put" and state.chance() == []


def played(ur):
    """A game of a fixed seed, written out."""
    rng = random.Random(2006)
    state = ur.GAME.new(ur.SEATS[:3])
    lines = []
    while state.outcome() is None:
        action = ur.some_action(state, rng)
        state = state.apply(action)
        scores = " ".join(f"{s} {n}" for s, n in state.scores().items())
        lines.append(f"{action} | {scores}" if state.phase != "lay" else str(action))
    lines += [f"winner {' '.join(state.outcome().winners)}", *state.to_text().splitlines()]
    return "\n".join(lines) + "\n"


def test_golden_game(ur):
    """The same seed plays the same game to the same end. After a change of rules that is meant:
    write `played` anew."""
    assert played(ur) == GOLDEN.read_text(encoding="utf-8")


def test_a_table_that_never_saw_the_hand_tiles_goes_on(ur):
    """Unknown tiles could be anything: what is used and laid tells them bit by bit."""
    state = ur.position(
        "layout A1 tile:trade/war black black B1 tile:culture/war C1 tile:politics/war white"
    )
    assert state.hands == (None, None, None) and "box" in state.actors
    assert {type(x) for x in state.legal_actions()} >= {a.Trade, a.Culture, a.War, a.Swap, a.Lay}
    told = ur.run(state, "box: lay hand2 war/trade")
    assert told.hands[1] == "war/trade" and ur.broken(told, "box: lay hand2 war/trade") == ["U5"]
    state = ur.run(state, "black: trade A1+1")
    assert state.could_bear(0, "culture") and not ur.run(state, "black: culture").could_bear(
        0, "war"
    )
    after = ur.run(state, "black: swap B1 politics")
    assert after.layout()["B1"] == ("tile:politics/trade",)
    unknown = ur.run(after, "white: swap B1 war")
    assert unknown.tiles[1] == "war/?" and script.parse_script(unknown.to_text()).start() == unknown
    assert ur.run(after, "white: swap B1 war/culture").layout()["B1"] == ("tile:war/culture",)
    assert ur.GAME.load(unknown.to_json()) == unknown


@pytest.mark.parametrize(
    "text",
    [
        "black",
        "black:",
        "black: dance",
        "red: pass",
        "black: trade C3",
        "black: trade C9+1",
        "black: war C3>D3",
        "black: put",
        "black: swap C3",
        "black: swap C3 peace",
        "black: lay A1 war/trade",
        "box: put A1",
        "black: extra",
        "black: ziggurat",
        "black: pass now",
        "box: lay A1 war/war",
        "black: war C3>D3:1 D3>E3:1",
        "black: politics C3>D3:x",
    ],
)
def test_nonsense_is_called_so(ur, text):
    with pytest.raises(BadText):
        ur.position("layout A1 tile:trade/war black").parse(text)


@pytest.mark.parametrize(
    "line",
    [
        "layout A1 tile:war/war",
        "layout A1 tile:peace/war",
        "layout Z9 tile:war/trade",
        "layout A1 black",
        "layout",
        "layout A1 tile:war/trade black white",
        "layout A1 tile:war/trade red",
        "layout A1 tile:war/trade blue",
        "layout A1 tile:war/trade ziggurat ziggurat",
        "layout A1 tile:war/trade ziggurat black black",
        "layout hand4 tile:war/trade",
        "layout hand1 tile:war/trade black",
        "hand black",
        "hand red war/trade",
        "spare war/trade culture/war",
        "option bonus",
        "option colour red",
        "starter",
        "starter red",
        "turn red",
        "phase dusk",
        "box open",
        "done nothing",
        "bag 3",
    ],
)
def test_a_bad_set_up_line_is_named(ur, line):
    with pytest.raises(script.BadScript, match="^line 4: "):
        ur.position(line)


@pytest.mark.parametrize(
    "change",
    [
        {"phase": "dusk"},
        {"tiles": {"A1": "war"}},
        {"tiles": {"Q1": "war/trade"}},
        {"stones": {"A1": ["red", 1]}},
        {"seats": None},
        {"extra": ["extra"]},
    ],
)
def test_a_broken_record_is_refused(ur, change):
    data = ur.opened(2)[0].to_json()
    with pytest.raises(BadText):
        ur.GAME.load({**data, **change})


def test_starter_and_turn_lines(ur):
    state = ur.position(
        "layout A1 tile:trade/war black B1 tile:culture/war",
        "hand white war/trade",
        "starter white",
    )
    assert state.turn == "white"
    assert ur.run(state, "white: swap B1 war").turn == "green"
    assert ur.position("layout A1 tile:trade/war black", "turn green").turn == "green"


def test_expectations_of_its_own(ur):
    state = ur.position(
        "layout A1 tile:trade/war black", "hand black war/trade", "spare culture/war"
    )
    assert state.expect(["supply", "black", "19"]) == (True, "19")
    assert (
        state.expect(["hand", "black", "trade/war"])[0]
        and not state.expect(["hand", "white", "trade/war"])[0]
    )
    assert state.expect(["spare", "war/culture"])[0] and state.expect(["ziggurats", "4"]) == (
        False,
        "5",
    )
    assert state.expect(["score", "black", "3"]) is None and state.expect(["bag", "3"]) is None


def test_another_thread_may_ask_while_the_next_state_is_made(ur, monkeypatch):
    """The page's threads and the table's work on one state; what one remembers disturbs none."""
    state = ur.position()

    class Remembering(frozenset):
        def __contains__(self, name):
            state.__dict__[f"_{name}"] = None
            return super().__contains__(name)

    monkeypatch.setattr("engine.ur.position._CACHED", Remembering())
    assert state.changed(built=1).built == 1
