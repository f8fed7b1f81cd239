"""How kinds look that only their turn tells from others."""

import cv2
import msgspec
import numpy as np
import pytest

from calibration.cutouts.specimens import Specimen, align_quarters, forms_laid_askew, turn_like
from calibration.synthesis.lesson import complete_groups, turn_groups
from calibration.synthesis.looks import make_looks, share_directed_looks, turn_looks
from calibration.synthesis.painter import Evening, Look, Painter
from vision.learned.canvas import Canvas
from vision.learned.groups import group_sites
from vision.learned.network import square_axes
from vision.learned.sampling import sample_pictures
from vision.plan import parse_plan

PLAN = parse_plan(
    {
        "game": "market",
        "size": [100, 100],
        "site": [{"id": "a", "reads": "pile", "outline": [[30, 30], [70, 30], [70, 70], [30, 70]]}],
        "piece": [
            {"kind": "fig", "size": 20, "height": 2},
            {"kind": "bad:fig", "size": 20, "height": 2, "looks": "fig", "turned": 45},
        ],
    },
    "market",
)

EVENING = Evening(np.zeros(2), np.array([50, 50, 900.0]), np.zeros(2), 0.5, 0.0, 0.0, np.zeros(2))
BANKS = parse_plan(
    {
        "game": "river",
        "size": [100, 100],
        "site": [
            {
                "id": name,
                "reads": reads,
                "outline": [[x, 10], [x + 42, 10], [x + 42, 52], [x, 52]],
                "group": group,
            }
            for name, reads, x, group in (
                ("west", "cluster", 2, "left"),
                ("east", "cluster", 48, "right"),
                ("stock", "pile", 25, "stock"),
            )
        ],
        "piece": [
            {"kind": "few", "size": [40, 40], "height": 1},
            {"kind": "many", "size": [40, 40], "height": 1},
        ],
    },
    "banks",
)


def look_of(kind: str, turned: float | None) -> Look:
    patch = np.full((20, 20, 3), 5.0, np.float32)
    patch[9:11] = 4.0  # a bar across
    mask = np.ones((20, 20), np.float32)
    side = np.full(3, 4.5, np.float32)
    return Look(PLAN.pieces[kind], patch, mask, side, 1.0, "any", turned)


@pytest.mark.parametrize(
    "known, other, turned", [("fig", "bad:fig", 30.0 + 45), ("bad:fig", "fig", 30.0 - 45)]
)
def test_a_kind_is_taken_from_what_it_looks_like_turned(known, other, turned):
    looks = {known: [look_of(known, 30.0), look_of(known, None)]}
    turn_looks(PLAN, looks)
    assert [v.turned for v in looks[other]] == [turned]
    assert [v.turned for v in looks[known]] == [30.0, None]


def test_a_kind_is_not_taken_from_looks_of_which_nobody_knows_how_they_lie():
    looks = {"fig": [look_of("fig", None)]}
    turn_looks(PLAN, looks)
    assert looks.keys() == {"fig"}


def test_what_is_turned_on_a_pile_lies_so_whichever_side_is_up():
    view = Canvas((100.0, 100.0), 1.0)
    steepness = []
    for seed in range(40):
        canvas = np.full((*view.shape, 3), 5.0, np.float32)
        paint = Painter(canvas, view, (0, 0), EVENING, np.random.default_rng(seed))
        paint.lay_piece(look_of("bad:fig", 45.0), np.array([50.0, 50.0]), 0.0, np.zeros(2))
        y, x = np.nonzero(paint.canvas[..., 0] < 4.4)
        steepness.append(np.corrcoef(x, y)[0, 1])
    assert np.abs(steepness).min() > 0.7, "never straight"
    assert 10 < (np.array(steepness) > 0).sum() < 30, "to either side"


def test_cards_lie_on_sites_that_are_alike_as_they_were_found_there():
    lying = [
        Specimen(n, site, kind, BANKS.sites[site].centre, 0.0, turn, np.zeros(0), np.zeros(0))
        for n, (site, kind, turn) in enumerate(
            [("west", "few", -4), ("east", "few", 183), ("east", "many", 176), ("west", "many", 6)]
        )
    ]
    layouts = [{"west": ["few"], "east": ["many"], "stock": ["few"]}]
    fields, stock = turn_groups(BANKS, group_sites(BANKS, layouts), lying)
    assert fields.turns_of(["east", "west"]).tolist() == [2, 0]
    assert not stock.turns, "nobody knows how they lie there"
    straight = turn_groups(BANKS, (fields, stock), [m for m in lying if m.site == "west"])[0]
    assert not straight.turns


@pytest.mark.parametrize("degrees", [0.0, 37.0, 90.0, 180.0, 270.0])
def test_what_lies_turned_is_looked_at_as_it_lies(degrees):
    view = Canvas((100.0, 100.0), 1.0)

    def picture_turned(turn: float) -> np.ndarray:
        canvas = np.full((*view.shape, 3), 5.0, np.float32)
        look = look_of("fig", None)
        look.patch[:9, 10:] = 3.0  # a corner of its own
        look = Look(BANKS.pieces["few"], look.patch, look.mask, look.side, 1.0, "upright")
        paint = Painter(canvas, view, (0, 0), EVENING, np.random.default_rng(1))
        x, y = paint.lay_piece(look, np.array([50.0, 50.0]), 0.0, np.zeros(2), turn=turn)
        axes = square_axes(np.array([24.0]), np.array([turn]))
        return sample_pictures(paint.canvas, np.array([[x, y]]), axes)[0, ..., 0]

    straight, turned = picture_turned(0.0), picture_turned(degrees)
    assert straight[3:12, -12:-3].mean() < 3.5 < straight[3:12, 3:12].mean()
    assert np.abs(turned - straight).mean() < 0.05


def test_a_stock_whose_cards_lie_anyhow_does_not_turn_those_on_the_board():
    def make_specimen(site: str, kind: str, turned: int) -> Specimen:
        look = np.rot90(look_of("fig", None).patch, turned).copy()
        look[:9] += 0.5 * (kind == "many")
        clear = np.ones(look.shape[:2], np.float32)
        return Specimen(0, site, kind, BANKS.sites[site].centre, 0.0, 90.0 * turned, look, clear)

    laid = [
        make_specimen(s, k, 0) for s in ("west", "east") for k in ("few", "many") for _ in range(2)
    ]
    stock = [make_specimen("stock", k, 1) for k in ("few", "many") for _ in range(2)]
    assert align_quarters(BANKS, [*stock, *laid]) == {("cluster", (40.0, 40.0))}


def card_on_stock(kind: str, quarters: int = 0) -> Specimen:
    """As a sampler shows it: a bar across and a corner of its own, each kind in its own paint"""
    look = look_of("fig", None).patch.copy()
    look[:9, 10:] += 0.5
    look = np.rot90(look + 0.6 * (kind == "many"), quarters).copy()
    clear = np.ones(look.shape[:2], np.float32)
    return Specimen(0, "stock", kind, BANKS.sites["stock"].centre, 0.0, 0.0, look, clear)


UPRIGHT = "pile", (40.0, 40.0)
TOLD = {(*UPRIGHT, kind) for kind in ("few", "many")}


def test_cards_told_by_their_turn_lie_upright_though_none_is_shown_twice():
    laid = [card_on_stock("few"), card_on_stock("many")]
    assert align_quarters(BANKS, laid) == set(), "nobody knows how they lie"
    assert align_quarters(BANKS, laid, TOLD) == {UPRIGHT}
    assert align_quarters(BANKS, [*laid, card_on_stock("few")], TOLD) == {UPRIGHT}


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_cards_told_by_their_turn_are_not_upright_where_one_is_shown_turned(quarters):
    laid = [card_on_stock("few"), card_on_stock("many"), card_on_stock("few", quarters)]
    assert align_quarters(BANKS, laid, TOLD) == set()


@pytest.mark.parametrize("side", [4, 19, 60])
def test_a_look_is_laid_on_another_however_turned_and_with_something_on_it(side):
    rng = np.random.default_rng(3)
    print_of = cv2.GaussianBlur(rng.normal(5, 3, (side, side, 3)).astype(np.float32), (0, 0), 2)
    covered = print_of.copy()
    covered[: side // 3, : side // 3] = 3.0
    shifted = np.roll(np.rot90(print_of, 3), (2, -2) if side > 20 else (0, 0), (0, 1))
    clear, at = np.ones((side, side), np.float32), np.zeros(2)
    one, other = (
        Specimen(0, "west", "few", at, 0.0, 0.0, v.copy(), clear) for v in (shifted, covered)
    )
    quarters, laid = turn_like(BANKS, one, other)
    inner = np.s_[side // 3 : side - 4, side // 3 : side - 4]
    if side > 4:
        assert quarters == 1
        assert np.abs(laid - print_of)[inner].max() < 1e-5


def test_directed_pieces_lie_as_the_samplers_show_them_however_few_they_are():
    first, *others = BANKS.piece
    plan = msgspec.structs.replace(
        BANKS, piece=(msgspec.structs.replace(first, directed=True), *others)
    )
    look = look_of("fig", None).patch.copy()
    look[:9] += 0.5
    clear, at = np.ones(look.shape[:2], np.float32), np.zeros(2)
    laid = [
        Specimen(0, "stock", k, at, 0.0, 0.0, np.rot90(look, q).copy(), clear)
        for q, k in ((0, first.kind), (2, first.kind))
    ]
    upright = align_quarters(plan, laid)
    assert ("pile", first.footprint) in upright
    assert [s.turn for s in laid] == [0.0, 0.0], "nothing was turned"
    looks = make_looks(plan, 1.0, laid, upright)
    assert {v.lies for v in looks[first.kind]} == {"upright"}
    groups = group_sites(plan, [{"stock": (first.kind,)}])
    (stock,) = [g for g in complete_groups(plan, groups, looks, upright) if g.reads == "pile"]
    assert not stock.quarters


@pytest.mark.parametrize(
    ("turns", "askew"), [((0, 5, 90, 178, 94), False), ((0, 30, 60, 100, 160), True)]
)
def test_pieces_found_askew_on_piles_are_laid_any_way(turns, askew):
    look, at = look_of("fig", None).patch, np.zeros(2)
    clear = np.ones(look.shape[:2], np.float32)
    laid = [Specimen(0, "stock", "few", at, 0.0, float(t), look, clear) for t in turns]
    size = BANKS.pieces["few"].footprint
    assert forms_laid_askew(BANKS, laid) == ({size} if askew else set())
    looks = make_looks(BANKS, 1.0, laid, {("pile", size)})
    assert {v.lies for v in looks["few"]} == {"any" if askew else "upright"}


def pointed_plan(*kinds):
    """kinds: (name, back, directed), all of one size"""
    square = [[30, 30], [70, 30], [70, 70], [30, 70]]
    pieces = [
        {"kind": k, "size": [20, 24], "height": 2, "directed": directed}
        | ({"back": back} if back else {})
        for k, back, directed in kinds
    ]
    site = [{"id": "a", "outline": square}]
    return parse_plan({"game": "g", "size": [100, 100], "site": site, "piece": pieces}, "g")


def pointed_look(plan, kind, sign, turned=False):
    patch = np.full((48, 40, 3), 5.0, np.float32)
    patch[8 + 10 * sign : 14 + 10 * sign, 8:16] = 3.0
    patch = patch[::-1, ::-1].copy() if turned else patch
    side, mask = np.full(3, 4.5, np.float32), np.ones((48, 40), np.float32)
    return Look(plan.pieces[kind], patch, mask, side, 2.0, "upright")


def test_the_same_piece_the_other_way_round_shows_what_it_looks_like():
    plan = pointed_plan(("P", None, False), ("vP", "P", True))
    looks = {"P": [pointed_look(plan, "P", 0)]}
    share_directed_looks(plan, looks)
    (shared,) = looks["vP"]
    assert shared.piece.kind == "vP" and np.array_equal(
        shared.patch, pointed_look(plan, "vP", 0, turned=True).patch
    )


def test_of_a_piece_with_two_sides_each_side_is_shared_with_its_own():
    kinds = ("P", None, False), ("vP", "P", True), ("+P", "P", False), ("v+P", "P", True)
    plan = pointed_plan(*kinds)
    looks = {
        "P": [pointed_look(plan, "P", 0)],
        "vP": [pointed_look(plan, "vP", 0, turned=True)],
        "+P": [pointed_look(plan, "+P", 2)],
        "v+P": [pointed_look(plan, "v+P", 2, turned=True)],
    }
    share_directed_looks(plan, looks)
    assert {k: len(v) for k, v in looks.items()} == dict.fromkeys(looks, 2)
    for kind, (own, shared) in looks.items():
        assert np.array_equal(own.patch, shared.patch) and shared.piece.kind == kind


@pytest.mark.parametrize(
    ("laid", "alone"), [([], True), ([("few", "lid")], False), ([("few", "lid"), ("lid",)], True)]
)
def test_what_is_only_ever_laid_on_others_is_not_taught_by_itself(laid, alone):
    first, second = (msgspec.structs.replace(BANKS.piece[0], kind=k) for k in ("few", "lid"))
    plan = msgspec.structs.replace(BANKS, piece=(first, second))
    looks = {k: [look_of("fig", None)] for k in ("few", "lid")}
    groups = group_sites(plan, [{"stock": contents} for contents in [("few",), *laid]])
    (stock,) = [g for g in complete_groups(plan, groups, looks, set()) if g.reads == "pile"]
    assert (("lid",) in stock.classes) == alone and ("few",) in stock.classes


MEADOWS = parse_plan(
    {
        "game": "meadows",
        "size": [300, 100],
        "site": [
            {
                "id": name,
                "reads": reads,
                "outline": [[x, 10], [x + 50, 10], [x + 50, 60], [x, 60]],
                "tags": tags,
            }
            for name, reads, x, tags in (
                ("west", "cluster", 10, ["field"]),
                ("east", "cluster", 70, ["field"]),
                ("stock", "pile", 130, ["stock"]),
            )
        ],
        "piece": [
            {"kind": "grass", "size": [44, 44], "height": 1, "base": True},
            {"kind": "desert", "size": [44, 44], "height": 1, "base": True},
            {"kind": "spare", "size": [44, 44], "height": 1, "base": True, "on": ["stock"]},
            {"kind": "roof", "size": [44, 44], "height": 1},
            {"kind": "strip", "size": [44, 30], "height": 1, "base": True},
            {"kind": "thick", "size": [44, 44], "height": 4, "base": True},
            {"kind": "unseen", "size": [44, 44], "height": 1, "base": True},
            {"kind": "cube", "size": [9, 9], "height": 9},
        ],
    },
    "meadows",
)


def cards_taught(field: list[str], stock: list[str]) -> dict[str, list[str]]:
    """site -> the cards that its classifier tells, where all but "unseen" have looks and a sampler
    shows these"""
    looks = {p.kind: [look_of("fig", None)] for p in MEADOWS.piece if p.kind != "unseen"}
    groups = group_sites(MEADOWS, [{"west": field, "stock": stock}])
    groups = complete_groups(MEADOWS, groups, looks, set())
    return {i: sorted(k for c in g.classes[2:] for k in c) for g in groups for i in g.ids}


def test_cards_shown_on_the_stock_alone_are_taught_on_fields_where_such_lie():
    """None that lies elsewhere or below nothing, of another form, or of which nobody knows how it
    looks"""
    taught = cards_taught(["grass", "cube"], ["desert"])
    assert taught["west"] == taught["east"] == ["desert", "grass"]


def test_no_cards_are_taught_on_fields_where_samplers_show_none():
    assert cards_taught(["cube"], ["desert"])["west"] == []


def test_how_a_piece_lies_is_taken_from_the_same_piece_laid_otherwise():
    """A seed is only shown loose on fields, and its rotten side on the market: the print by which
    others would tell how it lies is hard to see"""
    site = {"id": "field", "reads": "cluster", "outline": [[70, 30], [90, 30], [90, 70], [70, 70]]}
    plan = parse_plan(
        {
            "game": PLAN.game,
            "size": [100, 100],
            "site": [{"id": "a", "reads": "pile", "outline": PLAN.site[0].outline}, site],
            "piece": [msgspec.to_builtins(p) for p in PLAN.piece],
        },
        "market",
    )
    bar = look_of("fig", None).patch
    askew = cv2.warpAffine(
        bar, cv2.getRotationMatrix2D((9.5, 9.5), 20, 1), (20, 20), borderMode=cv2.BORDER_REPLICATE
    )
    clear, at = np.ones(bar.shape[:2], np.float32), np.zeros(2)
    laid = [
        Specimen(0, "field", "fig", at, 0.0, 0.0, askew, clear),
        Specimen(0, "a", "bad:fig", at, 0.0, 0.0, bar, clear),
    ]
    looks = make_looks(plan, 1.0, laid, set())
    assert [v.turned for v in looks["bad:fig"]] == [0.0]
    assert [v.turned for v in looks["fig"]] == [None, -45.0]
    assert {v.piece.kind for v in looks["fig"]} == {"fig"}, "else it says of others how they lie"
