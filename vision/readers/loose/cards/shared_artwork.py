"""Kinds of cards that share a part of their name share a part of their print: there they are made
to look the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vision.readers.loose.cards.card_sheet import near, parts_of

ALIKE = 22.0  # grey levels by which the same print may differ once its light is evened
FIRST = 2.0  # times as much before
HAZE = 0.7, 1.4  # by how much haze or gloss may have changed the contrast of a card
LITTLE = 0.1  # of a card: so little common print tells only half of its light
FLAT = 100.0  # squared grey levels: a print with less contrast does not tell by how much


def evened(looks: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """kind -> (h, w, 3), the same as if learnt in one light.

    Each kind was learnt from a photo or two, in some corner's haze and gloss: that haze, over all
    of the card, must not outweigh the small sign that alone tells two relatives apart."""
    out = {k: look.astype(np.float32) for k, look in looks.items()}
    groups = relatives(list(out))
    for tau in (FIRST * ALIKE, ALIKE):
        most: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for group in groups:
            middle, share = common(out, group, tau)
            for k in group:
                mine = share * near(out[k], middle, tau)
                if k not in most or mine.sum() > most[k][1].sum():
                    most[k] = middle, mine
        out = {k: matched(look, *most[k]) if k in most else look for k, look in out.items()}
    return out


def agreed(looks: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """kind -> (h, w, 3), the same in one light, with the print that relatives have in common made
    one: only where they are printed differently do they then look different, not where paper or
    shadows happened to be"""
    looks = evened(looks)
    prints: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for group in relatives(list(looks)):
        middle, share = common(looks, group, ALIKE)
        for kind in group:  # what only one of many shows is its own, however well the others agree
            prints.setdefault(kind, []).append((middle, share * near(looks[kind], middle, ALIKE)))
    return {k: one_print(look, prints[k]) if k in prints else look for k, look in looks.items()}


def relatives(kinds: Sequence[str]) -> list[list[str]]:
    """Groups of kinds that have a part of their name in the same place"""
    groups: dict[tuple[int, int, str], list[str]] = {}
    for kind in kinds:
        parts = parts_of(kind)
        for slot, part in enumerate(parts) if len(parts) > 1 else ():
            groups.setdefault((len(parts), slot, part), []).append(kind)
    return [g for g in groups.values() if len(g) > 1]


def common(
    looks: Mapping[str, np.ndarray], group: Sequence[str], tau: float
) -> tuple[np.ndarray, np.ndarray]:
    """What the looks of a group agree on, (h, w, 3), and how well they do, (h, w) 0..1"""
    stack = np.stack([looks[k] for k in group])
    middle = np.median(stack, 0)
    return middle, np.mean([near(look, middle, tau) for look in stack], 0) ** 3


def matched(look: np.ndarray, print_: np.ndarray, share: np.ndarray) -> np.ndarray:
    """A look with the brightness and contrast of a print, (h, w, 3) both, where it shares it, in
    each colour"""
    w = (share / (share.sum() + 1e-6))[..., None]
    mine, theirs = (w * look).sum((0, 1)), (w * print_).sum((0, 1))
    spread, wanted = ((w * (a - m) ** 2).sum((0, 1)) for a, m in ((look, mine), (print_, theirs)))
    gain = np.sqrt((wanted + FLAT) / (spread + FLAT)).clip(*HAZE)
    sure = share.mean() / (share.mean() + LITTLE)
    return (look + sure * ((look - mine) * gain + theirs - look)).astype(np.float32)


def one_print(look: np.ndarray, prints: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """A look with what its relatives agree on, everywhere as those have it who agree best"""
    shares = np.stack([share for _, share in prints])
    best = shares.argmax(0)[None]
    middle = np.take_along_axis(np.stack([m for m, _ in prints]), best[..., None], 0)[0]
    return look + np.take_along_axis(shares, best, 0)[0][..., None] * (middle - look)
