"""Corrects a plan whose outlines are off the board's print. Entry point: `align_outlines`."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.plan import Plan, Point, Site
from vision.registration.print_map import PrintMap

REACH_MM = 5.0  # search range on either side of an outline: most slots are not much wider
STEP_MM = 0.25  # between the lines searched, a quarter of a map's pixel
SAMPLES = 24  # along each edge of an outline
SHORTEST_MM = 5.0  # shorter edges belong to rounded corners
# mm: the assumed width of a printed edge, from the first round to the last
WIDTHS_MM = (2.5, 2.5, 1.8, 1.8, 1.2, 1.2, 0.8, 0.8, 0.5, 0.5, 0.5)
ON_PRINT_MM = 0.35  # an outline this near to a printed edge lies on it
# outlines are moved if the share of them on printed edges grows by this factor: correct plans reach
# 0.95 to 1.27, one that is 4 mm off 1.69 (docs/lab/2026-11-28-outlines.md)
PLAINLY_BETTER = 1.45
BLACK_INK = 12.0  # grey levels below which the logarithm of the print is meaningless


class PrintedEdges(msgspec.Struct, frozen=True, eq=False):
    """middle, normal: (N, 2) mm of each outline edge; offsets: (K,) mm along the normal; share: (N,
    K) of the print's contrast at each offset"""

    middle: np.ndarray
    normal: np.ndarray
    offsets: np.ndarray
    share: np.ndarray

    def weigh_near(self, shift: np.ndarray, width: float) -> np.ndarray:
        """(N, K) weights of the contrast within about `width` mm of edges shifted by (N,) mm"""
        return self.share * np.exp(-0.5 * ((self.offsets - shift[:, None]) / width) ** 2)


def align_outlines(plan: Plan, printed: PrintMap) -> Plan:
    """The plan with all outlines moved onto the print by one second-order displacement field, which
    covers a wrong width or height, badly tapped corners, a warped board and a scan's lens
    distortion. The plan unchanged if that is not clearly better"""
    edges = find_edges(plan, printed)
    if edges is None:
        return plan
    basis = field_basis(edges.middle, plan)
    columns = np.hstack([basis * edges.normal[:, :1], basis * edges.normal[:, 1:]])
    field = np.zeros(columns.shape[1])
    for width in WIDTHS_MM:
        near = edges.weigh_near(columns @ field, width)
        weight = near.sum(1)
        target = near @ edges.offsets / np.maximum(weight, 1e-9)
        normal = columns.T @ (columns * weight[:, None])
        steady = 1e-3 * weight.mean() * np.eye(len(normal))
        field = np.linalg.solve(normal + steady, columns.T @ (weight * target))
    before, after = (edges.weigh_near(columns @ f, ON_PRINT_MM).sum() for f in (0 * field, field))
    if after < PLAINLY_BETTER * before:
        return plan

    def moved_outline(outline: tuple[Point, ...]) -> tuple[Point, ...]:
        mm = np.array(outline, float)
        off = field_basis(mm, plan) @ field.reshape(2, -1).T
        return tuple((float(x), float(y)) for x, y in mm + off)

    return msgspec.structs.replace(
        plan,
        site=tuple(
            msgspec.structs.replace(
                s, outline=moved_outline(s.outline), also=tuple(map(moved_outline, s.also))
            )
            for s in plan.site
        ),
    )


def field_basis(mm: np.ndarray, plan: Plan) -> np.ndarray:
    """(N, 6) terms of a second-order field at (N, 2) board mm"""
    x, y = (2 * np.asarray(mm, float) / plan.size - 1).T
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], 1)


def find_edges(plan: Plan, printed: PrintMap) -> PrintedEdges | None:
    """The printed edges near the plan's outlines; None for a plan without outline edges"""
    ends = [edge for s in plan.site for edge in straight_edges(s)]
    if not ends:
        return None
    a, b = np.array(ends).transpose(1, 0, 2)
    along = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
    normal = np.stack([along[:, 1], -along[:, 0]], 1)
    offsets = np.arange(-REACH_MM, REACH_MM + STEP_MM / 2, STEP_MM)
    shares = (np.arange(SAMPLES) + 0.5) / SAMPLES
    on = a[:, None] + shares[:, None] * (b - a)[:, None]
    mm = on[:, None] + offsets[:, None, None] * normal[:, None, None]
    x, y = np.moveaxis((mm - printed.origin) * printed.px_per_mm - 0.5, -1, 0)
    x, y = (v.reshape(len(a), -1).astype(np.float32) for v in (x, y))
    light = np.log(printed.canvas.astype(np.float32) + BLACK_INK)
    slopes = [
        cv2.remap(cv2.Scharr(light, cv2.CV_32F, *way), x, y, cv2.INTER_LINEAR)
        for way in ((1, 0), (0, 1))
    ]
    # the signed mean along an edge, so that the print's grain cancels
    across, down = (s.reshape(len(a), len(offsets), SAMPLES).mean(2) for s in slopes)
    seen = np.abs(across * normal[:, :1] + down * normal[:, 1:])
    plain = np.maximum(seen - np.quantile(seen, 0.25, axis=1, keepdims=True), 0)
    faint = 4 * float(np.median(seen))  # so that a faint edge counts less than a strong one
    share = plain / (plain.sum(1, keepdims=True) + faint + 1e-9)
    return PrintedEdges((a + b) / 2, normal, offsets, share)


def straight_edges(site: Site) -> list[tuple[np.ndarray, np.ndarray]]:
    """The end points, (2,) mm each, of the edges of a site's outlines"""
    pairs = [p for o in site.outlines for p in zip(o, np.roll(o, -1, 0))]
    return [(a, b) for a, b in pairs if np.linalg.norm(b - a) >= SHORTEST_MM]
