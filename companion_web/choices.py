"""The legal actions in words: for telling the table what was done, for learners, and for correcting
a site by tapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from companion.table.snapshot import packed_doing
from engine import Action, State
from engine.layout import Contents
from engine.text import pack_text

MOST = 3000  # the most legal actions examined
SAID = 24  # the most actions invisible to a camera that are offered at once
GUESSES = 8  # the most contents suggested for a site


class Choice:
    """One legal action: its sentences, the pieces it puts down (kind, site) and the contents of the
    changed sites afterwards."""

    def __init__(self, state: State, action: Action) -> None:
        after = state.apply(action)
        self.action = action
        self.words = packed_doing(after)
        self.seen = after.layout() != state.layout()
        have = state.layout()
        self.leaves: dict[str, Contents] = {
            s: c for step in after.steps if step.by_hand for s, c in step.changes.items()
        }
        self.puts = {
            (k, s) for s, c in self.leaves.items() for k in (Counter(c) - Counter(have.get(s, ())))
        }

    def told(self) -> dict[str, Any]:
        return {"text": str(self.action), "words": self.words, "asks": self.action.asks()}


class Choices:
    """The choices in one state, computed once for all phones."""

    def __init__(self) -> None:
        self._of: State | None = None
        self._found: list[Choice] = []

    def at(self, state: State) -> list[Choice]:
        if self._of is not state:
            found = [Choice(state, a) for a in state.legal_actions()[:MOST]]
            self._of, self._found = state, found
        return self._found


def said_acts(choices: list[Choice], seat: str) -> list[dict[str, Any]]:
    """A seat's actions that change nothing on the board, except those that another side must agree
    to, which have their own form."""
    found = [c for c in choices if c.action.seat == seat and not c.seen and c.action.asks() is None]
    return [c.told() for c in found[:SAID]]


def pieces_to_put(choices: list[Choice], seat: str) -> list[str]:
    return sorted({k for c in choices if c.action.seat == seat for k, _ in c.puts})


def places_of(choices: list[Choice], seat: str, kind: str) -> list[str]:
    """Where a seat may put a piece"""
    return sorted({s for c in choices if c.action.seat == seat for k, s in c.puts if k == kind})


def reasons_against(state: State, seat: str, kind: str, site: str) -> list[dict[str, Any]]:
    """The rules that forbid a seat to put a piece on a site, as far as the game can tell: those
    that the likeliest such action breaks"""
    have = state.layout().get(site, ())
    proposals = state.explain({site: (have, (*have, kind))})
    own = [p for p in proposals if p.actions and p.actions[-1].seat == seat] or proposals
    for proposal in own:
        at = state
        for action in proposal.actions:
            if violations := at.check(action):
                return [pack_text(v) for v in violations]
            at = at.apply(action)
        if proposal.violations:
            return [pack_text(v) for v in proposal.violations]
    return []


def may_lie(
    state: State,
    choices: list[Choice],
    site: str,
    guesses: list[Contents],
    counts: Mapping[str, int],
) -> list[Contents]:
    """Possible contents of a site: the reader's guesses first, then results of legal actions, then
    what lay there before, then nothing"""
    likely = [c for c in guesses if all(k in counts for k in c)]
    legal = sorted({c.leaves[site] for c in choices if site in c.leaves}, key=len)
    return list(dict.fromkeys([*likely[:4], *legal, state.layout().get(site, ()), ()]))[:GUESSES]
