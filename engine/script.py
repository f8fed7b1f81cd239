"""`.play` scripts (docs/contracts.md, Notation): set-up lines, actions, refusals, expectations.
Pure: text in, faults out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import NamedTuple

import msgspec

import engine
from engine.game import Action, BadText, IllegalAction, State, Statement, Violation
from engine.plan import Plan

_ACTION = re.compile(r"^([a-z][\w-]*): *(.+)$")


class Fault(msgspec.Struct, frozen=True):
    """An expectation that did not hold: the line, what it expected, what was found."""

    line: int
    expected: str
    found: str

    def __str__(self) -> str:
        return f"line {self.line}: expected {self.expected}; found {self.found}"


class BadScript(ValueError):
    """A script that cannot be read; the message begins with `line N: `."""


class Result(msgspec.Struct):
    """The outcome of a script: the state at its start and end, its faults, the actions done (as
    text) and the number of expectations."""

    state: State
    faults: list[Fault]
    actions: list[str]
    expectations: int
    start: State


def script_lines(text: str) -> list[tuple[int, str]]:
    """(number, line without comment and outer whitespace) for every line that is not blank."""
    out = []
    # some editors begin a file with a byte order mark
    for n, raw in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if line:
            out.append((n, line))
    return out


class Script(msgspec.Struct):
    """A parsed script: the game, the seats, the set-up statements, and the rest as (line number,
    line)."""

    game: str
    seats: tuple[str, ...]
    setup: tuple[Statement, ...]
    body: tuple[tuple[int, str], ...]
    game_line: int = 1
    seats_line: int = 1

    def start(self, plan: Plan | None = None) -> State:
        """The position after the set-up lines. Raises BadScript."""
        try:
            game = engine.game(self.game)
            sites = plan or game.plan()
            setup = [
                Statement(line.line, tuple(sites.called(word) or word for word in line.words))
                for line in self.setup
            ]
            return game.setup(
                self.seats or [s.id for s in game.seats[: game.players[1]]], setup, plan
            )
        except engine.UnknownGame as e:
            raise BadScript(f"line {self.game_line}: {e}") from None
        except BadText as e:
            raise BadScript(
                str(e) if str(e).startswith("line ") else f"line {self.seats_line}: {e}"
            ) from None


def parse_script(text: str) -> Script:
    """Raises BadScript if the lines are not in order."""
    name: str | None = None
    seats: tuple[str, ...] = ()
    setup: list[Statement] = []
    body: list[tuple[int, str]] = []
    game_line = seats_line = 1
    for n, line in script_lines(text):
        words = tuple(line.split())
        if line.startswith("?") or _ACTION.match(line):
            body.append((n, line))
        elif body:
            raise BadScript(
                f"line {n}: set-up line {words[0]!r} comes after the first action or expectation"
            )
        elif words[0] == "game":
            if name is not None or len(words) != 2:
                raise BadScript(f"line {n}: {'a second game' if name else 'game takes one name'}")
            name, game_line, seats_line = words[1], n, n
        elif name is None:
            raise BadScript(f"line {n}: a script begins with a line `game NAME`")
        elif words[0] == "seats":
            if len(words) < 2:
                raise BadScript(f"line {n}: seats takes the names of those who play")
            seats, seats_line = words[1:], n
        elif words[0].rstrip(":") in seats:
            raise BadScript(f"line {n}: an action is written `{words[0].rstrip(':')}: ACTION`")
        else:
            setup.append(Statement(n, words))
    if name is None:
        raise BadScript("line 1: a script begins with a line `game NAME`")
    return Script(name, seats, tuple(setup), tuple(body), game_line, seats_line)


def run_script(
    text: str, plan: Plan | None = None, on_action: Callable[[Action, State], None] | None = None
) -> Result:
    """Plays the script. Raises BadScript; failures along the way are in `faults`, and an illegal
    action is skipped."""
    script = parse_script(text)
    state = start = script.start(plan)
    result = Result(state, [], [], 0, start)
    for n, line in script.body:
        if line.startswith("?"):
            result.expectations += 1
            fault = check_expectation(state, n, line[1:].split())
            if fault:
                result.faults.append(fault)
            continue
        line, *refused = re.split(r"\s*!", line)
        try:
            now, action, passed = _action_of(state, line, legal=not refused)
        except BadText as e:
            raise BadScript(f"line {n}: {e}") from None
        violations = now.check(action)
        rules = [v.rule for v in violations]
        if refused:
            result.expectations += 1
            wanted = _named_rules(refused)
            if not violations:
                result.faults.append(
                    Fault(n, f"refused by {' '.join(wanted) or 'some rule'}", "it is legal")
                )
            elif missing := [r for r in wanted if r not in rules]:
                result.faults.append(
                    Fault(n, f"refused by {' '.join(missing)}", f"refused by {' '.join(rules)}")
                )
            continue
        if violations:
            found = "; ".join(f"{v.rule} {v.text}" for v in violations)
            result.faults.append(Fault(n, f"{line} is legal", f"refused: {found}"))
            continue
        try:
            state = now.apply(action)
        except IllegalAction as e:
            result.faults.append(Fault(n, f"{line} is legal", str(e)))
            continue
        for done, after in (*passed, (action, state)):
            result.actions.append(str(done))
            if on_action:
                on_action(done, after)
    result.state = state
    return result


def _action_of(
    state: State, line: str, legal: bool
) -> tuple[State, Action, list[tuple[Action, State]]]:
    """The action that a line states, the state it is done in, and the unspoken passes before it,
    each with the state after it.

    If a chance node is pending that nobody resolved, it stays unknown. If the action should be
    `legal` and only becomes so once an offer is declined or earlier players have passed, as when
    people simply go on, they have.
    """
    action = state.parse(line)
    if action.seat not in state.actors and state.chance():
        state = state.skip_chance()
        action = state.parse(line)
    if not legal or not state.check(action):
        return state, action, []
    then = state.unsaid()
    again = then.parse(line)
    passed: list[tuple[Action, State]] = []
    for skip in then.implied(again) if then.check(again) else ():
        then = then.apply(skip).skip_chance()
        passed.append((skip, then))
    return (state, action, []) if then.check(again) else (then, again, passed)


def check_expectation(state: State, n: int, words: list[str]) -> Fault | None:
    """The fault, if an expectation's words (without the `?`) do not hold; None if they do, either
    for the state itself or for one of its `readings`. Raises BadScript, naming line n."""
    if not words:
        raise BadScript(f"line {n}: an expectation needs words")
    fault = _unmet_expectation(state, n, words)
    if (
        fault
        and words[0] not in ("can", "cannot", "todo")
        and any(check_expectation(s, n, words) is None for s in state.readings)
    ):
        return None
    return fault


def _unmet_expectation(state: State, n: int, words: list[str]) -> Fault | None:
    """The same, for this state alone."""
    said, head = "? " + " ".join(words), "not over" if words[:2] == ["not", "over"] else words[0]
    rest = words[len(head.split()) :]
    known = _EXPECTATIONS.get(head)
    if known is not None and known.least <= len(rest) <= known.most:
        found = known.unlike(state, rest, n)
        return None if found is None else Fault(n, said, found)
    own = state.expect(words)
    if own is None:
        raise BadScript(f"line {n}: {said!r} is not an expectation of {state.game}")
    return None if own[0] else Fault(n, said, own[1])


# Each returns what was found if an expectation's words (without the first) do not hold, None if
# they do. They raise BadScript, naming line n.


def _unlike_at(state: State, rest: list[str], n: int) -> str | None:
    return next(_other_contents(state, rest, n), None)


def _unlike_turn(state: State, rest: list[str], n: int) -> str | None:
    # such as a conflict's defender, whom everybody is waiting for
    waited_for = rest == list(state.actors)
    return None if state.turn == rest[0] or waited_for else state.turn or "nobody: the game is over"


def _unlike_over(state: State, rest: list[str], n: int) -> str | None:
    return None if state.outcome() else "the game goes on"


def _not_over(state: State, rest: list[str], n: int) -> str | None:
    return "the game is over" if state.outcome() else None


def _unlike_winner(state: State, rest: list[str], n: int) -> str | None:
    outcome = state.outcome()
    if outcome is None:
        return "the game goes on"
    return None if set(outcome.winners) == set(rest) else "winner " + " ".join(outcome.winners)


def _unlike_can(state: State, rest: list[str], n: int) -> str | None:
    violations = _asked_action(state, rest, n, legal=True)[0]
    return "; ".join(f"{v.rule} {v.text}" for v in violations) or None


def _unlike_cannot(state: State, rest: list[str], n: int) -> str | None:
    violations, wanted = _asked_action(state, rest, n, legal=False)
    rules = [v.rule for v in violations]
    if violations and all(r in rules for r in wanted):
        return None
    return "refused by " + " ".join(rules) if violations else "it is legal"


def _asked_action(
    state: State, rest: list[str], n: int, legal: bool
) -> tuple[list[Violation], list[str]]:
    """The violations of an action as a script writes it, and the rules the line names."""
    line, *refused = re.split(r"\s*!", " ".join(rest))
    try:
        now, action, _ = _action_of(state, line, legal)
    except BadText as e:
        raise BadScript(f"line {n}: {e}") from None
    return now.check(action), _named_rules(refused)


def _unlike_todo(state: State, rest: list[str], n: int) -> str | None:
    todo = state.todo()
    if all(any(_known_site(state, word, n)[0] in t.sites for t in todo) for word in rest):
        return None
    return "; ".join(str(t.text) for t in todo) or "nothing to do"


def _unlike_score(state: State, rest: list[str], n: int) -> str | None:
    seat, *said = rest
    if len(said) > 1 and len(said) % 2:
        raise BadScript(
            f"line {n}: {'? score ' + ' '.join(rest)!r} takes colours and numbers in turn"
        )
    pairs = [said] if len(said) == 1 else [list(p) for p in zip(said[::2], said[1::2])]
    return next(
        (found for pair in pairs if (found := _one_score(state, [seat, *pair], n)) is not None),
        None,
    )


def _other_contents(state: State, words: list[str], n: int) -> Iterator[str]:
    """What lies on each site that does not show what the words say; a word that is a site id starts
    the next one, as in a layout."""
    layout = state.layout()
    site, reads = _known_site(state, words[0], n)
    groups: list[tuple[str, str, list[str]]] = [(site, reads, [])]
    for word in words[1:]:
        if (plan := getattr(state, "plan", None)) is not None and plan.called(word):
            groups.append((*_known_site(state, word, n), []))
        else:
            groups[-1][2].append(word)
    for site, reads, kinds in groups:
        here = layout.get(site, ())
        if not state.shows_same(site, here, tuple(kinds), reads):
            where = f"{site} " if len(groups) > 1 else ""
            yield where + (" ".join(here) or "empty")


def _one_score(state: State, rest: list[str], n: int) -> str | None:
    # a game may know more colours than it shows ("score bull treasure 1")
    own = state.expect(["score", *rest])
    if own is not None:
        return None if own[0] else own[1]
    seat, *colour, value = rest
    scores = state.scores()
    if seat not in scores:
        raise BadScript(f"line {n}: no seat called {seat}")
    have = scores[seat]
    if colour:
        if not isinstance(have, dict) or colour[0] not in have:
            raise BadScript(f"line {n}: {seat} has no score in {colour[0]}")
        have = have[colour[0]]
    elif isinstance(have, dict):
        have = have.get("total", have)
    return None if str(have) == value else str(have)


def _known_site(state: State, word: str, n: int) -> tuple[str, str]:
    """The site's id and how it is read. Raises BadScript if the plan does not have it."""
    plan = getattr(state, "plan", None)
    if plan is None:
        return word, "pile"
    site = plan.called(word)
    if site is None:
        raise BadScript(f"line {n}: no site called {word}")
    return site, plan.sites[site].reads


def _named_rules(refused: Iterable[str]) -> list[str]:
    """The rule numbers after the exclamation marks."""
    return [rule for part in refused for rule in re.split(r"[\s,!]+", part) if rule]


class Expectation(NamedTuple):
    """Something a script line can expect of any game: a function that says what was found instead,
    and how many words it takes."""

    unlike: Callable[[State, list[str], int], str | None]
    least: int = 0
    most: float = inf


_EXPECTATIONS = {
    "at": Expectation(_unlike_at, 1),
    "turn": Expectation(_unlike_turn, 1, 1),
    "over": Expectation(_unlike_over, 0, 0),
    "not over": Expectation(_not_over, 0, 0),
    "winner": Expectation(_unlike_winner),
    "can": Expectation(_unlike_can),
    "cannot": Expectation(_unlike_cannot),
    "todo": Expectation(_unlike_todo, 1),
    "score": Expectation(_unlike_score, 2),
}
