"""The moments that people may have reached without a word: through passes that nobody says, each
with a cost."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from engine.game import Action, Step
from engine.nile import actions as act
from engine.nile.board import fruit_marker
from engine.nile.fit import none_may_fit
from engine.nile.flow import POINTS
from engine.nile.moment import Moment
from engine.nile.position import SETUP
from engine.nile.scoring import row_kinds

# How much less likely than a plain action a guess is, in nats
LAPSED = (0.0, 0.5, 1.0, 1.5)  # a turn ended with so many points left
IDLE = 5.0  # nobody did anything in a whole round
JOKER = 1.0  # a joker given up without anybody saying so
OUT_OF_TURN = 2.2  # a rule broken, and out of turn as well
NOTHING_FITTED = 0.5  # the starting player could not lay a card
HARDLY = 8.0  # ... although every card there is fits somewhere
EARLIER = 2.0  # an event carried out so late that the next card has already been turned over
# a card was turned over and nobody saw what it showed, so the question was never asked
UNASKED = 0.25
UNSAID = 0.5  # an empty row chosen to spoil, or an action seen half done


class Later(msgspec.Struct, frozen=True):
    """A moment some unspoken passes ahead: the passes, the state then, the cost, what happened on
    the board on the way."""

    run: tuple[Action, ...]
    state: Moment
    cost: float
    way: tuple[Step, ...] = ()


def _is_rotten(state: Moment, row: int) -> bool:
    """Whether no good fruit lies in a row of the market."""
    markers = [fruit_marker(kind) for kind in row_kinds(state.p.lay, state.board, row)]
    return all(m[0] == "rotten" for m in markers if m)


def moments_ahead(state: Moment) -> Iterator[Later]:
    """The present moment and those that unspoken passes lead to: the turns of this round, the next
    phase 1, its actions."""
    run: tuple[Action, ...] = ()
    way: tuple[Step, ...] = ()
    cost = 0.0
    p = state.p
    yield Later(run, state, cost)
    if p.wait and p.wait.kind == "spoil":
        empty = [r for r in state.board.open_rows(p.wait.number) if _is_rotten(state, r)]
        if not empty:
            return
        run, cost = (act.Spoil(p.seats[p.starter], empty[0]),), UNSAID
        state = state.apply(run[0])
        yield Later(run, state, cost)
    tides = 0
    acted = p.phase != "actions" or p.turn != p.starter or p.points < POINTS
    for _ in range(2 * len(p.seats) + 2):
        now = state.p
        if now.phase == "over" or now.asif:
            return
        action = act.Pass(now.seats[now.turn])
        if state.check(action):
            return
        if now.wait and now.wait.kind == "event" and state.readings:
            now = state.readings[0].p  # a pass implies that the card showed nothing
        if now.phase == "tide":
            tides += 1
            if tides > 1 and cost > HARDLY:
                return
            cost += NOTHING_FITTED if _may_be_unable(state) else HARDLY
        elif now.phase in SETUP:
            cost += NOTHING_FITTED
        else:
            cost += LAPSED[min(now.points, POINTS)]
            acted = acted or now.points < POINTS
        run, state = (*run, action), state.apply(action)
        way = (*way, *state.steps)
        if now.phase == "actions" and state.p.round > now.round:
            cost, acted = cost + (0.0 if acted else IDLE), False
        yield Later(run, state, cost, way)


def _may_be_unable(state: Moment) -> bool:
    p = state.p
    return p.water_left(p.starter) == 0 or none_may_fit(p, state.board, p.starter)
