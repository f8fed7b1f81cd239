"""Tiles and cards: the pieces that lie below the loose ones, nearly straight on their site. Finds and names them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import cv2
import msgspec
import numpy as np

from vision.cluster_canvas import Frame, sample
from vision.cluster_cut import cut, free_of, in_pixels, is_canvas, is_mask
from vision.cluster_polar import dot
from vision.cluster_rough import Rough
from vision.cluster_turns import turns_of
from vision.kernels import Kernel
from vision.light import CLIPPED, too_bright

LOOSE_MM, LOOSE_DEG = 5.0, 9.0      # how sloppily a card may lie on its site
NOISE = 10.0                        # grey levels a good match is off by, print and light together
SHAKE = 0.25                        # mm by which a card may still lie off after settling, or its print differ
ASIDE, BAND = 3.0, 1.0              # mm by which all cards may have been laid aside; beside an edge that tell where it is
LAST = 8                            # turns of learning a sheet
AT_ONCE = 8                         # cards worked on together: what they take stays near the processor
TINT = 1.12                         # by which one card's light may be of another colour than that around it
CAP = 9.0                           # squared misfit (in NOISE) above which a pixel shows something else
UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))    # of a symmetric matrix,
WHOLE = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])         # and where each of its numbers is among those

_settle, _misfits = Kernel("settle_cards", "BBnnnldnfnfffffnxxxxx"), Kernel("misfit_cards", "Bnndnfnffnffxlf")


class Sheet(msgspec.Struct, frozen=True, eq=False, dict=True):
    """How all base kinds of one size look: (K, h, w, 3) float32 in the empty board's light, `scale` pixels a mm."""

    size: tuple[float, float]
    height: float
    scale: float
    kinds: tuple[str, ...]
    looks: np.ndarray

    @cached_property
    def prints(self) -> dict[tuple[int, float], Any]:
        """What paint() of cluster_scene.py has made ready: number of the kind, pixels a mm of the canvas -> Print"""
        return {}

    def grid(self, step: int = 1) -> np.ndarray:
        """(h, w, 2) mm offsets from the middle, for every `step`-th pixel"""
        return grid_of(self.size, self.scale, step)


def grid_of(size: tuple[float, float], scale: float, step: int = 1) -> np.ndarray:
    """(h, w, 2) mm offsets from a rectangle's middle"""
    w, h = max(int(round(size[0] * scale)), 4), max(int(round(size[1] * scale)), 4)
    x = ((np.arange(w) + 0.5) / w - 0.5) * size[0]
    y = ((np.arange(h) + 0.5) / h - 0.5) * size[1]
    if step > 1:
        x, y = x[: w // step * step].reshape(-1, step).mean(1), y[: h // step * step].reshape(-1, step).mean(1)
    return np.stack(np.meshgrid(x, y), -1).astype(np.float32)


def planar(a: np.ndarray) -> np.ndarray:
    """(N, 3, h w) of (N, h, w, 3): arithmetic with one colour at a time is several times as quick"""
    return np.ascontiguousarray(a.reshape(len(a), -1, 3).transpose(0, 2, 1))


def halved(a: np.ndarray, step: int) -> np.ndarray:
    """(N, h, w, c) averaged over step x step pixels"""
    n, h, w, c = a.shape
    h2, w2 = h // step, w // step
    return a[:, :h2 * step, :w2 * step].reshape(n, h2, step, w2, step, c).mean((2, 4))


class Level:
    """Looks (K, h, w, 3) of cards of one size, thinned to every `step`-th pixel, with what shifting and turning changes"""

    def __init__(self, looks: np.ndarray, size: tuple[float, float], scale: float, step: int = 1) -> None:
        self.grid = grid_of(size, scale, step)
        self.looks = halved(looks, step) if step > 1 else looks
        k = len(looks)
        pitch = float(np.abs(self.grid[0, 1, 0] - self.grid[0, 0, 0]))
        gy, gx = np.gradient(self.looks, pitch, axis=(1, 2))
        gt = gy * self.grid[..., 0][None, ..., None] - gx * self.grid[..., 1][None, ..., None]
        edge = (gx ** 2 + gy ** 2).mean(-1) * SHAKE ** 2
        self.surety = (1 / (NOISE ** 2 + edge)).astype(np.float32)              # (K, h, w): 1 / grey levels²
        J = np.stack([gx, gy, gt], -1).astype(np.float32)                       # (K, h, w, 3, 3)
        self.planes = planar(self.looks)
        self.slopes = np.ascontiguousarray(J.transpose(0, 4, 3, 1, 2).reshape(k, 9, -1))        # (K, 3 ways of 3 colours, h w)
        self.squares = np.stack([(J[..., i] * J[..., j]).sum(-1).reshape(k, -1) for i, j in UPPER], 1)          # (K, 6, h w)

    def offsets(self, scale: float) -> np.ndarray:
        """(2, h w) float32: the grid in pixels of a canvas"""
        return np.ascontiguousarray((self.grid * np.float32(scale)).reshape(-1, 2).T)

    def misfits_at(self, canvas: np.ndarray, frame: Frame, pose: np.ndarray, light: np.ndarray) -> np.ndarray:
        """misfits() of what a canvas shows at (N, 3) poses"""
        if not (_misfits and is_canvas(canvas)):
            return self.misfits(cut(canvas, frame, self.grid, pose, light), light)
        light = np.ascontiguousarray(light, np.float32)
        limit = np.float32(CLIPPED) * light
        limit[~too_bright(self.planes.max((0, 2)), limit).any(1)] = np.inf
        out = np.empty((len(pose), len(self.looks)), np.float32)
        _misfits(canvas, *canvas.shape[:2], in_pixels(frame, pose), len(pose), self.offsets(frame.scale), self.planes.shape[2],
                 self.planes, self.surety, len(self.looks), light, limit, CAP, np.array([-1]), out)
        return out

    def misfits(self, got: np.ndarray, light: np.ndarray) -> np.ndarray:
        """(N, K) how badly each kind explains (N, h, w, 3) patches in (N, 3) factors of light, a pixel's share held below CAP"""
        out = np.empty((len(got), len(self.looks)), np.float32)
        most = self.planes.max((0, 2))
        for i, one in enumerate(planar(got)):
            limit = (CLIPPED * light[i]).astype(np.float32)
            r = one - (np.minimum(self.planes, limit[:, None]) if too_bright(most, limit).any() else self.planes)
            off = np.einsum("kcp,kcp->kp", r, r) * (self.surety / 3).reshape(len(r), -1)
            out[i] = np.minimum(off, CAP).mean(1)
        return out

    @cached_property
    def alike(self) -> np.ndarray:
        """(K, K) bool: kinds of which one seen as it was learnt would hardly speak against the other"""
        return self.misfits(self.looks, np.full((len(self.looks), 3), np.inf)) < 0.5 * CAP

    def settle(self, canvas: np.ndarray, frame: Frame, kinds: np.ndarray, pose: np.ndarray, rounds: int,
               light: np.ndarray | None = None, reach: float = LOOSE_MM, hidden: np.ndarray | None = None
               ) -> tuple[np.ndarray, np.ndarray]:
        """Shifts and turns (N, 3) poses until the canvas shows look kinds[n] there; what covers it is outlier, or known: hidden,
        (h, w) uint8 on the canvas.

        Returns poses and (N, 3) factors of light left over."""
        if light is None:
            light = np.ones_like(pose)
        if _settle and is_canvas(canvas) and (hidden is None or is_mask(hidden)):
            px, gain, scale = in_pixels(frame, pose), np.ones(pose.shape, np.float32), frame.scale
            _settle(canvas, hidden, *canvas.shape[:2], hidden is not None,
                    np.ascontiguousarray(kinds), px, len(px), self.offsets(scale), self.planes.shape[2], self.planes, self.slopes,
                    self.squares, np.ascontiguousarray(light, np.float32), gain, rounds, scale, reach * scale, np.radians(LOOSE_DEG),
                    NOISE, TINT)
            return np.column_stack([frame.to_mm(px[:, :2]), px[:, 2]]), gain
        parts = [slice(i, i + AT_ONCE) for i in range(0, len(pose), AT_ONCE)]
        done = [self.settle_few(canvas, frame, kinds[p], pose[p].astype(float), rounds, light[p], reach, hidden) for p in parts]
        if not done:
            return pose.astype(float), np.ones(pose.shape, np.float32)
        return np.concatenate([p for p, _ in done]), np.concatenate([g for _, g in done])

    def settle_few(self, canvas: np.ndarray, frame: Frame, kinds: np.ndarray, pose: np.ndarray, rounds: int,
                   light: np.ndarray, reach: float, hidden: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """settle() for no more than the processor has at hand at once"""
        start = pose
        n = len(pose)
        looks, slopes, squares = self.planes[kinds], self.slopes[kinds], self.squares[kinds]
        gain = np.ones((n, 3), np.float32)
        whole, limit = looks, CLIPPED * light[..., None].astype(np.float32)
        most = whole.max((0, 2))[:, None]
        for i in range(rounds):
            if too_bright(most, limit).any():      # the print as a camera shows it that sees nothing brighter
                looks = np.minimum(whole, limit * gain[..., None])
            got = planar(cut(canvas, frame, self.grid, pose)) * light[..., None].astype(np.float32)
            free = 1.0 if hidden is None else free_of(hidden, frame, self.grid, pose).reshape(n, -1)
            tau = NOISE * (3.0 if i < rounds / 2 else 2.0)
            for _ in range(2 if i == 0 else 1):
                r = got * gain[..., None] - looks
                w = free / (1 + np.einsum("ncp,ncp->np", r, r) / (3 * tau ** 2)) ** 2
                wg = w[:, None] * got
                gain = plausible(np.einsum("ncp,ncp->nc", wg, looks) / (np.einsum("ncp,ncp->nc", wg, got) + 1))
            r = got * gain[..., None] - looks
            A = (squares @ w[..., None])[:, WHOLE, 0]
            b = slopes.reshape(n, 3, -1) @ (w[:, None] * r).reshape(n, -1, 1)
            A = A + np.eye(3) * (1e-3 * A + 1e-3)
            d = -np.linalg.solve(A, b)[..., 0]
            d = d.clip((-1.5, -1.5, -0.05), (1.5, 1.5, 0.05))
            c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
            pose = pose + np.stack([c * d[:, 0] - s * d[:, 1], s * d[:, 0] + c * d[:, 1], d[:, 2]], -1)
            turn = np.radians(LOOSE_DEG)
            pose = start + (pose - start).clip((-reach, -reach, -turn), (reach, reach, turn))
        return pose, gain


def plausible(gain: np.ndarray, tones: tuple[float, float] = (0.7, 1.4)) -> np.ndarray:
    """(N, 3) factors of light that one card may need: brighter or darker, but hardly of another colour: that makes stone of sand"""
    tone = np.exp(np.log(gain.clip(0.2, 5)).mean(1, keepdims=True))
    return (tone.clip(*tones) * (gain / tone).clip(1 / TINT, TINT)).astype(np.float32)


def by_outline(strange: np.ndarray, frame: Frame, size: tuple[float, float], centre: np.ndarray) -> np.ndarray:
    """(N, 3) poses of rectangles around (N, 2) mm centres, where `strange` (h, w: 0 board, 1 not board) is full inside
    and empty around; needs no knowledge of the print."""
    k = 1.0
    angles = np.radians(np.arange(-8, 9, 2.0))
    half = np.array(size) / 2 + LOOSE_MM + 2
    n = np.ceil(half * k).astype(int)
    grid = np.stack(np.meshgrid(np.arange(-n[0], n[0] + 1), np.arange(-n[1], n[1] + 1)), -1) / k
    soft = cv2.blur(strange, (3, 3))
    out = np.zeros((len(centre), 3))
    kernels = []
    for a in angles:
        c, s = np.cos(a), np.sin(a)
        u = np.abs(grid[..., 0] * c + grid[..., 1] * s) - size[0] / 2
        v = np.abs(-grid[..., 0] * s + grid[..., 1] * c) - size[1] / 2
        edge = np.maximum(u, v)
        inner = ((edge <= 0) & (edge > -3)).astype(np.float32)
        outer = ((edge > 0) & (edge <= 3)).astype(np.float32)
        kernels.append(inner / inner.sum() - outer / outer.sum())
    reach = int(LOOSE_MM * k)
    near = np.arange(-reach, reach + 1) / k
    far = ((near[:, None] ** 2 + near ** 2) * 0.01).astype(np.float32)
    for i, c in enumerate(centre):
        patch = sample(soft, frame.to_px(c + grid))[..., 0]
        best = -np.inf
        for a, kernel in zip(angles, kernels):
            got = cv2.filter2D(patch, cv2.CV_32F, kernel, borderType=cv2.BORDER_REPLICATE)
            got = got[n[1] - reach:n[1] + reach + 1, n[0] - reach:n[0] + reach + 1] - far
            j = int(got.argmax())
            if got.flat[j] > best:   # ties and touching neighbours: the nearer to the middle the likelier
                best = got.flat[j]
                y, x = divmod(j, got.shape[1])
                out[i] = c[0] + (x - reach) / k, c[1] + (y - reach) / k, a
    return out


def parts_of(kind: str) -> list[str]:
    """The parts of a kind's name that say how it looks: what stands first in a long one only says what sort of thing it is"""
    parts = kind.replace("/", ":").split(":")
    return parts[1:] if len(parts) > 2 else parts


def centred_on(strange: Sequence[np.ndarray], frame: Frame, size: tuple[float, float], shots: Sequence[int], pose: np.ndarray
               ) -> np.ndarray:
    """(N, 3) poses moved alike, so that cards end where on average what is strange of the board does: laid by each other's print
    alone they may all lie aside. shots: which of the (h, w) 0..1 each is seen in"""
    n = np.ceil((np.array(size) / 2 + LOOSE_MM) / SHAKE).astype(int)
    grid = np.stack(np.meshgrid(np.arange(-n[0], n[0] + 1), np.arange(-n[1], n[1] + 1)), -1) * SHAKE
    mean = np.zeros(grid.shape[:2], np.float32)
    for shot, (x, y, a) in zip(shots, pose):
        c, s = np.cos(a), np.sin(a)
        mean += sample(strange[shot], frame.to_px(grid @ np.array([[c, s], [-s, c]]) + (x, y)))[..., 0] / len(pose)
    out = np.abs(grid) - np.array(size) / 2
    edge = out.max(-1)
    kernel = ((edge <= 0) & (edge > -BAND)) / ((edge <= 0) & (edge > -BAND)).sum() - (
        (edge > 0) & (edge <= BAND)) / ((edge > 0) & (edge <= BAND)).sum()
    fit = cv2.filter2D(mean, cv2.CV_32F, kernel.astype(np.float32), borderType=cv2.BORDER_REPLICATE)
    reach = round(ASIDE / SHAKE)
    fit = fit[n[1] - reach:n[1] + reach + 1, n[0] - reach:n[0] + reach + 1]
    y, x = np.unravel_index(fit.argmax(), fit.shape)
    shift = (np.array([x, y, reach]) - reach) * SHAKE
    return np.array([composed(p, shift) for p in pose]) if np.hypot(*shift[:2]) > 2 * SHAKE else pose


def related(a: str, b: str) -> float:
    """1 for the same kind, less for kinds that share a part of their name in the same place, 0 for strangers"""
    if a == b:
        return 1.0
    x, y = parts_of(a), parts_of(b)
    if len(x) != len(y) or a.count(":") != b.count(":") or (len(x) < 2 and a.count(":") < 1):
        return 0.0
    return 0.25 * sum(p == q for p, q in zip(x, y)) / len(x)


def merged(patches: np.ndarray, kinds: Sequence[str], tau: float = 22.0) -> dict[str, np.ndarray]:
    """kind -> (h, w, 3): what the patches of a kind agree on; where pieces cover them, what related kinds confirm."""
    soft = patches.astype(np.float32)
    shape = soft.shape[1:3]
    out = {}
    for kind in dict.fromkeys(kinds):
        mine = [i for i, k in enumerate(kinds) if k == kind]
        kin = kin_of(kind, kinds, soft, tau)
        own = np.stack([sum((near(soft[i], soft[j], tau) for j in mine if j != i), np.zeros(shape, np.float32)) for i in mine])
        support = own + 0.05 + np.stack([sum((r * near(soft[i], soft[j], tau) for j, r in kin), np.zeros(shape, np.float32))
                                         for i in mine])
        w = support ** 6
        look = (w[..., None] * soft[mine]).sum(0) / w.sum(0)[..., None]
        hidden = (own.max(0) < 0.3) & (support.max(0) < 0.6)    # something else lay there each time
        if kin and hidden.any():
            there = soft[[j for j, _ in kin]][:, hidden]
            says = [r[hidden] for _, r in kin]
            backed = np.stack([sum(r * near(v, u, tau) for u, r in zip(there, says)) for v in there])
            w = backed ** 6
            borrowed = (w[..., None] * there).sum(0) / w.sum(0)[..., None]
            look[hidden] = np.where((backed.max(0) > 0.8)[:, None], borrowed, look[hidden])
        out[kind] = look
    return out


def remerged(patches: np.ndarray, kinds: Sequence[str], free: np.ndarray) -> dict[str, np.ndarray]:
    """kind -> (h, w, 3): the same, now that it is known what of each patch lies free, (M, h, w) 0..1"""
    before = merged(patches, kinds)
    out = {}
    for kind, look in before.items():
        mine = [i for i, k in enumerate(kinds) if k == kind]
        w = free[mine] ** 4
        own = (w[..., None] * patches[mine]).sum(0) / (w.sum(0)[..., None] + 1e-6)
        share = (w.max(0) * 2 - 1).clip(0, 1)[..., None]
        kin = kin_of(kind, kinds, patches, 22.0)
        if kin:
            says = np.stack([r * free[j] ** 4 for j, r in kin])
            lent = (says[..., None] * patches[[j for j, _ in kin]]).sum(0) / (says.sum(0)[..., None] + 1e-6)
            look = np.where((says.max(0) > 0.05)[..., None], lent, look)
        out[kind] = own * share + look * (1 - share)
    return out


def kin_of(kind: str, kinds: Sequence[str], patches: np.ndarray, tau: float) -> list[tuple[int, np.ndarray]]:
    """(index, (h, w) 0..1 say) of patches whose kinds share a part of the name: what shares a part has a say where all
    that share it look alike, for that is where the part is printed"""
    out: list[tuple[int, np.ndarray]] = []
    mine = parts_of(kind)
    for slot, part in enumerate(mine):
        members = [j for j, k in enumerate(kinds) if k != kind and len(parts_of(k)) == len(mine) and parts_of(k)[slot] == part]
        if len(mine) > 1 and members:
            middle = np.median(patches[members], 0)
            alike = np.mean([near(patches[j], middle, tau) for j in members], 0) ** 3
            out += [(j, (0.25 * alike).astype(np.float32)) for j in members]
    return out


def near(a: np.ndarray, b: np.ndarray, tau: float) -> np.ndarray:
    """0..1: how well two colours (..., 3) agree"""
    off = a - b
    return np.exp(dot(off, off) / np.float32(-6 * tau ** 2))


def composed(pose: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """(3,) pose of what lies at `inner` in the frame of something that lies at `pose`"""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array([pose[0] + c * inner[0] - s * inner[1], pose[1] + s * inner[0] + c * inner[1], pose[2] + inner[2]])


def alike(looks: dict[str, np.ndarray], size: tuple[float, float], scale: float) -> dict[str, np.ndarray]:
    """kind -> (3,) shift and turn that lays its look as those of its relatives lie, so that what kinds share falls together"""
    kinds = list(looks)
    grid = grid_of(size, scale)
    h, w = grid.shape[:2]
    frame = Frame(-size[0] / 2, -size[1] / 2, scale, w, h)
    pairs: dict[tuple[str, str], tuple[float, np.ndarray]] = {}
    for b in kinds:
        kin = [a for a in kinds if a != b and related(a, b) > 0]
        if kin:
            canvas = looks[b].clip(0, 255).astype(np.uint8)
            stack = np.stack([looks[a] for a in kin])
            pose, gain = Level(stack, size, scale, 2).settle(canvas, frame, np.arange(len(kin)), np.zeros((len(kin), 3)), 8, reach=2.5)
            got = cut(canvas, frame, grid, pose, gain)
            fit = (((got - stack) ** 2).mean(-1) < (2 * NOISE) ** 2).mean((1, 2))
            pairs |= {(a, b): (float(f), p) for a, f, p in zip(kin, fit, pose)}
    out: dict[str, np.ndarray] = {}
    for start in kinds:
        if start in out:
            continue
        out[start] = np.zeros(3)
        while True:
            edges = [(pairs[a, b][0], a, b) for a in out for b in kinds if b not in out and (a, b) in pairs]
            if not edges:
                break
            _, a, b = max(edges)
            out[b] = composed(pairs[a, b][1], out[a])
    return out


def learn_sheet(canvases: Sequence[np.ndarray], strange: Sequence[np.ndarray], frame: Frame,
                seen: Sequence[tuple[int, np.ndarray, str, str]], lights: Sequence[np.ndarray],
                size: tuple[float, float], height: float
                ) -> tuple[Sheet, np.ndarray, dict[str, float]]:
    """seen: (which canvas, (2,) mm where the site's middle appears, kind, group of sites that lie alike).

    Returns the sheet, the (N, 3) poses at which each was found, and group -> radians by which its cards are turned."""
    scale = min(frame.scale, 2.2)
    grid = grid_of(size, scale)
    pose = np.zeros((len(seen), 3))
    for n in set(s[0] for s in seen):
        which = [i for i, s in enumerate(seen) if s[0] == n]
        pose[which] = by_outline(strange[n], frame, size, np.array([seen[i][1] for i in which]))
    patches = np.concatenate([cut(canvases[s[0]], frame, grid, pose[i:i + 1], lights[i:i + 1]) for i, s in enumerate(seen)])
    quarters = turns_of(patches, [s[2] for s in seen], [s[3] for s in seen], size[0] == size[1])
    turns = {g: q * np.pi / 2 for g, q in quarters.items()}
    pose[:, 2] += [turns[s[3]] for s in seen]
    kinds = [s[2] for s in seen]
    home = np.array([[*s[1], turns[s[3]]] for s in seen])
    for turn in range(LAST + 1):
        patches = np.concatenate([cut(canvases[s[0]], frame, grid, pose[i:i + 1], lights[i:i + 1])
                                  for i, s in enumerate(seen)])
        looks = merged(patches, kinds)
        if turn == LAST:
            break
        if turn == LAST - 1:
            pose = centred_on(strange, frame, size, [s[0] for s in seen], pose)
            continue
        if turn in (1, 4, 6):
            shifts = alike(looks, size, scale)
            pose = np.array([composed(p, shifts[k]) for p, k in zip(pose, kinds)])
            continue
        names = list(looks)
        stack = np.stack([looks[k] for k in names])
        which = np.array([names.index(k) for k in kinds])
        level = Level(stack, size, scale, 2)
        for n in set(s[0] for s in seen):
            mine = np.array([i for i, s in enumerate(seen) if s[0] == n])
            if turn == 0:
                rough = Rough(stack, size)
                blurred = cv2.blur(canvases[n], (rough.blur(frame),) * 2)
                found = rough.search(blurred, frame, home[mine], lights[mine])[0]
                pose[mine] = found[np.arange(len(mine)), which[mine]]
            pose[mine], _ = level.settle(canvases[n], frame, which[mine], pose[mine], 6, lights[mine], reach=2.0)
    return Sheet(size, height, scale, tuple(looks), np.stack(list(looks.values())).astype(np.float32)), pose, turns
