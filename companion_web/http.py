"""Helpers for blueprints: reading requests, making responses."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from flask import Response, jsonify, request

from companion.table.journal import BadJournal
from companion.table.table import Gone, Refused
from companion_web import qr
from companion_web.access import HOST_S, SEAT_S, NotKept, Taken
from companion_web.context import COOKIE, request_token, web
from companion_web.document import page_answer
from companion_web.errors import Problem
from engine import BadText
from engine.text import pack_text

log = logging.getLogger(__name__)
Given = TypeVar("Given")
NO_ROOM = 507  # the status if something cannot be stored


def json_body() -> dict[str, Any]:
    """Raises Problem (400) unless the request is a JSON object."""
    data = request.get_json(silent=True)
    if not isinstance(data, dict):
        raise Problem(400, "send a JSON object")
    return data


def text_in(name: str) -> str:
    """A text of the request's JSON, stripped. Raises Problem (400)."""
    value = json_body().get(name)
    if not isinstance(value, str):
        raise Problem(400, "`{name}` must be a text", name=name)
    return value.strip()


def number_in(name: str) -> int:
    """A whole number of the request's JSON. Raises Problem (400)."""
    value = json_body().get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Problem(400, "`{name}` must be a whole number", name=name)
    return value


def result_of(act: Callable[[], Given]) -> Given:
    """What `act` returns. What the rules forbid becomes a Problem with their numbers (409), an
    unknown action 400, a full disk 507."""
    try:
        return act()
    except Refused as e:
        raise Problem(
            409, "the rules do not allow it", more={"violations": pack_text(list(e.violations))}
        ) from None
    except Gone:
        raise Problem(409, "somebody has answered already") from None
    except (BadJournal, NotKept) as e:
        log.warning("%s", e)
        raise Problem(NO_ROOM, "it could not be written down, so it did not happen") from None
    except BadText as e:
        raise Problem(400, "{reason}", reason=str(e)) from None


def answer_after(act: Callable[[], object]) -> Response:
    """Runs `act`; answers with the serial of the snapshot after it, and the verdict."""
    try:
        result_of(act)
    except Problem as e:
        if e.status == NO_ROOM:
            web.feed.refresh()  # phones must see at once, too, that nothing can be stored
        raise
    # The table's thread may be a moment late; whoever acted should see the result in the very next
    # response.
    web.feed.refresh()
    return jsonify({"serial": web.feed.frame.serial, "verdict": web.snapshot.get("verdict")})


def answer_seated(seat: str) -> Response:
    """Gives the seat to the phone that asks. Raises Problem (409) if it is taken."""
    try:
        return answer_with_token(web.access.seat(seat, request_token(), request.remote_addr or ""))
    except Taken:
        raise Problem(409, "somebody sits there; the host can free the seat") from None


def answer_with_token(fresh: str) -> Response:
    """Answers with what the token grants, and sets the token as the phone's cookie."""
    web.feed.touch()
    you = web.access.viewer(fresh)
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


def qr_code(link: str) -> Response:
    """A link as a QR code, SVG."""
    return Response(qr.svg_code(link), mimetype="image/svg+xml")


def as_download(response: Response, name: str) -> Response:
    """The response as a file to be kept."""
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def page_shell(name: str) -> Response:
    """A page's HTML in the browser's language; its scripts draw everything that changes."""
    return page_answer(
        f"{name}.html",
        web.snapshot.get("title") or "Nilometer",
        table=web.settings.name,
        size=web.board_size,
    )
