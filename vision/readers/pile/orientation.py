"""Kinds told apart only by how they lie: which way a cut-out was turned, and what a turn says."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.plan import Plan
from vision.readers.pile.exemplar import Exemplar, footprint_mask
from vision.readers.pile.fine_match import ANGLES, Rings, cut_field

SURE = 9.0  # degrees that a piece may lie askew: one standard deviation
LAID = 5.0  # and one that a sampler's owner lays straight
# of a footprint, that tells its turn: its rim is lit from where the lamp is, however it lies
PRINT = 0.8
# of a print that tell its turn, each by itself: by all but colour; against one of the same kind
PLACES, ALIKE = 10, 30
CLOSEST = 0.05  # least misfit, a mean square, that two views of a print have
ASTRAY = 0.01  # chance that a cut-out says nothing of how another is turned
DOUBT = 0.004  # chance that a turn says nothing
ROUNDS = 3  # in which cut-outs tell each other how they lie
ZEROS = ANGLES // 4
STEPS = np.arange(ZEROS) * 90 / ZEROS  # degrees


def plain(contents: Contents, plan: Plan) -> Contents:
    """Contents with each kind that is another one turned as that other one"""
    return tuple(plan.pieces[k].looks_like if k in plan.pieces else k for k in contents)


def turned_kinds(contents: Contents, plan: Plan) -> dict[Contents, float]:
    """What may lie there when it looks like `contents`: contents -> degrees, modulo a quarter turn;
    empty where a turn says nothing"""
    if not contents:
        return {}
    others = {
        (*contents[:-1], p.kind): p.turned % 90 for p in plan.piece if p.looks == contents[-1]
    }
    return {contents: 0.0} | others if others else {}


def structure(e: Exemplar) -> Exemplar:
    """The cut-out without its colours: how much each place stands out from most of the piece,
    lighter or darker alike, and
    as strongly in all: a faint print must not resemble anything that is faint"""
    m = len(e.picture)
    inner = e.picture[m // 4 : -m // 4, m // 4 : -m // 4]
    off = np.abs(e.picture - np.median(inner, (0, 1))).max(-1)
    own = footprint_mask((PRINT * e.size[0], PRINT * e.size[1]), e.disc, m, e.scale)
    off -= (off * own).sum() / own.sum()
    off *= own / (np.sqrt((off**2 * own).sum() / own.sum()) + 1e-6)
    return msgspec.structs.replace(
        e, picture=np.repeat((off * 0.3)[..., None], 3, 2).astype(np.float32)
    )


def named_alike(a: str, b: str) -> int:
    """How many parts two names share in the same place: seed:red:flax and seed:white:flax share
    two"""
    return sum(x == y for x, y in zip(a.split(":"), b.split(":")))


def off_straight(pieces: list[Exemplar], plan: Plan) -> np.ndarray:
    """(E, ZEROS) natural logarithm of how likely each cut-out's picture is turned from lying
    straight on its site by so many of the steps of which a quarter turn has ZEROS. Those borrowed
    from elsewhere lie in any turn: how they lie against each of those named most alike is compared,
    by all but colour where the colour is another, and all are laid together. A print that looks
    much the same in several turns leaves several likely, and what is read by it then says so."""
    prior = np.full((len(pieces), ZEROS), -np.log(ZEROS))
    looks = [plain(e.contents, plan) for e in pieces]
    some = [n for n, look in enumerate(looks) if turned_kinds(look, plan)]
    for n in (n for n, e in enumerate(pieces) if not e.borrowed):
        prior[n] = scaled(
            -0.5 * (degrees_apart(STEPS, plan.pieces[pieces[n].contents[-1]].turned) / LAID) ** 2
        )
    told = prior.copy()
    for size in {pieces[n].size for n in some}:
        mine = [n for n in some if pieces[n].size == size]
        against = compared(mine, pieces, looks)
        for _ in range(ROUNDS):
            new = told.copy()
            for n, each in against.items():
                said = [passed(told[m], turn) for m, turn in each]
                new[n] = scaled(prior[n] + np.sum(said, 0))
            told = new
    return told


def compared(
    mine: list[int], pieces: list[Exemplar], looks: list[Contents]
) -> dict[int, list[tuple[int, np.ndarray]]]:
    """borrowed cut-out -> others named most alike, each with (ZEROS,) natural logarithm of how
    likely it is turned by so many steps against that one; mine: numbers of cut-outs of one size"""
    out: dict[int, list[tuple[int, np.ndarray]]] = {}
    inner = [
        msgspec.structs.replace(pieces[n], size=tuple(PRINT * s for s in pieces[n].size))
        for n in mine
    ]
    bare = [msgspec.structs.replace(structure(pieces[n]), size=e.size) for n, e in zip(mine, inner)]
    rings = [(Rings.fit(some), some, places) for some, places in ((bare, PLACES), (inner, ALIKE))]
    step = np.arange(-2, 2.1, 0.5) / 20 * pieces[mine[0]].size[0]
    middle = np.stack(np.meshgrid(step, step), -1).reshape(-1, 2)
    for i, n in enumerate(mine):
        alike = {k: named_alike(looks[n][-1], looks[m][-1]) for k, m in enumerate(mine) if k != i}
        if not pieces[n].borrowed or not alike:
            continue
        most = max((a for k, a in alike.items() if looks[mine[k]] != looks[n]), default=0)
        out[n] = []
        fits = [
            -places
            / 2
            * np.log(
                np.maximum(
                    r.compare(cut_field(some[i]), np.zeros(len(middle), int), middle).min(0),
                    CLOSEST,
                )
            )
            for r, some, places in rings
        ]
        for k in (k for k, a in alike.items() if a >= most or looks[mine[k]] == looks[n]):
            fit = fits[looks[mine[k]] == looks[n]][k]
            turn = scaled(np.logaddexp.reduce(fit.reshape(4, ZEROS), 0))
            out[n].append((mine[k], np.logaddexp(turn + np.log1p(-ASTRAY), np.log(ASTRAY / ZEROS))))
    return out


def passed(told: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """(ZEROS,) what a cut-out told to lie so (ZEROS,) says of another that is turned against it so
    (ZEROS,): natural logarithms"""
    steps = np.arange(ZEROS)
    return np.logaddexp.reduce(told + turn[(steps[:, None] - steps) % ZEROS], axis=1)


def scaled(logs: np.ndarray) -> np.ndarray:
    """Natural logarithms of what together is certain"""
    return logs - np.logaddexp.reduce(logs)


def degrees_apart(some: np.ndarray, others: np.ndarray | float) -> np.ndarray:
    """Degrees, modulo a quarter turn, that some lie off others"""
    return (some - others + 45) % 90 - 45


def split(
    options: dict[Contents, float], degrees: np.ndarray, misfit: np.ndarray, zero: np.ndarray
) -> dict[Contents, float]:
    """Natural logarithm of how likely each of `options` (contents -> degrees) is, given the turns
    (c, n) against each of some cut-outs in which it may be seen, how badly it fits each so (c, n),
    and how these lie themselves (c, ZEROS), as off_straight() has it"""
    turns = np.array(list(options.values()))
    like = np.zeros(len(turns))
    for each, fit, straight in zip(
        degrees, scaled_rows(-ALIKE / 2 * np.log(np.maximum(misfit, CLOSEST))), zero
    ):
        off = degrees_apart(each[:, None] + STEPS, turns[:, None, None])
        mine = (np.exp(-0.5 * (off / SURE) ** 2) * np.exp(fit)[:, None] * np.exp(straight)).sum(
            (1, 2)
        ) + 1e-9
        like += np.log(mine / mine.sum() * (1 - ASTRAY) + ASTRAY)
    chance = np.exp(scaled(like)) + DOUBT
    return dict(zip(options, np.log(chance / chance.sum()).tolist()))


def scaled_rows(logs: np.ndarray) -> np.ndarray:
    """scaled() of each row"""
    return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)


def beliefs(zero: np.ndarray) -> np.ndarray:
    """(E, ZEROS) as off_straight() has it; models of an earlier version have (E,) degrees"""
    if zero.ndim == 2:
        return zero
    return np.stack([scaled(-0.5 * (degrees_apart(STEPS, each) / LAID) ** 2) for each in zero])
