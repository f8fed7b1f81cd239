"""Plans traced on a photo of the empty board: takes outlines in pixels and the board's corners,
returns a plan in millimetres.

    traced = start(base, form, corners)         # the game's own plan, laid on the photo
    plan, faults = checked(base, form, traced)  # a plan.toml's data, and what people should correct
    text = toml(plan)
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import cv2
import msgspec
import numpy as np

import engine
from engine.plan import Plan as RulesPlan
from engine.text import say
from engine.tracing import Choice, Form, PlanFault, Spots, Tag
from vision.geometry.corners import corner_turns, rectangle_corners
from vision.plan import BadPlan, Plan, Point, parse_plan
from vision.registration.aruco_cards import IDS, find_cards, ideal_cards

Outline = tuple[Point, ...]

TOUCH = 3.0  # mm: outlines drawn by finger that come this close touch
NEAR_BORDER = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * int(TOUCH) + 1,) * 2)
# times TOUCH: the least length of a common border; cells that meet in a point are not neighbours
SHARED_BORDER = 1.5
MOST_SITES, MOST_POINTS = 1500, 400
SITE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


class BadTracing(ValueError):
    """An invalid drawing; the message names the place and the fault."""


class TracedSite(msgspec.Struct, kw_only=True):
    """outlines: in pixels of the photo, the parts of one site. drawn: it was drawn on the photo;
    otherwise it moves with the corners.

    touching: a neighbour's id -> whether they touch, where the owner corrects the outlines.
    """

    id: str
    outlines: list[Outline]
    tags: list[str] = []
    reads: str = "pile"
    of: str | None = None
    optional: bool = False
    drawn: bool = False
    touching: dict[str, bool] = {}


class Tracing(msgspec.Struct, kw_only=True):
    """corners: pixels of the board's (0,0) (w,0) (w,h) (0,h). joined: its left and right edges
    touch."""

    size: tuple[float, float]
    corners: list[Point]
    sites: list[TracedSite] = []
    joined: bool = False


msgspec.json.Decoder(Tracing)  # built on import: see vision/plan.py


def form_of(base: Mapping[str, Any]) -> Form:
    """What may be drawn: as the game defines; for a plan without a game any site, with any of the
    plan's tags."""
    game = engine.games().get(base["game"])
    if game is not None and game.form is not None:
        return game.form
    tags = dict.fromkeys(t for s in base["site"] for t in s.get("tags", ()))
    choices = tuple(Choice(t, say(t), (Tag(t, say(t)),), none=say("no")) for t in tags)
    return Form(draws=base["site"][0].get("reads", "pile"), choices=choices)


def start_tracing(base: Mapping[str, Any], corners: Sequence[Sequence[float]]) -> Tracing:
    """The plan as it would lie on the photo. corners: (4, 2) pixels."""
    width, height = map(float, base["size"])
    out = Tracing(size=(width, height), corners=_rounded_points(corners))
    for s in base["site"]:
        outlines = [s["outline"], *s.get("also", ())]
        out.sites.append(
            TracedSite(
                id=s["id"],
                outlines=[_rounded_points(_map_points(_to_px(out), o)) for o in outlines],
                tags=list(s.get("tags", ())),
                reads=s.get("reads", "pile"),
                of=s.get("of"),
                optional=bool(s.get("optional", False)),
            )
        )
    return out


def asks_site(form: Form, choice: Choice, site: TracedSite) -> bool:
    """Whether a choice concerns a site: one with the tag it is for, or, if it is for no tag, any
    site that is not a spot in a cell and has no tags but those to choose from."""
    if choice.when:
        return bool(set(choice.when) & set(site.tags))
    return site.of is None and set(site.tags) <= {t.tag for c in form.choices for t in c.tags}


def asked_for(form: Form, site: TracedSite) -> TracedSite:
    """The site without answers to questions that no longer concern it (the continent of a cell that
    is now sea)."""
    for choice in form.choices:
        given = {t.tag for t in choice.tags} & set(site.tags)
        if choice.when and given and not asks_site(form, choice, site):
            return asked_for(
                form, msgspec.structs.replace(site, tags=[t for t in site.tags if t not in given])
            )
    return site


def parse_tracing(data: Any) -> Tracing:
    """Raises BadTracing."""
    try:
        out = msgspec.convert(data, Tracing)
    except msgspec.ValidationError as e:
        raise BadTracing(f"drawing: {e}") from None
    if len(out.corners) != 4 or min(out.size) <= 0 or max(out.size) > 5000:
        raise BadTracing("drawing: a board has four corners and a size in mm")
    if len(out.sites) > MOST_SITES or any(
        len(o) > MOST_POINTS for s in out.sites for o in s.outlines
    ):
        raise BadTracing("drawing: too many places or points")
    numbers = np.array([p for s in out.sites for o in s.outlines for p in o] + out.corners, float)
    if not np.isfinite(numbers).all() or np.abs(numbers).max() > 1e5:
        raise BadTracing("drawing: a point lies nowhere")
    if not (corner_turns(out.corners) > 1.0).all():
        raise BadTracing("the board's corners are crossed or lie on one line")
    return out


def moved_tracing(
    traced: Tracing, corners: Sequence[Sequence[float]], size: Sequence[float]
) -> Tracing:
    """Changes the corners or the size: what was drawn on the photo stays where it is, the rest
    moves with the board."""
    after = msgspec.structs.replace(
        traced, corners=_rounded_points(corners), size=(float(size[0]), float(size[1]))
    )
    grow = np.diag([after.size[0] / traced.size[0], after.size[1] / traced.size[1], 1.0])
    way = _to_px(after) @ grow @ np.linalg.inv(_to_px(traced))
    after.sites = [
        s
        if s.drawn
        else msgspec.structs.replace(
            s, outlines=[_rounded_points(_map_points(way, o)) for o in s.outlines]
        )
        for s in traced.sites
    ]
    return after


def checked_plan(
    base: Mapping[str, Any], form: Form, traced: Tracing
) -> tuple[dict[str, Any], list[PlanFault]]:
    """(the plan's data, its faults, worst first). The data is that of a plan.toml even if there are
    faults."""
    sites = completed_sites(form, traced)
    faults = _of_sites(sites, base)
    good = [s for s in sites if all(len(o) >= 3 for o in s.outlines) and s.outlines]
    way = np.linalg.inv(_to_px(traced))
    mm = {s.id: [np.array(_map_points(way, o)) for o in s.outlines] for s in good}
    cells = [s for s in good if set(form.cells) & set(s.tags)]
    masks = _cell_masks({s.id: mm[s.id] for s in cells}, traced.size)
    borders = touching_cells(masks, traced.size, traced.joined)
    for s in cells:
        for other, yes in s.touching.items():
            if other in borders:
                (borders[s.id].add if yes else borders[s.id].discard)(other)
                (borders[other].add if yes else borders[other].discard)(s.id)
    faults += _find_overlaps(masks) + _find_islands(borders) + _find_unanswered(form, good)
    plan = {
        "game": base["game"],
        "edition": "traced",
        "size": list(traced.size),
        "piece": list(base.get("piece", ())),
        "site": [_site_table(s, mm[s.id], borders) for s in good],
    }
    faults += _find_unplayable(plan)
    return plan, sorted(faults, key=lambda f: not f.stops)


def completed_sites(form: Form, traced: Tracing) -> list[TracedSite]:
    """The sites with missing spots of cells added, spots of cells that should have none removed,
    and unneeded answers removed."""
    way = np.linalg.inv(_to_px(traced))
    sites = [asked_for(form, s) for s in traced.sites]
    bearing = {s.id: s for s in sites if s.of is None}
    out = []
    for s in sites:
        spots = next(
            (p for p in form.spots if s.of is not None and set(p.tags) & set(s.tags)), None
        )
        if spots is None or s.of in bearing and spots.when in bearing[s.of].tags:
            out.append(s)
    known = {s.id for s in out}
    for spots, cell in itertools.product(form.spots, list(bearing.values())):
        if spots.when not in cell.tags or not cell.outlines or len(cell.outlines[0]) < 3:
            continue
        lacking = [
            i for n in range(1, spots.count + 1) if (i := f"{cell.id}.{spots.name}{n}") not in known
        ]
        there = [
            np.array(_map_points(way, s.outlines[0])) for s in out if s.of == cell.id and s.outlines
        ]
        places = _roomy_spots(
            np.array(_map_points(way, cell.outlines[0])), spots, len(lacking), there
        )
        out += [
            TracedSite(
                id=i,
                outlines=[_rounded_points(_map_points(_to_px(traced), p))],
                tags=list(spots.tags),
                of=cell.id,
            )
            for i, p in zip(lacking, places)
        ]
    return out


def touching_cells(
    masks: Mapping[str, np.ndarray], size: Sequence[float], joined: bool = False
) -> dict[str, set[str]]:
    """cell -> the cells whose outlines come within TOUCH mm of its own along a real length of
    border."""
    grown = {i: cv2.dilate(m, NEAR_BORDER) for i, m in masks.items()}
    across = round(size[0])
    out: dict[str, set[str]] = {i: set() for i in masks}
    boxes = {i: cv2.boundingRect(m) for i, m in grown.items()}
    for a, b in itertools.combinations(masks, 2):
        if not joined and not _boxes_meet(boxes[a], boxes[b]):
            continue
        shared = min(np.count_nonzero(grown[a] & masks[b]), np.count_nonzero(grown[b] & masks[a]))
        if joined:
            for one, two in ((a, b), (b, a)):
                far = min(
                    np.count_nonzero(grown[one][:, across:] & masks[two][:, :-across]),
                    np.count_nonzero(grown[two][:, :-across] & masks[one][:, across:]),
                )
                shared = max(shared, far)
        if shared / TOUCH >= SHARED_BORDER * TOUCH:
            out[a].add(b)
            out[b].add(a)
    return out


def corners_on(image: np.ndarray, size: Sequence[float]) -> list[Point]:
    """A guess at the board's corners in a photo: from its marker cards if all four are seen,
    otherwise a default to be dragged."""
    cards = find_cards(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
    if len(cards) == len(IDS):
        ideal = ideal_cards(Plan("", (size[0], size[1]), ()))
        way = cv2.getPerspectiveTransform(
            np.array([ideal[i].mean(0) for i in IDS], np.float32),
            np.array([cards[i].mean(0) for i in IDS], np.float32),
        )
        return _rounded_points(_map_points(way, rectangle_corners((0, 0), size)))
    h, w = image.shape[:2]
    scale = 0.8 * min(w / size[0], h / size[1])
    x, y = scale * size[0] / 2, scale * size[1] / 2
    return _rounded_points(rectangle_corners((w / 2 - x, h / 2 - y), (w / 2 + x, h / 2 + y)))


def plan_toml(plan: Mapping[str, Any]) -> str:
    """The text of a plan.toml. JSON strings, numbers and lists are valid TOML."""
    lines = [
        (
            "# Traced on a photo of the empty board (nilometer trace); mm from its upper "
            "left corner, x right, y down."
        ),
        "",
    ]
    lines += [f"{k} = {_toml_value(v)}" for k, v in plan.items() if k not in ("piece", "site")]
    for table in ("piece", "site"):
        for one in plan[table]:
            lines += [
                "",
                f"[[{table}]]",
                *(f"{k} = {_toml_value(v)}" for k, v in one.items() if v is not None),
            ]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _site_table(
    s: TracedSite, outlines: Sequence[np.ndarray], borders: Mapping[str, set[str]]
) -> dict[str, Any]:
    parts = [[[round(float(x), 1), round(float(y), 1)] for x, y in o] for o in outlines]
    out: dict[str, Any] = {
        "id": s.id,
        "reads": s.reads,
        "tags": s.tags,
        "of": s.of,
        "optional": s.optional or None,
        "borders": sorted(borders[s.id]) if s.id in borders else None,
        "outline": parts[0],
        "also": parts[1:] or None,
    }
    return {k: v for k, v in out.items() if v is not None}


def _of_sites(sites: Sequence[TracedSite], base: Mapping[str, Any]) -> list[PlanFault]:
    out, seen, kinds = [], set(), {p["kind"] for p in base.get("piece", ())}
    for s in sites:
        if not SITE_ID.fullmatch(s.id) or s.id in kinds:
            text = say(
                "{site}: a name has letters, digits, dots and dashes, and is no piece's", site=s.id
            )
            out.append(PlanFault(text, (s.id,), True))
        if s.id in seen:
            out.append(PlanFault(say("{site} stands twice", site=s.id), (s.id,), True))
        seen.add(s.id)
        if not s.outlines or any(len(o) < 3 for o in s.outlines):
            out.append(
                PlanFault(say("{site}: an outline needs three points", site=s.id), (s.id,), True)
            )
        elif any(_crosses_itself(o) for o in s.outlines):
            out.append(PlanFault(say("{site}: its outline crosses itself", site=s.id), (s.id,)))
    return out


def _find_overlaps(masks: Mapping[str, np.ndarray]) -> list[PlanFault]:
    # A strip along a common border as narrow as a finger's error does not count as overlap.
    boxes = {i: cv2.boundingRect(m) for i, m in masks.items()}
    return [
        PlanFault(say("{one} and {two} overlap", one=a, two=b), (a, b))
        for a, b in itertools.combinations(masks, 2)
        if _boxes_meet(boxes[a], boxes[b]) and cv2.erode(masks[a] & masks[b], NEAR_BORDER).any()
    ]


def _boxes_meet(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two boxes (x, y, width, height) have a pixel in common."""
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def _find_islands(borders: Mapping[str, set[str]]) -> list[PlanFault]:
    groups, left = [], dict.fromkeys(borders)
    while left:
        reached, edge = set(), {next(iter(left))}
        while edge:
            reached |= edge
            edge = set().union(*(borders[c] for c in edge)) - reached
        groups.append([c for c in left if c in reached])
        left = dict.fromkeys(c for c in left if c not in reached)
    main = max(groups, key=len, default=[])
    return [
        PlanFault(
            say("{sites} cannot be reached from the rest of the map", sites=", ".join(g)), tuple(g)
        )
        for g in groups
        if g is not main
    ]


def _find_unanswered(form: Form, sites: Iterable[TracedSite]) -> list[PlanFault]:
    out = []
    for s, c in itertools.product(sites, form.choices):
        if asks_site(form, c, s) and c.none is None and not {t.tag for t in c.tags} & set(s.tags):
            out.append(
                PlanFault(say("{site}: {question} is missing", site=s.id, question=c.text), (s.id,))
            )
    return out


def _find_unplayable(plan: Mapping[str, Any]) -> list[PlanFault]:
    """The faults that the reader and the game find in it."""
    try:
        parse_plan(dict(plan))
        rules_plan = RulesPlan(dict(plan))
        game = engine.games().get(plan["game"])
        if game is None:
            return []
        faults = game.plan_faults(rules_plan)
        if not any(f.stops for f in faults):
            game.setup([s.id for s in game.seats[: game.players[0]]], (), rules_plan)
        return faults
    except (BadPlan, engine.BadPlan, engine.BadText) as e:
        return [PlanFault(say("the plan cannot be played: {reason}", reason=str(e)), (), True)]


def _cell_masks(
    cells: Mapping[str, Sequence[np.ndarray]], size: Sequence[float]
) -> dict[str, np.ndarray]:
    """Masks of the cells, one pixel per millimetre."""
    out = {}
    for i, outlines in cells.items():
        out[i] = np.zeros((round(size[1]) + 20, round(size[0]) + 20), np.uint8)
        for o in outlines:
            cv2.fillPoly(out[i], [np.round(o.clip(0, size)).astype(np.int32)], 1)
    return out


def _roomy_spots(
    cell: np.ndarray, spots: Spots, count: int, taken: Sequence[np.ndarray]
) -> list[list[Point]]:
    """Outlines (mm) of spots inside a cell: each where most room is left, close to the previous
    ones."""
    low = cell.min(0) - 2
    mask = np.zeros(np.ceil(np.ptp(cell, axis=0)[::-1] + 4).astype(int), np.uint8)
    cv2.fillPoly(mask, [np.round(cell - low).astype(np.int32)], 1)
    w, h = spots.size
    for t in taken:
        cv2.fillPoly(mask, [np.round(t - low).astype(np.int32)], 0)
    out = []
    for _ in range(count):
        room = cv2.distanceTransform(np.pad(mask, 1), cv2.DIST_L2, 3)[1:-1, 1:-1]
        y, x = np.unravel_index(int(room.argmax()), room.shape)
        box = rectangle_corners((x - w / 2, y - h / 2), (x + w / 2, y + h / 2))
        cv2.fillPoly(mask, [np.round(box).astype(np.int32)], 0)
        out.append(_rounded_points(box + low))
    return out


def _to_px(traced: Tracing) -> np.ndarray:
    board = rectangle_corners((0, 0), traced.size)
    return cv2.getPerspectiveTransform(
        board.astype(np.float32), np.array(traced.corners, np.float32)
    )


def _map_points(way: np.ndarray, points: Any) -> np.ndarray:
    return cv2.perspectiveTransform(np.array(points, float).reshape(-1, 1, 2), way).reshape(-1, 2)


def _rounded_points(values: Any) -> Any:
    return [(round(float(x), 2), round(float(y), 2)) for x, y in values]


def _crosses_itself(outline: Sequence[Point]) -> bool:
    a = np.array(outline, float)
    b = np.roll(a, -1, 0)

    def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    n = len(a)
    return any(
        side(a[i], b[i], a[j]) * side(a[i], b[i], b[j]) < 0
        and side(a[j], b[j], a[i]) * side(a[j], b[j], b[i]) < 0
        for i in range(n)
        for j in range(i + 2, n)
        if not (i == 0 and j == n - 1)
    )
