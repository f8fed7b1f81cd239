"""From evidence to a verdict: which short run of actions explains best what is seen (DESIGN 6).

Every explanation is a *world*: a state after a run of actions, and what the board may show while people are still busy
bringing it there. Its score is the evidence for that world less what the run costs, both in nats; the best one wins.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from companion.verdict import (
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
)
from engine import Action, BadText, Game, IllegalAction, Proposal, State, Step, Text, Violation, say
from engine.layout import Contents, Layout, same_contents
from vision.evidence import Evidence, SiteEvidence

# What a doing costs, in nats: odds between explanations that the picture cannot tell apart.
ACTION = 1.0            # one more action in a run
STILL = 0.5             # a to-do that is still not done, a site
FORGOTTEN = 0.2         # an act put in where it was forgotten
BY_ITSELF = 0.75        # a consequence not yet done on the board, a site
BY_HAND = 3.0           # the doing itself only half done, a site
WRONG = 5.0             # a consequence done wrongly, a site
BREAKS_RULES = 6.0
TAKE_BACK = (0.0, 2.5, 4.5, 6.0)   # going back so many events ("no, I meant here")
NOTICED = 2.0           # a difference counts when the evidence prefers it by so much
TOO_CLOSE = 1.5         # two explanations nearer than this are a question
MISREAD = 9.0           # no single site may weigh more: a reader errs once in some thousand sites


Past = Sequence[tuple[State, str | None]]


class World:
    """A state after a run of actions, and per site what the board may meanwhile show at what cost."""

    __slots__ = ("actions", "base", "certain", "cost", "hands", "lag", "layout", "redone", "scores", "state", "steps",
                 "touched", "total", "undo", "violations")

    def __init__(self, state: State, layout: Layout, undo: int, cost: float, lag: dict[str, dict[Contents, float]]) -> None:
        self.state, self.layout, self.undo, self.cost = state, layout, undo, cost
        self.base = layout
        self.lag = lag                                   # site -> contents allowed besides the layout's -> cost
        self.actions: tuple[Action, ...] = ()
        self.steps: tuple[Step, ...] = ()
        self.violations: tuple[Violation, ...] = ()
        self.hands: Layout = {}                          # an illegal doing's changes
        self.certain = True
        self.redone: frozenset[int] = frozenset()        # which of the actions stood before and are only done again
        self.touched: set[str] = set(lag)
        self.total = 0.0
        self.scores: dict[str, tuple[float, Contents]] = {}

    def after(self, state: State, action: Action, cost: float) -> World:
        """This world one legal action on."""
        w = World(state, state.layout(), self.undo, self.cost + cost, {s: dict(c) for s, c in self.lag.items()})
        w.base, w.actions, w.steps = self.base, (*self.actions, action), self.steps + tuple(state.steps)
        w.certain, w.redone = self.certain, self.redone
        w.touched = set(self.touched)
        at: Layout = dict(self.layout)
        for step in state.steps:
            for site, contents in step.changes.items():
                price = BY_HAND if step.by_hand else BY_ITSELF
                options = w.lag.setdefault(site, {})
                before = at.get(site, ())
                options[before] = min(price, options.get(before, price))
                at[site] = contents
                w.touched.add(site)
        w.touched.update(s for s in set(self.layout) | set(w.layout) if self.layout.get(s) != w.layout.get(s))
        return w

    def broken(self, proposal: Proposal, violations: Sequence[Violation], action: Action | None) -> World:
        """This world with an illegal doing done on top."""
        w = World(self.state, dict(self.layout), self.undo, self.cost + BREAKS_RULES + proposal.cost, self.lag)
        w.base, w.steps = self.base, self.steps
        w.actions = self.actions if action is None else (*self.actions, action)
        w.violations, w.hands = tuple(violations), dict(proposal.changes)
        w.layout.update(proposal.changes)
        w.touched = set(self.touched) | set(proposal.changes)
        return w


class Look:
    """One picture's evidence, asked site by site with a memory."""

    def __init__(self, evidence: Evidence, reads: dict[str, str], optional: frozenset[str]) -> None:
        self.evidence, self.reads, self.optional = evidence, reads, optional
        self._cache: dict[tuple[str, Contents], float] = {}
        self.foreign = {s for s, e in evidence.sites.items() if e.foreign}

    def logp(self, site: str, contents: Contents) -> float:
        """Log-odds of these contents against the likeliest ones; 0 for a site the picture does not show."""
        found = self._cache.get((site, contents))
        if found is None:
            e = self.evidence.sites.get(site)
            found = 0.0 if e is None or not e.options or e.foreign else max(self._logp(e, site, contents), -MISREAD)
            self._cache[(site, contents)] = found
        return found

    def _logp(self, e: SiteEvidence, site: str, contents: Contents) -> float:
        reads = self.reads.get(site, "pile")
        p = e.logp(contents, reads)
        if site in self.optional and not e.best:
            p = 0.0                                      # a place beside the board that a table may leave out
        return min(p - max(e.options[0][1], p), 0.0)

    def best(self, site: str) -> Contents | None:
        e = self.evidence.sites.get(site)
        return None if e is None or e.foreign or not e.options else e.options[0][0]


def judge(world: World, look: Look) -> World:
    """Fills in `total` and, per touched site, the score and the contents the board is taken to show."""
    total = -world.cost
    for site in look.evidence.sites.keys():
        total += site_score(world, look, site)[0]
    world.total = total
    return world


def site_score(world: World, look: Look, site: str) -> tuple[float, Contents]:
    """(nats, contents): the best of what this world allows on the site; evidence against it included."""
    found = world.scores.get(site)
    if found is not None:
        return found
    want = world.layout.get(site, ())
    best = (look.logp(site, want), want)
    options = world.lag.get(site)
    if options and best[0] < -BY_ITSELF / 2:
        for contents, price in options.items():
            score = look.logp(site, contents) - price
            if score > best[0]:
                best = (score, contents)
        seen = look.best(site)
        if seen is not None and seen != want and -WRONG > best[0]:
            price = BY_HAND if any(_between(o, seen, want) for o in options) else WRONG
            if -price > best[0]:
                best = (-price, seen)
    world.scores[site] = best
    return best


def _between(before: Contents, seen: Contents, after: Contents) -> bool:
    """Whether `seen` is on the way from `before` to `after`, piece by piece."""
    b, s, a = Counter(before), Counter(seen), Counter(after)
    return all(min(b[k], a[k]) <= s[k] <= max(b[k], a[k]) for k in set(b) | set(s) | set(a))


def difference(world: World, look: Look) -> dict[str, tuple[Contents, Contents]]:
    """Where the evidence prefers something this world does not allow: site -> (the state's contents, seen)."""
    out = {}
    for site in look.evidence.sites:
        score, _ = site_score(world, look, site)
        if score < -NOTICED:
            seen = look.best(site)
            want = world.layout.get(site, ())
            if seen is not None and not same_contents(seen, want, look.reads.get(site, "pile")):
                out[site] = (want, _known_below(seen, want))
    return out


def _known_below(seen: Contents, want: Contents) -> Contents:
    """What is hidden under a piece is what the state knows to lie there."""
    return tuple(w if s == "?" and i < len(want) else s for i, (s, w) in
                 enumerate(zip(seen, want + ("?",) * len(seen)))) if "?" in seen else seen


def search(bases: Sequence[tuple[State, int]], seen: Layout, look: Look, past: Past, budget_s: float, width: int = 8,
           depth: int = 8) -> list[World]:
    """The worlds found, best first. bases: (state, events taken back), newest first."""
    end = time.monotonic() + budget_s
    worlds: list[World] = []
    beam: list[World] = []
    for state, undo in bases:
        layout = state.layout()
        lag: dict[str, dict[Contents, float]] = {}
        if not undo:
            lag = {s: {c: STILL} for s, c in seen.items()}
        beam.append(judge(World(state, layout, undo, TAKE_BACK[undo], lag), look))
    worlds += beam
    known: set[bytes] = set()
    for world in _forgotten(beam[0], look, past):
        worlds.append(world)
        beam.append(world)
    if not difference(beam[0], look):
        return sorted([beam[0], *worlds[len(bases):]], key=lambda w: -w.total)
    for _ in range(depth):
        children: list[World] = []
        for world in beam:
            diff = difference(world, look)
            if not diff or world.violations:
                continue
            for proposal in world.state.explain(diff):
                children += _put_in(world, proposal, look, past) if proposal.belated else _do(world, proposal, look)
            if time.monotonic() > end:
                break
        fresh = []
        for w in sorted(children, key=lambda w: -w.total):
            mark = w.state.key() + repr((w.undo, sorted(w.hands.items()), [v.rule for v in w.violations])).encode()
            if mark not in known:
                known.add(mark)
                fresh.append(w)
        worlds += fresh
        best = max(w.total for w in worlds)
        beam = [w for w in fresh if not w.violations and w.total > best - 4 * MISREAD][:width]
        if not beam or time.monotonic() > end:
            break
    return sorted(worlds, key=lambda w: -w.total)


def _forgotten(world: World, look: Look, past: Past) -> list[World]:
    """Where the board does not follow the state: the worlds in which somebody did something earlier that nobody saw."""
    behind = {s: (world.layout.get(s, ()), site_score(world, look, s)[1]) for s in world.lag}
    behind = {s: both for s, both in behind.items() if both[0] != both[1]}
    if not behind:
        return []
    return [w for p in world.state.explain(behind) if p.belated for w in _put_in(world, p, look, past)]


def _do(world: World, proposal: Proposal, look: Look) -> list[World]:
    """The worlds a proposal leads to: after its last legal action, and the broken one when an action is refused."""
    if not proposal.actions:
        return [judge(world.broken(proposal, proposal.violations, None), look)] if proposal.violations else []
    w = world
    for i, action in enumerate(proposal.actions):
        violations = w.state.check(action)
        if violations:
            broken = w.broken(proposal, violations, action)
            return [judge(broken, look)]
        try:
            state = w.state.apply(action)
        except IllegalAction as e:
            return [judge(w.broken(proposal, e.violations, action), look)]
        w = w.after(state, action, ACTION + (proposal.cost if i == 0 else 0.0))
    w.certain = world.certain and proposal.certain
    return [judge(w, look)]


def _put_in(world: World, proposal: Proposal, look: Look, past: Past) -> list[World]:
    """The world in which these actions were done earlier, each at the latest moment that allowed it, and all since again."""
    if world.actions or world.undo:
        return []
    states, texts = [past[0][0]], []                     # oldest first; texts[i] led from states[i] to states[i + 1]
    for (_, text), (before, _) in zip(past, past[1:]):
        if text is None:
            break
        states.insert(0, before)
        texts.insert(0, text)
    deepest, added = len(texts), 0
    for action in proposal.actions:
        at = next((n for n in range(len(texts) - 1, -1, -1) if not states[n].check(action)), None)
        if at is None:
            return []
        try:
            state, again = states[at].apply(action), [states[at]]
            for text in texts[at:]:
                again.append(state)
                state = state.apply(state.parse(text))
        except (IllegalAction, BadText):
            return []
        deepest = min(deepest, at)
        states, texts = [*states[:at], *again, state], [*texts[:at], str(action), *texts[at:]]
        added += 1
    w = World(state, state.layout(), len(texts) - added - deepest, FORGOTTEN * added + proposal.cost, world.lag)
    new = set(map(str, proposal.actions))
    run = texts[deepest:]
    w.base = world.layout
    w.actions = tuple(states[deepest + n].parse(text) for n, text in enumerate(run))
    w.redone = frozenset(n for n, text in enumerate(run) if text not in new)
    w.touched |= {s for s in set(w.layout) | set(w.base) if w.layout.get(s) != w.base.get(s)}
    w.certain = False
    return [judge(w, look)]


def reconcile(game: Game, past: Past, evidence: Evidence, seen: Layout | None = None, reads: dict[str, str] | None = None,
              optional: frozenset[str] = frozenset(), budget_s: float = 0.4) -> Verdict:
    """The verdict on one settled view.

    past: the states that stand, newest first, each with the text of the action that led to it (None: a start or an edit).
    seen: where the board was behind the state in the last settled view.
    """
    state, seen = past[0][0], dict(seen or {})
    if evidence.busy:
        return Verdict(BUSY, state, seen=seen, text=say("I wait until the board is free"))
    look = Look(evidence, reads or {}, optional)
    bases = _bases(past, look)
    worlds = search(bases, seen, look, past, budget_s)
    best = _best_order(worlds)
    left = difference(best, look)
    if left or (look.foreign and best.actions and _rests_on_covered(best, look)):
        return _unclear(game, state, worlds, seen, left, look)
    rival = next((w for w in worlds if w is not best and _differs(w, best, look)), None)
    if rival is not None and best.total - rival.total < TOO_CLOSE and (best.actions or best.undo) and not best.violations:
        return _unclear(game, state, worlds, seen, left, look)
    lag = {s: site_score(best, look, s)[1] for s in best.touched}
    lag = {s: c for s, c in lag.items() if s in evidence.sites
           and not same_contents(c, best.layout.get(s, ()), look.reads.get(s, "pile"))}
    if best.violations:
        return _illegal(game, state, best, seen, look)
    todo = tuple(todo_of(game, best, s, c) for s, c in lag.items())
    if look.foreign and not best.actions:
        return Verdict(UNCLEAR if len(look.foreign) > 1 else SAME, state, seen=lag, todo=todo,
                       text=say("something lies on the board: {sites}", sites=", ".join(sorted(look.foreign)[:6])))
    name = MOVED if best.actions or best.undo else SAME
    if todo:
        name = UNFINISHED
    elif name == SAME and seen:
        name = MOVED                                      # the last to-do has been done
    return Verdict(name, best.state, best.actions, best.undo, (), todo, seen=lag, text=_words(name, best),
                   question=asked(best.state), certain=best.certain, redone=best.redone)


def _bases(past: Past, look: Look) -> list[tuple[State, int]]:
    """The state now, and the earlier ones a correction may go back to: those after which what people's hands did does not
    lie there any more as they left it (who leaves a piece where it is takes nothing back)."""
    bases = [(past[0][0], 0)]
    for n, ((after, action), (before, _)) in enumerate(zip(past, past[1: len(TAKE_BACK)])):
        if action is None:
            break
        by_hand = {s: c for step in after.steps if step.by_hand for s, c in step.changes.items()}
        if not by_hand or any(look.logp(s, c) < -NOTICED for s, c in by_hand.items()):
            bases.append((before, n + 1))
    return bases


def _rests_on_covered(world: World, look: Look) -> bool:
    changed = {s for s in world.touched if world.layout.get(s, ()) != world.base.get(s, ())}
    return bool(changed) and changed <= look.foreign


def _differs(a: World, b: World, look: Look) -> bool:
    """Whether it matters which of the two it was: another state, not only another way or order to the same board."""
    if bool(a.violations) != bool(b.violations):
        return True
    if a.state.key() == b.state.key() or not (a.certain and b.certain):
        return False
    return _doings(a) != _doings(b)


def _doings(world: World) -> list[str]:
    return sorted(map(str, world.actions))


def _best_order(worlds: list[World]) -> World:
    """The likeliest world; where only the order of its actions is open, the order that gave their players most."""
    best = worlds[0]
    if len(best.actions) < 2 or best.violations:
        return best
    same = [w for w in worlds if w.total > best.total - TOO_CLOSE and not w.violations and _doings(w) == _doings(best)]
    seats = {a.seat for a in best.actions}
    return max(same, key=lambda w: (_points(w.state, seats), w.total))


def _points(state: State, seats: set[str]) -> int:
    scores = state.scores()
    own = [scores.get(s, 0) for s in seats]
    return sum(sum(x.values()) if isinstance(x, dict) else x for x in own)


def _words(name: str, world: World) -> Text:
    if name == SAME:
        return say("nothing changed")
    if world.undo and not world.actions:
        return say("taken back")
    doings = [a for n, a in enumerate(world.actions) if n not in world.redone]
    if world.undo and not world.redone:
        return say("corrected: {actions}", actions="; ".join(map(str, doings)))
    if not world.actions:
        return say("the board is as it should be")
    return say("{actions}", actions="; ".join(map(str, doings)))


def todo_of(game: Game, world: World, site: str, shown: Contents) -> ToDo:
    """The sentence of the step that was to change this site, when the board is just before it; else what to mend."""
    want = world.layout.get(site, ())
    at = world.base.get(site, ())
    text = None
    for step in world.steps:
        if site in step.changes:
            if at == shown and not step.by_hand and step.changes[site] == want:
                text = step.text
            at = step.changes[site]
    if text is None:
        for step in world.state.steps:
            if site in step.changes and not step.by_hand and step.changes[site] == want:
                text = step.text
    return ToDo(text or mend_text(site, shown, want, game.kind_name), (site,))


def _illegal(game: Game, state: State, world: World, seen: Layout, look: Look) -> Verdict:
    back = tuple(mend_text(s, c, state.layout().get(s, ()), game.kind_name) for s, c in world.hands.items())
    return Verdict(ILLEGAL, state, world.actions, 0, world.violations, (), back, seen=seen,
                   text=world.violations[0].text if world.violations else say("this breaks a rule"))


def _unclear(game: Game, state: State, worlds: list[World], seen: Layout, left: dict, look: Look) -> Verdict:
    answers: list[Answer] = []
    texts: set[str] = set()
    for w in worlds:
        if w.violations or not (w.actions or w.undo) or difference(w, look):
            continue
        text = _words(MOVED, w)
        if str(text) not in texts:
            texts.add(str(text))
            answers.append(Answer(text, tuple(map(str, w.actions)), w.undo))
        if len(answers) == 3:
            break
    answers.append(Answer(say("nothing: it goes back as it was")))
    sites = tuple(left) or tuple(s for w in worlds[:2] for s in w.touched)
    text = (say("What happened on {sites}?", sites=", ".join(sites[:4])) if sites else say("What happened?"))
    if len(answers) < 2:
        question = None
    else:
        question = Question(text, tuple(answers), state.turn, sites)
    return Verdict(UNCLEAR, state, seen=seen, question=question, text=text)


def asked(state: State) -> Question | None:
    """What somebody has to say now because no later look can tell it."""
    d = state.decision()
    if d is None or not d.ask or not d.choices:
        return None
    return Question(d.text, tuple(Answer(c.text, (c.action,), 0, c.picture) for c in d.choices), d.seat, d.sites)
