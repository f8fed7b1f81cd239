"""Lamp, buzzer and buttons on gpiozero's mock pins."""

import re
import time
import tomllib
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from hardware.panel import RGB, SIGNALS, NoPins, Panel, PinFault

ALL = {"lamp": {"red": 17, "green": 27, "blue": 22}, "buzzer": 18, "done": 5, "undo": 6, "mute": 13}


@pytest.fixture
def factory():
    made = MockFactory(pin_class=MockPWMPin)
    yield made
    made.reset()


def states(factory, pin, since=0):
    return [s.state for s in factory.pin(pin).states[since:]]


def wait_until(true, seconds=3.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_every_verdict_differs_from_every_other_without_colour():
    rhythms = [rhythm for _, rhythm in SIGNALS.values()]
    assert len(set(rhythms)) == len(rhythms)
    assert {"moved", "unfinished", "illegal", "unclear", "busy", "lost"} == set(SIGNALS)


def test_rgb_lamp_steady_for_a_move_and_off_when_busy(factory):
    panel = Panel.open(ALL, factory, beat=0.002)
    panel.show("moved")
    assert [factory.pin(p).state for p in (17, 27, 22)] == [0, 1, 0]
    panel.show("same")
    assert factory.pin(27).state == 1
    panel.show("busy")
    assert [factory.pin(p).state for p in (17, 27, 22)] == [0, 0, 0]
    panel.close()


@pytest.mark.parametrize("verdict", ["unfinished", "illegal", "unclear", "lost"])
def test_rgb_lamp_blinks_in_the_verdicts_colour(factory, verdict):
    panel = Panel.open(ALL, factory, beat=0.001)
    panel.show(verdict)
    colour = RGB[SIGNALS[verdict][0]]
    lit = next(pin for pin, share in zip((17, 27, 22), colour) if share == max(colour))
    wait_until(lambda: states(factory, lit).count(1) >= 2 and 0 in states(factory, lit)[2:])
    panel.close()


def test_three_lamps_and_one_lamp(factory):
    three = Panel.open({"lamp": {"green": 2, "amber": 3, "red": 4}}, factory, beat=0.002)
    three.show("moved")
    assert [factory.pin(p).state for p in (2, 3, 4)] == [1, 0, 0]
    three.show("unclear")
    wait_until(lambda: 1 in states(factory, 3))
    assert factory.pin(2).state == 0
    three.close()
    one = Panel.open({"lamp": 8}, factory, beat=0.002)
    one.show("moved")
    assert factory.pin(8).state == 1
    one.close()


def test_the_buzzer_sounds_shortly_and_not_when_muted(factory):
    panel = Panel.open(ALL, factory)
    panel.show("illegal")
    assert panel.buzzes == 0, "who concludes says when"
    panel.buzz()
    wait_until(lambda: factory.pin(18).state == 1)
    wait_until(lambda: factory.pin(18).state == 0)
    assert panel.buzzes == 1
    panel.press("mute")
    panel.buzz()
    assert panel.buzzes == 1 and factory.pin(18).state == 0
    panel.press("mute")
    panel.buzz()
    assert panel.buzzes == 2
    panel.close()


def test_buttons_call_back(factory):
    panel, pressed = Panel.open(ALL, factory), []
    panel.on("done", lambda: pressed.append("done"))
    panel.on("undo", lambda: pressed.append("undo"))
    for pin in (5, 6, 13):
        time.sleep(0.06)  # longer than the bounce time
        factory.pin(pin).drive_low()
        factory.pin(pin).drive_high()
    wait_until(lambda: pressed == ["done", "undo"] and panel.muted)
    with pytest.raises(PinFault, match="'dance'"):
        panel.on("dance", print)
    panel.close()


def test_a_table_without_any_of_it():
    for panel in (Panel(), Panel.open({})):
        panel.show("illegal")
        panel.press("mute")
        panel.buzz()
        assert panel.signal == "illegal" and panel.buzzes == 0 and panel.muted
        panel.close()


@pytest.mark.parametrize(
    "pins, words",
    [
        ({"horn": 3}, "'horn' is none of lamp, buzzer, done, undo, mute"),
        ({"buzzer": 99}, "buzzer: 99 is not a pin"),
        ({"buzzer": "18"}, "'18' is not a pin"),
        ({"done": True}, "True is not a pin"),
        ({"done": 5, "undo": 5}, "pin 5 stands for done and for undo"),
        ({"lamp": {"red": 1, "purple": 2}}, "lamp wants red, green, blue"),
    ],
)
def test_wrong_pins_are_said_in_one_line(factory, pins, words):
    with pytest.raises(PinFault, match=words):
        Panel.open(pins, factory)


def test_no_pins_on_this_machine(monkeypatch):
    import gpiozero

    def bad(*args, **kwargs):
        raise gpiozero.BadPinFactory("Unable to load any default pin factory!")

    monkeypatch.setattr(gpiozero, "Buzzer", bad)
    with pytest.raises(
        NoPins,
        match=(
            "^pins: Unable to load any default pin factory!; on a Pi: .*python3-lgpio, then "
            "make install$"
        ),
    ):
        Panel.open({"buzzer": 18})


def test_the_wiring_table_is_right():
    """Its TOML is a panel that opens, and each GPIO is on the header's pin it says."""
    text = (Path(__file__).parents[2] / "docs" / "manual" / "wiring.md").read_text()
    pins = tomllib.loads(re.search(r"```toml\n(.*?)```", text, re.S)[1])["pins"]
    factory = MockFactory(pin_class=MockPWMPin)
    Panel.open(pins, factory).close()
    told = {
        name: (int(gpio), int(pin))
        for name, gpio, pin in re.findall(r"\| `([\w.]+)` \| GPIO(\d+) \| (\d+) \|", text)
    }
    wanted = {f"lamp.{c}": p for c, p in pins["lamp"].items()} | {
        k: v for k, v in pins.items() if k != "lamp"
    }
    assert {name: gpio for name, (gpio, _) in told.items()} == wanted
    header = {p.number: p.names for p in factory.board_info.headers["J8"].pins.values()}
    for gpio, pin in told.values():
        assert f"GPIO{gpio}" in header[pin]
    assert all("GND" in header[int(n)] for n in re.findall(r"ground, pin (\d+)", text))
    factory.reset()


def test_the_table_of_lights_is_right():
    text = (Path(__file__).parents[2] / "docs" / "manual" / "wiring.md").read_text()
    for verdict, (colour, _) in SIGNALS.items():
        row = re.search(rf"\| `?{'no camera' if verdict == 'lost' else verdict}`? \| (\w+)", text)
        assert row and row[1] == colour
