"""A lesson in a small file."""

import numpy as np

from calibration.synthesis.packed import pack_lesson, unpack_lesson


def test_a_packed_lesson_teaches_nearly_the_same(lesson, tmp_path):
    path = tmp_path / "drawn.lesson"
    pack_lesson(lesson, path)
    assert path.stat().st_size < 3_000_000
    again = unpack_lesson(path)
    assert np.abs(again.empty - lesson.empty).mean() < 0.02
    one, other = (v.composer(5, crowded=0.0).make_sample() for v in (lesson, again))
    assert np.array_equal(one.sites, other.sites) and np.array_equal(one.points, other.points)
    assert np.abs(one.x.astype(float) - other.x.astype(float)).mean() < 0.05
