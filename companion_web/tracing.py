"""The page on which an owner draws a plan on a photo of the empty board. An application of its own:
no table is needed.

desk = Desk(base, image, Path("plan.toml"))
server = serve_app(create_trace_app(desk), "127.0.0.1", 8001)
link = server.url + "?key=" + desk.key
"""

from __future__ import annotations

import hmac

from flask import Flask, redirect, request
from flask.typing import ResponseReturnValue

from companion_web.base import base_app
from companion_web.blueprints.trace import trace_blueprint, trace_page
from companion_web.desk import Desk
from companion_web.errors import Problem
from companion_web.served import Served
from companion_web.settings import Settings

COOKIE = "nilometer_trace"


def create_trace_app(desk: Desk) -> Flask:
    """The page on which a plan is drawn, alone, without a table."""
    app = base_app(Served(), Settings())
    app.before_request(lambda: _let_in(desk))
    app.register_blueprint(trace_blueprint(lambda: desk))

    @app.get("/")
    def index() -> ResponseReturnValue:
        if "key" in request.args:
            answer = redirect("/")
            answer.set_cookie(COOKIE, desk.key, httponly=True, samesite="Strict")
            return answer
        return trace_page(desk)

    return app


def _let_in(desk: Desk) -> None:
    """Whoever has the link may draw; nobody else in the network."""
    shown = request.args.get("key") or request.cookies.get(COOKIE) or ""
    if not hmac.compare_digest(shown.encode(), desk.key.encode()):
        raise Problem(403, "open the link that was printed when this page was started")


__all__ = ["Desk", "create_trace_app"]
