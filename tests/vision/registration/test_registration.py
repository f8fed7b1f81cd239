"""Where the board lies: cards, print, tiles, found to a fraction of a pixel and honest about it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.survey.registrar_fit import fit_registrar
from vision.evidence.site_evidence import NoBoard
from vision.geometry.lens import Lens
from vision.geometry.symmetry import is_square
from vision.registration.aruco_cards import find_cards, ideal_cards
from vision.registration.registrar import Registrar, roll_camera

PIECES = ("B2", "C3", "F4", "G6", "H2", "J7")


def tapped(studio, poses, seed=3, off=2.5):
    rng = np.random.default_rng(seed)
    return [p.to_px(studio.plan.corners) + rng.normal(0, off, (4, 2)) for p in poses]


@pytest.fixture(scope="module")
def printed(board):
    """Registrar without cards, from two empty photos and one with pieces; and the true poses"""
    truth = [board.pose(), board.pose(), board.pose(turn=1.5, lean=60, shift=(4, -3))]
    images = [board.film(truth[0]), board.film(truth[1], light=0.8), board.film(truth[2], PIECES)]
    registrar, poses = fit_registrar(
        board.plan, images, tapped(board, truth), False, [{}, {}, {s: ("disc",) for s in PIECES}]
    )
    return registrar, poses, truth


@pytest.fixture(scope="module")
def by_cards(carded):
    truth = [carded.pose(fill=0.6), carded.pose(fill=0.6, turn=1)]
    images = [carded.film(truth[0]), carded.film(truth[1], PIECES, light=1.1)]
    registrar, poses = fit_registrar(
        carded.plan, images, None, True, [{}, {s: ("disc",) for s in PIECES}]
    )
    return registrar, poses, truth


def test_cards_taped_askew_are_measured(carded, by_cards, tools):
    registrar, poses, truth = by_cards
    for pose, true in zip(poses, truth):
        assert tools.off_by(carded.plan, pose, true) < 0.4
    for i, corners in registrar.cards.items():
        assert np.abs(corners.mean(0) - carded.cards[i].mean(0)).max() < 0.5


def test_fingers_some_pixels_off_are_sharpened_and_the_lens_is_found(board, printed, tools):
    registrar, poses, truth = printed
    for pose, true in zip(poses, truth):
        assert tools.off_by(board.plan, pose, true) < 0.5
    edge = np.array([[1.0, 1.0]]) * tools.SIZE
    bent, true = (
        cv2.undistortPoints(edge.reshape(-1, 1, 2), K, lens.dist, P=K)
        for lens in (registrar.lens, tools.LENS)
        for K in [lens.K(tools.SIZE)]
    )
    # focal length and bending trade against each other; where a corner of the picture goes, they
    # must agree
    assert np.linalg.norm(bent - true) < 0.35 * np.linalg.norm(true.ravel() - edge.ravel())


def test_a_photo_without_tapped_corners_is_registered_against_the_others(board, tools):
    truth = [board.pose(), board.pose(turn=3, tilt=11)]
    images = [board.film(p) for p in truth]
    _, poses = fit_registrar(board.plan, images, [tapped(board, truth)[0], None], False, [{}, {}])
    assert tools.off_by(board.plan, poses[1], truth[1]) < 0.5


@pytest.mark.parametrize(
    "view, shot",
    [
        (dict(turn=2, shift=(5, 4)), {}),
        (dict(turn=183), {}),
        (dict(turn=88, fill=0.6), {}),
        (dict(turn=35, tilt=22, fill=0.6), {}),
        (dict(), dict(light=0.4)),
        (dict(turn=1, size=(1640, 1232)), {}),
        (dict(turn=1, size=(600, 450)), {}),
        (dict(turn=-2, lens=Lens(0.82, -0.11, 0.03)), {}),
    ],
)
def test_the_print_is_found_again(board, printed, tools, view, shot):
    registrar, _, _ = printed
    true = board.pose(**view)
    pose = registrar.locate(board.film(true, PIECES, **shot))
    assert pose.by == "print"
    assert tools.off_by(board.plan, pose, true) < 0.5 * max(true.size) / 820


def test_the_error_told_is_true_within_a_factor_of_two(board, printed, carded, by_cards, tools):
    for studio, (registrar, _, _), fill in ((board, printed, 0.72), (carded, by_cards, 0.6)):
        off, told = [], []
        for k in range(6):
            true = studio.pose(turn=k - 3, tilt=6 + k, fill=fill)
            pose = registrar.locate(studio.film(true, PIECES))
            off.append(tools.off_by(studio.plan, pose, true))
            told.append(pose.error_px)
        off, told = (float(np.sqrt(np.mean(np.square(x)))) for x in (off, told))
        assert 0.5 < off / told < 2


def test_half_covered_by_pieces_and_an_arm(board, printed, tools):
    registrar, _, _ = printed
    true = board.pose(turn=1)
    sites = [s.id for s in board.plan.site][::2]
    pose = registrar.locate(tools.with_arm(board.film(true, sites)))
    assert tools.off_by(board.plan, pose, true) < 0.6


def test_the_same_pose_comes_back_while_nothing_moves(board, printed):
    registrar, poses, truth = printed
    assert registrar.locate(board.film(truth[0], ("A1", "E5")), poses[0]) is poses[0]


def test_a_small_bump_is_noticed(board, printed, tools):
    registrar, poses, _ = printed
    true = board.pose(turn=0.4)
    pose = registrar.locate(board.film(true), poses[0])
    assert pose is not poses[0]
    assert tools.off_by(board.plan, pose, true) < 0.4


@pytest.mark.parametrize("hidden", [(), (1,), (0, 3), (0, 1, 2, 3)])
def test_cards_hidden_by_an_arm(carded, by_cards, tools, hidden):
    registrar, _, _ = by_cards
    true = carded.pose(fill=0.6, turn=-2)
    pose = registrar.locate(carded.film(true, PIECES, without=hidden))
    assert pose.by == ("markers" if len(hidden) < 3 else "print")
    assert tools.off_by(carded.plan, pose, true) < 0.4


def test_a_board_that_slid_between_its_cards_is_followed(carded, by_cards, tools):
    registrar, poses, truth = by_cards
    image = carded.film(truth[0], slid=(3.0, -2.0))
    pose = registrar.locate(image, poses[0])
    corners = pose.to_px(carded.plan.corners) - truth[0].to_px(
        carded.plan.corners + np.array([3.0, -2.0])
    )
    assert np.abs(corners).max() < 0.6


def test_cards_alone_where_there_is_no_print(carded, by_cards, tools):
    bare = tools.Studio(carded.plan, carded.canvas, carded.cards, board=False)
    true = bare.pose(fill=0.6)
    registrar, poses = fit_registrar(
        bare.plan, [bare.film(true), bare.film(true, light=0.7)], None, True, [{}, {}]
    )
    moved = bare.pose(fill=0.6, turn=3)
    # the cards are all there is: where they were taped is only known to a millimetre or two
    pose = registrar.locate(bare.film(moved, without=(2,)), poses[0])
    other = registrar.locate(bare.film(moved))
    assert pose.by == "markers"
    assert tools.off_by(bare.plan, pose, other) < 0.6


def test_a_model_remembers(board, printed, tools):
    registrar, _, _ = printed
    arrays = registrar.pack()
    assert sum(a.nbytes for a in arrays.values()) < 3_000_000
    true = board.pose(turn=184)
    image = board.film(true)
    again = Registrar.unpack(board.plan, arrays).locate(image)
    assert tools.off_by(board.plan, again, registrar.locate(image)) < 1e-6


@pytest.mark.parametrize(
    "image, why",
    [
        (np.zeros((616, 820, 3), np.uint8), "black"),
        (np.full((616, 820, 3), 120, np.uint8), "one colour"),
        (np.zeros((20, 30, 3), np.uint8), "30 x 20"),
        (np.zeros((0, 0, 3), np.uint8), "not a picture"),
        (np.zeros((616, 820, 3), np.float32), "not a picture"),
        (np.random.default_rng(0).integers(0, 255, (616, 820, 3)).astype(np.uint8), "not found"),
    ],
)
def test_what_shows_no_board_says_why(printed, by_cards, image, why):
    for registrar, poses, _ in (printed, by_cards):
        with pytest.raises(NoBoard, match=why):
            registrar.locate(image, poses[0])


def test_another_board_is_not_taken_for_this_one(board, printed, tools):
    plan = tools.grid_plan(7, 5, 36.0, 20.0, {"kind": "disc", "size": 20, "height": 2})
    other = tools.Studio(plan, tools.drawn_board(plan, seed=9), seed=8)
    with pytest.raises(NoBoard):
        printed[0].locate(other.film(other.pose()))


def test_fitting_names_the_photo_that_is_of_no_use(board, carded):
    good = board.film(board.pose())
    black = np.zeros_like(good)
    noise = np.random.default_rng(1).integers(0, 255, good.shape).astype(np.uint8)
    with pytest.raises(NoBoard, match="photo 2: the picture is black"):
        fit_registrar(board.plan, [good, black], tapped(board, [board.pose()] * 2), False, [{}, {}])
    with pytest.raises(NoBoard, match="photo 2"):
        fit_registrar(
            carded.plan, [carded.film(carded.pose(fill=0.6)), noise], None, True, [{}, {}]
        )
    with pytest.raises(NoBoard, match="photo 1: none of the four cards"):
        fit_registrar(carded.plan, [good], None, True, [{}])
    with pytest.raises(NoBoard, match="no photos"):
        fit_registrar(carded.plan, [], None, True, [])


def test_corners_that_no_camera_sees_so_are_refused(board):
    crossed = board.pose().to_px(board.plan.corners)[[0, 2, 1, 3]]
    with pytest.raises(NoBoard, match="photo 1"):
        fit_registrar(board.plan, [board.film(board.pose())], [crossed], False, [{}])


def crossings(tools, wooden=False):
    """A board of lines that look alike everywhere, as for go; of wood it has a grain"""
    plan = tools.grid_plan(13, 13, 22.0, 20.0, {"kind": "stone", "size": 21, "height": 6})
    canvas = np.full(
        (round(plan.size[1] * tools.DOTS), round(plan.size[0] * tools.DOTS), 3),
        (110, 170, 210),
        np.uint8,
    )
    for k in range(13):
        at = round((31 + 22 * k) * tools.DOTS)
        last = round((31 + 22 * 12) * tools.DOTS)
        first = 31 * tools.DOTS
        for corner, other in (
            ((at - 2, first - 2), (at + 1, last + 1)),
            ((first - 2, at - 2), (last + 1, at + 1)),
        ):
            # its middle is where the plan has it, between two dots
            cv2.rectangle(canvas, corner, other, (30, 40, 50), -1)
    if wooden:
        coarse = np.random.default_rng(7).normal(0, 9, (40, 40))
        grain = cv2.resize(coarse, canvas.shape[1::-1], interpolation=cv2.INTER_CUBIC)
        canvas[:] = np.clip(canvas + grain[..., None], 0, 255)
    return tools.Studio(plan, canvas)


def fit_empty(board, truth):
    """A registrar from two photos of an empty board whose corners were tapped"""
    images = [board.film(truth), board.film(truth, light=0.8)]
    return fit_registrar(board.plan, images, tapped(board, [truth] * 2), False, [{}, {}])[0]


@pytest.fixture(scope="module")
def go_board(tools):
    """Such a board, where it lies, and its registrar"""
    board = crossings(tools)
    truth = board.pose(fill=0.8)
    return board, truth, fit_empty(board, truth)


def test_a_board_of_squares_is_not_taken_one_square_off(tools, go_board):
    go, truth, registrar = go_board
    stones = [s.id for s in go.plan.site][::5]
    for shift in ((9.0, 2.0), (16.0, -9.0)):
        true = go.pose(fill=0.8, turn=1, shift=shift)
        pose = registrar.locate(go.film(true, stones), truth)
        assert tools.off_by(go.plan, pose, true) < 0.6


def test_cards_say_which_way_round_a_board_of_squares_lies(tools):
    go = crossings(tools)
    board = tools.Studio(go.plan, go.canvas, ideal_cards(go.plan))
    truth = board.pose(fill=0.5)
    registrar, poses = fit_registrar(
        board.plan, [board.film(truth), board.film(truth, light=0.8)], None, True, [{}, {}]
    )
    stones = [s.id for s in board.plan.site if (int(s.id[1:]) + ord(s.id[0])) % 3]
    image = board.film(truth, stones, light=0.9)
    for last in (None, poses[0]):
        pose = registrar.locate(image, last)
        assert pose.by == "markers"
        assert tools.off_by(board.plan, pose, truth) < 1.0


@pytest.mark.slow
def test_a_board_of_squares_is_found_knocked_turned_and_full_of_pieces(tools):
    go = crossings(tools, wooden=True)
    truth = go.pose(fill=0.8)
    registrar = fit_empty(go, truth)
    again = Registrar.unpack(go.plan, registrar.pack())
    for view, each in (
        (dict(turn=2.5, shift=(25, -30)), 4),
        (dict(turn=181.5, shift=(3, 2)), 4),
        (dict(turn=1), 2),
    ):
        true = go.pose(fill=0.8, **view)
        pose = again.locate(
            go.film(true, [s.id for n, s in enumerate(go.plan.site) if n * 7 % 11 % each == 0])
        )
        assert tools.off_by(go.plan, pose, true) < 0.8


@pytest.mark.slow
def test_a_board_is_found_whichever_way_the_camera_is_held(tools):
    go = crossings(tools, wooden=True)
    truth = go.pose(fill=0.6, tilt=25)
    registrar = fit_empty(go, truth)
    for quarters, shift in ((1, (0, 0)), (2, (0, 0)), (2, (75, -55))):  # the last three squares off
        true = roll_camera(go.pose(fill=0.6, tilt=25, shift=shift), quarters)
        assert (
            tools.off_by(
                go.plan, registrar.locate(go.film(true, [s.id for s in go.plan.site][::4])), true
            )
            < 0.8
        )


def test_a_board_that_is_the_same_turned_round_is_said_to_lie_so_perhaps(tools):
    go = crossings(tools)  # without a grain, and
    go.table[:] = (60, 80, 120)  # so is the table
    truth = go.pose(fill=0.8)
    registrar = fit_empty(go, truth)
    assert not registrar.locate(go.film(truth)).maybe_turned
    image = go.film(go.pose(fill=0.8, turn=4.0, shift=(25, -30)))
    pose = registrar.locate(image)
    assert pose.maybe_turned
    around = [
        p
        for p in registrar.ways(image, pose)
        if np.abs(p.to_px(go.plan.corners) - pose.to_px(go.plan.corners)).max() > 50
    ]
    corners = [
        pose.to_px(np.roll(go.plan.corners, k, 0))
        for k in ((1, 2, 3) if is_square(go.plan) else (2,))
    ]
    assert len(around) == len(corners), "and those are the other ways in which it may lie"
    assert all(
        min(np.abs(p.to_px(go.plan.corners) - c).max() for p in around) < 1.5 for c in corners
    )


@pytest.mark.slow
def test_a_board_full_of_pieces_is_found_where_it_lay(tools, go_board):
    go, truth, registrar = go_board
    stones = [s.id for n, s in enumerate(go.plan.site) if n % 12]
    pose = registrar.locate(go.film(truth, stones, light=0.9))
    assert tools.off_by(go.plan, pose, truth) < 2 * pose.error_px < 1.2
    with pytest.raises(NoBoard):
        registrar.locate(go.film(go.pose(fill=0.8, shift=(9, 4)), stones))


def test_a_board_seen_where_it_always_lay_is_not_asked_which_way_round_it_lies(
    tools, monkeypatch, go_board
):
    go, truth, registrar = go_board
    assert len(registrar.printed.likes)
    image = go.film(truth, [s.id for s in go.plan.site][::5], light=0.7)
    monkeypatch.setattr(
        Registrar, "_which_way", lambda *_: pytest.fail("light from elsewhere might turn it")
    )
    assert tools.off_by(go.plan, registrar.locate(image), truth) < 0.6


def test_a_picture_scaled_to_whole_pixels_is_of_the_same_camera(board, printed, tools):
    true = board.pose(turn=1)
    image = cv2.resize(board.film(true, PIECES), (613, 461), interpolation=cv2.INTER_AREA)
    pose = printed[0].locate(image)
    assert tools.off_by(board.plan, pose, true.resized((613, 461))) < 0.5


def test_a_board_that_left_the_middle_of_its_cards_is_found(carded, by_cards, tools):
    registrar, poses, truth = by_cards
    pose = registrar.locate(carded.film(truth[0], slid=(20.0, -14.0)), poses[0])
    corners = pose.to_px(carded.plan.corners) - truth[0].to_px(
        carded.plan.corners + np.array([20.0, -14.0])
    )
    assert np.abs(corners).max() < 0.8


def loose_tiles(tools):
    """Tiles on a bare table, each a bit off"""
    plan = tools.grid_plan(6, 5, 40.0, 12.0, {"kind": "tile", "size": [38, 38], "height": 2})
    return tools.Studio(plan, np.zeros((3, 3, 3), np.uint8), board=False)


def test_loose_tiles_are_a_frame(tools):
    table = loose_tiles(tools)
    rng = np.random.default_rng(2)
    sites = [s.id for s in table.plan.site]
    colours = {s: tuple(map(int, rng.integers(150, 255, 3))) for s in sites}
    truth = [table.pose(), table.pose(), table.pose()]
    images = [
        table.film(truth[0]),
        table.film(truth[1], colours),
        table.film(truth[2], colours, light=0.8),
    ]
    layouts = [{}, {s: ("tile",) for s in sites}, {s: ("tile",) for s in sites}]
    registrar, poses = fit_registrar(table.plan, images, tapped(table, truth), False, layouts)
    assert tools.off_by(table.plan, poses[1], truth[1]) < 1.5
    for view in (dict(), dict(turn=1.5, shift=(6, -4)), dict(turn=-2, tilt=9)):
        true = table.pose(**view)
        some = {s: c for n, (s, c) in enumerate(colours.items()) if n % 7}
        pose = Registrar.unpack(table.plan, registrar.pack()).locate(table.film(true, some))
        assert pose.by == "tiles"
        assert tools.off_by(table.plan, pose, true) < 2.2  # a millimetre
    true = table.pose(turn=181, shift=(9, -7))
    pose = Registrar.unpack(table.plan, registrar.pack()).locate(table.film(true, colours))
    assert tools.off_by(table.plan, pose, true) < 2.5  # the table's grain says which way round
    with pytest.raises(NoBoard, match="tiles"):
        registrar.locate(table.film(table.pose()))


def test_corners_tapped_on_a_bare_cloth_hold_for_the_photos_with_tiles(tools):
    table = loose_tiles(tools)
    table.table[:] = 90, 96, 100
    rng = np.random.default_rng(5)
    colours = {s.id: tuple(map(int, rng.integers(150, 255, 3))) for s in table.plan.site}
    truth = [table.pose()] * 4
    layouts = [{}, {}, *[{s: ("tile",) for s in colours}] * 2]
    grain = [rng.normal(0, 9, (*tools.SIZE[::-1], 3)) for _ in truth]  # never twice the same
    images = [
        (table.film(p, colours if layout else (), noise=0) + g).clip(0, 255).astype(np.uint8)
        for p, layout, g in zip(truth, layouts, grain)
    ]
    taps = tapped(table, truth)[:1] + [None] * 3
    registrar, poses = fit_registrar(table.plan, images, taps, False, layouts)
    assert registrar.tiles is not None
    assert max(tools.off_by(table.plan, p, t) for p, t in zip(poses[2:], truth)) < 2.2


def test_corners_mended_by_rows_of_tiles_are_where_fingers_had_them(tools, monkeypatch):
    table = loose_tiles(tools)
    rng = np.random.default_rng(7)
    colours = {s.id: tuple(map(int, rng.integers(150, 255, 3))) for s in table.plan.site}
    truth = [table.pose()] * 3
    images = [table.film(truth[0]), *[table.film(truth[1], colours, light=v) for v in (1, 0.8)]]

    def rows_end(plan, lens, image, taps):
        """Where the tiles leave off: far from the corners of the plan"""
        return None if image is images[0] else taps + [[0, 0], [-60, 0], [-60, 0], [0, 0]]

    monkeypatch.setattr("calibration.survey.registrar_fit.mend_corners", rows_end)
    layouts = [{}, *[{s: ("tile",) for s in colours}] * 2]
    _, poses = fit_registrar(table.plan, images, tapped(table, truth), False, layouts)
    assert max(tools.off_by(table.plan, p, truth[0]) for p in poses[1:]) < 2.2


def test_tiles_with_a_white_border_on_a_table_whose_grain_looks_like_print(tools):
    table = loose_tiles(tools)
    table.table = np.clip(
        table.table + np.random.default_rng(4).normal(0, 25, (900, 900, 1)).astype(np.float32),
        0,
        255,
    ).astype(np.uint8)
    rng = np.random.default_rng(6)
    truth = table.pose()

    def filmed(pose):
        image = table.film(pose, noise=0)
        for site in table.plan.site:
            middle, colour = (
                site.centre + rng.normal(0, 0.7, 2),
                tuple(map(int, rng.integers(20, 140, 3))),
            )
            for half, shade in ((19.0, (235, 235, 235)), (16.8, colour)):
                ring = middle + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
                cv2.fillPoly(
                    image,
                    [np.rint(pose.to_px(ring, 2.0) * 16).astype(np.int32)],
                    shade,
                    cv2.LINE_AA,
                    4,
                )
        return table.noisy(cv2.GaussianBlur(image, (0, 0), 0.7), 2.0)

    everywhere = {s.id: ("tile",) for s in table.plan.site}
    images = [table.film(truth), table.film(truth, light=0.8), filmed(truth), filmed(truth)]
    registrar, poses = fit_registrar(
        table.plan, images, tapped(table, [truth] * 4), False, [{}, {}, everywhere, everywhere]
    )
    assert registrar.printed is None and registrar.tiles is not None
    true = table.pose(turn=1.5, shift=(6, -4))
    assert tools.off_by(table.plan, registrar.locate(filmed(true)), true) < 2.2


@pytest.mark.parametrize("gone", [0, 3])
def test_three_cards_are_enough(carded, tools, gone):
    truth = carded.pose(fill=0.6)
    images = [
        carded.film(truth, without=(gone,)),
        carded.film(truth, PIECES, light=0.9, without=(gone,)),
    ]
    registrar, poses = fit_registrar(
        carded.plan, images, None, True, [{}, {s: ("disc",) for s in PIECES}]
    )
    assert sorted(registrar.cards) == [i for i in range(4) if i != gone]
    assert tools.off_by(carded.plan, poses[1], truth) < 0.5
    moved = carded.pose(fill=0.6, turn=2)
    assert tools.off_by(carded.plan, registrar.locate(carded.film(moved)), moved) < 0.5


def test_two_cards_are_too_few_and_are_named(carded):
    image = carded.film(carded.pose(fill=0.6), without=(0, 1))
    with pytest.raises(
        NoBoard, match="photo 1: of the four cards only number 2 and number 3 can be seen;"
    ):
        fit_registrar(carded.plan, [image], None, True, [{}])


def test_a_lens_that_bends_much_is_found_without_cards(board, tools):
    lens = Lens(0.82, -0.24, 0.0)
    truth = board.pose(fill=0.85, lens=lens)
    images = [board.film(truth), board.film(truth, light=0.8), board.film(truth, PIECES)]
    registrar, poses = fit_registrar(
        board.plan,
        images,
        tapped(board, [truth] * 3),
        False,
        [{}, {}, {s: ("disc",) for s in PIECES}],
    )
    assert abs(registrar.lens.k1 / registrar.lens.focal**2 / (lens.k1 / lens.focal**2) - 1) < 0.2
    assert tools.off_by(board.plan, poses[2], truth) < 0.5


def test_a_card_whose_paper_runs_out_of_the_picture_is_seen(carded):
    pose = carded.pose(fill=0.6)
    image = carded.film(pose)
    x, y = (
        np.floor(np.min([pose.to_px(c).min(0) for c in carded.cards.values()], 0)).astype(int) - 5
    )
    assert set(find_cards(cv2.cvtColor(image[y:, x:], cv2.COLOR_BGR2GRAY))) == {0, 1, 2, 3}


@pytest.mark.parametrize("order", [(1, 0, 2, 3), (3, 2, 1, 0), (1, 2, 3, 0)])
def test_cards_at_the_wrong_corners_are_named(carded, tools, order):
    wrong = tools.Studio(
        carded.plan, carded.canvas, {i: ideal_cards(carded.plan)[at] for i, at in enumerate(order)}
    )
    with pytest.raises(NoBoard, match="photo 1: the cards lie in another order: number 0 belongs"):
        fit_registrar(wrong.plan, [wrong.film(wrong.pose(fill=0.6))], None, True, [{}])


@pytest.mark.parametrize("side, gain", [(30, 2), (40, 4)])
def test_cards_small_or_burnt_out_are_found(side, gain):
    """White that spreads over a card's black bars until they are too narrow to be known: 1 or none
    of 4 was found"""
    middles = np.array([(60, 60), (320, 80), (300, 320), (80, 310)], float)
    rim = side // 5
    known = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    grey = np.full((400, 400), 60, np.uint8)
    for i, (x, y) in enumerate((middles - side / 2 - rim).astype(int)):
        card = cv2.copyMakeBorder(
            cv2.aruco.generateImageMarker(known, i, side * 10),
            *[rim * 10] * 4,
            cv2.BORDER_CONSTANT,
            value=255,
        )
        grey[y : y + side + 2 * rim, x : x + side + 2 * rim] = cv2.resize(
            card, None, fx=0.1, fy=0.1, interpolation=cv2.INTER_AREA
        )
    light = cv2.GaussianBlur((grey / 255.0) ** 2.2, (0, 0), 1.0) * gain
    found = find_cards((light.clip(0, 1) ** (1 / 2.2) * 255).astype(np.uint8))
    assert sorted(found) == [0, 1, 2, 3]
    assert all(np.abs(found[i].mean(0) - middles[i] + 0.5).max() < 0.5 for i in found)
