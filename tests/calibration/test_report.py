"""What the calibration report says, and that its page stands by itself."""

import json
import math
import re
from collections import Counter
from html import unescape

import msgspec
import numpy as np
import pytest

from calibration.framing import burnt_pieces
from calibration.report import ENOUGH_ASKED, Findings, report_page
from calibration.trial import Row, Trial, taken_for
from engine.text import pack_text
from vision.evidence.site_evidence import FLOOR, SiteEvidence


def row(want, *options, other=1e-6, site="A1", photo="sampler-2.jpg", reads="pile"):
    """options: ("kinds", probability)"""
    told = tuple((tuple(words.split()), math.log(p)) for words, p in options)
    return Row(
        photo, site, reads, tuple(want.split()), SiteEvidence(told, max(math.log(other), FLOOR))
    )


def test_figures_of_a_trial():
    t = Trial(
        [
            row("temple", ("temple", 0.97), ("farm", 0.02)),
            row("temple", ("farm", 0.6), ("temple", 0.4)),
            row("", ("", 0.9995)),
            row("farm", ("farm", 0.05), other=0.9),
        ]
    )
    assert t.right == 2
    assert t.reliability() == [
        (0.5, 0.7, 1, 0),
        (0.9, 0.95, 1, 0),
        (0.95, 0.99, 1, 1),
        (0.999, 1.0, 1, 1),
    ]
    kinds = t.kinds()
    assert (
        kinds["temple"] == (2, 1, Counter({"farm": 1}))
        and kinds["farm"] == (1, 0, Counter({"?": 1}))
        and kinds[""][:2] == (1, 1)
    )
    assert [(a, b) for a, b, _ in t.alike()] == [("temple", "farm")]


def test_what_a_kind_was_taken_for():
    assert (
        taken_for(("a", "b"), ("a", "c"), "b") == "c" and taken_for(("a", "b"), ("a",), "b") == ""
    )
    assert taken_for(("a", "b"), ("a", "c"), "a") is None and taken_for(("a",), None, "a") == "?"
    assert taken_for(("a",), ("a", "b"), "a") == "itself and b" and taken_for((), ("b",), "") == "b"


@pytest.fixture
def made(calibrated):
    copy, _, shots = calibrated
    return copy, shots


def test_the_page_stands_by_itself_and_names_what_is_confused(made):
    copy, shots = made
    name, layout = next((s.name, s.layout) for s in shots if s.layout)
    site, contents = next((s, c) for s, c in layout.items() if c == ("temple",))
    bad = row("temple", ("farm", 0.8), ("temple", 0.15), site=site, photo=name)
    unread = row("temple", ("farm", 0.7), photo="", site="")  # of a made-up board
    found = Findings(Trial([unread]), Trial([bad]), [(name, 0.31)], ["nowhere", "<rare>"])
    html = report_page(copy, shots, found)
    assert (
        "no photo shows nowhere" in html
        and "cannot tell temple from farm" in html
        and "0.31" in html
    )
    assert "<rare>" not in html and "&lt;rare&gt;" in html
    assert html.count("data:image/jpeg") == 2 and not re.search(r"(src|href)=\"(?!data:)", html)
    assert str(found.sentence) == (
        "0 of 1 places are read right in its photos, 0.0 % on boards made up of them; "
        "the board is found to 0.3 px."
    )
    said = [json.loads(unescape(packed)) for packed in re.findall(r'data-say="([^"]*)"', html)]
    assert {"t": "What is confused with what"} in said and pack_text(found.sentence) in said, (
        "for the table's page to translate"
    )


def test_the_page_on_a_phone(made, tmp_path, chromium):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    copy, shots = made
    name = next(s.name for s in shots if s.layout)
    site = next(s for s, c in next(s.layout for s in shots if s.layout).items() if c == ("temple",))
    rows = [row("temple", ("farm", 0.8), ("temple", 0.15), site=site, photo=name)]
    (tmp_path / "report.html").write_text(
        report_page(copy, shots, Findings(Trial(rows), Trial(rows), [], []))
    )
    tab = chromium.new_page(viewport={"width": 360, "height": 800})
    tab.goto((tmp_path / "report.html").as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert axe.Axe().run(tab).response["violations"] == []
    tab.close()


def test_photos_with_pieces_burnt_out_are_named(made):
    copy, shots = made
    shot = next(s for s in shots if s.layout)
    assert not burnt_pieces(copy.plan, shot)
    bright = msgspec.structs.replace(
        shot, image=np.where(shot.image > 60, 255, shot.image).astype(np.uint8)
    )
    assert burnt_pieces(copy.plan, bright) and not burnt_pieces(
        copy.plan, msgspec.structs.replace(bright, layout={})
    )


def test_white_pieces_that_are_all_read_right_need_no_other_light():
    right, wrong = (Trial([row("white", (kind, 0.99))]) for kind in ("white", "black"))
    for own, told in ((right, False), (wrong, True)):
        advice = [str(t) for t in Findings(right, own, [], [], ["a.jpg"]).advice()]
        assert any("a.jpg" in t and "burnt out" in t for t in advice) == told


def test_kinds_often_misread_on_made_up_boards_are_asked_for_once_more():
    right, wrong = row("bull", ("bull", 0.9)), row("lion", ("pot", 0.9))
    unsure = [row("pot", ("pot", 0.9))] * 7 + [row("pot", ("bull", 0.9))] * 3
    trial = Trial([right] * ENOUGH_ASKED + [wrong] * (ENOUGH_ASKED - 1) + unsure)
    none, mine = Trial([]), Trial([row("archer", ("bull", 0.9))])
    assert Findings(trial, none, [], []).doubtful() == ["pot"], "of lions too few were asked"
    both = Findings(trial, mine, [], [])
    assert both.doubtful() == ["archer", "pot"]
    assert "lay these in one more photo" in str(both.advice()[-1])
    assert str(both.advice()[-1]).endswith("archer, pot")
