"""What phones ask and say: the snapshot, the drawing, the rules; declare, answer, undo."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, jsonify, request

import engine
from companion.journal import BadJournal
from companion.table import Gone, Refused
from companion_web.access import Viewer
from companion_web.app import token, viewer, web
from companion_web.errors import Problem
from engine import BadText
from engine.rules import Rule, rules
from engine.text import pack

part = Blueprint("api", __name__, url_prefix="/api")
log = logging.getLogger(__name__)
LONGEST = 400       # characters of a declared act


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
    response = Response(body, mimetype="application/json", headers={"Cache-Control": "no-cache", "Content-Encoding": "gzip"})
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
    """What the field for declaring offers a seat: `whole`, legal actions of one word; `verbs`, the first words of the
    others; `actions`, up to 40 legal ones whose notation begins with `starts`; `otherwise`, what its last moves may have
    been instead."""
    who = _seated()
    seat, starts = request.args.get("seat", ""), request.args.get("starts", "").strip().lower()
    if seat in web().seats and seat not in who.seats and not who.host:
        raise Problem(403, "this seat is not yours")
    words = web().actions(seat)
    return jsonify({
        "whole": [w for w in words if " " not in w][:8],
        "verbs": sorted({w.split()[0] for w in words if " " in w})[:12],
        "actions": [w for w in words if w.lower().startswith(starts)][:40],
        "otherwise": web().otherwise.of(web().table.lines, seat)[:3],
    })


@part.post("/declare")
def declare() -> Response:
    who = _seated()
    text = text_in("text")
    if not text or len(text) > LONGEST or "\n" in text:
        raise Problem(400, "say one act in one line")
    seat = text.split(":", 1)[0].strip() if ":" in text else None
    if seat is None:
        raise Problem(400, "begin with who does it, as in `{seat}: ...`", seat=(who.seats or web().seats or ["?"])[0])
    if seat in web().seats and seat not in who.seats and not who.host:
        raise Problem(403, "this seat is not yours")
    if _has_to_be_accepted(text, who):
        return jsonify({"offered": True, "serial": web().feed.frame.serial})
    return done(lambda: web().table.declare(text, by=_name(who)))


def _has_to_be_accepted(text: str, who: Viewer) -> bool:
    """Whether it is only offered so far: the other side has its own phone. Raises Refused as declaring does."""
    state = web().table.state
    try:
        action = state.parse(text)
    except BadText:
        return False      # the table says what is wrong with it
    other = action.asks()
    if other is None or other not in web().seats or other in who.seats or who.host or state.check(action):
        return False
    web().offers.add(state, action)
    web().feed.touch()
    return True


@part.post("/offer")
def offer() -> Response:
    """`{"id": 3, "yes": 1}`: the other side accepts; 0: it declines, or whoever offered takes it back."""
    who, number, yes = _seated(), number_in("id"), bool(number_in("yes"))
    found = web().offers.get(number)
    if found is None:
        raise Problem(409, "this offer does not stand any more")
    if not who.host and found["to"] not in who.seats and (yes or found["from"] not in who.seats):
        raise Problem(403, "this offer is for somebody else")
    web().offers.close(number)
    if yes:
        return done(lambda: web().table.declare(found["text"], by=_name(who)))
    web().feed.touch()
    return jsonify({"serial": web().feed.frame.serial})


@part.post("/instead")
def instead() -> Response:
    """`{"event": 7, "text": "yellow: harvest eurasia-5 gold 1"}`: that move was this one."""
    who, event, text = _seated(), number_in("event"), text_in("text")
    if text.split(":", 1)[0].strip() not in who.seats and not who.host:
        raise Problem(403, "this seat is not yours")
    return done(lambda: web().table.instead(event, text, by=_name(who)))


@part.post("/answer")
def answer() -> Response:
    who = _seated()
    question, choice = text_in("question"), number_in("choice")
    asked = web().snapshot.get("question") or {}
    if asked.get("id") != question:
        raise Problem(409, "this question is not open any more")
    if not 0 <= choice < len(asked.get("answers") or ()):
        raise Problem(400, "there is no such answer")
    if asked.get("seat") in web().seats and asked["seat"] not in who.seats and not who.host:
        raise Problem(403, "this question is for somebody else")
    return done(lambda: web().table.answer(question, choice, by=_name(who)))


@part.post("/undo")
def undo() -> Response:
    who = _seated()
    event = number_in("event")
    return done(lambda: web().table.undo(event, by=_name(who)))


def _seated() -> Viewer:
    who = viewer()
    if not who.seated:
        raise Problem(403, "this token holds no seat here" if token() else "only seated phones and the host may do this")
    return who


def _name(who: Viewer) -> str:
    """Who did it, for the journal: never a token."""
    return " ".join(who.seats) if who.seats else "host"


def done(act: Callable[[], Any]) -> Response:
    """Runs it; what the rules forbid becomes 409 with their numbers, what is no act 400, a full disk 507."""
    try:
        act()
    except Refused as e:
        raise Problem(409, "the rules do not allow it", more={"violations": pack(list(e.violations))}) from None
    except Gone:
        raise Problem(409, "that is not open any more") from None
    except BadJournal as e:
        log.warning("%s", e)
        raise Problem(507, "it could not be written down, so it did not happen") from None
    except BadText as e:
        raise Problem(400, "{reason}", reason=str(e)) from None
    # The table's own thread may be a moment late; whoever acted should see it in the very next thing they get.
    web().feed.refresh()
    return jsonify({"serial": web().feed.frame.serial, "verdict": web().snapshot.get("verdict")})


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
