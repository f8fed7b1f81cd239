"""What the drawn board on the page is made of: sites, where pieces lie on them, and drawings of
pieces and board, as compact JSON."""

from __future__ import annotations

import gzip
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import engine
from engine import art as drawings
from engine.layout import lies_first
from engine.text import Text, pack_text
from vision.plan import Plan, Site, load_plan

READABLE = 0.042  # share of the board's longer side: about 15 px between pieces on a narrow phone
# kinds of loose piece drawn apart from each other on one cluster site; people rarely mix more
MOST_SPOTS = 12


Outline = Sequence[Sequence[float]]


class Drawing:
    """plan: the copy's own plan.toml; None: the one that comes with the game."""

    def __init__(self, plan: str | Path | None) -> None:
        self._plan = plan
        self._made: dict[str, tuple[bytes, str]] = {}
        if plan is not None:
            load_plan(plan)

    def of(self, snapshot: Mapping[str, Any]) -> tuple[bytes, str]:
        """(gzipped JSON, a tag that changes with it) for the game of a snapshot."""
        game = snapshot["game"]
        if game not in self._made:
            body = gzip.compress(
                msgspec.json.encode(board_drawing(game, _plan_of(game, self._plan))), mtime=0
            )
            self._made[game] = body, hashlib.sha256(body).hexdigest()[:16]
        return self._made[game]


def board_drawing(game: str, plan: Plan) -> dict[str, Any]:
    """`{"size", "board": [shape], "sites": {id: {...}}, "pieces": {kind: {...}}, "faces": {kind:
    {...}}}`, all in mm. faces: kinds that lie on no site but occur in questions."""
    try:
        art = drawings.load_art(game)
    except drawings.BadArt:
        art = drawings.plain_art()
    name, whose = piece_namer(game), _seat_finder(game)
    return {
        "game": game,
        "size": list(plan.size),
        "board": [drawn_shape(p) for p in art.board(plan)],
        "sites": {s.id: _site_data(s, plan) for s in plan.site},
        "pieces": {
            p.kind: {
                "shapes": [drawn_shape(q) for q in _piece_shapes(art, plan, p.kind)],
                "name": pack_text(name(p.kind)),
                "size": _rounded_values(p.footprint),
                "disc": p.disc,
                "spans": list(p.spans) if p.spans else None,
                "first": lies_first(p.kind),
                "seat": whose(p.kind),
            }
            for p in plan.piece
        },
        "faces": {
            kind: {
                "shapes": [drawn_shape(q) for q in art.piece(kind)],
                "size": _rounded_values(_face_size(art, kind)),
            }
            for kind in _question_faces(game)
            if art.knows(kind)
        },
        "turns": _piece_turns(art, plan),
    }


def drawn_shape(prim: Mapping[str, Any]) -> dict[str, Any]:
    """A primitive of engine.art in the page's form: `d` (an SVG path), `c` (circle) or `t` (text);
    colours and width."""
    out: dict[str, Any] = {}
    if prim["p"] == "circle":
        out["c"] = _rounded_values([*prim["at"], prim["r"]])
    elif prim["p"] == "text":
        return {
            "t": prim["text"],
            "at": _rounded_values(prim["at"]),
            "size": _rounded_values([prim["size"]])[0],
            "turn": prim.get("turn", 0),
            "f": prim["fill"],
        }
    else:
        points = ["{:g} {:g}".format(*_rounded_values(p)) for p in prim["points"]]
        out["d"] = "M" + "L".join(points) + ("Z" if prim["p"] == "polygon" else "")
    if prim.get("fill"):
        out["f"] = prim["fill"]
    if prim.get("stroke"):
        out.update(s=prim["stroke"], w=round(prim["width"], 2))
    return out


def free_spots(outline: Outline, apart: float, most: int = MOST_SPOTS) -> list[list[float]]:
    """Places for pieces inside an outline, (x, y) in mm, the roomiest first, then those around it;
    at least `apart` from each other if that is possible, otherwise closer."""
    return _spots_at(*_room_inside(outline), apart, most)


def _room_inside(outline: Outline, avoid: Sequence[Outline] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Points inside an outline, (N, 2), and how much room is around each, (N,), in mm: none inside
    the outlines to `avoid`."""
    pts, room = _grid_inside(np.array(outline, float))
    for other in avoid:
        inside, gap = _edge_gaps(pts, np.array(other, float))
        room = np.where(inside, 0, np.minimum(room, gap))
    return pts, room


def _spots_at(
    pts: np.ndarray, room: np.ndarray, apart: float, most: int = MOST_SPOTS
) -> list[list[float]]:
    first = pts[int(np.argmax(room))]
    for share in (1.0, 0.8, 0.6, 0.45):
        fit = pts[room >= 0.45 * apart * share]
        fit = fit[np.argsort(((fit - first) ** 2).sum(1), kind="stable")]
        chosen, gaps = [first], np.hypot(*(fit - first).T)
        while len(chosen) < most and (free := np.flatnonzero(gaps >= apart * share)).size:
            chosen.append(fit[free[0]])
            gaps = np.minimum(gaps, np.hypot(*(fit - chosen[-1]).T))
        if len(chosen) >= most // 2:
            break
    return [_rounded_values(p) for p in chosen]


def _grid_inside(polygon: np.ndarray, across: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """Points of a grid inside the polygon, (N, 2), and their distances to its edge, (N,)."""
    low, high = polygon.min(0), polygon.max(0)
    step = (high - low).max() / across
    xs, ys = (np.arange(lo + step / 2, hi, step) for lo, hi in zip(low, high))
    grid = np.array([(x, y) for y in ys for x in xs] or [(low + high) / 2])
    inside, gap = _edge_gaps(grid, polygon)
    return (grid[inside], gap[inside]) if inside.any() else ((low + high)[None] / 2, np.zeros(1))


def _edge_gaps(points: np.ndarray, polygon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each point, (N, 2): whether it is inside the polygon, and its distance to the polygon's
    edge in mm."""
    a, b = polygon, np.roll(polygon, -1, 0)
    x, y = points[:, None, 0], points[:, None, 1]
    dy = np.where(b[:, 1] == a[:, 1], 1e-9, b[:, 1] - a[:, 1])
    crosses = ((a[:, 1] > y) != (b[:, 1] > y)) & (
        x < a[:, 0] + (y - a[:, 1]) * (b[:, 0] - a[:, 0]) / dy
    )
    along = np.clip(
        ((points[:, None] - a) * (b - a)).sum(2) / np.maximum(((b - a) ** 2).sum(1), 1e-9), 0, 1
    )
    gap = np.linalg.norm(points[:, None] - (a + along[..., None] * (b - a)), axis=2).min(1)
    return crosses.sum(1) % 2 == 1, gap


def _site_data(site: Site, plan: Plan) -> dict[str, Any]:
    low, high = np.array(site.outline).min(0), np.array(site.outline).max(0)
    out: dict[str, Any] = {
        "outlines": [
            "M" + "L".join("{:g} {:g}".format(*_rounded_values(p)) for p in o) + "Z"
            for o in (site.outline, *site.also)
        ],
        "box": _rounded_values([*low, *(high - low)]),
        "reads": site.reads,
    }
    if site.reads == "cluster":
        out.update(_loose_spots(site, plan))
    if site.of:
        out["of"] = site.of
    return out


def _loose_spots(site: Site, plan: Plan) -> dict[str, Any]:
    """Where loose pieces lie on a cluster site, and by how much they are enlarged: on the cells of
    a big map small pawns would be specks on a phone, so they grow as long as five kinds still
    fit."""
    loose = [max(p.footprint) for p in plan.piece if not lies_first(p.kind) and p.spans is None]
    apart = 1.2 * float(np.median(loose)) if loose else 10.0
    wanted = max(1.0, READABLE * max(plan.size) / apart)
    room = _room_inside(site.outline, [s.outline for s in plan.site if s.of == site.id])
    for scale in (wanted, 0.8 * wanted, 0.65 * wanted):
        found = _spots_at(*room, apart * scale)
        nearest = min((math.dist(p, q) for i, p in enumerate(found) for q in found[:i]), default=0)
        if scale > 1 and len(found) >= 5 and nearest >= 0.75 * apart * scale:
            return {"spots": found, "scale": round(scale, 2)}
    return {"spots": _spots_at(*room, apart), "scale": 1}


def _piece_shapes(art: drawings.Art, plan: Plan, kind: str) -> list[dict[str, Any]]:
    piece = plan.pieces[kind]
    if piece.looks is not None and not art.knows(kind):
        return _turned_shapes(art.piece(piece.looks, piece.size), piece.turned)
    return art.piece(kind, piece.size)


def _face_size(art: drawings.Art, kind: str) -> Sequence[float]:
    size = art.size(kind) or 20.0
    return size if isinstance(size, tuple) else (size, size)


def _turned_shapes(prims: Iterable[Mapping[str, Any]], degrees: float) -> list[dict[str, Any]]:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))

    def spin(p: Sequence[float]) -> list[float]:
        return [p[0] * c - p[1] * s, p[0] * s + p[1] * c]

    out = []
    for p in prims:
        q = dict(p)
        if "at" in q:
            q["at"] = spin(q["at"])
        if "points" in q:
            q["points"] = [spin(x) for x in q["points"]]
        if "turn" in q:
            q["turn"] = q["turn"] + degrees
        out.append(q)
    return out


def _piece_turns(art: drawings.Art, plan: Plan) -> dict[str, dict[str, float]]:
    """kind -> {site: degrees} where a piece lies turned on a site; unturned ones are left out."""
    out = {
        p.kind: {s.id: d for s in plan.site if (d := art.turn(p.kind, s.id))} for p in plan.piece
    }
    return {k: v for k, v in out.items() if v}


def piece_namer(game: str) -> Callable[[str], Text]:
    """A function that gives what people call a kind of the game's pieces."""
    try:
        return engine.game(game).kind_name
    except engine.UnknownGame:
        return lambda kind: Text(kind.replace(":", " "))


def _seat_finder(game: str) -> Callable[[str], str | None]:
    """A function that gives the seat that a kind of the game's pieces belongs to."""
    try:
        return engine.game(game).seat_of
    except engine.UnknownGame:
        return lambda kind: None


def _question_faces(game: str) -> tuple[str, ...]:
    try:
        return engine.game(game).faces
    except engine.UnknownGame:
        return ()


def _plan_of(game: str, own: str | Path | None) -> Plan:
    return load_plan(own) if own is not None else _own_plan(game)


@cache
def _own_plan(game: str) -> Plan:
    with resources.as_file(resources.files(f"engine.{game}").joinpath("plan.toml")) as path:
        return load_plan(path)


def _rounded_values(values: Iterable[float]) -> list[float]:
    return [round(float(v), 2) for v in values]
