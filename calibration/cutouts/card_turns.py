"""Which way round cards lie in each part of the board, as the cards themselves tell. Its value:
`turn_cards`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import cv2
import numpy as np

from calibration.cutouts.naming import Artwork, measure_kinship, telling_artwork
from calibration.cutouts.specimens import Specimen
from vision.plan import Plan

TWINS = 0.85  # of a full correlation: two prints that resemble each other more are of one kind
# ... by so much more when one is turned than as they lie
UNLIKE_STRAIGHT = 0.1
# how much it tells, of what prints of a kind tell, that cards of one sort have something in common
STYLE = 0.1
SIGN = 0.2  # ... that those with a sign in common look more alike than those with none
# of what speaks against a way round, that may speak against another which is believed instead
BETTER = 0.97
ROUNDS_TURNED = 4
PRINT_SIDE, PRINT_REACH = 36, 3  # pixels of a print, and by which it may be found off
PRINT_BLUR = 0.8  # pixels by which it is blurred


def turn_cards(plan: Plan, every_card: Sequence[Specimen]) -> None:
    """Turns the cards of each size, so that those of a kind look alike everywhere: all of a group of
    sites lie the same way round."""
    sizes: dict[tuple, list[Specimen]] = defaultdict(list)
    for s in every_card:
        if not plan.pieces[s.kind].disc:
            sizes[plan.pieces[s.kind].footprint].append(s)
    for size, cards in sizes.items():
        groups = [plan.sites[s.site].group or "" for s in cards]
        looks, kinds = [s.look for s in cards], [s.kind for s in cards]
        quarters = tell_turns(looks, kinds, groups, size[0] == size[1], plan.artwork)
        for s, group in zip(cards, groups):
            s.turn_quarters(quarters[group])


def kinds_told_by_turn(plan: Plan, specimens: Sequence[Specimen]) -> set[tuple]:
    """(how a site is read, footprint, kind) of the pieces that are printed as another kind of their
    size is but for how they are turned: only who lays them one way up can tell them apart"""
    first: dict[tuple, dict[str, Specimen]] = defaultdict(dict)
    for s in specimens:
        piece = plan.pieces[s.kind]
        if not piece.disc and not piece.looks:
            first[plan.sites[s.site].reads, piece.footprint].setdefault(s.kind, s)
    out = set()
    for (way, size), kinds in first.items():
        prints = np.stack([print_of(s.look) for s in kinds.values()])
        straight = correlate_prints(prints, 0) + np.eye(len(prints))
        for q in (1, 2, 3) if size[0] == size[1] else (2,):
            like = correlate_prints(prints, q)
            twins = like > np.maximum(TWINS, straight + UNLIKE_STRAIGHT)
            out |= {(way, size, k) for k, one in zip(kinds, (twins | twins.T).any(1)) if one}
    return out


def tell_turns(
    looks: Sequence[np.ndarray],
    kinds: Sequence[str],
    groups: Sequence[str],
    square: bool,
    artwork: Artwork,
) -> dict[str, int]:
    """group of sites -> quarter turns by which its cards lie turned: so that those of a kind look
    alike everywhere, those with a sign in common more than others, and no two kinds the same that
    have none.

    looks: (h, w, 3) log of each card as if none was turned; artwork: kind -> what is printed on it,
    part by part"""
    quarters = (0, 1, 2, 3) if square else (0, 2)
    names = list(dict.fromkeys(groups))
    which = np.array([names.index(g) for g in groups])
    same = np.array(kinds)[:, None] == np.array(kinds)
    words = telling_artwork(artwork, kinds)
    parts = [words.get(k, ()) for k in kinds]
    akin = np.array([[measure_kinship(words, a, b) > 0 for b in kinds] for a in kinds])
    sort = np.array([[len(a) == len(b) > 0 for b in parts] for a in parts]) | same
    cost = np.zeros((len(names), len(names), 4))
    prints = np.stack([print_of(look) for look in looks])
    for q in quarters:  # the second would have to be turned by q more than the first
        like = correlate_prints(prints, q)
        twins = np.where(akin, 0, np.maximum(like - TWINS, 0) / (1 - TWINS))
        apart = STYLE * (1 - like) + SIGN * np.where(akin, 1 - like, like)
        paid = np.where(same, 1 - like, sort * apart + twins)
        np.add.at(cost[..., q], (which[:, None], which), paid)
    turn = [0] * len(names)
    for _ in range(ROUNDS_TURNED):
        for g in range(1, len(names)):
            total = {
                q: sum(cost[h, g, (q - turn[h]) % 4] for h in range(len(names)) if h != g)
                for q in quarters
            }
            best = min(total, key=lambda q: total[q])
            if total[best] < BETTER * total[turn[g]]:
                turn[g] = best
    return dict(zip(names, turn))


def print_of(look: np.ndarray) -> np.ndarray:
    """(PRINT_SIDE, PRINT_SIDE, 3) what is printed on a card, whatever its colour"""
    small = cv2.resize(look, (PRINT_SIDE, PRINT_SIDE), interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), PRINT_BLUR)
    return small - cv2.blur(small, (PRINT_SIDE // 3, PRINT_SIDE // 3))


def correlate_prints(prints: np.ndarray, quarter: int) -> np.ndarray:
    """(M, M) correlation, at most 1, of prints (M, PRINT_SIDE, PRINT_SIDE, 3) with others turned by so many
    quarters, where they fit best: they are not found to the millimetre"""

    def even_out(part: np.ndarray) -> np.ndarray:
        flat = part.reshape(len(part), -1)
        return flat / (np.linalg.norm(flat, axis=1, keepdims=True) + 1e-6)

    wide, inner = PRINT_SIDE - 2 * PRINT_REACH, slice(PRINT_REACH, -PRINT_REACH)
    core = even_out(np.rot90(prints[:, inner, inner], quarter, (1, 2)))
    places = np.ndindex(2 * PRINT_REACH + 1, 2 * PRINT_REACH + 1)
    fits = [even_out(prints[:, y : y + wide, x : x + wide]) @ core.T for y, x in places]
    return np.max(fits, 0)
