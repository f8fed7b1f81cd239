"""Set-up lines, JSON, notation: what is accepted, what is refused with which words."""

import json
from importlib import resources

import pytest

import engine
from engine import BadPlan, BadText, Plan, script
from engine.tigris.actions import Leader, Swap, Treasure
from tests.engine.support.tigris_positions import do, position

GAME = engine.game("tigris")


@pytest.mark.parametrize(
    "text, printed",
    [
        ("bull: tile red C4", "bull: tile red C4"),
        ("bull:tile   temple c4", "bull: tile red C4"),
        ("bull: leader black D5", "bull: leader black D5"),
        ("bull: leader black D5>E5", "bull: leader black D5>E5"),
        ("bull: leader black D5 > E5", "bull: leader black D5>E5"),
        ("bull: leader black D5>", "bull: leader black D5>"),
        ("bull: catastrophe C4", "bull: catastrophe C4"),
        ("bull: swap 3", "bull: swap 3"),
        ("bull: swap blue red black", "bull: swap black red blue"),
        ("bull: pass", "bull: pass"),
        ("lion: commit 2", "lion: commit 2"),
        ("bull: war blue", "bull: war blue"),
        ("bull: build black-red B3", "bull: build black-red B3"),
        ("bull: build red-black B3", "bull: build black-red B3"),
        ("bull: keep", "bull: keep"),
        ("bull: treasure F3 K1", "bull: treasure K1 F3"),
        ("bull: treasure F3, K1", "bull: treasure K1 F3"),
        ("bag: draw bull red blue", "bag: draw bull red blue"),
        ("bag: draw bull blue red", "bag: draw bull red blue"),
    ],
)
def test_notation(text, printed):
    state = position()
    action = state.parse(text)
    assert str(action) == printed and state.parse(printed) == action


def test_leader_on_the_board_said_without_its_square():
    """T12: it is a move, and is printed as one."""
    state = position("layout D5 temple D6 leader:bull:black J5 temple")
    assert state.parse("bull: leader black J6") == Leader("bull", "black", "D6", "J6")
    assert str(state.parse("bull: leader black J6")) == "bull: leader black D6>J6"


@pytest.mark.parametrize(
    "text",
    [
        "bull",
        "bull:",
        "bull tile red C4",
        "cat: tile red C4",
        "bull: tile red",
        "bull: tile pink C4",
        "bull: tile red Q4",
        "bull: tile red C4 C5",
        "bull: dance",
        "bull: leader black",
        "bull: leader black >E5",
        "bull: leader black D5>Z9",
        "bull: catastrophe",
        "bull: swap",
        "bull: swap red cat",
        "bull: pass 1",
        "bull: commit",
        "bull: commit many",
        "bull: commit -1",
        "bull: war",
        "bull: war 3",
        "bull: build red B3",
        "bull: build red-pink B3",
        "bull: build black-red",
        "bull: keep it",
        "bull: treasure",
        "bull: treasure X1",
        "bag: draw",
        "bag: draw cat red",
        "bag: tile red C4",
        "",
    ],
)
def test_nonsense_is_refused_in_words(text):
    with pytest.raises(BadText) as e:
        position().parse(text)
    assert len(str(e.value)) > 10


HEAD = "game tigris\nseats bull lion\n"


@pytest.mark.parametrize(
    "line, words",
    [
        ("layout Q9 temple", "no site called Q9"),
        ("layout C4 tempel", "tempel"),
        ("layout C4 temple market", "one square"),
        ("layout C4 temple leader:bull:red", "one square"),
        ("layout C4 leader:pot:red", "pot does not play"),
        ("layout C4 leader:cat:red", "cat"),
        ("layout C4 leader:bull:red D4 leader:bull:red", "twice"),
        ("layout P11 monument:black-red", "no room"),
        ("layout C4 monument:red-pink", "red-pink"),
        ("layout", "clear"),
        ("layout C4 union", "union"),
        ("layout C4 temple union D4 temple union", "only one union"),
        ("layout C5 flipped monument:black-red D5 temple", "face-down"),
        ("score bull red", "score"),
        ("score cat red 1", "cat"),
        ("score bull pink 1", "pink"),
        ("score bull red many", "many"),
        ("hand", "hand"),
        ("hand bull pink", "pink"),
        ("hand cat red", "cat"),
        ("bag many", "many"),
        ("bag red", "red"),
        ("bag pink 3 red 2", "pink"),
        ("hidden bull", "hidden"),
        ("catastrophes bull two", "two"),
        ("turn", "turn"),
        ("turn cat", "cat"),
        ("phase dance", "phase"),
        ("phase commit", "nothing on the board"),
        ("phase build", "nothing on the board"),
        ("phase over", "nothing on the board"),
        ("conflict temples red bull", "conflict"),
        ("laid Q9", "laid"),
        ("over T1", "over"),
        ("tide flood", "tide"),
        ("option bonus x", "option"),
        ("spent red", "spent"),
        ("draws bull", "draws"),
        ("bag red 9 blue 3\nphase draw", "nothing on the board"),
        ("draws bull 2\nphase draw", "bag are not known"),
    ],
)
def test_set_up_lines_that_are_wrong_name_their_line(line, words):
    with pytest.raises(script.BadScript) as e:
        script.parse_script(HEAD + line).start()
    number = 2 + len(line.splitlines())
    assert str(e.value).startswith(f"line {number}: ") and words in str(e.value)


@pytest.mark.parametrize("seats", ["bull", "bull bull", "bull cat", "archer bull pot lion bull"])
def test_seats_that_cannot_sit(seats):
    with pytest.raises(script.BadScript, match="^line 2: seats"):
        script.parse_script(f"game tigris\nseats {seats}\n").start()


def test_layout_keeps_or_clears_the_printed_start():
    kept = script.parse_script(HEAD + "layout K1 market B1 leader:bull:red").start().layout()
    assert (
        kept["K1"] == ("market",)
        and kept["F3"] == ("temple", "treasure")
        and kept["B1"] == ("leader:bull:red",)
    )
    clear = script.parse_script(HEAD + "layout clear K1 market").start().layout()
    assert clear == {"K1": ("market",)}
    assert "K1" not in script.parse_script(HEAD + "layout K1").start().layout()


def test_monument_alone_stands_on_four_face_down_tiles():
    layout = script.parse_script(HEAD + "layout B5 monument:red-black").start().layout()
    assert layout["B5"] == ("flipped", "monument:black-red") and layout["C6"] == ("flipped",)


def test_bag_counts_what_is_nowhere_else():
    """T3, T4: 153 less the board and the hands, unless the number is said: then the rest has left
    the game."""
    assert position().bag == 153 - 3 - 12
    assert position("hand bull red red").bag == 153 - 3 - 8
    said = position("bag 20")
    assert said.bag == 20 and said.lost == 153 - 3 - 12 - 20


def test_hands_open_and_hidden():
    """T34: what an open hand draws may be told, or left unknown when the game just goes on."""
    state = position(
        "hand bull red red blue green black black\nbull: tile red A1\nbull: tile red A3\n"
        "? hand bull 6\n? turn lion"
    )
    assert state.actors == ("lion", "bag")
    told = do(state, "bag: draw bull green green")
    assert told.known[0] == (2, 0, 1, 3) and told.unknown == (0, 6)
    silent = do(state, "lion: pass")
    assert silent.known[0] == (2, 0, 1, 1) and silent.unknown == (2, 6)
    # one of the two unknown ones may be red
    assert silent.check(silent.parse("bull: tile red C5")) == []
    assert [v.rule for v in told.skip_chance().check(told.parse("lion: commit 0"))] == [
        "T39",
        "T47",
    ]
    mixed = do(silent, "bull: swap 2")
    assert mixed.known[0] == (0, 0, 0, 0)  # which two went was not said


def test_named_swap_of_an_open_hand():
    state = position("hand bull red red blue")
    assert Swap("bull", 2, ("red", "blue")) in state.legal_actions()


@pytest.mark.parametrize(
    "change",
    [
        {"seats": ["bull"]},
        {"turn": "pot"},
        {"layout": {"Q9": ["temple"]}},
        {"layout": {"C4": ["cat"]}},
        {"points": {}},
        {"hands": {"bull": {}}},
        {"phase": "dance"},
        {"phase": "commit"},
        {"bag": "many"},
        {"draws": [["cat", 1]]},
        {"fight": {"kind": "temples"}},
        {"laid": "Q9"},
        {"left": None},
        {"catastrophes": None},
        {"bag_known": {"red": 1}},
    ],
)
def test_json_that_is_no_state(change):
    data = json.loads(json.dumps(position().to_json())) | change
    with pytest.raises(BadText):
        GAME.load(data)
    with pytest.raises(BadText):
        GAME.load({})


def test_a_copys_own_plan():
    """T3, T19: river, winged squares and the board's size come from the plan, the columns from
    where the squares lie."""
    text = resources.files("engine.tigris").joinpath("plan.toml").read_text(encoding="utf-8")
    rows = text.split("[[site]]\n")
    names = "abcdef"
    sites = [
        (
            'id = "{n}"\nreads = "pile"\ntags = {t}\noutline = [[{x}, {y}], [{r}, {y}], '
            "[{r}, {b}], [{x}, {b}]]\n"
        ).format(
            n=f"{names[c]}-{r}",
            t='["river"]'
            if c == 2
            else '["winged"]'
            if (c, r) in ((0, 0), (4, 4), (5, 0))
            else "[]",
            x=c * 40 + r % 3,
            y=r * 40,
            r=c * 40 + 38,
            b=r * 40 + 38,
        )
        for r in range(5)
        for c in range(6)
    ]
    plan = Plan.parse("[[site]]\n".join([rows[0], *sites]))
    state = GAME.setup(["bull", "lion"], (), plan)
    assert state.layout() == {s: ("temple", "treasure") for s in ("a-0", "e-4", "f-0")}
    state = do(state, "bull: leader red b-0", "bull: tile red b-1")
    assert state.scores()["bull"]["red"] == 1
    assert [v.rule for v in state.check(state.parse("lion: tile red c-1"))] == ["T19"]
    assert state.check(state.parse("lion: tile blue c-1")) == []
    green = {
        a.target for a in state.legal_actions() if isinstance(a, Leader) and a.colour == "green"
    }
    # beside the five temples, off the river
    assert green == {"a-1", "e-0", "f-1", "e-3", "d-4", "f-4", "b-2"}
    assert GAME.load(state.to_json(), plan) == state


@pytest.mark.parametrize(
    "change", [("temple", "tempel"), ('id = "A1"', 'id = "B1"'), ("outline", "line")]
)
def test_plan_that_is_no_board(change):
    text = resources.files("engine.tigris").joinpath("plan.toml").read_text(encoding="utf-8")
    if change == ("outline", "line"):  # without outlines, ids such as C4 tell the square
        state = GAME.setup(["bull", "lion"], (), Plan.parse(text.replace(*change)))
        assert do(state, "bull: leader red B1", "bull: tile red C2").scores()["bull"]["red"] == 1
        return
    with pytest.raises((BadText, BadPlan)):
        GAME.setup(
            ["bull", "lion"],
            (),
            Plan.parse(
                text.replace(*change, 1) if change[0] != "temple" else text.replace(*change)
            ),
        )


def test_treasure_sites_in_the_plans_order():
    assert Treasure("lion", ("K1", "F3")) == position().parse("lion: treasure F3 K1")


def test_names_of_things():
    assert str(GAME.kind_name("leader:lion:green")) == "the green leader of Lion"
    assert str(GAME.kind_name("monument:black-red")) == "the black and red monument"
    assert all(str(GAME.kind_name(k)) != k for k in GAME.plan().counts)
    assert str(GAME.kind_name("cup")) == "cup"


def test_what_to_do_names_site_piece_and_owner():
    state = position("layout D5 temple C5 leader:lion:green\nbull: catastrophe D5")
    [todo] = state.todo()
    assert todo.sites == ("C5",) and str(todo.text) == "take the green leader of Lion off C5"


def test_game_has_no_options():
    with pytest.raises(BadText):
        GAME.new(["bull", "lion"], {"bonus": "x"})
