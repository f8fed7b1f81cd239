"""Other things that a camera over a table sees, as drawings for a scene: marker cards, hands and
arms, a phone, a cup."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import cv2

Prim = dict[str, Any]


def marker_card(number: int, side: float = 36.0, rim: float = 8.0) -> list[Prim]:
    """A marker card around (0, 0): ArUco 4X4_50, its black square `side` mm wide, with a white
    rim."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    bits = cv2.aruco.generateImageMarker(dictionary, number, 6)
    cell = side / 6
    out = [
        _box_shape(0, 0, side + 2 * rim, side + 2 * rim, "#ffffff"),
        _box_shape(0, 0, side, side, "#000000"),
    ]
    for row in range(6):
        for col in range(6):
            if bits[row, col]:
                out.append(
                    _box_shape((col - 2.5) * cell, (row - 2.5) * cell, cell, cell, "#ffffff")
                )
    return out


def hand_over_board(
    skin: str = "#d8a888", sleeve: str = "#44566e", spread: float = 1.0
) -> list[dict[str, Any]]:
    """A hand whose fingertips are at (0, 0), the arm reaching down to y = 700 mm; some centimetres
    thick."""
    dark = _shade_colour(skin, 0.86)
    arm = [
        _line_shape([(0, 700), (0, 250)], sleeve, 95),
        _line_shape([(0, 262), (0, 120)], dark, 62),
        _line_shape([(0, 255), (0, 120)], skin, 56),
    ]
    palm = {"p": "circle", "at": [0.0, 95.0], "r": 42.0, "fill": skin, "stroke": dark, "width": 3.0}
    fingers = []
    for k, (x, y, length) in enumerate([(-26, 70, 62), (-9, 58, 68), (8, 58, 66), (24, 68, 54)]):
        tip = (x * 0.35 * spread + (k - 1.5) * 3, y - length)
        fingers += [_line_shape([(x, y), tip], dark, 20), _line_shape([(x, y), tip], skin, 16)]
    thumb = [
        _line_shape([(-36, 110), (-22 * spread, 34)], dark, 22),
        _line_shape([(-36, 110), (-22 * spread, 34)], skin, 18),
    ]
    prims = [*arm, palm, *fingers, *thumb]
    box = [[-60, -20], [60, -20], [60, 710], [-60, 710]]
    return [{"z": [25.0, 55.0], "outline": box, "disc": False, "side": None, "top": prims}]


def telephone_prop() -> list[dict[str, Any]]:
    """A telephone as solids and drawings in mm, for a scene."""
    body = [[-36.0, -75.0], [36.0, -75.0], [36.0, 75.0], [-36.0, 75.0]]
    top = [
        _box_shape(0, 0, 72, 150, "#1c1d20"),
        _box_shape(0, 0, 66, 140, "#26313f"),
        _box_shape(0, -40, 50, 24, "#5d7ea0"),
        _box_shape(0, 10, 50, 30, "#39495c"),
    ]
    return [{"z": [0.0, 9.0], "outline": body, "disc": False, "side": "#2a2b2e", "top": top}]


def coffee_cup() -> list[dict[str, Any]]:
    """A cup of coffee, 80 mm across, 85 mm high."""

    def ring(r: float) -> list[list[float]]:
        return [
            [r * math.cos(math.tau * i / 28), r * math.sin(math.tau * i / 28)] for i in range(28)
        ]

    rim = [
        {
            "p": "circle",
            "at": [0.0, 0.0],
            "r": 40.0,
            "fill": "#e8e4da",
            "stroke": "#c9c3b4",
            "width": 1.0,
        },
        {
            "p": "circle",
            "at": [0.0, 0.0],
            "r": 36.0,
            "fill": "#4a2f1e",
            "stroke": "#6b4630",
            "width": 1.5,
        },
    ]
    return [{"z": [0.0, 85.0], "outline": ring(40.0), "disc": True, "side": "#d8d3c6", "top": rim}]


# "hand" stands for any name whose first word is "hand".
PROPS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "hand": hand_over_board,
    "hand dark": lambda: hand_over_board("#7a5238", "#b03a3a", 1.2),
    "hand pale": lambda: hand_over_board("#ecc9b4", "#ecc9b4", 0.8),
    "phone": telephone_prop,
    "cup": coffee_cup,
}


def _shade_colour(colour: str, by: float) -> str:
    return "#" + "".join(
        f"{min(255, round(int(colour[i : i + 2], 16) * by)):02x}" for i in (1, 3, 5)
    )


def _box_shape(x: float, y: float, w: float, h: float, fill: str) -> Prim:
    points = [
        [x - w / 2, y - h / 2],
        [x + w / 2, y - h / 2],
        [x + w / 2, y + h / 2],
        [x - w / 2, y + h / 2],
    ]
    return {"p": "polygon", "points": points, "fill": fill, "stroke": None, "width": 0.0}


def _line_shape(points: Sequence[tuple[float, float]], stroke: str, width: float) -> Prim:
    return {"p": "line", "points": [list(p) for p in points], "stroke": stroke, "width": width}
