"""A page's HTML as it is sent: in the browser's language, with inline styles and with preloads for
its scripts, so that a slow phone can show it after one round trip and run it after two."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from flask import Response, render_template, request

from companion_web import catalogue
from companion_web.guard import POLICY

STATIC = Path(__file__).parent / "static"
_IMPORT = re.compile(r"""^import\b[^;]*["']\./(\w+)\.js["'];""", re.MULTILINE)
_STYLE = re.compile(r'<link rel="stylesheet" href="/static/css/(\w+)\.css">')
_SCRIPT = re.compile(r'<script type="module" src="/static/js/(\w+)\.js"></script>')


def page_answer(file: str, title: Any = "Nilometer", status: int = 200, **more: Any) -> Response:
    """A page of `templates/`. title: a text, or one that is packed (engine.text.pack_text)."""
    language = catalogue.request_language()
    html = render_template(
        file,
        lang=language,
        say=catalogue.template_translator(language),
        languages=catalogue.language_names(),
        title=title if isinstance(title, str) else catalogue.translated_sentence(language, title),
        **more,
    )
    whole, styles = whole_page(html)
    packed = "gzip" in request.accept_encodings
    response = Response(_packed_page(whole) if packed else whole, status, mimetype="text/html")
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Security-Policy"] = POLICY.replace(
        "style-src 'self'", f"style-src 'self' {style_hashes(styles)}"
    )
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Vary"] = "Accept-Language, Cookie, Accept-Encoding"
    if status == 200:
        response.add_etag()
        response.make_conditional(request)
    return response


def whole_page(html: str) -> tuple[str, list[str]]:
    """The page with inline styles instead of links, and with preloads for the modules that its
    script imports; and these styles."""
    styles = [_style_text(name) for name in _STYLE.findall(html)]
    html = _STYLE.sub(lambda link: f"<style>{_style_text(link[1])}</style>", html)
    return _SCRIPT.sub(lambda script: _preload_links(script[1]) + script[0], html), styles


def style_hashes(styles: Iterable[str]) -> str:
    """The Content-Security-Policy sources (hashes) for these contents of `<style>`."""
    hashes = (hashlib.sha256(style.encode()).digest() for style in styles)
    return " ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in hashes)


@cache
def imported_scripts(name: str) -> tuple[str, ...]:
    """The modules that a script in static/js imports, directly or indirectly, the nearest first"""
    found: dict[str, None] = {}
    ahead = [name]
    for script in ahead:
        text = (STATIC / "js" / f"{script}.js").read_text(encoding="utf-8")
        new = [other for other in _IMPORT.findall(text) if other not in found and other != name]
        found.update(dict.fromkeys(new))
        ahead += new
    return tuple(found)


@cache
def _style_text(name: str) -> str:
    return (STATIC / "css" / f"{name}.css").read_text(encoding="utf-8")


@cache
def _preload_links(script: str) -> str:
    return "".join(
        f'<link rel="modulepreload" href="/static/js/{other}.js">\n'
        for other in imported_scripts(script)
    )


@lru_cache(maxsize=32)
def _packed_page(html: str) -> bytes:
    return gzip.compress(html.encode(), mtime=0)
