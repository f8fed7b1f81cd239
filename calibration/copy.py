"""A copy's folder (docs/contracts.md, Copies): copy.toml, its photos and their layouts. Its central
value: Copy."""

from __future__ import annotations

import difflib
import importlib.resources
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import engine
from vision.geometry.corners import corner_turns
from vision.geometry.occlusion import visible_counts
from vision.plan import BadPlan, Piece, Plan, compose_letters, misspelt_key, parse_plan
from vision.storage import text_file
from vision.storage.photo_file import BadPhoto, is_dark, load_photo

Layout = dict[str, tuple[str, ...]]


COPY_KEYS, PHOTO_KEYS = ("game", "name", "plan", "markers", "photo"), ("file", "layout", "corners")
BEFORE = "model-before.npz"  # the model before something was learnt at the table


class BadCopy(ValueError):
    """A copy that cannot be used; the message is one line that names the file and the fault."""


class BadCorners(BadCopy):
    """Tapped corners that cannot be those of a board."""


class Photo(msgspec.Struct, frozen=True, eq=False):
    """name: the file's name; image: (h, w, 3) uint8 BGR; corners: (4, 2) pixels as tapped, or
    None."""

    name: str
    image: np.ndarray
    layout: Layout
    corners: np.ndarray | None


class Copy(msgspec.Struct, frozen=True, eq=False):
    """A copy of a game as its folder describes it: plan, photos with their layouts, and whether
    marker cards lie around the board."""

    folder: Path
    game: str
    name: str
    plan: Plan
    markers: bool
    photos: list[Photo]

    @property
    def model(self) -> Path:
        """Where the copy's model is, or will be."""
        return self.folder / "model.npz"

    @property
    def before(self) -> Path:
        """The model before something was learnt at the table"""
        return self.folder / BEFORE


def read_copy_toml(path: Path) -> dict[str, Any]:
    """Raises BadCopy, naming the file."""
    try:
        return text_file.read_toml(path)
    except NotADirectoryError:
        raise BadCopy(f"{path.parent}: a file; name the copy's folder") from None
    except OSError as e:
        raise BadCopy(f"{path}: {e.strerror}") from None
    except ValueError as e:
        raise BadCopy(f"{path}: {e}") from None


def game_plan(game: str) -> Plan:
    """The plan that comes with a game's engine. Raises BadPlan for a game without one."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", game):
        raise BadPlan(f"no game is called {game!r}{name_hint(game, engine.games())}")
    file = importlib.resources.files("engine") / game / "plan.toml"
    if not file.is_file():
        raise BadPlan(
            f"no engine for a game called {game!r}: the copy needs a plan.toml of its own"
            f"{name_hint(game, engine.games())}"
        )
    return parse_plan(tomllib.loads(file.read_text(encoding="utf-8")), f"plan of {game}")


def load_plan_of(folder: Path, data: dict[str, Any]) -> Plan:
    """The copy's own plan if it has one, otherwise its game's. Raises BadCopy."""
    name = data.get("plan")
    if name is not None and not isinstance(name, str):
        raise BadCopy(f"{folder / 'copy.toml'}: plan is not a file name")
    own = folder / (name or "plan.toml")
    try:
        if name is not None or own.exists():
            return parse_plan({"game": data.get("game")} | read_copy_toml(own), str(own))
        return game_plan(data["game"])
    except BadPlan as e:
        named = str(e).startswith(str(own))
        raise BadCopy(str(e) if named else f"{folder / 'copy.toml'}: {e}") from None


def check_layout(data: Any, plan: Plan, name: str) -> Layout:
    """A layout's JSON, checked against the plan's sites and kinds. Raises BadCopy, naming the
    site."""
    if not isinstance(data, dict):
        raise BadCopy(f"{name}: not an object of sites")
    out: Layout = {}
    sites, pieces = (
        {compose_letters(name): name for name in names} for names in (plan.sites, plan.pieces)
    )
    for written, kinds in data.items():
        site = sites.get(compose_letters(written))
        if site is None:
            raise BadCopy(
                f"{name}: site {written!r} is not in the plan{name_hint(written, plan.sites)}"
            )
        if not isinstance(kinds, list) or not all(isinstance(k, str) for k in kinds):
            raise BadCopy(f"{name}: {site}: not a list of kinds")
        for k in kinds:
            if k != "?" and compose_letters(k) not in pieces:
                raise BadCopy(
                    f"{name}: {site}: kind {k!r} is not in the plan{name_hint(k, plan.pieces)}"
                )
        if site in out:
            raise BadCopy(f"{name}: site {site} stands twice")
        if kinds:
            out[site] = tuple("?" if k == "?" else pieces[compose_letters(k)] for k in kinds)
    return out


def name_hint(written: str, names: Iterable[str]) -> str:
    """A hint at the known name that an unknown one may be a mistyping of"""
    close = [n for n in names if n.casefold() == written.casefold()]
    close = close or difflib.get_close_matches(written, names, 1, 0.75)
    return f"; {close[0]!r} is meant?" if close else ""


def unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. Raises ValueError if a key occurs twice; parsers would silently keep the
    last."""
    out = dict(pairs)
    if len(out) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{twice!r} stands twice")
    return out


def read_layout(path: Path, plan: Plan) -> Layout:
    """The layout in a file, checked by `check_layout`. Raises BadCopy."""
    try:
        text = text_file.read_text(path)
        if not text.strip():
            raise BadCopy(f"{path}: is empty; {{}} stands for a board on which nothing lies")
        data = json.loads(text, object_pairs_hook=unique_pairs)
    except OSError as e:
        raise BadCopy(f"{path}: {e.strerror}") from None
    except RecursionError:
        raise BadCopy(f"{path}: not a layout") from None
    except ValueError as e:
        raise BadCopy(f"{path}: {e}") from None
    return check_layout(data, plan, str(path))


def check_corners(value: Any, image: np.ndarray, name: str) -> np.ndarray:
    """(4, 2) pixels of a convex quadrilateral in or near the picture. Raises BadCorners."""
    try:
        corners = np.array(value, float)
    except (TypeError, ValueError):
        corners = np.zeros(0)
    if corners.shape != (4, 2) or not np.isfinite(corners).all():
        raise BadCorners(f"{name}: corners are not four [x, y] pixels")
    turns = corner_turns(corners)
    if not (turns > 0).all():
        if (turns < 0).all():
            raise BadCorners(
                f"{name}: corners go round the wrong way; they must be those of (0,0) "
                f"(w,0) (w,h) (0,h)"
            )
        raise BadCorners(
            f"{name}: corners are crossed; they must go round the board: (0,0) (w,0) (w,h) (0,h)"
        )
    h, w = image.shape[:2]
    size = np.array([w, h], float)
    if (corners < -size / 2).any() or (corners > 1.5 * size).any():
        raise BadCorners(f"{name}: corners lie far outside the picture of {w} x {h} pixels")
    (ax, ay), (bx, by) = corners[2] - corners[0], corners[3] - corners[1]
    if abs(ax * by - ay * bx) / 2 < 0.01 * size.prod():
        raise BadCorners(f"{name}: corners enclose next to nothing")
    return corners


def _parse_photo(folder: Path, entry: Any, plan: Plan, n: int) -> Photo:
    where = f"{folder / 'copy.toml'}: photo {n}"
    if not isinstance(entry, dict):
        raise BadCopy(f"{where}: not a table")
    if fault := misspelt_key(entry, PHOTO_KEYS):
        raise BadCopy(f"{where}: {fault}")
    for key in ("file", "layout"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise BadCopy(f"{where}: {key} is missing or not a file name")
    path = folder / entry["file"]
    try:
        image = load_photo(path)
    except BadPhoto as e:
        raise BadCopy(str(e)) from None
    if is_dark(image):
        raise BadCopy(f"{path}: the picture is black")
    layout = read_layout(folder / entry["layout"], plan)
    for site, kinds in layout.items():
        if kinds[-1] == "?" if plan.sites[site].reads == "pile" else set(kinds) == {"?"}:
            raise BadCopy(
                f"{folder / entry['layout']}: {site}: '?' is what lies hidden under "
                f"another piece, and none lies upon it"
            )
    corners = entry.get("corners")
    if corners is not None:
        corners = check_corners(corners, image, where)
    return Photo(path.name, image, layout, corners)


def load_copy(folder: str | Path) -> Copy:
    """Reads a copy's folder with all its photos. Raises BadCopy."""
    folder = Path(folder)
    if not folder.exists():
        raise BadCopy(f"{folder}: no such folder")
    path = folder / "copy.toml"
    data = read_copy_toml(path)
    if fault := misspelt_key(data, COPY_KEYS):
        raise BadCopy(f"{path}: {fault}")
    game, name = data.get("game"), data.get("name", folder.name)
    markers = data.get("markers", False)
    if not isinstance(game, str) or not game:
        raise BadCopy(f"{path}: game is missing")
    if not isinstance(name, str) or not isinstance(markers, bool):
        raise BadCopy(f"{path}: name must be a text, markers true or false")
    plan = load_plan_of(folder, data)
    if not plan.piece:
        raise BadCopy(
            f"{folder / data.get('plan', 'plan.toml')}: no [[piece]]: there is nothing to read"
        )
    entries = data.get("photo", [])
    if isinstance(entries, dict):
        raise BadCopy(f"{path}: each photo begins with [[photo]], in two pairs of brackets")
    if not isinstance(entries, list) or not entries:
        raise BadCopy(f"{path}: no [[photo]]")
    photos = [_parse_photo(folder, e, plan, n) for n, e in enumerate(entries, 1)]
    for n, p in enumerate(photos):
        for k, other in enumerate(photos[:n], 1):
            if other.layout != p.layout and np.array_equal(other.image, p.image):
                raise BadCopy(
                    f"{path}: photos {k} and {n + 1} are the same picture, with other layouts"
                )
    if not any(p.layout for p in photos):
        raise BadCopy(
            f"{path}: no sampler: every photo shows an empty board, so no kind of piece "
            f"can be learnt"
        )
    if not markers and not any(p.corners is not None for p in photos):
        raise BadCopy(f"{path}: markers = false and no photo has corners")
    return Copy(folder, game, name, plan, markers, photos)


def missing_kinds(copy: Copy) -> list[Piece]:
    """Kinds of the plan that no photo shows, or only under others: they cannot be learnt, so they
    will not be read."""
    shown = {k for p in copy.photos for k in visible_counts(copy.plan, p.layout)}
    shown |= {p.looks for p in copy.plan.piece if p.kind in shown and p.looks}
    return [p for p in copy.plan.piece if not {p.kind, p.looks} & shown]
