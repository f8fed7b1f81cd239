"""Sitting down: by the link in the QR code or by the host's PIN; and what the host can do about
seats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, jsonify, request

from companion_web import qr
from companion_web.access import HOST_S, SEAT_S, NotKept, Taken, Viewer
from companion_web.app import COOKIE, token, viewer, web
from companion_web.errors import Problem
from companion_web.limits import Tries
from companion_web.parts.api import done, number_in, text_in
from companion_web.parts.page import shell
from companion_web.quiet import strangers

part = Blueprint("join", __name__)
LONGEST_NAME = 24


@part.get("/join")
def page() -> Response:
    return shell("join")


@part.get("/look.svg")
def look_code() -> Response:
    """Everybody may look, so everybody may see this one."""
    return _picture(web().look_link(request.host_url))


@part.get("/join.svg")
def join_code() -> Response:
    """The link that seats people, for the host to show."""
    _host()
    return _picture(web().join_link(request.host_url))


@part.get("/api/join")
def join_link() -> Response:
    _host()
    return jsonify({"link": web().join_link(request.host_url)})


@part.post("/api/join")
def join() -> Response:
    shared, seat = web(), text_in("seat")
    _tried(
        shared.code_tries,
        shared.access.is_code(text_in("code")),
        Problem(403, "this joining link is not valid any more"),
    )
    if not shared.joining:
        raise Problem(403, "the host has closed the table")
    if seat not in shared.seats:
        raise Problem(404, "there is no such seat")
    try:
        return _keep(shared.access.seat(seat, token(), _address()))
    except Taken:
        raise Problem(409, "somebody sits there; the host can free the seat") from None


@part.post("/api/host")
def host() -> Response:
    shared = web()
    right = shared.access.is_pin(text_in("pin"))
    _tried(
        shared.pin_tries,
        right,
        Problem(403, "this is not the PIN"),
        shared.access.is_trusted(_address()),
    )
    return _keep(shared.access.make_host(token(), _address()))


@part.post("/api/leave")
def leave() -> Response:
    _ended(lambda: web().access.leave(token()))
    web().feed.touch()
    response = jsonify({"you": {"host": False, "seats": []}})
    response.delete_cookie(COOKIE, samesite="Strict", httponly=True)
    return response


@part.post("/api/name")
def name() -> Response:
    """`{"seat": "bull", "name": "Anna"}`: who sits there, for the page and for the table's
    statistics; "" forgets it."""
    who, seat, said = viewer(), text_in("seat"), " ".join(text_in("name").split())
    if not who.host and seat not in who.seats or seat not in web().seats:
        raise Problem(403, "this seat is not yours")
    if len(said) > LONGEST_NAME or not said.isprintable():
        raise Problem(400, "a name has at most {n} letters", n=LONGEST_NAME)
    names = {**web().table.settings.get("names", {}), seat: said}
    return done(
        lambda: web().table.set(
            by="host" if who.host else seat, names={s: n for s, n in names.items() if n}
        )
    )


@part.post("/api/host/free")
def free() -> Response:
    _host()
    seat = text_in("seat")
    _ended(lambda: web().access.free(seat))
    web().feed.touch()
    return jsonify({})


@part.post("/api/host/seat")
def take() -> Response:
    """The host sits down too, or hands this phone over to a player."""
    _host()
    seat = text_in("seat")
    if seat not in web().seats:
        raise Problem(404, "there is no such seat")
    try:
        return _keep(web().access.seat(seat, token(), _address()))
    except Taken:
        raise Problem(409, "somebody sits there; the host can free the seat") from None


@part.post("/api/host/link")
def new_link() -> Response:
    _host()
    _ended(web().access.new_code)
    return jsonify({"link": web().join_link(request.host_url)})


@part.get("/api/host/sessions")
def sessions() -> Response:
    """Which phones hold what, and since when"""
    _host()
    return jsonify(web().access.sessions(token()))


@part.post("/api/host/end")
def end() -> Response:
    """`{"id": "..."}`: ends that session; `{"id": "others"}`: all but this phone's."""
    _host()
    wanted = text_in("id")
    found = [
        s["id"]
        for s in web().access.sessions(token())
        if (not s["own"] if wanted == "others" else s["id"] == wanted)
    ]
    if not found and wanted != "others":
        raise Problem(404, "that session has ended already")
    _ended(lambda: web().access.end(found))
    web().feed.touch()
    return jsonify({})


@part.post("/api/host/settings")
def settings() -> Response:
    """`hidden_scores`, `joining`: 1 or 0"""
    _host()
    data = request.get_json(silent=True) or {}
    wishes = {k: bool(number_in(k)) for k in ("hidden_scores", "joining") if k in data}
    if not wishes:
        raise Problem(400, "there is no such setting")
    if "joining" in wishes:
        web().joining = wishes["joining"]
        web().feed.touch()
    if "hidden_scores" in wishes:
        return done(lambda: web().table.set(by="host", hidden_scores=wishes["hidden_scores"]))
    return jsonify({"serial": web().feed.frame.serial})


@part.post("/api/host/switch")
def switch() -> Response:
    """`{"name": "covered", "on": 1}`"""
    _host()
    wires, name = web().switches, text_in("name")
    if wires is None or name not in wires.texts:
        raise Problem(404, "there is no such switch")
    wires.switch(name, bool(number_in("on")))
    web().feed.touch()
    return jsonify({"serial": web().feed.frame.serial})


def _host() -> Viewer:
    who = viewer()
    if not who.host:
        raise Problem(403, "only the host may do this")
    return who


def _address() -> str:
    return request.remote_addr or ""


def _ended(doing: Callable[[], object]) -> None:
    try:
        doing()
    except NotKept:
        raise Problem(507, "it could not be written down, so it did not happen") from None


def _tried(tries: Tries, right: bool, wrong: Problem, trusted: bool = False) -> None:
    """Whoever has tried too often is told so whether this try was right or not: else the answer
    would give it away."""
    address = _address()
    wait = tries.wait(address, trusted)
    if wait > 0:
        raise Problem(
            429, "too many tries; wait {minutes} min", retry_after=wait, minutes=int(wait // 60) + 1
        )
    if not right:
        tries.failed(address)
        strangers.note("tried a wrong PIN or joining link", address)
        raise wrong
    tries.succeeded(address)


def _keep(fresh: str) -> Response:
    web().feed.touch()
    you: Any = web().access.viewer(fresh)
    response = jsonify({"you": {"host": you.host, "seats": list(you.seats)}})
    response.set_cookie(
        COOKIE,
        fresh,
        max_age=int(HOST_S if you.host else SEAT_S),
        httponly=True,
        samesite="Strict",
        secure=request.is_secure,
        path="/",
    )
    return response


def _picture(link: str) -> Response:
    return Response(qr.svg(link), mimetype="image/svg+xml")
