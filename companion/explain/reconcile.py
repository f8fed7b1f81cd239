"""From evidence to a verdict: the explanation that stands out, and what people are told about it
(docs/contracts.md, Verdicts)."""

from __future__ import annotations

import msgspec

from companion.explain.hypothesis import (
    AS_BEFORE,
    DOUBTFUL,
    Hypothesis,
    Look,
    Past,
    differing_sites,
)
from companion.explain.search import search_explanations
from companion.explain.situation import Situation
from companion.explain.starting_points import starting_points
from companion.explain.verdict import BUSY, MOVED, UNFINISHED, Verdict
from companion.explain.verdict_rules import RULES
from engine import Game, say
from engine.layout import Contents, Layout
from vision.evidence.site_evidence import FLOOR, Evidence, SiteEvidence

# A search cut short may call illegal what is only unexplained yet.
BUDGET = 3000


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before a view is examined.

    past: the states that stand, newest first, each with the text of the action that led to it
    (None: a start or an edit). seen: where the board was behind the state in the last settled view.
    reads: how each site is read. optional: sites that people may leave out. budget: how many
    hypotheses the search may look at. excused: contents that people said do not lie there, for as
    long as they are what is read. sure: what was last read beyond doubt. said: indices of the past
    actions that people stated; the others are guesses by the camera, which later looks may correct.
    guessed: indices of those guesses that were one of several ways to the same board.
    """

    game: Game
    past: Past
    seen: Layout = {}
    reads: dict[str, str] = {}
    optional: frozenset[str] = frozenset()
    budget: int = BUDGET
    excused: Layout = {}
    sure: Layout = {}
    said: frozenset[int] = frozenset()
    guessed: frozenset[int] = frozenset()


class Reconciliation:
    """One settled view, explained by what is legal."""

    def __init__(self, context: Context, evidence: Evidence) -> None:
        self.context, self.evidence = context, evidence
        # the board as it lay before this look
        self._lay = {**context.past[0][0].layout(), **context.seen}
        c = context
        self.look = Look(evidence, c.reads, c.optional, c.excused, self._lay, c.sure)

    def verdict(self) -> Verdict:
        """The verdict of the first rule that applies to the best hypotheses."""
        c = self.context
        if self.evidence.busy:
            text = say("waiting until nothing is in the way of the board")
            return Verdict(BUSY, c.past[0][0], seen=dict(c.seen), text=text)
        if poor := self.poorly_read():
            pieces = {s: msgspec.structs.replace(e, other=FLOOR) for s, e in poor.items()}
            sites = {**self.evidence.sites, **pieces}
            taken = Reconciliation(c, msgspec.structs.replace(self.evidence, sites=sites)).verdict()
            if taken.actions and taken.verdict in (MOVED, UNFINISHED):
                return taken
        situation = Situation(c.game, c.past, self.look, self.hypotheses(), dict(c.seen))
        return next(v for rule in RULES if (v := rule(situation)) is not None)

    def poorly_read(self) -> dict[str, SiteEvidence]:
        """The sites where something foreign is hardly likelier than a piece, or hardly less likely
        than a new one; if a legal action brings that piece there, it is the piece."""
        return {
            s: e
            for s, e in self.evidence.sites.items()
            if e.best
            and e.other - e.options[0][1] < AS_BEFORE
            and (e.foreign or e.options[0][1] - e.other < DOUBTFUL and self._is_new(s, e.best))
        }

    def _is_new(self, site: str, contents: Contents) -> bool:
        """Whether these contents are not what lay on a site before this look."""
        state, reads = self.context.past[0][0], self.context.reads.get(site, "pile")
        return not state.shows_same(site, self._lay.get(site, ()), contents, reads)

    def hypotheses(self) -> list[Hypothesis]:
        """What may have been done, likeliest first. If doubtful readings matter, or several actions
        may have been supposed because of one, alternative readings are tried as well."""
        c, look = self.context, self.look
        points = starting_points(c.past, look, c.guessed, c.said)
        found = search_explanations(points, c.seen, look, c.past, c.budget, said=c.said)
        doubts = look.doubtful.keys() | look.hazy.keys()
        best = found[0]
        matter = best.violations or differing_sites(best, look) or best.touched & doubts
        if not doubts or not (matter or len(best.actions) > 1):
            return found
        others = search_explanations(
            points, c.seen, look, c.past, c.budget // 2, doubts=True, said=c.said
        )
        simpler = len(others[0].actions) < len(best.actions)
        return others if matter or simpler else found
