"""The files a page is made of: scripts, styles, drawings and languages. Every application serves
them."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path

from flask import Blueprint, Response, jsonify, request, send_from_directory
from flask.typing import ResponseReturnValue

from companion_web import catalogue
from companion_web.document import STATIC
from companion_web.errors import Problem

bp = Blueprint("assets", __name__)
PACKED = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@bp.get("/static/<path:name>")
def static_file(name: str) -> Response:
    known = name in _packed_names() and "gzip" in request.accept_encodings
    packed = _packed_file(name) if known else None
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
def _packed_names() -> dict[str, Path]:
    """Scripts, styles and drawings, which are worth compressing, by name"""
    return {
        path.relative_to(STATIC).as_posix(): path
        for path in STATIC.rglob("*.*")
        if path.suffix in PACKED
    }


@cache
def _packed_file(name: str) -> tuple[bytes, str, str]:
    """One of `_packed_names` compressed, its type and an ETag. Made-up names cannot fill the
    cache."""
    data = _packed_names()[name].read_bytes()
    tag = hashlib.sha256(data).hexdigest()[:16]
    return gzip.compress(data, mtime=0), PACKED[_packed_names()[name].suffix], tag


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
