"""One page for all tables of a club. It only shows: there is nothing in it that could be written
to."""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Flask, Response, make_response, render_template, request

from companion.hall import Hall
from companion_web import catalogue, errors, guard
from companion_web.parts.page import language, locale, static
from companion_web.settings import Settings


class _Nothing:
    def close(self) -> None:
        """Nobody follows a stream here."""


class _Shared:
    feed: Any = _Nothing()


def create_hall(hall: Hall, settings: Settings | None = None) -> Flask:
    """The hall's application, to be served like a table's."""
    settings = settings or Settings(name="Nilometer")
    app = Flask("companion_web", static_folder=None)
    app.extensions["nilometer"] = _Shared()
    errors.install(app)
    guard.install(app, settings)
    app.add_url_rule("/static/<path:name>", "static", static)
    app.add_url_rule("/locale/<code>.json", "locale", locale)

    @app.get("/")
    def index() -> Response:
        lang = language()
        response = make_response(
            render_template(
                "hall.html", lang=lang, say=lambda t, **a: catalogue.translate(lang, t, **a)
            )
        )
        response.headers["Vary"] = "Accept-Language, Cookie"
        return response

    @app.get("/api/tables")
    def tables() -> Response:
        """All of them, or `?since=` a version told before what has changed since; see Hall.changes"""
        changes = hall.changes(request.args.get("since", ""))
        changes["tables"].sort(key=lambda t: (t["name"].lower(), t["id"]))
        response = Response(
            msgspec.json.encode(changes),
            mimetype="application/json",
            headers={"Cache-Control": "no-cache"},
        )
        response.set_etag(changes["version"])
        return response.make_conditional(request)

    return app
