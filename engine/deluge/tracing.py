"""Custom maps: what is drawn, and what a map needs to be playable."""

from __future__ import annotations

from engine.deluge.words import END, FORESTS, HOME, MINERALS, RISES, good_name, seat_name
from engine.plan import Plan
from engine.text import say
from engine.tracing import Choice, Form, PlanFault, Spots, Tag

PARTS = {
    "america": say("America"),
    "eurasia": say("Eurasia"),
    "africa": say("Africa"),
    "australia": say("Australia"),
}

_FLOODS = tuple(
    Tag(f"rise{n}", say("rise {n}, at {mark}", n=n, mark=mark)) for mark, n in RISES.items()
)

FORM = Form(
    draws="cluster",
    cells=("land", "sea"),
    names=("part", "ground"),
    choices=(
        Choice("ground", say("land or sea"), (Tag("land", say("land")), Tag("sea", say("sea")))),
        Choice(
            "part",
            say("continent"),
            (*(Tag(t, n) for t, n in PARTS.items()), Tag("island", say("an island"))),
            when=("land",),
        ),
        Choice(
            "centre",
            say("the continent's centre"),
            (Tag("centre", say("yes")),),
            none=say("no"),
            when=tuple(PARTS),
        ),
        Choice("flood", say("flooded by"), _FLOODS, none=say("never"), when=("land",)),
        Choice(
            "mineral", say("mineral"), tuple(Tag(m, good_name(m)) for m in MINERALS), when=("land",)
        ),
    ),
    spots=(Spots("land", "forest", FORESTS, (12, 12), ("forest",), say("forest")),),
)


def plan_faults(plan: Plan) -> list[PlanFault]:
    """What keeps a traced map from being played, or makes it a poor one."""
    lands = plan.tagged("land")
    out = []
    if not lands:
        return [PlanFault(say("no cell is land"), (), True)]
    if not plan.tagged("sea"):
        out.append(PlanFault(say("no cell is sea")))
    for seat, part in HOME.items():
        cells = [s.id for s in lands if part in s.tags]
        centres = [s.id for s in lands if {part, "centre"} <= s.tags]
        if not cells:
            text = say(
                "no cell belongs to {part}: {seat} has nowhere to begin",
                part=PARTS[part],
                seat=seat_name(seat),
            )
            out.append(PlanFault(text, (), True))
        elif not centres:
            out.append(PlanFault(say("{part} has no centre", part=PARTS[part]), tuple(cells), True))
        elif len(centres) > 1:
            out.append(
                PlanFault(say("{part} has more than one centre", part=PARTS[part]), tuple(centres))
            )
    for mark, n in RISES.items():
        if not plan.tagged(f"rise{n}"):
            out.append(PlanFault(say("no cell is flooded by rise {n}, at {mark}", n=n, mark=mark)))
    wrong = [s.id for s in lands if "island" in s.tags and "rise1" not in s.tags]
    if wrong:
        out.append(
            PlanFault(
                say("islands go under at the first rise: {cells}", cells=", ".join(wrong)),
                tuple(wrong),
            )
        )
    short = [c.id for c in lands if len(plan.spots.get(c.id, ())) != FORESTS]
    if short:
        out.append(
            PlanFault(say("three forests each: {cells}", cells=", ".join(short)), tuple(short))
        )
    squares = [f"count{n}" for n in range(END + 1) if f"count{n}" not in plan.sites]
    if squares:
        out.append(
            PlanFault(say("the counter lacks {squares}", squares=", ".join(squares)), (), True)
        )
    return out
