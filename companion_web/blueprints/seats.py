"""Sitting down and standing up: by the link in the QR code, or by the host's PIN."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request

from companion_web.context import COOKIE, current_viewer, request_token, web
from companion_web.errors import Problem
from companion_web.http import (
    answer_after,
    answer_seated,
    answer_with_token,
    page_shell,
    qr_code,
    result_of,
    text_in,
)
from companion_web.limits import Tries
from companion_web.quiet import strangers

bp = Blueprint("seats", __name__)
LONGEST_NAME = 24


@bp.get("/join")
def seats_page() -> Response:
    return page_shell("join")


@bp.get("/look.svg")
def look_code() -> Response:
    """The QR code of the page itself: everybody may look, so everybody may see it."""
    return qr_code(web.look_link(request.host_url))


@bp.post("/api/join")
def join_table() -> Response:
    shared, seat = web, text_in("seat")
    _count_try(
        shared.code_tries,
        shared.access.is_code(text_in("code")),
        Problem(403, "this joining link is not valid any more"),
    )
    if not shared.joining:
        raise Problem(403, "the host has closed the table")
    if seat not in shared.seats:
        raise Problem(404, "there is no such seat")
    return answer_seated(seat)


@bp.post("/api/host")
def become_host() -> Response:
    shared = web
    right = shared.access.is_pin(text_in("pin"))
    _count_try(
        shared.pin_tries,
        right,
        Problem(403, "this is not the PIN"),
        shared.access.is_trusted(_own_address()),
    )
    return answer_with_token(shared.access.make_host(request_token(), _own_address()))


@bp.post("/api/leave")
def leave_seats() -> Response:
    result_of(lambda: web.access.leave(request_token()))
    web.feed.touch()
    response = jsonify({"you": {"host": False, "seats": []}})
    response.delete_cookie(COOKIE, samesite="Strict", httponly=True)
    return response


@bp.post("/api/name")
def name_player() -> Response:
    """`{"seat": "bull", "name": "Anna"}`: the player's name, for the page and for the table's
    statistics; "" deletes it."""
    who, seat, said = current_viewer(), text_in("seat"), " ".join(text_in("name").split())
    if not who.host and seat not in who.seats or seat not in web.seats:
        raise Problem(403, "this seat is not yours")
    if len(said) > LONGEST_NAME or not said.isprintable():
        raise Problem(400, "a name has at most {n} letters", n=LONGEST_NAME)
    names = {**web.table.settings.get("names", {}), seat: said}
    return answer_after(
        lambda: web.table.set(
            by="host" if who.host else seat, names={s: n for s, n in names.items() if n}
        )
    )


def _own_address() -> str:
    return request.remote_addr or ""


def _count_try(tries: Tries, right: bool, wrong: Problem, trusted: bool = False) -> None:
    """Too many tries get the same answer whether this one was right or wrong, or the answer would
    reveal which it was."""
    address = _own_address()
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
