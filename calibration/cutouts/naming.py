"""Tells which of the pieces found in samplers is which: the layouts say what lies on a site, not
where. Its values: `name_pieces`, `settle_ties`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

# of the usual difference between two pieces, how much relatives say of one that others of its kind
# tell of as well; how much better a kind fits that sites without it do not show
BY_RELATIVES, BY_ABSENCE = 0.2, 0.3
# what it costs, of the usual difference, to be a kind of which only heaps that hold one, only
# relatives, or nothing tells how it looks
BY_HOLDERS, BY_KIN, BY_NOTHING = 0.1, 0.5, 2.0
KIN_TELLING = 3  # relatives that tell at most, those most like it
# what it costs, of the usual difference, to be printed otherwise than a kind's relatives are: without it two
# pairs of one made-up Nile were exchanged, with 0.5 two of another
BY_PRINT = 0.2
SHARED_PRINT = 0.25  # of a kind's own kinship, that of one printed like it in all parts
BY_FIT = 1.0  # how well it fits beside how it looks, in usual differences
ROUNDS_NAMED = 4


Artwork = Mapping[str, tuple[str, ...]]  # kind -> what is printed on it, as of `Plan.artwork`


def telling_artwork(artwork: Artwork, kinds: Iterable[str]) -> Artwork:
    """Of each of these kinds the parts of its print in which those with as many parts differ at all"""
    shown = {k: artwork[k] for k in kinds if artwork.get(k)}
    return {
        k: tuple(
            w
            for n, w in enumerate(own)
            if len({o[n] for o in shown.values() if len(o) == len(own)}) > 1
        )
        for k, own in shown.items()
    }


def measure_kinship(artwork: Artwork, one: str, other: str) -> float:
    """1 for the same kind, less for kinds that share a part of their print, 0 for strangers"""
    if one == other:
        return 1.0
    x, y = artwork.get(one, ()), artwork.get(other, ())
    if not x or len(x) != len(y):
        return 0.0
    return SHARED_PRINT * sum(p == q for p, q in zip(x, y)) / len(x)


def differing_parts(artwork: Artwork, one: str, other: str) -> set[int] | None:
    """The parts in which two kinds are printed otherwise; None where their prints have not as many, or
    nobody says what they are"""
    x, y = artwork.get(one, ()), artwork.get(other, ())
    if not x or len(x) != len(y):
        return None
    return {n for n, (p, q) in enumerate(zip(x, y)) if p != q}


def shares_part(artwork: Artwork, kind: str, other: str, slot: int) -> bool:
    """Whether another kind is printed alike in one part"""
    x, y = artwork.get(kind, ()), artwork.get(other, ())
    return other != kind and len(x) == len(y) > slot and x[slot] == y[slot]


class Naming:
    """What is known while pieces of one form are given their names.

    heaps: (n,) which site of which photo each lies on; contents: heap -> the kinds of this form that
    lie there; unlike: (n, n) how differently two look, in any turn; printed: (n, n) 0..1 how differently
    they are printed, whatever their colours"""

    def __init__(
        self,
        heaps: Sequence[int],
        contents: Mapping[int, Counter[str]],
        unlike: np.ndarray,
        artwork: Artwork,
        printed: np.ndarray | None = None,
    ) -> None:
        self.heaps, self.contents, self.unlike = heaps, contents, unlike
        self.printed = np.zeros_like(unlike) if printed is None else printed
        self.artwork = artwork
        self.kinds: list[str | None] = [None] * len(heaps)
        self.members: dict[int, list[int]] = {}
        for i, h in enumerate(heaps):
            self.members.setdefault(h, []).append(i)
        apart = unlike[unlike > 0]
        self.usual = float(np.median(apart)) if apart.size else 1.0

    def cost_of(self, i: int, kind: str) -> float:
        """How badly the i-th fits a kind, by how it looks and by how it is printed"""
        print_apart = self.apart_from_relatives(self.printed, i, kind, 0.0)
        return self.unlike_kind(i, kind) + BY_PRINT * self.usual * print_apart

    def unlike_kind(self, i: int, kind: str) -> float:
        """How differently the i-th looks from those known to be a kind, else from what the heaps that
        hold one hold, else from its relatives"""
        own, unlike = self.heaps[i], self.unlike[i]
        same = sorted(
            unlike[j]
            for j, k in enumerate(self.kinds)
            if k == kind and j != i and self.heaps[j] != own
        )
        if same:
            return float(np.mean(same[: max(1, len(same) // 2)]))
        nearest = {h: min(unlike[j] for j in m) for h, m in self.members.items() if h != own}
        holders = [d for h, d in nearest.items() if self.contents[h][kind]]
        if holders:
            strangers = [d for h, d in nearest.items() if not self.contents[h][kind]]
            bonus = BY_ABSENCE * float(np.median(strangers)) if strangers else 0.0
            by_kin = BY_RELATIVES * self.apart_from_relatives(self.unlike, i, kind, self.usual)
            return float(np.mean(holders)) - bonus + BY_HOLDERS * self.usual + by_kin
        kin = [
            (measure_kinship(self.artwork, kind, k), unlike[j])
            for j, k in enumerate(self.kinds)
            if k and k != kind and j != i
        ]
        nearest_kin = max((r for r, _ in kin), default=0.0)
        if nearest_kin > 0:
            told = sorted(d for r, d in kin if r == nearest_kin)[:KIN_TELLING]
            return BY_KIN * self.usual + float(np.mean(told))
        return BY_NOTHING * self.usual

    def apart_from_relatives(self, apart: np.ndarray, i: int, kind: str, unknown: float) -> float:
        """How far the i-th is, by (n, n), from those elsewhere that share a part of the kind's print: as
        from those of the part that it is nearest; unknown: where there are none. Of two kinds that lie
        together wherever they lie nothing else tells which is which"""
        away = []
        for slot in range(len(self.artwork.get(kind, ()))):
            kin = [
                apart[i, j]
                for j, k in enumerate(self.kinds)
                if k and self.heaps[j] != self.heaps[i] and shares_part(self.artwork, kind, k, slot)
            ]
            if kin:
                away.append(float(np.median(kin)))
        return min(away, default=unknown)


def name_pieces(
    heaps: Sequence[int],
    contents: Mapping[int, Counter[str]],
    unlike: np.ndarray,
    artwork: Artwork,
    fits: Mapping[tuple[int, str], float] | None = None,
    printed: np.ndarray | None = None,
) -> list[str]:
    """(n,) the kinds of found pieces of one form, so that each heap gets what lies there and pieces
    of a kind look alike. fits: (piece, kind) -> what else speaks for it. Else as of `Naming`"""
    from scipy.optimize import linear_sum_assignment  # comes with what learning needs

    naming = Naming(heaps, contents, unlike, artwork, printed)
    for h, members in naming.members.items():
        if len(contents[h]) == 1:
            for i in members:
                naming.kinds[i] = next(iter(contents[h]))
    for _ in range(ROUNDS_NAMED):
        before = list(naming.kinds)
        for h in sorted(naming.members, key=lambda h: len(contents[h])):
            if len(contents[h]) > 1:
                slots = [k for k, count in contents[h].items() for _ in range(count)]
                members = naming.members[h]
                cost = np.array([[naming.cost_of(i, k) for k in slots] for i in members])
                cost = cost / naming.usual - BY_FIT * np.array(
                    [[(fits or {}).get((i, k), 0.0) for k in slots] for i in members]
                )
                for row, column in zip(*linear_sum_assignment(cost)):
                    naming.kinds[members[row]] = slots[column]
        if naming.kinds == before:
            break
    return [k or "" for k in naming.kinds]


def tied_kinds(contents: Mapping[int, Counter[str]]) -> list[list[str]]:
    """Kinds of which as many lie together wherever any lies: layouts do not tell which of them is
    which"""
    alike: dict[tuple[int, ...], list[str]] = {}
    for kind in sorted({k for c in contents.values() for k in c}):
        alike.setdefault(tuple(contents[h][kind] for h in sorted(contents)), []).append(kind)
    return [kinds for kinds in alike.values() if len(kinds) > 1]


def settle_ties(
    names: Sequence[str], tied: Sequence[str], unlike: np.ndarray, artwork: Artwork
) -> list[str]:
    """The names with tied kinds told by what they differ in: each takes the pieces of that one of
    them which looks most like its nearest relatives by parts that the others do not share. unlike:
    (n, n) how differently one looks from another and is printed"""
    from scipy.optimize import linear_sum_assignment

    mine = {k: [i for i, name in enumerate(names) if name == k] for k in tied}
    cost = np.zeros((len(tied), len(tied)))
    for column, kind in enumerate(tied):
        own = [
            slot
            for slot in range(len(artwork.get(kind, ())))
            if not any(shares_part(artwork, kind, k, slot) for k in tied)
        ]
        shared = {
            k: sum(shares_part(artwork, kind, k, slot) for slot in own)
            for k in set(names) - set(tied)
        }
        most = max(shared.values(), default=0)
        if not most:
            return list(names)
        kin = [j for j, name in enumerate(names) if shared.get(name) == most]
        cost[:, column] = [np.median(unlike[np.ix_(mine[k], kin)]) for k in tied]
    out = list(names)
    for row, column in zip(*linear_sum_assignment(cost)):
        for i in mine[tied[row]]:
            out[i] = tied[column]
    return out
