"""The files a page is made of: scripts, styles, drawings and languages. Every application serves
them."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path

from flask import Blueprint, Response, jsonify, request, send_from_directory
from flask.typing import ResponseReturnValue
from werkzeug.security import safe_join

from companion_web import catalogue
from companion_web.document import STATIC
from companion_web.errors import Problem

bp = Blueprint("assets", __name__)


@bp.get("/static/<path:name>")
def static_file(name: str) -> Response:
    packed = _packed(name) if "gzip" in request.accept_encodings else None
    if packed is not None:
        response = Response(
            packed[0],
            mimetype=packed[1],
            headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
        )
        response.set_etag(packed[2])
        response.make_conditional(request)
    else:
        response = send_from_directory(str(STATIC), name, conditional=True, etag=True)
    response.headers["Cache-Control"] = "no-cache"
    if name.endswith(".js"):
        response.mimetype = "text/javascript"
    return response


@cache
def _packed(name: str) -> tuple[bytes, str, str] | None:
    """A script, style or drawing of the page packed, its type and a tag; None: there is none of
    that name that is worth it."""
    kind = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}.get(
        name.rpartition(".")[2]
    )
    path = safe_join(str(STATIC), name)
    if kind is None or path is None or not Path(path).is_file():
        return None
    data = Path(path).read_bytes()
    return gzip.compress(data, mtime=0), kind, hashlib.sha256(data).hexdigest()[:16]


@bp.get("/locale/<code>.json")
def language_file(code: str) -> ResponseReturnValue:
    try:
        data = catalogue.catalogue_of(code)
    except KeyError:
        raise Problem(404, "there is no language {code}", code=code[:20]) from None
    response = jsonify(data)
    if "gzip" in request.accept_encodings:
        response.set_data(gzip.compress(response.get_data(), mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    response.headers.update({"Cache-Control": "no-cache", "Vary": "Accept-Encoding"})
    response.add_etag()
    return response.make_conditional(request)


@bp.get("/favicon.ico")
def page_icon() -> Response:
    return send_from_directory(str(STATIC), "icons/nilometer.svg")
