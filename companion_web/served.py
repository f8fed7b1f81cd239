"""What a server has to know of an application that it serves."""

from __future__ import annotations

from flask import Flask

from companion_web.limits import Known

EXTENSION = "nilometer"  # the key in `app.extensions`


class Served:
    """Kept in `app.extensions`. This one is of an application without a stream of changes.

    proxies: addresses or networks whose word counts on who asks; known: addresses that hold seats.
    """

    def __init__(self, proxies: tuple[str, ...] = ()) -> None:
        self.proxies, self.known = proxies, Known()

    def start(self) -> None:
        """Called when serving begins."""

    def stop(self) -> None:
        """Called when it ends, so that streams say goodbye."""


def served_by(app: Flask) -> Served:
    """What stands behind an application."""
    return app.extensions[EXTENSION]
