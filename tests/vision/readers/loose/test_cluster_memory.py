"""What was found before is taken over where a board looks as it did, and nowhere else."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import msgspec
import numpy as np
import pytest

import vision.readers.loose.pieces.search
from tests.coins import FIRST, POSE, SITES, SIZE, coins, moved, seen_from
from vision.frame_cache import FrameCache
from vision.reader import Reader
from vision.readers.loose.scene.scene import FOLD
from vision.readers.loose.scene_memory import Card, SceneMemory


@pytest.fixture
def film():
    return coins().film


@pytest.fixture(scope="module")
def reader():
    return coins().reader()


def told(found):
    return {s: e.best for s, e in found.sites.items()}


@pytest.fixture
def looked(monkeypatch):
    """Numbers of places looked at closely, as they come in"""
    out, before = [], vision.readers.loose.pieces.search.refined

    def refined(scene, fine, at, *more):
        out.append(len(at))
        return before(scene, fine, at, *more)

    monkeypatch.setattr(vision.readers.loose.pieces.search, "refined", refined)
    return out


CHANGES = {
    "nothing": FIRST,
    "a piece moved within its site": moved(FIRST, 1, ("pale", 36, 54)),
    "a piece moved to the next": moved(FIRST, 3, ("pale", 106, 60)),
    "a piece taken away": moved(FIRST, 8),
    "another kind in its place": moved(FIRST, 5, ("green", 160, 30)),
    "a larger one of its colour in its place": moved(FIRST, 5, ("dish", 160, 30)),
    "one more beside another": [*FIRST, ("dark", 75, 70)],
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_read_as_if_nothing_was_known(reader, film, looked, change):
    before, after = film(FIRST), film(CHANGES[change])
    first, anew = (told(reader.read_at(p, POSE)) for p in (before, after))
    assert sum(map(len, first.values())) == len(FIRST)
    many = sum(looked) / 2
    for asked in None, {s for s in SITES if anew[s] != first[s]} or {"a1"}:
        memory = FrameCache()
        reader.read_at(before, POSE, None, memory)
        looked.clear()
        assert told(reader.read_at(after, POSE, asked, memory)).items() <= anew.items()
        assert sum(looked) < many / 2
        assert told(reader.read_at(after, POSE, None, memory)) == anew, "as it is remembered now"
        assert sum(k.piece.chance > 0.5 for k in memory.states["cluster"].pieces) == len(
            CHANGES[change]
        )
        assert told(reader.read_at(before, POSE, None, memory)) == first, "and put back"


def test_a_board_at_rest_is_not_searched_again(reader, film, looked):
    memory = FrameCache()
    first = reader.read_at(film(FIRST), POSE, None, memory)
    looked.clear()
    for _ in range(3):
        assert reader.read_at(film(FIRST), POSE, None, memory).sites.keys() == first.sites.keys()
    assert not sum(looked)


def test_a_bumped_camera_makes_it_begin_anew(reader, film):
    memory, other = FrameCache(), seen_from(9.0)
    first = reader.read_at(film(FIRST), POSE, None, memory)
    kept = list(memory.states["cluster"].pieces)
    after = film(moved(FIRST, 0), other)
    assert (
        told(reader.read_at(after, other, None, memory))
        == told(reader.read_at(after, other))
        != told(first)
    )
    assert memory.pose is other and not set(map(id, kept)) & set(
        map(id, memory.states["cluster"].pieces)
    )


@pytest.mark.parametrize("light", [0.93, 1.1, "a lamp on the left"])
def test_another_light(reader, film, light):
    if isinstance(light, str):
        light = np.linspace(1.25, 0.8, SIZE[0])[:, None]
    memory, pieces = FrameCache(), moved(FIRST, 4)
    reader.read_at(film(FIRST), POSE, None, memory)
    assert told(reader.read_at(film(pieces, light=light), POSE, None, memory)) == told(
        reader.read_at(film(pieces), POSE)
    )
    assert told(reader.read_at(film(pieces), POSE, None, memory)) == told(
        reader.read_at(film(pieces), POSE)
    ), "and back"


def test_what_changed_where_nobody_asked_is_not_forgotten(reader, film):
    """A site beside is asked for; later all is"""
    memory, after = FrameCache(), film(moved(FIRST, 2, ("green", 84, 44)))
    reader.read_at(film(FIRST), POSE, None, memory)
    reader.read_at(after, POSE, {"a1", "c1"}, memory)
    assert told(reader.read_at(after, POSE, None, memory)) == told(reader.read_at(after, POSE))


def test_what_is_known_of_the_other_sites_is_told_along(reader, film):
    memory, after = FrameCache(), film(moved(FIRST, 2))
    first = reader.read_at(film(FIRST), POSE, {"b1"}, memory)
    assert first.sites.keys() == SITES.keys() and first.changed is None, (
        "nothing was known of the others: all were read"
    )
    found = reader.read_at(after, POSE, {"b1"}, memory)
    assert found.changed == {"b1"} and told(found) == told(reader.read_at(after, POSE))
    assert {s: e for s, e in found.sites.items() if s != "b1"} == {
        s: e for s, e in first.sites.items() if s != "b1"
    }
    lamp = np.linspace(1.25, 0.8, SIZE[0])[:, None]
    lit = film(moved(FIRST, 2), light=lamp)
    assert reader.read_at(lit, POSE, {"b1"}, memory).changed is None, (
        "the light is another: all were read"
    )


def test_the_box_holds_for_what_is_told_along_too(reader, film):
    """Of the only green coin but one the site that shows it surely has it, whichever was read last"""
    pieces = tuple(
        msgspec.structs.replace(p, count=1) if p.kind == "green" else p for p in reader.plan.piece
    )
    plan = msgspec.structs.replace(reader.plan, piece=pieces)
    few = Reader(plan, reader.registrar, reader.learned, reader.matcher)
    memory, after = FrameCache(), film(FIRST)
    few.read_at(after, POSE, None, memory)
    again, whole = few.read_at(after, POSE, {"c1"}, memory), few.read_at(after, POSE, None, memory)
    assert again.changed == {"c1"} and told(again) == told(whole)
    assert again.sites["d2"].options[0][1] == pytest.approx(
        whole.sites["d2"].options[0][1], abs=0.01
    )


def test_a_card_that_was_nudged_is_no_longer_taken_to_lie_as_it_did(reader, film):
    """Of a plain card hardly more than its rim looks otherwise then"""
    memory, site = SceneMemory(), reader.plan.sites["c1"]
    cluster = reader.matcher
    (begun,) = cluster.begun(film([]), POSE, [(reader.plan.sites, None)], memory)
    corners = np.array([[100.0, 15], [135, 15], [135, 60], [100, 60]])
    tried = SimpleNamespace(corners=lambda kind: corners, lit=lambda gain: tried)
    memory.keep(
        begun.scene,
        cluster.frame,
        begun.folded,
        begun.recalled,
        None,
        [],
        {site.id: Card("tile", {}, tried)},
        {},
    )
    for by, there in ((0.0, True), (2.0, False)):
        seen = begun.folded.copy()
        px = begun.scene.frame.to_px(corners + by) / FOLD
        # a piece on it
        cv2.circle(seen, np.rint(px.mean(0)).astype(int).tolist(), 6, (0, 0, 0), -1)
        if by:
            cv2.polylines(seen, [np.rint(px).astype(np.int32)], True, (255, 255, 255), 2)
        recalled = memory.recalled(begun.scene, seen, {site.id: site}, False)
        assert (site.id in recalled.doubtful) == there and site.id not in recalled.cards
