from __future__ import annotations


def explain(state, difference):
    return []
