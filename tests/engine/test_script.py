"""`.play` scripts: what is read, what fails and how it is said."""

import pytest

from engine import script

HEAD = "game tigris\nseats bull lion\n"


def faults(body):
    return [str(f) for f in script.run_script(HEAD + body).faults]


def test_a_script_that_holds():
    result = script.run_script(
        HEAD
        + (
            "# a comment\n\nbull: tile red C2   # and another\n? at C2 temple\nlion: pass "
            "!T36\n? turn bull\n"
        )
    )
    assert (
        result.faults == [] and result.actions == ["bull: tile red C2"] and result.expectations == 3
    )
    assert result.start.layout() != result.state.layout()


def test_as_other_editors_write_it():
    result = script.run_script(
        "\ufeff" + (HEAD + "\tbull:\ttile red  C2 # so\n? at C2\ttemple\n").replace("\n", "\r\n")
    )
    assert result.faults == [] and result.actions == ["bull: tile red C2"]


@pytest.mark.parametrize(
    "body, line, expected, found",
    [
        ("bull: tile red B2", 3, "bull: tile red B2 is legal", "T19"),
        ("bull: tile red C2 !T19", 3, "refused by T19", "it is legal"),
        ("bull: tile red C2!", 3, "refused by some rule", "it is legal"),
        ("bull: tile red B2 !T24", 3, "refused by T24", "refused by T19"),
        ("lion: tile red B2 !T19 !T24 !T36", 3, "refused by T24", "T36"),
        ("? at C2 temple", 3, "? at C2 temple", "empty"),
        ("? at B2", 3, "? at B2", "temple treasure"),
        (
            "? at b2 temple treasure C2 K1 temple",
            3,
            "? at b2 temple treasure C2 K1 temple",
            "K1 temple treasure",
        ),
        ("? turn lion", 3, "? turn lion", "bull"),
        ("? over", 3, "? over", "the game goes on"),
        ("bag 1\nbull: swap 2\n? not over", 5, "? not over", "the game is over"),
        ("bag 1\nbull: swap 2\n? turn bull", 5, "? turn bull", "nobody"),
        ("? winner bull", 3, "? winner bull", "the game goes on"),
        (
            "score bull black 3\nbag 1\nbull: swap 2\n? winner lion",
            6,
            "? winner lion",
            "winner bull",
        ),
        ("? can bull: tile red B2", 3, "? can bull: tile red B2", "T19"),
        ("? cannot bull: tile red C2", 3, "? cannot bull: tile red C2", "it is legal"),
        ("? cannot bull: tile red B2 !T24", 3, "? cannot bull: tile red B2 !T24", "refused by T19"),
        ("? todo C2", 3, "? todo C2", "nothing to do"),
        ("? score bull red 3", 3, "? score bull red 3", "0"),
        ("score bull blue 4\n? score bull red 0 blue 2", 4, "? score bull red 0 blue 2", "4"),
        ("? bag 3", 3, "? bag 3", "131"),
        ("? hand bull 3", 3, "? hand bull 3", "6"),
    ],
)
def test_what_does_not_hold_is_a_fault(body, line, expected, found):
    [fault] = script.run_script(HEAD + body).faults
    assert fault.line == line and fault.expected == expected and found in fault.found
    assert str(fault) == f"line {line}: expected {expected}; found {fault.found}"


def test_after_a_fault_the_script_goes_on():
    assert len(faults("bull: tile red B2\nbull: tile red C2\n? at C2\n? turn lion")) == 3


@pytest.mark.parametrize(
    "text, line",
    [
        ("", 1),
        ("# nothing\n", 1),
        ("seats bull lion\n", 1),
        ("\n\nlayout clear\n", 3),
        ("game\n", 1),
        ("game tigris ur\n", 1),
        ("# first\ngame chess\n", 2),
        (HEAD + "game tigris\n", 3),
        ("game tigris\nseats\n", 2),
        ("game tigris\n# x\nseats bull\n", 3),
        (HEAD + "layuot clear\n", 3),
        (HEAD + "layout C2 tempel\n", 3),
        (HEAD + "layout clear\nlayout Z3 temple\n", 4),
        (HEAD + "bull: tile red C2\nlayout clear\n", 4),
        (HEAD + "? turn bull\nscore bull red 1\n", 4),
        (HEAD + "bull: tyle red C2\n", 3),
        (HEAD + "bull: tile red ZZ\n", 3),
        (HEAD + "\nbull: tile reed C2\n", 4),
        (HEAD + "bull tile red C2\n", 3),
        (HEAD + "bul: tile red C2\n", 3),
        (HEAD + "?\n", 3),
        (HEAD + "? trun bull\n", 3),
        (HEAD + "? at Z9\n", 3),
        (HEAD + "? at\n", 3),
        (HEAD + "? can bull: tile red\n", 3),
        (HEAD + "? cannot bull: dance\n", 3),
        (HEAD + "? score cat red 1\n", 3),
        (HEAD + "? score bull\n", 3),
        (HEAD + "? todo\n", 3),
        (HEAD + "? winner\n? what\n", 4),
        (HEAD + "bull: pass !T1\nlion: pess\n", 4),
        (HEAD + "? turn\n", 3),
        (HEAD + "? not over yet\n", 3),
        (HEAD + "? score bull yellow 0\n", 3),
        (HEAD + "? score bull red 0 blue\n? score bull red 0 blue 0 green\n", 3),
        (HEAD + "bull: commit " + "9" * 5000 + "\n", 3),
        (HEAD + "bull: commit \u00b2\n", 3),
    ],
)
def test_typing_errors_name_the_line(text, line):
    with pytest.raises(script.BadScript) as e:
        script.run_script(text)
    assert str(e.value).startswith(f"line {line}: "), str(e.value)
    assert len(str(e.value)) > len(f"line {line}: ") + 8


def test_an_action_without_its_colon_is_told_from_a_set_up_line():
    for line in ("bull tile red C2", "bull:", "bull"):
        with pytest.raises(script.BadScript, match="line 3: an action is written `bull: ACTION`"):
            script.run_script(HEAD + line + "\n")


def test_no_seats_line_seats_everybody():
    assert script.parse_script("game tigris\n").start().seats == ("archer", "bull", "pot", "lion")


def test_several_rules_after_a_refusal():
    assert (
        faults("bull: leader blue E2 !T13 !T14") == faults("bull: leader blue E2 !T13, T14") == []
    )


def test_what_was_drawn_is_told_or_left_unknown():
    hand = "hand bull red red red red red red\nbull: tile red A1\nbull: pass\n"
    assert (
        faults(hand + "bag: draw bull blue\n? hand bull red red red red red blue\nlion: pass") == []
    )
    assert faults(hand + "lion: pass\n? hand bull 6") == []
    assert faults(hand + "? can lion: pass\n? turn lion") == []
    known = hand + "bag red 20 blue 20 black 20 green 20\n"
    setup = "\n".join(sorted(known.splitlines(), key=lambda line: ":" in line)) + "\n"
    assert faults(setup + "lion: pass") == []
    assert faults(setup + "bag: draw bull blue\nlion: pass\n? hand bull 6") == []


def test_a_refused_action_leaves_a_waiting_draw_waiting():
    bag = (
        "hand bull red red red red red red\nbag red 20 blue 20 black 20 green 20\nbull: tile "
        "red A1\nbull: pass\n"
    )
    assert (
        faults(
            bag
            + "lion: tile red A1 !T19\nbag: draw bull blue\n? hand bull red red red red red blue"
        )
        == []
    )


def test_an_offer_is_declined_by_going_on():
    square = "layout B10 settlement C10 settlement B11 settlement\nbull: tile black C11\n"
    assert (
        faults(
            square
            + (
                "? can bull: build black-red B10\n? can bull: tile red A1\nbull: tile red "
                "A1\n? turn lion"
            )
        )
        == []
    )
    assert (
        faults(
            square
            + "bull: tile red A1 !T53\nbull: tile red B10 !T53 !T19\nbull: build black-red B10"
        )
        == []
    )
    assert faults(square + "? cannot bull: tile red A1") == []
    [fault] = faults(square + "bull: tile red B10\n")
    assert "T19" in fault and "T53" in fault


def test_actions_are_told_as_they_happen():
    told = []
    script.run_script(
        HEAD + "bull: tile red C2\nlion: pass !T36\nbull: pass\n",
        on_action=lambda a, s: told.append((str(a), s.turn)),
    )
    assert told == [("bull: tile red C2", "bull"), ("bull: pass", "lion")]


def test_lines_without_comments():
    assert script.script_lines("a # b\n\n  # c\n d\n") == [(1, "a"), (4, "d")]


def test_at_a_table_nobody_says_pass_when_the_next_player_acts():
    """docs/contracts.md: those before have passed, unless the line says that it must be refused;
    what is printed reads back"""
    body = (
        "bull: tile red C2\nlion: tile red D2 !T36\n? cannot lion: tile red B2\n"
        "? can lion: tile red D2\nlion: tile red D2\n? turn lion\n"
    )
    result = script.run_script(HEAD + body)
    assert result.faults == [] and result.actions == [
        "bull: tile red C2",
        "bull: pass",
        "lion: tile red D2",
    ]
    again = script.run_script(HEAD + "\n".join(result.actions))
    assert again.state == result.state
    [fault] = script.run_script(HEAD + "bull: tile red C2\nlion: tile red B2\n").faults
    assert "T19" in fault.found


def test_an_offer_nobody_took_up_and_a_pass_nobody_said():
    square = "layout H2 temple H3 temple G2 temple\nbull: tile red G3\n"
    result = script.run_script(
        HEAD + square + "? can bull: build black-red G2\nlion: leader black J1\n"
        "? turn lion\n? at J1 leader:lion:black\n"
    )
    assert result.faults == []
