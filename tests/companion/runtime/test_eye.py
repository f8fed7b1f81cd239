"""The table's eye asks only for what changed; when it cannot be sure of the rest it asks for
all."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from companion.runtime.eye import QUIET, Eye
from companion.table.table import Table
from engine import game
from tests.coins import FIRST, POSE, SIZE, coins, moved, seen_from
from vision.evidence.site_evidence import Evidence, Registration, SiteEvidence


class Seen:
    """An eye that looks at a board of coins five times a second; asked: what its reader was asked
    for, None for all."""

    def __init__(self):
        self.pose, self.now, self.asked = POSE, 0.0, []
        self.reader = coins().reader(
            SimpleNamespace(
                locate=lambda image, last: self.pose, is_ambiguous=lambda image, pose: False
            )
        )
        self.eye, read = Eye(self.reader), self.reader.read_at

        def read_at(image, pose, sites=None, cache=None):
            self.asked.append(sites)
            return read(image, pose, sites, cache)

        self.reader.read_at = read_at

    def show(self, pieces, seconds=1.2, arm=False, gap=0.2, **film):
        """Evidence of so many seconds, and what was asked for meanwhile"""
        picture, out = coins().film(pieces, self.pose, noise=0, **film), []
        self.asked.clear()
        for n in range(round(seconds / gap)):
            self.now += gap
            shown = picture.copy()
            if arm:
                cv2.line(shown, (320 + 15 * n, 520), (330 + 25 * n, 250), (60, 70, 40), 90)
            out.append(self.eye.stream(coins().noisy(shown), self.now))
        return [e for e in out if e is not None], list(self.asked)

    def hand(self, pieces):
        return self.show(pieces, 0.8, arm=True)

    def right(self, pieces):
        """Whether the evidence says what a look that knows nothing does"""
        anew = coins().reader().read_at(coins().film(pieces, self.pose), self.pose)
        return {s: e.best for s, e in self.eye.evidence.sites.items()} == {
            s: e.best for s, e in anew.sites.items()
        }


@pytest.fixture
def seen():
    s = Seen()
    told, asked = s.show(FIRST)
    assert asked == [None] and told[-1].changed is None
    return s


def test_after_a_hand_only_what_changed_is_asked_for(seen):
    after = moved(FIRST, 1, ("pale", 36, 54))
    seen.hand(FIRST)
    told, asked = seen.show(after)
    assert len(asked) == 1 and asked[0] and len(asked[0]) <= 4 and "a1" in asked[0]
    assert told[-1].changed == asked[0] and told[-1].sites.keys() == seen.reader.plan.sites.keys()
    assert seen.right(after)


def test_what_changed_is_read_before_the_table_is_at_rest_and_told_then(seen):
    seen.hand(FIRST)
    told, asked = seen.show(moved(FIRST, 1), 0.25, gap=0.1)  # not yet at rest
    assert (
        len(asked) == 1
        and asked[0]
        and told[-1].busy == "moving"
        and told[-1].sites != seen.eye.evidence.sites
    )
    told, asked = seen.show(moved(FIRST, 1), 0.3, gap=0.1)
    assert (
        asked == []
        and told[-1].busy is None
        and "a1" in told[-1].changed
        and seen.right(moved(FIRST, 1))
    )


def test_what_was_read_before_the_table_was_at_rest_is_not_told_when_it_goes_on(seen):
    seen.hand(FIRST)
    between, end = moved(FIRST, 1), moved(moved(FIRST, 1), 4)
    told = [
        e
        for pieces in (between, end, FIRST, between, end)
        for e in seen.show(pieces, 0.25, gap=0.1)[0]
    ]
    assert all(e.busy for e in told)
    told, asked = seen.show(end, 0.5, gap=0.1)
    assert told[-1].busy is None and None not in asked and seen.right(end)


def test_something_foreign_read_before_the_table_was_at_rest(seen):
    read, strange = seen.reader.read_at, [True]

    def read_at(image, pose, sites=None, cache=None):
        found = read(image, pose, sites, cache)
        odd = {s: SiteEvidence((), 0.0) for s in (sites or () if strange[0] else ())}
        return Evidence({**found.sites, **odd}, found.registration, None, found.changed)

    seen.reader.read_at = read_at
    for goes in (False, True):
        seen.hand(FIRST)
        after = moved(FIRST, 8) if goes else moved(FIRST, 1)
        seen.show(after, 0.25, gap=0.1)
        assert None not in seen.asked, "all takes long: not for what may be a hand on its way"
        strange[0] = not goes
        if goes:
            assert seen.show(FIRST, 0.6, gap=0.1)[1] != [] and seen.right(FIRST)
        else:
            told, asked = seen.show(after, 0.3, gap=0.1)
            assert asked == [None] and told[-1].busy is None and told[-1].changed is None


def test_what_was_read_past_something_foreign_is_not_remembered(seen):
    """Half a tile beside an arm that nobody knew for one looked like a stone, and went on doing so
    once the arm had gone"""
    read, strange, known = seen.reader.read_at, [True], []

    def read_at(image, pose, sites=None, cache=None):
        known.append(len(cache.sites))
        found = read(image, pose, sites, cache)
        odd = {"a1": SiteEvidence((), 0.0)} if strange[0] else {}
        return Evidence({**found.sites, **odd}, found.registration, None, found.changed)

    seen.reader.read_at = read_at
    seen.hand(FIRST)
    seen.show(moved(FIRST, 1))
    strange[0] = False
    known.clear()
    elsewhere = moved(moved(FIRST, 1), 9)
    seen.hand(moved(FIRST, 1))
    seen.show(elsewhere)
    assert known and 0 not in known, "what lies elsewhere is remembered"
    known.clear()
    seen.hand(elsewhere)
    seen.show(moved(elsewhere, 0))
    assert 0 in known and seen.right(moved(elsewhere, 0))
    known.clear()
    seen.hand(moved(elsewhere, 0))
    seen.show(elsewhere)
    assert known and 0 not in known, "all was read afresh meanwhile"


def test_at_rest_nothing_is_recalled(seen):
    """What was made of a piece that a sleeve pushed a little goes away by itself"""
    read, known = seen.reader.read_at, []

    def read_at(image, pose, sites=None, cache=None):
        known.append(len(cache.sites))
        return read(image, pose, sites, cache)

    seen.reader.read_at = read_at
    seen.hand(FIRST)
    seen.show(moved(FIRST, 8))
    assert known and 0 not in known
    known.clear()
    seen.show(moved(FIRST, 8), QUIET + 1)
    assert known == [0]
    seen.eye.whole()
    assert known == [0, 0]


def test_at_rest_all_is_read_once_and_nobody_is_told_if_nothing_is_new(seen):
    seen.hand(FIRST)
    after = moved(FIRST, 8)
    seen.show(after)
    assert seen.show(after, QUIET + 1) == ([], [None])
    assert seen.show(after, 2 * QUIET) == ([], [])


def test_what_the_watcher_did_not_see_is_told_at_rest(seen):
    """As two tiles that differ in a dot"""
    seen.hand(FIRST)
    seen.show(moved(FIRST, 8))
    last = seen.eye.evidence
    wrong = {**last.sites, "d2": SiteEvidence((((), -0.01),))}
    seen.eye.evidence = Evidence(wrong, last.registration, changed=last.changed)
    told, asked = seen.show(moved(FIRST, 8), QUIET + 1)
    assert asked == [None] and len(told) == 1 and seen.right(moved(FIRST, 8))


def test_a_piece_moved_a_little_and_back(seen):
    for pieces in (
        moved(FIRST, 5, ("pale", 161, 30)),
        FIRST,
        moved(FIRST, 5, ("pale", 160, 31)),
        FIRST,
    ):
        seen.hand(FIRST)
        seen.show(pieces)
        assert seen.right(FIRST)


def test_one_changed_and_then_another_in_the_shadow_of_a_hand(seen):
    first = moved(FIRST, 1)
    x = np.linspace(0, 190, SIZE[0])[None, :, None]
    shadow = 1 - 0.4 / (1 + np.exp((110 - x) / 2))
    seen.hand(FIRST)
    seen.show(first, light=shadow)
    seen.show(moved(first, 4), light=shadow)  # under the shadow
    seen.show(moved(first, 4))
    assert seen.right(moved(first, 4))


def test_a_bumped_camera_means_all_is_asked_for(seen):
    seen.hand(FIRST)
    seen.pose = seen_from(6.0)
    told, _ = seen.show(moved(FIRST, 3))
    assert told[-1].changed is None and seen.right(moved(FIRST, 3))


def test_another_lamp_misleads_nobody(seen):
    seen.hand(FIRST)
    seen.show(moved(FIRST, 3), light=np.linspace(1.25, 0.8, SIZE[0])[:, None])
    assert seen.right(moved(FIRST, 3))


def test_all_is_asked_for_where_what_changed_is_something_foreign(seen):
    read = seen.reader.read_at

    def strange(image, pose, sites=None, cache=None):
        found = read(image, pose, sites, cache)
        strange = {s: SiteEvidence((), 0.0) for s in sites or ()}
        return Evidence({**found.sites, **strange}, found.registration, None, found.changed)

    seen.reader.read_at = strange
    seen.hand(FIRST)
    told, asked = seen.show(moved(FIRST, 8))
    assert len(asked) == 2 and asked[0] and asked[1] is None and told[-1].changed is None


def test_nobody_is_alarmed_or_asked_before_all_is_read():
    rules = game("tigris")
    table = Table(rules.setup(["bull", "lion"]))
    layout = table.state.layout()
    right = {s: SiteEvidence(((tuple(layout.get(s, ())), 0.0),)) for s in table.plan.sites}
    site = next(s for s, c in layout.items() if c)
    wrong = Evidence(
        {**right, site: SiteEvidence(((("market",), 0.0),))},
        Registration("print", 0.3),
        changed=frozenset({site}),
    )
    asked = []

    def whole():
        asked.append(1)
        return Evidence(right, Registration("print", 0.3))

    assert Table(rules.setup(["bull", "lion"])).look(wrong).verdict in ("illegal", "unclear")
    assert table.look(wrong, None, whole).verdict == "same" and asked == [1]
    recalled = Evidence(wrong.sites, wrong.registration)  # all sites, but some as they were before
    assert table.look(recalled, None, whole).verdict == "same" and asked == [1, 1]
