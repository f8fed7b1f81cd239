"""The first evening: what people say on the phone becomes a copy and a configuration, and nothing
half-made is left."""

import threading
import tomllib
from collections import Counter

import cv2
import msgspec
import numpy as np
import pytest

from calibration.copy import BadCopy, load_copy
from calibration.fit import Report
from calibration.framing import judge_framing, sharpness_of
from cli.first_start import Sight, serve_set_up
from companion.runtime.config import load_config
from companion.runtime.half_learnt import is_half_learnt
from companion.runtime.lens import kept_focus, take_over_focus
from companion.setup.sampler_layouts import EACH, FEWEST, sampler_layouts
from companion.setup.setup import NotSo, Setup
from companion.simulate import Conditions, Director, plan_of
from hardware.camera import BadCamera
from hardware.pi_camera import PiCamera
from vision.plan import BadPlan, parse_plan

SEATS = ["black", "white", "green"]


@pytest.fixture(scope="module")
def plan():
    return plan_of("ur", None)[0]


@pytest.fixture
def director(plan):
    return Director(plan, conditions=Conditions(resolution=(820, 616)), sleep=lambda s: None)


@pytest.fixture
def setup(tmp_path, director):
    made = Setup(tmp_path / "nilometer.toml", lambda: (director.picture(), ""), {"kind": "usb"})
    made.choose("ur", SEATS, {"bonus": "for-restraint"})
    return made


def photographed(setup, director):
    setup.begin("Kitchen Ur", markers=True)
    while setup.session.next is not None:
        number = setup.session.next
        director.set(setup.session.steps[number].layout)
        setup.take(number, None)


def test_a_whole_evening_becomes_a_normal_copy_and_a_configuration(
    setup, director, monkeypatch, tmp_path
):
    photographed(setup, director)
    copy = load_copy(tmp_path / "kitchen-ur")
    assert copy.markers and [p.name for p in copy.photos] == [
        "empty-1.jpg",
        "empty-2.jpg",
        "sampler-1.jpg",
        "sampler-2.jpg",
    ]
    assert {s: list(c) for s, c in copy.photos[2].layout.items()} == setup.session.steps[2].layout

    def learnt(folder, progress, ready=None):
        progress("pieces", 0.5)
        (folder / "model.npz").write_bytes(b"model")
        return Report("Kitchen Ur", "ur", 4, 3.0, [0.3], [], [])

    monkeypatch.setattr("calibration.session.calibrate_copy", learnt)
    setup.learn().join(10)
    assert setup.said()["report"]["photos"] == 4 and setup.said()["copies"] == [
        {"folder": "kitchen-ur", "name": "Kitchen Ur"}
    ]
    setup.go()
    config = load_config(tmp_path / "nilometer.toml")
    assert (
        config.copy == "kitchen-ur"
        and list(config.seats) == SEATS
        and config.options == {"bonus": "for-restraint"}
    )
    assert config.camera == {"kind": "usb"} and setup.written.is_set()
    assert not list(tmp_path.rglob("*.part"))


def test_photos_taken_before_the_power_went_are_still_there(setup, tmp_path, plan):
    director = Director(
        plan, conditions=Conditions(resolution=(820, 616), markers=False), sleep=lambda s: None
    )
    setup._picture = lambda: (director.picture(), "")
    taps = Conditions(resolution=(820, 616), markers=False).look(plan).to_px(plan.corners).tolist()
    setup.begin("Kitchen Ur", markers=False)
    for number in (0, 1, 2):
        director.set(setup.session.steps[number].layout)
        setup.take(number, taps if number == 0 else None)
    (tmp_path / "by-hand").mkdir()
    (tmp_path / "by-hand" / "copy.toml").write_text(
        'game = "ur"\n[[photo]]\nfile = "mine.jpg"\nlayout = "mine.json"\n'
    )
    again = Setup(setup.path, setup._picture, {"kind": "usb"})
    again.choose("ur", SEATS, {})
    assert again.said()["begun"] == [{"folder": "kitchen-ur", "name": "Kitchen Ur", "photos": 3}]
    for wrong in ("by-hand", "../kitchen-ur", "kitchen"):
        with pytest.raises(NotSo, match="unfinished"):
            again.go_on(wrong)
    again.go_on("kitchen-ur")
    assert again.session.next == 3 and not again.session.markers and again.said()["begun"] == []
    assert [s.layout for s in again.session.steps] == [s.layout for s in setup.session.steps]
    director.set(again.session.steps[3].layout)
    again.take(3, None)
    copy = load_copy(tmp_path / "kitchen-ur")
    assert len(copy.photos) == 4 and np.abs(copy.photos[0].corners - taps).max() < 0.1
    (copy.folder / "model.npz").write_bytes(b"model")
    another = Setup(setup.path, setup._picture, {"kind": "usb"})
    another.choose("ur", SEATS, {})
    assert another.said()["begun"] == [], "it is learnt: there is nothing to go on with"


def test_what_cannot_be_is_said(setup, director, tmp_path):
    for wrong in (
        lambda: setup.choose("monopoly", SEATS, {}),
        lambda: setup.choose("ur", ["black"], {}),
        lambda: setup.choose("ur", SEATS, {"bonus": "both"}),
        lambda: setup.use("../elsewhere"),
        setup.go,
        lambda: setup.take(0, None),
        setup.learn,
    ):
        with pytest.raises(NotSo):
            wrong()
    setup.begin("x", markers=True)
    with pytest.raises(NotSo):
        setup.learn()
    director.camera.light = None
    setup._picture = lambda: (np.zeros((616, 820, 3), np.uint8), "")
    with pytest.raises(NotSo, match="dark"):
        setup.take(0, None)
    setup._picture = lambda: (None, "usb camera: gone")
    with pytest.raises(NotSo, match="usb camera: gone"):
        setup.take(0, None)
    assert setup.session.next == 0 and not (tmp_path / "nilometer.toml").exists()


@pytest.mark.parametrize(
    "fault", [BadCopy("kitchen-ur: no board in photo 2"), ZeroDivisionError("division by zero")]
)
def test_a_fault_of_the_copy_or_of_our_own_is_told_and_it_can_go_on(
    setup, director, monkeypatch, fault
):
    photographed(setup, director)

    def fails(folder, progress, ready=None):
        raise fault

    monkeypatch.setattr("calibration.session.calibrate_copy", fails)
    setup.learn().join(10)
    assert setup.said()["fault"].endswith(str(fault)) and setup.copy is None
    setup.take(1, None)


def test_the_game_may_begin_while_the_rest_is_learnt(setup, director, monkeypatch, tmp_path):
    photographed(setup, director)
    half, whole = threading.Event(), threading.Event()

    def learns(folder, progress, ready=None):
        (folder / "model.npz").write_bytes(b"half learnt")
        ready()
        half.set()
        assert whole.wait(10)
        (folder / "model.npz").write_bytes(b"network")
        return Report("Kitchen Ur", "ur", 4, 3.0, [0.3], [], [])

    monkeypatch.setattr("calibration.session.calibrate_copy", learns)
    thread = setup.learn()
    assert half.wait(10)
    said = setup.said()
    assert (said["copy"], said["report"], said["from_box"]) == ("kitchen-ur", None, True)
    setup.go()
    assert load_config(tmp_path / "nilometer.toml").copy == "kitchen-ur"
    assert is_half_learnt(tmp_path / "kitchen-ur")
    whole.set()
    thread.join(10)
    assert setup.report is not None and (tmp_path / "kitchen-ur" / "model.npz").read_bytes() == (
        b"network"
    )


def test_a_game_begun_when_all_is_learnt_but_the_report_is_not_learnt_again(
    setup, director, monkeypatch, tmp_path
):
    photographed(setup, director)
    written, reported = threading.Event(), threading.Event()

    def learns(folder, progress, ready=None):
        (folder / "model.npz").write_bytes(b"half learnt")
        ready()
        (folder / "model.npz").write_bytes(b"network")
        written.set()
        assert reported.wait(10)
        return Report("Kitchen Ur", "ur", 4, 3.0, [0.3], [], [])

    monkeypatch.setattr("calibration.session.calibrate_copy", learns)
    thread = setup.learn()
    assert written.wait(10)
    setup.go()
    reported.set()
    thread.join(10)
    assert not is_half_learnt(tmp_path / "kitchen-ur")


def test_without_cards_the_tapped_corners_go_into_the_copy(setup, tmp_path, plan):
    director = Director(
        plan, conditions=Conditions(resolution=(820, 616), markers=False), sleep=lambda s: None
    )
    setup._picture = lambda: (director.picture(), "")
    setup.begin("No cards", markers=False)
    with pytest.raises(NotSo, match="^The board's four corners must be tapped"):
        setup.take(0, None)
    with pytest.raises(NotSo, match="or they are crossed. Tap again: upper left"):
        setup.take(0, [[10, 10], [700, 600], [700, 10], [10, 600]])
    taps = Conditions(resolution=(820, 616), markers=False).look(plan).to_px(plan.corners).tolist()
    setup.take(0, taps)
    data = tomllib.loads((tmp_path / "no-cards" / "copy.toml").read_text())
    assert (
        np.abs(np.array(data["photo"][0]["corners"]) - taps).max() < 0.1
        and data["markers"] is False
    )


def test_advice_names_what_is_wrong(director):
    good = director.picture()
    assert (
        judge_framing(good, True).cards == (0, 1, 2, 3) and judge_framing(good, True).faults == ()
    )
    assert not any("sharp" in str(a) for a in judge_framing(good, True).advice)
    blurred = cv2.GaussianBlur(good, (0, 0), 2)
    assert any("sharp" in str(a) for a in judge_framing(blurred, True).advice) and sharpness_of(
        good[..., 1]
    ) > sharpness_of(blurred[..., 1])
    covered = good.copy()
    covered[:, :410] = 90
    assert len(judge_framing(covered, True).faults) == 2, "two cards are hidden"
    assert any(
        "light" in str(a) for a in judge_framing((good * 0.25).astype(np.uint8), True).advice
    )
    burnt = good.copy()
    burnt[200:400, 200:500] = 255
    assert any("burnt" in str(a) for a in judge_framing(burnt, True).advice)


def dimmed(picture):
    """In another light"""
    return np.clip(picture * np.array([0.6, 0.7, 0.8]), 0, 255).astype(np.uint8)


def hand_over(picture):
    return cv2.ellipse(picture.copy(), (410, 616), (70, 330), 10, 0, 360, (110, 140, 200), -1)


@pytest.mark.parametrize("markers", [True, False])
def test_hands_pieces_not_laid_and_a_board_out_of_view_are_told_before_the_photo(
    setup, plan, markers
):
    cond = Conditions(resolution=(820, 616), markers=markers)
    director, spoil = (
        Director(plan, conditions=cond, sleep=lambda s: None),
        [lambda picture: picture],
    )
    setup._picture = lambda: (spoil[0](director.picture()), "")
    setup.begin("Mine", markers)

    def said() -> str:
        """Once the picture is at rest: what was laid or taken away has moved in it"""
        setup.look()
        setup.look()
        return " ".join(map(str, setup.framing.advice))

    assert "hand" not in said()
    setup.take(0, None if markers else cond.look(plan).to_px(plan.corners).tolist())
    assert "hand" not in said() and "outside" not in said()
    assert "The light is as in the first photo" in said(), (
        "nothing is learnt from the same picture twice"
    )
    littered = {
        s: c for n, (s, c) in enumerate(setup.session.steps[2].layout.items()) if n % 3 == 0
    }
    director.set(littered)
    assert "is the board empty?" in said()
    setup.take(1, None)
    assert ["is the board empty?" in str(t) for t in setup.session.steps[1].remarks] == [True], (
        "it stands beside the photo"
    )
    director.set({})
    spoil[0] = dimmed
    assert "light is as" not in said() and "is the board" not in said()
    setup.take(1, None)
    spoil[0] = lambda picture: picture
    assert setup.session.steps[1].remarks == []
    pieces = sum(len(contents) for contents in setup.session.steps[2].layout.values())
    assert f"None of the {pieces} pieces can be seen yet." in said(), "the sampler is not laid yet"
    director.set(setup.session.steps[2].layout)
    assert "hand" not in said() and "empty" not in said()
    spoil[0] = hand_over
    assert "hand" in said()
    again = Setup(setup.path, setup._picture, {"kind": "usb"})
    again.choose("ur", SEATS, {})
    again.go_on("mine")
    again.look()
    assert "hand" in " ".join(map(str, again.framing.advice)), (
        "a set-up gone on with knows its first photo, too"
    )
    if not markers:
        corners = (cond.look(plan).to_px(plan.corners) + [0, 170]).tolist()
        setup.take(0, corners)
        assert "outside the picture" in said()


@pytest.mark.parametrize("markers", [True, False])
def test_a_hand_that_lies_still_on_the_first_photo_is_told(setup, plan, markers):
    cond = Conditions(resolution=(820, 616), markers=markers)
    director = Director(plan, conditions=cond, sleep=lambda s: None)
    corners = None if markers else cond.look(plan).to_px(plan.corners).tolist()
    setup._picture = lambda: (director.picture(), "")
    for _ in range(5):
        setup.look()
    setup.begin("Mine", markers)
    setup.look()
    assert not any("hand" in str(line) for line in setup.framing.advice)
    director.put("hand", (plan.size[0] / 2, plan.size[1] / 2))
    setup.look()
    assert "Something moves" in str(setup.framing.advice[-1])
    setup.look()
    told = any("hand" in str(line) for line in setup.framing.advice)
    assert told == markers, "without cards nobody knows yet where the board lies"
    setup.take(0, corners)
    assert ["hand" in str(line) for line in setup.session.steps[0].remarks] == [True]
    director.clear()
    setup.look()
    setup.look()
    setup.take(0, corners)
    assert setup.session.steps[0].remarks == [], "it has gone again"


def test_a_mirrored_picture_is_told_in_place_of_four_missing_cards(setup, director):
    setup.begin("Mine", True)
    setup._picture = lambda: (np.ascontiguousarray(director.picture()[:, ::-1]), "")
    with pytest.raises(NotSo, match="The picture is mirrored"):
        setup.take(0, None)
    setup._picture = lambda: (director.picture(), "")
    setup.look()
    assert setup.framing.faults == ()


def test_an_arm_across_the_boards_edge_is_told_without_any_picture_before(setup):
    plan = plan_of("tigris", None)[0]
    cond = Conditions(seed=1, edition=2, resolution=(820, 616))
    director = Director(plan, conditions=cond, sleep=lambda s: None)
    setup.choose("tigris", ["bull", "lion"], {})
    setup._picture = lambda: (director.picture(), "")
    setup.begin("Mine", True)
    setup.look()
    assert setup.framing.advice == ()
    director.put("hand", (plan.size[0] / 2, plan.size[1] / 2))
    setup._small = None  # nobody has looked before
    setup.look()
    assert "A hand or something else" in str(setup.framing.advice[0])


@pytest.mark.parametrize("game", ["tigris", "ur", "deluge"])
def test_samplers_to_lay_show_every_kind_often_enough_within_the_box(game):
    plan, _ = plan_of(game, None)
    layouts = sampler_layouts(plan)
    shown = {
        p.kind: [sum(k == p.kind for c in layout.values() for k in c) for layout in layouts]
        for p in plan.piece
    }
    for piece in plan.piece:
        assert sum(shown[piece.kind]) >= min(EACH, max(1, piece.count or EACH)) or piece.spans, (
            piece.kind
        )
        assert sum(shown[piece.kind]) >= 1 and max(shown[piece.kind]) <= (piece.count or 60), (
            piece.kind
        )
    assert layouts == sampler_layouts(plan), "the picture on the phone stays the same"


@pytest.mark.parametrize("game", ["nile", "ur"])
def test_samplers_to_lay_ask_for_no_piece_twice_because_it_has_two_sides(game):
    plan, _ = plan_of(game, None)
    for seed in (1, 2):
        layouts = sampler_layouts(plan, seed)
        for layout in layouts:
            pieces = Counter(plan.one[k] for c in layout.values() for k in c)
            assert all(n <= (plan.number(k) or 60) for k, n in pieces.items())
        seen = {k for layout in layouts for c in layout.values() for k in c}
        assert all(p.kind in seen or p.looks in seen for p in plan.piece), (
            "what lies turned is known by what it looks like"
        )


def test_one_more_photo_shows_what_was_read_worst_and_little_else(setup, director, monkeypatch):
    photographed(setup, director)

    def learnt(folder, progress, ready=None):
        (folder / "model.npz").write_bytes(b"model")
        return Report("Kitchen Ur", "ur", 4, 3.0, [0.3], [], [], more=["ziggurat", "blue"])

    monkeypatch.setattr("calibration.session.calibrate_copy", learnt)
    with pytest.raises(NotSo, match="would not improve anything"):
        setup.more()
    setup.learn().join(10)
    assert setup.said()["report"]["more"] == ["ziggurat", "blue"]
    setup.more()
    step = setup.session.steps[-1]
    lies = Counter(k for c in step.layout.values() for k in c)
    assert (
        step.name == "sampler-3"
        and setup.session.next == 4
        and lies["ziggurat"] >= 3 <= lies["blue"]
        and len(step.layout) <= 6
    )
    with pytest.raises(NotSo, match="photo 5 is still to be taken"):
        setup.more()
    director.set(step.layout)
    setup.take(4, None)
    assert [p.name for p in load_copy(setup.session.folder).photos][-1] == "sampler-3.jpg"
    (setup.session.folder / "model.npz").unlink()
    folder = setup.session.folder.name
    setup.session = None
    setup.go_on(folder)
    assert [s.taken for s in setup.session.steps] == [True] * 5 and setup.session.steps[
        4
    ].layout == step.layout


def test_samplers_of_a_board_of_another_game_show_every_kind_in_both_photos():
    sites = [
        {
            "id": f"{r}{c}",
            "outline": [
                [c * 20, r * 20],
                [c * 20 + 20, r * 20],
                [c * 20 + 20, r * 20 + 20],
                [c * 20, r * 20 + 20],
            ],
        }
        for r in range(9)
        for c in range(9)
    ]
    plan = parse_plan(
        {
            "game": "letters",
            "size": [180, 180],
            "site": sites,
            "piece": [
                {"kind": k, "size": [19, 19], "count": n}
                for k, n in (("E", 15), ("Q", 1), ("Ü", 2))
            ],
        }
    )
    shown = [[k for c in layout.values() for k in c] for layout in sampler_layouts(plan)]
    assert all(set(kinds) == {"E", "Q", "Ü"} for kinds in shown), (
        "one light teaches less than two, and leaves nothing to try it on"
    )
    assert sum(kinds.count("E") for kinds in shown) == -(-FEWEST // 3) and all(
        kinds.count("Q") == 1 for kinds in shown
    )
    go = parse_plan(
        {
            "game": "go",
            "size": [180, 180],
            "site": sites,
            "piece": [{"kind": k, "size": 19} for k in ("black", "white")],
        }
    )
    stones = [len(layout) for layout in sampler_layouts(go)]
    assert sum(stones) == FEWEST and abs(stones[0] - stones[1]) <= 2, (
        "from a photo with four of sixteen little is learnt"
    )


def test_nobody_is_asked_to_lay_a_piece_where_it_has_no_room_or_does_not_belong():
    def square(x, y, side):
        return [[x, y], [x + side, y], [x + side, y + side], [x, y + side]]

    sites = [
        {"id": f"land {n}", "outline": square(n * 60, 0, 50), "tags": ["land"]} for n in range(12)
    ]
    sites += [
        {"id": f"corner {n}", "outline": square(n * 60, 80, 14), "tags": ["corner"]}
        for n in range(12)
    ]
    kinds = [
        {"kind": "number", "size": 25},
        {"kind": "house", "size": [15, 11], "on": ["corner"]},
        {"kind": "sheep", "size": 12},
    ]
    plan = {"game": "island", "size": [740, 120], "site": sites, "piece": kinds}
    layouts = sampler_layouts(parse_plan(plan))
    lies = {
        k: {s.split()[0] for layout in layouts for s, c in layout.items() if k in c}
        for k in ("number", "house", "sheep")
    }
    assert lies == {"number": {"land"}, "house": {"corner"}, "sheep": {"land", "corner"}}
    with pytest.raises(BadPlan, match="piece house lies on 'corners', a tag that no site has"):
        parse_plan(plan | {"piece": [kinds[1] | {"on": ["corners"]}]})


def test_of_things_that_stand_all_are_shown_in_two_photos_each_kind_far_from_where_it_stood():
    sites = [
        {
            "id": f"{r}{c}",
            "outline": [
                [c * 50, r * 50],
                [c * 50 + 50, r * 50],
                [c * 50 + 50, r * 50 + 50],
                [c * 50, r * 50 + 50],
            ],
        }
        for r in range(8)
        for c in range(8)
    ]
    men = {"pawn": (47, 8), "rook": (53, 2), "king": (94, 1), "knight": (60, 0)}
    plan = parse_plan(
        {
            "game": "chess",
            "size": [400, 400],
            "site": sites,
            "piece": [
                {"kind": f"{c} {k}", "size": 32, "height": h, "count": n}
                for c in ("white", "black")
                for k, (h, n) in men.items()
            ],
        }
    )
    for seed in (1, 2):
        layouts = sampler_layouts(plan, seed)
        shown = [Counter(k for c in layout.values() for k in c) for layout in layouts]
        assert len(layouts) == 2 and all(
            n == (plan.pieces[k].count or 3) for one in shown for k, n in one.items()
        )
        assert all(set(one) == set(plan.pieces) for one in shown)
        for kind in plan.pieces:
            at = np.array(
                [plan.sites[i].centre for layout in layouts for i, c in layout.items() if kind in c]
            )
            assert len(at) < 6 or max(np.ptp(at, axis=0)) >= 150, "near to and far from the camera"
    men = [{"kind": f"{n}", "size": 32, "height": 60, "count": 9} for n in range(20)]
    many = parse_plan(msgspec.to_builtins(plan) | {"piece": men})
    assert all(
        {k for c in layout.values() for k in c} == set(many.pieces) and len(layout) == 32
        for layout in sampler_layouts(many)
    )
    flat = parse_plan(
        {
            "game": "discs",
            "size": [400, 400],
            "site": sites,
            "piece": [{"kind": k, "size": 32} for k in "ab"],
        }
    )
    assert len(sampler_layouts(flat)) == 2


def test_ending_the_set_up_leaves_no_configuration(tmp_path, monkeypatch):
    import signal
    import threading

    from companion.runtime.config import Web

    folder = tmp_path / "pictures"
    folder.mkdir()
    cv2.imwrite(str(folder / "a.png"), np.full((120, 160, 3), 90, np.uint8))
    threading.Timer(1.0, lambda: signal.raise_signal(signal.SIGINT)).start()
    assert (
        serve_set_up(
            tmp_path / "nilometer.toml", Web("127.0.0.1", 0), {"kind": "folder", "path": "pictures"}
        )
        is False
    )
    assert not (tmp_path / "nilometer.toml").exists()


def test_another_camera_is_chosen_and_written(setup, director, tmp_path, monkeypatch):
    by_id = {"kind": "usb", "device": "/dev/v4l/by-id/usb-Camera-video-index0"}
    seen = []
    setup._cameras, setup._look_through = (
        [
            {"name": "Pi camera 0: imx219", "camera": {"kind": "pi", "number": 0}},
            {"name": "USB camera", "camera": by_id},
        ],
        seen.append,
    )
    assert [c["chosen"] for c in setup.said()["cameras"]] == [False, False]
    setup.see_with(1)
    assert seen == [by_id] and [c["chosen"] for c in setup.said()["cameras"]] == [False, True]
    for wrong in (2, -1):
        with pytest.raises(NotSo, match="no such camera"):
            setup.see_with(wrong)
    setup.copy = "kitchen"
    setup.go()
    assert load_config(tmp_path / "nilometer.toml").camera == by_id


def test_what_the_owner_has_written_stays_and_is_completed(setup, tmp_path):
    own = (
        "# mine\nlearn = false\n\n[web]\nport = 9000   # ours is taken\n\n[camera]\nkind = "
        '"folder"\npath = "p"\n'
    )
    (tmp_path / "nilometer.toml").write_text(own)
    setup.copy = "kitchen"
    setup.go()
    config = load_config(tmp_path / "nilometer.toml")
    assert own.rstrip() in (tmp_path / "nilometer.toml").read_text()
    assert (config.copy, config.web.port, config.learn, config.camera["kind"]) == (
        "kitchen",
        9000,
        False,
        "folder",
    )
    assert config.options == {"bonus": "for-restraint"} and list(config.seats) == SEATS


def test_an_owners_file_that_broke_meanwhile_is_named_and_kept(setup, tmp_path):
    (tmp_path / "nilometer.toml").write_text("[web\n")
    setup.copy = "kitchen"
    with pytest.raises(NotSo, match="nilometer.toml"):
        setup.go()
    assert (tmp_path / "nilometer.toml").read_text() == "[web\n" and not setup.written.is_set()


def test_a_folder_that_nobody_may_write_to_is_said_at_once(tmp_path, monkeypatch):
    from companion.fault import Fault
    from companion.runtime.config import Web

    def refused(dir):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with pytest.raises(Fault, match="nothing can be written there"):
        serve_set_up(tmp_path / "nilometer.toml", Web("127.0.0.1", 0))


def test_the_picture_of_the_camera_chosen_is_seen(tmp_path):
    for level in (60, 200):
        (tmp_path / str(level)).mkdir()
        cv2.imwrite(str(tmp_path / str(level) / "a.png"), np.full((120, 160, 3), level, np.uint8))
    sight = Sight({"kind": "folder", "path": "60", "loop": True}, tmp_path)
    try:
        assert sight.picture()[0].mean() == 60
        sight.use({"kind": "folder", "path": "200", "loop": True})
        assert sight.picture()[0].mean() == 200
        with pytest.raises(BadCamera):
            sight.use({"kind": "telescope"})
        assert sight.picture()[0].mean() == 200, "the one before goes on"
    finally:
        sight.close()


class Motor:
    """A lens that a test moves; the director's pictures are as sharp as it stands near 2
    dioptres"""

    focuses, focus, name = True, None, "Pi camera 0"

    def __init__(self):
        self.searched = 0

    def focus_anew(self):
        self.searched += 1
        self.focus = 2.0


def test_the_lens_finds_its_focus_before_the_first_photo_and_the_copy_keeps_it(tmp_path, director):
    lens = Motor()
    setup = Setup(
        tmp_path / "nilometer.toml", lambda: (director.picture(), ""), {"kind": "pi"}, lens=lens
    )
    setup.choose("ur", SEATS, {"bonus": "for-restraint"})
    photographed(setup, director)
    assert lens.searched == 1, "later it would be another lens"
    folder = tmp_path / "kitchen-ur"
    assert kept_focus(folder, "Pi camera 0") == 2.0 and kept_focus(folder, "Pi camera 1") is None
    camera = PiCamera()
    take_over_focus(camera, folder)
    assert camera.focus == 2.0
    camera.on_focus(1.25)
    assert kept_focus(folder, "Pi camera 0") == 1.25
    told = PiCamera(focus=0.7)
    take_over_focus(told, folder)
    assert told.focus == 0.7
    (folder / "focus.json").write_text("[]")
    assert kept_focus(folder, "Pi camera 0") is None


def test_focus_again_shows_before_and_after(tmp_path, director, setup):
    with pytest.raises(NotSo, match="cannot be focused"):
        setup.focus_again()
    lens = Motor()

    def picture():
        image = director.picture()
        return (image if lens.focus == 2.0 else cv2.GaussianBlur(image, (0, 0), 4)), ""

    made = Setup(tmp_path / "nilometer.toml", picture, {"kind": "pi"}, lens=lens)
    made.choose("ur", SEATS, {"bonus": "for-restraint"})
    made.begin("Kitchen Ur", markers=True)
    made.look()
    assert any("let the camera focus again" in str(line) for line in made.framing.advice)
    made.focus_again()
    before, after = made.said()["lens"]["sharper"]
    assert after > 1.5 * before and made.sharper[0][0].shape == made.sharper[1][0].shape
