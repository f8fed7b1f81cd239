"""Which way a board lies that looks like itself turned, or a square further: everything that is
read on it decides. Its central value: Placement."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import msgspec

from vision.evidence.site_evidence import SiteEvidence
from vision.geometry.pose import Pose
from vision.plan import Plan
from vision.registration.placement_prior import PlacementPrior
from vision.registration.registrar import corner_shift

CERTAIN = math.log(200)  # log odds from which one place stands out
# that something else lies on a site: marks are misread for that now and then
STRANGE = math.log(0.08)
# log odds that the board lies as it did in the calibration photos, or a look before
USUAL_PLACE = 2.0
# mean log-probability that a site loses from which on the place is doubted: right ones lose 0.01,
# wrong ones 0.06 at least
POOR = 0.05
# and where every square of the table is looked at too: right ones lose 0.09, one of twelve 0.14,
# wrong ones 0.16 or more
POOR_EVERYWHERE = 0.15
NEIGHBOUR_ROUNDS = 4  # times that places about the best one are looked at
SAME_PX = 12.0  # how far corners of poses may be apart that are one


class Placement(msgspec.Struct, frozen=True, eq=False):
    """A pose and how likely (log-probability) what is read there makes it"""

    pose: Pose
    likely: float


def weigh_reading(plan: Plan, found: Mapping[str, SiteEvidence], usual: PlacementPrior) -> float:
    """Log-probability of all that is read: of pieces, of empty sites, of where kinds are wont to
    lie; something strange on a site is unlikely, whatever piece it resembles"""
    return sum(site_likelihoods(found)) + usual.log_prior(plan, found)


def site_likelihoods(found: Mapping[str, SiteEvidence]) -> list[float]:
    """Log-probability of what is read on each site of which anything is known"""
    return [STRANGE if e.foreign else e.options[0][1] for e in found.values() if e.options]


def is_implausible(
    plan: Plan,
    found: Mapping[str, SiteEvidence],
    usual: PlacementPrior,
    poor: float = POOR,
) -> bool:
    """Whether so little is read plainly that the board may lie elsewhere. usual: where kinds are
    wont to lie, asked too as a network reads as plainly where the board does not lie; poor: as of
    `is_poor`"""
    read = site_likelihoods(found)
    if len(read) < len(plan.site):
        return False
    return is_poor(plan, sum(read) + usual.log_prior(plan, found), poor)


def is_poor(plan: Plan, likely: float, poor: float = POOR) -> bool:
    """Whether a log-probability of all sites together is less than where a board lies. poor: what a
    site loses there at most, POOR or another of its kind"""
    return likely < -poor * len(plan.site)


def choose_placement(
    plan: Plan,
    ways: Sequence[Pose],
    weigh: Callable[[Pose], float],
    neighbours: Callable[[Pose, bool], Sequence[Pose]],
    poor: float = POOR,
) -> Placement:
    """The pose at which most is read plainly; `maybe_turned`, with the others in `as_well`, as long
    as another comes near, or little is read plainly anywhere.

    ways: poses at which the board may lie, the usual one first; neighbours: (pose, whether a square
    further rather than turned) -> poses about it, which are tried where the best so far changes;
    poor: as of `is_poor`"""
    tried: list[Placement] = []

    def consider(poses: Sequence[Pose], bonus: float = 0.0) -> None:
        for pose in poses:
            if all(corner_shift(plan, pose, t.pose) > SAME_PX for t in tried):
                tried.append(Placement(pose, weigh(pose) + bonus))

    consider(ways[:1], USUAL_PLACE)
    consider(ways[1:])
    asked: set[tuple[int, bool]] = set()  # about which of `tried`, and whether a square further
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
    pose = msgspec.structs.replace(
        near[0], maybe_turned=not plain, as_well=() if plain else tuple(near)
    )
    return Placement(pose, ranked[0].likely)
