"""Drawings: every kind of every plan is drawn, differs from every other, and stays within its
size."""

import ast
import itertools
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.art import BadArt, _number_of, load_art, parse_art, plain_art
from engine.plan import Plan
from engine.shapes import footprint_outline

GAMES = ("tigris", "ur", "nile", "deluge")
PRIMITIVES = {
    "polygon": {"points", "fill", "stroke", "width"},
    "circle": {"at", "r", "fill", "stroke", "width"},
    "line": {"points", "stroke", "width"},
    "text": {"at", "text", "size", "turn", "fill"},
}


def plan_of(game):
    import importlib.resources

    return Plan.parse(importlib.resources.files(f"engine.{game}").joinpath("plan.toml").read_text())


def sound(prims):
    for p in prims:
        assert set(p) == {"p"} | PRIMITIVES[p["p"]]
        for key in ("fill", "stroke"):
            assert p.get(key) is None or (p[key][0] == "#" and len(p[key]) == 7)
    return json.dumps(prims)


@pytest.mark.parametrize("game", GAMES)
def test_every_kind_is_drawn_and_no_two_look_alike(game):
    art, plan = load_art(game), plan_of(game)
    drawn = {kind: sound(art.piece(kind)) for kind in plan.counts}
    assert all(art.knows(kind) and drawn[kind] != "[]" for kind in plan.counts)
    for a, b in itertools.combinations(drawn, 2):
        assert drawn[a] != drawn[b], (a, b)


@pytest.mark.parametrize("game", GAMES)
def test_pieces_stay_within_their_size_and_follow_another_copys(game):
    art, plan = load_art(game), plan_of(game)
    for kind in plan.counts:
        size = art.size(kind)
        w, h = size if isinstance(size, tuple) else (size, size)
        for scale in (1.0, 1.5):
            wanted = (w * scale, h * scale) if isinstance(size, tuple) else size * scale
            for p in art.piece(kind, wanted):
                points = p.get("points") or [p["at"]]
                reach = p.get("r", 0) + p.get("width", 0) / 2
                assert max(abs(x) + reach for x, _ in points) <= w * scale / 2 + 0.3, (kind, p)
                assert max(abs(y) + reach for _, y in points) <= h * scale / 2 + 0.3, (kind, p)


@pytest.mark.parametrize("game", GAMES)
def test_the_colours_of_seats_differ_in_lightness_or_the_signs_do(game):
    """In grey every kind must still differ from every other, by shape or by lightness."""
    art = load_art(game)

    def light(colour):
        r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return round((0.3 * r + 0.59 * g + 0.11 * b) / 12)  # steps that can be told side by side

    def grey(prims):
        return json.dumps(
            [
                {k: light(v) if k in ("fill", "stroke") and v else v for k, v in p.items()}
                for p in prims
            ]
        )

    shades = {kind: grey(art.piece(kind)) for kind in plan_of(game).counts}
    for a, b in itertools.combinations(shades, 2):
        assert shades[a] != shades[b], (a, b)


@pytest.mark.parametrize("game", GAMES)
def test_bodies_rise_in_tiers_to_the_plans_height(game):
    art = load_art(game)
    for kind in plan_of(game).counts:
        tiers = art.solid(kind, None, 30.0)
        assert max(t["z"][1] for t in tiers) == pytest.approx(30.0)
        for t in tiers:
            assert t["z"][0] < t["z"][1] and len(t["outline"]) >= 3
            sound(t["top"])


@pytest.mark.parametrize("game", GAMES)
def test_the_board_is_drawn_from_the_plan(game):
    art, plan = load_art(game), plan_of(game)
    before = art.board(plan)
    sound(before)
    if not before:
        return
    w, h = plan.size
    xs, ys = zip(*(q for p in before for q in (p.get("points") or [p["at"]])))
    assert min(xs) >= -1 and max(xs) <= w + 60 and min(ys) >= -1 and max(ys) <= h + 60
    moved = next(iter(plan.sites.values()))
    moved.outline = tuple((x + 3, y) for x, y in moved.outline)
    assert art.board(plan) != before


def test_tags_decide_what_is_printed_on_a_site():
    plan = plan_of("tigris")
    art = load_art("tigris")
    plain_board = art.board(plan)
    site = plan.sites["H6"]
    assert "river" not in site.tags
    site.tags = frozenset({"river"})
    river = art.colours["river"]
    assert (
        sum(p.get("fill") == river for p in art.board(plan))
        == sum(p.get("fill") == river for p in plain_board) + 1
    )


def test_the_palms_and_waves_of_a_copys_own_plan():
    plan, art = plan_of("nile"), load_art("nile")
    trunks = sum(p.get("stroke") == art.colours["trunk"] for p in art.board(plan))
    assert trunks == sum(s.number("palms") or 0 for s in plan.sites.values())


def test_a_water_card_is_turned_on_the_other_bank():
    art = load_art("nile")
    assert (
        art.turn("water:12", "R3.1") == 180
        and art.turn("water:12", "L3.1") == 0
        and art.turn("desert", "R3.1") == 0
    )


def test_backs_and_ways_to_lie():
    assert (
        load_art("tigris").back("temple") == "flipped" and load_art("tigris").back("union") is None
    )
    assert load_art("ur").back("tile:war/trade") == "tile:trade/war"
    assert (
        load_art("ur").turns("tile:war/trade") == "straight"
        and load_art("ur").turns("black") == "any"
    )


def test_rotten_looks_like_seed_turned_by_45_degrees():
    art = load_art("nile")
    seed, rotten = art.piece("seed:red:onion"), art.piece("rotten:red:onion")
    assert [p["p"] for p in seed] == [p["p"] for p in rotten]
    x, y = next(p for p in seed if p["p"] == "line")["points"][-1]
    u, v = next(p for p in rotten if p["p"] == "line")["points"][-1]
    assert (u, v) == pytest.approx(((x - y) * 0.5**0.5, (x + y) * 0.5**0.5))


def test_other_editions_change_colours_and_symbols():
    art = load_art("tigris")
    other = art.with_colours({"red": "#123456"}).with_symbols(
        {"sign-red": [{"circle": 3, "fill": "{ink}"}]}
    )
    assert "#123456" in json.dumps(other.piece("temple")) and "#123456" not in json.dumps(
        art.piece("temple")
    )
    assert len(other.piece("temple")) == 2


def test_a_plan_without_drawings_gets_letters():
    plan = plan_of("tigris")
    art = plain_art()
    assert not art.knows("Q") and art.piece("Q", (19, 19))[-1]["text"] == "Q"
    men = [
        f"{colour} {man}"
        for colour in ("white", "black")
        for man in ("king", "queen", "rook", "bishop", "knight", "pawn")
    ]
    drawn = {(disc["fill"], text["text"]) for disc, text in (art.piece(man, 30) for man in men)}
    assert len(drawn) == len(men), (
        "who lays a sampler by its picture must tell a white king from a white knight"
    )
    assert len(art.board(plan)) == 1 + len(plan.sites)
    assert art.solid("Q", (19, 19), 4.0)[0]["outline"] == footprint_outline((19, 19))


@pytest.mark.parametrize(
    "text, words",
    [
        (
            "[[piece]]\nkind = 'a'\ndraw = [{ circle = 3, fill = 'nocolour' }]",
            "no colour called 'nocolour'",
        ),
        ("[[piece]]\nkind = 'a'\ndraw = [{ use = 'nosign' }]", "no symbol called 'nosign'"),
        (
            "[[piece]]\nkind = 'a'\ndraw = [{ rect = ['w*q', 3] }]",
            "'w\\*q' is not an expression in",
        ),
        (
            "[[piece]]\nkind = 'a'\ndraw = [{ rect = ['__import__(1)', 3] }]",
            "is not an expression in",
        ),
        ("[[piece]]\nkind = 'a'\ndraw = [{ rect = ['w/', 3] }]", "invalid syntax"),
        ("[[piece]]\nkind = 'a'\ndraw = [{ at = [1, 2] }]", "no shape in"),
        (
            "[[piece]]\nkind = 'a'\ndraw = [{ use = 's' }]\n[symbols]\ns = [{ use = 's' }]",
            "endlessly",
        ),
        (
            "[[piece]]\nkind = 'a'\ndraw = [{ circle = 3, fill = '{gone}' }]",
            "'gone', which is not known",
        ),
        ("[[piece", "mine.toml"),
    ],
)
def test_wrong_drawings_say_where_and_what(text, words):
    with pytest.raises(BadArt, match=words) as e:
        parse_art(text, "mine.toml").piece("a")
    assert "mine.toml" in str(e.value)


def test_threads_that_draw_at_once_parse_one_after_another(monkeypatch):
    """CPython 3.11's ast.parse can fail when two threads are in it at once."""
    within = []
    most = []
    parse = ast.parse

    def parse_slowly(text, *args, **named):
        within.append(text)
        most.append(len(within))
        time.sleep(0.001)
        within.remove(text)
        return parse(text, *args, **named)

    monkeypatch.setattr("engine.art.ast.parse", parse_slowly)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: _number_of(f"w/{n}", {"w": 50}), range(1, 51)))
    assert found == [50 / n for n in range(1, 51)]
    assert max(most) == 1


def test_no_such_game():
    with pytest.raises(BadArt, match="'chess'"):
        load_art("chess")
