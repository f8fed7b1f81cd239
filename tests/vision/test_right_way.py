"""A board that looks the same turned round lies the way round in which its pieces are read plainly."""

from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from tests.vision.test_lines import camera, chess
from vision.evidence import SiteEvidence
from vision.reader import Reader

IMAGE = np.full((120, 160, 3), 128, np.uint8)


def reader(chances: dict[bool, float]) -> tuple[Reader, list[bool]]:
    """A reader that finds a board of which nobody knows which way round it lies, and reads its letter with such a probability if it is
    taken to be turned or not; and what it read"""
    plan = chess()
    first, second = (s.id for s in plan.site[:2])
    here, read = msgspec.structs.replace(camera(), maybe_turned=True), []
    there = msgspec.structs.replace(here, rvec=here.rvec + 1)

    def looked(picture, pose, sites):
        read.append(pose.rvec is there.rvec)
        strange = SiteEvidence((((), -9.0),), -0.1)         # a mark on the board, seen the wrong way round
        return {first: SiteEvidence(((("Q",), float(np.log(chances[read[-1]]))),)), second: strange}
    registrar = SimpleNamespace(locate=lambda image, last: here if last is None else last, turned=lambda image, pose: [there])
    return Reader(plan, registrar, [SimpleNamespace(read=looked)]), read


@pytest.mark.parametrize(("upright", "turned", "told"), [(0.2, 0.2, None), (0.9, 0.0005, False), (0.0005, 0.9, True), (0.3, 0.9, None)])
def test_pieces_tell_which_way_round(upright, turned, told):
    one, read = reader({False: upright, True: turned})
    pose = one.locate(IMAGE)
    assert len(read) == 2 and pose.maybe_turned == (told is None)
    assert (pose.rvec is not one.registrar.locate(IMAGE, None).rvec) == bool(told)


def test_where_the_board_still_lies_as_before_nothing_is_read_for_it():
    one, read = reader({False: 0.2, True: 0.9})
    last = one.registrar.locate(IMAGE, None)
    assert one.locate(IMAGE, last) is last and not read
