"""Tells systemd that the table is ready, alive or stopping (sd_notify's protocol); does nothing if
it was not started as a service."""

from __future__ import annotations

import os
import socket
import time

_last = 0.0


def _send_message(message: str) -> bool:
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path:
        return False
    address = "\0" + path[1:] if path.startswith("@") else path
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.sendto(message.encode(), address)
        return True
    except OSError:
        return False


def tell_ready(status: str = "watching the table") -> bool:
    """Tells systemd that the service is ready; False if there is nobody to tell. See
    sd_notify(3)."""
    return _send_message(f"READY=1\nSTATUS={status}")


def tell_alive(every: float = 1.0) -> bool:
    """Feeds the watchdog, at most once every `every` seconds."""
    global _last
    now = time.monotonic()
    if now - _last < every:
        return False
    _last = now
    return _send_message("WATCHDOG=1")


def tell_stopping() -> bool:
    """Tells systemd that the service is ending; False if there is nobody to tell."""
    return _send_message("STOPPING=1")
