"""Kinds told apart only by how they lie: which way a cut-out was turned, and what a turn says."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.cutout import Exemplar, footprint_mask
from vision.evidence import Contents
from vision.match import ANGLES, Rings, cut_field
from vision.plan import Plan

SURE = 9.0           # degrees that a piece may lie askew: one standard deviation
TELLING = 15.0       # nats that a cut-out's misfit, a mean square, tells of how it is turned
DOUBT = 0.004        # chance that a turn says nothing
RIM = 0.3            # mm along a piece's edge that show what it lies on


def plain(contents: Contents, plan: Plan) -> Contents:
    """Contents with each kind that is another one turned as that other one"""
    return tuple((plan.pieces[k].looks or k) if k in plan.pieces else k for k in contents)


def turned_kinds(contents: Contents, plan: Plan) -> dict[Contents, float]:
    """What may lie there when it looks like `contents`: contents -> degrees, modulo a quarter turn; empty where a turn says
    nothing"""
    if not contents:
        return {}
    others = {(*contents[:-1], p.kind): p.turned % 90 for p in plan.piece if p.looks == contents[-1]}
    return {contents: 0.0} | others if others else {}


def structure(e: Exemplar) -> Exemplar:
    """The cut-out without its colours: how much each place stands out from most of the piece, lighter or darker alike, and
    as strongly in all: a faint print must not resemble anything that is faint"""
    m = len(e.picture)
    inner = e.picture[m // 4:-m // 4, m // 4:-m // 4]
    off = np.abs(e.picture - np.median(inner, (0, 1))).max(-1)
    own = footprint_mask(e.size, e.disc, m, e.scale, -RIM)
    off -= (off * own).sum() / own.sum()
    off /= np.sqrt((off ** 2 * own).sum() / own.sum()) + 1e-6
    return msgspec.structs.replace(e, picture=np.repeat((off * 0.3)[..., None], 3, 2).astype(np.float32))


def named_alike(a: str, b: str) -> int:
    """How many parts two names share in the same place: seed:red:flax and seed:white:flax share two"""
    return sum(x == y for x, y in zip(a.split(":"), b.split(":")))


def off_straight(pieces: list[Exemplar], plan: Plan) -> np.ndarray:
    """(E,) degrees modulo a quarter turn by which each cut-out's picture is turned from lying straight on its site. Those
    borrowed from elsewhere lie in any turn: they are laid like the piece, of those named most alike, that most resembles
    them in all but colour."""
    out = np.zeros(len(pieces))
    for n, e in enumerate(pieces):
        if not e.borrowed:
            out[n] = plan.pieces[e.contents[-1]].turned % 90
    known = [n for n, e in enumerate(pieces) if not e.borrowed and turned_kinds(plain(e.contents, plan), plan)]
    for n, e in enumerate(pieces):
        if not e.borrowed or not turned_kinds(plain(e.contents, plan), plan):
            continue
        models = [m for m in known if pieces[m].size == e.size]
        if not models:
            continue
        names = [named_alike(plain(e.contents, plan)[-1], plain(pieces[m].contents, plan)[-1]) for m in models]
        models = [m for m, k in zip(models, names) if k == max(names)]
        rings = Rings.fit([structure(pieces[m]) for m in models])
        step = np.arange(-2, 2.1, 0.5) / 20 * e.size[0]
        middle = np.stack(np.meshgrid(step, step), -1).reshape(-1, 2)
        misfit = rings.compare(cut_field(structure(e)), np.zeros(len(middle), int), middle)
        _, best, turn = np.unravel_index(int(misfit.argmin()), misfit.shape)
        out[n] = (out[models[best]] + turn * 360 / ANGLES) % 90
    return out


def split(options: dict[Contents, float], degrees: np.ndarray, misfit: np.ndarray) -> dict[Contents, float]:
    """Natural logarithm of how likely each of `options` (contents -> degrees) is, given the turns (n,) modulo a quarter in which it
    may be seen, and how badly it fits in each (n,)"""
    weight = np.exp(-TELLING * (misfit - misfit.min()))
    off = (degrees - np.array(list(options.values()))[:, None] + 45) % 90 - 45
    like = (np.exp(-0.5 * (off / SURE) ** 2) * weight / weight.sum()).sum(1) + DOUBT
    return dict(zip(options, np.log(like / like.sum()).tolist()))
