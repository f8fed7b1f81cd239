"""What bad input gets: one clear line that names file and fault, exit code 2, nothing lost, nothing
left half-written."""

import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

import cli.commands.run as run_
import cli.commands.watch as watch_
import engine
from calibration.copy import game_plan
from companion.runtime.copies import Specimen
from companion.table.journal import Journal, fold_events
from companion.table.table import Table
from tests.conftest import PHOTOS
from vision.storage.photo_file import BadPhoto, load_photo

from .test_cli import fails, nilometer  # noqa: F401

CAMERA = '[camera]\nkind = "folder"\npath = "frames"\n[web]\nhost = "127.0.0.1"\nport = 0\n'


def bomb(path, width=60_000, height=60_000):
    """A PNG of some kilobytes that claims thousands of millions of pixels."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = zlib.compress(bytes(1 << 20), 9)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


def test_a_huge_picture_is_not_even_decoded(tmp_path, monkeypatch):
    bomb(tmp_path / "bomb.png")
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("decoded"))
    with pytest.raises(BadPhoto, match="bomb.png: 60000 x 60000 pixels"):
        load_photo(tmp_path / "bomb.png")
    with open(tmp_path / "sparse.jpg", "wb") as f:
        f.truncate(2 << 30)
    with pytest.raises(BadPhoto, match="sparse.jpg: larger than"):
        load_photo(tmp_path / "sparse.jpg")


@pytest.mark.parametrize(
    "begin, name",
    [
        (b"\0\0\0\x24ftypheic\0\0", "HEIC"),
        (b"\0\0\0\x20ftypavif", "AVIF"),
        (b"RIFF\x1a\x04\0\0WEBPVP8 ", "WebP"),
    ],
)
def test_a_phones_other_formats_are_named_with_what_to_do(tmp_path, begin, name):
    (tmp_path / "IMG_0012.HEIC").write_bytes(begin + bytes(2000))
    with pytest.raises(
        BadPhoto, match=rf"IMG_0012.HEIC: {name}, which is not read here; save it as JPEG first$"
    ):
        load_photo(tmp_path / "IMG_0012.HEIC")


# Copies


def photo(text):
    return lambda folder: (folder / "copy.toml").write_text(
        (folder / "copy.toml")
        .read_text()
        .replace('file = "empty-1.jpg"', f'file = "empty-1.jpg"\n{text}')
    )


def instead(name, make):
    return lambda folder: make(folder / name)


def flat(level):
    """A picture without a board, under the name of a JPEG"""
    return lambda path: path.write_bytes(
        cv2.imencode(".jpg", np.full((616, 820, 3), level, np.uint8))[1].tobytes()
    )


COPIES = {
    "no sampler": (
        lambda f: (f / "copy.toml").write_text(
            'game = "tigris"\nmarkers = true\n[[photo]]\nfile = "empty-1.jpg"\nlayout = '
            '"empty-1.json"\n'
        ),
        ("copy.toml", "no sampler"),
    ),
    "a game in capitals": (
        lambda f: (f / "copy.toml").write_text('game = "Tigris"\n[[photo]]\nfile = "a.jpg"\n'),
        ("copy.toml", "'tigris' is meant?"),
    ),
    "a game misspelt": (
        lambda f: (f / "copy.toml").write_text('game = "tigirs"\n[[photo]]\nfile = "a.jpg"\n'),
        ("copy.toml", "'tigris' is meant?"),
    ),
    "a kind the plan lacks": (
        instead("sampler-1.json", lambda p: p.write_text('{"A1": ["tempel"]}')),
        ("json: A1", "tempel"),
    ),
    "a site the plan lacks": (
        instead("sampler-1.json", lambda p: p.write_text('{"Z9": ["temple"]}')),
        ("sampler-1.json", "Z9"),
    ),
    "broken JSON": (
        instead("sampler-1.json", lambda p: p.write_text('{"A1": ["temple"')),
        ("sampler-1.json", "line 1"),
    ),
    "nested JSON": (
        instead("sampler-1.json", lambda p: p.write_text("[" * 100_000)),
        ("sampler-1.json",),
    ),
    "no JSON": (
        instead("sampler-1.json", lambda p: p.write_bytes(b"\xff\xfe\x00")),
        ("sampler-1.json",),
    ),
    "a list": (instead("sampler-1.json", lambda p: p.write_text("[1]")), ("sampler-1.json",)),
    "crossed corners": (
        photo("corners = [[100, 100], [1500, 1100], [1500, 100], [100, 1100]]"),
        ("copy.toml: photo 1", "crossed"),
    ),
    "corners the wrong way round": (
        photo("corners = [[100, 100], [100, 1100], [1500, 1100], [1500, 100]]"),
        ("photo 1", "wrong way"),
    ),
    "three corners": (
        photo("corners = [[100, 100], [100, 1100], [1500, 1100]]"),
        ("photo 1", "four"),
    ),
    "corners that are none": (
        photo("corners = [[nan, 100], [1500, 100], [1500, 1100], [100, 1100]]"),
        ("photo 1", "four"),
    ),
    "broken TOML": (
        lambda f: (f / "copy.toml").write_text('game = "tigris\n'),
        ("copy.toml", "line 1"),
    ),
    "binary TOML": (lambda f: (f / "copy.toml").write_bytes(b"\xff\xfe"), ("copy.toml",)),
    "a broken plan": (
        instead("plan.toml", lambda p: p.write_text('game = "tigris"\nsize = [1,\n')),
        ("plan.toml",),
    ),
    "a plan of nothing": (
        instead("plan.toml", lambda p: p.write_text('game = "tigris"\n')),
        ("plan.toml", "size"),
    ),
    "missing photo": (instead("sampler-1.jpg", Path.unlink), ("sampler-1.jpg", "No such file")),
    "truncated photo": (
        instead("sampler-1.jpg", lambda p: p.write_bytes(p.read_bytes()[:40_000])),
        ("sampler-1.jpg", "cut off"),
    ),
    "huge photo": (instead("sampler-1.jpg", bomb), ("sampler-1.jpg", "60000 x 60000")),
    "black photo": (instead("sampler-1.jpg", flat(0)), ("sampler-1.jpg", "black")),
    "photo without a board": (instead("sampler-1.jpg", flat(140)), ("sampler-1.jpg", "one colour")),
}


@pytest.mark.parametrize("case", COPIES)
def test_a_copy_that_cannot_be_calibrated(nilometer, tmp_path, case):
    folder = tmp_path / "copy"
    shutil.copytree(PHOTOS, folder, ignore=shutil.ignore_patterns("test", "game", "*-2.*"))
    text = (folder / "copy.toml").read_text()
    (folder / "copy.toml").write_text("\n\n".join(p for p in text.split("\n\n") if "-2." not in p))
    spoil, words = COPIES[case]
    spoil(folder)
    before = sorted(p.name for p in folder.iterdir())
    fails(nilometer("calibrate", folder), *words)
    assert sorted(p.name for p in folder.iterdir()) == before


def test_a_folder_that_nobody_may_write_to_is_said_before_the_long_work(
    nilometer, tmp_path, monkeypatch
):
    folder = tmp_path / "copy"
    shutil.copytree(PHOTOS, folder, ignore=shutil.ignore_patterns("test", "game"))

    def refused(dir):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    monkeypatch.setattr("calibration.fit.shots_of", lambda copy: pytest.fail("the long work began"))
    fails(nilometer("calibrate", folder), str(folder), "cannot be written", "Permission denied")


FULL = """
import resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
import numpy as np
from cli.main import main
from companion.setup.setup import NotSo, Setup
from companion_web.access import Access
from vision.storage.model_file import save_arrays
noise = {"a": np.random.default_rng(0).random(5000)}
for doing in (lambda: save_arrays(folder / "model.npz", noise),
              lambda: main(["print", "tigris", "-o", str(folder / "t.pdf")])):
    try:
        doing()
    except (OSError, SystemExit) as e:
        print(type(e).__name__, getattr(e, "code", ""))
picture = np.full((600, 800, 3), 120, np.uint8)
camera = {"kind": "usb", "device": "x" * 4000}
setup = Setup(folder / "nilometer.toml", lambda: (picture, ""), camera)
setup.choose("ur", ["black", "white", "green"], {})
setup.copy = "ur"
try:
    setup.go()
except NotSo as e:
    print(e)
"""


def test_a_full_disk_leaves_what_was_there_and_nothing_half_written(tmp_path):
    """The model, a PDF, the configuration: each is written whole or not at all."""
    for name in ("model.npz", "t.pdf", "nilometer.toml"):
        (tmp_path / name).write_text("# as it was")
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines() == [
        "OSError ",
        "SystemExit 2",
        "nilometer.toml cannot be written: File too large",
    ], done
    assert "t.pdf" in done.stderr and "Traceback" not in done.stderr
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == dict.fromkeys(
        ("model.npz", "t.pdf", "nilometer.toml"), "# as it was"
    )


# Tables


@pytest.fixture
def table(tmp_path, monkeypatch):
    """table(text) -> a configuration of a copy that need not be learnt to fail before its camera is
    asked"""
    plan = game_plan("tigris")
    made = Specimen(
        tmp_path / "cal",
        "Kitchen",
        "tigris",
        SimpleNamespace(plan=plan, registrar=None),
        engine.game("tigris").plan(),
    )
    for room in (run_, watch_):
        monkeypatch.setattr(room, "open_copy", lambda folder: made)
    (tmp_path / "frames").mkdir()
    cv2.imwrite(str(tmp_path / "frames" / "1.png"), np.full((64, 64, 3), 90, np.uint8))

    def write(text):
        (tmp_path / "table.toml").write_text(
            'copy = "cal"\n' + (text if "[camera]" in text else text + CAMERA)
        )
        return tmp_path / "table.toml"

    return write


@pytest.mark.parametrize(
    "text, words",
    [
        ('seats = ["bull"]\n', ("table.toml", "2 to 4")),
        ('seats = ["bull", "cow"]\n', ("table.toml", "cow")),
        ('options = {bonus = "x"}\n', ("table.toml", "bonus")),
        ('start = "none.play"\n', ("none.play", "No such file")),
        ("looks_per_second = 0\n", ("table.toml", "looks_per_second")),
        ("picture_budget_mb = -1\n", ("table.toml", "picture_budget_mb")),
        ('journal = "no/g.journal"\n', ("no/g.journal",)),
        ('journal = "rubbish.journal"\n', ("rubbish.journal", "not a journal")),
        ('journal = "newer.journal"\n', ("newer.journal", "newer Nilometer")),
        ('journal = "cut.journal"\n', ("cut.journal",)),
        ('start = "typo.play"\n', ("typo.play", "line 3", "tyle")),
        ('start = "illegal.play"\n', ("illegal.play", "line 3", "T19")),
        ('start = "ur.play"\n', ("ur.play", "ur", "tigris")),
        ('[camera]\nkind = "webcam"\n', ("table.toml", "webcam")),
        ('[camera]\nkind = "usb"\ncolour = 3\n', ("table.toml", "colour")),
        ('[camera]\nkind = "usb"\nsize = 3\n', ("table.toml", "size")),
        (CAMERA + "[pins]\nlamp = 99\n", ("table.toml", "lamp")),
        (CAMERA.replace("port = 0", "port = 70000"), ("table.toml", "port")),
        (CAMERA.replace("port = 0", 'port = "x"'), ("table.toml", "port")),
        (CAMERA.replace("127.0.0.1", "192.0.2.7"), ("192.0.2.7",)),
        (CAMERA + "[club]\nbroker = 3\n", ("table.toml", "broker")),
        ("seats = [\n", ("table.toml", "line")),
    ],
)
def test_a_table_that_cannot_start(nilometer, tmp_path, table, text, words):
    (tmp_path / "typo.play").write_text("game tigris\nseats bull lion\nbull: tyle red C4\n")
    (tmp_path / "illegal.play").write_text("game tigris\nseats bull lion\nbull: tile red E1\n")
    (tmp_path / "ur.play").write_text("game ur\nseats black white green\n")
    (tmp_path / "rubbish.journal").write_bytes(b"rubbish" * 1000)
    for name in ("newer.journal", "cut.journal"):
        kept = Table(engine.game("tigris").setup(["bull", "lion"]), Journal(tmp_path / name))
        for _ in range(30):
            kept.declare(str(kept.state.legal_actions()[0]))
        kept.journal.close()
    with sqlite3.connect(tmp_path / "newer.journal") as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'version'")
    db.close()
    (tmp_path / "cut.journal").write_bytes((tmp_path / "cut.journal").read_bytes()[:9000])
    before = {p.name: p.read_bytes() for p in tmp_path.glob("*.journal")}
    fails(nilometer("run", "--config", table(text)), *words)
    assert {
        p.name: p.read_bytes() for p in tmp_path.glob("*.journal") if p.name in before
    } == before


def test_a_port_in_use(nilometer, table, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        fails(
            nilometer("run", "--config", table(CAMERA.replace("port = 0", f"port = {port}"))),
            f":{port}",
            "already",
        )
        fails(nilometer("hall", "--host", "127.0.0.1", "--port", port), f":{port}", "already")


def test_two_tables_on_one_journal(nilometer, table, tmp_path):
    first = Journal(tmp_path / "game.journal")
    first.keep_to_oneself()
    state = Table(engine.game("tigris").setup(["bull", "lion"]), first).state
    fails(nilometer("run", "--config", table("")), "game.journal", "another table")
    fails(
        nilometer(
            "watch", "cal", "--frames", tmp_path / "frames", "--journal", tmp_path / "game.journal"
        ),
        "another table",
    )
    assert [e.kind for e in first.events()] == ["start"]
    code, out, _ = nilometer("journal", tmp_path / "game.journal")
    assert code == 0 and "start" in out, "it can be looked at meanwhile"
    first.close()
    again = Journal(tmp_path / "game.journal")
    again.keep_to_oneself()
    assert fold_events(again.events())[-1].state == state
    again.close()


def test_a_game_is_listed_from_a_folder_that_nobody_may_write_to(nilometer, tmp_path):
    folder = tmp_path / "archive"
    folder.mkdir()
    kept = Table(engine.game("tigris").setup(["bull", "lion"]), Journal(folder / "g.journal"))
    kept.declare("bull: leader black C2")
    kept.journal.close()
    before = sorted(folder.iterdir())
    folder.chmod(0o555)
    try:
        code, out, _ = nilometer("journal", folder / "g.journal", "--replay")
    finally:
        folder.chmod(0o755)
    assert code == 0 and "bull: leader black C2" in out
    assert sorted(folder.iterdir()) == before, "and nothing is put beside it"


def test_the_modules_own_name_is_the_command_too(tmp_path):
    """`python -m cli` says faults as `nilometer` does."""
    command = [sys.executable, "-m", "cli", "read", str(tmp_path / "none"), "x.jpg"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (
        done.returncode == 2
        and "none/copy.toml: No such file" in done.stderr
        and "should not" not in done.stderr
    )


def test_a_journal_on_a_full_disk_loses_nothing(tmp_path):
    """With the kernel's own refusal to write more, the events that were taken are all there, and no
    other."""
    child = (
        "import resource, signal, sys, engine, random\nfrom companion.table.journal "
        "import BadJournal, Journal\n"
        "from companion.table.table import Table\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "table = Table(engine.game('tigris').setup(['bull', 'lion']), Journal(sys.argv[1]))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60000, resource.RLIM_INFINITY))\nrng "
        "= random.Random(1)\n"
        "for n in range(1000):\n"
        "    try:\n        table.declare(str(rng.choice(table.state.legal_actions())))\n"
        "    except BadJournal as e:\n        print(len(table.lines), "
        "table.state.key().hex(), e)\n        break\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", child, str(tmp_path / "g.journal")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    count, key, why = done.stdout.strip().split(" ", 2)
    assert "g.journal" in why and done.stderr == ""
    lines = Table(None, Journal(tmp_path / "g.journal")).lines
    assert len(lines) == int(count) > 1 and lines[-1].state.key().hex() == key
