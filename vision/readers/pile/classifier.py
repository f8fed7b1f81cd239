"""One group of sites: how its looks are searched, described and told apart. Its central value:
Stage."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.site_groups import Grounds, SizeGroup
from vision.geometry.site_windows import Windows
from vision.kernels import Kernel
from vision.photometry.colour_sampling import Field, to_opponent
from vision.readers.mlp import Net, log_softmax
from vision.readers.pile.coarse_search import Coarse
from vision.readers.pile.exemplar import Exemplar
from vision.readers.pile.face_match import Faces
from vision.readers.pile.features import (
    CELLS,
    PIXELS,
    WIDER,
    contest,
    describe,
    held_against,
)
from vision.readers.pile.fine_match import Fine, Rings
from vision.readers.pile.fit_statistics import MORE_HERE, Usual
from vision.readers.pile.orientation import PRINT, beliefs
from vision.readers.pile.stack_height import Heights
from vision.readers.pile.top_piece import Top

TILES = 11  # cells a side in which a window is compared with the empty site
WAYS = 16  # turns from which a piece whose turn tells something is fitted finely
ASKED = 4  # cut-outs of a look that are asked how it is turned, at most
TRIED = 2  # looks laid straight and described, the likeliest first
OTHER: Contents = ("other",)
SMALL = 24  # pixels along a site in the small windows
LARGEST_TILED = 64  # and no more in those that tiles_unlike.c sees
COARSE = 11  # and in those that looks are slid over
COARSEST = 6  # pixels along the smallest piece in those
LARGEST = 48  # pixels along those windows at most
WORST = 50.0  # misfits beyond this are all alike
# log-probability of a pile and its lower piece below which the upper one is not looked for
HARDLY = -5.0
FITS = CELLS * CELLS + 4 + 2  # inputs before those that tell how each look fits
MARGIN = 5.0  # gain that a footprint may be behind another's and still be looked at
BLUNDER = 10.0  # log-probability that a misfit of 1 costs a look whose face it is
LEADING = 0.5  # and what a lead of one in the contest of the likeliest gains
LITTLE = 0.1  # what the coarse gain counts where faces are compared
# of the way from foot to top: where a piece that fits poorly is looked for too, drawn to its foot
# by bright sides
ALONG = 0.5, 1.0
POORLY = 2.0  # misfit from which it does
SURE = np.log(0.5)  # of a look, above which how it fits tells how pieces fit in a picture
GIVE = 0.1  # of a site's side that a piece may stick out without surprise


class Laid(msgspec.Struct, frozen=True, eq=False):
    """How each cut-out would lie on sites (n,) of a field. champion: (n, looks) the cut-out of each
    look that fits best;
    spot: (n, E, 2) mm off the middle; turn: (n, E) radians; tried: (n, TRIED) cut-outs that were
    laid straight,
    pictures: (n, TRIED, P, P, 3) what was seen then, feet: (n, TRIED, 2) mm off the middle where
    they would stand"""

    field: Field
    site: np.ndarray
    champion: np.ndarray
    spot: np.ndarray
    turn: np.ndarray
    tried: np.ndarray
    pictures: np.ndarray
    feet: np.ndarray


class Stage(msgspec.Struct, eq=False):
    """looks: what this group's sites can show; owner: (E,) the look of each cut-out, pieces ordered
    by shape; faces: one a shape where rings do not tell looks well enough, else none; empty,
    spread: (N, S, S, 3) opponent small windows; bare: tells empty sites, kinds: tells looks,
    something else, and empty."""

    looks: list[Contents]
    coarse: Coarse
    rings: list[Rings]
    fine: Fine
    owner: np.ndarray
    shape: np.ndarray
    photo: np.ndarray  # (E,) the photo each cut-out is from
    zero: np.ndarray  # (E, ZEROS) how each cut-out lies, see off_straight()
    rise: np.ndarray  # (looks,) mm that each look's top lies above the plane of the windows
    grounds: Grounds
    # whether only how well cut-outs fit tells looks: they are too few to learn a look from
    by_fit: bool
    bare: Net | None = None
    kinds: Net | None = None
    tops: list[Top] = []
    heights: list[Heights] = []
    faces: list[Faces] = []
    usual: Usual | None = None
    held: list[float] = []
    order: list[int] = []

    @classmethod
    def fit(
        cls,
        looks: list[Contents],
        pieces: list[Exemplar],
        looks_of: list[int],
        zero: np.ndarray,
        rise: np.ndarray,
        group: SizeGroup,
        fine: Windows,
        grounds: Grounds,
        gap: float = 0.0,
    ) -> Stage:
        """pieces: cut-outs; looks_of: their looks; zero: how they lie, as off_straight() has it;
        rise: mm from the windows' plane to the looks' tops; fine: the group's fine windows; gap: mm
        to the next site (`sites.apart`)"""
        shapes = sorted({(e.size, e.disc) for e in pieces})
        order = sorted(
            range(len(pieces)), key=lambda i: shapes.index((pieces[i].size, pieces[i].disc))
        )
        pieces, owner = [pieces[i] for i in order], np.array([looks_of[i] for i in order])
        shape = np.array([shapes.index((e.size, e.disc)) for e in pieces])
        small = min(min(size) for size, _ in shapes)
        scale = min(max(COARSE / group.side, COARSEST / small), LARGEST / (2 * fine.half))
        search = Coarse.fit(
            [[e for e, o in zip(pieces, owner) if o == k] for k in range(len(looks))],
            shapes,
            scale,
            round(2 * fine.half * scale),
            np.median(group.boxes, 0),
            GIVE * group.side + gap / 2,
        )
        rings = [
            Rings.fit([e for e, s in zip(pieces, shape) if s == n]) for n in range(len(shapes))
        ]
        photo = np.array([e.photo for e in pieces])
        return cls(
            looks,
            search,
            rings,
            Fine.fit(pieces, PIXELS, WIDER),
            owner,
            shape,
            photo,
            zero[order],
            rise,
            grounds,
            group.block,
            order=order,
        )

    @property
    def faint(self) -> float:
        """See Faces; 0 where faces are not compared"""
        return self.faces[0].faint if self.faces else 0.0

    def unfair(self) -> np.ndarray:
        """(E, E) bool: the cut-outs that must not be used where an example was made of each: itself
        and, where faces are compared, all that its photo shows in the same light; never all that a
        look has"""
        same = np.eye(len(self.owner), dtype=bool)
        if self.faces:
            same |= self.photo[:, None] == self.photo
        # (E, looks) that may be used
        left = (~same).astype(int) @ (self.owner[:, None] == np.arange(len(self.looks)))
        return same & (left[:, self.owner] > 0)

    def unlike(
        self, seen: np.ndarray, empty: np.ndarray, lines: np.ndarray, which: np.ndarray
    ) -> np.ndarray:
        """(n, D): what tells whether sites are empty, by their small windows (n, S, S, 3); empty:
        (N, S, S, 3) windows of empty sites,
        lines: (N, TILES * TILES) their edges(); which: (n,) of those"""
        cells, edged = tiles_unlike(seen, empty, which)
        n, own = len(seen), lines[which]
        soft = np.sort(np.abs(cells.reshape(n, -1, 3).transpose(0, 2, 1)), 2)
        pooled = np.concatenate([soft[..., -q] for q in (1, 5, 20, 60)], 1)
        return np.hstack([cells * 3, (edged - own) * 5, own * 5, pooled * 5])

    def cells(self, unlike: np.ndarray) -> np.ndarray:
        """(n, TILES, TILES, 3): by how much cells are off the empty sites', of unlike()"""
        return (unlike[:, : TILES * TILES * 3] / 3).reshape(-1, TILES, TILES, 3)

    def places(
        self, seen: np.ndarray, empty: np.ndarray, spread: np.ndarray, lean: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(gain (n, looks), place (n, looks, 2) mm off the middle) in small windows (n, S, S, 3);
        empty, spread: of the empty sites, shrunk; lean: (n, 2) mm a mm of height"""
        return self.coarse.search(
            self.shrunk(seen), empty, spread, lean[:, None] * self.rise[None, :, None]
        )

    def shrunk(self, views: np.ndarray) -> np.ndarray:
        """Small windows (n, S, S, 3) as looks are slid over them"""
        return resized(views, self.coarse.side)

    def turned(
        self, field: Field, site: np.ndarray, gain: np.ndarray, place: np.ndarray, lean: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(misfit (n, E), spot (n, E, 2) mm off the middle, turn (n, E) radians) of every cut-out,
        where its footprint seems to lie on sites (n,) of a field; WORST where it hardly does.
        Arguments as in hypotheses()"""
        n, every = len(site), np.arange(len(site))
        misfit = np.full((n, len(self.owner)), WORST, np.float32)
        turn = np.zeros((n, len(self.owner)), np.float32)
        spot = np.zeros((n, len(self.owner), 2))
        likely = gain.max(1) - MARGIN
        for along in (0.0,) if self.faces else (0.0, *ALONG):
            # where any other footprint fits there is nothing more to look for
            poor = misfit.min(1) > POORLY
            for s, ring in enumerate(self.rings):
                mine, pieces = self.coarse.slides[s].looks, np.flatnonzero(self.shape == s)
                best = mine[gain[:, mine].argmax(1)]
                if not along:
                    spot[:, pieces] = place[every, best][:, None]
                rows = np.flatnonzero(poor & (gain[every, best] > likely))
                if not len(rows):
                    continue
                members, middle = np.ix_(rows, pieces), place[rows, best[rows]]
                if self.faces:
                    misfit[members], spot[members], turn[members] = self.faces[s].compare(
                        field, site[rows], middle
                    )
                    continue
                middle = middle + along * lean[rows] * self.rise[mine].max()
                least, angle = ring.best(field, site[rows], middle)
                better = least < misfit[members]
                misfit[members] = np.where(better, least, misfit[members])
                turn[members] = np.where(better, angle, turn[members])
                spot[members] = np.where(better[..., None], middle[:, None], spot[members])
        return misfit, spot, turn

    def hypotheses(
        self,
        field: Field,
        site: np.ndarray,
        gain: np.ndarray,
        place: np.ndarray,
        unlike: np.ndarray,
        whose: np.ndarray,
        lean: np.ndarray,
        banned: np.ndarray | None = None,
    ) -> tuple[np.ndarray, Laid]:
        """What each site of a field may show, laid straight and described.

        site: (n,) numbers in the field; gain, place: of the coarse search (n, K); unlike: (n, U)
        what tells whether the site is empty; whose: (n,) the group's site each is; lean: (n, 2) mm
        a mm of height there; banned: (n, 2) cut-outs not to be used (for examples made from them),
        -1: none.
        -> (inputs (n * TRIED, D), how each would lie)"""
        n, looks = len(site), len(self.looks)
        misfit, spot, turn = self.turned(field, site, gain, place, lean)
        if banned is not None:
            unfair = self.unfair()
            for column in banned.T:
                rows = np.flatnonzero(column >= 0)
                misfit[rows] = np.where(unfair[column[rows]], WORST, misfit[rows])
        by_look = np.full((n, looks), WORST, np.float32)
        champion = np.zeros((n, looks), int)
        for k in range(looks):
            members = np.flatnonzero(self.owner == k)
            pick = misfit[:, members].argmin(1)
            champion[:, k] = members[pick]
            by_look[:, k] = np.minimum(misfit[np.arange(n), champion[:, k]], WORST)
        # misfits of other footprints are over other areas; the coarse gain puts them on one scale
        rank = np.argsort(by_look - (LITTLE if self.faces else 1) * gain, axis=1)[:, :TRIED]
        if rank.shape[1] < TRIED:
            rank = np.repeat(rank[:, :1], TRIED, 1)
        piece = np.take_along_axis(champion, rank, 1)
        rows = np.arange(n)[:, None]
        flat = piece.ravel()
        middle, _, pictures = self.fine.straightened(
            field,
            np.repeat(site, TRIED),
            flat,
            spot[rows, piece].reshape(-1, 2),
            turn[rows, piece].ravel(),
        )
        left, misfitting = held_against(pictures, self.fine.pictures, flat, self.faint)
        if self.faces:
            again = next_best(misfit, self.owner, piece).ravel()
            at = np.flatnonzero(again >= 0)
            which, one = rows.repeat(TRIED)[at], again[at]
            new = self.fine.straightened(
                field, site[which], one, spot[which, one], turn[which, one]
            )
            less = held_against(new[2], self.fine.pictures, one, self.faces[0].faint)
            won = less[1][:, 0] < misfitting[at, 0]
            for mine, theirs in (
                (flat, one),
                (middle, new[0]),
                (pictures, new[2]),
                (left, less[0]),
                (misfitting, less[1]),
            ):
                mine[at[won]] = theirs[won]
            piece = flat.reshape(n, TRIED)
            champion[rows, rank] = piece
        better = contest(misfitting.reshape(n, TRIED, -1), self.owner[piece], looks)
        foot = middle - np.repeat(lean, TRIED, 0) * self.rise[self.owner[flat], None]
        claim = self.grounds.at(np.repeat(whose, TRIED), foot) * np.float32([0.2, 2.0])
        about = np.hstack([np.clip(gain, -10, 10) * 0.5, np.sqrt(np.maximum(by_look, 0)), better])
        chosen = np.eye(looks, dtype=np.float32)[self.owner[flat]]
        # FITS columns, then `about`
        fits = [left, np.clip(claim, -3, 3), np.repeat(about, TRIED, 0), chosen]
        if not self.by_fit:
            fits += [describe(pictures), np.repeat(unlike, TRIED, 0)]
        inputs = np.hstack(fits).astype(np.float32, copy=False)
        return inputs, Laid(
            field,
            site,
            champion,
            spot,
            turn,
            piece,
            pictures.reshape(n, TRIED, *pictures.shape[1:]),
            foot.reshape(n, TRIED, 2),
        )

    def ways(self, lying: Laid, row: int, look: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(c, WAYS) degrees by which what lies on a row of hypotheses() may be turned against each
        of the look's cut-outs, (c, WAYS) how badly it fits so, (c, ZEROS) how these lie. A circle
        round a middle that is half a mm off tells a turn poorly: each is tried, moved and turned
        until it fits."""
        own = np.flatnonzero(self.owner == look)
        first = lying.champion[row, look]
        own = np.append(first, own[own != first])[:ASKED]
        piece, site = np.repeat(own, WAYS), np.full(len(own) * WAYS, lying.site[row])
        start, turn = (
            np.repeat(lying.spot[row, own], WAYS, 0),
            np.tile(np.arange(WAYS) * 2 * np.pi / WAYS, len(own)),
        )
        middle, turn = self.fine.refine(lying.field, site, piece, start, turn, rounds=3)
        misfit = self.fine.misfit(lying.field, site, piece, middle, turn, PRINT)
        return np.degrees(turn).reshape(-1, WAYS), misfit.reshape(-1, WAYS), beliefs(self.zero)[own]

    def on_top(self, top: Top, lying: Laid, rows: np.ndarray) -> np.ndarray:
        """(r, F) what tells whether the upper piece lies there, of these rows (r,) of
        hypotheses()"""
        below = lying.champion[rows, top.base]
        pictures = np.empty((len(rows), *lying.pictures.shape[2:]), np.float32)
        seen, which = np.nonzero(lying.tried[rows] == below[:, None])
        pictures[seen] = lying.pictures[rows[seen], which]
        new = np.setdiff1d(np.arange(len(rows)), seen)
        if len(new):
            r, piece = rows[new], below[new]
            about = lying.spot[r, piece], lying.turn[r, piece]
            pictures[new] = self.fine.straightened(lying.field, lying.site[r], piece, *about)[2]
        return top.features(pictures, self.fine.pictures[below])

    def tops_of(
        self, look: int, lying: Laid, rows: np.ndarray, lean: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of these rows of hypotheses() those in which this look was laid straight, and (r, 2) mm
        off the middle where its top is seen;
        lean: (n, 2) mm a mm of height, of all rows"""
        tried = self.owner[lying.tried[rows]] == look
        rows, first = rows[tried.any(1)], tried.argmax(1)[tried.any(1)]
        return rows, lying.feet[rows, first] + lean[rows] * self.rise[look]

    def looked(self, inputs: np.ndarray) -> np.ndarray:
        """(n, looks + 2) log-probabilities from hypotheses' inputs (n * TRIED, D), before upper
        pieces are looked for.

        Where faces are compared, how well each fits counts besides: that holds in a light no
        picture was made in."""
        scores = self.kinds.scores(inputs)
        told = log_softmax(scores.reshape(-1, TRIED, scores.shape[1]).mean(1))
        if self.faces:
            looks = len(self.looks)
            some = np.logaddexp.reduce(told[:, :looks], axis=1)
            # see `about` in hypotheses()
            _, fit, lead = np.split(inputs[::TRIED, FITS : FITS + 3 * looks], 3, axis=1)
            both = told[:, :looks] - BLUNDER * fit + LEADING * lead
            told[:, :looks] = both - np.logaddexp.reduce(both, axis=1)[:, None] + some[:, None]
        return told

    def left_by(self, inputs: np.ndarray, lying: Laid, look: np.ndarray) -> np.ndarray:
        """(n,) how much of what hypotheses() saw the best cut-out of a look (n,) leaves
        unexplained"""
        look = look.copy()
        for top in self.tops:  # an upper piece may lie anywhere on the lower one
            look[look == top.whole] = top.base
        same = self.owner[lying.tried] == look[:, None]
        left = inputs[:, CELLS * CELLS + 3].reshape(-1, TRIED)[np.arange(len(look)), same.argmax(1)]
        rows = np.flatnonzero(~same.any(1))  # told by other signs than how well it fits
        if len(rows):
            piece = lying.champion[rows, look[rows]]
            pictures = self.fine.straightened(
                lying.field,
                lying.site[rows],
                piece,
                lying.spot[rows, piece],
                lying.turn[rows, piece],
            )[2]
            left[rows] = held_against(pictures, self.fine.pictures, piece, self.faint)[0][
                :, CELLS * CELLS + 3
            ]
        return left

    def stands(self, told: np.ndarray, lying: Laid) -> np.ndarray:
        """(n, 2) mm off the middles where the likeliest looks stand, by told (n, looks + 2); nan
        where others were tried"""
        best = told[:, : len(self.looks)].argmax(1)
        same = self.owner[lying.tried] == best[:, None]
        return np.where(
            same.any(1)[:, None], lying.feet[np.arange(len(best)), same.argmax(1)], np.nan
        )

    def told(self, inputs: np.ndarray, lying: Laid) -> np.ndarray:
        """(n, looks + 2) log-probabilities of what hypotheses() gave; the last two: something else,
        empty"""
        told = self.looked(inputs)
        for top in self.tops:
            both = np.logaddexp(told[:, top.base], told[:, top.whole])
            rows = np.flatnonzero(both > HARDLY)
            if len(rows):
                told[rows[:, None], [top.base, top.whole]] = both[rows, None] + top.tells.answer(
                    self.on_top(top, lying, rows)
                )
        return told

    def fits(
        self, told: np.ndarray, inputs: np.ndarray, lying: Laid
    ) -> tuple[np.ndarray, np.ndarray]:
        """((n,) the likeliest look by told (n, looks + 2), (n,) how much its best cut-out leaves
        unexplained)"""
        best = told[:, : len(self.looks)].argmax(1)
        return best, self.left_by(inputs, lying, best)

    def may_be_strange(self, told: np.ndarray, best: np.ndarray) -> bool:
        """Whether any of these sites may be told to show something else for how badly what they
        show fits"""
        there = told[:, -1] < np.log(0.5)
        return bool(
            (told[:, len(self.looks)] + MORE_HERE > told[np.arange(len(best)), best])[there].any()
        )

    def usual_here(self, told: np.ndarray, best: np.ndarray, left: np.ndarray) -> Usual:
        """How badly pieces fit in a picture, by what fits() gave of its sites"""
        sure = told[np.arange(len(best)), best] > SURE
        return self.usual.here(left[sure], best[sure])

    def sobered(
        self,
        told: np.ndarray,
        best: np.ndarray,
        left: np.ndarray,
        usual: Usual,
        there: np.ndarray,
        odd: np.ndarray | float,
    ) -> np.ndarray:
        """told() with something else as likely as it is besides by how the likeliest look fits,
        best and left as of fits(), or by how bright that is, odd: (n, looks) log odds, and only as
        far as anything seems to lie there at all, by there (n, 2), log-probabilities of that and of
        its being empty: a light that none was made in makes pieces look strange, but they fit as
        the others in the picture do"""
        looks, told = len(self.looks), told.copy()
        # how a look fits tells nothing of what is taken for empty
        piece = np.logaddexp.reduce(told[:, :-1], axis=1, keepdims=True)
        fits = usual.stranger(left, best)
        odd = np.broadcast_to(odd, (len(told), looks))
        told[:, :looks] -= odd
        told[:, looks] += np.where(odd[np.arange(len(told)), best] > 0, np.maximum(fits, 0), fits)
        told[:, :-1] = log_softmax(told[:, :-1]) + piece
        told[:, -1] = np.logaddexp(told[:, -1], told[:, looks] + there[:, 1])
        told[:, looks] += there[:, 0]
        return told


def next_best(misfit: np.ndarray, owner: np.ndarray, piece: np.ndarray) -> np.ndarray:
    """(n, T): of the looks of the cut-outs `piece` (n, T) the cut-out that fits best after these,
    by misfit (n, E); -1: there is none.
    owner: (E,) looks. A cut-out that lay on other ground, or beside others, may be laid astray by
    what is round it."""
    others = (owner == owner[piece][..., None]) & (np.arange(len(owner)) != piece[..., None])
    left = np.where(others, misfit[:, None], WORST)
    return np.where(left.min(2) < WORST, left.argmin(2), -1)


_tiles_unlike = Kernel("tiles_unlike", "fflnnnff")


def tiles_unlike(
    seen: np.ndarray, empty: np.ndarray, which: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """((n, TILES * TILES * 3) difference of small windows (n, S, S, 3) to the empty ones `which`
    (n,), by cells; (n, TILES * TILES) their edges())"""
    n, side = seen.shape[:2]
    if _tiles_unlike and side <= LARGEST_TILED:
        cells, edged = (
            np.empty((n, TILES * TILES * 3), np.float32),
            np.empty((n, TILES * TILES), np.float32),
        )
        _tiles_unlike(seen, empty, np.asarray(which, np.int64), n, side, TILES, cells, edged)
        return cells, edged
    return resized(seen - empty[which], TILES).reshape(n, -1), edges(seen)


def edges(views: np.ndarray) -> np.ndarray:
    """(n, TILES * TILES): strength of brightness edges of (n, S, S, 3)"""
    n, side = views.shape[:2]
    tall = np.ascontiguousarray(views[..., 0]).reshape(n * side, side)
    gx = cv2.Sobel(tall, cv2.CV_32F, 1, 0, ksize=3, scale=0.125)
    gy = cv2.Sobel(tall, cv2.CV_32F, 0, 1, ksize=3, scale=0.125)
    out = cv2.magnitude(gx, gy).reshape(n, side, side)
    out[:, 0] = out[:, 1]
    out[:, -1] = out[:, -2]
    return cv2.resize(
        out.reshape(n * side, side), (TILES, n * TILES), interpolation=cv2.INTER_AREA
    ).reshape(n, -1)


def resized(views: np.ndarray, side: int) -> np.ndarray:
    """(n, side, side, C) of (n, S, S, C)"""
    n, big = views.shape[:2]
    return cv2.resize(
        views.reshape(n * big, big, -1), (side, n * side), interpolation=cv2.INTER_AREA
    ).reshape(n, side, side, -1)


def small(logs: np.ndarray, side: int) -> np.ndarray:
    """(n, side, side, 3) opponent colours from (n, S, S, 3) log windows"""
    return to_opponent(resized(logs, side))
