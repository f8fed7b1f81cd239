"""Which loose pieces explain a picture: places compared with every look, the best taken, what it covers taken out, again."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.cluster_canvas import Frame, Lean
from vision.cluster_polar import Form, Rings, Table, ideal, slopes, turned

SURE = 0.3          # share of the gain of a perfect match below which a piece is not there
LIGHT_STEP = 24


class Scene(msgspec.Struct, eq=False):
    """One picture on the canvas: seen (h, w, 3) uint8, ground (the empty board and the cards found), weight (h, w)
    float32 1/grey levels² (0 where something known covers), strange (h, w) 0..1, factors of light."""

    frame: Frame
    lean: Lean
    seen: np.ndarray
    ground: np.ndarray
    weight: np.ndarray
    strange: np.ndarray
    light: np.ndarray           # (h, w, 3) float32, coarse: LIGHT_STEP pixels a cell

    def light_at(self, mm: np.ndarray) -> np.ndarray:
        """(N, 3) factors at (N, 2) mm"""
        px = self.frame.to_px(mm) / LIGHT_STEP
        x = px[:, 0].round().astype(int).clip(0, self.light.shape[1] - 1)
        y = px[:, 1].round().astype(int).clip(0, self.light.shape[0] - 1)
        return self.light[y, x]


class Piece(msgspec.Struct, eq=False):
    """A piece found. at: (2,) canvas mm of its top; foot: (2,) board mm; gains: per kind, how much better than bare
    ground it explains what is seen (log-likelihood); turn in radians; ideal: the gain of a perfect match here."""

    form: Form
    at: np.ndarray
    foot: np.ndarray
    turn: float
    kinds: tuple[str, ...]
    gains: np.ndarray
    best: int
    ideal: float = 0.0

    @property
    def gain(self) -> float:
        return float(self.gains[self.best])

    @property
    def kind(self) -> str:
        return self.kinds[self.best]


class Fine:
    """The kinds of one form at full resolution"""

    def __init__(self, form: Form, scale: float, kinds: Sequence[str], looks: np.ndarray) -> None:
        self.form, self.kinds, self.looks = form, tuple(kinds), looks
        self.rings = Rings.around(form, scale)
        self.area = self.rings.area(form)
        self.table = Table(self.rings, looks, np.broadcast_to(self.area, looks.shape[:3]))
        self.slopes = slopes(self.rings, looks)


class Kit:
    """Forms of much the same size, compared coarsely all at once"""

    def __init__(self, fines: Sequence[Fine]) -> None:
        self.fines = list(fines)
        self.inner = min(f.form.inner for f in fines)
        pitch = self.inner / 4
        self.rings = Rings(max(f.form.outer for f in fines), pitch, 32)
        looks = np.concatenate([self.rings.resampled(f.looks, f.rings) for f in fines])
        areas = np.concatenate([np.broadcast_to(self.rings.area(f.form), (len(f.kinds), *self.rings.cell.shape)) for f in fines])
        self.table = Table(self.rings, looks, areas)
        ends = np.cumsum([0, *(len(f.kinds) for f in fines)])
        self.parts = [slice(a, b) for a, b in zip(ends[:-1], ends[1:])]


def kits_of(fines: Sequence[Fine]) -> list[Kit]:
    """Big pieces first: small ones lie on them"""
    out: list[list[Fine]] = []
    for f in sorted(fines, key=lambda f: -f.form.outer):
        if out and out[-1][0].form.outer < 1.7 * f.form.outer:
            out[-1].append(f)
        else:
            out.append([f])
    return [Kit(k) for k in out]


def raster(scene: Scene, inner: float, allowed: np.ndarray, share: float = 0.2) -> np.ndarray:
    """(N, 2) canvas mm where a piece of this size may lie: enough of what is there is strange"""
    r = inner * 0.8
    step = max(inner * 0.42, 1.5 / scene.frame.scale)
    k = max(int(round(2 * r * scene.frame.scale)), 1)
    dense = cv2.blur(scene.strange, (k, k))
    h, w = dense.shape
    nx, ny = int(w / scene.frame.scale / step), int(h / scene.frame.scale / step)
    gx, gy = np.meshgrid((np.arange(nx) + 0.5) * step, (np.arange(ny) + 0.5) * step)
    px = np.round(np.stack([gx, gy], -1).reshape(-1, 2) * scene.frame.scale - 0.5).astype(int)
    ok = (dense[px[:, 1], px[:, 0]] > share) & (allowed[px[:, 1], px[:, 0]] > 0)
    return scene.frame.to_mm(px[ok].astype(float))


def cover(scene: Scene, form: Form, foot: np.ndarray, turn: float, grown: float = 0.8) -> None:
    """What a piece hides counts no more: its top, and for a high one its sides"""
    base = form.outline(foot, turn, grown)
    top = base + scene.lean.shift(base, form.height)
    hull = cv2.convexHull(np.vstack([base, top]).astype(np.float32)).reshape(-1, 2) if form.height > 3 else top
    px = np.round(scene.frame.to_px(hull)).astype(np.int32)
    cv2.fillPoly(scene.weight, [px], 0.0)
    cv2.fillPoly(scene.strange, [px], 0.0)


def find(scene: Scene, kits: Sequence[Kit], allowed: np.ndarray, least: float, most: int = 300) -> list[Piece]:
    """Pieces that explain the scene. allowed: the (h, w) mask of where their tops may appear.

    scene.weight, ground and strange are used up."""
    out: list[Piece] = []
    for kit in kits:
        out += find_of(scene, kit, allowed, least, most - len(out), kit is not kits[-1])
    return out


def find_of(scene: Scene, kit: Kit, allowed: np.ndarray, least: float, most: int, below: bool) -> list[Piece]:
    """The pieces of one kit; below: smaller ones may lie on them"""
    at = raster(scene, kit.inner, allowed)
    if not len(at):
        return []
    n = max(int(kit.rings.step * scene.frame.scale), 1)
    seen, ground = cv2.blur(scene.seen, (n, n)), cv2.blur(scene.ground, (n, n))
    gain = np.zeros((len(at), len(kit.fines)), np.float32)
    stale = np.ones(len(at), bool)
    out: list[Piece] = []
    while len(at) and len(out) < most:
        for part in np.array_split(np.flatnonzero(stale), stale.sum() // 400 + 1):
            if len(part):
                patch = kit.rings.look_at(scene.frame, seen, ground, scene.weight, at[part], scene.light_at(at[part]))
                each = kit.table.gains(patch)[0]
                gain[part] = np.stack([each[:, p].max(1) for p in kit.parts], 1)
        stale[:] = False
        keep = gain.max(1) > least * 0.5
        at, gain, stale = at[keep], gain[keep], stale[keep]
        found = apart([p for p in candidates(scene, kit, (seen, ground), at, gain) if p.gain > max(least, SURE * p.ideal)])
        if not found:
            break
        gone = np.zeros(len(at), bool)
        for p in found:
            cover(scene, p.form, p.foot, p.turn)
            d = np.linalg.norm(at - p.at, axis=1)
            stale |= d < kit.rings.r[-1] + p.form.outer + 1
            gone |= d < 0.5 * (kit.inner + p.form.inner)
        out += found
        at, gain, stale = at[~gone], gain[~gone], stale[~gone]
    return out


def nudged(scene: Scene, kit: Kit, blurred: tuple[np.ndarray, np.ndarray], at: np.ndarray, form: int) -> np.ndarray:
    """Places between those of the raster at which a form fits better still, coarsely"""
    step = kit.inner * 0.21
    ring = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [1, -1], [-1, 1], [-1, -1]]) * step
    for shrink in (1.0, 0.5):
        around = (at[:, None] + ring * shrink).reshape(-1, 2)
        patch = kit.rings.look_at(scene.frame, *blurred, scene.weight, around, scene.light_at(around))
        gain = kit.table.gains(patch)[0][:, kit.parts[form]].max(1).reshape(len(at), -1)
        at = at + ring[gain.argmax(1)] * shrink
    return at


def candidates(scene: Scene, kit: Kit, blurred: tuple[np.ndarray, np.ndarray], at: np.ndarray, gain: np.ndarray
               ) -> list[Piece]:
    """The best places of each form, refined; gain: (N, forms) at (N, 2) canvas mm"""
    out: list[Piece] = []
    if not len(at):
        return out
    far = np.linalg.norm(at[:, None] - at[None], axis=2)
    top = np.where(far < kit.inner, gain.max(1)[None], 0).max(1)
    for i, fine in enumerate(kit.fines):
        near = np.where(far < 0.75 * fine.form.inner, gain[:, i][None], -np.inf).max(1)
        peaks = np.flatnonzero((gain[:, i] >= near) & (gain[:, i] > 0.4 * top))
        if len(peaks):
            out += refined(scene, fine, nudged(scene, kit, blurred, at[peaks], i))
    return out


def apart(found: Sequence[Piece]) -> list[Piece]:
    """The best ones of those that stand in each other's way"""
    out: list[Piece] = []
    for p in sorted(found, key=lambda p: -p.gain):
        if all(np.linalg.norm(p.at - q.at) > 0.9 * (p.form.inner + q.form.inner) for q in out):
            out.append(p)
    return out


def refined(scene: Scene, fine: Fine, at: np.ndarray, rounds: int = 3) -> list[Piece]:
    """The pieces at (N, 2) canvas mm, shifted to where they fit best (a few mm at most)"""
    at = np.array(at, float)
    n = np.arange(len(at))
    step = 2 * np.pi / fine.rings.angles
    for i in range(rounds + 1):
        patch = fine.rings.look_at(scene.frame, scene.seen, scene.ground, scene.weight, at, scene.light_at(at))
        if i in (0, 1, rounds):
            gains, turns = fine.table.gains(patch)
            best = gains.argmax(1)
            turn = turns[n, best]
        if i == rounds:
            break
        lying = turned(patch.seen, turn)
        r = lying - fine.looks[best]
        w = turned(patch.weight, turn) * fine.area
        w = w / (1 + (r ** 2).mean(-1) / (30.0 if i == 0 else 20.0) ** 2) ** 2
        J = fine.slopes[best].reshape(len(at), -1, 3)
        wj = J * np.repeat(w.reshape(len(at), -1), 3, 1)[..., None]
        A = J.transpose(0, 2, 1) @ wj
        b = (wj.transpose(0, 2, 1) @ r.reshape(len(at), -1, 1))
        A += 0.003 * A * np.eye(3) + 1e-6 * np.eye(3)
        d = -np.linalg.solve(A, b)[..., 0]
        d = d[:, :2] * np.minimum(1, 0.35 * fine.form.inner / (np.linalg.norm(d[:, :2], axis=1) + 1e-9))[:, None]
        c, s = np.cos(turn * step), np.sin(turn * step)
        at[:, 0] += c * d[:, 0] - s * d[:, 1]
        at[:, 1] += s * d[:, 0] + c * d[:, 1]
    foot = scene.lean.foot(at, fine.form.height)
    seen = type(patch)(turned(patch.seen, turn), turned(patch.ground, turn), turned(patch.weight, turn))
    perfect = ideal(np.broadcast_to(fine.area, seen.weight.shape), fine.looks[best], seen)
    return [Piece(fine.form, at[i], foot[i], float(turn[i] * step), fine.kinds, gains[i], int(best[i]), float(perfect[i]))
            for i in range(len(at))]


def searched(scene: Scene, fine: Fine, at: np.ndarray, reach: float, step: float) -> np.ndarray:
    """(2,) canvas mm near `at` where the form fits best, by trying all places on a net"""
    net = np.arange(-reach, reach + step / 2, step)
    places = at + np.stack(np.meshgrid(net, net), -1).reshape(-1, 2)
    patch = fine.rings.look_at(scene.frame, scene.seen, scene.ground, scene.weight, places, scene.light_at(places))
    return places[fine.table.gains(patch)[0].max(1).argmax()]


def polygons(frame: Frame, outlines: Sequence[np.ndarray], grow: float = 0.0) -> np.ndarray:
    """(h, w) uint8 mask of outlines in mm, grown by some mm"""
    out = np.zeros((frame.height, frame.width), np.uint8)
    for o in outlines:
        cv2.fillPoly(out, [np.round(frame.to_px(o)).astype(np.int32)], 1)
    if grow > 0:
        n = int(np.ceil(grow * frame.scale))
        out = cv2.dilate(out, np.ones((2 * n + 1, 2 * n + 1), np.uint8))
    return out
