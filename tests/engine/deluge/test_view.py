"""What a page is told beyond the layout: what comes next by itself, what the stocks buy."""

from tests.engine.support.deluge_positions import bare, position

ISLAND = "layout mu people:yellow people:yellow people:blue soldier:yellow fanatic\n"


def told(state):
    return [str(t) for t in state.view()["coming"]]


def fact(state, seat, label):
    facts = next(s["facts"] for s in state.view()["seats"] if s["id"] == seat)
    return next(str(f["value"]) for f in facts if str(f["label"]) == label)


def table(state, title):
    return [
        [str(x) for x in row]
        for t in state.view()["tables"]
        if title in str(t["title"])
        for row in t["rows"]
    ]


def test_which_cells_are_about_to_be_bare():
    """D41, D44: without a forest by the end of the round, or with one that grows no more"""
    s = position(
        "layout eurasia-5 people:yellow eurasia-5.forest1 bare eurasia-5.forest2 bare\n"
        + bare("eurasia-4")
        + "phase harvest\nyellow: harvest eurasia-5 wood 1\n"
    )
    assert s.counter == 1 and "bare at the end of this round: eurasia-5" in told(s)
    s = position("layout eurasia-5.forest1 bare eurasia-5.forest2 bare\n")
    assert told(s)[0] == "one forest, which will not grow again, is left on eurasia-5"


def test_the_next_rise_who_stands_there_and_where_they_could_flee():
    """D45, D48: soldiers into any land, people only home or where nobody is, slaves with
    soldiers"""
    s = position(ISLAND + "layout count4 counter australia-1 people:blue\n")
    out = told(s)
    assert out[0].startswith("at 5 the water takes ") and "mu" in out[0]
    assert "2 yellow pawns on mu could flee to nowhere" in out
    assert "a yellow soldier on mu could flee to australia-1" in out
    assert "slaves on mu: a blue pawn; they flee with soldiers only" in out
    assert "a fanatic on mu will drown" in out
    s = position(ISLAND + "layout count4 counter\n")
    assert "2 yellow pawns on mu could flee to australia-1" in told(s)
    s = position(
        "layout count5 counter mu water atlantis water antarctica water easter-island water\n"
    )
    assert told(s)[0].startswith("at 8 the water takes ")
    assert (
        told(position("layout count14 counter\nphase building\nyellow: done\nblue: done\n")) == []
    )


def test_births_to_come_in_numbers():
    """D40, D42"""
    s = position(
        "layout eurasia-5 people:yellow people:yellow people:yellow people:yellow "
        "fanatic fanatic africa-3 people:blue\n"
    )
    assert table(s, "births") == [["eurasia-5", "2 yellow pawns, a fanatic"]]


def test_what_can_be_afforded_at_the_four_prices():
    """D35, D36"""
    s = position("stock yellow wood 10 gold 4\nstock blue wood 1 gold 1 bronze 1 marble 1\n")
    assert (
        fact(s, "yellow", "can afford")
        == "2 ships; a mine, soldier or dolmen for 10 of one kind of goods, or 4 each of two kinds"
    )
    assert fact(s, "blue", "can afford") == "a mine, soldier or dolmen for 1 each of four kinds"
    assert fact(position(), "blue", "can afford") == "nothing"


def test_the_score_with_the_bonuses_as_they_stand():
    """D51, D52"""
    s = position(
        "layout eurasia-5 people:yellow soldier:yellow dolmen:yellow africa-3 people:blue\n"
    )
    # the dolmen, most soldiers; trees are equal
    assert fact(s, "yellow", "points with the bonuses as they stand") == "5"
    assert s.scores() == {"yellow": 2, "blue": 0}


def test_goods_in_sentences_can_be_translated():
    s = position(
        "layout eurasia-5 people:yellow people:yellow\nphase harvest\nyellow: harvest "
        "eurasia-5 wood 1 gold 1\n"
    )
    goods = s.steps[0].text.args["goods"]
    assert (
        goods.translated(lambda t: {"wood": "hout", "gold": "goud"}.get(t, t)) == "1 hout, 1 goud"
    )


def test_who_has_no_work_yet_is_one_table():
    """D28: cell, pawns and work in a line each, and what becomes of the others said once"""
    fed = "layout eurasia-5 people:yellow people:yellow people:yellow people:yellow mine\n"
    s = position(fed + "phase harvest\n")
    assert table(s, "still without work")[0] == ["eurasia-5", "4", "4"]
    notes = [str(note) for note in s.view()["notes"]]
    assert notes == ["whoever does not work becomes a fanatic (D28)"]
    assert table(position(fed), "still without work") == []
