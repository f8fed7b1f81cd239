"""Watching a table: still, moving, a hand, a useless picture, and which sites may have changed."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np
import pytest

from vision.motion.hand_detector import find_foreign
from vision.motion.watcher import REST, SLACK, Watcher
from vision.photometry.small_picture import View

START = {"B2": (40, 60, 200), "F4": (40, 60, 200), "H6": (60, 160, 60)}


class Table:
    """A watcher fed a picture every `gap` seconds"""

    def __init__(self, board, gap=0.2, **view):
        self.board, self.pose, self.now, self.gap = board, board.pose(**view), 0.0, gap
        self.watcher = Watcher(board.plan)

    def show(self, layout=START, times=5, change=lambda image: image, noise=2.0, **shot):
        """The last look of so many pictures of this layout"""
        image = change(self.board.film(self.pose, layout, noise=0, **shot))
        for _ in range(times):
            self.now += self.gap
            look = self.watcher.see(self.board.noisy(image, noise), self.now)
        return look

    def settle(self, **shot):
        look = self.show(**shot)
        assert look.state == "still"
        self.watcher.settle(self.pose)
        return look


@pytest.fixture
def table(board):
    t = Table(board)
    t.settle()
    return t


def test_an_idle_table_is_still_and_unchanged(table):
    look = table.show(times=10)
    assert (look.state, look.changed, look.shaken) == ("still", frozenset(), False)
    assert look.since < table.now - 1


def test_a_noisy_camera_is_learned(board):
    t = Table(board)
    t.show(noise=9.0, times=15)
    t.settle(noise=9.0)
    assert t.show(noise=9.0, times=10).changed == frozenset()


def test_a_piece_put_down_is_named_with_few_others(table):
    seen = [table.show(START | {"D3": (40, 60, 200)}, times=1).state for _ in range(5)]
    assert seen[0] == "moving" and seen[-1] == "still"
    look = table.show(START | {"D3": (40, 60, 200)})
    assert "D3" in look.changed
    assert len(look.changed) <= 9


@pytest.mark.parametrize("gap", [0.05, 0.1, 0.2, 0.3])
def test_a_table_rests_after_the_same_time_however_often_it_is_looked_at(board, gap):
    t = Table(board, gap)
    t.show(times=20)
    t.settle()
    laid, start = START | {"D3": (40, 60, 200)}, t.now + gap
    looks = [t.show(laid, times=1) for _ in range(12)]
    ends = [start + n * gap for n in range(12)]
    rests = next(at for at, look in zip(ends, looks) if look.state == "still")
    assert REST - 2 * SLACK < rests - start < max(REST + gap, 2 * gap + 0.01)
    assert looks[-1].changed and "D3" in looks[-1].changed
    if gap < REST / 2:
        ahead = [look.soon for at, look in zip(ends, looks) if at < rests]
        assert ahead[0] is None and ahead[-1] == looks[-1].changed, (
            "what will be seen is told before"
        )


def test_a_table_on_which_something_moves_too_slowly_to_be_seen_from_one_picture_to_the_next_does_not_rest(
    board,
):
    t, now = Table(board, 0.05), [0]
    at = tuple(np.rint(t.pose.to_px(board.plan.sites["D3"].centre[None])[0]).astype(int).tolist())

    def creeps(steps, times):
        for _ in range(times):
            now[0] += steps
            yield t.show(
                times=1,
                noise=0.3,
                change=lambda i: cv2.circle(i.copy(), at, 20, (60 + now[0],) * 3, -1),
            ).state

    t.show(times=20, noise=0.3)
    t.settle(noise=0.3)
    seen = [*creeps(20, 1), *creeps(2, 18)]
    assert "still" not in seen
    assert "still" in creeps(0, 12)


def test_more_pictures_are_wanted_while_something_moves_and_none_at_rest(table):
    assert table.watcher.wanted(table.now) == []
    table.show(START | {"D3": (40, 60, 200)}, times=1)
    first, *_, last = table.watcher.wanted(table.now)
    assert (
        first - table.now < 0.15
        and table.watcher.wanted(first)[-1] == last
        and REST - 0.05 < last - table.now < REST
    )
    table.show(START, times=2, change=lambda image: image // 60)
    assert table.watcher.wanted(table.now) == [], "in the dark there is no hurry"


def test_often_looked_at_a_table_is_learnt_no_sooner(board):
    def after(gap):
        t = Table(board, gap)
        t.show(noise=1.0, times=2)
        t.show(noise=9.0, times=round(1.2 / gap))
        return float(np.median(t.watcher._noise))

    assert after(0.05) < 1.3 * after(0.2)


def test_red_for_green_of_the_same_brightness_is_seen(board):
    red, green = (60, 105, 200), (60, 140, 105)
    t = Table(board)
    t.settle(layout={"E4": red})
    assert "E4" in t.show({"E4": green}).changed


def test_a_piece_put_back_leaves_nothing_changed(table):
    table.show(START | {"D3": (40, 60, 200)})
    assert table.show().changed == frozenset()


@pytest.mark.parametrize("light", [0.75, 1.2])
def test_another_light_is_no_change(table, light):
    look = table.show(light=light, times=6)
    assert look.state == "still"
    assert len(look.changed) <= 3


def test_an_arm_is_a_hand_also_while_it_rests(table, tools):
    for _ in range(4):
        look = table.show(times=1, change=tools.with_arm)
        assert look.state == "hand"
    look = table.show(times=6, change=tools.with_arm)
    assert look.state == "hand"
    assert {"E4", "F6"} & look.foreign.sites
    assert table.show(times=6).changed == frozenset()


def test_an_arm_that_was_settled_on_is_no_hand_when_it_goes(board, tools):
    """In a stream and in single pictures: a settled view with an arm in it must not keep the table
    busy ever after"""
    t = Table(board)
    t.settle()
    t.show(change=tools.with_arm)
    t.watcher.settle(t.pose)
    assert t.show(times=10).state == "still"
    clean = board.film(t.pose, START)
    t.watcher.settle(t.pose, clean)
    t.watcher.settle(t.pose, tools.with_arm(clean))
    assert t.watcher.single(clean, t.pose).state == "still"
    for _ in range(2):
        t.watcher.settle(t.pose, clean.copy())
    for _ in range(3):
        t.watcher.settle(t.pose, tools.with_arm(clean), free=False)
    assert t.watcher.single(clean, t.pose).state == "still"
    assert t.watcher.single(tools.with_arm(clean), t.pose).state == "hand"


def test_a_picture_read_twice_is_one_view(board, tools):
    """An odd reading is read once more from the same picture: the view before it must stay, or the
    table is busy ever after."""
    t = Table(board)
    clean = board.film(t.pose, START)
    t.watcher.settle(t.pose, clean)
    arm = tools.with_arm(clean)
    for _ in range(2):
        t.watcher.settle(t.pose, arm)
    assert t.watcher.single(clean, t.pose).state == "still"


def test_what_was_not_read_is_compared_with_what_it_was_when_it_was(board):
    """A piece that creeps while others are laid elsewhere is told of in the end, though no step of
    it is seen"""

    def show(step, last):
        return t.show(
            START | {"B2": (40 + 4 * step, 60 + 4 * step, 200)},
            change=lambda i: cv2.add(i, last),
            times=4,
        )

    t = Table(board)
    t.settle()
    h, w = board.film(t.pose, START).shape[:2]
    far = np.zeros((h, w, 3), np.uint8)
    told = []
    for step in range(1, 8):
        x, y = np.rint(t.pose.to_px(board.plan.sites["H6"].centre[None])[0]).astype(int).tolist()
        cv2.circle(far, (x, y), 5, (60 * (step % 2),) * 3, -1)
        changed = show(step, far).changed
        told.append("B2" in changed)
        t.watcher.settle(t.pose, sites=changed)
    assert any(told) and not told[0]
    assert "B2" not in show(7, far).changed, "and was then read"


def test_a_sleeve_as_dark_as_a_shadow_and_a_bare_arm(table, tools):
    for colour in ((20, 20, 22), (140, 165, 215)):
        assert (
            table.show(times=6, change=lambda image, c=colour: tools.with_arm(image, c)).state
            == "hand"
        )
        table.show(times=6)


def test_a_shadow_is_no_hand(table):
    def shaded(image):
        x = np.linspace(0, 1, image.shape[1])[None, :, None]
        return (image * (1 - 0.4 / (1 + np.exp((x - 0.5) * 20)))).astype(np.uint8)

    assert table.show(times=6, change=shaded).state == "still"


def test_a_hand_beside_the_board_disturbs_nobody(table, tools):
    look = table.show(
        times=6,
        change=lambda i: tools.with_arm(i, tip=(0.02, 0.9), width=0.04, come_from=(0.02, 1.05)),
    )
    assert look.state == "still"


def test_useless_pictures(table):
    assert table.show(change=lambda i: i // 20).state == "dark"
    assert table.show(change=lambda i: np.full_like(i, 120)).state == "covered"
    assert table.show().state == "still"


def test_out_of_focus(table):
    import cv2

    assert table.show(change=lambda i: cv2.GaussianBlur(i, (0, 0), 14)).state in (
        "blurred",
        "covered",
    )


def test_a_bumped_camera_is_noticed(table):
    table.pose = table.board.pose(turn=4, shift=(15, 8))
    look = table.show(times=6)
    assert (look.state, look.changed, look.shaken) == ("still", None, True)


def test_before_anything_is_settled_nothing_is_said_to_have_changed(board):
    assert Table(board).show().changed is None


def test_nothing_to_settle(board):
    with pytest.raises(ValueError, match="no picture"):
        Watcher(board.plan).settle(board.pose())


def test_small_grey_pictures_do_too(board):
    t = Table(board, size=(410, 308))
    t.settle(change=lambda i: i[..., 1])
    look = t.show(START | {"D3": (40, 60, 200)}, change=lambda i: i[..., 1])
    assert "D3" in look.changed


@pytest.mark.parametrize("view", [{}, {"turn": 3, "shift": (6, -5)}])
def test_a_single_picture_is_judged_against_the_empty_board(board, tools, view):
    empty, pose = board.pose(), board.pose(**view)
    scene = View.of(board.film(empty), empty)
    watcher = Watcher(board.plan)
    many = [s.id for s in board.plan.site][::3]
    assert watcher.single(board.film(pose, many, light=0.8), pose, scene).state == "still"
    look = watcher.single(tools.with_arm(board.film(pose, many, light=0.8)), pose, scene)
    assert look.state == "hand"
    assert 0.05 < look.foreign.share < 0.6


def test_a_full_board_under_another_lamp_is_no_hand(board):
    """As when the machine starts again in the middle of a game: the empty board is all there is to
    compare with"""
    pose = board.pose()
    empty, full = (
        board.film(pose),
        board.film(pose, layout=sorted(s.id for s in board.plan.site)[:28]).astype(float),
    )
    h, w = full.shape[:2]
    y, x = np.mgrid[:h, :w]
    spot = 1 + 0.5 * np.exp(-((x - 0.25 * w) ** 2 + (y - 0.1 * h) ** 2) / (0.3 * w) ** 2)
    lit = (full * spot[..., None]).clip(0, 255).astype(np.uint8)
    assert find_foreign(board.plan, View.of(lit, pose), View.of(empty, pose)) is None


@pytest.mark.parametrize("at, size", [((0.1, 0.9), 0.35), ((0.5, 0.05), 0.2), ((0.9, 0.9), 0.35)])
def test_a_lamp_mirrored_by_a_dark_board_is_no_hand_and_hides_none(board, tools, at, size):
    """It adds light to pieces and board alike and fades all round"""
    pose = board.pose()
    empty, some = (board.film(pose, layout=layout) * 0.3 for layout in ([], START))
    h, w = some.shape[:2]
    y, x = np.mgrid[:h, :w]
    glow = 220 * np.exp(-((x - at[0] * w) ** 2 + (y - at[1] * h) ** 2) / (size * w) ** 2)[..., None]
    lit = (some + glow).clip(0, 255).astype(np.uint8)
    before = View.of(empty.astype(np.uint8), pose)
    assert find_foreign(board.plan, View.of(lit, pose), before) is None
    assert find_foreign(board.plan, View.of(tools.with_arm(lit), pose), before) is not None


def test_light_that_reaches_tiles_from_the_edge_is_no_hand_where_sites_fill_the_board(board, tools):
    """Tiles on a bare table (Ur): there is nothing between the sites that could tell an arm from
    light"""
    whole = msgspec.structs.replace(
        board.plan.site[0], outline=tuple(map(tuple, board.plan.corners.tolist()))
    )
    plan = msgspec.structs.replace(board.plan, site=(whole,))
    pose = board.pose()
    h, w = board.film(pose).shape[:2]
    y, x = np.mgrid[:h, :w]
    table = np.full((h, w, 3), (70, 95, 130), float) + np.random.default_rng(1).normal(
        0, 3, (h, w, 1)
    )
    pool = 1 - 0.4 * np.exp(-((x - 0.2 * w) ** 2 + (y - 0.0 * h) ** 2) / (0.24 * w) ** 2)
    tiles = table.copy()
    for at in ((40, 30), (98, 30), (40, 88)):
        cv2.fillPoly(
            tiles,
            [
                np.rint(pose.to_px(np.array(at) + [[0, 0], [56, 0], [56, 56], [0, 56]])).astype(
                    np.int32
                )
            ],
            (160, 60, 140),
        )
    lit = (tiles * pool[..., None]).clip(0, 255).astype(np.uint8)
    before = View.of(table.clip(0, 255).astype(np.uint8), pose)
    assert find_foreign(plan, View.of(lit, pose), before) is None
    assert find_foreign(plan, View.of(tools.with_arm(lit), pose), before) is not None


def test_an_arm_of_the_boards_own_colour_is_found_as_it_hides_what_is_printed(board, tools):
    """Skin on sand, or on a brown table, is no more other than light makes things"""
    pose = board.pose()
    sand = cv2.cvtColor(board.film(pose), cv2.COLOR_BGR2GRAY)[..., None] * np.array([0.7, 0.9, 1.0])
    arm = tools.with_arm(np.zeros_like(sand), colour=(255,) * 3)[..., :1] > 100
    skin, rng = 0.75 * np.percentile(sand, 80, (0, 1)), np.random.default_rng(2)
    empty, held, lit = (
        (picture + rng.normal(0, 2, sand.shape)).clip(0, 255).astype(np.uint8)
        for picture in (sand, np.where(arm, skin, sand), np.where(arm, 0.7 * sand, sand))
    )
    before = View.of(empty, pose)
    assert find_foreign(board.plan, View.of(held, pose), before) is not None
    assert find_foreign(board.plan, View.of(lit, pose), before) is None


def test_the_hand_is_found_where_it_is(board, tools):
    pose = board.pose()
    image = board.film(pose)
    found = find_foreign(board.plan, View.of(tools.with_arm(image), pose), View.of(image, pose))
    far = {s.id for s in board.plan.site if s.id[0] in "AB"}
    assert not far & found.sites
    assert {"F5", "F6"} & found.sites
