"""D23 to D33: harvest, fanatics, trade."""

from tests.engine.support.deluge_positions import all_done, at, do, position, refused

HARVEST = "phase harvest\n"


def test_on_cells_one_rules():
    """D23: each of the people and slaves there harvests at most one thing."""
    s = position(
        "layout eurasia-5 people:yellow people:yellow soldier:yellow africa-3 people:blue\n"
        + HARVEST
    )
    assert "D23" in refused(s, "yellow: harvest africa-3 wood 1")
    assert "D23" in refused(s, "yellow: harvest eurasia-5 wood 2 gold 1")
    assert "D23" in refused(s, "yellow: harvest arctic wood 1")
    s = do(s, "yellow: harvest eurasia-5 wood 1")
    assert "D23" in refused(s, "yellow: harvest eurasia-5 wood 1 gold 1")
    assert refused(s, "yellow: harvest eurasia-5 gold 1") == []


def test_wood_covers_forests():
    """D24: the first free ones, or those that are named."""
    s = position(
        "layout eurasia-5 people:yellow people:yellow people:yellow eurasia-5.forest2 bare\n"
        + HARVEST
    )
    assert refused(s, "yellow: harvest eurasia-5 wood 3") == ["D24"]
    t = do(s, "yellow: harvest eurasia-5 wood 1 at forest3")
    assert at(t, "eurasia-5.forest3") == "bare 1" and at(t, "eurasia-5.forest1") == ""
    assert refused(s, "yellow: harvest eurasia-5 wood 1 at forest2") == ["D24"]
    t = do(s, "yellow: harvest eurasia-5 wood 1")
    assert at(t, "eurasia-5.forest1") == "bare 1" and t.stock(0)["wood"] == 1


def test_mines():
    """D25: the natural mine employs one pawn, each built one three more."""
    s = position(
        "layout eurasia-5 "
        + "people:yellow " * 9
        + "mine mine eurasia-2 people:yellow people:yellow\n"
        + HARVEST
    )
    assert refused(s, "yellow: harvest eurasia-5 gold 8") == ["D25"]
    s = do(s, "yellow: harvest eurasia-5 gold 4", "yellow: harvest eurasia-5 gold 3")
    assert refused(s, "yellow: harvest eurasia-5 gold 1") == ["D25"]
    assert set(refused(s, "yellow: harvest eurasia-2 gold 2")) == {"D25", "D6"}
    assert s.stock(0)["gold"] == 7


def test_left_without_work():
    """D26, D28: nobody need work; who did not turns right after the harvest; soldiers neither work
    nor turn."""
    s = position(
        "layout eurasia-5 people:yellow people:yellow people:yellow soldier:yellow soldier:yellow\n"
        + HARVEST
        + "yellow: harvest eurasia-5 wood 1\nyellow: done\n"
    )
    assert at(s, "eurasia-5") == "people:yellow 3 soldier:yellow 2"
    s = do(s, "blue: done")
    assert at(s, "eurasia-5") == "people:yellow 1 soldier:yellow 2 fanatic 2"
    assert (
        str(s.todo()[0].text)
        == "without work on eurasia-5: take off 2 yellow pawns, put 2 fanatics there"
    )


def test_slaves_work_first():
    """D27: for the ruler; the own people get what work is left."""
    s = position(
        "layout eurasia-2 soldier:yellow soldier:yellow people:yellow people:blue people:blue\n"
        + HARVEST
        + "yellow: harvest eurasia-2 wood 2\n"
    )
    assert at(all_done(s), "eurasia-2") == "people:blue 2 soldier:yellow 2 fanatic 1"
    s = position(
        "layout eurasia-2 soldier:yellow soldier:yellow people:yellow people:blue people:blue\n"
        + HARVEST
        + "yellow: harvest eurasia-2 wood 1\n"
    )
    assert at(all_done(s), "eurasia-2") == "people:blue 1 soldier:yellow 2 fanatic 2"


def test_nobodys_cell_does_not_work():
    """D28: on a cell nobody rules nobody works."""
    s = position("layout eurasia-2 people:yellow people:blue\n" + HARVEST)
    assert "D23" in refused(s, "yellow: harvest eurasia-2 wood 1")
    assert at(all_done(s), "eurasia-2") == "fanatic 2"


def test_red_pawns_run_out():
    """D29: the pawn stays as it is."""
    s = position(
        "layout eurasia-1 "
        + "fanatic " * 39
        + "eurasia-5 people:yellow people:yellow people:yellow\n"
        + HARVEST
    )
    assert at(all_done(s), "eurasia-5") == "people:yellow 2 fanatic 1"


def test_goods_lie_open():
    """D30: everybody sees what everybody has."""
    s = position(
        "layout eurasia-5 people:yellow people:yellow\n"
        + HARVEST
        + "yellow: harvest eurasia-5 wood 1 gold 1\n"
        "? stock yellow wood 1 gold 1\n"
    )
    facts = s.view()["seats"][0]["facts"]
    assert [f["value"] for f in facts[:5]] == [1, 1, 0, 0, 0] and not any(
        f["secret"] for f in facts[:5]
    )


def test_fanatics_only_breed():
    """D31: they harvest nothing, never move, and breed."""
    s = position("layout eurasia-5 people:yellow people:yellow fanatic fanatic\n" + HARVEST)
    assert "D23" in refused(s, "yellow: harvest eurasia-5 wood 3")
    s = position(
        "layout eurasia-5 people:yellow people:yellow soldier:yellow fanatic "
        "fanatic\nphase building\n"
    )
    assert at(all_done(s), "eurasia-5") == "people:yellow 3 soldier:yellow 1 fanatic 3"


def test_fanatics_take_over():
    """D32: at any moment they are more; the pawns are out of the game for good, a soldier still
    counts; nothing is done there."""
    s = position(
        "layout eurasia-2 fanatic fanatic people:yellow soldier:yellow mine "
        "dolmen:yellow eurasia-2.forest1 bare "
        "eurasia-5 people:yellow people:yellow soldier:yellow soldier:yellow "
        "soldier:yellow soldier:yellow\n"
        "stock yellow wood 10 gold 4 marble 4\nyellow: move eurasia-2>eurasia-5 people 1\n"
    )
    assert at(s, "eurasia-2") == "dolmen:yellow 1 fanatic 2 mine 1" and s.lost == (1, 0, 0, 0)
    assert str(s.todo()[0].text) == "fanatics take eurasia-2: take off a yellow soldier"
    assert "D32" in refused(s, "yellow: move eurasia-5>eurasia-2 soldier 1")
    s = do(s, "yellow: done", "blue: done")
    assert "D32" in refused(s, "yellow: harvest eurasia-2 wood 1")
    s = do(s, "yellow: harvest eurasia-5 wood 3")
    s = all_done(s, 2)
    assert "D32" in refused(s, "yellow: build mine eurasia-2 pay wood 10")
    assert {"D39", "D2"} <= set(refused(s, "yellow: build soldier eurasia-5 pay wood 10"))
    s = all_done(s)
    assert (
        at(s, "eurasia-2") == "dolmen:yellow 1 fanatic 2 mine 1"
        and at(s, "eurasia-2.forest1") == "bare 1"
    )
    assert s.scores()["yellow"] == 2


def test_an_empty_cell_with_fanatics_is_taken():
    """D32"""
    s = position("layout eurasia-2 fanatic eurasia-5 people:yellow\n")
    assert refused(s, "yellow: move eurasia-5>eurasia-2 people 1") == ["D32"]


def test_trade():
    """D33: goods for goods, by one of the two, nobody below zero."""
    s = position("stock yellow wood 3\nstock blue gold 1\nphase trade\n", "yellow blue green")
    for bad in (
        "yellow: trade yellow wood 4 for blue gold 1",
        "yellow: trade yellow wood 1 for blue gold 2",
        "yellow: trade blue gold 1 for green wood 1",
        "yellow: trade yellow wood 1 for yellow wood 1",
        "yellow: trade yellow wood 1 for blue",
        "yellow: trade yellow wood 1 for white gold 1",
    ):
        assert "D33" in refused(s, bad), bad
    s = do(s, "yellow: trade yellow wood 3 for blue gold 1")
    assert (
        s.stock(0) == {"wood": 0, "gold": 1, "bronze": 0, "marble": 0, "granite": 0}
        and s.stock(1)["wood"] == 3
    )
