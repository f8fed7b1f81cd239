"""The stream of changes: Server-Sent Events, one thread a phone, counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from flask import Blueprint, Response, current_app, request

from companion_web.access import Access, Viewer
from companion_web.connections import STREAM
from companion_web.context import current_viewer, request_token, web_of
from companion_web.errors import Problem
from companion_web.feed import Feed

bp = Blueprint("stream", __name__)
RETRY_AFTER = 10.0  # seconds until a rejected phone asks again
LOOK_EVERY = 1.0  # seconds between checks whether the phone is still there


@bp.get(STREAM)
def change_stream() -> Response:
    shared = web_of(current_app)
    address = request.remote_addr or ""
    place = shared.streams.enter(address, current_viewer().seated)
    if place is None:
        raise Problem(
            503,
            "too many phones follow this table; look again in a moment",
            retry_after=RETRY_AFTER,
        )
    hung_up = request.environ.get("waitress.client_disconnected", lambda: False)
    body = stream_events(
        shared.feed,
        shared.access,
        request_token(),
        lambda: place.lost or hung_up(),
        shared.settings.heartbeat,
    )
    response = Response(body, mimetype="text/event-stream", headers={"X-Accel-Buffering": "no"})
    response.call_on_close(lambda: shared.streams.leave(place))
    return response


def stream_events(
    feed: Feed, access: Access, own: str | None, gone: Callable[[], bool], heartbeat: float
) -> Iterator[bytes]:
    """First the whole snapshot, then the changes, with a heartbeat if there are none, until the
    phone is gone or the feed closes.

    Rights are checked each time: a phone whose seat was freed no longer gets what only that seat
    may see.
    """
    seen: Viewer | None = None
    serial, said = -1, time.monotonic()
    yield b"retry: 2000\n\n"
    while not feed.closed and not gone():
        now = access.viewer(own)
        if now != seen or feed.frame.serial != serial:
            serial, message = feed.message(now, serial if now == seen else None)
            seen, said = now, time.monotonic()
            yield message
        elif time.monotonic() - said >= heartbeat:
            said = time.monotonic()
            yield b"event: beat\ndata: %d\n\n" % serial
        feed.wait(serial, min(LOOK_EVERY, heartbeat))
    yield b"event: bye\ndata: 0\n\n"
