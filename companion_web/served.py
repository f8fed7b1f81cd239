"""What a server needs to know of an application."""

from __future__ import annotations

from flask import Flask

from companion_web.limits import Known

EXTENSION = "nilometer"  # the key in `app.extensions`


class Served:
    """Kept in `app.extensions`. This base class is for applications without a stream of changes.

    proxies: addresses or networks that are trusted about who asks; known: addresses that hold
    seats.
    """

    def __init__(self, proxies: tuple[str, ...] = ()) -> None:
        self.proxies, self.known = proxies, Known()

    def start(self) -> None:
        """Called when serving begins."""

    def stop(self) -> None:
        """Called when serving ends, so that streams can say goodbye."""


def served_by(app: Flask) -> Served:
    """The `Served` of an application."""
    return app.extensions[EXTENSION]
