"""A board with coins on it, filmed from above, and a reader of it: what looking again is tested
on."""

from __future__ import annotations

from functools import cache
from itertools import cycle
from types import SimpleNamespace

import cv2
import numpy as np

from tests.support.networks import StandIn
from vision.evidence.site_evidence import SiteEvidence
from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid
from vision.plan import parse_plan
from vision.reader import Reader

SIZE = (640, 480)
HEIGHT = 2.0  # mm
COIN, DISH = 14.0, 22.0  # mm across
SEEN = 4.0  # pixels a mm at which coins are looked for
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
            self.places[id(pose)] = pose, pose.to_mm(self.px), pose.to_mm(self.px, HEIGHT)
        _, mm, tops = self.places[id(pose)]
        picture = cv2.remap(
            self.board,
            (mm * 4 - 0.5).reshape(*SIZE[::-1], 2).astype(np.float32),
            None,
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REFLECT,
        )
        for kind, x, y in pieces:
            size, colour = KINDS[kind]
            share = (size / 2 - np.hypot(*(tops - (x, y)).T) + 0.3).clip(0, 0.6).reshape(
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
                    {"kind": k, "size": size, "height": HEIGHT} for k, (size, _) in KINDS.items()
                ],
                "site": [{"id": s, "reads": "cluster", "outline": o} for s, o in SITES.items()],
            },
            "plan.toml",
        )
        registrar = registrar or SimpleNamespace(is_ambiguous=lambda image, pose: False)
        return Reader(plan, registrar, CoinFinder(self.film([], noise=0)))


def from_above(picture, pose):
    return pose.rectify(picture, 0, 0, 190, 140, SEEN, HEIGHT).astype(float)


class CoinFinder(StandIn):
    """Tells coins by what differs from the empty board: how large it is, and of what colour"""

    def __init__(self, empty):
        super().__init__()
        self.empty = from_above(empty, POSE)

    def read(self, picture, pose, sites=None, cache=None):
        seen = from_above(Pyramid.of(picture).level(0), pose)
        seen *= np.median(self.empty / np.maximum(seen, 1))
        strange = cv2.blur(np.abs(seen - self.empty).max(-1), (3, 3)) > 25
        count, label, stats, middles = cv2.connectedComponentsWithStats(strange.astype(np.uint8))
        found = {s: [] for s in SITES}
        for n in range(1, count):
            across = (stats[n, cv2.CC_STAT_AREA] * 4 / np.pi) ** 0.5 / SEEN
            if across > COIN / 2:
                size = min((COIN, DISH), key=lambda v: abs(v - across))
                colour = np.median(seen[label == n], 0)
                kinds = {k: c for k, (s, c) in KINDS.items() if s == size}
                kind = min(kinds, key=lambda k: np.abs(colour - kinds[k]).sum())
                x, y = (middles[n] + 0.5) / SEEN
                for site, (low, _, high, _) in SITES.items():
                    if low[0] <= x < high[0] and low[1] <= y < high[1]:
                        found[site].append(kind)
        return {
            s: SiteEvidence(((tuple(sorted(kinds)), -0.01),), -6.0)
            for s, kinds in found.items()
            if sites is None or s in sites
        }


@cache
def coins():
    return Coins()
