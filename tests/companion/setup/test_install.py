"""Installed into a folder: everything is in its place, twice changes nothing, undone leaves what
was there before."""

import re
import shutil
import socket
import subprocess
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from cli.commands import install as install_
from companion.fault import Fault
from companion.setup.install import (
    AVAHI,
    CONFIG,
    STATE,
    Machine,
    file_texts,
    install_service,
    uninstall_service,
)

needs_systemd = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="needs systemd-analyze: apt-get install systemd"
)
PASSWD = "root:x:0:0:root:/root:/bin/sh\n"
BEFORE = {
    "etc/passwd": PASSWD,
    "etc/group": "root:x:0:\n",
    AVAHI: "[server]\nhost-name=kitchen\nuse-ipv4=yes\n",
}


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    for name, text in BEFORE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def prefix(tmp_path):
    program = tmp_path / "venv" / "bin" / "nilometer"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path / "venv"


class Written(Machine):
    """Commands are only written down: not every machine has systemd's."""

    def __init__(self, root, dry=False):
        self.told = []
        super().__init__(root, dry, self.told.append)

    def run(self, *command, needs_system=True):
        self.told.append("run " + " ".join(command))


def files(folder):
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_installed_twice_is_installed_once_and_undone_is_as_before(root, prefix):
    install_service(Written(root), prefix)
    once = files(root)
    assert "host-name=nilometer" in once[AVAHI] and "kitchen" not in once[AVAHI]
    again = Written(root)
    install_service(again, prefix)
    assert files(root) == once and not [line for line in again.told if line.startswith("write")]
    uninstall_service(Written(root))
    left = files(root)
    assert left == BEFORE and not (root / "etc" / "nilometer").exists()


def test_what_people_wrote_and_played_stays_unless_everything_is_to_go(root, prefix):
    install_service(Written(root), prefix)
    (root / CONFIG).write_text('copy = "mine"\n')
    (root / STATE).mkdir(parents=True)
    (root / STATE / "game.journal").write_text("a game")
    install_service(Written(root), prefix)
    uninstall_service(Written(root))
    assert files(root) == {**BEFORE, CONFIG: 'copy = "mine"\n', f"{STATE}/game.journal": "a game"}
    uninstall_service(Written(root), everything=True)
    assert files(root) == BEFORE


def test_a_dry_run_changes_nothing(root, prefix):
    machine = Written(root, dry=True)
    install_service(machine, prefix)
    assert files(root) == BEFORE and any("nilometer.service" in line for line in machine.told)


def test_without_program_or_rights_it_says_so(root, tmp_path, monkeypatch):
    with pytest.raises(Fault, match="make install"):
        install_service(Written(root), tmp_path / "none")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(Fault, match="sudo"):
        install_service(Machine("/", tell=lambda line: None), tmp_path)


@pytest.mark.skipif(
    not shutil.which("systemd-sysusers"), reason="needs systemd-sysusers: apt-get install systemd"
)
def test_systemds_own_tools_make_the_user_and_enable_the_service(root, prefix):
    install_service(Machine(root, tell=lambda line: None), prefix)
    assert re.search(r"^nilometer:.*:/var/lib/nilometer:", (root / "etc/passwd").read_text(), re.M)
    assert re.search(r"^video:.*nilometer", (root / "etc/group").read_text(), re.M)
    assert (root / "etc/systemd/system/multi-user.target.wants/nilometer.service").is_symlink()
    uninstall_service(Machine(root, tell=lambda line: None))
    assert "nilometer" not in (root / "etc/passwd").read_text()
    assert not list((root / "etc/systemd").rglob("nilometer.service"))


@pytest.fixture
def unit(tmp_path, prefix):
    path = tmp_path / "nilometer.service"
    path.write_text(file_texts(prefix)["etc/systemd/system/nilometer.service"])
    return path


@needs_systemd
def test_systemd_finds_no_fault_in_the_unit(unit):
    found = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert "nilometer" not in found.stderr and found.returncode == 0, found.stderr


@needs_systemd
def test_the_sandbox_is_tight(unit):
    found = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=15", unit],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout.splitlines()[-1:]


def test_the_sandbox_lets_through_what_camera_and_pins_need(unit):
    """gpiozero looks into /proc/device-tree (or /proc/cpuinfo) for which Pi this is, libcamera asks
    udev for cameras."""
    said = dict(
        line.split("=", 1)
        for line in unit.read_text().splitlines()
        if "=" in line and line[0] not in "#D"
    )
    assert said.get("ProcSubset", "all") == "all" and said["ProtectKernelTunables"] == "true"
    assert {"AF_NETLINK", "AF_UNIX", "AF_INET", "AF_INET6"} == set(
        said["RestrictAddressFamilies"].split()
    )
    allowed = re.findall(r"^DeviceAllow=(\S+) rw$", unit.read_text(), re.M)
    assert set(allowed) == {
        "char-video4linux",
        "char-media",
        "char-dma_heap",
        "char-gpiochip",
        "/dev/vcio",
    }
    assert {"video", "gpio"} <= set(said["SupplementaryGroups"].split())


def test_the_sandbox_lets_through_what_learning_needs(unit):
    """JAX executes memory that it has written, and learning steps back behind the page; a copy is
    learnt in there by tests/setup-in-a-root."""
    lines = unit.read_text().splitlines()
    assert not any(line.startswith("MemoryDenyWriteExecute=") for line in lines)
    filters = [line for line in lines if line.startswith("SystemCallFilter=")]
    assert filters[0] == "SystemCallFilter=@system-service"
    assert filters[-1] == "SystemCallFilter=setpriority", "what comes last counts"


def test_the_unit_restarts_with_a_limit_and_is_watched(unit):
    text = unit.read_text()
    for line in (
        "Type=notify",
        "Restart=on-failure",
        "StartLimitBurst=6",
        "WantedBy=multi-user.target",
        "User=nilometer",
    ):
        assert line in text
    assert (
        int(re.search(r"WatchdogSec=(\d+)", text)[1]) >= 10
        and "@PREFIX@" not in text
        and "@SEEN@" not in text
    )


def test_the_address_is_told_with_a_qr_code_and_a_page_that_does_not_come_is_said(
    root, prefix, monkeypatch
):
    booted = SimpleNamespace(path=lambda name: root / name, booted=True, live=True)
    monkeypatch.setattr(install_, "Machine", lambda *_: booted)
    monkeypatch.setattr(install_, "install_service", lambda machine: None)
    monkeypatch.setattr(install_, "PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        (root / CONFIG).parent.mkdir(parents=True)
        (root / CONFIG).write_text(
            f'[web]\nport = {server.getsockname()[1]}\naddress = "http://nilometer.local:8080"\n'
        )
        found = CliRunner().invoke(install_.command, [], standalone_mode=False)
        assert (
            found.return_value == 0
            and "http://nilometer.local:8080/" in found.output
            and "█" in found.output
        )
    found = CliRunner().invoke(install_.command, [], standalone_mode=False)
    assert found.return_value == 1 and "does not answer" in found.output
