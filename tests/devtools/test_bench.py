"""The bench prints every figure, from a copy's own photos, without anything outside the
checkout."""

import json
import platform
import shutil
import subprocess
import sys

import pytest

from tests.conftest import PHOTOS


@pytest.mark.slow
def test_all_figures_of_a_copy(copy, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(copy, folder)
    shutil.copytree(PHOTOS / "test", folder / "test")
    line = [
        sys.executable,
        "-m",
        "cli",
        "bench",
        "--copy",
        str(folder),
        "--runs",
        "1",
        "--phones",
        "3",
        "--json",
    ]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    figures = {f["what"]: f for f in told["figures"]}
    for part in (
        "floor",
        "registration checked",
        "all sites by the network",
        "counts",
        "read whole",
        "nothing known of before",
        "four sites changed",
        "looked at again",
        "idle",
        "last hand gone",
        "sites read right",
        "boards exact",
        "reconcile",
        "states right",
        "tigris: all legal actions",
        "tigris: random play",
        "journal",
        "memory of a table, between readings",
        "memory while it reads",
        "phones that follow",
        "a change on the last",
    ):
        assert any(part in what for what in figures), part
    whole = next(f for what, f in figures.items() if "read whole" in what)
    floor = next(f for what, f in figures.items() if "floor" in what)
    assert whole["cpu"] > floor["cpu"] > 0 and whole["wanted"] == 60
    assert 350 < next(f for what, f in figures.items() if "last hand gone" in what)["value"] < 1500
    assert figures["states right after reconcile"]["value"] == 100
    if platform.machine() == "x86_64":
        assert whole["reckoned"] == {
            "Pi 4": [5 * whole["cpu"], 8 * whole["cpu"]],
            "Pi 5": [2 * whole["cpu"], 3 * whole["cpu"]],
        }
        assert (
            figures["tigris: random play"]["reckoned"]["Pi 4"][0]
            == figures["tigris: random play"]["value"] / 5
        )
    assert all(
        not f["reckoned"]
        for what, f in figures.items()
        if f["unit"] in ("%", "MB") or "on disk" in what or "last hand" in what
    )
    assert told["processor"] and told["picture"] == "1640 x 1232"


def test_a_broken_layout_is_named_before_anything_is_measured(copy, tmp_path):
    shutil.copytree(copy, tmp_path / "copy")
    shutil.copytree(PHOTOS / "test", tmp_path / "copy" / "test")
    layout = min((tmp_path / "copy" / "test").glob("*.json"))
    layout.write_text('{"A1": 3}')
    line = [sys.executable, "-m", "cli", "bench", "--copy", str(tmp_path / "copy")]
    done = subprocess.run(line, capture_output=True, text=True)
    assert (
        done.returncode == 2
        and not done.stdout
        and f"{layout}: A1: not a list of kinds" in done.stderr
    )


def test_a_copy_without_test_photos(copy):
    done = subprocess.run(
        [sys.executable, "-m", "cli", "bench", "--copy", str(copy)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "no photos in test/" in done.stderr
