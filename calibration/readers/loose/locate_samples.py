"""Learning loose pieces from samplers: the layout tells what lies on a site, not where; sizes,
print and colour tell which is which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import cv2
import msgspec
import numpy as np

from vision.photometry.canvas import Frame, sample_canvas
from vision.readers.loose.cards.card_sheet import parts_of, related
from vision.readers.loose.scene.polar_patches import Form

BY_NAME = 0.2  # how much relatives say of a piece that others of its kind tell of as well


class Found(msgspec.Struct, eq=False):
    """A piece found in a sampler. at: (2,) canvas mm of its top's middle; group: which site of
    which photo; turn in radians, by its outline; kind once known; shape: how clearly its outline
    shows."""

    group: int
    form: Form
    at: np.ndarray
    score: float
    kind: str | None = None
    turn: float = 0.0
    shape: float = 0.0


def by_shape(
    strange: np.ndarray,
    frame: Frame,
    area: np.ndarray,
    wanted: Counter[Form],
    lean: Mapping[Form, np.ndarray],
    grown: float = 0.0,
    straight: bool = False,
) -> list[tuple[Form, np.ndarray, float, float]]:
    """The likeliest places of `wanted` pieces by their outlines alone, sides and all.

    strange: (h, w) 0..1, what differs from the ground; area: (n, 2) mm outline within which their
    tops' middles appear;
    lean: (2,) mm from a piece's foot to where its top appears; grown: mm by which shadows make
    everything look bigger;
    straight: nothing lies turned. Returns (form, (2,) mm, turn, score) of each."""
    k = min(frame.scale, 1.5)
    most = max(f.outer + np.abs(lean[f]).max() for f in wanted) + 2
    lo, hi = area.min(0) - most, area.max(0) + most
    w, h = np.ceil((hi - lo) * k).astype(int)
    xy = np.stack(np.meshgrid(np.arange(w), np.arange(h)), -1)
    patch = sample_canvas(cv2.blur(strange, (2, 2)), frame.to_px(lo + (xy + 0.5) / k))[..., 0]
    allowed = np.zeros((h, w), np.uint8)
    cv2.fillPoly(allowed, [np.round((area - lo) * k).astype(np.int32)], 1)
    kernels = {f: kernels_of(f, k, grown, straight, lean[f]) for f in wanted}
    whole = patch.copy()
    left = Counter(wanted)
    out: list[list] = []
    while sum(left.values()):
        f, at, turn, score = max(
            (best_of(patch, kernels[f], f, allowed) for f, n in left.items() if n > 0),
            key=lambda b: b[3],
        )
        out.append([f, at, turn, score])
        cv2.fillPoly(
            patch,
            [np.round(silhouette(f, at / k, turn, lean[f], grown) * k - 0.5).astype(np.int32)],
            0.0,
        )
        left[f] -= 1
    # a square taken for a disc and a disc for the square: change them over
    for i in range(len(out)):
        for j in range(i):
            if out[i][0] != out[j][0]:
                swapped = [
                    [f, *best_of(whole, kernels[f], f, allowed, at, 2.5 * k)[1:]]
                    for f, at in ((out[j][0], out[i][1]), (out[i][0], out[j][1]))
                ]
                now = [
                    best_of(whole, kernels[f], f, allowed, at, 2.5 * k)[3]
                    for f, at in (out[i][:2], out[j][:2])
                ]
                if swapped[0][3] + swapped[1][3] > sum(now):
                    out[i], out[j] = swapped
    return [
        (
            f,
            lo + (at + 0.5) / k,
            turn,
            score / cv2.contourArea(silhouette(f, np.zeros(2), turn, lean[f], grown)),
        )
        for f, at, turn, score in out
    ]


def silhouette(
    form: Form, at: np.ndarray, turn: float, lean: np.ndarray, grown: float = 0.0
) -> np.ndarray:
    """(n, 2) float32 mm: the outline of top and sides of a piece whose top's middle appears at a
    place"""
    top = form.outline(at, turn, grown)
    return cv2.convexHull(np.vstack([top, top - lean]).astype(np.float32)).reshape(-1, 2)


def best_of(
    patch: np.ndarray,
    kernels: Sequence[tuple[float, np.ndarray]],
    form: Form,
    allowed: np.ndarray,
    near: np.ndarray | None = None,
    reach: float = 0.0,
) -> tuple[Form, np.ndarray, float, float]:
    """(form, (2,) pixel, turn, score) of the best place on a patch, or the best within `reach`
    pixels of one"""
    x0 = y0 = 0
    inner = slice(None), slice(None)
    if near is not None:
        m = kernels[0][1].shape[0] // 2 + int(reach) + 1
        x0, y0 = (max(int(v) - m, 0) for v in near)
        patch = patch[y0 : int(near[1]) + m + 1, x0 : int(near[0]) + m + 1]
        inner = (
            slice(max(int(near[1] - reach) - y0, 0), int(near[1] + reach) - y0 + 1),
            slice(max(int(near[0] - reach) - x0, 0), int(near[0] + reach) - x0 + 1),
        )
        x0, y0 = x0 + inner[1].start, y0 + inner[0].start
    best = None
    for turn, kernel in kernels:
        got = cv2.filter2D(patch, cv2.CV_32F, kernel, borderType=cv2.BORDER_CONSTANT)[inner]
        if near is None:
            got[allowed == 0] = -np.inf
        i = int(got.argmax())
        if best is None or got.flat[i] > best[0]:
            y, x = divmod(i, got.shape[1])
            best = float(got.flat[i]), np.array([x + x0, y + y0], float), turn
    return form, best[1], best[2], best[0]


def kernels_of(
    form: Form, k: float, grown: float, straight: bool, lean: np.ndarray, ring: float = 1.6
) -> list[tuple[float, np.ndarray]]:
    """(turn, kernel) that adds what is full inside a silhouette and takes off what is full around
    it"""
    n = int(np.ceil((form.outer + np.abs(lean).max() + grown + ring) * k)) + 1
    grid = np.stack(np.meshgrid(np.arange(-n, n + 1), np.arange(-n, n + 1)), -1) / k
    square = not form.disc and form.size[0] == form.size[1]
    turns = [0.0] if form.disc else np.arange(0, 90 if square else 180, 10.0) * np.pi / 180
    if straight and not form.disc:
        turns = [t for t in turns if min(t % (np.pi / 2), -t % (np.pi / 2)) < 0.2]
    out = []
    for t in turns:
        c, s = np.cos(t), np.sin(t)
        turned_ = np.array([[c, -s], [s, c]])
        along = np.linspace(0, 1, 2 + int(np.linalg.norm(lean) * k))
        edge = np.max([form.inside((grid + t * lean) @ turned_, grown) for t in along], 0)
        soft = (edge * k + 0.5).clip(0, 1)
        around = ((edge + ring) * k + 0.5).clip(0, 1) - soft
        kernel = soft - around * 0.8
        kernel[soft > 0.5] -= 0.25
        out.append((float(t), (kernel / k**2).astype(np.float32)))
    return out


class Waves:
    """Patches (N, R, A, 3) ready to be compared, over cells (R, A) that count so much, with looks
    in every turn at once"""

    def __init__(self, patches: np.ndarray, area: np.ndarray) -> None:
        self.area, self.turns = area, patches.shape[2]
        self.series = np.fft.rfft(patches.transpose(0, 3, 1, 2), axis=3)
        squares = np.fft.rfft((patches**2).sum(-1), axis=2)
        everywhere = np.conj(np.fft.rfft(area, axis=1))
        mean = np.fft.irfft((self.series * everywhere).sum(2), self.turns, axis=2)
        square = np.fft.irfft((squares * everywhere).sum(1), self.turns, axis=1)
        self.spread = square - (mean**2).sum(1) / area.sum() + 20.0 * area.sum()

    def explained(self, look: np.ndarray, which: slice = slice(None)) -> np.ndarray:
        """(N, A): what share of the variance of these patches a look (R, A, 3) explains in each
        turn, whatever its colours"""
        area = self.area
        flat = look.reshape(-1, 3) - (look * area[..., None]).sum((0, 1)) / area.sum()
        colour = np.linalg.eigh((flat * area.reshape(-1, 1)).T @ flat)[1][:, -1]
        print_ = (flat @ colour).reshape(area.shape)
        wave = np.conj(np.fft.rfft(area * print_, axis=1))
        both = np.fft.irfft((self.series[which] * wave).sum(2), self.turns, axis=2)
        return (both**2).sum(1) / ((area * print_**2).sum() * self.spread[which])


def name_all(
    found: Sequence[Found],
    contents: dict[int, Counter[str]],
    unlike: Callable[[int, int], float],
    rounds: int = 4,
) -> None:
    """Gives every found piece its kind, so that each group gets what lies there and pieces of a
    kind look alike.

    contents: group -> kinds of this form; unlike(i, j): how differently two found pieces look, in
    any turn (0..)."""
    by_group: dict[int, list[int]] = {}
    for i, f in enumerate(found):
        by_group.setdefault(f.group, []).append(i)
    n = len(found)
    D = np.zeros((n, n), np.float32)
    for i in range(n):
        for j in range(i):
            D[i, j] = D[j, i] = unlike(i, j)
    scale = float(np.median(D[D > 0])) if n > 1 and (D > 0).any() else 1.0
    for g, members in by_group.items():
        if len(contents[g]) == 1:
            for i in members:
                found[i].kind = next(iter(contents[g]))
    kinds = sorted({k for c in contents.values() for k in c})
    for _ in range(rounds):
        changed = False
        for g in sorted(by_group, key=lambda g: len(contents[g])):
            if len(contents[g]) == 1:
                continue
            members = by_group[g]
            slots = [k for k, c in contents[g].items() for _ in range(c)]
            cost = np.array(
                [
                    [cost_of(i, k, g, found, contents, by_group, D, scale) for k in slots]
                    for i in members
                ]
            )
            for i, s in zip(members, assigned(cost)):
                changed |= found[i].kind != slots[s]
                found[i].kind = slots[s]
        if not changed and all(f.kind in kinds for f in found):
            break


def cost_of(
    i: int,
    kind: str,
    g: int,
    found: Sequence[Found],
    contents: dict[int, Counter[str]],
    by_group: dict[int, list[int]],
    D: np.ndarray,
    scale: float,
) -> float:
    """How badly found piece i fits a kind: by those known to be it, else by the groups that hold
    one, else by relatives."""
    same = sorted(
        D[i, j] for j, f in enumerate(found) if f.kind == kind and j != i and f.group != g
    )
    if same:
        return float(np.mean(same[: max(1, len(same) // 2)]))
    holders = [
        min(D[i, j] for j in members)
        for h, members in by_group.items()
        if h != g and contents[h][kind]
    ]
    if holders:
        strangers = [
            min(D[i, j] for j in members)
            for h, members in by_group.items()
            if h != g and not contents[h][kind]
        ]
        bonus = 0.3 * float(np.median(strangers)) if strangers else 0.0
        return (
            float(np.mean(holders))
            - bonus
            + 0.1 * scale
            + BY_NAME * unlike_kin(i, kind, g, found, D, scale)
        )
    kin = [
        (related(kind, f.kind), D[i, j])
        for j, f in enumerate(found)
        if f.kind and f.kind != kind and j != i
    ]
    kin = [(r, d) for r, d in kin if r > 0]
    if kin:
        top = max(r for r, _ in kin)
        return 0.5 * scale + float(np.mean(sorted(d for r, d in kin if r == top)[:3]))
    return 2 * scale


def unlike_kin(
    i: int, kind: str, g: int, found: Sequence[Found], D: np.ndarray, scale: float
) -> float:
    """How differently found piece i looks from those elsewhere that share a part of the kind's
    name: as from those of the part that it is most like. Of two kinds that lie together wherever
    they lie nothing else tells which is which."""
    parts, away = parts_of(kind), []
    for slot, part in enumerate(parts):
        kin = [
            D[i, j]
            for j, f in enumerate(found)
            if f.kind
            and f.group != g
            and f.kind != kind
            and related(kind, f.kind) > 0
            and parts_of(f.kind)[slot] == part
            and f.kind.split(":")[0] == kind.split(":")[0]
        ]
        if kin:
            away.append(float(np.median(kin)))
    return min(away, default=scale)


def tied(contents: Mapping[int, Counter[str]]) -> list[list[str]]:
    """Kinds of which as many lie together wherever any lies: layouts do not tell which of them is
    which"""
    alike: dict[tuple[int, ...], list[str]] = {}
    for kind in sorted({k for c in contents.values() for k in c}):
        alike.setdefault(tuple(contents[g][kind] for g in sorted(contents)), []).append(kind)
    return [kinds for kinds in alike.values() if len(kinds) > 1]


def told_apart(found: Sequence[Found], kinds: Sequence[str], unlike: np.ndarray) -> None:
    """Tied kinds named by what they differ in: each takes the pieces of that one of them which
    looks most like its relatives that the others are not related to so. unlike: (n, n) how
    differently one found piece looks from another and is printed"""
    mine = {k: [i for i, f in enumerate(found) if f.kind == k] for k in kinds}
    cost = np.zeros((len(kinds), len(kinds)))
    for b, kind in enumerate(kinds):
        own = [
            (slot, part)
            for slot, part in enumerate(parts_of(kind))
            if sum(parts_of(k)[slot : slot + 1] == [part] for k in kinds) == 1
        ]
        kin = [
            j
            for j, f in enumerate(found)
            if f.kind not in kinds
            and related(kind, f.kind) > 0
            and f.kind.split(":")[0] == kind.split(":")[0]
            and any(parts_of(f.kind)[slot] == part for slot, part in own)
        ]
        if not kin:
            return
        cost[:, b] = [np.median(unlike[np.ix_(mine[k], kin)]) for k in kinds]
    for pieces, b in zip(mine.values(), assigned(cost)):
        for i in pieces:
            found[i].kind = kinds[b]


def assigned(cost: np.ndarray) -> list[int]:
    """Cheapest one-to-one choice of a column for every row of a square matrix (shortest augmenting
    paths)"""
    n = len(cost)
    u, v = np.zeros(n + 1), np.zeros(n + 1)
    match = np.zeros(n + 1, int)
    for i in range(1, n + 1):
        match[0] = i
        j0 = 0
        least = np.full(n + 1, np.inf)
        before = np.zeros(n + 1, int)
        done = np.zeros(n + 1, bool)
        while True:
            done[j0] = True
            i0 = match[j0]
            reduced = cost[i0 - 1] - u[i0] - v[1:]
            better = ~done[1:] & (reduced < least[1:])
            least[1:][better] = reduced[better]
            before[1:][better] = j0
            j1 = int(np.where(done, np.inf, least).argmin())
            step = least[j1]
            u[match[done]] += step
            v[done] -= step
            least[~done] -= step
            j0 = j1
            if match[j0] == 0:
                break
        while j0:
            match[j0] = match[before[j0]]
            j0 = before[j0]
    out = [0] * n
    for j in range(1, n + 1):
        out[match[j] - 1] = j - 1
    return out
