"""The states that an explanation may begin with: the present one, and earlier ones if something
done since may have to be taken back."""

from __future__ import annotations

from collections import Counter

from companion.explain.hypothesis import (
    LIFTED,
    NOTICED,
    REGUESS,
    SUPPOSED,
    TAKE_BACK,
    Look,
    Past,
    done_by,
)
from engine import State
from engine.layout import Layout


def starting_points(
    past: Past, look: Look, guessed: frozenset[int], said: frozenset[int]
) -> list[tuple[State, int, float]]:
    """The state now, and earlier ones that a correction may go back to: (state, how many events
    that takes back, the cost in nats), newest first.

    An earlier state is among them if, since then,

    - what people's hands did no longer lies there as they left it (somebody who leaves a piece
      where it is takes nothing back);
    - it was only guessed how a seat came to what lies there, and no other seat has acted since;
    - what should have followed lies differently, and the seat may have chosen another way of doing
      the same;
    - a piece was taken off the board that somebody may only now be putting down, or was laid there
      and only now picked up elsewhere.
    """
    now, newest = past[0][0], (past[0][1] or "").partition(":")[0]
    points = [(now, 0, 0.0)]
    gone, own, lifted = False, True, False
    for n, ((after, action), (before, _)) in enumerate(zip(past, past[1 : len(TAKE_BACK)])):
        if action is None:
            break
        event = _Event(before, after, action, n in said, n in guessed)
        here = event.is_gone(look, now)
        gone = gone or here
        own = own and event.guessed and event.seat == newest
        # past the newest event, a lifted piece only leads back over events that nobody could see
        lifted = event.is_lifted(look) if n == 0 else lifted and event.is_invisible
        if (
            here
            or own
            and event.by_hand
            or gone
            and (not event.by_hand or event.left_a_decision)
            or event.was_chosen_otherwise(look, now, own)
            or lifted
        ):
            cost = TAKE_BACK[n + 1]
            if lifted:
                cost = LIFTED - n * SUPPOSED
            elif own and not here:
                cost = REGUESS
            points.append((before, n + 1, cost))
    return points


class _Event:
    """An action that stands, the states before and after it, and what the board may show of it.

    said: people stated it; guessed: it was one of several ways to the same board.
    """

    def __init__(self, before: State, after: State, action: str, said: bool, guessed: bool) -> None:
        self.before, self.after, self.action = before, after, action
        self.said, self.guessed = said, guessed
        self.seat = action.partition(":")[0]
        self.by_hand = done_by(after, hands=True)

    @property
    def consequences(self) -> Layout:
        """What followed automatically, if that is all that the board shows of the action."""
        return {} if self.by_hand else done_by(self.after, hands=False)

    @property
    def is_invisible(self) -> bool:
        """Whether nobody stated it and the board shows nothing of it."""
        return not (self.said or self.by_hand or done_by(self.after, hands=False))

    @property
    def left_a_decision(self) -> bool:
        """Whether somebody had to decide something after it; not if people stated it."""
        return not self.said and self.after.decision() is not None

    def is_gone(self, look: Look, now: State) -> bool:
        """Whether what hands did no longer lies there; an action of which only consequences show is
        judged by these, unless people stated it or it was guessed."""
        certain = not (self.said or self.guessed)
        shown = self.consequences if certain and self.consequences else self.by_hand
        return _lies_otherwise(shown, look, self.after, now)

    def is_lifted(self, look: Look) -> bool:
        """Whether a piece of it is being moved on just now."""
        return not self.said and (
            _put_down_now(self.before, self.after, look)
            or _taken_up_now(self.before, self.after, look)
        )

    def was_chosen_otherwise(self, look: Look, now: State, own: bool) -> bool:
        """Whether the seat may have done the same in another way. own: only this seat's guessed
        actions have followed."""
        follows = self.consequences if self.guessed else {}
        if follows and (own or _lies_otherwise(follows, look, self.after, now)):
            if _had_a_choice(self.before, self.action):
                return True
        return not self.said and _meant_otherwise(
            self.before, self.after, self.action, self.by_hand, look, now
        )


def _put_down_now(before: State, after: State, look: Look) -> bool:
    """Whether people only took something off the board, by an action or by consequences they had
    carried out so far, and all of it now lies elsewhere."""
    lay, here = before.layout(), after.layout()
    done = done_by(after, hands=True) or {
        s: c
        for s, c in done_by(after, hands=False).items()
        if look.logp(s, c) > look.logp(s, lay.get(s, ()))
    }
    if not done or any(Counter(c) - Counter(lay.get(s, ())) for s, c in done.items()):
        return False
    taken = Counter(k for s in done for k in lay.get(s, ())) - Counter(
        k for c in done.values() for k in c
    )
    more: Counter[str] = Counter()
    for s in look.evidence.sites.keys() - done.keys():
        seen = Counter(look.best(s) or ())
        more += seen - (Counter(here.get(s, ())) | Counter(lay.get(s, ())))
    return bool(taken) and not taken - more


def _taken_up_now(before: State, after: State, look: Look) -> bool:
    """Whether people only put something on the board, and just such pieces are now missing from
    other sites without having appeared on a third: laid at the new place first, and only now picked
    up from the old one."""
    lay, here, done = before.layout(), after.layout(), done_by(after, hands=True)
    if not done or any(Counter(lay.get(s, ())) - Counter(c) for s, c in done.items()):
        return False
    laid = Counter(k for c in done.values() for k in c) - Counter(
        k for s in done for k in lay.get(s, ())
    )
    less: Counter[str] = Counter()
    more: Counter[str] = Counter()
    for s in look.evidence.sites.keys() - done.keys():
        if (seen := look.best(s)) is not None:
            less += Counter(here.get(s, ())) - Counter(seen)
            more += Counter(seen) - Counter(here.get(s, ()))
    return bool(laid) and not laid - (less - more)


def _lies_otherwise(done: Layout, look: Look, *states: State) -> bool:
    """Whether one of these sites shows neither these contents nor what became of them automatically
    in one of the states."""
    return any(
        look.logp(s, c) < -NOTICED
        and not any(look.logp(s, x.layout().get(s, ())) >= -NOTICED for x in states)
        for s, c in done.items()
    )


def _meant_otherwise(
    before: State, after: State, action: str, by_hand: Layout, look: Look, now: State
) -> bool:
    """Whether what followed automatically lies differently, and the hands' part may have been
    another action: a card was taken and nobody saw what it shows."""
    follows = done_by(after, hands=False)
    if not by_hand or not follows or not _lies_otherwise(follows, look, after, now):
        return False
    seat, _, words = action.partition(":")
    alike = (
        a
        for a in before.legal_actions()
        if a.seat == seat and str(a) != action and a.words().split()[:2] == words.split()[:2]
    )
    return any(done_by(before.apply(a), hands=True) == by_hand for a in alike)


def _had_a_choice(state: State, action: str) -> bool:
    """Whether the seat could have done the same in more than one way."""
    seat, _, words = action.partition(":")
    kind = words.split()[0]
    return sum(a.seat == seat and a.words().split()[0] == kind for a in state.legal_actions()) > 1
