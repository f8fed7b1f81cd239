"""The accuracy command's figures: over several copies the same probabilities are asked together."""

from __future__ import annotations

from calibration.accuracy import BINS, Accuracy, honesty, table, together


def copy_with(name, **bins):
    """Figures of a copy: bins as b4=(sites, right)"""
    return Accuracy(name, "letters", 1, 10, 9, 0, reliability=[bins.get(f"b{i}", (0, 0)) for i in range(len(BINS) - 1)])


def test_reliability_of_several_copies_is_one_table():
    lines = honesty(together([copy_with("a", b4=(6, 6), b7=(90, 90)), copy_with("b", b4=(4, 3))]))
    assert [line.split() for line in lines] == [
        "given 90.0 to 95.0 %: 10 sites, 90.00 % right".split(), "given 99.9 to 100.0 %: 90 sites, 100.00 % right".split()]


def test_a_copys_figures_stand_beside_the_last_runs():
    lines = table(copy_with("a", b0=(1, 0)), {"share": 0.8, "boards": "0/1", "ms": 12.0})
    assert "sites 9/10 90.000 %" in lines[0] and "(last 80.000 %, 0/1, 12 ms)" in lines[0] and "0.00 % right" in lines[1]
