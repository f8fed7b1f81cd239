"""Locates the board in a picture by its cards, its print, or its tiles. Central value:
Registrar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import msgspec
import numpy as np

from vision.evidence.site_evidence import NoBoard
from vision.geometry.lens import Lens, pack_pose, unpack_pose
from vision.geometry.pose import Pose, board_scale
from vision.geometry.symmetry import site_spacing, symmetric_turns, turned_corners
from vision.photometry.small_picture import View
from vision.plan import Plan
from vision.registration.aruco_cards import CARD, ENOUGH_CARDS, IDS, find_cards, find_cards_near
from vision.registration.board_outline import poses_by_outline, refine_by_sides, scene_frames
from vision.registration.grid_detection import poses_by_lattice
from vision.registration.pose_ambiguity import (
    ResolvedPose,
    open_look_alikes,
    placements_squares_off,
    pose_by_table,
    pose_elsewhere,
    repeats_by_squares,
    resolve_ambiguity,
)
from vision.registration.pose_refinement import (
    LEAST_PATCHES,
    STRAINED_PX,
    PrintFit,
    consensus_pose,
    expected_error,
    follow_other_lens,
    follow_print,
    robust_pose,
)
from vision.registration.print_map import SEEN_CORRELATION, Picture, PrintMap
from vision.registration.tile_frame import Tiles, locate_tiles, settle_tiles
from vision.registration.whole_board import WholeBoard
from vision.storage.image_array import decode_image

SMALLEST_PICTURE, LARGEST_PICTURE = 160, 20000  # sides of a picture, pixels
STILL_PX = 0.35  # below this, the camera has not moved, at 1640 wide
# how far off the sides of a bumped board, or of an outline, may be, at 1640 wide
NEAR_PX, OUTLINE_PX = 60.0, 30.0
ELSEWHERE_PX = 4.0  # poses closer than this are the same
STARTS_AGREED = 3  # if this many starts lead to the same placement, the others are not tried
SQUARES_OFF = 3  # shifted placements per rotation that are tried
STRIDES = 3  # rounds of searching around the best placement, on a board of squares
QUICK = 40  # the most patches used in a quick check
# levels of the print and search margins for following it from a pose that may be a little off,
# from one at which the board fits roughly, and from one that is only a guess
FOLLOWED, FITTED, GUESSED = ((2, 1, 0), (8, 4, 3)), ((1, 0), (8, 3)), ((1, 0), (12, 3))
# shares of the patches seen: enough to stop searching; the least that is accepted
SURE_SHARE, LEAST_SEEN_SHARE = 0.25, 0.12

Start = tuple[Pose, tuple[int, ...], tuple[int, ...]]  # a rough pose, levels and search margins


class Registrar(msgspec.Struct, frozen=True, eq=False):
    """lens: of the calibration photos; cards: id -> (4, 2) mm of each card's corners as measured,
    empty without cards; printed: the board as a map, None if it has no print; whole: the same as
    one view including its rim; tiles: loose tiles as a frame, if there is no print; first: the pose
    in the first calibration photo; scene: a small view of the barest photo including the table,
    with which a first picture is compared; frame_mm: uncertainty from cards or taps about the
    board's position on its map; rise: mm by which the board's sides are above its print, as with a
    rim."""

    plan: Plan
    lens: Lens
    cards: dict[int, np.ndarray]
    printed: PrintMap | None
    tiles: Tiles | None
    first: Pose
    scene: View
    frame_mm: float = 0.0
    whole: WholeBoard | None = None
    rise: float = 0.0

    @property
    def finds_boards(self) -> bool:
        """Whether it can find boards at all: by cards, print, or tiles"""
        return bool(self.cards) or self.printed is not None or self.tiles is not None

    @property
    def _map(self) -> PrintMap:
        """`printed`, for a board that is known to have a print"""
        assert self.printed is not None
        return self.printed

    @property
    def _view(self) -> WholeBoard:
        """`whole`, for such a board"""
        assert self.whole is not None
        return self.whole

    def locate(self, image: np.ndarray, last: Pose | None = None) -> Pose:
        """The board's pose in a picture (BGR or grey, uint8), with error_px. Raises NoBoard with
        the reason.

        last: the previous pose, checked first; if it still holds, the same object is returned."""
        picture = checked_picture(image)
        if last is not None and last.size == picture.size:
            pose = self._still(picture, last)
            if pose is not None:
                return pose if pose is last else self.with_frame(pose)
        return self.with_frame(self._search(picture, last))

    def ways(self, image: np.ndarray, pose: Pose) -> list[Pose]:
        """The poses of the board that the picture allows, turned or some squares off, including
        `pose`; each on its own as certain as if it were the only one"""
        picture = checked_picture(image)
        return [
            self.with_frame(self._refined(picture, each, {})) for each in pose.as_well or (pose,)
        ]

    def neighbours(self, image: np.ndarray, pose: Pose, aside: bool) -> list[Pose]:
        """The poses of the board turned in place at `pose`; with `aside` those a square further
        instead"""
        if self.printed is None:
            return []
        turns = turned_corners(self.plan)
        if not aside:
            return self.poses_elsewhere(image, pose, [mm for mm, _ in turns[1:]])
        if not (self.repeats_by_squares and site_spacing(self.plan).all()):
            return []
        squares = placements_squares_off(
            self.plan, self.lens, self._view, checked_picture(image), pose, turns, SQUARES_OFF
        )
        return self.poses_elsewhere(image, pose, [mm for _, mm, _ in squares])

    @property
    def repeats_by_squares(self) -> bool:
        """Whether the board's print looks the same a square further"""
        return self.printed is not None and repeats_by_squares(self.printed)

    def poses_elsewhere(
        self, image: np.ndarray, pose: Pose, places: Sequence[np.ndarray]
    ) -> list[Pose]:
        """The poses of a board whose points, (4, 2) mm each, are where `pose` puts its corners,
        refined by the print"""
        picture, out = checked_picture(image), []
        for mm in places:
            start = pose_elsewhere(self.plan, self.lens, pose, mm)
            if start is None:
                continue
            fit = follow_print(self.plan, self.lens, self._map, picture, start, (1, 0), (5, 3))
            rough = start if fit is None else fit.pose
            out.append(self.with_frame(self._refined(picture, rough, {})))
        return out

    def is_ambiguous(self, image: np.ndarray, pose: Pose) -> bool:
        """Whether the visible print allows that the board is turned, or a square off; never if
        cards show its placement"""
        if pose.by == "markers" or self.printed is None or not len(self.printed.likes):
            return False
        picture = checked_picture(image)
        fit = follow_print(self.plan, self.lens, self.printed, picture, pose, (0,), (3,))
        return fit is not None and bool(open_look_alikes(self.printed, picture, fit))

    def with_frame(self, pose: Pose) -> Pose:
        """The pose, with the map's own uncertainty added to its error"""
        return self._less_sure(pose, self.frame_mm)

    def _less_sure(self, pose: Pose, mm: float) -> Pose:
        """The pose, with its error enlarged by an independent one"""
        more = mm * board_scale(pose, self.plan)
        return msgspec.structs.replace(pose, error_px=float(np.hypot(pose.error_px, more)))

    def _still(self, picture: Picture, last: Pose) -> Pose | None:
        """`last` if it still holds, a slightly different one if the camera was touched, otherwise
        None"""
        if self.printed is None and not self.cards:
            return self._by_tiles(picture, last)  # which searches near the last pose first
        if self.printed is None:
            found = self._cards_near(picture, last)
            if len(found) < 2:
                return None
            mm, px = self._card_points(found, last)
            if np.linalg.norm(last.to_px(mm) - px, axis=1).max() < 2 * STILL_PX * picture.scale:
                return last
            return self._by_cards(found, picture.size) if len(found) > 2 else None
        fit = follow_print(self.plan, self.lens, self.printed, picture, last, (0,), (3,), QUICK)
        if fit is None or fit.share < SURE_SHARE:
            # among many pieces little of the print is visible: then all of it is used, and
            # rotations are checked
            fit = follow_print(self.plan, self.lens, self.printed, picture, last, (0,), (3,))
            if fit is None or fit.share < LEAST_SEEN_SHARE:
                return None
        still = max(STILL_PX * picture.scale, 2 * fit.pose.error_px)
        if corner_shift(self.plan, fit.pose, last) < still:
            return last  # nobody could move a board by a turn or a square so exactly
        if (
            open_look_alikes(self.printed, picture, fit, 8)
            and open_look_alikes(self.printed, picture, fit)
            and not self._cards_say(picture, last)
            and self._which_way(picture, fit, last).fit is not fit
        ):
            return None
        fit = follow_print(self.plan, self.lens, self.printed, picture, last, (1, 0), (5, 3))
        return fit.pose if fit is not None and fit.share >= SURE_SHARE else None

    def _unmoved(self, picture: Picture, pose: Pose, last: Pose | None) -> bool:
        """Whether the board is exactly where it was: nobody could turn it or move it by a square so
        exactly"""
        still_px = STILL_PX * picture.scale
        still = np.clip(2 * pose.error_px, still_px, 3 * still_px)
        return any(corner_shift(self.plan, pose, p) < still for p in self._near(picture, last))

    def _unmoved_and_full(self, picture: Picture, last: Pose | None) -> Pose | None:
        """The pose of a board that pieces hide almost completely, if it has not moved: too few
        patches are left to find it, but these are where they were"""
        for near in self._near(picture, last):
            mm, px, alike = self._map.measure(picture, near, 0, 3)
            seen = alike > SEEN_CORRELATION
            off = np.linalg.norm(near.to_px(mm) - px, axis=1)[seen]
            if seen.sum() >= LEAST_PATCHES and np.median(off) < STILL_PX * picture.scale:
                error = expected_error(self.plan, near, mm[seen], off)
                return msgspec.structs.replace(near, error_px=error)
        return None

    def _cards_say(self, picture: Picture, pose: Pose) -> bool:
        """Whether cards are seen near where the pose puts them: then there is no doubt about the
        board's rotation"""
        found = self._cards_near(picture, pose)
        if len(found) < 2:
            return False
        mm, px = self._card_points(found, pose)
        off = np.linalg.norm(pose.to_px(mm) - px, axis=1)
        return bool(np.median(off) < 0.1 * CARD * board_scale(pose, self.plan))

    def _search(self, picture: Picture, last: Pose | None) -> Pose:
        """Searches everywhere: cards, near the last pose, near the first one, by features of the
        print"""
        found = self._find_cards(picture, last) if self.cards else {}
        by_cards = self._by_cards(found, picture.size) if len(found) > 1 else None
        if self.printed is None:
            pose = by_cards or self._by_tiles(picture, last)
            if pose is None:
                seen = [f"{len(found)} of {len(self.cards)} cards in view"] if self.cards else []
                seen += ["no pattern of tiles in view"] if self.tiles is not None else []
                raise NoBoard(", and ".join(seen) or "0 of 0 cards in view")
            return pose
        if by_cards is not None:
            return self._print_near(picture, by_cards, found)
        pose = self._by_print(picture, last, found)
        pose = pose or self._unmoved_and_full(picture, last) or self._by_tiles(picture, last)
        if pose is None:
            cards = f"{len(found)} of {len(self.cards)} cards in view, and " if self.cards else ""
            raise NoBoard(f"{cards}the board's print was not found")
        return pose

    def _print_near(self, picture: Picture, by_cards: Pose, found: dict[int, np.ndarray]) -> Pose:
        """The pose from the cards, refined by the print. Cards give the board's rough position and
        its rotation, so print that looks alike elsewhere does not matter"""
        fits = (
            follow_print(self.plan, self.lens, self._map, picture, by_cards, *way)
            for way in (FITTED, FOLLOWED)
        )
        fit = next((f for f in fits if f is not None and f.share >= LEAST_SEEN_SHARE), None)
        if fit is None or fit.share < SURE_SHARE:
            slid = self._slid(picture, by_cards)
            if slid is not None and (fit is None or slid.share > 2 * fit.share):
                fit = slid
        return by_cards if fit is None else self._refined(picture, fit.pose, found)

    def _by_print(
        self, picture: Picture, last: Pose | None, found: dict[int, np.ndarray]
    ) -> Pose | None:
        """The pose at which most of the print is seen, marked as doubtful if it looks alike
        elsewhere; None if the print is not seen"""
        best: ResolvedPose | None = None
        tried: list[Pose] = []
        agreed = 0  # starts that lead to the best placement
        for start in self._starts(picture, last):
            fit = follow_print(self.plan, self.lens, self._map, picture, *start)
            if fit is None or fit.share < LEAST_SEEN_SHARE:
                continue
            if any(corner_shift(self.plan, fit.pose, p) < ELSEWHERE_PX for p in tried):
                continue
            if fit.share >= SURE_SHARE and self._unmoved(picture, fit.pose, last):
                return self._refined(picture, fit.pose, found)
            way = self._which_way(picture, fit, last)
            tried += [fit.pose, way.fit.pose]
            better = best is None or way.score > best.score
            if best and corner_shift(self.plan, way.fit.pose, best.fit.pose) < ELSEWHERE_PX:
                agreed += 1
            elif better:
                agreed = 1
            best = way if better else best
            if way.fit.share >= SURE_SHARE and (way.sure or agreed == STARTS_AGREED):
                break
        if best is None:
            return None
        pose = msgspec.structs.replace(
            self._refined(picture, best.fit.pose, found),
            maybe_turned=best.turned,
            as_well=best.as_well,
        )
        if best.sure:
            return pose
        square = min((d for d in site_spacing(self.plan) if d > 0), default=0.0)
        return self._less_sure(pose, square)

    def _find_cards(self, picture: Picture, last: Pose | None) -> dict[int, np.ndarray]:
        """The cards, if at least most are where they were, which takes a few milliseconds;
        otherwise anywhere in the picture"""
        for pose in self._near(picture, last):
            found = self._cards_near(picture, pose)
            if len(found) >= min(ENOUGH_CARDS, len(self.cards)):
                return found
        return {i: c for i, c in find_cards(picture.level(0)).items() if i in self.cards}

    def _cards_near(self, picture: Picture, pose: Pose) -> dict[int, np.ndarray]:
        """The cards that are seen near where the pose puts them"""
        return find_cards_near(picture.level(0), {i: pose.to_px(c) for i, c in self.cards.items()})

    def _slid(self, picture: Picture, by_cards: Pose) -> PrintFit | None:
        """The fit of a board that has slid out from between its cards, but is clearly seen
        nearby"""
        fits = (
            follow_print(self.plan, self.lens, self._map, picture, rough, *FITTED)
            for rough in self._view.roughly(self.plan, picture, by_cards)
        )
        sure = (f for f in fits if f is not None and f.share >= SURE_SHARE)
        return max(sure, key=lambda f: f.share, default=None)

    def _which_way(self, picture: Picture, fit: PrintFit, last: Pose | None) -> ResolvedPose:
        """The best placement around a pose, repeated around that one as long as it improves, since
        only a few squares are covered at a time"""
        known = (self.plan, self.lens, self._map, self._view, picture)
        near = self._near(picture, last)
        way = resolve_ambiguity(*known, fit, near)
        for _ in range(STRIDES - 1 if repeats_by_squares(self._map) else 0):
            if corner_shift(self.plan, way.fit.pose, fit.pose) < ELSEWHERE_PX:
                break
            fit = way.fit
            new = resolve_ambiguity(*known, fit, near)
            if new.score <= way.score:
                break
            way = new
        return way

    def _starts(self, picture: Picture, last: Pose | None) -> Iterator[Start]:
        """Rough poses to try, the likeliest first, each with the levels of the print and the search
        margins for following it"""
        near = self._near(picture, last)
        for pose in near:
            yield pose, *FOLLOWED
            # coarse patches are wide: among many pieces few of them are fully visible
            yield pose, *GUESSED
        yield from self._around(picture, near[0])
        if repeats_by_squares(self._map):
            yield from self._outlined(picture, near[:1], NEAR_PX)
        if (by_features := self._by_features(picture)) is not None:
            yield by_features, *FITTED
        for quarters in symmetric_turns(self.plan):
            turned = turn_board(self.plan, self.lens, near[-1], quarters)
            yield turned, *FOLLOWED
            yield from self._around(picture, turned)
        yield from self._outlined(
            picture,
            poses_by_outline(self.plan, self.lens, self.scene, picture.image, True),
            OUTLINE_PX,
            scene_frames(self.plan, self.lens, self.scene),
        )
        for lattice in poses_by_lattice(self.plan, self.lens, picture):
            yield lattice, *GUESSED
        for quarters in (2, 1, 3):
            held = roll_camera(near[-1], quarters)
            yield held, *FOLLOWED
            yield from self._around(picture, held)
        if (from_another_side := self._by_features(picture, slanted=True)) is not None:
            yield from_another_side, *FITTED

    def _around(self, picture: Picture, pose: Pose) -> Iterator[Start]:
        """Poses near this one at which the board fits roughly"""
        for rough in self._view.roughly(self.plan, picture, pose):
            yield rough, *FITTED

    def _outlined(
        self, picture: Picture, rough: list[Pose], reach: float, frames: Sequence[np.ndarray] = ()
    ) -> Iterator[Start]:
        """Poses at which the board's sides are seen, in each rotation; frames: (4, 2) mm each,
        outlines that may be seen instead of them"""
        ways = (0, *symmetric_turns(self.plan))
        for pose in rough:
            reach_px = reach * picture.scale
            sharp = refine_by_sides(self.plan, self.lens, picture.image, pose, reach_px)
            found = [(sharp, self.plan.corners, (4, 3))] if sharp is not None else []
            found += [(pose, mm, (12, 3)) for mm in frames]
            for seen, mm, margins in found:
                for quarters in ways:
                    turned = pose_elsewhere(self.plan, self.lens, seen, np.roll(mm, quarters, 0))
                    if turned is not None:
                        yield turned, (1, 0), margins

    def _near(self, picture: Picture, last: Pose | None) -> list[Pose]:
        """The last pose, if the picture has the same size, and the first one scaled to this
        picture"""
        near = [last] if last is not None and last.size == picture.size else []
        K, first = self.lens.K(picture.size), self.first
        return [*near, Pose(K, self.lens.dist, first.rvec, first.tvec, picture.size, "print")]

    def _by_tiles(self, picture: Picture, last: Pose | None) -> Pose | None:
        """The pose from loose tiles; `last` itself if it fits them equally well"""
        if self.tiles is None:
            return None
        if last is not None and last.size == picture.size:
            pose = settle_tiles(self.plan, self.tiles, picture.image, last)
            if pose is not None and corner_shift(self.plan, pose, last) < 3 * pose.error_px:
                return last
        near = self._near(picture, last)
        pose = locate_tiles(self.plan, self.tiles, picture.image, near)
        if pose is None:
            turned = [turn_board(self.plan, self.lens, near[-1], k) for k in (2, 1, 3)]
            starts = [*turned, roll_camera(near[-1], 2)]
            for start in (near[-1], *turned):
                starts += self._view.roughly(self.plan, picture, start)[:2]
            pose = locate_tiles(self.plan, self.tiles, picture.image, starts)
            if pose is None:
                return None
        way = pose_by_table(self.plan, self.lens, self._view, picture, pose)
        if way is pose:
            return pose
        return settle_tiles(self.plan, self.tiles, picture.image, way) or pose

    def _by_features(self, picture: Picture, slanted: bool = False) -> Pose | None:
        """A rough pose from features of the print at any rotation; slanted: also from a completely
        different side"""
        matched = self._map.match(picture, slanted)
        if matched is None:
            return None
        return consensus_pose(self.lens, *matched, picture.size, 4.0 * picture.scale, "print")

    def _by_cards(self, found: dict[int, np.ndarray], size: tuple[int, int]) -> Pose | None:
        """The pose from cards alone"""
        mm, px = self._card_points(found, None)
        try:
            pose, _ = self.lens.pose(mm, px, size, "markers")
        except ValueError:
            return None
        for _ in range(2):
            mm, px = self._card_points(found, pose)
            pose, apart = robust_pose(mm, px, pose, 3.0)
        return msgspec.structs.replace(pose, error_px=expected_error(self.plan, pose, mm, apart))

    def _card_points(
        self, found: dict[int, np.ndarray], pose: Pose | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(N, 2) mm and pixels of the cards' corners. How large the black squares look depends on
        the exposure; a good pose shows it."""
        px = np.vstack(list(found.values()))
        middles = np.repeat([self.cards[i].mean(0) for i in found], 4, 0)
        off = np.vstack([self.cards[i] for i in found]) - middles
        if pose is None:
            return middles + off, px
        seen = pose.to_mm(px) - middles
        return middles + off * np.clip((seen * off).sum() / (off * off).sum(), 0.95, 1.05), px

    def _refined(self, picture: Picture, pose: Pose, found: dict[int, np.ndarray]) -> Pose:
        """The pose refined by all patches of the print, and by the cards if they agree"""
        scale = picture.scale
        fit = follow_print(self.plan, self.lens, self._map, picture, pose, (0,), (3,))
        if fit is None:
            return pose
        if fit.typical > STRAINED_PX * scale:
            fit = follow_other_lens(self.plan, self.lens, self._map, picture, fit)
        if len(found) < 2:
            return msgspec.structs.replace(fit.pose, by="print")
        mm, px = self._card_points(found, fit.pose)
        apart = np.linalg.norm(fit.pose.to_px(mm) - px, axis=1)
        # otherwise the board slid between the cards
        if np.median(apart) < max(0.5 * scale, 3 * fit.pose.error_px):
            mm, px = np.vstack([mm, fit.mm]), np.vstack([px, fit.px])
            pose, off = robust_pose(mm, px, fit.pose, 3.0 * scale)
            good = off < 3 * max(np.median(off), 0.2 * scale)
            error = min(fit.pose.error_px, expected_error(self.plan, pose, mm[good], off[good]))
            return msgspec.structs.replace(pose, by="markers", error_px=error)
        return msgspec.structs.replace(fit.pose, by="markers")

    def pack(self) -> dict[str, np.ndarray]:
        """As arrays for the model file"""
        _, scene = cv2.imencode(".jpg", self.scene.small, [cv2.IMWRITE_JPEG_QUALITY, 92])
        out = {
            "lens": np.array([self.lens.focal, self.lens.k1, self.lens.k2]),
            "first": pack_pose(self.first),
            "scene": scene.ravel(),
            "scene_pose": pack_pose(self.scene.pose),
            "frame": np.array([self.frame_mm, self.rise]),
        }
        for i, c in self.cards.items():
            out[f"card{i}"] = c
        for part in (self.printed, self.whole, self.tiles):
            out |= part.pack() if part is not None else {}
        return out

    @classmethod
    def unpack(cls, plan: Plan, arrays: dict[str, np.ndarray]) -> Registrar:
        """The inverse of pack(); raises KeyError if something is missing"""
        lens = Lens(*map(float, arrays["lens"]))
        first = unpack_pose(lens, arrays["first"])
        small = decode_image(arrays["scene"], cv2.IMREAD_COLOR)
        scene = View(small, unpack_pose(lens, arrays["scene_pose"]))
        printed = PrintMap.unpack(arrays) if "print" in arrays else None
        whole = WholeBoard.unpack(arrays) if "whole" in arrays else None
        tiles = Tiles.unpack(arrays) if "tiles" in arrays else None
        cards = {i: np.asarray(arrays[f"card{i}"]) for i in IDS if f"card{i}" in arrays}
        frame, rise = (*map(float, arrays["frame"]), 0.0)[:2]
        return cls(plan, lens, cards, printed, tiles, first, scene, frame, whole, rise)


def checked_picture(image: np.ndarray) -> Picture:
    """Raises NoBoard for a picture that cannot show a board: too small, too large, black, all one
    colour"""
    if (
        not isinstance(image, np.ndarray)
        or image.dtype != np.uint8
        or image.ndim not in (2, 3)
        or not image.size
    ):
        raise NoBoard("not a picture")
    h, w = image.shape[:2]
    if min(h, w) < SMALLEST_PICTURE or max(h, w) > LARGEST_PICTURE:
        raise NoBoard(f"a picture of {w} x {h} pixels is of no use")
    few = np.ascontiguousarray(image[:: max(h // 64, 1), :: max(w // 64, 1)])
    if few.max() < 24 or np.count_nonzero(few >= 12) < 0.1 * few.size:
        raise NoBoard("the picture is black")
    if cv2.meanStdDev(few)[1].max() < 2.5:
        raise NoBoard("the picture is all one colour")
    return Picture(image)


def roll_camera(pose: Pose, quarters: int) -> Pose:
    """The pose of the same board if the camera were rolled by quarter turns about its optical
    axis"""
    roll = cv2.Rodrigues(np.array([0.0, 0.0, quarters * np.pi / 2]))[0]
    rvec = cv2.Rodrigues(roll @ cv2.Rodrigues(pose.rvec)[0])[0].ravel()
    return msgspec.structs.replace(pose, rvec=rvec, tvec=roll @ np.ravel(pose.tvec))


def turn_board(plan: Plan, lens: Lens, pose: Pose, quarters: int) -> Pose:
    """The pose if the board were rotated on the table about its middle by quarter turns"""
    middle = np.array(plan.size) / 2
    corners = plan.corners - middle
    for _ in range(quarters):
        corners = np.column_stack([-corners[:, 1], corners[:, 0]])
    px = pose.to_px(corners + middle)
    return lens.pose(plan.corners, px, pose.size, "print")[0]


def corner_shift(plan: Plan, pose: Pose, other: Pose) -> float:
    """The largest distance between the board's corners in two poses, pixels"""
    return float(np.linalg.norm(pose.to_px(plan.corners) - other.to_px(plan.corners), axis=1).max())
