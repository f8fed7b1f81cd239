"""A game as it was played: the set-up, every action, every state. Undo is going back in it."""

from __future__ import annotations

from collections.abc import Iterable

from engine.game import Action, State


class Record:
    """`states[0]` is the beginning and `states[i + 1]` follows `actions[i]`."""

    def __init__(self, start: State, actions: Iterable[Action | str] = ()) -> None:
        self.states: list[State] = [start]
        self.actions: list[Action] = []
        for a in actions:
            self.push(a)

    @property
    def state(self) -> State:
        return self.states[-1]

    def push(self, action: Action | str) -> State:
        """Applies it. Raises IllegalAction or BadText and changes nothing then."""
        if isinstance(action, str):
            action = self.state.parse(action)
        after = self.state.apply(action)
        self.actions.append(action)
        self.states.append(after)
        return after

    def undo(self, n: int = 1) -> State:
        """Takes the last n actions back. Raises IndexError when there are fewer."""
        if not 0 <= n <= len(self.actions):
            raise IndexError(f"cannot take back {n} of {len(self.actions)} actions")
        if n:
            del self.actions[-n:], self.states[-n:]
        return self.state
