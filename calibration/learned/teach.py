"""Teaches a copy's network from its photos. `prepare_lesson` cuts and arranges, `teach_apart`
learns."""

from __future__ import annotations

import multiprocessing
import os
import queue as queues
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import cv2
import msgspec
import numpy as np

from calibration.empty_board.reconstruct import with_empty_board
from calibration.learned.batch import Shapes
from calibration.learned.card_looks import draw_card_banks
from calibration.learned.checkpoint import KEPT_EVERY, Checkpoint
from calibration.learned.compose import CROWDED, Composer, Look, Truth
from calibration.learned.cut_out import cut_specimens
from calibration.learned.specimens import Specimen, align_quarters, forms_laid_askew, place_patch
from calibration.learned.standing import (
    Standing,
    StandingLook,
    cut_standing,
    find_standing,
    standing_points,
)
from calibration.learned.whole_looks import looks_by_kind
from calibration.workers import begin_apart
from vision.geometry.footprints import camera_position, lies_below
from vision.geometry.posed_photo import Shot
from vision.geometry.site_windows import Pyramid
from vision.learned.canvas import GREY, Canvas
from vision.learned.groups import (
    UNDER,
    Form,
    SiteGroup,
    base_contents,
    covered_sites,
    group_forms,
    group_sites,
    loose_names,
    measure_tops,
    stands_upright,
)
from vision.learned.network import Weights
from vision.learned.reader import LearnedReader, Trunk
from vision.photometry.palette_light import LightReference
from vision.photometry.reference_light import fit_lights
from vision.photometry.room_light import small_view
from vision.plan import Piece, Plan

BATCH_SAMPLES = 4
MAKERS = 2  # processes that make batches: beside cheap steps one is too slow
SEEDS_APART = 1_000_003  # between the seeds of two makers
BATCHES_AHEAD = 4  # batches that each makes before they are needed
LARGE_PAGES = "glibc.malloc.hugetlb=1"  # steps take a sixth less time where memory is had in these
PATIENCE = 5.0  # seconds after which it is asked whether who makes batches still lives
TRUNK_RATE = 1.5e-3  # the highest learning rate
SAMPLES_SHOWN, SHOWN_SEED = (
    24,
    88_888,
)  # samples that tell how large the trunk's numbers grow; no teacher's
GRAPH = "graph"  # the trunk as it is read with, among the weights that were taught
FIRST_SHARE = 0.25  # of all steps in which a copy's classes are fitted before the trunk learns too
# of all steps: so many batches more that the classes are fitted to once the trunk is taught: they cost a
# third of a step and lack more (docs/learned.md)
LAST_SHARE = 2.4


Patched = TypeVar("Patched", Look, StandingLook)


class Unlearnt(RuntimeError):
    """A network could not be learnt, for want of memory as a rule; the message says what happened"""


class Lesson(msgspec.Struct, frozen=True, eq=False):
    """All that a copy's network learns from. view: how fine; reference: what tells the
    light; empty: (H, W, 3) log canvas of it; specimens: the pieces that were cut out"""

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
    specimens, grounds = cut_specimens(plan, fine, shots, cuts, empty_cut)
    upright_found, first = find_standing(plan, fine, shots, cuts, grounds)
    standing = cut_standing(plan, fine, upright_found, first, cuts, grounds)
    upright = align_quarters(plan, specimens)
    looks = make_looks(plan, fine.scale, specimens, upright)
    groups = complete_groups(plan, groups, looks, upright)
    groups = turn_groups(plan, groups, specimens)
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
        [canvases[n] for n in bare],
        reals,
        shots,
        specimens,
    )


def complete_groups(
    plan: Plan,
    groups: Sequence[SiteGroup],
    looks: Mapping[str, Sequence[Look]],
    upright: Set[tuple],
) -> tuple[SiteGroup, ...]:
    """The groups with what may lie on them besides what the samplers happen to show there: other
    kinds of the same form whose looks are known; by itself no kind that is only ever shown on others.
    Of a pile that tells kinds by their turn only those of which it is known how they lie. upright: as of
    `align_quarters`"""

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
        if g.reads == "pile":
            single = {c[0] for c in classes[2:] if len(c) == 1 and c[0] in plan.pieces}
            shown, laid_on = {form_of(k) for k in single}, {k for c in classes for k in c[1:]}
            classes += [
                (k,)
                for k in sorted(set(looks) - single - laid_on)
                if form_of(k) in shown
                and set(g.ids) & plan.fitting[k]
                and (k not in by_turn or any(v.turned is not None for v in looks[k]))
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


def make_looks(
    plan: Plan, scale: float, specimens: Sequence[Specimen], upright: set[tuple]
) -> dict[str, list[Look]]:
    """kind -> how it looks. A kind that only its turn tells from another (`looks`, `turned`) is
    also taken from that one, turned, where a pile shows how that lies"""

    def lies_on_cluster(s: Specimen) -> bool:
        return plan.sites[s.site].reads == "cluster"

    def lies_loose(s: Specimen) -> bool:
        return lies_on_cluster(s) and not lies_below(plan, plan.sites[s.site], s.kind)

    loose = {s.kind for s in specimens if lies_loose(s)}
    askew = forms_laid_askew(plan, specimens)
    cards = {plan.pieces[s.kind].footprint for s in specimens if lies_on_cluster(s)}
    partners = {p.kind for p in plan.piece if p.looks} | {p.looks for p in plan.piece if p.looks}
    out: dict[str, list[Look]] = {}
    for straight in (True, False):
        for kind, patches in looks_by_kind(
            [s for s in specimens if (s.kind in partners and not lies_loose(s)) == straight]
        ).items():
            piece = plan.pieces[kind]
            lies = (
                "any"
                if kind in loose or piece.disc or piece.footprint in askew
                else "upright"
                if ("cluster" if piece.footprint in cards else "pile", piece.footprint) in upright
                else "quarters"
            )
            out.setdefault(kind, []).extend(
                Look(
                    piece,
                    p,
                    soft_mask(piece.footprint, piece.disc, p.shape[:2], scale),
                    np.median(p.reshape(-1, 3), 0).astype(np.float32),
                    scale,
                    lies,
                    0.0 if straight else None,
                )
                for p in patches
            )
    straighten_looks(plan, out, partners)
    turn_looks(plan, out)
    share_directed_looks(plan, out)
    return out


def turn_looks(plan: Plan, looks: dict[str, list[Look]]) -> None:
    """Adds how kinds look that only their turn tells from others (`looks`, `turned`), of which it is
    known how they lie"""
    for piece in plan.piece:
        for kind, other, by in (
            ((piece.kind, piece.looks, piece.turned), (piece.looks, piece.kind, -piece.turned))
            if piece.looks
            else ()
        ):
            if not any(v.turned is not None for v in looks.get(kind, ())):
                known = [
                    msgspec.structs.replace(v, turned=v.turned + by)
                    for v in looks.get(other, ())
                    if v.turned is not None
                ]
                if known:
                    looks.setdefault(kind, []).extend(known)


# times the canvas' scale at which looks are cut, so that turning them blurs little, and pixels a mm at most
CUT_ZOOM, FINEST_CUT = 1.5, 4.0
INNER_MARGIN = 0.15  # of a look's sides by which one may be cut out beside another


def share_directed_looks(plan: Plan, looks: dict[str, list[Look]]) -> None:
    """Adds how directed kinds look by the other way round of the same piece, and the other way about:
    of the only kind that it may be besides, or of those whose prints are the same turned by half"""
    for kind in [p.kind for p in plan.piece if p.directed]:
        mine = list(looks.get(kind, ()))
        family = [
            p.kind
            for p in plan.piece
            if not p.directed and plan.one[p.kind] == plan.one[kind] and looks.get(p.kind)
        ]
        for other in family:
            theirs = list(looks[other])
            if len(family) == 1 or any(
                half_turn_likeness(a, b) > SAME_PRINT for a in mine for b in theirs
            ):
                looks.setdefault(kind, []).extend(half_turned(plan.pieces[kind], v) for v in theirs)
                looks[other].extend(half_turned(plan.pieces[other], v) for v in mine)


def half_turned(piece: Piece, look: Look) -> Look:
    """A piece's look by that of the same piece lying the other way round"""
    patch, mask = (np.ascontiguousarray(v[::-1, ::-1]) for v in (look.patch, look.mask))
    return msgspec.structs.replace(look, piece=piece, patch=patch, mask=mask)


def half_turn_likeness(look: Look, other: Look) -> float:
    """Highest correlation of the middle of a print with another turned by half, a little moved about:
    neither is cut out to the pixel; 0 of looks of unlike shapes"""
    if look.patch.shape != other.patch.shape:
        return 0.0
    h, w = look.patch.shape[:2]
    y, x = (max(round(INNER_MARGIN * n), 1) for n in (h, w))
    middle = np.ascontiguousarray(look.patch.mean(2)[y : h - y, x : w - x])
    turned = np.ascontiguousarray(other.patch.mean(2)[::-1, ::-1])
    return float(cv2.matchTemplate(turned, middle, cv2.TM_CCOEFF_NORMED).max())


SAME_PRINT = (
    0.8  # correlation of two prints from which they are taken for the same in other colours
)


def straighten_looks(plan: Plan, looks: dict[str, list[Look]], kinds: Collection[str]) -> None:
    """Finds how looks of unknown turn have to be turned to lie straight, by the looks of other kinds
    that show the same print in other colours"""
    known = [v for k in sorted(kinds) for v in looks.get(k, ()) if v.turned is not None]
    for kind in sorted(kinds):
        mine = looks.get(kind, [])
        if plan.pieces[kind].looks or any(v.turned is not None for v in mine):
            continue
        found = [
            (turn_between(v, o), v) for v in mine for o in known if o.piece.disc == v.piece.disc
        ]
        (likeness, turn), look = max(found, key=lambda f: f[0][0], default=((0.0, 0.0), None))
        if look is not None and likeness > SAME_PRINT:
            looks[kind] = [*mine, msgspec.structs.replace(look, turned=turn)]


def turn_between(look: Look, other: Look) -> tuple[float, float]:
    """(correlation of two prints, light for dark too; degrees by which `look` has then to be turned
    to lie straight). other: a look of which it is known how it lies"""
    n = 32
    y, x = np.mgrid[:n, :n] + 0.5 - n / 2
    inside = np.hypot(x, y) < 0.4 * n

    def print_at(v: Look, turn: float) -> np.ndarray:
        m = place_patch(np.full(2, n / 2 - 0.5), turn, v.patch.shape, n / max(v.patch.shape[:2]))
        grey = cv2.warpAffine(v.patch.mean(2), m, (n, n), flags=cv2.INTER_LINEAR)[inside]
        grey = grey - grey.mean()
        return grey / (np.linalg.norm(grey) + 1e-6)

    turns = np.arange(0, 360, 5.0)
    aim = print_at(other, (other.turned or 0.0) - (other.piece.turned or 0.0))
    alike = np.abs(np.stack([print_at(look, t) for t in turns]) @ aim)
    best = int(alike.argmax())
    return float(alike[best]), float(turns[best])


def soft_mask(size: Sequence[float], disc: bool, shape: Sequence[int], scale: float) -> np.ndarray:
    """(h, w) 0..1 of a footprint, its very rim left out: there the photo mixed it with the ground"""
    h, w = shape
    y, x = np.mgrid[:h, :w]
    if disc:
        inside = min(h, w) / 2 - np.hypot(x - w / 2 + 0.5, y - h / 2 + 0.5)
    else:
        inside = np.minimum(np.minimum(x + 0.5, w - 0.5 - x), np.minimum(y + 0.5, h - 0.5 - y))
    return np.clip(inside - 0.4, 0, 1).astype(np.float32)


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
            base = (
                UNDER
                if i in over
                else base_contents(plan, plan.sites[i], tuple(shot.layout.get(i, ())))
            )
            if base in g.classes and i not in (shot.guessed or ()):
                truth.labels[i] = g.classes.index(base)
    names = {k: (f, n) for f, n, k in loose_names(forms)}
    for s in specimens:
        kind, site = plan.pieces[s.kind].looks_like, plan.sites[s.site]
        card = site.reads == "cluster" and lies_below(plan, site, s.kind)
        if s.photo == photo and kind in names and not card:
            truth.points.append((*names[kind], *view.to_px(s.top)))
    for form, kind, middle in standing_points(plan, standing, names, photo):
        truth.points.append((form, kind, *view.to_px(middle)))
    return truth


def produce_batches(lesson: Lesson, seed: int, maker: int, queue: multiprocessing.Queue) -> None:
    """Makes a stream of batches, in a process of its own, for as long as they are taken"""
    begin_apart()
    cv2.setNumThreads(1)
    for batch in batch_stream(lesson, seed, maker):
        queue.put(batch)


def batch_stream(lesson: Lesson, seed: int, maker: int) -> Iterator[dict[str, np.ndarray]]:
    """One maker's batches without end, the same for the same seed"""
    composer = lesson.composer(seed + SEEDS_APART * maker)
    rng = np.random.default_rng(seed + SEEDS_APART * maker + 1)
    while True:
        yield lesson.shapes.make_batch([composer.make_sample() for _ in range(BATCH_SAMPLES)], rng)


def make_batches(lesson: Lesson, seed: int, count: int) -> Iterator[dict[str, np.ndarray]]:
    """So many batches of all makers in turn, made here"""
    streams = [batch_stream(lesson, seed, maker) for maker in range(MAKERS)]
    for n in range(count):
        yield next(streams[n % MAKERS])


def batches_beside(lesson: Lesson, seed: int, count: int) -> Iterator[dict[str, np.ndarray]]:
    """The same batches, made by other processes while this one learns; here, where none can be
    started or one dies"""
    context = multiprocessing.get_context(
        "spawn"
    )  # threads of this process would not survive a fork
    done, makers = 0, []
    try:
        for maker in range(MAKERS):
            queue = context.Queue(BATCHES_AHEAD)
            process = context.Process(
                target=produce_batches, args=(lesson, seed, maker, queue), daemon=True
            )
            process.start()
            makers.append((process, queue))
        while done < count:
            process, queue = makers[done % MAKERS]
            try:
                batch = queue.get(timeout=PATIENCE)
            except queues.Empty:
                if process.is_alive():
                    continue
                break
            done += 1
            yield batch
    except OSError:  # no process could be started
        pass
    finally:
        for process, _ in makers:
            process.terminate()
            process.join(5)
    if done < count:
        yield from islice(make_batches(lesson, seed, count), done, None)


def learning_rate(done: float, highest: float) -> float:
    """done: 0 to 1. Rises quickly, stays, and falls to nothing, so that the last weights are the
    best"""
    return highest * min(1.0, 20 * done + 0.05, 1.6 * (1 - done) + 1e-3)


def teach_network(
    lesson: Lesson,
    trunk: Weights | None,
    steps: int,
    beside: bool = True,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
    keep: Path | None = None,
    half_learnt: Callable[[Weights], None] | None = None,
) -> Weights:
    """The network of one copy, learnt in so many steps. trunk: what all copies have in common, to
    begin from; beside: whether another process makes the batches; keep: where what is learnt is kept
    on the way, and gone on from; half_learnt: called with weights that read already, before the trunk
    learns too. With the trunk's graph, as bytes, by the name of `GRAPH`. The same on every machine of
    one kind"""
    # here: JAX takes a second and 200 MB
    from calibration.learned.class_fit import fit_classes
    from calibration.learned.learning import Learner
    from calibration.learned.refit import refit_classes

    first = int(FIRST_SHARE * steps)
    whole = steps + int(LAST_SHARE * steps)
    fresh = initial_weights(lesson.shapes, seed, trunk)
    learner = Learner(fresh)
    checkpoint = Checkpoint.of(keep, lesson, steps, seed) if keep is not None else None
    before, done = checkpoint.load_progress() if checkpoint is not None else None, 0
    if before is not None:
        done = before[0]
        learner.restore(before[1])
    # other batches than the first so many
    made = (batches_beside if beside else make_batches)(lesson, seed + done, whole - done)
    batches = told_progress(made, done, whole, progress)
    if first and before is None:
        done = first
        learner = Learner(fit_classes(fresh, islice(batches, first)))
        if half_learnt is not None:
            half_learnt(learner.current())
    for n, batch in enumerate(islice(batches, steps - done), done + 1):
        learner.learn(batch, learning_rate((n - 1 - first) / (steps - first), TRUNK_RATE))
        if checkpoint is not None and (n % KEPT_EVERY == 0 or n == steps):
            checkpoint.save_progress(n, learner.freeze())
    weights = learner.current()
    graph = draw_graph(lesson, weights)
    read = Trunk(graph)

    def run_graph(x: np.ndarray) -> tuple[np.ndarray, ...]:
        maps = zip(*(read(one.astype(np.float32)) for one in x))
        return tuple(np.stack(some) for some in maps)

    fitted = refit_classes(weights, fresh, lesson.shapes, batches, run_graph)
    return fitted | {GRAPH: np.frombuffer(graph, np.uint8)}


def told_progress(
    batches: Iterator[dict[str, np.ndarray]],
    done: int,
    steps: int,
    progress: Callable[[float], None] | None,
) -> Iterator[dict[str, np.ndarray]]:
    """The same batches, while `progress` is told the share of all steps that is done"""
    for n, batch in enumerate(batches, done + 1):
        if progress is not None:
            progress(n / steps)
        yield batch


def teach_apart(
    lesson: Lesson,
    trunk: Weights | None,
    steps: int,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
    keep: Path | None = None,
    half_learnt: Callable[[Weights], None] | None = None,
) -> Weights:
    """The same in a process of its own, so that JAX and its memory are gone afterwards. Raises
    Unlearnt."""
    context = multiprocessing.get_context("spawn")
    os.environ.setdefault("GLIBC_TUNABLES", LARGE_PAGES)
    try:
        queue = context.Queue()
        worker = context.Process(
            target=_teach_and_tell,
            args=(lesson, trunk, steps, seed, queue, keep, half_learnt is not None),
        )
        worker.start()
    except OSError as e:
        raise Unlearnt(f"no process could be started: {e.strerror}") from None
    try:
        while True:
            try:
                what, value = queue.get(timeout=PATIENCE)
            except queues.Empty:
                if worker.is_alive():
                    continue
                raise Unlearnt(f"the process that learns ended with {worker.exitcode}") from None
            if what == "weights":
                return value
            if what == "half" and half_learnt is not None:
                half_learnt(value)
            elif what == "part" and progress is not None:
                progress(value)
    finally:
        worker.terminate()
        worker.join(5)


def _teach_and_tell(
    lesson: Lesson,
    trunk: Weights | None,
    steps: int,
    seed: int,
    queue: multiprocessing.Queue,
    keep: Path | None,
    half_learnt: bool,
) -> None:
    begin_apart()

    def tell(what: str) -> Callable[[Any], None]:
        return lambda value: queue.put((what, value))

    half = tell("half") if half_learnt else None
    tell("weights")(teach_network(lesson, trunk, steps, True, seed, tell("part"), keep, half))


def learned_reader(lesson: Lesson, weights: Weights) -> LearnedReader:
    """What reads with these weights, believed wholly"""
    return LearnedReader(
        lesson.plan,
        lesson.view,
        lesson.shapes.groups,
        lesson.shapes.forms,
        lesson.reference,
        lesson.empty,
        weights,
        weights[GRAPH].tobytes() if GRAPH in weights else draw_graph(lesson, weights),
        cards=draw_card_banks(lesson.plan, lesson.shapes.groups, lesson.looks, lesson.view.scale),
    )


def draw_graph(lesson: Lesson, weights: Weights) -> bytes:
    """The trunk as it is read with"""
    from calibration.learned.export import export_trunk, quantize_trunk

    composer = lesson.composer(SHOWN_SEED)
    samples = (composer.make_sample() for _ in range(SAMPLES_SHOWN))
    shown = (x for s in samples for x in (s.x, *(picture for _, _, picture in s.close)))
    return quantize_trunk(export_trunk(weights), shown)


def initial_weights(shapes: Shapes, seed: int, trunk: Weights | None = None) -> Weights:
    from calibration.learned.network import init_classes, init_trunk

    rng = np.random.default_rng(seed)
    fresh = init_trunk(rng) | init_classes(
        rng, len(shapes.forms), shapes.allowed_kinds.shape[1] - 1, shapes.offsets[-1]
    )
    return fresh | {
        k: v for k, v in (trunk or {}).items() if k in fresh and v.shape == fresh[k].shape
    }
