"""The commands as people use them: exit codes, one line for bad input, never a traceback."""

import json
import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cli.commands import doctor as doctor_
from cli.main import COMMANDS, main
from companion.runtime.config import Config
from hardware.camera import BadCamera, CameraHangs, CameraLost
from hardware.panel import NoPins, Panel, PinFault

GOOD = "game tigris\nseats bull lion\nbull: leader black C2\n? turn bull\n"


@pytest.fixture
def nilometer(capsys):
    def run(*args):
        with pytest.raises(SystemExit) as e:
            main([str(a) for a in args])
        out = capsys.readouterr()
        return e.value.code, out.out, out.err

    return run


def fails(result, *words):
    """exit 2, one line on stderr that has the words, nothing of a traceback"""
    code, _, err = result
    assert code == 2
    lines = err.strip().splitlines()
    assert len(lines) == 1 and "Traceback" not in err and "should not have happened" not in err, err
    for word in words:
        assert word in lines[0], err


def test_help_names_every_command(nilometer):
    code, out, _ = nilometer("--help")
    assert code == 0 and all(re.search(rf"^  {name}\b", out, re.M) for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(nilometer, name):
    code, out, _ = nilometer(name, "--help")
    assert code == 0 and "Usage" in out


def test_unknown_commands_and_options(nilometer):
    fails(nilometer("dance"), "dance")
    fails(nilometer("play", "--loud"), "--loud")


def test_play_runs_scripts_and_names_file_and_line(nilometer, tmp_path):
    good, wrong, typo = tmp_path / "good.play", tmp_path / "wrong.play", tmp_path / "typo.play"
    good.write_text(GOOD)
    wrong.write_text(GOOD + "? turn lion\nbull: tile red E1\n")
    typo.write_text("game tigris\nseats bull lion\nbull: tyle red C4\n")
    assert nilometer("play", good)[0] == 0
    code, out, _ = nilometer("play", wrong)
    assert (
        code == 1
        and "wrong.play:5: expected ? turn lion; found bull" in out
        and "wrong.play:6" in out
        and "T19" in out
    )
    fails(nilometer("play", typo), "typo.play:3", "tyle")
    code, out, err = nilometer("play", good, wrong, typo)
    assert code == 2 and "1 of 3 scripts hold" in out


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "game"),
        ("game chess\n", "chess"),
        ("game tigris\nseats bull bull\n", "bull"),
        ("game tigris\nseats bull cow\n", "cow"),
        ("game tigris\nseats bull lion\nlayout Z9 temple\n", "Z9"),
        ("game tigris\nseats bull lion\nlayout A1 tempel\n", "tempel"),
        ("game tigris\nseats bull lion\n? at\n", "line 3"),
        ("seats bull lion\n", "game"),
        ("game tigris\nseats bull lion\nbull: tile red A1\nlayout A1 temple\n", "layout"),
    ],
)
def test_scripts_with_typing_errors(nilometer, tmp_path, text, words):
    path = tmp_path / "s.play"
    path.write_text(text)
    fails(nilometer("play", path), "s.play", words.replace("line 3", ":3"))


def test_play_without_its_file(nilometer, tmp_path):
    fails(nilometer("play", tmp_path / "none.play"), "none.play", "No such file")
    (tmp_path / "b.play").write_bytes(b"\xff\xfe\x00\x01")
    fails(nilometer("play", tmp_path / "b.play"), "b.play")


def test_rules(nilometer):
    code, out, _ = nilometer("rules")
    assert code == 0 and "65 numbered statements" in out
    code, out, _ = nilometer("rules", "tigris", "t19")
    assert code == 0 and out.startswith("T19 [") and "farms only on river" in out
    fails(nilometer("rules", "tigris", "T99"), "T99")
    fails(nilometer("rules", "monopoly"), "monopoly")


def test_rules_coverage_lists_none(nilometer, names):
    for name in names:
        code, out, _ = nilometer("rules", name, "--coverage")
        assert (code, out) == (0, ""), f"{name}: no test names {out}"


def test_print_makes_a_pdf_or_says_why_not(nilometer, tmp_path):
    out = tmp_path / "t.pdf"
    code, said, _ = nilometer("print", "tigris", "-o", out, "--only", "cards")
    assert code == 0 and out.read_bytes().startswith(b"%PDF") and "100 %" in said
    fails(nilometer("print", "monopoly"), "monopoly")
    fails(nilometer("print", "tigris", "-o", tmp_path / "no" / "t.pdf", "--only", "cards"), "no")
    assert not list(tmp_path.glob("*.part"))


def test_journal_lists_exports_replays(nilometer, tmp_path):
    import engine
    from companion.table.journal import Journal
    from companion.table.table import Table

    path = tmp_path / "g.journal"
    table = Table(engine.game("tigris").setup(["bull", "lion"]), Journal(path))
    table.declare("bull: leader black C2")
    table.journal.close()
    code, out, _ = nilometer("journal", path)
    assert code == 0 and "bull: leader black C2" in out
    code, out, _ = nilometer("journal", path, "--export")
    assert code == 0 and [json.loads(line)["kind"] for line in out.splitlines()] == [
        "start",
        "action",
    ]
    code, out, _ = nilometer("journal", path, "--replay")
    assert code == 0 and "every state as written" in out
    fails(nilometer("journal", tmp_path / "none"), "none", "no such file")
    bad = tmp_path / "bad.journal"
    bad.write_bytes(b"rubbish" * 1000)
    fails(nilometer("journal", bad), "bad.journal")


def copy_in(folder: Path, text: str = 'game = "tigris"\nmarkers = true\n') -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "copy.toml").write_text(text)
    return folder


def test_reading_an_uncalibrated_or_broken_copy(nilometer, tmp_path):
    fails(nilometer("read", tmp_path / "nowhere", "x.jpg"), "nowhere")
    fails(nilometer("read", copy_in(tmp_path / "c"), "x.jpg"), "nilometer calibrate")
    fails(nilometer("read", copy_in(tmp_path / "d", "game = ["), "x.jpg"), "copy.toml")
    broken = copy_in(tmp_path / "e")
    (broken / "model.npz").write_bytes(b"PK\x03\x04 rubbish")
    fails(nilometer("read", broken, "x.jpg"), "model.npz")


def test_watch_names_what_is_missing(nilometer, tmp_path):
    fails(nilometer("watch", copy_in(tmp_path / "c"), "--frames", tmp_path), "nilometer calibrate")


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "game"),
        ("game = 3\n", "game"),
        ('game = "tigris"\n', "photo"),
        ('game = "tigris"\n[[photo]]\nfile = "no.jpg"\nlayout = "no.json"\n', "no.jpg"),
        ('game = "hopscotch"\n', "hopscotch"),
        ("markers = maybe\n", "copy.toml"),
    ],
)
def test_calibrating_a_wrong_copy(nilometer, tmp_path, text, words):
    folder = copy_in(tmp_path / "c", text)
    fails(nilometer("calibrate", folder, "--quiet"), words)
    assert not (folder / "model.npz").exists() and not list(folder.glob("*.part"))


def test_run_with_a_wrong_configuration(nilometer, tmp_path):
    fails(nilometer("run", "--config", tmp_path / "none.toml"), "none.toml")
    path = tmp_path / "t.toml"
    path.write_text("copy = 3\n")
    fails(nilometer("run", "--config", path), "t.toml", "copy")
    path.write_text('copy = "c"\nlooks = 4\n')
    fails(nilometer("run", "--config", path), "t.toml", "looks")
    path.write_text('copy = "nowhere"\n')
    fails(nilometer("run", "--config", path), "nowhere")


def test_doctor_says_what_is_wrong(nilometer, tmp_path):
    code, out, _ = nilometer("doctor")
    assert code == 0 and "python" in out and "disk" in out
    path = tmp_path / "t.toml"
    path.write_text('copy = "nowhere"\n[camera]\nkind = "folder"\npath = "none"\n')
    code, out, _ = nilometer("doctor", "--config", path)
    assert code == 1 and "nowhere" in out and re.search(r"^wrong  camera", out, re.M)


def test_doctor_says_of_a_lens_what_applies_to_it(tmp_path, monkeypatch):
    picture = np.full((480, 640, 3), 120, np.uint8)
    picture[::8] = 121
    made = SimpleNamespace(focuses=False, focus=None, read=lambda: picture)
    config = Config("c", folder=str(tmp_path))
    monkeypatch.setattr(type(config), "open_camera", lambda self: nullcontext(made))

    def advice():
        return next(c.do for c in doctor_.check_camera(config) if c.what == "focus")

    assert advice().startswith("turn the lens")
    made.focuses, made.focus = True, 1.8
    assert "turn" not in advice() and "focus.json" in advice()
    config.camera["focus"] = 1.8
    assert "[camera]" in advice()


@pytest.mark.parametrize(
    "error, kind, words",
    [
        (CameraLost("usb: no such camera; is it plugged in?"), "usb", "plug and cable"),
        (CameraLost("usb: cannot be opened; another program may be using it"), "usb", "stop"),
        (CameraLost("Pi camera 0: Device or resource busy"), "pi", "stop"),
        (CameraHangs("Pi camera 0: gives no pictures"), "pi", "off and on"),
        (CameraLost("the Pi camera needs picamera2: sudo apt-get install"), "pi", ""),
        (CameraLost("none: no such folder"), "folder", "[camera]"),
        (BadCamera("camera: kind"), "usb", "[camera]"),
    ],
)
def test_doctor_says_of_a_camera_what_helps_it(error, kind, words):
    said = doctor_.camera_advice(error, Config("c", camera={"kind": kind}))
    assert words in said and bool(said) == bool(words)


@pytest.mark.parametrize(
    "error, words", [(PinFault, "does not start"), (NoPins, "plays without them")]
)
def test_doctor_says_which_pins_keep_the_table_from_starting(monkeypatch, error, words):
    def fail(pins):
        raise error("pins: lamp")

    monkeypatch.setattr(Panel, "open", fail)
    (found,) = doctor_.check_pins(Config("c", pins={"lamp": 17}))
    assert found.how == "wrong" and words in found.do


def test_doctor_tells_a_weak_power_supply(monkeypatch):
    for bits, how, words in (
        (None, None, ""),
        (0, "ok", ""),
        (0x50005, "wrong", "power supply"),
        (0x50000, "look", "power supply"),
        (0xE0008, "wrong", "too hot"),
    ):
        monkeypatch.setattr(doctor_, "read_throttled", lambda bits=bits: bits)
        found = list(doctor_.check_power(None))
        assert [c.how for c in found] == [how] * (bits is not None) and all(
            words in c.do for c in found
        )


def test_demo_of_a_game_that_is_none(nilometer):
    fails(nilometer("demo", "monopoly"), "monopoly")


def test_accuracy_without_copies(nilometer, tmp_path):
    fails(nilometer("accuracy", tmp_path), "no copy")


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Three copies of which the second cannot be used; measuring takes no time"""
    from calibration.accuracy import BINS, Accuracy
    from calibration.copy import BadCopy

    def measure(folder, tell):
        if folder.name == "b":
            raise BadCopy(f"{folder / 'copy.toml'}: no [[photo]]")
        return Accuracy(
            folder.name, "letters", 2, 20, 19, 1, reliability=[(0, 0)] * (len(BINS) - 1)
        )

    monkeypatch.setattr("cli.commands.accuracy.measure_copy", measure)
    monkeypatch.setenv("NILOMETER_STATE", str(tmp_path / "state"))
    for name in "abc":
        copy_in(tmp_path / "copies" / name, "")
        (tmp_path / "copies" / name / "test").mkdir()
    return tmp_path / "copies"


def test_a_broken_copy_among_several_is_left_out_of_the_accuracy_and_the_others_are_measured(
    nilometer, measured
):
    code, out, err = nilometer("accuracy", measured)
    assert (
        code == 1
        and "a (letters): sites 19/20" in out
        and "c (letters)" in out
        and "all: sites 38/40" in out
    )
    assert err.splitlines() == [
        f"left out: {measured / 'b' / 'copy.toml'}: no [[photo]]",
        "1 of 3 copies left out, see above",
    ]
    assert "(last 95.000 %, 1/2, 0 ms)" in nilometer("accuracy", measured / "a")[1], (
        "kept for the next run"
    )
    code, out, err = nilometer("accuracy", measured / "b")
    assert code == 2 and not out and len(err.splitlines()) == 1


def test_figures_of_the_accuracy_that_cannot_be_kept_are_printed_all_the_same(
    nilometer, measured, tmp_path, monkeypatch
):
    before = tmp_path / "state" / "accuracy.json"
    nilometer("accuracy", measured / "a")
    kept = before.read_bytes()

    def full(path, data):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("cli.commands.accuracy.write_whole", full)
    code, out, err = nilometer("accuracy", measured / "a", measured / "c")
    assert code == 1 and "all: sites 38/40" in out and before.read_bytes() == kept
    assert err.splitlines() == [
        f"{before}: the figures could not be kept for the next run: No space left on device"
    ]


def test_samplers_to_lay_are_written_with_their_pictures_and_lie_all_over_the_board(
    tmp_path, nilometer
):
    corners = [(0, 0), (20, 0), (20, 20), (0, 20)]
    sites = "".join(
        f'[[site]]\nid = "{c}-{r}"\noutline = {[[c * 20 + x, r * 20 + y] for x, y in corners]}\n'
        for r in range(15)
        for c in range(15)
    )
    kinds = "".join(
        f'[[piece]]\nkind = "{k}"\nsize = [19, 19]\n' for k in "ABCDEFGHIJKLMNOPQRSTUVWXYZ<"
    )
    (tmp_path / "plan.toml").write_text(f'game = "letters"\nsize = [300, 300]\n{kinds}{sites}')
    code, out, _ = nilometer("samplers", tmp_path)
    assert code == 0 and "2 layouts" in out
    layouts = [json.loads((tmp_path / f"sampler-{n}.json").read_text()) for n in (1, 2)]
    at = np.array([[int(v) for v in site.split("-")] for layout in layouts for site in layout])
    assert np.abs(at.mean(0) - 7).max() < 2 and at.std(0).min() > 3, (
        "pieces lean and shine otherwise elsewhere"
    )
    page = (tmp_path / "samplers.html").read_text()
    assert (
        page.count("<svg") == 2
        and page.count("<g transform") == len(at)
        and "&lt;" in page
        and "<<" not in page
    )
    fails(nilometer("samplers", tmp_path), "sampler-1.json", "overwritten")
    fails(nilometer("samplers", tmp_path / "nowhere"), "plan.toml")
