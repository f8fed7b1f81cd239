"""What lies on a card and is none of the pieces: lumps that nothing explains, and patches taken for
pieces that fit badly."""

from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from vision.photometry.canvas import Frame
from vision.readers.loose.count_evidence import patched
from vision.readers.loose.pieces.fit import Piece
from vision.readers.loose.reader import ClusterReader
from vision.readers.loose.residual_blobs import Left
from vision.readers.loose.scene.polar_patches import Form

STONE = Form((9.0, 9.0), 9.0, False)
SITE = SimpleNamespace(id="A1", outlines=[np.array([[5, 5], [55, 5], [55, 55], [5, 55.0]])])


def stone(share):
    """One that fits so well; half of its outline shows where it fits badly"""
    return Piece(
        STONE,
        np.zeros(2),
        np.zeros(2),
        0.0,
        ("red",),
        np.array([1000.0 * share]),
        0,
        1000.0,
        1000.0,
        0.2 + 0.8 * share**2,
    )


@pytest.mark.parametrize(
    ("fits", "foreign"), [((0.95,) * 5, False), ((0.95, 0.3), False), ((0.3, 0.3, 0.3), True)]
)
def test_several_doubtful_stones_are_something_else(fits, foreign):
    assert (patched([(stone(f), 1.0) for f in fits]) > 0.5) is foreign


@pytest.mark.parametrize(
    ("size", "card", "patch", "foreign"),
    [
        (8, True, np.inf, False),
        (16, True, np.inf, True),
        (16, False, np.inf, False),
        (16, False, 2.0, True),
        (16, False, 9.0, False),
    ],
)
def test_a_lump_on_a_card_is_something_else(size, card, patch, foreign):
    """And so is a patch larger than samplers leave any, where that is known"""
    reader = ClusterReader.__new__(ClusterReader)
    reader.least_area, reader.least_inner, reader.lump, reader.lumps = (
        STONE.area,
        STONE.inner,
        np.inf,
        {},
    )
    reader.patch = patch
    frame = Frame(0, 0, 2.0, 120, 120)
    reader.frame, reader.kept = frame, {}
    strange = np.zeros((60, 60), np.float32)  # a pixel a mm
    strange[20 : 20 + size, 20 : 20 + size] = 1
    seen = np.full((120, 120, 4), 200, np.uint8)
    scene = SimpleNamespace(
        frame=frame,
        strange=strange,
        seen=seen,
        ground=seen // 2,
        weight=np.ones((120, 120), np.float32),
        light=np.ones((6, 6, 3), np.float32),
        light_at=lambda mm: np.ones((len(mm), 3)),
    )
    assert bool(reader.foreign(scene, SITE, card) > 0.5) is foreign


def test_what_is_usually_left_holds_shadows_too(monkeypatch):
    """They reach sites on which nothing stands, where they count"""
    reader, left = ClusterReader.__new__(ClusterReader), Left(400.0, 400.0, 30.0, 4.0)
    reader.least_area, reader.least_inner, reader.lump, reader.lumps = (
        STONE.area,
        STONE.inner,
        np.inf,
        {},
    )
    reader.patch = left.filled(False)
    monkeypatch.setattr("vision.readers.loose.reader.left_on", lambda *_: left)
    monkeypatch.setattr(ClusterReader, "places", lambda *_: [None])
    cube = msgspec.structs.replace(stone(0.95), form=Form((14.0, 14.0), 12.0, True))
    for pieces in ([], [(cube, 1.0)]):
        reader.foreign(SimpleNamespace(frame=None), SITE, pieces=pieces)
        assert reader.lumps[SITE.id] == (30.0, left.filled(False))
