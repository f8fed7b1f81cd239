"""What the eye needs of a plan (DESIGN 3): where sites lie and how big the kinds of piece are. Knows no game."""

from __future__ import annotations

import tomllib
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np


class BadPlan(ValueError):
    """A plan that cannot be used; the message names file, place and fault."""


Point = tuple[float, float]


class Piece(msgspec.Struct, frozen=True):
    """A kind of piece. size: mm, one number for a disc's diameter or (width, depth); height: mm.

    spans: (columns, rows) of sites it covers, listed on the upper left one, with `over` lying under it on each.
    looks, turned: it is the kind `looks`, turned by so many degrees from lying straight on its site.
    """

    kind: str
    size: float | tuple[float, float]
    height: float = 0.0
    count: int = 0
    spans: tuple[int, int] | None = None
    over: str | None = None
    looks: str | None = None
    turned: float = 0.0

    @property
    def disc(self) -> bool:
        return not isinstance(self.size, tuple)

    @property
    def footprint(self) -> Point:
        """(width, depth) in mm; a disc's diameter twice"""
        return self.size if isinstance(self.size, tuple) else (self.size, self.size)


class Site(msgspec.Struct, frozen=True):
    """A place: outline in mm (x right, y down), also: further outlines of the same cell; of: the cell a spot lies in."""

    id: str
    outline: tuple[Point, ...]
    reads: Literal["pile", "cluster"] = "pile"
    tags: tuple[str, ...] = ()
    also: tuple[tuple[Point, ...], ...] = ()
    of: str | None = None
    optional: bool = False
    borders: tuple[str, ...] = ()

    @property
    def outlines(self) -> tuple[np.ndarray, ...]:
        """every outline as an (N, 2) float array, mm"""
        return tuple(np.array(o, float) for o in (self.outline, *self.also))

    @property
    def centre(self) -> np.ndarray:
        """(2,) mm: the middle of the outline's bounding box"""
        o = np.array(self.outline, float)
        return (o.min(0) + o.max(0)) / 2


class Plan(msgspec.Struct, frozen=True, dict=True):
    """size: (width, height) of board or mat in mm."""

    game: str
    size: Point
    site: tuple[Site, ...]
    piece: tuple[Piece, ...] = ()
    edition: str = ""

    @cached_property
    def sites(self) -> dict[str, Site]:
        return {s.id: s for s in self.site}

    @cached_property
    def pieces(self) -> dict[str, Piece]:
        return {p.kind: p for p in self.piece}

    @cached_property
    def corners(self) -> np.ndarray:
        """(4, 2) mm: (0,0) (w,0) (w,h) (0,h)"""
        w, h = self.size
        return np.array([[0, 0], [w, 0], [w, h], [0, h]], float)


def parse_plan(data: dict[str, Any], name: str = "plan") -> Plan:
    """Raises BadPlan for anything that cannot be used."""
    try:
        plan = msgspec.convert(data, Plan, strict=False)
    except msgspec.ValidationError as e:
        raise BadPlan(f"{name}: {e}") from None
    if not plan.site:
        raise BadPlan(f"{name}: no sites")
    if min(plan.size) <= 0:
        raise BadPlan(f"{name}: size {plan.size} is not positive")
    for what, ids in (("site", [s.id for s in plan.site]), ("piece", [p.kind for p in plan.piece])):
        twice = {i for i in ids if ids.count(i) > 1}
        if twice:
            raise BadPlan(f"{name}: {what} {sorted(twice)[0]} stands twice")
    for s in plan.site:
        if len(s.outline) < 3:
            raise BadPlan(f"{name}: site {s.id}: an outline needs three points")
        if s.of is not None and s.of not in plan.sites:
            raise BadPlan(f"{name}: site {s.id} is of {s.of}, which the plan lacks")
    for p in plan.piece:
        if min(p.footprint) <= 0:
            raise BadPlan(f"{name}: piece {p.kind}: size is not positive")
        for other in (p.over, p.looks):
            if other is not None and other not in plan.pieces:
                raise BadPlan(f"{name}: piece {p.kind} names {other}, which the plan lacks")
    return plan


def load_plan(path: str | Path) -> Plan:
    """Reads a plan.toml. Raises BadPlan, naming the file."""
    try:
        with open(path, "rb") as f:
            data = tomllib.load(f)
    except OSError as e:
        raise BadPlan(f"{path}: {e.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise BadPlan(f"{path}: {e}") from None
    return parse_plan(data, str(path))
