"""How many pieces alike lie on each other: from above a stack looks like its top, so it is told by
how far its side is seen to reach below. Its central value: Heights."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import cv2
import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.photometry.colour_sampling import Field, WindowField, to_opponent
from vision.readers import mlp
from vision.readers.mlp import Net
from vision.readers.pile.coarse_search import FLOOR
from vision.readers.pile.exemplar import Exemplar

PATCH = (72, 25)  # samples along the way things lean, and across it
DEEP = 2.2  # of the top's radius, how far from its middle the samples reach
ACROSS = 0.8  # of the top's radius, up to which its rim is looked at to both sides
STEPS = 14  # heights below the top at which a stack's side is looked for
BEYOND = 1.4  # ... up to so many times the highest top's height
BESIDE = 0.35  # of the top's radius: how far round it shade is looked for
WAYS = 8  # directions in which it is
HIDDEN = 24
# of its radius: how far off a disc's middle may be in its cut-out, and in what steps it is looked
# for
OFF, STEP = 0.25, 0.03
RINGS, AROUND = 20, 48
STEEP = 0.08  # log units from ring to ring that gloss and print go beyond, and count no more


class Heights(msgspec.Struct, frozen=True, eq=False):
    """A look of which one or several lie on each other. look: its number; contents: L of them,
    lowest first; tops: (L,) mm above the board; radius: mm; tells: features -> which."""

    look: int
    contents: list[Contents]
    tops: np.ndarray
    radius: float
    tells: Net | None = None

    def features(
        self,
        field: Field,
        site: np.ndarray,
        empty: Field,
        whose: np.ndarray,
        top: np.ndarray,
        lean: np.ndarray,
    ) -> np.ndarray:
        """(n, F) of tops seen at `top` (n, 2) mm off the middles of sites (n,) of a field; whose:
        (n,) which sites of `empty`, which shows them bare; lean: (n, 2) mm a mm of height"""
        far = np.linalg.norm(lean, axis=1)
        back = -lean / np.maximum(far, 1e-6)[:, None]  # the way that the foot is seen off the top
        turn = np.arctan2(back[:, 1], back[:, 0])
        deep = self.radius * DEEP
        long, wide = PATCH
        u = np.linspace(0, deep, long)
        t = np.linspace(-1, 1, wide) * self.radius
        grid = np.stack(np.meshgrid(u, t, indexing="ij"), -1)
        seen, bare = field.sample(site, top, turn, grid), empty.sample(whose, top, turn, grid)
        mine = np.abs(t) <= ACROSS * self.radius
        rim = np.sqrt(self.radius**2 - t[mine] ** 2)
        below = (np.arange(STEPS) - 1) / (STEPS - 2) * BEYOND * self.tops[-1]
        at = (rim + (far[:, None] * below)[..., None]) / deep * (long - 1)  # (n, STEPS, across)
        side, ground = (along(v[:, :, mine], at) for v in (seen, bare))
        face = np.median(seen[:, : long // 4], (1, 2))
        side_off, face_off = side - ground, side - face[:, None]
        parts = [
            side_off[..., 0],
            np.abs(side_off[..., 1:]).sum(-1),
            face_off[..., 0],
            np.abs(face_off[..., 1:]).sum(-1),
            np.diff(side[..., 0], axis=1),
            self.shade(field, site, empty, whose, top, turn),
        ]
        return np.hstack(
            [np.hstack(parts) * 3, far[:, None] * 4, face - np.median(bare[:, : long // 4], (1, 2))]
        ).astype(np.float32)

    def shade(
        self,
        field: Field,
        site: np.ndarray,
        empty: Field,
        whose: np.ndarray,
        top: np.ndarray,
        turn: np.ndarray,
    ) -> np.ndarray:
        """(n, WAYS * 3) how much darker than bare it is round the top, near to it and further
        off"""
        a = np.arange(WAYS) * 2 * np.pi / WAYS
        r = self.radius * (1 + BESIDE * np.array([0.25, 0.6, 1.0]))
        grid = r[None, :, None] * np.stack([np.cos(a), np.sin(a)], -1)[:, None]
        return (field.sample(site, top, turn, grid) - empty.sample(whose, top, turn, grid))[
            ..., 0
        ].reshape(len(site), -1)

    def taught(self, inputs: np.ndarray, which: np.ndarray, seed: int) -> Heights:
        """inputs: (n, F) features of examples; which: (n,) the place of theirs in `contents`"""
        held = len(inputs) // 8
        tells = mlp.train(
            inputs[held:],
            which[held:],
            len(self.contents),
            HIDDEN,
            seed,
            epochs=30,
            batch=64,
            drop=0.0,
        )
        return msgspec.structs.replace(
            self, tells=mlp.sharpened(tells, inputs[:held], which[:held])
        )


def centred(e: Exemplar) -> Exemplar:
    """A disc's cut-out with its top's middle in the middle: its side and its shadow, which are
    unlike the board too, may have drawn the footprint's outline aside. The top looks most alike all
    round about its middle."""
    radius = e.size[0] / 2
    t = np.arange(-OFF, OFF + 0.01, STEP) * radius
    x, y = (v.ravel() for v in np.meshgrid(t, t))
    a = np.arange(AROUND) * 2 * np.pi / AROUND
    r = np.linspace(0.15, 0.9, RINGS) * radius
    field = WindowField(to_opponent(e.picture)[None], e.scale)
    rings = r[:, None, None] * np.stack([np.cos(a), np.sin(a)], -1)
    # (n, RINGS, AROUND, 3)
    seen = field.sample(np.zeros(len(x), int), np.stack([x, y], 1), np.zeros(len(x)), rings)
    uneven = ((seen / FLOOR).var(2) * r[:, None]).sum((1, 2))
    steep = np.clip(np.diff(seen[..., 0], axis=1), -STEEP, STEEP).mean(2)
    round_ = (np.square(steep) * r[1:]).sum(1)
    best = (
        round_ / max(round_.max(), 1e-9) - uneven / max(float(np.median(uneven)), 1e-9)
    ).argmax()
    move = np.float32([[1, 0, -x[best] * e.scale], [0, 1, -y[best] * e.scale]])
    picture = cv2.warpAffine(
        e.picture, move, e.picture.shape[1::-1], borderMode=cv2.BORDER_REPLICATE
    )
    return msgspec.structs.replace(e, picture=picture)


def along(view: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(n, S, C) of (n, U, T, C): the mean across of what is seen at (n, S, T) pixels along"""
    low = np.clip(np.floor(at).astype(int), 0, view.shape[1] - 2)
    share = np.clip(at - low, 0, 1)[..., None]
    rows, across = np.arange(len(view))[:, None, None], np.arange(view.shape[2])
    return (view[rows, low, across] * (1 - share) + view[rows, low + 1, across] * share).mean(2)


def stacks(
    looks: Iterable[Contents], size: Callable[[str], tuple]
) -> dict[Contents, list[Contents]]:
    """Each look that may lie in a stack of its own, plain -> that and its stacks, lowest first.
    What is shown of one kind, alone and as a stack, goes for every kind of its size; size: of a
    kind"""
    shown: dict[str, set[int]] = {}
    for look in looks:
        if set(look[:-1]) <= {"?"}:
            shown.setdefault(look[-1], set()).add(len(look))
    numbers: dict[tuple, set[int]] = {}
    for kind, own in shown.items():
        if len(own) > 1:
            numbers.setdefault(size(kind), set()).update(own)
    out = {}
    for kind in (k for k in shown if size(k) in numbers):
        contents = [("?",) * (n - 1) + (kind,) for n in sorted(numbers[size(kind)] | shown[kind])]
        out[contents[0]] = contents
    return out
