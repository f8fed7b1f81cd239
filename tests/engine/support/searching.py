"""The reconciler's search without pictures: what is proposed is done, and `explain` is asked again
for what is left."""

from typing import NamedTuple

from engine import State


class Found(NamedTuple):
    """A run of actions and the state it leads to."""

    run: tuple
    state: State


def followed(state, actions):
    """The state after a run; None when one of it is not legal."""
    for a in actions:
        if state.check(a):
            return None
        state = state.apply(a)
    return state


def search(state, target, difference, width=8, depth=7, left=3):
    """The cheapest run of legal proposals after which `difference(state, target)` is empty; None:
    not found.

    `width`, `depth`: so many states are followed, so many proposals deep; `left`: what a site that
    still differs costs.
    """
    beam, known = [(0.0, Found((), state))], set()
    for _ in range(depth):
        found = []
        for cost, (run, here) in beam:
            unlike = difference(here, target)
            if not unlike:
                return Found(run, here)
            for p in here.explain(unlike):
                if p.violations or p.belated or not p.actions:
                    continue
                there = followed(here, p.actions)
                if there is not None and there.key() not in known:
                    known.add(there.key())
                    price = cost + p.cost + len(p.actions)
                    found.append(
                        (
                            price + left * len(difference(there, target)),
                            price,
                            Found(run + tuple(p.actions), there),
                        )
                    )
        beam = [f[1:] for f in sorted(found, key=lambda f: f[0])[:width]]
    return next((f for _, f in beam if not difference(f.state, target)), None)
