"""What stands on a square foot is shown turned about itself, as no sampler shows it."""

import numpy as np
import pytest

from calibration.cutouts.standing import StandingLook
from calibration.synthesis import painter
from calibration.synthesis.painter import Evening, Painter
from calibration.synthesis.prism import LAYERS, draw_prism, profile_of
from vision.learned.canvas import Canvas
from vision.plan import Piece

SCALE, BESIDE, REACH, FOOT = 3.0, 9.0, 30.0, 12.0


def tapering_look(disc=False):
    """12 mm wide at its foot and 4 at its top, which is light; 30 mm of it are seen"""
    height, width = (round(mm * SCALE) for mm in (2 * BESIDE, REACH + 2 * BESIDE))
    v, u = ((np.mgrid[:height, :width] + 0.5) / SCALE) - BESIDE
    half = FOOT / 2 - (FOOT / 2 - 2) * np.clip(u / REACH, 0, 1)
    mask = ((np.abs(v) <= half) & (u > -FOOT / 2) & (u < REACH + 2)).astype(np.float32)
    patch = np.full((*mask.shape, 3), 3.5, np.float32)
    patch[:, u[0] > REACH - 3] = 5.0
    piece = Piece("needle", FOOT if disc else (FOOT, FOOT), height=40.0)
    return StandingLook(piece, patch, mask, REACH, REACH, BESIDE, SCALE)


def test_it_is_as_wide_as_its_look_and_has_its_colours():
    profile = profile_of(tapering_look())
    assert profile.widths[0] == FOOT and profile.widths[-1] == pytest.approx(4, abs=1)
    assert profile.widths[LAYERS // 2] == pytest.approx(8, abs=1.5)
    assert (np.diff(profile.widths) <= 0).all()
    assert profile.colours[: LAYERS // 2] == pytest.approx(3.5, abs=0.05)
    assert profile.colours[-1] == pytest.approx(5.0, abs=0.05)


def test_it_is_shown_turned_any_way_with_sides_of_other_light():
    foot, shift = np.array([60.0, 60.0]), np.array([90.0, 0.0])
    wide, tones, middles = [], [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        face, mask = draw_prism(rng, tapering_look(), foot, shift, SCALE, (120, 180))
        rows = np.flatnonzero((mask > 0.5).any(1))
        wide.append(np.ptp(rows) / SCALE)
        tones.append(np.ptp(face[mask > 0.9][:, 0]))
        middles.append(face[60, 60, 0])
        assert mask[60, 60] == mask[60, 150] == 1 and face[60, 150, 0] > 4.5
        assert mask[10, 60] == 0
    # from a side to a corner
    assert min(wide) == pytest.approx(FOOT, abs=0.7)
    assert max(wide) == pytest.approx(FOOT * 2**0.5, abs=0.7)
    assert max(tones) > min(tones) + 0.2
    # nearly twice as bright where a lamp shines as where none does
    assert max(middles) > min(middles) + np.log(1.8)
    assert np.mean(middles) == pytest.approx(3.6, abs=0.2)


@pytest.mark.parametrize("disc", [False, True])
def test_only_what_has_sides_is_turned_so(disc, monkeypatch):
    drawn = []

    def note_prism(*args):
        drawn.append(args)
        return draw_prism(*args)

    monkeypatch.setattr(painter, "draw_prism", note_prism)
    view = Canvas((100.0, 100.0), 2.0)
    canvas = np.full((*view.shape, 3), 4.5, np.float32)
    evening = Evening(np.zeros(2), np.zeros(3), np.zeros(2), 1.0, 0.0, 0.0, np.zeros(2))
    paint = Painter(canvas, view, (0, 0), evening, np.random.default_rng(3))
    for _ in range(20):
        paint.stand_piece(tapering_look(disc), np.array([50.0, 50.0]), np.array([20.0, 5.0]))
    assert len(drawn) == 0 if disc else 8 <= len(drawn) < 20
    assert np.abs(canvas - 4.5).max() > 0.5
