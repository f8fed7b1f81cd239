"""Calibrations that cannot become good end before anything is learnt."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from calibration import fit
from calibration.copy import BadCopy


def test_a_board_that_nothing_finds_again_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = SimpleNamespace(folder=tmp_path, plan=None, photos=[], markers=False)
    nothing = SimpleNamespace(finds_boards=False)
    monkeypatch.setattr(fit, "fit_registrar", lambda *args: (nothing, []))
    with pytest.raises(BadCopy, match="lay the four cards") as e:
        fit.shots_of(copy)
    assert str(e.value).startswith(str(tmp_path)) and "\n" not in str(e.value)
    monkeypatch.setattr(
        fit, "fit_registrar", lambda *args: (SimpleNamespace(finds_boards=True), [])
    )
    assert fit.shots_of(copy)[1] == []
