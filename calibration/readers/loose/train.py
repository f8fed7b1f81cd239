"""Learns to read loose pieces and cards from a copy's calibration photos. Its value:
`fit_matcher`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from calibration.empty_board.reconstruct import with_empty_board
from calibration.readers.loose.centre_samples import middled, outlined, rimmed
from calibration.readers.loose.learn_looks import (
    THERE,
    brightness,
    centred,
    evened,
    figures,
    first_places,
    groups_of,
    looked_again,
    looks_of,
    named,
)
from vision.evidence.site_evidence import contents_match
from vision.geometry.posed_photo import Lying, Shot
from vision.learned.groups import group_sites, tall_sites
from vision.photometry.camera_response import NEUTRAL_RESPONSE
from vision.photometry.canvas import Empty, Frame, site_trust, undo_falloff
from vision.photometry.denoise import denoise_image, estimate_noise
from vision.plan import Plan
from vision.reader import without_sites
from vision.readers.loose.cards.card_reader import (
    Firsts,
    Place,
    lay_all,
    learn_again,
    learn_firsts,
)
from vision.readers.loose.cards.tone_from_tiles import renditions_among
from vision.readers.loose.pieces.fit import Piece
from vision.readers.loose.pieces.fit_statistics import Habits
from vision.readers.loose.pieces.looks import form_of
from vision.readers.loose.pieces.occlusion_masks import shade
from vision.readers.loose.pieces.search import find
from vision.readers.loose.reader import ClusterReader, unprinted
from vision.readers.loose.residual_blobs import left_bare
from vision.readers.loose.scene.scene import Scene


def fit_matcher(plan: Plan, shots: Sequence[Shot]) -> ClusterReader | None:
    """From the calibration photos with their poses; None where no pieces lie loose"""
    flat = without_sites(plan, tall_sites(group_sites(plan, [s.layout for s in shots])))
    if all(s.reads == "pile" for s in flat.site):
        return None
    calm = [
        msgspec.structs.replace(
            s, image=denoise_image(s.image, estimate_noise(s.image, s.pose, plan.size), 0.0)
        )
        for s in shots
    ]
    return taught(flat, with_empty_board(plan, calm))


def taught(plan: Plan, shots: Sequence[Shot]) -> ClusterReader:
    """A reader of a plan's clusters from calibration photos, some of the empty board. Raises
    ValueError where there is nothing to learn from."""
    if not shots:
        raise ValueError("no calibration photos")
    frame = Frame.of(plan, [s.pose for s in shots])
    canvases = [frame.flatten(s.image, frame.maps(s.pose)) for s in shots]
    bare = [c for s, c in zip(shots, canvases) if not s.layout]
    if not bare:
        bare = [np.median(canvases, 0).astype(np.uint8)]
    empty = Empty.of(frame, bare)
    empty = empty.below_white(
        [c for s, c in zip(shots, canvases) if s.layout], site_trust(frame, plan)
    )
    reader = learn(plan, empty, [s for s in shots if s.layout])
    if not reader.firsts.sheets:  # else pieces lie on cards, not on the board
        reader.lump = max(
            reader.lump, left_bare(plan, frame, [s for s in shots if not s.layout], bare)
        )
    photos = [n for n, s in enumerate(shots) if s.layout]
    reader.lying = [msgspec.structs.replace(p, photo=photos[p.photo]) for p in reader.lying]
    return reader


def learn(plan: Plan, empty: Empty, full: Sequence[Shot], rounds: int = 2) -> ClusterReader:
    """A first reader by outlines and layouts; then better ones, by what the one before found in the
    same samplers"""
    frame = empty.frame
    full, scenes, firsts, placed = with_cards(
        plan, ClusterReader(plan, empty, Firsts((), {}), {}), full
    )
    groups = groups_of(plan, full)
    loose = {k for g in groups if g.site.reads == "cluster" for k in g.kinds}
    forms = {form_of(plan.pieces[k]) for k in loose}
    aside = {k for g in groups for k in g.kinds if form_of(plan.pieces[k]) not in forms}
    found = first_places(plan, frame, groups, scenes)
    shots = [g.shot for g in groups]
    outlined(found, shots, scenes, frame)
    rimmed(found, shots, scenes, frame)
    named(found, groups, scenes, frame, plan)
    centred(found, groups, scenes, frame)
    for _ in range(2):
        evened(found, groups, scenes, frame)
    looks_of(found, groups, scenes, frame)
    middled(found, shots, scenes, frame)
    falloff = brightness(
        found, placed, looks_of(found, groups, scenes, frame, THERE), firsts, groups, scenes, frame
    )
    empty = undo_falloff(empty, falloff)
    reader = ClusterReader(plan, empty, Firsts((), {}), {})
    scenes = [reader.stage.scene(s.image, s.pose, learning=True) for s in full]
    if placed:
        firsts = learn_again(firsts, placed, scenes)
        lay_all(firsts, placed, scenes)
    tall, stands = figures(plan, groups, scenes, frame)
    reader = ClusterReader(
        plan, empty, firsts, looks_of(found, groups, scenes, frame, THERE), tall, aside, stands
    )
    for _ in range(rounds):
        pieces, hidden = zip(*(looked_over(reader, shot) for shot in full))
        if placed:
            firsts = learn_again(firsts, placed, scenes, hidden)
            lay_all(firsts, placed, scenes)
        found = looked_again(found, groups, pieces, reader.at_home)
        named(found, groups, scenes, frame, plan)
        evened(found, groups, scenes, frame)
        middled(found, shots, scenes, frame)
        reader = ClusterReader(
            plan, empty, firsts, looks_of(found, groups, scenes, frame, THERE), tall, aside, stands
        )
    reader.usual, (reader.lump, reader.patch) = usual_fits(reader, full)
    reader.lying = [
        lying_at(scenes[g.shot], g.shot, g.site.id, f.kind, f.form.height, f.at, f.turn)
        for f in found
        for g in [groups[f.group]]
    ]
    reader.lying += [
        lying_at(
            scenes[p.shot],
            p.shot,
            p.site,
            p.kind,
            plan.pieces[p.kind].height,
            p.pose[:2],
            p.pose[2],
        )
        for p in placed
    ]
    return reader


def with_cards(
    plan: Plan, reader: ClusterReader, full: Sequence[Shot]
) -> tuple[Sequence[Shot], list[Scene], Firsts, list[Place]]:
    """The samplers, brought to one tone and one vividness where there is no printed board, as a
    bare reader makes scenes of them, and their cards"""
    scenes = [reader.stage.scene(s.image, s.pose, learning=True) for s in full]
    firsts, placed = learn_firsts(plan, reader.frame, full, scenes)
    renditions = renditions_among(placed, scenes, firsts) if unprinted(plan, firsts) else []
    if all(r == NEUTRAL_RESPONSE for r in renditions):
        return full, scenes, firsts, placed
    full = [msgspec.structs.replace(s, image=r.undone(s.image)) for s, r in zip(full, renditions)]
    scenes = [reader.stage.scene(s.image, s.pose, learning=True) for s in full]
    return full, scenes, *learn_firsts(plan, reader.frame, full, scenes)


def lying_at(
    scene: Scene, photo: int, site: str, kind: str, height: float, at: np.ndarray, turn: float
) -> Lying:
    """at: (2,) canvas mm of its top"""
    return Lying(photo, site, kind, scene.lean.foot(at[None], height)[0], float(turn))


def looked_over(reader: ClusterReader, shot: Shot) -> tuple[list[Piece], np.ndarray]:
    """The pieces a reader finds in a sampler, of the kinds that lie there, and the (h, w) uint8
    mask of what they hide"""
    scene = reader.stage.scene(shot.image, shot.pose)
    reader.firsts.read(scene, reader.clusters)
    pieces = find(scene, reader.kits, np.ones_like(scene.strange, np.uint8))
    hidden = np.zeros(scene.seen.shape[:2], np.uint8)
    for p in pieces:
        home = reader.homes.home(p.foot)
        if p.chance > 0.5 and p.kind in shot.layout.get(home, ()):
            shade(scene, p, hidden)
    return [p for p in pieces if p.chance > 0.5], hidden


def usual_fits(reader: ClusterReader, full: Sequence[Shot]) -> tuple[Habits, tuple[float, float]]:
    """(how the samplers' pieces fit, mm of the largest lump and of the largest patch left on sites
    read right)"""
    right, left = [], [(0.0, 0.0)]
    for shot in full:
        told = reader.read(shot.image, shot.pose)
        left += [
            v
            for s, v in reader.lumps.items()
            if contents_match(told[s].best, tuple(shot.layout.get(s, ())), "cluster")
        ]
        right += [
            p for p in reader.last if p.kind in shot.layout.get(reader.homes.home(p.foot), ())
        ]
    return Habits.of(right), tuple(map(max, zip(*left)))
