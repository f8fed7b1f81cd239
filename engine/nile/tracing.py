"""Boards with other palms, waves and markets: what can be corrected, and what a board needs to be
playable."""

from __future__ import annotations

from engine.nile.board import Board, board_of
from engine.plan import BadPlan, Plan
from engine.text import say
from engine.tracing import Choice, Form, PlanFault, Tag

FORM = Form(
    choices=(
        Choice(
            "palms",
            say("palms"),
            tuple(
                Tag(f"palms{n}", say("{n} palms", n=n) if n > 1 else say("1 palm"))
                for n in (1, 2, 3, 4)
            ),
            when=("field",),
        ),
        Choice(
            "river",
            say("waves printed on the river here"),
            (Tag("river1", say("one wave")), Tag("river2", say("two waves"))),
            none=say("not at the river"),
            when=("field",),
        ),
        Choice(
            "edge",
            say("the last field before the desert"),
            (Tag("desert", say("yes")),),
            none=say("no"),
            when=("field",),
        ),
    ),
    rows=("field", "market"),
)


def plan_faults(plan: Plan) -> list[PlanFault]:
    """What keeps a traced board from being played, or makes it a poor one."""
    try:
        board: Board = board_of(plan)
    except BadPlan as e:
        return [PlanFault(say("the plan cannot be played: {reason}", reason=str(e)), (), True)]
    out = []
    for sites in board.rows.values():
        if not board.fields[sites[0]].river:
            out.append(
                PlanFault(
                    say("{site}: no waves on the river where the row begins", site=sites[0]),
                    (sites[0],),
                )
            )
        astray = [s for s in sites[1:] if plan.sites[s].number("river")]
        if astray:
            out.append(
                PlanFault(
                    say("waves of the river away from it: {sites}", sites=", ".join(astray)),
                    tuple(astray),
                )
            )
    for row in (*board.rows.values(), *board.market.values()):
        gap = next((s for i, s in enumerate(row, 1) if not s.endswith(f".{i}")), None)
        if gap:
            out.append(PlanFault(say("a place is missing before {site}", site=gap), (gap,)))
    if not board.rows or not board.market:
        out.append(PlanFault(say("there are no fields, or there is no market"), (), True))
    return out
