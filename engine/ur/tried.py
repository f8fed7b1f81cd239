"""A guess tried against the rules: what part of it is legal, what it leaves of the difference, how
good it is."""

from __future__ import annotations

from collections.abc import Iterable

from engine.game import Action, Violation
from engine.layout import Contents, canonical_contents, lies_between
from engine.ur import actions as a
from engine.ur import effects
from engine.ur.checks import check_action
from engine.ur.domains import culture_needs, short_of
from engine.ur.position import Position
from engine.ur.seen import Seen

# nats, for choosing among the guesses made here; the reconciler has its own price for a site
UNDONE, HALF = 0.75, 3.0
# each further one, since somebody who has only laid stones so far has taken none off yet
UNDONE_TOO = 0.05
WRONG = 2.5  # a tile, or the stones on it
OVERDONE = 1.5  # a legal action where more lies than it puts there
# a run with consequences left undone; twice as much if another run leaves nothing at all
BEHIND = 1.0
# ... and nothing that hands do first: culture is nothing but consequences, laid one after the other
BEGUN = 0.5
WAIVED = 1.0  # both actions waived and the swap not made yet; a look after a whole turn is simpler
UNSEEN_STONES = 1.5  # stones laid that merely replace those that had to be taken off

Left = dict[str, tuple[Contents, Contents]]


class Tried:
    """A run that has been tried: what was legal of it, what is left of the difference, and what
    forbade the rest."""

    def __init__(self, state: Position, seen: Seen, actions: Iterable[Action], cost: float) -> None:
        self.actions: list[Action] = []
        self.cost = cost
        self.broken: tuple[Action, list[Violation]] | None = None
        self.at = state
        shown: dict[str, dict[Contents, float]] = {}
        by_hand: set[str] = set()
        hands = False
        for action in actions:
            action = named_culture(self.at, action, seen)
            violations = check_action(self.at, action)
            if violations:
                self.broken = (action, violations)
                break
            before = self.at
            self.at = effects.apply_action(before, action)
            self.actions.append(action)
            for step in self.at.steps:
                for site in step.changes:
                    i = self.at.board.index.get(site)
                    if step.by_hand:
                        by_hand.add(site)
                        hands = True
                    price = HALF if step.by_hand else UNDONE
                    was = shown.setdefault(site, {})
                    if not was and i is not None:
                        was[canonical_contents(before.contents(i), "cluster")] = price
                    elif was:
                        last = next(reversed(was))
                        was[last] = min(was[last], price)
                    was[canonical_contents(step.changes[site], "cluster")] = price
        self.left: Left = seen.mismatch(self.at)
        self.wrong = 0.0
        self.undone = 0
        for site, (have, want) in self.left.items():
            wrong = WRONG * ((have[:1] != want[:1]) + (have[1:] != want[1:]))
            on_the_way = any(
                p == UNDONE and lies_between(c, want, have) for c, p in shown.get(site, {}).items()
            )
            price = min(shown.get(site, {}).get(want, UNDONE if on_the_way else wrong), wrong)
            self.wrong += price
            self.undone += price == UNDONE
            if site in by_hand and len(want) > len(have) and want not in shown[site]:
                self.cost += OVERDONE
                by_hand.clear()
        self.wrong -= max(0, self.undone - 2) * (UNDONE - UNDONE_TOO)
        over = bool(self.actions) and isinstance(self.actions[-1], a.Swap)
        if self.undone:  # a seat that has gone on believes it has done everything
            gone_on = over or isinstance(self.actions[-1], a.Extra)
            self.cost += 2 * BEHIND if gone_on else BEHIND if hands else BEGUN
        if self.at.bonus and not self.at.used and not state.bonus:
            self.cost += WAIVED
        laid = {
            site
            for x in self.actions
            if isinstance(x, (a.Extra, a.Trade, a.Agriculture))
            for site, _ in x.stones
        }
        if not over and not laid <= set(seen.raw):
            self.cost += UNSEEN_STONES
        self.value = self.cost + len(self.actions) + self.wrong

    def board(self) -> tuple:
        """What the board looks like, to recognise positions met before."""
        s = self.at
        return s.tiles, s.owner, s.count, s.zig, s.mover, s.phase


def named_culture(state: Position, action: Action, seen: Seen) -> Action:
    """The culture action with the stones of owners who are short of them where they are seen
    (U15)."""
    if not isinstance(action, a.Culture) or action.seat not in state.seats:
        return action
    needs = culture_needs(state, state.seats.index(action.seat))
    short = short_of(state, needs)
    chosen: list[tuple[str, int]] = []
    for q, there in short.items():
        places = [i for i in needs if state.owner[i] == q]
        more = {i: min(needs[i], max(0, seen.number(i, q) - state.count[i])) for i in places}
        for wanted in (more, needs):
            for i in places:
                had = sum(n for s, n in chosen if s == state.board.sites[i])
                n = min(wanted[i] - had, there)
                if n > 0:
                    chosen.append((state.board.sites[i], n))
                    there -= n
    return a.Culture(action.seat, a.canonical_stones(chosen, state.board))


def best_tried(tried: list[Tried]) -> list[Tried]:
    """Likeliest first; of several ways to the same board, the one that needs least."""
    out, known = [], set()
    for t in sorted(tried, key=lambda t: t.value):
        if t.board() not in known:
            known.add(t.board())
            out.append(t)
    return out
