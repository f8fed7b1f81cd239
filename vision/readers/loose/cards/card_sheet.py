"""Learns a sheet of tiles or cards: where each lies in the samplers, and the print that those of a
kind and its relatives share."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.photometry.canvas import Frame, sample_canvas
from vision.readers.loose.cards.card_level import LOOSE_MM, NOISE, SHAKE, Level, Sheet, grid_of
from vision.readers.loose.cards.coarse_search import Rough
from vision.readers.loose.cards.orientation import turns_of
from vision.readers.loose.scene.polar_patches import dot
from vision.readers.loose.scene.resampling import cut

# mm by which all cards may have been laid aside; beside an edge that tell where it is
ASIDE, BAND = 3.0, 1.0
LAST = 8  # turns of learning a sheet


def by_outline(
    strange: np.ndarray, frame: Frame, size: tuple[float, float], centre: np.ndarray
) -> np.ndarray:
    """(N, 3) poses of rectangles around (N, 2) mm centres, where `strange` (h, w: 0 board, 1 not
    board) is full inside and empty around; needs no knowledge of the print."""
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
    far = ((near[:, None] ** 2 + near**2) * 0.01).astype(np.float32)
    for i, c in enumerate(centre):
        patch = sample_canvas(soft, frame.to_px(c + grid))[..., 0]
        best = -np.inf
        for a, kernel in zip(angles, kernels):
            got = cv2.filter2D(patch, cv2.CV_32F, kernel, borderType=cv2.BORDER_REPLICATE)
            got = got[n[1] - reach : n[1] + reach + 1, n[0] - reach : n[0] + reach + 1] - far
            j = int(got.argmax())
            # ties and touching neighbours: the nearer to the middle the likelier
            if got.flat[j] > best:
                best = got.flat[j]
                y, x = divmod(j, got.shape[1])
                out[i] = c[0] + (x - reach) / k, c[1] + (y - reach) / k, a
    return out


def parts_of(kind: str) -> list[str]:
    """The parts of a kind's name that say how it looks: what stands first in a long one only says
    what sort of thing it is"""
    parts = kind.replace("/", ":").split(":")
    return parts[1:] if len(parts) > 2 else parts


def centred_on(
    strange: Sequence[np.ndarray],
    frame: Frame,
    size: tuple[float, float],
    shots: Sequence[int],
    pose: np.ndarray,
) -> np.ndarray:
    """(N, 3) poses moved alike, so that cards end where on average what is strange of the board
    does: laid by each other's print alone they may all lie aside. shots: which of the (h, w) 0..1
    each is seen in"""
    n = np.ceil((np.array(size) / 2 + LOOSE_MM) / SHAKE).astype(int)
    grid = np.stack(np.meshgrid(np.arange(-n[0], n[0] + 1), np.arange(-n[1], n[1] + 1)), -1) * SHAKE
    mean = np.zeros(grid.shape[:2], np.float32)
    for shot, (x, y, a) in zip(shots, pose):
        c, s = np.cos(a), np.sin(a)
        mean += sample_canvas(
            strange[shot], frame.to_px(grid @ np.array([[c, s], [-s, c]]) + (x, y))
        )[..., 0] / len(pose)
    away, edge = grid / (np.array(size) / 2), (np.abs(grid) - np.array(size) / 2).max(-1)
    inner, outer = (edge <= 0) & (edge > -BAND), (edge > 0) & (edge <= BAND)
    sides = []
    for axis in (0, 1):
        for way in (-1, 1):
            side = way * away[..., axis] >= np.abs(away[..., 1 - axis])
            kernel = (inner & side) / (inner & side).sum() - (outer & side) / (outer & side).sum()
            sides.append(
                cv2.filter2D(
                    mean, cv2.CV_32F, kernel.astype(np.float32), borderType=cv2.BORDER_REPLICATE
                )
            )
    fit = np.min(sides, 0)  # on all four: a frame printed within a card ends like it on two
    reach = round(ASIDE / SHAKE)
    fit = fit[n[1] - reach : n[1] + reach + 1, n[0] - reach : n[0] + reach + 1]
    y, x = np.unravel_index(fit.argmax(), fit.shape)
    shift = (np.array([x, y, reach]) - reach) * SHAKE
    return (
        np.array([composed(p, shift) for p in pose]) if np.hypot(*shift[:2]) > 2 * SHAKE else pose
    )


def related(a: str, b: str) -> float:
    """1 for the same kind, less for kinds that share a part of their name in the same place, 0 for
    strangers"""
    if a == b:
        return 1.0
    x, y = parts_of(a), parts_of(b)
    if len(x) != len(y) or a.count(":") != b.count(":") or (len(x) < 2 and a.count(":") < 1):
        return 0.0
    return 0.25 * sum(p == q for p, q in zip(x, y)) / len(x)


def merged(patches: np.ndarray, kinds: Sequence[str], tau: float = 22.0) -> dict[str, np.ndarray]:
    """kind -> (h, w, 3): what the patches of a kind agree on; where pieces cover them, what related
    kinds confirm."""
    soft = patches.astype(np.float32)
    shape = soft.shape[1:3]
    out = {}
    for kind in dict.fromkeys(kinds):
        mine = [i for i, k in enumerate(kinds) if k == kind]
        kin = kin_of(kind, kinds, soft, tau)
        own = np.stack(
            [
                sum(
                    (near(soft[i], soft[j], tau) for j in mine if j != i),
                    np.zeros(shape, np.float32),
                )
                for i in mine
            ]
        )
        support = (
            own
            + 0.05
            + np.stack(
                [
                    sum(
                        (r * near(soft[i], soft[j], tau) for j, r in kin),
                        np.zeros(shape, np.float32),
                    )
                    for i in mine
                ]
            )
        )
        w = support**6
        look = (w[..., None] * soft[mine]).sum(0) / w.sum(0)[..., None]
        hidden = (own.max(0) < 0.3) & (support.max(0) < 0.6)  # something else lay there each time
        if kin and hidden.any():
            there = soft[[j for j, _ in kin]][:, hidden]
            says = [r[hidden] for _, r in kin]
            backed = np.stack(
                [sum(r * near(v, u, tau) for u, r in zip(there, says)) for v in there]
            )
            w = backed**6
            borrowed = (w[..., None] * there).sum(0) / w.sum(0)[..., None]
            look[hidden] = np.where((backed.max(0) > 0.8)[:, None], borrowed, look[hidden])
        out[kind] = look
    return out


def remerged(patches: np.ndarray, kinds: Sequence[str], free: np.ndarray) -> dict[str, np.ndarray]:
    """kind -> (h, w, 3): the same, now that it is known what of each patch lies free, (M, h, w)
    0..1"""
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
            lent = (says[..., None] * patches[[j for j, _ in kin]]).sum(0) / (
                says.sum(0)[..., None] + 1e-6
            )
            look = np.where((says.max(0) > 0.05)[..., None], lent, look)
        out[kind] = own * share + look * (1 - share)
    return out


def kin_of(
    kind: str, kinds: Sequence[str], patches: np.ndarray, tau: float
) -> list[tuple[int, np.ndarray]]:
    """(index, (h, w) 0..1 say) of patches whose kinds share a part of the name: what shares a part
    has a say where all that share it look alike, for that is where the part is printed"""
    out: list[tuple[int, np.ndarray]] = []
    mine = parts_of(kind)
    for slot, part in enumerate(mine):
        members = [
            j
            for j, k in enumerate(kinds)
            if k != kind and len(parts_of(k)) == len(mine) and parts_of(k)[slot] == part
        ]
        if len(mine) > 1 and members:
            middle = np.median(patches[members], 0)
            alike = np.mean([near(patches[j], middle, tau) for j in members], 0) ** 3
            out += [(j, (0.25 * alike).astype(np.float32)) for j in members]
    return out


def near(a: np.ndarray, b: np.ndarray, tau: float) -> np.ndarray:
    """0..1: how well two colours (..., 3) agree"""
    off = a - b
    return np.exp(dot(off, off) / np.float32(-6 * tau**2))


def composed(pose: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """(3,) pose of what lies at `inner` in the frame of something that lies at `pose`"""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array(
        [
            pose[0] + c * inner[0] - s * inner[1],
            pose[1] + s * inner[0] + c * inner[1],
            pose[2] + inner[2],
        ]
    )


def alike(
    looks: dict[str, np.ndarray], size: tuple[float, float], scale: float
) -> dict[str, np.ndarray]:
    """kind -> (3,) shift and turn that lays its look as those of its relatives lie, so that what
    kinds share falls together"""
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
            pose, gain = Level(stack, size, scale, 2).settle(
                canvas, frame, np.arange(len(kin)), np.zeros((len(kin), 3)), 8, reach=2.5
            )
            got = cut(canvas, frame, grid, pose, gain)
            fit = (((got - stack) ** 2).mean(-1) < (2 * NOISE) ** 2).mean((1, 2))
            pairs |= {(a, b): (float(f), p) for a, f, p in zip(kin, fit, pose)}
    out: dict[str, np.ndarray] = {}
    for start in kinds:
        if start in out:
            continue
        out[start] = np.zeros(3)
        while True:
            edges = [
                (pairs[a, b][0], a, b)
                for a in out
                for b in kinds
                if b not in out and (a, b) in pairs
            ]
            if not edges:
                break
            _, a, b = max(edges)
            out[b] = composed(pairs[a, b][1], out[a])
    return out


def learn_sheet(
    canvases: Sequence[np.ndarray],
    strange: Sequence[np.ndarray],
    frame: Frame,
    seen: Sequence[tuple[int, np.ndarray, str, str]],
    lights: Sequence[np.ndarray],
    size: tuple[float, float],
    height: float,
) -> tuple[Sheet, np.ndarray, dict[str, float]]:
    """seen: (which canvas, (2,) mm where the site's middle appears, kind, group of sites that lie
    alike).

    Returns the sheet, the (N, 3) poses at which each was found, and group -> radians by which its
    cards are turned."""
    scale = min(frame.scale, 2.2)
    grid = grid_of(size, scale)
    pose = np.zeros((len(seen), 3))
    for n in set(s[0] for s in seen):
        which = [i for i, s in enumerate(seen) if s[0] == n]
        pose[which] = by_outline(strange[n], frame, size, np.array([seen[i][1] for i in which]))
    patches = np.concatenate(
        [
            cut(canvases[s[0]], frame, grid, pose[i : i + 1], lights[i : i + 1])
            for i, s in enumerate(seen)
        ]
    )
    quarters = turns_of(patches, [s[2] for s in seen], [s[3] for s in seen], size[0] == size[1])
    turns = {g: q * np.pi / 2 for g, q in quarters.items()}
    pose[:, 2] += [turns[s[3]] for s in seen]
    kinds = [s[2] for s in seen]
    home = np.array([[*s[1], turns[s[3]]] for s in seen])
    for turn in range(LAST + 1):
        patches = np.concatenate(
            [
                cut(canvases[s[0]], frame, grid, pose[i : i + 1], lights[i : i + 1])
                for i, s in enumerate(seen)
            ]
        )
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
            pose[mine], _ = level.settle(
                canvases[n], frame, which[mine], pose[mine], 6, lights[mine], reach=2.0
            )
    return (
        Sheet(size, height, scale, tuple(looks), np.stack(list(looks.values())).astype(np.float32)),
        pose,
        turns,
    )
