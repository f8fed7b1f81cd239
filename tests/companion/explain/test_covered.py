"""An arm or a cloth of the table's colour: what it covers reads as empty, and is no reason to
accuse anybody."""

START = """game ur
seats black white green
layout clear
layout A1 tile:war/trade black black B1 tile:trade/culture C1 tile:culture/war white
layout A2 tile:politics/war B2 tile:agriculture/war green
layout C2 tile:culture/trade
hand black agriculture/war
hand white culture/war
hand green trade/politics
"""


def test_several_tiles_gone_at_once_are_covered_and_no_alarm(player):
    p = player(START)
    v = p.look(A1="", B1="", C2="")
    assert (v.verdict, v.actions, v.violations) == ("unclear", (), ())
    assert "A1, B1, C2" in str(v.text)
    assert (
        p.look(
            A1="tile:war/trade black black", B1="tile:trade/culture", C2="tile:culture/trade"
        ).verdict
        == "same"
    )


def test_a_tile_gone_and_tiles_that_only_lie_elsewhere_are_against_the_rules(player):
    p = player(START)
    v = p.look(B1="")  # taken up, as for a swap
    assert v.verdict == "unfinished" and [t.sites for t in v.todo] == [("B1",)] and not v.actions
    p = player(START)
    v = p.look(
        A1="tile:politics/war black black",
        A2="tile:war/trade",
        B1="tile:culture/trade",
        C2="tile:trade/culture",
    )
    assert v.verdict == "illegal" and len(v.back) == 4
