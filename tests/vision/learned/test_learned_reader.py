"""The learned reader reads: the same after it was kept, the same in part as whole, without anything
that learns."""

import json
import math
import subprocess
import sys

import cv2
import jax.numpy as jnp
import numpy as np
import pytest

from calibration.synthesis.batch import Shapes
from calibration.training.export import export_trunk, quantize_trunk
from calibration.training.network import (
    classify_places,
    embed_places,
    match_piece_prints,
    match_site_prints,
    run_trunk,
)
from calibration.training.teach import initial_weights
from devtools.bench import memory_mb
from vision.evidence.site_evidence import CountedEvidence
from vision.frame_cache import FrameCache
from vision.geometry.footprints import lean_at, top_shift
from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid
from vision.learned.canvas import (
    GREY,
    LOG_SPREAD,
    Canvas,
    CanvasPart,
    joins_cheaply,
    picture_of,
    stack_input,
)
from vision.learned.card_bank import CardBank, CardLooks
from vision.learned.colour_shares import share_colours, tabulate_colours
from vision.learned.findings import Finding, SiteMap, clash_reach
from vision.learned.groups import (
    FOREIGN,
    Form,
    add_blocks,
    group_forms,
    group_sites,
    measure_tops,
)
from vision.learned.network import (
    ANGLES,
    CLOSE_UP,
    FINE_CHANNELS,
    FINER,
    PART_COUNTS,
    PIECE_GRID,
    PIECE_SIZE,
    RINGS,
    SITE_PIXELS,
    SITE_REACH,
    SITE_TEMPLATE,
    TEMPLATES,
    WIDE_CHANNELS,
    grid_places,
    slide_templates,
    square_axes,
    standing_axes,
    turn_templates,
)
from vision.learned.plain_sites import average_cells
from vision.learned.reader import OVERLOOKED, Glance, LearnedReader
from vision.learned.sampling import close_up, frame_pieces, frame_tops, nearest_tops
from vision.learned.trunk import Trunk
from vision.photometry.palette_light import LightReference
from vision.photometry.room_light import small_view
from vision.plan import parse_plan
from vision.storage.heap_trim import trim_heap
from vision.storage.model_file import array_as_text, text_as_array

SITES = [
    ("P1", "pile", 20, 20, 26),
    ("P2", "pile", 50, 20, 26),
    ("P3", "pile", 20, 80, 26),
    ("F1", "cluster", 100, 20, 60),
]
DRAWN = {
    "game": "drawn",
    "size": [180, 120],
    "piece": [
        {"kind": "stone", "size": 18, "height": 2},
        {"kind": "cube", "size": [9, 9], "height": 9},
    ],
    "site": [
        {"id": s, "reads": reads, "outline": [[x, y], [x + w, y], [x + w, y + w], [x, y + w]]}
        for s, reads, x, y, w in SITES
    ],
}
PLAN = parse_plan(DRAWN)
POSE = Pose(
    np.array([[900.0, 0, 360], [0, 900, 240], [0, 0, 1]]),
    np.zeros(4),
    np.zeros(3),
    np.array([-90.0, -60, 270]),
    (720, 480),
    "markers",
    0.3,
)
LAYOUTS = [{}, {"P1": ("stone",), "F1": ("cube", "cube")}]


@pytest.fixture(scope="module")
def image():
    rough = np.random.default_rng(1).normal(150, 200, (480, 720, 3)).astype(np.float32)
    return np.clip(cv2.GaussianBlur(rough, (0, 0), 3), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def reader(image):
    return untaught_reader(PLAN, LAYOUTS, image)


def untaught_reader(plan, layouts, image):
    view = Canvas.suited_to(plan, [POSE])
    groups = add_blocks(plan, group_sites(plan, layouts))
    forms = group_forms(plan, groups)
    weights = initial_weights(Shapes.of(groups, forms, view.scale), 3)
    reference = LightReference.of(small_view(Pyramid(image), POSE, plan.size), plan.size)
    return LearnedReader(
        plan,
        view,
        groups,
        forms,
        reference,
        np.zeros((*view.shape, 3), np.float32) + 4.5,
        weights,
        export_trunk(weights),
    )


def test_every_site_gets_evidence_that_adds_up_to_one(reader, image):
    found = reader.read(image, POSE)
    assert set(found) == set(PLAN.sites)
    for e in found.values():
        assert sum(math.exp(p) for _, p in e.options) + math.exp(e.other) <= 1 + 1e-6


def test_a_model_that_looks_at_its_sites_otherwise_is_refused(reader):
    arrays = reader.pack()
    about = json.loads(array_as_text(arrays["about"]))
    about["groups"][0]["box"] = [3.0, 4.0]
    with pytest.raises(ValueError, match="looked at otherwise"):
        LearnedReader.unpack(PLAN, arrays | {"about": text_as_array(json.dumps(about))})
    about = json.loads(array_as_text(arrays["about"]))
    del about["leaning"]  # as models were before, which read pieces that lie all the same
    LearnedReader.unpack(PLAN, arrays | {"about": text_as_array(json.dumps(about))})
    about["forms"][0]["height"] = 60.0
    with pytest.raises(ValueError, match="looked at otherwise"):
        LearnedReader.unpack(PLAN, arrays | {"about": text_as_array(json.dumps(about))})


def test_reads_the_same_after_it_was_kept(reader, image):
    again = LearnedReader.unpack(PLAN, reader.pack())
    for site, e in reader.read(image, POSE).items():
        other = again.read(image, POSE)[site]
        assert e.best == other.best and e.options[0][1] == pytest.approx(
            other.options[0][1], abs=0.02
        )


def test_a_part_is_read_as_the_whole(reader, image):
    whole, part = reader.read(image, POSE), reader.read(image, POSE, {"P1", "P3"})
    assert set(part) == {"P1", "P3"}
    for site, e in part.items():
        assert e.options[0][1] == pytest.approx(whole[site].options[0][1], abs=0.15)


def test_a_kept_network_cut_short_is_told(reader):
    arrays = reader.pack()
    arrays["trunk"] = arrays["trunk"][:1000]
    with pytest.raises(ValueError, match="cannot be run"):
        LearnedReader.unpack(PLAN, arrays)


def test_the_kept_graph_is_the_network_that_learnt(reader):
    weights = initial_weights(Shapes.of(reader.groups, reader.forms, reader.view.scale), 3)
    x = np.random.default_rng(0).normal(0, 1, (32, 48, 24)).astype(np.float32)
    for kept, learnt in zip(reader.trunk(x), run_trunk(weights, x[None])):
        assert np.abs(kept - np.asarray(learnt[0])).max() < 1e-3


def test_whole_numbers_tell_nearly_the_same(reader):
    rng = np.random.default_rng(0)
    shown = [rng.normal(0, 1, (32, 48, 24)).astype(np.float32) for _ in range(4)]
    quick = Trunk(quantize_trunk(reader.graph, iter(shown)))
    for whole, rounded in zip(reader.trunk(shown[0]), quick(shown[0])):
        assert np.abs(whole - rounded).mean() < 0.1 * np.abs(whole).mean()


def test_room_kept_for_the_next_picture_is_given_back(reader):
    x = np.random.default_rng(1).normal(0, 1, (320, 320, 24)).astype(np.float32)
    first = [v.copy() for v in reader.trunk(x)]
    trim_heap()
    kept = memory_mb("VmRSS")
    reader.trunk.give_back()
    trim_heap()
    assert kept - memory_mb("VmRSS") > 15
    for before, after in zip(first, reader.trunk(x)):
        assert np.array_equal(before, after)


def test_a_print_is_found_wherever_and_however_turned_it_lies():
    rng = np.random.default_rng(2)
    mark = rng.normal(0, 1, (SITE_TEMPLATE, SITE_TEMPLATE, 3)).astype(np.float32)
    pictures = np.zeros((3, SITE_PIXELS, SITE_PIXELS, 3), np.float32)
    pictures[0, 2:-2, 2:-2] = mark
    pictures[1, :-4, 4:] = mark
    pictures[2, 2:-2, 2:-2] = np.rot90(mark)
    straight, turned = (slide_templates(pictures, mark[..., None], q)[:, 0] for q in (False, True))
    most = float((mark**2).sum())
    assert straight[:2] == pytest.approx([most, most], rel=1e-4) and straight[2] < 0.5 * most
    assert turned == pytest.approx([most] * 3, rel=1e-4)


def test_a_piece_turned_shifts_its_angles():
    rng = np.random.default_rng(3)
    mark = rng.normal(0, 1, (ANGLES, RINGS, 3)).astype(np.float32)
    pieces = np.stack([np.roll(mark, n, 0) for n in (0, 5, 17)])
    fits = turn_templates(pieces, mark[..., None])[:, 0]
    assert fits == pytest.approx([float((mark**2).sum())] * 3, rel=1e-4)


def test_prints_are_matched_alike_by_who_teaches(reader):
    weights = {k: jnp.asarray(v) for k, v in reader.weights.items()}
    rng = np.random.default_rng(4)
    sites = rng.normal(0, 1, (4, SITE_PIXELS, SITE_PIXELS, 3)).astype(np.float32)
    upright = np.array([True, False, True, False])
    learnt = match_site_prints(weights, jnp.asarray(sites), jnp.asarray(upright))
    pieces = rng.normal(0, 1, (4, ANGLES, RINGS, 3)).astype(np.float32)
    filters, bias = (reader.weights[f"classes/site_prints{part}"] for part in ("", ".bias"))
    both = [slide_templates(sites, filters, quarters) for quarters in (True, False)]
    read = np.maximum(np.where(upright[:, None], both[1], both[0]) + bias, 0)
    assert np.abs(np.asarray(learnt) - read).max() < 1e-4
    filters, bias = (reader.weights[f"classes/piece_prints{part}"] for part in ("", ".bias"))
    read = np.maximum(turn_templates(pieces, filters) + bias, 0)
    assert np.abs(np.asarray(match_piece_prints(weights, jnp.asarray(pieces))) - read).max() < 1e-4


def test_pieces_are_told_alike_by_who_teaches(reader, monkeypatch):
    rng = np.random.default_rng(8)
    described = PIECE_SIZE + TEMPLATES
    hidden = {
        "classes/piece_hidden": rng.normal(0, 1, (described, 5)).astype(np.float32),
        "classes/piece_hidden.bias": rng.normal(0, 1, 5).astype(np.float32),
        "classes/piece_hidden_says": rng.normal(0, 1, (5, len(reader.names) + 1)).astype(
            np.float32
        ),
    }
    sampled = rng.normal(0, 1, (6, PIECE_GRID**2, FINE_CHANNELS)).astype(np.float32)
    prints = rng.normal(0, 1, (6, TEMPLATES)).astype(np.float32)
    plain = reader.classify("piece", sampled, prints)
    monkeypatch.setattr(reader, "weights", reader.weights | hidden)
    read = reader.classify("piece", sampled, prints)
    learnt = classify_places(
        reader.weights, "piece", embed_places(reader.weights, "piece", sampled), prints
    )
    assert np.abs(read - plain).max() > 1 and np.abs(np.asarray(learnt) - read).max() < 1e-3


def test_what_prints_of_parts_tell_comes_before_those_of_the_whole(reader, monkeypatch):
    rng = np.random.default_rng(6)
    mark = rng.normal(0, 1, (SITE_TEMPLATE, SITE_TEMPLATE, 3)).astype(np.float32)
    parts = np.zeros((PART_COUNTS["site"], *mark.shape, 2), np.float32)
    parts[3, ..., 1] = mark
    own = {"classes/site_parts": parts, "classes/site_parts.bias": np.zeros(8, np.float32)}
    n = SITE_PIXELS
    pictures = np.zeros((3, FINER * n, FINER * n, 3), np.float32)
    pictures[0, n + 1 : n + 1 + len(mark), n + 3 : n + 3 + len(mark)] = mark
    pictures[1] = np.rot90(pictures[0])
    pictures[2, :n, :n] = pictures[0, n:, n:]  # on another part
    plain = reader.match_prints("site", pictures, False)
    monkeypatch.setattr(reader, "weights", reader.weights | own)
    straight, turned = (reader.match_prints("site", pictures, q) for q in (False, True))
    assert straight[:, 8:] == pytest.approx(plain[:, -TEMPLATES:])
    most = float((mark**2).sum())
    assert straight[0, 7] == pytest.approx(most, rel=1e-4)
    assert (straight[1:, 7] < 0.5 * most).all()
    assert turned[:2, 7] == pytest.approx([most] * 2, rel=1e-4) and turned[2, 7] < 0.5 * most


def test_what_colours_tell_comes_before_prints(reader, monkeypatch):
    pictures = np.random.default_rng(6).normal(1, 0.4, (3, 36, 36, 3)).astype(np.float32)
    plain = reader.match_prints("site", pictures, False)
    colours = np.array([[0.5, 0.5, 0.5], [1.5, 1.5, 1.5]], np.float32)
    own = {k: v for k, v in reader.weights.items() if k != "classes/site_colours"}
    monkeypatch.setattr(reader, "weights", own | {"classes/site_colours": colours})
    monkeypatch.setattr(
        reader, "colour_tables", {"classes/site_colours": tabulate_colours(colours)}
    )
    told = reader.match_prints("site", pictures, False)
    shares = share_colours("site", pictures, tabulate_colours(colours), 2)
    count = shares.shape[1]
    assert (told[:, :count] == shares).all()
    assert told[:, -TEMPLATES:] == pytest.approx(plain[:, -TEMPLATES:])


def test_the_picture_is_had_back_from_the_input():
    seen = np.random.default_rng(5).normal(4.6, 1, (8, 12, 3)).astype(np.float32)
    back = picture_of(stack_input(seen, np.zeros_like(seen)))
    assert back == pytest.approx((seen - GREY) / LOG_SPREAD, abs=1e-5)


def test_canvas_places_go_there_and_back():
    view = Canvas((180.0, 120.0), 1.3)
    mm = np.array([[0.0, 0], [180, 120], [33.3, 7]])
    assert view.to_mm(view.to_px(mm)) == pytest.approx(mm)
    assert all(n % 8 == 0 for n in view.shape)


def test_a_window_of_the_canvas_shows_the_same_pixels(reader, image):
    light = reader.reference.light_of(Pyramid(image), POSE)
    whole = reader.view.rectify(image, POSE, light)
    x0, y0, x1, y1 = reader.window_of({"P3"}, POSE)
    part = reader.view.rectify(image, POSE, light, (x0, y0, x1, y1))
    assert part == pytest.approx(whole[y0:y1, x0:x1], abs=1e-3)


def test_light_is_told_anew_only_where_it_changed(reader, image, monkeypatch):
    asked = []
    told = type(reader.reference).estimate_light
    monkeypatch.setattr(
        type(reader.reference), "estimate_light", lambda *a: asked.append(1) or told(*a)
    )
    cache = FrameCache()
    for _ in range(2):
        whole = reader.tell_light(Pyramid(image), POSE, cache)
        assert len(asked) == 1
    brighter = np.clip(image * 1.3, 0, 255).astype(np.uint8)
    assert reader.tell_light(Pyramid(brighter), POSE, cache).weights[0].mean() > (
        whole.weights[0].mean() + 0.1
    )
    assert len(asked) == 2
    reader.tell_light(Pyramid(brighter), POSE, None)
    assert len(asked) == 3, "nobody keeps it"


def test_input_holds_four_pixels_in_a_row():
    seen = np.arange(4 * 4 * 3, dtype=np.float32).reshape(4, 4, 3)
    x = stack_input(seen, np.zeros_like(seen))
    assert x.shape == (2, 2, 24)
    assert x[0, 0, 3:6] == pytest.approx(seen[0, 0] / 0.7) and x[0, 0, 9:12] == pytest.approx(
        seen[0, 1] / 0.7
    )


def test_grid_places_weigh_one():
    index, weight = grid_places(
        np.array([[20.0, 20.0]]), square_axes(np.array([16.0])), 4, 2, (30, 40)
    )
    assert index.shape == weight.shape == (1, 16, 4)
    assert weight.sum(-1) == pytest.approx(1.0)
    assert index.max() < 30 * 40 and index.min() >= 0


def test_a_close_up_lays_the_lean_to_the_right():
    off, sides = standing_axes(np.array([[0.0, 60.0], [0.0, 0.0]]), 40.0)
    h, w = CLOSE_UP
    assert off[0] == pytest.approx([0, 30])
    assert sides[0] == pytest.approx(np.array([[0.0, 100], [-100 * h / w, 0]]))
    assert np.linalg.norm(sides[1], axis=1) == pytest.approx([40 * w / h, 40])
    canvas = np.zeros((200, 200, 3), np.float32)
    canvas[150:158, 96:104] = 1.0  # the top of what stands at (100, 100)
    picture = close_up(canvas, np.array([100.0, 100]) + off[0], sides[0])
    y, x = np.argwhere(picture[..., 0] > 0.5).mean(0)
    assert y == pytest.approx(h / 2, abs=2) and x == pytest.approx(w * 0.74, abs=4)


def test_what_stands_is_looked_at_from_its_foot_to_its_top():
    """An obelisk and a figure were told apart by a foot's width about their middles"""
    camera, foot, height = np.array([40.0, 90, 700]), np.array([[300.0, 250]]), 60.0
    middle, top = (foot + top_shift(camera, foot, h) for h in (height / 2, height))
    [[along, across]] = frame_pieces(middle, camera, np.array([20.0]), np.array([height]))
    length = np.linalg.norm(top - foot)
    assert np.linalg.norm(along) == pytest.approx(length + 20)
    assert along @ across == pytest.approx(0)
    assert along / np.linalg.norm(along) == pytest.approx(((top - foot) / length)[0])
    assert np.linalg.norm(across) == pytest.approx(20)
    [flat] = frame_pieces(middle, camera, np.array([20.0]), np.zeros(1))
    assert flat.tolist() == [[20, 0], [0, 20]]


def test_what_is_found_on_a_pile_says_what_lies_there_but_not_how_it_is_turned(image):
    sized = {"size": 18, "height": 2}
    plan = parse_plan(
        {
            "game": "drawn",
            "size": [180, 120],
            "piece": [
                {"kind": "fig", **sized},
                {"kind": "date", **sized},
                {"kind": "bad:fig", **sized, "looks": "fig", "turned": 45},
            ],
            "site": [
                {"id": s.id, "reads": s.reads, "outline": s.outlines[0].tolist()} for s in PLAN.site
            ],
        }
    )
    laid = {"P1": ("fig",), "P2": ("bad:fig",), "P3": ("date",), "F1": ("fig", "date")}
    reader = untaught_reader(plan, [{}, laid], image)
    n, g = next((n, g) for n, g in enumerate(reader.groups) if "P1" in g.ids)
    told = dict(zip(g.classes, np.zeros(len(g.classes), int)))
    told |= {("fig",): 4, ("bad:fig",): 3, ("date",): 5}
    logs = np.log(np.array([told[c] + 0.1 for c in g.classes]) / 13)
    at = plan.sites["P1"].centre
    found = [Finding(0, at, at, chance, {"fig": 0.8, "date": 0.2}, 0) for chance in (0.3, 0.9, 0.5)]
    top = reader.uppermost_piece(n, "P1", found)
    assert top is found[1], "the surest"
    heard = dict(zip(g.classes, np.exp(reader.hear_piece(n, logs, top))))
    assert max(heard, key=heard.get) == ("fig",)
    assert heard["fig",] / heard["bad:fig",] == pytest.approx(4.1 / 3.1)
    assert heard["fig",] > 3 * heard["date",] and heard[()] < 0.01
    assert reader.uppermost_piece(n, "P2", found) is None
    unheard = dict(zip(g.classes, reader.hear_piece(n, logs, None) - logs))
    assert unheard[()] - unheard["fig",] == pytest.approx(np.log((1 - OVERLOOKED) / OVERLOOKED))
    assert unheard["fig",] == pytest.approx(unheard["date",]), "nothing tells these apart"


def test_a_pile_is_looked_at_about_the_piece_that_lies_on_it():
    at, axes = np.array([[50.0, 50], [90, 50]]), square_axes(np.array([60.0, 60]))
    tops = nearest_tops(at, np.array([20.0, 20]), np.array([[60.0, 45], [56, 50], [150, 50]]))
    assert tops[0].tolist() == [56, 50] and np.isnan(tops[1]).all()
    assert np.isnan(nearest_tops(at, np.array([20.0, 20]), np.zeros((0, 2)))).all()
    middle, sides = frame_tops(at, axes, np.array([18.0, 18]), tops)
    assert middle.tolist() == [[56, 50], [90, 50]]
    assert np.allclose(sides, square_axes(np.full(2, SITE_REACH * 18)))
    middle, sides = frame_tops(at, axes, np.zeros(2), tops)
    assert (middle == at).all() and (sides == axes).all()


def test_only_piles_with_pieces_that_lie_loose_elsewhere_are_looked_at_closer(image):
    sized = {"size": 18, "height": 2}
    plan = parse_plan(
        {
            "game": "drawn",
            "size": [180, 120],
            "piece": [{"kind": k, **sized} for k in ("fig", "crate")],
            "site": [
                {"id": s.id, "reads": s.reads, "outline": s.outlines[0].tolist()} for s in PLAN.site
            ],
        }
    )
    for on_pile, wide in (("fig", 18.0), ("crate", 0.0)):
        groups = group_sites(plan, [{}, {"P1": (on_pile,), "F1": ("fig",)}])
        tops = {g.reads: g.top for g in measure_tops(plan, groups, group_forms(plan, groups))}
        assert tops == {"pile": wide, "cluster": 0.0}


def test_what_is_looked_for_as_one_form_may_be_told_as_another_like_it(image, monkeypatch):
    plan = parse_plan(
        {
            "game": "drawn",
            "size": [180, 120],
            "piece": [
                {"kind": "obelisk", "size": [11, 11], "height": 34},
                {"kind": "figure", "size": [10, 10], "height": 22},
                {"kind": "disc", "size": 10, "height": 2},
            ],
            "site": [
                {"id": s.id, "reads": s.reads, "outline": s.outlines[0].tolist()} for s in PLAN.site
            ],
        }
    )
    reader = untaught_reader(plan, [{}, {"F1": ("obelisk", "figure", "disc")}], image)
    tall, low, flat = (
        next(n for n, f in enumerate(reader.forms) if kind in f.kinds)
        for kind in ("obelisk", "figure", "disc")
    )
    assert reader.forms[tall].rivals == ("figure",) and reader.forms[low].rivals == ("obelisk",)
    assert not reader.forms[flat].rivals, "what lies is not mistaken for what stands"
    heat = np.full((40, 40, 3), -9.0, np.float32)
    heat[20, 20, tall] = 3.0
    chances = {"obelisk": 0.2, "figure": 0.8}

    def weigh_places(form, glances, high, at, camera):
        assert form == tall
        kinds = [[chances[reader.names[n]] for n in reader.of_form[form]]]
        return np.array([0.9]), np.array(kinds)

    monkeypatch.setattr(reader, "heat_maps", lambda _: heat)
    monkeypatch.setattr(reader, "weigh_places", weigh_places)
    [found] = reader.find_pieces([Glance(heat, heat, heat)], whole_part(heat))
    assert found.form == low and found.kinds == pytest.approx(chances)
    lean = lean_at(POSE, found.top[None])[0]
    assert found.foot == pytest.approx(found.top - lean * reader.forms[low].found_height)


@pytest.fixture(scope="module")
def block_reader(image):
    """Of a board of four squares, all of which a tower or a temple covers"""
    corners = [(x, y) for x in (30, 60) for y in (20, 50)]
    plan = parse_plan(
        {
            "game": "blocks",
            "size": [180, 120],
            "site": [
                {"id": f"S{n}", "outline": [[x, y], [x + 30, y], [x + 30, y + 30], [x, y + 30]]}
                for n, (x, y) in enumerate(corners)
            ],
            "piece": [
                {"kind": "tile", "size": 26, "height": 2},
                *(
                    {"kind": k, "size": [56, 56], "height": 9, "spans": [2, 2], "over": "tile"}
                    for k in ("temple", "tower")
                ),
            ],
        }
    )
    layouts = [{"S0": ("tile", k)} for k in ("temple", "tower")] + [{"S1": ("tile",)}]
    return untaught_reader(plan, layouts, image)


@pytest.mark.parametrize("seen", ["temple", "tower"])
def test_what_covers_several_squares_is_told_by_all_of_them(block_reader, monkeypatch, seen):
    """However sure the upper left one is; what else may lie there is told as it was"""
    (group, block), whole = block_reader.groups, []
    own = [group.classes.index(("?", k)) for k in ("temple", "tower")]
    tile = group.classes.index(("tile",))
    known = np.full((1, len(group.classes)), -20.0)
    known[0, [tile, *own]] = np.log([0.1, 0.85, 0.05])

    def classify_as_seen(name, sampled, prints):
        whole.append(sampled)
        logits = np.zeros((len(sampled), block_reader.offsets[-1]))
        logits[:, block_reader.offsets[1] + block.classes.index(("?", seen))] = 5
        return logits

    monkeypatch.setattr(block_reader, "classify", classify_as_seen)
    seen_part = np.zeros((240, 360, 3), np.float32)
    quarter = np.zeros((60, 90, WIDE_CHANNELS), np.float32)
    rows = block_reader.hear_blocks(0, ["S0"], known, quarter, seen_part, np.zeros(2))
    assert group.classes[own[int(rows[0, own].argmax())]] == ("?", seen)
    assert np.exp(rows[0, own]).sum() == pytest.approx(0.9) and rows[0, tile] == known[0, tile]
    few = known.copy()
    few[0, own] = -9
    rows = block_reader.hear_blocks(0, ["S0"], few, quarter, seen_part, np.zeros(2))
    assert (rows[0, own] == -9).all() and len(whole) == 1, "nobody doubts that none lies there"


def test_all_that_a_piece_covers_is_looked_at_with_its_site(block_reader):
    one, alone = (block_reader.window_of({i}, POSE) for i in ("S0", "S3"))
    assert one[2] - one[0] > alone[2] - alone[0] and one[3] - one[1] > alone[3] - alone[1]


def test_a_reader_of_blocks_reads_the_same_after_it_was_kept(block_reader, image):
    again = LearnedReader.unpack(block_reader.plan, block_reader.pack())
    assert again.groups == block_reader.groups
    one, two = (r.read(image, POSE) for r in (block_reader, again))
    assert one.keys() == two.keys() and all(
        one[i].options[0][0] == two[i].options[0][0] for i in one
    )


def test_a_foot_belongs_to_the_site_it_stands_on():
    homes = SiteMap(PLAN)
    assert homes.share_foot(np.array([130.0, 50.0])) == pytest.approx({"F1": 1.0})
    assert homes.share_foot(np.array([97.0, 50.0])) == pytest.approx(
        {"F1": 1.0}
    )  # outside, but nobody else's
    assert homes.share_foot(np.array([10.0, 110.0])) == {}


def test_reading_loads_nothing_that_learns():
    code = "import sys, vision.reader; print([m for m in ('jax', 'onnx', 'calibration', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_ships_lie_side_by_side_and_flat_ones_on_each_other():
    ship = Form((18.0, 12.0), False, 2.0, ("ship",))
    cube, crate = (
        Form((9.0, 9.0), False, 9.0, ("cube",)),
        Form((30.0, 30.0), False, 14.0, ("crate",)),
    )
    disc = Form((14.0, 14.0), True, 2.0, ("disc",))
    assert clash_reach(ship, ship) < 12, "side by side"
    assert clash_reach(ship, ship) < 7, "one on the other"
    assert clash_reach(ship, ship) >= 5, "one seen twice"
    assert 7.5 < clash_reach(ship, ship, by_rival=True) < 12, "its end, taken for a disc's middle"
    assert 6 <= clash_reach(cube, cube) < 8
    assert clash_reach(ship, disc) >= 7, "one taken for two things"
    assert clash_reach(cube, crate) < 0, "on it"
    figure, obelisk = (Form((w, w), False, 30.0, (k,)) for w, k in ((10.0, "man"), (11.0, "rock")))
    assert 8.5 < clash_reach(figure, obelisk) < 10.5, "one's end, taken for the other"


@pytest.mark.parametrize(("by_rival", "left"), [(False, 2), (True, 1)])
def test_a_ship_found_by_another_form_beside_one_is_that_one(image, by_rival, left):
    piece = {"kind": "ship", "size": [18, 12], "height": 2}
    plan = parse_plan(DRAWN | {"piece": [*DRAWN["piece"], piece]})
    reader = untaught_reader(plan, [{}, {"F1": ("ship", "ship")}], image)
    places = (np.array([120.0, 40.0]), np.array([126.5, 40.0]))
    one, other = (
        Finding(0, at, at, 0.999, {"ship": 1.0}, sought)
        for at, sought in zip(places, (0, int(by_rival)))
    )
    kept = reader.without_clashes([other, one])
    assert len(kept) == left and any(f.foot is one.foot for f in kept)


def test_chances_of_a_piece_found_in_several_places_add_up(image):
    """Of one form's: what another form finds there is the same seen once more"""
    piece = {"kind": "ship", "size": [18, 12], "height": 2}
    plan = parse_plan(DRAWN | {"piece": [*DRAWN["piece"], piece]})
    reader = untaught_reader(plan, [{}, {"F1": ("ship", "ship")}], image)
    found = [
        Finding(0, at, at, chance, {"ship": 1.0}, sought)
        for x, chance, sought in ((120, 0.4, 0), (123, 0.3, 0), (121, 0.5, 1), (150, 0.2, 0))
        for at in [np.array([x, 40.0])]
    ]
    kept = {f.foot[0]: f.chance for f in reader.without_clashes(found)}
    assert kept == {121: pytest.approx(0.7), 150: pytest.approx(0.2)}


CARD_KINDS = ("field", "forest", "swamp")


@pytest.fixture(scope="module")
def card_reader(image):
    """Of a plan with three cards on F1, each of a print of its own"""
    cards = [{"kind": k, "size": [50, 50], "height": 1} for k in CARD_KINDS]
    plan = parse_plan(DRAWN | {"piece": DRAWN["piece"] + cards})
    layouts = [{}, *({"F1": (k, "cube")} for k in CARD_KINDS)]
    reader = untaught_reader(plan, layouts, image)
    [group] = [n for n, g in enumerate(reader.groups) if g.reads == "cluster"]
    prints = np.random.default_rng(8).normal(4.0, 1.5, (3, 20, 20, 3))
    side = round(50 * reader.view.scale)
    fine = np.stack(
        [cv2.resize(cv2.GaussianBlur(p, (0, 0), 1.2), (side, side)) for p in prints]
    ).astype(np.float32)
    classes = np.array([reader.groups[group].classes.index((k,)) for k in CARD_KINDS])
    reader.cards = {group: CardBank(0.4, (CardLooks.of(classes, fine, (20, 20), False),))}
    return reader


def whole_part(seen):
    return CanvasPart(seen, (0, 0, *seen.shape[1::-1]), POSE)


def lay_card(reader, number):
    """(group, its cards' classes, the empty canvas with one of them on F1)"""
    [(group, bank)] = reader.cards.items()
    [looks] = bank.looks
    seen = reader.empty.copy()
    side = round(50 * reader.view.scale)
    x, y = np.rint(reader.view.to_px(np.array([130.0, 50.0])) - side / 2 + 0.5).astype(int)
    seen[y : y + side, x : x + side] = looks.fine[number]
    return group, looks.classes, seen


@pytest.mark.parametrize("number", range(3))
def test_a_card_in_doubt_is_told_by_what_shows_between_the_pieces_on_it(card_reader, number):
    group, classes, seen = lay_card(card_reader, number)
    count = len(card_reader.groups[group].classes)
    doubt = np.full((1, count), -math.log(count))
    heap = [  # black things that no look shows, all over three quarters of the card
        Finding(0, np.array([x, y]), np.array([x, y]), 0.9, {"cube": 1.0}, 0)
        for x in range(108, 154, 8)
        for y in range(28, 74, 8)
        if x > 130 or y > 50
    ]
    for piece in heap:
        x, y = np.rint(card_reader.view.to_px(piece.top)).astype(int)
        cv2.circle(seen, (int(x), int(y)), round(4.5 * card_reader.view.scale), (1.5,) * 3, -1)
    [heard] = card_reader.hear_cards(group, ["F1"], doubt, whole_part(seen), heap, {})
    assert heard[classes].argmax() == number and math.exp(heard[classes[number]]) > 0.4
    assert heard[FOREIGN] == pytest.approx(doubt[0, FOREIGN]), "no look says what is foreign"
    assert np.exp(heard).sum() == pytest.approx(1)


def test_a_card_that_the_network_is_sure_of_stays_as_it_tells_it(card_reader):
    group, classes, seen = lay_card(card_reader, 0)
    sure = np.full((1, len(card_reader.groups[group].classes)), math.log(1e-4))
    sure[0, classes[1]] = math.log(0.999)
    assert (card_reader.hear_cards(group, ["F1"], sure, whole_part(seen), [], {}) == sure).all()


@pytest.fixture
def tile_reader(image):
    """Of a plan with a tile on its piles, and small cubes on that"""
    tile = {"kind": "tile", "size": [24, 24], "height": 1}
    plan = parse_plan(DRAWN | {"piece": [*DRAWN["piece"], tile]})
    laid = {"P1": ("tile",), "P2": ("tile", "cube"), "F1": ("cube",)}
    reader = untaught_reader(plan, [{}, laid], image)
    group = next(n for n, g in enumerate(reader.groups) if "P1" in g.ids)
    side = round(24 * reader.view.scale)
    fine = np.full((1, side, side, 3), 4.0, np.float32)
    fine[:, side // 2 :, :, 0] = 4.8
    tile = np.array([reader.groups[group].classes.index(("tile",))])
    reader.cards = {group: CardBank(0.5, (CardLooks.of(tile, fine, (10, 10), False),))}
    return reader


@pytest.mark.parametrize("covered", [False, True])
def test_every_pixel_of_a_tile_tells_whether_a_small_piece_lies_on_it(tile_reader, covered):
    [(group, bank)] = tile_reader.cards.items()
    classes = tile_reader.groups[group].classes
    tile, both = (classes.index(c) for c in (("tile",), ("tile", "cube")))
    seen, view = tile_reader.empty.copy(), tile_reader.view
    face = bank.looks[0].fine[0]
    first = view.to_px(tile_reader.plan.sites["P1"].centre) - len(face) / 2 + 0.5
    x, y = np.rint(first).astype(int)
    seen[y : y + len(face), x : x + len(face)] = face
    elsewhere = np.array([130.0, 50.0])
    cubes = [elsewhere, *([tile_reader.plan.sites["P1"].centre + 3] if covered else [])]
    for at in cubes:
        x, y = np.rint(view.to_px(at)).astype(int)
        cv2.circle(seen, (int(x), int(y)), round(4 * view.scale), (5.2, 5.0, 4.6), -1)
    logs = np.full(len(classes), math.log(1e-4))
    logs[tile], logs[both] = math.log(0.5), math.log(0.5)
    found = [Finding(0, elsewhere, elsewhere, 0.9, {"cube": 1.0}, 0)]
    heard = tile_reader.hear_tile(group, "P1", logs, whole_part(seen), found)
    assert math.exp(heard[both if covered else tile]) > 0.9
    assert np.exp(heard).sum() == pytest.approx(1)
    sure = logs.copy()
    sure[both] = math.log(1e-3)
    assert tile_reader.hear_tile(group, "P1", sure, whole_part(seen), found) is sure


def test_a_doubt_whether_something_fills_a_site_is_told_by_every_pixel_of_it(tile_reader):
    [group] = tile_reader.cards
    classes = tile_reader.groups[group].classes
    tile = classes.index(("tile",))
    seen, view = tile_reader.empty.copy(), tile_reader.view
    for site in ("P1", "P3"):
        x, y = np.rint(view.to_px(tile_reader.plan.sites[site].centre)).astype(int)
        seen[y - 24 : y + 24, x - 24 : x + 24] -= (1.0, 0, 0)
    logs = np.full((3, len(classes)), math.log(1e-4))
    logs[:, 0], logs[:, tile] = math.log(0.6), math.log(0.4)
    logs[2, 0], logs[2, tile] = math.log(0.005), math.log(0.99)
    filled, bare, sure = tile_reader.hear_filled(group, ["P1", "P2", "P3"], logs, whole_part(seen))
    assert math.exp(filled[tile]) > 0.9 and math.exp(bare[0]) > 0.9
    assert sure == pytest.approx(logs[2], abs=0.01)
    small = classes.index(("tile", "cube"))
    logs[:, tile], logs[:, small] = logs[:, small], logs[:, tile].copy()
    asked = tile_reader.hear_filled(group, ["P1", "P2", "P3"], logs, whole_part(seen))
    assert asked is logs, "a cube may lie anywhere on it"


@pytest.mark.parametrize("lies", ["card", "nothing", "unknown"])
def test_a_card_where_none_belongs_is_something_foreign(tile_reader, lies):
    [(pile, bank)] = tile_reader.cards.items()
    field = next(n for n, g in enumerate(tile_reader.groups) if "F1" in g.ids)
    side = round(50 * tile_reader.view.scale)
    prints = np.random.default_rng(8).normal(4.0, 1.5, (2, 20, 20, 3))
    face, other = (
        cv2.resize(cv2.GaussianBlur(p, (0, 0), 1.2), (side, side)).astype(np.float32)
        for p in prints
    )
    looks = CardLooks.of(bank.looks[0].classes, face[None], (20, 20), False)
    tile_reader.cards = {pile: CardBank(0.4, (looks,))}
    seen = tile_reader.empty.copy()
    x, y = np.rint(tile_reader.view.to_px(np.array([130.0, 50.0])) - side / 2 + 0.5).astype(int)
    if lies != "nothing":
        seen[y : y + side, x : x + side] = face if lies == "card" else other
    off = average_cells(seen) - tile_reader.empty_cells
    logs = np.log(np.array([[0.95, 0.05]]))
    heard, named = tile_reader.hear_strange(field, ["F1"], logs, off, whole_part(seen), [])
    assert heard.shape == (1, len(tile_reader.groups[field].classes))
    if lies == "card":
        assert math.exp(heard[0, FOREIGN]) > 0.9 and named["F1"]["tile"] > 0.9
        told = tile_reader.cluster_evidence(tile_reader.groups[field], heard[0], [], named["F1"])
        assert told.best == ("tile",) and told.best_logp > math.log(0.8) and not told.foreign
    else:
        assert heard == pytest.approx(logs, abs=0.01)
        assert lies == "unknown" or not named
    kept, none = tile_reader.hear_strange(pile, ["P1"], logs, off, whole_part(seen), [])
    assert kept is logs and not none


def test_cards_are_kept_with_the_reader(card_reader, image):
    again = LearnedReader.unpack(card_reader.plan, card_reader.pack())
    [(group, bank)] = card_reader.cards.items()
    kept = again.cards[group]
    assert kept.samples == bank.samples and kept.looks[0].quarters == bank.looks[0].quarters
    assert (kept.looks[0].classes == bank.looks[0].classes).all()
    assert kept.looks[0].pictures == pytest.approx(bank.looks[0].pictures, abs=0.01)
    assert again.read(image, POSE)["F1"].best == card_reader.read(image, POSE)["F1"].best


def test_a_glance_turned_by_half_finds_the_same_pieces(reader, monkeypatch):
    high, shown = np.full((40, 48, len(reader.forms)), -9.0, np.float32), np.zeros((80, 96, 3))
    high[12, 30, 0] = 2.0
    asked = []

    def weigh_places(form, glances, heat, at, camera):
        asked.append([v.places_as_seen(at) for v in glances])
        return np.array([0.9]), np.ones((1, len(reader.of_form[form])))

    monkeypatch.setattr(reader, "heat_maps", lambda heat: heat)
    monkeypatch.setattr(reader, "weigh_places", weigh_places)
    turned = np.ascontiguousarray(high[::-1, ::-1])
    once, again = Glance(high, high, shown), Glance(turned, turned, shown, turned=True)
    [first] = reader.find_pieces([once], whole_part(shown))
    [both] = reader.find_pieces([once, again], whole_part(shown))
    assert both.top == pytest.approx(first.top)
    straight, back = asked[-1]
    assert straight == pytest.approx(np.array([[60.5, 24.5]]))
    assert back == pytest.approx(np.array([[95 - 60.5, 79 - 24.5]]))


@pytest.mark.parametrize("form", [0, -1])
def test_a_glance_turned_by_half_weighs_a_piece_as_the_network_was_taught_to(reader, form):
    """As if the picture had always been the other way round: what lies is sampled straight, what stands
    from its foot to its top"""
    rng, form = np.random.default_rng(2), form % len(reader.forms)
    fine = rng.normal(0, 1, (40, 48, FINE_CHANNELS)).astype(np.float32)
    shown = rng.normal(0, 1, (80, 96, 3)).astype(np.float32)
    at, camera, high = np.array([[40.0, 30.0], [60.0, 50.0]]), np.array([10.0, 70, 400]), np.ones(2)
    turned = Glance(fine, fine, shown, turned=True)
    seen = reader.weigh_places(form, [turned], high, at, camera)
    want = reader.weigh_places(
        form,
        [Glance(fine, fine, shown)],
        high,
        np.array([95.0, 79]) - at,
        np.array([95.0 - 10, 79 - 70, 400]),
    )
    for a, b in zip(seen, want):
        assert a == pytest.approx(b)


@pytest.mark.parametrize(("sure", "looks"), [(0.9, 1), (0.999, 0)])
def test_only_what_one_look_leaves_in_doubt_is_looked_at_again(
    reader, card_reader, image, monkeypatch, sure, looks
):
    told = {"F1": CountedEvidence(((("cube",), math.log(sure)),), -9.0)}
    asked = []
    for one in (reader, card_reader):
        monkeypatch.setattr(one, "tell_clusters", lambda *_: told)
        monkeypatch.setattr(one, "look_again", lambda mine, *_: asked.extend(mine) or {})
    found = card_reader.read(image, POSE)
    assert asked == ["F1"] * looks and found["F1"] is told["F1"] and "P1" in found
    reader.read(image, POSE)
    assert len(asked) == looks, "no cards lie there"


def test_doubts_are_looked_at_together_where_that_is_no_more_to_look_at(reader):
    whole = whole_part(reader.empty)
    here, beside = (reader.window_of({i}, POSE) for i in ("P1", "P2"))
    assert reader.windows_about(["P1"], whole) == {("P1",): here}
    [(ids, part)] = reader.windows_about(["P1", "P2"], whole).items()
    assert ids == ("P1", "P2") and part == (*here[:2], *beside[2:])
    assert joins_cheaply((0, 0, 80, 80), (40, 0, 120, 80))
    assert not joins_cheaply((0, 0, 80, 80), (160, 160, 240, 240))
    x0, y0, x1, y1 = here
    beginning = whole.crop_window((x0 + 8, y0, x1 + 80, y1))
    assert reader.windows_about(["P1"], beginning) == {("P1",): (x0 + 8, y0, x1, y1)}


def test_a_second_look_takes_the_card_that_was_told_for_part_of_the_board(card_reader, monkeypatch):
    group, classes, seen = lay_card(card_reader, 1)
    whole, count = whole_part(seen), len(card_reader.groups[group].classes)
    rows = np.full(count, math.log(1e-4))
    rows[classes[1]] = math.log(0.99)
    clusters = {"F1": (group, rows)}
    told = card_reader.tell_clusters(clusters, whole, [], {}, {})
    ground = card_reader.draw_cards(clusters, told, whole, [], {}).picture
    card = np.any(seen != card_reader.empty, 2)
    assert np.abs(seen - ground)[card].mean() < 0.1 < np.abs(seen - card_reader.empty)[card].mean()
    assert (ground == card_reader.empty)[~card].mean() > 0.99
    grounds = []

    def glance_turned(own, ground):
        grounds.append(ground)
        return glance_at(own, ground)

    glance_at = card_reader.glance_turned
    monkeypatch.setattr(card_reader, "glance_turned", glance_turned)
    shown = (seen - np.float32(GREY)) / np.float32(LOG_SPREAD)
    fine, _, heat = card_reader.trunk(stack_input(seen, card_reader.empty.astype(np.float32)))
    window = card_reader.window_of({"F1"}, POSE)
    first = Glance(fine, heat, shown).crop_window(whole, window)
    again = card_reader.look_again(clusters, told, whole.crop_window(window), first, [], {})
    assert again.keys() == {"F1"} and again["F1"].first.keys() == told["F1"].first.keys()
    x0, y0, x1, y1 = window
    assert grounds[0] == pytest.approx(ground[y0:y1, x0:x1], abs=0.2)
