"""Cuts the pieces that stand upright out of a copy's samplers: where each has its foot, and how its
kind looks, leaning away from the camera. Its central value: StandingLook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import cv2
import msgspec
import numpy as np

from calibration.cutouts.outlines import colour_difference
from calibration.cutouts.seek import Samplers
from calibration.cutouts.specimens import fill_mask, footprint_polygon
from vision.geometry.coarse_grid import sample_at
from vision.geometry.footprints import camera_position, depth_within, top_shift
from vision.geometry.posed_photo import Shot
from vision.geometry.site_groups import outline_size
from vision.learned.canvas import Canvas
from vision.learned.groups import covered_sites, stands_upright
from vision.learned.network import lean_axes
from vision.plan import Piece, Plan

BESIDE_FOOT = 2.0  # mm shown around a foot and a top
SHORTEST = 1.0  # mm a top is seen off its foot at least: from straight above looks are no longer
TAPER = 0.7  # of its foot that a piece's top is wide, as a rule
UNLIKE = 0.5  # log units from which a pixel is no more unlike the board than another
RING = (1.0, 4.0)  # mm about an outline that should look like the board
ASTRAY_FOOT = 12.0  # mm a piece is looked for from a pile's middle at most
MISPLACED = 0.01  # what each mm from there counts against a place, squared and over 4 mm
MANY = 2**30  # more pieces than any photo shows
OWN_PIECES = 3  # pieces of a kind from which its outline and look are told by them alone
BODY = 0.9  # of the most of a mask: surely inside the piece
RIM_SHOWN = 8.0  # times its mask that a thing's colour shows in a blurred rim
# log units unlike the board from which a pixel is certainly not it, and a third of that certainly it;
# less where a kind is hardly unlike it
STRANGE_PIXEL = 0.3
FAINTEST = 0.06  # log units: less is noise


class StandingLook(msgspec.Struct, frozen=True, eq=False):
    """How a kind looks that stands: patch (h, w, 3) log, `scale` pixels a mm, its top to the right
    of its foot; mask (h, w) 0..1; reach: mm between the two; length: mm that they were seen apart;
    beside: mm shown about the foot's middle"""

    piece: Piece
    patch: np.ndarray
    mask: np.ndarray
    reach: float
    length: float
    beside: float
    scale: float


class Standing(msgspec.Struct, frozen=True, eq=False):
    """A piece that stands in a sampler. foot: (2,) mm where it is seen to stand; shift: (2,) mm its
    top is seen off it"""

    photo: int
    site: str
    kind: str
    foot: np.ndarray
    shift: np.ndarray


def find_standing(samplers: Samplers) -> tuple[list[Standing], list[np.ndarray]]:
    """(the samplers' pieces that stand, those of a photo the nearest to its camera first; for each
    photo, (h, w) the number of the first of them that is seen there, many where none is). The grounds
    are to show what would be seen if nothing stood there"""
    plan, view = samplers.plan, samplers.view
    found, first = [], []
    for n, shot in enumerate(samplers.shots):
        camera = camera_position(shot.pose)
        unlike = np.minimum(colour_difference(samplers.canvases[n], samplers.grounds[n]), UNLIKE)
        free = np.ones(unlike.shape, np.float32)
        seen = np.full(unlike.shape, MANY, np.int32)
        mine = standing_sites(plan, shot)
        mine.sort(key=lambda m: np.hypot(*(plan.sites[m[0]].centre - camera[:2])))
        for site, kind, base in mine:
            piece = plan.pieces[kind]
            foot = locate_foot(plan, view, site, piece, base, camera, unlike, free)
            shift = lean_of(camera, foot, base, piece.height)
            found.append(Standing(n, site, kind, foot, shift))
            covered = fill_mask(view.to_px(foot + outline_of(piece, shift)), free.shape)
            seen[(covered > 0.5) & (free > 0.5)] = len(found) - 1
            free = np.minimum(free, 1 - covered)
        first.append(seen)
    return found, first


def standing_sites(plan: Plan, shot: Shot) -> list[tuple[str, str, float]]:
    """(site, kind, mm beneath it) of each piece that stands in a photo"""
    out = []
    over = covered_sites(plan, shot.layout)
    for site, contents in shot.layout.items():
        if site in over:
            continue
        base = 0.0
        for kind in contents:
            if kind not in plan.pieces:
                continue
            if stands_upright(plan.pieces[kind]):
                out.append((site, kind, base))
            elif plan.sites[site].reads == "pile":
                base += plan.pieces[kind].height
    return out


def lean_of(camera: np.ndarray, mm: np.ndarray, base: float, height: float) -> np.ndarray:
    """(2,) mm that the top of something `height` mm high is seen off its foot, which is `base` mm
    above the board at (2,) mm"""
    low, high = (top_shift(camera, mm[None], h)[0] for h in (base, base + height))
    return high - low


def outline_of(piece: Piece, shift: np.ndarray, more: float = 0.0) -> np.ndarray:
    """(n, 2) mm about its foot: what a piece is seen to cover, `more` mm about it besides"""
    size = np.array(piece.footprint) + 2 * more
    top = TAPER * np.array(piece.footprint) + 2 * more
    below, above = (footprint_polygon(v, True, 0.0) for v in (size, top))
    return cv2.convexHull(np.vstack([below, above + shift]).astype(np.float32)).reshape(-1, 2)


def locate_foot(
    plan: Plan,
    view: Canvas,
    site: str,
    piece: Piece,
    base: float,
    camera: np.ndarray,
    unlike: np.ndarray,
    free: np.ndarray,
) -> np.ndarray:
    """(2,) mm where it is seen to stand: unlike the ground inside its outline, like it about it.
    unlike: (h, w) log units; free: (h, w) 0..1 what no piece before it hides"""
    place = plan.sites[site]
    cluster = place.reads == "cluster"
    outlines = [np.asarray(o, np.float32) for o in place.outlines]
    centre = place.centre + top_shift(camera, place.centre[None], base)[0]
    if cluster:
        low, high = np.min([o.min(0) for o in outlines], 0), np.max([o.max(0) for o in outlines], 0)
    else:
        reach = np.minimum(outline_size(place) / 2, ASTRAY_FOOT)
        low, high = centre - reach, centre + reach
    shift = lean_of(camera, (low + high) / 2, base, piece.height)
    half = int(np.ceil((np.abs(shift).max() + max(piece.footprint) + RING[1]) * view.scale))
    middle = np.full(2, float(half))
    inside, near, far = (
        fill_mask(middle + outline_of(piece, shift, m) * view.scale, (2 * half + 1,) * 2)
        for m in (0.0, *RING)
    )
    ring = np.clip(far - near, 0, 1)
    (xa, ya), (xb, yb) = (np.round(view.to_px(v)).astype(int) for v in (low, high))
    pad = ((half, half), (half, half))
    seen, known = (
        np.pad(m, pad)[ya : yb + 1 + 2 * half, xa : xb + 1 + 2 * half]
        for m in (unlike * free, free)
    )
    means = []
    for mask in (inside, ring):
        much, of = (cv2.filter2D(m, cv2.CV_32F, mask) for m in (seen, known))
        means.append(much / np.maximum(of, 0.1 * mask.sum()))
    score = (means[0] - means[1])[half:-half, half:-half]
    ys, xs = np.mgrid[ya : yb + 1, xa : xb + 1]
    at = view.to_mm(np.stack([xs, ys], -1))[: score.shape[0], : score.shape[1]]
    if cluster:
        for p in np.argsort(-score, axis=None):
            foot = at.reshape(-1, 2)[p]
            if any(depth_within(o, foot) >= 0 for o in outlines):
                return foot
    score = score - MISPLACED * ((at - centre) ** 2).sum(-1) / 16
    return at.reshape(-1, 2)[int(score.argmax())]


def cut_standing(
    samplers: Samplers, found: Sequence[Standing], first: Sequence[np.ndarray]
) -> dict[str, list[StandingLook]]:
    """kind -> how it looks, what others hide of a piece filled in by others of its kind. found, first:
    as of `find_standing`"""
    plan, view = samplers.plan, samplers.view
    forms: dict[tuple, list[int]] = defaultdict(list)
    for n, s in enumerate(found):
        piece = plan.pieces[s.kind]
        forms[piece.footprint, piece.height, piece.disc].append(n)
    out: dict[str, list[StandingLook]] = defaultdict(list)
    board = 1 - view.beyond_rim().astype(np.float32)  # beyond it, it is not known what is strange
    for (size, _, disc), numbers in sorted(forms.items()):
        # a square foot may stand on a corner
        beside = (max(size) if disc else float(np.hypot(*size))) / 2 + BESIDE_FOOT
        lengths = {n: max(float(np.hypot(*found[n].shift)), SHORTEST) for n in numbers}
        reach = float(np.median(list(lengths.values())))
        patches, clear, told, strange = {}, {}, {}, {}
        for n in numbers:
            s = found[n]
            canvas, shown = samplers.canvases[s.photo], np.float32(first[s.photo] >= n)
            unlike = colour_difference(canvas, samplers.grounds[s.photo]).astype(np.float32)
            patches[n], clear[n], known, other = (
                unfold_lean(m, view, s.foot, s.shift, reach, beside)
                for m in (canvas, shown, board, unlike)
            )
            told[n] = clear[n] * known
            strange[n] = cv2.blur(other, (3, 3))
        middle = slice(round((beside - max(size) / 4) * view.scale), -round(beside * view.scale))
        rows = slice(middle.start, -middle.start)
        kinds = sorted({found[n].kind for n in numbers})
        for kind in kinds:
            mine = [n for n in numbers if found[n].kind == kind]
            alike = mine if len(mine) >= OWN_PIECES else numbers
            core = np.concatenate([strange[n][rows, middle].ravel() for n in alike])
            most = float(np.clip(0.9 * np.median(core), FAINTEST, STRANGE_PIXEL))
            odd = {n: np.clip((1.5 * strange[n] / most - 0.5), 0, 1) for n in {*alike, *mine}}
            seen = np.maximum(sum(told[n] for n in alike), 0.5)
            usual = sum(told[n] * odd[n] for n in alike) / seen
            body = np.clip((cv2.GaussianBlur(usual, (0, 0), 1.0) - 0.4) / 0.3, 0, 1)
            weight = sum(clear[n] for n in mine)[..., None]
            look = sum(clear[n][..., None] * patches[n] for n in mine) / np.maximum(weight, 1e-3)
            look = np.where(weight > 0.5, look, np.mean([patches[n] for n in mine], 0))
            for n in mine:
                if (clear[n] * body).sum() < 0.5 * body.sum() and len(mine) > 1:
                    continue
                own = cv2.GaussianBlur(clear[n], (0, 0), 1.0)[..., None]
                here = told[n] * odd[n] + (1 - told[n]) * body
                mask = np.maximum(
                    np.clip(1.5 * body - 0.5, 0, 1), np.clip(2 * usual - 0.3, 0, 1) * here
                )
                patch = (look + own * (patches[n] - look)).astype(np.float32)
                mask, piece = mask.astype(np.float32), plan.pieces[kind]
                out[kind].append(
                    StandingLook(piece, patch, mask, reach, lengths[n], beside, view.scale)
                )
        borrow_looks(out, kinds)
    return dict(out)


def borrow_looks(looks: dict[str, list[StandingLook]], kinds: Sequence[str]) -> None:
    """Shows those of a form's kinds that few samplers show as others of it are seen too, in their own
    colour: a figure that was seen from above alone would be taken for something else seen from the side."""
    own = {k: list(looks[k]) for k in kinds if looks.get(k)}
    for kind, mine in own.items():
        others = [v for k, some in own.items() if k != kind for v in some]
        if len(mine) < OWN_PIECES and others:
            colour = body_colour(mine)
            looks[kind] += [recolour_look(v, colour) for v in others]
            looks[kind] += mine * (len(others) // len(mine) - 1)  # as often as what is borrowed


def body_colour(looks: Sequence[StandingLook]) -> np.ndarray:
    """(3,) log, of most of what is inside their masks"""
    return np.median(np.concatenate([v.patch[v.mask >= BODY * v.mask.max()] for v in looks]), 0)


def recolour_look(look: StandingLook, colour: np.ndarray) -> StandingLook:
    """The same look of a thing of another colour, (3,) log, shaded as its own brightest colour is"""
    before = body_colour([look])
    bright = int(before.argmax())
    body = colour + (look.patch[..., bright] - before[bright])[..., None]
    rim = np.minimum(RIM_SHOWN * look.mask, 1.0)[..., None]  # its own colour shows about it, too
    patch = look.patch + rim * (body - look.patch)
    return msgspec.structs.replace(look, patch=patch.astype(np.float32))


def unfold_lean(
    canvas: np.ndarray,
    view: Canvas,
    foot: np.ndarray,
    shift: np.ndarray,
    reach: float,
    beside: float,
) -> np.ndarray:
    """(h, w, C) a piece's picture at the canvas' scale, its foot to the left and its top `reach` mm
    to the right of it; between them it is stretched, foot and top stay as large as they are"""
    (length,), along, across = (v[0] for v in lean_axes(shift[None]))
    h, w = (round(v * view.scale) for v in (2 * beside, reach + 2 * beside))
    u = (np.arange(w) + 0.5) / view.scale - beside
    v = (np.arange(h) + 0.5) / view.scale - beside
    u = np.where(u < 0, u, np.where(u < reach, u * length / reach, u - reach + length))
    px = view.to_px(foot + u[None, :, None] * along + v[:, None, None] * across).astype(np.float32)
    return sample_at(canvas, px, cv2.BORDER_REPLICATE)


def fold_lean(
    look: StandingLook, mm: np.ndarray, shift: np.ndarray, mirrored: bool
) -> tuple[np.ndarray, np.ndarray]:
    """((h, w, 3), (h, w) 0..1): the look and its mask at places (h, w, 2) mm from its foot, where
    its top is seen `shift` (2,) mm off. mirrored: whether its left side is seen on the right"""
    (length,), along, across = (v[0] for v in lean_axes(shift[None]))
    length, across = max(length, 1e-6), -across if mirrored else across
    u, v = mm @ along, mm @ across
    u = np.where(u < 0, u, np.where(u < length, u * look.reach / length, u - length + look.reach))
    px = ((np.stack([u, v], -1) + look.beside) * look.scale - 0.5).astype(np.float32)
    patch = sample_at(look.patch, px, cv2.BORDER_REPLICATE)
    return patch, sample_at(look.mask, px, cv2.BORDER_CONSTANT)


def standing_points(
    plan: Plan, found: Sequence[Standing], names: Mapping[str, tuple[int, int]], photo: int
) -> list[tuple[int, int, np.ndarray]]:
    """(form, kind, middle (2,) mm as it is seen) of the loose pieces that stand in a photo"""
    return [
        (*names[s.kind], s.foot + s.shift / 2)
        for s in found
        if s.photo == photo and s.kind in names and plan.sites[s.site].reads == "cluster"
    ]
