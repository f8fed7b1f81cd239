"""What only a person at the real table can test: each item says what to do, watches or asks, and is
recorded."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from companion.runtime.config import Config
from hardware.found import usual_camera
from hardware.panel import SIGNALS, Panel
from hardware.supervisor import COVERED, FROZEN, LOST, OK, Supervisor

PATIENCE = 60.0  # seconds that somebody gets to do what is asked
GOOD, BAD, SKIPPED = "good", "bad", "skipped"


class Item(msgspec.Struct, frozen=True):
    """do: what the person does. ask: the question afterwards, "" if the program sees the result
    itself (`wait`)."""

    name: str
    do: str
    ask: str = ""
    wait: Callable[[], bool] | None = None
    before: Callable[[], object] = lambda: None


def table_items(config: Config, eye: Supervisor, panel: Panel) -> Iterator[Item]:
    """Everything to test on this table; lamp, buzzer and buttons only if they are configured."""

    def camera(*states: str) -> Callable[[], bool]:
        return lambda: eye.state in states

    yield Item("camera sees", "Let the board lie in light, nothing moving.", wait=camera(OK))
    yield Item(
        "camera covered",
        "Lay a hand flat on the lens and hold it there.",
        wait=camera(COVERED, "dark"),
    )
    yield Item("camera free", "Take the hand away.", wait=camera(OK))
    if (config.camera or usual_camera()).get("kind") == "usb":
        yield Item("camera pulled out", "Pull the camera's plug.", wait=camera(LOST, FROZEN))
        yield Item("camera back", "Put it in again and wait.", wait=camera(OK))
    settled = eye.settled
    yield Item(
        "light",
        "Switch the room's main light on or off and wait ten seconds.",
        wait=lambda: eye.settled > settled,
    )
    if "lamp" in config.pins:
        for verdict, (colour, _) in SIGNALS.items():
            rhythm = f", in the rhythm docs/manual/wiring.md gives for {verdict}"
            yield Item(
                f"lamp {verdict}",
                "Look at the lamp.",
                f"Is it {'off' if colour == 'off' else colour + rhythm}?",
                before=partial(panel.show, verdict),
            )
    if "buzzer" in config.pins:
        yield Item("buzzer", "Listen.", "Was there one short buzz?", before=panel.buzz)
    for name in ("done", "undo", "mute"):
        if name in config.pins:
            pressed: list[bool] = []
            panel.on(name, partial(pressed.append, True))
            yield Item(
                f"button {name}", f"Press the button for {name}.", wait=partial(bool, pressed)
            )
    yield Item(
        "power cut",
        (
            "With `nilometer run` going and a few moves played: pull the Pi's plug, put it "
            "back, open the page."
        ),
        "Is the game as it was?",
    )
    yield Item(
        "name",
        "On a phone in the same Wi-Fi, open http://nilometer.local:8080/",
        "Does the page come?",
    )
    yield Item(
        "twenty minutes",
        "Play for twenty minutes as you always do.",
        "Did every move come, and no false alarm?",
    )


def conduct_items(
    list_: Iterator[Item],
    record: Path,
    say: Callable[[str], object],
    ask: Callable[[str], str],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> int:
    """Goes through the list, writing a line of JSON to `record` for each; returns how many failed.
    ask: returns "y", "n" or "s" (skip)."""
    wrong = 0
    machine = {
        "machine": platform.machine(),
        "system": platform.platform(),
        "model": _machine_model(),
    }
    with record.open("a", encoding="utf-8") as out:

        def write(data: dict[str, Any]) -> None:
            out.write(
                json.dumps({"at": time.strftime("%Y-%m-%dT%H:%M:%S"), **data}, ensure_ascii=False)
                + "\n"
            )
            out.flush()

        write(machine)
        for n, item in enumerate(list_, 1):
            say(f"\n{n}. {item.name}: {item.do}")
            item.before()
            took = None
            if item.wait is not None:
                began = clock()
                while not (seen := item.wait()) and clock() - began < PATIENCE:
                    sleep(0.1)
                took, how = round(clock() - began, 1), GOOD if seen else BAD
                say(f"   {how}, after {took} s")
            else:
                how = {"y": GOOD, "n": BAD}.get(ask(f"   {item.ask}"), SKIPPED)
            wrong += how == BAD
            write({"item": item.name, "how": how, "seconds": took})
    return wrong


def _machine_model() -> str:
    try:
        return Path("/proc/device-tree/model").read_text(encoding="utf-8").strip("\0\n")
    except OSError:
        return ""
