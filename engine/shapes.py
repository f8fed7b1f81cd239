"""The geometry of drawings: outlines of shapes, and primitives moved, turned and resized.
engine/art.py describes their form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

Prim = dict[str, Any]
Size = float | tuple[float, float]


def footprint_outline(size: Size) -> list[list[float]]:
    """The outline of a piece of that size around (0, 0), mm: a rectangle, or a disc as 32
    points."""
    width, depth = size_pair(size)
    return (
        rect_points((width, depth))
        if is_pair(size)
        else oval_points((0.0, 0.0), width / 2, depth / 2)
    )


def is_pair(size: Any) -> TypeGuard[Sequence[float]]:
    """Whether it is a width and a depth rather than a disc's diameter."""
    return isinstance(size, Sequence)


def size_pair(size: Size) -> tuple[float, float]:
    """(width, depth) in mm of a size, which may be a diameter."""
    if isinstance(size, (int, float)):
        return float(size), float(size)
    return float(size[0]), float(size[1])


def stretch_factors(made_for: Size | None, size: Size | None) -> tuple[float, float]:
    """How much a drawing made for one size is stretched for another, across and down."""
    if made_for is None or size is None:
        return 1.0, 1.0
    (w0, h0), (w1, h1) = size_pair(made_for), size_pair(size)
    return w1 / w0, h1 / h0


def area_centroid(outline: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The centroid of an outline's area."""
    twice = x = y = 0.0
    for (x0, y0), (x1, y1) in zip(outline, (*outline[1:], outline[0])):
        cross = x0 * y1 - x1 * y0
        twice, x, y = twice + cross, x + (x0 + x1) * cross, y + (y0 + y1) * cross
    return (x / (3 * twice), y / (3 * twice)) if twice else (outline[0][0], outline[0][1])


def oval_points(at: Sequence[float], rx: float, ry: float, n: int = 32) -> list[list[float]]:
    """n points of an ellipse around `at`, mm."""
    return [
        [at[0] + rx * math.cos(2 * math.pi * i / n), at[1] + ry * math.sin(2 * math.pi * i / n)]
        for i in range(n)
    ]


def rect_points(size: Sequence[float], round_: float = 0.0) -> list[list[float]]:
    """A rectangle's corners around (0, 0), mm; round_: the radius of its corners."""
    x, y, r = size[0] / 2, size[1] / 2, round_
    if not r:
        return [[-x, -y], [x, -y], [x, y], [-x, y]]
    centres = [(x - r, -y + r, 270), (x - r, y - r, 0), (-x + r, y - r, 90), (-x + r, -y + r, 180)]
    return [
        [cx + r * math.cos(math.radians(a + d)), cy + r * math.sin(math.radians(a + d))]
        for cx, cy, a in centres
        for d in (0, 30, 60, 90)
    ]


def arc_points(spec: Sequence[float], _: float = 0.0) -> list[list[float]]:
    """Points of an arc [radius, from, to], mm and degrees."""
    r, a, b = spec
    n = max(3, round(abs(b - a) / 12))
    return [
        [
            r * math.cos(math.radians(a + (b - a) * i / n)),
            r * math.sin(math.radians(a + (b - a) * i / n)),
        ]
        for i in range(n + 1)
    ]


def wave_points(spec: Sequence[float], _: float = 0.0) -> list[list[float]]:
    """Points of a wave [length, height, periods], mm."""
    length, height, periods = spec
    n = max(4, round(8 * periods))
    return [
        [length * (i / n - 0.5), -height / 2 * math.sin(2 * math.pi * periods * i / n)]
        for i in range(n + 1)
    ]


def star_points(spec: Sequence[float], _: float = 0.0) -> list[list[float]]:
    """Points of a star [points, outer, inner], mm."""
    n, outer, inner = round(spec[0]), spec[1], spec[2]
    return [
        [r * math.sin(math.pi * i / n), -r * math.cos(math.pi * i / n)]
        for i in range(2 * n)
        for r in [inner if i % 2 else outer]
    ]


SHAPES: dict[str, tuple[Callable[..., list[list[float]]], bool]] = {
    "rect": (rect_points, True),
    "ellipse": (lambda v, _: oval_points((0.0, 0.0), *v), True),
    "polygon": (lambda v, _: v, True),
    "star": (star_points, True),
    "line": (lambda v, _: v, False),
    "arc": (arc_points, False),
    "wave": (wave_points, False),
}


def grown_outline(
    outline: Sequence[Sequence[float]], box: Sequence[float], by: float
) -> list[list[float]]:
    """The outline around the middle of its box (x, y, width, height), each side `by` mm further
    out."""
    mx, my, w, h = box
    fx, fy = 1 + 2 * by / w, 1 + 2 * by / h
    return [[(x - mx) * fx, (y - my) * fy] for x, y in outline]


def _mapped_prim(prim: Prim, point: Any, scale: float, turn: float = 0.0) -> Prim:
    out = dict(prim)
    if "points" in out:
        out["points"] = [point(p) for p in out["points"]]
    else:
        out["at"] = point(out["at"])
    for key in ("r", "width", "size"):
        if key in out:
            out[key] = out[key] * scale
    if "turn" in out:
        out["turn"] = out["turn"] + turn
    return out


def moved_prim(prim: Prim, dx: float, dy: float) -> Prim:
    """A primitive shifted by (dx, dy) mm."""
    return _mapped_prim(prim, lambda p: [p[0] + dx, p[1] + dy], 1.0) if dx or dy else prim


def turned_prims(prims: list[Prim], degrees: float, scale: float) -> list[Prim]:
    """Turned clockwise about (0, 0) and made larger or smaller."""
    if not degrees and scale == 1:
        return prims
    c, s = math.cos(math.radians(degrees)) * scale, math.sin(math.radians(degrees)) * scale
    return [
        _mapped_prim(p, lambda q: [c * q[0] - s * q[1], s * q[0] + c * q[1]], scale, degrees)
        for p in prims
    ]


def resized_prims(prims: list[Prim], made_for: Size | None, size: Size | None) -> list[Prim]:
    """Drawings made for one size, drawn in another."""
    fx, fy = stretch_factors(made_for, size)
    if fx == fy == 1:
        return prims
    return [_mapped_prim(p, lambda q: [q[0] * fx, q[1] * fy], math.sqrt(fx * fy)) for p in prims]
