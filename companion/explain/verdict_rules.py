"""From a situation to a verdict: rules in the order in which they are asked. The first one that
applies decides; the last one always applies."""

from __future__ import annotations

from collections.abc import Callable

from companion.explain.halfway import MOST, half_done_sites
from companion.explain.hypothesis import (
    ALIKE,
    MISREAD,
    STANDS_OUT,
    UNKNOWN,
    Difference,
    changed_sites,
    differing_sites,
    known_below,
    legal_run,
    shows_same,
    site_score,
)
from companion.explain.ranking import (
    emptied_sites,
    is_rival,
    rests_on_covered,
    unexplained_sites,
)
from companion.explain.sentences import sentence_of
from companion.explain.situation import Situation
from companion.explain.verdict import (
    ILLEGAL,
    MOVED,
    SAME,
    UNCLEAR,
    UNFINISHED,
    Answer,
    Question,
    ToDo,
    Verdict,
    mend_text,
    pieces_text,
)
from companion.explain.wording import decision_question, verdict_text, what_happened
from engine import State, say
from engine.layout import Contents, Layout

# answers offered for a place that cannot be recognised, besides what belongs there
MOST_GUESSES = 2
MANY_GONE = 3  # sites emptied at once: hands cover that many rather than empty them
MANY_DOUBTS = 4  # sites read in two ways at once: under an arm; elsewhere one is, or none


def alarm_beside_covers(s: Situation) -> Verdict | None:
    """Illegal, but several sites cannot be recognised, or may be read in two ways: the edge of a
    cup or of an arm may be read as a piece, which is no reason for an alarm."""
    if s.best.violations and (len(s.look.foreign) > 1 or len(s.look.doubtful) >= MANY_DOUBTS):
        return _cannot_tell(s, UNCLEAR, s.seen)
    return None


def alarm_of_a_covering_arm(s: Situation) -> Verdict | None:
    """Illegal, but many pieces are gone at once: an arm as brown as the table covers them, which is
    no reason for an alarm either."""
    if not s.best.violations:
        return None
    gone = emptied_sites(s.best, s.look)
    if len(gone) < MANY_GONE:
        return None
    text = say("something covers {sites}, or what lay there is gone", sites=", ".join(gone[:6]))
    return Verdict(UNCLEAR, s.state, seen=s.seen, text=text)


def pieces_in_hand(s: Situation) -> Verdict | None:
    """Something is unexplained or illegal, but all of it has been picked up by hands and a legal
    action puts it down again."""
    return _half_done(s) if s.left or s.best.violations else None


def rules_broken_and_more(s: Situation) -> Verdict | None:
    """Illegal, starting from the board as it lay, and something else lies wrong besides."""
    if s.left and s.best.violations and s.state.layout() == s.best.base:
        return _against_rules(s, s.left)
    return None


def nothing_explains(s: Situation) -> Verdict | None:
    """No hypothesis explains everything that is seen, or what the best one explains lies under
    something foreign."""
    covered = s.look.foreign and s.best.actions and rests_on_covered(s.best, s.look)
    return _what_was_done(s, s.left) if s.left or covered else None


def several_explain(s: Situation) -> Verdict | None:
    """Something legal was done, but another explanation is too close."""
    if not (s.best.actions or s.best.undo) or s.best.violations:
        return None
    if not any(is_rival(s.best, other, s.state, s.look) for other in s.hypotheses):
        return None
    return _half_done(s) or _what_was_done(s, s.left)


def rules_broken(s: Situation) -> Verdict | None:
    """What was done is illegal, and explains everything that is seen."""
    return _against_rules(s, {}) if s.best.violations else None


def surely_something_else(s: Situation) -> Verdict | None:
    """Nothing was done and nothing is left to do, but what lies there is surely not what the state
    has."""
    quiet = not (s.best.actions or s.best.undo or s.todo or s.look.foreign)
    return _what_was_done(s, s.contradicted) if quiet and s.contradicted else None


def something_foreign(s: Situation) -> Verdict | None:
    """Nothing was done, and something on the board cannot be recognised."""
    if not s.look.foreign or s.best.actions:
        return None
    if s.todo:
        return _cannot_tell(s, UNFINISHED, s.behind, s.todo)
    if len(s.look.foreign) > 1:
        return _cannot_tell(s, UNCLEAR, s.behind, question=_done_below(s))
    [site] = s.look.foreign
    text = say("I cannot tell what lies on {sites}", sites=site)
    question = _what_is_it(s, s.state, site)
    return Verdict(UNCLEAR, s.state, seen=s.behind, question=question, text=text)


def all_explained(s: Situation) -> Verdict:
    """The best hypothesis explains everything: what was done, and what is still to be done."""
    name = MOVED if s.best.actions or s.best.undo else SAME
    if s.todo:
        name = UNFINISHED
    elif name == SAME and s.seen:
        name = MOVED  # the last to-do has been done
    return Verdict(
        name,
        s.best.state,
        s.best.actions,
        s.best.undo,
        todo=s.todo,
        seen=s.behind,
        text=verdict_text(name, s.best, s.past),
        question=decision_question(s.best.state) or _foreign_beside(s) or _begun_beside(s),
        certain=s.best.certain,
        redone=s.best.redone,
    )


RULES: tuple[Callable[[Situation], Verdict | None], ...] = (
    alarm_beside_covers,
    alarm_of_a_covering_arm,
    pieces_in_hand,
    rules_broken_and_more,
    nothing_explains,
    several_explain,
    rules_broken,
    surely_something_else,
    something_foreign,
    all_explained,
)


def _cannot_tell(
    s: Situation,
    verdict: str,
    seen: Layout,
    todo: tuple[ToDo, ...] = (),
    question: Question | None = None,
) -> Verdict:
    sites = sorted(s.look.foreign) or sorted(s.look.doubtful)
    text = say("I cannot tell what lies on {sites}", sites=", ".join(sites[:6]))
    return Verdict(verdict, s.state, seen=seen, todo=todo, text=text, question=question)


def _done_below(s: Situation) -> Question | None:
    """Several places at once cannot be recognised: asks about the legal actions that change just
    these, as a monument does that is read as nothing known. None if there is no such action."""
    was, sites = s.state.layout(), tuple(sorted(s.look.foreign))
    answers = []
    for action in s.state.legal_actions()[:MOST]:
        after = s.state.apply(action)
        if changed_sites(was, after.layout()) == s.look.foreign:
            text = sentence_of(s.state, (action,)) or say("{action}", action=str(action))
            answers.append(Answer(text, (str(action),), misread=True))
        if len(answers) == MOST_GUESSES + 1:
            break
    if not answers:
        return None
    answers.append(Answer(say("something that does not belong there: I'll take it away")))
    text = say("What happened on {sites}?", sites=", ".join(sites))
    return Question(text, tuple(answers), s.state.turn, sites, dict.fromkeys(sites, UNKNOWN))


def _half_done(s: Situation) -> Verdict | None:
    """If all that is odd is that hands have picked up what a legal action puts down again: the
    verdict that waits for it."""
    onward = [h for h in s.hypotheses if not (h.undo or h.violations or h.parent and h.redone)]
    for h in onward:
        if h.actions and h is not s.hypotheses[0]:
            continue
        sites = half_done_sites(h.state, h.state.plan, differing_sites(h, s.look))
        if not sites:
            continue
        shown = {site: site_score(h, s.look, site)[1] for site in h.touched}
        text = say(
            "put down what was picked up from {sites}, or put it back", sites=", ".join(sites)
        )
        return Verdict(
            UNFINISHED,
            h.state,
            h.actions,
            seen={t: c for t, c in shown.items() if c != h.layout.get(t, ())}
            if h.actions
            else s.seen,
            todo=(ToDo(text, sites),),
            text=text,
            question=decision_question(h.state),
            certain=h.certain,
        )
    return None


def _against_rules(s: Situation, left: Difference) -> Verdict:
    """The verdict that names every rule broken. left: what else differs without an explanation; it
    is put back too. If what hands did may be meant as one of several illegal actions, the rules of
    each are named, those of the likeliest first."""
    best, kind_name = s.best, s.game.kind_name
    wrong = {**best.hands, **{site: c for site, (_, c) in left.items()}}
    back = tuple(
        mend_text(site, c, s.state.layout().get(site, ()), kind_name) for site, c in wrong.items()
    )
    alike = [
        h
        for h in s.hypotheses
        if h.violations and h.layout == best.layout and h.total > best.total - STANDS_OUT
    ]
    rules = {v.rule: v for h in alike for v in reversed(h.violations)}
    named = {v.rule for v in best.violations}
    violations = (*best.violations, *(v for rule, v in rules.items() if rule not in named))
    return Verdict(
        ILLEGAL,
        s.state,
        () if best.refused is None else (best.refused,),  # without the legal actions before it
        violations=violations,
        back=back,
        seen=s.seen,
        wrong=wrong,
        question=what_happened(tuple(wrong), [Answer(say("I'll put it back"))], wrong, s.look),
        text=violations[0].text if violations else say("this breaks a rule"),
    )


def _what_was_done(s: Situation, left: Difference) -> Verdict:
    """Asks which of the likeliest hypotheses it was, or what else lies on the single site that none
    of them explains. left: what none of them explains."""
    answers: list[Answer] = []
    texts: set[str] = set()
    for h in s.hypotheses:
        does = (h.actions or h.undo) and h.state.key() != s.state.key()
        if h.violations or not does or unexplained_sites(h, s.look).keys() - left.keys():
            continue
        text = verdict_text(MOVED, h, s.past)
        if str(text) not in texts:
            texts.add(str(text))
            answers.append(Answer(text, tuple(map(str, h.actions)), h.undo, misread=bool(left)))
        if len(answers) == (MOST_GUESSES if left else 3):
            break
    answers += _other_reading_answers(s, left)[: MOST_GUESSES - len(answers)] if left else []
    answers.append(Answer(say("I'll put it back")))
    sites = tuple(left) or tuple(dict.fromkeys(t for h in s.hypotheses[:2] for t in h.touched))
    question = what_happened(sites, answers, left, s.look, s.state.turn)
    return Verdict(
        UNCLEAR,
        s.state,
        seen=s.seen,
        question=question if len(question.answers) > 1 else None,
        text=question.text,
    )


def _foreign_beside(s: Situation) -> Question | None:
    """What is asked of the single place that cannot be recognised beside what was done, as nobody
    may do anything more for a while."""
    if len(s.look.foreign) != 1 or not s.best.actions:
        return None
    [site] = s.look.foreign
    return None if site in s.best.touched else _what_is_it(s, s.best.state, site)


def _begun_beside(s: Situation) -> Question | None:
    """What is asked of the single place beside what was done that is read rather as something else
    than lies there, if something legal leads to that: hands may be in the middle of it."""
    best, look = s.best, s.look
    odd = {
        site: (have, seen)
        for site in look.evidence.sites.keys() - best.touched
        if look.logp(site, have := best.layout.get(site, ())) < -ALIKE
        and (seen := look.best(site)) is not None
        and not shows_same(best, look, site, seen)
    }
    if not best.actions or len(odd) != 1:
        return None
    [(site, (have, seen))] = odd.items()
    shown = known_below(look.same_base(site, seen, have), have)
    for proposal in best.state.explain({site: (have, shown)}):
        if legal_run(best.state, proposal.actions) and not proposal.belated:
            text = sentence_of(best.state, proposal.actions) or pieces_text(seen, s.game.kind_name)
            answer = Answer(text, tuple(map(str, proposal.actions)))
            return what_happened((site,), [answer], odd, look, best.state.turn)
    return None


def _what_is_it(s: Situation, state: State, site: str) -> Question:
    """One place cannot be recognised: a piece read poorly, a coin, a crumb. Asks which of the
    things that the rules allow in this state lies there."""
    have = state.layout().get(site, ())
    options = [c for c, _ in s.look.evidence.sites[site].options]
    guesses = _guessed_answers(s, state, site, have, options)
    belongs = say("{pieces}, as before", pieces=pieces_text(have, s.game.kind_name))
    return Question(
        say("I cannot tell what lies on {site}. What is it?", site=site),
        (
            *guesses,
            Answer(belongs, misread=True),
            Answer(say("something that does not belong there: I'll take it away")),
        ),
        state.turn,
        (site,),
        {site: UNKNOWN},
    )


def _other_reading_answers(s: Situation, left: Difference) -> list[Answer]:
    """What else may lie on the only site where nothing explains what is read."""
    if len(left) != 1:
        return []
    [(site, (have, _))] = left.items()
    options = [
        c for c, _ in s.look.evidence.sites[site].options[1:] if s.look.logp(site, c) > -MISREAD
    ]
    return _guessed_answers(s, s.state, site, have, options)


def _guessed_answers(
    s: Situation, state: State, site: str, have: Contents, options: list[Contents]
) -> list[Answer]:
    """Answers that a site holds one of these contents: the first few that are not what belongs
    there and that a legal action leads to."""
    others = [c for c in options if c != have][:MOST_GUESSES]
    answers = (_guessed_answer(s, state, site, have, c) for c in others)
    return [a for a in answers if a is not None]


def _guessed_answer(
    s: Situation, state: State, site: str, have: Contents, contents: Contents
) -> Answer | None:
    """The answer that these contents lie on a site, if a legal action leads to them."""
    for proposal in state.explain({site: (have, known_below(contents, have))}):
        if legal_run(state, proposal.actions) and not proposal.belated:
            words = pieces_text(contents, s.game.kind_name)
            return Answer(words, tuple(map(str, proposal.actions)), misread=True)
    return None
