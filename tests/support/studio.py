"""A drawn board, filmed with perspective, a bent lens, light and noise: what registration and
watching are tested on."""

from __future__ import annotations

import zlib
from collections import OrderedDict

import cv2
import numpy as np
import pytest

from vision.geometry.lens import Lens
from vision.geometry.pose import Pose
from vision.plan import parse_plan
from vision.registration.aruco_cards import CARD, ideal_cards
from vision.registration.board_edges import AMOUNT

DOTS = 3  # pixels a millimetre of drawn things
SIZE = (820, 616)
LENS = Lens(0.82, -0.05, 0.01)
KEPT = 6  # pictures without light and noise that are kept
# the grey level of each 257th of an amount of light
LEVEL_OF = np.interp(np.arange(256 * 257) / 257, AMOUNT, np.arange(256)).astype(np.float32)


class Studio:
    """film(pose, layout, ...) -> picture; the board lies on a table with a grain. cards: id -> (4,
    2) mm, or none; blurs_light: as a lens does, else grey levels, which is quicker and moves edges
    by a third of a pixel."""

    blurs_light = False

    def __init__(self, plan, canvas, cards=None, seed=0, board=True):
        self.plan, self.canvas, self.cards, self.board = plan, canvas, cards or {}, board
        self.kept = OrderedDict()
        self.rng = np.random.default_rng(seed)
        self.specks = self.rng.normal(0, 1, (256, 256, 3)).astype(np.float32)
        grain = grained(self.rng, 900, 900, 10, 30) + grained(self.rng, 900, 900, 5, 3)
        self.table = np.clip(np.array([60, 80, 120.0]) + grain[..., None], 0, 255).astype(np.uint8)

    def pose(
        self, turn=0.0, tilt=8.0, fill=0.72, size=SIZE, lens=LENS, lean=70.0, shift=(0.0, 0.0)
    ) -> Pose:
        """Seen from above, turned and tilted by degrees (towards `lean`), the board filling so much
        of the picture"""
        w, h = self.plan.size
        axis = np.array([np.cos(np.radians(lean)), np.sin(np.radians(lean)), 0.0]) * np.radians(
            tilt
        )
        R = cv2.Rodrigues(axis)[0] @ cv2.Rodrigues(np.array([0, 0, np.radians(turn)]))[0]
        away = (
            lens.focal
            * max(
                w / (fill * size[0]), h / (fill * size[1]), np.hypot(w, h) / (1.25 * fill * size[0])
            )
            * max(size)
        )
        t = np.array([shift[0], shift[1], away]) - R @ np.array([w / 2, h / 2, 0])
        return Pose(lens.K(size), lens.dist, cv2.Rodrigues(R)[0].ravel(), t, size)

    def film(
        self, pose, layout=(), light=1.0, noise=2.0, slid=(0.0, 0.0), without=()
    ) -> np.ndarray:
        """layout: sites, each with a piece drawn on it (or {site: colour}); slid: mm by which the
        board lies off its place between the cards; without: cards that are covered"""
        colours = layout if isinstance(layout, dict) else {s: (40, 60, 200) for s in layout}
        drawn = self.table, self.canvas, pose.camera
        place = (*(zlib.crc32(np.ascontiguousarray(a)) for a in drawn), pose.size, tuple(slid))
        shown = (place, tuple(without), repr(colours))

        def draw_shown():
            image = self._keep(place, lambda: self._draw_board(pose, slid)).copy()
            for i, corners in self.cards.items():
                if i not in without:
                    self._card(image, pose, i, corners)
            for site, colour in colours.items():
                self._piece(image, pose, site, np.array(slid), colour)
            return self._blur(image)

        image = self._keep(shown, draw_shown)
        return self.noisy(np.clip(image * light, 0, 255).astype(np.uint8), noise)

    def _keep(self, key, draw):
        """What `draw()` gives, or gave lately: most tests look at one thing again and again"""
        if key not in self.kept:
            self.kept[key] = draw()
        self.kept.move_to_end(key)
        while len(self.kept) > KEPT:
            self.kept.popitem(last=False)
        return self.kept[key]

    def _draw_board(self, pose, slid):
        """The board on its table, with nothing on it"""
        w, h = pose.size
        xs, ys = np.meshgrid(np.arange(w, dtype=float), np.arange(h, dtype=float))
        mm = pose.to_mm(np.column_stack([xs.ravel(), ys.ravel()])).reshape(h, w, 2)
        image = cv2.remap(self.table, ((mm + 300) % 898).astype(np.float32), None, cv2.INTER_LINEAR)
        if self.board:
            on = mm - slid
            board = cv2.remap(
                self.canvas, (on * DOTS - 0.5).astype(np.float32), None, cv2.INTER_LINEAR
            )
            image = np.where(((on > 0) & (on < self.plan.size)).all(2)[..., None], board, image)
        return image

    def _blur(self, image):
        """As a lens does, in grey levels"""
        if not self.blurs_light:
            return cv2.GaussianBlur(image, (0, 0), 0.7).astype(np.float32)
        amount = cv2.GaussianBlur(cv2.LUT(image, AMOUNT), (0, 0), 0.7)
        return LEVEL_OF[np.rint(amount * 257).astype(np.uint16)]

    def noisy(self, image, noise):
        """The picture with grey levels of noise, another one each time"""
        if not noise:
            return image
        h, w = image.shape[:2]
        y, x = self.rng.integers(0, 256, 2)
        some = np.tile(self.specks, (h // 256 + 2, w // 256 + 2, 1))[y : y + h, x : x + w]
        return cv2.add(
            image,
            some.reshape(h, w, 3)[..., : image.shape[2] if image.ndim == 3 else 1].reshape(
                image.shape
            )
            * noise,
            dtype=cv2.CV_8U,
        )

    def _piece(self, image, pose, site, slid, colour):
        middle = self.plan.sites[site].centre + slid
        half = min(self.plan.piece[0].footprint) / 2
        u = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        ring = middle + half * np.column_stack([np.cos(u), np.sin(u)])
        if not self.plan.piece[0].disc:
            ring = middle + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        cv2.fillPoly(
            image, [np.rint(pose.to_px(ring, 2.0) * 16).astype(np.int32)], colour, cv2.LINE_AA, 4
        )
        inner = middle + (ring - middle) * np.array([0.3, 0.55])
        cv2.fillPoly(
            image,
            [np.rint(pose.to_px(inner, 2.0) * 16).astype(np.int32)],
            (230, 230, 230),
            cv2.LINE_AA,
            4,
        )

    def _card(self, image, pose, i, corners):
        drawn = cv2.aruco.generateImageMarker(
            cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), i, 120
        )
        paper = cv2.copyMakeBorder(drawn, 20, 20, 20, 20, cv2.BORDER_CONSTANT, value=255)
        middle = corners.mean(0)
        square = np.array([[20, 20], [140, 20], [140, 140], [20, 140]], np.float32) - 0.5
        sheet = middle + (corners - middle) * (160 / 120)
        H = cv2.getPerspectiveTransform(square, pose.to_px(corners).astype(np.float32))
        size = image.shape[1::-1]
        seen = cv2.warpPerspective(paper, H, size)
        mask = np.zeros(image.shape[:2], np.uint8)
        cv2.fillConvexPoly(mask, np.rint(pose.to_px(sheet)).astype(np.int32), 1)
        image[mask > 0] = seen[mask > 0][:, None]


def grained(rng, h, w, amplitude, scale):
    """(h, w) smooth noise"""
    noise = rng.normal(0, 1, (max(h // scale, 2), max(w // scale, 2))).astype(np.float32)
    return cv2.resize(noise, (w, h), interpolation=cv2.INTER_CUBIC) * amplitude


def grid_plan(columns, rows, pitch, edge, piece, size=None):
    """A plan of square sites, A1 upper left"""
    sites = [
        {
            "id": f"{chr(65 + c)}{r + 1}",
            "outline": [
                [edge + c * pitch + x * pitch, edge + r * pitch + y * pitch]
                for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))
            ],
        }
        for r in range(rows)
        for c in range(columns)
    ]
    return parse_plan(
        {
            "game": "drawn",
            "size": size or [columns * pitch + 2 * edge, rows * pitch + 2 * edge],
            "piece": [piece],
            "site": sites,
        }
    )


def drawn_board(plan, seed=1):
    """A board with fields of colour, signs and a grid: something on it everywhere, nowhere the
    same"""
    rng = np.random.default_rng(seed)
    w, h = (round(s * DOTS) for s in plan.size)
    canvas = np.clip(
        np.array([150, 190, 205.0]) + grained(rng, h, w, 12, 40)[..., None], 0, 255
    ).astype(np.uint8)
    for site in plan.site:
        (x0, y0), (x1, y1) = (
            np.rint(p * DOTS).astype(int)
            for p in (np.min(site.outline, 0), np.max(site.outline, 0))
        )
        if rng.random() < 0.5:
            cv2.rectangle(canvas, (x0, y0), (x1, y1), tuple(map(int, rng.integers(70, 220, 3))), -1)
        if rng.random() < 0.4:
            at = int(x0 + (x1 - x0) * 0.3), int(y0 + (y1 - y0) * 0.7)
            cv2.putText(
                canvas,
                chr(rng.integers(65, 91)),
                at,
                cv2.FONT_HERSHEY_SIMPLEX,
                1.2,
                (40, 40, 60),
                3,
            )
        cv2.rectangle(canvas, (x0, y0), (x1, y1), (90, 100, 110), 2)
    return canvas


def off_by(plan, pose, truth):
    """Root mean square distance in pixels between two poses over the board"""
    u = np.linspace(0, 1, 5)
    grid = np.stack(np.meshgrid(u, u), -1).reshape(-1, 2) * plan.size
    return float(np.sqrt(((pose.to_px(grid) - truth.to_px(grid)) ** 2).sum(1).mean()))


def with_arm(image, colour=(150, 90, 60), tip=(0.5, 0.45), width=0.1, come_from=(0.6, 1.05)):
    """The picture with an arm reaching in from its lower edge"""
    h, w = image.shape[:2]
    out = image.copy()
    points = [(round(x * w), round(y * h)) for x, y in (come_from, tip)]
    cv2.line(out, *points, colour, round(width * w), cv2.LINE_AA)
    cv2.circle(out, points[1], round(width * w * 0.6), (140, 160, 210), -1, cv2.LINE_AA)
    return out


@pytest.fixture(scope="session")
def board():
    plan = grid_plan(10, 7, 26.0, 15.0, {"kind": "disc", "size": 20, "height": 2})
    studio = Studio(plan, drawn_board(plan))
    studio.blurs_light = True
    return studio


@pytest.fixture(scope="session")
def carded():
    """The same with four cards, each taped a bit off"""
    plan = grid_plan(10, 7, 26.0, 15.0, {"kind": "disc", "size": 20, "height": 2})
    rng = np.random.default_rng(5)
    cards = {}
    for i, c in ideal_cards(plan).items():
        turn, middle = rng.normal(0, np.radians(2)), c.mean(0)
        spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        cards[i] = (c - middle) @ spin + middle + rng.normal(0, 1.2, 2)
        assert abs(np.linalg.norm(cards[i][0] - cards[i][1]) - CARD) < 1e-6
    studio = Studio(plan, drawn_board(plan), cards)
    studio.blurs_light = True
    return studio


@pytest.fixture(scope="session")
def tools():
    """The helpers above, for tests that draw their own"""

    class Tools:
        pass

    t = Tools()
    t.Studio, t.grid_plan, t.drawn_board, t.off_by, t.with_arm = (
        Studio,
        grid_plan,
        drawn_board,
        off_by,
        with_arm,
    )
    t.SIZE, t.LENS, t.DOTS = SIZE, LENS, DOTS
    return t
