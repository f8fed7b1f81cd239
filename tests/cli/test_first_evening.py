"""`nilometer run` as people meet it: set up in the browser, handed over to the game, the camera
pulled out, stopped with phones on."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError as TimedOut

from companion.runtime.config import load_config
from tests.companion_web.support.sockets import Phones
from tests.conftest import PHOTOS

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 60  # seconds: a loaded machine is slow, not wrong


@pytest.fixture
def place(copy, tmp_path):
    """A folder with a calibrated copy, a camera that looks at a board, and what its owner has
    written so far"""
    shutil.copytree(copy, tmp_path / "kitchen")
    (tmp_path / "frames").mkdir()
    for name in ("1.jpg", "2.jpg"):
        shutil.copy(next((PHOTOS / "game").glob("*.jpg")), tmp_path / "frames" / name)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "nilometer.toml").write_text(
        f'# my table\n[web]\nhost = "127.0.0.1"\nport = {port}\n[camera]\nkind = "folder"\n'
        'path = "frames"\nseconds = 0.2\nloop = true\n'
    )
    return tmp_path


def said_by(process, pattern):
    """The next line of the output that has it: its first group"""
    for line in process.stdout:
        if found := re.search(pattern, line):
            return found[1]
    raise AssertionError(f"it ended without saying {pattern}")


def press_until_shown(page, run, pressed, awaited):
    """Presses a button as somebody does who sees nothing happen: again, a while later."""
    for _ in range(PATIENCE // 10):
        if pressed.is_visible():
            pressed.click()
        try:
            return awaited.wait_for(timeout=10_000)
        except TimedOut:
            assert run.poll() is None, f"it ended with {run.returncode}: {last_words(run)}"
    raise AssertionError(f"{awaited} never came; the page says: {page.inner_text('body')[:200]}")


def last_words(run):
    """What a process that is gone wrote as it went: where it is a fault of Python itself, which
    that was and the thread that had it"""
    said = run.stderr.read()
    fatal = said.find("Fatal Python error")
    thread = re.search(r"^Current thread.*?(?=^$)", said, re.DOTALL | re.MULTILINE)
    return said[-2000:] if fatal < 0 else said[fatal : fatal + 200] + (thread[0] if thread else "")


def camera_is(url, state):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with urllib.request.urlopen(url + "api/snapshot", timeout=10) as answer:
            if json.load(answer)["camera"]["state"] == state:
                return True
        time.sleep(0.05)
    return False


def test_from_set_up_to_the_last_goodbye(place, chromium):
    run = subprocess.Popen(
        [sys.executable, "-m", "cli", "run"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1"},
    )
    try:
        url, pin = said_by(run, r"The page: +(\S+)"), said_by(run, r"PIN: (\d{8})")
        page = chromium.new_page(viewport={"width": 360, "height": 740}, locale="en-GB")
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(url)
        page.get_by_label("PIN").fill(pin)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Continue").click()  # the camera comes first
        tigris = {"name": "Tigris & Euphrates", "exact": True}
        page.get_by_role("button", **tigris).click()
        page.get_by_role("button", **tigris, pressed=True).wait_for()  # drawn anew by then
        use = page.get_by_role("button", name="Use dev tigris")
        press_until_shown(page, run, page.get_by_role("button", name="Continue"), use)
        start = page.get_by_role("button", name="Start the game")
        press_until_shown(page, run, use, start)
        start.click()
        page.wait_for_selector("svg.twin")  # it went there by itself
        assert page.evaluate("location.pathname") == "/"
        page.close()
        assert said_by(run, r"PIN: (\d{8})") == pin, "one evening, one PIN"
        config = load_config(place / "nilometer.toml")
        assert config.copy == "kitchen" and "# my table" in (place / "nilometer.toml").read_text()
        assert (place / config.journal).is_file() and not list(place.rglob("*.part"))

        assert camera_is(url, "ok")
        (place / "frames").rename(place / "unplugged")
        assert camera_is(url, "lost")
        (place / "unplugged").rename(place / "frames")
        assert camera_is(url, "ok"), "it goes on by itself"

        phones = Phones(int(url.rstrip("/").rpartition(":")[2]), 20)
        phones.until(b"event: snapshot", PATIENCE)
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", "import cv2"], check=True)
        slow = time.monotonic() - began  # a quarter of a second where nothing else runs
        began = time.monotonic()
        run.send_signal(signal.SIGTERM)
        assert run.wait(PATIENCE) == 0
        took = time.monotonic() - began
        phones.close()
        assert took < max(2.0, 4 * slow), f"{took:.1f} s till the whole table had stopped"
        assert "Traceback" not in run.stderr.read()
    finally:
        run.kill()
        run.communicate()
