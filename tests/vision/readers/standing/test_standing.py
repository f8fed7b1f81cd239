"""Things that stand and lean over other sites are read where their feet are."""

import cv2
import numpy as np
import pytest

from calibration.readers.standing.reader_fit import fit_standing_reader, standing_sites
from calibration.readers.standing.sample_photos import Studio
from calibration.readers.standing.uncovered_board import behind_things, uncovered
from tests.support.towers import (
    FORMS,
    SIDE,
    N,
    camera,
    photo,
    random_layout,
    towers_plan,
    towers_shots,
)
from vision.evidence.site_evidence import SiteEvidence
from vision.geometry.posed_photo import Shot
from vision.plan import Plan, parse_plan
from vision.readers.standing.lean_geometry import Frame, Seat, Sheet, needed, rises, uppermost
from vision.readers.standing.reader import StandingReader
from vision.registration.print_map import compose_board


@pytest.fixture(scope="module")
def plan() -> Plan:
    return towers_plan()


@pytest.fixture(scope="module")
def shots(plan: Plan) -> list[Shot]:
    return towers_shots(plan, 3)


@pytest.fixture(scope="module")
def reader(plan: Plan, shots: list[Shot]) -> StandingReader:
    return fit_standing_reader(plan, [s.id for s in plan.site], shots, 0.1)


def told(found: dict[str, SiteEvidence]) -> dict[str, tuple[str, ...]]:
    return {s: e.best for s, e in found.items() if e.best and not e.foreign}


def test_only_what_stands_and_leans_is_read_so(plan: Plan, shots: list[Shot]) -> None:
    assert standing_sites(plan, shots) == [s.id for s in plan.site]
    flat = parse_plan(
        {
            "game": "towers",
            "size": plan.size,
            "site": [{"id": s.id, "outline": s.outline} for s in plan.site],
            "piece": [{"kind": k, "size": 24, "height": 6} for k in FORMS],
        }
    )
    assert standing_sites(flat, shots) == []
    crowd = Shot(shots[0].image, {s.id: ("stump",) for s in plan.site}, camera())
    assert standing_sites(plan, [crowd]) == []  # no photo shows the board behind them


def test_a_crowded_board_is_read_also_by_a_bumped_camera(
    plan: Plan, reader: StandingReader
) -> None:
    rng = np.random.default_rng(8)
    right = 0
    for turn in (0.0, 0.06):
        layout = random_layout(plan, rng, 10)
        found = told(reader.read(photo(plan, layout, camera(turn), rng), camera(turn)))
        right += sum(found.get(s.id, ()) == layout.get(s.id, ()) for s in plan.site)
    assert right >= 27  # of 32


def test_a_model_kept_in_a_file_reads_the_same_and_single_sites_too(
    plan: Plan, reader: StandingReader
) -> None:
    rng = np.random.default_rng(9)
    layout = random_layout(plan, rng, 6)
    image = photo(plan, layout, camera(), rng)
    whole = reader.read(image, camera())
    again = StandingReader.unpack(plan, reader.pack())
    assert again.read(image, camera()) == whole
    some = again.read(image, camera(), {"10", "23"})
    assert set(some) == {"10", "23"} and all(some[s].best == whole[s].best for s in some)
    assert again.read(image, camera(), set()) == {}


def test_sites_that_two_photos_of_a_beginning_never_show_empty_are_learnt_from_as_if_bare(
    plan: Plan,
) -> None:
    rng, kinds = np.random.default_rng(5), list(FORMS)
    layout = {f"{c}{r}": (kinds[(c + r) % 3],) for r in (0, N - 1) for c in range(N)}
    shots = [
        Shot(photo(plan, layout, pose, rng), layout, pose, "")
        for pose in (camera(), camera(across=True))
    ]
    ids = [s.id for s in plan.site]
    studio, shown = (
        Studio(plan, ids, shots),
        Studio(plan, ids, [*shots, Shot(photo(plan, {}, camera(), rng), {}, camera(), "")]),
    )
    men, forms = studio.found()
    low, high = (studio.sheet.px(np.full(2, mm)).astype(int) + 2 for mm in (0, N * SIDE))
    off = np.abs(studio.empty - shown.empty)[low[1] : high[1], low[0] : high[0], :3].max(-1)
    assert (off > 0.3).mean() < 0.03  # 0.14 of the board where both photos are averaged
    places = studio.places(men, studio.searcher(men, forms).looks)
    bare = [p for p in places if p.label < 0]
    assert len(bare) == 2 * len(ids) and len(places) - len(bare) == 2 * len(layout)


def test_heads_seen_off_their_feet_are_no_print(plan: Plan) -> None:
    rng, pose = np.random.default_rng(6), camera(tilt=0.9)
    layout = {"11": ("night",), "22": ("night",)}
    made = [
        compose_board(plan, [photo(plan, lies, pose, rng)], [pose], [lies]) for lies in (layout, {})
    ]
    (seen, bare, _, _), (empty, _, _, _) = made
    off = np.abs(
        cv2.GaussianBlur(seen, (0, 0), 4).astype(float) - cv2.GaussianBlur(empty, (0, 0), 4)
    )
    inside = cv2.erode(bare.astype(np.uint8), np.ones((25, 25))) > 0
    assert off[inside].max() < 12 and bare.mean() > 0.4


def test_the_board_under_things_is_seen_beside_them_or_on_a_site_alike(plan: Plan) -> None:
    sheet = Sheet.of(np.full(2, -20.0), np.full(2, N * SIDE + 20), 1.0)
    centres = np.array([s.centre for s in plan.site])
    true = np.zeros((*sheet.shape, 3), np.float32)
    for n, s in enumerate(plan.site):
        a, b = (sheet.px(np.array(c)).round().astype(int) for c in (s.outline[0], s.outline[2]))
        true[a[1] : b[1], a[0] : b[0]] = (4.0, 0.2, 0.1) if (n // N + n) % 2 else (5.0, 0.0, 0.0)
    things = [
        [(c, np.array([0.0, way]), 0.6, 40.0, 500.0, np.full(24, 11.0)) for c in centres[:5]]
        for way in (1.0, -1.0)
    ]
    hides = [behind_things(sheet, some) for some in things]
    assert all(h[tuple(sheet.px(c).round().astype(int)[::-1])] for h in hides for c in centres[:5])
    ground, varied = uncovered(
        [np.where(h[..., None], 3.0, true) for h in hides], hides, sheet, centres, SIDE
    )
    assert (
        np.abs(ground - true)[20:-20, 20:-20].mean() < 0.01
        and np.percentile(varied[20:-20, 20:-20], 98) < 0.1
    )


def test_a_slice_is_seen_where_the_pose_puts_its_height() -> None:
    pose = camera()
    seat, foot = Seat.of(pose), np.array([30.0, 120.0])
    along, lean = seat.leaning(foot[None])
    off, _ = rises(64.0, float(lean[0]), seat.height)
    z = (np.arange(len(off)) + 0.5) / len(off) * 64.0
    seen = pose.to_mm(np.vstack([pose.to_px(foot[None], h) for h in z]))
    assert np.allclose(seen, foot + off[:, None] * along, atol=1e-6)
    frame = Frame(20.0, 20.0, 60.0, 1.0)
    top = uppermost(needed(frame, 64.0, float(lean[0]), seat.height), np.full(len(off), 8.0))
    assert top[20, 20] >= 0 and top[0, 0] == -1
    sheet = Sheet.of(np.array([-10.0, -10]), np.array([170.0, 170]), 2.0)
    assert sheet.shape == (360, 360) and np.allclose(sheet.px(np.zeros(2)), 19.5)
