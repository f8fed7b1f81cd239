"""The real table's configuration: one TOML file (docs/manual/play.md, `nilometer run --config
FILE`)."""

from __future__ import annotations

import ipaddress
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec

from calibration.copy import name_hint
from companion.fault import Fault
from companion.runtime.lens import take_over_focus
from hardware import found
from hardware.camera import Camera
from hardware.camera_kinds import open_camera
from vision.storage.text_file import parse_toml

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class Web(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the page is served. host "0.0.0.0": reachable for every phone in the network. pin: the
    host's; generated if empty."""

    host: str = "0.0.0.0"
    port: Port = 8080
    # six digits at least
    pin: Annotated[str, msgspec.Meta(pattern=r"^\s*$|^[\s-]*([0-9][\s-]*){6,}$")] = ""
    # what the QR code says, if it is not this machine's own address (http://nilometer.local:8080)
    address: str = ""
    # "auto": https at the same port, with the table's own certificate
    tls: Literal["", "auto", "files"] = ""
    certificate: str = ""  # "files": PEM files
    key: str = ""
    redirect: bool = False  # plain requests are redirected to https
    names: tuple[str, ...] = ()  # other names under which the page may be requested
    # addresses or networks of proxies that state the client's address
    proxies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for proxy in self.proxies:
            ipaddress.ip_network(proxy, strict=False)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names under which the page may be requested, including that of `address`."""
        own = urlsplit(self.address).hostname
        return (*self.names, *((own,) if own else ()))


class Club(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The MQTT broker that this table publishes to (docs/manual/club.md); without one nothing is
    published.

    table: its name in topics, letters, digits and "-" (by default the copy's name). page: the link
    that others open.
    """

    broker: str = ""
    port: Port = 1883
    table: str = ""
    user: str = ""
    password: str = ""
    tls: bool = False
    # the file (PEM) of the certificate authority that vouches for the broker; none: those this
    # machine trusts
    ca: str = ""
    prefix: str = "nilometer"
    # Home Assistant's own prefix; "" publishes no announcements for it
    discovery: str = "homeassistant"
    page: str = ""


class Speech(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the table's own loudspeaker says; without a language it is silent. piper: the file of a
    voice for piper; otherwise espeak-ng speaks."""

    language: Annotated[str, msgspec.Meta(pattern=r"^([a-z]{2})?$")] = ""
    piper: str = ""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Paths are relative to the configuration file, or to the folder in NILOMETER_STATE (the
    service's state directory).

    copy: folder of the calibrated copy. seats: who plays, in order. start: a .play file to start
    from instead of the beginning. journal: the game's file; an existing game continues. camera,
    pins: as described in hardware/camera.py and hardware/panel.py.
    """

    copy: str
    seats: tuple[str, ...] = ()
    options: dict[str, str] = {}
    start: str = ""
    journal: str = "game.journal"
    picture_budget_mb: Annotated[int, msgspec.Meta(ge=0)] = 200
    hidden_scores: bool = False
    # from views on which reader and rules agreed, after the game (docs/manual/calibrate.md)
    learn: bool = True
    looks_per_second: Annotated[float, msgspec.Meta(gt=0, le=10)] = 5.0
    camera: dict[str, Any] = {}
    pins: dict[str, Any] = {}
    web: Web = Web()
    club: Club = Club()
    speech: Speech = Speech()
    folder: str = "."

    def path(self, name: str) -> Path:
        """A path from the configuration, resolved against its folder."""
        return Path(self.folder) / name

    def open_camera(self) -> Camera:
        """The configured camera, not opened yet, or else the first one found; with the copy's
        focus. Raises BadCamera."""
        camera = open_camera(self.camera or found.usual_camera(), self.folder)
        take_over_focus(camera, self.path(self.copy))
        return camera


msgspec.json.Decoder(Config)  # met on import: see vision/plan.py


def load_config(path: str | Path) -> Config:
    """Raises Fault, naming the file and what is wrong in it. What set-up wrote to the state
    directory (`written_path`) is read first; what the owner says in `path` overrides it."""
    path, below = Path(path), written_path(path)
    data = _toml_data(below) if below != path and below.is_file() else {}
    try:
        for key, value in _toml_data(path).items():
            data[key] = (
                {**data[key], **value}
                if isinstance(value, dict) and isinstance(data.get(key), dict)
                else value
            )
        data["folder"] = str(below.resolve().parent)
        return msgspec.convert(data, Config)
    except msgspec.ValidationError as e:
        raise Fault(f"{path}: {e}{_setting_hint(e)}") from None


def owners_part(path: str | Path) -> Config:
    """What the owner has configured before any copy was named. Raises Fault."""
    try:
        return msgspec.convert(
            {"copy": "", **(_toml_data(Path(path)) if Path(path).is_file() else {})}, Config
        )
    except msgspec.ValidationError as e:
        raise Fault(f"{path}: {e}{_setting_hint(e)}") from None


def _setting_hint(fault: Exception) -> str:
    """The setting that a misspelt word may stand for."""
    word = re.search(r"unknown field `(\w+)`", str(fault))
    return (
        name_hint(word[1], [f for kind in (Config, Web, Club) for f in kind.__struct_fields__])
        if word
        else ""
    )


def _toml_data(path: Path) -> dict[str, Any]:
    try:
        return settings_of(path.read_text(encoding="utf-8"), path)
    except OSError as e:
        raise Fault(f"{path}: {e.strerror}") from None
    except UnicodeDecodeError as e:
        raise Fault(f"{path}: {e}{_setting_hint(e)}") from None


def settings_of(text: str, path: Path) -> dict[str, Any]:
    """The settings in a TOML text. Raises Fault, naming `path`."""
    try:
        return parse_toml(text)
    except ValueError as e:
        raise Fault(f"{path}: {e}{_setting_hint(e)}") from None


def written_path(path: str | Path) -> Path:
    """Where set-up writes its answers: the service cannot write to /etc, but to its state
    directory."""
    state = os.environ.get("NILOMETER_STATE")
    return Path(state) / "nilometer.toml" if state else Path(path)


def is_begun(path: str | Path) -> bool:
    """Whether there is a configuration that names a copy; one that cannot be read counts, so that
    its fault is reported."""
    for file in {Path(path), written_path(path)}:
        try:
            if "copy" in parse_toml(file.read_text(encoding="utf-8")):
                return True
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return True
    return False
