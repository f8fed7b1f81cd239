"""The pages of a table, and what makes them installable on a phone."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, redirect, send_from_directory
from flask.typing import ResponseReturnValue

from companion_web import catalogue
from companion_web.context import web
from companion_web.document import STATIC
from companion_web.http import page_shell

bp = Blueprint("pages", __name__)


@bp.get("/")
def board_page() -> ResponseReturnValue:
    # Without a game there is nothing to look at: the table has to be set up first.
    return page_shell("page") if web.seats else redirect("/setup")


@bp.get("/tv")
def television_page() -> ResponseReturnValue:
    return page_shell("tv") if web.seats else redirect("/setup")


@bp.get("/manifest.webmanifest")
def web_manifest() -> Response:
    response = jsonify(
        {
            "name": web.settings.name or "Nilometer",
            "short_name": "Nilometer",
            "start_url": "/",
            "scope": "/",
            "display": "standalone",
            "background_color": "#f5efe2",
            "theme_color": "#1d4e57",
            "lang": catalogue.request_language(),
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


@bp.get("/assets.json")
def kept_files() -> Response:
    """What an installed page keeps on the phone: scripts, pictures, languages. Pages carry their
    styles themselves."""
    folders = [(f"/static/{kind}/", STATIC / kind) for kind in ("icons", "js")]
    files = [
        f"{path}{f.name}"
        for path, folder in folders
        for f in folder.iterdir()
        if f.name != "worker.js"
    ]
    return jsonify(
        sorted(files)
        + [f"/locale/{code}.json" for code in catalogue.language_names()]
        + ["/manifest.webmanifest"]
    )


@bp.get("/worker.js")
def service_worker() -> Response:
    """The service worker must lie at the root to answer for the whole page."""
    response = send_from_directory(str(STATIC), "js/worker.js")
    response.mimetype = "text/javascript"
    response.headers["Cache-Control"] = "no-cache"
    return response
