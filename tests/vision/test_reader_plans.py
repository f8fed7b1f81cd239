"""A model whose outlines were moved onto the print still belongs to the plan that it was made for."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from vision.plan import Plan
from vision.reader import Reader
from vision.storage.model_file import BadModel

MODEL = Path(__file__).parents[1] / "models" / "simulated-tigris.npz"


def moved_plan(plan: Plan, mm: float) -> Plan:
    def shifted_outline(outline):
        return tuple((x + mm, y) for x, y in outline)

    sites = tuple(msgspec.structs.replace(s, outline=shifted_outline(s.outline)) for s in plan.site)
    return msgspec.structs.replace(plan, site=sites)


def test_a_model_with_moved_outlines_is_that_of_the_plan_as_it_was_given(tmp_path: Path) -> None:
    given = Reader.load(MODEL)
    aligned = moved_plan(given.plan, 1.5)
    path = tmp_path / "model.npz"
    Reader(aligned, given.registrar, given.learned, given.prior, given.heaps).save(path)

    read = Reader.load(path, given.plan)
    assert read.plan == aligned
    assert np.allclose(read.plan.site[0].centre, given.plan.site[0].centre + (1.5, 0))
    assert read.registrar.plan == given.plan
    with pytest.raises(BadModel, match="made for another plan"):
        Reader.load(path, aligned)


def test_a_model_from_before_outlines_were_moved_is_read_as_ever() -> None:
    reader = Reader.load(MODEL)
    assert reader.plan == reader.registrar.plan
    with pytest.raises(BadModel, match="made for another plan"):
        Reader.load(MODEL, moved_plan(reader.plan, 1.5))
