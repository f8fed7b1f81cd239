"""Answers to taps: what may be done now, where a piece may go and why not elsewhere, what lies on a
site; and the camera's pictures."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request

from companion.table.table import Table
from companion_web.access import Viewer
from companion_web.choices import may_lie, pieces_to_put, places_of, reasons_against, said_acts
from companion_web.context import acting_for, require_asked, require_host, seated_viewer, web
from companion_web.errors import Problem
from companion_web.http import answer_after, json_body, text_in
from engine import Action
from engine.layout import Contents

bp = Blueprint("choices", __name__, url_prefix="/api")
MOST_PIECES = 60


@bp.get("/choices")
def possible_choices() -> Response:
    """`{"said": [{"text", "words": [T]}], "pieces": [kind]}`: the actions of a seat that no camera
    can see; the pieces it may put down."""
    seat = _own_seat(seated_viewer())
    found = web.choices.at(web.table.state)
    return jsonify(
        {
            "said": said_acts(found, seat),
            "pieces": pieces_to_put(found, seat),
        }
    )


@bp.get("/may")
def legal_places() -> Response:
    """`{"sites": [id]}`: where a seat may put a piece."""
    seat, kind = _own_seat(seated_viewer()), request.args.get("piece", "")
    return jsonify({"sites": places_of(web.choices.at(web.table.state), seat, kind)})


@bp.get("/why")
def reasons_why_not() -> Response:
    """`{"violations": [{"rule", "text": T}]}`: why a seat may not put a piece there."""
    seat, kind, table = _own_seat(seated_viewer()), request.args.get("piece", ""), web.table
    if kind not in table.plan.counts:
        raise Problem(400, "there is no such piece")
    return jsonify(
        {
            "violations": reasons_against(
                table.state, seat, kind, _known_site(table, request.args.get("site", ""))
            )
        }
    )


@bp.get("/place/<site>")
def place_contents(site: str) -> Response:
    """`{"contents": [kind], "may": [[kind]], "picture": bool}`"""
    seated_viewer()
    table = web.table
    _known_site(table, site)
    found = may_lie(
        table.state, web.choices.at(table.state), site, table.guesses(site), table.plan.counts
    )
    return jsonify(
        {
            "contents": table.state.layout().get(site, ()),
            "may": found,
            "picture": table.sight is not None,
        }
    )


@bp.get("/place/<site>/picture.jpg")
def place_picture(site: str) -> Response:
    seated_viewer()
    table = web.table
    return _picture_answer(
        table.sight.place(_known_site(table, site)) if table.sight is not None else None
    )


@bp.post("/place")
def correct_place() -> Response:
    """`{"site": "C4", "contents": ["temple"]}`: sets what lies there. If a legal action leads to
    it, it is done; otherwise 409. If somebody is being asked about the site, only they may say."""
    who, table, site = seated_viewer(), web.table, _known_site(web.table, text_in("site"))
    asked = web.snapshot.get("question") or {}
    if site in asked.get("sites", ()):
        require_asked(who, asked)
    contents = json_body().get("contents")
    if (
        not isinstance(contents, list)
        or len(contents) > MOST_PIECES
        or not all(isinstance(k, str) and k in table.plan.counts for k in contents)
    ):
        raise Problem(400, "there is no such piece")
    lies: Contents = tuple(contents)

    def allowed(action: Action) -> bool:
        return who.host or action.seat in who.seats

    return answer_after(lambda: table.correct(site, lies, by=acting_for(who), allowed=allowed))


@bp.get("/host/live.jpg")
def live_picture() -> Response:
    """What the camera sees now."""
    require_host()
    sight = web.table.sight
    return _picture_answer(sight.now() if sight is not None else None)


def _picture_answer(data: bytes | None) -> Response:
    if data is None:
        raise Problem(404, "there is no picture")
    return Response(data, mimetype="image/jpeg", headers={"Cache-Control": "no-store"})


def _own_seat(who: Viewer) -> str:
    seat = request.args.get("seat", "")
    if seat not in web.seats or (seat not in who.seats and not who.host):
        raise Problem(403, "this seat is not yours")
    return seat


def _known_site(table: Table, site: str) -> str:
    if site not in table.plan.sites:
        raise Problem(400, "there is no place called {site}", site=site[:40])
    return site
