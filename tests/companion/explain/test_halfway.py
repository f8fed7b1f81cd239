"""What hands have taken up and not yet put down breaks no rule, however long they take (issue
28)."""

import math
from collections import Counter

import pytest

import engine
from companion.simulate import plan_of
from companion.simulate.copies import Conditions
from companion.simulate.players import Players
from companion.table.table import Table
from tests.companion.support.made_evidence import sees
from vision.evidence.site_evidence import SiteEvidence

MOVING = {
    "ur": ("swap", "politics"),
    "deluge": ("move",),
    "tigris": ("leader",),
    "nile": ("harvest",),
}


def moving(state):
    """A legal action of each sort that takes something up and puts it down elsewhere, with the
    board in between"""
    for verb in MOVING[state.game]:
        for action in state.legal_actions():
            lay, after = state.layout(), state.apply(action).layout()
            if action.words().split()[0] != verb or len(sites := differing(lay, after)) != 2:
                continue
            between = {
                s: tuple((Counter(lay.get(s, ())) & Counter(after.get(s, ()))).elements())
                for s in sites
            }
            if any(between[s] != lay.get(s, ()) for s in sites):
                yield action, {**lay, **between}, after
                break


def differing(a, b):
    return {s for s in {*a, *b} if a.get(s, ()) != b.get(s, ())}


@pytest.mark.parametrize("name", sorted(MOVING))
def test_what_was_taken_up_is_no_wrong_doing_and_is_found_when_it_lies_again(name):
    game, players, tried = engine.game(name), Players(1), 0
    state = game.setup([s.id for s in game.seats[:3]], (), None)
    for _ in range(160):
        if tried >= 6 or (action := players.choose(state)) is None:
            break
        for moved, between, after in moving(state) if state.turn else ():
            table = Table(state)
            table.look(sees(state.layout(), table.plan))
            for _ in range(3):
                v = table.look(sees(between, table.plan))
                assert v.verdict in ("unfinished", "moved", "same"), (
                    str(moved),
                    v.verdict,
                    str(v.text),
                )
            if v.verdict == "unfinished" and not v.actions:
                assert (
                    all(set(t.sites) <= differing(between, state.layout()) for t in v.todo)
                    and v.todo
                )
            v = table.look(sees(after, table.plan))
            assert v.verdict in ("moved", "same", "unfinished"), (
                str(moved),
                v.verdict,
                str(v.text),
            )
            assert not differing(table.state.layout(), after), str(moved)
            doing = [line.action for line in table.lines if line.action]
            assert not table.verdict.certain or doing[-1:] == [str(moved)] and len(doing) == 1, (
                doing,
                str(moved),
            )
            tried += 1
        state = state.apply(action)
    assert tried >= 4


def test_a_piece_that_goes_back_where_it_was_is_nothing(player):
    p = player(
        "game deluge\nseats yellow blue\nlayout clear\nlayout eurasia-5 people:yellow "
        "people:yellow\n"
        "layout africa-3 people:blue\n"
    )
    v = p.look(**{"eurasia-5": "people:yellow"})
    assert (v.verdict, v.todo[0].sites, v.actions) == ("unfinished", ("eurasia-5",), ())
    assert p.look(**{"eurasia-5": "people:yellow people:yellow"}).verdict == "same"


def test_simulated_hands_take_a_tile_up_before_it_lies_elsewhere():
    plan, _ = plan_of("ur", None)
    top = Conditions().table(plan)
    top.lay({"C3": ("tile:war/trade", "white"), "hand1": ("tile:politics/culture",)})
    seen = []
    for _ in top.towards({"C3": ("tile:culture/politics", "white"), "hand1": ("tile:trade/war",)}):
        lying = [min(k, plan.pieces[k].back or k) for c in top._lying.values() for k, _ in c]
        seen.append(lying)
        assert max(Counter(lying).values()) == 1
    assert seen[0] != seen[-1] or len(seen) > 1


def test_what_was_taken_back_is_told_at_once_until_it_is_done(player):
    p = player("game tigris\nseats bull lion\n")
    p.look(C2="market")
    v = p.table.undo(p.table.lines[0].event)
    assert (
        v.verdict == "unfinished" and v.todo[0].sites == ("C2",) and "take" in str(v.todo[0].text)
    )
    assert p.look(D2="").verdict == "unfinished" and not p.table.state.layout().get("C2")
    assert p.look(C2="").verdict == "moved" and not p.table.verdict.todo


def test_one_place_that_cannot_be_told_is_asked_about(player):
    p = player("game tigris\nseats bull lion\n")
    v = p.look(foreign=("C2",))
    assert v.verdict == "unclear" and v.question.sites == ("C2",) and "C2" in str(v.text)
    belongs = next(i for i, a in enumerate(v.question.answers) if a.run is None and a.misread)
    p.table.answer(p.table.question_id, belongs)
    assert p.look(foreign=("C2",)).verdict == "same"
    assert p.look().verdict == "same" and p.look(foreign=("C2",)).verdict == "unclear"


def test_what_is_guessed_to_lie_there_is_an_answer(player):
    p = player("game tigris\nseats bull lion\n")
    evidence = sees(p.board, p.table.plan)
    evidence.sites["C2"] = SiteEvidence(
        ((("market",), math.log(0.3)), (("temple",), math.log(0.2))), math.log(0.45)
    )
    v = p.table.look(evidence)
    assert [a.run for a in v.question.answers][:2] == [
        ("bull: tile green C2",),
        ("bull: tile red C2",),
    ]
    p.table.answer(p.table.question_id, 0)
    assert p.table.state.layout()["C2"] == ("market",)
    p.table.look(evidence)
    assert p.table.verdict.verdict == "same"


def test_i_put_it_back_is_no_praise(player):
    p = player("game tigris\nseats bull lion\n")
    v = p.look(A1="leader:bull:black")
    assert v.verdict == "illegal" and v.wrong == {"A1": ("leader:bull:black",)}
    back = next(i for i, a in enumerate(v.question.answers) if a.run is None and not a.misread)
    v = p.table.answer(p.table.question_id, back)
    assert v.verdict == "unfinished" and [t.sites for t in v.todo] == [("A1",)]
    assert p.look(A1="").verdict == "same"


def test_a_beginning_not_laid_out_is_no_wrong_doing(player):
    p = player("game tigris\nseats bull lion\n", laid_out=False)
    whole = dict(p.board)
    p.board = {}
    assert p.look().verdict == "unfinished" and p.table.snapshot()["pause"]["since"] is None
    p.board = {"A1": ("leader:bull:black",), "C2": ("farm",), **whole}
    assert p.look().verdict == "unfinished"
    assert {d["site"] for d in p.table.snapshot()["pause"]["differs"]} == {"A1", "C2"}
    p.board = whole
    assert p.look().verdict == "same" and p.table.pause is None
    assert p.look(A1="leader:bull:black").verdict == "illegal"


def test_what_breaks_a_rule_lists_only_that(player):
    p = player("game tigris\nseats bull lion\n")
    v = p.look(C2="market", C3="farm")
    assert v.verdict != "illegal" or len(v.actions) <= 1


def test_a_war_s_target_that_is_cleared_first_is_no_wrong_doing(player):
    """A hand takes Green's stone off before Black's move there: a false alarm of the demo"""
    p = player(
        "game ur\nseats black white green\nlayout clear\n"
        "layout B5 tile:war/trade black black black A5 tile:war/culture green "
        "C5 tile:trade/culture\nhand black war/trade\n"
    )
    v = p.look(A5="tile:war/culture")
    assert v.verdict == "unfinished", (v.verdict, [str(a) for a in v.actions], str(v.text))
    assert p.look(A5="tile:war/culture black", B5="tile:war/trade black").verdict == "moved"
    assert [line.action for line in p.table.lines if line.action] == ["black: war B5>A5:1"]
