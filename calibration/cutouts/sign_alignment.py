"""Lays loose pieces by each other's signs: on ground of a piece's own colour its outline hardly shows, and
was found 2 or 3 mm aside. Its value: `tops_by_signs`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec
import numpy as np

from calibration.cutouts.naming import differing_parts
from calibration.cutouts.seek import Samplers
from calibration.cutouts.specimens import Specimen, crop_window, turn_matrix
from vision.plan import Plan

PIXELS_A_MM = 2.0  # at which signs are laid on each other: a pixel is half of what outlines tell
# of a piece's width that its sign takes, and that a square in it may, however it lies
SIGN_PART = 0.64
MOST_ASIDE = 4.0  # mm that outlines may be off: of made-up seas and lands 3.7 at most
SIGN_TURNS = 10.0  # degrees between the turns in which round pieces are laid on each other
SAME_SIGN = 0.75  # correlation from which signs may be one
# by which signs may be less like it than the one most like it, to tell: of 107 pieces of one made-up copy
# none lies 1 mm off then, with 0.05 4, with 0.2 6
LESS_ALIKE = 0.1
MOST_TRIED, FEWEST_TELLING = 4, 3  # pieces of a kind that another is laid on; those that must tell
TOLD_ALIKE = 0.7  # mm by which these may differ about where it lies, at the median
ROUNDS_LAID = 3  # in which places are told by others that have been mended


class Sign(msgspec.Struct, frozen=True, eq=False):
    """What a piece bears. straight: degrees clockwise by which its pictures were turned back; prints: (t, n)
    its sign turned clockwise by each of `turns`; about: (w, n) all of that size that lies about it. Of
    each its n pixels, as in a correlation"""

    straight: float
    turns: np.ndarray
    prints: np.ndarray
    about: np.ndarray


class Laid(msgspec.Struct, frozen=True, eq=False):
    """A partner's sign laid on a piece's: (2,) mm by which that lies aside then, (2, 2) how the partner's own
    error turns"""

    partner: int
    likeness: float
    shift: np.ndarray
    turned: np.ndarray


def tops_by_signs(samplers: Samplers, pieces: Sequence[Specimen]) -> list[np.ndarray]:
    """(2,) mm for each piece: where its top's middle lies by the signs of others that bear the same,
    where enough of these agree; as it was found otherwise"""
    signs = cut_signs(samplers, pieces)
    told = {
        i: sorted((lay_sign(signs[j], signs[i], j) for j in mine), key=lambda t: -t.likeness)
        for i, mine in choose_partners(samplers.plan, pieces).items()
    }
    off = np.zeros((len(pieces), 2))
    for _ in range(ROUNDS_LAID):
        before = off.copy()
        for i, laid in told.items():
            alike = [t for t in laid if t.likeness > max(SAME_SIGN, laid[0].likeness - LESS_ALIKE)]
            if len(alike) < FEWEST_TELLING:
                continue
            each = np.array([t.shift + t.turned @ before[t.partner] for t in alike])
            middle = np.median(each, 0)
            agreed = np.median(np.linalg.norm(each - middle, axis=1)) < TOLD_ALIKE
            off[i] = middle if agreed and np.hypot(*middle) <= MOST_ASIDE else 0.0
    return [p.top + by for p, by in zip(pieces, off)]


def choose_partners(plan: Plan, pieces: Sequence[Specimen]) -> dict[int, list[int]]:
    """piece -> a few others of its kind, and of each kind of its form printed as its own is but for one
    part"""
    kinds: dict[str, list[int]] = defaultdict(list)
    for n, p in enumerate(pieces):
        kinds[p.kind].append(n)
    return {
        i: [
            n
            for k, some in kinds.items()
            if k == kind or differing_part(plan, kind, k) is not None
            for n in [n for n in some if n != i][:MOST_TRIED]
        ]
        for kind, mine in kinds.items()
        for i in mine
    }


def differing_part(plan: Plan, one: str, other: str) -> int | None:
    """The only part in which two kinds of one form are printed otherwise; None where there is none, or
    more than one"""
    if plan.pieces[one].shape != plan.pieces[other].shape:
        return None
    parts = differing_parts(plan.artwork, one, other) or ()
    return next(iter(parts)) if len(parts) == 1 else None


def cut_signs(samplers: Samplers, pieces: Sequence[Specimen]) -> list[Sign]:
    """What lies about each piece, and its sign in every turn in which it may lie"""
    greys = {n: samplers.canvases[n].mean(2) for n in {p.photo for p in pieces}}
    out, reach = [], round(MOST_ASIDE * PIXELS_A_MM)

    def crop_grey(p: Specimen, n: int, turn: float) -> np.ndarray:
        return crop_window(greys[p.photo], samplers.view, p.top, n, PIXELS_A_MM, turn)

    for p in pieces:
        size, disc, _ = samplers.plan.pieces[p.kind].shape
        step = SIGN_TURNS if disc else 90.0 if size[0] == size[1] else 180.0
        turns = np.arange(0, 360, step)
        side = max(round(SIGN_PART * min(size) * PIXELS_A_MM), 6)
        straight = 0.0 if disc else p.turn
        around = crop_grey(p, side + 2 * reach, straight)
        about = np.lib.stride_tricks.sliding_window_view(around, (side, side))
        prints = [crop_grey(p, side, straight - t) for t in turns]
        out.append(Sign(straight, turns, standardize_pictures(prints), standardize_pictures(about)))
    return out


def standardize_pictures(pictures: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """(r, n) pictures (..., h, w) so that products of two are their correlations"""
    told = np.asarray(pictures, np.float32)
    told = told.reshape(-1, told.shape[-2] * told.shape[-1])
    told = told - told.mean(1, keepdims=True)
    return told / (np.linalg.norm(told, axis=1, keepdims=True) + 1e-6)


def lay_sign(one: Sign, other: Sign, partner: int) -> Laid:
    """Where one's sign is most like what lies about the other, light for dark too. partner: the one's
    number"""
    fits = np.abs(one.prints @ other.about.T)
    turn, place = np.unravel_index(fits.argmax(), fits.shape)
    wide = round(len(other.about) ** 0.5)
    aside = (np.array([place % wide, place // wide]) - (wide - 1) / 2) / PIXELS_A_MM
    turned = turn_matrix(one.turns[turn] + other.straight - one.straight)
    return Laid(partner, float(fits[turn, place]), turn_matrix(other.straight) @ aside, turned)
