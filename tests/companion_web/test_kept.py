"""A finished game as one page: it opens from a disk, without the table."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import companion_web
import engine
from companion.simulate.players import Players
from companion.table.journal import Journal
from companion.table.table import Table
from companion_web.blueprints import record
from companion_web.kept import _import_map
from tests.companion_web.support.browsing import PHONE, explained, fits


def said(table, action):
    table.declare(str(action), "test")
    return table.state


def played(game, folder):
    """A table with made-up players' game at its end, and its journal in the folder."""
    seats = [s.id for s in engine.game(game).seats[: engine.game(game).players[0]]]
    table = Table(engine.game(game).setup(seats), Journal(folder / f"{game}.journal"))
    players = Players(3)
    while table.state.outcome() is None and len(table.lines) < 60:
        doing = players.next(table.state, lambda action: said(table, action))
        if doing.action is None:
            break
        table.declare(str(doing.action), "test")
    return table


def test_who_waits_for_a_games_page_takes_no_more_than_a_few_threads(tmp_path):
    app = companion_web.create_app(
        played("tigris", tmp_path), companion_web.Settings(state=tmp_path)
    )
    host = companion_web.web_of(app).access.make_host()

    def asked():
        client = app.test_client()
        client.set_cookie("nilometer_seat", host)
        return client.get("/api/record.html").status_code

    with record._making, ThreadPoolExecutor(record.IN_TURN) as pool:
        waiting = [pool.submit(asked) for _ in range(record.IN_TURN)]
        while record._places._value:
            time.sleep(0.01)
        assert asked() == 503, "at once, while the others wait"
        record._making.release()
        assert [w.result(60) for w in waiting] == [200] * record.IN_TURN
        record._making.acquire()
    assert asked() == 200


@pytest.mark.parametrize("game, locale", [("tigris", "de-DE"), ("ur", "fr-FR")])
def test_a_game_is_stepped_through_from_one_file(chromium, tmp_path, game, locale):
    table = played(game, tmp_path)
    app = companion_web.create_app(table, companion_web.Settings(name="Anna <b>", state=tmp_path))
    client = app.test_client()
    client.set_cookie("nilometer_seat", companion_web.web_of(app).access.make_host())
    answer = client.get("/api/record.html", headers={"Accept-Language": locale})
    assert answer.status_code == 200 and "attachment" in answer.headers["Content-Disposition"]
    file = tmp_path / "game.html"
    file.write_bytes(answer.data)
    context = chromium.new_context(viewport=PHONE, locale=locale, offline=True)
    page, complaints = context.new_page(), []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]")
    moves = len(table.lines) - 1
    assert page.locator("#told").inner_text().startswith(f"{moves} / {moves}")
    lying = page.locator(".pieces > [data-site]").count
    assert lying() == sum(bool(c) for c in table.state.layout().values())
    page.locator("#at").fill("0")
    assert lying() == sum(bool(c) for c in table.lines[0].state.layout().values())
    page.locator("#next").click()
    assert page.locator("#told").inner_text().startswith(f"1 / {moves}")
    assert fits(page) and complaints == [] and "Anna <b>" in page.locator("h1").inner_text()
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert explained(axe.run(page)) == []
    context.close()


def test_nothing_in_the_file_asks_for_another(tmp_path):
    table = played("ur", tmp_path)
    app = companion_web.create_app(table, companion_web.Settings(state=tmp_path))
    client = app.test_client()
    client.set_cookie("nilometer_seat", companion_web.web_of(app).access.make_host())
    text = client.get("/api/record.html").text
    assert not re.search(r"""(?:src|href)=["'](?!data:)""", text)
    packed = json.loads(re.search(r'importmap">(.*?)</script>', text, re.S)[1])["imports"]
    assert "n/kept.js" in packed and packed == _import_map("kept.js")
    assert companion_web.web_of(app).shelf.games() == []  # not over: no page of it on the shelf
    assert client.get("/games/ur.html").status_code == 404
    assert client.get("/games/..%2Fur.html").status_code == 404
