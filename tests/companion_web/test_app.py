"""The page with the real table: every game is shown, played, corrected and recorded."""

import pytest

import companion_web
import engine
from companion.printing.board_drawing import board_drawing
from engine.script import run_script
from tests.companion_web.support.real_table import HERE, host_of, table_of

GAMES = sorted(engine.games())


@pytest.mark.parametrize("game", GAMES)
def test_every_game_is_shown(make_app, game):
    app = make_app(table_of(game, 30))
    snapshot = app.test_client().get("/api/snapshot").json
    plan = app.test_client().get("/api/plan", headers={"Accept-Encoding": "identity"}).json
    assert set(snapshot["layout"]) <= set(plan["sites"])
    assert {k for kinds in snapshot["layout"].values() for k in kinds if k != "?"} <= set(
        plan["pieces"]
    )
    assert len(snapshot["moves"]) == 30 and snapshot["view"]


@pytest.mark.parametrize("game", GAMES)
def test_a_move_is_declared_offered_and_taken_back(make_app, game):
    table = table_of(game, 12)
    app = make_app(table)
    host, before = host_of(app), table.state
    chances = [a for a, _ in before.chance()]
    action = (chances or before.legal_actions())[0]
    if not chances:
        offers = host.get(f"/api/actions?seat={action.seat}&starts={action.words()}").json
        assert action.words() in offers["actions"]
    assert host.post("/api/declare", json={"text": str(action)}, headers=HERE).status_code == 200
    last = host.get("/api/snapshot").json["moves"][-1]
    assert last["text"] == str(action)
    assert host.get(f"/api/moves/{last['event']}").json["after"] == {
        s: list(c) for s, c in table.state.layout().items()
    }
    to = host.get("/api/snapshot").json["moves"][-2]["event"]
    assert host.post("/api/undo", json={"event": to}, headers=HERE).status_code == 200
    assert table.state == before


def edit(host, site, contents):
    return host.post("/api/host/edit", json={"site": site, "contents": contents}, headers=HERE)


def test_the_host_corrects_the_board_and_the_state_follows(make_app):
    table = table_of("tigris", 10)
    host = host_of(make_app(table))
    before = table.state
    assert edit(host, "A11", ["market"]).status_code == 200
    assert table.state.layout()["A11"] == ("market",) and table.state.turn == before.turn
    assert edit(host, "A11", []).status_code == 200 and "A11" not in table.state.layout()
    assert [e.kind for e in table.journal.events()][-2:] == ["edit", "edit"], (
        "the journal keeps both"
    )


@pytest.mark.parametrize(
    "site, contents",
    [
        ("Z99", ["temple"]),
        ("A11", ["dragon"]),
        ("A11", "temple"),
        ("A11", ["temple"] * 99),
        ("A11", [["x"]]),
        ("A11", None),
        ("A11\nlayout K1", []),
    ],
)
def test_corrections_that_make_no_sense_change_nothing(make_app, site, contents):
    table = table_of("tigris")
    before = table.state
    answer = edit(host_of(make_app(table)), site, contents)
    assert answer.status_code == 400 and answer.json["error"] and table.state == before


def test_only_the_host_corrects(make_app):
    table = table_of("tigris")
    app = make_app(table)
    player = app.test_client()
    player.set_cookie(
        "nilometer_seat", companion_web.web_of(app).access.seat(companion_web.web_of(app).seats[0])
    )
    assert (
        edit(player, "A11", ["market"]).status_code == 403
        and edit(app.test_client(), "A11", ["market"]).status_code == 403
    )


@pytest.mark.parametrize("game", GAMES)
def test_the_record_plays_again_to_the_same_end(make_app, game):
    table = table_of(game, 25)
    host = host_of(make_app(table))
    script = host.get("/api/record.play")
    result = run_script(script.text)
    assert result.faults == [] and result.state.layout() == table.state.layout()
    assert result.state.scores() == table.state.scores()
    assert "attachment" in script.headers["Content-Disposition"]
    assert len(host.get("/api/record.json").json["moves"]) == 25
    assert host.get("/api/chronicle").json == host.get("/api/record.json").json["chronicle"]


def test_the_record_stays_shut_while_hands_are_secret(make_app):
    client = make_app(table_of("tigris", 5)).test_client()
    assert (
        client.get("/api/record.play").status_code == 403
        and client.get("/api/record.json").status_code == 403
    )
    assert client.get("/api/chronicle").status_code == 403


@pytest.mark.parametrize("game", GAMES)
def test_pieces_on_a_phone_are_no_specks(game):
    """Loose pieces stay below a cell's width and, where their cell has room, grow to be seen on a
    narrow phone."""
    from importlib import resources

    from vision.plan import load_plan

    plan = load_plan(str(resources.files(f"engine.{game}").joinpath("plan.toml")))
    for site in board_drawing(game, plan)["sites"].values():
        assert 1 <= site.get("scale", 1) <= 3
