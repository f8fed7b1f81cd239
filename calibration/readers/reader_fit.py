"""From a copy's calibration photos to its Reader: the one entry of learning. Its value:
`fit_reader_without_network`."""

from __future__ import annotations

import msgspec

from calibration.empty_board.reconstruct import with_empty_board
from calibration.readers.loose.train import taught
from calibration.readers.pile.group_scenery import Each, fit_pile_reader, one_by_one
from vision.evidence.heap_prior import HeapPrior
from vision.geometry.posed_photo import Shot
from vision.geometry.site_windows import Pyramid
from vision.learned.groups import group_sites, tall_sites
from vision.photometry.camera_response import estimate_response
from vision.photometry.denoise import denoise_image, estimate_noise
from vision.photometry.reference_light import fit_lights
from vision.photometry.room_light import small_view
from vision.plan import Plan
from vision.reader import Reader, without_sites
from vision.registration.placement_prior import PlacementPrior
from vision.registration.registrar import Registrar


def fit_reader_without_network(
    plan: Plan,
    registrar: Registrar,
    shots: list[Shot],
    effort: float = 1.0,
    each: Each = one_by_one,
) -> Reader:
    """From the calibration photos with their poses; what stands on piles it does not read. effort:
    less than 1 is quicker and reads a little worse; each: how what does not depend on each other
    is done."""
    layouts = [s.layout for s in shots]
    flat = without_sites(plan, tall_sites(group_sites(plan, layouts)))
    kinds = {s.reads for s in flat.site}
    shots = [
        msgspec.structs.replace(
            s, image=denoise_image(s.image, estimate_noise(s.image, s.pose, plan.size), 0.0)
        )
        for s in shots
    ]
    noise = min(estimate_noise(s.image, s.pose, plan.size) for s in shots)
    if flat.site:
        shots = with_empty_board(plan, shots)
    if "pile" in kinds:
        board, _ = fit_lights(plan, shots)
        views = [small_view(Pyramid(s.image), s.pose, plan.size) for s in shots]
        shots = [
            msgspec.structs.replace(s, image=estimate_response(v, board, plan.size).undone(s.image))
            for s, v in zip(shots, views)
        ]
    clusters = [taught(flat, shots)] if "cluster" in kinds else []
    lying = [p for reader in clusters for p in reader.lying]
    piles = [fit_pile_reader(flat, shots, effort, lying, each)] if "pile" in kinds else []
    return Reader(
        plan,
        registrar,
        piles + clusters,
        prior=PlacementPrior.of(plan, layouts),
        noise=noise,
        heaps=HeapPrior.of(plan, layouts),
    )
