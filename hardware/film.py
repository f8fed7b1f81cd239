"""Renders the picture that a camera takes of a scene, with numpy and OpenCV alone, far things
first.

The ground (table, print, cards) is sampled through the lens once and cached; pieces are drawn onto
it, each face by the homography of its corners; shadows are projected outlines, blurred; then light,
blur and noise. The picture before noise is cached as long as scene, view and light do not change,
so a table at rest costs little.
"""

from __future__ import annotations

import math
import zlib
from collections import OrderedDict
from collections.abc import Sequence

import cv2
import numpy as np

from hardware import props
from hardware.raster import FINE, bgr_of, draw_scene
from hardware.scene import CARD, CARD_GAP, Light, Scene, Thing, Tier, View

# mm: anything taller casts its shadow on its neighbours too, not only on the ground
TALL = 5.0
PAPER_PX = 3.0  # the highest resolution at which the print is cached, pixels a mm


class Film:
    """Films scenes. Caches what stays the same between two pictures; a camera should have a Film of
    its own."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._faces: dict[tuple, tuple] = {}
        self._grounds: OrderedDict[tuple, tuple] = OrderedDict()
        self._lights: OrderedDict[tuple, np.ndarray] = OrderedDict()
        self._base: tuple[tuple, np.ndarray] | None = None
        self._grain: np.ndarray | None = None

    def take(
        self, scene: Scene, view: View, light: Light, noise: float | None = None
    ) -> np.ndarray:
        """(h, w, 3) uint8 BGR. noise: standard deviation in grey levels, else the view's own."""
        key = (
            view.key,
            light,
            id(scene.board),
            scene.things,
            scene.cards,
            scene.table,
            scene.tint,
            scene.paper,
            scene.grain,
            scene.seed,
        )
        if self._base is None or self._base[0] != key:
            image = self._ground(scene, view).copy()
            self._things(image, scene, scene.things, view, light)
            self._base = key, image
        image = self._base[1]
        if scene.over:
            image = image.copy()
            self._things(image, scene, scene.over, view, light)
        lit = cv2.multiply(image, self._lit(scene, view, light), scale=1 / 128, dtype=cv2.CV_8U)
        if light.gloss:
            lit = cv2.add(lit, self._gloss(scene, view, light))
        if view.blur > 0.2:
            lit = cv2.GaussianBlur(lit, (0, 0), view.blur)
        return self._noisy(lit, view.noise if noise is None else noise)

    def _ground(self, scene: Scene, view: View) -> np.ndarray:
        key = (
            view.key,
            id(scene.board),
            scene.size,
            scene.cards,
            scene.table,
            scene.tint,
            scene.paper,
            scene.seed,
        )
        if key not in self._grounds:
            if len(self._grounds) > 3:
                self._grounds.popitem(last=False)
            # the board is kept too, so that its id is not reused
            self._grounds[key] = _paint_ground(scene, view), scene.board
        self._grounds.move_to_end(key)
        return self._grounds[key][0]

    def _lit(self, scene: Scene, view: View, light: Light) -> np.ndarray:
        """(h, w, 3) uint8: 128 leaves a pixel unchanged"""
        key = (view.key, light, scene.size)
        if key not in self._lights:
            if len(self._lights) > 3:
                self._lights.popitem(last=False)
            self._lights[key] = _light_map(scene.size, view, light)
        return self._lights[key]

    def _gloss(self, scene: Scene, view: View, light: Light) -> np.ndarray:
        key = (view.key, light, scene.size, "gloss")
        if key not in self._lights:
            self._lights[key] = _gloss_map(scene.size, view, light)
        return self._lights[key]

    def _noisy(self, image: np.ndarray, sigma: float) -> np.ndarray:
        if sigma <= 0:
            return image
        h, w = image.shape[:2]
        if self._grain is None or self._grain.shape[0] < h + 64 or self._grain.shape[1] < w + 64:
            self._grain = (
                cv2.GaussianBlur(
                    self._rng.standard_normal((h + 64, w + 64, 3), np.float32), (0, 0), 0.6
                )
                * 1.6
            )
        y, x = self._rng.integers(0, 64, 2)
        grain = self._grain[y : y + h, x : x + w]
        noise = cv2.multiply(grain, (sigma,) * 4)  # type: ignore[call-overload]
        return cv2.add(image, noise, dtype=cv2.CV_8U)

    def _things(
        self, image: np.ndarray, scene: Scene, things: Sequence[Thing], view: View, light: Light
    ) -> None:
        eye, lamp = view.eye, _lamp_place(scene.size, light)
        bodies = [_Body(t, scene.looks[t.look]) for t in things]
        low = [b for b in bodies if b.top <= TALL]
        tall = [b for b in bodies if b.top > TALL]
        for group in (low, tall):
            if group:
                _cast_shadows(image, group, view, lamp, light)
                order = sorted(
                    group, key=lambda b: (b.thing.z, -np.hypot(*(np.array(b.thing.at) - eye[:2])))
                )
                for body in order:
                    self._body(image, body, scene, view, eye, lamp)

    def _body(
        self,
        image: np.ndarray,
        body: _Body,
        scene: Scene,
        view: View,
        eye: np.ndarray,
        lamp: np.ndarray,
    ) -> None:
        for n, tier in enumerate(body.tiers):
            bottom, top = (body.thing.z + z for z in tier["z"])
            if tier["side"]:
                _draw_sides(
                    image,
                    body.place(tier["outline"]),
                    bottom,
                    top,
                    bgr_of(tier["side"]),
                    tier["disc"],
                    view,
                    eye,
                    lamp,
                )
            self._face(image, body, n, top, view, scene.grain)

    def _face(
        self, image: np.ndarray, body: _Body, n: int, height: float, view: View, grain: float
    ) -> None:
        here = view.to_px([body.thing.at, (body.thing.at[0] + 1, body.thing.at[1])], height)
        scale = float(np.hypot(*(here[1] - here[0])))
        fine = min(8.0, _texture_step(scale))
        key = (body.thing.look, id(body.tiers), n, fine, grain)
        if key not in self._faces:
            face, x0, y0 = _draw_texture(body.tiers[n], fine)
            if grain:
                face[..., :3] = _mottle_print(
                    face[..., :3], grain, zlib.crc32(body.thing.look.encode()), 1 / 24
                )
            self._faces[key] = face, x0, y0, body.tiers  # the tiers too: no reused id
        texture, x0, y0, _ = self._faces[key]
        th, tw = texture.shape[:2]
        box = np.array([[0, 0], [tw, 0], [tw, th], [0, th]], float)
        there = view.to_px(body.place(box / fine + (x0, y0)), height)
        _paste_texture(image, texture, box - 0.5, there)


class _Body:
    """A thing with its tiers, placed."""

    def __init__(self, thing: Thing, tiers: Sequence[Tier]) -> None:
        self.thing, self.tiers = thing, tiers
        c, s = math.cos(math.radians(thing.turn)), math.sin(math.radians(thing.turn))
        self._turn = np.array([[c, s], [-s, c]])
        self.top = thing.z + max(t["z"][1] for t in tiers)

    def place(self, points: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
        """(N, 2) of its own mm -> (N, 2) board mm"""
        return np.asarray(points, float) @ self._turn + self.thing.at


def _texture_step(scale: float) -> float:
    """The resolution at which textures are cached for a scale: one of a few steps, a little finer
    than needed."""
    return 2.0 ** (math.ceil(2 * math.log2(max(scale, 0.25) * 1.05)) / 2)


def _lamp_place(size: Sequence[float], light: Light) -> np.ndarray:
    return np.array([size[0] / 2 + light.lamp[0], size[1] / 2 + light.lamp[1], light.lamp[2]])


def _draw_texture(tier: Tier, fine: float) -> tuple[np.ndarray, float, float]:
    """The top of a tier as BGRA, with its upper left corner in the tier's own mm"""
    points = np.array(tier["outline"], float)
    x0, y0 = points.min(0) - 1.0
    x1, y1 = points.max(0) + 1.0
    image = draw_scene(
        tier["top"], x0, y0, math.ceil((x1 - x0) * fine), math.ceil((y1 - y0) * fine), fine, 2
    )
    return image, float(x0), float(y0)


def _paste_texture(
    image: np.ndarray, texture: np.ndarray, corners: np.ndarray, there: np.ndarray
) -> None:
    """Draws a BGRA texture so that its corners come to lie at `there` (pixels)."""
    h, w = image.shape[:2]
    x0, y0 = np.maximum(np.floor(there.min(0)).astype(int) - 1, 0)
    x1, y1 = np.minimum(np.ceil(there.max(0)).astype(int) + 2, (w, h))
    if x1 <= x0 or y1 <= y0:
        return
    H = cv2.getPerspectiveTransform(
        corners.astype(np.float32), (there - (x0, y0)).astype(np.float32)
    )
    patch = cv2.warpPerspective(texture, H, (int(x1 - x0), int(y1 - y0)), flags=cv2.INTER_LINEAR)
    alpha = patch[..., 3:].astype(np.uint16)
    part = image[y0:y1, x0:x1]
    part[:] = ((part * (255 - alpha) + patch[..., :3] * alpha) // 255).astype(np.uint8)


def _draw_sides(
    image: np.ndarray,
    outline: np.ndarray,
    bottom: float,
    top: float,
    colour: tuple[int, int, int],
    disc: bool,
    view: View,
    eye: np.ndarray,
    lamp: np.ndarray,
) -> None:
    """Draws the sides of a body that the camera sees, brighter the more they face the lamp."""
    low, high = view.to_px(outline, bottom), view.to_px(outline, top)
    if top - bottom <= TALL + 1 and (disc or len(outline) > 8):
        hull = cv2.convexHull(np.concatenate([low, high]).astype(np.float32)).reshape(-1, 2)
        _fill_polygon(image, hull, np.array(colour) * 0.72)
        return
    after = np.roll(outline, -1, 0)
    edge = after - outline
    normal = np.column_stack([edge[:, 1], -edge[:, 0]])
    middle = outline.mean(0)
    half = (outline + after) / 2
    normal *= np.sign(((half - middle) * normal).sum(1))[:, None]
    seen = ((eye[:2] - half) * normal).sum(1) > 0
    towards = lamp[:2] - half
    shade = 0.68 + 0.3 * (towards * normal).sum(1) / (
        np.linalg.norm(towards, axis=1) * np.linalg.norm(normal, axis=1) + 1e-9
    )
    for i in np.nonzero(seen)[0]:
        j = (i + 1) % len(outline)
        _fill_polygon(
            image, np.array([low[i], low[j], high[j], high[i]]), np.array(colour) * shade[i]
        )


def _fill_polygon(image: np.ndarray, polygon: np.ndarray, colour: np.ndarray) -> None:
    points = np.round(polygon * (1 << FINE)).astype(np.int32)
    cv2.fillConvexPoly(
        image, points, tuple(float(c) for c in np.clip(colour, 0, 255)), cv2.LINE_AA, FINE
    )


def _cast_shadows(
    image: np.ndarray, bodies: Sequence[_Body], view: View, lamp: np.ndarray, light: Light
) -> None:
    """Darkens the shadows of the bodies on the plane they stand on, softer for taller bodies."""
    if light.shadow <= 0:
        return
    h, w = image.shape[:2]
    groups: dict[int, list[_Body]] = {}
    for b in bodies:
        groups.setdefault(round(math.log2(max(b.top - b.thing.z, 1.0))), []).append(b)
    px = float(np.hypot(*np.diff(view.to_px([[0, 0], [100, 0]]), axis=0)[0])) / 100
    for n, group in groups.items():
        mask = np.zeros((h // 2, w // 2), np.uint8)
        boxes = []
        for body in group:
            for tier in body.tiers:
                for shadow in _shadow_outlines(body, tier, lamp):
                    p = view.to_px(shadow, body.thing.z) / 2
                    hull = cv2.convexHull(p.astype(np.float32)).reshape(-1, 2)
                    cv2.fillConvexPoly(
                        mask, np.round(hull * (1 << FINE)).astype(np.int32), 255, cv2.LINE_AA, FINE
                    )
                    boxes.append((hull.min(0), hull.max(0)))
        sigma = max(0.6, (2.0**n) * light.size / lamp[2] * px * 0.25 + 0.4)
        if not boxes:
            continue
        x0, y0 = np.maximum(np.min([b[0] for b in boxes], 0).astype(int) - int(4 * sigma) - 2, 0)
        x1, y1 = np.minimum(
            np.max([b[1] for b in boxes], 0).astype(int) + int(4 * sigma) + 2, (w // 2, h // 2)
        )
        if x1 <= x0 or y1 <= y0:
            continue
        soft = cv2.GaussianBlur(mask[y0:y1, x0:x1], (0, 0), sigma)
        soft = cv2.resize(soft, None, fx=2, fy=2, interpolation=cv2.INTER_LINEAR)
        dark = cv2.merge([cv2.addWeighted(soft, -light.shadow, soft, 0, 255)] * 3)
        part = image[2 * y0 : 2 * y1, 2 * x0 : 2 * x1]
        cv2.multiply(part, dark, dst=part, scale=1 / 255)


def _shadow_outlines(body: _Body, tier: Tier, lamp: np.ndarray) -> list[np.ndarray]:
    """Outlines of a tier's shadow on the plane under the body. Things without sides (a hand) cast a
    shadow of the shape that is drawn of them."""
    z0, z1 = tier["z"]
    if tier["side"]:
        outlines = [(np.asarray(tier["outline"], float), [z0, z1])]
    else:
        outlines = [(np.asarray(o, float), [z1]) for o in _drawn_outlines(tier)]
    out = []
    for outline, heights in outlines:
        ground = body.place(outline)
        thrown = [ground + (ground - lamp[:2]) * z / (lamp[2] - z) for z in heights]
        out.append(np.concatenate(thrown))
    return out


def _drawn_outlines(tier: Tier) -> list[np.ndarray]:
    out = []
    for p in tier["top"]:
        if p["p"] == "line":
            a, b = np.array(p["points"][0], float), np.array(p["points"][-1], float)
            along = (b - a) / (np.linalg.norm(b - a) + 1e-9) * p["width"] / 2
            across = np.array([along[1], -along[0]])
            out.append(np.array([a + across, b + across, b + along, b - across, a - across]))
        elif p["p"] == "circle":
            t = np.arange(16) * math.tau / 16
            out.append(np.array(p["at"]) + p["r"] * np.column_stack([np.cos(t), np.sin(t)]))
        elif p["p"] == "polygon":
            out.append(np.array(p["points"], float))
    return out


def _plane_of_pixels(view: View, step: int = 1) -> np.ndarray:
    """(h, w, 2) board mm on the plane z = 0 seen by each (step-th) pixel"""
    w, h = view.size
    xs, ys = np.meshgrid(
        np.arange(0, w, step, dtype=np.float32), np.arange(0, h, step, dtype=np.float32)
    )
    rays = cv2.undistortPoints(np.stack([xs, ys], -1).reshape(-1, 1, 2), view.K, view.dist).reshape(
        -1, 2
    )
    R = cv2.Rodrigues(view.rvec)[0]
    H = np.linalg.inv(np.column_stack([R[:, 0], R[:, 1], view.tvec.ravel()]))
    q = np.column_stack([rays, np.ones(len(rays))]) @ H.T
    return (q[:, :2] / q[:, 2:]).reshape(*xs.shape, 2).astype(np.float32)


def _paint_ground(scene: Scene, view: View) -> np.ndarray:
    # The map through the lens is computed at every eighth pixel only: lenses are smooth.
    coarse = _plane_of_pixels(view, 8)
    w, h = view.size
    xs, ys = np.meshgrid(np.arange(w, dtype=np.float32) / 8, np.arange(h, dtype=np.float32) / 8)
    pad = cv2.copyMakeBorder(coarse, 0, 1, 0, 1, cv2.BORDER_REPLICATE)
    pad[-1, :] = 2 * pad[-2, :] - pad[-3, :]
    pad[:, -1] = 2 * pad[:, -2] - pad[:, -3]
    plane = cv2.remap(pad, xs, ys, cv2.INTER_LINEAR)
    image = _draw_table(scene, plane)
    bw, bh = scene.size
    if scene.board:
        px = (
            float(
                np.hypot(
                    *np.diff(view.to_px([[bw / 2 - 50, bh / 2], [bw / 2 + 50, bh / 2]]), axis=0)[0]
                )
            )
            / 100
        )
        fine = min(PAPER_PX, _texture_step(px))
        sheet = draw_scene(scene.board, 0, 0, round(bw * fine), round(bh * fine), fine, 2)
        sheet[..., :3] = _mottle_print(sheet[..., :3], scene.paper, scene.seed)
        x, y = plane[..., 0] * fine - 0.5, plane[..., 1] * fine - 0.5
        # Colours must not fade towards the print's edge, or the board would look smaller than it
        # is.
        seen = cv2.remap(sheet[..., :3], x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        alpha = cv2.remap(sheet[..., 3], x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)[
            ..., None
        ].astype(np.uint16)
        image = ((image * (255 - alpha) + seen * alpha) // 255).astype(np.uint8)
    for number, (middle_x, middle_y, turn) in enumerate(scene.cards):
        half = CARD / 2 + CARD_GAP
        box = [[-half, -half], [half, -half], [half, half], [-half, half]]
        tier: Tier = {
            "z": [0.0, 0.2],
            "outline": box,
            "disc": False,
            "side": None,
            "top": props.marker_card(number),
        }
        px = (
            float(
                np.hypot(
                    *np.diff(view.to_px([[middle_x, middle_y], [middle_x + 10, middle_y]]), axis=0)[
                        0
                    ]
                )
            )
            / 10
        )
        texture, x0, y0 = _draw_texture(tier, _texture_step(px))
        th, tw = texture.shape[:2]
        corners = np.array([[0, 0], [tw, 0], [tw, th], [0, th]], float)
        _paste_texture(
            image,
            texture,
            corners - 0.5,
            view.to_px(
                _Body(Thing("", (middle_x, middle_y), turn), [tier]).place(
                    corners / _texture_step(px) + (x0, y0)
                )
            ),
        )
    return image


def _random_patches(rng: np.random.Generator, h: int, w: int, cells: tuple[int, int]) -> np.ndarray:
    """(h, w) float32 around 0: smooth random patches, `cells` of them down and across"""
    return cv2.resize(rng.standard_normal(cells, np.float32), (w, h), interpolation=cv2.INTER_CUBIC)


def _mottle_print(sheet: np.ndarray, much: float, seed: int, cells: float = 1.0) -> np.ndarray:
    """A print with patches and grain. cells: the number of patches, relative to a whole board."""
    rng = np.random.default_rng(seed + 1)
    h, w = sheet.shape[:2]
    cloud: np.ndarray = np.zeros((h, w), np.float32)
    for weight, down, across in (
        (0.03, 12, 16),
        (0.025, 60, 80),
        (0.015, h / 3 / cells, w / 3 / cells),
    ):
        grid = max(2, min(round(down * cells), h)), max(2, min(round(across * cells), w))
        cloud = cloud + weight * _random_patches(rng, h, w, grid)
    return np.clip(sheet * (1 + much * cloud)[..., None], 0, 255).astype(np.uint8)


def _draw_table(scene: Scene, plane: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(scene.seed)
    n = 768
    if scene.table == "wood":
        grain = (
            0.1 * _random_patches(rng, n, n, (3, 90))
            + 0.06 * _random_patches(rng, n, n, (8, n // 2))
            + 0.04 * _random_patches(rng, n, n, (6, 12))
        )
    elif scene.table == "cloth":
        y, x = np.mgrid[0:n, 0:n]
        grain = 0.05 * np.sin(x * math.tau / 6) * np.sin(y * math.tau / 6) + 0.03 * _random_patches(
            rng, n, n, (n // 3, n // 3)
        )
    else:
        grain = 0.03 * _random_patches(rng, n, n, (10, 10))
    wood = np.clip(np.array(bgr_of(scene.tint)) * (1 + grain)[..., None], 0, 255).astype(np.uint8)
    # The pattern is mirrored at its edges, so that there is no seam on the table.
    where = (plane + 300) * (n / 900)
    return cv2.remap(
        wood, where[..., 0], where[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
    )


def _light_map(size: Sequence[float], view: View, light: Light) -> np.ndarray:
    plane = _plane_of_pixels(view, 16).astype(np.float64)
    lamp = _lamp_place(size, light)
    far2 = ((plane - lamp[:2]) ** 2).sum(-1) + lamp[2] ** 2
    direct = (lamp[2] ** 2 / far2) ** (1.5 * light.falloff)
    strength = light.exposure * (light.ambient + (1 - light.ambient) * direct / np.median(direct))
    h, w = plane.shape[:2]
    y, x = np.mgrid[-1 : 1 : h * 1j, -1 : 1 : w * 1j]
    strength *= 1 - view.vignette * (x * x + y * y) / 2
    tones = np.array(
        [1 - 0.28 * light.warmth, 1 - 0.03 * abs(light.warmth), 1 + 0.12 * light.warmth]
    )
    small = np.clip(128 * strength[..., None] * tones, 0, 255).astype(np.float32)
    return np.clip(cv2.resize(small, view.size, interpolation=cv2.INTER_LINEAR), 0, 255).astype(
        np.uint8
    )


def _gloss_map(size: Sequence[float], view: View, light: Light) -> np.ndarray:
    """The lamp's blurred mirror image on the table"""
    plane = _plane_of_pixels(view, 16).astype(np.float64)
    eye, lamp = view.eye, _lamp_place(size, light)
    share = eye[2] / (eye[2] + lamp[2])
    spot = eye[:2] + (lamp[:2] - eye[:2]) * share
    d2 = ((plane - spot) ** 2).sum(-1)
    width = 0.9 * light.size
    glow = 255 * light.gloss * light.exposure * np.exp(-d2 / (2 * width**2))
    big = cv2.resize(
        np.clip(glow, 0, 255).astype(np.float32), view.size, interpolation=cv2.INTER_LINEAR
    )
    return cv2.merge([big.astype(np.uint8)] * 3)


def through_jpeg(image: np.ndarray, quality: int = 88) -> np.ndarray:
    """The picture after JPEG compression."""
    packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
    unpacked = cv2.imdecode(packed, cv2.IMREAD_COLOR)
    assert unpacked is not None
    return unpacked
