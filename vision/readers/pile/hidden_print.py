"""Whether the empty board's print still shows on a site that seems empty: a thing in the board's
own colour hides it. Its central
value: Shown."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.geometry.site_groups import nearest_others

CORE = 0.25  # of a site's side, from its middle: what a thing laid there covers
WHOLE = 0.55  # ... a sheet of paper covers the lines around it too
SOFT = 1e-4  # of a print's strength, by which its fit is held back where there is none
# of what a print leaves unexplained that may by chance look like it: it hangs together over large
# parts
TOGETHER = 0.3
NEAR = 12  # empty sites around, by which it is told how well print is seen there
ENOUGH = 4  # of them at least
MANY = 0.15  # share of those that may show their print less than is usual
# of a print's strength: less is no print at all, however badly others around show theirs
NOTHING = 0.1
UNEVEN = 0.1  # of its strength by which any print's differs from that of others at least
CAUTION = float(np.log(100))  # log odds against a thing on a site
SURE = 0.999  # that a print is hidden, at most


class Shown(msgspec.Struct, frozen=True, eq=False):
    """How well print is seen on sites. centres: (n, 2) mm; strong: (n,) how strong it is, 1 as on
    the empty board, 0 not at all; unsure: (n,) by how much that may be off; lit: (n,) logarithm of
    how much brighter the site is"""

    centres: np.ndarray
    strong: np.ndarray
    unsure: np.ndarray
    lit: np.ndarray

    def of(self, rows: np.ndarray) -> Shown:
        """These rows of it"""
        return Shown(self.centres[rows], self.strong[rows], self.unsure[rows], self.lit[rows])

    def joined(self, other: Shown) -> Shown:
        """Both"""
        return Shown(
            *(
                np.concatenate(two)
                for two in zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other))
            )
        )

    def faint(self) -> np.ndarray:
        """Rows of which the print would be hidden if it were seen on the others as on the empty
        board"""
        return np.flatnonzero(odds(self.strong, 1.0, UNEVEN, self.unsure) > CAUTION)

    def hidden(self, bare: Shown) -> np.ndarray:
        """(n,) probability that something hides the print, by sites `bare` that seem empty, these
        among them. What is darker or
        brighter shows its print less: in deep shadow, under gloss"""
        out = np.zeros(len(self.strong))
        for i in self.faint():
            out[i] = self.without(i, bare)
        return out

    def none(self) -> np.ndarray:
        """Rows of which nothing at all is left of the print"""
        return np.flatnonzero(np.abs(self.strong) + self.unsure < NOTHING)

    def under_sheet(self, bare: Shown) -> np.ndarray:
        """The same of whole sites, where none at all is left of it: by the nearest that show any,
        for a sheet of paper hides it on those around too, and gloss goes over into what shows it"""
        out = np.zeros(len(self.strong))
        some = bare.of(np.flatnonzero(bare.strong - bare.unsure > NOTHING))
        for i in self.none():
            out[i] = self.without(i, some)
        return out

    def without(self, i: int, bare: Shown) -> float:
        """Probability that row i does not show its print as the nearest of these others show
        theirs"""
        near = nearest_others(bare.centres, self.centres[i], NEAR)
        if len(near) < ENOUGH:
            return 0.0
        usual = min(float(np.median(bare.strong[near])), 1.0)
        uneven = max(usual - float(np.quantile(bare.strong[near], MANY)), UNEVEN)
        usual *= float(np.exp(-abs(self.lit[i] - np.median(bare.lit[near]))))
        return float(
            np.clip(
                1 - np.exp(CAUTION - odds(self.strong[i], usual, uneven, self.unsure[i])), 0, SURE
            )
        )


def odds(
    strong: np.ndarray | float, usual: float, uneven: float, unsure: np.ndarray | float
) -> np.ndarray:
    """Log odds that a print is not there, rather than there as usual and that unevenly"""
    return usual * (usual - 2 * np.asarray(strong)) / (2 * (uneven**2 + np.square(unsure)))


class Printing(msgspec.Struct, frozen=True, eq=False):
    """The print in the middles of N sites, or on all of them. inside: (p,) pixels of a window
    there; level: (p, 3) light that changes evenly; own: (N, p) its brightness; ways: (N, p, 3) of
    that the print, and by what it changes where it lies a little beside;
    back: (N, 3, 3) their products' inverse; clear: (N,) how much the print stands out"""

    inside: np.ndarray
    level: np.ndarray
    own: np.ndarray
    ways: np.ndarray
    back: np.ndarray
    clear: np.ndarray

    @classmethod
    def of(cls, empty: np.ndarray, half: float, side: float, share: float = CORE) -> Printing:
        """empty: (N, S, S, 3) opponent windows of the empty sites, `half` mm from their middles to
        their rims; side: mm of a site;
        share: of that, from its middle"""
        n, size = empty.shape[:2]
        along = (np.arange(size) + 0.5 - size / 2) * (2 * half / size)
        near = np.abs(along) <= share * side
        inside = np.flatnonzero(near[:, None] & near)
        y, x = (v.ravel()[inside] / half for v in np.meshgrid(along, along, indexing="ij"))
        level = np.linalg.qr(np.stack([np.ones(len(inside)), x, y], 1))[0].astype(np.float32)
        bright = empty[..., 0]
        ways = np.stack(
            [v.reshape(n, -1)[:, inside] for v in (bright, *np.gradient(bright, axis=(1, 2)))], 2
        )
        own = ways[..., 0].copy()
        ways = ways - np.einsum("pk,nkc->npc", level, np.einsum("pk,npc->nkc", level, ways))
        products = np.einsum("npc,npd->ncd", ways, ways)
        held = SOFT * np.trace(products, axis1=1, axis2=2)[:, None, None] + 1e-9
        return cls(
            inside,
            level,
            own,
            ways.astype(np.float32),
            np.linalg.inv(products + held * np.eye(3)).astype(np.float32),
            ways[..., 0].std(1) + 1e-6,
        )

    def shown(
        self, seen: np.ndarray, rows: np.ndarray, which: np.ndarray, centres: np.ndarray
    ) -> Shown:
        """How well the print of sites `which` (n,) is seen in their windows, rows (n,) of seen (m,
        S, S, 3); centres: (n, 2) mm"""
        bright = (
            seen.reshape(-1, seen[:1].size)[rows[:, None], 3 * self.inside]
            if len(rows)
            else np.zeros((0, len(self.inside)))
        )
        lit = (bright - self.own[which]).mean(1)
        bright = bright - bright @ self.level @ self.level.T
        ways = self.ways[which]
        share = np.einsum("ncd,nd->nc", self.back[which], np.einsum("npc,np->nc", ways, bright))
        left = bright - np.einsum("npc,nc->np", ways, share)
        return Shown(centres, share[:, 0], TOGETHER * left.std(1) / self.clear[which], lit)
