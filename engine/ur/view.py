"""What a page shows of Ur beyond the square (docs/reference/engine.md), and what has to be said
aloud."""

from __future__ import annotations

from typing import Any

from engine.game import Choice, Decision
from engine.text import Text, say
from engine.ur.checks import SETUP_ROUNDS
from engine.ur.domains import extra_allowance, remaining_tiles, round_of
from engine.ur.effects import same_faces, same_faces_text
from engine.ur.position import Position
from engine.ur.scoring import WORTH, ZIGGURAT
from engine.ur.words import DOMAINS, domain_name, listed_texts, number_word, seat_name, tile_name


def page_view(state: Position) -> dict[str, Any]:
    """What a page shows beyond the layout (docs/reference/engine.md)."""
    return {
        "phase": _phase_text(state),
        "round": None,
        "left": _what_is_left(state),
        "tracks": _page_tracks(state),
        "seats": [{"id": s, "facts": _seat_facts(state, p)} for p, s in enumerate(state.seats)],
        "coming": _coming_events(state),
        "tables": [_sets_table(state)],
        "highlight": _highlighted_sites(state),
        "notes": _page_notes(state),
    }


def _phase_text(state: Position) -> Text:
    if state.phase == "put":
        return say("set-up: stone {n} of {all} each", n=round_of(state) + 1, all=SETUP_ROUNDS)
    return {
        "lay": say("set-up: laying the tiles"),
        "swap": say("set-up: first swaps"),
        "turn": say("turns"),
        "over": say("the game is over"),
    }[state.phase]


def _what_is_left(state: Position) -> Text | None:
    if state.phase == "lay":
        return say("tiles still to be laid out: {n}", n=state.tiles.count(None))
    if state.phase != "turn":
        return None
    if state.built or state.returned or state.bonus:
        return say("only the swap is left")
    mine = [d for d in DOMAINS if d in state.known(state.mover) and d not in state.used]
    if not mine:
        return say(
            "both actions used; extra stones, then the swap"
            if state.used
            else "the hand tile was not seen"
        )
    return say("may still use: {domains}", domains=listed_texts([domain_name(d) for d in mine]))


def _page_tracks(state: Position) -> list[dict[str, Any]]:
    free = sum(state.free(i) for i in range(len(state.tiles)))
    return [
        {
            "id": "ziggurats",
            "label": say("ziggurats left"),
            "value": state.board.ziggurats - state.ziggurats,
            "max": state.board.ziggurats,
            "steps": None,
            "marks": [],
        },
        {
            "id": "free",
            "label": say("free tiles"),
            "value": free,
            "max": len(state.tiles),
            "steps": None,
            "marks": [],
        },
    ]


def _seat_facts(state: Position, p: int) -> list[dict[str, Any]]:
    hand = state.hands[p]
    shown = "tile:" + hand if hand is not None and "?" not in hand else None

    def fact(
        label: Text, value: Any, kind: str | None = None, secret: bool = False
    ) -> dict[str, Any]:
        return {"label": label, "value": value, "colour": None, "kind": kind, "secret": secret}

    facts = [
        fact(say("hand tile"), tile_name(hand) if hand else say("not seen"), shown),
        fact(say("would score now"), state.division(p)[0], secret=True),
        fact(say("tiles held"), len(state.own(p))),
        fact(say("ziggurats"), sum(1 for q, z in zip(state.owner, state.zig) if z and q == p)),
        fact(say("stones in supply"), state.supplies[p], state.seats[p]),
    ]
    if state.phase == "turn" and p == state.mover:
        facts += [
            fact(domain_name(d), say("used") if d in state.used else say("not used"))
            for d in DOMAINS
            if d in state.known(p)
        ]
        facts.append(fact(say("extra stones"), _bonus_text(state)))
    return facts


def _bonus_text(state: Position) -> Text:
    if state.built:
        return say("none: ziggurats built")
    if state.returned:
        return say("none: came back with three stones")
    if state.bonus:
        kind, i, n = state.bonus
        site = state.board.sites[i]
        return (
            say("settled {site}", site=site)
            if kind == "settle"
            else say("{n} on {site}", n=number_word(n), site=site)
        )
    allowed = extra_allowance(state, len(state.used))
    if allowed == 2:
        return say("two on a held tile, or one on a free tile")
    return say("one on a held tile") if allowed else say("none so far")


def _coming_events(state: Position) -> list[Text]:
    out = []
    if state.phase in ("turn", "swap", "put") and state.ziggurats >= state.board.ziggurats > 0:
        last = state.seats[(state.starter - 1) % len(state.seats)]
        out.append(
            say(
                "the last ziggurat is built: the game ends after the turn of {seat}",
                seat=seat_name(last),
            )
        )
    if state.phase == "turn":
        if not state.can_swap():
            out.append(
                say(
                    "{seat} cannot swap for any tile now: the game ends unless an action frees one",
                    seat=seat_name(state.seats[state.mover]),
                )
            )
        if state.returned is False and not state.used and not state.own(state.mover):
            out.append(
                say(
                    "{seat} has no stones on the board and may come back with three on a free tile",
                    seat=seat_name(state.seats[state.mover]),
                )
            )
    return out


def _sets_table(state: Position) -> dict[str, Any]:
    """One row per set: whose it is, its members, its value."""
    rows: list[list[Any]] = []
    for p, s in enumerate(state.seats):
        points, sets, face = state.division(p)
        hand_at = next((k for k in range(len(sets) - 1, -1, -1) if face in sets[k]), None)
        for k, members in enumerate(sets):
            names = [
                say("ziggurat")
                if m == ZIGGURAT
                else say("{domain} (hand)", domain=domain_name(m))
                if m == face and k == hand_at
                else domain_name(m)
                for m in members
            ]
            rows.append([seat_name(s) if not k else "", listed_texts(names), WORTH[len(members)]])
        rows.append([seat_name(s) if not sets else "", say("together"), points])
    return {
        "title": say("sets that would score now"),
        "columns": [say("player"), say("set"), say("points")],
        "rows": rows,
        "secret": True,
    }


def _highlighted_sites(state: Position) -> dict[str, Text]:
    if state.phase in ("put", "lay"):
        return {
            s: say("the same face as a neighbour (U4)") for both in same_faces(state) for s in both
        }
    return {}


def _page_notes(state: Position) -> list[Text]:
    if state.option == "as-written":
        notes = [
            say(
                "extra stones (U13): two, or one on a free tile, for using both actions; "
                "one for using one"
            )
        ]
    else:
        notes = [
            say(
                "extra stones (U13): two, or one on a free tile, for using neither "
                "action; one for using one"
            )
        ]
    warning = same_faces_text(state) if state.phase in ("put", "lay") else None
    if warning is not None:
        notes.append(warning)
    return notes


def decision_needed(state: Position) -> Decision | None:
    """What the camera cannot see: that a turn without a swap is done, and a hand tile that was
    never in view."""
    if state.phase in ("over", "lay"):
        return None
    seat, p = state.seats[state.mover], state.mover
    if state.hands[p] is None and None not in state.tiles:
        left = remaining_tiles(state)
        tiles = ["/".join(sorted(both)) for both, n in left.items() if n > 0]
        where = state.board.hands[p]
        return Decision(
            seat,
            say("Which hand tile does {seat} have?", seat=seat_name(seat)),
            tuple(
                Choice(tile_name(t), f"box: lay {where} {t}", "tile:" + t) for t in sorted(tiles)
            ),
            (where,),
        )
    if state.phase == "turn" and not state.can_swap() and state.tiles.count(None) == 0:
        return Decision(
            seat,
            say("{seat} cannot swap for any tile: is the turn over?", seat=seat_name(seat)),
            (Choice(say("yes, the game ends"), f"{seat}: pass"),),
            ask=bool(state.used or state.bonus or state.built or state.returned),
        )
    return None
