"""Finds where loose pieces lie in a copy's samplers, whose layouts tell what lies on a site, but not
where. Its value: `locate_loose`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from calibration.cutouts.loose_outlines import (
    SOUGHT_SCALE,
    Found,
    Heap,
    find_outlines,
    loose_heaps,
)
from calibration.cutouts.mistaken_kinds import find_exchanged
from calibration.cutouts.naming import name_pieces, settle_ties, telling_artwork, tied_kinds
from calibration.cutouts.piece_views import Views
from calibration.cutouts.seek import (
    Places,
    Room,
    Samplers,
    body_colours,
    outline_turns,
    score_places,
)
from calibration.cutouts.sign_alignment import tops_by_signs
from calibration.cutouts.specimens import Shape, Specimen
from calibration.cutouts.symmetry import lies_by_symmetry
from vision.geometry.footprints import depth_within
from vision.learned.groups import RIVAL_WIDTHS
from vision.plan import Piece, Plan, Site

# how well a piece fits, where its top's middle would be, in mm, and its turn
Fit = tuple[float, np.ndarray, float]
Fits = dict[tuple[int, str], Fit]  # (piece found, kind) -> how that fits there

MENDED = 3.0  # mm by which outlines alone may have misled
FINER_TURNS = np.arange(-6.0, 6.1, 2.0)  # degrees by which they may tell a turn wrong
FEWEST_ALIKE = 4  # pieces of a kind that tell how it looks
# times as unlike its kind as most that a piece is which lies elsewhere: on photos and photos-2 of three
# games those of 2.5 and more were 2 mm off at least, and no other was
STRANGER = 2.5
# of the usual difference between two pieces, how much more those differ that have no print in common:
# two signs in one colour on one paint differ little besides
PRINT_TELLS = 0.2
MOST_LIKE, PLACES_TRIED = 8, 12  # of its kind that it is compared with, and places that are tried
ROUNDS_EXCHANGED = 3  # in which pairs are exchanged: of three in a ring one is right after each
CLOSER = (False, False, True)  # whether each round looks only near where pieces were found


def locate_loose(samplers: Samplers) -> list[Specimen]:
    """The loose pieces that lie flat: by their outlines alone, then by the colours of kinds as well,
    which are better known each time"""
    heaps = loose_heaps(samplers)
    found = find_outlines(samplers, heaps)
    name_found(samplers, heaps, found, {})
    for nearby in CLOSER:
        mend_places(samplers, heaps, found, nearby)
        name_found(samplers, heaps, found, {} if nearby else weigh_kinds(samplers, heaps, found))
    replace_strangers(samplers, heaps, found)
    lay_by_symmetry(samplers, heaps, found)
    lay_by_signs(samplers, heaps, found)
    name_found(samplers, heaps, found, {})
    exchange_mistaken(samplers, heaps, found)
    return [specimen_found(samplers, heaps, f) for f in found]


def mend_places(
    samplers: Samplers, heaps: Sequence[Heap], found: Sequence[Found], nearby: bool
) -> None:
    """Seeks each piece anew, on its whole site or near where it was found, now that it is known which
    it is and where its neighbours lie."""
    plan = samplers.plan
    specimens = [specimen_found(samplers, heaps, f) for f in found]
    colours = body_colours(plan, specimens)
    by_photo: dict[int, list[Specimen]] = defaultdict(list)
    for s in specimens:
        by_photo[s.photo].append(s)
    for f, s in zip(found, specimens):
        piece = plan.pieces[f.kind]
        lean = samplers.lean_at(s.photo, s.top)
        beside = [o for o in by_photo[s.photo] if o is not s]
        if nearby:
            room = Room.around(f.top, piece, lean, MENDED)
            tilts = outline_turns(f.shape) if piece.disc else f.turn + FINER_TURNS
            places = score_places(samplers, s.photo, piece, room, tilts, colours[f.kind], beside)
        else:
            part = part_about(plan.sites[s.site], s.top - lean * piece.height)
            places = score_part(samplers, s.photo, piece, part, lean, colours[f.kind], beside)
        _, f.top, f.turn = places.best()
        s.top, s.turn = f.top, f.turn  # where none of those sought after it lies then


def part_about(site: Site, foot: np.ndarray) -> np.ndarray:
    """(n, 2) mm: the outline, of a site that may have several, on which (2,) mm lies, or nearest it"""
    return max(site.outlines, key=lambda o: depth_within(o, foot))


def score_part(
    samplers: Samplers,
    photo: int,
    piece: Piece,
    outline: np.ndarray,
    lean: np.ndarray,
    colour: np.ndarray,
    beside: Sequence[Specimen],
) -> Places:
    """As `score_places`, anywhere within one of a site's outlines, (n, 2) mm, and nowhere else"""
    low, high = outline.min(0), outline.max(0)
    free = np.maximum(high - low - piece.footprint, 0) / 2
    room = Room((low + high) / 2, high - low, free, lean)
    tilts = outline_turns(piece.shape)
    places = score_places(samplers, photo, piece, room, tilts, colour, beside)
    places.keep_within(outline + lean * piece.height)
    return places


def weigh_kinds(
    samplers: Samplers, heaps: Sequence[Heap], found: Sequence[Found], own_form: bool = True
) -> Fits:
    """How well each kind of its heap fits where a piece was found, by colour and outline. own_form:
    kinds of the form that it was found as, too"""
    plan = samplers.plan
    specimens = [specimen_found(samplers, heaps, f) for f in found]
    colours = body_colours(plan, specimens)
    fits: Fits = {}
    for i, f in enumerate(found):
        heap = heaps[f.heap]
        if len(heap.kinds) == 1:
            continue
        beside = [s for j, s in enumerate(specimens) if s.photo == heap.photo and j != i]
        lean = samplers.lean_at(heap.photo, f.top)
        foot = f.top - lean * plan.pieces[f.kind].height
        for kind in heap.kinds:
            piece = plan.pieces[kind]
            if piece.shape == f.shape and not own_form:
                continue
            room = Room(foot, np.array(piece.footprint), np.full(2, MENDED / 2), lean)
            tilts = outline_turns(piece.shape)
            fits[i, kind] = score_places(
                samplers, heap.photo, piece, room, tilts, colours[kind], beside, SOUGHT_SCALE
            ).best()
    return fits


def replace_strangers(samplers: Samplers, heaps: Sequence[Heap], found: Sequence[Found]) -> None:
    """Seeks pieces that look unlike their kind once more, where something like it lies: where one hardly
    stands out from what it lies on, it was found elsewhere."""
    kinds: dict[str, list[Found]] = defaultdict(list)
    for f in found:
        kinds[f.kind].append(f)
    for mine in kinds.values():
        if len(mine) < FEWEST_ALIKE:
            continue
        unlike = views_of(samplers, heaps, mine).differences()
        strange = np.median(unlike, 1)
        usual = float(np.median(strange))
        others = [f for f, s in zip(mine, strange) if s <= STRANGER * usual][:MOST_LIKE]
        for f, s in zip(mine, strange):
            if s > STRANGER * usual and others:
                tried = likely_places(samplers, heaps, found, f)
                apart = views_of(samplers, heaps, [*tried, *others]).differences()
                told = np.median(apart[: len(tried), len(tried) :], 1)
                if told.min() < s:
                    f.top, f.turn = tried[told.argmin()].top, tried[told.argmin()].turn


def lay_by_symmetry(samplers: Samplers, heaps: Sequence[Heap], found: Sequence[Found]) -> None:
    """Moves pieces to where the symmetry of their prints says that they lie."""
    specimens = [specimen_found(samplers, heaps, f) for f in found]
    for n, (top, turn) in lies_by_symmetry(samplers, specimens).items():
        found[n].top, found[n].turn = top, turn


def lay_by_signs(samplers: Samplers, heaps: Sequence[Heap], found: Sequence[Found]) -> None:
    """Moves pieces to where their signs say that they lie."""
    specimens = [specimen_found(samplers, heaps, f) for f in found]
    for f, top in zip(found, tops_by_signs(samplers, specimens)):
        f.top = top


def exchange_mistaken(samplers: Samplers, heaps: Sequence[Heap], found: Sequence[Found]) -> None:
    """Gives those pieces of a heap each other's kinds whose signs say that they were taken for each
    other."""
    plan = samplers.plan
    if not any(plan.artwork.get(f.kind) for f in found):
        return
    for _ in range(ROUNDS_EXCHANGED):
        fits = weigh_kinds(samplers, heaps, found, own_form=False)
        rivals = rival_shapes({f.shape for f in found})
        laid = {}
        for (i, kind), fit in fits.items():
            if any({found[i].shape, plan.pieces[kind].shape} <= some for some in rivals):
                told = msgspec.structs.replace(found[i])
                tell_kind(plan, told, kind, fit)
                laid[i, kind] = specimen_found(samplers, heaps, told)
        pieces = [specimen_found(samplers, heaps, f) for f in found]
        exchanged = find_exchanged(samplers, [f.heap for f in found], pieces, laid)
        if not exchanged:
            return
        for i, j in exchanged:
            one, other = found[i].kind, found[j].kind
            tell_kind(plan, found[i], other, fits.get((i, other)))
            tell_kind(plan, found[j], one, fits.get((j, one)))
        lay_by_signs(samplers, heaps, found)


def tell_kind(plan: Plan, f: Found, kind: str, fit: Fit | None) -> None:
    """Gives a piece a kind, and lays it as that fits where it is of another form."""
    f.kind = kind
    if fit and f.shape != plan.pieces[kind].shape:
        f.shape = plan.pieces[kind].shape
        _, f.top, f.turn = fit


def likely_places(
    samplers: Samplers, heaps: Sequence[Heap], found: Sequence[Found], f: Found
) -> list[Found]:
    """Where else on its site a piece may lie, the likeliest by its outline and colour first"""
    plan, photo, site = samplers.plan, heaps[f.heap].photo, samplers.plan.sites[heaps[f.heap].site]
    piece = plan.pieces[f.kind]
    specimens = [specimen_found(samplers, heaps, o) for o in found]
    lean = samplers.lean_at(photo, site.centre)
    part = part_about(site, f.top - lean * piece.height)
    beside = [s for s, o in zip(specimens, found) if s.photo == photo and o is not f]
    colour = body_colours(plan, specimens)[f.kind]
    places = score_part(samplers, photo, piece, part, lean, colour, beside)
    out = []
    for _ in range(PLACES_TRIED):
        score, top, turn = places.best()
        out.append(msgspec.structs.replace(f, top=top, turn=turn, score=score))
        places.exclude(top, min(piece.footprint) / 3)
    return out


def views_of(samplers: Samplers, heaps: Sequence[Heap], mine: Sequence[Found]) -> Views:
    """Pictures of pieces of forms that may be taken for one another"""
    places = [(f.top, f.turn, samplers.canvases[heaps[f.heap].photo]) for f in mine]
    return Views(samplers.view, {f.shape for f in mine}, places)


def name_found(
    samplers: Samplers, heaps: Sequence[Heap], found: Sequence[Found], fits: Fits
) -> None:
    """Gives each found piece its kind, form by form; by colour and outline as well, where `fits` tells
    these, and among forms of like width then."""
    plan, shapes = samplers.plan, {f.shape for f in found}
    for some in rival_shapes(shapes) if fits else [{s} for s in sorted(shapes)]:
        number = [i for i, f in enumerate(found) if f.shape in some]
        contents = {}
        for heap in {found[i].heap: None for i in number}:
            lying = heaps[heap].kinds.items()
            contents[heap] = Counter({k: n for k, n in lying if plan.pieces[k].shape in some})
        told = {
            (n, k): fits[i, k][0]
            for n, i in enumerate(number)
            for k in heaps[found[i].heap].kinds
            if (i, k) in fits
        }
        names = name_alike(samplers, heaps, [found[i] for i in number], contents, told)
        for i, name in zip(number, names):
            tell_kind(plan, found[i], name, fits.get((i, name)))


def name_alike(
    samplers: Samplers,
    heaps: Sequence[Heap],
    mine: Sequence[Found],
    contents: dict[int, Counter[str]],
    fits: dict[tuple[int, str], float],
) -> list[str]:
    """The kinds of found pieces of forms that may be taken for one another. contents: heap -> what of
    these forms lies there; fits: (piece, kind) -> how well it fits"""
    if all(len(c) == 1 for c in contents.values()):
        return [next(iter(contents[f.heap])) for f in mine]
    artwork = telling_artwork(samplers.plan.artwork, {k for c in contents.values() for k in c})
    views = views_of(samplers, heaps, mine)
    unlike, printed = views.differences(), 1 - views.likenesses()
    usual = max(float(np.median(unlike)), 1e-6)
    otherwise = np.minimum(printed, printed.T) * (unlike > 0)
    looks = unlike + PRINT_TELLS * usual * otherwise
    names = name_pieces([f.heap for f in mine], contents, looks, artwork, fits, otherwise)
    if ties := tied_kinds(contents):
        apart = unlike / usual + printed
        for kinds in ties:
            names = settle_ties(names, kinds, apart, artwork)
    return names


def rival_shapes(shapes: Iterable[Shape]) -> list[set[Shape]]:
    """The shapes, those together that may be taken for one another"""
    out: list[set[Shape]] = []
    for shape in sorted(shapes, key=lambda s: max(s[0])):
        if out and max(shape[0]) <= RIVAL_WIDTHS * max(max(s[0]) for s in out[-1]):
            out[-1].add(shape)
        else:
            out.append({shape})
    return out


def specimen_found(samplers: Samplers, heaps: Sequence[Heap], f: Found) -> Specimen:
    """A piece found, and how it looks"""
    heap, unseen = heaps[f.heap], np.zeros(0)
    out = Specimen(heap.photo, heap.site, f.kind, f.top, 0.0, f.turn, unseen, unseen)
    samplers.cut_look(out)
    return out
