"""What a difference between two layouts shows piece by piece, before asking which action it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from engine.layout import Contents
from engine.nile.board import TIDES, Board, card_on, counted_markers, fruit_marker, waves_on

Marker = tuple[str, str, str]  # side, colour, fruit
BADNESS = {"ripe": 0, "seed": 1, "rotten": 2}


class Clues:
    """A difference taken apart.

    laid: field -> waves of a water card that is new there; lifted: fields whose water card is gone.
    desert_new, desert_gone, cover_new, cover_gone: fields. turned_up: (field, colour, fruit) of a
    seed that is ripe now; turned_down: the other way. gained, lost: field -> markers added or
    removed. sold, bought: (colour, fruit) -> how many more or fewer the boat has. stalled: market
    place -> marker added; fetched: removed; worse: row -> places that spoilt, those from ripe to
    rotten counted twice (their sites); fresher: places turned back; odd: other places. tide: the
    part of the circle that the stone has moved to. stood: a figure, the obelisk or the tide stone
    that has left its place -> where it is seen (None: nowhere). astray: (site, kind) of pieces
    where none of their type belongs.
    """

    def __init__(self, board: Board, diff: Mapping[str, tuple[Contents, Contents]]) -> None:
        self.board, self.diff = board, diff
        self.laid: dict[str, str] = {}
        self.lifted: list[str] = []
        self.desert_new: list[str] = []
        self.desert_gone: list[str] = []
        self.cover_new: list[str] = []
        self.cover_gone: list[str] = []
        self.turned_up: list[tuple[str, str, str]] = []
        self.turned_down: list[tuple[str, str, str]] = []
        self.gained: dict[str, list[Marker]] = {}
        self.lost: dict[str, list[Marker]] = {}
        self.sold: Counter[tuple[str, str]] = Counter()
        self.bought: Counter[tuple[str, str]] = Counter()
        self.stalled: dict[str, Marker] = {}
        self.fetched: dict[str, Marker] = {}
        self.worse: dict[int, list[int]] = {}
        self.twice: set[str] = set()
        self.fresher: list[str] = []
        self.odd: list[str] = []
        self.tide: str | None = None
        self.stood: dict[str, str | None] = {}
        self.astray: list[tuple[str, str]] = []
        for site, (have, seen) in diff.items():
            if site in board.fields:
                self._field(site, have, seen)
            elif site in board.places:
                self._stall(site, have, seen)
            elif site == "boat":
                before, now = counted_markers(have), counted_markers(seen)
                self.sold, self.bought = now - before, before - now
            elif site in TIDES and "tide" in seen and "tide" not in have:
                self.tide = site
            self._sorts(site, have, seen)

    def _field(self, site: str, have: Contents, seen: Contents) -> None:
        before, now = card_on(have), card_on(seen)
        if before != now:
            if now and waves_on(seen):
                self.laid[site] = now[6:]
            elif waves_on(have):
                self.lifted.append(site)
            for kind, new, old in (
                ("desert", self.desert_new, self.desert_gone),
                ("cover", self.cover_new, self.cover_gone),
            ):
                if now == kind:
                    new.append(site)
                elif before == kind and not waves_on(seen):
                    old.append(site)
        was, is_ = Counter(_markers_on(have)), Counter(_markers_on(seen))
        gone, come = was - is_, is_ - was
        for side, colour, fruit in list(gone):
            other = ("ripe" if side == "seed" else "seed", colour, fruit)
            if come[other] > 0:
                come[other] -= 1
                gone[side, colour, fruit] -= 1
                (self.turned_up if side == "seed" else self.turned_down).append(
                    (site, colour, fruit)
                )
        if gained := list(come.elements()):
            self.gained[site] = gained
        if lost := list(gone.elements()):
            self.lost[site] = lost

    def _stall(self, site: str, have: Contents, seen: Contents) -> None:
        before, after = (
            Counter(m for k in have if (m := fruit_marker(k))),
            Counter(m for k in seen if (m := fruit_marker(k))),
        )
        gone, come = list((before - after).elements()), list((after - before).elements())
        was, now = next(iter(gone), None), next(iter(come), None)
        if was and now and was[1:] == now[1:]:
            row, i = self.board.places[site]
            if BADNESS[now[0]] > BADNESS[was[0]]:
                self.worse.setdefault(row, []).append(i + 1)
                if BADNESS[now[0]] > BADNESS[was[0]] + 1:
                    self.twice.add(site)
            elif was[0] == "seed":
                self.fresher.append(site)
            else:
                self.odd.append(site)
        elif was and now:
            self.odd.append(site)
        elif now:
            self.stalled[site] = now
        elif was:
            self.fetched[site] = was

    def _sorts(self, site: str, have: Contents, seen: Contents) -> None:
        """Pieces recognised by their type alone: unique ones, and those that do not belong anywhere
        near."""
        before, now = Counter(have), Counter(seen)
        for kind in before - now:
            if stands_alone(kind):
                self.stood.setdefault(kind, None)
        for kind in now - before:
            if stands_alone(kind):
                self.stood[kind] = site
            elif not self._place_for(kind, site):
                self.astray.append((site, kind))

    def _place_for(self, kind: str, site: str) -> bool:
        """Whether a card or marker can lie there at all."""
        if fruit_marker(kind):
            return site in self.board.fields or site in self.board.places or site == "boat"
        return site in self.board.fields or kind == "desert" and site == "desert-stock"

    def seen(self, *sites: str) -> dict[str, Contents]:
        """What is seen on those of the sites that differ."""
        return {s: self.diff[s][1] for s in sites if s in self.diff}


def _markers_on(contents: Contents) -> list[Marker]:
    """The fruit markers; on a field, which way round one lies means nothing."""
    found = [m for k in contents if (m := fruit_marker(k))]
    return [("seed" if side == "rotten" else side, c, f) for side, c, f in found]


def stands_alone(kind: str) -> bool:
    """Whether the piece is unique and stands beside the fields: a figure, the obelisk, the tide
    stone."""
    return kind in ("obelisk", "tide") or kind.startswith("figure:")
