"""The page on which an owner draws a plan on a photo of the empty board. An application of its own:
no table is needed.

desk = Desk(base, image, Path("plan.toml"))
server = serve(create_trace_app(desk), "127.0.0.1", 8001)      # the link is server.url + "?key=" + desk.key
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
from flask import Blueprint, Flask, Response, jsonify, redirect, render_template, request

from calibration import trace
from calibration.files import write_whole
from calibration.trace import BadTracing, Tracing
from companion_web import catalogue, errors, guard
from companion_web.errors import Problem
from companion_web.parts import page
from companion_web.settings import Settings
from engine.text import pack
from engine.tracing import PlanFault

COOKIE = "nilometer_trace"
LARGEST = 2400  # pixels across: more help nobody to draw and are slow on a phone
log = logging.getLogger(__name__)


class Desk:
    """base: the plan's data to begin with. image: BGR. out: the plan.toml to write; a drawing not
    yet saved is kept beside it, and found there again. Raises OSError where that cannot be written."""

    def __init__(self, base: Mapping[str, Any], image: np.ndarray, out: Path) -> None:
        scale = min(1.0, LARGEST / max(image.shape[:2]))
        self.base, self.out, self.key = base, out, secrets.token_urlsafe(9)
        self.image = (
            cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            if scale < 1
            else image
        )
        self.photo = cv2.imencode(".jpg", self.image, [cv2.IMWRITE_JPEG_QUALITY, 88])[1].tobytes()
        self.form, self.draft = trace.form_of(base), out.with_name(out.name + ".drawing.json")
        self.feed = self  # what a server closes when it stops
        self._lock = threading.Lock()
        self.traced = self._kept() or trace.start(base, trace.corners_on(self.image, base["size"]))

    def close(self) -> None:
        """Nobody follows this page: nothing to end."""

    def looked_at(self, traced: Tracing) -> tuple[Tracing, dict[str, Any], list[PlanFault]]:
        """The drawing with the spots its cells lacked, the data of its plan, and what is wrong with
        that."""
        full = msgspec.structs.replace(traced, sites=trace.complete(self.form, traced))
        return full, *trace.checked(self.base, self.form, full)

    def keep(self, traced: Tracing) -> tuple[Tracing, dict[str, Any], list[PlanFault]]:
        """The same, and the drawing is written down."""
        with self._lock:
            self.traced = traced
            _write(
                self.draft,
                json.dumps(
                    {"photo": list(self.image.shape), "drawing": msgspec.to_builtins(traced)}
                ),
            )
        return self.looked_at(traced)

    def _kept(self) -> Tracing | None:
        try:
            data = json.loads(self.draft.read_text(encoding="utf-8"))
            return trace.parse(data["drawing"]) if data["photo"] == list(self.image.shape) else None
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, BadTracing) as e:
            log.warning("%s: %s; the drawing begins anew", self.draft, e)
            return None


def create_trace_app(desk: Desk) -> Flask:
    """The page on which a plan is drawn, alone, without a table."""
    app = Flask("companion_web", static_folder=None)
    app.extensions["nilometer"] = desk
    errors.install(app)
    guard.install(app, Settings())
    app.before_request(lambda: _let_in(desk))
    app.register_blueprint(drawing(lambda: desk))
    app.add_url_rule("/static/<path:name>", view_func=page.static)
    app.add_url_rule("/locale/<code>.json", view_func=page.locale)
    app.add_url_rule("/favicon.ico", view_func=page.favicon)

    @app.get("/")
    def index() -> Any:
        if "key" in request.args:
            answer = redirect("/")
            answer.set_cookie(COOKIE, desk.key, httponly=True, samesite="Strict")
            return answer
        return sheet(desk)

    return app


def sheet(desk: Desk, back: str = "", note: str = "") -> str:
    """The page's HTML. back: where a link leads to that leaves it; note: the copy that has to be
    calibrated after saving."""
    lang = page.language()
    return render_template(
        "trace.html",
        say=lambda t, **a: catalogue.translate(lang, t, **a),
        lang=lang,
        back=back,
        note=note,
        languages=catalogue.languages(),
        table=desk.out.name,
        title=catalogue.translate(lang, "Draw the board"),
    )


def drawing(desk_now: Callable[[], Desk], saved: Callable[[], object] = lambda: None) -> Blueprint:
    """What the page asks and says, below /api/trace. Who may is whoever `desk_now` lets; `saved` is
    called after a plan was written."""
    part = Blueprint("trace", __name__, url_prefix="/api/trace")

    @part.get("/photo.jpg")
    def photo() -> Response:
        return Response(desk_now().photo, mimetype="image/jpeg")

    @part.get("")
    def begin() -> Response:
        desk = desk_now()
        return jsonify(
            {
                "form": pack(desk.form),
                "photo": [desk.image.shape[1], desk.image.shape[0]],
                "file": desk.out.name,
                **_answer(desk, *desk.looked_at(desk.traced)),
            }
        )

    @part.post("")
    def keep() -> Response:
        desk = desk_now()
        return jsonify(_answer(desk, *desk.keep(_sent())))

    @part.post("/corners")
    def corners() -> Response:
        desk, data = desk_now(), request.get_json(silent=True) or {}
        try:
            traced = trace.parse(
                msgspec.to_builtins(trace.moved(_sent(), data["corners"], data["size"]))
            )
        except (
            BadTracing,
            KeyError,
            TypeError,
            ValueError,
            IndexError,
            cv2.error,
            np.linalg.LinAlgError,
        ):
            raise Problem(400, "the board's corners are crossed or lie on one line") from None
        return jsonify(_answer(desk, *desk.keep(traced)))

    @part.post("/save")
    def save() -> Response:
        desk = desk_now()
        full, plan, faults = desk.keep(_sent())
        good = not any(f.stops for f in faults)
        if good:
            _write(desk.out, trace.toml(plan))
            saved()
        return jsonify({"saved": good, **_answer(desk, full, plan, faults)})

    return part


def _answer(
    desk: Desk, full: Tracing, plan: Mapping[str, Any], faults: list[PlanFault]
) -> dict[str, Any]:
    """borders: who touches whom; asked: the questions that concern each site."""
    return {
        "drawing": msgspec.to_builtins(full),
        "faults": pack(faults),
        "borders": {s["id"]: s["borders"] for s in plan["site"] if "borders" in s},
        "asked": {
            s.id: [c.name for c in desk.form.choices if trace.asks(desk.form, c, s)]
            for s in full.sites
        },
    }


def _sent() -> Tracing:
    try:
        return trace.parse((request.get_json(silent=True) or {}).get("drawing"))
    except BadTracing as e:
        raise Problem(400, "{reason}", reason=str(e)) from None


def _let_in(desk: Desk) -> None:
    """Whoever has the link may draw; nobody else in the network."""
    shown = request.args.get("key") or request.cookies.get(COOKIE) or ""
    if not hmac.compare_digest(shown.encode(), desk.key.encode()):
        raise Problem(403, "open the link that was printed when this page was started")


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode())
    except OSError as e:
        raise Problem(
            507, "{file} cannot be written: {reason}", file=path.name, reason=e.strerror or ""
        ) from None


__all__ = ["Desk", "create_trace_app", "drawing", "sheet"]
