"""How far a network is believed, by what it tells of made-up boards it never saw."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from calibration.learned.examine import (
    CARD_SHARES,
    FEW_EXAMPLES,
    PIECE_SHARES,
    Examination,
    PieceAnswer,
    SiteAnswer,
    share_right,
    trust_of,
    weigh_trust,
)
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
    return PieceAnswer(form, want, found, kinds)


WELL = (
    [site(FIELD, DESERT)] * 20 + [site(BANK, EMPTY)] * 20,
    [piece(0, SHIP)] * 20 + [piece(1, MAN)] * 20,
)


def test_who_tells_all_right_is_believed_of_clusters_and_of_piles_nobody_else_is_asked():
    wrong_piles = [site(PILE, 2, right=False)] * 20
    trust, alone = weigh_trust(Examination([*WELL[0], *wrong_piles], WELL[1]), READER)
    assert trust == {"F1": 1.0, "F2": 1.0, "B1": 1.0} and not alone


def test_who_mistakes_the_cards_is_not_believed_there():
    cards = [site(FIELD, DESERT, right=n % 5 < 2) for n in range(20)] + WELL[0][20:]
    trust, alone = weigh_trust(Examination(cards, WELL[1]), READER)
    assert trust == {"F1": 0.0, "F2": 0.0, "B1": 1.0} and not alone


def test_who_mistakes_the_pieces_tells_the_card_alone_and_nothing_where_no_card_lies():
    """Men, on both"""
    men = [piece(1, MAN, CHIEF)] * 20
    trust, alone = weigh_trust(Examination(WELL[0], WELL[1][:20] + men), READER)
    assert trust == {"F1": 1.0, "F2": 1.0, "B1": 0.0} and alone == {"F1", "F2"}
    ships = [piece(0, SHIP, MAN)] * 20
    trust, alone = weigh_trust(Examination(WELL[0], ships + WELL[1][20:]), READER)
    assert trust["B1"] == 1.0 and alone == {"F1", "F2"}, "no ships lie there"


@pytest.mark.parametrize(("form", "want", "believed"), [(0, SHIP, True), (1, MAN, False)])
def test_of_pieces_that_stand_those_that_are_not_found_count_as_mistakes(form, want, believed):
    """Of those that lie only the kind is asked: a heap hides many"""
    hidden = [piece(form, want, found=0.2)] * 20
    others = [a for a in WELL[1] if a.form != form]
    trust, alone = weigh_trust(Examination(WELL[0], hidden + others), READER)
    assert (not alone and trust["F1"] == 1.0) == believed


def test_trust_grows_with_what_is_told_right():
    assert [trust_of(v, (0.85, 0.95)) for v in (None, 0.5, 0.9, 0.99)] == pytest.approx(
        [1.0, 0.0, 0.5, 1.0]
    )


def test_who_is_seldom_asked_is_not_condemned_for_it():
    few, many = [False] * (FEW_EXAMPLES - 1), [False] * FEW_EXAMPLES
    assert share_right(few) is None and trust_of(share_right(few), CARD_SHARES) == 1
    assert share_right(many) == 0 and trust_of(share_right(many), PIECE_SHARES) == 0
    assert share_right([*many, *[True] * FEW_EXAMPLES]) == 0.5


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
