"""What everybody may look at: the snapshot, the drawing of the board, the rules."""

from __future__ import annotations

import gzip
from typing import Any

from flask import Blueprint, Response, jsonify, request
from flask.typing import ResponseReturnValue

import engine
from companion_web.context import current_viewer, web
from companion_web.errors import Problem
from engine.rules import Rule, load_rules, rules_passage

bp = Blueprint("table", __name__, url_prefix="/api")


@bp.get("/snapshot")
def whole_snapshot() -> Response:
    return Response(web.feed.frame.encoded(current_viewer()), mimetype="application/json")


@bp.get("/plan")
def board_plan() -> ResponseReturnValue:
    if not web.snapshot.get("game"):
        raise Problem(404, "there is no game called {game}", game="")
    body, tag = web.drawing.of(web.snapshot)
    if "gzip" not in request.accept_encodings:
        return Response(gzip.decompress(body), mimetype="application/json")
    response = Response(
        body,
        mimetype="application/json",
        headers={"Cache-Control": "no-cache", "Content-Encoding": "gzip"},
    )
    response.set_etag(tag)
    return response.make_conditional(request)


@bp.get("/rules/<game>")
def all_rules(game: str) -> Response:
    return jsonify([_rule_data(r) for r in _rules_of(game).values()])


@bp.get("/rules/<game>/<number>")
def one_rule(game: str, number: str) -> Response:
    found = _rules_of(game).get(number)
    if found is None:
        raise Problem(404, "there is no rule {number}", number=number[:20])
    source = [text for place in found.places if (text := rules_passage(game, place))]
    response = jsonify({**_rule_data(found), "source": source})
    response.headers["Cache-Control"] = "max-age=3600"
    return response


def _rules_of(game: str) -> dict[str, Rule]:
    if game not in engine.games() and game != web.snapshot.get("game"):
        raise Problem(404, "there is no game called {game}", game=game[:40])
    try:
        return load_rules(game, request.args.get("language", "en"))
    except (ModuleNotFoundError, FileNotFoundError):
        raise Problem(404, "there is no game called {game}", game=game[:40]) from None


def _rule_data(r: Rule) -> dict[str, Any]:
    return {
        "number": r.number,
        "text": r.text,
        "heading": r.heading,
        "language": r.language,
        "places": r.places,
    }
