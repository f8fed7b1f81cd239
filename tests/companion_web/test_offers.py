"""Trades are offered by one side and accepted by the other; what the camera cannot tell apart is
corrected with one tap."""

import pytest

from companion.table.table import Gone, Refused, Table
from engine import script
from tests.companion_web.support.browsing import explained, fits
from tests.companion_web.support.tables import Phone

TRADING = "game deluge\nseats yellow blue\nphase trade\nstock yellow wood 3 gold 1\nstock blue wood 1 gold 2"
HARVESTING = "game deluge\nseats yellow blue\nlayout clear\nlayout eurasia-2 people:yellow people:yellow\nphase harvest"
DEAL = "yellow: trade yellow wood 2 for blue gold 1"


def table_of(text):
    found = script.run_script(text)
    assert not found.faults
    return Table(found.state)


@pytest.fixture
def table():
    return table_of(TRADING)


def gold(table):
    return dict(
        zip(
            ("yellow", "blue"),
            (table.state.stocks[table.state.colour(s)][1] for s in ("yellow", "blue")),
        )
    )


@pytest.fixture
def people(phone):
    return phone("yellow"), phone("blue"), phone("host"), phone()


def test_a_trade_is_done_when_the_other_side_accepts(people, table):
    yellow, blue, _, looker = people
    assert yellow.post("/api/declare", {"text": DEAL}).json["offered"] is True and gold(table) == {
        "yellow": 1,
        "blue": 2,
    }
    [offer] = looker.get("/api/snapshot").json["offers"]
    assert (offer["from"], offer["to"]) == ("yellow", ["blue"])
    for stranger in (looker, yellow):
        assert stranger.post("/api/offer", {"id": offer["id"], "yes": 1}).status_code == 403
    assert gold(table) == {"yellow": 1, "blue": 2}, "nobody accepts their own offer"
    assert blue.post("/api/offer", {"id": offer["id"], "yes": 1}).status_code == 200
    assert (
        gold(table) == {"yellow": 2, "blue": 1} and looker.get("/api/snapshot").json["offers"] == []
    )
    assert blue.post("/api/offer", {"id": offer["id"], "yes": 1}).status_code == 409, "once"


def test_an_offer_is_declined_taken_back_or_forgotten(people, table):
    yellow, blue, host, looker = people
    for who in (blue, yellow):
        yellow.post("/api/declare", {"text": DEAL})
        [offer] = looker.get("/api/snapshot").json["offers"]
        assert who.post("/api/offer", {"id": offer["id"], "yes": 0}).status_code == 200
        assert looker.get("/api/snapshot").json["offers"] == []
    yellow.post("/api/declare", {"text": DEAL})
    yellow.post("/api/declare", {"text": DEAL})
    assert len(looker.get("/api/snapshot").json["offers"]) == 1, "the same offer is one"
    host.post("/api/declare", {"text": "yellow: trade yellow wood 3 for blue wood 1"})
    assert looker.get("/api/snapshot").json["offers"] == [], "yellow has not the wood any more"


def test_the_host_speaks_for_both_and_what_the_rules_forbid_is_no_offer(people, table):
    yellow, _, host, looker = people
    assert (
        yellow.post(
            "/api/declare", {"text": "yellow: trade yellow wood 9 for blue gold 1"}
        ).status_code
        == 409
    )
    assert looker.get("/api/snapshot").json["offers"] == []
    assert host.post("/api/declare", {"text": DEAL}).status_code == 200 and gold(table) == {
        "yellow": 2,
        "blue": 1,
    }


def test_a_trade_on_two_phones(visit, table):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    yellow, blue = visit(seat="yellow"), visit(seat="blue", locale="nl-NL")
    yellow.get_by_text("Offer a trade").click()
    yellow.get_by_role("group", name="You give").get_by_label("wood").fill("2")
    table.declare("yellow: trade yellow wood 1 for blue wood 1")
    yellow.wait_for_selector("#moves li")
    yellow.get_by_role("group", name="You get").get_by_label("gold").fill("1")
    assert fits(yellow) and explained(axe.run(yellow)) == []
    yellow.get_by_role("button", name="Offer it").press("Enter")
    blue.wait_for_selector("#bargain:has-text('Geel geeft')")
    assert fits(blue) and explained(axe.run(blue)) == []
    assert yellow.get_by_role("button", name="Accept").count() == 0
    blue.get_by_role("button", name="Aannemen").click()
    yellow.wait_for_selector("#bargain", state="hidden")
    assert gold(table) == {"yellow": 2, "blue": 1}


def test_a_harvest_is_corrected_with_one_tap(make_app, phone, monkeypatch):
    table = table_of(HARVESTING)
    app = make_app(table)
    host = Phone(app)
    host.post("/api/host", {"pin": "12345678"})
    table.declare("yellow: harvest eurasia-2 wood 1 gold 1")
    table.declare("yellow: done")
    [told] = host.get("/api/actions?seat=yellow").json["otherwise"]
    assert told["text"] == "yellow: harvest eurasia-2 wood 1 gold 1"
    assert {o["text"] for o in told["others"]} == {"yellow: harvest eurasia-2 wood 1"}
    assert (
        host.post(
            "/api/instead", {"event": told["event"], "text": told["others"][0]["text"]}
        ).status_code
        == 200
    )
    stock = table.state.stocks[table.state.colour("yellow")]
    assert stock[:2] == (1, 0) and table.state.turn == "blue", "what was done since stands"
    assert [line.action for line in table.lines[1:]] == [
        "yellow: harvest eurasia-2 wood 1",
        "yellow: done",
    ]
    assert (
        host.post("/api/instead", {"event": told["event"], "text": "yellow: done"}).status_code
        == 409
    ), "it is gone"


def test_tellings_can_be_told_apart():
    """The event of a card stands in no sentence: then the notation tells it."""
    import random

    import engine
    from companion_web.otherwise import Otherwise

    found = engine.game("nile")
    table, choose, told = Table(found.setup(["red", "blue"])), random.Random(1), []
    for _ in range(120):
        table.declare(str(choose.choice(table.state.legal_actions())))
        told += Otherwise().of(table.lines[-2:], str(table.lines[-1].action).split(":")[0])
    assert any(" : " in t["text"] for t in told), "a card that was turned over"
    for t in told:
        labels = [str(one["words"] or one["text"]) for one in (t, *t["others"])]
        assert len(set(labels)) == len(labels), labels


def test_only_whose_move_it_was_corrects_it(app, people, table):
    yellow, blue, host, looker = people
    host.post("/api/declare", {"text": DEAL})
    event = table.lines[-1].event
    for who in (blue, looker):
        assert (
            who.post(
                "/api/instead",
                {"event": event, "text": "yellow: trade yellow wood 1 for blue wood 1"},
            ).status_code
            == 403
        )
    assert gold(table) == {"yellow": 2, "blue": 1}


def test_what_does_not_go_with_later_moves_changes_nothing():
    table = table_of(HARVESTING)
    table.declare("yellow: harvest eurasia-2 wood 1")
    table.declare("yellow: harvest eurasia-2 gold 1")
    first, before = table.lines[1].event, table.state
    with pytest.raises(Refused):
        table.instead(first, "yellow: harvest eurasia-2 wood 1 gold 1")
    with pytest.raises(Gone):
        table.instead(99, "yellow: done")
    assert table.state == before and len(table.journal.events()) == 3
