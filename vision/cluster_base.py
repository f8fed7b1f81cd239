"""Tiles and cards: the pieces that lie below the loose ones, nearly straight on their site. Finds and names them."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.cluster_canvas import Frame, sample

LOOSE_MM, LOOSE_DEG = 5.0, 9.0      # how sloppily a card may lie on its site
NOISE = 10.0                        # grey levels a good match is off by, print and light together
CAP = 9.0                           # squared misfit (in NOISE) above which a pixel shows something else


class Sheet(msgspec.Struct, frozen=True, eq=False):
    """How all base kinds of one size look: (K, h, w, 3) float32 in the empty board's light, `scale` pixels a mm."""

    size: tuple[float, float]
    height: float
    scale: float
    kinds: tuple[str, ...]
    looks: np.ndarray

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


def placed(grid: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """(N, h, w, 2) mm of a grid laid at (N, 3) poses: x, y in mm, turn in radians"""
    c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    R = np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], 1).astype(np.float32)     # row vectors times R
    return np.einsum("hwi,nij->nhwj", grid, R) + pose[:, None, None, :2].astype(np.float32)


def cut(canvas: np.ndarray, frame: Frame, grid: np.ndarray, pose: np.ndarray, light: np.ndarray | None = None) -> np.ndarray:
    """(N, h, w, 3) float32 patches at (N, 3) poses; light: (N, 3) factors"""
    got = sample(canvas, frame.to_px(placed(grid, pose)))
    return got if light is None else got * light[:, None, None, :].astype(np.float32)


def halved(a: np.ndarray, step: int) -> np.ndarray:
    """(N, h, w, c) averaged over step x step pixels"""
    n, h, w, c = a.shape
    h2, w2 = h // step, w // step
    return a[:, :h2 * step, :w2 * step].reshape(n, h2, step, w2, step, c).mean((2, 4))


def settle(canvas: np.ndarray, frame: Frame, looks: np.ndarray, grid: np.ndarray, pose: np.ndarray, rounds: int,
           light: np.ndarray | None = None, weight: np.ndarray | None = None, reach: float = LOOSE_MM
           ) -> tuple[np.ndarray, np.ndarray]:
    """Shifts and turns (N, 3) poses until the canvas shows looks (N, h, w, 3) there; what covers them is outlier.

    Returns poses and (N, 3) factors of light left over."""
    step = np.abs(grid[0, 1, 0] - grid[0, 0, 0])
    gy, gx = np.gradient(looks, step, axis=(1, 2))
    gt = gy * grid[..., 0][None, ..., None] - gx * grid[..., 1][None, ..., None]
    J = np.stack([gx, gy, gt], -1)                              # (N, h, w, 3, 3)
    start = pose.copy()
    pose = pose.astype(float).copy()
    gain = np.ones((len(pose), 3), np.float32)
    for i in range(rounds):
        got = cut(canvas, frame, grid, pose, light)
        tau = NOISE * (3.0 if i < rounds / 2 else 2.0)
        for _ in range(2):
            r = got * gain[:, None, None, :] - looks
            w = 1 / (1 + ((r ** 2).mean(-1) / tau ** 2)) ** 2
            if weight is not None:
                w = w * weight
            wt = w[..., None] * looks
            gain = ((wt * got).sum((1, 2)) / ((w[..., None] * got * got).sum((1, 2)) + 1)).clip(0.7, 1.4)
        n = len(pose)
        Jf = J.reshape(n, -1, 3)
        wf = np.repeat(w.reshape(n, -1), 3, 1)
        A = np.einsum("npi,np,npj->nij", Jf, wf, Jf, optimize=True)
        b = np.einsum("npi,np,np->ni", Jf, wf, r.reshape(n, -1), optimize=True)
        A += np.eye(3) * (1e-3 * np.trace(A, axis1=1, axis2=2)[:, None, None] / 3 + 1e-3)
        # the shift found is in the piece's own frame: the picture is ahead of the look by -d
        d = -np.linalg.solve(A, b[..., None])[..., 0]
        d[:, :2] = d[:, :2].clip(-1.5, 1.5)
        d[:, 2] = d[:, 2].clip(-0.05, 0.05)
        c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        pose[:, 0] += c * d[:, 0] - s * d[:, 1]
        pose[:, 1] += s * d[:, 0] + c * d[:, 1]
        pose[:, 2] += d[:, 2]
        off = (pose[:, :2] - start[:, :2]).clip(-reach, reach)
        pose[:, :2] = start[:, :2] + off
        pose[:, 2] = start[:, 2] + (pose[:, 2] - start[:, 2]).clip(-np.radians(LOOSE_DEG), np.radians(LOOSE_DEG))
    return pose, gain


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


def search(canvas: np.ndarray, frame: Frame, looks: np.ndarray, size: tuple[float, float], centre: np.ndarray,
           light: np.ndarray, pitch: float = 1.8) -> tuple[np.ndarray, np.ndarray]:
    """Roughly where each of K looks (K, h, w, 3) fits best near each of N (N, 3) poses.

    Returns (N, K, 3) poses and (N, K) mean squared misfits, coarse: `pitch` mm a pixel."""
    turns = np.radians([-5.0, 0.0, 5.0])
    reach = int(round(4.0 / pitch))
    w, h = (int(round(s / pitch)) for s in size)
    small = np.stack([cv2.resize(k, (w, h), interpolation=cv2.INTER_AREA) for k in looks]).reshape(len(looks), -1)
    x = (np.arange(-reach, w + reach) + 0.5 - w / 2) * size[0] / w
    y = (np.arange(-reach, h + reach) + 0.5 - h / 2) * size[1] / h
    grid = np.stack(np.meshgrid(x, y), -1).astype(np.float32)
    blurred = cv2.blur(canvas, (max(int(pitch * frame.scale), 1),) * 2)
    n = len(centre)
    shifts = [(i, j) for i in range(2 * reach + 1) for j in range(2 * reach + 1)]
    cost = np.empty((n, len(turns), len(shifts), len(looks)), np.float32)
    for t, turn in enumerate(turns):
        pose = centre + (0, 0, turn)
        got = cut(blurred, frame, grid, pose, light)
        for q, (i, j) in enumerate(shifts):
            a = got[:, i:i + h, j:j + w].reshape(n, -1)
            cost[:, t, q] = (a * a).sum(1)[:, None] - 2 * a @ small.T
    cost += (small * small).sum(1)
    cost /= small.shape[1]
    off = np.array([(((j - reach) * size[0] / w), ((i - reach) * size[1] / h)) for i, j in shifts])
    flat = cost.reshape(n, -1, len(looks))
    best = flat.argmin(1)
    t, q = np.divmod(best, len(shifts))
    pose = np.repeat(centre[:, None, :], len(looks), 1)
    pose[..., 2] += turns[t]
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    pose[..., 0] += c * off[q, 0] - s * off[q, 1]
    pose[..., 1] += s * off[q, 0] + c * off[q, 1]
    return pose, np.take_along_axis(flat, best[:, None], 1)[:, 0]


def related(a: str, b: str) -> float:
    """1 for the same kind, less for kinds that share a part of their name in the same place, 0 for strangers"""
    if a == b:
        return 1.0
    x, y = a.replace("/", ":").split(":"), b.replace("/", ":").split(":")
    if len(x) != len(y) or len(x) < 2:
        return 0.0
    if len(x) > 2:          # what stands first says what sort of thing it is, which says little about its look
        x, y = x[1:], y[1:]
    return 0.25 * sum(p == q for p, q in zip(x, y)) / len(x)


def merged(patches: np.ndarray, kinds: Sequence[str], tau: float = 22.0) -> dict[str, np.ndarray]:
    """kind -> (h, w, 3): what the patches of a kind agree on; where pieces cover them, what related kinds confirm."""
    soft = patches.astype(np.float32)
    out = {}
    for kind in dict.fromkeys(kinds):
        mine = [i for i, k in enumerate(kinds) if k == kind]
        total = np.zeros(soft.shape[1:], np.float32)
        weights = np.zeros(soft.shape[1:3], np.float32)
        for i in mine:
            support = np.full(soft.shape[1:3], 0.05, np.float32)
            for j, other in enumerate(kinds):
                rel = related(kind, other)
                if j != i and rel > 0:
                    support += rel * np.exp(-((soft[i] - soft[j]) ** 2).mean(-1) / (2 * tau ** 2))
            w = support ** 2
            total += w[..., None] * soft[i]
            weights += w
        out[kind] = total / weights[..., None]
    return out


def learn_sheet(canvases: Sequence[np.ndarray], strange: Sequence[np.ndarray], frame: Frame,
                seen: Sequence[tuple[int, np.ndarray, str, float]], lights: Sequence[np.ndarray],
                size: tuple[float, float], height: float) -> tuple[Sheet, np.ndarray]:
    """seen: (which canvas, (2,) mm where the site's middle appears, kind, quarter turns of the site in radians).

    Returns the sheet and the (N, 3) poses at which each was found."""
    scale = min(frame.scale, 2.2)
    grid = grid_of(size, scale)
    pose = np.zeros((len(seen), 3))
    for n in set(s[0] for s in seen):
        which = [i for i, s in enumerate(seen) if s[0] == n]
        pose[which] = by_outline(strange[n], frame, size, np.array([seen[i][1] for i in which]))
    pose[:, 2] += [s[3] for s in seen]
    kinds = [s[2] for s in seen]
    home = np.array([[*s[1], s[3]] for s in seen])
    for turn in range(4):
        patches = np.concatenate([cut(canvases[s[0]], frame, grid, pose[i:i + 1], lights[i:i + 1])
                                  for i, s in enumerate(seen)])
        looks = merged(patches, kinds)
        if turn == 3:
            break
        for i, s in enumerate(seen):
            look = looks[s[2]][None]
            if turn == 0:
                pose[i] = search(canvases[s[0]], frame, look, size, home[i:i + 1], lights[i:i + 1])[0][0, 0]
            pose[i:i + 1], _ = settle(canvases[s[0]], frame, look, grid, pose[i:i + 1], 5, lights[i:i + 1], reach=2.0)
    return Sheet(size, height, scale, tuple(looks), np.stack(list(looks.values())).astype(np.float32)), pose
