"""The table as an appliance: what `nilometer install` puts on a machine, and how `uninstall`
removes it.

Everything is done through `Machine`, whose root may be another folder (tests, an image being
built); commands that need the running system are then only listed. What was there before is
recorded in RECORD, so that it can be restored.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from calibration.files import write_whole
from companion.fault import Fault

UNITS = Path(__file__).resolve().parents[2] / "systemd"
CONFIG, RECORD, STATE = (
    "etc/nilometer/nilometer.toml",
    "etc/nilometer/installed.json",
    "var/lib/nilometer",
)
AVAHI, NAME, USER = "etc/avahi/avahi-daemon.conf", "nilometer", "nilometer"
FILES = {
    "etc/systemd/system/nilometer.service": "nilometer.service",
    "etc/sysusers.d/nilometer.conf": "nilometer.sysusers",
    "etc/systemd/journald@nilometer.conf": "journald@nilometer.conf",
    "etc/avahi/services/nilometer.service": "nilometer.avahi",
    CONFIG: "nilometer.toml",
}


class Machine:
    """A file system to install into. root "/": this machine. dry: only says what would be done.
    tell: receives a line per step."""

    def __init__(
        self, root: str | Path = "/", dry: bool = False, tell: Callable[[str], object] = print
    ) -> None:
        self.root, self.dry, self.tell = Path(root), dry, tell
        self.live = self.root.resolve() == Path("/")
        self.booted = self.live and Path("/run/systemd/system").is_dir()

    def path(self, name: str) -> Path:
        """A file of the machine, or of the folder that stands in for it."""
        return self.root / name

    def read(self, name: str) -> str | None:
        """A file's text; None if there is none."""
        try:
            return self.path(name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def write(self, name: str, text: str, why: str = "") -> None:
        """Writes a file, completely or not at all; nothing is done if it has this text already.
        Raises OSError."""
        if self.read(name) == text:
            return
        self.tell(f"write /{name}{why}")
        if self.dry:
            return
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Daemons that do not run as root must be able to read new files, however strict root's
        # umask is.
        write_whole(path, text.encode(), None if path.exists() else 0o644)

    def remove(self, name: str) -> None:
        """Removes a file, if it exists."""
        if self.path(name).is_file():
            self.tell(f"remove /{name}")
            if not self.dry:
                self.path(name).unlink()

    def run(self, *command: str, needs_system: bool = True) -> None:
        """Runs a command. needs_system: only listed, not run, if the root is another folder or the
        machine is not run by systemd. Raises Fault."""
        self.tell("run " + " ".join(command))
        if self.dry or needs_system and not self.booted:
            return
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as e:
            raise Fault(
                f"{command[0]}: {getattr(e, 'strerror', None) or 'no answer in two minutes'}"
            ) from None
        if done.returncode:
            raise Fault(
                f"{' '.join(command)}: {(done.stderr or done.stdout).strip() or done.returncode}"
            )

    def at_root(self, command: str) -> Sequence[str]:
        """A command as it has to be called on this machine."""
        return (command,) if self.live else (command, f"--root={self.root.resolve()}")


def install_service(machine: Machine, prefix: str | Path = sys.prefix) -> None:
    """Installs everything; what is there already stays. prefix: the venv that holds the program.
    Raises Fault."""
    _require_root(machine)
    prefix = Path(prefix)
    if not (prefix / "bin" / "nilometer").exists():
        raise Fault(f"{prefix}/bin/nilometer: not there; run make install in the checkout first")
    kept = machine.read(RECORD)
    record = (
        json.loads(kept)
        if kept
        else {"user": not _has_user(machine), "host_name": _host_name(machine.read(AVAHI))}
    )
    machine.write(RECORD, json.dumps(record, indent=1) + "\n", "  (what was here before)")
    for name, text in file_texts(prefix).items():
        if name != CONFIG or machine.read(CONFIG) is None:  # the configuration belongs to its owner
            machine.write(name, text)
    machine.run(
        *machine.at_root("systemd-sysusers"),
        "/etc/sysusers.d/nilometer.conf" if machine.live else "nilometer.conf",
        needs_system=False,
    )
    avahi = machine.read(AVAHI)
    if avahi is None:
        machine.tell(
            "no avahi-daemon here, so no nilometer.local: sudo apt-get install "
            "avahi-daemon, then install again"
        )
    else:
        machine.write(AVAHI, _renamed_host(avahi, NAME), f"  (host-name={NAME})")
        machine.run("systemctl", "try-restart", "avahi-daemon")
    machine.run("systemctl", "daemon-reload")
    machine.run(*machine.at_root("systemctl"), "enable", "nilometer.service", needs_system=False)
    machine.run("systemctl", "restart", "nilometer.service")


def uninstall_service(machine: Machine, everything: bool = False) -> None:
    """Removes what `install_service` installed. Games, and a configuration that somebody edited,
    stay unless `everything`."""
    _require_root(machine)
    kept = machine.read(RECORD)
    record = json.loads(kept) if kept else {"user": False, "host_name": None}
    unit = machine.path("etc/systemd/system/nilometer.service")
    if unit.is_file():
        machine.run("systemctl", "stop", "nilometer.service")
        machine.run(
            *machine.at_root("systemctl"), "disable", "nilometer.service", needs_system=False
        )
    avahi = machine.read(AVAHI)
    if avahi is not None and kept:
        machine.write(AVAHI, _renamed_host(avahi, record["host_name"]), "  (host-name as it was)")
        machine.run("systemctl", "try-restart", "avahi-daemon")
    own = machine.read(CONFIG) not in (None, file_texts("")[CONFIG])
    for name in (*FILES, RECORD):
        if name != CONFIG or everything or not own:
            machine.remove(name)
    if record["user"] and _has_user(machine):
        machine.run(
            "userdel",
            *(() if machine.live else ("--prefix", str(machine.root.resolve()))),
            USER,
            needs_system=False,
        )
    if everything and machine.path(STATE).is_dir():
        machine.tell(f"remove /{STATE}")
        if not machine.dry:
            shutil.rmtree(machine.path(STATE))
    folder = machine.path(CONFIG).parent
    if folder.is_dir() and not any(folder.iterdir()) and not machine.dry:
        folder.rmdir()
    machine.run("systemctl", "daemon-reload")
    for name in (CONFIG, STATE):
        if machine.path(name).exists() and not machine.dry:
            machine.tell(f"kept: /{name}  (nilometer uninstall --everything takes it away too)")


def file_texts(prefix: str | Path) -> dict[str, str]:
    """path -> text of each file. Raises Fault if this is not a checkout."""
    prefix = Path(prefix)
    seen = {str(prefix), str(UNITS.parent), sys.base_prefix} if prefix.name else {""}
    out = {}
    for name, source in FILES.items():
        try:
            text = (UNITS / source).read_text(encoding="utf-8")
        except OSError as e:
            raise Fault(
                f"{UNITS / source}: {e.strerror}; install from a checkout of Nilometer"
            ) from None
        for key, value in (("@PREFIX@", str(prefix)), ("@SEEN@", " ".join(sorted(seen)))):
            text = text.replace(key, value)
        out[name] = text
    return out


def _require_root(machine: Machine) -> None:
    if machine.live and not machine.dry and os.geteuid() != 0:
        raise Fault("this changes the machine: run it with sudo (or look first: --dry-run)")


def _has_user(machine: Machine) -> bool:
    return any(
        line.startswith(f"{USER}:") for line in (machine.read("etc/passwd") or "").splitlines()
    )


def _host_name(text: str | None) -> str | None:
    for line in (text or "").splitlines():
        if line.startswith("host-name="):
            return line.split("=", 1)[1].strip()
    return None


def _renamed_host(text: str, name: str | None) -> str:
    """avahi's configuration with another host name; None: without one, so that the machine's is
    used."""
    lines = [line for line in text.splitlines() if not line.startswith("host-name=")]
    if name is not None:
        at = lines.index("[server]") + 1 if "[server]" in lines else 0
        lines[at:at] = ([] if "[server]" in lines else ["[server]"]) + [f"host-name={name}"]
    return "\n".join(lines) + "\n"
