"""What people did, in sentences: nobody is shown notation without asking for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from engine import Action, IllegalAction, State, Text, say


def joined_texts(texts: Sequence[Text]) -> Text:
    """ "first; second; third" """
    out = texts[0]
    for text in texts[1:]:
        out = say("{first}; {next}", first=out, next=text)
    return out


def sentence_of(
    before: State, actions: Sequence[Action], without: Collection[int] = ()
) -> Text | None:
    """What hands did in a run of legal actions. without: indices of actions to leave out. None if
    there is nothing to say, or if an action is not legal there."""
    found: list[Text] = []
    state = before
    for n, action in enumerate(actions):
        try:
            state = state.apply(action)
        except IllegalAction:
            return None
        if n not in without:
            found += [step.text for step in state.steps if step.by_hand] or [
                say("{action}", action=str(action))
            ]
    return joined_texts(found) if found else None
