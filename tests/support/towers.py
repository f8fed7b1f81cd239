"""A chequered board with things of round slices standing on it, drawn as a camera sees it."""

from collections.abc import Callable, Sequence

import cv2
import numpy as np

from vision.geometry.footprints import camera_position
from vision.geometry.pose import Pose
from vision.geometry.posed_photo import Shot
from vision.plan import Plan, parse_plan

SIDE, N = 40.0, 4
FORMS = {
    "stump": (24, (11, 11, 9, 9, 9, 8)),
    "tower": (56, (12, 6, 6, 6, 9, 9)),
    "night": (56, (12, 6, 6, 6, 9, 9)),
}
COLOURS = {"stump": (200, 215, 225), "tower": (150, 190, 210), "night": (40, 35, 60)}


def towers_plan() -> Plan:
    sites = [
        {"id": f"{c}{r}", "outline": [(x, y), (x + SIDE, y), (x + SIDE, y + SIDE), (x, y + SIDE)]}
        for r in range(N)
        for c in range(N)
        for x, y in [(c * SIDE, r * SIDE)]
    ]
    pieces = [{"kind": k, "size": 24, "height": h} for k, (h, _) in FORMS.items()]
    return parse_plan(
        {"game": "towers", "size": [N * SIDE, N * SIDE], "site": sites, "piece": pieces}
    )


def camera(turn: float = 0.0, across: bool = False, tilt: float = 0.35) -> Pose:
    """across: from the other side of the table; tilt: off upright"""
    K = np.array([[700.0, 0, 320], [0, 700, 240], [0, 0, 1]])
    R = cv2.Rodrigues(np.array([tilt, 0.05, turn]))[0] @ (
        np.diag([-1.0, -1, 1]) if across else np.eye(3)
    )
    rvec = cv2.Rodrigues(R)[0].ravel()
    tvec = np.array([0, 0, 340.0]) - R @ np.array([N * SIDE / 2, N * SIDE / 2, 0])
    return Pose(K, np.zeros(4), rvec, tvec, (640, 480))


def photo(
    plan: Plan, layout: dict[str, tuple[str, ...]], pose: Pose, rng: np.random.Generator
) -> np.ndarray:
    """A picture of the board with things standing on it, the farthest drawn first"""
    image = np.full((480, 640, 3), 90, np.uint8)
    for n, s in enumerate(plan.site):
        pale = (n // N + n) % 2
        cv2.fillPoly(
            image,
            [np.rint(pose.to_px(np.array(s.outline))).astype(int)],
            (150, 170, 190) if pale else (70, 90, 120),
        )
    turn = np.linspace(0, 2 * np.pi, 40)
    nadir = camera_position(pose)[:2]
    for site in sorted(layout, key=lambda i: -np.linalg.norm(plan.sites[i].centre - nadir)):
        kind = layout[site][0]
        height, radii = FORMS[kind]
        foot = plan.sites[site].centre + rng.uniform(-3, 3, 2)
        for part in np.linspace(0, 1, 40):
            r = np.interp(part * 5, range(6), radii)
            rim = foot + r * np.stack([np.cos(turn), np.sin(turn)], -1)
            shade = 0.7 + 0.3 * part
            cv2.fillPoly(
                image,
                [np.rint(pose.to_px(rim, part * height)).astype(int)],
                [int(c * shade) for c in COLOURS[kind]],
            )
    noisy = cv2.GaussianBlur(image, (0, 0), 0.6) + rng.normal(0, 2, image.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def random_layout(plan: Plan, rng: np.random.Generator, many: int) -> dict[str, tuple[str, ...]]:
    return {
        plan.site[i].id: (list(FORMS)[n % 3],) for n, i in enumerate(rng.permutation(N * N)[:many])
    }


def towers_shots(plan: Plan, seed: int) -> list[Shot]:
    """A photo of the empty board and two with nine things on it"""
    rng = np.random.default_rng(seed)
    layouts = [{}, random_layout(plan, rng, 9), random_layout(plan, rng, 9)]
    return photograph_layouts(plan, layouts, photo, rng)


def photograph_layouts(
    plan: Plan,
    layouts: Sequence[dict[str, tuple[str, ...]]],
    draw: Callable[..., np.ndarray],
    rng: np.random.Generator,
) -> list[Shot]:
    """A photo of each, as `draw` draws the plan with a layout on it, from the usual place"""
    return [
        Shot(draw(plan, one, camera(), rng), one, camera(), str(n)) for n, one in enumerate(layouts)
    ]
