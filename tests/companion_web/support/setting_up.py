"""A table that is being set up before a simulated camera."""

import threading
import time

import pytest

from calibration.fit import Report
from calibration.report import Findings, unshown_advice
from calibration.trial import Trial
from companion.setup.setup import Setup
from companion.simulate import Conditions, Director, plan_of

FINDINGS = Findings(Trial([]), Trial([]), [("a.jpg", 0.4)], ["war"])


@pytest.fixture
def director():
    return Director(
        plan_of("ur", None)[0], conditions=Conditions(resolution=(820, 616)), sleep=lambda s: None
    )


@pytest.fixture
def table(tmp_path, director):
    return Setup(tmp_path / "nilometer.toml", lambda: (director.picture(), ""), {"kind": "usb"})


@pytest.fixture
def letters(tmp_path):
    """The folder of a board without an engine, beside the configuration"""
    folder = tmp_path / "letters"
    folder.mkdir()
    lines = [
        'game = "alphabet"',
        "size = [120, 120]",
        *(f'[[piece]]\nkind = "{k}"\nsize = [18, 18]' for k in "ABC"),
    ]
    for n in range(25):
        x, y = 10 + 20 * (n % 5), 10 + 20 * (n // 5)
        lines.append(
            f'[[site]]\nid = "s{n}"\noutline = {[[x, y], [x + 20, y], [x + 20, y + 20], [x, y + 20]]}'
        )
    (folder / "plan.toml").write_text("\n".join(lines))
    return folder


@pytest.fixture
def learnt(monkeypatch):
    """Learning takes as long as the test says: what is learnt is other tests' business. Once `half`
    is set, the copy can be read already."""
    go_on = threading.Event()
    go_on.half = threading.Event()

    def learn(folder, progress, ready=None):
        progress("pieces", 0.4)
        while not (go_on.is_set() or go_on.half.is_set()):
            time.sleep(0.02)
        if go_on.half.is_set():
            (folder / "model.npz").write_bytes(b"half a model")
            ready()
            progress("network", 0.5)
        go_on.wait(20)
        (folder / "model.npz").write_bytes(b"model")
        (folder / "report.html").write_text("<h1>What is confused</h1>")
        return Report(
            "My Ur",
            "ur",
            4,
            21.0,
            [0.3, 0.4],
            ["war"],
            [unshown_advice("war")],
            FINDINGS.sentence,
            folder / "report.html",
            ["B"],
        )

    monkeypatch.setattr("calibration.session.calibrate_copy", learn)
    yield go_on
    go_on.set()
