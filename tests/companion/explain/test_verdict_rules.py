"""Each verdict rule by itself, on situations made by hand: when it speaks, and when it leaves the
word to the next."""

import math

import msgspec
import pytest

import engine
from companion.explain import verdict_rules as rules
from companion.explain.hypothesis import (
    STANDS_OUT,
    Look,
    judge_hypothesis,
    start_from,
)
from companion.explain.ranking import TOO_CLOSE
from companion.explain.reconcile import Context, Reconciliation
from companion.explain.situation import Situation
from engine import Proposal, script
from tests.companion.support.made_evidence import sees
from vision.evidence.site_evidence import SiteEvidence

START = "game tigris\nseats bull lion\n"


class Scene:
    """A state, what is seen, and hypotheses of which the test says how likely they are"""

    def __init__(self, text=START, seen=None, sites=None, **kw):
        result = script.run_script(text)
        assert not result.faults, result.faults
        self.state, self.plan = result.state, result.state.plan
        self.board = {**self.state.layout(), **(seen or {})}
        reads = {s.id: s.reads for s in self.plan.sites.values()}
        evidence = sees(self.board, self.plan, **kw)
        evidence = msgspec.structs.replace(evidence, sites={**evidence.sites, **(sites or {})})
        self.look = Look(evidence, reads, frozenset())
        self.nothing = judge_hypothesis(start_from(self.state), self.look)

    def done(self, *texts, behind=0.0):
        """That these actions were done; behind: nats less likely than `nothing` would be unread"""
        h = start_from(self.state)
        for text in texts:
            action = h.state.parse(text)
            h = h.after(h.state.apply(action), action, 0.0)
        return msgspec.structs.replace(judge_hypothesis(h, self.look), total=-behind)

    def broken(self, text, changes, behind=0.0):
        """That an action was done that the rules forbid"""
        action = self.state.parse(text)
        violations = self.state.check(action)
        assert violations
        h = start_from(self.state).broken(Proposal((action,), changes), violations, action)
        return msgspec.structs.replace(judge_hypothesis(h, self.look), total=-behind)

    def situation(self, *hypotheses, seen=None):
        found = hypotheses or (self.nothing,)
        return Situation(
            engine.game(self.state.game), [(self.state, None)], self.look, [*found], seen or {}
        )


LEADER_ON_WATER = ("bull: leader black A1", {"A1": ("leader:bull:black",)})


def test_a_rule_broken_beside_covered_sites_is_no_alarm():
    for foreign, verdict in {("C4", "C5"): "unclear", ("C4",): None}.items():
        scene = Scene(seen=LEADER_ON_WATER[1], foreign=foreign)
        found = rules.alarm_beside_covers(scene.situation(scene.broken(*LEADER_ON_WATER)))
        assert (found and found.verdict) == verdict
    assert rules.alarm_beside_covers(scene.situation()) is None


def test_a_rule_broken_while_many_pieces_are_gone_is_no_alarm():
    lie = sorted(Scene().board)
    for count, verdict in {3: "unclear", 2: None}.items():
        gone = dict.fromkeys(lie[:count], ())
        scene = Scene(seen={**gone, **LEADER_ON_WATER[1]})
        situation = scene.situation(scene.broken(*LEADER_ON_WATER))
        found = rules.alarm_of_a_covering_arm(situation)
        assert (found and found.verdict) == verdict
    assert found is None or all(site in str(found.text) for site in gone)


def test_a_leader_in_somebodys_hand_is_waited_for():
    text = START + "layout clear\nlayout B2 temple treasure C2 leader:bull:black\n"
    scene = Scene(text, seen={"C2": ()})
    found = rules.pieces_in_hand(scene.situation())
    assert found.verdict == "unfinished" and found.todo[0].sites == ("C2",)
    assert rules.pieces_in_hand(Scene(text).situation()) is None
    assert rules.pieces_in_hand(Scene(seen={"D5": ("farm", "market")}).situation()) is None


def test_a_rule_broken_with_something_else_wrong_puts_both_back():
    odd = {"D5": ("farm", "market")}
    scene = Scene(seen={**odd, **LEADER_ON_WATER[1]})
    found = rules.rules_broken_and_more(scene.situation(scene.broken(*LEADER_ON_WATER)))
    assert found.verdict == "illegal" and found.wrong.keys() == {"A1", "D5"}
    plain = Scene(seen=LEADER_ON_WATER[1])
    assert rules.rules_broken_and_more(plain.situation(plain.broken(*LEADER_ON_WATER))) is None


def test_what_nothing_explains_is_asked_about():
    scene = Scene(seen={"D5": ("farm", "market")})
    found = rules.nothing_explains(scene.situation())
    assert found.verdict == "unclear" and found.question.sites == ("D5",)
    assert rules.nothing_explains(Scene().situation()) is None


def test_what_else_may_lie_where_nothing_explains_is_among_the_answers():
    strange, rest = ("farm", "market"), math.log(0.01)
    read = SiteEvidence(((strange, math.log(0.98)), (("market",), rest)), math.log(1e-4))
    scene = Scene(sites={"C2": read})
    [tile] = [a for a in rules.nothing_explains(scene.situation()).question.answers if a.run]
    assert tile.run == ("bull: tile green C2",) and tile.misread
    assert rules.nothing_explains(scene.situation()).question.seen == {"C2": strange}
    faint = SiteEvidence(((strange, math.log(0.98)), (("market",), math.log(1e-5))), read.other)
    asked = rules.nothing_explains(Scene(sites={"C2": faint}).situation()).question
    assert not any(a.run for a in asked.answers)


def test_a_piece_read_poorly_where_it_lay_is_left_alone():
    lay = Scene().board
    site = min(s for s, c in lay.items() if c)
    for odds, foreign in {1.5: set(), 2.5: {site}}.items():
        poor = SiteEvidence(((lay[site], -3.0),), odds - 3.0)
        scene = Scene(sites={site: poor})
        assert Look(scene.look.evidence, {}, frozenset(), None, lay).foreign == foreign
        assert Look(scene.look.evidence, {}, frozenset(), None, {}).foreign == {site}


def test_what_a_legal_doing_brings_is_a_piece_though_read_poorly():
    for odds, verdict in {1.5: "moved", 2.5: "unclear"}.items():
        poor = SiteEvidence(((("market",), -3.0), ((), -9.0)), odds - 3.0)
        scene = Scene(sites={"C2": poor})
        context = Context(game=engine.game("tigris"), past=[(scene.state, None)])
        found = Reconciliation(context, scene.look.evidence).verdict()
        assert found.verdict == verdict


def test_a_move_under_something_foreign_is_asked_about():
    scene = Scene(foreign=("C2",))
    assert rules.nothing_explains(scene.situation(scene.done("bull: tile green C2"))) is not None
    clear = Scene(seen={"C2": ("market",)})
    assert rules.nothing_explains(clear.situation(clear.done("bull: tile green C2"))) is None


@pytest.mark.parametrize("behind, asks", [(TOO_CLOSE / 2, True), (STANDS_OUT, False)])
def test_explanations_too_close_to_each_other_are_asked_about(behind, asks):
    scene = Scene(seen={"C2": ("market",)})
    market = scene.done("bull: tile green C2")
    temple = scene.done("bull: tile red C2", behind=behind)
    found = rules.several_explain(scene.situation(market, temple))
    assert (found is not None) == asks
    if asks:
        assert found.verdict == "unclear" and found.question is not None
    assert rules.several_explain(scene.situation(scene.nothing, market)) is None


def test_a_broken_rule_is_named_with_what_to_put_back():
    scene = Scene(seen=LEADER_ON_WATER[1])
    found = rules.rules_broken(scene.situation(scene.broken(*LEADER_ON_WATER)))
    assert found.verdict == "illegal" and "T13" in {v.rule for v in found.violations}
    assert any("A1" in str(text) for text in found.back)
    assert rules.rules_broken(scene.situation(scene.nothing)) is None


def test_what_surely_is_something_else_is_asked_about():
    doubtful = SiteEvidence(((("market",), math.log(0.55)),), math.log(0.4))
    scene = Scene(sites={"C2": doubtful})
    assert not scene.situation().left, "it may be something foreign: no reason to suppose a move"
    found = rules.surely_something_else(scene.situation())
    assert found.verdict == "unclear" and found.question.sites == ("C2",)
    assert rules.surely_something_else(Scene().situation()) is None


def test_one_foreign_thing_is_asked_about_and_several_are_told_of():
    one = rules.something_foreign(Scene(foreign=("C2",)).situation())
    assert one.verdict == "unclear" and "What is it" in str(one.question.text)
    two = rules.something_foreign(Scene(foreign=("C2", "C3")).situation())
    assert two.verdict == "unclear" and two.question is None
    scene = Scene(seen={"C2": ("market",)}, foreign=("D5",))
    assert rules.something_foreign(scene.situation(scene.done("bull: tile green C2"))) is None


def test_what_is_explained_is_same_moved_or_unfinished():
    assert rules.all_explained(Scene().situation()).verdict == "same"
    assert rules.all_explained(Scene().situation(seen={"C2": ()})).verdict == "moved"
    scene = Scene(seen={"C2": ("market",)})
    found = rules.all_explained(scene.situation(scene.done("bull: tile green C2")))
    assert found.verdict == "moved" and found.state.layout()["C2"] == ("market",)
    late = Scene(seen={})
    found = rules.all_explained(late.situation(late.done("bull: tile green C2")))
    assert found.verdict == "unfinished" and found.todo[0].sites == ("C2",)


def test_the_last_rule_always_speaks():
    assert rules.RULES[-1] is rules.all_explained


def test_a_hypothesis_does_not_change():
    scene = Scene()
    with pytest.raises(AttributeError):
        scene.nothing.total = 1.0


def test_an_alarm_where_many_sites_are_read_in_two_ways_is_none():
    """An arm as brown as the table lies there: one piece is gone, others are doubtful."""
    two_ways = {
        s: [((), 0.5), (("flipped",), 0.4)] for s in ("H8", "I8", "J8", "J9")[: rules.MANY_DOUBTS]
    }
    for count in (rules.MANY_DOUBTS, 1):
        scene = Scene(seen={"I7": ()}, unsure=list(two_ways.items())[:count])
        broken = scene.broken("bull: leader black A1", {"I7": ()})
        verdict = rules.alarm_beside_covers(scene.situation(broken))
        assert (verdict is not None) == (count > 1)
        if verdict is not None:
            assert verdict.verdict == "unclear" and "H8, I8, J8, J9" in str(verdict.text)


def test_what_is_still_to_be_taken_away_stays_to_do_where_it_is_read_poorly():
    scene = Scene(
        sites={"C4": SiteEvidence(((("temple",), math.log(0.3)),), math.log(0.6))},
    )
    behind = start_from(scene.state, allowed={"C4": {("temple",): 1.0}})
    situation = scene.situation(judge_hypothesis(behind, scene.look), seen={"C4": ("temple",)})
    assert scene.look.foreign == {"C4"} and situation.behind == {"C4": ("temple",)}
    assert [t.sites for t in situation.todo] == [("C4",)]
    gone = Scene(sites={"C4": SiteEvidence((((), math.log(0.3)),), math.log(0.6))})
    situation = gone.situation(judge_hypothesis(behind, gone.look), seen={"C4": ("temple",)})
    assert situation.behind == {}, "it looks as it should"
