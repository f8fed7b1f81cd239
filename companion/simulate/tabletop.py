"""Lays out a layout on a simulated table as people would: crooked, off the middle, loose pieces
side by side."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from companion.simulate.samples import spanned_sites
from engine.art import Art
from engine.layout import lies_first
from hardware import props
from hardware.scene import Scene, Thing, card_places
from vision.plan import Piece, Plan, Site

Contents = tuple[str, ...]
# least distance of a piece's middle from its site's edge, as a share of half its smaller side;
# attempts to achieve it
ON_SITE, TRIES = 0.6, 30


class Tabletop:
    """Pieces on a table. `lay` changes only the sites whose contents change: pieces that nobody
    touches stay where they are.

    sloppiness: 0 exact, 1 as people lay pieces down. wandering: mm that a marker card may be off
    its place.
    """

    def __init__(
        self,
        plan: Plan,
        art: Art,
        seed: int = 0,
        sloppiness: float = 1.0,
        cards: bool = True,
        table: str = "wood",
        tint: str = "#8a6248",
        paper: float = 0.5,
        grain: float = 0.0,
        wandering: float = 1.2,
    ) -> None:
        self.plan, self.art, self.sloppiness = plan, art, sloppiness
        self.rng = random.Random(seed)
        self._lying: dict[str, list[tuple[str, Thing]]] = {}
        looks = {
            p.kind: art.solid(p.kind, p.size, p.height or None) for p in plan.piece if not p.looks
        }
        looks |= {name: make() for name, make in props.PROPS.items()}
        places = (
            [
                (
                    x + self.rng.gauss(0, wandering),
                    y + self.rng.gauss(0, wandering),
                    self.rng.gauss(0, wandering),
                )
                for x, y in card_places(plan.size)
            ]
            if cards
            else []
        )
        self._scene = Scene(
            plan.size,
            art.board(plan),
            looks,
            cards=tuple(places),
            table=table,
            tint=tint,
            paper=paper,
            grain=grain,
            seed=seed,
        )
        self._turn_matters = {p.looks for p in plan.piece if p.looks} | {
            p.kind for p in plan.piece if p.looks
        }
        self._spots: dict[str, list[Site]] = {}
        for s in plan.site:
            if s.of:
                self._spots.setdefault(s.of, []).append(s)

    def lay(self, layout: Mapping[str, Sequence[str]]) -> set[str]:
        """Makes the table show this layout; returns the sites that changed."""
        changed = set()
        for site in self.plan.site:
            new = tuple(k for k in layout.get(site.id, ()) if k != "?")
            old = tuple(k for k, _ in self._lying.get(site.id, ()))
            if sorted(new) != sorted(old) if site.reads == "cluster" else new != old:
                changed.add(site.id)
                self._lying[site.id] = self._relay(site, new)
        return changed

    def scene(self, over: Sequence[Thing] = ()) -> Scene:
        """The table as a camera films it; over: what is temporarily above it."""
        things = [t for site in self.plan.site for _, t in self._lying.get(site.id, ())]
        for site, lying in self._lying.items():
            for kind, body in lying:
                if self.plan.pieces[kind].spans:
                    things = self._raised(things, site, kind, body)
        return replace(self._scene, things=tuple(things), over=tuple(over))

    def _raised(self, things: list[Thing], site: str, kind: str, body: Thing) -> list[Thing]:
        """Raises loose pieces on the squares that a body covers, so that they stand on it and not
        inside it."""
        under = self.plan.pieces[kind].over
        loose = {
            t
            for s in spanned_sites(self.plan, self.plan.sites[site], kind)
            for k, t in self._lying.get(s, ())
            if k not in (under, kind)
        }
        return [
            replace(t, z=body.z + self._height_at(body, t.at)) if t in loose else t for t in things
        ]

    def _height_at(self, body: Thing, at: Sequence[float]) -> float:
        """The height of a body at a point, mm above its own foot; 0 outside it."""
        c, s = math.cos(math.radians(body.turn)), math.sin(math.radians(body.turn))
        dx, dy = at[0] - body.at[0], at[1] - body.at[1]
        mine = np.array([c * dx + s * dy, c * dy - s * dx])
        return max(
            (
                t["z"][1]
                for t in self._scene.looks[body.look]
                if _is_inside(np.array(t["outline"]), mine)
            ),
            default=0.0,
        )

    def prop(self, name: str) -> str:
        """The look of a prop; "hand" is a different person's each time. Raises KeyError."""
        looks = sorted(k for k in props.PROPS if k.split(" ")[0] == name)
        if not looks:
            raise KeyError(name)
        return self.rng.choice(looks)

    def nudge(self, site: str, by: tuple[float, float], turn: float) -> None:
        """Shifts the uppermost piece of a site by mm, and turns it by degrees; does nothing if the
        site is empty."""
        lying = self._lying.get(site)
        if lying:
            kind, t = lying[-1]
            lying[-1] = kind, replace(t, at=(t.at[0] + by[0], t.at[1] + by[1]), turn=t.turn + turn)

    def towards(self, layout: Mapping[str, Sequence[str]], still: int = 3) -> Iterator[Scene]:
        """The pictures from now to this layout: for each group of changed sites a hand comes,
        changes the pieces and goes; then nothing moves."""
        before = {s: tuple(k for k, _ in c) for s, c in self._lying.items()}
        wanted = {s.id: tuple(layout.get(s.id, ())) for s in self.plan.site}
        changed = [s for s in wanted if sorted(wanted[s]) != sorted(before.get(s, ()))]
        now, left = dict(before), set(changed)
        for n, near in enumerate(self._reaches(changed)):
            at = np.mean([self.plan.sites[s].centre for s in near], 0)
            yield from (self.scene([hand]) for hand in self._hand(at, (420, 160), n))
            left -= set(near)
            lying = self._sorts(
                k
                for s in left
                for k in (Counter(before.get(s, ())) - Counter(wanted[s])).elements()
            )
            for s in changed:
                if s not in left:  # a piece that still lies elsewhere cannot lie here yet
                    now[s] = (
                        wanted[s]
                        if not lying
                        else tuple(
                            k
                            for k in wanted[s]
                            if k in before.get(s, ()) or not self._sorts([k]) & lying
                        )
                    )
            self.lay(now)
            yield from (self.scene([hand]) for hand in self._hand(at, (0, 260), n))
        yield from (self.scene() for _ in range(still))

    def _sorts(self, kinds: Iterable[str]) -> set[str]:
        """The physical pieces that these kinds are, whichever way up"""
        return {min(k, self.plan.pieces[k].back or k) for k in kinds}

    def _reaches(self, changed: Sequence[str], limit: int = 4) -> list[list[str]]:
        """The changed sites in a few groups, as hands would do them: neighbours together."""
        if not changed:
            return []
        sites = sorted(
            changed,
            key=lambda s: (self.plan.sites[s].centre[1] // 120, self.plan.sites[s].centre[0]),
        )
        size = math.ceil(len(sites) / limit)
        return [sites[i : i + size] for i in range(0, len(sites), size)]

    def _hand(self, at: Sequence[float], ways: Sequence[float], n: int) -> list[Thing]:
        """A hand that is `ways` mm away from a point, coming from the nearest long side of the
        board."""
        w, h = self.plan.size
        from_below = at[1] > h / 2
        lean = math.degrees(math.atan2(at[0] - w / 2, h)) * (-0.6 if from_below else 0.6) + 4 * (
            n % 3 - 1
        )
        turn = lean if from_below else 180 + lean
        back = np.array([-math.sin(math.radians(turn)), math.cos(math.radians(turn))])
        look = self.prop("hand")
        return [Thing(look, tuple(np.asarray(at) + back * way), turn) for way in ways]

    def _relay(self, site: Site, new: Contents) -> list[tuple[str, Thing]]:
        old = list(self._lying.get(site.id, ()))
        if site.reads == "cluster":
            return self._heap(site, new, old)
        same = next(
            (n for n, (a, b) in enumerate(zip(new, [k for k, _ in old])) if a != b),
            min(len(new), len(old)),
        )
        out = old[:same]
        for n, kind in enumerate(new[same:], same):
            out.append((kind, self._on_top(site, kind, out, n)))
        return out

    def _on_top(self, site: Site, kind: str, below: list[tuple[str, Thing]], n: int) -> Thing:
        piece = self.plan.pieces[kind]
        covered = spanned_sites(self.plan, site, kind) or [site.id]
        middle = np.mean(
            [self.plan.sites[s].centre if s != site.id else site.centre for s in covered], 0
        )
        room = _bounding_box(site) if len(covered) == 1 else np.array(piece.footprint)
        z = (
            self.plan.pieces[piece.over].height
            if piece.over
            else sum(self.plan.pieces[k].height for k, _ in below)
        )
        small = below and min(piece.footprint) < 0.6 * min(self.plan.pieces[below[-1][0]].footprint)
        if small:
            middle, room = (
                np.array(below[-1][1].at),
                np.array(self.plan.pieces[below[-1][0]].footprint) * 0.9,
            )
        slack = np.maximum((room - piece.footprint) / 2, 0.6)
        shift, most = self._shift(slack), ON_SITE * min(*piece.footprint, *_bounding_box(site)) / 2
        for _ in range(TRIES if not below and len(covered) == 1 else 0):
            if (
                _is_inside(site.outlines[0], middle + shift)
                and _to_edge(site.outlines[0], middle + shift) > most
            ):
                # an outline may not fill its box: nobody lays a tide stone across the border of its
                # third
                break
            shift = self._shift(slack)
        look, turn = self._turned(
            piece, site.id, straight=site.reads == "pile" and kind in self._turn_matters
        )
        if below and not small and len(covered) == 1:
            middle, shift = np.array(below[-1][1].at), [v * 0.5 for v in shift]
        return Thing(look, (float(middle[0] + shift[0]), float(middle[1] + shift[1])), turn, z)

    def _shift(self, slack: np.ndarray) -> list[float]:
        return [max(-s, min(s, self.rng.gauss(0, 0.55 * s))) * self.sloppiness for s in slack]

    def _turned(self, piece: Piece, site: str, straight: bool) -> tuple[str, float]:
        kind = piece.looks or piece.kind
        turn = self.art.turn(kind, site) + self.rng.gauss(0, 3.0) * self.sloppiness
        if straight:
            return kind, turn + piece.turned
        way = self.art.turns(kind)
        if way == "any" and (not piece.disc or self.plan.sites[site].reads == "cluster"):
            turn = self.rng.uniform(0, 360)
        elif way != "straight":
            turn += 90 * self.rng.randrange(4)
        return kind, turn

    def _heap(
        self, site: Site, new: Contents, old: list[tuple[str, Thing]]
    ) -> list[tuple[str, Thing]]:
        """Loose pieces side by side, none on another; those that were there before stay in
        place."""
        out: list[tuple[str, Thing]] = []
        rest = list(old)
        wanted = list(new)
        if wanted and lies_first(wanted[0]):
            kept = next((o for o in rest if o[0] == wanted[0]), None)
            first = kept or (wanted[0], self._on_top(site, wanted[0], [], 0))
            if kept is None:
                rest = []
            out.append(first)
            wanted = wanted[1:]
        anew = []
        for kind in sorted(wanted, key=lambda k: -max(self.plan.pieces[k].footprint)):
            kept = next((o for o in rest if o[0] == kind), None)
            if kept is None:
                anew.append(kind)
            else:
                rest.remove(kept)
                out.append(kept)
        for kind in anew:
            out.append((kind, self._aside(site, kind, out)))
        order = {k: n for n, k in reversed(list(enumerate(new)))}
        return sorted(out, key=lambda o: order[o[0]])

    def _aside(self, site: Site, kind: str, lying: list[tuple[str, Thing]]) -> Thing:
        piece = self.plan.pieces[kind]
        floor = lying[:1] if lying and lies_first(lying[0][0]) else []
        z = self.plan.pieces[floor[0][0]].height if floor else 0.0
        others = [
            (np.array(t.at), _piece_radius(self.plan.pieces[k])) for k, t in lying[len(floor) :]
        ]
        spots = [(s.centre, max(_bounding_box(s)) / 2) for s in self._spots.get(site.id, ())]
        radius = _piece_radius(piece)
        outlines = (
            [site.outlines[0]]
            if floor
            else [o for o in site.outlines for _ in range(1 + int(_polygon_area(o) / 500))]
        )
        best, best_room = (0.0, 0.0), -math.inf
        for attempt in range(160):
            outline = self.rng.choice(outlines)
            at = np.array(
                [self.rng.uniform(outline[:, i].min(), outline[:, i].max()) for i in (0, 1)]
            )
            inside = _is_inside(outline, at)
            edge = (1 if inside else -1) * _to_edge(outline, at) - radius * 0.85
            gaps = [np.hypot(*(at - o)) - r - radius for o, r in (*others, *spots)]
            room = min([edge, *gaps])
            if room > best_room:
                best, best_room = (float(at[0]), float(at[1])), room
            if room > 0.5 + 2 * (attempt < 20):
                break
        # If there is no room next to the others, people put it on one of them.
        z += max((self._height_at(t, best) for _, t in lying[len(floor) :]), default=0.0)
        look, turn = self._turned(piece, site.id, straight=False)
        return Thing(look, best, turn, z)


def _bounding_box(site: Site) -> np.ndarray:
    o = np.array(site.outline, float)
    return o.max(0) - o.min(0)


def _piece_radius(piece: Piece) -> float:
    width, depth = piece.footprint
    return width / 2 if piece.disc else math.hypot(width, depth) / 2 * 0.9


def _polygon_area(outline: np.ndarray) -> float:
    x, y = outline[:, 0], outline[:, 1]
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2


def _is_inside(outline: np.ndarray, at: np.ndarray) -> bool:
    a, b = outline, np.roll(outline, -1, 0)
    crosses = (a[:, 1] > at[1]) != (b[:, 1] > at[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        x = a[:, 0] + (at[1] - a[:, 1]) * (b[:, 0] - a[:, 0]) / (b[:, 1] - a[:, 1])
    return bool(np.count_nonzero(crosses & (at[0] < x)) % 2)


def _to_edge(outline: np.ndarray, at: np.ndarray) -> float:
    a, d = outline, np.roll(outline, -1, 0) - outline
    t = np.clip(((at - a) * d).sum(1) / np.maximum((d * d).sum(1), 1e-9), 0, 1)
    return float(np.hypot(*(a + t[:, None] * d - at).T).min())
