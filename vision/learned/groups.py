"""Which sites are read by the same classifier, and what each may show. Its central value:
SiteGroup."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.footprints import lies_below
from vision.geometry.site_groups import block_members, outline_size
from vision.plan import Piece, Plan, Site

EMPTY, FOREIGN = 0, 1  # the first two classes of every group
UNDER = ("under",)  # the class of a site that a larger neighbour's piece covers
LIKE_SIZE = 0.75  # of the larger's width and depth that the smaller of two sites of one size has
OWN_GROUP = 4  # sites of one size that are a group of their own
UPRIGHT = 1.2  # of its footprint's longer side that a piece is high which stands rather than lies
LEANS = 0.3  # of its height by which a standing piece's top is seen off its foot, as a rule
FLAT = 1 / 3  # of its footprint's shorter side that a piece is high at most which is laid on others
# of the narrower's width that the wider's may be of two forms told apart as one: Déluges' ships, 18 mm
# long, were seen where discs of 14 lay
RIVAL_WIDTHS = 1.4
# of the area of what it lies on that a piece on a pile takes at most which is looked for as loose ones are
SMALL_TOP = 0.25


class SiteGroup(msgspec.Struct, frozen=True):
    """ids: the sites; box: (w, h) mm of one; classes: what each may show as one, (), foreign and
    what the samplers show; of a cluster its card, of a pile all of it; loose: kinds that lie on it
    besides; most: the most of them a sampler shows; bare: whether they lie where no card does;
    tall, foot: mm that the tallest piece is high which stands on a pile, and the widest wide; 0
    where all lie; quarters: whether what lies there may lie turned by quarters; top: mm across the
    uppermost pieces of a pile that lie loose elsewhere, 0 where there are none; turns: by how many
    quarters, clockwise, what lies on each of the sites is turned, () where nothing is; spans:
    columns and rows of sites that a piece covers, of a group of such blocks, which has no sites of its
    own, else ()"""

    reads: str
    ids: tuple[str, ...]
    box: tuple[float, float]
    classes: tuple[Contents, ...]
    loose: tuple[str, ...] = ()
    most: int = 0
    bare: bool = False
    tall: float = 0.0
    foot: float = 0.0
    quarters: bool = False
    top: float = 0.0
    turns: tuple[int, ...] = ()
    spans: tuple[int, ...] = ()

    @property
    def laid_anyhow(self) -> bool:
        """Whether its pieces may lie turned by quarters, though they lie straight elsewhere"""
        return self.reads == "pile" and self.quarters

    def turns_of(self, sites: Iterable[str]) -> np.ndarray:
        """(r,) by how many quarters what lies on these sites is turned"""
        known = dict(zip(self.ids, self.turns))
        return np.array([known.get(i, 0) for i in sites], int)

    def degrees_of(self, sites: Iterable[Site]) -> np.ndarray:
        """(r,) degrees, clockwise, by which what lies on these sites is turned"""
        sites = list(sites)
        return np.array([s.frame[1] for s in sites]) + 90.0 * self.turns_of(s.id for s in sites)


def site_box(site: Site) -> np.ndarray:
    """(2,) mm: width and depth, as the site is looked at"""
    return site.frame[0]


def is_buried(contents: Sequence[str], n: int, plan: Plan) -> bool:
    """Whether the n-th piece of a pile lies wholly under a later one"""

    def area(kind: str) -> float:
        w, d = plan.pieces[kind].footprint
        return w * d * (0.785 if plan.pieces[kind].disc else 1.0)

    kind = contents[n]
    return kind == "?" or any(k != "?" and area(k) >= 0.95 * area(kind) for k in contents[n + 1 :])


def base_contents(plan: Plan, site: Site, contents: Sequence[str]) -> Contents:
    """The part of a site's contents that is classified as one: all of a pile (hidden pieces as
    "?"), the card of a cluster"""
    if site.reads == "cluster":
        return tuple(k for k in contents[:1] if lies_below(plan, site, k))
    return tuple("?" if is_buried(contents, n, plan) else k for n, k in enumerate(contents))


def covered_sites(plan: Plan, layout: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """{site under a piece that covers several: the site that piece is listed on}"""
    out: dict[str, str] = {}
    for site, contents in layout.items():
        spans = (
            plan.pieces[contents[-1]].spans if contents and contents[-1] in plan.pieces else None
        )
        if spans:
            out |= {m: site for m in block_members(plan, site, spans) if m != site}
    return out


def group_sites(
    plan: Plan, layouts: Sequence[Mapping[str, Sequence[str]]]
) -> tuple[SiteGroup, ...]:
    """Sites of one size and way of reading share a classifier; its classes are what the layouts
    show on them, or on others that the plan calls alike"""
    members: dict[tuple, list[str]] = {}
    cards = {
        s.id
        for layout in layouts
        for i, contents in layout.items()
        for s in [plan.sites[i]]
        if s.reads == "cluster" and base_contents(plan, s, tuple(contents))
    }
    alike = like_piles(plan)
    rough = {s.id: rough_size(s) for s in plan.site if s.reads == "cluster"}
    sizes, usual = {rough[i] for i in cards}, Counter(rough.values())
    for s in plan.site:
        if s.reads == "pile":
            members.setdefault(("pile", alike[s.id]), []).append(s.id)
            continue
        size = rough[s.id]
        # cells of all shapes are told apart by their loose pieces alone
        bare = size not in sizes and usual[size] < OWN_GROUP
        members.setdefault(("cluster",) if bare else ("cluster", *size), []).append(s.id)
    covers = [covered_sites(plan, layout) for layout in layouts]
    out = []
    for key, ids in members.items():
        seen, loose, most, bare = set(), set(), 0, False
        alike_too = [*ids, *sites_called_alike(plan, ids)]
        for layout, over in zip(layouts, covers):
            for i in alike_too:
                contents = tuple(layout.get(i, ()))
                base = UNDER if i in over else base_contents(plan, plan.sites[i], contents)
                seen.add(base)
                rest = contents[len(base) :] if key[0] == "cluster" else ()
                loose |= set(rest)
                most, bare = max(most, len(rest)), bare or bool(rest) and not base
        box = group_box(plan, ids)
        classes = ((), ("foreign",), *sorted(seen - {()}))
        standing = [
            plan.pieces[k]
            for c in classes
            for k in c
            if key[0] == "pile" and k in plan.pieces and stands_upright(plan.pieces[k])
        ]
        out.append(
            SiteGroup(
                key[0],
                tuple(ids),
                tuple(map(float, box)),
                classes,
                tuple(sorted(loose)),
                most,
                bare,
                max((p.height for p in standing), default=0.0),
                max((max(p.footprint) for p in standing), default=0.0),
            )
        )
    return tuple(out)


def add_blocks(plan: Plan, groups: Sequence[SiteGroup]) -> tuple[SiteGroup, ...]:
    """The groups and, of each on whose sites lie pieces that cover several, one more that tells these
    pieces apart: they are looked at as a whole then"""
    out = list(groups)
    for g in groups:
        spanning: dict[tuple[int, ...], list[Contents]] = {}
        for c in g.classes:
            if c and c[-1] in plan.pieces and (spans := plan.pieces[c[-1]].spans):
                spanning.setdefault(spans, []).append(c)
        for spans, own in spanning.items():
            box = np.array(g.box) * spans
            if len(own) > 1:
                classes = ((), ("foreign",), *own)
                out.append(
                    SiteGroup(
                        "block", (), (*map(float, box),), classes, quarters=g.quarters, spans=spans
                    )
                )
    return tuple(out)


def block_middle(site: Site, spans: Sequence[int]) -> np.ndarray:
    """(2,) mm: the middle of a block of which this is the upper left site"""
    return site.centre + outline_size(site) * (np.array(spans) - 1) / 2


def sites_called_alike(plan: Plan, ids: Sequence[str]) -> list[str]:
    """The other sites of these sites' groups in the plan, of whatever size, that are read as they are"""
    ways = {(s.group, s.reads) for s in (plan.sites[i] for i in ids) if s.group is not None}
    own = set(ids)
    return [s.id for s in plan.site if (s.group, s.reads) in ways and s.id not in own]


def rough_size(site: Site) -> tuple[int, int]:
    """Width and depth of its box in steps of 4 mm"""
    w, h = np.round(site_box(site) / 4).astype(int).tolist()
    return w, h


def like_piles(plan: Plan) -> dict[str, str]:
    """A pile's site -> the largest of those that are of its size, but for how hands outline them"""
    boxes = {s.id: site_box(s) for s in plan.site if s.reads == "pile"}
    out: dict[str, str] = {}
    for site in sorted(boxes, key=lambda i: -float(boxes[i].prod())):
        largest = dict.fromkeys(out.values())
        out[site] = next((i for i in largest if is_like_size(boxes[site], boxes[i])), site)
    return out


def is_like_size(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two boxes (2,) mm are of one size, but for how hands outline them"""
    return bool((LIKE_SIZE * other <= one).all() and (LIKE_SIZE * one <= other).all())


def group_box(plan: Plan, ids: Iterable[str]) -> np.ndarray:
    """(2,) mm: width and depth of the largest of these sites"""
    return np.max([site_box(plan.sites[i]) for i in ids], 0)


class Form(msgspec.Struct, frozen=True):
    """Loose pieces of one size share a heat map. size: (w, d) mm; disc; height: mm; kinds: their
    names. A piece that stands is found by the middle of what is seen, one that lies by its top.
    rivals: kinds of other forms that look alike enough to be found in the same places; strays: those
    of its kinds that belong on piles alone, which they cover: sought wherever else they may lie"""

    size: tuple[float, float]
    disc: bool
    height: float
    kinds: tuple[str, ...]
    rivals: tuple[str, ...] = ()
    strays: tuple[str, ...] = ()

    @property
    def told_kinds(self) -> tuple[str, ...]:
        """What may be found where this form is looked for"""
        return *self.kinds, *self.rivals

    @property
    def width(self) -> float:
        """mm along the longer side"""
        return float(max(self.size))

    @property
    def feret_diameters(self) -> tuple[float, float]:
        """mm from edge to edge through its middle: the least, and the most"""
        return self.breadth, self.width if self.disc else math.hypot(*self.size)

    @property
    def breadth(self) -> float:
        """mm along the shorter side: no nearer do two lie side by side"""
        return float(min(self.size))

    @property
    def upright(self) -> bool:
        return is_upright(self.size, self.height)

    @property
    def standing_height(self) -> float:
        """mm from its foot to its top, both of which are looked at where it stands; 0 where it lies"""
        return self.height if self.upright else 0.0

    @property
    def found_height(self) -> float:
        """mm above its foot of the point by which it is found"""
        return self.height / 2 if self.upright else self.height

    @property
    def reach(self) -> float:
        """mm about where it is found that show it"""
        return self.width + (LEANS * self.height if self.upright else 0.0)


def stands_upright(piece: Piece) -> bool:
    """Whether a camera sees a piece's sides more than its top"""
    return is_upright(piece.footprint, piece.height)


def tall_sites(groups: Iterable[SiteGroup]) -> list[str]:
    """Sites on which things stand that lean over others, away from the camera"""
    return [i for g in groups if g.tall for i in g.ids]


def is_upright(size: Sequence[float], height: float) -> bool:
    """Whether a thing on a footprint (w, d) mm is so high that it stands rather than lies"""
    return height > UPRIGHT * max(size)


def is_flat(size: Sequence[float], height: float) -> bool:
    """Whether it may lie on another of its size, and part of the other still show"""
    return height < FLAT * min(size)


def small_tops(plan: Plan, group: SiteGroup) -> set[str]:
    """The kinds that lie uppermost on a pile and cover little of what they lie on, a piece or the
    site"""

    def area_of(kind: str) -> float:
        return float(np.prod(plan.pieces[kind].footprint))

    if group.reads != "pile" or group.tall:
        return set()
    site = float(np.prod(group.box))
    return {
        c[-1]
        for c in group.classes
        if c
        and c[-1] in plan.pieces
        and area_of(c[-1])
        < SMALL_TOP * (area_of(c[-2]) if len(c) > 1 and c[-2] in plan.pieces else site)
    }


def group_forms(plan: Plan, groups: Sequence[SiteGroup]) -> tuple[Form, ...]:
    """The forms of all loose kinds, and of those that lie on piles as small as these, the largest
    first"""
    kinds = {plan.pieces[k].looks_like for g in groups for k in small_tops(plan, g)} | {
        k for g in groups for k in g.loose if k in plan.pieces
    }
    strays = stray_kinds(plan, groups, kinds)
    forms: dict[tuple, list[str]] = {}
    for k in sorted(kinds | strays):
        p = plan.pieces[k]
        forms.setdefault(p.shape, []).append(k)
    alone = [
        Form(
            tuple(map(float, size)),
            disc,
            float(h),
            tuple(ks),
            strays=tuple(k for k in ks if k in strays),
        )
        for (size, disc, h), ks in sorted(forms.items(), key=lambda f: -max(f[0][0]))
    ]
    return tuple(
        msgspec.structs.replace(
            one,
            rivals=tuple(k for o in alone if o is not one and are_rivals(one, o) for k in o.kinds),
        )
        for one in alone
    )


def stray_kinds(plan: Plan, groups: Sequence[SiteGroup], loose: Set[str]) -> set[str]:
    """Kinds that lie flat on piles alone, and are no larger than what lies loose: they may be dropped
    anywhere as well. None where these are most: heat maps are to tell what lies loose"""
    widest = max((max(plan.pieces[k].footprint) for k in loose), default=0.0)
    out = {
        plan.pieces[k].looks_like
        for g in groups
        if g.reads == "pile" and not g.tall
        for c in g.classes
        for k in c
        if k in plan.pieces
        and plan.pieces[k].spans is None
        and not stands_upright(plan.pieces[k])
        and max(plan.pieces[k].footprint) <= widest
    } - loose
    return out if len(out) <= len(loose) else set()


def belonging_kinds(plan: Plan, group: SiteGroup) -> set[str]:
    """Kinds that lie on a group's sites, whichever they look like there"""
    some = {k for c in group.classes for k in c if k in plan.pieces} | set(group.loose)
    return some | {plan.pieces[k].looks_like for k in some if k in plan.pieces}


def are_rivals(one: Form, other: Form) -> bool:
    """Whether where pieces of one form are looked for those of the other are found too"""
    narrow, wide = sorted((one.width, other.width))
    return one.upright == other.upright and wide <= RIVAL_WIDTHS * narrow


def loose_tops(plan: Plan, group: SiteGroup, forms: Sequence[Form]) -> dict[int, str]:
    """Of a pile's classes the loose kind that their uppermost piece looks like, where there is one"""
    names = {k for form in forms for k in form.kinds if k not in form.strays}
    tops = {
        n: plan.pieces[c[-1]].looks_like
        for n, c in enumerate(group.classes)
        if group.reads == "pile" and c and c[-1] in plan.pieces
    }
    return {n: kind for n, kind in tops.items() if kind in names}


def measure_tops(
    plan: Plan, groups: Sequence[SiteGroup], forms: Sequence[Form]
) -> tuple[SiteGroup, ...]:
    """The groups with how wide the pieces on their piles are that lie loose elsewhere and hide what
    they lie on"""
    return tuple(
        msgspec.structs.replace(
            g,
            top=max(
                (
                    max(plan.pieces[k].footprint)
                    for n, k in loose_tops(plan, g, forms).items()
                    if g.classes[n][-1] not in small_tops(plan, g)
                ),
                default=0.0,
            ),
        )
        for g in groups
    )


def loose_names(forms: Sequence[Form]) -> list[tuple[int, int, str]]:
    """(form, number of the kind among all loose kinds, name)"""
    out, n = [], 0
    for f, form in enumerate(forms):
        for kind in form.kinds:
            out.append((f, n, kind))
            n += 1
    return out
