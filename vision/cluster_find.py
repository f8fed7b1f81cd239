"""Which loose pieces explain a picture: places compared with every look, the best taken, what it covers taken out, again."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.cluster_canvas import Frame, Lean
from vision.cluster_polar import Form, Looks, Patch, look_at

SURE = 0.3          # share of the gain of a perfect match below which a piece is not there


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


LIGHT_STEP = 24


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


def gains_at(scene: Scene, looks: Looks, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, K) gains over bare ground at (N, 2) canvas mm, each in its best turn, and (N, K) those turns (steps)"""
    patch = look_at(looks.rings, scene.frame, scene.seen, scene.ground, scene.weight, at, scene.light_at(at))
    cost, none = looks.compare(patch)
    gain = none[:, None, :] - cost
    turn = gain.argmax(2)
    return np.take_along_axis(gain, turn[..., None], 2)[..., 0], turn


def raster(scene: Scene, form: Form, allowed: np.ndarray, share: float = 0.3) -> np.ndarray:
    """(N, 2) canvas mm where a piece of this form may lie: enough of what is there is strange"""
    r = form.inner * 0.8
    step = max(form.inner * 0.42, 1.5 / scene.frame.scale)
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
    big = msgspec.structs.replace(form, size=(form.size[0] + 2 * grown, form.size[1] + 2 * grown))
    base = big.outline(foot, turn)
    top = base + scene.lean.shift(base, form.height)
    hull = cv2.convexHull(np.vstack([base, top]).astype(np.float32)).reshape(-1, 2) if form.height > 3 else top
    px = np.round(scene.frame.to_px(hull)).astype(np.int32)
    cv2.fillPoly(scene.weight, [px], 0.0)
    cv2.fillPoly(scene.strange, [px], 0.0)


def find(scene: Scene, forms: dict[Form, Looks], allowed: dict[Form, np.ndarray], least: float, most: int = 200
         ) -> list[Piece]:
    """Pieces that explain the scene, best first. allowed: per form the (h, w) mask of where its top may appear.

    scene.weight and scene.strange are used up."""
    keys = list(forms)
    at, which = [], []
    for i, f in enumerate(keys):
        p = raster(scene, f, allowed[f])
        at.append(p)
        which.append(np.full(len(p), i))
    at, which = np.vstack(at), np.concatenate(which)
    gain = np.zeros(len(at), np.float32)
    stale = np.ones(len(at), bool)
    out: list[Piece] = []
    radius = np.array([f.outer for f in keys])
    inner = np.array([f.inner for f in keys])
    while len(at) and len(out) < most:
        for i, f in enumerate(keys):
            mine = np.flatnonzero(stale & (which == i))
            for part in np.array_split(mine, max(len(mine) // 400, 1)):
                if len(part):
                    gain[part] = gains_at(scene, forms[f], at[part])[0].max(1)
        stale[:] = False
        keep = gain > least * 0.5
        at, which, gain, stale = at[keep], which[keep], gain[keep], stale[keep]
        if not len(at):
            break
        found: list[Piece] = []
        for i, f in enumerate(keys):
            mine = np.flatnonzero(which == i)
            peaks: list[int] = []
            free = np.ones(len(mine), bool)
            for j in np.argsort(-gain[mine]):
                if free[j]:
                    peaks.append(mine[j])
                    free &= np.linalg.norm(at[mine] - at[mine[j]], axis=1) > 1.2 * radius[i]
            if peaks:
                found += refined(scene, f, forms[f], at[peaks])
        found = apart([p for p in found if p.gain > max(least, SURE * p.ideal)])
        if not found:
            break
        gone = np.zeros(len(at), bool)
        for p in found:
            cover(scene, p.form, p.foot, p.turn)
            d = np.linalg.norm(at - p.at, axis=1)
            stale |= d < radius[which] + p.form.outer + 1
            gone |= d < 0.5 * (inner[which] + p.form.inner)
        out += found
        at, which, gain, stale = at[~gone], which[~gone], gain[~gone], stale[~gone]
    return out


def apart(found: Sequence[Piece]) -> list[Piece]:
    """The best ones of those that stand in each other's way"""
    out: list[Piece] = []
    blocked: list[Piece] = []
    for p in sorted(found, key=lambda p: -p.gain):
        near = [np.linalg.norm(p.at - q.at) < p.form.outer + q.form.outer for q in out]
        beside = [np.linalg.norm(p.at - q.at) < p.form.inner + q.form.inner for q in blocked]
        if any(near) or any(beside):
            blocked.append(p)
        else:
            out.append(p)
    return out


def refined(scene: Scene, form: Form, looks: Looks, at: np.ndarray) -> list[Piece]:
    """The pieces at (N, 2) canvas mm, moved to where they fit best"""
    at = at.copy()
    step = form.inner * 0.2
    ring = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [1, -1], [-1, 1], [-1, -1]], float)
    for _ in range(4):
        around = (at[:, None] + ring * step).reshape(-1, 2)
        gain = gains_at(scene, looks, around)[0].max(1).reshape(len(at), -1)
        best = gain.argmax(1)
        at = at + ring[best] * step
        if (best == 0).mean() > 0.5:
            step *= 0.5
        if step < 0.2:
            break
    gains, turns = gains_at(scene, looks, at)
    best = gains.argmax(1)
    foot = scene.lean.foot(at, form.height)
    patch = look_at(looks.rings, scene.frame, scene.seen, scene.ground, scene.weight, at, scene.light_at(at))
    ideal = looks.compare(Patch(patch.ground, patch.ground, patch.weight))[0]
    ideal = ideal[np.arange(len(at)), best, turns[np.arange(len(at)), best]]
    angle = turns[np.arange(len(at)), best] * 2 * np.pi / looks.rings.angles
    return [Piece(form, at[i], foot[i], float(angle[i]), looks.kinds, gains[i], int(best[i]),
                  float(ideal[i])) for i in range(len(at))]


def polygons(frame: Frame, outlines: Sequence[np.ndarray], grow: float = 0.0) -> np.ndarray:
    """(h, w) uint8 mask of outlines in mm, grown by some mm"""
    out = np.zeros((frame.height, frame.width), np.uint8)
    for o in outlines:
        cv2.fillPoly(out, [np.round(frame.to_px(o)).astype(np.int32)], 1)
    if grow > 0:
        n = int(np.ceil(grow * frame.scale))
        out = cv2.dilate(out, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * n + 1, 2 * n + 1)))
    return out
