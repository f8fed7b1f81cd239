"""What a network tells of made-up boards it never saw, judged as sites are."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from calibration.training.examine import Examination, PieceAnswer, SiteAnswer
from vision.learned.groups import FOREIGN, UNDER, Form, SiteGroup
from vision.learned.reader import LearnedReader

PILE, FIELD, BANK = range(3)
GROUPS = (
    SiteGroup("pile", ("P1", "P2"), (20, 20), ((), ("?",), ("temple",), ("farm",), UNDER)),
    SiteGroup("cluster", ("F1", "F2"), (60, 60), ((), ("?",), ("desert",)), ("ship", "man")),
    SiteGroup("cluster", ("B1",), (30, 30), ((), ("?",)), ("man",)),
)
FORMS = (
    Form((18.0, 8.0), False, 8.0, ("ship",)),
    Form((12.0, 12.0), True, 30.0, ("man", "chief")),  # stands
)
READER = SimpleNamespace(groups=GROUPS, forms=FORMS, names=["ship", "man", "chief"], under=("?",))
READER.pile_evidence = partial(LearnedReader.pile_evidence, READER)
EMPTY, DESERT, SHIP, MAN, CHIEF = 0, 2, 0, 1, 2


def site(group, want, right=True):
    """An answer that gives nine tenths to one class"""
    n = len(GROUPS[group].classes)
    best = want if right else next(c for c in range(n) if c not in (want, FOREIGN))
    told = np.full(n, 0.1 / (n - 1))
    told[best] = 0.9
    return SiteAnswer(group, want, np.log(told))


def piece(form, want, told=None, found=0.9):
    told = want if told is None else told
    others = {SHIP} if form == 0 else {MAN, CHIEF}
    kinds = {k: 0.8 if k == told else 0.2 for k in others | {told}}
    return PieceAnswer(want, found, kinds)


def test_what_was_told_is_judged_as_sites_are_that_were_read():
    sites = [site(PILE, 3), site(PILE, 2, right=False), site(FIELD, DESERT), site(BANK, EMPTY)]
    unasked = [site(PILE, FOREIGN), site(PILE, GROUPS[PILE].classes.index(UNDER))]
    pieces = [piece(1, MAN), piece(1, MAN, CHIEF), piece(0, SHIP, found=0.1)]
    trial = Examination([*sites, *unasked], pieces).trial(READER)
    assert [(r.reads, r.want, r.got) for r in trial.rows] == [
        ("pile", ("farm",), ("farm",)),
        ("pile", ("temple",), ()),
        ("cluster", ("desert",), ("desert",)),
        ("cluster", (), ()),
        ("cluster", ("man",), ("man",)),
        ("cluster", ("man",), ("chief",)),
        ("cluster", ("ship",), ()),
    ]
    assert trial.right == 4 and trial.rows[0].chance == pytest.approx(0.9)
    assert trial.rows[4].chance == pytest.approx(0.72)
    assert math.exp(trial.rows[6].seen.options[0][1]) == pytest.approx(0.9), "none was found"
