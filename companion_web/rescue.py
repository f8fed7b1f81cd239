"""The page of a table that cannot start: everybody sees that it cannot, and the host sees why and
what can be done."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from flask import (
    Blueprint,
    Flask,
    Response,
    current_app,
    jsonify,
    request,
)

from companion.table.journal import Event
from companion_web.access import Access
from companion_web.base import base_app
from companion_web.context import COOKIE
from companion_web.document import page_answer
from companion_web.errors import Problem
from companion_web.http import as_download, json_body
from companion_web.limits import Tries
from companion_web.served import EXTENSION, Served
from companion_web.settings import Settings

bp = Blueprint("rescue", __name__)


class RescueLike(Protocol):
    """What can be done about a table that cannot start: cli.rescue.Rescue.

    words: the fault in one line; offers: what `do` can do; events: the readable ones of the game,
    of `said` that there once were; journal: the damaged file, if that is the fault."""

    words: str
    offers: tuple[str, ...]
    events: list[Event]
    said: int
    journal: Path | None

    def do(self, what: str) -> None:
        """Does one of the offers. Raises KeyError for anything else, OSError, BadJournal."""

    @property
    def lines(self) -> str:
        """The readable part of the game, as JSON Lines"""

    @property
    def damaged(self) -> bytes:
        """The journal file, unchanged. Raises OSError."""


class Rescued(Served):
    """The state behind the page of such a table. Without a PIN nobody is the host, and everybody is
    shown the fault."""

    def __init__(self, rescue: RescueLike, settings: Settings) -> None:
        super().__init__(settings.proxies)
        self.rescue, self.has_pin = rescue, settings.pin is not None
        folder = Path(settings.state) if settings.state is not None else None
        self.access = Access(settings.pin, folder / "seats.json" if folder is not None else None)
        self.tries = Tries(*settings.pin_tries)

    @property
    def host_asks(self) -> bool:
        return self.access.viewer(request.cookies.get(COOKIE)).host


def create_rescue_app(rescue: RescueLike, settings: Settings) -> Flask:
    """The page of a table that cannot start."""
    app = base_app(Rescued(rescue, settings), settings)
    app.register_blueprint(bp)
    return app


def current_rescue() -> Rescued:
    """The current application's `Rescued`."""
    return current_app.extensions[EXTENSION]


def hosts_rescue() -> RescueLike:
    """Raises Problem (403) unless the host asks."""
    if not current_rescue().host_asks:
        raise Problem(403, "only the host may do this")
    return current_rescue().rescue


@bp.get("/")
@bp.get("/join")
@bp.get("/setup")
@bp.get("/games")
@bp.get("/report")
@bp.get("/trace")
def rescue_page() -> Response:
    response = page_answer("rescue.html", status=503, table="")
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.get("/api/rescue")
def rescue_state() -> Response:
    shared = current_rescue()
    rescue, host, has_pin = shared.rescue, shared.host_asks, shared.has_pin
    return jsonify(
        {
            "host": host,
            "pin": has_pin,
            "words": rescue.words if host or not has_pin else None,
            "offers": rescue.offers if host else [],
            "good": len(rescue.events),
            "said": rescue.said,
            "damaged": rescue.journal is not None,
        }
    )


@bp.post("/api/rescue")
def do_offer() -> Response:
    rescue = hosts_rescue()
    try:
        rescue.do(json_body()["do"])
    except (KeyError, TypeError):
        raise Problem(400, "send a JSON object") from None
    except OSError as e:
        name = Path(e.filename or "").name
        raise Problem(
            507, "{file} cannot be written: {reason}", file=name, reason=e.strerror or ""
        ) from None
    except ValueError as e:
        raise Problem(507, "{reason}", reason=str(e)) from None
    return jsonify({})


@bp.post("/api/host")
def become_host() -> Response:
    shared, address = current_rescue(), request.remote_addr or ""
    data = request.get_json(silent=True)
    wait = shared.tries.wait(address, shared.access.is_trusted(address))
    if wait > 0:
        raise Problem(
            429, "too many tries; wait {minutes} min", retry_after=wait, minutes=int(wait // 60) + 1
        )
    pin = str(data.get("pin")) if isinstance(data, dict) else ""
    if not shared.has_pin or not shared.access.is_pin(pin):
        shared.tries.failed(address)
        raise Problem(403, "this is not the PIN")
    response = jsonify({"host": True})
    fresh = shared.access.make_host(request.cookies.get(COOKIE), address)
    response.set_cookie(COOKIE, fresh, httponly=True, samesite="Strict", secure=request.is_secure)
    return response


@bp.get("/api/rescue/game.jsonl")
def event_lines() -> Response:
    return _file_answer(hosts_rescue().lines.encode(), "game.jsonl")


@bp.get("/api/rescue/game.journal")
def damaged_journal() -> Response:
    rescue = hosts_rescue()
    try:
        return _file_answer(rescue.damaged, "game.journal")
    except OSError as e:
        raise Problem(404, "{reason}", reason=e.strerror or "") from None


@bp.route("/api/<path:_>", methods=["GET", "POST"])
def not_yet(_: str) -> Response:
    raise Problem(503, "the table cannot start; the host can help", retry_after=10)


def _file_answer(data: bytes, name: str) -> Response:
    return as_download(Response(data, mimetype="application/octet-stream"), name)
