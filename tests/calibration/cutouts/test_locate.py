"""Where loose pieces lie in heaps of which only the contents are known."""

from collections import Counter

import cv2
import numpy as np
import pytest

from calibration.cutouts.cut_out import cut_specimens
from calibration.cutouts.locate import locate_loose, name_alike
from calibration.cutouts.loose_outlines import Found, Heap
from calibration.cutouts.seek import Samplers
from tests.support.towers import camera
from vision.geometry.posed_photo import Shot
from vision.learned.canvas import Canvas
from vision.plan import parse_plan

SIDE = 70
PLAN = parse_plan(
    {
        "game": "heaps",
        "size": [SIDE * 3, SIDE * 2],
        "site": [
            {
                "id": f"{row}{x}",
                "reads": "cluster",
                "outline": [
                    [SIDE * x, SIDE * y],
                    [SIDE * (x + 1), SIDE * y],
                    [SIDE * (x + 1), SIDE * (y + 1)],
                    [SIDE * x, SIDE * (y + 1)],
                ],
            }
            for y, row in enumerate("AB")
            for x in range(3)
        ],
        "piece": [
            {"kind": "red", "size": 14, "height": 2},
            {"kind": "blue", "size": 14, "height": 2},
            {"kind": "crate", "size": [14, 14], "height": 2},
            {"kind": "plate", "size": [60, 60], "height": 1},
        ],
    },
    "heaps",
)
VIEW = Canvas((SIDE * 3.0, SIDE * 2.0), 2.0)
BOARD = np.array([5.0, 5.1, 5.2])
PAINT = {"red": (4.2, 4.2, 5.2), "blue": (5.2, 4.6, 4.2), "crate": (4.6, 4.9, 5.1)}
HEAPS = [
    {
        "A0": ["red", "red"],
        "A1": ["red", "blue"],
        "B0": ["plate", "blue", "crate"],
        "B2": ["crate"],
    },
    {"A2": ["blue", "crate", "red"], "B0": ["plate", "red"], "B1": ["crate", "crate", "blue"]},
]


def draw_heaps(layout, seed):
    """(a log canvas; (site, kind, (2,) mm) of each piece, none in another)"""
    rng = np.random.default_rng(seed)
    canvas = BOARD + rng.normal(0, 0.03, (*VIEW.shape, 3))
    rows, columns = np.mgrid[: VIEW.shape[0], : VIEW.shape[1]]
    mm = VIEW.to_mm(np.stack([columns, rows], -1).reshape(-1, 2).astype(float))
    lies = []
    for site, kinds in layout.items():
        taken = []
        for kind in kinds:
            centre = PLAN.sites[site].centre
            if kind == "plate":
                at = centre + rng.uniform(-1.5, 1.5, 2)
                inside = np.abs(mm - at).max(1).reshape(VIEW.shape) < 30
                canvas[inside] = (4.4, 4.9, 4.6)
                continue
            at = centre + rng.uniform(-20, 20, 2)
            while any(np.hypot(*(at - o)) < 20 for o in taken):
                at = centre + rng.uniform(-20, 20, 2)
            taken.append(at)
            off = mm - at
            if kind == "crate":
                a = rng.uniform(0, np.pi / 2)
                turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
                inside = np.abs(off @ turn).max(1) < 7
            else:
                inside = np.hypot(*off.T) < 7
            inside = inside.reshape(VIEW.shape)
            canvas[inside] = PAINT[kind] + rng.normal(0, 0.03, (inside.sum(), 3))
            lies.append((site, kind, at))
    return canvas.astype(np.float32), lies


@pytest.mark.parametrize("seed", [2, 5])
def test_each_piece_of_a_heap_is_found_where_it_lies(seed):
    drawn = [draw_heaps(layout, seed + n) for n, layout in enumerate(HEAPS)]
    image = np.zeros((8, 8, 3), np.uint8)
    shots = [
        Shot(image, {s: tuple(k) for s, k in layout.items()}, camera(tilt=0.0), f"sampler-{n}")
        for n, layout in enumerate(HEAPS)
    ]
    empty = np.broadcast_to(BOARD, (*VIEW.shape, 3)).astype(np.float32)
    grounds = [empty.copy() for _ in shots]
    specimens = cut_specimens(Samplers(PLAN, VIEW, shots, [c for c, _ in drawn], grounds))
    assert len(specimens) == sum(len(k) for layout in HEAPS for k in layout.values())
    for n, (_, lies) in enumerate(drawn):
        for site, kind, at in lies:
            mine = [s for s in specimens if (s.photo, s.site, s.kind) == (n, site, kind)]
            assert min(np.hypot(*(s.top - at)) for s in mine) < 1.5, (site, kind)


PAPERS = parse_plan(
    {
        "game": "papers",
        "size": [120, 60],
        "site": [
            {
                "id": name,
                "reads": "cluster",
                "outline": [[x, 5], [x + 50, 5], [x + 50, 55], [x, 55]],
            }
            for name, x in (("A", 5), ("B", 65))
        ],
        "piece": [{"kind": k, "size": 14, "height": 2} for k in ("arrow", "gate", "brick")],
    },
    "papers",
)
CLOSE = Canvas((120.0, 60.0), 4.0)
PAPER, INK, BRICK = np.array([4.2, 4.8, 4.4]), np.array([0.08, 0.08, 0.08]), (4.2, 4.2, 5.2)
SIGNS = {
    "arrow": [[(0, -5), (4, 0), (1, 0), (1, 5), (-1, 5), (-1, 0), (-4, 0)]],
    "gate": [[(-5, -4), (-2, -4), (-2, 4), (-5, 4)], [(2, -4), (5, -4), (5, 4), (2, 4)]],
    "brick": [],
}


def photo_of(pieces):
    """A log canvas. pieces: (kind, (2,) mm, (3,) log light in which it lies)"""
    canvas = np.broadcast_to(BOARD, (*CLOSE.shape, 3)).astype(np.float32).copy()
    for kind, at, light in pieces:
        for points, paint in (
            (cv2.ellipse2Poly((0, 0), (28, 28), 0, 0, 360, 6) / CLOSE.scale, None),
            *((np.array(sign), INK) for sign in SIGNS[kind]),
        ):
            mask = np.zeros(CLOSE.shape, np.uint8)
            outline = np.rint(CLOSE.to_px(at + points) * 16).astype(np.int32)
            cv2.fillPoly(mask, [outline], 1, cv2.LINE_8, 4)
            body = BRICK if kind == "brick" else PAPER
            canvas[mask > 0] = np.add(body, light) if paint is None else body + paint + light
    noise = np.random.default_rng(7).normal(0, 0.01, canvas.shape)
    return (canvas + noise).astype(np.float32)


@pytest.mark.parametrize("first", ["arrow", "gate"])
@pytest.mark.parametrize("known", ["arrow", "gate"])
def test_of_two_signs_in_one_colour_the_print_tells_which_is_known_from_another_heap(first, known):
    """The other sign lies in the light of the known one, and so looks more like it but for that"""
    other = {"arrow": "gate", "gate": "arrow"}
    shade = np.array([0.03, 0.0, -0.03])
    lies = [(first, np.array([20.0, 20.0])), (other[first], np.array([38.0, 38.0]))]
    asked = photo_of([(k, at, shade if k == known else 0 * shade) for k, at in lies])
    bricks = [("brick", np.array([80.0, y])) for y in (15.0, 30.0, 45.0)]
    away = [(known, np.array([25.0, 30.0])), *bricks]
    canvases = [asked, photo_of([(k, at, 0 * shade) for k, at in away])]
    heaps = [
        Heap(0, "A", Counter(["arrow", "gate"])),
        Heap(1, "A", Counter([known])),
        Heap(1, "B", Counter(brick=3)),
    ]
    shape = PAPERS.pieces["arrow"].shape
    on = [0, 0, 1, 2, 2, 2]
    found = [Found(h, shape, at, 0.0, 1.0) for h, (_, at) in zip(on, [*lies, *away])]
    samplers = Samplers(PAPERS, CLOSE, (), canvases, canvases)
    names = name_alike(samplers, heaps, found, {n: h.kinds for n, h in enumerate(heaps)}, {})
    assert names == [k for k, _ in [*lies, *away]]


SEA = parse_plan(
    {
        "game": "sea",
        "size": [SIDE * 3, SIDE * 2],
        "site": [
            {  # round a cape: its box is a third land
                "id": "sea",
                "reads": "cluster",
                "outline": [[0, 0], [70, 0], [70, 40], [30, 40], [30, 110], [0, 110]],
                "also": [[[150, 60], [208, 60], [208, 130], [150, 130]]],
            },
            {
                "id": "cape",
                "reads": "cluster",
                "outline": [[32, 42], [120, 42], [120, 110], [32, 110]],
            },
        ],
        "piece": [
            {"kind": "ship", "size": [18, 12], "height": 2},
            {"kind": "crate", "size": [14, 14], "height": 2},
        ],
    },
    "sea",
)


def test_pieces_are_found_on_each_part_of_a_site_and_only_there():
    rng = np.random.default_rng(7)
    canvas = BOARD + rng.normal(0, 0.03, (*VIEW.shape, 3))
    ground = BOARD + rng.normal(0, 0.03, (*VIEW.shape, 3))
    lies = [("ship", (16.0, 80.0)), ("ship", (180.0, 96.0)), ("crate", (52.0, 66.0))]
    for kind, at in lies:
        half = np.array(SEA.pieces[kind].footprint) / 2
        px = VIEW.to_px(np.array(at) + np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half)
        faint, plain = (4.95, 5.0, 5.3), (4.4, 4.4, 5.2)  # what is no ship shows best
        paint = plain if kind == "crate" else faint
        cv2.fillPoly(canvas, [np.rint(px).astype(np.int32)], paint)
    shot = Shot(
        np.zeros((8, 8, 3), np.uint8),
        {"sea": ("ship", "ship"), "cape": ("crate",)},
        camera(tilt=0.0),
    )
    found = locate_loose(
        Samplers(SEA, VIEW, [shot], [canvas.astype(np.float32)], [ground.astype(np.float32)])
    )
    at = sorted(s.top.round(0).tolist() for s in found if s.kind == "ship")
    for (x, y), wanted in zip(at, [(16, 80), (180, 96)], strict=True):
        assert np.hypot(x - wanted[0], y - wanted[1]) < 4, at
