"""Drawing a plan on a photo of the empty board: the page, and its requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cv2
import msgspec
import numpy as np
from flask import Blueprint, Response, jsonify

from calibration import trace
from calibration.trace import BadTracing, Tracing
from companion_web.desk import Desk, write_file
from companion_web.document import page_answer
from companion_web.errors import Problem
from companion_web.http import json_body
from engine.text import pack_text, say
from engine.tracing import PlanFault


def trace_page(desk: Desk, back: str = "", note: str = "") -> Response:
    """The page. back: the target of the link that leaves it; note: the copy that has to be
    calibrated after saving."""
    title = pack_text(say("Draw the board"))
    return page_answer("trace.html", title, back=back, note=note, table=desk.out.name)


def trace_blueprint(
    desk_now: Callable[[], Desk], saved: Callable[[], object] = lambda: None
) -> Blueprint:
    """The page's requests, below /api/trace. `desk_now` checks who may draw; `saved` is called
    after a plan was written."""
    bp = Blueprint("trace", __name__, url_prefix="/api/trace")

    @bp.get("/photo.jpg")
    def photo() -> Response:
        return Response(desk_now().photo, mimetype="image/jpeg")

    @bp.get("")
    def begin() -> Response:
        desk = desk_now()
        return jsonify(
            {
                "form": pack_text(desk.form),
                "photo": [desk.image.shape[1], desk.image.shape[0]],
                "file": desk.out.name,
                **_tracing_answer(desk, *desk.looked_at(desk.traced)),
            }
        )

    @bp.post("")
    def keep() -> Response:
        desk = desk_now()
        return jsonify(_tracing_answer(desk, *desk.keep(_sent_tracing())))

    @bp.post("/corners")
    def corners() -> Response:
        desk, data = desk_now(), json_body()
        try:
            traced = trace.parse_tracing(
                msgspec.to_builtins(
                    trace.moved_tracing(_sent_tracing(), data["corners"], data["size"])
                )
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
        return jsonify(_tracing_answer(desk, *desk.keep(traced)))

    @bp.post("/save")
    def save() -> Response:
        desk = desk_now()
        full, plan, faults = desk.keep(_sent_tracing())
        good = not any(f.stops for f in faults)
        if good:
            write_file(desk.out, trace.plan_toml(plan))
            saved()
        return jsonify({"saved": good, **_tracing_answer(desk, full, plan, faults)})

    return bp


def _tracing_answer(
    desk: Desk, full: Tracing, plan: Mapping[str, Any], faults: list[PlanFault]
) -> dict[str, Any]:
    """borders: which sites touch; asked: the questions about each site."""
    return {
        "drawing": msgspec.to_builtins(full),
        "faults": pack_text(faults),
        "borders": {s["id"]: s["borders"] for s in plan["site"] if "borders" in s},
        "asked": {
            s.id: [c.name for c in desk.form.choices if trace.asks_site(desk.form, c, s)]
            for s in full.sites
        },
    }


def _sent_tracing() -> Tracing:
    try:
        return trace.parse_tracing(json_body().get("drawing"))
    except BadTracing as e:
        raise Problem(400, "{reason}", reason=str(e)) from None
