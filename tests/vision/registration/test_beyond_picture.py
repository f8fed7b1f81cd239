"""Of sites that a picture does not show nothing is told, whatever the smeared pixels at its edge
look like."""

from types import SimpleNamespace

import msgspec
import numpy as np

from tests.support.networks import StandIn
from tests.vision.registration.test_lines import camera, chess
from vision.evidence.site_evidence import SiteEvidence
from vision.reader import Reader


def test_of_sites_beyond_the_pictures_edge_nothing_is_told():
    plan, pose = chess(), camera()
    middles = pose.to_px(np.array([s.centre for s in plan.site]))
    far = float(np.median(middles[:, 0]))
    # the picture ends at the board's middle
    cut = msgspec.structs.replace(pose, size=(int(far), pose.size[1]))
    certain = SiteEvidence(((("man",), -0.01),), -9.0)
    reading = StandIn(lambda pose: {s.id: certain for s in plan.site})
    registrar = SimpleNamespace(
        locate=lambda image, last: cut, is_ambiguous=lambda image, pose: False
    )
    found = (
        Reader(plan, registrar, reading)
        .read(np.full((cut.size[1], cut.size[0], 3), 128, np.uint8))
        .sites
    )
    for site, (x, _) in zip(plan.site, middles):
        if x > cut.size[0]:
            e = found[site.id]
            assert e.best == () and not e.foreign and e.logp(()) - e.logp(("man",)) < 1.2
        elif x < cut.size[0] - 2:
            assert found[site.id].best == ("man",)
