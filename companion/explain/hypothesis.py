"""What the search compares. A *hypothesis* is a state after a run of actions, with what the board
may show while people are still busy getting there; a *look* is what the evidence says. A hypothesis
scores the evidence for it less the cost of its run, both in nats."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine import Action, Proposal, State, Step, Violation
from engine.layout import Contents, Layout, lies_between
from vision.evidence.site_evidence import Evidence, SiteEvidence, contents_match

# What supposing something costs, in nats: the odds between explanations that the picture cannot
# tell apart.
ACTION = 1.0  # one more action in a run
STILL = 0.5  # a to-do that is still not done, per site
FORGOTTEN = 0.2  # an action inserted where it was overlooked
BY_ITSELF = 0.75  # a consequence not yet carried out on the board, per site
LATE_TOO = 0.05  # each further one: somebody who has not begun to clear up has done none of it
BY_ITSELF_PART = 1.0  # one that is carried out in part
BY_HAND = 3.0  # the action itself only half done, per site
HALF_TOO = 1.0  # each further one: half done is half done
WRONG = 5.0  # a consequence carried out wrongly, per site
BREAKS_RULES = 6.0
NEVER = -99.0
TAKE_BACK = (0.0, 2.5, 4.5, 6.0)  # going back this many events ("no, I meant here")
REGUESS = 1.0  # ... if what was done had only been guessed
# ... or if a piece was picked up that now lies elsewhere: that is one action, not two
LIFTED = -2.0
SUPPOSED = 0.2  # ... less this for each supposition that is dropped with it
NOTICED = 2.0  # a difference counts if the evidence prefers it by this much
# two explanations closer than this may lead to a question, if one needs less to have changed
STANDS_OUT = 3.0
ALIKE = 0.5  # readings this close to each other are as likely
MISREAD = 9.0  # no single site may weigh more: a reader errs about once in a thousand sites
# a second reading of a site is also tried if it is closer than this to the first; likewise
# something foreign
DOUBTFUL = 2.5
MOST_DOUBTS = 6  # but only the closest few, since each costs another round of the game's guesses

# something foreign must be this much likelier than the piece that lay there: things rarely lie on
# pieces
AS_BEFORE = 2.0

# the excused contents where people said that what is unrecognisable is what belongs there
UNKNOWN = ("?",)

Past = Sequence[tuple[State, str | None]]
Difference = dict[str, tuple[Contents, Contents]]


def done_by(state: State, hands: bool) -> Layout:
    """What people's hands did in the action that led to a state (or, hands=False, what followed
    automatically): site -> its contents then."""
    return {s: c for step in state.steps if step.by_hand == hands for s, c in step.changes.items()}


Allowed = dict[str, dict[Contents, float]]  # site -> contents other than the layout's -> cost


class Hypothesis(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A state after a run of actions, and, for each site, what the board may show meanwhile and at
    what cost.

    base: the layout at the beginning of the run. parent: the hypothesis before the last action.
    refused: the action that breaks rules; the others were legal. hands: the changes of an illegal
    action. redone: indices of the actions that had been done before and are only replayed. undone:
    what was taken back and has not been replayed so far. lay: if something was taken back, how the
    board lay before this look. scores: site -> (nats, the contents that the board is taken to
    show). `judge_hypothesis` fills in scores and total (nats).
    """

    state: State
    layout: Layout
    base: Layout
    undo: int = 0
    cost: float = 0.0
    allowed: Allowed = {}
    parent: Hypothesis | None = None
    actions: tuple[Action, ...] = ()
    steps: tuple[Step, ...] = ()
    violations: tuple[Violation, ...] = ()
    refused: Action | None = None
    hands: Layout = {}
    certain: bool = True
    redone: frozenset[int] = frozenset()
    undone: tuple[str, ...] = ()
    lay: Layout | None = None
    touched: frozenset[str] = frozenset()
    total: float = 0.0
    scores: dict[str, tuple[float, Contents]] = {}

    def after(self, state: State, action: Action, cost: float) -> Hypothesis:
        """This hypothesis after one more legal action."""
        layout, at = state.layout(), dict(self.layout)
        allowed = {s: dict(c) for s, c in self.allowed.items()}
        again = str(action) in self.undone
        for step in state.steps:
            for site, contents in step.changes.items():
                before, at[site] = at.get(site, ()), contents
                if self.lay is not None and layout.get(site, ()) == self.lay.get(site, ()):
                    continue  # it was already done there
                price = BY_HAND if step.by_hand else BY_ITSELF
                options = allowed.setdefault(site, {})
                options[before] = min(price, options.get(before, price))
        return Hypothesis(
            state=state,
            layout=layout,
            base=self.base,
            undo=self.undo,
            cost=self.cost + cost,
            allowed=allowed,
            parent=self,
            actions=(*self.actions, action),
            steps=self.steps + tuple(state.steps),
            certain=self.certain,
            redone=self.redone | ({len(self.actions)} if again else set()),
            undone=tuple(t for t in self.undone if t != str(action)),
            lay=self.lay,
            touched=self.touched.union(
                (s for step in state.steps for s in step.changes),
                changed_sites(self.layout, layout),
            ),
        )

    def broken(
        self, proposal: Proposal, violations: Sequence[Violation], action: Action | None
    ) -> Hypothesis:
        """This hypothesis with an illegal action on top."""
        return Hypothesis(
            state=self.state,
            layout={**self.layout, **proposal.changes},
            base=self.base,
            undo=self.undo,
            cost=self.cost + BREAKS_RULES + proposal.cost,
            allowed=self.allowed,
            actions=self.actions if action is None else (*self.actions, action),
            steps=self.steps,
            violations=tuple(violations),
            refused=action,
            hands=dict(proposal.changes),
            touched=self.touched | set(proposal.changes),
        )


def start_from(
    state: State,
    undo: int = 0,
    cost: float = 0.0,
    allowed: Allowed | None = None,
    undone: tuple[str, ...] = (),
    lay: Layout | None = None,
) -> Hypothesis:
    """The hypothesis that nothing has been done since a state that lies `undo` events back."""
    layout, allowed = state.layout(), allowed or {}
    return Hypothesis(
        state=state,
        layout=layout,
        base=layout,
        undo=undo,
        cost=cost,
        allowed=allowed,
        undone=undone,
        lay=lay,
        touched=frozenset(allowed),
    )


def changed_sites(before: Layout, after: Layout) -> set[str]:
    """The sites where two layouts differ."""
    return {s for s in {*before, *after} if before.get(s, ()) != after.get(s, ())}


class Look:
    """The evidence of one picture, queried site by site, with a cache."""

    def __init__(
        self,
        evidence: Evidence,
        reads: dict[str, str],
        optional: frozenset[str],
        excused: Layout | None = None,
        expected: Layout | None = None,
        sure: Layout | None = None,
    ) -> None:
        """expected: what lay there before. If hardly anything but that is read, yet as something
        foreign, the site has been left alone: nobody is told or asked about it. sure: what
        was last read beyond doubt."""
        self.evidence, self.reads, self.optional = evidence, reads, optional
        self.sure = sure or {}
        self._cache: dict[tuple[str, Contents], float] = {}
        self.foreign = {s for s, e in evidence.sites.items() if e.foreign}
        self.excused = {
            s
            for s, c in (excused or {}).items()  # still misread as people said, or unrecognisable
            if (c == UNKNOWN if s in self.foreign else self.best(s) == c)
        }
        self.foreign -= self.excused
        self.left_alone = {
            s for s in self.foreign if self._is_left_alone(s, (expected or {}).get(s, ()))
        }
        self.foreign -= self.left_alone
        near = sorted(
            (o[0][1] - o[1][1], s)
            for s, e in evidence.sites.items()
            if s not in self.foreign | self.excused and len(o := e.options) > 1
        )
        self.doubtful = {
            s: evidence.sites[s].options[1][0] for gap, s in near[:MOST_DOUBTS] if gap < DOUBTFUL
        }
        strange = sorted(
            (-e.other, s)
            for s, e in evidence.sites.items()
            if s not in self.foreign | self.excused and e.options
        )
        self.hazy = {
            s: evidence.sites[s].options[0][0]
            for odds, s in strange[:MOST_DOUBTS]
            if odds < DOUBTFUL
        }
        self.hazy |= {s: evidence.sites[s].options[0][0] for s in self.doubtful}

    def logp(self, site: str, contents: Contents) -> float:
        """Log-odds of these contents against the likeliest ones; 0 for a site that the picture does
        not show."""
        found = self._cache.get((site, contents))
        if found is None:
            e = self.evidence.sites.get(site)
            if e is None or not e.options or e.foreign or site in self.excused:
                found = 0.0
            else:
                found = max(self._logp(e, site, contents), -MISREAD)
            self._cache[(site, contents)] = found
        return found

    def _logp(self, e: SiteEvidence, site: str, contents: Contents) -> float:
        reads = self.reads.get(site, "pile")
        p = e.logp(contents, reads)
        if site in self.optional and not e.best:
            p = 0.0  # a place beside the board that people may leave out
        return min(p - max(e.options[0][1], p), 0.0)

    def _is_left_alone(self, site: str, contents: Contents) -> bool:
        e = self.evidence.sites[site]
        return (
            bool(contents and e.options)
            and contents_match(e.best, contents, self.reads.get(site, "pile"))
            and e.other - e.options[0][1] < AS_BEFORE
        )

    def contradicts(self, site: str, contents: Contents, by: float) -> bool:
        """Whether whatever was recognised there speaks this strongly (nats) against these contents.
        The chance that it is something else altogether counts neither for nor against them."""
        e = self.evidence.sites.get(site)
        if (
            e is None
            or not e.options
            or e.foreign
            or site in self.excused
            or not e.best
            and site in self.optional
        ):
            return False
        known = msgspec.structs.replace(e, other=NEVER)
        return self._logp(known, site, contents) < -by

    def same_base(self, site: str, seen: Contents, want: Contents) -> Contents:
        """The contents seen, with what lay at the bottom before if that is as likely: loose pieces
        hide by what two tiles differ."""
        if len(seen) < 2 or not want or seen[0] == want[0] or "?" in (seen[0], want[0]):
            return seen
        other = (want[0], *seen[1:])
        return other if self.logp(site, other) > -ALIKE else seen

    def best(self, site: str) -> Contents | None:
        """The likeliest contents of a site; None if the picture does not show it."""
        e = self.evidence.sites.get(site)
        return None if e is None or e.foreign or not e.options else e.options[0][0]


def judge_hypothesis(hypothesis: Hypothesis, look: Look) -> Hypothesis:
    """The hypothesis with its `total` and the `scores` of all sites in the evidence."""
    scores = {site: _score_of(hypothesis, look, site) for site in look.evidence.sites}
    total, late, half = -hypothesis.cost, 0, 0
    for site, (score, shown) in scores.items():
        total += score
        if shown != hypothesis.layout.get(site, ()):
            price = hypothesis.allowed.get(site, {}).get(shown)
            late += price == BY_ITSELF
            half += price == BY_HAND
    total += max(0, late - 2) * (BY_ITSELF - LATE_TOO) + max(0, half - 1) * (BY_HAND - HALF_TOO)
    return msgspec.structs.replace(hypothesis, total=total, scores=scores)


def site_score(hypothesis: Hypothesis, look: Look, site: str) -> tuple[float, Contents]:
    """(nats, contents): the best that this hypothesis allows on the site, including any evidence
    against it."""
    return hypothesis.scores.get(site) or _score_of(hypothesis, look, site)


def _score_of(hypothesis: Hypothesis, look: Look, site: str) -> tuple[float, Contents]:
    want = hypothesis.layout.get(site, ())
    best = (look.logp(site, want), want)
    seen = look.best(site)
    if best[0] < 0 and seen is not None and shows_same(hypothesis, look, site, seen):
        best = (0.0, want)
    options = hypothesis.allowed.get(site)
    if not options or best[0] >= -BY_ITSELF / 2:
        return best
    for contents, price in options.items():
        score = look.logp(site, contents) - price
        if score > best[0]:
            best = (score, contents)
    if seen is not None and seen != want and -BY_ITSELF_PART > best[0]:
        prices = [p for o, p in options.items() if lies_between(o, seen, want)]
        price = max(BY_ITSELF_PART, min(prices)) if prices else WRONG
        if -price > best[0]:
            best = (-price, seen)
    return best


def shows_same(hypothesis: Hypothesis, look: Look, site: str, seen: Contents) -> bool:
    """Whether a site with these contents shows what the hypothesis expects there."""
    want = hypothesis.layout.get(site, ())
    return hypothesis.state.shows_same(site, want, seen, look.reads.get(site, "pile"))


def differing_sites(hypothesis: Hypothesis, look: Look) -> Difference:
    """Where the evidence prefers something that this hypothesis does not allow: site -> (the
    state's contents, contents seen)."""
    out: Difference = {}
    for site in look.evidence.sites:
        score, _ = site_score(hypothesis, look, site)
        if score < -NOTICED:
            seen = look.best(site)
            want = hypothesis.layout.get(site, ())
            if seen is not None and not shows_same(hypothesis, look, site, seen):
                out[site] = (want, known_below(look.same_base(site, seen, want), want))
    return out


def known_below(seen: Contents, want: Contents) -> Contents:
    """The contents seen, with whatever is hidden under a piece taken from the state."""
    return (
        tuple(
            h if s == "?" and i < len(want) else s
            for i, (s, h) in enumerate(zip(seen, want + ("?",) * len(seen)))
        )
        if "?" in seen
        else seen
    )


def legal_run(state: State, actions: Sequence[Action]) -> bool:
    """Whether all of these are legal, one after the other; False if there are none."""
    for action in actions:
        if state.check(action):
            return False
        state = state.apply(action)
    return bool(actions)
