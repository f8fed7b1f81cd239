"""Positions from set-up lines (docs/contracts.md, Notation) and from JSON, and the beginning of a
game."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.game import BadText, Statement
from engine.text import whole_number
from engine.ur.board import Board, is_tile
from engine.ur.position import NOBODY, PHASES
from engine.ur.state import UrState
from engine.ur.words import DOMAINS

OPTIONS = {"bonus": ("as-written", "for-restraint")}  # U13; the first is the default


def begin_state(
    board: Board, all_seats: Sequence[str], seats: Sequence[str], options: Mapping[str, str]
) -> UrState:
    """An empty table. Raises BadText for seats or options that do not fit."""
    seats = list(seats)
    for s in seats:
        if s not in all_seats:
            raise BadText(f"{s!r} is not a seat of ur ({', '.join(all_seats)})")
    if len(set(seats)) != len(seats):
        raise BadText("a seat is named twice")
    if not 3 <= len(seats) <= 4:
        raise BadText(f"ur is for 3 or 4 players, not {len(seats)} (U3)")
    for name, value in options.items():
        _checked_option(name, value)
    return UrState(board, seats, options.get("bonus", OPTIONS["bonus"][0]))


def _checked_option(name: str, value: str) -> None:
    if name not in OPTIONS:
        raise BadText(f"no option called {name!r} (there is: {', '.join(OPTIONS)})")
    if value not in OPTIONS[name]:
        raise BadText(f"option {name} is {' or '.join(OPTIONS[name])}, not {value!r}")


def read_setup(state: UrState, statements: Sequence[Statement]) -> UrState:
    """The state after the set-up lines. Raises BadText beginning with `line N: `."""
    stated: set[str] = set()
    for st in statements:
        line = _LINES.get(st.words[0])
        try:
            if line is None:
                raise BadText(
                    f"no set-up line of ur begins with {st.words[0]!r} (there are: "
                    f"{', '.join(sorted(_LINES))})"
                )
            state = line(state, list(st.words[1:]))
        except BadText as e:
            raise BadText(f"line {st.line}: {e}") from None
        stated.add(st.words[0])
    return _begin_moment(state, stated)


def _begin_moment(state: UrState, stated: set[str]) -> UrState:
    """Where the game stands if no line says so: in the set-up if no stone lies, otherwise at the
    first seat's turn."""
    if "phase" not in stated:
        laid = any(state.tiles)
        phase = (
            "turn"
            if any(state.count) or any(state.zig)
            else "put"
            if laid and not state.drawn
            else "lay"
        )
        state = state.changed(phase=phase)
    if "turn" not in stated:
        state = state.changed(mover=(state.starter + state.puts) % len(state.seats))
    return state


def _set_layout(state: UrState, words: list[str]) -> UrState:
    if words == ["clear"]:
        n = len(state.board.sites)
        return state.changed(
            tiles=(None,) * n, owner=(NOBODY,) * n, count=(0,) * n, zig=(False,) * n
        )
    if not words or words[0] not in state.plan.sites:
        raise BadText(
            f"layout names a site first, not {words[0]!r}"
            if words
            else "layout names sites and what lies there"
        )
    groups: list[tuple[str, list[str]]] = []
    for w in words:
        if w in state.plan.sites:
            groups.append((w, []))
        else:
            groups[-1][1].append(w)
    for site, kinds in groups:
        state = _lay_pieces(state, site, kinds)
    return state


def _lay_hand_tile(state: UrState, site: str, kinds: list[str]) -> UrState:
    """What lies beside the map: a hand tile, or the spare one. Raises BadText."""
    board = state.board
    if len(kinds) > 1:
        raise BadText(f"{site}: one tile lies there, and no stones")
    tile = _known_tile(kinds[0]) if kinds else None
    if site == board.spare:
        return state.changed(spare=tile)
    p = board.hands.index(site)
    if p >= len(state.seats):
        raise BadText(f"{site}: there are {len(state.seats)} players")
    return state.changed(hands=(*state.hands[:p], tile, *state.hands[p + 1 :]))


def _lay_pieces(state: UrState, site: str, kinds: list[str]) -> UrState:
    board = state.board
    if site in board.hands or site == board.spare:
        return _lay_hand_tile(state, site, kinds)
    i = board.index[site]
    tiles = [k for k in kinds if k.startswith("tile:")]
    ziggurat = kinds.count("ziggurat")
    stones = [k for k in kinds if not k.startswith("tile:") and k != "ziggurat"]
    for k in stones:
        if k not in board.stones:
            raise BadText(f"{site}: no piece called {k!r}")
        if k not in state.seats:
            raise BadText(f"{site}: nobody plays {k}")
    crowded = len(tiles) > 1 or len(set(stones)) > 1 or ziggurat > 1
    if crowded or (ziggurat and len(stones) > 1) or (kinds and not tiles):
        raise BadText(
            f"{site}: a place holds one tile, then stones of one player, or a ziggurat "
            f"with one stone"
        )
    p = state.seats.index(stones[0]) if stones else NOBODY
    values = {
        "tiles": _known_tile(tiles[0]) if tiles else None,
        "owner": p,
        "count": len(stones),
        "zig": bool(ziggurat),
    }
    return state.changed(
        **{k: (*(old := getattr(state, k))[:i], v, *old[i + 1 :]) for k, v in values.items()}
    )


def _known_tile(word: str) -> str:
    tile = word.removeprefix("tile:")
    # "/?": its back has never been seen
    if not is_tile(tile) and not (tile.endswith("/?") and tile[:-2] in DOMAINS):
        raise BadText(f"{word!r} is not a tile: it reads FACE/BACK, two of {', '.join(DOMAINS)}")
    return tile


def _known_seat(state: UrState, word: str) -> int:
    if word not in state.seats:
        raise BadText(f"{word!r} is not a seat of this game ({', '.join(state.seats)})")
    return state.seats.index(word)


def _set_hand(state: UrState, words: list[str]) -> UrState:
    if len(words) != 2:
        raise BadText("hand names a seat and its tile, such as black war/trade")
    p = _known_seat(state, words[0])
    return state.changed(hands=(*state.hands[:p], _known_tile(words[1]), *state.hands[p + 1 :]))


def _set_spare(state: UrState, words: list[str]) -> UrState:
    if len(words) != 1:
        raise BadText("spare names the tile beside the square")
    return state.changed(spare=_known_tile(words[0]))


def _set_option(state: UrState, words: list[str]) -> UrState:
    if len(words) != 2:
        raise BadText("option names the option and its value, such as bonus for-restraint")
    _checked_option(*words)
    return state.changed(option=words[1])


def _set_starter(state: UrState, words: list[str]) -> UrState:
    if len(words) != 1:
        raise BadText("starter names a seat")
    return state.changed(starter=_known_seat(state, words[0]))


def _set_turn(state: UrState, words: list[str]) -> UrState:
    if len(words) != 1:
        raise BadText("turn names a seat")
    return state.changed(mover=_known_seat(state, words[0]))


def _set_phase(state: UrState, words: list[str]) -> UrState:
    if len(words) != 1 or words[0] not in PHASES:
        raise BadText(f"phase is one of {', '.join(PHASES)}")
    return state.changed(phase=words[0])


def _set_box(state: UrState, words: list[str]) -> UrState:
    if words != ["shuffled"]:
        raise BadText("box is shuffled, or not spoken of")
    return state.changed(drawn=True)


def _set_done(state: UrState, words: list[str]) -> UrState:
    """What was done before the moment shown: puts 7, culture war, extra C3 1, settle D5 1, ziggurat
    1, return, game U24."""
    head, rest = (words[0] if words else ""), words[1:]
    if head in DOMAINS and set(rest) <= set(DOMAINS) and len(set(words)) == len(words) <= 2:
        return state.changed(used=tuple(words))
    if head == "puts" and len(rest) == 1 and whole_number(rest[0]) is not None:
        return state.changed(puts=int(rest[0]))
    if (
        head in ("extra", "settle")
        and len(rest) == 2
        and rest[0] in state.board.index
        and whole_number(rest[1]) is not None
    ):
        return state.changed(bonus=(head, state.board.index[rest[0]], int(rest[1])))
    if head == "ziggurat" and len(rest) == 1 and whole_number(rest[0]) is not None:
        return state.changed(built=int(rest[0]))
    if words == ["return"]:
        return state.changed(returned=True)
    if head == "game" and rest in (["U23"], ["U24"]):
        return state.changed(end=rest[0])
    raise BadText(
        "done tells what was done this turn, such as culture war; extra C3 1; ziggurat 1; return"
    )


_LINES: dict[str, Callable[[UrState, list[str]], UrState]] = {
    "layout": _set_layout,
    "hand": _set_hand,
    "spare": _set_spare,
    "option": _set_option,
    "starter": _set_starter,
    "turn": _set_turn,
    "phase": _set_phase,
    "box": _set_box,
    "done": _set_done,
}


def from_json(data: Mapping[str, Any], board: Board) -> UrState:
    """The state that `to_json` wrote. Raises BadText."""
    try:
        state = UrState(board, data["seats"], data["bonus"])
        seat = {s: p for p, s in enumerate(state.seats)}
        tiles: list[str | None] = list(state.tiles)
        owner, count, zig = list(state.owner), list(state.count), list(state.zig)
        for s, t in data["tiles"].items():
            tiles[board.index[s]] = _stated_tile(t)
        for s, (who, n) in data["stones"].items():
            owner[board.index[s]], count[board.index[s]] = seat[who], int(n)
        for s, who in data["ziggurats"].items():
            i = board.index[s]
            zig[i], owner[i], count[i] = (
                True,
                (-1 if who is None else seat[who]),
                int(who is not None),
            )
        if data["phase"] not in PHASES:
            raise BadText(f"no phase called {data['phase']!r}")
        extra = data["extra"]
        return state.changed(
            tiles=tuple(tiles),
            owner=tuple(owner),
            count=tuple(count),
            zig=tuple(zig),
            hands=tuple(
                _stated_tile(data["hands"][s]) if s in data["hands"] else None for s in state.seats
            ),
            spare=_stated_tile(data["spare"]) if data["spare"] else None,
            phase=data["phase"],
            puts=int(data["puts"]),
            starter=int(data["starter"]),
            mover=int(data["mover"]),
            drawn=bool(data["drawn"]),
            end=data["end"],
            used=tuple(data["used"]),
            built=int(data["built"]),
            returned=bool(data["returned"]),
            bonus=(extra[0], board.index[extra[1]], int(extra[2])) if extra else None,
        )
    except (KeyError, TypeError, ValueError, IndexError) as e:
        raise BadText(f"no state of ur: {type(e).__name__} {e}") from None


def _stated_tile(text: str) -> str:
    if not is_tile(text) and not text.endswith("/?"):
        raise BadText(f"{text!r} is not a tile")
    return text
