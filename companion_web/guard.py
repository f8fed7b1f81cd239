"""Checks that every request passes first, and the headers of all responses."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, redirect, request
from flask.json.provider import DefaultJSONProvider

from companion_web.errors import Problem
from companion_web.limits import Rate
from companion_web.settings import Settings

LARGE = "/api/trace"  # requests below this path carry drawings of whole boards
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_PRIVATE = (
    ".local",
    ".localhost",
    ".lan",
    ".home",
    ".internal",
    ".home.arpa",
    ".fritz.box",
    ".test",
)

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "worker-src 'self'; manifest-src 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}


class Shallow(DefaultJSONProvider):
    """Refuses JSON that is nested too deeply, which would exhaust the stack and fill the log."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        try:
            return super().loads(s, **kwargs)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def install_guard(app: Flask, settings: Settings) -> None:
    """Checks every request before it is served: host name, rate, size, origin."""
    app.json = Shallow(app)
    reads, writes = Rate(*settings.read_rate), Rate(*settings.write_rate)

    def keep_out() -> Response | None:
        own_name(request.host, settings.hosts)
        if settings.redirect and not request.is_secure:
            answer = redirect(f"https://{request.host}{request.full_path.rstrip('?')}", 308)
            return answer if isinstance(answer, Response) else None
        writing = request.method in WRITES
        seldom_enough(writes if writing else reads, request.remote_addr or "")
        if large := request.path.startswith(LARGE):
            request.max_content_length = settings.large_body
        small_enough(request.content_length, settings.large_body if large else settings.body_limit)
        if writing:
            same_origin(
                request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site"), request.host
            )
            json_only(request.mimetype)
        return None

    def dress(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if "Cache-Control" not in response.headers:
            response.headers["Cache-Control"] = "no-store"
        return response

    app.config["MAX_CONTENT_LENGTH"] = settings.body_limit
    app.before_request(keep_out)
    app.after_request(dress)


def own_name(host: str, more: tuple[str, ...]) -> None:
    """Refuses a public name that somebody pointed at this machine (DNS rebinding), which would make
    a foreign page same-origin. For an invalid name (two of them, one with a path) Werkzeug gives
    ""."""
    name = (urlsplit(f"//{host}").hostname or "").removesuffix(".")
    plain = name and "." not in name and ":" not in name
    if name in more or plain or name.endswith(_PRIVATE):
        return
    try:
        ipaddress.ip_address(name.split("%")[0])
    except ValueError:
        raise Problem(421, "this table is not called {name}", name=name[:80]) from None


def seldom_enough(rate: Rate, address: str) -> None:
    """Raises Problem (429) for an address that asks more often than `rate` allows."""
    wait = rate.wait(address)
    if wait > 0:
        raise Problem(429, "too many requests; try again in a moment", retry_after=wait)


def small_enough(length: int | None, limit: int) -> None:
    """Raises Problem (413) for a body of more than `limit` bytes."""
    if length is not None and length > limit:
        raise Problem(413, "more than {limit} bytes", limit=limit)


def json_only(mimetype: str) -> None:
    """Allows only JSON: browsers let foreign pages send plain forms and texts, but not JSON."""
    if mimetype != "application/json":
        raise Problem(415, "send application/json")


def same_origin(origin: str | None, site: str | None, host: str) -> None:
    """Refuses writes from other sites: browsers name the page that a write comes from."""
    if site is not None and site != "same-origin":
        raise Problem(403, "writes come from this page only")
    if origin is None and site is None:
        raise Problem(403, "a write has to say where it comes from (Origin)")
    if origin is not None and _place_of(origin) != host.lower():
        raise Problem(403, "writes come from this page only")


def _place_of(origin: str) -> str:
    """The host and port of a URL; "" if it is invalid (http://[)"""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
