"""What was found before is taken over where a board looks as it did, and nowhere else."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

import vision.cluster_find
from vision.cluster import ClusterReader
from vision.cluster_canvas import Empty, Frame
from vision.cluster_first import Firsts
from vision.cluster_loose import Look
from vision.cluster_memory import Card, Memory
from vision.cluster_polar import Form, Rings
from vision.cluster_scene import FOLD
from vision.plan import parse_plan
from vision.pose import Pose
from vision.reader import Reader

SCALE, SIZE = 1.7, (640, 480)
COIN, DISH = Form((14.0, 14.0), 2.0, True), Form((22.0, 22.0), 2.0, True)
PALE, DARK, GREEN = (205, 205, 205), (40, 40, 40), (60, 150, 70)
KINDS = {"pale": (COIN, PALE), "dark": (COIN, DARK), "green": (COIN, GREEN), "dish": (DISH, PALE)}
SITES = {f"{c}{r}": [[x, y], [x + 45, y], [x + 45, y + 60], [x, y + 60]] for c, x in zip("abcd", (5, 50, 95, 140))
         for r, y in zip("12", (8, 70))}
FIRST = [("pale", 20, 30), ("pale", 40, 50), ("dark", 70, 30), ("pale", 75, 55), ("green", 115, 40), ("pale", 160, 30),
         ("dark", 27, 100), ("pale", 60, 110), ("pale", 110, 100), ("green", 150, 90), ("pale", 170, 115)]


def seen_from(x=0.0):
    K = np.array([[1600, 0, 320], [0, 1600, 240], [0, 0, 1.0]])
    return Pose(K, np.zeros(4), np.zeros(3), np.array([-95.0 + x, -70.0, 900.0]), SIZE)


POSE = seen_from()


@pytest.fixture(scope="module")
def board():
    """(140 * 4, 190 * 4, 3) of a board, 4 pixels a mm"""
    rough = np.random.default_rng(5).normal(0, 1, (140, 190)).astype(np.float32)
    grey = 130 + 6 * cv2.GaussianBlur(cv2.resize(rough, (760, 560)), (0, 0), 3)
    return np.repeat(grey[..., None], 3, 2)


@pytest.fixture(scope="module")
def film(board):
    """film(pieces, pose, light, noise) -> picture; pieces: (kind, x, y)"""
    rng = np.random.default_rng(6)
    px = np.stack(np.meshgrid(*(np.arange(n, dtype=float) for n in SIZE)), -1).reshape(-1, 2)
    places = {}

    def shown(pieces, pose=POSE, light=1.0, noise=1.5):
        if id(pose) not in places:
            places[id(pose)] = pose, pose.to_mm(px), pose.to_mm(px, COIN.height)
        _, mm, tops = places[id(pose)]
        picture = cv2.remap(board, (mm * 4 - 0.5).reshape(*SIZE[::-1], 2).astype(np.float32), None, cv2.INTER_LINEAR,
                            borderMode=cv2.BORDER_REFLECT)
        for kind, x, y in pieces:
            form, colour = KINDS[kind]
            share = (form.inner - np.hypot(*(tops - (x, y)).T) + 0.3).clip(0, 0.6).reshape(*SIZE[::-1], 1) / 0.6
            picture = picture * (1 - share) + np.array(colour) * share
        return (picture * light + rng.normal(0, noise, picture.shape)).clip(0, 255).astype(np.uint8)
    return shown


@pytest.fixture(scope="module")
def reader(board, film):
    plan = parse_plan({"game": "coins", "size": [190, 140], "corners": [[0, 0], [190, 0], [190, 140], [0, 140]],
                       "piece": [{"kind": k, "size": f.size[0], "height": f.height} for k, (f, _) in KINDS.items()],
                       "site": [{"id": s, "reads": "cluster", "outline": o} for s, o in SITES.items()]}, "plan.toml")
    frame = Frame.of(plan, [POSE])
    empty = Empty.of(frame, [frame.flatten(film([]), frame.maps(POSE))])
    looks = {}
    for form in (COIN, DISH):
        rings, kinds = Rings.around(form, frame.scale), [k for k, (f, _) in KINDS.items() if f == form]
        looks[form] = Look(tuple(kinds), np.stack([np.full((*rings.cell.shape, 3), KINDS[k][1], np.float32) for k in kinds]))
    return Reader(plan, None, [ClusterReader(plan, empty, Firsts((), {}), looks)])


def told(found):
    return {s: e.best for s, e in found.sites.items()}


@pytest.fixture
def looked(monkeypatch):
    """Numbers of places looked at closely, as they come in"""
    out, before = [], vision.cluster_find.refined

    def refined(scene, fine, at, *more):
        out.append(len(at))
        return before(scene, fine, at, *more)
    monkeypatch.setattr(vision.cluster_find, "refined", refined)
    return out


def moved(pieces, n, *to):
    return [*pieces[:n], *to, *pieces[n + 1:]]


CHANGES = {"nothing": FIRST,
           "a piece moved within its site": moved(FIRST, 1, ("pale", 36, 54)),
           "a piece moved to the next": moved(FIRST, 3, ("pale", 106, 60)),
           "a piece taken away": moved(FIRST, 8),
           "another kind in its place": moved(FIRST, 5, ("green", 160, 30)),
           "a larger one of its colour in its place": moved(FIRST, 5, ("dish", 160, 30)),
           "one more beside another": [*FIRST, ("dark", 75, 70)]}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_read_as_if_nothing_was_known(reader, film, looked, change):
    before, after = film(FIRST), film(CHANGES[change])
    first, anew = (told(reader.read_at(p, POSE)) for p in (before, after))
    assert sum(map(len, first.values())) == len(FIRST)
    many = sum(looked) / 2
    for asked in None, {s for s in SITES if anew[s] != first[s]} or {"a1"}:
        memory = Memory()
        reader.read_at(before, POSE, None, memory)
        looked.clear()
        assert told(reader.read_at(after, POSE, asked, memory)).items() <= anew.items()
        assert sum(looked) < many / 2
        assert told(reader.read_at(after, POSE, None, memory)) == anew, "as it is remembered now"
        assert sum(k.piece.chance > 0.5 for k in memory.pieces) == len(CHANGES[change])
        assert told(reader.read_at(before, POSE, None, memory)) == first, "and put back"


def test_a_board_at_rest_is_not_searched_again(reader, film, looked):
    memory = Memory()
    first = reader.read_at(film(FIRST), POSE, None, memory)
    looked.clear()
    for _ in range(3):
        assert reader.read_at(film(FIRST), POSE, None, memory).sites.keys() == first.sites.keys()
    assert not sum(looked)


def test_a_bumped_camera_makes_it_begin_anew(reader, film):
    memory, other = Memory(), seen_from(9.0)
    first = reader.read_at(film(FIRST), POSE, None, memory)
    kept = list(memory.pieces)
    after = film(moved(FIRST, 0), other)
    assert told(reader.read_at(after, other, None, memory)) == told(reader.read_at(after, other)) != told(first)
    assert memory.pose is other and not set(map(id, kept)) & set(map(id, memory.pieces))


@pytest.mark.parametrize("light", [0.93, 1.1, "a lamp on the left"])
def test_another_light(reader, film, light):
    if isinstance(light, str):
        light = np.linspace(1.25, 0.8, SIZE[0])[:, None]
    memory, pieces = Memory(), moved(FIRST, 4)
    reader.read_at(film(FIRST), POSE, None, memory)
    assert told(reader.read_at(film(pieces, light=light), POSE, None, memory)) == told(reader.read_at(film(pieces), POSE))
    assert told(reader.read_at(film(pieces), POSE, None, memory)) == told(reader.read_at(film(pieces), POSE)), "and back"


def test_what_changed_where_nobody_asked_is_not_forgotten(reader, film):
    """A site beside is asked for; later all is"""
    memory, after = Memory(), film(moved(FIRST, 2, ("green", 84, 44)))
    reader.read_at(film(FIRST), POSE, None, memory)
    reader.read_at(after, POSE, {"a1", "c1"}, memory)
    assert told(reader.read_at(after, POSE, None, memory)) == told(reader.read_at(after, POSE))


def test_a_card_that_was_nudged_is_no_longer_taken_to_lie_as_it_did(reader, film):
    """Of a plain card hardly more than its rim looks otherwise then"""
    memory, site = Memory().of(reader, POSE), reader.plan.sites["c1"]
    cluster = reader.readers[0]
    (begun,) = cluster.begun(film([]), POSE, [(reader.plan.sites, None)], memory)
    corners = np.array([[100.0, 15], [135, 15], [135, 60], [100, 60]])
    tried = SimpleNamespace(corners=lambda kind: corners, lit=lambda gain: tried)
    memory.keep(begun.scene, cluster.frame, begun.folded, begun.recalled, None, [], {site.id: Card("tile", {}, tried)}, {})
    for by, there in ((0.0, True), (2.0, False)):
        seen = begun.folded.copy()
        px = begun.scene.frame.to_px(corners + by) / FOLD
        cv2.circle(seen, np.rint(px.mean(0)).astype(int).tolist(), 6, (0, 0, 0), -1)        # a piece on it
        if by:
            cv2.polylines(seen, [np.rint(px).astype(np.int32)], True, (255, 255, 255), 2)
        recalled = memory.recalled(begun.scene, seen, {site.id: site}, False)
        assert (site.id in recalled.doubtful) == there and site.id not in recalled.cards
