"""Lamp, buzzer and buttons at the table, through gpiozero; any or all of them may be missing.

    [pins]                                     # BCM numbers
    lamp = { red = 17, green = 27, blue = 22 } # an RGB lamp; or three: green, amber, red; or 17
    buzzer = 18
    done = 5
    undo = 6
    mute = 13

Each verdict has its own colour and its own rhythm, so that it can be told without seeing colour.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Mapping
from itertools import cycle
from typing import Any

BEAT = 0.125  # seconds per step of a rhythm
STEADY, SLOW, FAST, TWICE, BLIP, DARK = (
    (1,),
    (1,) * 8 + (0,) * 8,
    (1, 0),
    (1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0),
    (1,) + (0,) * 23,
    (0,),
)
SIGNALS: dict[str, tuple[str, tuple[int, ...]]] = {
    "moved": ("green", STEADY),
    "unfinished": ("amber", SLOW),
    "illegal": ("red", FAST),
    "unclear": ("blue", TWICE),
    "busy": ("off", DARK),
    "lost": ("red", BLIP),
}
RGB = {
    "green": (0, 1, 0),
    "amber": (1, 0.45, 0),
    "red": (1, 0, 0),
    "blue": (0, 0.2, 1),
    "off": (0, 0, 0),
}
BUTTONS = ("done", "undo", "mute")
BUZZ = 0.15


class PinFault(ValueError):
    """Pins that cannot be used; the message names the key and what is wrong."""


class NoPins(PinFault):
    """The configuration of the pins is valid, but this machine's pins cannot be used: the table
    plays on without them."""


class Panel:
    """Lamp, buzzer and buttons of the table. Made by `open`, or `Panel()` for a table that has
    none.

    signal: the verdict shown now; muted: whether the buzzer is muted; buzzes: how often it has
    sounded.
    """

    def __init__(self) -> None:
        self.signal, self.muted, self.buzzes = "busy", False, 0
        self._lamp: _Lamp | None = None
        self._buzzer: Any = None
        self._buttons: dict[str, Any] = {}
        self._pressed: dict[str, Callable[[], None]] = {}

    @classmethod
    def open(cls, pins: Mapping[str, Any], factory: Any = None, beat: float = BEAT) -> Panel:
        """factory: a gpiozero pin factory, None: the machine's own. Raises PinFault, NoPins."""
        panel = cls()
        unknown = set(pins) - {"lamp", "buzzer", *BUTTONS}
        if unknown:
            raise PinFault(
                f"pins: {sorted(unknown)[0]!r} is none of lamp, buzzer, {', '.join(BUTTONS)}"
            )
        used: dict[int, str] = {}
        for key, value in pins.items():
            for pin in value.values() if isinstance(value, Mapping) else (value,):
                if not isinstance(pin, int) or isinstance(pin, bool) or not 0 <= pin <= 27:
                    raise PinFault(f"pins: {key}: {pin!r} is not a pin from 0 to 27")
                if pin in used:
                    raise PinFault(f"pins: pin {pin} stands for {used[pin]} and for {key}")
                used[pin] = key
        if not pins:
            return panel
        # lgpio keeps a pipe in its working directory, which need not be writable.
        os.environ.setdefault("LG_WD", tempfile.gettempdir())
        import gpiozero

        # what cannot be used is reported once, below
        warnings.simplefilter("ignore", gpiozero.PinFactoryFallback)
        try:
            if "lamp" in pins:
                panel._lamp = _Lamp(pins["lamp"], factory, beat)
            if "buzzer" in pins:
                panel._buzzer = gpiozero.Buzzer(pins["buzzer"], pin_factory=factory)
            for name in BUTTONS:
                if name in pins:
                    panel._buttons[name] = button = gpiozero.Button(
                        pins[name], bounce_time=0.05, pin_factory=factory
                    )
                    button.when_pressed = lambda name=name: panel.press(name)
        except PinFault:
            panel.close()
            raise
        except Exception as e:  # the errors of pin libraries have no common class
            panel.close()
            help = (
                "; on a Pi: sudo apt-get install python3-lgpio, then make install"
                if isinstance(e, gpiozero.BadPinFactory)
                else ""
            )
            raise NoPins(f"pins: {' '.join(str(e).split()) or type(e).__name__}{help}") from None
        return panel

    def show(self, verdict: str) -> None:
        """Lights the lamp for a verdict ("lost": no camera). "same" leaves it as it is."""
        if verdict not in SIGNALS or verdict == self.signal:
            return
        self.signal = verdict
        if self._lamp is not None:
            self._lamp.show(*SIGNALS[verdict])

    def buzz(self) -> None:
        """A short buzz, unless muted."""
        if self.muted:
            return
        self.buzzes += 1
        if self._buzzer is not None:
            self._buzzer.beep(BUZZ, 0.01, n=1, background=True)

    def on(self, button: str, call: Callable[[], None]) -> None:
        """call() runs in gpiozero's thread when a button ("done", "undo" or "mute") is pressed."""
        if button not in BUTTONS:
            raise PinFault(f"pins: {button!r} is none of {', '.join(BUTTONS)}")
        self._pressed[button] = call

    def press(self, button: str) -> None:
        """What pressing a button does; also for the simulated table's page. "mute" switches the
        buzzer off and on."""
        if button == "mute":
            self.muted = not self.muted
        call = self._pressed.get(button)
        if call is not None:
            call()

    def close(self) -> None:
        """Switches everything off and releases the pins."""
        for device in (self._lamp, self._buzzer, *self._buttons.values()):
            if device is not None:
                device.close()
        self._lamp, self._buzzer, self._buttons = None, None, {}


class _Lamp:
    """An RGB lamp, three lamps, or a single one, blinking in a rhythm in gpiozero's thread."""

    def __init__(self, pins: Any, factory: Any, beat: float) -> None:
        import gpiozero

        if isinstance(pins, int):
            self._lamps = {"any": gpiozero.LED(pins, pin_factory=factory)}
        elif set(pins) == {"red", "green", "blue"}:
            rgb = gpiozero.RGBLED(pins["red"], pins["green"], pins["blue"], pin_factory=factory)
            self._lamps = {"rgb": rgb}
        elif pins and set(pins) <= {"green", "amber", "red"}:
            self._lamps = {c: gpiozero.LED(p, pin_factory=factory) for c, p in pins.items()}
        else:
            raise PinFault(
                "pins: lamp wants red, green, blue; or some of green, amber, red; or one number"
            )
        for lamp in self._lamps.values():
            lamp.source_delay = beat

    def show(self, colour: str, rhythm: tuple[int, ...]) -> None:
        for name, lamp in self._lamps.items():
            if name == "rgb":
                values: list[Any] = [tuple(step * c for c in RGB[colour]) for step in rhythm]
            else:
                # Three lamps include no blue one: a question lights amber, in its own rhythm.
                mine = name in ("any", {"blue": "amber"}.get(colour, colour))
                values = [int(bool(step and mine)) for step in rhythm]
            lamp.source = None
            if len(set(values)) == 1:
                lamp.value = values[0]
            else:
                lamp.source = cycle(values)

    def close(self) -> None:
        for lamp in self._lamps.values():
            lamp.source = None
            lamp.close()
