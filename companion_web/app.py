"""The Flask application: puts the parts together. Everything they share is the `Web` in
`app.extensions`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask import Flask, current_app, request

from companion.games import Shelf
from companion_web import errors, guard
from companion_web.access import Access, Viewer
from companion_web.choices import Choices
from companion_web.drawing import Drawing
from companion_web.feed import Feed, Streams
from companion_web.limits import Known, Tries
from companion_web.offers import Offers
from companion_web.otherwise import Otherwise
from companion_web.proxies import Proxies
from companion_web.settings import Settings, Switches

COOKIE = "nilometer_seat"


class Web:
    """What the parts share. `table` has what docs/architecture.md says of companion.table.Table."""

    def __init__(self, table: Any, settings: Settings, switches: Switches | None = None) -> None:
        self.settings, self.switches = settings, switches
        self.access = Access(
            settings.pin,
            Path(settings.state) / "seats.json" if settings.state is not None else None,
        )
        self.joining = True
        self.known = Known()
        self._legal: tuple[int | None, dict[str, set[str]]] = (None, {})
        self.offers, self.otherwise, self.choices = Offers(), Otherwise(), Choices()
        self.feed = Feed(table, self._extras)
        self.streams = Streams(
            settings.max_streams, settings.reserved_streams, settings.streams_per_address
        )
        self.pin_tries, self.code_tries = Tries(*settings.pin_tries), Tries(*settings.pin_tries)
        self._drawing = Drawing(settings.plan)
        self.desk: Any = (
            None  # the copy's plan being drawn (companion_web/parts/copy.py), and on which photo
        )
        self.desk_photo: tuple[Path, int] | None = None
        self.shelf = Shelf(Path(settings.state) if settings.state is not None else None)
        self.access.keep_only(self.seats, self.began)

    @property
    def table(self) -> Any:
        return self.feed.table

    @property
    def snapshot(self) -> dict[str, Any]:
        return self.feed.frame.snapshot

    @property
    def seats(self) -> list[str]:
        return [s["id"] for s in self.snapshot.get("seats") or ()]

    @property
    def began(self) -> str:
        """What tells this game from all others"""
        return str(getattr(self.table, "began", ""))

    @property
    def drawing(self) -> Drawing:
        """Of the plan that is played with; while the table is set up, of the one that was drawn for
        the copy."""
        own = getattr(self.table, "own_plan", None)
        return self._drawing if own is None else Drawing(own)

    def actions(self, seat: str) -> list[str]:
        """The notation of a seat's legal actions, worked out once for all phones that ask after the
        same move."""
        version = self.snapshot.get("version")
        kept_for, kept = self._legal
        if kept_for != version:
            kept = {}
            for action in self.table.state.legal_actions():
                kept.setdefault(action.seat, set()).add(action.words())
            self._legal = version, kept
        return sorted(kept.get(seat, ()))

    def join_link(self, base: str | None = None) -> str:
        """The link that seats who opens it. The code stands behind `#`: browsers never send that
        part, nothing logs it."""
        return f"{self.look_link(base)}join#{self.access.code}"

    def look_link(self, base: str | None = None) -> str:
        return f"{(self.settings.address or base or 'http://localhost').rstrip('/')}/"

    def _extras(self) -> dict[str, Any]:
        wires = self.switches
        lit = wires.on() if wires else ()
        return {
            "switches": [{"id": i, "text": t, "on": i in lit} for i, t in wires.texts.items()]
            if wires
            else [],
            "offers": self.offers.standing() if self.offers else [],
            "table": {
                "name": self.settings.name,
                "joining": self.joining,
                "taken": sorted(self.access.taken()),
            },
        }


def web() -> Web:
    """What the running application is about: table, access, settings."""
    return web_of(current_app)


def web_of(app: Flask) -> Web:
    """The PIN is `web_of(app).access.pin`, the joining link `web_of(app).join_link(base)`."""
    return app.extensions["nilometer"]


def token() -> str | None:
    """The phone's cookie, which says who asks; None for one that never joined."""
    return request.cookies.get(COOKIE)


def viewer() -> Viewer:
    """Who asks: host, a seat or an onlooker."""
    who = web().access.viewer(token(), request.remote_addr or "")
    if who.seated and request.remote_addr:
        web().known.note(request.remote_addr)
    return who


def create_app(
    table: Any, settings: Settings | None = None, switches: Switches | None = None
) -> Flask:
    """Raises engine.BadPlan or vision.plan.BadPlan for a plan that cannot be used, ValueError for a
    broken language file."""
    from companion_web.parts import api, choices, copy, history, join, page, record, setup, stream

    settings = settings or Settings()
    app = Flask("companion_web", static_folder=None)
    app.url_map.merge_slashes = False
    app.extensions["nilometer"] = shared = Web(table, settings, switches)
    errors.install(app)
    guard.install(app, settings)
    app.wsgi_app = Proxies(app.wsgi_app, settings.proxies)
    for part in (page, api, choices, stream, history, join, record, setup, copy):
        app.register_blueprint(part.part)
    shared.feed.start()
    return app


def replace_table(app: Flask, table: Any) -> None:
    """Another game at the same table: phones stay, seats that it lacks are freed."""
    shared = web_of(app)
    shared.feed.table, shared.offers = table, Offers()
    shared.feed.refresh()
    shared.access.keep_only(shared.seats, shared.began)
    shared.feed.touch()


__all__ = ["COOKIE", "Web", "create_app", "replace_table", "token", "viewer", "web", "web_of"]
