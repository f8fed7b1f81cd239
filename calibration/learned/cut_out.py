"""Cuts the pieces out of a copy's samplers: where each lies and how its kind looks. Its central
value: Specimen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import cv2
import msgspec
import numpy as np

from calibration.learned.outlines import (
    best_place,
    colour_difference,
    doubt_map,
    edge_strength,
    footprint_mask,
    mask_side,
    rim_score,
    sweep_mask,
)
from vision.geometry.footprints import lean_at
from vision.geometry.posed_photo import Lying, Shot
from vision.learned.canvas import Canvas
from vision.learned.groups import covered_sites, is_buried, stands_upright
from vision.plan import LONG_SITE, Piece, Plan

CUT_ZOOM = 1.5  # times the canvas' scale at which looks are cut, so that turning them blurs little
TURN_STEP = 2.0  # degrees between turns that are tried for what is laid straight
ASKEW = 12.0  # degrees that a piece which is laid straight may lie askew
LOOSE_STEP = 9.0  # degrees between turns that are tried for what has room to lie any way
LAID_ASKEW = 0.25  # of a form's pieces lie askew on piles, where they are laid any way
REACH = 8.0  # mm around a site in which its piece is looked for
FOUND_OFF = 2  # double pixels of a look, 0.5 mm each or so, by which a piece may be found off
MOST_ALIKE = 8  # others of its kind that say what a piece with something on it looks like
BESIDE_PIECE = 1.5  # mm around a piece on another: its shadow's edge, and how far off it is found
# times that each piece is sought: by its outline, then by the colour that its form has, where its
# neighbours do not lie, which are better known each time
ROUNDS_SOUGHT = 4
SAME_BODY = 0.12  # log units between the colours of kinds that are of one material
WHOLLY_UNLIKE = 0.25  # log units from which colours have nothing to do with each other
FAINT = 0.06  # log units: pieces as like the board as that are not found by their colour
BODY_WEIGHT = 2.0  # of a piece's colour, beside its outline, which also weighs two at most
# times its area that what hides a piece has at most; of the narrower's breadth by which pieces as large
# lie in one another, more than they are found off
LIKE_AREA, OVERLAPPING = 1.5, 0.15
GIVE_BEYOND = (
    0.12  # of a site's side beyond it that is held against a place as much as a poor outline
)


class Specimen(msgspec.Struct, eq=False):
    """A piece in a sampler. photo: its number; top: (2,) mm where its top's middle appears; base:
    mm of height beneath it; turn: degrees clockwise; look: (h, w, 3) log picture of its footprint,
    straight; clear: (h, w) 0..1, what of it nothing covers"""

    photo: int
    site: str
    kind: str
    top: np.ndarray
    base: float
    turn: float
    look: np.ndarray
    clear: np.ndarray


def crop_straight(
    canvas: np.ndarray, view: Canvas, top: np.ndarray, turn: float, size: Sequence[float]
) -> np.ndarray:
    """(h, w, C) the footprint (w, d) mm about `top` mm, turned straight"""
    w, h = (max(round(v * view.scale), 4) for v in size)
    m = place_patch(view.to_px(top), turn, (h, w), 1.0)
    return cv2.warpAffine(
        canvas,
        m,
        (w, h),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )


def place_patch(at_px: np.ndarray, turn: float, shape: Sequence[int], zoom: float) -> np.ndarray:
    """(2, 3) float32: patch pixels to canvas pixels, its middle at `at_px`, turned clockwise by
    degrees"""
    a = np.deg2rad(turn)
    m = zoom * np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    middle = np.array([shape[1] / 2 - 0.5, shape[0] / 2 - 0.5])
    return np.column_stack([m, np.asarray(at_px) - m @ middle]).astype(np.float32)


def footprint_polygon(size: Sequence[float], disc: bool, turn: float) -> np.ndarray:
    """(n, 2) mm about the middle"""
    w, h = np.array(size) / 2
    if disc:
        t = np.linspace(0, 2 * np.pi, 20, endpoint=False)
        return np.column_stack([np.cos(t), np.sin(t)]) * w
    a = np.deg2rad(turn)
    return np.array([[-w, -h], [w, -h], [w, h], [-w, h]]) @ np.array(
        [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]
    )


def fill_mask(polygon_px: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """(h, w) float32 0..1, soft at the edge"""
    mask = np.zeros(shape, np.uint8)
    cv2.fillConvexPoly(
        mask, np.round((polygon_px + 0.5) * 16 - 8).astype(np.int32), 255, cv2.LINE_AA, 4
    )
    return mask.astype(np.float32) / 255


def cut_specimens(
    plan: Plan,
    view: Canvas,
    shots: Sequence[Shot],
    canvases: Sequence[np.ndarray],
    empty: np.ndarray,
    lying: Sequence[Lying],
) -> tuple[list[Specimen], list[np.ndarray]]:
    """(every piece of the samplers that lies and can be seen; for each photo, (h, w, 3) log, what
    would show if nothing else lay there).

    canvases: (h, w, 3) log, one a shot, at the scale looks are cut; empty: the empty board's; view:
    their Canvas; lying: where loose pieces and cards of clusters were found"""
    grounds = [empty.copy() for _ in shots]
    out = [specimen_of(plan, view, shots[one.photo], canvases, one) for one in lying]
    found = {(s.photo, s.site) for s in out}
    for s in sorted(out, key=lambda s: -np.prod(plan.pieces[s.kind].footprint)):
        hide_specimen(plan, view, s, shots[s.photo], grounds[s.photo], canvases[s.photo])
    piles = [s for s in pile_specimens(plan, shots) if (s.photo, s.site) not in found]
    levels: list[list[Specimen]] = []
    for s in sorted(piles, key=lambda s: -np.prod(plan.pieces[s.kind].footprint)):
        area = np.prod(plan.pieces[s.kind].footprint)
        if levels and area > 0.75 * np.prod(plan.pieces[levels[-1][0].kind].footprint):
            levels[-1].append(s)
        else:
            levels.append([s])

    def below_of(s: Specimen) -> Specimen | None:
        mine = [o for o in piles if (o.photo, o.site) == (s.photo, s.site)]
        return next((o for o in mine if o.base < s.base), None)

    for level in levels:
        sought = [
            (s, below_of(s), [o for o in level if o.photo == s.photo and o is not s]) for s in level
        ]
        for known in [False] + [True] * (ROUNDS_SOUGHT - 1):
            colours = body_colours(plan, level) if known else {}
            for s, below, others in sought:
                seen, bare, beside = canvases[s.photo], grounds[s.photo], others if known else ()
                colour = colours.get(s.kind)
                locate_specimen(plan, view, s, shots[s.photo], seen, bare, below, colour, beside)
        for s in level:
            others = [o for o in level if o.kind == s.kind and o is not s][:MOST_ALIKE]
            alike = [s.look, *(turn_like(plan, o, s)[1] for o in others)]
            lay_flat(plan, view, s, agreed_look(alike), grounds[s.photo])
    out += piles
    mark_covered(plan, shots, out)
    return out, grounds


def specimen_of(
    plan: Plan, view: Canvas, shot: Shot, canvases: Sequence[np.ndarray], one: Lying
) -> Specimen:
    contents, kind = shot.layout.get(one.site, ()), one.kind
    if plan.sites[one.site].reads == "pile" and len(contents) == 1:
        kind = contents[0]  # its turn tells it from the kind it looks like
    piece = plan.pieces[kind]
    foot = np.asarray(one.foot, float)
    top = foot + lean_at(shot.pose, foot[None])[0] * piece.height
    turn = 0.0 if piece.disc else float(np.degrees(one.turn))
    look = crop_straight(canvases[one.photo], view, top, turn, piece.footprint)
    return Specimen(
        one.photo, one.site, kind, top, 0.0, turn, look, np.ones(look.shape[:2], np.float32)
    )


def pile_specimens(plan: Plan, shots: Sequence[Shot]) -> list[Specimen]:
    """The pieces to be looked for on pile sites, where nothing is known yet but the site"""
    out = []
    for n, shot in enumerate(shots):
        over = covered_sites(plan, shot.layout)
        for site, contents in shot.layout.items():
            if site in over or plan.sites[site].reads != "pile":
                continue
            height = 0.0
            for k, kind in enumerate(contents):
                if kind not in plan.pieces or stands_upright(plan.pieces[kind]):
                    continue
                if not is_buried(contents, k, plan):
                    out.append(
                        Specimen(
                            n,
                            site,
                            kind,
                            plan.sites[site].centre,
                            height,
                            0.0,
                            np.zeros(0),
                            np.zeros(0),
                        )
                    )
                height += plan.pieces[kind].height
    return out


def locate_specimen(
    plan: Plan,
    view: Canvas,
    s: Specimen,
    shot: Shot,
    canvas: np.ndarray,
    ground: np.ndarray,
    below: Specimen | None = None,
    colour: np.ndarray | None = None,
    beside: Sequence[Specimen] = (),
) -> None:
    """Finds where the piece lies: different from the ground inside its outline, edges along it.
    below: the piece it lies on; colour: (3,) log, of most of such a piece, if it is known; beside:
    others, which it does not cover where they were found"""
    piece, site = plan.pieces[s.kind], plan.sites[s.site]
    (box, slant), centre = site.frame, site.centre.copy()
    if piece.spans:
        centre, box = centre + box * (np.array(piece.spans) - 1) / 2, box * piece.spans
    lean = lean_at(shot.pose, centre[None])[0]
    if below is not None:
        under = plan.pieces[below.kind]
        centre, box = below.top - lean * s.base, np.array(under.footprint)
    half = (
        max(box.max(), max(piece.footprint)) / 2
        + REACH
        + np.abs(lean).max() * (s.base + piece.height)
    )
    scale = min(view.scale, 60 / half)
    n = int(np.ceil(2 * half * scale))
    seen, bare = (crop_window(c, view, centre, n, scale) for c in (canvas, ground))
    for o in beside:
        if np.abs(o.top - centre).max() < half + max(plan.pieces[o.kind].footprint):
            hull = (piece_silhouette(plan, o, lean) - centre) * scale + n / 2 - 0.5
            taken = fill_mask(hull, (n, n)) > 0.5
            bare[taken] = seen[taken]
    expected = lean * (s.base + piece.height)
    free = np.maximum(box / 2 - np.array(piece.footprint) / 2, 1.0)
    if slant:
        free = np.full(2, free.max())
    doubt = doubt_map(n, scale, free, expected, GIVE_BEYOND * box.max())
    edges = np.maximum(edge_strength(seen) - edge_strength(bare), 0)
    foot = -lean * piece.height
    scores = [
        rim_score(colour_difference(seen, bare), edges, piece.footprint, piece.disc, scale, foot)
    ]
    if colour is not None:
        scores.append(body_score(seen, bare, colour, piece, scale, foot))
    fills = min(piece.footprint) > 0.5 * box.min()
    square = piece.footprint[0] == piece.footprint[1]
    tilts = (
        np.zeros(1)
        if piece.disc
        else np.arange(-ASKEW, ASKEW + 0.1, TURN_STEP)
        if fills
        else np.arange(0, 90 if square else 180, LOOSE_STEP)
    )
    if fills:
        crosswise = (
            not (piece.disc or square)
            and max(piece.footprint) < LONG_SITE * box.min()
            and piece.footprint not in plan.directed_sizes
        )
        tilts = slant + (np.concatenate([tilts, tilts + 90]) if crosswise else tilts)
    off, s.turn = best_place(
        lambda tilt: sum(score(tilt) for score in scores), tilts, 0.4 * doubt, scale
    )
    s.top = centre + off
    s.look = crop_straight(canvas, view, s.top, s.turn, piece.footprint)
    s.clear = np.ones(s.look.shape[:2], np.float32)


def body_colours(plan: Plan, specimens: Sequence[Specimen]) -> dict[str, np.ndarray]:
    """kind -> (3,) log, the colour of most of it where its pieces were found: that of all pieces of
    its form where these look alike but for their prints"""

    def colour_of(some: Sequence[Specimen]) -> np.ndarray:
        return np.median(np.concatenate([s.look.reshape(-1, 3) for s in some]), 0)

    forms: dict[tuple, dict[str, list[Specimen]]] = defaultdict(lambda: defaultdict(list))
    for s in specimens:
        piece = plan.pieces[s.kind]
        forms[piece.footprint, piece.disc][s.kind].append(s)
    out: dict[str, np.ndarray] = {}
    for kinds in forms.values():
        own = {kind: colour_of(mine) for kind, mine in kinds.items()}
        common = colour_of([s for mine in kinds.values() for s in mine])
        alike = all(colour_difference(c, common) < SAME_BODY for c in own.values())
        out |= dict.fromkeys(own, common) if alike else own
    return out


def body_score(
    seen: np.ndarray,
    bare: np.ndarray,
    colour: np.ndarray,
    piece: Piece,
    scale: float,
    foot: np.ndarray,
) -> Callable[[float], np.ndarray]:
    """tilt -> (S, S): how much of what has a piece's colour, and not the board's, it covers whose middle
    lies at each pixel; BODY_WEIGHT where that is all it can. As of `rim_score`"""
    body = np.broadcast_to(colour, bare.shape)
    unlike_board, unlike_piece, contrast = (
        np.minimum(colour_difference(a, b), WHOLLY_UNLIKE)
        for a, b in ((seen, bare), (seen, body), (body, bare))
    )
    gained = (unlike_board - unlike_piece) / max(float(np.median(contrast)), FAINT)
    by = foot * scale
    side = mask_side(piece.footprint, by, scale, len(seen))

    def score_tilt(tilt: float) -> np.ndarray:
        mask = sweep_mask(footprint_mask(piece.footprint, piece.disc, side, scale, 0.0, tilt), by)
        covered = BODY_WEIGHT * mask / mask.sum()
        return cv2.filter2D(gained, cv2.CV_32F, covered, borderType=cv2.BORDER_REFLECT)

    return score_tilt


def crop_window(
    canvas: np.ndarray, view: Canvas, centre: np.ndarray, n: int, scale: float
) -> np.ndarray:
    """(n, n, 3): a square window about `centre` mm at `scale` pixels a mm"""
    m = place_patch(view.to_px(centre), 0.0, (n, n), view.scale / scale)
    return cv2.warpAffine(
        canvas,
        m,
        (n, n),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )


def lay_flat(plan: Plan, view: Canvas, s: Specimen, look: np.ndarray, ground: np.ndarray) -> None:
    """Puts a look where the piece lies, so that what lies on it stands out"""
    piece = plan.pieces[s.kind]
    m = place_patch(view.to_px(s.top), s.turn, look.shape, 1.0)
    h, w = ground.shape[:2]
    mask = fill_mask(
        view.to_px(s.top + footprint_polygon(piece.footprint, piece.disc, s.turn)), (h, w)
    )[..., None]
    ground += mask * (
        cv2.warpAffine(look, m, (w, h), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        - ground
    )


def hide_specimen(
    plan: Plan, view: Canvas, s: Specimen, shot: Shot, ground: np.ndarray, canvas: np.ndarray
) -> None:
    """What is known of is no longer looked for"""
    hull = view.to_px(piece_silhouette(plan, s, lean_at(shot.pose, s.top[None])[0]))
    mask = (
        cv2.fillConvexPoly(np.zeros(ground.shape[:2], np.uint8), np.round(hull).astype(np.int32), 1)
        > 0
    )
    ground[mask] = canvas[mask]


def piece_silhouette(plan: Plan, s: Specimen, lean: np.ndarray) -> np.ndarray:
    """(n, 2) mm: the outline of its top and sides as they appear"""
    piece = plan.pieces[s.kind]
    top = s.top + footprint_polygon(np.array(piece.footprint) + 1, piece.disc, s.turn)
    return cv2.convexHull(np.vstack([top, top - lean * piece.height]).astype(np.float32)).reshape(
        -1, 2
    )


def agreed_look(looks: Sequence[np.ndarray]) -> np.ndarray:
    """Of several pictures of a kind, each perhaps with other things on it, what most of them show
    at each pixel"""
    shape = looks[0].shape
    looks = [v for v in looks if v.shape == shape]
    if len(looks) == 1:
        return looks[0]
    if len(looks) == 2:
        return np.where(
            (np.abs(looks[0] - looks[1]).max(-1) < 0.15)[..., None],
            (looks[0] + looks[1]) / 2,
            looks[0],
        )
    every = np.stack(looks)
    apart = np.stack(
        [
            np.sort([cv2.blur(colour_difference(a, b), (5, 5)) for b in looks], 0)[
                1 : len(looks) // 2 + 1
            ].mean(0)
            for a in looks
        ]
    )
    return np.take_along_axis(every, apart.argmin(0)[None, ..., None], 0)[0]


def mark_covered(plan: Plan, shots: Sequence[Shot], specimens: Sequence[Specimen]) -> None:
    """Tells each specimen what of it others hide that lie on it or lean over it"""
    by_photo: dict[int, list[Specimen]] = defaultdict(list)
    for s in specimens:
        by_photo[s.photo].append(s)
    for photo, mine in by_photo.items():
        hulls = [
            piece_silhouette(plan, s, lean_at(shots[photo].pose, s.top[None])[0]) for s in mine
        ]
        for s in mine:
            piece = plan.pieces[s.kind]
            scale = s.look.shape[1] / piece.footprint[0]
            a = np.deg2rad(s.turn)
            back = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
            near = (np.hypot(*piece.footprint) / 2 + BESIDE_PIECE) * scale
            for o, hull in zip(mine, hulls):
                larger = np.prod(plan.pieces[o.kind].footprint) / np.prod(piece.footprint)
                if larger > LIKE_AREA or larger >= 1 and not lie_in_one_another(plan, s, o):
                    continue
                px = (hull - s.top) @ back * scale
                if np.hypot(*px.T).min() < near:
                    middle = np.array(s.look.shape[1::-1]) / 2 - 0.5
                    hidden = fill_mask(px + middle, s.look.shape[:2])
                    wide = 2 * int(np.ceil(BESIDE_PIECE * scale)) + 1
                    hidden = cv2.dilate(hidden, np.ones((wide, wide), np.uint8))
                    s.clear = np.minimum(s.clear, 1 - hidden)


def lie_in_one_another(plan: Plan, one: Specimen, other: Specimen) -> bool:
    """Whether two pieces of like size cover one another in part: nobody says which lies on top"""
    if one is other or one.base != other.base:
        return False
    narrow = min(min(plan.pieces[s.kind].footprint) for s in (one, other))
    return float(np.hypot(*(one.top - other.top))) < (1 - OVERLAPPING) * narrow


def turn_like(plan: Plan, one: Specimen, other: Specimen) -> tuple[int, np.ndarray]:
    """(by how many quarters a specimen has to be turned to look like another of its kind, as far as
    both are clear; its look so turned, and shifted to lie on the other's: neither is found to the
    pixel)"""
    piece = plan.pieces[one.kind]
    if piece.disc or one.look.shape != other.look.shape:
        return 0, one.look
    h, w = ((n + 1) // 2 for n in one.clear.shape)
    mine, clear, seen, aim = (
        cv2.resize(v, (w, h), interpolation=cv2.INTER_AREA)
        for v in (one.look, one.clear, other.look, other.clear)
    )
    reach = min(FOUND_OFF, (min(h, w) - 1) // 4)
    size = h - 2 * reach, w - 2 * reach
    seen, aim = (v[reach : h - reach, reach : w - reach] for v in (seen, aim))
    windows_of = np.lib.stride_tricks.sliding_window_view
    best, out = np.inf, (0, one.look)
    for q in range(4) if piece.footprint[0] == piece.footprint[1] else (0, 2):
        looks = windows_of(np.rot90(mine, q), size, (0, 1)).transpose(0, 1, 3, 4, 2)
        both = np.minimum(windows_of(np.rot90(clear, q), size), aim) + 1e-3
        unlike = (np.minimum(colour_difference(looks, seen), 1) * both).sum((2, 3)) / both.sum(
            (2, 3)
        )
        unlike -= 0.02 * (q == 0)
        if unlike.min() < best:
            off = 2 * (reach - np.array(np.unravel_index(unlike.argmin(), unlike.shape)))
            best, out = unlike.min(), (q, np.roll(np.rot90(one.look, q), off, (0, 1)))
    return out


def forms_laid_askew(plan: Plan, specimens: Sequence[Specimen]) -> set[tuple[float, float]]:
    """The footprints of pieces that people lay on piles any way, as they have room there"""
    askew: dict[tuple[float, float], list[bool]] = defaultdict(list)
    for s in specimens:
        site, piece = plan.sites[s.site], plan.pieces[s.kind]
        if site.reads == "pile" and not piece.disc:
            off = (s.turn - site.frame[1] + 45) % 90 - 45
            askew[piece.footprint].append(abs(off) > ASKEW)
    return {size for size, flags in askew.items() if np.mean(flags) > LAID_ASKEW}


def align_quarters(plan: Plan, specimens: Sequence[Specimen]) -> set[tuple]:
    """Turns the looks of each kind by quarters so that they look alike, in place: like those from
    clusters, where it is known how they lie; -> (how a site is read, footprint) of those that lie
    one way up throughout, as the plan says or the samplers show"""
    turned: dict[tuple, list[bool]] = defaultdict(list)
    directed = {(way, size) for way in ("pile", "cluster") for size in plan.directed_sizes}
    for kind in sorted({s.kind for s in specimens}):
        piece = plan.pieces[kind]
        mine = [s for s in specimens if s.kind == kind]
        mine.sort(key=lambda s: plan.sites[s.site].reads)  # clusters first
        if piece.disc or piece.footprint in plan.directed_sizes:
            continue
        for s in mine[1:]:
            if s.look.shape != mine[0].look.shape:
                continue
            q = turn_like(plan, s, mine[0])[0]
            turned[plan.sites[s.site].reads, piece.footprint].append(q != 0)
            s.look, s.clear, s.turn = (
                np.ascontiguousarray(np.rot90(s.look, q)),
                np.ascontiguousarray(np.rot90(s.clear, q)),
                s.turn + 90.0 * q,
            )
    seldom = {p for p, flags in turned.items() if len(flags) > 2 and np.mean(flags) <= 0.1}
    return seldom | directed
