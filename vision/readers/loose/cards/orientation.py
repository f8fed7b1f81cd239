"""Which way round cards lie in each part of the board, as the cards themselves tell."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

TWINS = 0.85  # of a full correlation: two prints that resemble each other more are of one kind
# how much it tells, of what prints of a kind tell, that cards of one sort have something in common
STYLE = 0.1
SIGN = 0.2  # ... that those with a sign in common look more alike than those with none
# of what speaks against a way round, that may speak against another which is believed instead
BETTER = 0.97


def turns_of(
    patches: np.ndarray, kinds: Sequence[str], groups: Sequence[str], square: bool
) -> dict[str, int]:
    """group of sites -> quarter turns by which its cards lie turned: so that those of a kind look
    alike everywhere, those with a sign in common more than others, and no two kinds the same that
    have none.

    patches: (M, h, w, 3) of cards as if none was turned."""
    quarters = (0, 1, 2, 3) if square else (0, 2)
    names = list(dict.fromkeys(groups))
    which = np.array([names.index(g) for g in groups])
    same = np.array(kinds)[:, None] == np.array(kinds)
    akin = np.array([[share_a_sign(a, b) for b in kinds] for a in kinds])
    sort = np.array([[sort_of(a) == sort_of(b) for b in kinds] for a in kinds])
    cost = np.zeros((len(names), len(names), 4))
    for q in quarters:  # the second would have to be turned by q more than the first
        like = resemblance(patches, q)
        twins = np.where(akin, 0, np.maximum(like - TWINS, 0) / (1 - TWINS))
        paid = np.where(
            same,
            1 - like,
            sort * (STYLE * (1 - like) + SIGN * np.where(akin, 1 - like, like)) + twins,
        )
        np.add.at(cost[..., q], (which[:, None], which), paid)
    turn = dict.fromkeys(range(len(names)), 0)
    for _ in range(4):
        for g in range(1, len(names)):
            total = {
                q: sum(cost[h, g, (q - turn[h]) % 4] for h in turn if h != g) for q in quarters
            }
            best = min(total, key=total.get)
            if total[best] < BETTER * total[turn[g]]:
                turn[g] = best
    return {names[g]: q for g, q in turn.items()}


def share_a_sign(a: str, b: str) -> bool:
    """Whether two kinds are called alike in a part of their names, past the word for what sort of
    thing they are"""
    return sort_of(a) == sort_of(b) and any(p == q for p, q in zip(signs(a), signs(b)))


def signs(kind: str) -> list[str]:
    """What a kind's name says is printed, part by part; of a number each digit is one"""
    parts = kind.replace("/", ":").split(":")[1:]
    return [sign for part in parts for sign in (part if part.isdigit() else [part])]


def sort_of(kind: str) -> tuple[str, int]:
    """The word for what sort of thing it is, and how many signs it has"""
    return kind.partition(":")[0], len(signs(kind))


def resemblance(patches: np.ndarray, quarter: int, side: int = 36, reach: int = 3) -> np.ndarray:
    """(M, M) correlation, at most 1, of the print of cards (M, h, w, 3) with that of others turned
    by a quarter so many times, where they fit best: they are not found to the millimetre yet"""
    small = [
        cv2.GaussianBlur(cv2.resize(p, (side, side), interpolation=cv2.INTER_AREA), (0, 0), 0.8)
        for p in patches
    ]
    prints = np.stack([s - cv2.blur(s, (side // 3, side // 3)) for s in small])
    wide = side - 2 * reach

    def even(part: np.ndarray) -> np.ndarray:
        flat = part.reshape(len(part), -1)
        return flat / (np.linalg.norm(flat, axis=1, keepdims=True) + 1e-6)

    core = even(np.rot90(prints[:, reach:-reach, reach:-reach], quarter, (1, 2)))
    return np.max(
        [
            even(prints[:, y : y + wide, x : x + wide]) @ core.T
            for y, x in np.ndindex(2 * reach + 1, 2 * reach + 1)
        ],
        0,
    )
