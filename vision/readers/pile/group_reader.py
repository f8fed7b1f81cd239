"""Sites of one shape that are read alike: what is seen of each, and what that says. Its central
value: GroupReader."""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from vision.evidence.site_evidence import FLOOR, Contents
from vision.geometry.footprints import lean_at
from vision.geometry.pose import Pose
from vision.geometry.site_groups import SizeGroup
from vision.geometry.site_windows import Pyramid, Windows
from vision.photometry.colour_sampling import PictureField, WindowField, window_colours
from vision.photometry.room_light import CLIPPED, RoomLight
from vision.readers.mlp import log_softmax
from vision.readers.pile.brightness import Bright, Evenly
from vision.readers.pile.classifier import SURE, Laid, Stage, edges
from vision.readers.pile.colour_patch import Ground
from vision.readers.pile.hidden_print import MANY, NOTHING, WHOLE, Printing, Shown
from vision.readers.pile.orientation import split

# sites looked at, and pieces looked at there, for how pieces fit where only few sites are read
AROUND, COMPARED = 40, 12
# log-probability that a site is empty, below which it does not matter whether its print shows
DOUBTFUL = np.log(0.01)
WORTH_SPLITTING = -9.0  # log-probability of a look above which its turn is looked at


class Sight(msgspec.Struct, frozen=True, eq=False):
    """A picture ready to be read: with where the board is and the light on it"""

    pyramid: Pyramid
    pose: Pose
    light: RoomLight

    def see(self, windows: Windows, which: np.ndarray, plane: float) -> np.ndarray:
        """(n, S, S, 3) opponent colours in the reference light"""
        return window_colours(windows, self.pyramid, self.pose, self.light, which, plane)


class Bared(msgspec.Struct, frozen=True, eq=False):
    """Whether sites are empty. there: (n, 2) log-probabilities that anything lies there, that
    nothing does; gone: (n,) how likely the board's print is hidden, which tells the former besides;
    sheet: (n,) ... by something much larger; bare: those around that seem empty; other: (n, TILES,
    TILES, 3) by how much their cells are off the empty sites'"""

    there: np.ndarray
    gone: np.ndarray
    sheet: np.ndarray
    bare: Shown
    other: np.ndarray

    def of(self, rows: np.ndarray) -> Bared:
        """Of these rows"""
        return Bared(
            self.there[rows], self.gone[rows], self.sheet[rows], self.bare, self.other[rows]
        )


class GroupReader(msgspec.Struct, eq=False, dict=True):
    """group with its two sizes of window; empty, spread: (N, S, S, 3) opponent small
    windows; stage: what tells looks; turned, degrees: per look what else it may be when it lies
    turned so; guessed: sites that no photo shows empty."""

    group: SizeGroup
    small: Windows
    fine: Windows
    empty: np.ndarray
    spread: np.ndarray
    stage: Stage
    turned: list[list[Contents]]
    degrees: list[list[float]]
    guessed: list[int] = []

    @cached_property
    def lines(self) -> np.ndarray:
        """(N, D) edges of the empty sites"""
        return edges(self.empty)

    @cached_property
    def coarse(self) -> tuple[np.ndarray, np.ndarray]:
        """empty, spread: as looks are slid over them"""
        return self.stage.shrunk(self.empty), self.stage.shrunk(self.spread)

    def seen(self, sight: Sight, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Small windows of these sites, (n, S, S, 3) opponent colours, and (n, D) how unlike the
        empty sites they are"""
        seen = sight.see(self.small, which, self.group.plane)
        return seen, self.stage.unlike(seen, self.empty, self.lines, which)

    def places(
        self, which: np.ndarray, seen: np.ndarray, lean: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(gain (n, looks), place (n, looks, 2) mm off the middle) of looks on these sites, see
        Coarse.search; lean: (n, 2)"""
        empty, spread = self.coarse
        return self.stage.places(seen, empty[which], spread[which], lean)

    def looked(
        self,
        sight: Sight,
        which: np.ndarray,
        unlike: np.ndarray,
        gain: np.ndarray,
        place: np.ndarray,
        lean: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, Laid]:
        """((n, looks + 2) log-probabilities of what these sites show: looks, something else, empty;
        what the stage was given, how each would lie). lean: (n, 2) mm a mm of height"""
        field = PictureField.of(
            sight.pyramid,
            sight.pose,
            sight.light,
            self.group.centres[which],
            self.group.plane,
            self.fine.scale,
        )
        inputs, lying = self.stage.hypotheses(
            field, np.arange(len(which)), gain, place, unlike, which, lean
        )
        return self.stage.told(inputs, lying), inputs, lying

    @property
    def shorter(self) -> float:
        """mm: the shorter side of a site"""
        return float(np.median(self.group.boxes, 0).min())

    @cached_property
    def printing(self) -> Printing:
        """What the empty sites' middles show"""
        return Printing.of(self.empty, self.small.half, self.shorter)

    @cached_property
    def all_printing(self) -> Printing:
        """What they show up to the lines around them"""
        return Printing.of(self.empty, self.small.half, self.shorter, WHOLE)

    @cached_property
    def ground(self) -> Ground:
        """How the empty sites look, by cells"""
        return Ground.of(self.empty, self.spread, self.small.half / self.group.side)

    @cached_property
    def evenly(self) -> Evenly | None:
        """How evenly bright pieces of a look are"""
        return Evenly.of(self.stage.fine.pictures, self.stage.owner)

    def bared(
        self,
        sight: Sight,
        which: np.ndarray,
        seen: np.ndarray,
        unlike: np.ndarray,
        others: np.ndarray | None = None,
        bare: Shown | None = None,
    ) -> Bared:
        """Whether sites are empty, by seen(). others: of the group, not among them, by which it is
        told how well print is seen where it seems hidden; bare: such as are known to seem empty,
        instead: then it is not asked again whether much more is covered"""
        there, gone = self.stage.bare.answer(unlike), np.zeros(len(which))
        empty = np.flatnonzero(there[:, 1] > DOUBTFUL)
        shown = self.shown(self.printing, seen, empty, which)
        if first := bare is None:
            bare = shown.of(there[empty, 1] > SURE)
        if len(some := shown.faint()):
            faint = empty[some]
            bare = self.with_others(bare, self.printing, sight, which[faint], others)
            gone[faint] = shown.of(some).hidden(bare)
        sheet = np.zeros(len(which))
        if first:
            below = self.under_sheet(
                sight, which, seen, empty, shown, there[empty, 1] > SURE, others
            )
            gone[empty], sheet[empty] = (
                np.maximum(gone[empty], below),
                below * np.exp(there[empty, 1]),
            )
        hid = np.flatnonzero(gone)
        left = np.log1p(-gone[hid]) + there[hid, 1]
        there[hid] = np.stack(
            [np.log(-np.expm1(np.minimum(left, -1e-9))), np.maximum(left, FLOOR)], 1
        )
        return Bared(there, gone, sheet, bare, self.stage.cells(unlike))

    def under_sheet(
        self,
        sight: Sight,
        which: np.ndarray,
        seen: np.ndarray,
        empty: np.ndarray,
        shown: Shown,
        sure: np.ndarray,
        others: np.ndarray | None,
    ) -> np.ndarray:
        """How likely something much larger covers each of the rows `empty` (n,) of seen, whose
        middles are shown; sure: (n,) bool, which of them seem empty"""
        out = np.zeros(len(empty))
        some = np.flatnonzero(shown.strong - shown.unsure < NOTHING)
        whole = self.shown(self.all_printing, seen, empty[some], which)
        none = whole.none()
        if len(none) and len(none := none[self.shows(sight, which[empty[some[none]]])]):
            bare = self.shown(self.all_printing, seen, empty[sure], which)
            bare = self.with_others(
                bare, self.all_printing, sight, which[empty[some[none]]], others
            )
            out[some[none]] = whole.of(none).under_sheet(bare)
        return out

    def shown(
        self, printing: Printing, seen: np.ndarray, rows: np.ndarray, which: np.ndarray
    ) -> Shown:
        """How well the print is seen in these rows of seen, windows of the sites `which`"""
        return printing.shown(seen, rows, which[rows], self.group.centres[which[rows]])

    def with_others(
        self,
        bare: Shown,
        printing: Printing,
        sight: Sight,
        which: np.ndarray,
        others: np.ndarray | None,
    ) -> Shown:
        """bare with those of the others of the group, nearest to sites `which`, that seem empty"""
        if others is None:
            return bare
        others = self.nearest(which, others)
        seen, unlike = self.seen(sight, others)
        seem = np.flatnonzero(self.stage.bare.answer(unlike)[:, 1] > SURE)
        return bare.joined(self.shown(printing, seen, seem, others))

    def shows(self, sight: Sight, which: np.ndarray) -> np.ndarray:
        """(n,) bool: whether print of these sites could be seen here: how they are printed is
        known, and they are not burnt out"""
        seen = self.small.cut(sight.pyramid, sight.pose, which, self.group.plane).reshape(
            len(which), -1, 3
        )
        burnt = (seen[:, self.all_printing.inside] >= CLIPPED).any(2).mean(1) > MANY
        return ~burnt & ~np.isin(which, self.guessed)

    def told(
        self,
        sight: Sight,
        which: np.ndarray,
        unlike: np.ndarray,
        gain: np.ndarray,
        place: np.ndarray,
        lean: np.ndarray,
        bared: Bared | None = None,
        others: np.ndarray | None = None,
    ) -> tuple[np.ndarray, Laid, np.ndarray]:
        """(the same, what is strange told by how pieces fit in this picture; how each would lie;
        (n, 2) mm: where the likeliest look stands, nan where it was not looked at closely). bared:
        of these sites; others: of the group, which tell how pieces fit too where one may be
        strange"""
        told, inputs, lying = self.looked(sight, which, unlike, gain, place, lean)
        if self.stage.usual is not None and bared is not None:
            told = uncovered(told, bared.gone, bared.sheet)
            fits = told, *self.stage.fits(told, inputs, lying)
            more = (
                self.others(sight, which, others)
                if others is not None and self.stage.may_be_strange(*fits[:2])
                else None
            )
            usual = self.stage.usual_here(*(map(np.concatenate, zip(fits, more)) if more else fits))
            odd = self.too_bright(told, lying, self.group.centres[which], bared.bare)
            known = ~np.isin(which, self.guessed)
            told = self.stage.sobered(
                agreed(told, bared.there, known), *fits[1:], usual, bared.there, odd
            )
        return told, lying, self.group.centres[which] + self.stage.stands(told, lying)

    def too_bright(
        self, told: np.ndarray, lying: Laid, centres: np.ndarray, bare: Shown
    ) -> np.ndarray:
        """(n, looks) log odds against each look for how bright, or dark, the site is beside the
        picture's others: of looks that were not laid straight as of the likeliest. centres: (n, 2)
        mm; bare: sites that seem empty"""
        stage, models = self.stage, self.stage.fine.pictures
        looks, each, out = (
            len(stage.looks),
            lying.tried.shape[1],
            np.zeros((len(told), len(stage.looks))),
        )
        best, tried = told[:, :looks].argmax(1), stage.owner[lying.tried]
        first = (tried == best[:, None]).argmax(1)
        sure = np.flatnonzero(
            (tried[np.arange(len(told)), first] == best) & (told[np.arange(len(told)), best] > SURE)
        )
        pictures, first = lying.pictures.reshape(-1, *lying.pictures.shape[2:]), first[sure]
        pieces = Bright.of(
            pictures, sure * each + first, models, lying.tried[sure, first], centres[sure]
        )
        lit = self.evenly.here(pieces, best[sure], bare, looks) if self.evenly else None
        odd = lit.stranger(pieces, best[sure]) if lit else np.zeros(len(sure))
        for i, much in zip(sure[odd > 0], odd[odd > 0]):
            out[i] = much
            both = Bright.of(
                pictures,
                i * each + np.arange(each),
                models,
                lying.tried[i],
                np.tile(centres[i], (each, 1)),
            )
            out[i, tried[i]] = lit.stranger(both, tried[i])
        return out

    def nearest(self, which: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Those of `others` that lie nearest to `which`"""
        away = np.linalg.norm(
            self.group.centres[others] - self.group.centres[which].mean(0), axis=1
        )
        return others[np.argsort(away)[:AROUND]]

    def others(
        self, sight: Sight, which: np.ndarray, others: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """looked() and Stage.fits() of some of the other sites on which pieces lie, those nearest
        to `which`; None: there are none"""
        others = self.nearest(which, others)
        seen, unlike = self.seen(sight, others)
        busy = np.flatnonzero(self.stage.bare.answer(unlike)[:, 0] > np.log(0.5))[:COMPARED]
        if not len(busy):
            return None
        lean = lean_at(sight.pose, self.group.centres[others[busy]])
        told, inputs, lying = self.looked(
            sight, others[busy], unlike[busy], *self.places(others[busy], seen[busy], lean), lean
        )
        return told, *self.stage.fits(told, inputs, lying)

    def split(self, told: np.ndarray, lying: Laid) -> dict[tuple[int, int], dict[Contents, float]]:
        """(row, look) -> natural logarithm of how likely each of what looks so is, by its turn,
        where that tells anything; for rows of told (n, looks + 2) and looks not quite unlikely
        there"""
        rows, looks = np.nonzero(
            (told[:, : len(self.turned)] > WORTH_SPLITTING)
            & np.array([bool(t) for t in self.turned])
        )
        return {
            (n, k): split(dict(zip(self.turned[k], self.degrees[k])), *self.stage.ways(lying, n, k))
            for n, k in zip(rows.tolist(), looks.tolist())
        }

    def stacked(
        self, which: np.ndarray, told: np.ndarray, lying: Laid, lean: np.ndarray
    ) -> dict[tuple[int, int], dict[Contents, float]]:
        """The same for how many lie on each other; which: (n,) the sites, lean: (n, 2)"""
        out: dict[tuple[int, int], dict[Contents, float]] = {}
        for h in self.stage.heights:
            rows, top = self.stage.tops_of(
                h.look, lying, np.flatnonzero(told[:, h.look] > WORTH_SPLITTING), lean
            )
            if len(rows):
                empty = WindowField(self.empty, self.small.scale)
                chances = h.tells.answer(
                    h.features(lying.field, lying.site[rows], empty, which[rows], top, lean[rows])
                )
                out |= {
                    (n, h.look): dict(zip(h.contents, p))
                    for n, p in zip(rows.tolist(), chances.tolist())
                }
        return out


def agreed(told: np.ndarray, there: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Log-probabilities told (n, looks + 2), the last that a site is empty: where the first network
    finds more that something lies there, by there (n, 2), the mean of both's log odds, if it is
    known how the site looks empty, (n,) bool. The second has not learnt as long that little is as
    it was"""
    some = np.logaddexp.reduce(told[:, :-1], axis=1)
    odds = some - told[:, -1]
    odds = np.where(known, np.maximum(odds, (odds + there[:, 0] - there[:, 1]) / 2), odds)
    return np.column_stack(
        [told[:, :-1] - (some + np.logaddexp(0, -odds))[:, None], -np.logaddexp(0, odds)]
    )


def uncovered(told: np.ndarray, gone: np.ndarray, sheet: np.ndarray) -> np.ndarray:
    """Log-probabilities told (n, looks + 2), the last that a site is empty, which it is not where
    the board's print is hidden, gone: (n,) how likely that is; sheet: (n,) and that by something
    larger, which is no piece then"""
    rows = np.flatnonzero(gone > 0)
    told = told.copy()
    told[rows, -1] += np.log1p(-gone[rows])
    told[rows] = log_softmax(told[rows])
    rows = np.flatnonzero(sheet > 0)
    told[rows] += np.log1p(-sheet[rows])[:, None]
    told[rows, -2] = np.logaddexp(told[rows, -2], np.log(sheet[rows]))
    return told
