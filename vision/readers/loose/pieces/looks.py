"""How loose pieces look. Its values: `Look`, `FormLooks`."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.plan import Piece as PlanPiece
from vision.readers.loose.scene.polar_patches import Form


class Look(msgspec.Struct, frozen=True, eq=False):
    """How the kinds of a form look: (K, R, A, 3) from above, and for blocks (K, 2) how bright their
    sides are."""

    kinds: tuple[str, ...]
    looks: np.ndarray
    shades: np.ndarray | None = None


FormLooks = dict[Form, Look]


def form_of(p: PlanPiece) -> Form:
    """The size in mm that the plan gives a piece."""
    return Form(tuple(map(float, p.footprint)), float(p.height), p.disc)
