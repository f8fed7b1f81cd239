"""Draws copies of boards that belong to none of our games, to see how well other boards are read:

    python -m devtools.other_boards GAME SEED FOLDER

writes FOLDER as a copy to calibrate from, and FOLDER/test: photos with layouts, from other sides
and in other light. GAME: one of BOARDS. Its central value: Board."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import cv2
import msgspec
import numpy as np

from vision.geometry.footprints import camera_position
from vision.geometry.pose import Pose

DOTS = 4  # pixels a mm of the drawn board
SIZE, FOCAL = (2000, 1500), 1550.0  # of a photo, pixels
ROUND = np.column_stack(
    [f(np.linspace(0, 2 * np.pi, 32, endpoint=False)) for f in (np.cos, np.sin)]
)
SQUARE = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
POINTED = np.array([[-0.5, 0.5], [-0.4, -0.25], [0.0, -0.5], [0.4, -0.25], [0.5, 0.5]])
CHEQUER = ((150, 190, 215), (50, 70, 105))
COLOURS = {
    "red": (45, 40, 180),
    "blue": (175, 85, 35),
    "green": (55, 120, 45),
    "yellow": (60, 195, 225),
    "black": (48, 45, 44),
    "white": (215, 222, 228),
    "orange": (35, 120, 225),
    "pink": (180, 130, 220),
    "grey": (150, 155, 150),
}
TESTS = 8  # test photos
Colour = tuple[float, float, float]
Laid = dict[str, list[str]]


class Shape(msgspec.Struct, frozen=True):
    """A kind of piece. size: (w, d) mm; colour: BGR; ridge: the depth of its top as a share of its
    own, for a wagon or house; outline: (n, 2) as shares of its size; sign: strokes printed on it,
    (n, 4) start and end points as shares of its size; directed: whether it lies turned by half a
    turn"""

    size: tuple[float, float]
    height: float
    colour: Colour
    ridge: float = 1.0
    outline: np.ndarray = msgspec.field(default_factory=lambda: SQUARE)
    sign: np.ndarray = msgspec.field(default_factory=lambda: np.zeros((0, 4)))
    directed: bool = False


class Place(msgspec.Struct, frozen=True):
    """A site. outline: (n, 2) mm; turn: the rotation of pieces there, radians, None: any; line:
    (2,) mm from one piece to the next, on a point; takes: the kinds that lie there"""

    outline: np.ndarray
    takes: Sequence[str]
    turn: float | None = 0.0
    line: np.ndarray | None = None

    @property
    def middle(self) -> np.ndarray:
        """(2,) mm"""
        low, high = self.outline.min(0), self.outline.max(0)
        return (low + high) / 2


class Board(msgspec.Struct, frozen=True):
    """size: mm; picture: (h, w, 3) uint8; most: pieces in a pile, or on a point; laid: sites that a
    sampler covers"""

    size: np.ndarray
    picture: np.ndarray
    places: Mapping[str, Place]
    shapes: Mapping[str, Shape]
    most: int = 1
    laid: int = 30

    @property
    def corners(self) -> np.ndarray:
        """(4, 2) mm: (0,0) (w,0) (w,h) (0,h)"""
        return (SQUARE + 0.5) * self.size


def turn_points(points: np.ndarray, angle: float) -> np.ndarray:
    """(n, 2) turned clockwise by radians"""
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, s], [-s, c]])


def shade_colour(
    colour: Sequence[float] | np.ndarray, by: float = 1.0, more: float = 0.0
) -> Colour:
    """A colour made brighter by a factor, then by some grey levels"""
    b, g, r = (float(np.clip(v * by + more, 0, 255)) for v in colour)
    return b, g, r


def rough_ground(rng: np.random.Generator, size: np.ndarray, colour: Colour) -> np.ndarray:
    """(h, w, 3) uint8: an uneven printed ground"""
    w, h = (int(v * DOTS) for v in size)
    out = np.zeros((h, w, 3), np.float32) + np.array(colour, np.float32)
    for grain, amount in ((50, 9.0), (8, 7.0), (2, 7.0)):
        few = rng.normal(0, amount, (h // (grain * DOTS) + 2, w // (grain * DOTS) + 2, 3))
        out += cv2.resize(few.astype(np.float32), (w, h), interpolation=cv2.INTER_CUBIC)
    return np.clip(out, 0, 255).astype(np.uint8)


def fill_outline(picture: np.ndarray, mm: np.ndarray, colour: Colour) -> None:
    """Prints an area (n, 2) mm on a board"""
    cv2.fillPoly(picture, [np.rint(mm * DOTS * 16).astype(int)], colour, cv2.LINE_AA, 4)


def draw_outline(picture: np.ndarray, mm: np.ndarray, colour: Colour) -> None:
    """Prints a line round an area (n, 2) mm"""
    cv2.polylines(picture, [np.rint(mm * DOTS * 16).astype(int)], True, colour, 3, cv2.LINE_AA, 4)


def draw_railway(rng: np.random.Generator) -> Board:
    """Routes of coloured slots between towns, bent, at all angles; wagons of five colours"""
    size, slot = np.array([620.0, 420.0]), np.array([25.0, 8.5])
    kinds = {f"{c} wagon": Shape((23.5, 7.5), 8.5, COLOURS[c], 0.6) for c in list(COLOURS)[:5]}
    picture, towns = rough_ground(rng, size, (150, 185, 175)), np.zeros((0, 2))
    places: dict[str, Place] = {}
    while len(towns) < 26:
        town = rng.uniform((30, 30), size - 30)
        if not len(towns) or np.hypot(*(towns - town).T).min() > 62:
            towns = np.vstack([towns, town])
    pairs = [(np.hypot(*(b - a)), a, b) for n, b in enumerate(towns) for a in towns[:n]]
    taken = np.zeros((0, 2))
    for route, (far, start, end) in enumerate(sorted(pairs, key=lambda p: p[0])):
        along, many = (end - start) / far, int((far - 14) // 26.5)
        if not 1 <= many <= 5:
            continue
        t = 0.5 + (np.arange(many) - (many - 1) / 2) * 26.5 / far
        bend = rng.normal(0, 0.1) * far
        middles = start + t[:, None] * (end - start)
        middles = middles + np.outer(bend * (1 - (2 * t - 1) ** 2), (-along[1], along[0]))
        angles = np.arctan2(along[1], along[0]) + np.arctan(bend * 4 * (1 - 2 * t) / far)
        near = np.hypot(*(taken[:, None] - middles).transpose(2, 0, 1)) < 24
        if near.any() or (middles < 14).any() or (middles > size - 14).any():
            continue
        taken = np.vstack([taken, middles])
        colour = [*COLOURS.values()][route % len(COLOURS)]
        for middle, angle in zip(middles, angles):
            outline = middle + turn_points(SQUARE * slot, angle)
            fill_outline(picture, outline, shade_colour(colour, 0.75, 50))
            draw_outline(picture, outline, (60, 60, 60))
            places[f"w{len(places)}"] = Place(outline, list(kinds), angle)
    for town in towns:
        fill_outline(picture, town + ROUND * 5, (60, 70, 160))
    return Board(size, picture, places, kinds)


def draw_points(rng: np.random.Generator) -> Board:
    """The points of backgammon: men in rows, hardly narrower than the points"""
    size, wide = np.array([420.0, 360.0]), 30.0
    picture, places = rough_ground(rng, size, (60, 95, 60)), {}
    men = {c: Shape((29, 29), 8, COLOURS[c], outline=ROUND / 2) for c in ("black", "white")}
    for n in range(24):
        column = n % 12
        x, side = 15 + column * wide + (30 if column >= 6 else 0), -1 if n < 12 else 1
        y = 12.0 if side > 0 else size[1] - 12
        box = np.array([[x, y], [x + wide, y], [x + wide, y + side * 155], [x, y + side * 155]])
        tip = np.array([[x, y], [x + wide, y], [x + wide / 2, y + side * 140]])
        fill_outline(picture, tip, CHEQUER[n % 2])
        places[f"P{n + 1}"] = Place(box, list(men), None, np.array([0.0, side * 30.5]))
    return Board(size, picture, places, men, most=5, laid=12)


def draw_squares(
    rng: np.random.Generator, many: int, side: Colour, kinds: Mapping[str, Shape], most: int
) -> Board:
    """A board of squares, printed in two colours where what lies there is stacked"""
    size, wide = np.full(2, many * 40.0 + 20), 40.0
    picture, places = rough_ground(rng, size, side), {}
    for row, column in np.ndindex(many, many):
        outline = 10 + (SQUARE + 0.5 + (column, row)) * wide
        if most > 1:
            fill_outline(picture, outline, CHEQUER[(row + column) % 2])
        draw_outline(picture, outline, (30, 40, 50))
        if most == 1 or (row + column) % 2:
            turn = None if most > 1 else 0.0
            places[f"{chr(65 + column)}{row + 1}"] = Place(outline, list(kinds), turn)
    return Board(size, picture, places, kinds, most, 20 if most > 1 else 36)


def draw_stacks(rng: np.random.Generator) -> Board:
    """Draughts: men, and kings of two men on each other"""
    men = {c: Shape((32, 32), 8, COLOURS[c], outline=ROUND / 2) for c in ("black", "white")}
    return draw_squares(rng, 8, (60, 90, 130), men, 2)


def draw_pointers(rng: np.random.Generator) -> Board:
    """Men of two sides that differ only in the direction they point, as in shogi"""
    men = {}
    for n, letter in enumerate("PLNSGBRK"):
        size, sign = (22.0 + n, 26.0 + n * 0.7), rng.uniform(-0.28, 0.34, (7, 4))
        for name, directed in ((letter, False), (f"v{letter}", True)):
            men[name] = Shape(size, 8, (120, 190, 225), 1.0, POINTED, sign, directed)
    return draw_squares(rng, 9, (95, 160, 205), men, 1)


def draw_hexes(rng: np.random.Generator) -> Board:
    """Hexes with roads on their edges, houses of two sizes on their corners"""
    size, radius = np.array([460.0, 440.0]), 45.0
    picture = rough_ground(rng, size, (170, 130, 60))
    ways: list[tuple[np.ndarray, float]] = []
    towns: list[np.ndarray] = []
    roads, houses = {}, {}
    for colour in ("red", "blue", "white", "orange"):
        roads[f"{colour} road"] = Shape((25, 5), 5, COLOURS[colour])
        houses[f"{colour} house"] = Shape((11, 8), 11, COLOURS[colour], 0.04)
        houses[f"{colour} city"] = Shape((17, 9), 16, COLOURS[colour], 0.04)
    around = np.array([[np.sin(k * np.pi / 3), -np.cos(k * np.pi / 3)] for k in range(6)])
    for row, column in np.ndindex(5, 5):
        q, r = column - 2, row - 2
        if abs(q + r) > 2:
            continue
        middle = size / 2 + radius * np.array([np.sqrt(3) * (q + r / 2), 1.5 * r])
        corners = middle + radius * around
        fill_outline(picture, corners, shade_colour(rng.uniform(50, 200, 3)))
        draw_outline(picture, corners, (120, 190, 215))
        for a, b in zip(corners, np.roll(corners, -1, 0)):
            if all(np.hypot(*(m - (a + b) / 2)) > 6 for m, _ in ways):
                ways.append(((a + b) / 2, float(np.arctan2(*(b - a)[::-1]))))
            if all(np.hypot(*(m - a)) > 6 for m in towns):
                towns.append(a)
    places = {
        f"way{n}": Place(m + turn_points(SQUARE * (26, 9), a), list(roads), a)
        for n, (m, a) in enumerate(ways)
    }
    for n, m in enumerate(towns):
        places[f"town{n}"] = Place(m + SQUARE * 18, list(houses), None)
    return Board(size, picture, places, roads | houses, laid=50)


BOARDS: dict[str, Callable[[np.random.Generator], Board]] = {
    "railway": draw_railway,
    "points": draw_points,
    "hexes": draw_hexes,
    "pointers": draw_pointers,
    "stacks": draw_stacks,
}


def look_at(board: Board, tilt: float, lean: float, turn: float, fill: float) -> Pose:
    """The pose of a camera tilted by `tilt` degrees towards `lean`, with the board turned by `turn`
    and filling a share `fill` of the picture"""
    K = np.array([[FOCAL, 0, SIZE[0] / 2], [0, FOCAL, SIZE[1] / 2], [0, 0, 1]])
    axis = np.array([np.cos(np.radians(lean)), np.sin(np.radians(lean)), 0]) * np.radians(tilt)
    R = cv2.Rodrigues(axis)[0] @ cv2.Rodrigues(np.array([0, 0, np.radians(turn)]))[0]
    away = FOCAL * (board.size / (fill * np.array(SIZE))).max()
    t = np.array([0, 0, away]) - R @ np.array([*board.size / 2, 0])
    return Pose(K, np.zeros(4), cv2.Rodrigues(R)[0].ravel(), t, SIZE)


def lay_pieces(board: Board, layout: Laid, rng: np.random.Generator) -> list[tuple]:
    """(kind, (2,) mm, radians, mm beneath it) of every piece, placed as inaccurately as by hand"""
    out = []
    for site, contents in layout.items():
        place, base = board.places[site], 0.0
        at = place.middle
        if place.line is not None:
            at = at + place.line * -2.0 + place.line * rng.uniform(0, 0.15)
        for n, kind in enumerate(contents):
            turn = rng.uniform(0, 2 * np.pi) if place.turn is None else place.turn
            turn += np.radians(np.clip(rng.normal(0, 3), -9, 9))
            shape = board.shapes[kind]
            if shape.directed or place.turn and rng.random() < 0.5:
                turn += np.pi
            step = np.zeros(2) if place.line is None else n * place.line
            astray = np.clip(rng.normal(0, 0.8, 2), -2, 2)
            out.append((kind, at + step + astray, turn, base))
            base += shape.height if place.line is None else 0.0
    return out


def film_board(
    board: Board, layout: Laid, pose: Pose, rng: np.random.Generator, odd: float = 0.0
) -> np.ndarray:
    """A photo. odd: how far its light is from the usual"""
    table = cv2.resize(rng.normal(0, 9, (90, 120, 3)).astype(np.float32), SIZE)
    H = cv2.getPerspectiveTransform(
        (board.corners * DOTS).astype(np.float32), pose.to_px(board.corners).astype(np.float32)
    )
    image = (table + np.array([70, 95, 120.0])).astype(np.float32)
    seen = cv2.warpPerspective(board.picture, H, SIZE, flags=cv2.INTER_AREA)
    inside = cv2.warpPerspective(np.full(board.picture.shape[:2], 255, np.uint8), H, SIZE) > 127
    image[inside] = seen[inside]
    camera, shade = camera_position(pose), np.array([0.4, 0.4]) + rng.normal(0, odd, 2)
    for kind, at, turn, base in sorted(
        lay_pieces(board, layout, rng), key=lambda p: (-np.hypot(*(p[1] - camera[:2])), p[3])
    ):
        draw_piece(image, pose, board.shapes[kind], at, turn, base, shade, rng)
    gain = 0.85 + odd * rng.uniform(-0.15, 0.1)
    tint = 1 + odd * rng.normal(0, 0.1, 3)
    slope = np.linspace(-0.5, 0.5, SIZE[0]) * (0.1 + odd * rng.normal(0, 0.4))
    image = cv2.GaussianBlur(image * (1 + slope)[None, :, None] * gain * tint, (0, 0), 0.8)
    return np.clip(image + rng.normal(0, 2.5, image.shape), 0, 255).astype(np.uint8)


def draw_piece(
    image: np.ndarray,
    pose: Pose,
    shape: Shape,
    at: np.ndarray,
    turn: float,
    base: float,
    shade: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Draws a prism on a float picture, with its shadow; its top is a ridge if it is a house"""
    colour, top = np.array(shape.colour) * rng.normal(1, 0.03), base + shape.height
    foot = at + turn_points(shape.outline * shape.size, turn)
    ridge = at + turn_points(shape.outline * shape.size * (1, shape.ridge), turn)
    wall = base + shape.height * (1.0 if shape.ridge == 1 else 0.6)

    def fill_face(points: list[tuple[np.ndarray, float]], bright: float) -> None:
        px = np.vstack([pose.to_px(np.array([mm]), z) for mm, z in points])
        shown = shade_colour(colour, bright)
        cv2.fillConvexPoly(image, np.rint(px * 16).astype(int), shown, cv2.LINE_AA, 4)

    cast = pose.to_px(np.vstack([foot, foot + shade * top])).astype(np.float32)
    low = np.maximum(cast.min(0).astype(int) - 12, 0)
    part = image[low[1] : int(cast[:, 1].max()) + 12, low[0] : int(cast[:, 0].max()) + 12]
    dark = np.zeros(part.shape[:2], np.float32)
    cv2.fillConvexPoly(dark, cv2.convexHull(np.rint(cast - low).astype(int)), 0.45)
    part *= 1 - cv2.GaussianBlur(dark, (0, 0), 3)[..., None]
    camera, edges = camera_position(pose)[:2], range(len(foot))
    for a in sorted(edges, key=lambda n: -np.hypot(*(foot[n] - camera))):
        b = (a + 1) % len(foot)
        out = (foot[a] + foot[b]) / 2 - at
        bright = 0.72 + 0.2 * float(out @ (0.77, 0.64)) / np.hypot(*out)
        fill_face([(foot[a], base), (foot[b], base), (foot[b], wall), (foot[a], wall)], bright)
        if shape.ridge < 1:
            sides = [(foot[a], wall), (foot[b], wall), (ridge[b], top), (ridge[a], top)]
            fill_face(sides, bright + 0.2)
    if shape.ridge > 0.1:
        fill_face([(p, top) for p in ridge], 1.05)
    for stroke in shape.sign:
        ends = at + turn_points(stroke.reshape(2, 2) * shape.size, turn)
        (x0, y0), (x1, y1) = np.rint(pose.to_px(ends, top)).astype(int).tolist()
        cv2.line(image, (x0, y0), (x1, y1), (35, 30, 30), 4, cv2.LINE_AA)


def random_layout(board: Board, sites: int, rng: np.random.Generator) -> Laid:
    """site -> what lies there, on so many sites"""
    out: Laid = {}
    for site in rng.permutation(list(board.places))[:sites]:
        takes = board.places[site].takes
        many = int(rng.integers(1, board.most + 1)) if rng.random() < 0.5 else 1
        out[str(site)] = [takes[int(rng.integers(len(takes)))]] * many
    return out


def plan_text(game: str, board: Board) -> str:
    """The board's plan.toml"""
    lines = [f'game = "{game}"', f"size = {board.size.tolist()}"]
    for site, place in board.places.items():
        reads = ['reads = "cluster"'] if place.line is not None else []
        outline = place.outline.round(2).tolist()
        lines += ["", "[[site]]", f'id = "{site}"', f"outline = {outline}", *reads]
    for kind, s in board.shapes.items():
        size = s.size[0] if s.outline.shape == ROUND.shape else list(s.size)
        lines += ["", "[[piece]]", f'kind = "{kind}"', f"size = {size}", f"height = {s.height}"]
        lines += ["count = 60"]
        if s.directed:
            lines += [f'back = "{kind[1:]}"', "directed = true"]
    return "\n".join(lines) + "\n"


def write_copy(game: str, seed: int, folder: Path) -> None:
    """Draws a board of that name and writes it as a copy with test photos. Raises OSError."""
    rng = np.random.default_rng(seed)
    board = BOARDS[game](rng)
    (folder / "test").mkdir(parents=True, exist_ok=True)
    (folder / "plan.toml").write_text(plan_text(game, board), encoding="utf-8")
    lines = [f'game = "{game}"', 'plan = "plan.toml"', "markers = false"]

    def write_photo(name: str, layout: Laid, pose: Pose, odd: float) -> None:
        cv2.imwrite(str(folder / f"{name}.jpg"), film_board(board, layout, pose, rng, odd))
        (folder / f"{name}.json").write_text(json.dumps(layout), encoding="utf-8")

    for name, many, tilt in (
        ("empty", 0, 12),
        ("sampler-1", board.laid, 14),
        ("sampler-2", board.laid, 10),
    ):
        pose = look_at(board, tilt, rng.uniform(60, 120), rng.normal(0, 2), 0.88)
        write_photo(name, random_layout(board, many, rng), pose, 0.0)
        tapped = (pose.to_px(board.corners) + rng.normal(0, 1.5, (4, 2))).round().tolist()
        lines += [
            "",
            "[[photo]]",
            f'file = "{name}.jpg"',
            f'layout = "{name}.json"',
            f"corners = {tapped}",
        ]
    (folder / "copy.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for n in range(TESTS):
        pose = look_at(
            board, rng.uniform(5, 22), rng.uniform(40, 140), rng.normal(0, 3), rng.uniform(0.8, 0.9)
        )
        layout = random_layout(board, int(rng.integers(5, 2 * board.laid)), rng)
        write_photo(f"test/{n + 1:02}", layout, pose, 1.0)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in BOARDS or not sys.argv[2].isdigit():
        sys.exit(f"python -m devtools.other_boards GAME SEED FOLDER; GAME: {', '.join(BOARDS)}")
    write_copy(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
