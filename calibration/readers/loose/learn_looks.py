"""Learning how loose pieces look from samplers, whose layouts tell what lies on a site but not
where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import cv2
import msgspec
import numpy as np

from calibration.readers.loose.locate_samples import (
    Found,
    Waves,
    by_shape,
    name_all,
    tied,
    told_apart,
)
from vision.geometry.footprints import lies_below
from vision.geometry.posed_photo import Shot
from vision.photometry.canvas import Frame, quadratic_terms
from vision.plan import Plan, Site
from vision.readers.loose.cards.card_reader import Firsts, Place, group_of
from vision.readers.loose.cards.card_sheet import related
from vision.readers.loose.pieces.blocks import is_block, is_tall, learn_shades
from vision.readers.loose.pieces.figures import TallLook, learn_tall
from vision.readers.loose.pieces.fit import SURE, Fine, Piece, refined, searched
from vision.readers.loose.pieces.looks import FormLooks, Look, form_of
from vision.readers.loose.scene.polar_patches import (
    ANGLES,
    SCORE_NOISE,
    Form,
    Patch,
    Rings,
    Table,
    turned,
)
from vision.readers.loose.scene.resampling import cut
from vision.readers.loose.scene.scene import Scene, sharp


class Group(msgspec.Struct, frozen=True, eq=False):
    """A site of a sampler photo and the loose kinds that lie there."""

    shot: int
    site: Site
    kinds: Counter[str]


def groups_of(plan: Plan, full: Sequence[Shot]) -> list[Group]:
    """What samplers show of loose pieces: on clusters, on the spots inside them, and alone on piles
    where the size is one of theirs"""
    out = []
    for n, shot in enumerate(full):
        for site, contents in shot.layout.items():
            if plan.sites[site].reads == "cluster":
                loose = Counter(
                    plan.pieces[k].looks_like
                    for k in contents
                    if k in plan.pieces and not lies_below(plan, plan.sites[site], k)
                )
                if loose:
                    out.append(Group(n, plan.sites[site], loose))
    used = {form_of(plan.pieces[k]) for g in out for k in g.kinds}
    for n, shot in enumerate(full):
        for site, contents in shot.layout.items():
            s = plan.sites[site]
            if s.reads == "pile" and len(contents) == 1 and contents[0] in plan.pieces:
                p = plan.pieces[contents[0]]
                if form_of(p) in used or (s.of and plan.sites[s.of].reads == "cluster"):
                    out.append(Group(n, s, Counter([p.looks_like])))
    return out


def first_places(
    plan: Plan, frame: Frame, groups: Sequence[Group], scenes: Sequence[Scene]
) -> list[Found]:
    """Where the sampler's pieces lie, by their outlines"""
    sharps = [sharp(s.off, frame.scale) for s in scenes]
    some = [g for g in groups if g.kinds.total() <= 2][:24] or groups[:24]
    grown = max(
        HALOS,
        key=lambda more: np.mean(
            [f.score for f in placed(plan, frame, some, scenes, sharps, more)] or [0]
        ),
    )
    return placed(plan, frame, groups, scenes, sharps, grown)


def placed(
    plan: Plan,
    frame: Frame,
    groups: Sequence[Group],
    scenes: Sequence[Scene],
    sharps: Sequence[np.ndarray],
    grown: float,
) -> list[Found]:
    """The same, taking pieces for so many mm bigger all around, as shadows make them look"""
    found: list[Found] = []
    sharps = [s.copy() for s in sharps]
    # the spots inside cells first
    for g, group in sorted(enumerate(groups), key=lambda item: item[1].site.of is None):
        scene = scenes[group.shot]
        wanted: Counter[Form] = Counter()
        for k, c in group.kinds.items():
            if not is_tall(form_of(plan.pieces[k])):
                wanted[form_of(plan.pieces[k])] += c
        if not wanted:
            continue
        best = None
        for o in group.site.outlines:
            height = max(f.height for f in wanted)
            # a pile lies in the middle of its site, and nearly straight
            straight = group.site.reads != "cluster"
            if straight:
                o = (o.min(0) + o.max(0)) / 2 + ON_PILE * np.array(
                    [[-1, -1], [1, -1], [1, 1], [-1, 1]]
                )
            lean = {f: scene.lean.shift(o.mean(0), f.height)[0] for f in wanted}
            got = by_shape(
                sharps[group.shot],
                frame,
                o + scene.lean.shift(o.mean(0), height),
                wanted,
                lean,
                grown,
                straight,
            )
            total = sum(x[3] * x[0].area for x in got)
            if best is None or total > best[0]:
                best = total, got
        found += [Found(g, f, at, score, turn=turn, shape=score) for f, at, turn, score in best[1]]
        for f, at, turn, _ in best[1] if group.site.of else ():
            cv2.fillPoly(
                sharps[group.shot],
                [np.round(frame.to_px(f.outline(at, turn, grown + 0.5))).astype(np.int32)],
                0.0,
            )
    return found


HALOS = (0.0, 0.5, 1.0, 1.5, 2.0)  # mm
# mm by which pieces are shifted while looks are learnt
ANYWHERE, THERE = (1.4, 0.5, 0.0), (0.4, 0.0)
ON_PILE = 3.0  # mm by which a piece may lie off the middle of a pile's site
NEARBY = np.array(
    [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [0.7, 0.7], [0.7, -0.7], [-0.7, 0.7], [-0.7, -0.7]]
)


def named(
    found: Sequence[Found],
    groups: Sequence[Group],
    scenes: Sequence[Scene],
    frame: Frame,
    plan: Plan,
) -> None:
    """Gives each found piece its kind, form by form"""
    for form in {f.form for f in found}:
        mine = [f for f in found if f.form == form]
        rings = Rings.around(form, frame.scale)
        patches = patches_of(rings, frame, mine, groups, scenes)
        everyone = Table(
            rings, patches.seen, np.broadcast_to(rings.area(form), patches.weight.shape)
        )
        cost = np.full((len(mine), len(mine)), np.inf)
        for shift in NEARBY * 0.8:
            part = patches_of(rings, frame, mine, groups, scenes, shift)
            even = Patch(
                part.seen, part.ground, *[np.full_like(part.weight, 1 / SCORE_NOISE**2)] * 2
            )
            cost = np.minimum(cost, everyone.unlike(even))
        D = np.minimum(cost, cost.T) / form.area
        contents = {
            g: Counter(
                {k: c for k, c in groups[g].kinds.items() if form_of(plan.pieces[k]) == form}
            )
            for g in {f.group for f in mine}
        }
        for f in mine:
            f.kind = None
        name_all(mine, contents, lambda i, j, D=D: float(D[i, j]))
        if ties := tied(contents):
            open_ = [i for i, f in enumerate(mine) if any(f.kind in kinds for kinds in ties)]
            apart = D / max(float(np.median(D)), 1e-6)
            apart[open_] += 1 - likeness(
                [around(rings, frame, mine[i], groups, scenes, NEARBY * 0.8) for i in open_],
                patches.seen,
                rings.area(form),
            )
            for kinds in ties:
                told_apart(mine, kinds, apart)


def likeness(views: Sequence[np.ndarray], prints: np.ndarray, area: np.ndarray) -> np.ndarray:
    """(V, N): what share of each view (S, R, A, 3), the best of its shifts and turns, prints (N, R,
    A, 3) explain, whatever their colours"""
    waves = [Waves(view, area) for view in views]
    return np.array([[w.explained(p).max() for p in prints] for w in waves])


def centred(
    found: Sequence[Found], groups: Sequence[Group], scenes: Sequence[Scene], frame: Frame
) -> None:
    """Pieces that hardly stand out from what they lie on are laid like their clearer relatives of
    another colour"""
    looks = looks_of(found, groups, scenes, frame)
    for form, look in looks.items():
        kinds, prints = look.kinds, look.looks
        mine = [f for f in found if f.form == form]
        clear = {k: float(np.mean([f.shape for f in mine if f.kind == k])) for k in kinds}
        rings = Rings.around(form, frame.scale)
        area = rings.area(form)
        reach = np.arange(-0.6, 0.61, 0.1) * form.inner
        shifts = np.stack(np.meshgrid(reach, reach), -1).reshape(-1, 2)
        for kind in sorted(kinds, key=lambda k: -clear[k]):
            kin = [k for k in kinds if related(kind, k) > 0 and clear[k] > clear[kind] + 0.05]
            for f in (f for f in mine if f.kind == kind and kin):
                near = Waves(around(rings, frame, f, groups, scenes, shifts), area)
                shares = np.stack([near.explained(prints[kinds.index(k)]) for k in kin])
                k, s, turn = np.unravel_index(shares.argmax(), shares.shape)
                here = shares[:, len(shifts) // 2].max()
                if shares[k, s, turn] > 0.6 and shares[k, s, turn] > here + 0.1:
                    f.at = f.at + shifts[s]
                    f.turn = turn * 2 * np.pi / rings.angles


def evened(
    found: Sequence[Found], groups: Sequence[Group], scenes: Sequence[Scene], frame: Frame
) -> None:
    """Shifts pieces so that they lie in the middle as their relatives do: one seen once is only as
    well centred as its outline showed, but the errors of many cancel"""
    reach = np.linspace(-1.6, 1.6, 9)
    shifts = np.stack(np.meshgrid(reach, reach), -1).reshape(-1, 2)
    middle = len(shifts) // 2
    for form, look in looks_of(found, groups, scenes, frame).items():
        rings = Rings.around(form, frame.scale)
        area = rings.area(form)
        moved = []
        for f in (f for f in found if f.form == form):
            # its own look is made of itself
            kin = [k for k in look.kinds if k != f.kind and related(f.kind, k) > 0]
            if len(kin) < 2:
                continue
            near = Waves(around(rings, frame, f, groups, scenes, shifts), area)
            prints = look.looks[[look.kinds.index(k) for k in kin]]
            best = np.argsort(
                [-near.explained(p, slice(middle, middle + 1)).max() for p in prints]
            )[:6]
            shares = np.stack([near.explained(prints[i]).max(1) for i in best])
            w = shares.max(1) ** 4
            moved.append((f, (w[:, None] * shifts[shares.argmax(1)]).sum(0) / w.sum()))
        for f, by in moved:
            f.at = f.at + by


def brightness(
    found: Sequence[Found],
    cards: Sequence[Place],
    looks: FormLooks,
    firsts: Firsts,
    groups: Sequence[Group],
    scenes: Sequence[Scene],
    frame: Frame,
) -> np.ndarray:
    """(6,) terms of the logarithm of how bright the light on the empty board was where, as pieces
    and cards of the same kind tell that look brighter here than there. Without enough of them:
    none."""
    told: list[tuple[str, np.ndarray, float]] = []
    for form, look in looks.items():
        rings = Rings.around(form, frame.scale)
        area = rings.area(form)
        mine = [f for f in found if f.form == form]
        patches = patches_of(rings, frame, mine, groups, scenes)
        for f, seen in zip(mine, turned(patches.seen, np.array([steps(f.turn) for f in mine]))):
            told.append((f.kind, f.at, tone_of(seen, look.looks[look.kinds.index(f.kind)], area)))
    for p in cards:
        sheet, scene = firsts.sheets[p.sheet], scenes[p.shot]
        seen = cut(scene.seen, frame, sheet.grid(), p.pose[None], scene.light_at(p.pose[None, :2]))[
            0
        ]
        told.append(
            (
                p.kind,
                p.pose[:2],
                tone_of(seen, sheet.looks[sheet.kinds.index(p.kind)], np.ones(seen.shape[:2])),
            )
        )
    if len(told) < 12:
        return np.zeros(6)
    X = quadratic_terms(frame, np.array([t[1] for t in told])).astype(float)[:, 1:]
    y = np.array([t[2] for t in told])
    for kind in {t[0] for t in told}:
        which = np.array([t[0] == kind for t in told])
        X[which] -= X[which].mean(0)
        y[which] -= y[which].mean()
    w = np.ones(len(y))
    for _ in range(5):
        terms = np.linalg.solve((X.T * w) @ X + 0.3 * np.eye(5), (X.T * w) @ y)
        w = 1 / (1 + ((y - X @ terms) / 0.05) ** 2)
    return np.array([0.0, *terms])


def tone_of(seen: np.ndarray, look: np.ndarray, area: np.ndarray) -> float:
    """The logarithm of how much brighter (h, w, 3) colours are than a look, where they agree at
    all"""
    ratio = np.log(((seen * look).sum(-1) + 1) / ((look**2).sum(-1) + 1))
    use = (area > area.max() * 0.2) & (np.abs(ratio) < 0.4)
    return float(np.median(ratio[use])) if use.any() else 0.0


def looks_of(
    found: Sequence[Found],
    groups: Sequence[Group],
    scenes: Sequence[Scene],
    frame: Frame,
    reaches: Sequence[float] = ANYWHERE,
) -> FormLooks:
    """The look of every kind: the median of its pieces, turned alike; shifts every piece to where
    it fits that best, so many mm at most each time (blocks hardly: their edges have told where they
    are)"""
    out = {}
    for form in sorted({f.form for f in found}, key=lambda f: -f.area):
        mine = [f for f in found if f.form == form]
        rings = Rings.around(form, frame.scale)
        area = rings.area(form)[None]
        kinds = tuple(sorted({f.kind for f in mine}))
        for reach in THERE if is_block(form) else reaches:
            patches = patches_of(rings, frame, mine, groups, scenes)
            looks = np.zeros((len(kinds), *patches.seen.shape[1:]), np.float32)
            for k, kind in enumerate(kinds):
                which = [i for i, f in enumerate(mine) if f.kind == kind]
                which = alike(rings, area, patches, which)
                first = max(which, key=lambda i: mine[i].score)
                straight = turned(
                    patches.seen[first : first + 1], np.array([steps(mine[first].turn)])
                )
                part = patches.of(which)
                turn = Table(rings, straight, area).gains(part)[1][:, 0]
                looks[k] = np.median(turned(part.seen, turn), 0)
            fine = (
                {k: Fine(form, frame.scale, [k], look[None]) for k, look in zip(kinds, looks)}
                if reach
                else {}
            )
            for f in mine if reach else ():
                scene = scenes[groups[f.group].shot]
                f.at = searched(scene, fine[f.kind], f.at, reach, reach / 2)
                p = refined(scene, fine[f.kind], f.at[None], 0)[0]
                f.score, f.turn = p.gain, p.turn
        out[form] = Look(
            kinds,
            looks,
            shades_of(form, kinds, looks, mine, groups, scenes, frame) if is_block(form) else None,
        )
    return out


def alike(rings: Rings, area: np.ndarray, patches: Patch, which: list[int]) -> list[int]:
    """Which of these patches, said to show one kind, look like most of them: where it hardly stands
    out from the ground, or others lie beside it, a piece is sought elsewhere than it lies. Of two
    that differ nothing is known"""
    if len(which) < 3:
        return which
    part = patches.of(which)
    gains = Table(rings, part.seen, np.broadcast_to(area, part.weight.shape)).gains(part)[0]
    # by each of the others, of what it would gain by itself
    shares = (gains / np.maximum(np.diag(gains), 1e-6)[:, None]).clip(0, 1)
    most = shares[:, shares.sum(0).argmax()]
    return [i for i, share in zip(which, most) if share >= min(SURE, np.median(most))]


def shades_of(
    form: Form,
    kinds: Sequence[str],
    looks: np.ndarray,
    mine: Sequence[Found],
    groups: Sequence[Group],
    scenes: Sequence[Scene],
    frame: Frame,
) -> np.ndarray | None:
    """(K, 2) least and most brightness of blocks' sides; None where sides as a box has them are not
    seen (a stepped piece)"""
    tone = Fine(form, frame.scale, kinds, looks).tone
    shades: list[list[np.ndarray]] = [[] for _ in kinds]
    told = []
    for f in mine:
        scene = scenes[groups[f.group].shot]
        k = kinds.index(f.kind)
        got, better = learn_shades(
            form, scene, scene.lean.foot(f.at[None], form.height)[0], f.turn, tone[k]
        )
        shades[k].append(got)
        told.append(better)
    if not told or np.median(told) < 0.25:
        return None
    both = [np.concatenate(s) if s else np.zeros(0) for s in shades]
    usual = np.concatenate(both)
    return np.array(
        [np.quantile(b if len(b) > 20 else usual, (0.1, 0.9)) for b in both], np.float32
    )


def figures(
    plan: Plan, groups: Sequence[Group], scenes: Sequence[Scene], frame: Frame
) -> tuple[list[TallLook], set[str]]:
    """How tall pieces look from the side, and the tags and names' beginnings of the sites they
    stand on"""
    sharps = [sharp(s.off, frame.scale) for s in scenes]
    alone: dict[Form, list[tuple[Scene, np.ndarray, np.ndarray, str]]] = {}
    stands: set[str] = set()
    for g in groups:
        tall = [k for k in g.kinds if is_tall(form_of(plan.pieces[k]))]
        if tall and g.site.reads == "cluster":
            stands |= {group_of(g.site.id), *g.site.tags}
        if tall and g.kinds.total() == 1:
            alone.setdefault(form_of(plan.pieces[tall[0]]), []).append(
                (scenes[g.shot], sharps[g.shot], g.site.outlines[0], tall[0])
            )
    looks = [learn_tall(form, seen) for form, seen in alone.items()]
    return [k for k in looks if k is not None], stands


def looked_again(
    found: Sequence[Found],
    groups: Sequence[Group],
    pieces: Sequence[Sequence[Piece]],
    at_home: Callable[[Piece, Site], bool],
) -> list[Found]:
    """Where a first reader found at least as many pieces of a form (pieces: per photo) as the
    layout has, the best of them; else where they were before"""
    out = []
    for g, group in enumerate(groups):
        old = [f for f in found if f.group == g]
        here = [p for p in pieces[group.shot] if at_home(p, group.site)]
        for form in {f.form for f in old}:
            mine = [f for f in old if f.form == form]
            now = sorted((p for p in here if p.form == form), key=lambda p: -p.gain)[: len(mine)]
            if len(now) == len(mine):
                mine = [
                    Found(g, form, p.at, p.gain, None, p.turn, shape_near(p.at, mine)) for p in now
                ]
            out += mine
    return out


def shape_near(at: np.ndarray, mine: Sequence[Found]) -> float:
    """How well the outline of the piece nearest `at` (2,) mm is known."""
    return min(mine, key=lambda f: np.linalg.norm(f.at - at)).shape


def steps(turn: float) -> int:
    """The nearest of ANGLES bearings to `turn` radians."""
    return int(round(turn / (2 * np.pi) * ANGLES)) % ANGLES


def patches_of(
    rings: Rings,
    frame: Frame,
    mine: Sequence[Found],
    groups: Sequence[Group],
    scenes: Sequence[Scene],
    shift: np.ndarray | float = 0.0,
) -> Patch:
    """What is seen at pieces found, in the frame's rings, `shift` mm beside them."""
    at, shot = np.array([f.at for f in mine]), np.array([groups[f.group].shot for f in mine])
    order, parts = [], []
    for n in sorted(set(shot.tolist())):
        scene, here = scenes[n], np.flatnonzero(shot == n)
        order.append(here)
        parts.append(
            rings.look_at(
                frame,
                scene.seen,
                scene.ground,
                scene.weight,
                at[here] + shift,
                scene.light_at(at[here]),
            )
        )
    back = np.argsort(np.concatenate(order))
    return Patch(
        *(
            np.concatenate([getattr(p, a) for p in parts])[back]
            for a in ("seen", "ground", "weight", "free")
        )
    )


def around(
    rings: Rings,
    frame: Frame,
    f: Found,
    groups: Sequence[Group],
    scenes: Sequence[Scene],
    shifts: np.ndarray,
) -> np.ndarray:
    """(S, R, A, 3) what is seen where a piece lies and at shifts (S, 2) mm from there"""
    scene = scenes[groups[f.group].shot]
    return rings.seen_at(
        frame, scene.seen, f.at + shifts, np.repeat(scene.light_at(f.at[None]), len(shifts), 0)
    )
