"""What phones ask and say: the snapshot, the drawing, the rules; declare, answer, undo."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Collection, Sequence
from typing import Any

from flask import Blueprint, Response, jsonify, request

import engine
from companion.journal import BadJournal
from companion.sentences import sentence_of
from companion.snapshot import doing
from companion.table import Gone, Refused
from companion_web.access import Viewer
from companion_web.app import token, viewer, web
from companion_web.errors import Problem
from engine import Action, BadText
from engine.rules import Rule, rules
from engine.text import Text, pack, say

part = Blueprint("api", __name__, url_prefix="/api")
log = logging.getLogger(__name__)
LONGEST = 400  # characters of a declared act


@part.get("/snapshot")
def snapshot() -> Response:
    return Response(web().feed.frame.encoded(viewer()), mimetype="application/json")


@part.get("/plan")
def plan() -> Response:
    if not web().snapshot.get("game"):
        raise Problem(404, "there is no game called {game}", game="")
    body, tag = web().drawing.of(web().snapshot)
    if "gzip" not in request.accept_encodings:
        return Response(gzip.decompress(body), mimetype="application/json")
    response = Response(
        body,
        mimetype="application/json",
        headers={"Cache-Control": "no-cache", "Content-Encoding": "gzip"},
    )
    response.set_etag(tag)
    return response.make_conditional(request)


@part.get("/rules/<game>")
def all_rules(game: str) -> Response:
    return jsonify([_rule(r) for r in _rules(game).values()])


@part.get("/rules/<game>/<number>")
def one_rule(game: str, number: str) -> Response:
    found = _rules(game).get(number)
    if found is None:
        raise Problem(404, "there is no rule {number}", number=number[:20])
    response = jsonify(_rule(found))
    response.headers["Cache-Control"] = "max-age=3600"
    return response


@part.get("/actions")
def actions() -> Response:
    """What the field for declaring offers a seat: `whole`, legal actions of one word; `verbs`, the
    first words of the others; `actions`, up to 40 legal ones whose notation begins with `starts`;
    `otherwise`, what its last moves may have been instead."""
    who = seated_viewer()
    seat, starts = request.args.get("seat", ""), request.args.get("starts", "").strip().lower()
    if seat in web().seats and seat not in who.seats and not who.host:
        raise Problem(403, "this seat is not yours")
    words = web().actions(seat)
    return jsonify(
        {
            "whole": [w for w in words if " " not in w][:8],
            "verbs": sorted({w.split()[0] for w in words if " " in w})[:12],
            "actions": [w for w in words if w.lower().startswith(starts)][:40],
            "otherwise": web().otherwise.of(web().table.lines, seat)[:3],
        }
    )


@part.post("/declare")
def declare() -> Response:
    who = seated_viewer()
    text = text_in("text")
    if not text or len(text) > LONGEST or "\n" in text:
        raise Problem(400, "say one act in one line")
    if ":" not in text:
        raise Problem(
            400,
            "begin with who does it, as in `{seat}: ...`",
            seat=(who.seats or web().seats or ["?"])[0],
        )
    table = web().table
    actions = allowed(lambda: table.meant(text))
    *passed, action = actions
    _acts_for(who, action.seat)
    # Nobody says "pass" at a table; but whoever has a phone of their own is asked before others
    # pass for them.
    asks = {a.seat for a in passed if a.seat in web().access.taken()}
    if (other := action.asks()) is not None:
        asks.add(other)
    if not who.host and (asks := asks - set(who.seats)):
        said, last = str(action), table.lines[-1].event
        words = _words(actions) if passed else doing(table.state.apply(action))
        return _offered(
            who,
            action.seat,
            asks,
            said,
            words,
            (lambda: table.lines[-1].event == last)
            if passed
            else lambda: not table.state.check(action),
            lambda by: table.declare(said, by=by),
        )
    return done(lambda: table.declare(text, by=acting_for(who)))


@part.post("/offer")
def offer() -> Response:
    """`{"id": 3, "yes": 1}`: one that is asked agrees; 0: declines, or whoever asked takes it back."""
    who, number, yes = seated_viewer(), number_in("id"), bool(number_in("yes"))
    found = web().offers.get(number)
    if found is None or not found.stands():
        raise Problem(409, "this offer does not stand any more")
    if (
        not who.host
        and not set(found.asks) & set(who.seats)
        and (yes or found.giver not in who.seats)
    ):
        raise Problem(403, "this offer is for somebody else")
    if not yes:
        web().offers.close(number)
    elif (ready := web().offers.agree(number, who.seats, who.host)) is not None:
        return done(lambda: ready.do(" ".join((ready.giver, *(ready.agreed or ("host",))))))
    web().feed.touch()
    return jsonify({"serial": web().feed.frame.serial})


@part.post("/instead")
def instead() -> Response:
    """`{"event": 7, "text": "yellow: harvest eurasia-5 gold 1"}`: that move was this one, which is
    among its `otherwise`."""
    who, event, text, table = seated_viewer(), number_in("event"), text_in("text"), web().table
    if who.host:
        return done(lambda: table.instead(event, text, by=acting_for(who)))
    action = allowed(lambda: table.state.parse(text))
    _acts_for(who, action.seat)
    told = next(
        (t for t in web().otherwise.of(table.lines, action.seat) if t["event"] == event), None
    )
    if told is None or str(action) not in {o["text"] for o in told["others"]}:
        raise Problem(409, "that is not open any more")
    was = allowed(lambda: table.state.parse(told["text"]))
    if asks := {other for a in (action, was) if (other := a.asks()) is not None} - set(who.seats):
        words = next(o["words"] for o in told["others"] if o["text"] == str(action)) or [
            pack(say("{actions}", actions=str(action)))
        ]
        return _offered(
            who,
            action.seat,
            asks,
            str(action),
            words,
            lambda: any(line.event == event for line in table.lines),
            lambda by: table.instead(event, text, by=by),
        )
    return done(lambda: table.instead(event, text, by=acting_for(who)))


@part.post("/answer")
def answer() -> Response:
    who = seated_viewer()
    question, choice = text_in("question"), number_in("choice")
    asked = web().snapshot.get("question") or {}
    if asked.get("id") != question:
        raise Problem(409, "somebody has answered already")
    if not 0 <= choice < len(asked.get("answers") or ()):
        raise Problem(400, "there is no such answer")
    _acts_for(who, asked.get("seat"), Problem(403, "this question is for somebody else"))
    return done(lambda: web().table.answer(question, choice, by=acting_for(who)))


@part.post("/undo")
def undo() -> Response:
    """`{"event": 7}`: back to how things stood after it. What others did is taken back when all of
    them agree."""
    who, event, table = seated_viewer(), number_in("event"), web().table
    lines = table.lines
    at = next((n for n, line in enumerate(lines) if line.event == event), None)
    if at is None:
        raise Problem(409, "that is not open any more")
    return _with_consent(
        who,
        lines[at + 1 :],
        say("take back {n} moves", n=len(lines) - 1 - at),
        f"undo {event}",
        lambda by: table.undo(event, by=by),
    )


@part.post("/redo")
def redo() -> Response:
    """What was taken back last is done again, as long as nothing was done since."""
    who, table = seated_viewer(), web().table
    again = table.undone
    if not again:
        raise Problem(409, "that is not open any more")
    return _with_consent(
        who,
        again,
        say("do {n} moves again", n=len(again)),
        f"redo {again[0].event}",
        lambda by: table.redo(by=by),
    )


def _with_consent(
    who: Viewer, lines: Sequence[Any], words: Text, text: str, do: Callable[[str], object]
) -> Response:
    """Does it when the lines are the phone's own doings; else asks the seats that have phones."""
    if who.host or all(
        line.action and web().table.state.parse(line.action).seat in who.seats for line in lines
    ):
        return done(lambda: do(acting_for(who)))
    table, asks = web().table, set(web().access.taken()) - set(who.seats)
    if not asks:
        raise Problem(403, "others did that: the host can take it back")
    last = table.lines[-1].event
    return _offered(
        who, who.seats[0], asks, text, [pack(words)], lambda: table.lines[-1].event == last, do
    )


def _offered(
    who: Viewer,
    giver: str,
    asks: Collection[str],
    text: str,
    words: list[Any],
    stands: Callable[[], bool],
    do: Callable[[str], object],
) -> Response:
    """It is only asked for so far: others have to agree."""
    web().offers.add(giver, asks, text, words, stands, do)
    web().feed.touch()
    return jsonify({"offered": True, "serial": web().feed.frame.serial})


def _words(actions: Sequence[Action]) -> list[Any]:
    return [
        pack(
            sentence_of(web().table.state, actions)
            or say("{actions}", actions="; ".join(map(str, actions)))
        )
    ]


def _acts_for(who: Viewer, seat: str | None, fault: Problem | None = None) -> None:
    """Raises Problem (403) unless the phone holds that seat; what is nobody's (a draw from the bag)
    is said by whose turn it is."""
    if seat not in web().seats:
        seat = web().snapshot.get("turn")
    if not who.host and seat not in who.seats:
        raise fault or Problem(403, "this seat is not yours")


def seated_viewer() -> Viewer:
    who = viewer()
    if not who.seated:
        raise Problem(
            403,
            "this token holds no seat here"
            if token()
            else "only seated phones and the host may do this",
        )
    return who


def acting_for(who: Viewer) -> str:
    """Who did it, for the journal: never a token."""
    return " ".join(who.seats) if who.seats else "host"


def done(act: Callable[[], Any]) -> Response:
    """Runs it; what the rules forbid becomes 409 with their numbers, what is no act 400, a full
    disk 507."""
    allowed(act)
    # The table's own thread may be a moment late; whoever acted should see it in the very next
    # thing they get.
    web().feed.refresh()
    return jsonify({"serial": web().feed.frame.serial, "verdict": web().snapshot.get("verdict")})


def allowed(act: Callable[[], Any]) -> Any:
    """What it gives; what cannot be is raised as a Problem."""
    try:
        return act()
    except Refused as e:
        raise Problem(
            409, "the rules do not allow it", more={"violations": pack(list(e.violations))}
        ) from None
    except Gone:
        raise Problem(409, "somebody has answered already") from None
    except BadJournal as e:
        log.warning("%s", e)
        raise Problem(507, "it could not be written down, so it did not happen") from None
    except BadText as e:
        raise Problem(400, "{reason}", reason=str(e)) from None


def _body() -> dict[str, Any]:
    data = request.get_json(silent=True)
    if not isinstance(data, dict):
        raise Problem(400, "send a JSON object")
    return data


def text_in(name: str) -> str:
    value = _body().get(name)
    if not isinstance(value, str):
        raise Problem(400, "`{name}` must be a text", name=name)
    return value.strip()


def number_in(name: str) -> int:
    value = _body().get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Problem(400, "`{name}` must be a whole number", name=name)
    return value


def _rules(game: str) -> dict[str, Rule]:
    if game not in engine.games() and game != web().snapshot.get("game"):
        raise Problem(404, "there is no game called {game}", game=game[:40])
    try:
        return rules(game, request.args.get("language", "en"))
    except (ModuleNotFoundError, FileNotFoundError):
        raise Problem(404, "there is no game called {game}", game=game[:40]) from None


def _rule(r: Rule) -> dict[str, str]:
    return {"number": r.number, "text": r.text, "heading": r.heading, "language": r.language}
