"""Who may do what: the host by PIN, players by a token for their seat, everybody else looks.

Tokens are kept only as SHA-256; they, the joining code and the seats can be kept in a file over a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from calibration.files import write_whole

log = logging.getLogger(__name__)


class Viewer(msgspec.Struct, frozen=True):
    """What somebody may see and do: `host`, and the seats they hold."""

    host: bool = False
    seats: tuple[str, ...] = ()

    @property
    def seated(self) -> bool:
        return self.host or bool(self.seats)


LOOKER = Viewer()


class Taken(ValueError):
    """Another phone has this seat."""


class Access:
    """pin: the host's; code: what a joining link carries. `path`: the file of seats, None: memory only."""

    def __init__(self, pin: str | None = None, path: Path | None = None) -> None:
        self.pin = pin or f"{secrets.randbelow(10**8):08d}"
        self.code = secrets.token_urlsafe(12)
        self._path = path
        self._rights: dict[str, Viewer] = {}
        self._lock = threading.RLock()
        if path is not None:
            self._read(path)

    def viewer(self, token: str | None) -> Viewer:
        """Every known token is compared, each in constant time."""
        if not token:
            return LOOKER
        asked = _hashed(token)
        found = LOOKER
        with self._lock:
            for known, viewer in self._rights.items():
                if hmac.compare_digest(known, asked):
                    found = viewer
        return found

    def knows(self, token: str) -> bool:
        return self.viewer(token).seated

    def is_pin(self, tried: str) -> bool:
        return hmac.compare_digest(_hashed(_digits(tried)), _hashed(_digits(self.pin)))

    def is_code(self, tried: str) -> bool:
        return hmac.compare_digest(_hashed(tried), _hashed(self.code))

    def taken(self) -> dict[str, int]:
        """seat -> how many phones hold it"""
        out: dict[str, int] = {}
        with self._lock:
            for viewer in self._rights.values():
                for seat in viewer.seats:
                    out[seat] = out.get(seat, 0) + 1
        return out

    def seat(self, seat: str, token: str | None = None) -> str:
        """The token that holds the seat now; one that holds another seat may hold several. Raises Taken."""
        with self._lock:
            viewer = self.viewer(token)
            if seat in viewer.seats:
                return str(token)
            if self.taken().get(seat):
                raise Taken(seat)
            return self._grant(token, Viewer(viewer.host, (*viewer.seats, seat)))

    def make_host(self, token: str | None = None) -> str:
        with self._lock:
            return self._grant(token, Viewer(True, self.viewer(token).seats))

    def leave(self, token: str | None) -> None:
        """Forgets the token, whatever it held."""
        if token:
            with self._lock:
                self._rights.pop(_hashed(token), None)
                self._write()

    def free(self, seat: str) -> None:
        """Takes the seat from whoever holds it."""
        with self._lock:
            for key, viewer in list(self._rights.items()):
                if seat in viewer.seats:
                    left = Viewer(viewer.host, tuple(s for s in viewer.seats if s != seat))
                    self._rights[key] = left
                    if not left.seated:
                        del self._rights[key]
            self._write()

    def new_code(self) -> None:
        """Links handed out so far seat nobody any more."""
        with self._lock:
            self.code = secrets.token_urlsafe(12)
            self._write()

    def keep_only(self, seats: Iterable[str]) -> None:
        """A new game: seats that are not in it are nobody's."""
        for seat in set(self.taken()) - set(seats):
            self.free(seat)

    def _grant(self, token: str | None, viewer: Viewer) -> str:
        # A token that gains rights is replaced: one that was overheard before is worth nothing afterwards.
        if token:
            self._rights.pop(_hashed(token), None)
        fresh = secrets.token_urlsafe(32)
        self._rights[_hashed(fresh)] = viewer
        self._write()
        return fresh

    def _read(self, path: Path) -> None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            self.code = str(data["code"])
            self._rights = {str(k): msgspec.convert(v, Viewer) for k, v in data["rights"].items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
            log.warning("%s: seats cannot be read (%s); everybody joins anew", path, type(e).__name__)

    def _write(self) -> None:
        if self._path is None:
            return
        data: dict[str, Any] = {"code": self.code, "rights": {k: msgspec.to_builtins(v) for k, v in self._rights.items()}}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps(data).encode(), 0o600)
        except OSError as e:
            log.warning("%s: seats cannot be kept: %s", self._path, e.strerror)


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _digits(pin: str) -> str:
    return "".join(pin.split()).replace("-", "")
