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
    """The state now, and the earlier ones a correction may go back to, each with how many events
    that takes back and what
    that costs: those after which what people's hands did does not lie there any more as they left
    it (who leaves a piece where it is takes nothing back; nor is what was only said; what only its
    consequences told is judged by these); those after which it was only guessed how a seat came to
    what lies there, as long as no other seat has done anything since; those after which what was to
    follow lies otherwise, where the seat may have chosen another way of doing the same; and that
    before a piece was taken off the board, which somebody may only now put down, or laid there and
    only now taken up elsewhere."""
    bases, gone, lifted = [(past[0][0], 0, 0.0)], False, False
    own, seat = True, (past[0][1] or "").partition(":")[0]
    for n, ((after, action), (before, _)) in enumerate(zip(past, past[1 : len(TAKE_BACK)])):
        if action is None:
            break
        by_hand = done_by(after, hands=True)
        by_itself = {} if by_hand else done_by(after, hands=False)
        told_by = by_itself if by_itself and n not in said | guessed else by_hand
        here = _lies_otherwise(told_by, look, after, past[0][0])
        gone = gone or here
        own = own and n in guessed and action.partition(":")[0] == seat
        follows = by_itself if n in guessed else {}
        chosen = (
            follows
            and (own or _lies_otherwise(follows, look, after, past[0][0]))
            and _had_a_choice(before, action)
        )
        anew = gone and n not in said and after.decision() is not None
        chosen = (
            chosen
            or n not in said
            and _meant_otherwise(before, after, action, by_hand, look, past[0][0])
        )
        if n == 0:
            lifted = n not in said and (
                _put_down_now(before, after, look) or _taken_up_now(before, after, look)
            )
        else:  # continues past events that nobody could see
            lifted = lifted and n not in said and not by_hand and not done_by(after, hands=False)
        if here or own and by_hand or gone and not by_hand or chosen or anew or lifted:
            bases.append(
                (
                    before,
                    n + 1,
                    LIFTED - n * SUPPOSED
                    if lifted
                    else REGUESS
                    if own and not here
                    else TAKE_BACK[n + 1],
                )
            )
    return bases


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
