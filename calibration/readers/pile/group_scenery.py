"""Learns to read a group of sites from the calibration photos: what lies where in them, and what
pictures to learn from are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from calibration.readers.pile.cut_out import log_windows, looked_at
from calibration.readers.pile.exemplars import exemplars
from calibration.readers.pile.piece_variation import grains
from calibration.readers.pile.synthesis import agreeing, as_patch, overlay
from calibration.readers.pile.train import BARE, STRANGE, Real, Scenery, Stack, teach
from vision.evidence.site_evidence import Contents
from vision.geometry.footprints import lean_at, pile_height
from vision.geometry.occlusion import buried_pieces, covered_by_blocks
from vision.geometry.posed_photo import Lying, Shot
from vision.geometry.site_groups import Grounds, SizeGroup, spare_reach
from vision.geometry.site_windows import Pyramid, Windows
from vision.photometry.colour_sampling import to_opponent
from vision.photometry.reference_light import fit_lights
from vision.photometry.room_light import RoomLight
from vision.plan import Plan
from vision.readers.pile.classifier import SMALL, Stage
from vision.readers.pile.exemplar import Exemplar, Patch
from vision.readers.pile.face_match import Faces
from vision.readers.pile.features import PIXELS, WIDER
from vision.readers.pile.fine_match import PRINT, Fine
from vision.readers.pile.group_reader import GroupReader
from vision.readers.pile.orientation import off_straight, plain, turned_kinds
from vision.readers.pile.reader import PileReader
from vision.readers.pile.stack_height import Heights, centred, stacks
from vision.readers.pile.top_piece import Top

PICTURES = 6000  # made to learn from, a group
STACKS = 3  # times as many where stacks are told by their height


# what [work(*args) for args in every] gives, in any way
Each = Callable[[Callable[..., Any], Iterable[tuple]], list[Any]]


def one_by_one(work: Callable[..., Any], every: Iterable[tuple]) -> list[Any]:
    return [work(*args) for args in every]


def look_of(contents: Contents, plan: Plan) -> Contents:
    """Contents with "?" for what lies wholly under a piece as large, and a kind that is another one
    turned as that one"""
    if plan.pieces[contents[-1]].spans:
        return plain(contents, plan)
    return tuple(
        "?" if under else kind
        for kind, under in zip(plain(contents, plan), buried_pieces(contents, plan))
    )


class Photos(msgspec.Struct, frozen=True, eq=False):
    """The calibration photos with what is derived of them once"""

    plan: Plan
    shots: list[Shot]
    room: list[RoomLight]
    pyramids: list[Pyramid]
    pieces: list[Exemplar]

    def logs(self, windows: Windows, n: int, plane: float) -> np.ndarray:
        """(N, S, S, 3): windows of photo n, `plane` mm above the board"""
        return log_windows(
            windows,
            self.pyramids[n],
            self.shots[n].pose,
            self.room[n],
            np.arange(len(windows.centres)),
            plane,
        )


def photographed(
    photos: Photos, group: SizeGroup, windows: Windows, pieces: list[Exemplar], owner: list[int]
) -> list[Real]:
    """Every site of the group in every photo, with what lies there as far as the group has it as a
    look"""
    known = {(e.photo, e.where): n for n, e in enumerate(pieces)}
    real = []
    for n, s in enumerate(photos.shots):
        logs = photos.logs(windows, n, group.plane)
        hidden = covered_by_blocks(photos.plan, s.layout)
        for i, site in enumerate(group.ids):
            if (n, site) in known:
                piece = known[n, site]
                real.append(Real(logs[i], i, owner[piece], piece, len(pieces[piece].contents)))
            elif not any(s.layout.get(m) for m in group.members[i]):
                real.append(Real(logs[i], i, BARE))
            elif group.block or site in hidden:
                real.append(Real(logs[i], i, STRANGE))
    return real


def scenery_of(
    photos: Photos,
    group: SizeGroup,
    windows: Windows,
    grounds: Grounds,
    looks: list[Contents],
    pieces: list[Exemplar],
    owner: list[int],
) -> Scenery:
    """What pictures to learn from are put together of: pieces alone, in heaps, their own kind
    beneath."""
    plan = photos.plan
    plain: dict[int, list[tuple[Patch, int]]] = {}
    piled: dict[int, list[tuple[Patch, int]]] = {}
    base: dict[int, int] = {}
    for n, e in enumerate(pieces):
        plain.setdefault(owner[n], []).append((as_patch(e, pile_height(e.contents, plan)), n))
    for k, look in enumerate(looks):
        if len(look) > 1 and look[-2] != "?" and look[:-1] in looks:
            base[k] = looks.index(look[:-1])
            top = plan.pieces[look[-1]]
            bases = [e for e, o in zip(pieces, owner) if o == base[k]]
            upper = [
                (overlay(e, bases, top.footprint, top.disc, top.height), n)
                for n, e in enumerate(pieces)
                if owner[n] == k
            ]
            piled[k] = agreeing([(p, n) for p, n in upper if p is not None])
    cells = np.array([s.centre for s in plan.site if s.reads == "pile"])
    near = []
    for centre in group.centres:
        off = cells - centre
        far = np.abs(off).max(1)
        near.append(off[(far < windows.half + 0.6 * group.side) & ((far > 1e-6) | group.block)])
    others = [as_patch(e, pile_height(e.contents, plan)) for e in photos.pieces]
    large = [p for p, e in zip(others, photos.pieces) if plan.pieces[e.contents[-1]].spans]
    around = [p for p, e in zip(others, photos.pieces) if not plan.pieces[e.contents[-1]].spans]
    misplaced = [
        p
        for p, e in zip(others, photos.pieces)
        if e.where in plan.sites
        and plan.sites[e.where].of is not None
        and look_of(e.contents, plan) not in looks
    ]
    return Scenery(
        group,
        photographed(photos, group, windows, pieces, owner),
        plain,
        piled,
        base,
        near,
        grounds,
        around,
        large,
        lean_at(photos.shots[0].pose, group.centres),
        windows.scale,
        group.plane,
        misplaced=misplaced,
    )


def unshown(photos: Photos, pieces: list[Exemplar]) -> bool:
    """Whether the plan has kinds of the form of any of these pieces that no photo shows, turned one
    way or another"""
    plan = photos.plan
    shown = {
        kind
        for s in photos.shots
        for contents in s.layout.values()
        for kind in plain(contents, plan)
    }
    forms = {(tuple(p.footprint), p.disc) for e in pieces for p in [plan.pieces[e.contents[-1]]]}
    return any(
        (tuple(p.footprint), p.disc) in forms and plain((kind,), plan)[0] not in shown
        for kind, p in plan.pieces.items()
    )


def pictures_for(looks: int, block: bool) -> int:
    """How many pictures to make: more where there is more to tell apart"""
    return int(PICTURES * np.clip(looks / 24, 0.25, 1.5) / (4 if block else 1))


def empty_sites(
    photos: Photos, group: SizeGroup, windows: Windows
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """((N, S, S, 3) opponent windows of the empty sites, (3,) variance of their noise, sites bare
    in no photo): from photos of the empty board, or each site from the photos in which it is bare;
    one that is in none from the board put together, else like most others"""
    views = np.array(
        [to_opponent(photos.logs(windows, n, group.plane)) for n in range(len(photos.shots))]
    )
    bare = np.array(
        [
            [not any(s.layout.get(m) for m in members) for members in group.members]
            for s in photos.shots
        ]
    )
    clear = [n for n, s in enumerate(photos.shots) if not s.layout and s.guessed is None]
    made = np.array([s.guessed is not None for s in photos.shots])
    if clear:
        bare = np.isin(np.arange(len(bare)), clear)[:, None] & np.ones_like(bare)
    shown = bare[~made].any(0)
    if not clear and made.any():
        bare[made] = ~shown
    seen = bare.sum(0)
    empty = (
        np.einsum("pn,pnijc->nijc", bare.astype(np.float32), views)
        / np.maximum(seen, 1)[:, None, None, None]
    )
    if not seen.all():
        empty[seen == 0] = np.median(empty[seen > 0], 0) if seen.any() else np.median(views, (0, 1))
    off = ((views - empty) ** 2).mean((2, 3))[bare]
    return (
        empty.astype(np.float32),
        off.mean(0) if len(off) else np.zeros(3),
        np.flatnonzero(~shown).tolist(),
    )


def fit_group(
    photos: Photos, group: SizeGroup, pieces: list[Exemplar], effort: float = 1.0
) -> GroupReader:
    """The reader of sites of one shape, from exemplars and the empty board. effort: share of the
    usual number of pictures."""
    plan = photos.plan
    group, fine = looked_at(group, plan, photos.shots)
    tiny = Windows(group.centres, fine.half, SMALL / group.side)
    empty, noise, guessed = empty_sites(photos, group, tiny)
    gy, gx = np.gradient(empty, axis=(1, 2))
    spread = np.sqrt(np.array([0.15, 0.06, 0.06]) ** 2 + noise + 0.1 * (gx**2 + gy**2)).astype(
        np.float32
    )
    high = stacks(
        {look_of(e.contents, plan) for e in pieces},
        lambda kind: (plan.pieces[kind].footprint, plan.pieces[kind].disc),
    )
    owners = {c: plain for plain, mine in high.items() for c in mine}
    kinds = [owners.get(look := look_of(e.contents, plan), look) for e in pieces]
    looks = sorted(set(kinds))
    rise = (
        np.array([np.mean([pile_height(c, plan) for c in high.get(k, [k])]) for k in looks])
        - group.plane
    )
    stacked = {
        looks.index(k): Stack([len(c) for c in mine], plan.pieces[k[-1]].height)
        for k, mine in high.items()
    }
    pieces = [centred(e) if e.disc and k in high else e for e, k in zip(pieces, kinds)]
    gap = spare_reach(plan, group, max(max(e.size) for e in pieces))
    stage = Stage.fit(
        looks,
        pieces,
        [looks.index(k) for k in kinds],
        off_straight(pieces, plan),
        rise,
        group,
        fine,
        Grounds.of(plan, group, fine.half),
        gap,
    )
    ordered = [pieces[i] for i in stage.order]
    scenery = scenery_of(photos, group, fine, stage.grounds, looks, ordered, stage.owner.tolist())
    faces = [
        Faces.fit([e for e, s in zip(ordered, stage.shape) if s == n])
        for n in range(len(stage.rings))
    ]
    by_print = Fine.fit(ordered, PIXELS, WIDER, PRINT)
    scenery = msgspec.structs.replace(
        scenery,
        gap=gap,
        stacked=stacked,
        faces=faces,
        by_print=by_print,
        grains=grains(by_print, ordered, stage.owner),
        unshown=unshown(photos, pieces),
    )
    stage.tops = [
        Top.fit(
            scenery.base[k], k, [p for p, _ in upper], scenery.plain[scenery.base[k]][0][0].radius
        )
        for k, upper in scenery.piled.items()
        if upper and scenery.plain.get(scenery.base[k])
    ]
    stage.heights = [
        Heights(
            looks.index(k),
            mine,
            np.array([pile_height(c, plan) for c in mine]),
            max(plan.pieces[k[-1]].footprint) / 2,
        )
        for k, mine in high.items()
    ]
    teach(
        stage,
        scenery,
        empty,
        spread,
        round(effort * pictures_for(len(looks), group.block) * (STACKS if stacked else 1)),
    )
    turned = [turned_kinds(k, plan) for k in looks]
    return GroupReader(
        group,
        tiny,
        fine,
        empty,
        spread,
        stage,
        [list(t) for t in turned],
        [list(t.values()) for t in turned],
        guessed,
    )


def fit_pile_reader(
    plan: Plan,
    shots: list[Shot],
    effort: float = 1.0,
    lying: Sequence[Lying] = (),
    each: Each = one_by_one,
) -> PileReader:
    """From calibration photos: at least one sampler, and one empty board or sites empty
    somewhere.

    effort: share of the usual number of pictures made to learn from; lying: pieces found on
    sites that are read otherwise;
    each: may fit groups side by side"""
    reference, room = fit_lights(plan, shots)
    found = exemplars(plan, shots, lying)
    photos = Photos(
        plan,
        shots,
        room,
        [Pyramid(s.image) for s in shots],
        [e for _, pieces in found for e in pieces],
    )
    fitted = each(fit_group, [(photos, group, pieces, effort) for group, pieces in found])
    cells, large = (
        [r for (group, _), r in zip(found, fitted) if group.block == block]
        for block in (False, True)
    )
    reader = PileReader(plan, reference, cells, large)
    reader.cut = [e for group, pieces in found if not group.block for e in pieces]
    return reader
