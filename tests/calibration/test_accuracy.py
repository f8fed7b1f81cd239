"""The accuracy command's figures: over several copies the same probabilities are asked together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from calibration.accuracy import (
    BINS,
    Accuracy,
    Last,
    Wrong,
    compare_reading,
    figures_table,
    joint_reliability,
    kept_figures,
    measure_copy,
    reliability_lines,
)
from calibration.copy import BadCopy
from calibration.trial import reliability_of
from vision.evidence.site_evidence import Evidence, Registration, SiteEvidence

PHOTOS = Path(__file__).parents[1] / "photos" / "tigris"


def copy_with(name, **bins):
    """Figures of a copy: bins as b4=(sites, right)"""
    return Accuracy(
        name,
        "letters",
        1,
        10,
        9,
        0,
        reliability=[bins.get(f"b{i}", (0, 0)) for i in range(len(BINS) - 1)],
    )


def test_reliability_of_several_copies_is_one_table():
    lines = reliability_lines(
        joint_reliability([copy_with("a", b4=(6, 6), b7=(90, 90)), copy_with("b", b4=(4, 3))])
    )
    assert [line.split() for line in lines] == [
        "given 90.0 to 95.0 %: 10 sites, 90.00 % right".split(),
        "given 99.9 to 100.0 %: 90 sites, 100.00 % right".split(),
    ]


def test_a_copys_figures_stand_beside_the_last_runs():
    lines = figures_table(copy_with("a", b0=(1, 0)), Last(0.8, "0/1", 12.0))
    assert (
        "sites 9/10 90.000 %" in lines[0]
        and "(last 80.000 %, 0/1, 12 ms)" in lines[0]
        and "0.00 % right" in lines[2]
    )


def test_what_was_read_right_the_last_time_and_is_not_now_is_named_and_the_other_way_round():
    def figures(error, *wrong):
        return Accuracy(
            "a", "letters", 1, 10, 9, 0, 31.0, calibration_error=error, wrong=list(wrong)
        )

    same, lost, mended = (
        Wrong("1.jpg", "A1", "U", "Ü"),
        Wrong("2.jpg", "B3", "I", "J"),
        Wrong("1.jpg", "C2", "empty", "E"),
    )
    lines = figures_table(figures(0.01, same, lost), Last.of(figures(0.002, same, mended)))
    assert (
        "fitted in 31 s (last 31 s)" in lines[0]
        and "1.00 % from what is right (last 0.20 %)" in lines[1]
    )
    assert lines[2:] == [
        "  wrong since the last run: 2.jpg B3: I read as J",
        "  right again: 1.jpg C2: empty read as E",
    ]
    many = [Wrong("3.jpg", str(n), "U", "Ü") for n in range(20)]
    assert (
        figures_table(figures(0, *many), Last.of(figures(0)))[-1]
        == "  wrong since the last run: and 8 more"
    )
    assert len(figures_table(figures(0, *many), Last(0.8, "0/1"))) == 2, (
        "an older version did not keep which sites were wrong"
    )


@pytest.mark.parametrize(("other", "right"), [(-5.0, 1), (-0.1, 0)])
def test_an_empty_site_told_to_show_something_strange_is_not_right(other, right):
    plan = SimpleNamespace(site=[SimpleNamespace(id="A1", optional=False, reads="pile")])
    seen = Evidence({"A1": SiteEvidence((((), -0.5),), other)}, Registration("print", 0.1))
    figures, judged = Accuracy("a", "letters", 1, 0, 0, 0), []
    wrong = compare_reading(figures, "1.jpg", seen, {}, plan, judged)
    assert (
        figures.right == right
        and [w.read for w in wrong] == ["something else"][right:]
        and judged[0][1] == bool(right)
    )


def test_how_far_the_given_probabilities_lie_from_what_is_right():
    bins, error = reliability_of([(0.92, True)] * 9 + [(0.92, False)] + [(1.0, True)] * 10)
    assert [b for b in bins if b[0]] == [(10, 9), (10, 10)] and error == pytest.approx(0.01)
    assert reliability_of([]) == ([(0, 0)] * (len(BINS) - 1), 0)


@pytest.mark.parametrize(
    "spoil, word",
    [
        (lambda test, photo: [p.unlink() for p in test.iterdir()], "no photo in it"),
        (lambda test, photo: photo.with_suffix(".json").unlink(), "No such file"),
        (lambda test, photo: photo.with_suffix(".json").write_text('{"A1": ["temple"'), ".json"),
        (lambda test, photo: photo.with_suffix(".json").write_text('{"A1": ["tempel"]}'), "tempel"),
    ],
)
def test_what_is_wrong_with_test_photos_is_told_before_anything_is_fitted(
    tmp_path, monkeypatch, spoil, word
):
    shutil.copytree(PHOTOS, tmp_path / "c")
    test = tmp_path / "c" / "test"
    spoil(test, sorted(test.glob("*.jpg"))[-1])
    monkeypatch.setattr(
        "calibration.accuracy.shots_of", lambda copy: pytest.fail("minutes of fitting for nothing")
    )
    with pytest.raises(BadCopy, match=word) as e:
        measure_copy(tmp_path / "c")
    assert str(test) in str(e.value)


@pytest.mark.parametrize("kept", ["[]", "{", '{"/a": {"share": "much"}}', '{"/a": 3}'])
def test_figures_kept_by_an_earlier_run_may_be_damaged(tmp_path, kept):
    path = tmp_path / "accuracy.json"
    assert kept_figures(path) == {}
    path.write_text(kept)
    assert kept_figures(path) == {}
    path.write_text(json.dumps({"/a": {"share": 0.9, "boards": "9/14", "ms": 40.0}}))
    assert kept_figures(path) == {"/a": Last(0.9, "9/14", 40.0)}, "as versions before wrote it"
