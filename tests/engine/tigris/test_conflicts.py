"""T37 to T52: conflicts over a leader and between joined kingdoms."""

import pytest

from tests.engine.support.tigris_positions import do, position, refused

# Bull's king comes to D6: 2 against 1
TEMPLES = "layout D5 temple C5 leader:lion:black E5 temple E6 temple\n"
WAR = (
    # two against one; J5 joins
    "layout I5 temple I6 leader:bull:black H5 settlement G5 settlement\n"
    "layout K5 temple K6 leader:lion:black L5 settlement\n"
)


def red(state, seat):
    return state.scores()[seat]["red"]


def test_t37_leader_among_its_colour():
    """T37: placing or moving it there starts a conflict, the placer attacks; nobody pulls out."""
    for lines, action in (
        (TEMPLES, "bull: leader black D6"),
        (TEMPLES + "layout A2 leader:bull:black\n", "bull: leader black A2>D6"),
    ):
        state = do(position(lines), action)
        assert state.actors == ("bull",) and state.turn == "bull"
        assert "T37" in refused(state, "bull: leader black D6>")
        assert "T37" in refused(state, "lion: leader black C5>")
    other = do(position(TEMPLES), "bull: leader red D6")
    assert other.phase == "action"


def test_t38_temples_beside_the_leader():
    """T38: along an edge only, one temple for both; temples further off do not count."""
    shared = do(
        position("layout D5 temple C5 leader:lion:black D4 farm E5 market E6 temple"),
        "bull: leader black D6",
    )
    # D5 and E6 against D5
    after = do(shared, "bull: commit 0", "lion: commit 0")
    assert red(after, "bull") == 1
    far = position(
        "layout D5 temple C5 leader:lion:black E5 temple F5 temple G5 temple F6 "
        "market\nbull: leader black E4"
    )
    # one, E5, against one: a tie
    assert red(do(far, "bull: commit 0", "lion: commit 0"), "lion") == 1


def test_t39_who_adds_and_how_much():
    """T39: attacker first, then defender, once each, what the hand can hold; the larger sum wins, a
    tie is the defender's."""
    state = do(position(TEMPLES), "bull: leader black D6")
    assert refused(state, "lion: commit 0") == ["T39"]
    assert refused(state, "bull: commit 6") == [] and refused(state, "bull: commit 7") == ["T39"]
    state = do(state, "bull: commit 1")
    assert refused(state, "bull: commit 0") == ["T39"] and state.actors == ("lion",)
    assert red(do(state, "lion: commit 1"), "bull") == 1
    assert red(do(state, "lion: commit 2"), "lion") == 1
    assert red(do(state, "lion: commit 3"), "lion") == 1
    known = do(position("hand bull red green\n" + TEMPLES), "bull: leader black D6")
    assert refused(known, "bull: commit 1") == [] and refused(known, "bull: commit 2") == ["T39"]


def test_t39_no_conflict_no_temples():
    """T39: nothing is added without a conflict."""
    assert refused(position(TEMPLES), "bull: commit 0") == ["T39", "T47"]


def test_t40_loser_goes_winner_scores():
    """T40: the leader goes home, one red point whatever was added, and what was added is gone."""
    state = do(position(TEMPLES), "bull: leader black D6", "bull: commit 3", "lion: commit 1")
    assert state.pieces.leaders[4] == -1 and state.layout()["D6"] == ("leader:bull:black",)
    assert red(state, "bull") == 1 and red(state, "lion") == 0
    assert state.spent == (0, 4, 0, 0) and (state.hand(0), state.hand(1)) == (3, 5)
    assert state.left == 1 and [t.sites for t in state.todo()] == [("C5",)]


def test_t41_no_tile_is_removed():
    """T41: the board keeps all its tiles."""
    before = position(TEMPLES)
    after = do(before, "bull: leader black D6", "bull: commit 0", "lion: commit 4")
    assert before.pieces.tiles == after.pieces.tiles


def test_t42_union_tile():
    """T42: it lies on the joining tile while conflicts last, supports nobody, and connects."""
    state = do(position(WAR), "bull: tile black J5")
    assert state.layout()["J5"] == ("settlement", "union")
    steps = state.steps
    assert [s.by_hand for s in steps if s.changes] == [True, False] and steps[0].changes == {
        "J5": ("settlement",)
    }
    after = do(state, "bull: commit 0", "lion: commit 1")
    assert after.scores()["lion"]["black"] == 3  # two to two: J5 counted for nobody


def test_t43_no_conflict():
    """T43: no colour twice: the union tile is not even needed, and the action is over."""
    state = do(
        position("layout I5 temple I6 leader:bull:black K5 temple K6 leader:lion:red"),
        "bull: tile red J5",
    )
    assert state.phase == "action" and state.layout()["J5"] == ("temple",) and state.left == 1


BOTH = (
    "layout I5 temple I6 leader:bull:black H5 settlement I4 leader:bull:green\n"
    "layout K5 temple K6 leader:lion:black L5 market K4 leader:lion:green\n"
)


def test_t44_which_conflict_first():
    """T44: the active player says, only where there is a choice, and again after each."""
    state = do(position(BOTH), "bull: tile red J5")
    assert [str(a) for a in state.legal_actions()] == ["bull: war black", "bull: war green"]
    assert refused(state, "bull: war red") == refused(state, "lion: war black") == ["T44"]
    assert "T44" in refused(state, "bull: tile red A1")
    state = do(state, "bull: war green", "bull: commit 0", "lion: commit 0")
    assert state.phase == "commit" and state.fight.colour == 0
    assert refused(state, "bull: war black") == ["T44"]


@pytest.mark.parametrize(
    "seats, attacker", [("bull lion archer", "lion"), ("bull archer lion", "archer")]
)
def test_t45_next_clockwise_attacks(seats, attacker):
    """T45: the active player is not involved; the next involved seat attacks."""
    state = position(
        "layout I5 temple I6 leader:archer:black K5 temple K6 leader:lion:black\nbull: tile red J5",
        seats=seats,
    )
    assert state.actors == (attacker,) and state.turn == "bull"


def test_t45_active_player_attacks_where_involved():
    """T45: also when sitting last."""
    state = position(WAR + "lion: pass\nbull: tile red J5", seats="lion bull")
    assert state.actors == ("bull",)


def test_t46_own_former_kingdom():
    """T46: tiles of that colour on one's own side, all of them, at that moment."""
    state = do(position(WAR), "bull: tile green J5", "bull: commit 0", "lion: commit 0")
    assert state.scores()["bull"]["black"] == 2 and "K6" not in state.layout()


def test_t46_strength_is_counted_at_that_moment():
    """T46, T50: what an earlier war took away no longer counts."""
    state = position(
        "layout I5 temple I6 leader:bull:black H5 settlement H6 market I4 leader:bull:green\n"
        "layout K5 temple K6 leader:lion:black L5 settlement L4 settlement M5 market K4 "
        "leader:lion:green\n"
        "bull: tile red J5\nbull: war black\nbull: commit 0\nlion: commit 0"
    )
    # Bull lost the settlement on H5; H6 with its market hangs only on I6, where the king stood, and
    # is cut off too
    state = do(state, "bull: commit 0", "lion: commit 0")
    assert state.scores()["lion"] == {"black": 2, "red": 0, "blue": 0, "green": 1, "treasure": 0}


def test_t47_supporters_from_hand():
    """T47: attacker first, then defender, once each, of that colour; the larger sum wins, a tie is
    the defender's."""
    state = do(position("hand lion black red red\n" + WAR), "bull: tile green J5")
    assert refused(state, "lion: commit 0") == ["T47", "T45"]
    # five tiles are left
    assert refused(state, "bull: commit 5") == [] and refused(state, "bull: commit 6") == ["T47"]
    state = do(state, "bull: commit 0")
    assert refused(state, "lion: commit 2") == ["T47"]
    tie = do(state, "lion: commit 1")
    assert tie.scores()["lion"]["black"] == 3 and tie.scores()["bull"]["black"] == 0


def test_t48_loser_and_supporters_leave():
    """T48: the leader and every supporter of that side; a point for each of them, none for what was
    added."""
    state = do(position(WAR), "bull: tile green J5", "bull: commit 0", "lion: commit 5")
    layout = state.layout()
    assert not {"I6", "H5", "G5"} & set(layout) and "I5" in layout
    assert state.scores()["lion"]["black"] == 3
    assert state.spent == (7, 0, 0, 0)
    assert {t.sites for t in state.todo()} == {("I6",), ("H5",), ("G5",), ("J5",)}


RED = (
    "layout F5 temple treasure G5 temple H5 temple H4 temple G6 temple G4 "
    "leader:lion:red F6 leader:lion:black\n"
    "layout J5 temple K5 temple L5 temple M5 temple K6 temple J6 leader:bull:red\n"
)


def test_t49_red_wars_spare_temples():
    """T49: those with a treasure or beside a leader of another colour stay and give no point."""
    state = do(position(RED), "bull: tile green I5", "bull: commit 1", "lion: commit 0")
    layout = state.layout()
    assert layout["F5"] == ("temple", "treasure") and layout["G6"] == ("temple",)
    assert not {"G5", "H5", "H4", "G4"} & set(layout)
    assert red(state, "bull") == 4


def test_t49_only_red_wars_spare():
    """T49 is about temples: in other colours everything of that side goes, beside a leader or
    not."""
    state = position(
        "layout I5 temple I6 leader:bull:black K5 temple K6 leader:lion:black K4 "
        "settlement L4 leader:lion:red"
    )
    state = do(state, "bull: tile green J5", "bull: commit 2", "lion: commit 0")
    assert "K4" not in state.layout() and state.scores()["bull"]["black"] == 2


def test_t50_kingdom_falls_apart():
    """T50: leaders separated by the first war have no conflict any more; in the other order they
    have."""
    lines = (
        "layout I5 temple I6 leader:bull:black H5 settlement G5 settlement F5 temple F6 "
        "leader:bull:green\n"
        "layout K5 temple K6 leader:lion:black L5 settlement M5 settlement L4 settlement "
        "K7 temple K8 leader:lion:green\n"
    )
    first = do(
        position(lines), "bull: tile red J5", "bull: war black", "bull: commit 0", "lion: commit 0"
    )
    assert first.phase == "action" and "F6" in first.layout() and "K8" in first.layout()
    other = do(
        position(lines), "bull: tile red J5", "bull: war green", "bull: commit 0", "lion: commit 0"
    )
    assert other.phase == "commit" and "F6" not in other.layout()


def test_t51_nobody_loses_its_temple_in_a_war():
    """T51: after a red war every other leader of that side still has a temple."""
    state = do(position(RED), "bull: tile green I5", "bull: commit 1", "lion: commit 0")
    p = state.pieces
    assert p.leaders[4] >= 0  # Lion's king beside F5 and G6
    assert all(c < 0 or p.board.near[c] & p.tiles[1] for c in p.leaders)


def test_t52_union_tile_comes_off():
    """T52: after the last conflict, not before; the tile stays."""
    state = do(
        position(BOTH), "bull: tile red J5", "bull: war black", "bull: commit 0", "lion: commit 0"
    )
    assert state.layout()["J5"] == ("temple", "union")
    state = do(state, "bull: commit 0", "lion: commit 0")
    assert state.layout()["J5"] == ("temple",)
    assert state.steps[-1].changes == {"J5": ("temple",)} and not state.steps[-1].by_hand
