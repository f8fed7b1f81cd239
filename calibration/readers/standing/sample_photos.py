"""The calibration photos of things that stand, as they are learnt from. Its value: Studio."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import cv2
import msgspec
import numpy as np

from calibration.readers.standing.train import Lent, Place
from calibration.readers.standing.uncovered_board import behind_things, uncovered
from vision.geometry.posed_photo import Shot
from vision.geometry.site_windows import Pyramid
from vision.photometry.reference_light import fit_lights
from vision.plan import Plan
from vision.readers.standing.closeup_features import Closeup
from vision.readers.standing.lean_geometry import (
    FINE,
    FINER,
    Frame,
    Seat,
    Sheet,
    across_of,
    coarse,
    needed,
    rises,
    uppermost,
)
from vision.readers.standing.occlusion_masks import hidden, turned_from
from vision.readers.standing.shape_model import (
    FLOOR,
    SLACK,
    Looks,
    Man,
    Outlines,
    first_form,
    fitted_form,
    misfit,
    moved,
    own_part,
    spoken_for,
)
from vision.readers.standing.shape_search import HANDS, Searcher, Seen

SLOP = 0.17  # of a site's side that things are put off its middle at most
# what counts of what is seen beside the board: the table there may have been moved
OFF_BOARD = 0.35
BIN = 4.0  # pixels that the tallest thing's head is moved from one lean to the next
BUMPED = 1.1  # times the leans of the calibration photos that may be met
ROUNDS = 3  # of finding where things stand and what form they have
NEAR = 2.0  # mm round a thing that are taken to be hidden or in its own shade
RARE = 0.4  # what counts that some of a kind are not seen where others are


class Studio(msgspec.Struct, dict=True, eq=False):
    """The calibration photos as they are learnt from. centres: (N, 2) mm; heights, radii: (K,) mm;
    views: a sheet of each photo"""

    plan: Plan
    ids: list[str]
    shots: list[Shot]

    def __post_init__(self) -> None:
        plan = self.plan
        self.kinds = sorted(
            {s.layout[i][-1] for s in self.shots for i in self.ids if s.layout.get(i)}
        )
        self.heights = np.array([plan.pieces[k].height for k in self.kinds])
        self.radii = np.array([max(plan.pieces[k].footprint) / 2 for k in self.kinds])
        self.centres = np.array([plan.sites[i].centre for i in self.ids])
        self.alike = alike(self.radii, self.heights)
        self.side = float(
            np.median([np.ptp(np.array(plan.sites[i].outline), axis=0).max() for i in self.ids])
        )
        self.seats = [Seat.of(s.pose) for s in self.shots]
        self.most = max(seat.leaning(self.centres)[1].max() for seat in self.seats) * BUMPED + 0.02
        self.above = float(np.mean([s.height for s in self.seats]))
        wide = float(self.radii.max() * 1.15 + SLOP * self.side + 2)
        front = float(rises(self.heights.max(), self.most, self.above)[0].max()) + wide
        self.frame = Frame(wide, wide, front, FINE / self.side)
        self.low, self.high = (
            self.centres.min(0) - front - 2 * wide,
            self.centres.max(0) + front + 2 * wide,
        )
        self.sheet = Sheet.of(self.low, self.high, self.frame.scale)
        self.fine = self.sheet.close
        self.reference, room = fit_lights(plan, self.shots)
        self.views = [
            self.fine.see(Pyramid(s.image), s.pose, light) for s, light in zip(self.shots, room)
        ]
        self.varied: np.ndarray | None = None

    @property
    def slop(self) -> int:
        """pixels that things are looked for off a site's middle"""
        return round(SLOP * FINE)

    @cached_property
    def empty(self) -> np.ndarray:
        """(h, w, CHANNELS) the empty board"""
        bare = [v for v, s in zip(self.views, self.shots) if not s.layout]
        return coarse(np.mean(bare, 0) if bare else self.ground)

    def uncover(self, men: list[Man], forms: np.ndarray, give: float) -> None:
        """Has the board, where no photo shows it empty, as it is seen beside these men of these
        forms; give: mm more that they hide"""
        self.hides = [
            behind_things(
                self.fine,
                [
                    (m.foot, m.along, m.lean, self.heights[m.kind], m.above, forms[m.kind] + give)
                    for m in men
                    if m.photo == n
                ],
            )
            for n in range(len(self.shots))
        ]
        if all(s.layout for s in self.shots):
            self.ground, self.varied = uncovered(
                self.views, self.hides, self.fine, self.centres, self.side
            )
            for known in ("empty", "weight"):
                self.__dict__.pop(known, None)

    @cached_property
    def weight(self) -> np.ndarray:
        """(h, w, CHANNELS) one by how much the empty board's look may vary: more where it is
        uneven"""
        gy, gx = np.gradient(self.empty, axis=(0, 1))
        varied = FLOOR**2 + 0.5 * (gx**2 + gy**2)
        if self.varied is not None:
            varied[..., :3] += cv2.resize(
                self.varied, varied.shape[1::-1], interpolation=cv2.INTER_AREA
            )
        weight = 1 / varied
        a, b = (self.sheet.px(np.array(c)).astype(int) for c in ((0, 0), self.plan.size))
        inside = np.full(weight.shape[:2], OFF_BOARD, np.float32)
        inside[max(a[1], 0) : b[1], max(a[0], 0) : b[0]] = 1
        return (weight * inside[..., None]).astype(np.float32)

    def cut(self, view: np.ndarray, foot: np.ndarray, along: np.ndarray) -> np.ndarray:
        return self.frame.cut(self.sheet, view, foot[None], along[None])[0]

    def near(self, man: Man) -> np.ndarray:
        return self.frame.close.cut(
            self.fine, self.views[man.photo], man.foot[None], man.along[None]
        )[0]

    def look(self, man: Man) -> None:
        """Has a man's window where he is now thought to stand"""
        man.window = coarse(self.near(man))
        man.bare = misfit(
            man.window, *(self.cut(v, man.foot, man.along) for v in (self.empty, self.weight))
        )

    def found(self) -> tuple[list[Man], np.ndarray]:
        """(everything that stands in the photos, (K, SLICES) the forms of the kinds)"""
        men = []
        for n, (shot, seat) in enumerate(zip(self.shots, self.seats)):
            along, lean = seat.leaning(self.centres)
            for i, site in enumerate(self.ids):
                if shot.layout.get(site):
                    kind, nothing = self.kinds.index(shot.layout[site][-1]), np.zeros(0)
                    men.append(
                        Man(
                            kind,
                            n,
                            i,
                            self.centres[i],
                            along[i],
                            float(lean[i]),
                            seat.height,
                            nothing,
                            nothing,
                            np.ones(self.frame.shape, bool),
                        )
                    )
        forms = np.array([first_form(2 * r) for r in self.radii])
        self.uncover(men, forms, HANDS * self.side)
        for m in men:
            self.look(m)
        for turn in range(ROUNDS):
            if turn:
                self.clear(men, forms)
                self.uncover(men, forms, NEAR)
            for k, height in enumerate(self.heights):
                mine = [m for m in men if m.kind == k]
                for m, speaks in zip(mine, spoken_for(mine, self.frame, height, forms[k])):
                    self.put(
                        m,
                        moved(
                            speaks,
                            uppermost(needed(self.frame, height, m.lean, m.above), forms[k]) >= 0,
                            self.slop,
                        ),
                    )
            for same in self.alike:
                mine = [
                    (m, s)
                    for k in same
                    for of_kind in ([m for m in men if m.kind == k],)
                    for m, s in zip(
                        of_kind, spoken_for(of_kind, self.frame, self.heights[k], forms[k])
                    )
                ]
                k = same[0]
                needs = (needed(self.frame, self.heights[k], m.lean, m.above) for m, _ in mine)
                forms[same] = fitted_form(
                    [s for _, s in mine], needs, forms[k], self.radii[k] * SLACK
                )
        self.uncover(men, forms, NEAR)
        return men, forms

    def others(self, men: list[Man], outlines: Outlines) -> tuple[np.ndarray, np.ndarray]:
        """Two of (n, V, U) bool: what of men's windows is hidden by others of their photos, and
        what shows others behind them"""
        out = np.zeros((2, len(men), *self.frame.shape), bool)
        for n in range(len(self.shots)):
            at = [i for i, m in enumerate(men) if m.photo == n]
            if at:
                feet, along, lean, kinds = (
                    np.array([getattr(men[i], f) for i in at])
                    for f in ("foot", "along", "lean", "kind")
                )
                out[:, at] = hidden(
                    self.frame, outlines, feet, along, lean, np.arange(len(at)), kinds, feet
                )
        return out[0], out[1]

    def clear(self, men: list[Man], forms: np.ndarray) -> None:
        """Tells each man where others of his photo show"""
        outlines = Outlines.of(self.frame, self.heights, forms, self.leans, self.above)
        for m, before, behind in zip(men, *self.others(men, outlines)):
            m.clear = ~before & (
                ~behind | (outlines.solid(m.kind, outlines.nearest(np.array([m.lean]))[0]) > 0)
            )

    def closely(
        self, men: list[Man], forms: np.ndarray
    ) -> tuple[list[Man], np.ndarray, np.ndarray]:
        """(the men with windows seen close up and how much of each pixel is theirs (finer V, finer
        U, 4), (K, SLICES) the forms of the kinds, (K, SLICES) forms wide enough for all of a kind,
        where they are not round)"""
        self.clear(men, forms)
        frame, empty, weight = (
            self.frame.close,
            *(cv2.resize(a[..., :3], None, fx=FINER, fy=FINER) for a in (self.empty, self.weight)),
        )
        near = [
            msgspec.structs.replace(
                m, window=self.near(m), clear=m.clear.repeat(FINER, 0).repeat(FINER, 1)
            )
            for m in men
        ]
        speaks, exact, wide = {}, forms.copy(), forms.copy()
        for k, height in enumerate(self.heights):
            mine = [n for n, m in enumerate(near) if m.kind == k]
            for m in (near[n] for n in mine):
                m.bare = misfit(
                    m.window,
                    *(
                        frame.cut(self.fine, v, m.foot[None], m.along[None])[0]
                        for v in (empty, weight)
                    ),
                )
            speaks |= zip(mine, spoken_for([near[n] for n in mine], frame, height, forms[k]))
        for same in self.alike:
            mine, widest = (
                [n for n, m in enumerate(near) if m.kind in same],
                self.radii[same[0]] * SLACK,
            )

            def needs(
                mine: list[int] = mine, height: float = self.heights[same[0]]
            ) -> Iterator[np.ndarray]:
                # all at once would fill the memory
                return (needed(frame, height, near[n].lean, near[n].above) for n in mine)

            exact[same] = fitted_form((speaks[n] for n in mine), needs(), forms[same[0]], widest)
            wide[same] = fitted_form(
                (np.maximum(speaks[n], RARE * speaks[n]) for n in mine),
                needs(),
                exact[same[0]],
                widest,
            )
            for n, need in zip(mine, needs()):
                near[n].window = np.dstack(
                    [near[n].window, own_part(speaks.pop(n), uppermost(need, wide[same[0]]) >= 0)]
                )
        return near, exact, wide

    def lent(self, near: list[Man]) -> list[Lent]:
        """What men as closely() gives them lend to kinds alike but for their colours"""
        out = []
        for same in self.alike:
            of_kind = {k: [n for n, m in enumerate(near) if m.kind == k] for k in same}
            own = {
                k: np.concatenate(
                    [
                        near[n].window[(near[n].window[..., 3] > 0.5) & near[n].clear, :3]
                        for n in mine
                    ]
                )
                for k, mine in of_kind.items()
            }
            if all(map(len, own.values())):
                middle = {k: np.median(v, 0) for k, v in own.items()}
                out += [
                    (n, k, np.float32(middle[k] - middle[other]))
                    for k in same
                    for other in same
                    if other != k
                    for n in of_kind[other]
                ]
        return out

    def settled(self, men: list[Man], searcher: Searcher) -> None:
        """Moves men to where, within their sites, they look most like the others of their kind: by
        their outlines, a white one may have been taken for its shadow on a white site"""
        for m in men:
            m.foot = self.centres[m.site]
            self.look(m)
        lean = np.array([m.lean for m in men])
        seen = Seen.among(
            np.array([m.window for m in men]),
            np.array([self.cut(self.empty, m.foot, m.along) for m in men]),
            np.array([m.bare for m in men]),
            *self.others(men, searcher.looks),
            searcher.looks.nearest(lean),
            np.arange(len(men)),
            np.array([self.near(m)[..., 0] for m in men]),
            lean,
        )
        found = searcher.search(seen)
        for n, m in enumerate(men):
            self.put(m, found.at[n, m.kind])

    def put(self, man: Man, by: tuple[int, int]) -> None:
        """Moves a man by pixels across and along, not far off his site"""
        off = (
            man.foot
            - self.centres[man.site]
            + (across_of(man.along) * by[0] + man.along * by[1]) / self.frame.scale
        )
        far = 1.2 * SLOP * self.side
        man.foot = self.centres[man.site] + np.clip(off, -far, far)
        self.look(man)

    @cached_property
    def leans(self) -> np.ndarray:
        """(B,) leans that looks are worked out for"""
        least = min(seat.leaning(self.centres)[1].min() for seat in self.seats) / BUMPED
        steps = int(np.ceil((self.most - least) * self.heights.max() * self.frame.scale / BIN))
        return np.linspace(least, self.most, max(steps, 1) + 1)

    def looks(self, men: list[Man], forms: np.ndarray, frame: Frame) -> Looks:
        return Looks.fit(men, frame, self.heights, forms, self.leans, self.above)

    def searcher(self, men: list[Man], forms: np.ndarray) -> Searcher:
        closeup = Closeup.of(self.frame, self.heights.max(), self.radii.max(), self.above)
        return Searcher(
            self.looks(men, forms, self.frame), self.frame, self.slop, float(FINE), closeup
        )

    def places(self, men: list[Man], looks: Looks) -> list[Place]:
        """Every site in every photo, and as it would be seen bare in each where all show something
        on it; the sheets, a good part of the memory, are let go one by one"""
        out, bare = [], {}
        never = [
            i for i, site in enumerate(self.ids) if all(s.layout.get(site) for s in self.shots)
        ]
        nothing = np.zeros(self.frame.shape, bool)
        for n, seat in enumerate(self.seats):
            view = self.views.pop(0)
            along, lean = seat.leaning(self.centres)
            # as a rule the camera stayed where it was
            at = *np.rint(seat.nadir), round(seat.height)
            if at not in bare:
                bare[at] = [
                    self.frame.cut(self.sheet, v, self.centres, along)
                    for v in (self.empty, self.weight)
                ]
            cuts = [
                self.frame.close.cut(self.fine, view, self.centres, along).astype(np.float16),
                *bare[at],
            ]
            mine = {m.site: number for number, m in enumerate(men) if m.photo == n}
            before, behind = hidden(
                self.frame,
                looks,
                self.centres,
                along,
                lean,
                np.array(list(mine), int),
                np.array([men[m].kind for m in mine.values()], int),
                np.array([men[m].foot for m in mine.values()]).reshape(-1, 2),
            )
            for i in range(len(self.ids)):
                man = mine.get(i, -1)
                out.append(
                    Place(
                        *(c[i] for c in cuts),
                        float(lean[i]),
                        around(self.frame, self.centres, along, lean, i),
                        before[i],
                        behind[i],
                        men[man].kind if man >= 0 else -1,
                        man,
                    )
                )
            if never:
                view = np.where(self.hides[n][..., None], self.ground, view)
                cut = self.frame.close.cut(
                    self.fine, view, self.centres[never], along[never]
                ).astype(np.float16)
                out += [
                    Place(
                        w,
                        bare[at][0][i],
                        bare[at][1][i],
                        float(lean[i]),
                        around(self.frame, self.centres, along, lean, i),
                        nothing,
                        nothing,
                    )
                    for w, i in zip(cut, never)
                ]
        return out


def alike(radii: np.ndarray, heights: np.ndarray) -> list[list[int]]:
    """Kinds by their form: two as wide and as high as each other, and as no third, differ by their
    colours"""
    same = [
        [int(j) for j in np.flatnonzero((radii == r) & (heights == h))]
        for r, h in zip(radii, heights)
    ]
    return [s if len(s) == 2 else [k] for k, s in enumerate(same) if len(s) != 2 or k == s[0]]


def around(
    frame: Frame, centres: np.ndarray, along: np.ndarray, lean: np.ndarray, i: int
) -> np.ndarray:
    """(m, 4): see Place.around"""
    across = across_of(along[i])
    off = centres - centres[i]
    x, y = off @ across, off @ along[i]
    turn = turned_from(along[i], along)
    near = (
        (np.abs(x) < 2 * frame.wide + 5)
        & (y > -frame.front - frame.wide)
        & (y < frame.front + frame.wide)
    )
    near[i] = False
    return np.stack([x, y, turn, lean], 1)[near]
