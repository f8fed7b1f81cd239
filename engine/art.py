"""How pieces and boards look: `engine/<game>/art.toml` turned into plain drawing primitives.

    art = load("tigris")
    art.piece("leader:bull:red")      # [primitive, ...] from above; the piece's middle is (0, 0)
    art.solid("monument:blue-red")    # [tier, ...] the same piece as a body, for whoever films it
    art.board(plan)                   # [primitive, ...] the printed board, (0, 0) its upper left
                                      # corner; [] without a print
    art.turn("water:12", "R3.1")      # degrees clockwise by which that piece lies on that site

A primitive is a plain dict of JSON types in millimetres (x right, y down). Primitives are drawn in
the order of the list. There are four kinds:

    {"p": "polygon", "points": [[x, y], ...], "fill": "#rrggbb" | None, "stroke": "#rrggbb" | None,
     "width": mm}
    {"p": "circle", "at": [x, y], "r": mm, "fill": ..., "stroke": ..., "width": mm}
    {"p": "line", "points": [[x, y], ...], "stroke": "#rrggbb", "width": mm}   # round ends, joins
    {"p": "text", "at": [x, y], "text": "12", "size": mm, "turn": degrees, "fill": "#rrggbb"}

A text is centred on `at`; `size` is the height of its capitals and digits; it is bold sans serif.

A tier of a solid: {"z": [bottom, top], "outline": [[x, y], ...], "disc": bool, "side": "#rrggbb",
"top": [primitive, ...]}.

art.toml has `[colours]` (name = "#rrggbb"), `[symbols]` (name = [shape, ...]), `[[piece]]`,
`[[board]]`, `[[turn]]`, and `[[lie]]`: what may lie where in simulated layouts, which
companion/simulate/samples.py explains.

    [[piece]]
    kind = "leader:{sign}:{colour}"    # {names} match a part of the kind and can be used in every
                                       # text below; {c:1} matches one character, * anything
    size = 21                          # mm the drawing is made for: diameter or [width, depth]
    turns = "quarter"                  # how it may be laid down: "straight", "quarter" or "any"
    back = "flipped"                   # the kind on its other side, if any
    draw = [{ circle = 10.5, fill = "wood" },
            { use = "sign-{sign}", ink = "{colour}", scale = 0.8 }]
    tiers = [{ z = [0, 9], rect = [52, 52], fill = "red", side = "red",
               draw = [] }]            # for bodies instead of `draw`

    [[board]]                          # without a selector: once, for the whole board
    tag = "palms{n}"                   # once for each site with such a tag ...
    site = "L*"                        # ... and such an id; `group = true`: once for the box
                                       # around all of them
    draw = [{ outline = 0, fill = "green" },
            { row = "n", step = [8, 0], draw = [{ use = "palm" }] }]

    [[turn]]
    kind = "water:*"
    site = "R*"
    degrees = 180

Shapes (each may have `at`, `turn`, `scale`, `fill`, `stroke`, `width`): `circle = r`, `rect = [w,
h]` (`round = r`), `ellipse = [rx, ry]`, `polygon = [...]`, `line = [...]`, `arc = [r, from, to]`,
`wave = [length, height, periods]`, `star = [points, outer, inner]`, `text = "..."` with `size`,
`outline = grow` (the site's own outlines, board only), `row = n` with `step` and `draw`, `ring = n`
with `r` and `draw`, `use = symbol` (further keys become its {names}), `draw = [...]`. Numbers may
be expressions such as "w/2-3": w and h are the width and height of what is drawn on (piece, site,
board), cx and cy the centroid of a site's area relative to the centre of its box, which is (0, 0).
"""

from __future__ import annotations

import ast
import hashlib
import importlib.resources
import operator
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from threading import Lock
from typing import Any

from engine.shapes import (
    SHAPES,
    Prim,
    Size,
    area_centroid,
    footprint_outline,
    grown_outline,
    is_pair,
    moved_prim,
    oval_points,
    rect_points,
    resized_prims,
    size_pair,
    stretch_factors,
    turned_prims,
)

__all__ = [
    "Art",
    "BadArt",
    "Prim",
    "Size",
    "footprint_outline",
    "load_art",
    "parse_art",
    "plain_art",
]


class BadArt(ValueError):
    """Drawings that cannot be used; the message names the place and the fault."""


@cache
def load_art(game: str) -> Art:
    """The drawings that come with a game. Raises BadArt."""
    try:
        text = (
            importlib.resources.files(f"engine.{game}")
            .joinpath("art.toml")
            .read_text(encoding="utf-8")
        )
    except (OSError, ModuleNotFoundError):
        raise BadArt(f"there are no drawings for a game called {game!r}") from None
    return parse_art(text, f"{game}/art.toml")


def parse_art(text: str, name: str = "art.toml") -> Art:
    """Drawings from the text of an art.toml. Raises BadArt, naming the file and the fault."""
    try:
        return Art(tomllib.loads(text), name)
    except tomllib.TOMLDecodeError as e:
        raise BadArt(f"{name}: {e}") from None


def plain_art() -> Art:
    """Drawings for a plan that has none of its own: letters on coloured discs and squares, and
    outlines for a board."""
    return Art({"plain": True}, "plain")


class Art:
    """The drawings of one game. `data` is art.toml's content; nothing changes it."""

    def __init__(self, data: Mapping[str, Any], name: str = "art.toml") -> None:
        self.data, self.name = data, name
        self.colours: dict[str, str] = dict(data.get("colours", {}))
        self.symbols: dict[str, list[dict[str, Any]]] = dict(data.get("symbols", {}))
        self._pieces = [(_kind_pattern(p.get("kind", "")), p) for p in data.get("piece", ())]
        self._turns = [
            (_kind_pattern(t.get("kind", "*")), _kind_pattern(t.get("site", "*")), t)
            for t in data.get("turn", ())
        ]

    def with_colours(self, colours: Mapping[str, str]) -> Art:
        """The same drawings in other colours, for another edition."""
        return Art({**self.data, "colours": {**self.colours, **colours}}, self.name)

    def with_symbols(self, symbols: Mapping[str, Sequence[Mapping[str, Any]]]) -> Art:
        """The same drawings with some symbols replaced, for another edition."""
        return Art({**self.data, "symbols": {**self.symbols, **symbols}}, self.name)

    def knows(self, kind: str) -> bool:
        """Whether a kind has a drawing of its own."""
        return self._find(kind) is not None

    def size(self, kind: str) -> Size | None:
        """mm the kind is drawn for; None if the drawings do not say."""
        found = self._find(kind)
        size = found[0].get("size") if found else None
        return tuple(size) if isinstance(size, list) else size

    def turns(self, kind: str) -> str:
        """How it may be laid down: "straight", "quarter" (any of four) or "any"."""
        found = self._find(kind)
        return found[0].get("turns", "any") if found else "any"

    def back(self, kind: str) -> str | None:
        """The kind shown by its other side, if it has one."""
        found = self._find(kind)
        return _fill_in(found[0]["back"], found[1]) if found and "back" in found[0] else None

    def turn(self, kind: str, site: str) -> float:
        """Degrees clockwise that a kind is turned on a site when it lies correctly."""
        return sum(
            t.get("degrees", 0)
            for k, s, t in self._turns
            if k.fullmatch(kind) and s.fullmatch(site)
        )

    def piece(self, kind: str, size: Size | None = None) -> list[Prim]:
        """The piece from above, as primitives. size: mm of this copy's piece; by default what the
        drawing is made for."""
        found = self._find(kind)
        if found is None:
            return _lettered_piece(kind, size or 20.0)
        entry, names = found
        made_for = self.size(kind)
        if "tiers" in entry:
            prims = [p for t in self._tiers(entry, names, made_for) for p in t["top"]]
        else:
            prims = self._draw(entry.get("draw", ()), names, made_for, f"piece {kind}")
        return resized_prims(prims, made_for, size)

    def solid(
        self, kind: str, size: Size | None = None, height: float | None = None
    ) -> list[dict[str, Any]]:
        """The piece as a body of tiers, lowest first. height: mm of this copy's piece."""
        found = self._find(kind)
        made_for = size or self.size(kind) or 20.0
        if found is None or "tiers" not in found[0]:
            side = (
                self._colour(found[0].get("side", "edge"), found[1], kind) if found else "#8a8378"
            )
            return [
                {
                    "z": [0.0, float(height or 2.0)],
                    "outline": footprint_outline(made_for),
                    "disc": not is_pair(made_for),
                    "side": side,
                    "top": self.piece(kind, size),
                }
            ]
        tiers = self._tiers(*found, self.size(kind))
        fx, fy = stretch_factors(self.size(kind), size)
        fz = height / max(t["z"][1] for t in tiers) if height else 1.0
        for t in tiers:
            t["z"] = [z * fz for z in t["z"]]
            t["outline"] = [[x * fx, y * fy] for x, y in t["outline"]]
            t["top"] = resized_prims(t["top"], self.size(kind), size)
        return tiers

    def board(self, plan: Any) -> list[Prim]:
        """The printed board of a plan: anything with `size` and `sites` (id -> site with outline,
        also, tags)."""
        rules = self.data.get("board", ())
        if self.data.get("plain"):
            return _plain_board(plan)
        out: list[Prim] = []
        for n, rule in enumerate(rules, 1):
            for frame, names in self._frames(rule, plan):
                prims = self._draw(
                    rule.get("draw", ()), names, (frame.w, frame.h), f"board rule {n}", frame
                )
                out += [moved_prim(p, frame.x, frame.y) for p in prims]
        return out

    def _find(self, kind: str) -> tuple[dict[str, Any], dict[str, str]] | None:
        for pattern, entry in self._pieces:
            m = pattern.fullmatch(kind)
            if m:
                return entry, {**m.groupdict(), "kind": kind}
        return None

    def _tiers(
        self, entry: Mapping[str, Any], names: Mapping[str, Any], size: Size | None
    ) -> list[dict[str, Any]]:
        out = []
        for t in entry["tiers"]:
            shape = {k: v for k, v in t.items() if k not in ("z", "side", "draw")}
            shape.setdefault("stroke", "line")
            shape.setdefault("width", 0.3)
            base = self._draw([shape], names, size, f"piece {names['kind']}")[0]
            disc = base["p"] == "circle"
            outline = oval_points(base["at"], base["r"], base["r"]) if disc else base["points"]
            out.append(
                {
                    "z": [float(z) for z in t["z"]],
                    "outline": outline,
                    "disc": disc,
                    "side": self._colour(
                        t.get("side", t.get("fill", "edge")), names, names["kind"]
                    ),
                    "top": [
                        base,
                        *self._draw(t.get("draw", ()), names, size, f"piece {names['kind']}"),
                    ],
                }
            )
        return sorted(out, key=lambda t: t["z"][1])

    def _frames(
        self, rule: Mapping[str, Any], plan: Any
    ) -> Iterator[tuple[_Frame, dict[str, Any]]]:
        width, height = (float(v) for v in plan.size)
        if "band" in rule:
            above, below = (
                [_Frame.of(s) for s in plan.sites.values() if _kind_pattern(p).fullmatch(s.id)]
                for p in rule["band"]
            )
            if above and below:
                y0, y1 = max(f.y + f.h / 2 for f in above), min(f.y - f.h / 2 for f in below)
                yield _Frame(width / 2, (y0 + y1) / 2, width, y1 - y0), {}
            return
        if "site" not in rule and "tag" not in rule:
            yield _Frame(width / 2, height / 2, width, height), {}
            return
        ids, tags = _kind_pattern(rule.get("site", "*")), _kind_pattern(rule.get("tag", "*"))
        found = []
        for site in plan.sites.values():
            m = ids.fullmatch(site.id)
            t = (
                next((t for t in map(tags.fullmatch, sorted(site.tags)) if t), None)
                if "tag" in rule
                else m
            )
            if m and t:
                frame = _Frame.of(site)
                cx, cy = area_centroid(site.outline)
                found.append(
                    (
                        frame,
                        {
                            **m.groupdict(),
                            **t.groupdict(),
                            "id": site.id,
                            "cx": cx - frame.x,
                            "cy": cy - frame.y,
                        },
                    )
                )
        if not rule.get("group"):
            yield from found
        elif found:
            x0, y0 = min(f.x - f.w / 2 for f, _ in found), min(f.y - f.h / 2 for f, _ in found)
            x1, y1 = max(f.x + f.w / 2 for f, _ in found), max(f.y + f.h / 2 for f, _ in found)
            yield _Frame((x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0), {}

    def _draw(
        self,
        shapes: Sequence[Mapping[str, Any]],
        names: Mapping[str, Any],
        size: Size | None,
        where: str,
        frame: _Frame | None = None,
    ) -> list[Prim]:
        w, h = size_pair(size or 0.0)
        try:
            return [p for s in shapes for p in self._shape(s, {"w": w, "h": h, **names}, frame, 0)]
        except (KeyError, TypeError, ValueError, IndexError, SyntaxError, ZeroDivisionError) as e:
            if isinstance(e, BadArt):
                raise BadArt(f"{self.name}: {where}: {e}") from None
            raise BadArt(f"{self.name}: {where}: {type(e).__name__}: {e}") from None

    def _shape(
        self, spec: Mapping[str, Any], names: Mapping[str, Any], frame: _Frame | None, depth: int
    ) -> list[Prim]:
        if depth > 12:
            raise BadArt("symbols use each other endlessly")
        prims = self._plain_shape(spec, names, frame, depth)
        scale = _number_of(spec.get("scale", 1), names)
        at = [_number_of(v, names) for v in spec.get("at", (0, 0))]
        return [
            moved_prim(p, *at)
            for p in turned_prims(prims, _number_of(spec.get("turn", 0), names), scale)
        ]

    def _plain_shape(
        self, spec: Mapping[str, Any], names: Mapping[str, Any], frame: _Frame | None, depth: int
    ) -> list[Prim]:
        inner = {"use": self._use, "row": self._row, "ring": self._ring}
        for key, make in inner.items():
            if key in spec:
                return make(spec, names, frame, depth + 1)
        if "draw" in spec:
            return [p for s in spec["draw"] for p in self._shape(s, names, frame, depth + 1)]
        if "text" in spec:
            return [
                {
                    "p": "text",
                    "at": [0.0, 0.0],
                    "text": _fill_in(str(spec["text"]), names),
                    "turn": 0.0,
                    "size": _number_of(spec.get("size", 5), names),
                    "fill": self._colour(spec.get("fill", "line"), names),
                }
            ]
        fill, stroke = (
            self._colour(spec.get("fill"), names),
            self._colour(spec.get("stroke"), names),
        )
        width = _number_of(spec.get("width", 0.5), names) if stroke else 0.0
        if "circle" in spec:
            return [
                {
                    "p": "circle",
                    "at": [0.0, 0.0],
                    "r": _number_of(spec["circle"], names),
                    "fill": fill,
                    "stroke": stroke,
                    "width": width,
                }
            ]
        for key, (points_of, closed) in SHAPES.items():
            if key in spec:
                points = points_of(
                    _numbers_of(spec[key], names), _number_of(spec.get("round", 0), names)
                )
                return [
                    {
                        "p": "polygon",
                        "points": points,
                        "fill": fill,
                        "stroke": stroke,
                        "width": width,
                    }
                    if closed
                    else {
                        "p": "line",
                        "points": points,
                        "stroke": stroke or self._colour("line", names),
                        "width": width or 0.5,
                    }
                ]
        if "outline" in spec and frame is not None:
            by, box = _number_of(spec["outline"], names), (frame.x, frame.y, frame.w, frame.h)
            return [
                {
                    "p": "polygon",
                    "points": grown_outline(o, box, by),
                    "fill": fill,
                    "stroke": stroke,
                    "width": width,
                }
                for o in frame.outlines
            ]
        raise BadArt(f"no shape in {dict(spec)}")

    def _use(
        self, spec: Mapping[str, Any], names: Mapping[str, Any], frame: _Frame | None, depth: int
    ) -> list[Prim]:
        name = _fill_in(spec["use"], names)
        if name not in self.symbols:
            raise BadArt(f"no symbol called {name!r}")
        own = {k: _fill_in(v, names) if isinstance(v, str) else v for k, v in spec.items()}
        return [
            p for s in self.symbols[name] for p in self._shape(s, {**names, **own}, frame, depth)
        ]

    def _row(
        self, spec: Mapping[str, Any], names: Mapping[str, Any], frame: _Frame | None, depth: int
    ) -> list[Prim]:
        n = round(_number_of(spec["row"], names))
        dx, dy = _numbers_of(spec["step"], names)
        one = [p for s in spec["draw"] for p in self._shape(s, names, frame, depth)]
        return [
            moved_prim(p, (i - (n - 1) / 2) * dx, (i - (n - 1) / 2) * dy)
            for i in range(n)
            for p in one
        ]

    def _ring(
        self, spec: Mapping[str, Any], names: Mapping[str, Any], frame: _Frame | None, depth: int
    ) -> list[Prim]:
        n, r = round(_number_of(spec["ring"], names)), _number_of(spec.get("r", 0), names)
        one = [
            moved_prim(p, 0, -r) for s in spec["draw"] for p in self._shape(s, names, frame, depth)
        ]
        return [q for i in range(n) for q in turned_prims(one, 360 * i / n, 1)]

    def _colour(self, value: str | None, names: Mapping[str, Any], where: str = "") -> str | None:
        if value is None or value == "none":
            return None
        value = _fill_in(value, names)
        value = self.colours.get(value, value)
        if re.fullmatch(r"#[0-9a-fA-F]{6}", value):
            return value.lower()
        raise BadArt(f"{where + ': ' if where else ''}no colour called {value!r}")


class _Frame:
    """A rectangle of the board to draw on: centre, width and height in mm, and the outlines of its
    site."""

    def __init__(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        outlines: Sequence[Sequence[Sequence[float]]] = (),
    ) -> None:
        self.x, self.y, self.w, self.h, self.outlines = x, y, w, h, outlines

    @classmethod
    def of(cls, site: Any) -> _Frame:
        xs, ys = zip(*site.outline)
        x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
        also = getattr(site, "also", ())
        return cls((x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0, (site.outline, *also))


@cache
def _kind_pattern(text: str) -> re.Pattern[str]:
    def part(p: str) -> str:
        if p == "*":
            return ".*"
        if not p.startswith("{"):
            return re.escape(p)
        name, _, length = p[1:-1].partition(":")
        return f"(?P<{name}>[^:/.]{{{length}}})" if length else f"(?P<{name}>[^:/.]+?)"

    return re.compile("".join(map(part, re.split(r"(\{\w+(?::\d+)?\}|\*)", text))))


def _fill_in(text: str, names: Mapping[str, Any]) -> str:
    def name(m: re.Match[str]) -> str:
        if m[1] not in names:
            raise BadArt(f"{text!r} names {m[1]!r}, which is not known")
        return str(names[m[1]])

    return re.sub(r"\{(\w+)\}", name, text)


_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


_PARSING = Lock()
"""One thread parses at a time: CPython 3.11's parser counts its depth in one place for all
threads and can raise SystemError (python/cpython issue 106905)."""


@cache
def _parse_expression(text: str) -> ast.expr:
    """The syntax tree of an arithmetic expression. Raises SyntaxError for what is none."""
    with _PARSING:
        return ast.parse(text, mode="eval").body


def _number_of(value: Any, names: Mapping[str, Any]) -> float:
    """A number, or an arithmetic expression in text such as "w/2-3" over the names."""
    if not isinstance(value, str):
        return float(value)

    def work(node: ast.AST) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
            return float(node.value)
        if isinstance(node, ast.Name) and node.id in names:
            return float(names[node.id])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -work(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](work(node.left), work(node.right))
        raise BadArt(f"{value!r} is not an expression in {', '.join(sorted(names))}")

    return work(_parse_expression(value))


def _numbers_of(value: Any, names: Mapping[str, Any]) -> Any:
    return (
        [_numbers_of(v, names) for v in value]
        if isinstance(value, list)
        else _number_of(value, names)
    )


_PLAIN = (
    "#d9c7a0",
    "#c8505a",
    "#4a78b8",
    "#58a468",
    "#d8a93c",
    "#8e6bb0",
    "#5aa9b0",
    "#dddddd",
    "#77706a",
    "#c97f4e",
)


_NAMED = {
    "white": "#f4f1e8",
    "black": "#2b2926",
    "red": "#c23b3b",
    "green": "#3f8f55",
    "blue": "#3f6fb5",
    "yellow": "#e3bd3a",
    "brown": "#7a5233",
    "grey": "#8b8b8b",
    "gray": "#8b8b8b",
    "orange": "#d9822b",
    "purple": "#7d56a6",
}


def _lettered_piece(kind: str, size: Size) -> list[Prim]:
    """A kind without a drawing: on the colour that its name mentions, or else one derived from its
    first word, the first letters of its last word that is not a colour."""
    words = [w for w in re.split(r"[\s:/_\-]+", kind) if w] or [kind]
    ground = next((_NAMED[w.lower()] for w in words if w.lower() in _NAMED), None)
    rest = [w for w in words if w.lower() not in _NAMED] or words
    if ground is None:
        ground = _PLAIN[hashlib.sha256(words[0].encode()).digest()[0] % len(_PLAIN)]
    dark = sum(int(ground[i : i + 2], 16) for i in (1, 3, 5)) < 390
    letters = kind if len(kind) <= 2 else rest[-1][:3]
    w, h = size_pair(size)
    style = {"fill": ground, "stroke": "#3a3530", "width": min(w, h) * 0.03}
    base = (
        {"p": "polygon", "points": rect_points((w * 0.97, h * 0.97)), **style}
        if is_pair(size)
        else {"p": "circle", "at": [0.0, 0.0], "r": w * 0.485, **style}
    )
    return [
        base,
        {
            "p": "text",
            "at": [0.0, 0.0],
            "text": letters,
            "turn": 0.0,
            "fill": "#ffffff" if dark else "#26221e",
            "size": min(w, h) * (0.55 if len(letters) == 1 else 0.4 if len(letters) == 2 else 0.28),
        },
    ]


def _plain_board(plan: Any) -> list[Prim]:
    w, h = (float(v) for v in plan.size)
    sheet = [[0, 0], [w, 0], [w, h], [0, h]]
    out: list[Prim] = [
        {"p": "polygon", "points": sheet, "fill": "#d8d2c0", "stroke": None, "width": 0.0}
    ]
    for site in plan.sites.values():
        tag = min(site.tags, default="")
        tint = _PLAIN[hashlib.sha256(tag.encode()).digest()[0] % len(_PLAIN)] if tag else None
        out += [
            {
                "p": "polygon",
                "points": [list(q) for q in o],
                "fill": tint,
                "stroke": "#6b6457",
                "width": 0.6,
            }
            for o in (site.outline, *getattr(site, "also", ()))
        ]
    return out
