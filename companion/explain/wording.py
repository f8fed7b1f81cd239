"""What people are told and asked: the text of a verdict, things to do, questions."""

from __future__ import annotations

from collections.abc import Collection

from companion.explain.hypothesis import Hypothesis, Look, Past
from companion.explain.sentences import sentence_of
from companion.explain.verdict import MOVED, SAME, Answer, Question, ToDo, mend_text
from engine import Game, State, Text, say
from engine.layout import Contents, Layout

LONG_SINCE = 8  # how many events back to look for the words of a to-do


def verdict_text(name: str, hypothesis: Hypothesis, past: Past) -> Text:
    """What people are told about a verdict, in one sentence."""
    if name == SAME:
        return say("nothing changed")
    if hypothesis.undo and not hypothesis.actions:
        return say("move taken back")
    sentence = sentence_of(past[hypothesis.undo][0], hypothesis.actions, hypothesis.redone)
    if sentence is not None:
        return (
            say("corrected: {actions}", actions=sentence)
            if hypothesis.undo > len(hypothesis.redone)
            else sentence
        )
    if hypothesis.undo > len(hypothesis.redone):
        return say("move taken back")
    return (
        say("the board is as it should be")
        if name == MOVED
        else say("something is still to be done on the board")
    )


def todos_of(game: Game, hypothesis: Hypothesis, behind: Layout, past: Past) -> tuple[ToDo, ...]:
    """One per thing to do, with all the sites it changes."""
    out: dict[str, ToDo] = {}
    before = [hypothesis.state, *(state for state, _ in past[:LONG_SINCE])]
    for site, shown in behind.items():
        todo = _todo_of(game, hypothesis, site, shown, before)
        same = out.get(str(todo.text))
        out[str(todo.text)] = todo if same is None else ToDo(todo.text, same.sites + todo.sites)
    return tuple(out.values())


def _todo_of(
    game: Game, hypothesis: Hypothesis, site: str, shown: Contents, before: list[State]
) -> ToDo:
    """The sentence of the step that should have changed this site, if the board is just before that
    step; otherwise what to correct."""
    want = hypothesis.layout.get(site, ())
    at = hypothesis.base.get(site, ())
    text = None
    for step in hypothesis.steps:
        if site in step.changes:
            if at == shown and not step.by_hand and step.changes[site] == want:
                text = step.text
            at = step.changes[site]
    shown_before = any(
        shown == c.get(site, ())
        for state in before
        for c in (state.layout(), *(x.changes for x in state.steps))
    )
    # what happened before is still to be done
    if text is None and (shown_before or shown == hypothesis.base.get(site, ())):
        last = next(
            (step for state in before for step in reversed(state.steps) if site in step.changes),
            None,
        )
        if last is not None and not last.by_hand and last.changes[site] == want:
            text = last.text
    return ToDo(text or mend_text(site, shown, want, game.kind_name), (site,))


def what_happened(
    sites: tuple[str, ...],
    answers: list[Answer],
    strange: Collection[str],
    look: Look,
    seat: str | None = None,
) -> Question:
    """The question what was done on some sites. strange: sites that may have been misread, which
    becomes one more answer."""
    if strange:
        answers = [
            *answers,
            Answer(say("{sites} was read wrongly", sites=", ".join(strange)), misread=True),
        ]
    text = (
        say("What happened on {sites}?", sites=", ".join(sites[:4]))
        if sites
        else say("What happened?")
    )
    return Question(
        text,
        tuple(answers),
        seat,
        sites,
        {s: c for s in strange if (c := look.best(s)) is not None},
    )


def decision_question(state: State) -> Question | None:
    """What somebody has to say now because no later look can tell."""
    d = state.decision()
    if d is None or not d.ask or not d.choices:
        return None
    return Question(
        d.text, tuple(Answer(c.text, (c.action,), 0, c.picture) for c in d.choices), d.seat, d.sites
    )
