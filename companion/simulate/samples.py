"""Generated layouts for any plan: random ones for tests, and samplers that show every kind in few
photos.

What may lie where comes from `[[lie]]` in a game's art.toml:

    [[lie]]
    tag = "field"              # sites with this tag (patterns as in art.toml); `site`: with this
                               # id; `without`: lacking a tag
    share = 3                  # relative frequency among all that fits the site
    contents = ["tile:*", "black|white x1-5"]    # bottom first; "x1-5": one to five of the same,
                                                # "+0-8": up to eight of any

`once = 0.35` instead of `share`: each kind that the last entry names lies on one site of the board
with that probability. A {name} stands for the same word wherever it occurs in one contents, and for
a different word than other {names}. Without any [[lie]], one piece of any kind lies on a pile and a
few on a cluster.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from vision.geometry.occlusion import visible_counts
from vision.plan import Plan, Site

SampleLayout = dict[str, list[str]]
Rule = Mapping[str, Any]
# used if there is no [[lie]]
ANYTHING: Sequence[Rule] = [{"share": 1, "contents": []}, {"share": 2, "contents": ["*"]}]
UNCOUNTED = 6  # assumed number of a kind whose count in the plan is 0


def random_layout(plan: Plan, rules: Sequence[Rule], rng: random.Random) -> SampleLayout:
    """One random layout, within the numbers in the box."""
    return _Maker(plan, rules, rng).make(need=None)


def full_samplers(
    plan: Plan,
    rules: Sequence[Rule],
    rng: random.Random,
    photos: int = 2,
    each: int = 4,
    sides: bool = False,
) -> list[SampleLayout]:
    """Layouts that together show every kind `each` times visibly, as far as box, sites, photos and
    chance allow; rare kinds, such as the ziggurats of a game of forty tiles, may be one or two
    short. sides: a piece shows only one of its sides at a time, like real ones; otherwise there is
    one piece for each side."""
    ways = Counter(plan.one.values() if sides else ())
    need = Counter(
        {
            p.kind: min(each, max(photos, p.count) if p.count else each)
            for p in plan.piece
            # a piece can lie in more ways than there are photos of it: kinds that only differ by
            # rotation are learnt from each other
            if not p.looks or not 0 < plan.number(p.kind) * photos < ways[plan.one[p.kind]]
        }
    )
    full = need.copy()
    out: list[SampleLayout] = []
    for n in range(photos):
        made = _Maker(plan, rules, rng, out, sides).make(need, full, share_of_once=1 / (photos - n))
        out.append(made)
        need -= visible_counts(plan, made)
    return out


def another_sampler(
    plan: Plan,
    rules: Sequence[Rule],
    rng: random.Random,
    kinds: Sequence[str],
    before: Sequence[SampleLayout],
    each: int,
) -> SampleLayout:
    """One more layout, which shows these kinds up to `each` times visibly, and nothing on sites
    that are not needed for them; before: what the photos so far show."""
    need = Counter({k: min(each, plan.pieces[k].count or each) for k in kinds})
    made = _Maker(plan, rules, rng, before, sides=True).make(need, need)
    covered = {
        c
        for site, contents in made.items()
        for c in spanned_sites(plan, plan.sites[site], contents[-1])
        if c != site
    }
    shown = visible_counts(plan, made)
    for site in rng.sample(sorted(made), len(made)):
        shows = visible_counts(plan, {site: made[site]})
        if site not in covered and not any(
            k in need and shown[k] - n < need[k] for k, n in shows.items()
        ):
            shown -= shows
            for c in spanned_sites(plan, plan.sites[site], made[site][-1]):
                made.pop(c, None)
    return made


class _Maker:
    """Fills one board."""

    def __init__(
        self,
        plan: Plan,
        rules: Sequence[Rule],
        rng: random.Random,
        before: Sequence[SampleLayout] = (),
        sides: bool = False,
    ) -> None:
        """before: what the earlier photos show; sides: as in full_samplers()"""
        self.plan, self.rng, self.before = plan, rng, before
        self.one = plan.one if sides else {k: k for k in plan.pieces}
        self.rules = rules or ANYTHING
        self.fitting = None if rules else plan.fitting
        self.left = Counter(
            {
                k: (plan.number(k) if sides else plan.pieces[k].count) or UNCOUNTED
                for k in self.one.values()
            }
        )
        self.layout: SampleLayout = {}
        self.site = ""

    def make(
        self,
        need: Counter[str] | None,
        full: Mapping[str, int] | None = None,
        share_of_once: float = 1.0,
    ) -> SampleLayout:
        """need: how many of each kind are still wanted, full: how many were wanted at first; None
        for a random layout."""
        self.need = None if need is None else need.copy()
        self.full: Mapping[str, int] = full or {}
        for rule in self.rules:
            if "once" in rule:
                self._once(rule, share_of_once)
        sites = [s for s in self.plan.site if s.id not in self.layout]
        self.rng.shuffle(sites)
        for site in sites:
            fitting = [r for r in self.rules if "share" in r and _rule_fits(r, site)]
            self.site = site.id
            if site.id not in self.layout and fitting:
                self._lay({site.id: self._choose(site, fitting)})
        return {s.id: self.layout[s.id] for s in self.plan.site if self.layout.get(s.id)}

    def _once(self, rule: Rule, share: float) -> None:
        kinds = _matching_kinds(self.plan, rule["contents"][-1])
        self.rng.shuffle(kinds)
        need = self.need
        wanted = [k for k in kinds if need is None and self.rng.random() < rule["once"]]
        if need is not None:
            due = sorted((k for k in kinds if need[k] > 0), key=lambda k: -need[k])
            wanted = (
                due[: max(1, round(len(due) * share))] if self.plan.pieces[kinds[0]].spans else due
            )
        for kind in wanted:
            sites = [s for s in self.plan.site if _rule_fits(rule, s)]
            self.rng.shuffle(sites)
            # on another site it shows more than before
            if self.plan.pieces[kind].count == 1 and not self.plan.pieces[kind].spans:
                sites.sort(
                    key=lambda s: any(kind in layout.get(s.id, ()) for layout in self.before)
                )
            for site in sites:
                covered = spanned_sites(self.plan, site, kind)
                if covered and not any(c in self.layout for c in covered) and self._left(kind) > 0:
                    under = self.plan.pieces[kind].over
                    below = [under] if under else self._below(rule)
                    self._lay({c: list(below) for c in covered} | {site.id: [*below, kind]})
                    break

    def _below(self, rule: Rule) -> list[str]:
        """What lies under the kind that a rule lays once."""
        picks = [self._pick(item, {}) for item in rule["contents"][:-1]]
        return [k for k in picks if k is not None]

    def _choose(self, site: Site, fitting: list[Rule]) -> list[str]:
        """The best of a few random choices: the one that shows most of what is still needed."""
        shares = [r["share"] for r in fitting]
        throws = [
            self._throw(r)
            for r in self.rng.choices(fitting, shares, k=1 if self.need is None else 14)
        ]
        need = self.need
        if need is None:
            return throws[0]

        def gain(contents: list[str]) -> float:
            seen = visible_counts(self.plan, {site.id: contents})
            return sum(self._worth(k) * min(n, need[k]) for k, n in seen.items()) / (
                0.5 + len(contents)
            )

        return max(throws, key=gain)

    def _worth(self, kind: str) -> float:
        """How much one more of a kind is needed; kinds not shown yet come first."""
        if self.need is None or self.need[kind] <= 0:
            return 0.05
        return (10.0 if self.need[kind] >= self.full[kind] else 1.0) * (
            1.5 if self.plan.pieces[kind].looks else 1.0
        )

    def _throw(self, rule: Rule) -> list[str]:
        out: list[str] = []
        bound: dict[str, str] = {}
        for item in rule["contents"]:
            pattern, low, high, anew = _parsed_item(item)
            n = self.rng.randint(low, high)
            kind = self._pick(pattern, bound, out) if n else None
            for _ in range(n):
                if kind is None or self._left(kind, out) <= 0:
                    break
                out.append(kind)
                kind = self._pick(pattern, bound, out) if anew else kind
            if not out and low:
                return []
        return out

    def _pick(self, pattern: str, bound: dict[str, str], taken: Sequence[str] = ()) -> str | None:
        choices = [
            (k, names)
            for k, names in _matching_sites(self.plan, pattern)
            if self._left(k, taken) > 0
            and not self.plan.pieces[k].spans
            and self._belongs(k)
            and all(
                bound.get(n, v) == v and v not in [b for m, b in bound.items() if m != n]
                for n, v in names.items()
            )
        ]
        if not choices:
            return None
        weights = [1.0 if self.need is None else self._worth(k) for k, _ in choices]
        kind, names = self.rng.choices(choices, weights)[0]
        bound.update(names)
        return kind

    def _belongs(self, kind: str) -> bool:
        """Whether a kind may lie on the site being filled, apart from any [[lie]]"""
        return self.fitting is None or self.site in self.fitting[kind]

    def _left(self, kind: str, taken: Sequence[str] = ()) -> int:
        """How many more of a kind the box holds, apart from those taken"""
        return self.left[self.one[kind]] - sum(self.one[k] == self.one[kind] for k in taken)

    def _lay(self, part: SampleLayout) -> None:
        self.layout |= part
        self.left -= Counter(self.one[k] for contents in part.values() for k in contents)
        if self.need is not None:
            self.need -= visible_counts(self.plan, part)


def spanned_sites(plan: Plan, site: Site, kind: str) -> list[str]:
    """The sites that a piece listed on this one covers, this one first; [] if it would not fit on
    the board."""
    piece = plan.pieces[kind]
    if not piece.spans:
        return [site.id]
    w, h = (max(v) - min(v) for v in zip(*site.outline))
    out = []
    for row in range(piece.spans[1]):
        for col in range(piece.spans[0]):
            x, y = site.centre + (col * w, row * h)
            there = [
                s.id
                for s in plan.site
                if abs(s.centre[0] - x) < w / 4 and abs(s.centre[1] - y) < h / 4
            ]
            if not there:
                return []
            out.append(there[0])
    return out


def _rule_fits(rule: Rule, site: Site) -> bool:
    return (
        _kind_pattern(rule.get("site", "*")).fullmatch(site.id) is not None
        and ("tag" not in rule or any(_kind_pattern(rule["tag"]).fullmatch(t) for t in site.tags))
        and (
            "without" not in rule
            or not any(_kind_pattern(rule["without"]).fullmatch(t) for t in site.tags)
        )
    )


def _parsed_item(text: str) -> tuple[str, int, int, bool]:
    """ "ripe:* +0-8" -> ("ripe:*", 0, 8, True)"""
    m = re.fullmatch(r"(.*?)(?: ([x+])(\d+)(?:-(\d+))?)?", text)
    assert m is not None, "the pattern matches any line"
    low = int(m[3]) if m[3] else 1
    return m[1], low, int(m[4] or low), m[2] == "+"


@cache
def _kind_pattern(text: str) -> re.Pattern[str]:
    parts = re.split(r"(\*|\{\w+\}|\|)", text)
    turned = [
        {"*": ".*", "|": "|"}.get(p)
        or (f"(?P<{p[1:-1]}>[^:]+)" if p.startswith("{") else re.escape(p))
        for p in parts
    ]
    return re.compile("".join(turned))


def _matching_sites(plan: Plan, pattern: str) -> list[tuple[str, dict[str, str]]]:
    found = ((p.kind, _kind_pattern(pattern).fullmatch(p.kind)) for p in plan.piece)
    return [(k, m.groupdict()) for k, m in found if m]


def _matching_kinds(plan: Plan, item: str) -> list[str]:
    return [k for k, _ in _matching_sites(plan, _parsed_item(item)[0])]
