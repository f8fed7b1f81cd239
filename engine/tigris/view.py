"""What a page shows beyond the board, the decisions that are pending, and the expectations of
scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.game import Choice, Decision
from engine.text import Text, say, whole_number
from engine.tigris import actions as act
from engine.tigris.board import cells_of
from engine.tigris.effects import buildable_monuments
from engine.tigris.moment import TEMPLES, side_strength, treasure_choice, war_colours
from engine.tigris.position import Position
from engine.tigris.scoring import monument_points, seat_results
from engine.tigris.words import COLOURS, RED, colour_name, kind_name, leader_kind, seat_name

PAINT = {
    "black": "#2b2a2f",
    "red": "#b8282f",
    "blue": "#2457a8",
    "green": "#2f8a4c",
    "treasure": "#cdb46e",
}

_PHASES = {
    "action": say("actions"),
    "commit": say("conflict"),
    "war": say("conflicts"),
    "build": say("building"),
    "treasure": say("treasures"),
    "draw": say("drawing"),
    "over": say("the game is over"),
}

Asked = tuple[Text, list[Choice], list[str]]  # the question, its answers, the squares it is about


def decision_needed(s: Position) -> Decision | None:
    """The decision that is pending. The board will show all of them sooner or later, so nobody has
    to be asked."""
    if s.phase not in _DECISIONS:
        return None
    text, choices, sites = _DECISIONS[s.phase](s)
    return Decision(s.seats[s.actor], text, tuple(choices), tuple(sites), ask=False)


def _choices_of(s: Position, text: Callable[[Any], Text]) -> list[Choice]:
    return [Choice(text(a), str(a)) for a in s.legal_actions() if a.seat == s.seats[s.actor]]


def _ask_commit(s: Position) -> Asked:
    fight = s.conflict
    seats = [seat_name(s.seats[n // 4]) for n in (fight.attacker, fight.defender)]
    on_board = [side_strength(s.pieces, fight, n) for n in (fight.attacker, fight.defender)]
    added = max(fight.added, 0)
    colour = colour_name(COLOURS[RED if fight.kind == TEMPLES else fight.colour])
    text = say(
        (
            "{adder}: how many {colour} tiles do you add? {attacker} has {attack}, "
            "{defender} has {defence}"
        ),
        adder=seat_name(s.seats[s.actor]),
        colour=colour,
        attacker=seats[0],
        defender=seats[1],
        attack=on_board[0] + added,
        defence=on_board[1],
    )
    sites = [s.board.ids[s.pieces.leaders[n]] for n in (fight.attacker, fight.defender)]
    return text, _choices_of(s, lambda a: say("{number}", number=a.number)), sites


def _ask_war(s: Position) -> Asked:
    return (
        say("which conflict is next?"),
        _choices_of(s, lambda a: colour_name(a.colour)),
        [s.board.ids[s.pieces.union]],
    )


def _ask_build(s: Position) -> Asked:
    choices = [Choice(say("build nothing"), f"{s.seats[s.active]}: keep")]
    squares = 0
    for a in s.legal_actions():
        if not isinstance(a, act.Build):
            continue
        kind = "monument:" + a.monument
        squares |= s.board.squares[s.board.index[a.site]]
        choices.append(
            Choice(say("{piece} on {site}", piece=kind_name(kind), site=a.site), str(a), kind)
        )
    return say("a monument can be built"), choices, s.board.sites(squares)


def _ask_treasure(s: Position) -> Asked:
    _, treasures, may_stay = treasure_choice(s.pieces, s.active, len(s.seats))
    sites = s.board.sites(treasures)
    text = say(
        "{seat} takes all but one of the treasures on {sites}: which one stays?",
        seat=seat_name(s.seats[s.actor]),
        sites=", ".join(sites),
    )
    choices = [
        Choice(
            say("the one on {site} stays", site=next(x for x in sites if x not in a.sites)), str(a)
        )
        for a in s.legal_actions()
        if isinstance(a, act.Treasure)
    ]
    return text, choices, sites


_DECISIONS = {
    "commit": _ask_commit,
    "war": _ask_war,
    "build": _ask_build,
    "treasure": _ask_treasure,
}


def page_view(s: Position) -> dict[str, Any]:
    """What a page shows beyond the layout (docs/reference/engine.md)."""
    left = None
    if s.phase != "over":
        left = say("1 action left") if s.left == 1 else say("{number} actions left", number=s.left)
    treasures = s.pieces.treasures.bit_count()
    total = sum(s.board.totals) - s.board.winged.bit_count()
    return {
        "phase": _PHASES[s.phase],
        "round": None,
        "left": left,
        "tracks": [
            {
                "id": "bag",
                "label": say("tiles in the bag"),
                "value": s.bag,
                "max": max(total, s.bag),
                "steps": None,
                "marks": [],
            },
            {
                "id": "treasures",
                "label": say("treasures on the board"),
                "value": treasures,
                "max": max(s.board.plan.counts["treasure"], treasures),
                "steps": None,
                "marks": [2],
            },
        ],
        "seats": [{"id": seat, "facts": _seat_facts(s, i, seat)} for i, seat in enumerate(s.seats)],
        "coming": _coming_events(s),
        "tables": [*_monuments_table(s), *([_result_table(s)] if s.over else [])],
        "highlight": _highlighted_sites(s),
        "notes": [],
    }


def _seat_facts(s: Position, i: int, seat: str) -> list[dict[str, Any]]:
    def fact(
        label: Text,
        value: Any,
        colour: str | None = None,
        kind: str | None = None,
        secret: bool = False,
    ) -> dict[str, Any]:
        return {"label": label, "value": value, "colour": colour, "kind": kind, "secret": secret}

    points = s.points[i * 5 : i * 5 + 5]
    out = [fact(colour_name(c), n, PAINT[c], None, True) for c, n in zip(COLOURS, points)]
    out.append(fact(say("treasures"), points[4], PAINT["treasure"], "treasure", True))
    out.append(fact(say("catastrophe tiles"), s.catastrophes[i], None, "catastrophe"))
    out.append(fact(say("tiles in hand"), s.hand(i)))
    home = [leader_kind(seat, c) for n, c in enumerate(COLOURS) if s.pieces.leaders[i * 4 + n] < 0]
    out += [fact(say("not on the board"), kind_name(kind), None, kind) for kind in home]
    return out


def _coming_events(s: Position) -> list[Text]:
    if s.over:
        return []
    out = [
        say(
            "at the end of this turn {seat} scores {number} {colour} for {piece}",
            seat=seat_name(s.seats[s.active]),
            number=1,
            colour=colour_name(COLOURS[c]),
            piece=kind_name("monument:" + s.board.monuments[m]),
        )
        for c, m in monument_points(s, s.active)
    ]
    spare = s.pieces.treasures.bit_count() - 2
    if spare <= 0:
        out.append(say("the game ends with this turn: two treasures or fewer are left"))
    elif spare <= 2:
        out.append(say("the game ends when {number} more treasures are taken", number=spare))
    if s.bag < 6 * len(s.seats):
        out.append(
            say(
                "the game ends when the bag cannot fill a hand: {number} tiles are left",
                number=s.bag,
            )
        )
    return out


def _monuments_table(s: Position) -> list[dict[str, Any]]:
    """A table of those that stand, if any does."""
    rows = [
        [kind_name("monument:" + name), s.board.ids[cell]]
        for name, cell in zip(s.board.monuments, s.pieces.monuments)
        if cell >= 0
    ]
    columns = [say("monument"), say("stands on")]
    return [{"title": say("monuments"), "columns": columns, "rows": rows}] if rows else []


def _result_table(s: Position) -> dict[str, Any]:
    rows: list[list[Any]] = [[seat_name(seat), *r] for seat, r in zip(s.seats, seat_results(s))]
    rows.sort(key=lambda row: [-n for n in row[1:]])
    return {
        "title": say("final score"),
        "rows": rows,
        "columns": [say("dynasty"), say("weakest"), say("second"), say("third"), say("strongest")],
    }


def _highlighted_sites(s: Position) -> dict[str, Text]:
    ids, out = s.board.ids, {}
    if s.phase == "commit":
        out[ids[s.pieces.leaders[s.conflict.attacker]]] = say("attacks")
        out[ids[s.pieces.leaders[s.conflict.defender]]] = say("defends")
    elif s.phase == "war":
        joined, colours = s.pieces.region(s.pieces.union), war_colours(s.pieces)
        for n, cell in enumerate(s.pieces.leaders):
            if cell >= 0 and joined >> cell & 1 and n % 4 in colours:
                out[ids[cell]] = say("in conflict")
    elif s.phase == "build":
        for corner, _ in buildable_monuments(s):
            for cell in cells_of(s.board.squares[corner]):
                out[ids[cell]] = say("a monument can be built")
    elif s.phase == "treasure":
        for cell in cells_of(treasure_choice(s.pieces, s.active, len(s.seats))[1]):
            out[ids[cell]] = say("all treasures but one are taken")
    return out


def check_expectation(s: Position, words: Sequence[str]) -> tuple[bool, str] | None:
    """`bag 14` and `hand bull 5`. While a draw is pending that nobody has stated, the numbers
    before and after it both hold."""
    head, *rest = words
    if head == "bag" and len(rest) == 1:
        return _is_either(rest[0], s.bag, s.bag - sum(n for _, n in s.draws))
    if head == "hand" and len(rest) >= 2 and rest[0] in s.seats:
        seat = s.seats.index(rest[0])
        if len(rest) == 2 and whole_number(rest[1]) is not None:
            return _is_either(rest[1], s.hand(seat), s.hand(seat) + s.drawing(seat))
        if all(c in COLOURS for c in rest[1:]):
            held = tuple(c for c, n in zip(COLOURS, s.known[seat]) for _ in range(n))
            return sorted(rest[1:]) == sorted(held) and not s.unknown[seat], " ".join(
                held
            ) or "none that is known"
    return None


def _is_either(word: str, *values: int) -> tuple[bool, str]:
    return word in map(str, values), str(values[0])
