"""Samples as arrays of fixed shapes, as the network learns from them. Its central value: Shapes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from calibration.synthesis.compose import CLOSE, SIDE, Sample
from vision.learned.canvas import picture_of
from vision.learned.groups import Form, SiteGroup, loose_names
from vision.learned.network import CLOSE_UP, PIECE_GRID, PIECE_REACH, SITE_GRID, grid_places
from vision.learned.sampling import (
    frame_pieces,
    frame_tops,
    nearest_tops,
    sample_pictures,
    sample_polar,
    whole_close_up,
)

SITE_ROWS, PIECE_ROWS = 32, 64  # of a sample that are learnt from at most
POINTS, NOBODY = 320, -1.0  # loose pieces of a sample that are told at most; no form's number
NEGATIVES = 16  # of those pieces, places where none lies
# of a piece's width from its middle, from where on no other is taken to lie there: half of the places where
# none does are shown from there to a whole width
BESIDE = 0.3


class Shapes(msgspec.Struct, frozen=True, eq=False):
    """What a copy's network tells apart. offsets: where each group's classes begin among all;
    allowed_kinds: (forms, kinds + 1) bool"""

    groups: tuple[SiteGroup, ...]
    forms: tuple[Form, ...]
    scale: float
    offsets: np.ndarray
    allowed_sites: np.ndarray
    allowed_kinds: np.ndarray

    @property
    def form_sizes(self) -> np.ndarray:
        """(2, forms) px, width and standing height"""
        return np.array([(f.width, f.standing_height) for f in self.forms]).T * self.scale

    @property
    def quarters(self) -> np.ndarray:
        """(groups,) bool: whether what lies there may lie turned by quarters"""
        return np.array([g.quarters for g in self.groups])

    @classmethod
    def of(cls, groups: Sequence[SiteGroup], forms: Sequence[Form], scale: float) -> Shapes:
        counts = [len(g.classes) for g in groups]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        sites = np.zeros((len(groups), offsets[-1]), bool)
        for n in range(len(groups)):
            sites[n, offsets[n] : offsets[n + 1]] = True
        names = loose_names(forms)
        kinds = np.zeros((max(len(forms), 1), len(names) + 1), bool)
        kinds[:, -1] = True
        for f, k, _ in names:
            kinds[f, k] = True
        return cls(tuple(groups), tuple(forms), scale, offsets, sites, kinds)

    def make_batch(
        self, samples: Sequence[Sample], rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        parts = [self.sample_arrays(s, n, rng) for n, s in enumerate(samples)]
        out = {key: np.concatenate([p[key] for p in parts]) for key in parts[0]}
        if self.forms:
            out["form_width"], out["form_standing"] = self.form_sizes.astype(np.float32)
            out["form_kinds"] = self.allowed_kinds
        return out

    def sample_arrays(self, s: Sample, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        out = self.close_arrays(s, n) if any(g.tall for g in self.groups) else {}
        if not self.forms and all(g.tall for g in self.groups):
            return out
        seen = picture_of(s.x)
        out |= {"x": s.x[None]} | self.site_arrays(s, n, seen, rng)
        if self.forms:
            out |= self.piece_arrays(s, n, seen, rng)
            out["heat"] = self.heat_target(s)
            out["points"] = pad_rows(s.points[:POINTS], POINTS, NOBODY)[None]
            out["camera"] = s.camera[None].astype(np.float32)
        return out

    def site_arrays(
        self, s: Sample, n: int, seen: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Sites and what lies on them. seen: the sample's picture"""
        rows = s.sites[rng.permutation(len(s.sites))[:SITE_ROWS]]
        group, label = rows[:, 0].astype(int), rows[:, 1].astype(int)
        quarter, axes = SIDE // 4, rows[:, 4:].reshape(-1, 2, 2)
        index, weight = grid_places(rows[:, 2:4], axes, SITE_GRID, 4, (quarter, quarter))
        pixels = sample_pictures(seen, *self.frame_pictures(rows, s.points, rng))
        upright = {"site_upright": pad_rows(~self.quarters[group], SITE_ROWS)}
        return (upright if self.quarters.any() else {}) | {
            "site_index": pad_rows(index + n * quarter * quarter, SITE_ROWS),
            "site_weight": pad_rows(weight, SITE_ROWS),
            "site_label": pad_rows(label + self.offsets[group], SITE_ROWS).astype(np.int32),
            "site_allowed": pad_rows(self.allowed_sites[group], SITE_ROWS, True),
            "site_pixels": pad_rows(pixels, SITE_ROWS).astype(np.float16),
            "site_counts": pad_rows(np.ones(len(rows), np.float32), SITE_ROWS),
        }

    def frame_pictures(
        self, sites: np.ndarray, points: np.ndarray, rng: np.random.Generator | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `frame_tops`, of sites and loose pieces as of a `Sample`. rng: for places some pixels off,
        as heat maps find pieces; None: where they lie"""
        group, at = sites[:, 0].astype(int), sites[:, 2:4]
        side, reach = np.array([(g.top, min(g.box) / 2) for g in self.groups])[group].T * self.scale
        tops = nearest_tops(at, reach, points[:, 2:])
        if rng is not None:
            tops += rng.normal(0, 0.04, tops.shape) * side[:, None] + rng.normal(0, 0.5, tops.shape)
        return frame_tops(at, sites[:, 4:].reshape(-1, 2, 2), side, tops)

    def close_arrays(self, s: Sample, n: int) -> dict[str, np.ndarray]:
        h, w = CLOSE_UP
        group, label = (np.array([c[k] for c in s.close], int) for k in (0, 1))
        pictures = np.array([c[2] for c in s.close], np.float16).reshape(-1, h // 2, w // 2, 24)
        index, weight = grid_places(*whole_close_up(), SITE_GRID, 4, (h // 4, w // 4))
        first = (np.arange(CLOSE) + n * CLOSE).reshape(-1, 1, 1) * (h // 4 * (w // 4))
        return {
            "close_x": pad_rows(pictures, CLOSE),
            "close_index": index + first,
            "close_weight": np.repeat(weight, CLOSE, 0),
            "close_label": pad_rows(label + self.offsets[group], CLOSE).astype(np.int32),
            "close_allowed": pad_rows(self.allowed_sites[group], CLOSE, True),
            "close_counts": pad_rows(np.ones(len(group), np.float32), CLOSE),
        }

    def piece_arrays(
        self, s: Sample, n: int, seen: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Places where pieces lie, some pixels off as a heat map finds them, and places where none
        does. seen: the sample's picture"""
        width, standing = self.form_sizes
        points = s.points[s.points[:, 1] >= 0]
        points = points[rng.permutation(len(points))[: PIECE_ROWS - NEGATIVES]]
        form, kind = points[:, 0].astype(int), points[:, 1].astype(int)
        at = points[:, 2:] + rng.normal(0, 0.04, (len(points), 2)) * width[form][:, None]
        at = at + rng.normal(0, 0.5, (len(points), 2))
        none_form = rng.integers(len(self.forms), size=NEGATIVES)
        none_at = rng.uniform(0, SIDE, (NEGATIVES, 2))
        if len(points):  # half of them beside pieces, where peaks may be
            some = rng.integers(len(points), size=NEGATIVES // 2)
            a = rng.uniform(0, 2 * np.pi, NEGATIVES // 2)
            far = rng.uniform(BESIDE, 1.0, NEGATIVES // 2) * width[form[some]]
            away = np.column_stack([np.cos(a), np.sin(a)]) * far[:, None]
            none_at[: NEGATIVES // 2] = points[some, 2:] + away
            none_form[: NEGATIVES // 2] = form[some]
        away = np.hypot(*(none_at[:, None] - s.points[None, :, 2:]).transpose(2, 0, 1))
        free = (away > BESIDE * width[s.points[:, 0].astype(int)][None]).all(1)
        form = np.concatenate([form, none_form[free]])
        kind = np.concatenate([kind, np.full(free.sum(), self.allowed_kinds.shape[1] - 1)])
        at = np.vstack([at, none_at[free]])
        half = SIDE // 2
        axes = frame_pieces(at, s.camera, width[form], standing[form])
        index, weight = grid_places(at, PIECE_REACH * axes, PIECE_GRID, 2, (half, half))
        pixels = sample_polar(seen, at, axes)
        return {
            "piece_index": pad_rows(index + n * half * half, PIECE_ROWS),
            "piece_weight": pad_rows(weight, PIECE_ROWS),
            "piece_label": pad_rows(kind, PIECE_ROWS).astype(np.int32),
            "piece_allowed": pad_rows(self.allowed_kinds[form], PIECE_ROWS, True),
            "piece_pixels": pad_rows(pixels, PIECE_ROWS).astype(np.float16),
            "piece_counts": pad_rows(np.ones(len(form), np.float32), PIECE_ROWS),
        }

    def heat_target(self, s: Sample) -> np.ndarray:
        """(1, SIDE/2, SIDE/2, forms) with a bump of 1 at each piece"""
        n = SIDE // 2
        target = np.zeros((n, n, len(self.forms)), np.float16)
        for f, _, x, y in s.points:
            f, cx, cy = int(f), (x + 0.5) / 2 - 0.5, (y + 0.5) / 2 - 0.5
            sigma = max(0.12 * self.forms[f].width * self.scale / 2, 0.7)
            x0, y0, r = round(cx), round(cy), int(3 * sigma) + 1
            xa, xb, ya, yb = max(x0 - r, 0), min(x0 + r + 1, n), max(y0 - r, 0), min(y0 + r + 1, n)
            gx, gy = (
                np.exp(-((np.arange(a, b) - c) ** 2) / (2 * sigma**2))
                for a, b, c in ((xa, xb, x0), (ya, yb, y0))
            )
            target[ya:yb, xa:xb, f] = np.maximum(target[ya:yb, xa:xb, f], np.outer(gy, gx))
        return target[None]


def pad_rows(rows: np.ndarray, most: int, fill: float = 0) -> np.ndarray:
    """(most, ...): the rows and as many more of `fill`"""
    return np.concatenate([rows, np.full((most - len(rows), *rows.shape[1:]), fill, rows.dtype)])
