"""What seated phones may do: declare an action, answer, take a move back; and requests to which
others have to agree first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from flask import Blueprint, Response, jsonify, request

from companion.explain.sentences import sentence_of
from companion.table.journal import Line
from companion.table.snapshot import packed_doing
from companion_web.access import Viewer
from companion_web.context import acting_for, require_asked, require_seat, seated_viewer, web
from companion_web.errors import Problem
from companion_web.http import answer_after, number_in, result_of, text_in
from engine import Action
from engine.text import Text, pack_text, say

bp = Blueprint("actions", __name__, url_prefix="/api")
LONGEST = 400  # characters of a declared action


@bp.get("/actions")
def possible_actions() -> Response:
    """What the field for declaring offers a seat: `whole`, legal actions of one word; `verbs`, the
    first words of the others; `actions`, up to 40 legal ones whose notation begins with `starts`;
    `otherwise`, other readings of its last moves."""
    who = seated_viewer()
    seat, starts = request.args.get("seat", ""), request.args.get("starts", "").strip().lower()
    if seat in web.seats and seat not in who.seats and not who.host:
        raise Problem(403, "this seat is not yours")
    words = web.actions(seat)
    return jsonify(
        {
            "whole": [w for w in words if " " not in w][:8],
            "verbs": sorted({w.split()[0] for w in words if " " in w})[:12],
            "actions": [w for w in words if w.lower().startswith(starts)][:40],
            "otherwise": web.otherwise.of(web.table.lines, seat)[:3],
        }
    )


@bp.post("/declare")
def declare_action() -> Response:
    who = seated_viewer()
    text = text_in("text")
    if not text or len(text) > LONGEST or "\n" in text:
        raise Problem(400, "say one act in one line")
    if ":" not in text:
        raise Problem(
            400,
            "begin with who does it, as in `{seat}: ...`",
            seat=(who.seats or web.seats or ["?"])[0],
        )
    table = web.table
    actions = result_of(lambda: table.meant(text))
    *passed, action = actions
    require_seat(who, action.seat)
    # Nobody says "pass" at a table; but players with a phone are asked before others pass for them.
    asks = {a.seat for a in passed if a.seat in web.access.taken()}
    if (other := action.asks()) is not None:
        asks.add(other)
    if not who.host and (asks := asks - set(who.seats)):
        said, last = str(action), table.lines[-1].event
        words = _offered_words(actions) if passed else packed_doing(table.state.apply(action))
        return _offered_answer(
            who,
            action.seat,
            asks,
            said,
            words,
            (lambda: table.lines[-1].event == last)
            if passed
            else lambda: not table.state.check(action),
            lambda by: table.declare(said, by=by, meant=actions if passed else [action]),
        )
    return answer_after(lambda: table.declare(text, by=acting_for(who), meant=actions))


@bp.post("/offer")
def answer_offer() -> Response:
    """`{"id": 3, "yes": 1}`: one of those asked agrees; 0: declines, or the asker withdraws the
    request."""
    who, number, yes = seated_viewer(), number_in("id"), bool(number_in("yes"))
    found = web.offers.get(number)
    if found is None or not found.stands():
        raise Problem(409, "this offer does not stand any more")
    if (
        not who.host
        and not set(found.asks) & set(who.seats)
        and (yes or found.giver not in who.seats)
    ):
        raise Problem(403, "this offer is for somebody else")
    if not yes:
        web.offers.close(number)
    elif (ready := web.offers.agree(number, who.seats, who.host)) is not None:
        return answer_after(lambda: ready.do(" ".join((ready.giver, *(ready.agreed or ("host",))))))
    web.feed.touch()
    return jsonify({"serial": web.feed.frame.serial})


@bp.post("/instead")
def replace_move() -> Response:
    """`{"event": 7, "text": "yellow: harvest eurasia-5 gold 1"}`: replaces that move by this one,
    which is among its `otherwise`."""
    who, event, text, table = seated_viewer(), number_in("event"), text_in("text"), web.table
    if who.host:
        return answer_after(lambda: table.instead(event, text, by=acting_for(who)))
    action = result_of(lambda: table.state.parse(text))
    require_seat(who, action.seat)
    told = next(
        (t for t in web.otherwise.of(table.lines, action.seat) if t["event"] == event), None
    )
    if told is None or str(action) not in {o["text"] for o in told["others"]}:
        raise Problem(409, "that is not open any more")
    was = result_of(lambda: table.state.parse(told["text"]))
    if asks := {other for a in (action, was) if (other := a.asks()) is not None} - set(who.seats):
        words = next(o["words"] for o in told["others"] if o["text"] == str(action)) or [
            pack_text(say("{actions}", actions=str(action)))
        ]
        return _offered_answer(
            who,
            action.seat,
            asks,
            str(action),
            words,
            lambda: any(line.event == event for line in table.lines),
            lambda by: table.instead(event, text, by=by),
        )
    return answer_after(lambda: table.instead(event, text, by=acting_for(who)))


@bp.post("/answer")
def answer_question() -> Response:
    who = seated_viewer()
    question, choice = text_in("question"), number_in("choice")
    asked = web.snapshot.get("question") or {}
    if asked.get("id") != question:
        raise Problem(409, "somebody has answered already")
    if not 0 <= choice < len(asked.get("answers") or ()):
        raise Problem(400, "there is no such answer")
    require_asked(who, asked)
    return answer_after(lambda: web.table.answer(question, choice, by=acting_for(who)))


@bp.post("/undo")
def undo_moves() -> Response:
    """`{"event": 7}`: back to the state after it. What others did is taken back only if all of them
    agree."""
    who, event, table = seated_viewer(), number_in("event"), web.table
    lines = table.lines
    at = next((n for n, line in enumerate(lines) if line.event == event), None)
    if at is None:
        raise Problem(409, "that is not open any more")
    return _with_consent(
        who,
        lines[at + 1 :],
        say("take back {n} moves", n=len(lines) - 1 - at),
        f"undo {event}",
        lambda by: table.undo(event, by=by, last=lines[-1].event),
    )


@bp.post("/redo")
def redo_moves() -> Response:
    """Redoes what was taken back last, as long as nothing has been done since."""
    who, table = seated_viewer(), web.table
    again = table.undone
    if not again:
        raise Problem(409, "that is not open any more")
    return _with_consent(
        who,
        again,
        say("do {n} moves again", n=len(again)),
        f"redo {again[0].event}",
        lambda by: table.redo(by=by, first=again[0].event),
    )


def _with_consent(
    who: Viewer, lines: Sequence[Line], words: Text, text: str, do: Callable[[str], object]
) -> Response:
    """Does it if the lines are the phone's own actions; otherwise asks the seats that have
    phones."""
    if who.host or all(
        line.action and web.table.state.parse(line.action).seat in who.seats for line in lines
    ):
        return answer_after(lambda: do(acting_for(who)))
    table, asks = web.table, set(web.access.taken()) - set(who.seats)
    if not asks:
        raise Problem(403, "others did that: the host can take it back")
    last = table.lines[-1].event
    return _offered_answer(
        who, who.seats[0], asks, text, [pack_text(words)], lambda: table.lines[-1].event == last, do
    )


def _offered_answer(
    who: Viewer,
    giver: str,
    asks: Collection[str],
    text: str,
    words: list[Any],
    stands: Callable[[], bool],
    do: Callable[[str], object],
) -> Response:
    """The answer for a request to which others still have to agree."""
    web.offers.add(giver, asks, text, words, stands, do)
    web.feed.touch()
    return jsonify({"offered": True, "serial": web.feed.frame.serial})


def _offered_words(actions: Sequence[Action]) -> list[Any]:
    return [
        pack_text(
            sentence_of(web.table.state, actions)
            or say("{actions}", actions="; ".join(map(str, actions)))
        )
    ]
