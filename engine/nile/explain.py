"""Which actions, legal or not, could have made a difference between two layouts: the guesses that
the reconciler tries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

import msgspec

from engine.game import Action, Proposal, Violation
from engine.layout import Contents
from engine.nile import actions as act
from engine.nile import wrong
from engine.nile.ahead import (
    EARLIER,
    HARDLY,
    JOKER,
    LAPSED,
    OUT_OF_TURN,
    UNASKED,
    UNSAID,
    Later,
    moments_ahead,
)
from engine.nile.board import Board, waves_on
from engine.nile.clues import Clues
from engine.nile.effects import free_place
from engine.nile.flow import POINTS
from engine.nile.moment import Moment
from engine.nile.position import SETUP, Position, Wait
from engine.nile.traces import back_again, completed_places, possible_events

MOST = 48  # proposals handed on


def explain_difference(
    state: Moment, difference: Mapping[str, tuple[Contents, Contents]]
) -> list[Proposal]:
    """Guesses at what was done, likeliest first (`State.explain`)."""
    diff = {s: c for s, c in difference.items() if not state.shows_same(s, *c, "cluster")}
    if not diff or state.p.phase == "over":
        return (
            []
            if not diff
            else list(wrong.wrong_guesses(state.p, state.board, Clues(state.board, diff)))
        )
    clues = Clues(state.board, diff)
    guesser = Guesser(state, clues)
    found = [*guesser.guesses(), *wrong.wrong_guesses(state.p, state.board, clues)]
    out: dict[tuple, Proposal] = {}
    for g in found:
        if g.changes and g.cost >= HARDLY:
            continue
        key = (
            tuple(map(str, g.actions)),
            tuple(sorted(g.changes)),
            tuple(v.rule for v in g.violations),
        )
        if key not in out or g.cost < out[key].cost:
            out[key] = g
    return sorted(out.values(), key=lambda g: g.cost + 6.0 * bool(g.changes))[:MOST]


class Guesser:
    """Guesses about one difference. `later`: the moments that people may have reached without a
    word."""

    def __init__(self, state: Moment, clues: Clues) -> None:
        self.state, self.clues = state, clues
        self.p: Position = state.p
        self.board: Board = state.board
        self.later = list(moments_ahead(state))

    def guesses(self) -> Iterator[Proposal]:
        """All guesses, legal ones first."""
        if self.p.phase in SETUP or self.p.asif:
            yield from self._first_round()
        yield from self._passes()
        yield from self._tide_cards()
        yield from self._waiting()
        yield from self._fields()
        yield from self._harvests()
        yield from self._boat()
        for site in self.clues.fresher:
            yield from self._by_turn(partial(act.Freshen, site=site), site)
        if self.clues.diff.get("desert-stock", ((), "?"))[1] == () and self.p.deserts == 1:
            # the last card of the stock is the only one whose absence shows
            yield from self._by_turn(act.Joker)

    def _try(
        self,
        moment: Later,
        run: tuple[Action, ...],
        sites: Iterable[str],
        cost: float = 0.0,
        illegal: bool = True,
    ) -> tuple[Proposal | None, bool]:
        """(a proposal for a run begun at that moment, whether it is legal). Jokers are given up
        where points are lacking."""
        state, done = moment.state, list(moment.run)
        cost += moment.cost
        for action in run:
            broken, before = state.check(action), (tuple(done), cost)
            while broken and (spend := _joker_instead(state, action, broken)):
                done.append(spend)
                cost += JOKER
                state = state.apply(spend)
                broken = state.check(action)
            if broken:
                if not illegal:
                    return None, False
                # nobody gives up a joker for something that breaks a rule anyway
                done, cost = list(before[0]), before[1]
                changes = self.clues.seen(*sites)
                return (Proposal((*done, action), changes, (), cost) if changes else None), False
            done.append(action)
            state = state.apply(action)
        return Proposal(tuple(done), {}, (), cost), True

    def _first_that_may(self, action: Action, *sites: str, cost: float = 0.0) -> Iterator[Proposal]:
        """The action at the first moment at which it is legal; otherwise as a broken rule, in its
        seat's turn if that is near, or immediately. If several players would have had to skip a
        whole turn for it, it may just as well have been done out of turn."""
        refused: list[tuple[bool, Proposal]] = []
        for moment in self.later:
            if _not_yet(moment.state, action.seat):
                continue
            guess, legal = self._try(moment, (action,), sites, cost)
            if guess is None:
                continue
            if legal:
                yield guess
                if moment.cost >= 2 * LAPSED[POINTS]:
                    yield from self._at_once(action, sites, cost)
                return
            refused.append((moment.state.turn != action.seat, guess))
        if refused:
            yield min(refused, key=lambda r: (r[0], r[1].cost))[1]
        yield from self._at_once(action, sites, cost + (OUT_OF_TURN if refused else 0.0))

    def _at_once(self, action: Action, sites: Iterable[str], cost: float) -> Iterator[Proposal]:
        guess, legal = self._try(self.later[0], (action,), sites, cost)
        if guess and not legal:
            yield guess

    def _legal_only(self, action: Action, cost: float) -> Iterator[Proposal]:
        """The action at the first moment at which it is legal, if any: seen half done, or done and
        cleared away by a scoring."""
        for moment in self.later:
            if not _not_yet(moment.state, action.seat):
                guess, legal = self._try(moment, (action,), (), cost, illegal=False)
                if guess and legal:
                    yield guess
                    return

    def _by_turn(
        self, make: Callable[[str], Action], *sites: str, cost: float = 0.0
    ) -> Iterator[Proposal]:
        """An action that any seat could do: by the seat whose turn it is now, and by those that
        follow."""
        refused = None
        for moment in self.later:
            seat = moment.state.turn
            if (
                seat is None
                or not moment.state.p.wait
                and moment.state.p.phase not in ("actions", "extra")
            ):
                continue
            guess, legal = self._try(moment, (make(seat),), sites, cost)
            if guess and legal:
                yield guess
                return
            refused = refused or guess
        if refused is None:
            refused, _ = self._try(
                self.later[0], (make(self.state.turn or self.p.seats[0]),), sites, cost
            )
        if refused:
            yield refused

    def _passes(self) -> Iterator[Proposal]:
        """Passes alone, if what follows from them is what is seen: a scoring or the beginning of
        one (the boat is emptied before its rows refill it), or the tide stone moved on. Not if the
        card just turned over may have moved the stone; then the passes come after that."""
        w = self.p.wait
        if (
            w
            and w.kind == "event"
            and self.clues.tide
            and any(
                True
                for _ in possible_events(
                    self.clues, self.p.tide, self.p, self.board, w.site, w.cause
                )
            )
        ):
            return
        for moment in self.later[1:]:
            if any(
                s in step.changes and self.state.shows_same(s, step.changes[s], seen, "cluster")
                for step in moment.way
                for s, (_, seen) in self.clues.diff.items()
            ):
                yield Proposal(moment.run, {}, (), moment.cost)

    def _tide_cards(self) -> Iterator[Proposal]:
        c = self.clues
        for site, pair in c.laid.items():
            have = self.clues.diff[site][0]
            if waves_on(have):
                continue
            for moment in self._tides():
                flood = act.Flood(moment.state.p.seats[moment.state.p.starter], site, pair)
                if have and have[0] == "desert":
                    yield from self._turned(moment, flood, site, "flood")
                yield from self._given(self._try(moment, (flood,), [site], _unasked_cost(moment)))
        for site in c.lifted:
            for moment in self._tides():
                ebb = act.Ebb(moment.state.p.seats[moment.state.p.starter], site)
                yield from self._turned(moment, ebb, site, "ebb")
                yield from self._given(self._try(moment, (ebb,), [site], _unasked_cost(moment)))

    @staticmethod
    def _given(guess: tuple[Proposal | None, bool]) -> Iterator[Proposal]:
        if guess[0]:
            yield guess[0]

    def _tides(self) -> list[Later]:
        """The moments at which a tide card can have been laid or removed: this phase 1 or the next;
        otherwise now, against the rules."""
        out = [
            m
            for m in self.later
            if m.state.p.phase == "tide" and not (m.state.p.wait and m.state.p.wait.kind != "event")
        ]
        if self.p.phase != "tide":
            out = [self.later[0], *out]
        return out

    def _turned(
        self, moment: Later, said: act.Flood | act.Ebb, site: str, cause: str
    ) -> Iterator[Proposal]:
        """The card's event, recognised by its result: the desert grown, fruit spoilt, the stone
        moved on. The board does not tell which of two cards it was, nor the order in which they
        were turned."""
        for picture, arrow, then in possible_events(
            self.clues, self.p.tide, moment.state.p, self.board, site, cause
        ):
            whole = msgspec.structs.replace(said, picture=picture, arrow=arrow)
            for more in ((), *back_again(self.clues, self.p.tide, moment.state.p, whole)):
                guess, legal = self._try(
                    moment, (whole, *then, *more), [site], _unasked_cost(moment), illegal=False
                )
                if guess and legal:
                    yield self._of_several(guess)

    def _of_several(self, guess: Proposal) -> Proposal:
        turned = (
            len(self.clues.lifted)
            + len(self.clues.laid)
            + (self.p.wait is not None and self.p.wait.kind == "event")
        )
        return msgspec.structs.replace(guess, certain=turned < 2)

    def _waiting(self) -> Iterator[Proposal]:
        """What the game is waiting for, as far as the board tells."""
        w = self.p.wait
        if w is None:
            return
        if w.kind == "event" and not self.p.open:
            yield from self._awaited_event(w)
        elif w.kind == "spoil":
            yield from self._awaited_spoiling()
        elif w.kind == "fist":
            yield from self._fists(self.state, ())
        elif w.kind in ("boat", "die"):  # what comes next will show who won the die roll
            yield from self._boats(self.state, ())

    def _awaited_event(self, w: Wait) -> Iterator[Proposal]:
        """The event of the card that has been turned over, or of the one turned over before it."""
        p, c, now = self.p, self.clues, self.later[0]
        starter = p.seats[p.starter]
        next_card = EARLIER if c.lifted or c.laid else 0.0
        for picture, arrow, then in possible_events(c, p.tide, p, self.board, w.site, w.cause):
            run = (act.Event(starter, picture, arrow), *then)
            guess, legal = self._try(now, run, (), next_card, illegal=False)
            if guess and legal:
                yield self._of_several(guess)
        if p.unsaid:
            events = possible_events(c, p.tide, p, self.board, p.unsaid, w.cause)
            for picture, arrow, _ in events:
                if picture == "desert":  # the row tells which of the two cards it was
                    earlier = act.Ebb(starter, p.unsaid, picture, arrow)
                    yield from self._given(self._try(now, (earlier,), (), illegal=False))
        if "hippo" in p.options and c.sold:
            hippo = act.Event(starter, "hippo")
            yield from self._fists(self.state.apply(hippo), (hippo,))

    def _awaited_spoiling(self) -> Iterator[Proposal]:
        """The fruits that spoil, of one row."""
        p, c = self.p, self.clues
        for row, places in c.worse.items():
            sites = [self.board.market[row][i - 1] for i in places]
            for chosen in completed_places(c, p, self.board, row, places):
                half = UNSAID * max(len(chosen) - len(places), 0)
                spoil = act.Spoil(p.seats[p.starter], row, chosen)
                yield from self._given(self._try(self.later[0], (spoil,), sites, half))

    def _fists(self, state: Moment, run: tuple[Action, ...]) -> Iterator[Proposal]:
        """Markers out of fists lie in the boat: each seat held what is seen there, the others
        nothing."""
        p = state.p
        for i, seat in enumerate(p.seats):
            if p.fists[i] == -1:
                n = sum(k for (colour, _), k in self.clues.sold.items() if colour == seat)
                fist = act.Fist(seat, n)
                if state.check(fist):
                    return
                run, state = (*run, fist), state.apply(fist)
        yield from self._boats(state, run)

    def _boats(self, state: Moment, run: tuple[Action, ...]) -> Iterator[Proposal]:
        p = state.p
        due = {w.seat: w.number for w in p.waiting if w.kind == "boat"} or dict(enumerate(p.bids))
        for i, number in due.items():
            seat = p.seats[i]
            fruits = [
                f for (colour, f), k in self.clues.sold.items() if colour == seat for _ in range(k)
            ]
            if fruits and len(fruits) == number:
                boat = act.Boat(seat, act.sort_fruits(fruits))
                if not state.check(boat):
                    run, state = (*run, boat), state.apply(boat)
        if run:
            yield Proposal(run)

    def _fields(self) -> Iterator[Proposal]:
        c = self.clues
        for site, colour, _ in c.turned_up:
            if colour in self.p.seats:
                yield from self._first_that_may(act.Grow(colour, site), site)
        if self.p.phase in SETUP and not self.p.asif:
            return
        for site, come in c.gained.items():
            for side, colour, fruit in come:
                if side == "seed" and colour in self.p.seats:
                    yield from self._first_that_may(act.Sow(colour, site, fruit), site)
                    yield from self._bought_first(colour, site, fruit)

    def _bought_first(self, colour: str, site: str, fruit: str) -> Iterator[Proposal]:
        """A marker that went straight from the boat to the field: bought, then sown."""
        i = self.p.seat(colour)
        if not self.clues.bought[colour, fruit] and self.p.owed[i] == self.p.lost[i]:
            return
        run = (act.Buy(colour, colour, fruit), act.Sow(colour, site, fruit))
        # nobody said what went from the fists into the boat
        cost = 0.0 if self.clues.bought[colour, fruit] else UNSAID
        for moment in self.later:
            guess, legal = self._try(moment, run, (), cost, illegal=False)
            if guess and legal:
                yield guess
                return

    def _harvests(self) -> Iterator[Proposal]:
        """Fruit that has gone from a field to the market, or is on its way there."""
        c, p, board = self.clues, self.p, self.board
        for site, gone in c.lost.items():
            if site in c.laid or site in c.desert_new:
                continue
            for side, colour, fruit in gone:
                if colour not in p.seats:
                    continue
                places = [s for s, m in c.stalled.items() if m[1:] == (colour, fruit)]
                for place in places:
                    row, _ = board.places[place]
                    for g in self._first_that_may(act.Harvest(colour, site, row), site, place):
                        broken = bool(g.changes)
                        if broken or place == free_place(p, row, board):
                            yield g
                        elif p.lay.get(place) or not all(
                            s in c.stalled for s in _nearer_places(p, board, row, place)
                        ):
                            yield wrong.wrong_place(c, site, place, free_place(p, row, board))
                if not places and side == "ripe":
                    for row in board.market:
                        yield from self._legal_only(act.Harvest(colour, site, row), UNSAID)

    def _boat(self) -> Iterator[Proposal]:
        for colour, fruit in self.clues.bought:
            if colour not in self.p.seats:
                continue
            own = act.Buy(colour, colour, fruit)
            guesses = list(self._first_that_may(own, "boat"))
            yield from guesses
            if "buy-others" in self.p.options or any(g.changes for g in guesses):
                buy = partial(act.Buy, colour=colour, fruit=fruit)
                yield from self._by_turn(buy, "boat", cost=UNSAID)

    def _first_round(self) -> Iterator[Proposal]:
        c, now = self.clues, self.later[0]
        seat = self.p.seats[self.p.turn]
        rows = dict.fromkeys(self.board.fields[s].row for s in c.cover_new)
        for row in rows:
            yield from self._given(self._try(now, (act.Cover(seat, row),), self.board.rows[row]))
        for site in c.desert_new:
            yield from self._given(self._try(now, (act.Desert(seat, site),), [site]))
        for moment in self.later:
            if moment.state.p.phase in SETUP or moment.state.p.asif:
                yield from self._laid_out(moment)

    def _laid_out(self, now: Later) -> Iterator[Proposal]:
        """Boat, water card and planting of the first round."""
        c, p = self.clues, now.state.p
        legal_only = now is not self.later[0]
        first = (
            [s for i, s in enumerate(p.seats) if p.fists[i] == -1]
            if p.wait and p.wait.kind == "die"
            else [p.seats[p.turn]]
        )
        runs: list[tuple[Action, list[str]]] = [
            (act.Water(seat, s, pair), [s]) for seat in first for s, pair in c.laid.items()
        ]
        for site, come in c.gained.items():
            runs += [
                (act.Plant(colour, site, side, fruit), [site])
                for side, colour, fruit in come
                if colour in p.seats
            ]
        for colour in dict.fromkeys(
            colour for colour, _ in c.sold if colour in p.seats and not p.wait
        ):
            fruits = [f for (other, f), k in c.sold.items() if other == colour for _ in range(k)]
            runs.append((act.Boat(colour, act.sort_fruits(fruits)), ["boat"]))
        for action, sites in runs:
            yield from self._given(self._try(now, (action,), sites, illegal=not legal_only))


def _not_yet(state: Moment, seat: str) -> bool:
    """Whether it is somebody else's turn, so that a guess about this seat has to wait for a later
    moment."""
    p = state.p
    if p.wait or p.phase not in ("actions", "extra"):
        return False
    return state.turn != seat and seat not in state.actors


def _unasked_cost(moment: Later) -> float:
    """The cost of supposing that another card was turned over before, of which nothing was seen:
    this card may rather have been the last one."""
    return UNASKED if (w := moment.state.p.wait) and w.kind == "event" else 0.0


def _joker_instead(state: Moment, action: Action, broken: list[Violation]) -> Action | None:
    """The joker, given up or bought, that would make up for missing points or jokers."""
    rules = {v.rule for v in broken}
    if rules == {"N36", "N64"} and isinstance(action, act.Freshen):
        joker = act.Joker(action.seat)
        return None if state.check(joker) else joker
    if (
        "N24" not in rules
        or rules - {"N24", "N26", "N27", "N28", "N63"}
        or state.turn != action.seat
    ):
        return None
    spend = act.Spend(action.seat)
    return None if state.check(spend) else spend


def _nearer_places(p: Position, board: Board, row: int, place: str) -> list[str]:
    """Free places of the row between the house wall and that one."""
    sites = board.market[row]
    return [s for s in sites[: sites.index(place)] if not p.lay.get(s)]
