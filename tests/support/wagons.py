"""A board with slots at all angles and wagons on some of them, drawn as a camera sees it."""

import cv2
import numpy as np

from devtools.other_boards import SQUARE, turn_points
from tests.support.towers import SIDE, N, photograph_layouts
from vision.geometry.pose import Pose
from vision.geometry.posed_photo import Shot
from vision.plan import Plan, parse_plan

SLOT, WAGON, HEIGHT = (25.0, 8.5), (23.0, 7.0), 8.0  # mm
WIDE = N * SIDE
COLOURS = {"red": (45, 40, 180), "blue": (180, 90, 40)}


def turned_rectangle(centre: np.ndarray, size: tuple[float, float], degrees: float) -> np.ndarray:
    """(4, 2) mm, turned clockwise"""
    return centre + turn_points(SQUARE * size, np.radians(degrees))


def slot_angles(plan: Plan) -> dict[str, float]:
    """site -> degrees"""
    return {s.id: 22.5 * n for n, s in enumerate(plan.site)}


def wagons_plan() -> Plan:
    """Nine slots, each turned by another 22.5 degrees"""
    sites = [
        {
            "id": f"w{n}",
            "outline": turned_rectangle(
                np.array([30.0 + 50 * (n % 3), 30.0 + 50 * (n // 3)]), SLOT, 22.5 * n
            ).tolist(),
        }
        for n in range(9)
    ]
    pieces = [{"kind": k, "size": WAGON, "height": HEIGHT} for k in COLOURS]
    return parse_plan({"game": "wagons", "size": [WIDE, WIDE], "site": sites, "piece": pieces})


def draw_wagons(
    plan: Plan, layout: dict[str, tuple[str, ...]], pose: Pose, rng: np.random.Generator
) -> np.ndarray:
    image = np.full((480, 640, 3), 110, np.uint8)

    def fill_area(mm: np.ndarray, height: float, colour: tuple[float, ...]) -> None:
        px = np.rint(pose.to_px(mm, height) * 16).astype(int)
        cv2.fillPoly(image, [px], colour, cv2.LINE_AA, 4)

    fill_area(plan.corners, 0.0, (150, 185, 195))
    angles = slot_angles(plan)
    for n, s in enumerate(plan.site):
        fill_area(np.array(s.outline), 0.0, (90, 90, 90))
        ground = (120, 160, 215) if n % 2 else (170, 170, 170)
        fill_area(turned_rectangle(s.centre, (SLOT[0] - 2, SLOT[1] - 2), angles[s.id]), 0.0, ground)
    for site, (kind,) in layout.items():
        middle = plan.sites[site].centre + rng.uniform(-0.7, 0.7, 2)
        turn = angles[site] + rng.uniform(-4, 4)
        for part in np.linspace(0, 1, 9):
            shade = 0.6 + 0.4 * part
            box = turned_rectangle(middle, WAGON, turn)
            fill_area(box, part * HEIGHT, tuple(c * shade for c in COLOURS[kind]))
        fill_area(turned_rectangle(middle, (WAGON[0], 1.5), turn), HEIGHT, (230, 230, 230))
    noisy = cv2.GaussianBlur(image, (0, 0), 0.6) + rng.normal(0, 2, image.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def random_layout(plan: Plan, rng: np.random.Generator, many: int) -> dict[str, tuple[str, ...]]:
    kinds = list(COLOURS)
    return {plan.site[i].id: (kinds[n % 2],) for n, i in enumerate(rng.permutation(9)[:many])}


def wagons_shots(plan: Plan, seed: int) -> list[Shot]:
    """A photo of the empty board and two with wagons on it"""
    rng = np.random.default_rng(seed)
    layouts = [{}, random_layout(plan, rng, 5), random_layout(plan, rng, 5)]
    return photograph_layouts(plan, layouts, draw_wagons, rng)
