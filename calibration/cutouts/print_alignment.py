"""Lays cards of a kind by each other's prints: an outline tells where one lies to a millimetre, and a
print to a tenth of one. Its value: `align_prints`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from calibration.cutouts.naming import shares_part, telling_artwork
from calibration.cutouts.outlines import colour_difference
from calibration.cutouts.seek import Samplers
from calibration.cutouts.specimens import (
    Specimen,
    agreed_look,
    crop_straight,
    place_patch,
    turn_matrix,
)

CARD_RIM = 1.0  # mm at a card's rim that are left out: there it is seen mixed with the ground
# log units from which a pixel shows something else, that lies on one of the two
UNLIKE_PRINT = 0.2
# (mm either way, mm between, degrees either way, degrees between) that are tried: the closer ones later
Net = tuple[float, float, float, float]
NETS: tuple[Net, ...] = (
    (1.5, 0.5, 3.0, 1.0),
    (0.5, 0.25, 1.0, 0.5),
    (0.25, 0.125, 0.5, 0.25),
)
PIXELS_ACROSS = 48  # of a card by which prints are compared
RELUCTANCE = 0.004  # log units of likeness that a print must gain for each mm that a card is moved
MOST_OTHERS = 6  # cards of a kind that one is laid on
# of a print that those of several kinds must have in common to be compared by that
LEAST_COMMON = 0.3


def align_prints(samplers: Samplers, cards: Sequence[Specimen]) -> None:
    """Moves and turns cards so that each lies as those of its kind do, and kinds as others that share
    a part of their print."""
    kinds: dict[str, list[Specimen]] = defaultdict(list)
    for s in cards:
        kinds[s.kind].append(s)
    for net in NETS:
        for mine in kinds.values():
            if len(mine) > 1:
                moves = [best_move(samplers, s, others_look(s, mine), net)[1] for s in mine]
                # all of them moved alike are no nearer to each other
                common = np.mean(moves, 0)
                for s, move in zip(mine, moves):
                    # two that are laid on each other meet in the middle
                    move_card(samplers, s, (move - common) * (0.5 if len(mine) == 2 else 1.0))
        align_kinds(samplers, kinds, net)


def align_kinds(samplers: Samplers, kinds: Mapping[str, Sequence[Specimen]], net: Net) -> None:
    """Lays each kind on those that share a part of its print, whichever part fits best."""
    looks = {
        kind: agreed_look([s.look for s in mine][:MOST_OTHERS]) for kind, mine in kinds.items()
    }
    artwork, moves = telling_artwork(samplers.plan.artwork, kinds), {}
    for kind, mine in kinds.items():
        plain = min(mine, key=lambda s: measure_unlikeness(s.look, looks[kind]))
        told = []
        for slot in range(len(artwork.get(kind, ()))):
            kin = [looks[k] for k in looks if shares_part(artwork, kind, k, slot)]
            kin = [look for look in kin if look.shape == looks[kind].shape]
            if kin:
                kin = [in_tone(look, looks[kind]) for look in kin[:MOST_OTHERS]]
                wanted = agreed_look(kin)
                shared = (colour_difference(np.stack(kin), wanted) < UNLIKE_PRINT).all(0)
                told.append(best_move(samplers, plain, wanted, net, shared))
        if told:
            moves[kind] = min(told, key=lambda one: one[0])[1]
    common = np.mean(list(moves.values()) or [np.zeros(3)], 0)
    for kind, move in moves.items():
        for s in kinds[kind]:
            move_card(samplers, s, move - common)


def others_look(s: Specimen, mine: Sequence[Specimen]) -> np.ndarray:
    """What the others of its kind agree on"""
    return agreed_look([o.look for o in mine if o is not s][:MOST_OTHERS])


def best_move(
    samplers: Samplers,
    s: Specimen,
    wanted: np.ndarray,
    net: Net,
    common: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """(how unlike it is then, in log units; (3,) mm right and down as the card lies, and degrees
    clockwise, by which it is seen off a print (h, w, 3) log). common: (h, w) bool, what of that print
    is compared; None: all"""
    reach, step, swing, turn = net
    footprint = np.array(samplers.plan.pieces[s.kind].footprint)
    scale, view = 1 / step, samplers.view  # a pixel is a step
    w, h = np.maximum(np.round(footprint * scale).astype(int), 8).tolist()
    far, rim = round(reach / step), round(CARD_RIM / step)
    each = max(round(footprint.max() / step / PIXELS_ACROSS), 1)
    aim = cv2.resize(in_tone(wanted, s.look), (w, h), interpolation=cv2.INTER_AREA)
    aim = aim[rim : h - rim : each, rim : w - rim : each]
    told: np.ndarray | slice = slice(None)
    if common is not None:
        share = cv2.resize(common.astype(np.float32), (w, h), interpolation=cv2.INTER_AREA)
        told = share[rim : h - rim : each, rim : w - rim : each] > 0.5
        if told.mean() < LEAST_COMMON:
            told = slice(None)
    size = footprint + 2 * (reach + footprint.max() / 8)
    look = crop_straight(samplers.canvases[s.photo], view, s.top, s.turn, size)
    small = tuple(np.round(size * scale).astype(int).tolist())
    seen, middle = cv2.resize(look, small, interpolation=cv2.INTER_AREA), np.array(small) / 2 - 0.5
    best = np.inf, np.zeros(3)
    for by in np.arange(-swing, swing + turn / 2, turn):
        shape = h + 2 * far, w + 2 * far
        m = place_patch(middle, by, shape, 1.0)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        turned = cv2.warpAffine(seen, m, shape[::-1], flags=flags)
        for y, x in np.ndindex(2 * far + 1, 2 * far + 1):
            part = turned[y + rim : y + h - rim : each, x + rim : x + w - rim : each]
            right, down = (x - far) * step, (y - far) * step
            off = measure_unlikeness(part[told], aim[told])
            off += RELUCTANCE * float(np.hypot(right, down))
            if off < best[0]:
                best = off, np.array([*(turn_matrix(by) @ (right, down)), by])
    return best


def in_tone(look: np.ndarray, other: np.ndarray) -> np.ndarray:
    """A picture (h, w, 3) log in the light of another of that shape: photos' lights differ where cards
    of one kind lie"""
    return look + np.median((other - look).reshape(-1, 3), 0).astype(look.dtype)


def measure_unlikeness(one: np.ndarray, other: np.ndarray) -> float:
    """How unlike two pictures (..., 3) log are, in log units; what lies on one of them counts no more
    than so much"""
    return float(np.minimum(colour_difference(one, other), UNLIKE_PRINT).mean())


def move_card(samplers: Samplers, s: Specimen, move: np.ndarray) -> None:
    """Takes the card for lying `move` (3,) off, as of `best_move`."""
    s.top, s.turn = s.top + turn_matrix(s.turn) @ move[:2], s.turn + float(move[2])
    samplers.cut_look(s)
