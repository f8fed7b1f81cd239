"""Where loose pieces lie in heaps of which only the contents are known."""

import numpy as np
import pytest

from calibration.learned.cut_out import cut_specimens
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
    specimens, _ = cut_specimens(PLAN, VIEW, shots, [c for c, _ in drawn], empty)
    assert len(specimens) == sum(len(k) for layout in HEAPS for k in layout.values())
    for n, (_, lies) in enumerate(drawn):
        for site, kind, at in lies:
            mine = [s for s in specimens if (s.photo, s.site, s.kind) == (n, site, kind)]
            assert min(np.hypot(*(s.top - at)) for s in mine) < 1.5, (site, kind)
