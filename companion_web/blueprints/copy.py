"""What the host can do about the copy in use: see its report, undo what was learnt at the table,
redraw its plan."""

from __future__ import annotations

import html
import json
import re
import threading
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, jsonify

from calibration import learning
from calibration.copy import BEFORE, BadCopy
from companion.setup.setup import NotSo
from companion_web import catalogue
from companion_web.blueprints.trace import trace_blueprint, trace_page
from companion_web.context import require_host, web
from companion_web.desk import Desk
from companion_web.document import style_hashes
from companion_web.errors import Problem
from vision.storage.photo_file import BadPhoto, load_photo

bp = Blueprint("copy", __name__)
_opening = threading.Lock()


@bp.get("/api/host/copy")
def copy_state() -> Response:
    """{"folder", "report": whether there is one, "learnt": whether something learnt at the table
    can be undone, "photo": the photo on which its plan can be corrected}; {} without a copy"""
    require_host()
    folder = web.settings.copy
    if folder is None:
        return jsonify({})
    folder = Path(folder)
    return jsonify(
        {
            "folder": folder.name,
            "report": (folder / "report.html").is_file(),
            "learnt": (folder / BEFORE).is_file(),
            "photo": _empty_photo(folder),
        }
    )


@bp.get("/report")
def calibration_report() -> Response:
    """The calibration's report. It is self-contained: no scripts and no other files, only embedded
    pictures and styles."""
    try:
        text = (_copy_folder() / "report.html").read_text(encoding="utf-8")
    except OSError:
        raise Problem(404, "there is no report yet: calibrate the copy again") from None
    text = in_language(text, catalogue.request_language())
    allowed = style_hashes(re.findall(r"<style>(.*?)</style>", text, re.DOTALL)) or "'none'"
    return Response(
        text,
        mimetype="text/html",
        headers={
            "Content-Security-Policy": f"default-src 'none'; img-src data:; style-src {allowed}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        },
    )


def in_language(report: str, language: str) -> str:
    """The report with all sentences that carry their template translated; others stay as they
    are."""

    def said(found: re.Match[str]) -> str:
        try:
            return html.escape(
                catalogue.translated_sentence(language, json.loads(html.unescape(found[1])))
            )
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return found[2]

    out = re.sub(r'<span data-say="([^"]*)">([^<]*)</span>', said, report)
    return out.replace('<html lang="en">', f'<html lang="{language}">', 1)


@bp.post("/api/host/unlearn")
def undo_learning() -> Response:
    """Restores the model from before the last learning at the table; it is used from the next start
    on."""
    folder = _copy_folder()
    try:
        learning.undo_learning(folder)
    except BadCopy:
        raise Problem(409, "nothing was learnt at the table that could be undone") from None
    except OSError as e:
        raise Problem(
            507, "{file} cannot be written: {reason}", file="model.npz", reason=e.strerror or ""
        ) from None
    return copy_state()


@bp.get("/trace")
def tracing_page() -> Any:
    if not web.is_set_up:
        return trace_page(tracing_desk(), back="/setup")
    return trace_page(tracing_desk(), back="/join", note=tracing_desk().out.parent.name)


def tracing_desk() -> Desk:
    """The copy's plan on a photo of its empty board."""
    folder, shared = _copy_folder(), web
    with _opening:
        name = _empty_photo(folder)
        if name is None:
            raise Problem(404, "this copy has no photo of the empty board to draw on")
        photo = folder / name, (folder / name).stat().st_mtime_ns
        if shared.desk is None or shared.desk_photo != photo:
            shared.desk_photo = photo
            try:
                shared.desk = Desk(
                    _plan_data(folder), load_photo(folder / name), folder / "plan.toml"
                )
            except (BadPhoto, OSError, tomllib.TOMLDecodeError) as e:
                raise Problem(409, "{reason}", reason=str(e)) from None
        return shared.desk


def _plan_data(folder: Path) -> dict[str, Any]:
    own = folder / "plan.toml"
    if own.is_file():
        return tomllib.loads(own.read_text(encoding="utf-8"))
    return tomllib.loads(
        resources.files(f"engine.{web.snapshot['game']}")
        .joinpath("plan.toml")
        .read_text(encoding="utf-8")
    )


def _empty_photo(folder: Path) -> str | None:
    """The first photo of the empty board, otherwise the first photo"""
    try:
        photos = tomllib.loads((folder / "copy.toml").read_text(encoding="utf-8")).get("photo", [])
        empty = [
            p["file"]
            for p in photos
            if (folder / p["layout"]).read_text(encoding="utf-8").split() in (["{}"], ["{", "}"])
        ]
        names = empty or [p["file"] for p in photos]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return next((n for n in names if (folder / n).is_file()), None)


def _copy_folder() -> Path:
    """The folder of the copy in use, or of the one being made."""
    require_host()
    if not web.is_set_up and (session := web.setup.session) is not None:
        return session.folder
    folder = web.settings.copy
    if folder is None:
        raise Problem(404, "this table knows no copy")
    return Path(folder)


def _save_drawn() -> None:
    if not web.is_set_up:
        try:
            web.setup.plan_drawn()
        except NotSo as e:
            raise Problem(409, e.text.template, **e.text.args) from None


bp.register_blueprint(trace_blueprint(tracing_desk, _save_drawn))
