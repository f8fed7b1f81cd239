"""Guesses at what was done between two looks."""

from __future__ import annotations

from engine.deluge.state import DelugeState
from engine.game import Difference, Proposal


def explain(state: DelugeState, difference: Difference) -> list[Proposal]:
    return []
