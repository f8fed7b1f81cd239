"""One page for all tables of a club. It is read-only."""

from __future__ import annotations

import msgspec
from flask import Flask, Response, request
from flask.typing import ResponseReturnValue

from companion.runtime.hall import Hall
from companion_web.base import base_app
from companion_web.document import page_answer
from companion_web.served import Served
from companion_web.settings import Settings


def create_hall(hall: Hall, settings: Settings | None = None) -> Flask:
    """The hall's application, to be served like a table's."""
    settings = settings or Settings(name="Nilometer")
    app = base_app(Served(settings.proxies), settings)

    @app.get("/")
    def index() -> Response:
        return page_answer("hall.html")

    @app.get("/api/tables")
    def tables() -> ResponseReturnValue:
        """All tables; with `?since=VERSION`, what has changed since that version (Hall.changes)"""
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
