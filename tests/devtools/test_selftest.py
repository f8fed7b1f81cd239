"""The list for a person: gone through with made-up hands, pins and a camera."""

import json
from types import SimpleNamespace

from gpiozero.pins.mock import MockFactory, MockPWMPin

from companion.runtime.config import Config
from devtools.selftest import conduct_items, table_items
from hardware.panel import SIGNALS, Panel

PINS = {"lamp": 17, "buzzer": 18, "undo": 6}


def gone_through(tmp_path, hands, answers="y"):
    """hands(told, eye, factory): what the person does at each sentence. -> (how many wrong, the
    record's lines)"""
    factory = MockFactory(pin_class=MockPWMPin)
    panel, eye, now = Panel.open(PINS, factory), SimpleNamespace(state="ok", settled=0), [0.0]

    def sleep(seconds):
        now[0] += seconds

    wrong = conduct_items(
        table_items(Config("c", camera={"kind": "usb"}, pins=PINS), eye, panel),
        tmp_path / "r.jsonl",
        lambda told: hands(told, eye, factory),
        lambda words: answers,
        lambda: now[0],
        sleep,
    )
    panel.close()
    factory.reset()
    return wrong, [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]


def willing(told, eye, factory):
    for words, state in (
        ("hand flat", "covered"),
        ("hand away", "ok"),
        ("Pull the camera's", "lost"),
        ("Put it in", "ok"),
    ):
        if words in told:
            eye.state = state
    eye.settled += "main light" in told
    if "Press the button" in told:
        factory.pin(6).drive_low()


def test_a_willing_person_and_a_good_table(tmp_path):
    wrong, record = gone_through(tmp_path, willing)
    assert wrong == 0 and "machine" in record[0]
    named = {line["item"]: line["how"] for line in record[1:]}
    assert set(named.values()) == {"good"} and {f"lamp {v}" for v in SIGNALS} < set(named)
    assert {
        "camera pulled out",
        "camera back",
        "light",
        "buzzer",
        "button undo",
        "power cut",
    } < set(named)


def test_what_does_not_happen_is_written_down(tmp_path):
    wrong, record = gone_through(tmp_path, lambda *a: None, "n")
    bad = {line["item"] for line in record[1:] if line["how"] == "bad"}
    assert (
        wrong == len(bad)
        and {"camera covered", "camera pulled out", "light", "button undo", "buzzer"} < bad
    )
    assert next(line for line in record[1:] if line["item"] == "light")["seconds"] >= 60


def test_what_is_skipped_is_not_wrong(tmp_path):
    wrong, record = gone_through(tmp_path, willing, "s")
    assert wrong == 0 and [line for line in record[1:] if line["how"] == "skipped"]
