"""How a copy's pieces look, from its specimens: as they lie, and which way up."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import cv2
import msgspec
import numpy as np

from calibration.learned.painter import Look
from calibration.learned.specimens import Specimen, forms_laid_askew, place_patch
from calibration.learned.whole_looks import looks_by_kind
from vision.geometry.footprints import lies_below
from vision.plan import Piece, Plan

INNER_MARGIN = 0.15  # of a look's sides by which one may be cut out beside another
SAME_PRINT = 0.8  # correlation from which two prints are taken for the same in other colours


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
        for kind, patches in looks_by_kind(
            [s for s in specimens if (s.kind in partners and not lies_loose(s)) == straight]
        ).items():
            piece = plan.pieces[kind]
            lies = (
                "any"
                if kind in loose or piece.disc or piece.footprint in askew
                else "upright"
                if ("cluster" if piece.footprint in cards else "pile", piece.footprint) in upright
                else "quarters"
            )
            out.setdefault(kind, []).extend(
                Look(
                    piece,
                    p,
                    soft_mask(piece.footprint, piece.disc, p.shape[:2], scale),
                    np.median(p.reshape(-1, 3), 0).astype(np.float32),
                    scale,
                    lies,
                    0.0 if straight else None,
                )
                for p in patches
            )
    straighten_looks(plan, out, partners)
    turn_looks(plan, out)
    share_directed_looks(plan, out)
    return out


def turn_looks(plan: Plan, looks: dict[str, list[Look]]) -> None:
    """Adds how kinds look that only their turn tells from others (`looks`, `turned`), of which it is
    known how they lie"""
    for piece in plan.piece:
        for kind, other, by in (
            ((piece.kind, piece.looks, piece.turned), (piece.looks, piece.kind, -piece.turned))
            if piece.looks
            else ()
        ):
            if not any(v.turned is not None for v in looks.get(kind, ())):
                known = [
                    msgspec.structs.replace(v, turned=v.turned + by)
                    for v in looks.get(other, ())
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
    """Finds how looks of unknown turn have to be turned to lie straight, by the looks of other kinds
    that show the same print in other colours"""
    known = [v for k in sorted(kinds) for v in looks.get(k, ()) if v.turned is not None]
    for kind in sorted(kinds):
        mine = looks.get(kind, [])
        if plan.pieces[kind].looks or any(v.turned is not None for v in mine):
            continue
        found = [
            (turn_between(v, o), v) for v in mine for o in known if o.piece.disc == v.piece.disc
        ]
        (likeness, turn), look = max(found, key=lambda f: f[0][0], default=((0.0, 0.0), None))
        if look is not None and likeness > SAME_PRINT:
            looks[kind] = [*mine, msgspec.structs.replace(look, turned=turn)]


def turn_between(look: Look, other: Look) -> tuple[float, float]:
    """(correlation of two prints, light for dark too; degrees by which `look` has then to be turned
    to lie straight). other: a look of which it is known how it lies"""
    n = 32
    y, x = np.mgrid[:n, :n] + 0.5 - n / 2
    inside = np.hypot(x, y) < 0.4 * n

    def print_at(v: Look, turn: float) -> np.ndarray:
        m = place_patch(np.full(2, n / 2 - 0.5), turn, v.patch.shape, n / max(v.patch.shape[:2]))
        grey = cv2.warpAffine(v.patch.mean(2), m, (n, n), flags=cv2.INTER_LINEAR)[inside]
        grey = grey - grey.mean()
        return grey / (np.linalg.norm(grey) + 1e-6)

    turns = np.arange(0, 360, 5.0)
    aim = print_at(other, (other.turned or 0.0) - (other.piece.turned or 0.0))
    alike = np.abs(np.stack([print_at(look, t) for t in turns]) @ aim)
    best = int(alike.argmax())
    return float(alike[best]), float(turns[best])


def soft_mask(size: Sequence[float], disc: bool, shape: Sequence[int], scale: float) -> np.ndarray:
    """(h, w) 0..1 of a footprint, its very rim left out: there the photo mixed it with the ground"""
    h, w = shape
    y, x = np.mgrid[:h, :w]
    if disc:
        inside = min(h, w) / 2 - np.hypot(x - w / 2 + 0.5, y - h / 2 + 0.5)
    else:
        inside = np.minimum(np.minimum(x + 0.5, w - 0.5 - x), np.minimum(y + 0.5, h - 0.5 - y))
    return np.clip(inside - 0.4, 0, 1).astype(np.float32)
