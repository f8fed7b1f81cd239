"""`nilometer run` as a service sees it: started by systemd's rules without a configuration, told to
stop, told secrets."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from cli.commands.run import kept_pin
from companion.fault import Fault
from companion.runtime.config import is_begun, load_config
from tests.conftest import PHOTOS


@pytest.fixture
def service(tmp_path):
    """service(config) -> (process, said): a started run, and everything it tells systemd"""
    path = str(tmp_path / "notify")
    said = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    said.bind(path)
    said.settimeout(30)
    running = []

    def start(config):
        environ = {**os.environ, "NOTIFY_SOCKET": path, "NILOMETER_STATE": str(tmp_path)}
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", "cli", "run", "--config", str(config)],
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        return running[-1], said

    yield start
    for process in running:
        process.kill()
        process.wait()
    said.close()


def test_a_service_without_a_configuration_is_ready_for_its_set_up_and_feeds_the_watchdog(
    service, tmp_path
):
    config = tmp_path / "owner.toml"
    config.write_text('[web]\nport = 0\nhost = "127.0.0.1"\n')
    process, said = service(config)
    assert said.recv(999).startswith(b"READY=1")
    assert said.recv(999) == b"WATCHDOG=1"
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0 and time.monotonic() - began < 3
    out = process.stdout.read()
    assert (
        "names no copy yet" in out
        and (tmp_path / "pin").read_text().strip() not in out
        and "join#" not in out
    )


def test_the_services_pin_is_kept_where_only_it_can_read(tmp_path):
    made = kept_pin(tmp_path / "pin")
    assert len(made) == 8 and kept_pin(tmp_path / "pin") == made
    assert (tmp_path / "pin").stat().st_mode & 0o777 == 0o600


def test_games_lie_in_the_state_directory(tmp_path, monkeypatch):
    (tmp_path / "etc").mkdir()
    config = tmp_path / "etc" / "nilometer.toml"
    config.write_text('copy = "mine"\n[club]\nbroker = "club.local"\n')
    assert load_config(config).path("game.journal") == tmp_path / "etc" / "game.journal"
    monkeypatch.setenv("NILOMETER_STATE", str(tmp_path / "state"))
    assert load_config(config).path("game.journal") == tmp_path / "state" / "game.journal"
    assert load_config(config).club.port == 1883


def test_what_setting_up_wrote_lies_below_what_the_owner_says(tmp_path, monkeypatch):
    owner, state = tmp_path / "nilometer.toml", tmp_path / "state"
    state.mkdir()
    monkeypatch.setenv("NILOMETER_STATE", str(state))
    owner.write_text("[web]\nport = 9000\n")
    assert not is_begun(owner)
    (state / "nilometer.toml").write_text(
        'copy = "copy"\nseats = ["bull"]\n[web]\nport = 1\npin = "11112222"\n'
    )
    found = load_config(owner)
    assert is_begun(owner) and (found.copy, found.web.port, found.web.pin) == (
        "copy",
        9000,
        "11112222",
    )
    (state / "nilometer.toml").write_text("copy = ")
    with pytest.raises(Fault, match="state/nilometer.toml: "):
        load_config(owner)


def test_a_playing_table_is_ready_feeds_the_watchdog_and_says_goodbye_to_twenty_phones(
    copy, service, tmp_path
):
    """The whole process as systemd has it: a camera, a reader, phones that follow; then SIGTERM."""
    port = free_port()
    config = tmp_path / "table.toml"
    config.write_text(
        f'copy = "{copy}"\nseats = ["archer", "lion"]\nlearn = false\n[camera]\nkind = '
        f'"folder"\nloop = true\n'
        f'path = "{PHOTOS / "game"}"\n[web]\nhost = "127.0.0.1"\nport = {port}\n'
    )
    process, said = service(config)
    said.settimeout(120)
    while not (word := said.recv(999)).startswith(b"READY=1"):
        assert word == b"WATCHDOG=1", "the loop may already run while the page is being put up"
    phones = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(20)]
    for phone in phones:
        phone.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert all(b"200 OK" in phone.recv(4096) for phone in phones)
    assert {said.recv(999) for _ in range(3)} == {b"WATCHDOG=1"}
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    for phone in phones:
        heard = b""
        while more := phone.recv(65536):
            heard += more
        assert b"event: bye" in heard
    assert process.wait(20) == 0
    assert time.monotonic() - began < 5, (
        "what the unit's TimeoutStopSec allows a loaded machine; two seconds on a quiet one"
    )


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
