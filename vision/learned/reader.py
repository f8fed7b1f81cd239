"""Reads every site of a board with the learned network. Its central value: LearnedReader."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

import cv2
import msgspec
import numpy as np

from vision.evidence.count_options import best_options, count_distributions
from vision.evidence.site_evidence import FLOOR, CountedEvidence, SiteEvidence
from vision.frame_cache import FrameCache
from vision.geometry.footprints import camera_position, depth_within, lean_at, top_shift
from vision.geometry.pose import Pose
from vision.geometry.site_groups import block_places
from vision.geometry.site_windows import Pyramid
from vision.learned.canvas import (
    CANVAS_MARGIN,
    GREY,
    Canvas,
    CanvasPart,
    Window,
    enclose_windows,
    joins_cheaply,
    move_window,
    narrow_logs,
    overlap_windows,
    scale_logs,
    stack_input,
    stack_shown,
    widen_logs,
)
from vision.learned.card_bank import CardBank
from vision.learned.card_view import CardScene, Lie
from vision.learned.cards import draw_card, place_card, weigh_cards
from vision.learned.colour_shares import share_colours, tabulate_colours
from vision.learned.findings import (
    SUREST,
    UNLIKELY_PIECE,
    Finding,
    PileMap,
    SiteMap,
    clash_reach,
    join_findings,
)
from vision.learned.groups import (
    EMPTY,
    FOREIGN,
    UNDER,
    Form,
    SiteGroup,
    block_middle,
    group_box,
    loose_names,
    loose_tops,
    site_box,
    tall_sites,
)
from vision.learned.network import (
    HEAT_SPAN,
    PIECE_GRID,
    PIECE_REACH,
    SITE_GRID,
    SITE_REACH,
    SITE_SIZE,
    WIDE_CHANNELS,
    Weights,
    coarsen_pictures,
    match_parts,
    match_templates,
    square_axes,
)
from vision.learned.piece_view import (
    LIKELY_PIECE,
    Ground,
    PieceSpot,
    piece_colours,
    seek_piece,
    weigh_filled,
    weigh_pieces,
)
from vision.learned.plain_sites import (
    CELL,
    MOST_PLAIN,
    average_cells,
    compare_sites,
    plain_logs,
)
from vision.learned.sampling import (
    close_up,
    frame_pieces,
    frame_standing,
    frame_tops,
    sample_map,
    sample_pictures,
    sample_polar,
    whole_close_up,
)
from vision.learned.trunk import Trunk
from vision.photometry.palette_light import KnownLight, LightReference
from vision.photometry.room_light import RoomLight, small_view
from vision.plan import Plan
from vision.storage import model_file

# heat below which a peak is not looked at: of three made-up Niles 1418 of 1422 places are read right with 0.08,
# 1416 with 0.12, 1415 with 0.05
PEAK = 0.08
TOLD_CONTENTS = 8  # contents of a site that are told
# chance from which a card is left as the network tells it: of 394 of photos-2/ur none was wrong
PLAIN_CARD = 0.99
# of what the network says of cards, with how well their looks fit: both look at the same pixels
# (docs/lab/2026-11-29-slivers-of-cards.md)
NETWORK_SAYS = 0.5
PLAIN_CLUSTER = math.log(0.98)  # of what lies on a cluster, below which it is looked at once more
KNOWN_CARD = 0.5  # chance from which a card, or a tile, is then taken for part of the empty board
HIDES = 0.3  # chance of a loose piece from which what lies under it is taken for hidden
# of close-ups of what stands one in eight shows something foreign when it is taught, as places beyond the
# board do (`look_outside`); on tables one site in two hundred does: so much is its logarithm less
FOREIGN_SHOWN = math.log(200 / 8)
# chance of a pile's tile with a small piece, or without, below which pixels are not asked
PLAIN_TOP = math.log(0.02)
# log-probabilities of nothing between which pixels are asked; of something from which its colours are known; of
# a site that something must cover; pixels of which one is kept
PLAINLY_FILLED, PLAINLY_BARE, SURELY_FILLED = (math.log(v) for v in (0.02, 0.98, 0.97))
FILLING, FEWER_PIXELS = 0.7, 5
# log units by which so much of a site differs from the empty board that cards of other sites are compared there
STRANGE_UNLIKE, MOSTLY_UNLIKE = MOST_PLAIN, 0.6
OVERLOOKED = 0.1  # the chance of a piece on a pile of which nothing was found
LIKELY_BLOCK = math.log(0.02)  # chance of a piece over several sites from which it is looked at
UNLIKELY = 0.01  # the least that a loose piece found on a pile's site says of what lies there
# canvas pixels about a place that the network's answer there may depend on, most of it
CONTEXT = 56


class Glance(msgspec.Struct, frozen=True, eq=False):
    """What the network makes of a part of the canvas, looked at as it is or turned by half. fine,
    heat: as of TrunkMaps; shown: (h, w, 3) as of `picture_of`"""

    fine: np.ndarray
    heat: np.ndarray
    shown: np.ndarray
    turned: bool = False

    def places_as_seen(self, at: np.ndarray) -> np.ndarray:
        """(n, 2) pixels of the part, as the network saw it"""
        return np.array(self.shown.shape[1::-1]) - 1 - at if self.turned else at

    def camera_as_seen(self, camera: np.ndarray) -> np.ndarray:
        """(3,) pixels of the part, x, y and height, as the network saw it"""
        return np.append(self.places_as_seen(camera[:2]), camera[2])

    def crop_window(self, part: CanvasPart, window: Window) -> Glance:
        """The same of a window inside the part that was glanced at"""
        x0, y0, x1, y1 = move_window(window, *-part.origin)
        half = np.s_[y0 // 2 : y1 // 2, x0 // 2 : x1 // 2]
        return Glance(self.fine[half], self.heat[half], self.shown[y0:y1, x0:x1])


class LearnedReader:
    """view: how the board is seen; reference: what tells the light; empty: (H, W, 3) log canvas of
    the empty board; weights: of the classifiers; trunk: the network's graph, ONNX; cards: group ->
    how its cards look; plain: as of `least_unlikeness`, below which a site is taken for empty"""

    def __init__(
        self,
        plan: Plan,
        view: Canvas,
        groups: Sequence[SiteGroup],
        forms: Sequence[Form],
        reference: LightReference,
        empty: np.ndarray,
        weights: Weights,
        trunk: bytes,
        cards: Mapping[int, CardBank] | None = None,
        plain: float = 0.0,
    ) -> None:
        self.plan, self.view, self.groups, self.forms = plan, view, tuple(groups), tuple(forms)
        self.cards = dict(cards or {})
        # to widen it at each look would take a twentieth of the time
        self.reference, self.empty, self.graph = reference, empty.astype(np.float32), trunk
        self.plain, self.empty_cells = plain, average_cells(self.empty)
        self.weights = {
            k: v
            for k, v in weights.items()
            if k.startswith("classes/") or "_squeeze" in k or "_embed" in k
        }
        self.colour_tables = {
            k: tabulate_colours(v) for k, v in self.weights.items() if k.endswith("_colours")
        }
        self.trunk = Trunk(trunk)
        numbered = loose_names(forms)
        self.names, self.form_of = [k for _, _, k in numbered], [f for f, _, _ in numbered]
        self.of_form = [[n for _, n, k in numbered if k in form.told_kinds] for form in forms]
        self.offsets = np.concatenate([[0], np.cumsum([len(g.classes) for g in groups])]).astype(
            int
        )
        self.top_kinds = [loose_tops(plan, g, forms) for g in groups]
        self.homes, self.piles = SiteMap(plan), PileMap(plan, self.groups, self.forms)
        # mm, by whether one was found by a rival, and by both forms
        self.clashes = np.array(
            [
                [[clash_reach(a, b, by_rival) for a in self.forms] for b in self.forms]
                for by_rival in (False, True)
            ]
        )
        over = [p for p in plan.piece if p.spans and p.over]
        self.under = (over[0].over,) if over else ("?",)
        self.tall_sites = frozenset(tall_sites(self.groups))
        blocks = [block_places(plan, g.spans) for g in self.groups if g.spans]
        self.block_members = {
            i: members for b in blocks if b is not None for i, members in zip(b.ids, b.members)
        }

    def read(
        self,
        picture: np.ndarray | Pyramid,
        pose: Pose,
        sites: Set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> dict[str, SiteEvidence]:
        """Evidence of these sites, of all where none are named. cache: keeps the light while it is still"""
        picture = Pyramid.of(picture)
        members = [[i for i in g.ids if sites is None or i in sites] for g in self.groups]
        wanted = [(n, self.groups[n], ids) for n, ids in enumerate(members) if ids]
        asked = {i for ids in members for i in ids}
        if not asked:
            return {}
        window = (0, 0, *self.view.shape[::-1]) if sites is None else self.window_of(asked, pose)
        seen = self.view.rectify(picture, pose, self.tell_light(picture, pose, cache), window)
        part = CanvasPart(seen, window, pose)
        shown = scale_logs(seen, np.float32(GREY))
        first = quarter = off = None
        if self.forms or not all(g.tall for _, g, _ in wanted):
            fine, quarter, heat = self.trunk(stack_shown(shown, seen, self.show_empty(window)))
            first = Glance(fine, heat, shown)
            x0, y0, x1, y1 = (v // CELL for v in window)
            off = average_cells(seen) - self.empty_cells[y0:y1, x0:x1]
        pieces = self.find_pieces([first], part) if first and self.forms else []
        strangers = self.piles.find_strangers(pieces, self.homes)
        out: dict[str, SiteEvidence] = {}
        clusters: dict[str, tuple[int, np.ndarray]] = {}
        strange: dict[str, dict[str, float]] = {}
        for n, g, ids in wanted:
            tops = [self.uppermost_piece(n, i, pieces) for i in ids]
            if g.tall:
                rows = self.classify_closely(n, ids, part)
            else:
                rows = self.classify_sites(n, ids, quarter, shown, off, part.origin, tops)
                rows = self.hear_blocks(n, ids, rows, quarter, shown, part.origin)
                rows = self.hear_filled(n, ids, rows, part)
                rows, named = self.hear_strange(n, ids, rows, off, part, pieces)
                strange |= named
            if g.reads == "pile":
                for site, row, top in zip(ids, rows, tops):
                    heard = self.hear_piece(n, row, top)
                    if n in self.cards:
                        heard = self.hear_tile(n, site, heard, part, pieces)
                    out[site] = self.pile_evidence(
                        g, share_strange(heard, strangers.get(site, 0.0))
                    )
            else:
                clusters |= {site: (n, row) for site, row in zip(ids, rows)}
        lies: dict[str, Lie] = {}
        out |= self.tell_clusters(clusters, part, pieces, lies, strange)
        if self.forms:
            doubted = {i: v for i, v in clusters.items() if self.is_doubted(v[0], out[i])}
            for ids, around in self.windows_about(doubted, part).items():
                mine = {i: doubted[i] for i in ids}
                near = part.crop_window(around)
                moved = part.origin - near.origin
                nearer = {i: lies[i].moved_by(moved) for i in ids if i in lies}
                out |= self.look_again(
                    mine, out, near, first.crop_window(part, around), pieces, nearer
                )
        return out

    def tell_light(self, picture: Pyramid, pose: Pose, cache: FrameCache | None) -> RoomLight:
        """The picture's light; the last one's where it looks the same but for some places"""
        seen = small_view(picture, pose, self.view.size)
        known: KnownLight | None = None if cache is None else cache.light
        if known is not None and known.holds_in(seen):
            return known.light
        light = self.reference.estimate_light(seen)
        if cache is not None:
            cache.light = KnownLight(seen, light)
        return light

    def tell_clusters(
        self,
        clusters: Mapping[str, tuple[int, np.ndarray]],
        part: CanvasPart,
        pieces: Sequence[Finding],
        lies: dict[str, Lie],
        strange: Mapping[str, Mapping[str, float]],
    ) -> dict[str, SiteEvidence]:
        """What lies on these. clusters: site -> (group, (classes,) log-probabilities of its card);
        pieces: that were found in this part; lies: site -> how its card was laid, as far as it was; more are
        added; strange: as of `hear_strange`"""
        loose: dict[str, list[tuple[Finding, float]]] = defaultdict(list)
        for found in pieces:
            for site, share in self.homes.share_foot(found.foot).items():
                loose[site].append((found, share))
        out: dict[str, SiteEvidence] = {}
        for n, g in enumerate(self.groups):
            ids = [i for i, (m, _) in clusters.items() if m == n]
            rows = np.array([clusters[i][1] for i in ids])
            if n in self.cards and ids:
                rows = self.hear_cards(n, ids, rows, part, pieces, lies)
            for site, row in zip(ids, rows):
                out[site] = self.cluster_evidence(g, row, loose[site], strange.get(site, {}))
        return out

    def is_doubted(self, group: int, found: SiteEvidence) -> bool:
        """Whether a cluster of this group is looked at once more: where pieces lie on cards, without which
        a second look tells nothing more (docs/lab/2026-11-27-a-second-look.md)"""
        lies = group in self.cards and bool(self.groups[group].loose and found.options)
        return lies and found.best_logp < PLAIN_CLUSTER

    def windows_about(
        self, sites: Collection[str], part: CanvasPart
    ) -> dict[tuple[str, ...], Window]:
        """Windows inside a part of the canvas in which these sites are looked at: each in one of its
        own, together with others where that is no more to look at"""
        windows: list[tuple[tuple[str, ...], Window]] = []
        for site in sites:
            ids, window = (site,), overlap_windows(self.window_of({site}, part.pose), part.window)
            while near := next((w for w in windows if joins_cheaply(w[1], window)), None):
                windows.remove(near)
                ids, window = near[0] + ids, enclose_windows(near[1], window)
            windows.append((ids, window))
        return dict(windows)

    def look_again(
        self,
        clusters: Mapping[str, tuple[int, np.ndarray]],
        told: Mapping[str, SiteEvidence],
        part: CanvasPart,
        first: Glance,
        pieces: Sequence[Finding],
        lies: dict[str, Lie],
    ) -> dict[str, SiteEvidence]:
        """What lies on clusters, as of `tell_clusters`, of which a first look leaves doubt, by a second
        at their part of the canvas: everything turned by half, and the cards that were told taken for
        part of the empty board. Both looks count alike, and so does every pixel of a piece. pieces: that the
        first found"""
        ground = self.draw_cards(clusters, told, part, pieces, lies)
        found = self.find_pieces((first, self.glance_turned(part.seen, ground.picture)), part)
        found = self.hear_ground(found, part, ground)
        return self.tell_clusters(clusters, part, found, lies, {})

    def hear_ground(
        self, pieces: Sequence[Finding], part: CanvasPart, ground: Ground
    ) -> list[Finding]:
        """The same pieces, as likely as what is seen of the cards under them makes them, too"""
        chances = weigh_pieces(self.spots_of(pieces, part), part.seen, ground)
        return [
            msgspec.structs.replace(p, chance=min(float(c), SUREST))
            for p, c in zip(pieces, chances)
        ]

    def glance_turned(self, seen: np.ndarray, ground: np.ndarray) -> Glance:
        """A look at a log canvas turned by half, before a ground (h, w, 3) that is known"""
        seen, ground = (np.ascontiguousarray(v[::-1, ::-1]) for v in (seen, ground))
        shown = scale_logs(seen, np.float32(GREY))
        fine, _, heat = self.trunk(stack_shown(shown, seen, ground))
        return Glance(fine, heat, shown, turned=True)

    def draw_cards(
        self,
        clusters: Mapping[str, tuple[int, np.ndarray]],
        told: Mapping[str, SiteEvidence],
        part: CanvasPart,
        pieces: Sequence[Finding],
        lies: Mapping[str, Lie],
    ) -> Ground:
        """A part of the empty board and the cards told on clusters, as of `tell_clusters`"""
        ground = Ground.without_cards(self.show_empty(part.window))
        for n in self.cards:
            g, ids = self.groups[n], [i for i, (m, _) in clusters.items() if m == n]
            cards = {i: (told_card(told[i]),) for i in ids} if g.loose else {}
            labels = {i: g.classes.index(c) for i, c in cards.items() if c in g.classes}
            self.draw_labelled(ground, n, labels, part, pieces, lies)
        return ground

    def draw_labelled(
        self,
        ground: Ground,
        group: int,
        labels: Mapping[str, int],
        part: CanvasPart,
        pieces: Sequence[Finding],
        lies: Mapping[str, Lie],
    ) -> None:
        """Draws cards of a group's classes as they lie on their sites, of those of which enough shows.
        labels: site -> number of its class"""
        if not labels:
            return
        scene, ids = self.see_cards(group, part, pieces), list(labels)
        places, turns = self.sample_places(group, ids, part), self.groups[group].turns_of(ids)
        for site, at, turn in zip(ids, places, turns):
            bank, label = self.cards[group], labels[site]
            placed = place_card(bank, scene, at, int(turn), label, lies.get(site))
            if placed is not None:
                draw_card(ground, *placed)

    def window_of(self, sites: Set[str], pose: Pose) -> Window:
        """The part of the canvas that tells what lies on these sites"""
        over = {m for i in sites for m in self.block_members.get(i, ())}
        corners = [o for i in sites | over for o in self.plan.sites[i].outlines]
        low, high = np.min([o.min(0) for o in corners], 0), np.max([o.max(0) for o in corners], 0)
        reach = max((f.reach + 0.6 * f.height for f in self.forms), default=0.0)
        tall = max((g.tall for g in self.groups if sites & set(g.ids)), default=0.0)
        if tall:
            shift = top_shift(camera_position(pose), np.array([low, high]), tall)
            low, high = (
                np.minimum(low, low + shift.min(0)),
                np.maximum(high, high + shift.max(0)),
            )
        return self.view.window_around(low - reach, high + reach, CONTEXT)

    def classify_sites(
        self,
        group: int,
        ids: Sequence[str],
        quarter: np.ndarray,
        seen: np.ndarray,
        off: np.ndarray,
        origin: np.ndarray,
        tops: Sequence[Finding | None],
    ) -> np.ndarray:
        """(sites, classes) log-probabilities. seen: (h, w, 3) as of `picture_of`; off: as of
        `differ_from_empty`; origin: (2,) canvas pixel of their first; tops: what was found to lie
        uppermost on each"""
        g, sites = self.groups[group], [self.plan.sites[i] for i in ids]
        out = np.tile(plain_logs(len(g.classes)), (len(sites), 1))
        unlike = compare_sites(self.view, g, sites, off, origin).max(1) >= self.plain
        asked = np.flatnonzero(unlike | np.array([t is not None for t in tops]))
        if not len(asked):
            return out
        sites, tops = [sites[n] for n in asked], [tops[n] for n in asked]
        at = self.view.to_px(np.array([s.centre for s in sites])) - origin
        side = np.array([SITE_REACH * site_box(s).max() for s in sites])
        axes = square_axes(side * self.view.scale, g.degrees_of(sites))
        side = np.full(len(sites), g.top * self.view.scale)
        unseen = np.full(2, np.nan)
        tops_px = np.array([unseen if t is None else self.view.to_px(t.top) - origin for t in tops])
        pictures = frame_tops(at, axes, side, tops_px)
        logits = self.classify(
            "site",
            sample_map(quarter, at, axes, SITE_GRID, 4),
            self.site_prints(seen, *pictures, g.quarters),
        )
        out[asked] = log_softmax(logits[:, self.offsets[group] : self.offsets[group + 1]])
        return out

    def hear_blocks(
        self,
        group: int,
        ids: Sequence[str],
        logs: np.ndarray,
        quarter: np.ndarray,
        seen: np.ndarray,
        origin: np.ndarray,
    ) -> np.ndarray:
        """(sites, classes) log-probabilities, those of pieces that cover several sites shared out anew by
        a look at all that these cover. quarter, seen, origin: as of `classify_sites`"""
        classes, out = self.groups[group].classes, logs.copy()
        for n, g in enumerate(self.groups):
            own = [c for c, kinds in enumerate(classes) if g.spans and kinds in g.classes[2:]]
            share = np.logaddexp.reduce(logs[:, own], 1, initial=-np.inf)
            asked = np.flatnonzero(share > LIKELY_BLOCK)
            if not len(asked):
                continue
            middles = [block_middle(self.plan.sites[ids[k]], g.spans) for k in asked]
            at = self.view.to_px(np.array(middles)) - origin
            side = np.full(len(at), SITE_REACH * max(g.box) * self.view.scale)
            axes = square_axes(side)
            sampled = sample_map(quarter, at, axes, SITE_GRID, 4)
            logits = self.classify("site", sampled, self.site_prints(seen, at, axes, g.quarters))
            mine = [self.offsets[n] + g.classes.index(classes[c]) for c in own]
            out[np.ix_(asked, own)] = share[asked, None] + log_softmax(logits[:, mine])
        return out

    def classify_closely(self, group: int, ids: Sequence[str], part: CanvasPart) -> np.ndarray:
        """(sites, classes) log-probabilities of sites on which pieces stand, each looked at in a
        picture of its own and in its mirror image, as it is taught with both: both looks count alike"""
        g, empty = self.groups[group], self.show_empty(part.window)
        centres = np.array([self.plan.sites[i].centre for i in ids]).reshape(-1, 2)
        off, axes = frame_standing(centres, g, camera_position(part.pose))
        middles = self.view.to_px(centres + off) - part.origin
        pairs = [
            [close_up(m, at, sides) for m in (part.seen, empty)]
            for at, sides in zip(middles, axes * self.view.scale)
        ]
        looks = [
            self.classify_pictures(group, [stack_input(*(v[::step] for v in p)) for p in pairs])
            for step in (1, -1)
        ]
        logs = np.mean(looks, 0)
        logs[:, FOREIGN] -= FOREIGN_SHOWN
        return log_softmax(logs)

    def classify_pictures(self, group: int, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """(n, classes) log-probabilities of what close-ups show, each as `stack_input` gives it"""
        rows = np.zeros((len(pictures), SITE_GRID**2, WIDE_CHANNELS), np.float32)
        for n, picture in enumerate(pictures):
            rows[n] = sample_map(self.trunk(picture)[1], *whole_close_up(), SITE_GRID, 4)[0]
        none = np.zeros((len(rows), len(self.weights["classes/site"]) - SITE_SIZE), np.float32)
        logits = self.classify("site", rows, none)
        return log_softmax(logits[:, self.offsets[group] : self.offsets[group + 1]])

    def classify(self, name: str, sampled: np.ndarray, prints: np.ndarray) -> np.ndarray:
        """(r, classes) logits of what features (r, g, c) and prints as of `match_prints` tell"""
        w = self.weights
        few = (sampled @ w[f"trunk/{name}_squeeze"]).reshape(len(sampled), -1)
        embedded = np.maximum(few @ w[f"trunk/{name}_embed"] + w[f"trunk/{name}_embed.bias"], 0)
        described = np.concatenate([embedded, prints], 1)
        logits = described @ w[f"classes/{name}"] + w[f"classes/{name}.bias"]
        hidden = f"classes/{name}_hidden"
        if hidden in w:  # of kinds of loose pieces
            together = np.maximum(described @ w[hidden] + w[f"{hidden}.bias"], 0)
            logits += together @ w[f"{hidden}_says"]
        return logits

    def site_prints(
        self, seen: np.ndarray, at: np.ndarray, axes: np.ndarray, quarters: bool
    ) -> np.ndarray:
        """How well the copy's prints fit sites about (r, 2) px, sides (r, 2, 2) px: as `match_prints`"""
        return self.match_prints("site", sample_pictures(seen, at, axes), quarters)

    def piece_prints(self, seen: np.ndarray, at: np.ndarray, axes: np.ndarray) -> np.ndarray:
        """How well the copy's prints fit pieces about (r, 2) px, sides (r, 2, 2) px: as `match_prints`"""
        return self.match_prints("piece", sample_polar(seen, at, axes), False)

    def match_prints(self, name: str, fine: np.ndarray, quarters: bool) -> np.ndarray:
        """(r, n) how much of pictures that are `FINER` the copy's own colours take, and how well the prints
        of parts, if it has any, and of the whole fit them"""
        w = self.weights
        own, parts, colours = (f"classes/{name}_{k}" for k in ("prints", "parts", "colours"))
        told = []
        if colours in w:
            told.append(share_colours(name, fine, self.colour_tables[colours], len(w[colours])))
        if parts in w:
            fits = match_parts(name, fine, w[parts], quarters) + w[f"{parts}.bias"]
            told.append(np.maximum(fits, 0))
        fits = match_templates(name, coarsen_pictures(name, fine), w[own], quarters)
        return np.concatenate([*told, np.maximum(fits + w[f"{own}.bias"], 0)], 1)

    def find_pieces(self, glances: Sequence[Glance], part: CanvasPart) -> list[Finding]:
        """Loose pieces: peaks of the heat maps, what they are, of two in one place the surer. glances:
        at this part, which count alike"""
        maps = [self.heat_maps(v.heat) for v in glances]
        ways = [m[::-1, ::-1] if v.turned else m for v, m in zip(glances, maps)]
        logits = sum(ways[1:], ways[0]) / np.float32(len(ways))
        camera, found = self.view.place_camera(camera_position(part.pose), part.origin), []
        for f in range(len(self.forms)):
            at, high = find_peaks(logits[..., f])
            if not len(at):
                continue
            here, kinds = self.weigh_places(f, glances, high, at, camera)
            told = [self.form_of[self.of_form[f][k]] for k in kinds.argmax(1)]
            tops = self.view.to_mm(at + part.origin)
            heights = np.array([self.forms[g].found_height for g in told])
            feet = tops - lean_at(part.pose, tops) * heights[:, None]
            found += [
                Finding(
                    g,
                    top,
                    foot,
                    float(min(c, SUREST)),
                    {self.names[i]: float(v) for i, v in zip(self.of_form[f], row) if v > 1e-4},
                    sought=f,
                )
                for g, top, foot, c, row in zip(told, tops, feet, here, kinds)
                if c > UNLIKELY_PIECE
            ]
        return self.without_clashes(self.piles.leave_piled(found))

    def weigh_places(
        self,
        form: int,
        glances: Sequence[Glance],
        heat: np.ndarray,
        at: np.ndarray,
        camera: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """((n,) chance that a piece of this form or a rival lies there, (n, kinds as of `of_form`) which
        it is). heat: (n,) logits; at: (n, 2) px; camera: (3,) px, x, y and height"""
        scale, sought = self.view.scale, self.forms[form]
        told = []
        for v in glances:
            places = v.places_as_seen(at)
            axes = frame_pieces(
                places,
                v.camera_as_seen(camera),
                sought.width * scale,
                sought.standing_height * scale,
            )
            sampled = sample_map(v.fine, places, PIECE_REACH * axes, PIECE_GRID, 2)
            prints = self.piece_prints(v.shown, places, axes)
            told.append(self.classify("piece", sampled, prints))
        logits = np.mean(told, 0)
        logits += np.clip(heat, *HEAT_SPAN)[:, None] * self.weights["classes/piece_heat"]
        p = np.exp(log_softmax(logits[:, [*self.of_form[form], -1]]))
        return 1 - p[:, -1], p[:, :-1] / p[:, :-1].sum(1, keepdims=True)

    def heat_maps(self, heat: np.ndarray) -> np.ndarray:
        """(h/2, w/2, forms) logits of the trunk's heat features"""
        w, b = self.weights["classes/heat"], self.weights["classes/heat.bias"]
        planes = heat.transpose(2, 0, 1).reshape(len(w), -1)  # no copy, as the network gives it
        return (w.T @ planes + b[:, None]).reshape(-1, *heat.shape[:2]).transpose(1, 2, 0)

    def without_clashes(self, found: list[Finding]) -> list[Finding]:
        """Of pieces of like size that would lie in one another only the surest, as likely as all of them"""
        ordered = sorted(found, key=lambda f: (-f.chance, f.by_rival))
        feet = np.array([f.foot for f in ordered]).reshape(-1, 2)
        forms = np.array([f.form for f in ordered], int)
        rivals = np.array([f.by_rival for f in ordered], int)
        joined: dict[int, list[int]] = {}
        for n in range(len(ordered)):
            kept = list(joined)
            apart = np.hypot(*(feet[kept] - feet[n]).T)
            near = apart <= self.clashes[rivals[n] | rivals[kept], forms[n], forms[kept]]
            if near.any():
                joined[kept[int(np.where(near, apart, np.inf).argmin())]].append(n)
            else:
                joined[n] = [n]
        return [join_findings([ordered[n] for n in some]) for some in joined.values()]

    def uppermost_piece(self, group: int, site: str, pieces: Sequence[Finding]) -> Finding | None:
        """The surest of the pieces found on a pile's site, where pieces lie uppermost that lie loose
        elsewhere"""
        if not self.top_kinds[group]:
            return None
        outline = self.plan.sites[site].outlines[0]
        there = [p for p in pieces if depth_within(outline, p.foot) >= 0]
        return max(there, key=lambda p: p.chance, default=None)

    def hear_piece(self, group: int, logs: np.ndarray, best: Finding | None) -> np.ndarray:
        """(classes,) log-probabilities of what lies on a pile's site, with what was found there"""
        like = self.top_kinds[group]
        if not like:
            return logs
        chance, kinds = (OVERLOOKED, {}) if best is None else (best.chance, best.kinds)
        heard = np.full_like(logs, math.log(max(1 - chance, UNLIKELY)))
        for n, kind in like.items():
            share = 1.0 if best is None else kinds.get(kind, 0.0)
            heard[n] = math.log(max(chance * share, UNLIKELY))
        return log_softmax((logs + heard)[None])[0]

    def hear_filled(
        self, group: int, ids: Sequence[str], logs: np.ndarray, part: CanvasPart
    ) -> np.ndarray:
        """(sites, classes) log-probabilities, those of nothing where a doubt is between nothing and something
        that fills the site: by every pixel of it, in colours that show on such things elsewhere"""
        g, out = self.groups[group], logs.copy()
        if g.reads != "pile" or len(g.classes) <= FOREIGN + 1:
            return logs
        likely = [FOREIGN + 1 + int(row[FOREIGN + 1 :].argmax()) for row in logs]
        empty = logs[:, EMPTY]
        doubted = [
            n
            for n in np.flatnonzero((empty > PLAINLY_FILLED) & (empty < PLAINLY_BARE))
            if self.fills_site(g.classes[likely[n]], ids[n])
        ]
        if not doubted:
            return logs
        colours: dict[int, list[np.ndarray]] = defaultdict(list)
        for n in np.flatnonzero(logs[np.arange(len(ids)), likely] > SURELY_FILLED):
            seen, _, inside = self.cut_site(ids[n], part)
            colours[likely[n]].append(seen[inside][::FEWER_PIXELS])
        for n in doubted:
            known = np.concatenate([np.zeros((0, 3), np.float32), *colours[likely[n]]])
            out[n, EMPTY] -= weigh_filled(*self.cut_site(ids[n], part), known)
        return log_softmax(out)

    def hear_strange(
        self,
        group: int,
        ids: Sequence[str],
        logs: np.ndarray,
        off: np.ndarray,
        part: CanvasPart,
        pieces: Sequence[Finding],
    ) -> tuple[np.ndarray, dict[str, dict[str, float]]]:
        """((sites, classes) log-probabilities, those of something foreign where no card belongs, most of a site
        does not look empty, and a card of other sites fits better than nothing; site -> card -> its share of
        these). off: as of `differ_from_empty`; pieces: that were found in this part"""
        g, named = self.groups[group], {}
        if g.reads != "cluster" or group in self.cards:
            return logs, named
        sites = [self.plan.sites[i] for i in ids]
        unlike = compare_sites(self.view, g, sites, off, part.origin) > STRANGE_UNLIKE
        asked, out = np.flatnonzero(unlike.mean(1) > MOSTLY_UNLIKE), logs.copy()
        best = np.zeros(len(ids))
        for m, bank in self.cards.items() if len(asked) else ():
            scene, known = self.see_cards(m, part, pieces), bank.known_classes()
            kinds = [self.groups[m].classes[c][0] for c in known]
            alike = np.full(len(self.groups[m].classes), -math.log(len(self.groups[m].classes)))
            places = self.sample_places(m, [ids[n] for n in asked], part)
            for n, at in zip(asked, places):
                fits, _ = weigh_cards(bank, scene, at, 0, alike)
                better = float(fits[known].max() - fits[EMPTY])
                if better > best[n]:  # nan where no card fits
                    best[n] = better
                    shares = (1 - math.exp(-better)) * np.exp(log_softmax(fits[None, known])[0])
                    named[ids[n]] = dict(zip(kinds, shares.tolist()))
        out[:, FOREIGN] += best
        return log_softmax(out), named

    def fills_site(self, contents: Sequence[str], site: str) -> bool:
        """Whether the uppermost of these pieces covers most of it"""
        area = cv2.contourArea(self.plan.sites[site].outlines[0].astype(np.float32))
        kind = self.plan.pieces.get(contents[-1])
        return kind is not None and np.prod(kind.footprint) > FILLING * area

    def cut_site(self, site: str, part: CanvasPart) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `weigh_filled` takes a site: what is seen of it, how it looks empty, what lies inside"""
        outline = self.view.to_px(self.plan.sites[site].outlines[0]) - part.origin
        x, y = np.maximum(np.floor(outline.min(0)).astype(int), 1)
        x1, y1 = np.minimum(
            np.ceil(outline.max(0)).astype(int), np.array(part.seen.shape[1::-1]) - 2
        )
        inside = np.zeros((max(y1 + 1 - y, 0), max(x1 + 1 - x, 0)), np.uint8)
        sixteenths = np.rint(16 * (outline - (x, y))).astype(np.int32)
        if inside.size:
            cv2.fillPoly(inside, [sixteenths], 1, cv2.LINE_8, 4)
        around = self.show_empty(part.window)[y - 1 : y1 + 2, x - 1 : x1 + 2]
        return part.seen[y : y1 + 1, x : x1 + 1], around, inside > 0

    def hear_tile(
        self,
        group: int,
        site: str,
        logs: np.ndarray,
        part: CanvasPart,
        pieces: Sequence[Finding],
    ) -> np.ndarray:
        """(classes,) log-probabilities of what lies on a pile's site, as every pixel of the likeliest tile tells
        them, of which a small piece may hide some. pieces: that were found in this part"""
        classes = self.groups[group].classes
        both = [
            (tile, n)
            for tile in self.cards[group].known_classes().tolist()
            for n in self.top_kinds[group]
            if classes[n][:-1] == classes[tile]
        ]
        tile, n = max(both, key=lambda v: np.logaddexp(*logs[list(v)]))
        known = np.logaddexp(logs[tile], logs[n]) > math.log(KNOWN_CARD)
        if logs[[tile, n]].min() < PLAIN_TOP or not known:
            return logs
        near = part.crop_window(overlap_windows(self.window_of({site}, part.pose), part.window))
        ground = Ground.without_cards(self.show_empty(near.window))
        self.draw_labelled(ground, group, {site: tile}, near, pieces, {})
        if not ground.cards.any():
            return logs
        outline, kind = self.plan.sites[site].outlines[0], self.top_kinds[group][n]
        alike = [
            p
            for p in pieces
            if p.chance * p.kinds.get(kind, 0) > LIKELY_PIECE and depth_within(outline, p.foot) < 0
        ]
        colours = piece_colours(self.spots_of(alike, part), part.seen)
        form = self.forms[self.form_of[self.names.index(kind)]]
        width = form.feret_diameters[0] * self.view.scale
        out = logs.copy()
        out[n] += seek_piece(near.seen, ground, colours, width)
        return log_softmax(out[None])[0]

    def show_empty(self, window: Window) -> np.ndarray:
        """(h, w, 3) log canvas of the empty board in a window"""
        x0, y0, x1, y1 = window
        return self.empty[y0:y1, x0:x1]

    def see_cards(self, group: int, part: CanvasPart, pieces: Sequence[Finding]) -> CardScene:
        """What shows of a group's cards between these pieces"""
        hiding = [p for p in pieces if p.chance > HIDES]
        zoom = self.cards[group].samples / self.view.scale
        spread = self.spread_pieces(hiding, part)
        return CardScene.of(part.seen, self.show_empty(part.window), zoom, *spread)

    def spots_of(self, pieces: Sequence[Finding], part: CanvasPart) -> list[PieceSpot]:
        """Where pieces may lie in a part of the canvas"""
        return [
            PieceSpot(max(p.kinds, key=p.kinds.get), p.chance, *where)
            for p, where in zip(pieces, zip(*self.spread_pieces(pieces, part)))
        ]

    def spread_pieces(
        self, pieces: Sequence[Finding], part: CanvasPart
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """((n, 2) px of this part at which the middles of pieces' lowest parts are seen; of their highest; (n, 2)
        px across them, the least and the most)"""
        forms = [self.forms[p.form] for p in pieces]
        feet, middles = (
            self.view.to_px(np.array([getattr(p, k) for p in pieces]).reshape(-1, 2)) - part.origin
            for k in ("foot", "top")
        )
        rise = np.array([f.height / max(f.found_height, 1e-6) for f in forms]).reshape(-1, 1)
        widths = np.array([f.feret_diameters for f in forms]).reshape(-1, 2) * self.view.scale
        return feet, feet + (middles - feet) * rise, widths

    def sample_places(self, group: int, sites: Sequence[str], part: CanvasPart) -> np.ndarray:
        """(n, 2) samples of a `CardScene` of this part at which the sites' middles lie"""
        zoom = self.cards[group].samples / self.view.scale
        centres = np.array([self.plan.sites[i].centre for i in sites]).reshape(-1, 2)
        return (self.view.to_px(centres) - part.origin + 0.5) * zoom - 0.5

    def hear_cards(
        self,
        group: int,
        ids: Sequence[str],
        logs: np.ndarray,
        part: CanvasPart,
        pieces: Sequence[Finding],
        lies: dict[str, Lie],
    ) -> np.ndarray:
        """(sites, classes) log-probabilities, those of cards and of none shared out anew by how well
        their looks fit what shows of them between these pieces; as they are where the network is
        sure. lies: as of `tell_clusters`"""
        doubted = [n for n, row in enumerate(logs) if math.exp(row.max()) <= PLAIN_CARD]
        if not doubted:
            return logs
        scene, bank = self.see_cards(group, part, pieces), self.cards[group]
        turns, places = self.groups[group].turns_of(ids), self.sample_places(group, ids, part)
        out = logs.copy()
        for n in doubted:
            known = lies.get(ids[n])
            fits, lie = weigh_cards(bank, scene, places[n], int(turns[n]), logs[n], known)
            out[n] = share_cards(logs[n], fits)
            if lie is not None:
                lies[ids[n]] = lie
        return out

    def pile_evidence(self, g: SiteGroup, logs: np.ndarray) -> SiteEvidence:
        likeliest = np.argsort(-logs)[: TOLD_CONTENTS + 1]
        options = [
            (self.under if g.classes[c] == UNDER else g.classes[c], max(float(logs[c]), FLOOR))
            for c in likeliest
            if c != FOREIGN
        ]
        return SiteEvidence(tuple(options[:TOLD_CONTENTS]), max(float(logs[FOREIGN]), FLOOR))

    def card_evidence(
        self, g: SiteGroup, logs: np.ndarray, strange: Mapping[str, float]
    ) -> CountedEvidence:
        """Of a cluster's card, or something foreign, alone; no options. strange: card -> its share of
        what is foreign"""
        other = float(np.exp(logs[FOREIGN]))
        named, other = other, other * (1 - sum(strange.values()))
        first = {
            "" if not c else c[0]: max(float(v) - math.log(max(1 - other, 1e-6)), FLOOR)
            for n, (c, v) in enumerate(zip(g.classes, logs))
            if n != FOREIGN
        }
        rest = max(1 - other, 1e-6)
        first |= {k: max(math.log(max(named * v / rest, 1e-9)), FLOOR) for k, v in strange.items()}
        return CountedEvidence(
            (), max(math.log(max(other, 1e-9)), FLOOR), first if len(first) > 1 else {}
        )

    def cluster_evidence(
        self,
        g: SiteGroup,
        logs: np.ndarray,
        loose: Iterable[tuple[Finding, float]],
        strange: Mapping[str, float],
    ) -> CountedEvidence:
        card = self.card_evidence(g, logs, strange)
        first = card.first
        found = []
        for piece, share in loose:
            choice = {k: v * piece.chance * share for k, v in piece.kinds.items()}
            choice[""] = 1 - piece.chance * share
            found.append(choice)
        options = best_options({k: math.exp(v) for k, v in first.items()} or {"": 1.0}, found)
        rest = math.log(max(1 - math.exp(card.other), 1e-6))
        return CountedEvidence(
            tuple(
                (c, max(math.log(max(p, 1e-9)) + rest, FLOOR)) for c, p in options[:TOLD_CONTENTS]
            ),
            card.other,
            first,
            count_distributions(found, g.loose),
            count_distributions([{"any": 1 - c[""]} for c in found], ("any",))["any"],
        )

    def pack(self) -> model_file.Arrays:
        arrays = {f"weights/{k}": v.astype(np.float16) for k, v in self.weights.items()}
        about = {
            "scale": self.view.scale,
            "margin": self.view.margin,
            "plain": self.plain,
            "leaning": True,
            "groups": msgspec.to_builtins(self.groups),
            "forms": msgspec.to_builtins(self.forms),
        }
        for n, bank in self.cards.items():
            arrays |= model_file.add_prefix(f"cards/{n}", bank.pack())
        return arrays | {
            "about": model_file.text_as_array(json.dumps(about)),
            **self.reference.pack(),
            "empty": narrow_logs(self.empty),
            "trunk": np.frombuffer(self.graph, np.uint8),
        }

    @classmethod
    def unpack(cls, plan: Plan, arrays: model_file.Arrays) -> LearnedReader:
        """Raises KeyError or ValueError where something is missing or odd"""
        about = json.loads(model_file.array_as_text(arrays["about"]))
        view = Canvas(
            tuple(map(float, plan.size)),
            float(about["scale"]),
            float(about.get("margin", CANVAS_MARGIN)),
        )
        groups, forms = (
            model_file.convert_plain(about[k], tuple[t, ...])
            for k, t in (("groups", SiteGroup), ("forms", Form))
        )
        for g in groups:
            if g.ids and not np.allclose(g.box, group_box(plan, g.ids)):
                raise ValueError(f"{g.ids[0]} is looked at otherwise")
        standing = [f.kinds[0] for f in forms if f.upright]
        if standing and not about.get("leaning"):  # earlier models saw a square about its middle
            raise ValueError(f"{standing[0]} is looked at otherwise")
        return cls(
            plan,
            view,
            groups,
            forms,
            LightReference.unpack(arrays, view.size),
            widen_logs(arrays["empty"]),
            {
                k: v.astype(np.float32)
                for k, v in model_file.strip_prefix("weights", arrays).items()
            },
            arrays["trunk"].tobytes(),
            {
                n: CardBank.unpack(part)
                for n in range(len(groups))
                if (part := model_file.strip_prefix(f"cards/{n}", arrays))
            },
            float(about.get("plain", 0.0)),
        )


def share_strange(logs: np.ndarray, chance: float) -> np.ndarray:
    """(classes,) log-probabilities of what lies on a site, with the chance that something does which does
    not belong there"""
    if chance <= 0:
        return logs
    out = logs + math.log(max(1 - chance, UNLIKELY))
    out[FOREIGN] = np.logaddexp(out[FOREIGN], math.log(chance))
    return out


def share_cards(logs: np.ndarray, fits: np.ndarray) -> np.ndarray:
    """(classes,) log-probabilities, what they give to all cards whose looks are known shared out anew.
    fits: as of `weigh_cards`"""
    known = np.flatnonzero(~np.isnan(fits))
    if not len(known):
        return logs
    out = logs.copy()
    shared = (NETWORK_SAYS * logs + fits)[known]
    out[known] = log_softmax(shared[None])[0] + np.logaddexp.reduce(logs[known])
    return out


def told_card(found: SiteEvidence) -> str | None:
    """The card that lies on a cluster as likely as not; None where none does"""
    cards = found.first if isinstance(found, CountedEvidence) else {}
    best = max(cards, key=cards.get, default="")
    return best if best and math.exp(cards[best]) > KNOWN_CARD else None


def find_peaks(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(r, 2) pixels of a canvas at which a heat map at half its size (h, w) is highest, (r,) logits"""
    one = np.ascontiguousarray(logits)
    high = one > math.log(PEAK / (1 - PEAK))
    if not high.any():
        return np.zeros((0, 2)), np.zeros(0, one.dtype)
    ys, xs = np.nonzero(high & (one == cv2.dilate(one, np.ones((3, 3), np.uint8))))
    return np.column_stack([xs, ys]) * 2 + 0.5, one[ys, xs]


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
