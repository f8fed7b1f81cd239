"""From a picture to evidence: where the board is, then what lies on each site. Its central value:
Reader."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

import msgspec
import numpy as np

from vision.evidence.piece_counts import apply_piece_counts
from vision.evidence.site_evidence import UNSEEN, Evidence, NoBoard, Registration, SiteEvidence
from vision.evidence.temperature_scaling import TemperatureScaling
from vision.geometry.pose import Pose
from vision.geometry.site_groups import beyond_picture
from vision.geometry.site_windows import Pyramid
from vision.learned.merge import merge_evidence
from vision.learned.reader import LearnedReader
from vision.photometry.camera_response import PLAIN, estimate_response
from vision.photometry.cast_shadows import find_shadows, remove_shadows
from vision.photometry.clipped_channels import restore_clipped
from vision.photometry.denoise import denoise_image, estimate_noise
from vision.photometry.room_light import small_view
from vision.placement import (
    Placement,
    choose_placement,
    corner_shift,
    is_implausible,
    is_poor,
    weigh_reading,
)
from vision.plan import Plan, parse_plan
from vision.readers.loose.frame_cache import Altered, Memory
from vision.readers.loose.reader import ClusterReader
from vision.readers.pile.reader import PileReader
from vision.readers.standing.reader import StandingReader
from vision.registration.placement_prior import PlacementPrior
from vision.registration.registrar import Registrar
from vision.storage import model_file
from vision.storage.photo_file import BadPhoto, is_dark, load_photo

__all__ = ["BadPhoto", "Reader", "load_photo"]


class Reader:
    """Reads pictures of one copy. Keeps no memory of its own: what is known of the picture before
    comes in `last`."""

    def __init__(
        self,
        plan: Plan,
        registrar: Registrar,
        readers: Iterable[PileReader | ClusterReader | StandingReader],
        tempers: Mapping[str, TemperatureScaling] | None = None,
        wont: PlacementPrior | None = None,
        noise: float = 0.0,
        learned: LearnedReader | None = None,
    ) -> None:
        """tempers: per way of reading a site ("pile", "cluster") how its evidence is to be taken;
        wont: where kinds lay in the calibration photos; noise: what the calmest of these has;
        learned: the network's voice beside the readers'"""
        self.plan, self.registrar, self.readers, self.tempers = (
            plan,
            registrar,
            list(readers),
            dict(tempers or {}),
        )
        self.wont, self.noise, self.learned = wont or PlacementPrior({}), noise, learned
        kept = [r.reference for r in self.readers if isinstance(r, (PileReader, StandingReader))]
        self.reference = (
            kept[0] if kept else None
        )  # (h, w, 3) log, the empty board: what tells a picture's tone
        self.ground = next((r.empty for r in self.readers if isinstance(r, ClusterReader)), None)

    def read(
        self,
        image: np.ndarray,
        last: Pose | None = None,
        sites: Set[str] | None = None,
        memory: Memory | None = None,
    ) -> Evidence:
        """What lies where in this picture. Raises NoBoard.

        image: (h, w, 3) uint8 BGR; last: the pose before, tried first; sites: only these are read
        (None: all); memory: of the readings of this board before, which is brought up to date, and
        what it knows of the other sites told along with these."""
        return self.find_and_read(image, last, sites, memory)[1]

    def find_and_read(
        self,
        image: np.ndarray,
        last: Pose | None = None,
        sites: set[str] | None = None,
        memory: Memory | None = None,
    ) -> tuple[Pose, Evidence]:
        """The same, with the pose. Where so little can be read that the board may lie turned or a
        square off, those places are read too. Raises NoBoard."""
        start = time.perf_counter()
        pose = self.locate(image, last)
        found = self.read_at(image, pose, sites, memory)
        if found.registration.maybe_turned and not pose.maybe_turned:
            doubted = msgspec.structs.replace(pose, maybe_turned=True, as_well=(pose,))
            pose = self.locate(image, doubted)
            found = self.read_at(image, pose, None, memory)
        return pose, msgspec.structs.replace(found, ms=(time.perf_counter() - start) * 1000)

    def locate(self, image: np.ndarray, last: Pose | None = None) -> Pose:
        """Where the board lies in this picture; `last` itself where it still lies so. Raises
        NoBoard."""
        if is_dark(image):
            raise NoBoard("the picture is dark")
        pose = self.registrar.locate(image, last)
        if pose is last and not last.maybe_turned:
            return last
        if last is not None and last.maybe_turned and not pose.as_well:
            pose = msgspec.structs.replace(pose, as_well=(pose,))  # the doubt is asked again
        if not pose.as_well:
            return pose
        chosen = self.right_way(image, pose)
        if last is not None and is_poor(self.plan, chosen):  # it may lie quite elsewhere by now
            afresh = self.registrar.locate(image, None)
            found = self.right_way(
                image,
                afresh if afresh.as_well else msgspec.structs.replace(afresh, as_well=(afresh,)),
            )
            chosen = max(chosen, found, key=lambda p: p.likely)
        doubt = last is not None and last.maybe_turned and chosen.pose.maybe_turned
        if doubt and corner_shift(self.plan, chosen.pose, last) < 1.0:
            return last
        return chosen.pose

    def right_way(self, image: np.ndarray, pose: Pose) -> Placement:
        """Of the places where a board may lie for what is seen of its print, turned or some squares
        off, the one that everything read there speaks for; `maybe_turned` while it is in doubt"""
        ways = self.registrar.ways(image, pose)
        return choose_placement(
            self.plan,
            ways,
            lambda way: weigh_reading(self.plan, self.look(image, way), self.wont),
            lambda way, aside: self.registrar.neighbours(image, way, aside),
        )

    def read_at(
        self,
        image: np.ndarray,
        pose: Pose,
        sites: Set[str] | None = None,
        memory: Memory | None = None,
    ) -> Evidence:
        """The same as read() for a pose that is known to hold"""
        start = time.perf_counter()
        found = self.look(image, pose, sites, memory)
        doubt = pose.maybe_turned or (
            is_implausible(self.plan, found) and self.registrar.is_ambiguous(image, pose)
        )
        changed = None if sites is None or len(found) == len(self.plan.site) else frozenset(found)
        if memory is not None:
            memory.sites |= found
            found = memory.sites
        registration = Registration(pose.by, round(pose.error_px, 3), maybe_turned=doubt)
        return Evidence(
            apply_piece_counts(self.plan, found),
            registration,
            changed=changed,
            ms=(time.perf_counter() - start) * 1000,
        )

    def look(
        self,
        image: np.ndarray,
        pose: Pose,
        sites: Set[str] | None = None,
        memory: Memory | None = None,
    ) -> dict[str, SiteEvidence]:
        """site -> evidence, each site by itself. memory: sites are read alone only where it knows
        of all others and the light is as it was"""
        if memory is not None and len(memory.of(self, pose).sites) < len(self.plan.site):
            sites = None
        picture, found = Pyramid(image), {}
        plain = sites is not None and memory is not None and memory.plain
        flat, loose = (picture, picture) if plain else self.cleared(picture, pose)
        for reader in self.readers:
            if not isinstance(reader, ClusterReader):
                found |= reader.read(flat, pose, sites)
                continue
            if memory is None:
                found |= reader.read(loose, pose, sites)
                continue
            try:
                found |= reader.read(loose, pose, sites, memory)
            except Altered:
                memory.forget(self, pose)
                return self.look(image, pose, None, memory)
            memory.plain = all(p.levels[0] is image for p in (flat, loose))
        usual, beyond = (
            TemperatureScaling(),
            beyond_picture([self.plan.sites[s] for s in found], pose),
        )
        found = {
            s: UNSEEN
            if s in beyond
            else self.tempers.get(self.plan.sites[s].reads, usual).applied(e)
            for s, e in found.items()
        }
        if self.learned is None:
            return found
        second = self.learned.read(picture, pose, None if sites is None else set(found))
        taught, trust = self.learned.taught, self.learned.trust
        return {
            s: merge_evidence(e, second[s], self.plan.sites[s].reads, taught[s], trust[s])
            if s in second and s not in beyond
            else e
            for s, e in found.items()
        }

    def cleared(self, picture: Pyramid, pose: Pose) -> tuple[Pyramid, Pyramid]:
        """The picture, evened, as piles are read in it and as loose pieces, which are compared over
        many pixels and know what is burnt
        out: the former with little noise and without that. Twice itself as a rule"""
        loose = self.evened(picture, pose)
        if self.reference is None:
            return loose, loose
        image = picture.levels[0]
        calm = denoise_image(image, estimate_noise(image, pose, self.plan.size), self.noise)
        flat = picture if calm is image else Pyramid(calm)
        piles = [r for r in self.readers if isinstance(r, PileReader)]
        flat = (
            restore_clipped(
                flat, pose, piles[0].reference, self.plan.size, lambda: piles[0].colours
            )
            if piles
            else flat
        )
        return loose if flat is picture else self.evened(flat, pose), loose

    def evened(self, picture: Pyramid, pose: Pose) -> Pyramid:
        """The picture in the empty board's tone and colours, large shadows cast on it lifted;
        itself as a rule"""
        if self.reference is None:
            return picture
        rendition = estimate_response(
            small_view(picture, pose, self.plan.size), self.reference, self.plan.size
        )
        if rendition != PLAIN:
            picture = Pyramid(rendition.undone(picture.levels[0]))
        if self.ground is None or not (
            found := find_shadows(
                small_view(picture, pose, self.plan.size), self.reference, self.plan.size
            )
        ):
            return picture
        return Pyramid(remove_shadows(picture.levels[0], pose, self.ground, found, self.plan.size))

    def pack(self) -> model_file.Arrays:
        arrays = {
            "plan": model_file.text_as_array(json.dumps(msgspec.to_builtins(self.plan))),
            "tempers": model_file.text_as_array(json.dumps(msgspec.to_builtins(self.tempers))),
        }
        arrays |= model_file.add_prefix(
            "registration", self.registrar.pack()
        ) | model_file.add_prefix("wont", self.wont.likely)
        arrays["noise"] = np.array(self.noise)
        if self.learned is not None:
            arrays |= model_file.add_prefix("learned", self.learned.pack())
        for reader in self.readers:
            arrays |= model_file.add_prefix(reader.name, reader.pack())
        return arrays

    def save(self, path: str | Path) -> None:
        model_file.save_arrays(path, self.pack())

    @classmethod
    def load(cls, path: str | Path, plan: Plan | None = None) -> Reader:
        """From a model file; plan: checked against the one it was made for. Raises model.BadModel."""
        arrays = model_file.load_arrays(path)
        try:
            own = parse_plan(json.loads(model_file.array_as_text(arrays["plan"])), str(path))
            part = model_file.strip_prefix(StandingReader.name, arrays)
            standing = [StandingReader.unpack(own, part)] if part else []
            flat = without_sites(own, standing[0].made.ids) if standing else own
            readers = [
                kind.unpack(flat, part)
                for kind in (PileReader, ClusterReader)
                if (part := model_file.strip_prefix(kind.name, arrays))
            ] + standing
            registrar = Registrar.unpack(own, model_file.strip_prefix("registration", arrays))
            learned = (
                LearnedReader.unpack(own, part)
                if (part := model_file.strip_prefix("learned", arrays))
                else None
            )
            tempers = (
                msgspec.json.decode(
                    model_file.array_as_text(arrays["tempers"]), type=dict[str, TemperatureScaling]
                )
                if "tempers" in arrays
                else {}
            )
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
