"""What a table publishes, as plain JSON data (the form is in docs/reference/companion.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from companion.explain.verdict import ILLEGAL, Question, Verdict
from companion.table.journal import GUESS, Journal, Line
from companion.table.pause import Pause
from engine import Game, State, Text, say
from engine.text import pack_text

TAKEN_BACK = 60  # how many moves that were taken back keep their data


class Published(Protocol):
    """What a snapshot is made from: a companion.table.table.Table."""

    @property
    def state(self) -> State:
        """The game's state."""

    @property
    def lines(self) -> Sequence[Line]:
        """The events that stand."""

    @property
    def undone(self) -> Sequence[Line]:
        """The events that `redo` brings back."""

    @property
    def question_id(self) -> str:
        """The id by which the open question is answered."""

    version: int
    game: Game
    journal: Journal
    settings: dict[str, Any]
    verdict: Verdict
    question: Question | None
    pause: Pause | None
    trouble: Text | None
    camera: dict[str, Any]
    machine: tuple[Text, ...]
    move_data: dict[int, tuple[Line, dict[str, Any]]]


def table_snapshot(table: Published) -> dict[str, Any]:
    """The whole snapshot. The caller holds the table's lock."""
    state, verdict, outcome = table.state, table.verdict, table.state.outcome()
    seats = {s.id: s for s in table.game.seats}
    pictured = table.journal.pictured()
    _forget_taken_back(table)
    return {
        "version": table.version,
        "game": state.game,
        "title": pack_text(table.game.title),
        "seats": [
            {"id": s, "name": pack_text(seats[s].name), "colour": seats[s].colour}
            for s in state.seats
        ],
        "layout": {s: list(c) for s, c in state.layout().items()},
        "turn": state.turn,
        "actors": list(state.actors),
        "scores": state.scores(),
        "standing": state.standing(),
        "view": pack_text(state.view()),
        "settings": dict(table.settings),
        "outcome": {"winners": list(outcome.winners), "reason": pack_text(outcome.reason)}
        if outcome
        else None,
        "verdict": {
            "verdict": verdict.verdict,
            "actions": [str(a) for a in verdict.news],
            "certain": verdict.certain,
            "text": pack_text(verdict.text),
            "back": [pack_text(t) for t in verdict.back],
            "violations": [{"rule": v.rule, "text": pack_text(v.text)} for v in verdict.violations],
            "todo": [pack_text(t) for t in verdict.todo],
            "sites": _concerned_sites(table),
            "wrong": {s: list(c) for s, c in verdict.wrong.items()},
        },
        "question": _question_data(table),
        "decision": pack_text(state.decision()),
        "moves": [
            _move_data(table, line, line.event in pictured) for line in table.lines if line.action
        ],
        "undone": [
            {"seat": str(line.action).split(":")[0], "text": line.action}
            for line in table.undone
            if line.action
        ],
        "start": table.lines[0].event,
        "opening": table.lines[0].state.scores(),
        "opening_standing": table.lines[0].state.standing(),
        "pause": _pause_data(table),
        "trouble": pack_text(table.trouble),
        "camera": dict(table.camera),
        "machine": [pack_text(t) for t in table.machine],
    }


def _concerned_sites(table: Published) -> list[str]:
    """The sites that the verdict is about: those that are wrong, or that its actions changed."""
    verdict, count = table.verdict, len(table.verdict.actions)
    if verdict.wrong or verdict.verdict == ILLEGAL or not 0 < count < len(table.lines):
        return list(verdict.wrong)
    before, after = (table.lines[n].state.layout() for n in (-1 - count, -1))
    return [s for s in dict.fromkeys([*before, *after]) if before.get(s, ()) != after.get(s, ())]


def _move_data(table: Published, line: Line, pictured: bool) -> dict[str, Any]:
    """A move as the page shows it. words: what people did themselves, in sentences, with unspoken
    passes first. Computed once per line and shared by all snapshots, since the scores of hundreds
    of moves take time, and so many copies of them memory."""
    kept = table.move_data.get(line.event)
    if kept is None or kept[0] is not line:
        kept = table.move_data[line.event] = line, {**_line_data(line), "pictures": pictured}
    elif kept[1]["pictures"] != pictured:
        kept = table.move_data[line.event] = line, {**kept[1], "pictures": pictured}
    return kept[1]


def _forget_taken_back(table: Published) -> None:
    """Drops the data of moves that no longer stand; each is small, so that it is enough to do so
    now and then."""
    if len(table.move_data) > len(table.lines) + TAKEN_BACK:
        standing = {line.event for line in table.lines}
        for event in table.move_data.keys() - standing:
            del table.move_data[event]


def packed_doing(state: State, guessed: bool = False) -> list[Any]:
    """What hands did in the action that led to a state, one packed sentence each; guessed: others
    would have led to the same board."""
    words = [step.text for step in state.steps if step.by_hand]
    if guessed and words:
        words[0] = say("probably: {what}", what=words[0])
    return [pack_text(text) for text in words]


def _line_data(line: Line) -> dict[str, Any]:
    return {
        "event": line.event,
        "seat": str(line.action).split(":")[0],
        "text": line.action,
        "words": packed_doing(line.state, line.by == GUESS),
        "scores": line.state.scores(),
        "standing": line.state.standing(),
    }


def _question_data(table: Published) -> dict[str, Any] | None:
    q = table.question
    if q is None:
        return None
    return {
        "id": table.question_id,
        "seat": q.seat or _concerned_seat(table),
        "text": pack_text(q.text),
        "sites": list(q.sites),
        "answers": [{"text": pack_text(a.text), "picture": a.picture} for a in q.answers],
    }


def _concerned_seat(table: Published) -> str | None:
    """Whom a question is for that names nobody: the seat whose action it is about, otherwise the
    seat whose turn it is."""
    did = [a.seat for a in table.verdict.actions if a.seat in table.state.seats]
    return did[0] if did else table.state.turn


def _pause_data(table: Published) -> dict[str, Any] | None:
    pause = table.pause
    if pause is None:
        return None
    differs = (
        None
        if pause.differs is None
        else [
            {"site": s, "should": list(want), "seen": list(seen)}
            for s, (want, seen) in sorted(pause.differs.items())
        ]
    )
    return {"since": pause.since, "differs": differs}


def result_json(state: State, moves: int, names: Mapping[str, str]) -> str:
    """How a game ended, as JSON for the head of its journal, so that a shelf of games is quick to
    read; "" while it is being played. names: seat -> name of the person."""
    outcome = state.outcome()
    return (
        ""
        if outcome is None
        else json.dumps(
            {
                "game": state.game,
                "seats": list(state.seats),
                "scores": state.scores(),
                "winners": list(outcome.winners),
                "reason": pack_text(outcome.reason),
                "moves": moves,
                "names": dict(names),
            }
        )
    )
