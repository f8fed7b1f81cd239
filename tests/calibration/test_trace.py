"""A plan traced on a photo: borders by touching, what is missing is named, and the plan loads,
calibrates and plays."""

import copy
import tomllib
from importlib import resources

import numpy as np
import pytest

import engine
from calibration import trace
from calibration.fit import calibrate_copy
from calibration.training.fit import can_learn
from companion.runtime.copies import open_copy
from companion.simulate import Conditions, make_copy
from engine.plan import Plan as RulesPlan
from vision.plan import load_plan

CORNERS = [[210, 95], [1420, 130], [1530, 1120], [90, 1090]]


def base_of(game):
    return tomllib.loads(
        resources.files(f"engine.{game}").joinpath("plan.toml").read_text(encoding="utf-8")
    )


def said(faults):
    return [str(f.text) for f in faults]


@pytest.mark.parametrize("game", sorted(engine.games()))
def test_a_games_own_plan_comes_back_from_the_photo_as_it_was(game):
    base = base_of(game)
    form = trace.form_of(base)
    plan, faults = trace.checked_plan(base, form, trace.start_tracing(base, CORNERS))
    assert said(faults) == []
    again = tomllib.loads(trace.plan_toml(plan))
    for was, now in zip(base["site"], again["site"]):
        assert (
            was["id"] == now["id"]
            and was.get("tags", []) == now["tags"]
            and was.get("of") == now.get("of")
        )
        assert np.abs(np.array(was["outline"]) - np.array(now["outline"])).max() < 0.2
    if form.cells:
        assert {s["id"]: s.get("borders", []) for s in again["site"]} == {
            s["id"]: sorted(s.get("borders", [])) for s in base["site"]
        }


def test_a_cell_that_becomes_sea_keeps_nothing_of_the_land_it_was():
    form = engine.game("deluge").form
    wet = trace.asked_for(form, cell("x", 0, 0, "sea", "eurasia", "centre", "rise2", "gold"))
    assert wet.tags == ["sea"]
    assert trace.asked_for(form, cell("x", 0, 0, "land", "eurasia", "centre", "gold")).tags == [
        "land",
        "eurasia",
        "centre",
        "gold",
    ]
    assert trace.asked_for(form, cell("x", 0, 0, "land", "island", "centre", "gold")).tags == [
        "land",
        "island",
        "gold",
    ]


def square(x, y, w=140, d=140):
    return [(x, y), (x + w, y), (x + w, y + d), (x, y + d)]


def cell(name, x, y, *tags, more=(), **size):
    return trace.TracedSite(
        id=name,
        outlines=[square(x, y, **size), *more],
        tags=list(tags),
        reads="cluster",
        drawn=True,
    )


def small_map():
    """Four lands in a row between two seas, the northern one in two parts; a photo of a pixel a
    millimetre, counter and all."""
    base = base_of("deluge")
    traced = trace.start_tracing(base, [[0, 0], [860, 0], [860, 630], [0, 630]])
    traced.sites = [s for s in traced.sites if "counter" in s.tags]
    parts = ("america", "eurasia", "africa", "australia")
    minerals = ("marble", "gold", "granite", "bronze")
    floods = ("rise1", "rise2", "rise3", "")
    for n, (part, mineral, flood) in enumerate(zip(parts, minerals, floods)):
        tags = [t for t in ("land", part, "centre", flood, mineral) if t]
        traced.sites.append(cell(part, 150 + 141 * n, 220, *tags))
    traced.sites.append(cell("north", 0, 78, "sea", w=420, more=[square(421, 78, w=438)]))
    traced.sites.append(cell("south", 0, 362, "sea", w=859, d=200))
    return base, traced


def named(traced, name):
    return next(s for s in traced.sites if s.id == name)


def test_a_map_of_ones_own_loads_and_plays(tmp_path):
    base, traced = small_map()
    plan, faults = trace.checked_plan(base, trace.form_of(base), traced)
    assert said(faults) == []
    (tmp_path / "plan.toml").write_text(trace.plan_toml(plan), encoding="utf-8")
    seen = load_plan(tmp_path / "plan.toml")
    assert len(seen.sites["north"].also) == 1 and seen.sites["america"].borders == (
        "eurasia",
        "north",
        "south",
    )
    spots = [np.array(seen.sites[f"africa.forest{n}"].outline) for n in (1, 2, 3)]
    assert all((s.min(0) >= (432, 220)).all() and (s.max(0) <= (572, 360)).all() for s in spots)
    game = engine.game("deluge")
    rules = RulesPlan(tomllib.loads((tmp_path / "plan.toml").read_text(encoding="utf-8")))
    state = game.setup(["yellow", "white"], (), rules)
    state = state.apply(state.parse("yellow: move eurasia>africa people 3"))
    assert state.layout()["africa"] == ("people:yellow",) * 3 and state.check(
        state.parse("yellow: move africa>america people 1")
    )


def test_what_is_wrong_with_a_map_is_named():
    base, sound = small_map()
    form = trace.form_of(base)

    def faults(act):
        traced = copy.deepcopy(sound)
        act(traced)
        return {str(f.text): f for f in trace.checked_plan(base, form, traced)[1]}

    found = faults(lambda t: named(t, "africa").tags.remove("centre"))
    assert list(found) == ["Africa has no centre"] and found["Africa has no centre"].stops
    found = faults(lambda t: named(t, "africa").tags.remove("granite"))
    assert list(found) == ["africa: mineral is missing"]
    found = faults(lambda t: named(t, "africa").tags.remove("rise3"))
    assert list(found) == ["no cell is flooded by rise 3, at 11"]
    found = faults(
        lambda t: t.sites.append(
            cell("mu", 330, 240, "land", "island", "rise1", "gold", w=60, d=60)
        )
    )
    assert "eurasia and mu overlap" in found and found["eurasia and mu overlap"].sites == (
        "eurasia",
        "mu",
    )
    found = faults(lambda t: t.sites.append(cell("lake", 800, 590, "sea", w=40, d=30)))
    assert list(found) == ["lake cannot be reached from the rest of the map"]
    found = faults(
        lambda t: (
            named(t, "south").outlines[0].reverse()
            or named(t, "south")
            .outlines[0]
            .__setitem__(slice(1, 3), named(t, "south").outlines[0][2:0:-1])
        )
    )
    assert "south: its outline crosses itself" in found
    found = faults(lambda t: t.sites.remove(named(t, "count9")))
    assert list(found) == ["the counter lacks count9"]
    assert faults(lambda t: named(t, "africa").tags.append("rise2")) == {}, (
        "several tags are the owner's business"
    )


def test_cells_that_meet_in_a_point_do_not_touch_unless_the_owner_says_so():
    base, traced = small_map()
    traced.sites.append(cell("corner", 9, 221 - 141 + 282, "sea", w=1, d=1))
    north, form = named(traced, "north"), trace.form_of(base)
    plan, _ = trace.checked_plan(base, form, traced)
    borders = {s["id"]: s.get("borders") for s in plan["site"]}
    assert "south" not in borders["north"]
    north.touching["south"] = True
    named(traced, "america").touching["eurasia"] = False
    plan, _ = trace.checked_plan(base, form, traced)
    borders = {s["id"]: s.get("borders") for s in plan["site"]}
    assert (
        "south" in borders["north"]
        and "north" in borders["south"]
        and "eurasia" not in borders["america"]
    )


def test_the_map_goes_round_where_its_edges_join():
    base, traced = small_map()
    traced.sites += [cell("west", 0, 220, "sea", w=149), cell("east", 715, 220, "sea", w=145)]
    form = trace.form_of(base)
    for joined in (False, True):
        traced.joined = joined
        plan, _ = trace.checked_plan(base, form, traced)
        assert ("east" in next(s["borders"] for s in plan["site"] if s["id"] == "west")) is joined


def test_what_was_not_drawn_goes_along_with_the_corners():
    base, traced = small_map()
    after = trace.moved_tracing(traced, [[50, 20], [910, 20], [910, 650], [50, 650]], [860, 630])
    assert named(after, "africa").outlines == named(traced, "africa").outlines
    assert (
        np.abs(
            np.array(named(after, "count3").outlines)
            - np.array(named(traced, "count3").outlines)
            - (50, 20)
        ).max()
        < 0.1
    )


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"size": [1, 1], "corners": [[0, 0]]},
        {"size": [10, 10], "corners": [[0, 0]] * 4},
        {"size": [-1, 5], "corners": [[0, 0], [9, 0], [9, 9], [0, 9]]},
        {"size": "x", "corners": 3},
    ],
)
def test_a_drawing_that_is_none_is_refused(data):
    with pytest.raises(trace.BadTracing):
        trace.parse_tracing(data)


def test_another_edition_of_a_board_with_rows_plays():
    """Other palms and waves, a longer and a shorter market row."""
    base = base_of("nile")
    traced = trace.start_tracing(base, CORNERS)
    named(traced, "L5.1").tags[:] = ["field", "palms2", "river1"]
    last = named(traced, "M4.2")
    beside = [[[x + 400, y] for x, y in outline] for outline in last.outlines]
    traced.sites.append(trace.TracedSite(id="M4.3", outlines=beside, tags=["market"], drawn=True))
    traced.sites.remove(named(traced, "M1.5"))
    plan, faults = trace.checked_plan(base, trace.form_of(base), traced)
    assert said(faults) == []
    state = engine.game("nile").setup(["red", "blue"], (), RulesPlan(plan))
    assert (
        len(state.board.market[4]) == 3
        and len(state.board.market[1]) == 4
        and state.board.fields["L5.1"].palms == 2
    )
    named(traced, "L5.1").tags.remove("river1")
    traced.sites.remove(named(traced, "M3.2"))
    _, faults = trace.checked_plan(base, trace.form_of(base), traced)
    assert "L5.1: no waves on the river where the row begins" in said(
        faults
    ) and "a place is missing before M3.3" in said(faults)


@pytest.mark.slow
@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_a_traced_map_calibrates(tmp_path, monkeypatch, still_trunk):
    """All the way to a model that loads; how well it reads is other tests' business, so that it
    learns from few made-up boards."""
    monkeypatch.setattr("calibration.training.examine.ASKED_SAMPLES", 3)
    still_trunk(rounds=3, batches=1)
    base, traced = small_map()
    few = ("people:yellow", "bare", "counter")  # enough to learn from, and soon learnt
    base["piece"] = [p for p in base["piece"] if p["kind"] in few]
    plan, _ = trace.checked_plan(base, trace.form_of(base), traced)
    (tmp_path / "drawn.toml").write_text(trace.plan_toml(plan), encoding="utf-8")
    small = Conditions(resolution=(1230, 924))
    folder = make_copy(
        load_plan(tmp_path / "drawn.toml"),
        tmp_path / "copy",
        small,
        photos=0,
        plan_file=tmp_path / "drawn.toml",
    )
    report = calibrate_copy(folder, report=False, beside=False, steps=1)
    specimen = open_copy(folder)
    assert report.game == "deluge" and max(report.error_px) < 2
    assert set(specimen.rules_plan.sites) == {s["id"] for s in plan["site"]}
