"""What the search compares: a *world*, a state after a run of actions and what the board may show
while people are still busy bringing it there, and a *look*, what the evidence says. A world's score
is the evidence for it less what its run costs, both in nats.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine import Action, Proposal, State, Step, Violation
from engine.layout import Contents, Layout, between
from vision.evidence.site_evidence import Evidence, SiteEvidence

# What a doing costs, in nats: odds between explanations that the picture cannot tell apart.
ACTION = 1.0  # one more action in a run
STILL = 0.5  # a to-do that is still not done, a site
FORGOTTEN = 0.2  # an act put in where it was forgotten
BY_ITSELF = 0.75  # a consequence not yet done on the board, a site
LATE_TOO = 0.05  # each further one: who has not begun to clear up has not done any of it
BY_ITSELF_PART = 1.0  # one of which some pieces have gone their way and others have not
BY_HAND = 3.0  # the doing itself only half done, a site
HALF_TOO = 1.0  # each further one: half is half
WRONG = 5.0  # a consequence done wrongly, a site
BREAKS_RULES = 6.0
NEVER = -99.0
TAKE_BACK = (0.0, 2.5, 4.5, 6.0)  # going back so many events ("no, I meant here")
REGUESS = 1.0  # ... where what was done had only been guessed
LIFTED = (
    -2.0
)  # ... or where a piece was taken up that now lies elsewhere: that is one doing, not two
NOTICED = 2.0  # a difference counts when the evidence prefers it by so much
STANDS_OUT = (
    3.0  # two explanations nearer than this may be a question, where one needs less to have changed
)
MISREAD = 9.0  # no single site may weigh more: a reader errs once in some thousand sites
# a second reading of a site nearer than this to the first is tried too; something foreign, likewise
DOUBTFUL = 2.5
MOST_DOUBTS = 6  # but no more than the nearest few: each costs the game's guesses once more

UNKNOWN = ("?",)  # what is excused where people said that what cannot be told is what belongs there

Past = Sequence[tuple[State, str | None]]
Difference = dict[str, tuple[Contents, Contents]]


def done_by(state: State, hands: bool) -> Layout:
    """What people's hands did in the action that led to a state, or what followed by itself: site
    -> what then lies there"""
    return {s: c for step in state.steps if step.by_hand == hands for s, c in step.changes.items()}


class World:
    """A state after a run of actions, and per site what the board may meanwhile show at what cost."""

    __slots__ = (
        "actions",
        "base",
        "certain",
        "cost",
        "hands",
        "lag",
        "lay",
        "layout",
        "parent",
        "redone",
        "refused",
        "scores",
        "state",
        "steps",
        "touched",
        "total",
        "undo",
        "undone",
        "violations",
    )

    def __init__(
        self,
        state: State,
        layout: Layout,
        undo: int,
        cost: float,
        lag: dict[str, dict[Contents, float]],
    ) -> None:
        self.state, self.layout, self.undo, self.cost = state, layout, undo, cost
        self.base = layout
        self.lag = lag  # site -> contents allowed besides the layout's -> cost
        self.parent: World | None = None  # the world before the last action
        self.actions: tuple[Action, ...] = ()
        self.steps: tuple[Step, ...] = ()
        self.violations: tuple[Violation, ...] = ()
        self.refused: Action | None = None  # the action that breaks rules; the others were legal
        self.hands: Layout = {}  # an illegal doing's changes
        self.certain = True
        self.redone: frozenset[int] = (
            frozenset()
        )  # which of the actions stood before and are only done again
        self.undone: tuple[str, ...] = ()  # what was taken back and not done again so far
        self.lay: Layout | None = (
            None  # where something was taken back: the board as it lay before this look
        )
        self.touched: set[str] = set(lag)
        self.total = 0.0
        self.scores: dict[str, tuple[float, Contents]] = {}

    def after(self, state: State, action: Action, cost: float) -> World:
        """This world one legal action on."""
        w = World(
            state,
            state.layout(),
            self.undo,
            self.cost + cost,
            {s: dict(c) for s, c in self.lag.items()},
        )
        w.base, w.actions, w.steps = (
            self.base,
            (*self.actions, action),
            self.steps + tuple(state.steps),
        )
        w.parent, w.certain, w.redone, w.undone, w.lay = (
            self,
            self.certain,
            self.redone,
            self.undone,
            self.lay,
        )
        if str(action) in w.undone:
            w.redone, w.undone = (
                w.redone | {len(self.actions)},
                tuple(t for t in w.undone if t != str(action)),
            )
        w.touched = set(self.touched)
        at: Layout = dict(self.layout)
        for step in state.steps:
            for site, contents in step.changes.items():
                before, at[site] = at.get(site, ()), contents
                if w.lay is None or w.layout.get(site, ()) != w.lay.get(
                    site, ()
                ):  # else it lay there done already
                    price = BY_HAND if step.by_hand else BY_ITSELF
                    options = w.lag.setdefault(site, {})
                    options[before] = min(price, options.get(before, price))
                w.touched.add(site)
        w.touched.update(
            s for s in set(self.layout) | set(w.layout) if self.layout.get(s) != w.layout.get(s)
        )
        return w

    def broken(
        self, proposal: Proposal, violations: Sequence[Violation], action: Action | None
    ) -> World:
        """This world with an illegal doing done on top."""
        w = World(
            self.state,
            dict(self.layout),
            self.undo,
            self.cost + BREAKS_RULES + proposal.cost,
            self.lag,
        )
        w.base, w.steps = self.base, self.steps
        w.actions = self.actions if action is None else (*self.actions, action)
        w.violations, w.hands, w.refused = tuple(violations), dict(proposal.changes), action
        w.layout.update(proposal.changes)
        w.touched = set(self.touched) | set(proposal.changes)
        return w


class Look:
    """One picture's evidence, asked site by site with a memory."""

    def __init__(
        self,
        evidence: Evidence,
        reads: dict[str, str],
        optional: frozenset[str],
        excused: Layout | None = None,
    ) -> None:
        self.evidence, self.reads, self.optional = evidence, reads, optional
        self._cache: dict[tuple[str, Contents], float] = {}
        self.foreign = {s for s, e in evidence.sites.items() if e.foreign}
        self.excused = {
            s
            for s, c in (excused or {}).items()  # still misread as people said, or not to be told
            if (c == UNKNOWN if s in self.foreign else self.best(s) == c)
        }
        self.foreign -= self.excused
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
        """Log-odds of these contents against the likeliest ones; 0 for a site the picture does not
        show."""
        found = self._cache.get((site, contents))
        if found is None:
            e = self.evidence.sites.get(site)
            silent = e is None or not e.options or e.foreign or site in self.excused
            found = 0.0 if silent else max(self._logp(e, site, contents), -MISREAD)
            self._cache[(site, contents)] = found
        return found

    def _logp(self, e: SiteEvidence, site: str, contents: Contents) -> float:
        reads = self.reads.get(site, "pile")
        p = e.logp(contents, reads)
        if site in self.optional and not e.best:
            p = 0.0  # a place beside the board that a table may leave out
        return min(p - max(e.options[0][1], p), 0.0)

    def contradicts(self, site: str, contents: Contents, by: float) -> bool:
        """Whether anything that was recognised there speaks so much against these contents; that it
        may be something else altogether then speaks for them no more than against them"""
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

    def best(self, site: str) -> Contents | None:
        e = self.evidence.sites.get(site)
        return None if e is None or e.foreign or not e.options else e.options[0][0]


def judge(world: World, look: Look) -> World:
    """Fills in `total` and, per touched site, the score and the contents the board is taken to
    show."""
    total, late, half = -world.cost, 0, 0
    for site in look.evidence.sites.keys():
        score, shown = site_score(world, look, site)
        total += score
        if shown != world.layout.get(site, ()):
            price = world.lag.get(site, {}).get(shown)
            late += price == BY_ITSELF
            half += price == BY_HAND
    world.total = (
        total + max(0, late - 2) * (BY_ITSELF - LATE_TOO) + max(0, half - 1) * (BY_HAND - HALF_TOO)
    )
    return world


def site_score(world: World, look: Look, site: str) -> tuple[float, Contents]:
    """(nats, contents): the best of what this world allows on the site; evidence against it
    included."""
    found = world.scores.get(site)
    if found is not None:
        return found
    want = world.layout.get(site, ())
    best = (look.logp(site, want), want)
    seen = look.best(site)
    if (
        best[0] < 0
        and seen is not None
        and world.state.shows_same(site, want, seen, look.reads.get(site, "pile"))
    ):
        best = (0.0, want)
    options = world.lag.get(site)
    if options and best[0] < -BY_ITSELF / 2:
        for contents, price in options.items():
            score = look.logp(site, contents) - price
            if score > best[0]:
                best = (score, contents)
        if seen is not None and seen != want and -BY_ITSELF_PART > best[0]:
            prices = [p for o, p in options.items() if between(o, seen, want)]
            price = max(BY_ITSELF_PART, min(prices)) if prices else WRONG
            if -price > best[0]:
                best = (-price, seen)
    world.scores[site] = best
    return best


def difference(world: World, look: Look) -> Difference:
    """Where the evidence prefers something this world does not allow: site -> (the state's
    contents, seen)."""
    out: Difference = {}
    for site in look.evidence.sites:
        score, _ = site_score(world, look, site)
        if score < -NOTICED:
            seen = look.best(site)
            want = world.layout.get(site, ())
            if seen is not None and not world.state.shows_same(
                site, want, seen, look.reads.get(site, "pile")
            ):
                out[site] = (want, known_below(seen, want))
    return out


def known_below(seen: Contents, want: Contents) -> Contents:
    """What is hidden under a piece is what the state knows to lie there."""
    return (
        tuple(
            w if s == "?" and i < len(want) else s
            for i, (s, w) in enumerate(zip(seen, want + ("?",) * len(seen)))
        )
        if "?" in seen
        else seen
    )


def legal_run(state: State, actions: Sequence[Action]) -> bool:
    """Whether all of these may be done, one after the other; False for none"""
    for action in actions:
        if state.check(action):
            return False
        state = state.apply(action)
    return bool(actions)
