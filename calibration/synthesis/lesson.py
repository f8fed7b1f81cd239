"""All that a copy's network learns from. Its central value: Lesson."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, TypeVar

import msgspec
import numpy as np

from calibration.cutouts.card_turns import kinds_told_by_turn
from calibration.cutouts.cut_out import cut_specimens
from calibration.cutouts.seek import Samplers
from calibration.cutouts.specimens import Specimen, align_quarters
from calibration.cutouts.standing import (
    Standing,
    StandingLook,
    cut_standing,
    find_standing,
    standing_points,
)
from calibration.empty_board.reconstruct import with_empty_board
from calibration.synthesis.batch import Shapes
from calibration.synthesis.cleared_boards import clear_boards
from calibration.synthesis.compose import CROWDED, Composer, Truth, shown_blocks
from calibration.synthesis.looks import make_looks
from calibration.synthesis.painter import Look
from vision.geometry.footprints import camera_position, lies_below
from vision.geometry.posed_photo import Shot
from vision.geometry.site_windows import Pyramid
from vision.learned.canvas import GREY, Canvas
from vision.learned.groups import (
    UNDER,
    Form,
    SiteGroup,
    add_blocks,
    base_contents,
    covered_sites,
    group_forms,
    group_sites,
    loose_names,
    measure_tops,
    stands_upright,
)
from vision.learned.plain_sites import MOST_PLAIN, SURELY_PLAIN, average_cells, compare_sites
from vision.photometry.palette_light import LightReference
from vision.photometry.reference_light import fit_lights
from vision.photometry.room_light import small_view
from vision.plan import Plan

# times the canvas' scale at which looks are cut, so that turning them blurs little, and pixels a mm at most
CUT_ZOOM, FINEST_CUT = 1.5, 4.0

Patched = TypeVar("Patched", Look, StandingLook)


class Lesson(msgspec.Struct, frozen=True, eq=False):
    """All that a copy's network learns from. view: how fine; reference: what tells the
    light; empty: (H, W, 3) log canvas of it; specimens: the pieces that were cut out; plain: as of
    `least_unlikeness`"""

    plan: Plan
    view: Canvas
    shapes: Shapes
    reference: LightReference
    empty: np.ndarray
    looks: Mapping[str, Sequence[Look]]
    standing: Mapping[str, Sequence[StandingLook]]
    empties: Sequence[np.ndarray]
    reals: Sequence[tuple[np.ndarray, Truth]]
    shots: Sequence[Shot]
    specimens: Sequence[Specimen] = ()
    plain: float = 0.0

    def with_canvases(self, change: Callable[[Any], Any]) -> Lesson:
        """The same with each of its canvases changed"""
        return msgspec.structs.replace(
            self,
            empty=change(self.empty),
            empties=[change(c) for c in self.empties],
            reals=[(change(c), t) for c, t in self.reals],
        )

    def composer(self, seed: int, crowded: float = CROWDED, odd: float = 1.0) -> Composer:
        return Composer(
            self.plan,
            self.view,
            self.shapes.groups,
            self.shapes.forms,
            self.looks,
            self.standing,
            self.empties,
            self.empty,
            self.reals,
            self.shots,
            seed,
            crowded,
            odd,
        )


def change_patches(
    looks: Mapping[str, Sequence[Patched]], change: Callable[[np.ndarray], np.ndarray]
) -> dict[str, list[Patched]]:
    """The same looks with each of their patches changed"""
    return {
        kind: [msgspec.structs.replace(v, patch=change(v.patch)) for v in some]
        for kind, some in looks.items()
    }


def prepare_lesson(plan: Plan, shots: Sequence[Shot]) -> Lesson:
    """shots: the calibration photos"""
    shots = with_empty_board(plan, shots)
    pictures = [Pyramid(s.image) for s in shots]
    views = [small_view(p, s.pose, plan.size) for p, s in zip(pictures, shots)]
    reference = LightReference.of(fit_lights(plan, shots)[0], plan.size, views)
    groups = group_sites(plan, [s.layout for s in shots])
    shown = {k for s in shots for contents in s.layout.values() for k in contents}
    tall = [p.height for p in plan.piece if p.kind in shown and stands_upright(p)]
    view = Canvas.suited_to(plan, [s.pose for s in shots], max(tall, default=0.0))
    fine = view.finer(min(view.scale * CUT_ZOOM, FINEST_CUT))
    lights = [reference.estimate_light(v) for v in views]
    lit = [(p, s.pose, light) for p, s, light in zip(pictures, shots, lights)]
    canvases, cuts = ([v.rectify(*one) for one in lit] for v in (view, fine))
    bare = [n for n, s in enumerate(shots) if not s.layout]
    empty, empty_cut = (
        np.mean([c[n] for n in bare], 0).astype(np.float32) for c in (canvases, cuts)
    )
    if tall:  # what lies beyond the board, men's heads too, is not the empty board's
        empty[view.beyond_rim()] = GREY
        empty_cut[fine.beyond_rim()] = GREY
    samplers = Samplers(plan, fine, shots, cuts, [empty_cut.copy() for _ in shots])
    specimens = cut_specimens(samplers)
    # two photos of the empty board differ from their mean as another evening's does
    cleared = clear_boards(plan, view, shots, canvases, empty) if len(bare) == 1 else []
    upright_found, first = find_standing(samplers)
    standing = cut_standing(samplers, upright_found, first)
    upright = align_quarters(plan, specimens, kinds_told_by_turn(plan, specimens))
    looks = make_looks(plan, fine.scale, specimens, upright)
    groups = complete_groups(plan, groups, looks, upright)
    groups = add_blocks(plan, turn_groups(plan, groups, specimens))
    forms = group_forms(plan, groups)
    groups = measure_tops(plan, groups, forms)
    shapes = Shapes.of(groups, forms, view.scale)
    reals = [
        (canvases[n], real_truth(plan, view, s, n, groups, forms, specimens, upright_found))
        for n, s in enumerate(shots)
    ]
    return Lesson(
        plan,
        view,
        shapes,
        reference,
        empty,
        looks,
        standing,
        [*(canvases[n] for n in bare), *cleared],
        reals,
        shots,
        specimens,
        least_unlikeness(plan, view, groups, empty, reals),
    )


def least_unlikeness(
    plan: Plan,
    view: Canvas,
    groups: Sequence[SiteGroup],
    empty: np.ndarray,
    reals: Sequence[tuple[np.ndarray, Truth]],
) -> float:
    """Log units by which no site differs from the empty board on which anything lies: a share of what
    the calibration photos show at least; 0 where they show nothing that lies on sites. reals: as of
    `Lesson`"""
    bare, least = average_cells(empty), []
    for canvas, truth in reals:
        off = average_cells(canvas) - bare
        for g in groups:
            sites = [plan.sites[i] for i in g.ids if truth.labels.get(i)]
            if sites and not g.tall:
                least.append(float(compare_sites(view, g, sites, off).max(1).min()))
    return min(SURELY_PLAIN * min(least, default=0.0), MOST_PLAIN)


def complete_groups(
    plan: Plan,
    groups: Sequence[SiteGroup],
    looks: Mapping[str, Sequence[Look]],
    upright: Set[tuple],
) -> tuple[SiteGroup, ...]:
    """The groups with what may lie on them besides what the samplers happen to show there: other
    kinds of the same form whose looks are known; by itself no kind that is only ever shown on others;
    below loose pieces other cards of a size that lies there. Of a pile that tells kinds by their turn
    only those of which it is known how they lie. upright: as of `align_quarters`"""

    def form_of(kind: str) -> tuple:
        return plan.pieces[kind].shape

    by_turn = {p.kind for p in plan.piece if p.looks} | {p.looks for p in plan.piece if p.looks}
    out = []
    for g in groups:
        loose, classes = set(g.loose), list(g.classes)
        shown = {form_of(k) for k in loose}
        loose |= {
            k
            for k in looks
            if form_of(k) in shown and not plan.pieces[k].looks and set(g.ids) & plan.fitting[k]
        }
        single = {c[0] for c in classes[2:] if len(c) == 1 and c[0] in plan.pieces}
        shown, laid_on = {form_of(k) for k in single}, {k for c in classes for k in c[1:]}
        classes += [
            (k,)
            for k in sorted(set(looks) - single - laid_on)
            if form_of(k) in shown
            and set(g.ids) & plan.fitting[k]
            and (
                all(lies_below(plan, plan.sites[i], k) for i in g.ids)
                if g.reads == "cluster"
                else k not in by_turn or any(v.turned is not None for v in looks[k])
            )
        ]
        pieces = [plan.pieces[k] for c in classes for k in c if k in plan.pieces]
        quarters = not any(p.footprint in plan.directed_sizes for p in pieces) and any(
            v.lies != "upright" or g.reads == "pile" and ("pile", v.piece.footprint) not in upright
            for c in classes
            for k in c
            for v in looks.get(k, ())
        )
        out.append(
            msgspec.structs.replace(
                g, loose=tuple(sorted(loose)), classes=tuple(classes), quarters=quarters
            )
        )
    return tuple(out)


def turn_groups(
    plan: Plan, groups: Sequence[SiteGroup], specimens: Sequence[Specimen]
) -> tuple[SiteGroup, ...]:
    """The groups with how cards lie on their sites: as they were found on those that the plan calls
    alike. Two kinds may show the same print and be told apart by that alone"""
    found: dict[str, list[int]] = defaultdict(list)
    for one in specimens:
        site, piece = plan.sites[one.site], plan.pieces[one.kind]
        if site.group is not None and not piece.disc and lies_below(plan, site, one.kind):
            found[site.group].append(round(one.turn / 90) % 4)
    usual = {name: max(set(q), key=q.count) for name, q in found.items()}
    out = []
    for g in groups:
        turns = tuple(usual.get(plan.sites[i].group or "", 0) for i in g.ids)
        turned = g.reads == "cluster" and any(turns)
        out.append(msgspec.structs.replace(g, turns=turns if turned else ()))
    return tuple(out)


def real_truth(
    plan: Plan,
    view: Canvas,
    shot: Shot,
    photo: int,
    groups: Sequence[SiteGroup],
    forms: Sequence[Form],
    specimens: Sequence[Specimen],
    standing: Sequence[Standing],
) -> Truth:
    """What a calibration photo shows, in canvas pixels"""
    truth = Truth(camera_position(shot.pose), [], {})
    over = covered_sites(plan, shot.layout)
    for g in groups:
        for i in g.ids:
            base = base_contents(plan, plan.sites[i], tuple(shot.layout.get(i, ())))
            base = UNDER if i in over else base
            if base in g.classes and i not in (shot.guessed or ()):
                truth.labels[i] = g.classes.index(base)
                truth.elsewhere += shown_blocks(groups, plan.sites[i], base)
    names = {k: (f, n) for f, n, k in loose_names(forms)}
    for s in specimens:
        kind, site = plan.pieces[s.kind].looks_like, plan.sites[s.site]
        card = site.reads == "cluster" and lies_below(plan, site, s.kind)
        if s.photo == photo and kind in names and not card:
            truth.points.append((*names[kind], *view.to_px(s.top)))
    for form, kind, middle in standing_points(plan, standing, names, photo):
        truth.points.append((form, kind, *view.to_px(middle)))
    return truth
