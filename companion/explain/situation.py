"""One settled view with the hypotheses that may explain it: what the verdict rules look at."""

from __future__ import annotations

from functools import cached_property

from companion.explain.hypothesis import Difference, Hypothesis, Look, Past, site_score
from companion.explain.ranking import (
    best_order,
    contradicted_sites,
    newly_odd_site,
    plainly_broken_rule,
    unexplained_sites,
)
from companion.explain.verdict import ToDo
from companion.explain.wording import todos_of
from engine import Game, State
from engine.layout import Contents, Layout
from vision.evidence.site_evidence import contents_match


class Situation:
    """hypotheses: likeliest first. seen: where the board was behind the state in the last settled
    view.

    best: the hypothesis to go by. left: what it does not explain, site -> (its contents, contents
    seen).
    """

    def __init__(
        self, game: Game, past: Past, look: Look, hypotheses: list[Hypothesis], seen: Layout
    ) -> None:
        self.game, self.past, self.look, self.seen = game, past, look, seen
        self.hypotheses = hypotheses
        self.best = best_order(hypotheses)
        self.left: Difference = unexplained_sites(self.best, look)
        if self.left and not self.best.violations:
            self.best = plainly_broken_rule(self.best, hypotheses, self.left, look)
            self.left = unexplained_sites(self.best, look)

    @property
    def state(self) -> State:
        """The state as it was before this view."""
        return self.past[0][0]

    @cached_property
    def behind(self) -> Layout:
        """Where the board is behind the state of the best hypothesis, site -> contents."""
        shown = {s: site_score(self.best, self.look, s)[1] for s in self.best.touched}
        look = self.look
        blank = look.foreign | look.left_alone | look.excused  # nothing counts that is read there
        shown |= {s: self._still_there(s) or c for s, c in shown.items() if s in blank}
        return {
            s: c
            for s, c in shown.items()
            if s in self.look.evidence.sites
            and not self.best.state.shows_same(
                s, self.best.layout.get(s, ()), c, self.look.reads.get(s, "pile")
            )
        }

    def _still_there(self, site: str) -> Contents | None:
        """What is still to be changed on a site that cannot be recognised, if it looks like that
        more than like anything else."""
        seen = self.look.evidence.sites.get(site)
        if seen is None or not seen.options:
            return None
        reads = self.look.reads.get(site, "pile")
        before = [*self.best.allowed.get(site, {}), self.seen.get(site, ())]
        return next((c for c in before if c and contents_match(seen.best, c, reads)), None)

    @cached_property
    def todo(self) -> tuple[ToDo, ...]:
        """What people still have to do with the pieces."""
        return todos_of(self.game, self.best, self.behind, self.past)

    @cached_property
    def contradicted(self) -> Difference:
        """Sites where nothing legal was done, but whose contents are surely not what the state has,
        or have become something else."""
        return contradicted_sites(self.best, self.look) | newly_odd_site(self.best, self.look)
