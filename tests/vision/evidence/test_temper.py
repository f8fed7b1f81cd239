"""Evidence that says what it means: heat and doubt fitted to what was read rightly and wrongly."""

import math

import numpy as np
import pytest

from vision.evidence.site_evidence import FLOOR, CountedEvidence, SiteEvidence
from vision.evidence.temperature_scaling import TemperatureScaling, fit_temperature


def said(p, first="farm", second="temple"):
    return SiteEvidence((((first,), math.log(p)), ((second,), math.log(1 - p))), FLOOR)


def told(e, kind):
    return math.exp(dict(e.options)[(kind,)])


def test_who_is_right_as_often_as_he_says_is_left_alone():
    rows = [(said(0.9), ("temple",) if n % 10 == 0 else ("farm",), "pile") for n in range(300)]
    assert told(fit_temperature(rows).applied(said(0.9)), "farm") == pytest.approx(0.9, abs=0.02)


def test_who_is_too_sure_is_made_to_doubt():
    rows = [(said(0.99), ("temple",) if n % 10 == 0 else ("farm",), "pile") for n in range(300)]
    temper = fit_temperature(rows)
    assert temper.heat > 1.5 and told(temper.applied(said(0.99)), "farm") == pytest.approx(
        0.9, abs=0.035
    )


def test_what_is_never_considered_becomes_a_doubt():
    rows = [(said(0.9999), ("market",) if n % 60 == 0 else ("farm",), "pile") for n in range(300)]
    temper = fit_temperature(rows)
    assert temper.doubt >= 0.004 and told(temper.applied(said(0.9999)), "farm") < 0.997


def test_what_two_photos_could_not_teach_does_not_make_the_rest_unsure():
    """An Ur reader that had learnt from one sampler took every third tile for something else, and
    was right of the others: all illegal moves then were "unclear" to the one that had learnt from
    both"""
    rows = [(said(0.999), ("market",) if n % 3 == 0 else ("farm",), "pile") for n in range(72)]
    temper = fit_temperature(rows)
    assert temper.heat < 1.1 and told(temper.applied(said(0.999)), "farm") > 0.99


def test_a_few_right_answers_hardly_change_anything():
    assert told(
        fit_temperature([(said(0.97), ("farm",), "pile")] * 5).applied(said(0.97)), "farm"
    ) == pytest.approx(0.97, abs=0.02)
    assert fit_temperature([]) == TemperatureScaling()


def test_counts_and_what_lies_first_are_tempered_alike():
    e = CountedEvidence(
        ((("desert", "seed"), math.log(0.95)), (("desert",), math.log(0.04))),
        FLOOR,
        {"desert": math.log(0.99), "": math.log(0.01)},
        {"seed": (math.log(0.05), math.log(0.95))},
    )
    cool = TemperatureScaling(2.0, 0.01).applied(e)
    assert told(cool.__class__(tuple((c[-1:], p) for c, p in cool.options)), "seed") < 0.95
    for table in (list(cool.first.values()), cool.counts["seed"]):
        assert np.exp(table).sum() == pytest.approx(1, abs=1e-3)
    assert cool.first[""] > e.first[""] and cool.counts["seed"][0] > e.counts["seed"][0]
    assert cool.best == e.best and cool.logp(("desert", "seed")) < e.logp(("desert", "seed"))
