"""Copies that nobody printed: a lesson's pieces and board drawn anew, so that a trunk sees more kinds
of print than photographed copies have. `draw_lesson` draws one."""

from __future__ import annotations

from collections import defaultdict

import cv2
import msgspec
import numpy as np

from calibration.synthesis.lesson import Lesson, change_patches
from calibration.synthesis.painter import Look
from vision.photometry.room_light import DARK

PRINT_PIXELS = 128  # pixels along the longer side at which a print is drawn, then shrunk
FONTS = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX)
GLYPHS = "ABCDEFGHJKLNPQRSTUYZ123456789?&%"
SIGNS = ("glyph", "dots", "polygon", "stripes", "waves", "blob", "plain")
TWO_SIGNS = 0.4  # of the sets of prints have a small second sign
# of the sets of prints share their colours and signs, so that kinds differ by one of them
SHARED = 0.7


class Print(msgspec.Struct, frozen=True):
    """How a kind is drawn: ground and ink as (3,) grey levels; the number of its sign, and of a
    second, small one, if any; seed: of the sign's shape"""

    ground: tuple[float, ...]
    ink: tuple[float, ...]
    sign: int
    second: int | None = None


def draw_lesson(lesson: Lesson, seed: int) -> Lesson:
    """The same plan and light, other prints: each form's kinds differ in colour, in sign, or in a
    small second sign"""
    rng = np.random.default_rng(seed)
    plan = lesson.plan
    alike = {p.kind: p.looks_like for p in plan.piece}  # these are one print, turned
    forms: dict[tuple, list[str]] = defaultdict(list)
    for kind in sorted({alike.get(k, k) for k in lesson.looks}):
        piece = plan.pieces[kind]
        forms[piece.footprint, piece.disc].append(kind)
    prints: dict[str, np.ndarray] = {}
    for (size, disc), kinds in sorted(forms.items()):
        prints |= draw_set(rng, kinds, size, disc)
    looks = {
        kind: [redraw_look(v, prints[alike.get(kind, kind)], rng) for v in some]
        for kind, some in lesson.looks.items()
    }
    order, tint, contrast = rng.permutation(3), rng.normal(0, 0.25, 3), rng.uniform(0.5, 1.3)

    def repaint(picture: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray((picture[..., order] - 4.6) * contrast + 4.6 + tint, np.float32)

    standing = change_patches(lesson.standing, repaint)
    drawn = msgspec.structs.replace(lesson, looks=looks, standing=standing, reals=[])
    return drawn.with_canvases(repaint)


def draw_set(
    rng: np.random.Generator, kinds: list[str], size: tuple[float, float], disc: bool
) -> dict[str, np.ndarray]:
    """kind -> (h, w, 3) grey levels; no two alike"""
    count = len(kinds)
    colours, signs = int(rng.integers(2, 7)), int(rng.integers(2, 9))
    palette = [random_ink(rng) for _ in range(max(colours, 2))]
    seeds = rng.integers(1 << 30, size=64)
    shared, two = rng.random() < SHARED, rng.random() < TWO_SIGNS
    two_inks = rng.random() < 0.5
    chosen: dict[Print, str] = {}
    tries = 0
    while len(chosen) < count:
        tries += 1
        much = 1 + tries // (4 * count)  # more colours and signs where these are too few
        ground = palette[int(rng.integers(len(palette)))] if shared else random_ink(rng)
        ink = palette[int(rng.integers(len(palette)))] if two_inks else contrasting_ink(ground)
        if np.abs(np.subtract(ground, ink)).max() < 60:
            ink = contrasting_ink(ground)
        one = Print(
            tuple(ground),
            tuple(ink),
            int(rng.integers(signs * much if shared else 64)) % 64,
            int(rng.integers(6)) if two else None,
        )
        chosen.setdefault(one, "")
        if tries % (4 * count) == 0:
            palette.append(random_ink(rng))
    framed, textured = rng.random() < 0.5, rng.uniform(0, 12)
    styles = [SIGNS[int(n)] for n in rng.integers(len(SIGNS) - 1, size=64)]
    if rng.random() < 0.3:  # letters only, as in word games
        styles = ["glyph"] * 64
    return {
        kind: draw_print(rng, p, styles, seeds, size, disc, framed, textured)
        for kind, p in zip(kinds, chosen)
    }


def random_ink(rng: np.random.Generator) -> tuple[float, ...]:
    return tuple(np.clip(rng.uniform(20, 235) + rng.normal(0, 55, 3), 8, 245).tolist())


def contrasting_ink(ground: tuple[float, ...]) -> tuple[float, ...]:
    dark = np.mean(ground) > 110
    return (30.0, 32.0, 35.0) if dark else (225.0, 228.0, 230.0)


def draw_print(
    rng: np.random.Generator,
    p: Print,
    styles: list[str],
    seeds: np.ndarray,
    size: tuple[float, float],
    disc: bool,
    framed: bool,
    textured: float,
) -> np.ndarray:
    """(h, w, 3) float32 grey levels, its longer side CANVAS pixels"""
    zoom = PRINT_PIXELS / max(size)
    h, w = (max(round(v * zoom), 16) for v in size[::-1])
    out = np.empty((h, w, 3), np.uint8)
    out[:] = np.array(p.ground).astype(np.uint8)
    least = min(h, w)
    if framed:
        edge = max(int(0.07 * least), 1)
        if disc:
            cv2.circle(out, (w // 2, h // 2), least // 2 - edge // 2, p.ink, edge, cv2.LINE_AA)
        else:
            cv2.rectangle(out, (edge // 2, edge // 2), (w - edge // 2, h - edge // 2), p.ink, edge)
    reach = 0.3 * least if disc else 0.36 * least
    draw_sign(out, styles[p.sign], int(seeds[p.sign]), p.ink, (w / 2, h / 2), reach)
    if p.second is not None:
        at = (0.5 * w, 0.84 * h) if disc else (0.82 * w, 0.82 * h)
        draw_sign(out, styles[-1 - p.second], int(seeds[-1 - p.second]), p.ink, at, 0.12 * least)
    rough = rng.normal(0, textured, (h // 6 + 2, w // 6 + 2, 1)).astype(np.float32)
    grain = cv2.resize(rough, (w, h))
    return np.clip(out + grain[..., None], 0, 255)


def draw_sign(
    out: np.ndarray,
    style: str,
    seed: int,
    ink: tuple[float, ...],
    at: tuple[float, float],
    reach: float,
) -> None:
    """Draws a sign about (x, y), `reach` pixels to each side; the same for the same seed"""
    rng = np.random.default_rng(seed)
    x, y = at
    thick = max(int(reach * rng.uniform(0.12, 0.35)), 1)
    if style == "glyph":
        text, font = GLYPHS[int(rng.integers(len(GLYPHS)))], FONTS[int(rng.integers(len(FONTS)))]
        (w, h), _ = cv2.getTextSize(text, font, 1.0, 1)
        zoom = 2 * reach / max(w, h)
        at_px = (int(x - w * zoom / 2), int(y + h * zoom / 2))
        cv2.putText(out, text, at_px, font, zoom, ink, thick, cv2.LINE_AA)
    elif style == "dots":
        many = int(rng.integers(1, 7))
        for n in range(many):
            a = 2 * np.pi * n / many
            off = 0.6 * reach * (many > 1)
            middle = (int(x + off * np.cos(a)), int(y + off * np.sin(a)))
            cv2.circle(out, middle, max(int(0.25 * reach), 1), ink, -1, cv2.LINE_AA)
    elif style in ("polygon", "blob"):
        corners = int(rng.integers(3, 9))
        a = 2 * np.pi * np.arange(corners) / corners
        if style == "blob":
            a = np.sort(rng.uniform(0, 2 * np.pi, corners))
        far = reach * (rng.uniform(0.35, 1, corners) if rng.random() < 0.7 else np.ones(corners))
        points = np.column_stack([x + far * np.cos(a), y + far * np.sin(a)]).astype(np.int32)
        if rng.random() < 0.7:
            cv2.fillPoly(out, [points], ink, cv2.LINE_AA)
        else:
            cv2.polylines(out, [points], True, ink, thick, cv2.LINE_AA)
    elif style in ("stripes", "waves"):
        many, upright = int(rng.integers(1, 4)), rng.random() < 0.5
        t = np.linspace(-1, 1, 24) * reach
        for n in range(many):
            off = (n - (many - 1) / 2) * 0.6 * reach
            bent = 0.15 * reach * np.sin(t / reach * 9) if style == "waves" else 0 * t
            along, across = (y, x) if upright else (x, y)
            one, two = along + t, across + off + bent
            points = np.column_stack([two, one] if upright else [one, two]).astype(np.int32)
            cv2.polylines(out, [points], False, ink, thick, cv2.LINE_AA)


def redraw_look(look: Look, drawing: np.ndarray, rng: np.random.Generator) -> Look:
    """A look with another print, as its photo would show it"""
    h, w = look.patch.shape[:2]
    if (h > w) != (drawing.shape[0] > drawing.shape[1]):
        drawing = np.ascontiguousarray(np.rot90(drawing))
    patch = cv2.resize(drawing, (w, h), interpolation=cv2.INTER_AREA)
    patch = np.log(patch + DARK) + rng.normal(0, 0.04, 3)
    side = np.median(patch.reshape(-1, 3), 0)
    patch = np.ascontiguousarray(patch, np.float32)
    return msgspec.structs.replace(look, patch=patch, side=np.float32(side))
