"""A board with coins on it, filmed from above, and a reader of it: what looking again is tested
on."""

from __future__ import annotations

from functools import cache
from itertools import cycle
from types import SimpleNamespace

import cv2
import numpy as np

from tests.support.networks import StandIn
from vision.geometry.pose import Pose
from vision.photometry.canvas import Empty, Frame
from vision.plan import parse_plan
from vision.reader import Reader
from vision.readers.loose.cards.card_reader import Firsts
from vision.readers.loose.pieces.looks import Look
from vision.readers.loose.reader import ClusterReader
from vision.readers.loose.scene.polar_patches import Form, Rings

SIZE = (640, 480)
COIN, DISH = Form((14.0, 14.0), 2.0, True), Form((22.0, 22.0), 2.0, True)
PALE, DARK, GREEN = (205, 205, 205), (40, 40, 40), (60, 150, 70)
KINDS = {"pale": (COIN, PALE), "dark": (COIN, DARK), "green": (COIN, GREEN), "dish": (DISH, PALE)}
SITES = {
    f"{c}{r}": [[x, y], [x + 45, y], [x + 45, y + 60], [x, y + 60]]
    for c, x in zip("abcd", (5, 50, 95, 140))
    for r, y in zip("12", (8, 70))
}
FIRST = [
    ("pale", 20, 30),
    ("pale", 40, 50),
    ("dark", 70, 30),
    ("pale", 75, 55),
    ("green", 115, 40),
    ("pale", 160, 30),
    ("dark", 27, 100),
    ("pale", 60, 110),
    ("pale", 110, 100),
    ("green", 150, 90),
    ("pale", 170, 115),
]


def seen_from(x=0.0):
    K = np.array([[1600, 0, 320], [0, 1600, 240], [0, 0, 1.0]])
    return Pose(K, np.zeros(4), np.zeros(3), np.array([-95.0 + x, -70.0, 900.0]), SIZE)


POSE = seen_from()


def moved(pieces, n, *to):
    return [*pieces[:n], *to, *pieces[n + 1 :]]


class Coins:
    """film(pieces, pose, light, noise) -> picture; pieces: (kind, x, y)"""

    def __init__(self):
        rough = np.random.default_rng(5).normal(0, 1, (140, 190)).astype(np.float32)
        grey = 130 + 6 * cv2.GaussianBlur(cv2.resize(rough, (760, 560)), (0, 0), 3)
        self.board = np.repeat(grey[..., None], 3, 2)  # 4 pixels a mm
        self.rng = np.random.default_rng(6)
        self.px = np.stack(np.meshgrid(*(np.arange(n, dtype=float) for n in SIZE)), -1).reshape(
            -1, 2
        )
        self.grain = cycle(self.rng.normal(0, 1, (5, *SIZE[::-1], 3)).astype(np.float32))
        self.places = {}

    def film(self, pieces, pose=POSE, light=1.0, noise=1.5):
        if id(pose) not in self.places:
            self.places[id(pose)] = pose, pose.to_mm(self.px), pose.to_mm(self.px, COIN.height)
        _, mm, tops = self.places[id(pose)]
        picture = cv2.remap(
            self.board,
            (mm * 4 - 0.5).reshape(*SIZE[::-1], 2).astype(np.float32),
            None,
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REFLECT,
        )
        for kind, x, y in pieces:
            form, colour = KINDS[kind]
            share = (form.inner - np.hypot(*(tops - (x, y)).T) + 0.3).clip(0, 0.6).reshape(
                *SIZE[::-1], 1
            ) / 0.6
            picture = picture * (1 - share) + np.array(colour) * share
        return self.noisy(picture * light, noise)

    def noisy(self, picture, noise=1.5):
        return (picture + noise * next(self.grain)).clip(0, 255).astype(np.uint8)

    def reader(self, registrar=None):
        plan = parse_plan(
            {
                "game": "coins",
                "size": [190, 140],
                "corners": [[0, 0], [190, 0], [190, 140], [0, 140]],
                "piece": [
                    {"kind": k, "size": f.size[0], "height": f.height}
                    for k, (f, _) in KINDS.items()
                ],
                "site": [{"id": s, "reads": "cluster", "outline": o} for s, o in SITES.items()],
            },
            "plan.toml",
        )
        frame = Frame.of(plan, [POSE])
        empty = Empty.of(frame, [frame.flatten(self.film([]), frame.maps(POSE))])
        looks = {}
        for form in (COIN, DISH):
            rings, kinds = (
                Rings.around(form, frame.scale),
                [k for k, (f, _) in KINDS.items() if f == form],
            )
            looks[form] = Look(
                tuple(kinds),
                np.stack([np.full((*rings.cell.shape, 3), KINDS[k][1], np.float32) for k in kinds]),
            )
        registrar = registrar or SimpleNamespace(is_ambiguous=lambda image, pose: False)
        matcher = ClusterReader(plan, empty, Firsts((), {}), looks)
        return Reader(plan, registrar, StandIn(), matcher)


@cache
def coins():
    return Coins()
