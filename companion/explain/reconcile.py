"""From evidence to a verdict: the explanation that stands out, and what people are told of it
(DESIGN 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from companion.explain.halfway import half_done
from companion.explain.hypothesis import (
    BREAKS_RULES,
    LIFTED,
    MISREAD,
    NOTICED,
    REGUESS,
    STANDS_OUT,
    TAKE_BACK,
    UNKNOWN,
    Look,
    Past,
    World,
    difference,
    done_by,
    known_below,
    legal_run,
    site_score,
)
from companion.explain.search import search
from companion.explain.sentences import sentence_of
from companion.explain.verdict import (
    BUSY,
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
from engine import Game, State, Text, say
from engine.layout import Contents, Layout, lies_first
from vision.evidence.site_evidence import Evidence

TOO_CLOSE = 1.5  # two explanations nearer than this are a question
LONG_SINCE = 8  # events back that a to-do's words are looked for
MOST_GUESSES = 2  # answers offered for a place that cannot be told, besides what belongs there
MANY_GONE = 3  # sites emptied at once: hands hardly do that, they cover them
SURE = 4.0  # what nothing explains counts only when the evidence prefers it by so much


def reconcile(
    game: Game,
    past: Past,
    evidence: Evidence,
    seen: Layout | None = None,
    reads: dict[str, str] | None = None,
    optional: frozenset[str] = frozenset(),
    budget_s: float = 0.3,
    excused: Layout | None = None,
    said: frozenset[int] = frozenset(),
    guessed: frozenset[int] = frozenset(),
) -> Verdict:
    """The verdict on one settled view.

    past: the states that stand, newest first, each with the text of the action that led to it
    (None: a start or an edit).
    seen: where the board was behind the state in the last settled view. excused: where people said
    that these contents, as long as they are what is read, do not lie there. said: which of past's
    actions people told (indices); others are the camera's guesses, which later looks may correct;
    guessed: those of them that were one of several ways to the same board.
    """
    state, seen = past[0][0], dict(seen or {})
    if evidence.busy:
        return Verdict(BUSY, state, seen=seen, text=say("I wait until the board is free"))
    look = Look(evidence, reads or {}, optional, excused)
    bases = _bases(past, look, guessed, said)
    worlds = search(bases, seen, look, past, budget_s, said=said)
    doubts = look.doubtful.keys() | look.hazy.keys()
    if doubts and (
        worlds[0].violations or difference(worlds[0], look) or worlds[0].touched & doubts
    ):
        worlds = search(bases, seen, look, past, budget_s / 2, doubts=True, said=said)
    best = _best_order(worlds)
    left = _unexplained(best, look)
    if left and not best.violations:
        best = _plainly_wrong(best, worlds, left, look)
        left = _unexplained(best, look)
    if (
        best.violations and len(look.foreign) > 1
    ):  # a cup's edge may be read as a piece: no reason for an alarm
        return _littered(UNCLEAR, state, seen, (), look)
    if (
        best.violations and len(gone := _gone(best, look)) >= MANY_GONE
    ):  # an arm as brown as the table: nor is that
        return Verdict(
            UNCLEAR,
            state,
            seen=seen,
            text=say(
                "something covers {sites}, or what lay there is gone", sites=", ".join(gone[:6])
            ),
        )
    if (left or best.violations) and (half := _halfway(game, worlds, look, seen)) is not None:
        return half
    if left and best.violations and state.layout() == best.base:
        return _illegal(game, state, best, seen, look, left, worlds)
    if left or (look.foreign and best.actions and _rests_on_covered(best, look)):
        return _unclear(game, past, worlds, seen, left, look)
    if (
        (best.actions or best.undo)
        and not best.violations
        and any(_rivals(best, w, state, look) for w in worlds)
    ):
        return _halfway(game, worlds, look, seen) or _unclear(game, past, worlds, seen, left, look)
    lag = {s: site_score(best, look, s)[1] for s in best.touched}
    lag = {
        s: c
        for s, c in lag.items()
        if s in evidence.sites
        and not best.state.shows_same(s, best.layout.get(s, ()), c, look.reads.get(s, "pile"))
    }
    if best.violations:
        return _illegal(game, state, best, seen, look, {}, worlds)
    todo = todos_of(game, best, lag, past)
    if not (best.actions or best.undo or todo or look.foreign) and (
        odd := _contradicted(best, look)
    ):
        return _unclear(game, past, worlds, seen, odd, look)
    if look.foreign and not best.actions:
        if todo or len(look.foreign) > 1:
            return _littered(UNFINISHED if todo else UNCLEAR, state, lag, todo, look)
        return _unknown(game, state, lag, look)
    name = MOVED if best.actions or best.undo else SAME
    if todo:
        name = UNFINISHED
    elif name == SAME and seen:
        name = MOVED  # the last to-do has been done
    return Verdict(
        name,
        best.state,
        best.actions,
        best.undo,
        (),
        todo,
        seen=lag,
        text=_words(name, best, past),
        question=asked(best.state),
        certain=best.certain,
        redone=best.redone,
    )


def _gone(world: World, look: Look) -> list[str]:
    """Sites where what lies lowest is gone, nothing like it lies there, nor has it come to lie
    elsewhere; those with something foreign among them"""
    have = {s: c for s, c in world.state.layout().items() if c and s in look.evidence.sites}
    seen = {s: look.best(s) or () for s in look.evidence.sites}
    more = Counter(k for c in seen.values() for k in c) - Counter(
        k for c in have.values() for k in c
    )

    def bare(lowest: str, seen: Contents) -> bool:
        return not any(map(lies_first, seen)) if lies_first(lowest) else not seen

    differs = {*world.hands, *(s for s in have if site_score(world, look, s)[0] < -SURE)}
    return sorted(look.foreign) + [
        s for s, c in have.items() if s in differs and bare(c[0], seen[s]) and c[0] not in more
    ]


def _littered(
    verdict: str, state: State, seen: Layout, todo: tuple[ToDo, ...], look: Look
) -> Verdict:
    return Verdict(
        verdict,
        state,
        seen=seen,
        todo=todo,
        text=say("I cannot tell what lies on {sites}", sites=", ".join(sorted(look.foreign)[:6])),
    )


def _unknown(game: Game, state: State, seen: Layout, look: Look) -> Verdict:
    """One place cannot be told: a piece read poorly, a coin, a crumb. What may lie there by the
    rules is asked."""
    [site] = look.foreign
    have = state.layout().get(site, ())
    options = [c for c, _ in look.evidence.sites[site].options if c != have][:MOST_GUESSES]
    answers: list[Answer] = []
    for contents in options:
        for proposal in state.explain({site: (have, known_below(contents, have))}):
            if (
                legal_run(state, proposal.actions)
                and not proposal.belated
                and len(answers) < MOST_GUESSES
            ):
                answers.append(
                    Answer(
                        pieces_text(contents, game.kind_name),
                        tuple(map(str, proposal.actions)),
                        misread=True,
                    )
                )
                break
    belongs = say("{pieces}, as before", pieces=pieces_text(have, game.kind_name))
    question = Question(
        say("I cannot tell what lies on {site}. What is it?", site=site),
        (
            *answers,
            Answer(belongs, misread=True),
            Answer(say("something that does not belong there: I take it away")),
        ),
        state.turn,
        (site,),
        {site: UNKNOWN},
    )
    return Verdict(
        UNCLEAR,
        state,
        seen=seen,
        question=question,
        text=say("I cannot tell what lies on {sites}", sites=site),
    )


def _bases(
    past: Past, look: Look, guessed: frozenset[int], said: frozenset[int]
) -> list[tuple[State, int, float]]:
    """The state now, and the earlier ones a correction may go back to, each with how many events
    that takes back and what
    that costs: those after which what people's hands did does not lie there any more as they left
    it (who leaves a piece where it is takes nothing back; nor is what was only said; what only its
    consequences told is judged by these); those after which it was only guessed how a seat came to
    what lies there, as long as no other seat has done anything since; those after which what was to
    follow lies otherwise, where the seat may have chosen another way of doing the same; and that
    before a piece was taken off the board, which somebody may only now put down."""
    bases, gone = [(past[0][0], 0, 0.0)], False
    own, seat = True, (past[0][1] or "").partition(":")[0]
    for n, ((after, action), (before, _)) in enumerate(zip(past, past[1 : len(TAKE_BACK)])):
        if action is None:
            break
        by_hand = done_by(after, hands=True)
        by_itself = {} if by_hand else done_by(after, hands=False)
        told_by = by_itself if by_itself and n not in said | guessed else by_hand
        here = _lies_otherwise(told_by, look, after, past[0][0])
        gone = gone or here
        own = own and n in guessed and action.partition(":")[0] == seat
        follows = by_itself if n in guessed else {}
        chosen = (
            follows
            and (own or _lies_otherwise(follows, look, after, past[0][0]))
            and _had_a_choice(before, action)
        )
        anew = gone and n not in said and after.decision() is not None
        chosen = (
            chosen
            or n not in said
            and _meant_otherwise(before, after, action, by_hand, look, past[0][0])
        )
        lifted = n == 0 and n not in said and _put_down_now(before, by_hand, look, past[0][0])
        if here or own and by_hand or gone and not by_hand or chosen or anew or lifted:
            bases.append(
                (
                    before,
                    n + 1,
                    LIFTED if lifted else REGUESS if own and not here else TAKE_BACK[n + 1],
                )
            )
    return bases


def _put_down_now(before: State, by_hand: Layout, look: Look, now: State) -> bool:
    """Whether hands only took something off the board, all of which lies elsewhere now"""
    lay, here = before.layout(), now.layout()
    if not by_hand or any(Counter(c) - Counter(lay.get(s, ())) for s, c in by_hand.items()):
        return False
    taken = Counter(k for s in by_hand for k in lay.get(s, ())) - Counter(
        k for c in by_hand.values() for k in c
    )
    more: Counter[str] = Counter()
    for s in look.evidence.sites.keys() - by_hand.keys():
        more += Counter(look.best(s) or ()) - Counter(here.get(s, ()))
    return bool(taken) and not taken - more


def _lies_otherwise(done: Layout, look: Look, *states: State) -> bool:
    """Whether some of these sites show neither these contents nor what they came to by themselves
    in one of the states"""
    return any(
        look.logp(s, c) < -NOTICED
        and not any(look.logp(s, x.layout().get(s, ())) >= -NOTICED for x in states)
        for s, c in done.items()
    )


def _meant_otherwise(
    before: State, after: State, action: str, by_hand: Layout, look: Look, now: State
) -> bool:
    """Whether what followed by itself lies otherwise, and what hands did may have been something
    else: a card taken, of which nobody saw what it shows"""
    follows = done_by(after, hands=False)
    if not by_hand or not follows or not _lies_otherwise(follows, look, after, now):
        return False
    seat, _, words = action.partition(":")
    alike = (
        a
        for a in before.legal_actions()
        if a.seat == seat and str(a) != action and a.words().split()[:2] == words.split()[:2]
    )
    return any(done_by(before.apply(a), hands=True) == by_hand for a in alike)


def _had_a_choice(state: State, action: str) -> bool:
    """Whether the seat could have done the same in more ways than one"""
    seat, _, words = action.partition(":")
    kind = words.split()[0]
    return sum(a.seat == seat and a.words().split()[0] == kind for a in state.legal_actions()) > 1


def _halfway(game: Game, worlds: list[World], look: Look, seen: Layout) -> Verdict | None:
    """Where all that is odd is that hands have taken up what a legal doing puts down again: the
    verdict that waits for it."""
    onward = [w for w in worlds if not (w.undo or w.violations or w.parent and w.redone)]
    for world in (w for w in onward if not w.actions or w is worlds[0]):
        if sites := half_done(world.state, world.state.plan, difference(world, look)):
            lag = (
                seen
                if not world.actions
                else {
                    s: c
                    for s in world.touched
                    if (c := site_score(world, look, s)[1]) != world.layout.get(s, ())
                }
            )
            text = say(
                "put down what was taken up from {sites}, or put it back", sites=", ".join(sites)
            )
            return Verdict(
                UNFINISHED,
                world.state,
                world.actions,
                seen=lag,
                todo=(ToDo(text, sites),),
                text=text,
                question=asked(world.state),
                certain=world.certain,
            )
    return None


def _rests_on_covered(world: World, look: Look) -> bool:
    changed = {s for s in world.touched if world.layout.get(s, ()) != world.base.get(s, ())}
    return bool(changed) and changed <= look.foreign


def _unexplained(world: World, look: Look) -> dict[str, tuple[Contents, Contents]]:
    """What differs beyond a poor reading: a piece that nobody touched must not stop the game."""
    return {
        s: c for s, c in difference(world, look).items() if site_score(world, look, s)[0] < -SURE
    }


def _contradicted(world: World, look: Look) -> dict[str, tuple[Contents, Contents]]:
    """Where nothing changed, people say, but what lies there is surely not that: a piece that could
    also be something foreign"""
    return {
        s: (world.layout.get(s, ()), e.best)
        for s, e in look.evidence.sites.items()
        if look.contradicts(s, world.layout.get(s, ()), SURE)
        and not world.state.shows_same(
            s, world.layout.get(s, ()), e.best, look.reads.get(s, "pile")
        )
    }


def _plainly_wrong(best: World, worlds: list[World], left: dict, look: Look) -> World:
    """The broken rule that explains what nothing allowed does, where that lies there beyond any
    doubt, or where nothing was done but for it and it is hardly less likely than a poor reading, of
    which people would be asked anyway; else best."""
    if all(site_score(best, look, s)[0] <= -MISREAD for s in left):
        behind = BREAKS_RULES
    elif not (best.actions or best.undo):
        behind = TOO_CLOSE
    else:
        return best
    return next(
        (
            w
            for w in worlds
            if w.violations and w.total > best.total - behind and not _unexplained(w, look)
        ),
        best,
    )


def _rivals(best: World, other: World, state: State, look: Look) -> bool:
    """Whether the other explanation is too close to the best one."""
    behind = best.total - other.total
    if other is best or behind >= STANDS_OUT or not _differs(other, best, look):
        return False
    if behind < TOO_CLOSE:
        return True
    return (
        not other.violations
        and _changed(other, state) < _changed(best, state)
        and not _unexplained(other, look)
    )


def _changed(world: World, state: State) -> set[str]:
    now = state.layout()
    return {s for s in set(now) | set(world.layout) if now.get(s, ()) != world.layout.get(s, ())}


def _differs(a: World, b: World, look: Look) -> bool:
    """Whether it matters which of the two it was: another state, not only another way or order to
    the same board."""
    if bool(a.violations) != bool(b.violations):
        return True
    if a.state.key() == b.state.key() or not (a.certain and b.certain):
        return False
    fewer, more = sorted((a, b), key=lambda w: len(w.actions))
    for_nothing = (
        more.total + more.cost <= fewer.total + fewer.cost
    )  # what more was done shows nowhere
    missing = Counter(_doings(fewer)) - Counter(_doings(more))
    return bool(missing) or not for_nothing and len(more.actions) > len(fewer.actions)


def _doings(world: World) -> list[str]:
    return sorted(map(str, world.actions))


def _best_order(worlds: list[World]) -> World:
    """The likeliest world; where only the order of its actions is open, the order that gave their
    players most."""
    best = worlds[0]
    if len(best.actions) < 2 or best.violations:
        return best
    same = [
        w
        for w in worlds
        if w.total > best.total - TOO_CLOSE and not w.violations and _doings(w) == _doings(best)
    ]
    seats = {a.seat for a in best.actions}
    return max(same, key=lambda w: (_points(w.state, seats), w.total))


def _points(state: State, seats: set[str]) -> int:
    scores = state.scores()
    own = [scores.get(s, 0) for s in seats]
    return sum(sum(x.values()) if isinstance(x, dict) else x for x in own)


def _words(name: str, world: World, past: Past) -> Text:
    if name == SAME:
        return say("nothing changed")
    if world.undo and not world.actions:
        return say("move taken back")
    told = sentence_of(past[world.undo][0], world.actions, world.redone)
    if told is not None:
        return say("corrected: {actions}", actions=told) if world.undo > len(world.redone) else told
    if world.undo > len(world.redone):
        return say("move taken back")
    return (
        say("the board is as it should be")
        if name == MOVED
        else say("something is still to be done on the board")
    )


def todos_of(game: Game, world: World, behind: Layout, past: Past) -> tuple[ToDo, ...]:
    """One for each thing to do, with all the sites it changes."""
    out: dict[str, ToDo] = {}
    before = [world.state, *(state for state, _ in past[:LONG_SINCE])]
    for site, shown in behind.items():
        todo = _todo_of(game, world, site, shown, before)
        same = out.get(str(todo.text))
        out[str(todo.text)] = todo if same is None else ToDo(todo.text, same.sites + todo.sites)
    return tuple(out.values())


def _todo_of(game: Game, world: World, site: str, shown: Contents, before: list[State]) -> ToDo:
    """The sentence of the step that was to change this site, when the board is just before it; else
    what to mend."""
    want = world.layout.get(site, ())
    at = world.base.get(site, ())
    text = None
    for step in world.steps:
        if site in step.changes:
            if at == shown and not step.by_hand and step.changes[site] == want:
                text = step.text
            at = step.changes[site]
    shown_before = any(
        shown == c.get(site, ())
        for state in before
        for c in (state.layout(), *(x.changes for x in state.steps))
    )
    if text is None and (
        shown_before or shown == world.base.get(site, ())
    ):  # what came before is still to be done
        last = next(
            (step for state in before for step in reversed(state.steps) if site in step.changes),
            None,
        )
        if last is not None and not last.by_hand and last.changes[site] == want:
            text = last.text
    return ToDo(text or mend_text(site, shown, want, game.kind_name), (site,))


def _illegal(
    game: Game,
    state: State,
    world: World,
    seen: Layout,
    look: Look,
    left: dict,
    worlds: list[World],
) -> Verdict:
    """left: what else differs, without an explanation; it goes back too. What hands did may be
    meant as one of several
    doings that nobody may do: each one's rules are named, the likeliest one's first."""
    wrong = {**world.hands, **{s: c for s, (_, c) in left.items()}}
    back = tuple(
        mend_text(s, c, state.layout().get(s, ()), game.kind_name) for s, c in wrong.items()
    )
    rules = {
        v.rule: v
        for w in worlds
        if w.violations and w.layout == world.layout and w.total > world.total - STANDS_OUT
        for v in reversed(w.violations)
    }
    violations = (
        *world.violations,
        *(v for r, v in rules.items() if r not in {x.rule for x in world.violations}),
    )
    done = (
        () if world.refused is None else (world.refused,)
    )  # what was legal before it is no part of it
    return Verdict(
        ILLEGAL,
        state,
        done,
        0,
        violations,
        (),
        back,
        seen=seen,
        wrong=wrong,
        question=_what_happened(tuple(wrong), [Answer(say("I'll put it back"))], wrong, look),
        text=violations[0].text if violations else say("this breaks a rule"),
    )


def _unclear(
    game: Game, past: Past, worlds: list[World], seen: Layout, left: dict, look: Look
) -> Verdict:
    state = past[0][0]
    answers: list[Answer] = []
    texts: set[str] = set()
    for w in worlds:
        if w.violations or not (w.actions or w.undo) or _unexplained(w, look).keys() - left.keys():
            continue
        text = _words(MOVED, w, past)
        if str(text) not in texts:
            texts.add(str(text))
            answers.append(Answer(text, tuple(map(str, w.actions)), w.undo, misread=bool(left)))
        if len(answers) == (2 if left else 3):
            break
    answers.append(Answer(say("I'll put it back")))
    sites = tuple(left) or tuple(dict.fromkeys(s for w in worlds[:2] for s in w.touched))
    question = _what_happened(sites, answers, left, look, state.turn)
    return Verdict(
        UNCLEAR,
        state,
        seen=seen,
        question=question if len(question.answers) > 1 else None,
        text=question.text,
    )


def _what_happened(
    sites: tuple[str, ...],
    answers: list[Answer],
    strange: Collection[str],
    look: Look,
    seat: str | None = None,
) -> Question:
    """strange: sites that may have been misread, which is one more answer."""
    if strange:
        answers = [
            *answers,
            Answer(say("{sites} was read wrongly", sites=", ".join(strange)), misread=True),
        ]
    text = (
        say("What happened on {sites}?", sites=", ".join(sites[:4]))
        if sites
        else say("What happened?")
    )
    return Question(
        text,
        tuple(answers),
        seat,
        sites,
        {s: c for s in strange if (c := look.best(s)) is not None},
    )


def asked(state: State) -> Question | None:
    """What somebody has to say now because no later look can tell it."""
    d = state.decision()
    if d is None or not d.ask or not d.choices:
        return None
    return Question(
        d.text, tuple(Answer(c.text, (c.action,), 0, c.picture) for c in d.choices), d.seat, d.sites
    )
