"""Places that are read with doubt: what a legal action brings is taken to lie there, what nothing
brings is asked about, and what is to be done there stays on the list."""

import math

import msgspec

from tests.companion.support.made_evidence import acts, sees
from vision.evidence.site_evidence import SiteEvidence

START = "game tigris\nseats bull lion\n"
BUILDING = START + (
    "layout clear\nlayout B10 settlement C10 settlement B11 settlement\nbull: tile black C11\n"
)


def looks(player, sites, whole=None, **changes):
    """One settled look in which these sites are read so: site -> ((contents, probability), ...),
    the probability of something foreign."""
    for site, words in changes.items():
        player.board[site] = tuple(words.split())
    clear = sees({s: c for s, c in player.board.items() if c}, player.table.plan)
    odd = {
        site: SiteEvidence(
            tuple((tuple(words.split()), math.log(p)) for words, p in options), math.log(foreign)
        )
        for site, (options, foreign) in sites.items()
    }
    seen = msgspec.structs.replace(clear, sites={**clear.sites, **odd})
    return player.table.look(seen, whole=whole and (lambda: clear))


def test_a_new_piece_that_may_be_something_foreign_is_not_left_out_beside_another(player):
    p = player(START)
    poorly = {"D2": ([("market", 0.7), ("", 0.0001)], 0.25)}
    v = looks(p, poorly, C2="leader:bull:green")
    assert v.verdict == "moved"
    assert sorted(acts(v)) == ["bull: leader green C2", "bull: tile green D2"]


def test_a_piece_that_lay_there_is_no_news_however_poorly_it_is_read(player):
    p = player(START)
    p.look(C2="market")
    assert looks(p, {"C2": ([("market", 0.7), ("", 0.0001)], 0.25)}).verdict == "same"


def test_what_cannot_be_recognised_is_asked_about_with_the_move(player):
    p = player(START)
    v = looks(p, {"J1": ([("", 0.0001), ("temple", 0.00009)], 0.97)}, C2="market")
    assert (v.verdict, acts(v)) == ("moved", ["bull: tile green C2"])
    assert v.question is not None and v.question.sites == ("J1",)
    choice = [str(a.text) for a in v.question.answers].index("a temple (red)")
    p.table.answer(p.table.question_id, choice)
    assert p.table.lines[-1].action == "bull: tile red J1"
    assert looks(p, {"J1": ([("", 0.0001)], 0.97)}).question is None, "it was told"


def test_a_place_surely_read_before_is_asked_about_until_it_is_surely_read_again(player):
    p = player(START)
    rather = {"E7": ([("flipped", 0.85), ("", 0.13)], 0.0001)}
    assert looks(p, rather).verdict == "same", "never seen: it may be always read so"
    p.look()
    for _ in range(2):
        v = looks(p, rather)
        assert v.verdict == "unclear" and v.question.sites == ("E7",)
    assert looks(p, {**rather, "K7": rather["E7"]}).verdict == "same", "two at once: the light"
    assert p.look().verdict == "same"


def test_what_may_have_been_begun_beside_a_move_is_asked_about(player):
    rather = {"J1": ([("temple", 0.45), ("", 0.2)], 0.0001)}
    two = {**rather, "D4": ([("farm", 0.45), ("", 0.2)], 0.0001)}
    for sites, asked in (
        (rather, ["bull: tile red J1"]),
        ({"J1": ([("", 0.45), ("temple", 0.2)], 0.0001)}, None),
        ({"J1": ([("flipped", 0.45), ("", 0.2)], 0.0001)}, None),  # nothing legal leads there
        (two, None),  # the light, rather than hands
    ):
        p = player(START)
        v = looks(p, sites, C2="market")
        assert (v.verdict, acts(v)) == ("moved", ["bull: tile green C2"])
        assert [*v.question.answers[0].run] == asked if asked else v.question is None, sites
    p = player(START)
    v = looks(p, rather, whole=True, C2="market")
    assert v.question is None, "read afresh before anybody is asked"
    p = player(START)
    looks(p, rather, C2="market")
    p.table.answer(p.table.question_id, 0)
    assert p.table.lines[-1].action == "bull: tile red J1"
    p = player(START)
    looks(p, rather, C2="market")
    assert p.table.verdict.question.answers[-1].misread
    p.table.answer(p.table.question_id, 1)
    assert p.table.state.layout().get("J1", ()) == ()


def test_four_places_read_as_nothing_known_may_be_a_monument(player):
    p = player(BUILDING)
    v = p.look(foreign=("B10", "C10", "B11", "C11"))
    assert v.verdict == "unclear" and v.question is not None
    done = [a.run for a in v.question.answers]
    assert ("bull: build black-red B10",) in done and done[-1] is None
    p.table.answer(p.table.question_id, done.index(("bull: build black-red B10",)))
    assert "monument:black-red" in p.table.state.layout()["B10"]
    covered = p.look(foreign=("B10", "C10", "B11", "C11"))
    assert covered.verdict in ("moved", "same") and not covered.actions, "it was told"


def test_what_is_to_be_done_stays_listed_where_a_piece_left_alone_is_read_as_foreign(player):
    p = player(START + "layout clear\nlayout C3 temple C4 leader:lion:red\n")
    assert p.look(C3="catastrophe").verdict == "unfinished"
    v = looks(p, {"C4": ([("leader:lion:red", 0.3), ("", 0.0002)], 0.68)})
    assert v.verdict == "unfinished" and [t.sites for t in v.todo] == [("C4",)]


def test_a_leader_lost_or_taken_back_before_the_next_is_asked_about(player):
    """No later look tells them apart: the conflict of 0 to 0 gives its winner a point"""
    p = player(START + "layout clear\nlayout C3 temple C4 leader:lion:red J1 temple\n")
    p.look(B3="leader:bull:red")
    v = p.look(B3="", J2="leader:bull:red")
    assert v.verdict == "unclear", (acts(v), v.undo)
    assert {a.undo for a in v.question.answers} == {0, 1}


def test_a_tile_stays_what_it_was_where_stones_hide_by_what_it_differs(player):
    """Four tiles of a colour differ in what is printed on their backs, small, under the stones"""
    p = player(
        "game ur\nseats black white green\nlayout clear\nlayout C2 tile:culture/agriculture black "
        "black black black black C3 tile:war/trade hand1 tile:agriculture/war "
        "hand2 tile:trade/war spare tile:trade/culture\n"
    )
    alike = [f"tile:culture/{b} black ziggurat" for b in ("war", "politics", "agriculture")]
    v = looks(p, {"C2": ([(words, 0.33) for words in alike], 0.0001)})
    assert (v.verdict, acts(v)) == ("moved", ["black: ziggurat C2"])
