"""T53 to T65: monuments, treasures, the end and the winner."""

import pytest

from engine.tigris.scoring import spread_jokers
from tests.engine.support.tigris_positions import do, position, refused

SQUARE = "layout B5 settlement C5 settlement B6 settlement\n"
BLACK = (
    "layout A10 flipped monument:black-blue B10 flipped A11 flipped B11 flipped\n"
    "layout D10 flipped monument:black-green E10 flipped D11 flipped E11 flipped\n"
    "layout G10 flipped monument:black-red H10 flipped G11 flipped H11 flipped\n"
)


def test_t53_who_builds_what_and_when():
    """T53: the one whose tile completes the square, a monument with that colour, just then."""
    state = do(position(SQUARE), "bull: tile black C6")
    assert [str(a) for a in state.legal_actions()] == [
        "bull: keep",
        "bull: build black-blue B5",
        "bull: build black-green B5",
        "bull: build black-red B5",
    ]
    for wrong in (
        "bull: build green-red B5",
        "bull: build black-red C5",
        "bull: build black-red C6",
        "lion: build black-red B5",
        "lion: keep",
        "bull: tile red A1",
    ):
        assert "T53" in refused(state, wrong)
    built = do(state, "bull: build black-red B5")
    assert (
        built.layout()
        | {
            "B5": ("flipped", "monument:black-red"),
            "C5": ("flipped",),
            "B6": ("flipped",),
            "C6": ("flipped",),
        }
        == built.layout()
    )
    later = do(state, "bull: keep", "bull: pass")
    assert "T53" in refused(later, "lion: build black-red B5") and refused(later, "lion: keep") == [
        "T53"
    ]


def test_t53_mixed_square():
    """T53: four of one colour, not three and one."""
    assert (
        do(position("layout B5 settlement C5 market B6 settlement"), "bull: tile black C6").phase
        == "action"
    )


def test_t53_whoever_laid_the_others():
    """T53: the active player's tile completes it; who laid the rest does not matter."""
    state = do(
        position("layout B5 settlement C5 settlement"),
        "bull: tile black B6",
        "bull: pass",
        "lion: tile black C6",
    )
    assert refused(state, "lion: build black-red B5") == []


def test_t54_no_monument_of_that_colour():
    """T54: none is built, nobody is asked; a monument that stands is not to be had again."""
    state = do(position(BLACK + SQUARE), "bull: tile black C6")
    assert state.phase == "action" and "T54" in refused(state, "bull: build black-red B5")
    one_left = do(position(BLACK.splitlines()[0] + "\n" + SQUARE), "bull: tile black C6")
    assert "T54" in refused(one_left, "bull: build black-blue B5")
    assert refused(one_left, "bull: build black-red B5") == []


JOIN = (
    "layout C5 market D5 market C6 market B5 temple A5 leader:bull:{0}\nlayout E6 temple E7 "
    "leader:lion:{0} {1}\n"
)


def test_t55_conflict_first():
    """T55: the conflict is settled before; the joining tile may be one of the four."""
    state = do(position(JOIN.format("black", "")), "bull: tile green D6")
    assert state.phase == "commit"
    state = do(state, "bull: commit 0", "lion: commit 0")
    assert state.phase == "build" and refused(state, "bull: build blue-green C5") == []


def test_t55_a_tile_is_gone():
    """T55: not when the war took one of the four."""
    state = position(JOIN.format("green", "F6 market G6 market H6 market"))
    state = do(state, "bull: tile green D6", "bull: commit 0", "lion: commit 0")
    assert state.phase == "action" and {"T53", "T55"} <= set(
        refused(state, "bull: build blue-green C5")
    )


TEMPLES = "layout F3 temple treasure G3 temple F4 temple E4 leader:lion:black H3 leader:bull:red\n"


def test_t56_face_down_tiles():
    """T56: no temples, no colour, not to be destroyed; they connect, and a treasure stays on
    them."""
    state = do(position(TEMPLES), "bull: tile red G4", "bull: build blue-red F3")
    layout = state.layout()
    assert layout["F3"] == ("flipped", "treasure", "monument:blue-red")
    assert not {"E4", "H3"} & set(layout)  # both lost their last temple (T16)
    assert refused(state, "bull: leader red F2") == ["T13"]
    assert "T56" in refused(state, "bull: catastrophe G4")
    assert state.pieces.region(state.board.index["F3"]).bit_count() == 4


def test_t56_face_down_tiles_support_nobody():
    """T56: no supporters in a war, and they are not removed."""
    state = position(
        "layout H5 flipped monument:black-red I5 flipped H6 flipped I6 flipped I4 temple "
        "J4 leader:bull:black\n"
        "layout K6 temple K7 leader:lion:black\nbull: tile green J6\nbull: commit 0\nlion: commit 0"
    )
    assert "J4" not in state.layout() and state.layout()["I6"] == ("flipped",)
    assert state.scores()["lion"]["black"] == 1


def test_t57_monument_points():
    """T57: at the end of one's own turn, a point of the colour per monument and own leader; a king
    black only."""
    lines = (
        "layout B5 flipped monument:black-red C5 flipped B6 flipped C6 flipped D5 temple E5 temple "
        "D6 leader:bull:black E4 leader:lion:red\n"
        "layout D10 flipped monument:black-green E10 flipped D11 flipped E11 flipped F10 "
        "temple F9 leader:bull:green\n"
    )
    state = do(position(lines), "bull: pass")
    assert state.scores()["bull"] == {"black": 1, "red": 0, "blue": 0, "green": 1, "treasure": 0}
    assert state.scores()["lion"]["red"] == 0
    assert do(state, "lion: pass").scores()["lion"]["red"] == 1


def test_t57_two_monuments():
    """T57: each of them."""
    state = position(
        "layout B5 flipped monument:black-red C5 flipped B6 flipped C6 flipped F5 temple "
        "F6 leader:bull:black\n"
        "layout D5 flipped monument:black-green E5 flipped D6 flipped E6 flipped\nbull: pass"
    )
    assert state.scores()["bull"]["black"] == 2


def test_t58_several_squares():
    """T58: any of them, and no tile twice."""
    state = do(position(SQUARE + "layout D5 settlement D6 settlement"), "bull: tile black C6")
    assert {a.site for a in state.legal_actions()[1:]} == {"B5", "C5"}
    state = do(state, "bull: build black-red C5")
    assert "T58" in refused(state, "bull: build black-green B5") and state.layout()["B5"] == (
        "settlement",
    )


GREEN = "layout B2 temple treasure F3 temple treasure C2 market D2 market E2 farm E3 farm\n"


def test_t59_trader_takes_all_but_one():
    """T59: at the end of the action, whoever is active; otherwise nobody may take any."""
    state = position(GREEN + "layout A2 leader:lion:green")
    assert refused(state, "lion: treasure B2") == ["T59"]
    state = do(state, "bull: tile red A1")
    assert state.scores()["lion"]["treasure"] == 1 and state.scores()["bull"]["treasure"] == 0
    assert state.layout()["B2"] == ("temple",) and state.layout()["F3"] == ("temple", "treasure")


def test_t59_after_the_conflict():
    """T59: who takes is clear only when the conflict is over."""
    state = position(GREEN + "layout D1 temple D3 farm\nbull: leader green A2", clear=True)
    assert state.scores()["bull"]["treasure"] == 1
    joined = position(
        "layout B2 temple treasure A2 leader:bull:green F3 temple treasure F2 "
        "leader:lion:green C2 market "
        "E2 farm E3 farm D3 farm\nbull: tile black D2"
    )
    assert joined.scores()["bull"]["treasure"] == 0
    joined = do(joined, "bull: commit 0", "lion: commit 0")
    assert joined.scores()["bull"]["treasure"] == 1


CHOICE = (
    "layout F3 temple treasure G3 market H3 market I3 market J3 market K3 temple K1 temple "
    "treasure F4 leader:lion:green\n"
)


def test_t60_owner_chooses():
    """T60: among equals the owner says which; the corners' go first, and then there may be nothing
    to choose."""
    state = do(position(CHOICE), "bull: tile black K2")
    assert state.actors == ("lion",) and state.turn == "bull"
    assert {str(a) for a in state.legal_actions()} == {"lion: treasure F3", "lion: treasure K1"}
    assert refused(state, "lion: treasure K1 F3") == ["T59"]
    assert refused(state, "bull: treasure K1") == ["T59"]
    assert do(state, "lion: treasure F3").layout()["F3"] == ("temple",)


def test_t60_corners_first():
    """T60: with a corner's treasure among three, a choice that leaves it is refused."""
    state = position(
        CHOICE + "layout L1 market L2 market M2 farm N2 market O2 market\nbull: tile black K2"
    )
    assert "T60" in refused(state, "lion: treasure F3 K1")
    assert refused(state, "lion: treasure P2 K1") == []
    state = do(state, "lion: treasure P2 K1")
    assert state.scores()["lion"]["treasure"] == 2 and "treasure" not in state.layout()["P2"]


def test_t61_no_trader():
    """T61: they stay until there is one; then the next end of an action collects."""
    state = do(position(CHOICE.replace("green", "black")), "bull: tile black K2")
    assert state.phase == "action" and state.scores()["lion"]["treasure"] == 0
    state = do(state, "bull: leader green F2")
    assert state.phase == "treasure" and state.actors == ("bull",)


@pytest.mark.parametrize(
    "points, jokers, best",
    [
        ((5, 4, 3, 3), 3, (4, 4, 5, 5)),
        ((0, 0, 0, 0), 4, (1, 1, 1, 1)),
        ((9, 2, 9, 9), 3, (5, 9, 9, 9)),
        ((1, 2, 3, 4), 0, (1, 2, 3, 4)),
    ],
)
def test_t62_jokers(points, jokers, best):
    """T62: each treasure goes to the colour where it helps."""
    assert spread_jokers(points, jokers) == best


def test_t63_bag_at_the_end_of_a_turn():
    """T63: at once when a hand cannot be filled, monument points given; just enough is enough."""
    monument = (
        "layout A10 flipped monument:black-red B10 flipped A11 flipped B11 flipped A9 temple "
        "B9 leader:bull:black\n"
    )
    state = do(position("bag 1\n" + monument), "bull: tile red F5", "bull: tile red G5")
    assert state.outcome() and state.over == "T63" and state.scores()["bull"]["black"] == 1
    assert (
        refused(state, "lion: pass") == ["T63"]
        and state.legal_actions() == []
        and state.turn is None
    )
    assert do(position("bag 2"), "bull: tile red F5", "bull: tile red G5").outcome() is None


def test_t63_bag_in_a_swap():
    """T63: in the middle of the turn."""
    assert do(position("bag 2"), "bull: swap 3").over == "T63"
    assert do(position("bag 3"), "bull: swap 3").over == ""


def test_t63_another_player_cannot_refill():
    """T63 with T35: the defender's hand, short after a conflict, ends it as well."""
    state = do(
        position("bag 3\nlayout D5 temple C5 leader:lion:black"),
        "bull: leader black D6",
        "bull: commit 0",
        "lion: commit 4",
        "bull: pass",
    )
    assert state.over == "T63"


@pytest.mark.parametrize(
    "treasures, over", [("P2 O9 K11", False), ("P2 O9", True), ("P2", True), ("", True)]
)
def test_t64_treasures_left(treasures, over):
    """T64: one, two or none at the end of a turn, not before it."""
    state = position(
        "layout clear\nlayout "
        + " ".join(f"{s} temple treasure" for s in treasures.split())
        + " A1 market"
    )
    state = do(state, "bull: tile red A2")
    assert state.outcome() is None
    state = do(state, "bull: tile red A3")
    assert (state.outcome() is not None) == over
    assert refused(state, "lion: pass") == (["T64"] if over else [])


@pytest.mark.parametrize(
    "bull, lion, winners",
    [
        ("black 9 red 9 blue 9 green 2", "black 3 red 3 blue 3 green 3", ("lion",)),
        ("black 3 red 5 blue 6 green 6", "black 6 red 3 blue 5 green 7", ("lion",)),
        ("black 5 red 4 blue 3 green 3 treasure 3", "black 4 red 4 blue 4 green 4", ("bull",)),
        ("black 1 red 2 blue 3 green 4", "black 4 red 3 blue 2 green 1", ("bull", "lion")),
    ],
)
def test_t65_winner(bull, lion, winners):
    """T65: weakest colour, then the second weakest and so on, jokers where they help; equal in all:
    shared."""
    state = do(position(f"layout clear\nscore bull {bull}\nscore lion {lion}"), "bull: pass")
    assert state.outcome().winners == winners


def test_only_monuments_that_stand_are_told():
    bare = position("layout C4 temple")
    built = position("layout C4 monument:black-red")
    assert bare.view()["tables"] == []
    [told] = built.view()["tables"]
    assert [where for _, where in told["rows"]] == ["C4"]
