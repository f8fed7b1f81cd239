"""Boards made up of a copy's own cut-outs: what the network is taught with. Its central values:
Look, Sample, Composer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import msgspec
import numpy as np

from calibration.cutouts.standing import StandingLook
from calibration.synthesis.painter import SIDELIGHT, TIDY_ASTRAY, Evening, Look, Painter
from calibration.synthesis.relight import VEILED, mirror_lamp, relight_picture
from vision.evidence.site_evidence import Contents
from vision.geometry.footprints import camera_position, depth_within, pile_height, top_shift
from vision.geometry.posed_photo import Shot
from vision.geometry.site_groups import outline_size
from vision.geometry.site_windows import scale_at
from vision.geometry.symmetry import site_spacing
from vision.learned.canvas import Canvas, pack_pixels, stack_input, unpack_pixels
from vision.learned.groups import (
    EMPTY,
    FOREIGN,
    UNDER,
    Form,
    SiteGroup,
    base_contents,
    belonging_kinds,
    block_middle,
    covered_sites,
    is_flat,
    loose_names,
    site_box,
)
from vision.learned.network import SITE_REACH, square_axes
from vision.learned.sampling import close_up, frame_standing
from vision.plan import LONG_SITE, Plan, Site

# of the made-up samples, in which some of the cards are shown as part of the empty board, as a second look
# takes them (`LearnedReader.look_again`): from so many of them to so many
KNOWN, KNOWN_SHARE = 0.5, (0.3, 0.97)
# mm by which a piece lies off the middle of one of its size below, one standard deviation
STACKED_ASTRAY = 0.7
# of the made-up boards, laid by people in a hurry: by how many mm and degrees pieces lie off where they
# belong there, one standard deviation; no more of a piece's shorter side
HURRIED, HURRIED_ASTRAY, HURRIED_ASKEW, MOST_HURRIED = 0.4, (1.0, 3.0), (4.0, 9.0), 0.3
# of piles lie anywhere on their site, into its corners, not near its middle; of what stands there, too
LAID_ANYWHERE = 0.3
# an outline that fills no more than this of its box, as a third of a circle does (a hexagon: 0.75; squares
# with rounded corners fill more), is laid on within itself: a piece's middle lies at least so many mm, as far
# as it may be found off, from its border, if so many tries find such a place
FILLS_BOX, WITHIN, SPOTS_TRIED = 0.9, 1.0, 30
SIDE = 256  # pixels along a sample's side
REAL = 0.2  # of the samples are pieces of the calibration photos themselves
STREWN, MOST_STREWN = 0.6, 24  # of the made-up samples in which pieces are strewn about, how many
# of the made-up samples in which tiles and cards lie where their kind does not belong, how many at most
STRANGE_SHOWN, MOST_STRANGE = 0.15, 2
CROWDED = 0.4  # of the made-up samples show pieces close together where no site is
CROWD_APART = (1.0, 1.35)  # of a site's longer side between pieces laid so
SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
AROUND = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y], float)  # squares
CLOSE = 8  # sites with standing pieces that are learnt from in a sample at most
# of the samples of a board on which pieces stand show places a square beyond it; how many each
OUTSIDE, MOST_OUTSIDE = 0.12, 2
FULL = 0.4  # of the frame of a site with tall pieces that a sample shows at least, from its middle
# of a loose piece's width about its middle, in which it must be seen to be found
HIDDEN_REACH = 0.35
# of their size that flat pieces' middles are apart at least where one lies on the other; how many may
OVERLAP, OVERLAID = 0.4, 0.4
ROUND = 0.3  # of the made-up samples are seen from any side of the table
# mm a mm of height that things in the middle of the board lean then at most: 24 degrees
MOST_TILT = 0.45


class Truth(msgspec.Struct, eq=False):
    """What a canvas shows. camera: (3,) mm, x, y and height above the board; points: (form, kind,
    x, y px) of loose pieces' tops, or of their middles if they stand; labels: site -> class;
    elsewhere: (group, class, x, y mm, degrees turned) of what lies as on a site where none is, or on a
    block of several; ground: (SIDE, SIDE, 3) log
    the empty board with what is known to lie on it, where anything is; of that nobody is asked"""

    camera: np.ndarray
    points: list[tuple[int, int, float, float]] = []
    labels: dict[str, int] = {}
    elsewhere: list[tuple[int, int, float, float, float]] = []
    ground: np.ndarray | None = None


class Sample(msgspec.Struct, frozen=True, eq=False):
    """x: (SIDE/2, SIDE/2, 24) float16 input; points: (n, 4) form, kind, x, y px; sites: (m, 8)
    group, class, x, y px of the middle of what is looked at, its two sides px; camera: (3,) px, x, y and
    height; close: of sites with pieces that stand (group, class, the input of their close-up)"""

    x: np.ndarray
    points: np.ndarray
    sites: np.ndarray
    camera: np.ndarray
    close: list[tuple[int, int, np.ndarray]] = []

    def turn_half(self) -> Sample:
        """The same turned by half, as the reader's second look sees it"""
        points, sites, camera = self.points.copy(), self.sites.copy(), self.camera.copy()
        for at in (points[:, 2:], sites[:, 2:4], camera[:2]):
            at[:] = turn_places(at, 2, SIDE)
        sites[:, 4:] *= -1
        return Sample(turn_inputs(self.x[None], 2)[0], points, sites, camera, self.close)


def turn_inputs(x: np.ndarray, quarters: int) -> np.ndarray:
    """Inputs as of `Sample`, (n, h, w, 24), turned counterclockwise"""
    return pack_pixels(np.rot90(unpack_pixels(x), quarters, (1, 2)))


def turn_places(at: np.ndarray, quarters: int, side: int) -> np.ndarray:
    """(..., 2) pixels of inputs so many pixels wide, turned counterclockwise with them"""
    a, b, last = at[..., 0], at[..., 1], side - 1
    turned = (a, b), (b, last - a), (last - a, last - b), (last - b, a)
    return np.stack(turned[quarters], -1)


class Composer:
    """Makes samples of one copy without end.

    looks: kind -> its looks, from above; standing: of those that stand; empties: (h, w, 3) log
    canvases of the empty board; reals: of the calibration photos with what they show; shots: whose
    poses tell how things lean; crowded: of the made-up samples that show pieces close together;
    odd: as of `relight_picture`"""

    def __init__(
        self,
        plan: Plan,
        view: Canvas,
        groups: Sequence[SiteGroup],
        forms: Sequence[Form],
        looks: Mapping[str, Sequence[Look]],
        standing: Mapping[str, Sequence[StandingLook]],
        empties: Sequence[np.ndarray],
        reference: np.ndarray,
        reals: Sequence[tuple[np.ndarray, Truth]],
        shots: Sequence[Shot],
        seed: int = 0,
        crowded: float = CROWDED,
        odd: float = 1.0,
    ) -> None:
        self.plan, self.view, self.groups, self.forms, self.looks = plan, view, groups, forms, looks
        self.empties, self.reference, self.reals = empties, reference, reals
        self.standing, self.crowded, self.odd = standing, crowded, odd
        self.known = looks.keys() | standing.keys()
        self.beyond = view.beyond_rim() if standing else None
        self.cameras = [camera_position(s.pose) for s in shots]
        self.boxes = np.array([site_box(s).max() for s in plan.site])
        self.rng = np.random.default_rng(seed)
        self.group = {i: n for n, g in enumerate(groups) for i in g.ids}
        self.form = {k: (n, m) for n, m, k in loose_names(forms)}
        self.sites = {s.id: s for s in plan.site}
        index = {s.id: n for n, s in enumerate(plan.site)}
        self.members = [[index[i] for i in g.ids] for g in groups]
        self.turns = np.zeros(len(plan.site))
        for g, mine in zip(groups, self.members):
            self.turns[mine] = g.degrees_of(plan.sites[i] for i in g.ids)
        self.centres = np.array([s.centre for s in plan.site])
        self.outlines = [outline_within(s) for s in plan.site]
        self.centres_px = view.to_px(self.centres)
        self.piles = [s for s in plan.site if s.reads == "pile"]
        self.pile_centres = np.array([s.centre for s in self.piles]).reshape(-1, 2)
        self.pile_sides = np.array([outline_size(s) for s in self.piles]).reshape(-1, 2)
        self.reach = np.array([np.hypot(*site_box(s)) / 2 for s in plan.site]) * view.scale
        middle = np.array([plan.size]) / 2
        self.grain = view.scale / float(np.median([scale_at(s.pose, middle) for s in shots]))
        self.outside = self.places_outside()
        self.outside_px = [view.to_px(p) for _, _, places in self.outside for p in places]
        self.sample_weights = self.weigh_sites()
        self.piled = [hidden_contents(plan, g, [s.layout for s in shots]) for g in groups]
        self.cards = [card_classes(plan, g, looks) for g in groups]
        self.carded = any(g.loose and cards for g, cards in zip(groups, self.cards))
        self.known_share = 0.0
        # the only photo of the empty board may show a lamp where others do not
        self.veiled = VEILED if np.array_equal(empties[0], reference) else 0.0
        self.only_close = not forms and all(g.tall for g in groups)
        self.strange = [self.strange_kinds(g) for g in groups]
        self.flat_forms = [[k for k in f.kinds if k in looks] for f in forms]
        self.crowding = np.array(
            [len(some) ** 0.5 for some in (*map(self.flat_classes, groups), *self.flat_forms)]
        )

    def places_outside(self) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """(group, (n,) numbers of its sites, (n, 2) mm where these would be, if the board lay a
        square further, and none is): of a board of squares on which pieces stand"""
        step, out = site_spacing(self.plan), []
        if not step.all():
            return []
        for g, mine in enumerate(self.members):
            if self.groups[g].tall:
                sites = np.repeat(mine, len(AROUND))
                places = (self.centres[mine][:, None] + step * AROUND).reshape(-1, 2)
                apart = np.linalg.norm(places[:, None] - self.centres, axis=2).min(1)
                out.append((g, sites[apart > step.min() / 2], places[apart > step.min() / 2]))
        return out

    def weigh_sites(self) -> np.ndarray:
        """(N,) how often a site is the middle of a sample: groups with many classes more often than
        their share"""
        out = np.zeros(len(self.plan.site))
        index = {s.id: n for n, s in enumerate(self.plan.site)}
        for g in self.groups:
            much = (len(g.classes) - 2 + 2 * len(g.loose) + 1) ** 0.5 * len(g.ids) ** 0.5
            for i in g.ids:
                out[index[i]] = much / len(g.ids)
        return out / out.sum()

    def make_sample(self) -> Sample:
        """A sample; where only close-ups are learnt from, with as many of them as there is room for"""
        sample = self.make_crop()
        for _ in range(CLOSE if self.only_close else 0):
            if len(sample.close) < CLOSE:
                close = (sample.close + self.make_crop().close)[:CLOSE]
                sample = msgspec.structs.replace(sample, close=close)
        return sample

    def make_crop(self) -> Sample:
        """A sample of one part of the board"""
        rng = self.rng
        h, w = self.view.shape
        n = rng.choice(len(self.plan.site), p=self.sample_weights)
        middle = self.centres_px[n]
        if self.outside_px and rng.random() < OUTSIDE:
            middle = self.outside_px[rng.integers(len(self.outside_px))]
        middle = middle + rng.uniform(-0.3, 0.3, 2) * SIDE
        x0, y0 = (int(np.clip(c - SIDE / 2, 0, max(m - SIDE, 0))) for c, m in zip(middle, (w, h)))
        if self.reals and rng.random() < REAL:
            canvas, whole = self.reals[rng.integers(len(self.reals))]
            picture = crop_padded(canvas, x0, y0)
            truth = whole
        else:
            picture, truth = self.compose_crop(x0, y0)
        jig, turn, zoom = rng.normal(0, 0.4, 2), rng.normal(0, 0.12), 1 + rng.normal(0, 0.0015)
        m = cv2.getRotationMatrix2D((SIDE / 2, SIDE / 2), turn, zoom) + np.array(
            [[0, 0, jig[0]], [0, 0, jig[1]]]
        )
        picture = cv2.warpAffine(
            picture, m, (SIDE, SIDE), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        reference = crop_padded(self.reference, x0, y0) if truth.ground is None else truth.ground
        points = np.array(truth.points, np.float32).reshape(-1, 4)
        points[:, 2:] = (points[:, 2:] - (x0, y0)) @ m[:, :2].T + m[:, 2]
        seen_from = self.view.place_camera(truth.camera, np.array([x0, y0]))
        inside = (points[:, 2:] > 1).all(1) & (points[:, 2:] < SIDE - 2).all(1)
        sites, close, (off, axes) = [], [], self.frame_sites(truth.camera)
        for k in np.flatnonzero(
            (np.abs(self.centres_px - (x0 + SIDE / 2, y0 + SIDE / 2)) < SIDE / 2).all(1)
        ):
            site = self.plan.site[k]
            if site.id in truth.labels:
                at = self.centres_px[k] - (x0, y0)
                box = outline_size(site)
                half = np.minimum(box * self.view.scale, SIDE) / 2 * 0.9
                middle, n = at + off[k], self.group[site.id]
                if self.groups[n].tall:
                    half = close_reach(axes[k])
                if not is_within_crop(middle, half):
                    continue
                if self.groups[n].tall:
                    close.append((n, truth.labels[site.id], middle, axes[k]))
                else:
                    sites.append((n, truth.labels[site.id], *middle, *axes[k].ravel()))
        for n, label, *mm, turned in truth.elsewhere:
            middle = self.view.to_px(np.array(mm)) - (x0, y0)
            side = max(self.groups[n].box) * self.view.scale
            if is_within_crop(middle, side / 2):
                sites.append((n, label, *middle, *square_axes(SITE_REACH * side, turned).ravel()))
        picture = relight_picture(rng, picture, self.grain, self.odd)
        if rng.random() < self.veiled:
            reference = mirror_lamp(rng, reference)
        x = stack_input(picture, reference)
        outside = self.look_outside(picture, (x0, y0), truth.camera)
        close = [close[n] for n in rng.permutation(len(close))[: CLOSE - len(outside)]]
        sample = Sample(
            x.astype(np.float16),
            points[inside],
            np.array(sites, np.float32).reshape(-1, 8),
            np.append(m[:, :2] @ seen_from[:2] + m[:, 2], seen_from[2]),
            outside
            + [
                (n, label, stack_input(*(close_up(m, at, sides) for m in (picture, reference))))
                for n, label, at, sides in close
            ],
        )
        return sample if truth.ground is None else sample.turn_half()

    def look_outside(
        self, picture: np.ndarray, origin: tuple[int, int], camera: np.ndarray
    ) -> list[tuple[int, int, np.ndarray]]:
        """Places a square beyond the board as sites are looked at of a board that lies a square off:
        what is seen there is none of theirs"""
        out = []
        for g, sites, places in self.outside:
            off, axes = frame_standing(places, self.groups[g], camera)
            sides, at = axes * self.view.scale, self.view.to_px(places + off) - origin
            own = self.view.to_px(self.centres[sites] + off)
            within = is_within_crop(at, close_reach(sides))
            mixed = self.rng.permutation(len(places))
            for n in mixed[within[mixed]][: MOST_OUTSIDE - len(out)]:
                pictures = (picture, at[n]), (self.reference, own[n])
                both = (close_up(m, middle, sides[n]) for m, middle in pictures)
                out.append((g, FOREIGN, stack_input(*both)))
        return out

    def frame_sites(self, camera: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N, 2) px from the sites' centres, (N, 2, 2) px sides: where each is looked at"""
        off, axes = np.zeros_like(self.centres), square_axes(SITE_REACH * self.boxes, self.turns)
        for g, mine in zip(self.groups, self.members):
            if g.tall:
                off[mine], axes[mine] = frame_standing(self.centres[mine], g, camera)
        return off * self.view.scale, axes * self.view.scale

    def choose_evening(self) -> Evening:
        rng = self.rng
        a = rng.uniform(0, 2 * np.pi)
        lit = rng.random() < 0.9
        middle = np.array(self.plan.size) / 2
        camera = self.cameras[rng.integers(len(self.cameras))].copy()
        camera *= 1 + rng.normal(0, 0.04, 3)
        if rng.random() < ROUND:
            side, tilt = rng.uniform(0, 2 * np.pi), np.hypot(*(camera[:2] - middle)) / camera[2]
            if not self.standing:  # what stands is not put up much higher or lower than it was cut
                tilt = rng.uniform(0, max(tilt, MOST_TILT))
            camera[:2] = middle + tilt * camera[2] * np.array([np.cos(side), np.sin(side)])
        laid = rng.uniform(*HURRIED_ASTRAY), rng.uniform(*HURRIED_ASKEW)
        return Evening(
            rng.normal(0, 0.04, 2),
            camera,
            np.array([np.cos(a), np.sin(a)]) * rng.uniform(0, 0.8),
            rng.uniform(0.5, 3.0),
            rng.uniform(0.05, 0.8) if lit else 0.0,
            rng.uniform(-0.9, 0.15),
            rng.normal(0, SIDELIGHT, 2),
            *(map(float, laid) if rng.random() < HURRIED else ()),
        )

    def compose_crop(self, x0: int, y0: int) -> tuple[np.ndarray, Truth]:
        """(SIDE, SIDE, 3) log and what lies on it, in canvas pixels"""
        rng = self.rng
        canvas = crop_padded(self.empties[rng.integers(len(self.empties))], x0, y0).copy()
        evening = self.choose_evening()
        truth = Truth(evening.camera)
        if self.beyond is not None:
            self.strew_table(canvas, crop_padded(self.beyond.astype(np.uint8), x0, y0) > 0)
        self.known_share = 0.0
        if self.carded and rng.random() < KNOWN:
            self.known_share = rng.uniform(*KNOWN_SHARE)
            truth.ground = crop_padded(self.reference, x0, y0).copy()
        paint = Painter(canvas, self.view, (x0, y0), evening, rng, truth.ground)
        if rng.random() < self.crowded and self.crowding.any():
            self.crowd_pieces(paint, truth)
            self.forget_hidden(paint, truth)
            return paint.canvas, truth
        fill, full = rng.choice([0.3, 0.7, 0.9, 1.0]), rng.choice([0.15, 0.4, 0.7, 0.9])
        near = np.flatnonzero(
            (
                np.abs(self.centres_px - (x0 + SIDE / 2, y0 + SIDE / 2))
                < SIDE / 2 + self.reach[:, None] + 30 + self.overhang(evening, x0, y0)
            ).all(1)
        )
        taken: set[str] = set()
        later = []
        for n in rng.permutation(near):
            site = self.plan.site[n]
            g = self.groups[self.group[site.id]]
            if site.id in taken:
                continue
            lean = self.lean_near(self.centres[n], evening)
            truth.labels[site.id] = EMPTY
            options = [c for c in range(2, len(g.classes)) if g.classes[c] != UNDER]
            tall = 0.0
            if options and rng.random() < (fill if g.reads == "cluster" else 0.8 * fill):
                c = int(rng.choice(options))
                kinds = [k for k in g.classes[c] if k in self.known]
                if len(kinds) != sum(k != "?" for k in g.classes[c]):
                    continue
                if kinds and self.plan.pieces[kinds[-1]].spans:
                    self.lay_block(paint, truth, site.id, c, kinds[-1], lean, taken)
                    continue
                known = self.is_known(self.group[site.id], c)
                tall = self.lay_pile(
                    paint,
                    truth,
                    site.centre,
                    site_box(site),
                    self.choose_contents(self.group[site.id], c),
                    lean,
                    self.turns[n],
                    g.laid_anyhow,
                    known,
                    g.reads == "cluster",
                    self.outlines[n],
                )
                if known:
                    del truth.labels[site.id]
                else:
                    truth.labels[site.id] = c
            if g.loose and rng.random() < (full if tall or g.bare else 0.04):
                later.append((site, g, tall, lean))
        for site, g, tall, lean in later:
            outlines = site.outlines
            outline = outlines[rng.integers(len(outlines))]
            self.scatter_loose(paint, truth, outline, g, tall, lean)
        if self.form and rng.random() < STREWN:
            self.strew_pieces(paint, truth, evening)
        if rng.random() < STRANGE_SHOWN:
            self.misplace_pieces(paint, truth)
        self.stand_pieces(paint)
        self.forget_hidden(paint, truth)
        if rng.random() < 0.2:
            self.disturb_picture(paint, truth)
        return paint.canvas, truth

    def lay_pile(
        self,
        paint: Painter,
        truth: Truth,
        at: np.ndarray,
        box: np.ndarray,
        kinds: Sequence[str],
        lean: np.ndarray,
        turn: float = 0.0,
        anyhow: bool = False,
        known: bool = False,
        careful: bool = False,
        outline: np.ndarray | None = None,
    ) -> float:
        """Lays these pieces upon each other on a site `box` (2,) mm wide about (2,) mm, turned by so
        many degrees, anyhow: by any quarter; careful: as cards are, for things lie on them; outline:
        as of `outline_within`; -> mm of height they make together, of what nobody knows too"""
        rng, (across, down) = self.rng, square_axes(np.ones(1), turn)[0]
        frame, tall, below = np.stack([across, down]), 0.0, None
        for k in kinds:
            if k not in self.known:
                tall += pile_height((k,), self.plan)
                continue
            size = np.array(self.plan.pieces[k].footprint)
            if k in self.standing:
                room = np.maximum(box / 2 - size / 2, 1.0)
                anywhere = rng.random() < LAID_ANYWHERE
                astray = np.clip(rng.normal(0, 0.35, 2), -0.8, 0.8)
                at = at + (rng.uniform(-1, 1, 2) if anywhere else astray) * room
                paint.upright.append((at, tall, k, None))
                continue
            if below is None:
                astray = TIDY_ASTRAY if careful else max(MOST_HURRIED * size.min(), TIDY_ASTRAY)
                astray = min(paint.evening.astray, astray)
                at = at + self.choose_spot(
                    np.maximum(box / 2 - size / 2, 0), astray, frame, outline
                )
            else:
                free = np.maximum(below / 2 - size / 2, 0)
                off = rng.uniform(-1, 1, 2) * (free if rng.random() < 0.5 else 0.3 * free)
                at = at + (off + rng.normal(0, STACKED_ASTRAY, 2)) @ frame
            look = self.pick_look(k, True)
            again = self.pick_look(k, True) if known and look.turned is None else None
            step = 90 if size.max() < LONG_SITE * box.min() else 180
            x, y = paint.lay_piece(
                look,
                at,
                tall,
                lean,
                turn=turn,
                anyhow=anyhow,
                known=again,
                step=step,
                careful=careful,
            )
            # what lies loose elsewhere is found here too
            self.tell_laid(paint, truth, self.plan.pieces[k].looks_like, x, y)
            tall, below = tall + self.plan.pieces[k].height, size
        return tall

    def choose_spot(
        self, room: np.ndarray, astray: float, frame: np.ndarray, outline: np.ndarray | None
    ) -> np.ndarray:
        """(2,) mm from a site's middle to that of its lowest piece. room: (2,) mm it has either way;
        astray: mm it is laid beside where it belongs; frame: (2, 2) the site's axes"""
        rng = self.rng
        for _ in range(SPOTS_TRIED):
            if rng.random() >= LAID_ANYWHERE:
                spot = (np.clip(rng.normal(0, 1, 2), -2, 2) * (0.35 * room + astray)) @ frame
            elif outline is None:
                spot = (rng.uniform(-1, 1, 2) * (room + 1.0)) @ frame
            else:
                spot = rng.uniform(outline.min(0), outline.max(0))
            if outline is None or depth_within(outline, spot) > WITHIN:
                break
        return spot

    def choose_contents(self, group: int, label: int) -> Contents:
        """What lies on a site of a class, with what its upper pieces hide in some photo"""
        shown = self.piled[group].get(label)
        return shown[self.rng.integers(len(shown))] if shown else self.groups[group].classes[label]

    def is_known(self, group: int, label: int) -> bool:
        """Whether what is about to be laid is shown as part of the empty board"""
        return label in self.cards[group] and self.rng.random() < self.known_share

    def pick_look(self, kind: str, straight: bool = False) -> Look:
        """straight: one of which it is known how it lies, where there is any"""
        options = self.looks[kind]
        options = straight and [v for v in options if v.turned is not None] or options
        return options[self.rng.integers(len(options))]

    def flat_classes(self, g: SiteGroup) -> list[int]:
        """Of what a group's sites may show as one, what can be laid anywhere"""
        return [
            c
            for c in range(2, len(g.classes))
            if not g.tall
            and g.classes[c] != UNDER
            and all(k == "?" or k in self.looks for k in g.classes[c])
            and (g.spans or not any(k != "?" and self.plan.pieces[k].spans for k in g.classes[c]))
        ]

    def crowd_pieces(self, paint: Painter, truth: Truth) -> None:
        """What one group of sites shows, close together all over the crop: each teaches what its
        kind looks like, many more than fit on the sites themselves"""
        rng = self.rng
        n = int(rng.choice(len(self.crowding), p=self.crowding / self.crowding.sum()))
        if n >= len(self.groups):
            self.crowd_loose(paint, truth, self.flat_forms[n - len(self.groups)])
            return
        g, options = self.groups[n], self.flat_classes(self.groups[n])
        box, mine = np.array(g.box), self.members[n]
        slanted = bool((self.turns[mine] % 90).any())
        pitch = box.max() * rng.uniform(*CROWD_APART)
        for at in self.crowd_places(paint, pitch, 0.02):
            lean = self.lean_near(at, paint.evening)
            if rng.random() < 0.12:
                truth.elsewhere.append((n, EMPTY, *at, 0.0))
                continue
            turn = rng.uniform(0, 360) if slanted else 0.0
            c = int(options[rng.integers(len(options))])
            kinds = self.choose_contents(n, c)
            known = self.is_known(n, c)
            outline = self.outlines[rng.choice(mine)] if mine and not slanted else None
            how = g.laid_anyhow, known, g.reads == "cluster", outline
            tall = self.lay_pile(paint, truth, at, box, kinds, lean, turn, *how)
            if not known:
                truth.elsewhere.append((n, c, *at, turn))
            if g.loose and rng.random() < 0.5:
                self.scatter_loose(paint, truth, at - box / 2 + box * SQUARE, g, tall, lean)

    def crowd_loose(self, paint: Painter, truth: Truth, kinds: Sequence[str]) -> None:
        """Loose pieces of one form close together all over the crop"""
        rng = self.rng
        piece = self.plan.pieces[kinds[0]]
        middle = self.view.to_mm(paint.origin + SIDE / 2)
        aslant = np.abs(self.lean_near(middle, paint.evening)).max() * piece.height
        pitch = (max(piece.footprint) + aslant) * rng.uniform(*CROWD_APART)
        full = rng.uniform(0.4, 1.0)
        for at in self.crowd_places(paint, pitch, 0.08):
            if rng.random() < full:
                kind = kinds[int(rng.integers(len(kinds)))]
                self.put_loose(paint, truth, kind, at, 0.0, self.lean_near(at, paint.evening))

    def crowd_places(self, paint: Painter, pitch: float, astray: float) -> list[np.ndarray]:
        """(2,) mm on a grid over the crop, `pitch` mm wide, each a share `astray` of that off"""
        rng = self.rng
        low = self.view.to_mm(paint.origin.astype(float)) + rng.uniform(0, 1, 2) * pitch
        count = int(SIDE / self.view.scale / pitch)
        return [
            low + (np.array([column, row]) + rng.normal(0, astray, 2)) * pitch
            for row, column in np.ndindex(count, count)
        ]

    def lay_block(
        self,
        paint: Painter,
        truth: Truth,
        site: str,
        label: int,
        kind: str,
        lean: np.ndarray,
        taken: set[str],
    ) -> None:
        """A piece that covers several sites, where these are free"""
        piece = self.plan.pieces[kind]
        over = covered_sites(self.plan, {site: (kind,)})
        if len(over) < np.prod(piece.spans) - 1 or any(
            i in taken or truth.labels.get(i, EMPTY) != EMPTY for i in over
        ):
            return
        for i in over:
            classes = self.groups[self.group[i]].classes
            if UNDER not in classes:
                return
            taken.add(i)
            truth.labels[i] = classes.index(UNDER)
        middle = block_middle(self.sites[site], piece.spans)
        paint.lay_piece(self.pick_look(kind), middle + self.rng.normal(0, 1, 2), 2.0, lean)
        truth.labels[site] = label
        contents = self.groups[self.group[site]].classes[label]
        truth.elsewhere += shown_blocks(self.groups, self.sites[site], contents)

    def scatter_loose(
        self,
        paint: Painter,
        truth: Truth,
        outline: np.ndarray,
        g: SiteGroup,
        tall: float,
        lean: np.ndarray,
    ) -> None:
        """Loose pieces inside an outline (n, 2) mm as people leave them: single, in heaps, on
        larger ones, over the edge"""
        rng, plan = self.rng, self.plan
        kinds = [k for k in g.loose if k in self.known]
        if not kinds:
            return
        size = {k: max(plan.pieces[k].footprint) for k in kinds}
        least = min(size.values())
        big, small = (
            [k for k in kinds if size[k] > 2 * least],
            [k for k in kinds if size[k] <= 2 * least],
        )
        placed: list[tuple[np.ndarray, float]] = []
        on = None
        if big and rng.random() < 0.3:
            k = big[rng.integers(len(big))]
            at = self.choose_place(outline, size[k], placed)
            self.put_loose(paint, truth, k, at, tall, lean)
            on = at, k
            placed.append((at, size[k]))
        most = max(g.most, 1) + 2
        n = (
            int(rng.integers(0, 3))
            if on is not None
            else int(rng.integers(1, most + 1))
            if rng.random() < 0.6
            else 1
        )
        main = small[rng.integers(len(small))]
        mixed = rng.random() < 0.5
        close = rng.random() < 0.4
        for _ in range(n):
            k = small[rng.integers(len(small))] if mixed else main
            if on is not None and rng.random() < 0.7:
                at = on[0] + rng.uniform(-0.45, 0.45, 2) * size[on[1]]
                self.put_loose(
                    paint,
                    truth,
                    k,
                    at,
                    tall + plan.pieces[on[1]].height * rng.uniform(0.4, 1.0),
                    lean,
                )
                placed.append((at, size[k]))
                continue
            flat = is_flat(plan.pieces[k].footprint, plan.pieces[k].height)
            at = self.choose_place(outline, size[k], placed, close, flat)
            if at is None:
                continue
            placed.append((at, size[k]))
            self.put_loose(paint, truth, k, at, tall, lean)

    def strew_pieces(self, paint: Painter, truth: Truth, evening: Evening) -> None:
        """More loose pieces anywhere, on sites and beside them: nobody lays them so, but each
        teaches what its kind looks like"""
        rng, taken = self.rng, np.array([p[2:] for p in truth.points]).reshape(-1, 2)
        kinds = [k for k in self.form if k in self.known]
        if not kinds:
            return
        for _ in range(int(rng.integers(3, MOST_STREWN))):
            form = [
                k for k in self.forms[rng.integers(len(self.forms))].kinds if k in self.known
            ] or kinds
            kind = form[rng.integers(len(form))]
            piece = self.plan.pieces[kind]
            foot = self.view.to_mm(paint.origin + rng.uniform(0, SIDE, 2))
            tilt = self.lean_near(foot, evening)
            at = self.view.to_px(foot + tilt * piece.height)
            reach = (max(piece.footprint) + piece.height * np.abs(tilt).max()) * self.view.scale
            if len(taken) and np.hypot(*(taken - at).T).min() < reach * rng.uniform(0.8, 1.2):
                continue
            under = self.piles_under(foot, max(piece.footprint) / 2)
            if any(truth.labels.get(i, EMPTY) != EMPTY for i in under):
                continue
            for i in under:  # a stray piece on a pile's empty site is neither
                truth.labels.pop(i, None)
            self.put_loose(paint, truth, kind, foot, 0.0, tilt)
            taken = np.vstack([taken, at])

    def piles_under(self, mm: np.ndarray, reach: float) -> list[str]:
        """The pile sites that something `reach` mm about (2,) mm covers a part of"""
        apart = np.abs(self.pile_centres - mm) - reach
        return [
            self.piles[n].id for n in np.flatnonzero((apart < 0.9 * self.pile_sides / 2).all(1))
        ]

    def lean_near(self, mm: np.ndarray, evening: Evening) -> np.ndarray:
        """(2,) mm a mm of height that things at (2,) mm lean"""
        return evening.lean + (mm - evening.camera[:2]) / evening.camera[2]

    def choose_place(
        self,
        outline: np.ndarray,
        size: float,
        placed: Sequence[tuple[np.ndarray, float]],
        close: bool = False,
        flat: bool = False,
    ) -> np.ndarray | None:
        """(2,) mm within an outline and free of what lies there; what is flat lies on other pieces
        where there is no room, and some lies so anyhow"""
        rng, outline = self.rng, outline.astype(np.float32)
        lo, hi = outline.min(0), outline.max(0)
        at, freest, room = None, None, OVERLAP
        least = OVERLAP if flat and rng.random() < OVERLAID else 0.97
        for _ in range(20):
            if close and placed and rng.random() < 0.8:
                base, theirs = placed[rng.integers(len(placed))]
                a = rng.uniform(0, 2 * np.pi)
                far = (size + theirs) / 2 * rng.uniform(min(least, 0.95), 1.2)
                at = base + np.array([np.cos(a), np.sin(a)]) * far
            else:
                at = rng.uniform(lo, hi)
            if depth_within(outline, at) < 0.15 * size * rng.uniform(-1, 2):
                continue
            free = min((np.hypot(*(at - q)) / (0.5 * (size + s)) for q, s in placed), default=1.0)
            if free > least:
                return at
            if free > room:
                freest, room = at, free
        if flat and freest is not None:
            return freest
        return at if not placed else None

    def put_loose(
        self, paint: Painter, truth: Truth, kind: str, at: np.ndarray, base: float, lean: np.ndarray
    ) -> None:
        if kind in self.standing:
            paint.upright.append((at, base, kind, len(truth.points) if kind in self.form else None))
            up = base + self.plan.pieces[kind].height / 2
            x, y = self.view.to_px(at + top_shift(paint.evening.camera, at[None], up)[0])
            if kind in self.form:
                truth.points.append((*self.form[kind], x, y))
        else:
            x, y = paint.lay_piece(self.pick_look(kind), at, base, lean, loose=True)
            self.tell_laid(paint, truth, kind, x, y)

    def tell_laid(self, paint: Painter, truth: Truth, kind: str, x: float, y: float) -> None:
        """Asks for the piece just laid, whose top's middle is seen at x, y px, where its kind lies
        loose"""
        if kind in self.form:
            paint.marks[len(truth.points)] = paint.laid
            truth.points.append((*self.form[kind], x, y))

    def forget_hidden(self, paint: Painter, truth: Truth) -> None:
        """Nobody is asked for loose pieces of which others hide nearly everything"""
        radius = [HIDDEN_REACH * f.width * self.view.scale for f in self.forms]
        truth.points = [
            p
            for n, p in enumerate(truth.points)
            if (mark := paint.marks.get(n)) is None or paint.shows_piece(mark, p[2:], radius[p[0]])
        ]

    def overhang(self, evening: Evening, x0: int, y0: int) -> float:
        """px from which what stands may lean into a crop"""
        tallest = max((self.plan.pieces[k].height for k in self.standing), default=0.0)
        middle = self.view.to_mm(np.array([[x0 + SIDE / 2, y0 + SIDE / 2]]))
        return float(np.abs(top_shift(evening.camera, middle, tallest)).max()) * self.view.scale

    def stand_pieces(self, paint: Painter) -> None:
        """Puts up what stands, the farthest from the camera first"""
        rng, camera = self.rng, paint.evening.camera
        for foot, base, kind, point in sorted(
            paint.upright, key=lambda u: -np.hypot(*(u[0] - camera[:2]))
        ):
            height = self.plan.pieces[kind].height * rng.normal(1, 0.03)
            low, high = (top_shift(camera, foot[None], h)[0] for h in (base, base + height))
            length = np.hypot(*(high - low))
            options = self.standing[kind]
            some = [options[n] for n in rng.integers(len(options), size=3)]
            look = min(some, key=lambda v: abs(np.log((v.length + 2) / (length + 2))))
            paint.stand_piece(look, foot + low, high - low)
            if point is not None:
                paint.marks[point] = paint.laid

    def strew_table(self, canvas: np.ndarray, beyond: np.ndarray) -> None:
        """Shows anything beyond the board: of the table about it nothing is known"""
        rng, (h, w) = self.rng, canvas.shape[:2]
        few = int(rng.integers(2, 12))
        rough = rng.normal(0, rng.uniform(0.02, 0.6), (few, few, 1)) + rng.normal(
            0, 0.08, (few, few, 3)
        )
        table = rng.uniform(3.2, 5.5) + rng.normal(0, 0.2, 3) + rough
        order = cv2.INTER_LINEAR if rng.random() < 0.5 else cv2.INTER_NEAREST
        seen = cv2.resize(table.astype(np.float32), (w, h), interpolation=order)
        canvas[beyond] = seen[beyond]

    def disturb_picture(self, paint: Painter, truth: Truth) -> None:
        """Something lies there that is no piece: a hand, a sleeve, paper, a cup, a coin"""
        mask = paint.draw_foreign()
        x0, y0 = paint.origin
        truth.points = [p for p in truth.points if not hidden_at(mask, p[2] - x0, p[3] - y0)]
        self.cover_sites(paint, truth, mask)

    def strange_kinds(self, g: SiteGroup) -> list[str]:
        """Tiles and cards that do not belong on a group's sites; loose pieces are found anywhere"""
        own, pieces = belonging_kinds(self.plan, g), self.plan.pieces
        return [
            k
            for k in self.looks
            if k not in self.form
            and not g.tall
            and pieces[k].spans is None
            and not {k, pieces[k].looks_like} & own
        ]

    def misplace_pieces(self, paint: Painter, truth: Truth) -> None:
        """Lays tiles and cards where their kind does not belong: there they are something foreign"""
        rng = self.rng
        for _ in range(int(rng.integers(1, MOST_STRANGE + 1))):
            middle = self.view.to_mm(paint.origin + SIDE / 2)
            reach = SIDE / 2 / self.view.scale
            shown = [i for i in truth.labels if np.abs(self.sites[i].centre - middle).max() < reach]
            if not shown:
                return
            site = self.sites[shown[rng.integers(len(shown))]]
            kinds = self.strange[self.group[site.id]]
            if not kinds:
                continue
            sizes = sorted({self.plan.pieces[k].footprint for k in kinds})
            size = sizes[rng.integers(len(sizes))]
            kinds = [k for k in kinds if self.plan.pieces[k].footprint == size]
            at = site.centre + rng.uniform(-0.25, 0.25, 2) * outline_size(site)
            look = self.pick_look(kinds[rng.integers(len(kinds))])
            paint.lay_piece(look, at, 0.0, self.lean_near(at, paint.evening))
            self.cover_sites(paint, truth, (paint.owner == paint.laid).astype(np.float32))
            truth.labels[site.id] = FOREIGN

    def cover_sites(self, paint: Painter, truth: Truth, mask: np.ndarray) -> None:
        """Tells of the sites that something foreign covers (h, w) 0..1, and of those of which it hides a part
        nothing"""
        x0, y0 = paint.origin
        for i in list(truth.labels):
            lo, hi = (
                np.array(self.sites[i].outlines[0]).min(0),
                np.array(self.sites[i].outlines[0]).max(0),
            )
            (xa, ya), (xb, yb) = (
                np.clip(self.view.to_px(v) - (x0, y0), 0, SIDE).astype(int) for v in (lo, hi)
            )
            share = mask[ya:yb, xa:xb].mean() if xb > xa and yb > ya else 0.0
            if share > 0.3:
                truth.labels[i] = FOREIGN
            elif share > 0.03:
                del truth.labels[i]


def outline_within(site: Site) -> np.ndarray | None:
    """(n, 2) mm about its middle, of a site whose outline leaves much of its box to others; else None"""
    outline = np.array(site.outlines[0], np.float32) - np.array(site.centre, np.float32)
    return outline if cv2.contourArea(outline) <= FILLS_BOX * site_box(site).prod() else None


def card_classes(plan: Plan, g: SiteGroup, looks: Mapping[str, Sequence[Look]]) -> list[int]:
    """Numbers of a group's classes that are one card each whose looks are known, where it tells two at
    least"""
    cards = single_classes(plan, g, looks) if g.reads == "cluster" else []
    return cards if len(cards) > 1 else []


def single_classes(plan: Plan, g: SiteGroup, looks: Mapping[str, Sequence[Look]]) -> list[int]:
    """Numbers of a group's classes that are one card or tile each whose looks are known"""
    return [
        n
        for n, kinds in enumerate(g.classes)
        if len(kinds) == 1 and looks.get(kinds[0]) and not plan.pieces[kinds[0]].disc
    ]


def shown_blocks(
    groups: Sequence[SiteGroup], site: Site, contents: Contents
) -> list[tuple[int, int, float, float, float]]:
    """As of `Truth.elsewhere`: these contents of a site, as blocks of several show them"""
    return [
        (n, g.classes.index(contents), *block_middle(site, g.spans), 0.0)
        for n, g in enumerate(groups)
        if g.spans and contents in g.classes[FOREIGN + 1 :]
    ]


def hidden_contents(
    plan: Plan, g: SiteGroup, layouts: Sequence[Mapping[str, Contents]]
) -> dict[int, list[Contents]]:
    """class in which something lies hidden -> what all lies there, photo by photo, site by site"""
    out: dict[int, list[Contents]] = {}
    for layout in layouts:
        for i in g.ids:
            contents = tuple(layout.get(i, ()))
            base = base_contents(plan, plan.sites[i], contents)
            if "?" in base and base in g.classes:
                out.setdefault(g.classes.index(base), []).append(contents)
    return out


def is_within_crop(middle: np.ndarray, half: np.ndarray | float) -> np.ndarray:
    """(...) bool: whether a sample shows what reaches (..., 2) px about (..., 2) px"""
    return ((middle > half) & (middle < SIDE - half)).all(-1)


def close_reach(sides: np.ndarray) -> np.ndarray:
    """(..., 2) px about its middle that a sample must show of a close-up with sides (..., 2, 2) px"""
    return np.minimum(FULL * np.abs(sides).sum(-2), SIDE / 2 - 1)


def hidden_at(mask: np.ndarray, x: float, y: float) -> bool:
    h, w = mask.shape
    return bool(0 <= x < w and 0 <= y < h and mask[int(y), int(x)] > 0.3)


def crop_padded(canvas: np.ndarray, x0: int, y0: int) -> np.ndarray:
    """(SIDE, SIDE, C), the border drawn out where the canvas is smaller"""
    part = canvas[y0 : y0 + SIDE, x0 : x0 + SIDE]
    if part.shape[:2] == (SIDE, SIDE):
        return part
    return cv2.copyMakeBorder(
        part, 0, SIDE - part.shape[0], 0, SIDE - part.shape[1], cv2.BORDER_REPLICATE
    )
