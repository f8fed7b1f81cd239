"""From a picture to evidence: where the board is, then what lies on each site. Its central value:
Reader."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

import msgspec
import numpy as np

from vision.evidence.heap_prior import HeapPrior
from vision.evidence.piece_counts import apply_piece_counts
from vision.evidence.site_evidence import UNSEEN, Evidence, NoBoard, Registration, SiteEvidence
from vision.evidence.temperature_scaling import TemperatureScaling
from vision.frame_cache import FrameCache, StaleCache
from vision.geometry.pose import Pose
from vision.geometry.site_groups import beyond_picture
from vision.geometry.site_windows import Pyramid
from vision.learned.merge import MASTERED_WEIGHTS, VOICE_WEIGHTS, VoiceWeights, merge_evidence
from vision.learned.reader import LearnedReader
from vision.learned.square_grid import SquareGrid, rank_places
from vision.photometry.preprocessor import PreparedPicture, Preprocessor
from vision.placement import (
    POOR,
    POOR_EVERYWHERE,
    POOR_LEARNED,
    Placement,
    choose_placement,
    is_implausible,
    is_poor,
    weigh_reading,
)
from vision.plan import Plan, parse_plan
from vision.readers.base import SiteReader
from vision.readers.loose.reader import ClusterReader
from vision.readers.pile.reader import PileReader
from vision.registration.placement_prior import PlacementPrior
from vision.registration.registrar import Registrar, corner_shift
from vision.storage import model_file
from vision.storage.heap_trim import trim_heap
from vision.storage.photo_file import BadPhoto, is_dark, load_photo

# what the network must give a pile for the matchers not to be asked: they could not outweigh it
PLAIN = math.log(0.985)
LIKELIEST = 4  # places on a board of squares that are weighed closely
TEMPERS = msgspec.json.Decoder(dict[str, TemperatureScaling])
HEAPS = msgspec.json.Decoder(HeapPrior)

__all__ = ["BadPhoto", "Reader", "load_photo"]


class Reader:
    """The whole eye: reads pictures of one copy. Keeps nothing of them itself: what is known of the
    last look comes in `last` and `cache`, which belong to whoever looks."""

    def __init__(
        self,
        plan: Plan,
        registrar: Registrar,
        readers: Iterable[SiteReader],
        tempers: Mapping[str, TemperatureScaling] | None = None,
        prior: PlacementPrior | None = None,
        noise: float = 0.0,
        learned: LearnedReader | None = None,
        heaps: HeapPrior | None = None,
    ) -> None:
        """tempers: per way of reading a site ("pile", "cluster") how its evidence is to be taken;
        prior: where kinds lay in the calibration photos; noise: what the calmest of these has;
        learned: the network's voice beside the readers'; heaps: whether pieces that lie together
        are of one kind"""
        self.plan, self.registrar, self.readers = plan, registrar, list(readers)
        self.tempers, self.prior = dict(tempers or {}), prior or PlacementPrior({})
        self.noise, self.learned, self.heaps = noise, learned, heaps or HeapPrior()
        self.piles = next((r for r in self.readers if isinstance(r, PileReader)), None)
        self.preprocessor = Preprocessor(
            plan.size,
            next((r.reference for r in self.readers if hasattr(r, "reference")), None),
            next((r.empty for r in self.readers if isinstance(r, ClusterReader)), None),
            noise,
            (lambda: self.piles.colours) if self.piles is not None else None,
        )

    def read(
        self,
        image: np.ndarray,
        last: Pose | None = None,
        sites: Set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> Evidence:
        """What lies where in this picture. Raises NoBoard.

        image: (h, w, 3) uint8 BGR; last: the pose before, tried first; sites: only these are read
        (None: all); cache: of the readings of this board before, which is brought up to date, and
        what it knows of the other sites told along with these."""
        return self.find_and_read(image, last, sites, cache)[1]

    def find_and_read(
        self,
        image: np.ndarray,
        last: Pose | None = None,
        sites: Set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> tuple[Pose, Evidence]:
        """The same, with the pose. Where so little can be read that the board may lie turned or a
        square off, those places are read too. Raises NoBoard."""
        start = time.perf_counter()
        pose = self.locate(image, last)
        found = self.read_at(image, pose, sites, cache)
        if found.registration.maybe_turned and not pose.maybe_turned:
            doubted = msgspec.structs.replace(pose, maybe_turned=True)
            pose = self.resolve_doubt(image, doubted, doubted)
            found = self.read_at(image, pose, None, cache)
        return pose, msgspec.structs.replace(found, ms=(time.perf_counter() - start) * 1000)

    def locate(self, image: np.ndarray, last: Pose | None = None) -> Pose:
        """Where the board lies in this picture; `last` itself where it still lies so. Raises
        NoBoard."""
        if is_dark(image):
            raise NoBoard("the picture is dark")
        pose = self.registrar.locate(image, last)
        doubted = last is not None and last.maybe_turned
        if doubted or pose is not last and pose.as_well:
            return self.resolve_doubt(image, pose, last)
        return pose

    def resolve_doubt(self, image: np.ndarray, pose: Pose, last: Pose | None) -> Pose:
        """The best of the places where a board that is seen at `pose` may lie; `last` where that
        was in doubt, and is still"""
        chosen = self.right_way(image, pose)
        # it may lie quite elsewhere by now
        if last is not None and is_poor(self.plan, chosen.likely, self.poor_share):
            afresh = self.right_way(image, self.registrar.locate(image, None))
            chosen = max(chosen, afresh, key=lambda p: p.likely)
        doubt = last is not None and last.maybe_turned and chosen.pose.maybe_turned
        if doubt and corner_shift(self.plan, chosen.pose, last) < 1.0:
            return last
        return chosen.pose

    def right_way(self, image: np.ndarray, pose: Pose) -> Placement:
        """Of the places where a board may lie for what is seen of its print, turned or some squares
        off, the one that everything read there speaks for; `maybe_turned` while it is in doubt"""
        ways, picture = self.registrar.ways(image, pose), Pyramid.of(image)
        grid = self.square_grid
        if grid is not None:
            places = rank_places(self.learned, self.prior.likely, grid, picture, ways[0], LIKELIEST)
            ways = [*ways, *self.registrar.poses_elsewhere(image, ways[0], places)]

        def weigh_way(way: Pose) -> float:
            found = (
                self.learned.read(picture, way) if self.is_learned else self.read_sites(image, way)
            )
            return weigh_reading(self.plan, found, self.prior)

        return choose_placement(
            self.plan,
            ways,
            weigh_way,
            lambda way, aside: self.registrar.neighbours(image, way, aside) if grid is None else (),
            self.is_learned,
            self.poor_share,
        )

    def may_lie_elsewhere(self, image: np.ndarray, pose: Pose) -> bool:
        """Whether a board that is read poorly at this pose may lie turned, or a square off. A print
        of squares with men on it may be seen in one place alone, and that a wrong one"""
        if self.square_grid is not None:
            return pose.by != "markers"
        return self.registrar.is_ambiguous(image, pose)

    @property
    def poor_share(self) -> float:
        """What each site loses in log-probability, as the mean, where this board lies at most"""
        if self.square_grid is not None:
            return POOR_EVERYWHERE
        return POOR_LEARNED if self.is_learned else POOR

    @property
    def square_grid(self) -> SquareGrid | None:
        """The squares of a board that looks like itself a square further, on which all pieces stand
        and are read by the network: where it may lie is then asked of all squares"""
        groups = self.learned.groups if self.is_learned else ()
        if len(groups) != 1 or not groups[0].tall or not self.registrar.repeats_by_squares:
            return None
        return SquareGrid.of(self.plan)

    @property
    def is_learned(self) -> bool:
        """Whether a network is believed of every site"""
        return self.learned is not None and all(
            self.learned.trust.get(s.id, 0.0) > 0 for s in self.plan.site
        )

    def read_at(
        self,
        image: np.ndarray,
        pose: Pose,
        sites: Set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> Evidence:
        """The same as read() for a pose that is known to hold"""
        start = time.perf_counter()
        found = self.read_sites(image, pose, sites, cache)
        doubt = pose.maybe_turned or (
            is_implausible(
                self.plan, found, self.prior if self.is_learned else None, self.poor_share
            )
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
        """site -> evidence, each site by itself. cache: sites are read alone only where it knows of
        all others and the light is as it was"""
        picture = self.preprocessor.prepare(image, pose)
        if cache is not None:
            cache.begin(self, pose)
            if len(cache.sites) < len(self.plan.site):
                sites = None
            if sites is not None and cache.untouched:
                picture.take_as_is()
        learned = {} if self.learned is None else self.learned.read(picture.raw, pose, sites, cache)
        alone = self.tall_piles(learned, pose) | self.plain_piles(learned, pose)
        try:
            found = self.match_sites(picture, pose, sites, cache, alone.keys())
        except StaleCache:
            cache.forget(self, pose)
            return self.read_sites(image, pose, None, cache)
        return alone | self.merge_voices(found, learned)

    def tall_piles(
        self, learned: Mapping[str, SiteEvidence], pose: Pose
    ) -> dict[str, SiteEvidence]:
        """What the network tells of pieces that stand on piles: no matcher knows those"""
        if self.learned is None:
            return {}
        tall = self.learned.tall_sites & learned.keys()
        beyond = beyond_picture([self.plan.sites[s] for s in tall], pose)
        return {s: UNSEEN if s in beyond else learned[s] for s in tall}

    def plain_piles(
        self, learned: Mapping[str, SiteEvidence], pose: Pose
    ) -> dict[str, SiteEvidence]:
        """What the network tells of piles so surely that the matchers need not be asked: where it
        is believed before them and was taught all that they know"""
        if self.learned is None or self.piles is None:
            return {}
        known, taught = self.piles.known_contents, self.learned.taught
        plain = {
            s: learned[s]
            for s in self.learned.mastered & known.keys() & learned.keys()
            if known[s] <= (taught[s] or known[s]) and learned[s].best_logp > PLAIN
        }
        beyond = beyond_picture([self.plan.sites[s] for s in plain], pose)
        return {s: e for s, e in plain.items() if s not in beyond}

    def match_sites(
        self,
        picture: PreparedPicture,
        pose: Pose,
        sites: Set[str] | None,
        cache: FrameCache | None,
        plain: Set[str] = frozenset(),
    ) -> dict[str, SiteEvidence]:
        """What the matchers read, scaled by their temperatures; nothing of sites beyond the
        picture's edge. plain: sites that are known without them. Raises StaleCache."""
        found: dict[str, SiteEvidence] = {}
        for reader in self.readers:
            asked = sites
            if plain and reader is self.piles:
                asked = (reader.known_contents.keys() if sites is None else sites) - plain
                if asked.isdisjoint(reader.known_contents):
                    continue
            found |= reader.read(getattr(picture, reader.prepared), pose, asked, cache)
        if cache is not None:
            cache.untouched = bool(found) and picture.untouched
        beyond = beyond_picture([self.plan.sites[s] for s in found], pose)
        unscaled = TemperatureScaling()
        return {
            s: UNSEEN
            if s in beyond
            else self.tempers.get(self.plan.sites[s].reads, unscaled).applied(e)
            for s, e in found.items()
        }

    def merge_voices(
        self, found: Mapping[str, SiteEvidence], second: Mapping[str, SiteEvidence]
    ) -> dict[str, SiteEvidence]:
        """The matchers' evidence with the network's voice, as far as it is believed"""
        if self.learned is None:
            return dict(found)
        taught, trust = self.learned.taught, self.learned.trust
        first = self.learned.mastered | self.learned.cards_alone | self.learned.upright_sites

        def weights_of(site: str, matched: SiteEvidence) -> VoiceWeights:
            """The matchers hardly count where the network tells piles well, a card alone, or pieces
            that stand, but for what it was never taught, and things that are no pieces"""
            if site not in first or matched.foreign:
                return VOICE_WEIGHTS
            known = taught[site] is None or matched.best in taught[site]
            return MASTERED_WEIGHTS if known else VOICE_WEIGHTS

        return {
            s: merge_evidence(
                e,
                second[s],
                self.plan.sites[s].reads,
                taught[s],
                trust[s],
                weights_of(s, e),
                self.learned.taught_kinds.get(s),
            )
            if s in second and e is not UNSEEN
            else e
            for s, e in found.items()
        }

    def give_back(self) -> None:
        """Frees what is only of use while pictures are read, and what earlier ones left behind."""
        if self.learned is not None:
            self.learned.trunk.give_back()
        trim_heap()

    def pack(self) -> model_file.Arrays:
        """As arrays for the model file"""
        arrays = {
            "plan": model_file.text_as_array(json.dumps(msgspec.to_builtins(self.plan))),
            "tempers": model_file.text_as_array(json.dumps(msgspec.to_builtins(self.tempers))),
            "heaps": model_file.text_as_array(json.dumps(msgspec.to_builtins(self.heaps))),
        }
        arrays |= model_file.add_prefix(
            "registration", self.registrar.pack()
        ) | model_file.add_prefix("wont", self.prior.likely)
        arrays["noise"] = np.array(self.noise)
        if self.learned is not None:
            arrays |= model_file.add_prefix("learned", self.learned.pack())
        for reader in self.readers:
            arrays |= model_file.add_prefix(reader.name, reader.pack())
        return arrays

    def save(self, path: str | Path) -> None:
        """Writes the model file, whole or not at all. Raises OSError."""
        model_file.save_arrays(path, self.pack())

    @classmethod
    def load(cls, path: str | Path, plan: Plan | None = None) -> Reader:
        """From a model file; plan: checked against the one it was made for. Raises
        model.BadModel."""
        arrays = model_file.load_arrays(path)
        try:
            own = parse_plan(json.loads(model_file.array_as_text(arrays["plan"])), str(path))
            registrar = Registrar.unpack(own, model_file.strip_prefix("registration", arrays))
            learned = (
                LearnedReader.unpack(own, part)
                if (part := model_file.strip_prefix("learned", arrays))
                else None
            )
            flat = own if learned is None else without_sites(own, learned.tall_sites)
            readers = [
                kind.unpack(flat, part)
                for kind in (PileReader, ClusterReader)
                if (part := model_file.strip_prefix(kind.name, arrays))
            ]
            tempers = (
                TEMPERS.decode(model_file.array_as_text(arrays["tempers"]))
                if "tempers" in arrays
                else {}
            )
            heaps = HEAPS.decode(model_file.array_as_text(arrays["heaps"]))
        except (KeyError, ValueError, IndexError, TypeError, msgspec.ValidationError) as e:
            raise model_file.BadModel(
                f"{path}: something is missing ({e}); calibrate again"
            ) from None
        if plan is not None and as_read(plan) != as_read(own):
            raise model_file.BadModel(f"{path}: made for another plan; calibrate again")
        return cls(
            own,
            registrar,
            readers,
            tempers,
            PlacementPrior(model_file.strip_prefix("wont", arrays)),
            float(arrays.get("noise", 0)),
            learned,
            heaps,
        )


def as_read(plan: Plan) -> Plan:
    """The plan without what only says how to lay samplers: a model does not change with that"""
    return msgspec.structs.replace(
        plan, piece=tuple(msgspec.structs.replace(p, back=None) for p in plan.piece)
    )


def without_sites(plan: Plan, sites: Iterable[str]) -> Plan:
    """The plan without these sites"""
    gone = set(sites)
    return (
        msgspec.structs.replace(plan, site=tuple(s for s in plan.site if s.id not in gone))
        if gone
        else plan
    )
