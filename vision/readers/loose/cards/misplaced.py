"""Cards that lie where none belongs: over squares of a track, among loose pieces. Its value:
read_astray."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from vision.plan import Site
from vision.readers.loose.cards.card_level import Sheet
from vision.readers.loose.cards.card_reader import SURENESS, Firsts, fits
from vision.readers.loose.cards.hypotheses import DOUBTFUL, attempts, bareness, turn_round
from vision.readers.loose.pieces.search import polygons
from vision.readers.loose.scene.compositing import paint
from vision.readers.loose.scene.scene import FOLD, Scene, corners_of

FULL = 0.6  # share of a card's place that is not the board's, from which one may lie there
BETTER = 0.5  # of the board's own misfit, that a card's may be at most
ROOM = 0.8  # of a card that its own place has room for, however it is drawn
ROUND = 4  # turns and shifts a card is settled by, once it is known which


def read_astray(
    scene: Scene, firsts: Firsts, wanted: Mapping[str, Site]
) -> dict[str, dict[str, float]]:
    """site -> kind, or "" for none -> log-likelihood (any offset), of the sites too small or too
    large for a card on which the middle of one lies all the same; lays it on the scene's ground,
    sites beside it included"""
    out: dict[str, dict[str, float]] = {}
    for sheet in firsts.sheets:
        others = {s: site for s, site in wanted.items() if not holds(site, sheet)}
        at = full_places(
            scene,
            sheet,
            polygons(scene.frame, [o for site in others.values() for o in site.outlines]),
        )
        if len(at):
            out |= laid_astray(scene, firsts, sheet, at, others)
    return out


def full_places(scene: Scene, sheet: Sheet, allowed: np.ndarray) -> np.ndarray:
    """(N, 2) canvas mm, no two within a card of each other, around which a card's place is full of
    something; allowed: the mask of polygons() where their middles may lie"""
    k = scene.frame.scale / FOLD
    w, h = (max(round(s * k), 1) for s in sheet.size)
    full = cv2.blur(scene.strange, (w, h)) * (allowed > 0)
    places = []
    while full.size and full.max() > FULL:
        # a place all of which is strange has a plateau: its middle
        top = np.argwhere(full > full.max() - 0.02)
        first = top[np.abs(top - top[0]).max(1) <= min(w, h) / 4]
        y, x = first.mean(0)
        places.append((x, y))
        full[
            max(round(y - h / 2), 0) : round(y + h / 2) + 1,
            max(round(x - w / 2), 0) : round(x + w / 2) + 1,
        ] = 0
    return scene.frame.to_mm((np.array(places).reshape(-1, 2) + 0.5) * FOLD - 0.5)


def laid_astray(
    scene: Scene, firsts: Firsts, sheet: Sheet, at: np.ndarray, sites: Mapping[str, Site]
) -> dict[str, dict[str, float]]:
    """read_astray() for cards of one size, at (N, 2) canvas mm"""
    home, light = np.column_stack([at, np.zeros(len(at))]), scene.light_at(at)
    looks = firsts.rough(sheet)
    coarse, fine, seen = firsts.levels(sheet)
    tries = attempts(scene, looks, coarse, home, light)
    turn_round(scene, looks, coarse, home, tries, light)
    misfit, poses = tries.misfit, tries.poses
    n, best = np.arange(len(at)), misfit.argmin(1)
    bare = bareness(scene, coarse, poses[n, best], light)
    out: dict[str, dict[str, float]] = {}
    for i in np.flatnonzero(misfit[n, best] < np.minimum(DOUBTFUL, BETTER * bare)):
        row = light[i : i + 1]
        pose, gain = fine.settle(
            scene.seen, scene.frame, best[i : i + 1], poses[i, best[i]][None], ROUND, row, reach=2.5
        )
        each = fine.misfits_at(scene.seen, scene.frame, pose, row * gain)[0]
        foot = scene.lean.foot(pose[:, :2], sheet.height)[0]
        home_site = next((s for s, site in sites.items() if site_has(site, foot)), None)
        if home_site is None or home_site in out:
            continue
        area = sheet.size[0] * sheet.size[1]
        out[home_site] = {k: -SURENESS * area * float(m) for k, m in zip(sheet.kinds, each)} | {
            "": -SURENESS * area * float(bare[i])
        }
        kind = np.array([each.argmin()])
        lies, last = seen.settle(scene.seen, scene.frame, kind, pose, ROUND, row, reach=1.0)
        paint(
            scene, sheet, int(kind[0]), lies[0], row[0] * last[0] / scene.light_at(lies[:, :2])[0]
        )
    return out


def holds(site: Site, sheet: Sheet) -> bool:
    """Whether cards are to lie on a site: it is about as big, and of a pile none that sticks out of
    its outline"""
    w, h = sheet.size
    corners = corners_of((ROOM * w, ROOM * h), np.array([*site.centre, 0.0]))
    return fits(site, sheet) and (
        site.reads == "cluster" or all(site_has(site, c) for c in corners)
    )


def site_has(site: Site, mm: np.ndarray, reach: float = 0.0) -> bool:
    """Whether a point (2,) of the board lies in one of a site's outlines, or at most `reach` mm
    beside it"""
    at = tuple(map(float, mm))
    return any(
        cv2.pointPolygonTest(o.astype(np.float32).reshape(-1, 1, 2), at, True) >= -reach
        for o in site.outlines
    )
