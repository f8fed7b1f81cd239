"""A board that looks the same turned round lies the way round in which its pieces are read plainly."""

from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from tests.support.networks import StandIn
from tests.vision.registration.test_lines import camera, chess
from vision.evidence.site_evidence import SiteEvidence
from vision.placement import POOR, POOR_EVERYWHERE, choose_placement
from vision.reader import Reader
from vision.registration.placement_prior import PlacementPrior

IMAGE = np.full((120, 160, 3), 128, np.uint8)


def finds(locate, neighbours=lambda pose, aside: []):
    """A registrar for which no place is certain"""
    return SimpleNamespace(
        locate=locate,
        ways=lambda image, pose: pose.as_well or (pose,),
        neighbours=lambda image, pose, aside: neighbours(pose, aside),
        is_ambiguous=lambda image, pose: True,
    )


def reader(chances: dict[bool, float]) -> tuple[Reader, list[bool]]:
    """A reader that finds a board of which nobody knows which way round it lies, and reads its
    letter with such a probability if it is taken to be turned or not; and what it read"""
    plan = chess()
    first, second = (s.id for s in plan.site[:2])
    one, read = camera(), []
    there = msgspec.structs.replace(one, rvec=one.rvec + 1)
    here = msgspec.structs.replace(one, maybe_turned=True, as_well=(one, there))

    def looked(pose):
        read.append(pose.rvec is there.rvec)
        strange = SiteEvidence((((), -9.0),), -0.1)  # a mark on the board, seen the wrong way round
        return {first: SiteEvidence(((("Q",), float(np.log(chances[read[-1]]))),)), second: strange}

    registrar = finds(lambda image, last: here if last is None else last)
    return Reader(plan, registrar, StandIn(looked)), read


@pytest.mark.parametrize(
    ("upright", "turned", "told"),
    [(0.2, 0.2, None), (0.9, 0.0005, False), (0.0005, 0.9, True), (0.3, 0.9, None)],
)
def test_pieces_tell_which_way_round(upright, turned, told):
    one, read = reader({False: upright, True: turned})
    pose = one.locate(IMAGE)
    assert len(read) == 2 and pose.maybe_turned == (told is None)
    assert (pose.rvec is not one.registrar.locate(IMAGE, None).rvec) == bool(told)


def test_a_thing_on_the_board_hardly_tells_which_way_round():
    """Whatever piece it is most like, it is none: that is no reason to take the board for turned"""
    one, read = reader({False: 0.9, True: 1e-6})
    looked, q = one.learned.tell, (("Q",), -12.0)

    def with_thing(pose):
        found = looked(pose)
        thing = SiteEvidence((((), -9.0), q) if read[-1] else (q, ((), -14.0)), -0.001)
        return found | {one.plan.site[2].id: thing}

    one.learned.tell = with_thing
    assert not one.locate(IMAGE).maybe_turned


def test_what_is_read_tells_too_where_a_board_may_lie_some_squares_off():
    """Pieces that would lie beside it there are not read, which is no reason to take it for there:
    what lies on the table instead is read as no square. And one place says how far off it itself
    may be"""
    plan, here = chess(), camera()
    off = msgspec.structs.replace(here, tvec=here.tvec + 50.0, error_px=0.2)
    doubted = msgspec.structs.replace(off, error_px=60.0, as_well=(off, here))
    registrar = finds(lambda image, last: doubted)

    def looked(pose):
        lies = [s.id for s in plan.site[: 40 if pose.tvec is here.tvec else 24]]
        table = [] if pose.tvec is here.tvec else [s.id for s in plan.site[-16:]]
        empty, men, cloth = (
            SiteEvidence((((), -0.01),)),
            SiteEvidence(((("Q",), -0.3),)),
            SiteEvidence((((), -6.0),), -0.003),
        )
        return {s: cloth if s in table else men if s in lies else empty for s in plan.sites}

    pose = Reader(plan, registrar, StandIn(looked)).locate(IMAGE)
    assert pose.tvec is here.tvec and pose.error_px < 1


def test_where_kinds_lay_in_the_samplers_tells_which_way_round():
    """Men look the same from either side of the table"""
    plan, men = chess(), [f"{side} man" for side in ("white", "black")]
    plan = msgspec.structs.replace(
        plan, piece=tuple(msgspec.structs.replace(plan.piece[0], kind=k) for k in men)
    )
    start = {f"{column}{row}": (men[row > 3],) for row in (0, 1, 6, 7) for column in range(8)}
    prior = PlacementPrior.of(plan, [start, start])
    one = camera()
    there = msgspec.structs.replace(one, rvec=one.rvec + 1)
    here = msgspec.structs.replace(one, maybe_turned=True, as_well=(one, there))
    registrar = finds(lambda image, last: here)

    def looked(pose):
        moved = {"03": men[0], "13": men[0], "43": men[0], "25": men[1], "64": men[1], "77": men[1]}
        lies = (
            moved
            if pose.rvec is there.rvec
            else {f"{7 - int(s[0])}{7 - int(s[1])}": k for s, k in moved.items()}
        )
        return {s: SiteEvidence((((k,), -0.1), ((), -3.0))) for s, k in lies.items()}

    pose = Reader(plan, registrar, StandIn(looked), prior=prior).locate(IMAGE)
    assert pose.rvec is there.rvec and not pose.maybe_turned
    assert Reader(plan, registrar, StandIn(looked)).locate(IMAGE).maybe_turned


def test_pieces_that_lie_anywhere_say_nothing_of_the_way_round():
    plan = chess()
    plan = msgspec.structs.replace(
        plan, piece=tuple(msgspec.structs.replace(plan.piece[0], kind=k) for k in "ABCD")
    )
    rng = np.random.default_rng(1)
    photos = [
        {plan.site[i].id: ("ABCD"[n % 4],) for n, i in enumerate(rng.permutation(64)[:30])}
        for _ in range(2)
    ]
    prior = PlacementPrior.of(plan, photos)
    found = {s.id: SiteEvidence((((("A",), -0.1)),)) for s in plan.site[:16]}
    assert abs(prior.log_prior(plan, found)) < 2 and not PlacementPrior.of(plan, [{}]).likely


def test_where_the_board_still_lies_as_before_nothing_is_read_for_it():
    one, read = reader({False: 0.2, True: 0.9})
    last = msgspec.structs.replace(one.registrar.locate(IMAGE, None), maybe_turned=False)
    assert one.locate(IMAGE, last) is last and not read


def test_a_doubt_is_asked_again_at_every_look_until_one_way_stands_out():
    chances = {False: 0.3, True: 0.9}
    one, read = reader(chances)
    doubt = one.locate(IMAGE)
    assert doubt.maybe_turned and one.locate(IMAGE, doubt) is doubt and len(read) == 4
    chances[False] = 1e-6
    assert not one.locate(IMAGE, doubt).maybe_turned


def test_a_board_on_which_nothing_is_read_plainly_is_looked_for_elsewhere():
    """99 letters speak against a pose that was taken for settled"""
    plan, right = chess(), camera()
    wrong = msgspec.structs.replace(right, rvec=right.rvec + 1)
    registrar = finds(lambda image, last: last, lambda pose, aside: [] if aside else [right])

    def looked(pose):
        chance = -0.01 if pose.rvec is right.rvec else -1.0
        return {s: SiteEvidence(((("Q",), chance),)) for s in plan.sites}

    one = Reader(plan, registrar, StandIn(looked))
    pose, evidence = one.find_and_read(IMAGE, wrong)
    assert pose.rvec is right.rvec and not evidence.registration.maybe_turned
    assert one.read_at(IMAGE, wrong).registration.maybe_turned


def test_places_a_square_further_are_asked_too():
    plan, here = chess(), camera()
    ways = [msgspec.structs.replace(here, tvec=here.tvec + 80.0 * n) for n in range(2)]
    off = msgspec.structs.replace(here, tvec=here.tvec - 80.0)
    worth = {float(w.tvec[0]): v for w, v in zip((*ways, off), (-5.0, -30.0, -1.0))}

    chosen = choose_placement(
        plan,
        ways,
        lambda pose: worth[float(pose.tvec[0])],
        lambda pose, aside: [off] if aside else (),
        POOR,
    )
    assert np.all(chosen.pose.tvec == off.tvec)


@pytest.mark.parametrize(("poor", "doubted"), [(POOR, True), (POOR_EVERYWHERE, False)])
def test_the_only_place_is_doubted_where_too_little_is_read_plainly_there(poor, doubted):
    plan, here = chess(), camera()
    read = -0.1 * len(plan.site)
    chosen = choose_placement(plan, [here], lambda pose: read, lambda pose, aside: (), poor)
    assert chosen.pose.maybe_turned == doubted


@pytest.mark.parametrize(("by", "doubted"), [("print", True), ("markers", False)])
def test_men_read_poorly_on_squares_may_stand_a_square_off_whatever_the_print_shows(
    monkeypatch, by, doubted
):
    """One of twelve photos of real men was read where the board did not lie, and without a doubt"""
    monkeypatch.setattr(Reader, "square_grid", property(lambda self: "of squares"))
    plan, pose = chess(), msgspec.structs.replace(camera(), by=by)
    registrar = SimpleNamespace(is_ambiguous=lambda image, pose: False)
    poor = {s: SiteEvidence((((), -0.5), (("Q",), -1.0))) for s in plan.sites}
    found = Reader(plan, registrar, StandIn(lambda _: poor)).read_at(IMAGE, pose)
    assert found.registration.maybe_turned == doubted
