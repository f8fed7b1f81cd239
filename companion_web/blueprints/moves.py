"""A closer look at a move: the board before and after it, as the camera saw it and according to the
rules."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

from companion.table.journal import Line
from companion_web.context import current_viewer, web
from companion_web.errors import Problem
from companion_web.redaction import redacted_snapshot

bp = Blueprint("moves", __name__, url_prefix="/api/moves")


@bp.get("/<int:event>")
def move_details(event: int) -> Response:
    """The layouts before and after, and which camera pictures there are of them."""
    before, after = _lines_about(event)
    kept = [w for w in ("before", "after") if web.table.journal.picture(event, w) is not None]
    one = {
        "moves": [{"scores": after.state.scores()}],
        "settings": web.snapshot.get("settings"),
        "outcome": web.snapshot.get("outcome"),
    }
    return jsonify(
        {
            "event": event,
            "text": after.action,
            "before": _layout_after(before),
            "after": _layout_after(after),
            "pictures": kept,
            "scores": redacted_snapshot(one, current_viewer())["moves"][0]["scores"],
        }
    )


@bp.get("/<int:event>/<any(before, after):which>.jpg")
def move_picture(event: int, which: str) -> Response:
    data = web.table.journal.picture(event, which)
    if data is None:
        raise Problem(404, "there is no picture of that")
    return Response(
        data, mimetype="image/jpeg", headers={"Cache-Control": "private, max-age=86400"}
    )


def _lines_about(event: int) -> tuple[Line, Line]:
    lines = web.table.lines
    for before, after in zip(lines, lines[1:]):
        if after.event == event:
            return before, after
    raise Problem(404, "there is no such move any more")


def _layout_after(line: Line) -> dict[str, list[str]]:
    return {s: list(c) for s, c in line.state.layout().items()}
