"""A site that was never read as it lies: told, excused on request, and no hindrance to what people
do elsewhere."""

import engine
from companion.table.persistent_misreads import PersistentMisreads
from tests.companion.support.made_evidence import sees

START = "game tigris\nseats bull lion\n"
MISREAD = {"B2": [(("temple",), 0.97), (("temple", "treasure"), 1e-5)]}


def test_the_game_goes_on_beside_a_site_misread_from_the_beginning(player):
    p = player(START)
    assert p.look(unsure=MISREAD).verdict == "illegal"
    assert p.look(unsure=MISREAD).verdict == "illegal", "nobody has gone on yet"
    v = p.look(unsure=MISREAD, C3="market")
    assert v.verdict == "moved" and [str(a) for a in v.actions] == ["bull: tile green C3"]
    assert p.look(unsure=MISREAD).verdict == "same", "who went on has been told"
    assert p.look(unsure=MISREAD, C1="farm").verdict == "illegal", (
        "what breaks a rule elsewhere is told all the same"
    )
    assert p.look(unsure=MISREAD, C1="").verdict == "same"


def test_what_somebody_was_seen_to_do_is_not_excused_by_going_on(player):
    p = player(START)
    p.look()
    assert p.look(C2="farm").verdict == "illegal"
    v = p.look(J1="leader:bull:black")
    assert v.verdict != "moved" and p.table.state == p.start.state
    assert p.look(C2="").verdict == "moved"


def test_an_alarm_can_be_answered_with_that_was_misread(player):
    p = player(START)
    p.look()
    wrong = {"C2": [(("farm",), 0.97), ((), 1e-5)]}
    assert p.look(unsure=wrong).verdict == "illegal"
    p.table.answer(f"q{p.table._asked}", 1)
    assert p.table.verdict.verdict == "same" and p.look(unsure=wrong).verdict == "same"
    assert p.look(C2="market").verdict == "moved"


def test_more_than_a_few_sites_are_no_readers_fault(player):
    p = player(START)
    empty = {s: "" for s in ("B2", "K1", "P2", "F3", "N5", "J7")}
    assert p.look(**empty).verdict in ("illegal", "unclear")
    assert p.look(C3="market", **empty).verdict in ("illegal", "unclear")
    assert p.table.state == p.start.state


def test_a_site_that_was_right_once_people_were_done_is_none_when_they_do_more_there():
    """What a look concluded is what that look showed: the next change on the same site is a doing
    again"""
    game = engine.game("tigris")
    before = game.setup(["bull", "lion"])
    after = before.apply(before.parse("bull: tile green C2"))
    odd = PersistentMisreads()
    odd.note_view(before, sees(before.layout(), before.plan), {}, {})
    # the look that finds the doing
    odd.note_view(before, sees(after.layout(), before.plan), {}, {})
    odd.note_view(after, sees({**after.layout(), "C2": ("farm",)}, before.plan), {}, {})
    assert odd.sites == {}
    other = PersistentMisreads()
    other.note_view(after, sees({**after.layout(), "C2": ("farm",)}, before.plan), {}, {})
    assert other.sites == {"C2": ("farm",)}
