"""From a picture to evidence: where the board is, then what lies on each site. Central value:
Reader."""

from __future__ import annotations

import json
import time
from collections.abc import Set
from pathlib import Path

import msgspec
import numpy as np

from vision.evidence.heap_prior import HeapPrior
from vision.evidence.piece_counts import apply_piece_counts
from vision.evidence.site_evidence import UNSEEN, Evidence, NoBoard, Registration, SiteEvidence
from vision.frame_cache import FrameCache
from vision.geometry.pose import Pose
from vision.geometry.site_groups import beyond_picture
from vision.geometry.site_windows import Pyramid
from vision.learned.reader import LearnedReader
from vision.learned.square_grid import SquareGrid, rank_places
from vision.placement import (
    POOR,
    POOR_EVERYWHERE,
    Placement,
    choose_placement,
    is_implausible,
    is_poor,
    weigh_reading,
)
from vision.plan import Plan, parse_plan
from vision.registration.placement_prior import PlacementPrior
from vision.registration.registrar import Registrar, corner_shift
from vision.storage import model_file
from vision.storage.heap_trim import trim_heap
from vision.storage.photo_file import BadPhoto, is_dark, load_photo

LIKELIEST = 4  # placements on a board of squares that are examined closely
HEAPS = msgspec.json.Decoder(HeapPrior)

__all__ = ["BadPhoto", "Reader", "load_photo"]


class Reader:
    """Reads pictures of one copy. It keeps no state between pictures: what is known from the
    previous one is passed in `last` and `cache`, which belong to the caller."""

    def __init__(
        self,
        plan: Plan,
        registrar: Registrar,
        learned: LearnedReader,
        prior: PlacementPrior | None = None,
        heaps: HeapPrior | None = None,
    ) -> None:
        """plan: with its outlines moved onto this copy's print; learned: the network; prior: where
        kinds lay in the calibration photos; heaps: whether pieces that lie together are of one
        kind"""
        self.plan, self.registrar = plan, registrar
        self.learned = learned
        self.prior, self.heaps = prior or PlacementPrior({}), heaps or HeapPrior()

    @property
    def given_plan(self) -> Plan:
        """The plan as given for the copy, whose outlines may be some millimetres off the print"""
        return self.registrar.plan

    def read(
        self,
        image: np.ndarray,
        last: Pose | None = None,
        sites: Set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> Evidence:
        """What lies where in this picture. Raises NoBoard.

        image: (h, w, 3) uint8 BGR; last: the previous pose, tried first; sites: only these are read
        (None: all); cache: of earlier readings of this board; it is updated, and supplies the
        evidence of the other sites."""
        return self.find_and_read(image, last, sites, cache)[1]

    def find_and_read(
        self,
        image: np.ndarray,
        last: Pose | None = None,
        sites: Set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> tuple[Pose, Evidence]:
        """The same, with the pose. If so little can be read that the board may be turned or a
        square off, those placements are read too. Raises NoBoard."""
        start = time.perf_counter()
        pose = self.locate(image, last)
        found = self.read_at(image, pose, sites, cache)
        if found.registration.maybe_turned and not pose.maybe_turned:
            doubted = msgspec.structs.replace(pose, maybe_turned=True)
            pose = self.resolve_doubt(image, doubted, doubted)
            found = self.read_at(image, pose, None, cache)
        return pose, msgspec.structs.replace(found, ms=(time.perf_counter() - start) * 1000)

    def locate(self, image: np.ndarray, last: Pose | None = None) -> Pose:
        """The board's pose in this picture; `last` itself if it still holds. Raises NoBoard."""
        if is_dark(image):
            raise NoBoard("the picture is dark")
        pose = self.registrar.locate(image, last)
        doubted = last is not None and last.maybe_turned
        if doubted or pose is not last and pose.as_well:
            return self.resolve_doubt(image, pose, last)
        return pose

    def resolve_doubt(self, image: np.ndarray, pose: Pose, last: Pose | None) -> Pose:
        """The best of the possible placements of a board seen at `pose`; `last` if that was in
        doubt, and still is"""
        chosen = self.right_way(image, pose)
        # it may have moved completely
        if last is not None and is_poor(self.plan, chosen.likely, self.poor_share):
            afresh = self.right_way(image, self.registrar.locate(image, None))
            chosen = max(chosen, afresh, key=lambda p: p.likely)
        doubt = last is not None and last.maybe_turned and chosen.pose.maybe_turned
        if doubt and corner_shift(self.plan, chosen.pose, last) < 1.0:
            return last
        return chosen.pose

    def right_way(self, image: np.ndarray, pose: Pose) -> Placement:
        """The placement, among those that fit the print (turned or some squares off), that the
        complete reading supports; `maybe_turned` if it is in doubt"""
        ways, picture = self.registrar.ways(image, pose), Pyramid.of(image)
        grid = self.square_grid
        if grid is not None:
            places = rank_places(self.learned, self.prior.likely, grid, picture, ways[0], LIKELIEST)
            ways = [*ways, *self.registrar.poses_elsewhere(image, ways[0], places)]

        return choose_placement(
            self.plan,
            ways,
            lambda way: weigh_reading(self.plan, self.learned.read(picture, way), self.prior),
            lambda way, aside: self.registrar.neighbours(image, way, aside) if grid is None else (),
            self.poor_share,
        )

    def may_lie_elsewhere(self, image: np.ndarray, pose: Pose) -> bool:
        """Whether a board that is read poorly at this pose may be turned, or a square off. With men
        on it, a print of squares may fit only one placement, and that a wrong one"""
        if self.square_grid is not None:
            return pose.by != "markers"
        return self.registrar.is_ambiguous(image, pose)

    @property
    def poor_share(self) -> float:
        """The most log-probability that a site of this board loses on average at the correct
        placement"""
        return POOR if self.square_grid is None else POOR_EVERYWHERE

    @property
    def square_grid(self) -> SquareGrid | None:
        """The grid of a board that looks the same a square further and on which all pieces stand:
        its placement is then decided among all squares"""
        groups = self.learned.groups
        if len(groups) != 1 or not groups[0].tall or not self.registrar.repeats_by_squares:
            return None
        return SquareGrid.of(self.plan)

    def read_at(
        self,
        image: np.ndarray,
        pose: Pose,
        sites: Set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> Evidence:
        """The same as read() for a pose known to be right"""
        start = time.perf_counter()
        found = self.read_sites(image, pose, sites, cache)
        doubt = pose.maybe_turned or (
            is_implausible(self.plan, found, self.prior, self.poor_share)
            and self.may_lie_elsewhere(image, pose)
        )
        changed = None if sites is None or len(found) == len(self.plan.site) else frozenset(found)
        if cache is not None:
            cache.sites |= found
            found = cache.sites
        registration = Registration(pose.by, round(pose.error_px, 3), maybe_turned=doubt)
        return Evidence(
            apply_piece_counts(self.plan, self.heaps.weigh_sites(found)),
            registration,
            changed=changed,
            ms=(time.perf_counter() - start) * 1000,
        )

    def read_sites(
        self,
        image: np.ndarray,
        pose: Pose,
        sites: Set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> dict[str, SiteEvidence]:
        """site -> evidence, each site by itself; sites outside the picture are omitted. cache: some
        sites are read alone only if it knows all others"""
        picture = Pyramid(image)
        if cache is not None:
            cache.begin(self, pose)
            if len(cache.sites) < len(self.plan.site):
                sites = None
        found = self.learned.read(picture, pose, sites, cache)
        beyond = beyond_picture([self.plan.sites[s] for s in found], pose)
        return {s: UNSEEN if s in beyond else e for s, e in found.items()}

    def give_back(self) -> None:
        """Frees memory that is useful only while pictures are read, and remains of earlier ones."""
        self.learned.trunk.give_back()
        trim_heap()

    def pack(self) -> model_file.Arrays:
        """As arrays for the model file"""
        arrays = {
            "plan": model_file.text_as_array(json.dumps(msgspec.to_builtins(self.plan))),
            "heaps": model_file.text_as_array(json.dumps(msgspec.to_builtins(self.heaps))),
        }
        if self.given_plan != self.plan:
            given = json.dumps(msgspec.to_builtins(self.given_plan))
            arrays["plan_as_given"] = model_file.text_as_array(given)
        arrays |= model_file.add_prefix(
            "registration", self.registrar.pack()
        ) | model_file.add_prefix("wont", self.prior.likely)
        arrays |= model_file.add_prefix("learned", self.learned.pack())
        return arrays

    def save(self, path: str | Path) -> None:
        """Writes the model file atomically. Raises OSError."""
        model_file.save_arrays(path, self.pack())

    @classmethod
    def load(cls, path: str | Path, plan: Plan | None = None) -> Reader:
        """From a model file; plan: checked against the one it was made for. Raises BadModel."""
        arrays = model_file.load_arrays(path)
        try:
            own = parse_plan(json.loads(model_file.array_as_text(arrays["plan"])), str(path))
            given = own
            if "plan_as_given" in arrays:  # its outlines were moved
                text = model_file.array_as_text(arrays["plan_as_given"])
                given = parse_plan(json.loads(text), str(path))
            registrar = Registrar.unpack(given, model_file.strip_prefix("registration", arrays))
            learned = LearnedReader.unpack(own, model_file.strip_prefix("learned", arrays))
            heaps = HEAPS.decode(model_file.array_as_text(arrays["heaps"]))
        except (KeyError, ValueError, IndexError, TypeError, msgspec.ValidationError) as e:
            raise model_file.BadModel(
                f"{path}: something is missing ({e}); calibrate again"
            ) from None
        if plan is not None and as_read(plan) != as_read(given):
            raise model_file.BadModel(f"{path}: made for another plan; calibrate again")
        return cls(
            own,
            registrar,
            learned,
            PlacementPrior(model_file.strip_prefix("wont", arrays)),
            heaps,
        )


def as_read(plan: Plan) -> Plan:
    """The plan without what only concerns laying samplers, since the model does not depend on
    that"""
    return msgspec.structs.replace(
        plan, piece=tuple(msgspec.structs.replace(p, back=None) for p in plan.piece)
    )
