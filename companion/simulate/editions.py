"""Other editions of a game: the same kinds with different colours and signs, generated from a
number."""

from __future__ import annotations

import colorsys
import math
import random
from typing import Any

from engine.art import Art


def art_edition(art: Art, number: int) -> Art:
    """Edition 0 is the art as it is; others differ in colours, odd ones swap signs, even ones have
    signs of their own."""
    if not number:
        return art
    rng = random.Random(number * 7919)
    art = art.with_colours(_shifted_colours(art.colours, rng))
    groups: dict[str, list[str]] = {}
    for name in art.symbols:
        if "-" in name:
            groups.setdefault(name.split("-")[0], []).append(name)
    signs: dict[str, Any] = {}
    for group, names in sorted(groups.items()):
        if group in ("wave", "rim", "mark", "cap", "event") or len(names) < 2:
            continue
        if number % 2:
            turned = names[1:] + names[:1]
            signs |= {name: art.symbols[other] for name, other in zip(names, turned)}
        else:
            signs |= {name: _made_up_glyph(rng, _symbol_reach(art.symbols[name])) for name in names}
    return art.with_symbols(signs)


def _shifted_colours(colours: dict[str, str], rng: random.Random) -> dict[str, str]:
    """Shifts each colour a little, all in the same direction, as inks and prints differ; grounds
    (not the seats' colours) more."""
    drift, wash, tone = rng.uniform(-0.05, 0.05), rng.uniform(0.7, 1.2), rng.uniform(0.85, 1.12)
    grounds = rng.uniform(-0.12, 0.12)
    people = {"red", "blue", "green", "yellow", "black", "white", "line"}
    out = {}
    for name, value in colours.items():
        r, g, b = (int(value[i : i + 2], 16) / 255 for i in (1, 3, 5))
        h, s, v = colorsys.rgb_to_hsv(r, g, b)
        h += drift * 0.5 if any(p in name.split("-") for p in people) else drift + grounds
        s *= wash * rng.uniform(0.9, 1.1)
        v = min(v * tone * rng.uniform(0.93, 1.07), 0.98)
        rgb = colorsys.hsv_to_rgb(h % 1, max(0.0, min(s, 1.0)), max(0.05, v))
        out[name] = "#" + "".join(f"{round(255 * c):02x}" for c in rgb)
    return out


def _symbol_reach(shapes: list[dict[str, Any]]) -> float:
    """The rough distance of a symbol's points from its middle"""
    far = [
        abs(v)
        for s in shapes
        for key in ("polygon", "line")
        for p in s.get(key, ())
        for v in p
        if not isinstance(v, str)
    ]
    return max(far, default=7.0)


def _made_up_glyph(rng: random.Random, reach: float) -> list[dict[str, Any]]:
    """A made-up sign: a few strokes and blots, mirrored left and right half of the time."""
    mirrored = rng.random() < 0.5
    out: list[dict[str, Any]] = []

    def point() -> list[float]:
        r, a = reach * math.sqrt(rng.uniform(0.05, 0.85)), rng.uniform(0, math.tau)
        return [round(r * math.cos(a), 2), round(r * math.sin(a), 2)]

    for _ in range(rng.randint(2, 4)):
        shape = rng.choice(["line", "line", "polygon", "circle", "arc"])
        if shape == "line":
            points = [point() for _ in range(rng.randint(2, 3))]
            ways = [points, [[-x, y] for x, y in points]] if mirrored else [points]
            out += [
                {"line": way, "stroke": "{ink}", "width": reach * rng.uniform(0.12, 0.22)}
                for way in ways
            ]
        elif shape == "polygon":
            points = [point() for _ in range(3)]
            ways = [points, [[-x, y] for x, y in points]] if mirrored else [points]
            out += [{"polygon": way, "fill": "{ink}"} for way in ways]
        elif shape == "circle":
            x, y = point()
            at = [0 if mirrored else x * 0.7, y * 0.7]
            out.append({"circle": reach * rng.uniform(0.15, 0.35), "at": at, "fill": "{ink}"})
        else:
            start = rng.uniform(0, 360)
            out.append(
                {
                    "arc": [reach * rng.uniform(0.5, 0.9), start, start + rng.uniform(90, 270)],
                    "stroke": "{ink}",
                    "width": reach * rng.uniform(0.12, 0.2),
                }
            )
    return out
