"""The page of a table that cannot start: everybody is told, the host is told why and what can be
done."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from flask import Flask, Response, jsonify, make_response, render_template, request

from companion.table.journal import Event
from companion_web import catalogue, errors, guard
from companion_web.access import Access, Viewer
from companion_web.blueprints import assets
from companion_web.context import COOKIE
from companion_web.errors import Problem
from companion_web.http import download, json_body
from companion_web.limits import Tries
from companion_web.proxies import Proxies
from companion_web.served import EXTENSION, Served
from companion_web.settings import Settings

log = logging.getLogger(__name__)


class RescueLike(Protocol):
    """What can be done about a table that cannot start: cli.rescue.Rescue.

    words: the fault in one line; offers: what `do` can do; events: the game's good ones, of which
    there once were `said`; journal: the damaged file, if that is the fault."""

    words: str
    offers: Sequence[str]
    events: list[Event]
    said: int
    journal: Path | None

    def do(self, what: str) -> None:
        """Raises KeyError for what is not offered, OSError, BadJournal."""

    @property
    def lines(self) -> str:
        """What can be read of the game, as JSON Lines"""

    @property
    def damaged(self) -> bytes:
        """The journal's file as it lies there. Raises OSError."""


def create_rescue_app(rescue: RescueLike, settings: Settings) -> Flask:
    """The page of a table that cannot start. Without a PIN nobody is the host, and everybody is
    told the fault."""
    app = Flask("companion_web", static_folder=None)
    app.extensions[EXTENSION] = Served(settings.proxies)
    access = Access(
        settings.pin, Path(settings.state) / "seats.json" if settings.state is not None else None
    )
    tries = Tries(*settings.pin_tries)
    errors.install(app)
    guard.install(app, settings)
    app.wsgi_app = Proxies(app.wsgi_app, settings.proxies)  # type: ignore[method-assign]
    app.register_blueprint(assets.bp)

    def viewer() -> Viewer:
        return access.viewer(request.cookies.get(COOKIE))

    def only_host() -> None:
        if not viewer().host:
            raise Problem(403, "only the host may do this")

    def shell(**_: str) -> Response:
        language = catalogue.request_language()
        response = make_response(
            render_template(
                "rescue.html",
                say=catalogue.translator(language),
                lang=language,
                languages=catalogue.languages(),
                table="",
                title="Nilometer",
            ),
            503,
        )
        response.headers["Cache-Control"] = "no-store"
        response.headers["Vary"] = "Accept-Language, Cookie"
        return response

    for n, path in enumerate(("/", "/join", "/setup", "/games", "/report", "/trace")):
        app.add_url_rule(path, f"page{n}", shell)

    @app.get("/api/rescue")
    def said() -> Response:
        told = viewer().host or settings.pin is None
        return jsonify(
            {
                "host": viewer().host,
                "pin": settings.pin is not None,
                "words": rescue.words if told else None,
                "offers": rescue.offers if viewer().host else [],
                "good": len(rescue.events),
                "said": rescue.said,
                "damaged": rescue.journal is not None,
            }
        )

    @app.post("/api/rescue")
    def do() -> Response:
        only_host()
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

    @app.post("/api/host")
    def host() -> Response:
        address, data = request.remote_addr or "", request.get_json(silent=True)
        if (wait := tries.wait(address, access.is_trusted(address))) > 0:
            raise Problem(
                429,
                "too many tries; wait {minutes} min",
                retry_after=wait,
                minutes=int(wait // 60) + 1,
            )
        if (
            settings.pin is None
            or not isinstance(data, dict)
            or not access.is_pin(str(data.get("pin")))
        ):
            tries.failed(address)
            raise Problem(403, "this is not the PIN")
        response = jsonify({"host": True})
        fresh = access.make_host(request.cookies.get(COOKIE), address)
        response.set_cookie(
            COOKIE, fresh, httponly=True, samesite="Strict", secure=request.is_secure
        )
        return response

    @app.get("/api/rescue/game.jsonl")
    def lines() -> Response:
        only_host()
        return download(
            Response(rescue.lines.encode(), mimetype="application/octet-stream"), "game.jsonl"
        )

    @app.get("/api/rescue/game.journal")
    def damaged() -> Response:
        only_host()
        try:
            data = rescue.damaged
        except OSError as e:
            raise Problem(404, "{reason}", reason=e.strerror or "") from None
        return download(Response(data, mimetype="application/octet-stream"), "game.journal")

    @app.route("/api/<path:_>", methods=["GET", "POST"])
    def not_yet(_: str) -> Response:
        raise Problem(503, "the table cannot start; the host can help", retry_after=10)

    return app
