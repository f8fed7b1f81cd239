"""What vision needs of a plan (docs/contracts.md, Plans and layouts): where sites are and how big
the kinds of piece are. Knows no game."""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import cv2
import msgspec
import numpy as np

from vision.storage.text_file import read_toml


class BadPlan(ValueError):
    """A plan that cannot be used; the message names file, place and fault."""


Point = tuple[float, float]
# limits for a board's longer side, mm: otherwise it was measured in another unit
SMALLEST_BOARD, LARGEST_BOARD = 50, 5000
# mm: if some piece is at least this large, a smaller board really is small, not measured in
# centimetres
SMALL_PIECE = 5
TIGHT = 1.2  # how large a piece on a site may be, relative to the site's box
LONG_SITE = 1.3  # a site at least this many times as long as wide is viewed along its length
STRAIGHT = 1.0  # degrees: smaller deviations are within the accuracy of hand and print
# tolerances for a rectangle: cosine of its corners, and the difference of opposite sides as a share
# of its shorter side; in 309 slots outlined by hand at most 0.19 and 0.53
ASKEW_CORNER, NARROWED = 0.25, 0.6
SHARED_AREA = 0.5  # share of a site that another one must not cover


class Piece(msgspec.Struct, frozen=True):
    """A kind of piece. size: mm, one number for a disc's diameter or (width, depth); height: mm.

    spans: (columns, rows) of sites it covers, listed on the upper left one, with `over` under it on
    each. looks, turned: it is the kind `looks`, turned by this many degrees on its site. back: the
    kind that it is when it lies on its other side; `count` is for both together. on: tags of the
    sites on which it may lie, if not everywhere: the samplers for a calibration respect that.
    directed: its direction tells it from another kind (as shogi men show their owner): it and all
    of its size are expected to lie as in the calibration photos, give or take some degrees. base:
    on a cluster site it lies below the loose pieces (a tile, a card) and is listed first. artwork:
    what is printed on it, part by part: two kinds with the same word at the same index look alike
    there; () if the plan does not say.
    """

    kind: str
    size: float | tuple[float, float]
    height: float = 0.0
    count: int = 0
    spans: tuple[int, int] | None = None
    over: str | None = None
    looks: str | None = None
    turned: float = 0.0
    back: str | None = None
    on: tuple[str, ...] = ()
    directed: bool = False
    base: bool = False
    artwork: tuple[str, ...] = ()

    @property
    def disc(self) -> bool:
        """Whether it is round: then its size is one number"""
        return not isinstance(self.size, tuple)

    @property
    def footprint(self) -> Point:
        """(width, depth) in mm; a disc's diameter twice"""
        return self.size if isinstance(self.size, tuple) else (self.size, self.size)

    @property
    def shape(self) -> tuple[Point, bool, float]:
        """Footprint, whether it is round, height: other kinds may have the same"""
        return self.footprint, self.disc, self.height

    @property
    def looks_like(self) -> str:
        """The kind it is, ignoring how it is turned"""
        return self.looks or self.kind


class Site(msgspec.Struct, frozen=True, dict=True):
    """A place: outline in mm (x right, y down), also: further outlines of the same cell; of: the
    cell a spot lies in.

    group: sites of one group are alike, and pieces on them face the same way; None if the plan does
    not say.
    """

    id: str
    outline: tuple[Point, ...]
    reads: Literal["pile", "cluster"] = "pile"
    tags: tuple[str, ...] = ()
    also: tuple[tuple[Point, ...], ...] = ()
    of: str | None = None
    optional: bool = False
    borders: tuple[str, ...] = ()
    group: str | None = None

    @property
    def outlines(self) -> tuple[np.ndarray, ...]:
        """Every outline as an (N, 2) float array, mm"""
        return tuple(np.array(o, float) for o in (self.outline, *self.also))

    @cached_property
    def centre(self) -> np.ndarray:
        """(2,) mm: the middle of the outline's bounding box; read-only"""
        o = np.array(self.outline, float)
        middle = (o.min(0) + o.max(0)) / 2
        middle.flags.writeable = False
        return middle

    @cached_property
    def frame(self) -> tuple[np.ndarray, float]:
        """The frame in which it is viewed: (2,) mm width and depth of its box, and the box's
        clockwise rotation in degrees. A rectangular pile site is viewed at its own angle, along its
        length if it is long, so that slots at all angles look alike; any other site is viewed
        unrotated"""
        corners = np.array(self.outline, float)
        straight = np.ptp(corners, axis=0), 0.0
        if self.reads != "pile" or len(corners) != 4:
            return straight
        edges = np.roll(corners, -1, 0) - corners
        sides = (edges[:2] - edges[2:]) / 2  # the mean of opposite sides
        long, short = lengths = np.sort(np.linalg.norm(sides, axis=1))[::-1]
        gap = np.linalg.norm(edges[0] + edges[2])  # the difference between them
        if abs(sides[0] @ sides[1]) > ASKEW_CORNER * long * short or gap > NARROWED * short:
            return straight
        x, y = max(sides, key=np.linalg.norm)
        turn = math.degrees(math.atan2(y, x))
        if long > LONG_SITE * short:
            return lengths, turn % 180
        turn = (turn + 45) % 90 - 45
        return straight if abs(turn) < STRAIGHT else (lengths, turn)


class Plan(msgspec.Struct, frozen=True, dict=True):
    """size: (width, height) of board or mat in mm."""

    game: str
    size: Point
    site: tuple[Site, ...]
    piece: tuple[Piece, ...] = ()
    edition: str = ""

    @cached_property
    def sites(self) -> dict[str, Site]:
        """id -> site"""
        return {s.id: s for s in self.site}

    @cached_property
    def pieces(self) -> dict[str, Piece]:
        """kind -> piece"""
        return {p.kind: p for p in self.piece}

    @cached_property
    def directed_sizes(self) -> frozenset[Point]:
        """The footprints of pieces that lie only in the orientation that the samplers show"""
        return frozenset(p.footprint for p in self.piece if p.directed)

    @cached_property
    def base(self) -> frozenset[str]:
        """The kinds that lie below the loose pieces of their site; empty if the plan names none"""
        return frozenset(p.kind for p in self.piece if p.base)

    @cached_property
    def artwork(self) -> dict[str, tuple[str, ...]]:
        """kind -> what is printed on it, part by part; a kind that looks like another is printed
        like it. Only kinds for which the plan says so"""
        shown = {
            p.kind: p.artwork or (self.pieces[p.looks].artwork if p.looks else ())
            for p in self.piece
        }
        return {kind: words for kind, words in shown.items() if words}

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """group -> its sites, in the file's order; sites without a group are in none"""
        out: dict[str, tuple[str, ...]] = {}
        for s in self.site:
            if s.group is not None:
                out[s.group] = (*out.get(s.group, ()), s.id)
        return out

    @cached_property
    def one(self) -> dict[str, str]:
        """kind -> the kind that represents all kinds that are the same piece lying differently
        (`looks`, `back`)"""
        out = {p.kind: p.kind for p in self.piece}
        for p in self.piece:
            for other in (p.looks, p.back):
                if other is not None:
                    old, new = out[p.kind], out[other]
                    out = {k: new if v == old else v for k, v in out.items()}
        return out

    @cached_property
    def fitting(self) -> dict[str, frozenset[str]]:
        """kind -> the sites on which it may lie: those with one of the tags it names, otherwise
        those it is not much too large for; all sites if it is too large for each"""
        every = frozenset(self.sites)
        boxes = {s.id: np.sort(s.frame[0]) for s in self.site}
        out = {}
        for p in self.piece:
            size = np.sort(p.footprint)
            some = {i for i, box in boxes.items() if (size <= TIGHT * box).all()}
            if p.on:
                some = {s.id for s in self.site if set(s.tags) & set(p.on)}
            out[p.kind] = frozenset(some) or every
        return out

    def number(self, kind: str) -> int:
        """How many of a kind the box holds, whichever way they lie; 0 if unknown"""
        return max(p.count for p in self.piece if self.one[p.kind] == self.one[kind])

    @cached_property
    def corners(self) -> np.ndarray:
        """(4, 2) mm: (0,0) (w,0) (w,h) (0,h)"""
        w, h = self.size
        return np.array([[0, 0], [w, 0], [w, h], [0, h]], float)


# msgspec reads a type's annotations on first use, and crashes Python if another thread uses the
# half-read type. So decoders for types that threads convert to are built on import.
msgspec.json.Decoder(Plan)


def parse_plan(data: dict[str, Any], name: str = "plan") -> Plan:
    """Raises BadPlan for anything unusable. Unknown keys (of other programs) are ignored, misspelt
    ones are not."""
    check_keys(data, name)
    for what in ("site", "piece"):
        if isinstance(data.get(what), dict):
            raise BadPlan(f"{name}: each {what} begins with [[{what}]], in two pairs of brackets")
    try:
        plan = msgspec.convert(data, Plan, strict=False)
    except msgspec.ValidationError as e:
        raise BadPlan(f"{name}: {plain_fault(str(e), data)}") from None
    check_plan(plan, name)
    return plan


PLAN_KEYS = {
    "": ("game", "edition", "size", "site", "piece"),
    "piece": Piece.__struct_fields__,
    "site": Site.__struct_fields__,
}
WORDS = {
    "object": "a table",
    "array": "a list",
    "str": "a text",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
}


def check_keys(data: dict[str, Any], name: str) -> None:
    """Raises BadPlan for a key that is nearly a known one: it would be silently ignored"""
    for what, keys in PLAN_KEYS.items():
        entries = data.get(what) if what else [data]
        for n, entry in enumerate(entries if isinstance(entries, list) else (), 1):
            if isinstance(entry, dict) and (fault := misspelt_key(entry, keys)):
                raise BadPlan(f"{name}: {f'{what} {n}: ' if what else ''}{fault}")


def misspelt_key(entry: dict[str, Any], keys: Sequence[str]) -> str | None:
    """The fault of a table with a key that is nearly a known one"""
    for key in entry:
        if key not in keys and (meant := difflib.get_close_matches(key, keys, 1, 0.75)):
            return f"{key!r} is not read; {meant[0]!r} is meant?"
    return None


def plain_fault(fault: str, data: dict[str, Any]) -> str:
    """Rewrites an error that ends in a path such as $.site[0].outline for people who read the
    plan"""
    said, _, path = fault.partition(" - at `")
    said = said.replace("Invalid enum value", "is")
    said = re.sub(r"Object missing required field `(\w+)`", r"\1 is missing", said)
    said = re.sub(r"^Expected `array` of length (\d+), got (\d+)$", r"has \2 values, not \1", said)
    said = re.sub(r"^Expected `int`, got `float`$", "is not a whole number", said)
    said = re.sub(r"^Expected (.*), got (.*)$", r"is \2, not \1", said)
    said = said.replace("`", "").replace(" | ", " or ")
    said = re.sub(r"\b(object|array|str|int|float|bool)\b", lambda m: WORDS[m[0]], said)
    found = re.match(r"\$\.(site|piece)\[(\d+)\]\.?(.*?)`?$", path)
    if not found:
        return f"{path.strip('$.`')} {said}".strip()
    what, n, rest = found[1], int(found[2]), found[3].split("[")[0]
    entry = data[what][n] if isinstance(data[what], list) and n < len(data[what]) else {}
    title = entry.get("id" if what == "site" else "kind") if isinstance(entry, dict) else None
    return f"{what} {title or n + 1}: {f'{rest} {said}' if rest else said}"


def check_plan(plan: Plan, name: str) -> None:
    """Raises BadPlan if a plan makes no sense"""
    if not plan.site:
        raise BadPlan(f"{name}: no sites")
    check_size(plan, name)
    check_names(plan, name)
    for piece in plan.piece:
        check_piece(piece, plan, name)
    far = np.max([s.centre for s in plan.site], axis=0)
    if (far > plan.size).any() and (far < plan.size[::-1]).all():
        board = "the board of {:g} x {:g} mm".format(*plan.size)
        raise BadPlan(f"{name}: sites lie beyond {board}: width and height exchanged?")
    for s in plan.site:
        if s.of is not None and s.of not in plan.sites:
            raise BadPlan(f"{name}: site {s.id} is of {s.of}, which the plan lacks")
        for outline in s.outlines:
            check_outline(outline, plan, f"{name}: site {s.id}")
    check_overlaps(plan, name)


def check_size(plan: Plan, name: str) -> None:
    """Raises BadPlan for an implausible board size in mm"""
    if not np.isfinite(plan.size).all() or min(plan.size) <= 0:
        raise BadPlan(f"{name}: size {list(plan.size)} is not a width and a height in mm")
    tiny = max(plan.size) < SMALLEST_BOARD and all(
        max(p.footprint) < SMALL_PIECE for p in plan.piece
    )
    if tiny or max(plan.size) > LARGEST_BOARD:
        board = "a board of {:g} x {:g} mm".format(*plan.size)
        raise BadPlan(f"{name}: {board} is none; sizes are millimetres")


def check_names(plan: Plan, name: str) -> None:
    """Raises BadPlan for a site or a piece without a unique name"""
    for what, ids in (("site", [s.id for s in plan.site]), ("piece", [p.kind for p in plan.piece])):
        if "" in ids or "?" in ids:
            raise BadPlan(f"{name}: a {what} has no name, or '?', which stands for what is hidden")
        twice = [i for i, n in Counter(compose_letters(i) for i in ids).items() if n > 1]
        if twice:
            raise BadPlan(f"{name}: {what} {twice[0]} stands twice")


def check_piece(p: Piece, plan: Plan, name: str) -> None:
    """Raises BadPlan for a piece of implausible size, or one that refers to something the plan
    lacks"""
    numbers = np.array([*p.footprint, p.height, p.count, *(p.spans or (1, 1))], float)
    if not np.isfinite(numbers).all() or min(p.footprint) <= 0:
        raise BadPlan(f"{name}: piece {p.kind}: size {p.size} is not positive")
    if numbers.min() < 0 or min(p.spans or (1, 1)) < 1:
        raise BadPlan(f"{name}: piece {p.kind}: height, count and spans cannot be negative")
    if max(p.footprint) > max(plan.size):
        raise BadPlan(f"{name}: piece {p.kind} is larger than the board: sizes are millimetres")
    for other in (p.over, p.looks, p.back):
        if other is not None and other not in plan.pieces:
            raise BadPlan(f"{name}: piece {p.kind} names {other}, which the plan lacks")
    if lost := set(p.on) - {t for s in plan.site for t in s.tags}:
        raise BadPlan(f"{name}: piece {p.kind} lies on {min(lost)!r}, a tag that no site has")


def compose_letters(name: str) -> str:
    """A name in composed form (Unicode NFC), since keyboards differ in how they write accents"""
    return unicodedata.normalize("NFC", name)


def check_outline(outline: np.ndarray, plan: Plan, where: str) -> None:
    """Raises BadPlan for an invalid outline: two points, a line, crossing itself, or nowhere near
    the board"""
    if len(outline) < 3:
        raise BadPlan(f"{where}: an outline needs three points")
    if not np.isfinite(outline).all():
        raise BadPlan(f"{where}: an outline's points are numbers of mm")
    x, y = outline.T
    area = abs((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()) / 2
    if area < 0.05 * max(np.ptp(x) * np.ptp(y), 1.0):
        raise BadPlan(f"{where}: its outline encloses nothing, or crosses itself")
    off = np.maximum(-outline.mean(0), outline.mean(0) - plan.size)
    if (off > plan.size).any():
        raise BadPlan(f"{where} lies far off the board of {plan.size[0]:g} x {plan.size[1]:g} mm")


def check_overlaps(plan: Plan, name: str) -> None:
    """Raises BadPlan if one pile site covers most of another: nobody could tell on which a piece
    lies"""
    piles = [s for s in plan.site if s.reads == "pile" and s.of is None]
    low = np.array([s.outlines[0].min(0) for s in piles]).reshape(-1, 2)
    high = np.array([s.outlines[0].max(0) for s in piles]).reshape(-1, 2)
    area = (high - low).prod(1)
    for i, s in enumerate(piles):
        sides = np.minimum(high[i], high[i + 1 :]) - np.maximum(low[i], low[i + 1 :])
        both = np.clip(sides, 0, None).prod(1)
        for j in i + 1 + np.flatnonzero(both > SHARED_AREA * np.minimum(area[i], area[i + 1 :])):
            if shared_area(s.outlines[0], piles[j].outlines[0]) > SHARED_AREA:
                raise BadPlan(f"{name}: sites {s.id} and {piles[j].id} overlap")


def shared_area(a: np.ndarray, b: np.ndarray) -> float:
    """Share of the smaller of two outlines that lies inside the other"""
    low = np.minimum(a.min(0), b.min(0))
    scale = 100 / (np.maximum(a.max(0), b.max(0)) - low).max()
    masks = [np.zeros((102, 102), np.uint8) for _ in range(2)]
    for mask, outline in zip(masks, (a, b)):
        cv2.fillPoly(mask, [np.rint((outline - low) * scale).astype(np.int32)], 1)
    return float((masks[0] & masks[1]).sum() / max(min(m.sum() for m in masks), 1))


def load_plan(path: str | Path) -> Plan:
    """Reads a plan.toml. Raises BadPlan, naming the file."""
    try:
        data = read_toml(path)
    except OSError as e:
        raise BadPlan(f"{path}: {e.strerror}") from None
    except ValueError as e:
        raise BadPlan(f"{path}: {e}") from None
    return parse_plan(data, str(path))
