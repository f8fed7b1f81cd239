"""Finds the samplers' pieces and cuts them out: per group of sites, and borrowed from sites that
are read otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import cv2
import msgspec
import numpy as np

from calibration.readers.pile.cut_out import (
    best_place,
    difference,
    doubt_map,
    edge_strength,
    localise,
    log_windows,
    looked_at,
    own_part,
    rim_score,
    straighten,
    towards,
)
from vision.evidence.site_evidence import Contents
from vision.geometry.footprints import lean_at, pile_height, seen_size
from vision.geometry.occlusion import covered_by_blocks
from vision.geometry.posed_photo import Lying, Shot
from vision.geometry.site_groups import SizeGroup, block_places, group_by_size
from vision.geometry.site_windows import Pyramid, Windows
from vision.photometry.colour_sampling import WindowField, to_opponent
from vision.photometry.reference_light import fit_lights
from vision.photometry.room_light import RoomLight
from vision.plan import Plan
from vision.readers.pile.exemplar import ASKEW, Exemplar
from vision.readers.pile.fine_match import ANGLES, ONE, Rings, cut_field

FEW = 4  # pieces of a footprint, from which on it shows what they have in common
NEARBY = 0.3  # of its diameter by which a piece may lie beside where its outline seemed to
SEARCHED = 0.8  # mm between places at which a round piece is looked for all over its site
ASTRAY = 4.0  # doubt that a piece's middle lies there, beyond which it is not looked for
BETTER = 0.6  # of its misfit where its outline was, that it must have where it is found
# of a site's side that a piece may stick out of it and cost one; a disc less: its shadow is as
# round
GIVE = 0.3, 0.15
ROUNDS = 4  # in which pieces of one footprint agree on what they look like
ENOUGH = 2  # cut-outs of a kind, beyond which none are borrowed


class Found(msgspec.Struct, eq=False):
    """A piece in a photo on the way to becoming an exemplar. unlike, edges, doubt: (S, S); offset:
    mm; tilt: degrees;
    foot: mm from the top to the foot"""

    contents: Contents
    size: tuple[float, float]
    disc: bool
    where: str
    photo: int
    window: np.ndarray
    unlike: np.ndarray
    edges: np.ndarray
    doubt: np.ndarray
    offset: np.ndarray
    tilt: float
    foot: np.ndarray | None = None


def find(
    plan: Plan,
    group: SizeGroup,
    windows: Windows,
    shots: list[Shot],
    pyramids: list[Pyramid],
    room: list[RoomLight],
) -> list[Found]:
    """The pieces on a group's sites, each roughly where it lies"""
    everything = np.arange(len(group.ids))
    plane = group.plane
    bare = [
        log_windows(windows, pyramids[n], s.pose, room[n], everything, plane)
        for n, s in enumerate(shots)
        if not s.layout
    ]
    side, scale = windows.side, windows.scale
    out = []
    for n, s in enumerate(shots):
        hidden = covered_by_blocks(plan, s.layout) if not group.block else set()
        which = np.array(
            [
                i
                for i, site in enumerate(group.ids)
                if s.layout.get(site)
                and site not in hidden
                and plan.pieces[s.layout[site][-1]].spans == (group.spans if group.block else None)
            ],
            int,
        )
        if not len(which):
            continue
        leans = lean_at(s.pose, group.centres[which])
        for i, window, lean in zip(
            which, log_windows(windows, pyramids[n], s.pose, room[n], which, plane), leans
        ):
            contents = s.layout[group.ids[i]]
            size, disc = seen_size(contents[-1:] if group.block else contents, plan)
            top = lean * (pile_height(contents, plan) - plane)
            free = np.maximum(group.boxes[i] / 2 - np.array(size) / 2, 0.03 * group.side)
            doubt = doubt_map(side, scale, free, top, GIVE[disc] * group.side)
            theirs = towards(
                side, scale, top, elsewhere(plan, s.layout, group.members[i]) - group.centres[i]
            )
            own = np.where(
                theirs,
                own_part(
                    side, scale, group.boxes[i] / 2 + 0.03 * group.side, top, 0.08 * group.side
                ),
                1,
            )
            unlike, edges = compared(window, [b[i] for b in bare], own)
            foot = -lean * pile_height(contents, plan)
            offset, tilt = localise(unlike, edges, size, disc, scale, 0.4 * doubt, foot)
            out.append(
                Found(
                    contents,
                    size,
                    disc,
                    group.ids[i],
                    n,
                    window,
                    unlike,
                    edges,
                    doubt,
                    offset,
                    tilt,
                    foot,
                )
            )
    return out


def elsewhere(plan: Plan, layout: Mapping[str, Sequence[str]], mine: Sequence[str]) -> np.ndarray:
    """(n, 2) mm: the middles of other sites on which something lies, not of those that are parts of
    one another"""
    parts = {*mine, *(plan.sites[m].of for m in mine)}
    return np.array(
        [plan.sites[o].centre for o in layout if o not in parts and plan.sites[o].of not in mine]
    ).reshape(-1, 2)


def compared(
    window: np.ndarray, bare: Sequence[np.ndarray], own: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Two of (S, S): how unlike the empty board a window is, as the photos of it show that, and
    what edges it has more; where `own` says that they are the piece's"""
    empty = np.mean(bare, 0) if bare else np.zeros_like(window)
    return difference(window, empty) * own, np.maximum(
        edge_strength(window) - edge_strength(empty), 0
    ) * own


def agree(found: list[Found], scale: float) -> None:
    """Moves pieces of one footprint to where they look most like the middle one of their kind: what
    is unlike the board, and edges, have the same shape in all of them, whatever is printed on them.
    A disc's rim has to be clear besides, as its shadow is as round; beside a square's, grid lines
    and neighbours look the same."""
    size, disc = found[0].size, found[0].disc
    m = int(np.ceil(max(size) * 1.2 * scale)) | 1
    if len(found) < FEW or m >= len(found[0].unlike):
        return
    parts = [
        [
            v / (v.std() + 1e-6)
            for v in (cv2.GaussianBlur(w, (0, 0), 0.7) for w in (f.unlike, f.edges))
        ]
        for f in found
    ]
    rims = [
        rim_score(f.unlike, f.edges, size, disc, scale, f.foot) if disc else no_rim for f in found
    ]
    for _ in range(ROUNDS):
        views = [
            [np.ascontiguousarray(straighten(v, scale, f.offset, f.tilt, size, m)) for v in p]
            for f, p in zip(found, parts)
        ]
        middle = [np.median([v[k] for v in views], 0) for k in (0, 1)]
        if disc:
            middle = [np.mean([turn(v, a) for a in np.arange(0, 360, 15)], 0) for v in middle]
        middle = [
            (w * (v - v.mean()) / (v.std() * v.size)).astype(np.float32)
            for v, w in zip(middle, (0.5 if disc else 1, 1))
        ]
        for f, p, rim_at in zip(found, parts, rims):
            score = partial(likeness, p, middle, rim_at)
            f.offset, f.tilt, _ = best_place(
                score, [0.0] if disc else f.tilt + np.array([-2.0, 0, 2]), 0.5 * f.doubt, scale
            )


def match(found: list[Found], scale: float) -> None:
    """Moves round pieces of which there are too few to agree(): to where they look like the one of
    their kind whose rim is clearest"""
    reach = np.arange(-NEARBY, NEARBY + 0.01, 0.05)
    for contents in {f.contents for f in found if f.disc}:
        mine = [f for f in found if f.contents == contents]
        usual = 0.3 * max(float(np.percentile(f.edges, 90)) for f in mine) + 1e-6
        mine.sort(key=lambda f, usual=usual: -rim(f, scale, usual))
        clear = mine[0]
        picture = straighten(clear.window, scale, clear.offset, clear.tilt, clear.size)
        rings = Rings.fit(
            [
                Exemplar(
                    contents, clear.size, True, picture, scale, clear.where, clear.photo, lies="any"
                )
            ]
        )
        shifts = np.stack(np.meshgrid(reach, reach), -1).reshape(-1, 2) * max(clear.size)
        for f in mine[1:]:
            fit = rings.compare(
                WindowField(to_opponent(f.window)[None], scale),
                np.zeros(len(shifts), int),
                f.offset + shifts,
            )
            f.offset = f.offset + shifts[fit.min((1, 2)).argmin()]


def found_again(everything: Sequence[tuple[Windows, list[Found]]]) -> None:
    """Moves round pieces of which all sites together show too few to agree() to where, farther off
    than match() looks, they look like the one whose rim is clearest, if they do so far better there
    and their rim is clearer: a white stone on white ground may have been taken for its shadow"""
    kinds: dict[Contents, list[tuple[Found, Windows]]] = {}
    for windows, found in everything:
        for f in found:
            kinds.setdefault(f.contents, []).append((f, windows))
    for contents, mine in kinds.items():
        if not 1 < len(mine) < FEW or not mine[0][0].disc:
            continue
        mine.sort(key=lambda m: -rim(m[0], m[1].scale, usual_edge(m[0])))
        clear, windows = mine[0]
        picture = straighten(clear.window, windows.scale, clear.offset, clear.tilt, clear.size)
        rings = Rings.fit(
            [
                Exemplar(
                    contents,
                    clear.size,
                    True,
                    picture,
                    windows.scale,
                    clear.where,
                    clear.photo,
                    lies="any",
                )
            ]
        )
        for f, windows in mine[1:]:
            field = WindowField(to_opponent(f.window)[None], windows.scale)
            steps = np.arange(-1, 1.01, SEARCHED / windows.half) * windows.half
            places = np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2)
            x, y = (
                (places * windows.scale + windows.side / 2).astype(int).clip(0, windows.side - 1)
            ).T
            far = np.abs(places - f.offset).max(1) > NEARBY * max(f.size)
            places = np.vstack([f.offset[None], places[far & (f.doubt[y, x] < ASTRAY)]])
            fit = np.concatenate(
                [
                    rings.compare(field, np.zeros(len(p), int), p).min((1, 2))
                    for p in np.array_split(places, len(places) // 500 + 1)
                ]
            )
            usual = usual_edge(f)
            other = msgspec.structs.replace(f, offset=places[fit.argmin()])
            if fit.min() < BETTER * fit[0] and rim(other, windows.scale, usual) > rim(
                f, windows.scale, usual
            ):
                f.offset = other.offset


def usual_edge(f: Found) -> float:
    """How clear edges around a piece are"""
    return 0.3 * float(np.percentile(f.edges, 90)) + 1e-6


def rim(f: Found, scale: float, usual: float) -> float:
    """How clear edges are all along the rim of a disc where it is thought to lie; usual: how clear
    edges are elsewhere"""
    turn = np.arange(36) * np.pi / 18
    at = (
        (f.offset + f.size[0] / 2 * np.stack([np.cos(turn), np.sin(turn)], -1)) * scale
        + len(f.edges) / 2
        - 0.5
    )
    along = cv2.remap(
        f.edges.astype(np.float32), *at.T.astype(np.float32)[..., None], cv2.INTER_LINEAR
    )
    return float(np.log1p(along / usual).mean())


def no_rim(tilt: float) -> float:
    return 0.0


def likeness(
    views: Sequence[np.ndarray],
    models: Sequence[np.ndarray],
    rim_at: Callable[[float], np.ndarray | float],
    tilt: float,
) -> np.ndarray:
    """(S, S): the sum of each view's correlation with its model, turned by `tilt`, put there, and
    how clear a rim is there"""
    return rim_at(tilt) + sum(
        cv2.filter2D(v, cv2.CV_32F, turn(t, tilt), borderType=cv2.BORDER_REFLECT)
        for v, t in zip(views, models)
    )


def turn(picture: np.ndarray, angle: float) -> np.ndarray:
    """The picture turned about its middle, degrees clockwise as seen"""
    if not angle:
        return picture
    m = len(picture)
    return cv2.warpAffine(
        picture,
        cv2.getRotationMatrix2D((m / 2 - 0.5, m / 2 - 0.5), -angle, 1),
        (m, m),
        borderMode=cv2.BORDER_REPLICATE,
    )


def borrowed(
    plan: Plan,
    group: SizeGroup,
    found: Sequence[Found],
    windows: Windows,
    lying: Sequence[Lying],
    shots: list[Shot],
    pyramids: list[Pyramid],
    room: list[RoomLight],
) -> list[Found]:
    """Pieces on other sites, of a size that lies on this group's sites or from sites with a tag in
    common, of which the group
    itself shows less than enough: each as if it lay in the middle of a site of its own"""
    forms = {(f.size, f.disc) for f in found if len(f.contents) == 1}
    tags = {t for s in group.ids for t in plan.sites[s].tags}
    shown = Counter(plan.pieces[f.contents[-1]].looks_like for f in found)
    out = []
    for number, one in enumerate(lying):
        piece = plan.pieces[one.kind]
        size, disc = seen_size((one.kind,), plan)
        fits = (size, disc) in forms or tags & set(plan.sites[one.site].tags)
        if one.site in group.ids or not fits or shown[piece.looks_like] >= ENOUGH:
            continue
        half = 0.75 * max(size)
        own = Windows(one.foot[None], half, windows.scale)
        shot = shots[one.photo]
        window = log_windows(
            own, pyramids[one.photo], shot.pose, room[one.photo], np.arange(1), group.plane
        )[0]
        bare = [
            log_windows(own, pyramids[n], s.pose, room[n], np.arange(1), group.plane)[0]
            for n, s in enumerate(shots)
            if not s.layout
        ]
        top = lean_at(shot.pose, one.foot[None])[0] * (piece.height - group.plane)
        doubt = doubt_map(own.side, own.scale, np.zeros(2), top, 0.05 * max(size))
        # a neighbour may touch it
        near = own_part(own.side, own.scale, np.array(size) / 2, top, 0.1 * max(size))
        unlike, edges = compared(window, bare, near)
        out.append(
            Found(
                (one.kind,),
                size,
                disc,
                f"{one.site} {number}",
                one.photo,
                window,
                unlike,
                edges,
                doubt,
                top,
                0.0 if disc else float(np.degrees(one.turn)),
            )
        )
    return out


def exemplars(
    plan: Plan, shots: list[Shot], lying: Sequence[Lying] = ()
) -> list[tuple[SizeGroup, list[Exemplar]]]:
    """Every group of pile sites, and of blocks, with the samplers' pieces that it learns from, cut
    out; lying: pieces found on sites that are read otherwise"""
    _, room = fit_lights(plan, shots)
    pyramids = [Pyramid(s.image) for s in shots]
    spans = sorted({p.spans for p in plan.piece if p.spans})
    seen = []
    for group in group_by_size(plan) + [
        b for s in spans if (b := block_places(plan, s)) is not None
    ]:
        group, windows = looked_at(group, plan, shots)
        found = find(plan, group, windows, shots, pyramids, room)
        put_where_known(plan, group, found, windows, lying, shots)
        seen.append((group, windows, found))
    known = {(p.photo, p.site) for p in lying}
    found_again(
        [
            (windows, [f for f in found if (f.photo, f.where) not in known])
            for group, windows, found in seen
            if not group.block
        ]
    )
    lying = [
        *lying,
        *(
            p
            for group, _, found in seen
            if not group.block
            for p in alone(plan, group, found, shots)
            if (p.photo, p.site) not in known
        ),
    ]
    out = []
    for group, windows, found in seen:
        if not group.block:
            found = found + borrowed(plan, group, found, windows, lying, shots, pyramids, room)
        pieces = []
        for size, disc in sorted({(f.size, f.disc) for f in found}):
            mine = [f for f in found if (f.size, f.disc) == (size, disc)]
            agree(mine, windows.scale)
            if len(mine) < FEW:
                match(mine, windows.scale)
            crooked = np.mean([abs((f.tilt + 45) % 90 - 45) > ASKEW + 1 for f in mine]) > 0.15
            cut = [
                Exemplar(
                    f.contents,
                    size,
                    disc,
                    straighten(f.window, windows.scale, f.offset, f.tilt, size),
                    windows.scale,
                    f.where,
                    f.photo,
                    f.where not in group.ids,
                    "any" if disc or crooked else "quarters",
                )
                for f in mine
            ]
            pieces += (
                directed(cut)
                if any(plan.pieces[k].directed for f in mine for k in f.contents if k != "?")
                else upright(cut)
            )
        out.append((group, pieces))
    return [(group, pieces) for group, pieces in out if pieces]


def put_where_known(
    plan: Plan,
    group: SizeGroup,
    found: Sequence[Found],
    windows: Windows,
    lying: Sequence[Lying],
    shots: list[Shot],
) -> None:
    """Moves pieces to where they were found by how all of their kind look, not by their outline
    alone"""
    known = {(p.photo, p.site): p for p in lying}
    for f in (f for f in found if len(f.contents) == 1 and (f.photo, f.where) in known):
        one, (centre, top) = known[f.photo, f.where], place_of(f, plan, group, shots)
        f.offset = one.foot - centre + top
        f.doubt = doubt_map(windows.side, windows.scale, np.zeros(2), f.offset, 0.05 * max(f.size))
        if not f.disc:
            f.tilt = float((np.degrees(one.turn) + 45) % 90 - 45)


def place_of(
    f: Found, plan: Plan, group: SizeGroup, shots: list[Shot]
) -> tuple[np.ndarray, np.ndarray]:
    """Two of (2,) mm: the middle of the site a piece lies on, and where its top would appear from
    there"""
    centre = group.centres[group.ids.index(f.where)]
    return centre, lean_at(shots[f.photo].pose, centre[None])[0] * (
        pile_height(f.contents, plan) - group.plane
    )


def alone(plan: Plan, group: SizeGroup, found: Sequence[Found], shots: list[Shot]) -> list[Lying]:
    """Where pieces lie that have a group's site to themselves"""
    out = []
    for f in (f for f in found if len(f.contents) == 1 and f.contents[0] != "?"):
        centre, top = place_of(f, plan, group, shots)
        out.append(
            Lying(
                f.photo, f.where, f.contents[0], centre + f.offset - top, float(np.radians(f.tilt))
            )
        )
    return out


def directed(pieces: list[Exemplar]) -> list[Exemplar]:
    """The same, known to lie one way up"""
    return [msgspec.structs.replace(e, lies="upright") for e in pieces]


def upright(pieces: list[Exemplar]) -> list[Exemplar]:
    """The same, known to lie one way up if all pieces of a kind do, as letters laid by people who
    sit side by side"""
    if pieces[0].lies != "quarters" or pieces[0].size[0] != pieces[0].size[1]:
        return pieces
    same = turned = 0
    for contents in {e.contents for e in pieces}:
        mine = [e for e in pieces if e.contents == contents and not e.borrowed]
        if len(mine) < 2:
            continue
        for e in mine[1:]:
            misfit = Rings.fit(mine[:1]).compare(cut_field(e), ONE, np.zeros((1, 2)))[0, 0]
            quarters = [
                misfit[
                    np.abs((np.arange(ANGLES) * 360 / ANGLES - q + 180) % 360 - 180) <= ASKEW
                ].min()
                for q in (0, 90, 180, 270)
            ]
            same += quarters[0] < 0.7 * min(quarters[1:])
            turned += quarters[0] * 0.7 > min(quarters[1:])
    return directed(pieces) if same > 8 + 30 * turned else pieces
