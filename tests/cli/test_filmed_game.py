"""A photographed game from calibration to verdicts, through the commands, as people would run
them."""

import json
import subprocess
import sys

import pytest

from tests.conftest import PHOTOS

pytestmark = pytest.mark.slow


def run(*args):
    return subprocess.run(
        [sys.executable, "-m", "cli", *map(str, args)],
        capture_output=True,
        text=True,
        timeout=600,
    )


def watch(copy, *more, frames=PHOTOS / "game"):
    start = PHOTOS / "game" / "start.play"
    done = run("watch", copy, "--frames", frames, "--start", start, *more, "--json")
    return done, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def watched(copy, tmp_path_factory):
    """(what was told of each frame, the journal), of the whole game"""
    journal = tmp_path_factory.mktemp("watched") / "g.journal"
    done, lines = watch(copy, "--journal", journal)
    assert done.returncode == 0, done.stderr
    return lines, journal


def test_the_game_comes_out_as_it_was_played(watched):
    truth = json.loads((PHOTOS / "game" / "truth.json").read_text())
    for line, want in zip(watched[0], truth, strict=True):
        assert line["frame"] == want["frame"] and line["verdict"] in want["verdict"], line
        assert sorted(a for a in line["actions"] if not a.endswith("pass")) == sorted(
            want["actions"]
        )
        if want["rules"]:
            assert set(want["rules"]) & {v["rule"] for v in line["violations"]}
            assert line["back"] and not line["actions"]
        if line["verdict"] == "moved":
            assert line["layout"] == want["layout"]
            for seat, points in want["scores"].items():
                assert line["scores"][seat].items() >= points.items()
        if want["turn"] and line["verdict"] in ("moved", "same"):
            assert line["turn"] == want["turn"]
        assert line["registration"]["by"] == "markers" and line["registration"]["error_px"] < 1.0


def test_what_is_declared_is_listed_and_a_wrong_one_named(copy, tmp_path):
    said, frames = tmp_path / "declare.txt", tmp_path / "frames"
    said.write_text("02 pot: swap 2\n04 lion: commit 9\n99 lion: pass\n")
    frames.mkdir()
    for n in range(5):
        (frames / f"{n:02}.jpg").symlink_to(PHOTOS / "game" / f"{n:02}.jpg")
    done, rows = watch(copy, "--declare", said, frames=frames)
    lines = {row["frame"]: row for row in rows}
    assert lines["02.jpg"]["declared"] == ["pot: swap 2"]
    assert (
        done.returncode == 1
        and "lion: commit 9" in done.stderr
        and "99" in done.stderr
        and "Traceback" not in done.stderr
    )
    said.write_text("what is this\n")
    done = run("watch", copy, "--frames", PHOTOS / "game", "--declare", said)
    assert done.returncode == 2 and "declare.txt:1" in done.stderr


def test_a_journal_of_the_game_replays(watched):
    _, journal = watched
    done = run("journal", journal, "--replay")
    assert (
        done.returncode == 0
        and "lion: tile black A1" in done.stdout
        and "every state as written" in done.stdout
    )
    assert len(list(journal.with_name("g.journal.pictures").glob("*-after.jpg"))) >= 5


def test_photos_of_other_boards_are_read(copy):
    photos = sorted((PHOTOS / "test").glob("*.jpg"))
    done = run("read", copy, *photos, "--json")
    assert done.returncode == 0, done.stderr
    wrong = sites = 0
    for row in map(json.loads, done.stdout.splitlines()):
        truth = json.loads((PHOTOS / "test" / row["photo"]).with_suffix(".json").read_text())
        sites += 176
        wrong += sum(
            truth.get(s, []) != row["layout"].get(s, []) for s in set(truth) | set(row["layout"])
        )
        assert row["ms"] > 0 and set(row) >= {"photo", "layout", "unsure", "registration", "ms"}
    assert wrong <= 0.01 * sites


def test_pictures_that_cannot_be_read(copy, tmp_path):
    """Missing, cut off, black, without the board, a text: an error each, exit 1, the others read
    all the same."""
    import cv2
    import numpy as np

    good = PHOTOS / "test" / "05.jpg"
    (tmp_path / "cut.jpg").write_bytes(good.read_bytes()[:3000])
    (tmp_path / "text.jpg").write_text("no picture")
    (tmp_path / "empty.jpg").write_bytes(b"")
    cv2.imwrite(str(tmp_path / "black.jpg"), np.zeros((1232, 1640, 3), np.uint8))
    cv2.imwrite(str(tmp_path / "table.jpg"), np.full((1232, 1640, 3), (60, 90, 140), np.uint8))
    cv2.imwrite(str(tmp_path / "tiny.png"), np.full((8, 8, 3), 90, np.uint8))
    bad = ["cut.jpg", "text.jpg", "empty.jpg", "black.jpg", "table.jpg", "tiny.png", "missing.jpg"]
    done = run("read", copy, *(tmp_path / b for b in bad), good, "--json")
    rows = [json.loads(row) for row in done.stdout.splitlines()]
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert [r["photo"] for r in rows] == [*bad, "05.jpg"]
    assert all(r.get("error") for r in rows[:-1]) and rows[-1]["layout"]
