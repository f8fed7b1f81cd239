"""How a copy's pieces look, from its specimens: as they lie, and which way up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

import cv2
import msgspec
import numpy as np

from calibration.cutouts.naming import differing_parts
from calibration.cutouts.outlines import colour_difference
from calibration.cutouts.seek import alike_kinds
from calibration.cutouts.specimens import Specimen, forms_laid_askew
from calibration.synthesis.painter import Look
from calibration.synthesis.whole_looks import looks_by_kind
from vision.geometry.footprints import lies_below
from vision.plan import Piece, Plan

TONE_PIXELS, TONE_ROUNDS = 200, 6  # by which a kind's tone is told, and how often anew
INNER_MARGIN = 0.15  # of a look's sides by which one may be cut out beside another
# correlation of two prints turned against each other from which they are taken for the same in other
# colours: of 99 in 100 pairs that are not it is below 0.77
SAME_PRINT = 0.8
# of a print from its middle to its rim: places about it and rings that are compared, and from which wave
# about a ring on: those before are its tone, and a lamp's side or a middle that is a little off
PRINT_TURNS, PRINT_RINGS, FIRST_WAVE = 72, 16, 2
OUTERMOST = 0.47  # of a piece's width
CLEAREST = 4  # power by which plain likenesses outweigh many faint ones


def make_looks(
    plan: Plan, scale: float, specimens: Sequence[Specimen], upright: set[tuple]
) -> dict[str, list[Look]]:
    """kind -> how it looks. A kind that only its turn tells from another (`looks`, `turned`) is
    also taken from that one, turned, where a pile shows how that lies"""

    def lies_on_cluster(s: Specimen) -> bool:
        return plan.sites[s.site].reads == "cluster"

    def lies_loose(s: Specimen) -> bool:
        return lies_on_cluster(s) and not lies_below(plan, plan.sites[s.site], s.kind)

    loose = {s.kind for s in specimens if lies_loose(s)}
    askew = forms_laid_askew(plan, specimens)
    cards = {plan.pieces[s.kind].footprint for s in specimens if lies_on_cluster(s)}
    partners = {p.kind for p in plan.piece if p.looks} | {p.looks for p in plan.piece if p.looks}
    out: dict[str, list[Look]] = {}
    for straight in (True, False):
        some = [s for s in specimens if (s.kind in partners and not lies_loose(s)) == straight]
        turned = 0.0 if straight else None
        for kind, patches in looks_by_kind(some).items():
            piece, lies = plan.pieces[kind], "quarters"
            where = "cluster" if piece.footprint in cards else "pile"
            if kind in loose or piece.disc or piece.footprint in askew:
                lies = "any"
            elif (where, piece.footprint) in upright:
                lies = "upright"
            for p in patches:
                mask = soft_mask(piece.disc, p.shape[:2])
                side = np.median(p.reshape(-1, 3), 0).astype(np.float32)
                out.setdefault(kind, []).append(Look(piece, p, mask, side, scale, lies, turned))
    out = share_tones(plan, out)
    turn_looks(plan, out)  # the same piece tells more exactly how it lies than those printed alike
    straighten_looks(plan, out, partners)
    turn_looks(plan, out)
    share_directed_looks(plan, out)
    return out


def share_tones(plan: Plan, looks: Mapping[str, Sequence[Look]]) -> dict[str, list[Look]]:
    """The looks, each in the middle tone of the kinds that are printed as its own is but for one part:
    else kinds that lie in different photos would be told by these photos' light"""
    colours = {kind: some_colours(mine) for kind, mine in looks.items()}

    @cache
    def tone_towards(kind: str, other: str) -> np.ndarray:
        return tone_between(colours[kind], colours[other])

    @cache
    def unlike_colours(kind: str, other: str) -> float:
        return colours_apart(colours[kind], colours[other])

    def spread_of(kind: str, kin: Sequence[str]) -> float:
        """Of the others about the middle one of them, and of it to them: of tones, and in their tone"""
        others = [k for k in kin if k != kind]
        tones = [tone_towards(kind, k) for k in others]
        spread = min(np.median([unlike_colours(a, b) for b in others]) for a in others)
        off = [colour_difference(tone, np.zeros(3)) for tone in tones]
        toned = [(colours[kind] + t, colours[k]) for t, k in zip(tones, others)]
        left = [max(colours_apart(a, b), colours_apart(b, a)) for a, b in toned]
        return float(max(spread, np.median(off), np.median(left)))

    def form_of(kind: str) -> tuple:
        return plan.pieces[kind].footprint, plan.pieces[kind].disc

    out = {}
    for kind, mine in looks.items():
        rivals = [k for k in looks if form_of(k) == form_of(kind)]
        kin = alike_kinds(kind, rivals, plan.artwork, spread_of)
        off = np.median([tone_towards(kind, k) for k in kin], 0)
        out[kind] = [
            msgspec.structs.replace(v, patch=v.patch + off, side=v.side + off) for v in mine
        ]
    return out


def some_colours(looks: Sequence[Look]) -> np.ndarray:
    """(TONE_PIXELS, 3) pixels of a kind, evenly out of all of its looks"""
    inside = np.concatenate([v.patch[v.mask > 0.5] for v in looks])
    return inside[np.linspace(0, len(inside) - 1, TONE_PIXELS).astype(int)]


def colours_apart(seen: np.ndarray, other: np.ndarray) -> float:
    """Log units by which colours (n, 3) differ from the nearest of others (m, 3)"""
    return float(colour_difference(seen[:, None], other).min(1).mean())


def tone_between(seen: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(3,) what brings colours (n, 3) onto others (m, 3) in another light: each to the nearest that these
    have, as iterated closest points (Besl and McKay 1992). However large a sign, it comes to a sign"""
    off = np.zeros(3, np.float32)
    for _ in range(TONE_ROUNDS):
        moved = seen + off
        apart = ((moved[:, None] - other) ** 2).sum(2)
        off = off + np.median(other[apart.argmin(1)] - moved, 0)
    return off


def turn_looks(plan: Plan, looks: dict[str, list[Look]]) -> None:
    """Adds how kinds look that only their turn tells from others (`looks`, `turned`), of which it is
    known how they lie"""
    for piece in (p for p in plan.piece if p.looks):
        one, other, by = piece.kind, piece.looks, piece.turned
        for kind, like, turn in ((one, other, by), (other, one, -by)):
            if any(v.turned is not None for v in looks.get(kind, ())):
                continue
            known = [
                msgspec.structs.replace(v, piece=plan.pieces[kind], turned=v.turned + turn)
                for v in looks.get(like, ())
                if v.turned is not None
            ]
            if known:
                looks.setdefault(kind, []).extend(known)


def share_directed_looks(plan: Plan, looks: dict[str, list[Look]]) -> None:
    """Adds how directed kinds look by the other way round of the same piece, and the other way about:
    of the only kind that it may be besides, or of those whose prints are the same turned by half"""
    for kind in [p.kind for p in plan.piece if p.directed]:
        mine = list(looks.get(kind, ()))
        family = [
            p.kind
            for p in plan.piece
            if not p.directed and plan.one[p.kind] == plan.one[kind] and looks.get(p.kind)
        ]
        for other in family:
            theirs = list(looks[other])
            if len(family) == 1 or any(
                half_turn_likeness(a, b) > SAME_PRINT for a in mine for b in theirs
            ):
                looks.setdefault(kind, []).extend(half_turned(plan.pieces[kind], v) for v in theirs)
                looks[other].extend(half_turned(plan.pieces[other], v) for v in mine)


def half_turned(piece: Piece, look: Look) -> Look:
    """A piece's look by that of the same piece lying the other way round"""
    patch, mask = (np.ascontiguousarray(v[::-1, ::-1]) for v in (look.patch, look.mask))
    return msgspec.structs.replace(look, piece=piece, patch=patch, mask=mask)


def half_turn_likeness(look: Look, other: Look) -> float:
    """Highest correlation of the middle of a print with another turned by half, a little moved about:
    neither is cut out to the pixel; 0 of looks of unlike shapes"""
    if look.patch.shape != other.patch.shape:
        return 0.0
    h, w = look.patch.shape[:2]
    y, x = (max(round(INNER_MARGIN * n), 1) for n in (h, w))
    middle = np.ascontiguousarray(look.patch.mean(2)[y : h - y, x : w - x])
    turned = np.ascontiguousarray(other.patch.mean(2)[::-1, ::-1])
    return float(cv2.matchTemplate(turned, middle, cv2.TM_CCOEFF_NORMED).max())


def straighten_looks(plan: Plan, looks: dict[str, list[Look]], kinds: Collection[str]) -> None:
    """Finds how looks of unknown turn have to be turned to lie straight, but for quarters, by the
    looks of kinds that show the same print in other colours: by all of which the plan says that they
    have most of their print in common, or else by those that look so"""
    known = [v for k in sorted(kinds) for v in looks.get(k, ()) if v.turned is not None]
    for kind in sorted(kinds):
        piece, mine = plan.pieces[kind], looks.get(kind, [])
        if piece.looks or not mine or any(v.turned is not None for v in mine):
            continue
        others = [v for v in known if v.piece.disc == piece.disc]
        told = [v for v in others if is_told_alike(plan, kind, v.piece.kind)]
        best, chosen = 0.0, None
        for look in mine:
            alike = turned_likeness(look, told or others)
            if not told:
                alike = alike[:, alike.max(0, initial=0.0) > SAME_PRINT]
            fits = (alike**CLEAREST).sum(1)
            if fits.max() > best:
                best, turn = float(fits.max()), float(fits.argmax() * 360 / PRINT_TURNS)
                chosen = msgspec.structs.replace(look, turned=turn)
        if chosen is not None:
            looks[kind] = [*mine, chosen]


def is_told_alike(plan: Plan, kind: str, other: str) -> bool:
    """Whether a plan says that two kinds have all of their print in common, but for one part at most"""
    apart = differing_parts(plan.artwork, kind, other)
    return apart is not None and len(apart) < min(2, len(plan.artwork[kind]))


def turned_likeness(look: Look, others: Sequence[Look]) -> np.ndarray:
    """(PRINT_TURNS / 4, n) highest correlation of a print, turned by so much and any quarters, with those of
    n others, of which it is known how they lie; light for dark too"""
    mine, out = ring_waves(look), np.zeros((PRINT_TURNS // 4, len(others)))
    for n, other in enumerate(others):
        straight = (other.turned or 0.0) - (other.piece.turned or 0.0)
        turned = np.exp(-2j * np.pi * np.arange(len(mine)) * straight / 360)[:, None]
        waves = (np.conj(mine) * ring_waves(other) * turned).sum(1)
        out[:, n] = np.abs(np.fft.irfft(waves, PRINT_TURNS)).reshape(4, -1).max(0)
    return out


def ring_waves(look: Look) -> np.ndarray:
    """(PRINT_TURNS / 2 + 1, PRINT_RINGS) the waves about each ring of a print, as long as one together"""
    grey = cv2.GaussianBlur(look.patch.mean(2), (0, 0), 0.7)
    h, w = grey.shape
    angle = np.arange(PRINT_TURNS)[:, None] * 2 * np.pi / PRINT_TURNS
    radius = (np.arange(PRINT_RINGS) + 0.5) / PRINT_RINGS * OUTERMOST
    x, y = w / 2 - 0.5 + w * np.cos(angle) * radius, h / 2 - 0.5 + h * np.sin(angle) * radius
    rings = cv2.remap(grey, np.float32(x), np.float32(y), cv2.INTER_LINEAR)
    waves = np.fft.rfft(rings, axis=0) * np.sqrt(radius)  # as much as there is of each ring
    waves[:FIRST_WAVE] = 0
    return waves / (np.linalg.norm(np.fft.irfft(waves, PRINT_TURNS, axis=0)) + 1e-6)


def soft_mask(disc: bool, shape: Sequence[int]) -> np.ndarray:
    """(h, w) 0..1 of a footprint, its very rim left out: there the photo mixed it with the ground"""
    h, w = shape
    y, x = np.mgrid[:h, :w]
    if disc:
        inside = min(h, w) / 2 - np.hypot(x - w / 2 + 0.5, y - h / 2 + 0.5)
    else:
        inside = np.minimum(np.minimum(x + 0.5, w - 0.5 - x), np.minimum(y + 0.5, h - 0.5 - y))
    return np.clip(inside - 0.4, 0, 1).astype(np.float32)
