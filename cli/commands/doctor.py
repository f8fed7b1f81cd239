"""nilometer doctor: camera, light, pins, disk, clock, model: what is wrong and what to do about
it."""

from __future__ import annotations

import json
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import click
import msgspec

from cli.faults import input_faults
from companion.runtime.config import Config, load_config
from companion.runtime.lens import FILE as FOCUS
from companion.runtime.machine import SINCE_START, power_faults, read_throttled
from vision import kernels

GOOD, WARN, BAD = "ok", "look", "wrong"


class Check(msgspec.Struct, frozen=True):
    """What was checked, the result (ok, look, wrong), what was found, and what to do about it."""

    what: str
    how: str
    found: str
    do: str = ""


def check_programs(config: Config | None) -> Iterator[Check]:
    """Python and the libraries that this depends on."""
    import cv2

    major = int(cv2.__version__.split(".")[0])
    yield Check("python", GOOD, f"{platform.python_version()} on {platform.machine()}")
    yield Check(
        "opencv",
        GOOD if major >= 5 else BAD,
        cv2.__version__,
        "" if major >= 5 else "make install puts OpenCV 5 into .venv",
    )
    library, _ = kernels.load_library()
    yield Check(
        "kernels",
        GOOD if library else WARN,
        kernels.kernel_mode(),
        ""
        if library
        else "boards are found three times as slowly: sudo apt-get install gcc, then make install",
    )
    try:
        metadata.version("opencv-python")
        yield Check(
            "opencv wheel",
            WARN,
            "opencv-python is installed beside the headless one",
            "pip uninstall opencv-python: it needs libGL and hides the other",
        )
    except metadata.PackageNotFoundError:
        pass


def check_power(config: Config | None) -> Iterator[Check]:
    """The power supply and temperature of a Raspberry Pi, now and since it was switched on."""
    bits = read_throttled()
    if bits is None:
        return
    now, before = power_faults(bits), power_faults(bits >> SINCE_START)
    for text in now:
        yield Check("power", BAD, f"throttled=0x{bits:x}", str(text))
    if not now:
        yield Check(
            "power",
            WARN if before else GOOD,
            f"throttled=0x{bits:x}" + (", not now, but since the start" if before else ""),
            " ".join(map(str, before)),
        )


def check_disk(config: Config | None) -> Iterator[Check]:
    """Space for the journal and its pictures."""
    folder = config.path(config.journal).parent if config else Path.cwd()
    folder = folder if folder.is_dir() else Path.cwd()
    free = shutil.disk_usage(folder).free / 2**20
    need = config.picture_budget_mb if config else 200
    yield Check(
        "disk",
        GOOD if free > 2 * need else WARN if free > need else BAD,
        f"{free:.0f} MB free in {folder}",
        ""
        if free > 2 * need
        else f"pictures may take {need} MB: make room, or set picture_budget_mb lower",
    )
    try:
        probe = folder / ".nilometer-doctor"
        probe.write_text("x")
        probe.unlink()
    except OSError as e:
        yield Check(
            "disk",
            BAD,
            f"{folder} cannot be written: {e.strerror}",
            "give the user who runs the table write access",
        )


def check_clock(config: Config | None) -> Iterator[Check]:
    """The clock. A Pi without a network starts in the past; the journal orders events by number, so
    this only affects the dates shown."""
    year = time.gmtime().tm_year
    synced = Path("/run/systemd/timesync/synchronized").exists()
    good = year >= 2025
    yield Check(
        "clock",
        GOOD if good else WARN,
        time.strftime("%Y-%m-%d %H:%M") + (", from the network" if synced else ""),
        "" if good else "connect to a network once, or set it: sudo timedatectl set-time ...",
    )


def check_model(config: Config | None) -> Iterator[Check]:
    """The copy and its fitted model."""
    if config is None:
        yield Check(
            "copy",
            WARN,
            "no configuration given",
            "nilometer doctor --config FILE looks at copy, camera and pins too",
        )
        return
    from companion.runtime.copies import open_copy

    try:
        specimen = open_copy(config.path(config.copy))
    except input_faults() as e:
        there = (config.path(config.copy) / "copy.toml").is_file()
        yield Check(
            "copy",
            BAD,
            str(e),
            f"nilometer calibrate {config.copy}"
            if there
            else "name a copy's folder in the configuration, or leave it out and set the table up "
            "on its page",
        )
        return
    yield Check("copy", GOOD, f"{specimen.name}, {specimen.game}")
    folder = config.path(config.copy)
    newest = max(
        (
            p.stat().st_mtime
            for p in folder.iterdir()
            if p.suffix in (".toml", ".jpg", ".json", ".png") and p.name != FOCUS
        ),
        default=0,
    )
    stale = newest > (folder / "model.npz").stat().st_mtime + 1
    yield Check(
        "model",
        WARN if stale else GOOD,
        "older than the copy's photos" if stale else "newer than the copy's photos",
        f"nilometer calibrate {config.copy}" if stale else "",
    )


def check_camera(config: Config | None) -> Iterator[Check]:
    """One picture, its light and sharpness, and whether the board is in it."""
    if config is None:
        return
    import cv2

    from calibration.framing import CRISP, CRISP_CARD, judge_framing
    from companion.runtime.copies import open_copy
    from hardware.camera import BadCamera, CameraLost
    from hardware.pi_camera import load_picamera2

    try:
        load_picamera2()
    except CameraLost as e:
        yield Check(
            "picamera2",
            BAD,
            str(e),
            (
                "make install; if that does not help: sudo apt-get install --reinstall "
                "python3-picamera2"
            ),
        )
    try:
        with config.open_camera() as cam:
            cam.read()
            start = time.monotonic()
            image = cam.read()
            took = time.monotonic() - start
    except (CameraLost, BadCamera) as e:
        yield Check("camera", BAD, str(e), camera_advice(e, config))
        return
    h, w = image.shape[:2]
    yield Check("camera", GOOD, f"{w} x {h}, a picture in {1000 * took:.0f} ms")
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    mean, burnt = float(grey.mean()), float((grey > 250).mean())
    if mean < 35:
        yield Check(
            "light",
            BAD,
            f"too dark (mean {mean:.0f} of 255)",
            "switch a lamp on, not straight above the board",
        )
    elif burnt > 0.05:
        yield Check(
            "light",
            WARN,
            f"{100 * burnt:.0f} % of the picture is overexposed",
            "move the lamp, or let the light fall from the side",
        )
    else:
        yield Check("light", GOOD, f"mean {mean:.0f} of 255, {100 * burnt:.1f} % overexposed")
    seen = judge_framing(image, markers=True)
    good = seen.sharpness >= (CRISP_CARD if seen.cards else CRISP)
    at = (
        ""
        if not cam.focuses
        else ", no focus found"
        if cam.focus is None
        else f", lens at {cam.focus:g}"
    )
    again = (
        f"start the table without {config.path(config.copy) / FOCUS}: the lens finds its "
        f"focus anew; then photograph the copy anew"
    )
    yield Check(
        "focus",
        GOOD if good else WARN,
        f"sharpness {100 * seen.sharpness:.0f} %{at}",
        ""
        if good
        else f"set focus in [camera] otherwise, or leave it out ({cam.focus:g} now)"
        if "focus" in config.camera and cam.focus
        else again
        if cam.focuses
        else (
            "turn the lens until print is crisp, or, where it does not turn, hang the camera higher"
        ),
    )
    try:
        found = open_copy(config.path(config.copy)).reader.read(image)
        yield Check(
            "board",
            GOOD,
            f"found by {found.registration.by} to {found.registration.error_px:.1f} px",
        )
    except input_faults() as e:
        yield Check("board", BAD, str(e), "the whole board and its cards must be in the picture")


def camera_advice(error: Exception, config: Config) -> str:
    """What to do about a camera that gives no picture, as far as its error does not say so."""
    from hardware.camera import BadCamera, CameraHangs

    said = str(error)
    if isinstance(error, BadCamera) or config.camera.get("kind") in ("folder", "video"):
        return "correct [camera] in the configuration"
    if isinstance(error, CameraHangs):
        return "try another cable or power supply; switching the machine off and on frees it"
    if "picamera2" in said:
        return ""
    if "busy" in said or "another program" in said:
        return "end what holds it; for an installed table: sudo systemctl stop nilometer"
    return "check the plug and cable"


def check_pins(config: Config | None) -> Iterator[Check]:
    """Lamp, buzzer and buttons."""
    if config is None or not config.pins:
        yield Check(
            "pins", GOOD, "none configured: the table runs without lamp, buzzer and buttons"
        )
        return
    from hardware.panel import NoPins, Panel, PinFault

    try:
        Panel.open(config.pins).close()
        yield Check("pins", GOOD, ", ".join(sorted(config.pins)))
    except NoPins as e:
        yield Check("pins", BAD, str(e), "the table plays without them; or leave [pins] out")
    except PinFault as e:
        yield Check("pins", BAD, str(e), "correct [pins]: as it is, the table does not start")


CHECKS: tuple[Callable[[Config | None], Iterator[Check]], ...] = (
    check_programs,
    check_power,
    check_disk,
    check_clock,
    check_pins,
    check_model,
    check_camera,
)


@click.command()
@click.option(
    "--config",
    type=click.Path(),
    help="the table's configuration  [default: nilometer.toml, where it is there]",
)
@click.option("--json", "as_json", is_flag=True, help="a JSON line each")
def command(config: str | None, as_json: bool) -> int:
    """What is wrong with this table and what to do."""
    config = config or ("nilometer.toml" if Path("nilometer.toml").is_file() else None)
    settings = load_config(config) if config else None
    worst = 0
    for check in CHECKS:
        for c in check(settings):
            worst = max(worst, c.how == BAD)
            if as_json:
                click.echo(json.dumps(msgspec.to_builtins(c), ensure_ascii=False))
            else:
                click.echo(
                    f"{c.how:5s}  {c.what}: {c.found}" + (f"\n       -> {c.do}" if c.do else "")
                )
    return int(worst)
