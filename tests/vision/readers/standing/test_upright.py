"""What is learnt of things that stand: their form, their outline in a photo, and what is looked at
close up."""

from types import SimpleNamespace

import numpy as np

from calibration.readers.standing.sample_photos import Studio, alike
from calibration.readers.standing.train import Maker, Place
from vision.readers import mlp
from vision.readers.standing.closeup_features import BELOW, ROWS, WAYS, Closeup
from vision.readers.standing.lean_geometry import (
    FINER,
    SLICES,
    Frame,
    Sheet,
    needed,
    rises,
    uppermost,
)
from vision.readers.standing.shape_model import (
    CHANNELS,
    Looks,
    Man,
    first_form,
    fitted_form,
    own_part,
)
from vision.readers.standing.shape_search import Seen

FRAME, TALL, ABOVE = Frame(24.0, 24.0, 64.0, 1.5), 70.0, 500.0
LEANS = (0.1, 0.3, 0.5, 0.65)


def test_a_narrow_neck_below_a_head_is_found() -> None:
    z = (np.arange(SLICES) + 0.5) / SLICES
    true = np.where(z < 0.12, 14.0, np.where(z < 0.7, 5.0, 9.0))
    needs = [needed(FRAME, TALL, lean, ABOVE) for lean in LEANS]
    speaks = [np.where(uppermost(need, true) >= 0, 4.0, -4.0).astype(np.float32) for need in needs]
    form = fitted_form(speaks, needs, first_form(28.0), 18.0)
    # one slice hides another: none can be moved alone
    assert np.abs(form - true)[(z > 0.25) & (z < 0.65)].max() <= 1.5
    assert np.abs(form - true).mean() <= 1.0


def test_what_shines_within_a_man_is_his_and_the_board_beside_him_is_not() -> None:
    speaks = np.full((40, 40), -8.0, np.float32)
    speaks[10:30, 12:28] = 6.0
    speaks[18:22, 18:22] = -8.0  # a gleam as bright as the board
    inside = np.zeros((40, 40), bool)
    inside[5:35, 5:35] = True
    own = own_part(speaks, inside)
    assert own[12:28, 14:26].all() and not own[5:9].any() and not own[:, 5:10].any()


def test_a_height_is_looked_at_in_the_same_row_however_far_it_leans() -> None:
    close = Closeup.of(FRAME, TALL, 10.0, ABOVE)
    row = 15
    v, u = FRAME.shape
    at = []
    for lean in (0.4, 0.6):
        z = np.array([close.heights[row]])
        y = lean * z * close.larger[row]
        picture = np.zeros((v * FINER, u * FINER), np.float32)
        # an edge across the window there
        picture[round((float(y[0]) + FRAME.back) * FRAME.scale * FINER) :] = 1.0
        flat = np.zeros((1, v, u, 4), np.float32)
        told = close.seen(
            picture[None],
            flat,
            flat,
            np.ones((1, v, u), np.float32),
            np.zeros((1, 2)),
            np.array([lean]),
        )[0]
        much = told[: ROWS * len(close.across) * WAYS].reshape(ROWS, -1, WAYS)
        at.append(int(much[..., 0].sum(1).argmax()))
        assert much[row, :, 1].mean() < -0.9 * much[row, :, 0].mean() < 0  # and it runs across
    assert at == [row, row] and row > BELOW
    off, larger = rises(TALL, 0.4, ABOVE)
    assert len(off) == len(larger) == SLICES


def test_windows_of_more_pixels_than_a_remapped_row_may_have_are_cut() -> None:
    wide = Frame(40.0, 30.0, 110.0, 3.0)
    view = np.arange(300 * 300, dtype=np.float32).reshape(300, 300)
    assert np.prod(wide.shape) > 32767
    feet, along = np.array([[50.0, 50], [20, 20]]), np.array([[0.0, 1], [0, 1]])
    cut = wide.cut(Sheet.of(np.zeros(2), np.full(2, 100.0), 3.0), view, feet, along)
    assert cut.shape == (2, *wide.shape) and cut[0, 90, 120] == view[150, 150]


def test_networks_taken_together_answer_what_they_say_on_average() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(0, 1, (300, 6)).astype(np.float32), rng.integers(0, 3, 300)
    some = [mlp.train(x.copy(), y, 3, 8, seed, epochs=2) for seed in (1, 2)]
    assert np.allclose(
        mlp.together(some).scores(x), np.mean([n.scores(x) for n in some], 0), atol=1e-5
    )
    assert not np.allclose(some[0].scores(x), some[1].scores(x), atol=0.1)


def man(kind: int, shown: float, clear: np.ndarray | bool = True) -> Man:
    """One of these brightness whose photo shows him where `clear`"""
    window = np.full((*FRAME.shape, CHANNELS), shown, np.float32)
    return Man(
        kind,
        0,
        0,
        np.zeros(2),
        np.array([0.0, 1]),
        0.3,
        ABOVE,
        window,
        window[..., 0],
        np.broadcast_to(clear, FRAME.shape),
    )


def test_what_another_hides_of_a_man_is_not_taken_for_his_look() -> None:
    clear = np.arange(FRAME.shape[0])[:, None] > FRAME.shape[0] * 0.45
    hidden = man(0, 5.0, clear)
    hidden.window = np.where(clear[..., None], hidden.window, 1.0).astype(np.float32)
    looks = Looks.fit(
        [man(0, 5.0), hidden],
        FRAME,
        np.array([TALL]),
        first_form(20.0)[None],
        np.array([0.3]),
        ABOVE,
    )
    assert looks.shown[0, 0] > 0.95 and 0.2 < looks.shown[1, 0] < 0.9
    assert np.allclose(looks.sprite(1, 0), 5.0, atol=0.01) and np.allclose(
        looks.usual(0, 0)[0][looks.part[0, 0] >= 0], 5.0, atol=0.01
    )


def test_two_kinds_of_one_size_are_one_form_and_lend_each_other_their_looks() -> None:
    sizes = np.array([10.0, 12, 10, 12, 12, 9]), np.array([40.0, 60, 40, 60, 60, 60])
    assert alike(*sizes) == [[0, 2], [1], [3], [4], [5]], (
        "of three alike nobody knows which two are a pair"
    )
    pale, dark = man(0, 5.0), man(1, 3.0)
    pale.window[..., 3] = dark.window[..., 3] = 1.0  # all of the window is theirs
    lent = Studio.lent(SimpleNamespace(alike=[[0, 1], [2]]), [pale, dark, man(2, 4.0)])
    assert [one[:2] for one in lent] == [(1, 0), (0, 1)] and np.allclose(
        [one[2] for one in lent], [[2.0] * 3, [-2.0] * 3]
    )
    pictures, masks = np.zeros((3, *FRAME.shape, 3), np.float32), np.zeros((2, *FRAME.shape), bool)
    place = Place(*pictures, 0.3, np.zeros((0, 4)), *masks)
    looks = Looks.fit(
        [pale, dark],
        FRAME,
        np.full(2, TALL),
        np.array([first_form(20.0)] * 2),
        np.array([0.3]),
        ABOVE,
    )
    maker = Maker(looks, FRAME, [place], 30.0, lent)
    assert {maker.man_of(0, 0.3) for _ in range(40)} == {0, 2} and {
        maker.man_of(1, 0.3) for _ in range(40)
    } == {1, 3}
    seen = [
        [
            np.median(shown[shown[..., 3] > 0.9, 1])
            for shown in (maker.seen_as(m, 0) for _ in range(15))
        ]
        for m in range(4)
    ]
    assert np.allclose(np.median(seen, 1), [5.0, 3.0, 5.0, 3.0], atol=0.1)


def test_in_the_mirror_left_is_right_and_what_leans_leans_as_before() -> None:
    pictures = [np.arange(24, dtype=np.float32).reshape(1, 4, 6) for _ in range(5)]
    seen = Seen(*pictures[:4], np.array([2]), np.array([-1]), pictures[4], np.array([0.4]))
    other = seen.mirrored()
    assert (
        other.window[0, 0].tolist() == [5, 4, 3, 2, 1, 0]
        and other.close[0, 3, 0] == 23
        and other.lean is seen.lean
    )
    assert all(
        np.array_equal(getattr(other.mirrored(), f), getattr(seen, f))
        for f in Seen.__struct_fields__
    )
