"""Which hypothesis stands out, and what it leaves open."""

from __future__ import annotations

from collections import Counter

from companion.explain.hypothesis import (
    BREAKS_RULES,
    MISREAD,
    STANDS_OUT,
    Difference,
    Hypothesis,
    Look,
    changed_sites,
    differing_sites,
    shows_same,
    site_score,
)
from engine import State
from engine.layout import Contents, Layout, lies_first
from vision.evidence.site_evidence import Evidence

TOO_CLOSE = 1.5  # two explanations closer than this lead to a question
SURE = 4.0  # something unexplained counts only if the evidence prefers it by this much


def unexplained_sites(hypothesis: Hypothesis, look: Look) -> Difference:
    """The differences that go beyond a poor reading; a piece that nobody touched must not stop the
    game."""
    return {
        s: c
        for s, c in differing_sites(hypothesis, look).items()
        if site_score(hypothesis, look, s)[0] < -SURE
    }


def contradicted_sites(hypothesis: Hypothesis, look: Look) -> Difference:
    """Sites that should be unchanged, but whose contents are surely different: a piece that could
    also be something foreign."""
    return {
        s: (hypothesis.layout.get(s, ()), e.best)
        for s, e in look.evidence.sites.items()
        if look.contradicts(s, hypothesis.layout.get(s, ()), SURE)
        and not shows_same(hypothesis, look, s, e.best)
    }


def newly_odd_site(hypothesis: Hypothesis, look: Look) -> Difference:
    """The site where what should lie there was read beyond doubt before, and rather something else
    is read now: somebody has done something, however poorly it is read. {} if there are several,
    which the light does rather than hands."""
    odd = {
        s: (hypothesis.layout.get(s, ()), e.best)
        for s, e in look.evidence.sites.items()
        if e.options
        and not e.foreign
        and s in look.sure.keys() - look.excused
        and shows_same(hypothesis, look, s, look.sure[s])
        and not shows_same(hypothesis, look, s, e.best)
        and not (s in look.optional and not e.best)
    }
    return odd if len(odd) == 1 else {}


def sure_readings(evidence: Evidence) -> Layout:
    """What is read beyond doubt."""
    return {
        s: e.best
        for s, e in evidence.sites.items()
        if e.options and e.options[0][1] - max([e.other, *(p for _, p in e.options[1:])]) > SURE
    }


def plainly_broken_rule(
    best: Hypothesis, hypotheses: list[Hypothesis], left: Difference, look: Look
) -> Hypothesis:
    """The illegal hypothesis that explains what nothing legal does, if what it explains lies there
    beyond doubt, or if nothing else was done and it is hardly less likely than a poor reading that
    people would be asked about anyway; otherwise `best`."""
    if all(site_score(best, look, s)[0] <= -MISREAD for s in left):
        behind = BREAKS_RULES
    elif not (best.actions or best.undo):
        behind = TOO_CLOSE
    else:
        return best
    return next(
        (
            h
            for h in hypotheses
            if h.violations and h.total > best.total - behind and not unexplained_sites(h, look)
        ),
        best,
    )


def is_rival(best: Hypothesis, other: Hypothesis, state: State, look: Look) -> bool:
    """Whether the other explanation is too close to the best one."""
    behind, now = best.total - other.total, state.layout()
    if other is best or behind >= STANDS_OUT or not _differ_in_result(other, best, look):
        return False
    if behind < TOO_CLOSE:
        return True
    needs_less = changed_sites(now, other.layout) < changed_sites(now, best.layout)
    return (
        not other.violations
        and (needs_less or _never_told_apart(best, other))
        and not unexplained_sites(other, look)
    )


def _never_told_apart(a: Hypothesis, b: Hypothesis) -> bool:
    """Whether one goes on where the other takes something back and does the same, so that the board
    lies alike after both for good: a leader that lost a conflict, or one that was taken up again,
    is gone before the next piece is laid."""
    alike = a.undo != b.undo and a.actions and b.actions and a.actions[-1] == b.actions[-1]
    return bool(alike) and a.layout == b.layout


def _differ_in_result(a: Hypothesis, b: Hypothesis, look: Look) -> bool:
    """Whether it matters which of the two it was: the states differ, and not only in the way or
    order in which they were reached."""
    if bool(a.violations) != bool(b.violations):
        return True
    if a.state.key() == b.state.key() or not (a.certain and b.certain):
        return False
    fewer, more = sorted((a, b), key=lambda h: len(h.actions))
    if _never_told_apart(a, b):
        return True
    # the additional actions show nowhere
    for_nothing = more.total + more.cost <= fewer.total + fewer.cost
    missing = Counter(_action_texts(fewer)) - Counter(_action_texts(more))
    return bool(missing) or not for_nothing and len(more.actions) > len(fewer.actions)


def _action_texts(hypothesis: Hypothesis) -> list[str]:
    return sorted(map(str, hypothesis.actions))


def best_order(hypotheses: list[Hypothesis]) -> Hypothesis:
    """The likeliest hypothesis; if only the order of its actions is open, the order that gave their
    players most points."""
    best = hypotheses[0]
    if len(best.actions) < 2 or best.violations:
        return best
    same = [
        h
        for h in hypotheses
        if h.total > best.total - TOO_CLOSE
        and not h.violations
        and _action_texts(h) == _action_texts(best)
    ]
    seats = {a.seat for a in best.actions}
    return max(same, key=lambda h: (_points_of(h.state, seats), h.total))


def _points_of(state: State, seats: set[str]) -> int:
    scores = state.scores()
    own = [scores.get(s, 0) for s in seats]
    return sum(sum(x.values()) if isinstance(x, dict) else x for x in own)


def rests_on_covered(hypothesis: Hypothesis, look: Look) -> bool:
    """Whether everything that its run changed lies under something foreign."""
    changed = hypothesis.touched & changed_sites(hypothesis.base, hypothesis.layout)
    return bool(changed) and changed <= look.foreign


def emptied_sites(hypothesis: Hypothesis, look: Look) -> list[str]:
    """Sites whose lowest piece is gone, without one like it there or newly elsewhere; also those
    with something foreign."""
    have = {s: c for s, c in hypothesis.state.layout().items() if c and s in look.evidence.sites}
    seen = {s: look.best(s) or () for s in look.evidence.sites}
    more = Counter(k for c in seen.values() for k in c) - Counter(
        k for c in have.values() for k in c
    )

    def bare(lowest: str, seen: Contents) -> bool:
        return not any(map(lies_first, seen)) if lies_first(lowest) else not seen

    differs = {*hypothesis.hands, *(s for s in have if site_score(hypothesis, look, s)[0] < -SURE)}
    return sorted(look.foreign) + [
        s for s, c in have.items() if s in differs and bare(c[0], seen[s]) and c[0] not in more
    ]
