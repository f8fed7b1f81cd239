"""Cuts the pieces out of a copy's samplers: where each lies and how its kind looks. Its value:
`cut_specimens`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import cv2
import numpy as np

from calibration.cutouts.card_turns import turn_cards
from calibration.cutouts.locate import locate_loose
from calibration.cutouts.print_alignment import align_prints
from calibration.cutouts.seek import Room, Samplers, body_colours, outline_turns, score_places
from calibration.cutouts.specimens import (
    ASKEW,
    Specimen,
    agreed_look,
    fill_mask,
    footprint_polygon,
    piece_silhouette,
    place_patch,
    turn_like,
    turn_matrix,
)
from vision.geometry.posed_photo import Shot
from vision.learned.groups import (
    base_contents,
    block_middle,
    covered_sites,
    is_buried,
    stands_upright,
)
from vision.plan import LONG_SITE, Plan

TURN_STEP = 2.0  # degrees between turns that are tried for what is laid straight
# degrees and mm about where a card was found
FINE_TURNS, FINE_ROOM = np.arange(-2.0, 2.1, 0.5), 1.0
MOST_ALIKE = 8  # others of its kind that say what a piece with something on it looks like
BESIDE_PIECE = 1.5  # mm around a piece on another: its shadow's edge, and how far off it is found
# times that each piece is sought: by its outline, then by the colour that its form has, where its
# neighbours do not lie, which are better known each time
ROUNDS_SOUGHT = 4
SAME_LEVEL = 0.75  # of the larger's area that pieces have which do not lie on each other
# times its area that what hides a piece has at most; of the narrower's breadth by which pieces as large
# lie in one another, more than they are found off
LIKE_AREA, OVERLAPPING = 1.5, 0.15


def cut_specimens(samplers: Samplers) -> list[Specimen]:
    """Every piece of the samplers that lies and can be seen. Those whose sites are known are laid on the
    grounds, the empty board's until then."""
    plan = samplers.plan
    known = known_specimens(plan, samplers.shots)

    def find_below(s: Specimen) -> Specimen | None:
        mine = [o for o in known if (o.photo, o.site) == (s.photo, s.site)]
        return next((o for o in mine if o.base < s.base), None)

    for level in sort_levels(plan, known):
        sought = [
            (s, find_below(s), [o for o in level if o.photo == s.photo and o is not s])
            for s in level
        ]
        for again in range(ROUNDS_SOUGHT):
            colours = body_colours(plan, level) if again else {}
            for s, below, others in sought:
                colour = colours.get(s.kind)
                locate_specimen(samplers, s, below, colour, others if again else ())
        cards = [s for s in level if plan.sites[s.site].reads == "cluster"]
        for s, _, others in sought:
            if s in cards:
                refine_specimen(samplers, s, colours.get(s.kind), others)
        turn_cards(plan, cards)
        align_prints(samplers, cards)
        for s in level:
            others = [o for o in level if o.kind == s.kind and o is not s][:MOST_ALIKE]
            alike = [s.look, *(turn_like(plan, o, s)[1] for o in others)]
            lay_flat(samplers, s, agreed_look(alike))
    out = locate_loose(samplers) + known
    mark_covered(samplers, out)
    return out


def sort_levels(plan: Plan, specimens: Sequence[Specimen]) -> list[list[Specimen]]:
    """The larger first: what they are laid on, together as far as none of them lies on another"""

    def area_of(s: Specimen) -> float:
        return float(np.prod(plan.pieces[s.kind].footprint))

    levels: list[list[Specimen]] = []
    for s in sorted(specimens, key=lambda s: -area_of(s)):
        if levels and area_of(s) > SAME_LEVEL * area_of(levels[-1][0]):
            levels[-1].append(s)
        else:
            levels.append([s])
    return levels


def known_specimens(plan: Plan, shots: Sequence[Shot]) -> list[Specimen]:
    """The pieces of piles, and the cards of clusters, of which the site is known, and no more yet"""
    out, unseen = [], np.zeros(0)
    for n, shot in enumerate(shots):
        over = covered_sites(plan, shot.layout)
        for site, contents in shot.layout.items():
            if site in over:
                continue
            height = 0.0
            for k, kind in enumerate(base_contents(plan, plan.sites[site], contents)):
                if kind not in plan.pieces or stands_upright(plan.pieces[kind]):
                    continue
                if not is_buried(contents, k, plan):
                    out.append(
                        Specimen(
                            n, site, kind, plan.sites[site].centre, height, 0.0, unseen, unseen
                        )
                    )
                height += plan.pieces[kind].height
    return out


def locate_specimen(
    samplers: Samplers,
    s: Specimen,
    below: Specimen | None,
    colour: np.ndarray | None,
    beside: Sequence[Specimen],
) -> None:
    """Finds where the piece lies on its site. below: the piece it lies on; colour, beside: as of
    `score_places`"""
    plan = samplers.plan
    piece, site = plan.pieces[s.kind], plan.sites[s.site]
    (box, slant), centre = site.frame, site.centre.copy()
    if piece.spans:
        centre, box = block_middle(site, piece.spans), box * piece.spans
    lean = samplers.lean_at(s.photo, centre)
    if below is not None:
        under = plan.pieces[below.kind]
        centre, box = below.top - lean * s.base, np.array(under.footprint)
    free = np.maximum(box / 2 - np.array(piece.footprint) / 2, 1.0)
    if slant:
        free = np.full(2, free.max())
    fills = min(piece.footprint) > 0.5 * box.min()
    square = piece.footprint[0] == piece.footprint[1]
    tilts = outline_turns(piece.shape)
    if fills:
        if not piece.disc:
            tilts = np.arange(-ASKEW, ASKEW + 0.1, TURN_STEP)
        short = max(piece.footprint) < LONG_SITE * box.min()
        directed = piece.footprint in plan.directed_sizes
        if short and not (piece.disc or square or directed):  # it may lie crosswise
            tilts = np.concatenate([tilts, tilts + 90])
        tilts = slant + tilts
    room = Room(centre, box, free, lean, s.base)
    places = score_places(samplers, s.photo, piece, room, tilts, colour, beside)
    _, s.top, s.turn = places.best()
    samplers.cut_look(s)


def refine_specimen(
    samplers: Samplers, s: Specimen, colour: np.ndarray | None, beside: Sequence[Specimen]
) -> None:
    """Finds where a card lies more closely. As of `locate_specimen`"""
    piece, scale = samplers.plan.pieces[s.kind], samplers.view.scale
    room = Room.around(s.top, piece, samplers.lean_at(s.photo, s.top), FINE_ROOM)
    tilts = np.zeros(1) if piece.disc else s.turn + FINE_TURNS
    places = score_places(samplers, s.photo, piece, room, tilts, colour, beside, scale)
    _, s.top, s.turn = places.best()
    samplers.cut_look(s)


def lay_flat(samplers: Samplers, s: Specimen, look: np.ndarray) -> None:
    """Puts a look on the ground where the piece lies, so that what lies on it stands out"""
    piece, view, ground = samplers.plan.pieces[s.kind], samplers.view, samplers.grounds[s.photo]
    h, w = ground.shape[:2]
    outline = s.top + footprint_polygon(piece.footprint, piece.disc, s.turn)
    mask = fill_mask(view.to_px(outline), (h, w))[..., None]
    m = place_patch(view.to_px(s.top), s.turn, look.shape, 1.0)
    laid = cv2.warpAffine(look, m, (w, h), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    ground += mask * (laid - ground)


def mark_covered(samplers: Samplers, specimens: Sequence[Specimen]) -> None:
    """Tells each specimen what of it others hide that lie on it or lean over it"""
    plan = samplers.plan
    by_photo: dict[int, list[Specimen]] = defaultdict(list)
    for s in specimens:
        by_photo[s.photo].append(s)
    for photo, mine in by_photo.items():
        hulls = [piece_silhouette(plan, s, samplers.lean_at(photo, s.top)) for s in mine]
        for s in mine:
            piece = plan.pieces[s.kind]
            scale = s.look.shape[1] / piece.footprint[0]
            back = turn_matrix(s.turn)
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
