"""What an action does: the next state, with the steps on the board that lead to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from engine.game import Action, Step
from engine.layout import Contents
from engine.text import Text, say
from engine.ur import actions as a
from engine.ur.board import both_domains, turned_tile
from engine.ur.domains import culture_needs, harvest_losses, short_of, war_cost
from engine.ur.position import Position
from engine.ur.words import (
    DOMAINS,
    colour_name,
    lay_more,
    listed_texts,
    seat_name,
    stones_words,
    take_off,
    tile_name,
)

P = TypeVar("P", bound=Position)

SETUP_ROUNDS = 3  # U6, U7
RETURNING = 3  # U21


class Draft(Generic[P]):
    """A state while it is being changed: lists to write to, and the steps so far."""

    def __init__(self, state: P) -> None:
        self.state, self.board, self.seats = state, state.board, state.seats
        self.tiles, self.owner = list(state.tiles), list(state.owner)
        self.count, self.zig = list(state.count), list(state.zig)
        self.hands, self.spare = list(state.hands), state.spare
        self.steps: list[Step] = []
        self.values: dict[str, Any] = {}

    def contents(self, i: int) -> Contents:
        """The kinds that lie on a place, bottom first."""
        tile, p = self.tiles[i], self.owner[i]
        kind = "tile:" + tile if tile else "tile:?"
        if self.zig[i]:
            return (kind, "ziggurat", self.seats[p]) if p >= 0 else (kind, "ziggurat")
        return (kind, *(self.seats[p],) * self.count[i]) if p >= 0 else (kind,)

    def add(self, i: int, p: int, n: int) -> None:
        """Adds n stones of a player to a place."""
        self.count[i] += n
        self.owner[i] = p if self.count[i] else -1

    def do(self, text: Text, *places: int, **more: Contents) -> None:
        """Records what people do with their hands, with the board as it now is on those places."""
        self.steps.append(
            Step(text, {**{self.board.sites[i]: self.contents(i) for i in places}, **more}, True)
        )

    def follows(self, text: Text, *places: int) -> None:
        """Records a step that follows automatically, with the places it changes."""
        self.steps.append(Step(text, {self.board.sites[i]: self.contents(i) for i in places}))

    def place(self, text: Text, p: int, found: a.Stones) -> None:
        """Lays stones of p's own supply by hand."""
        places = [self.board.index[s] for s, _ in found]
        for i, (_, n) in zip(places, found):
            self.add(i, p, n)
        self.do(text, *places)

    def done(self) -> P:
        """The position that results."""
        return self.state.changed(
            tiles=tuple(self.tiles),
            owner=tuple(self.owner),
            count=tuple(self.count),
            zig=tuple(self.zig),
            hands=tuple(self.hands),
            spare=self.spare,
            happened=tuple(self.steps),
            **self.values,
        )


def apply_action(state: P, action: Action) -> P:
    """The state after a legal action."""
    draft = Draft(state)
    if isinstance(action, a.Lay):
        _do_lay(draft, action)
        return draft.done()
    p = state.seats.index(action.seat)
    _DO[type(action)](draft, action, p)
    new = draft.done()
    if new.phase == "turn" and _nothing_left(new):
        new = new.changed(phase="over", end="U23")
    return new


def _nothing_left(state: Position) -> bool:
    """Ends the game if the seat whose turn it is can neither swap nor do anything else first
    (U23)."""
    return not state.can_swap() and all(
        isinstance(x, (a.Pass, a.Lay)) for x in state.legal_actions()
    )


def _placed_stones(found: a.Stones, seat: str) -> Text:
    return listed_texts(
        [say("{stones} on {site}", stones=stones_words(seat, n), site=s) for s, n in found]
    )


def _use_up(draft: Draft, domain: str) -> None:
    used = draft.state.used
    if domain not in used:
        used = (*used, domain)
    draft.values["used"] = used
    p = draft.state.mover
    hand = draft.hands[p]
    known = (both_domains(hand) if hand else frozenset()) | set(used)
    # the domains used reveal an unseen hand tile
    if len(known) == 2 and (hand is None or "?" in hand):
        first = hand.split("/")[0] if hand else used[0]
        draft.hands[p] = first + "/" + next(d for d in DOMAINS if d in known and d != first)


def _do_lay(draft: Draft, action: a.Lay) -> None:
    board = draft.board
    kind = ("tile:" + action.tile,)
    if action.site in board.hands:
        draft.hands[board.hands.index(action.site)] = action.tile
    elif action.site == board.spare:
        draft.spare = action.tile
    else:
        draft.tiles[board.index[action.site]] = action.tile
    text = say("{tile} lies on {site}", tile=tile_name(action.tile), site=action.site)
    draft.steps.append(Step(text, {action.site: kind}, True))
    state = draft.state
    if state.phase != "lay" or None in draft.tiles:
        return
    beside = None in draft.hands or (len(state.seats) == 3 and draft.spare is None)
    # hand tiles may lie out of view; they are then stated, or unknown
    if not state.drawn or not beside:
        draft.values.update(phase="put", mover=state.starter)
        warning = same_faces_text(draft.done())
        if warning is not None:
            draft.steps.append(Step(warning))


def same_faces(state: Position) -> list[tuple[str, str]]:
    """Pairs of neighbours that show the same face (U4)."""
    sites = state.board.sites
    return [
        (sites[i], sites[j])
        for i, near in enumerate(state.board.near)
        for j in near
        if i < j and state.tiles[i] and state.tiles[j] and state.face(i) == state.face(j)
    ]


def same_faces_text(state: Position) -> Text | None:
    """The warning of U4; people may play on regardless."""
    found = same_faces(state)
    if not found:
        return None
    pairs = listed_texts([say("{first} and {second}", first=x, second=y) for x, y in found])
    return say("U4: neighbours show the same face: {pairs}", pairs=pairs)


def _do_put(draft: Draft, action: a.Put, p: int) -> None:
    state = draft.state
    draft.place(
        say("{seat} puts a stone on {site}", seat=seat_name(action.seat), site=action.site),
        p,
        ((action.site, 1),),
    )
    puts = state.puts + 1
    n = len(state.seats)
    draft.values.update(puts=puts, mover=(state.mover + 1) % n)
    if puts == SETUP_ROUNDS * n:
        draft.values.update(phase="swap", mover=state.starter)


def _do_pass(draft: Draft, action: a.Pass, p: int) -> None:
    if draft.state.phase == "turn":
        draft.values.update(phase="over", end="U23")
        draft.do(say("{seat} cannot swap for any tile: the game ends", seat=seat_name(action.seat)))
    else:
        draft.do(say("{seat} keeps the hand tile", seat=seat_name(action.seat)))
        _next_first_swap(draft)


def _next_first_swap(draft: Draft) -> None:
    state = draft.state
    after = (state.mover + 1) % len(state.seats)
    draft.values["mover"] = after
    if after == state.starter:
        draft.values["phase"] = "turn"


def _do_swap(draft: Draft, action: a.Swap, p: int) -> None:
    board, seat = draft.board, seat_name(action.seat)
    hand = draft.hands[p]
    changes: dict[str, Contents] = {}
    if action.site == a.SPARE:
        taken, laid, where = draft.spare, hand, board.spare
        draft.spare = hand
        if hand and where:
            changes[where] = ("tile:" + hand,)
    else:
        i = board.index[action.site]
        taken, where = draft.tiles[i], action.site
        laid = _laid_tile(draft.state, action, p)
        draft.tiles[i] = laid
        changes[where] = draft.contents(i)
    draft.hands[p] = taken
    draft.steps.append(
        Step(
            say(
                "{seat} lays {tile} on {site}",
                seat=seat,
                site=where or "",
                tile=tile_name(laid or "?/?"),
            ),
            changes,
            True,
        )
    )
    if p < len(board.hands) and taken and "?" not in taken:
        text = say(
            "lay {tile} beside the square as the hand tile of {seat}",
            tile=tile_name(taken),
            seat=seat,
        )
        draft.steps.append(Step(text, {board.hands[p]: ("tile:" + taken,)}))
    if draft.state.phase == "swap":
        _next_first_swap(draft)
    else:
        _end_turn(draft)


def _laid_tile(state: Position, action: a.Swap, p: int) -> str:
    """The hand tile as it lies after the swap; the back of an unseen one may stay unknown."""
    hand = state.hands[p]
    if hand and "?" not in hand:
        return turned_tile(hand, action.face)
    both = state.known(p) | {action.face} | ({action.back} if action.back else set())
    return f"{action.face}/{next((d for d in DOMAINS if d in both and d != action.face), '?')}"


def _end_turn(draft: Draft) -> None:
    state = draft.state
    after = (state.mover + 1) % len(state.seats)
    draft.values.update(mover=after, used=(), bonus=None, built=0, returned=False)
    if after == state.starter and sum(draft.zig) >= draft.board.ziggurats > 0:
        draft.values.update(phase="over", end="U24")


def _do_agriculture(draft: Draft, action: a.Agriculture, p: int) -> None:
    losses = harvest_losses(draft.state, p)
    seat = seat_name(action.seat)
    text = (
        say(
            "{seat} uses agriculture: {stones}",
            seat=seat,
            stones=_placed_stones(action.stones, action.seat),
        )
        if action.stones
        else say("{seat} uses agriculture", seat=seat)
    )
    draft.place(text, p, action.stones)
    for i in losses:
        draft.add(i, p, -1)
        draft.follows(take_off(action.seat, 1, draft.board.sites[i]), i)
    _use_up(draft, "agriculture")


def _do_trade(draft: Draft, action: a.Trade, p: int) -> None:
    seat = seat_name(action.seat)
    text = (
        say(
            "{seat} uses trade: {stones}",
            seat=seat,
            stones=_placed_stones(action.stones, action.seat),
        )
        if action.stones
        else say("{seat} uses trade", seat=seat)
    )
    draft.place(text, p, action.stones)
    _use_up(draft, "trade")


def _do_culture(draft: Draft, action: a.Culture, p: int) -> None:
    draft.do(say("{seat} uses culture", seat=seat_name(action.seat)))
    for i, n in culture_gains(draft.state, p, action.stones).items():
        q = draft.owner[i]
        draft.add(i, q, n)
        draft.follows(lay_more(draft.seats[q], n, draft.board.sites[i]), i)
    _use_up(draft, "culture")


def culture_gains(state: Position, p: int, chosen: a.Stones = ()) -> dict[int, int]:
    """place -> stones that culture lays there; `chosen` decides where an owner is short (U15,
    U32)."""
    gains = culture_needs(state, p)
    short = short_of(state, gains)
    if not short:
        return gains
    picked = {state.board.index[s]: n for s, n in chosen}
    for i, n in list(gains.items()):
        q = state.owner[i]
        if q in short:
            gains[i] = picked.get(i, 0) if chosen else min(n, short[q])
            short[q] -= gains[i]
    return {i: n for i, n in gains.items() if n}


def _do_politics(draft: Draft, action: a.Politics, p: int) -> None:
    index = draft.board.index
    for source, target, n in action.moves:
        draft.count[index[source]] -= n
        draft.count[index[target]] += n
    places = sorted({index[s] for x, y, _ in action.moves for s in (x, y)})
    for i in places:
        draft.owner[i] = p if draft.count[i] else -1
    parts = [
        say(
            "{stones} from {source} to {target}",
            stones=stones_words(action.seat, n),
            source=x,
            target=y,
        )
        for x, y, n in action.moves
    ]
    seat = seat_name(action.seat)
    draft.do(
        say("{seat} uses politics: {moves}", seat=seat, moves=listed_texts(parts))
        if parts
        else say("{seat} uses politics", seat=seat),
        *places,
    )
    _use_up(draft, "politics")


def _do_war(draft: Draft, action: a.War, p: int) -> None:
    """First the stones that move stand beside those attacked; then those are removed, and the price
    is paid (U35)."""
    i, j = draft.board.index[action.source], draft.board.index[action.target]
    cost, q, n = war_cost(draft.state, i, j), draft.owner[j], draft.count[j]
    defenders = draft.contents(j)
    draft.add(i, p, -action.stones)
    draft.owner[j], draft.count[j] = p, action.stones
    text = say(
        "{seat} attacks {target} from {source} with {stones}",
        seat=seat_name(action.seat),
        target=action.target,
        source=action.source,
        stones=stones_words(action.seat, action.stones),
    )
    both = (*defenders, *draft.contents(j)[1:])
    draft.do(text, i, **{action.target: both})
    if n:
        draft.follows(take_off(draft.seats[q], n, action.target), j)
    if cost:
        draft.add(i, p, -cost)
        draft.follows(take_off(action.seat, cost, action.source), i)
    _use_up(draft, "war")


def _do_extra(draft: Draft, action: a.Extra, p: int) -> None:
    text = say(
        "{seat} puts extra: {stones}",
        seat=seat_name(action.seat),
        stones=_placed_stones(action.stones, action.seat),
    )
    draft.place(text, p, action.stones)
    had = draft.state.bonus[2] if draft.state.bonus else 0
    site, n = action.stones[0]
    draft.values["bonus"] = ("extra", draft.board.index[site], had + n)


def _do_settle(draft: Draft, action: a.Settle, p: int) -> None:
    draft.place(
        say("{seat} settles {site}", seat=seat_name(action.seat), site=action.site),
        p,
        ((action.site, 1),),
    )
    draft.values["bonus"] = ("settle", draft.board.index[action.site], 1)


def _do_ziggurat(draft: Draft, action: a.Ziggurat, p: int) -> None:
    """The marker is placed, the stones are removed, one goes on top (U17)."""
    places = [draft.board.index[s] for s in action.sites]
    seat, colour = seat_name(action.seat), colour_name(action.seat)
    marked = {}
    for i in places:
        kind, *below = draft.contents(i)
        marked[draft.board.sites[i]] = (kind, "ziggurat", *below)
    draft.do(say("{seat} builds on {sites}", seat=seat, sites=" ".join(action.sites)), **marked)
    for i in places:
        site, n = draft.board.sites[i], draft.count[i]
        draft.zig[i], draft.owner[i] = True, -1
        draft.follows(take_off(action.seat, n, site), i)
        draft.owner[i], draft.count[i] = p, 1
        draft.follows(
            say("one {colour} stone on the ziggurat on {site}", colour=colour, site=site), i
        )
    draft.values["built"] = draft.state.built + len(places)


def _do_return(draft: Draft, action: a.Return, p: int) -> None:
    draft.place(
        say("{seat} comes back on {site}", seat=seat_name(action.seat), site=action.site),
        p,
        ((action.site, RETURNING),),
    )
    draft.values["returned"] = True


_DO: dict[type[Action], Callable[[Draft, Any, int], None]] = {
    a.Put: _do_put,
    a.Pass: _do_pass,
    a.Swap: _do_swap,
    a.Agriculture: _do_agriculture,
    a.Trade: _do_trade,
    a.Culture: _do_culture,
    a.Politics: _do_politics,
    a.War: _do_war,
    a.Extra: _do_extra,
    a.Settle: _do_settle,
    a.Ziggurat: _do_ziggurat,
    a.Return: _do_return,
}
