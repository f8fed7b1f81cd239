"""The page itself, its scripts, styles and languages, and what makes it installable."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from importlib import resources
from pathlib import Path

from flask import (
    Blueprint,
    Response,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    send_from_directory,
)
from werkzeug.security import safe_join

from companion_web import catalogue
from companion_web.app import web
from companion_web.errors import Problem

part = Blueprint("page", __name__)
LANGUAGE = "nilometer_language"
_STATIC = resources.files("companion_web").joinpath("static")


def language() -> str:
    return catalogue.choose(request.cookies.get(LANGUAGE), request.accept_languages.values())


def shell(name: str) -> Response:
    """A page's HTML in the browser's language; what moves on it is drawn by its scripts."""
    lang = language()

    def say(template: str, **args: object) -> str:
        return catalogue.translate(lang, template, **args)

    snapshot = web().snapshot
    html = render_template(
        f"{name}.html",
        say=say,
        lang=lang,
        languages=catalogue.languages(),
        table=web().settings.name,
        size=getattr(getattr(web().table, "plan", None), "size", None),
        title=catalogue.told(lang, snapshot["title"]) if snapshot.get("title") else "Nilometer",
    )
    response = make_response(html)
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Vary"] = "Accept-Language, Cookie"
    return response


@part.get("/")
def index() -> Response:
    # Where no game stands yet there is nothing to look at: the first thing is to set the table up.
    return shell("page") if web().seats else redirect("/setup")


@part.get("/tv")
def television() -> Response:
    return shell("tv") if web().seats else redirect("/setup")


@part.get("/static/<path:name>")
def static(name: str) -> Response:
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
        response = send_from_directory(str(_STATIC), name, conditional=True, etag=True)
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
    path = safe_join(str(_STATIC), name)
    if kind is None or path is None or not Path(path).is_file():
        return None
    data = Path(path).read_bytes()
    return gzip.compress(data, mtime=0), kind, hashlib.sha256(data).hexdigest()[:16]


@part.get("/locale/<code>.json")
def locale(code: str) -> Response:
    try:
        data = catalogue.catalogue(code)
    except KeyError:
        raise Problem(404, "there is no language {code}", code=code[:20]) from None
    response = jsonify(data)
    if "gzip" in request.accept_encodings:
        response.set_data(gzip.compress(response.get_data(), mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    response.headers.update({"Cache-Control": "no-cache", "Vary": "Accept-Encoding"})
    response.add_etag()
    return response.make_conditional(request)


@part.get("/manifest.webmanifest")
def manifest() -> Response:
    response = jsonify(
        {
            "name": web().settings.name or "Nilometer",
            "short_name": "Nilometer",
            "start_url": "/",
            "scope": "/",
            "display": "standalone",
            "background_color": "#f5efe2",
            "theme_color": "#1d4e57",
            "lang": language(),
            "icons": [
                {
                    "src": "/static/icons/nilometer.svg",
                    "sizes": "any",
                    "type": "image/svg+xml",
                    "purpose": "any",
                },
                *(
                    {
                        "src": f"/static/icons/nilometer-{n}.png",
                        "sizes": f"{n}x{n}",
                        "type": "image/png",
                    }
                    for n in (192, 512)
                ),
            ],
        }
    )
    response.mimetype = "application/manifest+json"
    return response


@part.get("/assets.json")
def assets() -> Response:
    """What an installed page keeps on the phone: scripts, styles, pictures, languages."""
    folders = [(f"/static/{kind}/", _STATIC.joinpath(kind)) for kind in ("css", "icons", "js")]
    files = [
        f"{path}{f.name}"
        for path, folder in folders
        for f in folder.iterdir()
        if f.name != "worker.js"
    ]
    return jsonify(
        sorted(files)
        + [f"/locale/{code}.json" for code in catalogue.languages()]
        + ["/manifest.webmanifest"]
    )


@part.get("/worker.js")
def worker() -> Response:
    """The service worker must lie at the root to answer for the whole page."""
    response = send_from_directory(str(_STATIC), "js/worker.js")
    response.mimetype = "text/javascript"
    response.headers["Cache-Control"] = "no-cache"
    return response


@part.get("/favicon.ico")
def favicon() -> Response:
    return send_from_directory(str(_STATIC), "icons/nilometer.svg")
