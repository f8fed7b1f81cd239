"""How much a lens bends is told by the lines between sites, and a longish board of squares turned
by a quarter is thought of."""

import cv2
import numpy as np
import pytest

from calibration.survey.distortion import bend_of_lines, find_bend
from calibration.survey.registrar_fit import first_sight, rough_bundle
from calibration.survey.survey_photos import SurveyPhotos
from vision.geometry.lens import Lens
from vision.geometry.pose import Pose
from vision.geometry.symmetry import quarter_placements
from vision.plan import Plan, parse_plan
from vision.registration.print_map import Picture
from vision.registration.whole_board import WholeBoard

SIDE, ACROSS, DOWN, EDGE = 30.0, 9, 5, 12.0
MAN = {"kind": "man", "size": 20}
SIZE = (ACROSS * SIDE + 2 * EDGE, DOWN * SIDE + 2 * EDGE)


def chequers() -> Plan:
    sites = [
        {"id": f"{c}.{r}", "outline": [(x, y), (x + SIDE, y), (x + SIDE, y + SIDE), (x, y + SIDE)]}
        for r in range(DOWN)
        for c in range(ACROSS)
        for x, y in [(EDGE + c * SIDE, EDGE + r * SIDE)]
    ]
    return parse_plan(
        {
            "game": "chequers",
            "size": list(SIZE),
            "site": sites,
            "piece": [MAN],
        }
    )


def seen_by(lens: Lens, lean: float) -> Pose:
    rvec = np.array([0.3, lean, 0.04])
    tvec = np.array([0, 0, 400.0]) - cv2.Rodrigues(rvec)[0] @ np.array([*np.array(SIZE) / 2, 0])
    return Pose(lens.K((960, 720)), lens.dist, rvec, tvec, (960, 720))


def photo(plan: Plan, pose: Pose, seed: int = 1) -> np.ndarray:
    """The board, whose rim is as bright as the table, so that its sides tell nothing"""
    image = np.full((720, 960, 3), (150, 165, 175), np.uint8)
    for n, s in enumerate(plan.site):
        if (n // ACROSS + n % ACROSS) % 2:
            cv2.fillPoly(
                image,
                [np.rint(pose.to_px(np.array(s.outline)) * 16).astype(int)],
                (60, 80, 110),
                cv2.LINE_AA,
                4,
            )
    noise = np.random.default_rng(seed).normal(0, 2, image.shape)
    return np.clip(cv2.GaussianBlur(image, (0, 0), 0.8) + noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("k1", [-0.3, 0.2, 0.0])
def test_lines_between_sites_tell_how_much_a_lens_bends(k1: float) -> None:
    plan, rng = chequers(), np.random.default_rng(3)
    poses = [seen_by(Lens(0.85, k1), lean) for lean in (-0.25, 0.2)]
    pictures = [Picture(photo(plan, pose)) for pose in poses]
    taps = [pose.to_px(plan.corners) + rng.normal(0, 2, (4, 2)) for pose in poses]
    photos = SurveyPhotos(
        pictures,
        [{}, {}],
        rough_bundle(plan, [first_sight(*each, False) for each in zip(pictures, taps)]),
    )
    find_bend(plan, photos)
    # focal length and bending trade against each other
    found = photos.bundle.lens[1] / np.exp(photos.bundle.lens[0]) ** 2
    assert abs(found - k1 / 0.85**2) < 0.05
    assert k1 or photos.bundle.bend == 0.0


def test_a_board_without_lines_tells_no_bend() -> None:
    plan, pose = chequers(), seen_by(Lens(0.85), 0.2)
    picture = Picture(cv2.GaussianBlur(photo(plan, pose), (0, 0), 40))
    bundle = rough_bundle(plan, [first_sight(picture, pose.to_px(plan.corners), False)])
    assert bend_of_lines(plan, SurveyPhotos([picture], [{}], bundle)) is None


@pytest.mark.parametrize(("seed", "strength"), [(1, 30), (3, 3), (4, 3), (5, 3)])
def test_the_grain_of_a_bare_table_bends_no_lens(seed: int, strength: float) -> None:
    """A lens that folds the board would find lines in it anywhere, others by chance"""
    site = {"id": "a", "outline": [(100, 100), (140, 100), (140, 140), (100, 140)]}
    plan = parse_plan({"game": "g", "size": [284, 240], "site": [site], "piece": [MAN]})
    rvec, lens = np.array([0.25, 0.1, 0.0]), Lens(0.9)
    tvec = np.array([0, 0, 280.0]) - cv2.Rodrigues(rvec)[0] @ (142, 120, 0)
    pose = Pose(lens.K((960, 720)), lens.dist, rvec, tvec, (960, 720))
    grain = np.random.default_rng(seed).normal(0, strength, (1, 960))
    grain = np.repeat(120 + cv2.GaussianBlur(grain, (0, 0), 3), 720, 0)
    picture = Picture(np.repeat(np.clip(grain, 0, 255)[..., None], 3, 2).astype(np.uint8))
    sight = first_sight(picture, pose.to_px(plan.corners), False)
    photos = SurveyPhotos([picture], [{}], rough_bundle(plan, [sight]))
    find_bend(plan, photos)
    assert photos.bundle.bend == 0.0


def test_a_quarter_turn_of_a_longish_board_puts_squares_on_squares() -> None:
    plan = chequers()
    found = quarter_placements(plan)
    assert [k for _, k in found] == [1, 3]
    for corners, _ in found:
        to_turned = cv2.getAffineTransform(
            plan.corners[:3].astype(np.float32), corners[:3].astype(np.float32)
        )
        middles = np.array([s.centre for s in plan.site]) @ to_turned[:, :2].T + to_turned[:, 2]
        off = (middles - plan.site[0].centre) / SIDE
        assert np.abs(off - np.rint(off)).max() < 1e-3
        assert np.linalg.norm(corners.mean(0) - plan.corners.mean(0)) < SIDE
    square = parse_plan(
        {
            "game": "g",
            "size": [60, 60],
            "piece": [MAN],
            "site": [
                {
                    "id": f"{c}{r}",
                    "outline": [
                        (30 * c, 30 * r),
                        (30 * c + 30, 30 * r),
                        (30 * c + 30, 30 * r + 30),
                        (30 * c, 30 * r + 30),
                    ],
                }
                for c in (0, 1)
                for r in (0, 1)
            ],
        }
    )
    assert quarter_placements(square) == []


def test_that_one_place_is_met_more_nearly_does_not_tell_it_from_one_that_looks_the_same() -> None:
    plan, first, pose = chequers(), seen_by(Lens(0.85), -0.2), seen_by(Lens(0.85), 0.2)
    whole = WholeBoard.of(plan, [photo(plan, first)], [first], [{}])
    picture, turned = Picture(photo(plan, pose, seed=2)), np.roll(plan.corners, 2, 0)
    around, _ = Lens(0.85).pose(turned, pose.to_px(plan.corners) + (0.4, 0.1), pose.size, "")
    assert whole.rather(plan, picture, pose, around, whole.between(plan.corners, turned)) == 0.0
