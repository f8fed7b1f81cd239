"""A layout is what lies where: `{site: (kinds...)}`, bottom first, empty sites left out
(docs/contracts.md, Plans and layouts)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

Contents = tuple[str, ...]
Layout = dict[str, Contents]

_FIRST = ("tile:", "water:")
_FIRST_WHOLE = frozenset({"desert", "cover"})


def lies_first(kind: str) -> bool:
    """Whether a kind is a tile or card, which on a cluster site lies below the loose pieces."""
    return kind.startswith(_FIRST) or kind in _FIRST_WHOLE


def same_contents(a: Iterable[str], b: Iterable[str], reads: str = "pile") -> bool:
    """Whether contents are equal, where "?" stands for anything below a pile's top, and the loose
    pieces of a cluster may come in any order."""
    a, b = tuple(a), tuple(b)
    if a == b:
        return True
    if len(a) != len(b) or not a:
        return False
    if reads == "cluster":
        if lies_first(a[0]) or lies_first(b[0]):
            return a[0] == b[0] and Counter(a[1:]) == Counter(b[1:])
        return Counter(a) == Counter(b)
    return a[-1] == b[-1] and all(x == y or "?" in (x, y) for x, y in zip(a[:-1], b[:-1]))


def lies_between(before: Contents, now: Contents, after: Contents) -> bool:
    """Whether contents are an intermediate stage between two others: of each kind that is added or
    removed, some but not more have been; all else is unchanged."""
    b, n, a = Counter(before), Counter(now), Counter(after)
    return all(min(b[k], a[k]) <= n[k] <= max(b[k], a[k]) for k in {*b, *n, *a})


def canonical_contents(contents: Iterable[str], reads: str = "pile") -> Contents:
    """The loose pieces of a cluster sorted, after its tile or card; piles unchanged."""
    contents = tuple(contents)
    if reads != "cluster" or len(contents) < 2:
        return contents
    if lies_first(contents[0]):
        return contents[:1] + tuple(sorted(contents[1:]))
    return tuple(sorted(contents))
