"""How a game's actions are written: each type declares its verb and its parts once, for both
reading and printing.

    class Tile(Action, frozen=True):
        colour: str
        site: str
        syntax = Syntax("tile", one("colour", colour), one("site", site), usage="tile COLOUR SITE")

`colour(word, said)` turns a word into a value; `said` is what a game's readers need to know about
the table (its board, who is speaking).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class UsageError(ValueError):
    """Words that do not fit their verb; the message says how it is used."""


class Part(NamedTuple):
    """Some of an action's fields and the words that express them, `least` to `most` of them.

    read(words, said): takes its words off the front of the list and returns the fields' values.
    Raises UsageError, or the game's BadText. write(action): the words; "" for none.
    """

    names: tuple[str, ...]
    read: Callable[[list[str], Any], tuple[Any, ...]]
    write: Callable[[Any], str]
    least: int = 0
    most: float = inf


def one_word(name: str, read: Callable[[str, Any], Any], write: Callable[[Any], str] = str) -> Part:
    """A part of one word for one field. write: turns the field's value into a word."""
    return Part(
        (name,),
        lambda words, said: (read(words.pop(0), said),),
        lambda action: write(getattr(action, name)),
        1,
        1,
    )


def several_words(
    name: str, read: Callable[[list[str], Any], Any], write: Callable[[Any], str], least: int = 0
) -> Part:
    """A part that takes all remaining words for one field. write: turns the field's value into
    words."""

    def read_all(words: list[str], said: Any) -> tuple[Any]:
        mine = words.copy()
        words.clear()
        return (read(mine, said),)

    return Part((name,), read_all, lambda action: write(getattr(action, name)), least)


class Syntax:
    """A verb and its parts, in the order they are said. usage: the reply to too few or too many
    words ({n}: how many there were)."""

    def __init__(self, verb: str, *parts: Part, usage: str) -> None:
        self.verb, self.parts, self.usage = verb, parts, usage
        self.names = [name for part in parts for name in part.names]
        self.least = sum(part.least for part in parts)
        self.most = sum(part.most for part in parts)

    def write(self, action: Any) -> str:
        """The action in words, without its seat."""
        words = [part.write(action) for part in self.parts]
        return " ".join([self.verb, *[word for word in words if word]])

    def read(self, words: Sequence[str], said: Any) -> dict[str, Any]:
        """The fields' values by name. Raises UsageError, and whatever the parts raise."""
        if not self.least <= len(words) <= self.most:
            raise UsageError(self.usage.format(n=len(words)))
        left, values = list(words), list[Any]()
        for part in self.parts:
            values += part.read(left, said)
        if left:
            raise UsageError(self.usage.format(n=len(words)))
        return dict(zip(self.names, values))


class Notation(Generic[T]):
    """The types of action a game has, by verb; each has its `syntax`."""

    def __init__(self, sorts: Iterable[type[T]]) -> None:
        self.sorts: dict[str, type[T]] = {sort.syntax.verb: sort for sort in sorts}  # type: ignore[attr-defined]

    def read(self, verb: str, seat: str, words: Sequence[str], said: Any) -> T:
        """The action that a seat states with a known verb. Raises UsageError, and whatever the
        parts raise."""
        sort: Any = self.sorts[verb]
        return sort(seat, **sort.syntax.read(words, said))
