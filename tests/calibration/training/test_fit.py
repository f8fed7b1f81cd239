"""What a reader is fitted to, before anything is learnt."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from calibration.training import fit


class Prepared(Exception):
    """Raised instead of cutting out pieces"""


@pytest.mark.parametrize("empty", [True, False])
def test_outlines_are_moved_only_where_a_photo_shows_the_empty_board(
    empty: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop_with(plan: str, shots: object) -> None:
        raise Prepared(plan)

    monkeypatch.setattr(fit, "align_outlines", lambda plan, printed: f"{plan} moved")
    monkeypatch.setattr(fit, "prepare_lesson", stop_with)
    shots = [SimpleNamespace(layout={"A1": ("man",)}), SimpleNamespace(layout={})][: 1 + empty]
    with pytest.raises(Prepared, match="^plan moved$" if empty else "^plan$"):
        fit.fit_reader("plan", SimpleNamespace(printed=object()), shots)
