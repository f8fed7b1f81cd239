"""Where each kind usually lies, learnt from photos of positions: for example, men stay on their own
side. Central value: PlacementPrior."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents, SiteEvidence
from vision.geometry.symmetry import symmetric_turns
from vision.plan import Plan

# candidate distances within which pieces tend to be of the same kind, as shares of the board's
# length
KIN_REACHES = 0.1, 0.2, 0.4
# candidate weights of the overall kind frequencies, in numbers of nearby pieces
ANYWHERE = 2.0 ** np.arange(-2, 8)


class PlacementPrior(msgspec.Struct, frozen=True, eq=False):
    """likely: kind -> (S,) log factor by which a piece on each of the plan's sites is likelier of
    this kind than a piece on an average site; empty if this does not reveal the board's placement
    in the photos themselves (by cross-validation)"""

    likely: dict[str, np.ndarray]

    @classmethod
    def of(cls, plan: Plan, layouts: Iterable[Mapping[str, Contents]]) -> PlacementPrior:
        """From the layouts of photos; the same piece on the same site in several of them counts
        once"""
        number = {s.id: n for n, s in enumerate(plan.site)}
        spots = sorted(
            {
                (kind, number[site])
                for layout in layouts
                for site, contents in layout.items()
                for kind in contents
                if kind in plan.pieces
            }
        )
        if not spots:
            return cls({})
        kinds = sorted({kind for kind, _ in spots})
        alike = np.array([[kind == k for kind, _ in spots] for k in kinds], float)  # (K, P)
        own = alike.argmax(0)
        centres, middle = np.array([s.centre for s in plan.site]), np.array(plan.size) / 2
        mm = centres[[n for _, n in spots]]
        quarter = np.array([[0.0, -1], [1, 0]])
        turned = [
            (mm - middle) @ np.linalg.matrix_power(quarter, n).T + middle
            for n in symmetric_turns(plan)
        ]
        best, most = cls({}), 0.0
        for reach in KIN_REACHES:
            wide = reach * max(plan.size)
            influences = [influence_of(mm, places, wide) for places in (mm, *turned)]
            for said in influences:
                np.fill_diagonal(said, 0)  # what a piece says of itself does not count
            for anywhere in ANYWHERE:
                here, *there = (
                    np.log(kind_chances(alike, said, anywhere)[own, range(len(own))])
                    for said in influences
                )
                gain = -sum(
                    float(np.logaddexp(0, t - here).sum() - len(own) * np.log(2)) for t in there
                )
                if gain > most:
                    chances = kind_chances(alike, influence_of(mm, centres, wide), anywhere)
                    best, most = cls(dict(zip(kinds, np.log(chances)))), gain
        return best

    def log_prior(self, plan: Plan, found: Mapping[str, SiteEvidence]) -> float:
        """The log factor by which pieces of these kinds are likelier where they are found than on
        an average one of these sites"""
        number = {s.id: n for n, s in enumerate(plan.site)}
        return float(
            sum(
                self.likely[k][number[s]]
                for s, e in found.items()
                if not e.foreign
                for k in e.best
                if k in self.likely
            )
        )


def influence_of(mm: np.ndarray, places: np.ndarray, wide: float) -> np.ndarray:
    """(P, n) the influence of pieces at (P, 2) mm on what lies at places (n, 2) mm, up to about
    `wide` mm away"""
    return np.exp(-0.5 * np.square(np.linalg.norm(mm[:, None] - places, axis=2) / wide))


def kind_chances(alike: np.ndarray, said: np.ndarray, anywhere: float) -> np.ndarray:
    """(K, n) how much likelier each kind is at n places, given the pieces' influence (P, n) there.
    alike: (K, P) 1 where a piece is of a kind; anywhere: the weight of the kinds' frequencies"""
    share = alike.mean(1, keepdims=True)
    return (alike @ said / share + anywhere) / (said.sum(0) + anywhere)
