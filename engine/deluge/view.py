"""What a page shows beyond the layout (docs/architecture.md)."""

from __future__ import annotations

from typing import Any

from engine.deluge.checks import PHASE_NAMES
from engine.deluge.state import DelugeState


def view(state: DelugeState) -> dict[str, Any]:
    return {"phase": PHASE_NAMES[state.phase], "round": state.round, "left": None, "tracks": [], "seats": [], "coming": [],
            "tables": [], "highlight": {}, "notes": []}
