"""Decides the orientation and position of a board that looks the same when turned, or a square
further, from everything that is read on it. Central value: Placement."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import msgspec

from vision.evidence.site_evidence import SiteEvidence
from vision.geometry.pose import Pose
from vision.plan import Plan
from vision.registration.placement_prior import PlacementPrior
from vision.registration.registrar import corner_shift

CERTAIN = math.log(200)  # log odds at which one placement is accepted
# log-probability of something foreign on a site: marks are sometimes misread as that
STRANGE = math.log(0.08)
# log odds for the placement of the calibration photos, or of the previous picture
USUAL_PLACE = 2.0
# mean log-probability lost per site above which the placement is doubted: correct ones lose 0.01,
# wrong ones at least 0.06
POOR = 0.05
# the same if squares of the whole table are considered: correct ones lose 0.09 (one of twelve
# 0.14), wrong ones 0.16 or more
POOR_EVERYWHERE = 0.15
NEIGHBOUR_ROUNDS = 4  # rounds in which placements around the best one are tried
SAME_PX = 12.0  # poses with corners closer than this are the same


class Placement(msgspec.Struct, frozen=True, eq=False):
    """A pose and its log-probability, given what is read there"""

    pose: Pose
    likely: float


def weigh_reading(plan: Plan, found: Mapping[str, SiteEvidence], usual: PlacementPrior) -> float:
    """Log-probability of everything read: of pieces, of empty sites, and of the usual places of
    kinds; something foreign on a site is unlikely, whatever piece it resembles"""
    return sum(site_likelihoods(found)) + usual.log_prior(plan, found)


def site_likelihoods(found: Mapping[str, SiteEvidence]) -> list[float]:
    """Log-probability of the reading of each site that has one"""
    return [STRANGE if e.foreign else e.options[0][1] for e in found.values() if e.options]


def is_implausible(
    plan: Plan, found: Mapping[str, SiteEvidence], usual: PlacementPrior, poor: float
) -> bool:
    """Whether so little is read clearly that the placement may be wrong. usual: the usual places of
    kinds, used as well because a network may read just as clearly at a wrong placement; poor: see
    `is_poor`"""
    read = site_likelihoods(found)
    if len(read) < len(plan.site):
        return False
    return is_poor(plan, sum(read) + usual.log_prior(plan, found), poor)


def is_poor(plan: Plan, likely: float, poor: float) -> bool:
    """Whether the log-probability of all sites together is too low for a correct placement. poor:
    the most that a site loses at a correct one, POOR or POOR_EVERYWHERE"""
    return likely < -poor * len(plan.site)


def choose_placement(
    plan: Plan,
    ways: Sequence[Pose],
    weigh: Callable[[Pose], float],
    neighbours: Callable[[Pose, bool], Sequence[Pose]],
    poor: float,
) -> Placement:
    """The pose at which most is read clearly; `maybe_turned`, with the others in `as_well`, if
    another comes close, or if little is read clearly at any of them.

    ways: the candidate poses, the usual one first; neighbours: (pose, whether shifted by a square
    rather than turned) -> poses around it, tried whenever the best one changes; poor: see
    `is_poor`"""
    tried: list[Placement] = []

    def consider(poses: Sequence[Pose], bonus: float = 0.0) -> None:
        for pose in poses:
            if all(corner_shift(plan, pose, t.pose) > SAME_PX for t in tried):
                tried.append(Placement(pose, weigh(pose) + bonus))

    consider(ways[:1], USUAL_PLACE)
    consider(ways[1:])
    asked: set[tuple[int, bool]] = set()  # (index in `tried`, whether shifted)
    for _ in range(NEIGHBOUR_ROUNDS):
        best = max(range(len(tried)), key=lambda n: tried[n].likely)
        fresh = [aside for aside in (False, True) if (best, aside) not in asked]
        if not fresh:
            break
        for aside in fresh:
            asked.add((best, aside))
            consider(neighbours(tried[best].pose, aside))
    ranked = sorted(tried, key=lambda t: -t.likely)
    near = [t.pose for t in ranked if ranked[0].likely - t.likely < CERTAIN]
    plain = len(near) == 1 and not is_poor(plan, ranked[0].likely, poor)
    as_well = () if plain else tuple(near)
    pose = msgspec.structs.replace(near[0], maybe_turned=not plain, as_well=as_well)
    return Placement(pose, ranked[0].likely)
