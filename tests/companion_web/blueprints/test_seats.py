"""A seat acts for itself only: the attacker's ways to act for another one, at a real table with its
rules."""

import itertools

import pytest

import engine
from companion.table.table import Table
from engine import script
from tests.companion_web.support.tables import Phone

TRADING = "game deluge\nseats yellow blue\nphase trade\nstock yellow wood 3 gold 1\nstock blue wood 1 gold 2"
DEAL = "yellow: trade yellow wood 2 for blue gold 1"


@pytest.fixture
def table():
    return Table(engine.game("tigris").setup(["bull", "lion", "pot"]))


@pytest.fixture
def people(phone):
    return phone("bull"), phone("lion"), phone("host")


def told(table):
    return [line.action for line in table.lines[1:]]


def say(phone, text):
    return phone.post("/api/declare", {"text": text})


def back(phone, table, moves):
    return phone.post("/api/undo", {"event": table.lines[-1 - moves].event})


def offered(phone):
    return phone.get("/api/snapshot").json["offers"]


WRITTEN = ["".join(c) for c in itertools.product("lL", "iI", "oO", "nN")]
ODD = [
    f"{seat}{colon}pass"
    for seat in (
        "LION",
        "Lion",
        " lion ",
        "\tLiOn",
        "lion\u00a0",
        "\u017fion",
        "l\u0131on",
        "lion\u200b",
    )
    for colon in (":", " :", ": ", "::")
]


@pytest.mark.parametrize("text", [f"{seat}: pass" for seat in WRITTEN] + ODD)
def test_no_way_of_writing_a_seat_gets_past_whose_phone_it_is(people, table, text):
    bull, lion, _ = people
    say(bull, "bull: pass")
    answer = say(bull, text)
    assert answer.status_code in (400, 403) and told(table) == ["bull: pass"]


def test_its_own_seat_may_be_written_in_any_case(people, table):
    bull, _, _ = people
    assert say(bull, "BULL: Pass").status_code == 200 and told(table) == ["bull: pass"]


@pytest.mark.parametrize(
    "text", [DEAL, DEAL.upper(), DEAL.title(), "Yellow: TRADE Yellow Wood 2 For Blue Gold 1"]
)
def test_a_trade_in_any_writing_waits_for_the_other_side(make_app, text):
    table = Table(script.run_script(TRADING).state)
    app = make_app(table)
    yellow, blue = Phone(app).sit("yellow"), Phone(app, "10.0.0.8").sit("blue")
    say(yellow, text)
    assert told(table) == [], "blue has agreed to nothing"
    assert [o["to"] for o in offered(blue)] in ([["blue"]], [])


def test_a_trade_is_not_corrected_without_the_other_side(make_app):
    table = Table(script.run_script(TRADING).state)
    app = make_app(table)
    yellow, host, _ = (
        Phone(app).sit("yellow"),
        Phone(app, "10.0.0.9"),
        Phone(app, "10.0.0.8").sit("blue"),
    )
    host.post("/api/host", {"pin": "12345678"})
    say(host, DEAL)
    better = "yellow: trade yellow wood 1 for blue gold 1"
    answer = yellow.post("/api/instead", {"event": table.lines[-1].event, "text": better})
    assert told(table) == [DEAL] and (answer.status_code == 409 or answer.json["offered"])


def test_a_move_is_not_turned_into_any_other(people, table):
    bull, _, _ = people
    say(bull, "bull: pass")
    event = table.lines[-1].event
    for text in ("bull: tile red C4", "lion: pass", "BULL: swap 3"):
        assert bull.post("/api/instead", {"event": event, "text": text}).status_code in (403, 409)
    assert told(table) == ["bull: pass"]


def test_who_has_a_phone_of_their_own_is_asked_before_others_pass_for_them(people, table):
    bull, lion, _ = people
    answer = say(lion, "lion: swap 2")
    assert answer.json["offered"] and told(table) == []
    assert [(o["from"], o["to"]) for o in offered(bull)] == [("lion", ["bull"])]
    number = offered(bull)[0]["id"]
    assert lion.post("/api/offer", {"id": number, "yes": 1}).status_code == 403
    assert bull.post("/api/offer", {"id": number, "yes": 1}).status_code == 200
    assert told(table) == ["bull: pass", "lion: swap 2"]
    assert table.journal.events()[-1].by == "lion bull"


def test_who_has_no_phone_passes_without_a_word(people, table):
    bull, lion, _ = people
    say(bull, "bull: pass"), say(lion, "lion: pass")
    assert say(bull, "bull: swap 1").status_code == 200
    assert told(table) == ["bull: pass", "lion: pass", "pot: pass", "bull: swap 1"]


def test_a_seat_takes_back_its_own_last_doings_and_no_others(people, table):
    bull, lion, _ = people
    say(bull, "bull: swap 2"), say(bull, "bull: swap 1")
    assert back(bull, table, 2).status_code == 200 and told(table) == []
    say(bull, "bull: pass")
    assert back(lion, table, 1).json["offered"] and told(table) == ["bull: pass"]
    say(lion, "lion: pass")
    assert back(bull, table, 2).json["offered"] and told(table) == ["bull: pass", "lion: pass"], (
        "lion has acted since"
    )


def test_further_back_takes_one_tap_of_each_other_phone_or_the_hosts_alone(phone, table):
    bull, lion, pot, host = phone("bull"), phone("lion"), phone("pot"), phone("host")
    for one, text in ((bull, "bull: pass"), (lion, "lion: pass"), (pot, "pot: pass")):
        say(one, text)
    assert back(bull, table, 3).json["offered"]
    [asked] = offered(pot)
    assert asked["to"] == ["lion", "pot"]
    assert (
        lion.post("/api/offer", {"id": asked["id"], "yes": 1}).status_code == 200
        and len(told(table)) == 3
    )
    assert lion.post("/api/offer", {"id": asked["id"], "yes": 1}).status_code == 403, "once each"
    assert (
        pot.post("/api/offer", {"id": asked["id"], "yes": 1}).status_code == 200
        and told(table) == []
    )
    assert table.journal.events()[-1].by == "bull lion pot"
    say(bull, "bull: pass"), say(lion, "lion: pass")
    assert back(host, table, 2).status_code == 200 and told(table) == []


def test_a_request_is_void_when_somebody_has_acted_since(people, table, eventually):
    bull, lion, _ = people
    say(bull, "bull: pass"), say(lion, "lion: pass")
    back(bull, table, 2)
    number = offered(lion)[0]["id"]
    table.declare("pot: pass", "camera")
    assert lion.post("/api/offer", {"id": number, "yes": 1}).status_code == 409
    assert len(told(table)) == 3
    eventually(lambda: offered(lion) == [])


@pytest.fixture
def meanwhile(monkeypatch, table):
    """What happens between the moment a request is let through and the moment it is done"""

    def happens(method, doing):
        def late(*args, **more):
            monkeypatch.undo()
            doing()
            return getattr(table, method)(*args, **more)

        monkeypatch.setattr(table, method, late)

    return happens


def test_whose_turn_comes_meanwhile_is_not_passed_over(people, table, meanwhile):
    bull, _, _ = people
    say(bull, "bull: swap 1")
    meanwhile("declare", lambda: table.declare("bull: swap 2", "camera"))
    assert say(bull, "bull: swap 1").status_code == 409
    assert told(table) == ["bull: swap 1", "bull: swap 2"], "the others have not passed"


def test_what_others_do_meanwhile_is_not_taken_back(people, table, meanwhile):
    bull, _, _ = people
    say(bull, "bull: swap 1"), say(bull, "bull: swap 2")
    meanwhile("undo", lambda: table.declare("lion: swap 1", "camera"))
    assert back(bull, table, 1).status_code == 409
    assert told(table)[-1] == "lion: swap 1"


def test_what_others_did_is_not_done_again_meanwhile(people, table, meanwhile):
    bull, lion, _ = people
    say(bull, "bull: swap 1"), say(bull, "bull: swap 2"), say(lion, "lion: swap 1")
    back(lion, table, 1), back(bull, table, 1)
    meanwhile("redo", lambda: table.redo("host"))  # so that lion's would be next
    assert bull.post("/api/redo", {}).status_code == 409
    assert told(table) == ["bull: swap 1", "bull: swap 2"]


def test_alone_among_people_without_phones_only_the_host_takes_their_moves_back(phone, table):
    bull = phone("bull")
    table.declare("bull: pass", "camera"), table.declare("lion: pass", "camera")
    assert back(bull, table, 2).status_code == 403 and len(told(table)) == 2


def test_taking_back_can_be_taken_back_also_after_a_restart(people, table):
    bull, lion, host = people
    for one, text in ((bull, "bull: swap 2"), (bull, "bull: swap 1"), (lion, "lion: pass")):
        say(one, text)
    before, scores = told(table), table.state
    back(lion, table, 1), back(host, table, 2)
    assert told(table) == []
    assert [m["text"] for m in host.get("/api/snapshot").json["undone"]] == before[:2]
    assert Table(None, table.journal).undone[-1].action == before[1], "the journal knows it too"
    assert bull.post("/api/redo", {}).status_code == 200 and told(table) == before[:2]
    assert lion.post("/api/redo", {}).status_code == 200 and table.state == scores
    assert bull.post("/api/redo", {}).status_code == 409
    assert Table(None, table.journal).state == scores
    back(lion, table, 1)
    assert bull.post("/api/redo", {}).json["offered"], "it was lion's"
    say(lion, "lion: swap 2")
    assert lion.post("/api/redo", {}).status_code == 409, "something was done since"


def test_a_question_to_nobody_by_name_is_for_whose_doing_it_is_about(people, table):
    from companion.explain.verdict import UNCLEAR, Answer, Question, Verdict
    from engine import say as text

    bull, lion, host = people
    question = Question(
        text("What happened?"),
        (
            Answer(text("nothing: it goes back as it was")),
            Answer(text("nothing: {sites} was misread", sites="C4"), misread=True),
        ),
        None,
        ("C4",),
    )
    for one, status in ((lion, 403), (bull, 200), (host, 200)):
        with table._lock:
            table._conclude(Verdict(UNCLEAR, table.state, question=question, text=question.text))
        web = host.get("/api/snapshot").json
        for _ in range(50):
            if web["question"] and web["question"]["id"] == table.question_id:
                break
            table.wait(table.version, 0.05)
            web = host.get("/api/snapshot").json
        assert web["question"]["seat"] == "bull"
        assert (
            one.post("/api/answer", {"question": table.question_id, "choice": 1}).status_code
            == status
        )


def test_the_game_is_downloaded_whole_by_the_host_or_when_it_is_over(phone, table, tmp_path):
    from companion.table.journal import Journal

    bull, host = phone("bull"), phone("host")
    say(bull, "bull: swap 2")
    assert (
        bull.get("/api/record.journal").status_code == 403
        and phone().get("/api/record.journal").status_code == 403
    )
    answer = host.get("/api/record.journal")
    (tmp_path / "g.journal").write_bytes(answer.data)
    assert "attachment" in answer.headers["Content-Disposition"]
    assert Table(None, Journal(tmp_path / "g.journal")).state == table.state


def test_a_place_that_somebody_is_asked_about_is_theirs_to_tell(make_app):
    from tests.companion_web.support.tables import FakeTable

    table = FakeTable()
    app = make_app(table)
    bull, lion = (Phone(app, f"10.0.1.{n}").sit(seat) for n, seat in enumerate(("bull", "lion")))
    table.ask("lion")  # about D4
    app.extensions["nilometer"].feed.refresh()
    said = {"site": "D4", "contents": ["temple"]}
    assert bull.post("/api/place", said).status_code == 403 and not table.heard
    assert bull.post("/api/place", {**said, "site": "C4"}).status_code == 200
    assert lion.post("/api/place", said).status_code == 200
