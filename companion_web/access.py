"""Who may do what: the host by PIN, players by a token for their seat; everybody else only looks.

Only the SHA-256 of a token is stored. Tokens, the joining code and the seats can be kept in a file
across restarts. They expire: a host's login after a week or with a changed PIN, a seat with its
game.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from calibration.files import write_whole

log = logging.getLogger(__name__)
HOST_S = 7 * 24 * 3600.0
SEAT_S = 30 * 24 * 3600.0  # after a longer pause of the game, players must take their seats again
TRUSTED = 32  # remembered addresses that have sent the right PIN


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


class Session(msgspec.Struct, frozen=True):
    """What one token grants. since: when its holder became the host or sat down; seen: when it was
    last used (seconds since 1970); address: by whom."""

    host: bool = False
    seats: tuple[str, ...] = ()
    since: float = 0.0
    seen: float = 0.0
    address: str = ""

    def at(self, now: float) -> Viewer:
        """What it still grants at that time"""
        age = now - self.since
        return Viewer(self.host and age < HOST_S, self.seats if age < SEAT_S else ())


msgspec.json.Decoder(Session)  # built on import: see vision/plan.py


class NotKept(ValueError):
    """It could not be stored, so it was not done."""


class Access:
    """pin: the host's; code: what a joining link carries. `path`: the file of seats, None: memory
    only. game: the game that the seats belong to; seats of another game are free."""

    def __init__(
        self,
        pin: str | None = None,
        path: Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.pin = pin or f"{secrets.randbelow(10**8):08d}"
        self.code = secrets.token_urlsafe(12)
        self._path, self._clock = path, clock
        self._rights: dict[str, Session] = {}
        self._trusted: dict[str, float] = {}  # addresses that have sent the right PIN
        self._game = ""
        self._salt = secrets.token_hex(8)
        self._marked: tuple[tuple[str, str], str] | None = None
        self._lock = threading.RLock()
        if path is not None:
            self._read(path)

    def viewer(self, token: str | None, address: str = "") -> Viewer:
        """Compares with every known token, each in constant time."""
        if not token:
            return LOOKER
        asked, now, found = _hash_of(token), self._clock(), LOOKER
        with self._lock:
            for known, session in list(self._rights.items()):
                if hmac.compare_digest(known, asked):
                    found = session.at(now)
                    if address:
                        self._rights[known] = msgspec.structs.replace(
                            session, seen=now, address=address
                        )
        return found

    def knows(self, token: str) -> bool:
        return self.viewer(token).seated

    def is_pin(self, tried: str) -> bool:
        return hmac.compare_digest(_hash_of(_pin_digits(tried)), _hash_of(_pin_digits(self.pin)))

    def is_code(self, tried: str) -> bool:
        return hmac.compare_digest(_hash_of(tried), _hash_of(self.code))

    def is_trusted(self, address: str) -> bool:
        """Whether this address has sent the right PIN before, so that wrong tries by others do not
        lock it out"""
        return address in self._trusted

    def taken(self) -> dict[str, int]:
        """seat -> how many phones hold it"""
        out: dict[str, int] = {}
        now = self._clock()
        with self._lock:
            for session in self._rights.values():
                for seat in session.at(now).seats:
                    out[seat] = out.get(seat, 0) + 1
        return out

    def sessions(self, token: str | None = None) -> list[dict[str, Any]]:
        """[{"id", "host", "seats", "since", "seen", "address", "own"}], newest first"""
        own, now = _hash_of(token) if token else "", self._clock()
        with self._lock:
            found = [
                {
                    "id": key[:12],
                    **msgspec.to_builtins(s.at(now)),
                    "since": s.since,
                    "seen": s.seen,
                    "address": s.address,
                    "own": key == own,
                }
                for key, s in self._rights.items()
                if s.at(now).seated
            ]
        return sorted(found, key=lambda s: -s["since"])

    def seat(self, seat: str, token: str | None = None, address: str = "") -> str:
        """Takes the seat and returns the token that now holds it; a token may hold several seats.
        Raises Taken."""
        with self._lock:
            viewer = self.viewer(token)
            if seat in viewer.seats:
                return str(token)
            if self.taken().get(seat):
                raise Taken(seat)
            # Sitting down does not extend the host's week.
            since = (
                next(
                    (s.since for k, s in self._rights.items() if token and k == _hash_of(token)),
                    0.0,
                )
                if viewer.host
                else 0.0
            )
            return self._grant(
                token,
                Session(
                    viewer.host,
                    (*viewer.seats, seat),
                    since or self._clock(),
                    self._clock(),
                    address,
                ),
            )

    def make_host(self, token: str | None = None, address: str = "") -> str:
        """The host's token: a login of a week."""
        with self._lock:
            if address:
                self._trusted.pop(address, None)
                self._trusted[address] = self._clock()
                self._trusted = dict(list(self._trusted.items())[-TRUSTED:])
            return self._grant(
                token,
                Session(True, self.viewer(token).seats, self._clock(), self._clock(), address),
            )

    def leave(self, token: str | None) -> None:
        """Forgets the token, whatever it held. Raises NotKept."""
        if token:
            with self._lock, self._kept():
                self._rights.pop(_hash_of(token), None)

    def end(self, ids: Iterable[str]) -> None:
        """Ends sessions, as `sessions` names them. Raises NotKept."""
        short = set(ids)
        with self._lock, self._kept():
            self._rights = {k: s for k, s in self._rights.items() if k[:12] not in short}

    def free(self, seat: str) -> None:
        """Takes the seat from whoever holds it. Raises NotKept."""
        with self._lock, self._kept():
            self._free([seat])

    def new_code(self) -> None:
        """Makes all links handed out so far invalid. Raises NotKept."""
        with self._lock, self._kept():
            self.code = secrets.token_urlsafe(12)

    def keep_only(self, seats: Iterable[str], game: str = "") -> None:
        """Sets the game that is played: seats that it lacks, or that were taken in another game,
        become free."""
        with self._lock:
            other = bool(self._game) and game != self._game
            gone = set(self.taken()) - (set() if other else set(seats))
            if gone or game != self._game:
                self._game = game
                self._free(gone)
                self._write()

    def _free(self, seats: Collection[str]) -> None:
        left = {
            k: msgspec.structs.replace(s, seats=tuple(x for x in s.seats if x not in seats))
            for k, s in self._rights.items()
        }
        self._rights = {k: s for k, s in left.items() if s.host or s.seats}

    def _grant(self, token: str | None, session: Session) -> str:
        # A token that gains rights is replaced, so that one overheard earlier is worthless.
        fresh, now = secrets.token_urlsafe(32), self._clock()
        old = _hash_of(token) if token else ""
        self._rights = {k: s for k, s in self._rights.items() if k != old and s.at(now).seated}
        self._rights[_hash_of(fresh)] = session
        self._write()
        return fresh

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        """What is revoked stays revoked after a restart, or is not revoked at all."""
        before = dict(self._rights), self.code
        yield
        if not self._write():
            self._rights, self.code = before
            raise NotKept("it could not be written down, so it did not happen")

    def _read(self, path: Path) -> None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            rights = {str(k): msgspec.convert(v, Session) for k, v in data["rights"].items()}
            code, salt, game = str(data["code"]), str(data["salt"]), str(data["game"])
            trusted = msgspec.convert(data["trusted"], dict[str, float])
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
            log.warning(
                "%s: seats cannot be read (%s); everybody joins anew", path, type(e).__name__
            )
            return
        self._rights, self.code, self._salt, self._game, self._trusted = (
            rights,
            code,
            salt,
            game,
            trusted,
        )
        # the host has to log in again
        if not hmac.compare_digest(str(data.get("pin")), self._pin_mark()):
            self._rights = {
                k: msgspec.structs.replace(s, host=False)
                for k, s in self._rights.items()
                if s.seats
            }
            self._trusted = {}
            self._write()

    def _write(self) -> bool:
        if self._path is None:
            return True
        data: dict[str, Any] = {
            "code": self.code,
            "game": self._game,
            "salt": self._salt,
            "pin": self._pin_mark(),
            "trusted": self._trusted,
            "rights": {k: msgspec.to_builtins(v) for k, v in self._rights.items()},
        }
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps(data).encode(), 0o600)
            return True
        except OSError as e:
            log.warning("%s: seats cannot be kept: %s", self._path, e.strerror)
            return False

    def _pin_mark(self) -> str:
        """A slow hash that reveals a changed PIN, so that the PIN is hard to guess from the file"""
        if self._marked is None or self._marked[0] != (self.pin, self._salt):
            made = hashlib.scrypt(
                _pin_digits(self.pin).encode(), salt=self._salt.encode(), n=2**12, r=8, p=1
            ).hex()
            self._marked = (self.pin, self._salt), made
        return self._marked[1]


def _hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _pin_digits(pin: str) -> str:
    return "".join(pin.split()).replace("-", "")
