"""Kinds that the plan says are printed alike but for one part have one colour, and one tone."""

import msgspec
import numpy as np
import pytest

from calibration.cutouts.seek import body_colours, shared_colours
from calibration.cutouts.specimens import Specimen
from calibration.synthesis.looks import make_looks, share_tones
from calibration.synthesis.painter import Look
from vision.plan import parse_plan

SIGNS = ("flax", "grain", "grapes", "rice")
GREEN, RED, FAR = (4.0, 4.6, 4.2), (4.2, 4.1, 4.9), (5.2, 5.0, 5.1)
ARTWORK = {f"{c}:{s}": (c, s) for c in ("green", "red") for s in SIGNS}


def colours_of(**known):
    """kind -> (3,): "green_flax" is the green one with flax"""
    return {k.replace("_", ":"): np.array(v) for k, v in known.items()}


def a_little_off(colour, n):
    """As near it as kinds of one paint are"""
    return np.array(colour) + 0.02 * np.random.default_rng(n).normal(0, 1, 3)


def test_a_kind_found_elsewhere_takes_the_middle_colour_of_its_kin():
    own = colours_of(
        **{f"green_{s}": a_little_off(GREEN, n) for n, s in enumerate(SIGNS)},
        **{f"red_{s}": a_little_off(RED, n + 9) for n, s in enumerate(SIGNS)},
    ) | {"green:rice": np.array(FAR)}
    shared = shared_colours(own, ARTWORK)
    for kind, colour in shared.items():
        assert colour == pytest.approx(GREEN if kind.startswith("green") else RED, abs=0.06)
    assert np.array_equal(shared["green:rice"], shared["green:flax"])


def test_kinds_of_which_the_plan_does_not_say_what_is_printed_keep_their_own_colours():
    own = colours_of(one=GREEN, two=GREEN, three=GREEN, four=FAR)
    assert {k: tuple(c) for k, c in shared_colours(own, {}).items()} == {
        k: tuple(c) for k, c in own.items()
    }
    own = {f"green:{s}": np.array(GREEN) for s in SIGNS} | {"plain": np.array(FAR)}
    assert tuple(shared_colours(own, ARTWORK)["plain"]) == FAR


def test_a_kind_without_artwork_is_no_kin_of_those_of_one_part():
    own = colours_of(ship=GREEN, boat=GREEN, raft=FAR)
    shared = shared_colours(own, {"boat": ("boat",), "raft": ("raft",)})
    assert all(np.array_equal(shared[k], own[k]) for k in own)


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_parts_that_kin_share_the_one_with_the_likest_colours_counts(turned):
    """Those with flax look nearly alike too, but those that are green do more so"""
    own = {("green", s): np.array(GREEN) for s in SIGNS}
    paints = {"pale": 0.04, "grey": 0.08, "blue": 0.12}
    own |= {(c, "flax"): np.array(GREEN) + (off, 0.0, -off) for c, off in paints.items()}
    artwork = {":".join(w): w[::-1] if turned else w for w in own}
    shared = shared_colours({":".join(w): c for w, c in own.items()}, artwork)
    assert shared["green:flax"] == pytest.approx(GREEN)


def test_kin_in_unlike_colours_do_not_count():
    """What they have in common is no paint: the flax is shown on each"""
    artwork = {f"{c}:flax": (c, "flax") for c in ("green", "red", "far", "black")}
    own = colours_of(green_flax=GREEN, red_flax=RED, far_flax=FAR, black_flax=(2.0, 2.0, 2.0))
    shared = shared_colours(own, artwork)
    assert all(np.array_equal(shared[k], own[k]) for k in own)


def test_two_kinds_alone_do_not_tell_which_of_them_was_found_elsewhere():
    own = colours_of(green_flax=GREEN, green_grain=np.array(GREEN) + 0.05)
    shared = shared_colours(own, ARTWORK)
    assert all(np.array_equal(shared[k], own[k]) for k in own)


PLAN = parse_plan(
    {
        "game": "market",
        "size": [100, 100],
        "site": [{"id": "P1", "outline": [[30, 30], [70, 30], [70, 70], [30, 70]]}],
        "piece": [
            *({"kind": k, "size": 14, "height": 2, "artwork": v} for k, v in ARTWORK.items()),
            {"kind": "plain", "size": 14, "height": 2},
            {"kind": "large", "size": 20, "height": 2, "artwork": ["green", "flax"]},
        ],
    },
    "market",
)
SIDE = 14


def picture_of(kind, colour, seed=1):
    """A paint with a sign that is darker: no photo shows two signs in the same light"""
    picture = np.full((SIDE, SIDE, 3), colour, np.float32)
    n = SIGNS.index(kind.partition(":")[2]) if ":" in kind else 2
    picture[4 : 6 + n, 5:9] -= 0.8
    return picture + np.random.default_rng(seed).normal(0, 0.01, picture.shape).astype(np.float32)


def specimen_of(kind, colour):
    look = picture_of(kind, colour)
    clear = np.ones(look.shape[:2], np.float32)
    return Specimen(0, "P1", kind, np.array([50.0, 50.0]), 0.0, 0.0, look, clear)


def test_pieces_of_one_paint_are_sought_by_its_colour_where_one_was_found_elsewhere():
    some = [specimen_of(f"green:{s}", GREEN if s != "rice" else FAR) for s in SIGNS]
    some += [specimen_of(f"red:{s}", RED) for s in SIGNS] + [specimen_of("plain", FAR)]
    colours = body_colours(PLAN, some)
    assert colours["green:rice"] == pytest.approx(GREEN, abs=0.03)
    assert colours["red:rice"] == pytest.approx(RED, abs=0.03)
    assert colours["plain"] == pytest.approx(FAR, abs=0.03)


def look_of(kind, colour, seed=1):
    patch = picture_of(kind, colour, seed)
    mask = np.ones(patch.shape[:2], np.float32)
    return Look(PLAN.pieces[kind], patch, mask, np.median(patch, (0, 1)), 1.0, "any")


def tone_of(look):
    return np.median(look.patch.reshape(-1, 3), 0)


PAINTS = {"green": GREEN, "red": RED}
LIGHTS = dict(zip(SIGNS, (-0.04, 0.0, 0.03, 0.2)))


def test_kinds_alike_but_for_one_part_are_taught_in_one_tone():
    looks = {
        f"{c}:{s}": [look_of(f"{c}:{s}", np.array(paint) + LIGHTS[s])]
        for c, paint in PAINTS.items()
        for s in SIGNS
    }
    shared = share_tones(PLAN, looks)
    assert shared.keys() == looks.keys()
    for c, paint in PAINTS.items():
        tones = [tone_of(v) for s in SIGNS for v in shared[f"{c}:{s}"]]
        assert np.ptp(tones, 0).max() < 0.03 and tones[0] == pytest.approx(paint, abs=0.03)
    for kind, (before,) in looks.items():
        (after,) = shared[kind]
        off = tone_of(after) - tone_of(before)
        assert after.patch - off == pytest.approx(before.patch, abs=1e-5), "the same print"
        assert after.side - off == pytest.approx(before.side, abs=1e-5), "sides in the same light"
        assert after.patch.dtype == after.side.dtype == np.float32


def test_a_sign_larger_than_its_ground_is_not_taken_for_another_tone():
    looks = {f"{c}:{s}": [look_of(f"{c}:{s}", p)] for c, p in PAINTS.items() for s in SIGNS}
    patch = looks["red:rice"][0].patch
    patch[1:-1, 3:-3] = np.array(RED, np.float32) + (-0.8, -0.5, -0.8)
    (after,) = share_tones(PLAN, looks)["red:rice"]
    assert after.patch == pytest.approx(patch, abs=0.02)


def test_a_kind_that_shows_little_of_what_others_do_is_not_brought_onto_them():
    """It bears no sign, where half of what they show is theirs: these need not be of one paint"""
    looks = {f"green:{s}": [look_of(f"green:{s}", GREEN)] for s in SIGNS}
    for (look,) in looks.values():
        look.patch[: SIDE // 2] -= 0.8
    bare = np.random.default_rng(0).normal(0, 0.01, (SIDE, SIDE, 3)).astype(np.float32)
    looks["green:rice"][0].patch[:] = bare + np.array(GREEN, np.float32) + 0.08
    (after,) = share_tones(PLAN, looks)["green:rice"]
    assert np.array_equal(after.patch, looks["green:rice"][0].patch)


def test_looks_of_one_kind_stay_as_unlike_as_they_were():
    looks = {f"green:{s}": [look_of(f"green:{s}", GREEN)] for s in SIGNS}
    looks["green:rice"] = [look_of("green:rice", np.array(GREEN) + v, 2) for v in (0.1, 0.2, 0.3)]
    first, second, third = share_tones(PLAN, looks)["green:rice"]
    assert tone_of(second) == pytest.approx(GREEN, abs=0.01)
    assert tone_of(third) - tone_of(first) == pytest.approx(0.2, abs=1e-5)


@pytest.mark.parametrize("kind", ["plain", "red:rice", "large"])
def test_looks_of_kinds_that_are_like_no_others_stay(kind):
    """Without artwork, alone in their paint, or of another size"""
    looks = {f"green:{s}": [look_of(f"green:{s}", GREEN)] for s in SIGNS}
    looks[kind] = [look_of(kind, np.array(GREEN) + 0.3)]
    (after,), (before,) = share_tones(PLAN, looks)[kind], looks[kind]
    assert np.array_equal(after.patch, before.patch) and np.array_equal(after.side, before.side)


def test_all_looks_are_made_in_one_tone():
    some = [specimen_of(f"green:{s}", np.array(GREEN) + LIGHTS[s]) for s in SIGNS]
    looks = make_looks(PLAN, 1.0, some, set())
    tones = [tone_of(v) for mine in looks.values() for v in mine]
    assert len(looks) == len(SIGNS) and np.ptp(tones, 0).max() < 0.03


def test_kinds_of_four_paints_stay_in_their_own_however_alike_two_of_them_are():
    """Once each is in another's tone nothing tells them apart"""
    paints = {"green": GREEN, "olive": np.array(GREEN) + (-0.06, 0.0, 0.06), "red": RED, "far": FAR}
    plan = parse_plan(
        {
            "game": "paints",
            "size": [100, 100],
            "site": [{"id": "P1", "outline": [[30, 30], [70, 30], [70, 70], [30, 70]]}],
            "piece": [
                {"kind": f"{c}:rice", "size": 14, "height": 2, "artwork": [c, "rice"]}
                for c in paints
            ],
        }
    )
    looks = {}
    for seed, (name, paint) in enumerate(paints.items()):
        look = look_of("green:rice", np.array(paint), seed)
        kind = f"{name}:rice"
        looks[kind] = [msgspec.structs.replace(look, piece=plan.pieces[kind])]
    for kind, (after,) in share_tones(plan, looks).items():
        assert tone_of(after) == pytest.approx(tone_of(looks[kind][0]), abs=0.05)
