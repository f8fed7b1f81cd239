"""The state that other rooms use: a moment of the game, and what else it may be when people leave
things unsaid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import msgspec

from engine.game import Action, Decision, IllegalAction, Outcome, Proposal, Step, Violation
from engine.layout import Contents
from engine.nile import actions as act
from engine.nile import chance as odds
from engine.nile import flow, scoring
from engine.nile.asking import decision_needed
from engine.nile.board import fruit_marker
from engine.nile.checks import action_faults
from engine.nile.effects import effect_of, skip_owed
from engine.nile.expect import check_expectation
from engine.nile.explain import explain_difference
from engine.nile.fit import none_may_fit
from engine.nile.legal import legal_actions
from engine.nile.moment import Moment
from engine.nile.position import SETUP, Draft, Position
from engine.nile.setup import JOKERS, open_bidding
from engine.nile.view import page_view
from engine.nile.write import write_position


class NileState(Moment):
    """A moment of the game with its rules."""

    @cached_property
    def _actors(self) -> tuple[str, ...]:
        p, w = self.p, self.p.wait
        if p.phase == "over":
            return ()
        if w is None or w.kind in ("cover", "spoil"):
            own = [str(self.turn)]
        elif w.kind in ("fist", "die"):
            own = [s for i, s in enumerate(p.seats) if p.fists[i] == -1]
            own = own if w.kind == "fist" else [act.DIE] if p.open else [act.DIE, *p.seats]
        elif w.kind == "boat":
            own = [p.seats[x.seat] for x in p.waiting if x.kind == "boat"]
        else:
            own = [act.CARDS] if p.open else [p.seats[p.starter]]
        if p.fresh and not p.open:
            own.insert(0, p.seats[p.turn])
        return tuple(dict.fromkeys([*own, *(a for r in self.readings for a in r.actors)]))

    @property
    def actors(self) -> tuple[str, ...]:
        return self._actors

    @cached_property
    def readings(self) -> tuple[Self, ...]:
        """What else this state may be, if the next action shows that something went without saying:
        the card turned over showed nothing, there was no fruit to spoil, or a player without points
        and jokers has passed."""
        p, w = self.p, self.p.wait
        if p.open or p.phase == "over":
            return ()
        if p.asif:
            return (self._with(self._as_setup),)
        if w is None:
            if p.phase in ("actions", "extra") and not p.points and not p.jokers[p.turn]:
                return (self._after(act.Pass(p.seats[p.turn])),)
            return ()
        if w.kind == "event":
            silent = self._after(act.Event(p.seats[p.starter], "none"))
            if w.cause == "ebb" and not w.number and silent.p.phase == "tide":
                return (self._at(msgspec.structs.replace(silent.p, unsaid=w.site), silent.steps),)
            return (silent,)
        if w.kind == "spoil":
            rows = self.board.open_rows(w.number)
            going = any(
                m[0] != "rotten"
                for r in rows
                for k in scoring.row_kinds(p.lay, self.board, r)
                if (m := fruit_marker(k))
            )
            return () if going else (self._after(act.Spoil(p.seats[p.starter], rows[0])),)
        if w.kind == "boat":
            return (self._with(skip_owed),)
        if w.kind == "die":
            return tuple(
                self._after(act.Start(act.DIE, p.seats[i]))
                for i, n in enumerate(p.fists)
                if n == -1
            )
        return ()

    def _at(self, position: Position, steps: Sequence[Step]) -> Self:
        return type(self)(position, self.board, steps)

    def _after(self, action: Action) -> Self:
        position, steps = effect_of(self.p, self.board, action)
        return self._at(position, steps)

    def _with(self, change: Any) -> Self:
        d = Draft(self.p, self.board)
        change(d)
        return self._at(d.freeze(), d.steps)

    @staticmethod
    def _as_setup(d: Draft) -> None:
        d.asif, d.phase, d.turn = False, SETUP[1], d.starter
        dealt = [j or JOKERS for j in d.jokers]
        d.deserts -= sum(dealt) - sum(d.jokers)
        d.jokers = dealt
        if "bidding" in d.options:
            open_bidding(d)

    @cached_property
    def _legal(self) -> list[Action]:
        out = legal_actions(self.p, self.board)
        if not self.readings:
            return out
        return list(dict.fromkeys([*out, *(a for r in self.readings for a in r.legal_actions())]))

    def legal_actions(self) -> list[Action]:
        return list(self._legal)

    def promising(self) -> list[Action]:
        """All legal actions but the claim that no card fits, if every card there is fits
        somewhere."""
        p = self.p
        if (
            p.phase != "tide"
            or p.mode == "ebb"
            or p.waiting
            or none_may_fit(p, self.board, p.starter)
        ):
            return []
        return [a for a in self._legal if not isinstance(a, act.Pass)]

    def check(self, action: Action) -> list[Violation]:
        found = action_faults(self.p, self.board, action)
        if found:
            for reading in self.readings:
                others = reading.check(action)
                if not others:
                    return []
                found += [v for v in others if v not in found]
        return found

    def apply(self, action: Action) -> Self:
        found = action_faults(self.p, self.board, action)
        if not found:
            return self._after(action)
        for reading in self.readings:
            if not reading.check(action):
                after = reading.apply(action)
                return self._at(after.p, (*reading.steps, *after.steps))
        raise IllegalAction(action, self.check(action))

    def parse(self, text: str) -> Action:
        return act.parse_action(self.plan.as_written(text), self.board, self.p.seats)

    def implied(self, action: Action) -> tuple[Action, ...]:
        run: tuple[Action, ...] = ()
        state = self
        while not self.p.open and state.check(action) and len(run) < len(self.p.seats):
            if state.p.phase != "actions" or state.p.wait or action.seat not in self.p.seats:
                return ()
            skip = act.Pass(state.p.seats[state.p.turn])
            run, state = (*run, skip), state.apply(skip)
        return () if state.check(action) else run

    def outcome(self) -> Outcome | None:
        return scoring.game_outcome(self.p)

    def explain(self, difference: Mapping[str, tuple[Contents, Contents]]) -> list[Proposal]:
        return explain_difference(self, difference)

    def view(self) -> dict[str, Any]:
        return page_view(self.p, self.board)

    def decision(self) -> Decision | None:
        return decision_needed(self.p, self.board)

    def chance(self) -> list[tuple[Action, float]]:
        return odds.chance_outcomes(self.p, self.board)

    def skip_chance(self) -> Self:
        """A card turned over showed nothing; a card that came up stays unknown."""
        waits = self.p.wait
        if waits is None or not self.chance():
            return self
        if waits.kind == "event":
            return self._after(act.Event(act.CARDS, "none"))
        if waits.kind in ("top", "desert"):
            return self._with(_leave_unknown)
        return self

    def expect(self, words: Sequence[str]) -> tuple[bool, str] | None:
        return check_expectation(self.p, self.board, words)

    def to_json(self) -> dict[str, Any]:
        return msgspec.to_builtins(self.p)

    def mark(self) -> bytes:
        data = self.to_json()
        del data["unsaid"]  # journals were written before this was part of the state
        return msgspec.json.encode(data, order="deterministic")

    def to_text(self) -> str:
        return write_position(self.p, self.board)


def _leave_unknown(d: Draft) -> None:
    d.waiting.pop(0)
    flow.settle_events(d)
