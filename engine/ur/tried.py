"""A guess tried against the rules: what part of it is legal, what it leaves of the difference, how
good it is."""

from __future__ import annotations

from collections.abc import Iterable

from engine.game import Action, Step, Violation
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
        self.broken: tuple[Action, list[Violation]] | None = None
        self.at = state
        # site -> contents on the way -> the price if it still shows them
        self._shown: dict[str, dict[Contents, float]] = {}
        self._by_hand: set[str] = set()
        self._play(seen, actions)
        self.left: Left = seen.mismatch(self.at)
        prices = [self._price_of(site, have, want) for site, (have, want) in self.left.items()]
        self.undone = prices.count(UNDONE)
        self.wrong = sum(prices) - max(0, self.undone - 2) * (UNDONE - UNDONE_TOO)
        self.cost = cost + self._run_cost(state, seen)
        self.value = self.cost + len(self.actions) + self.wrong

    def _play(self, seen: Seen, actions: Iterable[Action]) -> None:
        """Does the actions up to the first that is illegal."""
        for action in actions:
            action = named_culture(self.at, action, seen)
            violations = check_action(self.at, action)
            if violations:
                self.broken = (action, violations)
                return
            before = self.at
            self.at = effects.apply_action(before, action)
            self.actions.append(action)
            for step in self.at.steps:
                self._note_step(before, step)

    def _note_step(self, before: Position, step: Step) -> None:
        """Notes what the sites of a step may show while it is not done yet."""
        price = HALF if step.by_hand else UNDONE
        for site, contents in step.changes.items():
            if step.by_hand:
                self._by_hand.add(site)
            shown = self._shown.setdefault(site, {})
            i = self.at.board.index.get(site)
            if shown:
                last = next(reversed(shown))
                shown[last] = min(shown[last], price)
            elif i is not None:
                shown[canonical_contents(before.contents(i), "cluster")] = price
            shown[canonical_contents(contents, "cluster")] = price

    def _price_of(self, site: str, have: Contents, want: Contents) -> float:
        """The price of a site that shows `want` where the run leads to `have`."""
        wrong = WRONG * ((have[:1] != want[:1]) + (have[1:] != want[1:]))
        shown = self._shown.get(site, {})
        on_the_way = any(
            price == UNDONE and lies_between(contents, want, have)
            for contents, price in shown.items()
        )
        return min(shown.get(want, UNDONE if on_the_way else wrong), wrong)

    def _run_cost(self, state: Position, seen: Seen) -> float:
        """What makes the run as a whole less likely."""
        cost = 0.0
        if any(
            site in self._by_hand and len(want) > len(have) and want not in self._shown[site]
            for site, (have, want) in self.left.items()
        ):
            cost += OVERDONE
        last = self.actions[-1] if self.actions else None
        if self.undone:  # a seat that has gone on believes it has done everything
            if isinstance(last, (a.Swap, a.Extra)):
                cost += 2 * BEHIND
            else:
                cost += BEHIND if self._by_hand else BEGUN
        if self.at.bonus and not self.at.used and not state.bonus:
            cost += WAIVED
        laid = {
            site
            for action in self.actions
            if isinstance(action, (a.Extra, a.Trade, a.Agriculture))
            for site, _ in action.stones
        }
        if not isinstance(last, a.Swap) and not laid <= set(seen.raw):
            cost += UNSEEN_STONES
        return cost

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
