"""What the host can do about seats, phones and the table's settings."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request

from companion_web.context import request_token, require_host, web
from companion_web.errors import Problem
from companion_web.http import (
    answer_after,
    answer_seated,
    json_body,
    number_in,
    qr_code,
    result_of,
    text_in,
)

bp = Blueprint("host", __name__)


@bp.get("/join.svg")
def join_code() -> Response:
    """The link that seats people, for the host to show."""
    require_host()
    return qr_code(web.join_link(request.host_url))


@bp.get("/api/join")
def join_link() -> Response:
    require_host()
    return jsonify({"link": web.join_link(request.host_url)})


@bp.post("/api/host/free")
def free_seat() -> Response:
    require_host()
    seat = text_in("seat")
    result_of(lambda: web.access.free(seat))
    web.feed.touch()
    return jsonify({})


@bp.post("/api/host/seat")
def take_seat() -> Response:
    """The host takes a seat too, or hands this phone over to a player."""
    require_host()
    seat = text_in("seat")
    if seat not in web.seats:
        raise Problem(404, "there is no such seat")
    return answer_seated(seat)


@bp.post("/api/host/link")
def new_link() -> Response:
    require_host()
    result_of(web.access.new_code)
    return jsonify({"link": web.join_link(request.host_url)})


@bp.get("/api/host/sessions")
def known_sessions() -> Response:
    """Which phones hold what, and since when"""
    require_host()
    return jsonify(web.access.sessions(request_token()))


@bp.post("/api/host/end")
def end_sessions() -> Response:
    """`{"id": "..."}`: ends that session; `{"id": "others"}`: all but this phone's."""
    require_host()
    wanted = text_in("id")
    found = [
        s["id"]
        for s in web.access.sessions(request_token())
        if (not s["own"] if wanted == "others" else s["id"] == wanted)
    ]
    if not found and wanted != "others":
        raise Problem(404, "that session has ended already")
    result_of(lambda: web.access.end(found))
    web.feed.touch()
    return jsonify({})


@bp.post("/api/host/settings")
def change_settings() -> Response:
    """`hidden_scores`, `joining`: 1 or 0"""
    require_host()
    data = json_body()
    wishes = {k: bool(number_in(k)) for k in ("hidden_scores", "joining") if k in data}
    if not wishes:
        raise Problem(400, "there is no such setting")
    if "joining" in wishes:
        web.joining = wishes["joining"]
        web.feed.touch()
    if "hidden_scores" in wishes:
        return answer_after(lambda: web.table.set(by="host", hidden_scores=wishes["hidden_scores"]))
    return jsonify({"serial": web.feed.frame.serial})


@bp.post("/api/host/switch")
def throw_switch() -> Response:
    """`{"name": "covered", "on": 1}`"""
    require_host()
    wires, name = web.switches, text_in("name")
    if wires is None or name not in wires.texts:
        raise Problem(404, "there is no such switch")
    wires.switch(name, bool(number_in("on")))
    web.feed.touch()
    return jsonify({"serial": web.feed.frame.serial})
