"""A sort of action declares its verb and its parts, and is read and printed by that."""

import pytest

import engine
from engine import Action
from engine.notation import Notation, Part, Syntax, UsageError, one_word, several_words


def number(word, said):
    if not word.isdecimal():
        raise UsageError(f"{word!r} is no number")
    return int(word) * said


class Lift(Action, frozen=True):
    stone: int
    places: tuple[str, ...] = ()

    syntax = Syntax(
        "lift",
        one_word("stone", number),
        several_words("places", lambda words, said: tuple(words), " ".join),
        usage="lift STONE PLACE ..., not {n} words",
    )


class Turn(Action, frozen=True):
    way: str = "left"

    syntax = Syntax(
        "turn",
        Part(
            ("way",), lambda words, said: (words.pop() if words else "left",), lambda a: a.way, 0, 1
        ),
        usage="turn left or right, not {n} words",
    )


NOTATION = Notation((Lift, Turn))


@pytest.mark.parametrize(
    "words, action, printed",
    [
        (("lift", "3"), Lift("ann", 3), "lift 3"),
        (("lift", "3", "A", "B"), Lift("ann", 3, ("A", "B")), "lift 3 A B"),
        (("turn",), Turn("ann"), "turn left"),
        (("turn", "right"), Turn("ann", "right"), "turn right"),
    ],
)
def test_words_become_an_action_and_words_again(words, action, printed):
    assert NOTATION.read(words[0], "ann", words[1:], 1) == action
    assert action.words() == printed and str(action) == f"ann: {printed}"


def test_readers_are_told_what_was_said():
    assert NOTATION.read("lift", "ann", ["3"], 7) == Lift("ann", 21)


@pytest.mark.parametrize(
    "words, fault",
    [
        (("lift",), "lift STONE PLACE ..., not 0 words"),
        (("lift", "x"), "'x' is no number"),
        (("turn", "left", "right"), "turn left or right, not 2 words"),
    ],
)
def test_words_that_do_not_fit(words, fault):
    with pytest.raises(UsageError, match=fault):
        NOTATION.read(words[0], "ann", words[1:], 1)


@pytest.mark.parametrize("game", engine.games().values(), ids=engine.games())
def test_a_game_prints_what_it_reads(game):
    state = game.setup([s.id for s in game.seats[: game.players[1]]])
    for action in state.legal_actions():
        assert state.parse(str(action)) == action and str(action).startswith(
            f"{action.seat}: {action.syntax.verb}"
        )
