"""What an evening needs beside the board, in Chromium: sound, the installed page, corrections,
figures, names, a week's pause."""

import json
import time
from urllib.parse import unquote

import pytest

import companion_web
from tests.companion_web.support.browsing import explained, fits, illegal, until, web

HEARD = """
window.heard = []; window.felt = [];
navigator.vibrate = pattern => { felt.push(pattern); return true; };
const begin = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...a) { heard.push(this.context.state); return begin.apply(this, a); };
"""


def test_sound_and_vibration_only_where_they_are_wished_for(visit, table):
    page = visit(seat="lion", script=HEARD)
    illegal(table)
    page.wait_for_selector("#verdict[data-verdict=illegal]")
    assert page.evaluate("[heard, felt]") == [[], []], "nobody asked for it"
    page.get_by_label("Sound").check()
    page.get_by_label("Vibration").check()
    until(page, "heard.length && felt.length && heard.every(s => s === 'running')")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.locator("#site").click()  # one touch, and the page may sound again
    table.ask("lion", 2)
    until(page, "heard.length === 2 && felt.length === 1")
    table.act("bull: tile red C4", "C4", ["temple"])
    page.wait_for_selector("#verdict[data-verdict=moved]")
    until(page, "heard.length === 3 && felt.length === 1")
    table.turn = "lion"
    table.act("bull: tile red E6", "E6", ["temple"])
    until(page, "heard.length === 5 && felt.length === 2")  # it is one's own turn
    assert page.evaluate("heard.every(s => s === 'running')")


def test_the_installed_pages_open_while_the_table_is_off(visit, server):
    page = visit(expected=["ERR_", "Failed to load"], worker=True)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    until(
        page,
        """localStorage.getItem('nilometer.snapshot') && Promise.all(['/', '/join', '/games', '/api/plan',
        '/static/js/join.js', '/locale/en.json'].map(path => caches.match(path, {ignoreVary: true})))
        .then(all => all.every(Boolean))""",
    )
    server.stop()
    page.reload()
    page.wait_for_selector("svg.twin")
    page.wait_for_selector("#link[data-state=lost]")
    assert page.locator(".pieces > [data-site]").count() == 3, (
        "the board as it stood when the table was last heard"
    )
    for path in ("join", "games"):
        page.goto(f"{server.url}{path}" if server.url.endswith("/") else f"{server.url}/{path}")
        page.wait_for_selector("main .fault:has-text('The table does not answer.')")
        assert page.locator("nav a").count() == 1 and fits(page)


def test_what_is_not_kept_does_not_wait_for_the_worker_that_keeps_pages(visit):
    page = visit(worker=True)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    through = """async path => {
        await (await fetch(path)).text();
        return performance.getEntriesByName(location.origin + path).at(-1).workerMatchedSourceType;
    }"""
    assert page.evaluate(through, "/api/plan") == "fetch-event", "kept, so the worker is asked"
    assert page.evaluate(through, "/api/snapshot") == "network"


def test_what_makes_the_page_installable(app):
    client = app.test_client()
    kept = client.get("/assets.json").json
    assert {"/static/js/main.js", "/static/icons/icons.svg", "/locale/nl.json"} <= set(kept)
    assert all(client.get(path).status_code == 200 for path in kept)
    icons = client.get("/manifest.webmanifest").json["icons"]
    assert {i["sizes"] for i in icons} == {"any", "192x192", "512x512"} and all(
        client.get(i["src"]).status_code == 200 for i in icons
    )


def test_the_demos_faults_are_switched_from_the_page(visit, app):
    faults, wires = set(), web(app)
    wires.switches = companion_web.Switches(
        {"dark": "the lamp is off"},
        lambda: faults,
        lambda name, on: (faults.add if on else faults.discard)(name),
    )
    wires.feed.touch()
    page = visit(seat="host")
    page.get_by_label("the lamp is off").check()
    for _ in range(100):
        if faults:
            break
        page.wait_for_timeout(20)
    assert faults == {"dark"}
    assert visit().locator("#switches").is_hidden(), "lookers break nothing"


def test_the_host_corrects_a_place(visit, table):
    page = visit(seat="host")
    page.locator(".sites [data-site=D4] path").click(force=True)
    page.get_by_role("button", name="Something else …").click()
    assert "Bull" in page.locator("dialog .contents").inner_text()
    page.get_by_role("button", name="Take off").first.click()
    offered = (
        page.get_by_label("Piece").locator("option").evaluate_all("all => all.map(o => o.value)")
    )
    seats = {seat["id"] for seat in table.snapshot()["seats"]}
    assert (
        {kind.split(":")[1] for kind in offered if kind.startswith("leader:")}
        == seats
        == {"bull", "lion"}
    ), "nobody else plays"
    page.get_by_label("Piece").select_option("temple")
    page.get_by_role("button", name="Put it on top").click()
    page.get_by_role("button", name="That is how it is").click()
    page.wait_for_selector(".pieces > [data-site=D4] use", state="attached")
    page.wait_for_selector("dialog[open]", state="detached")
    for _ in range(100):
        if table.heard:
            break
        page.wait_for_timeout(20)
    assert table.heard == [("edit", "D4", ["temple"])]


def test_points_over_time_and_who_won(visit, table, monkeypatch):
    monkeypatch.setattr("companion_web.blueprints.record.game_chronicle", lambda table: EVENING)
    page = end(table, visit)
    page.wait_for_selector("#summary .plot .line")
    assert (
        page.locator("#summary .plot .line").count() == 2
        and "Anna <b> (Lion): 9" in page.locator("#summary").inner_text()
    )
    said = page.locator("#verdict").inner_text()
    assert "Anna <b> (Lion) wins. Anna <b> (Lion) 9, Bull " in said and "The bag is empty." in said


def end(table, visit, **options):
    for n in range(6):
        table.act(f"{('bull', 'lion')[n % 2]}: tile red C4", "C4", ["temple"] * (n % 2), points=n)
    table.outcome = {"winners": ["lion"], "reason": {"t": "the bag is empty"}}
    table.settings["names"] = {"lion": "Anna <b>"}
    table.tell()
    return visit(**options)


EVENING = {
    "began": 0,
    "ended": 1_700_000_000,
    "played": 5400,
    "moves": 6,
    "undone": 2,
    "edits": 0,
    "seats": [{"id": "bull", "moves": 3, "seconds": 80, "longest": 70, "at": 3}],
    "gains": [{"seat": "lion", "points": 5, "move": 6, "words": [], "text": "lion: tile red C4"}],
    "tables": [
        {"title": {"t": "the biggest conflicts"}, "columns": [{"t": "move"}], "rows": [[3]]}
    ],
}


def test_the_evening_in_figures_and_its_summary_as_a_picture(visit, table, monkeypatch):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    monkeypatch.setattr("companion_web.blueprints.record.game_chronicle", lambda table: EVENING)
    page = end(table, visit)
    page.wait_for_selector("#after:not([hidden]):has-text('the biggest conflicts')")
    text = page.locator("#after").inner_text()
    for said in ("6 moves in 1 h 30 min", "Taken back 2 times.", "70 s (move 3)", "+5 Lion move 6"):
        assert said in text, said
    assert (
        "Anna <b> (Lion)" in page.locator("#verdict").inner_text()
        and fits(page)
        and explained(axe.run(page)) == []
    )
    with page.expect_download() as download:
        page.get_by_role("button", name="Picture").click()
    head = open(download.value.path(), "rb").read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(head[16:20]) == 1280
    for name, ending in (("Move list (.play)", "play"), ("JSON", "json")):
        assert page.get_by_role("link", name=name).get_attribute("href") == f"/api/record.{ending}"


def test_all_games_of_the_table(visit, app, table):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    shelf = {
        "games": [
            {
                "began": 0,
                "ended": 3600,
                "title": {"t": "Ur"},
                "game": "ur",
                "names": {"black": "Anna"},
                "moves": 40,
                "seats": [{"id": "black", "name": {"t": "Black"}}],
                "winners": ["black"],
                "scores": {"black": 31},
                "points": {"black": 31},
                "file": "ur-1.journal",
            }
        ],
        "players": [
            {
                "game": "ur",
                "title": {"t": "Ur"},
                "name": "Anna",
                "seat": {"t": "Black"},
                "played": 1,
                "won": 1,
                "mean": 31.0,
                "best": 31,
            }
        ],
    }
    page = visit("games")
    assert "No finished game" in page.locator("#who").inner_text()
    web(app).shelf.statistics = lambda: shelf
    page.reload()
    with page.expect_download() as download:
        page.get_by_role("link", name="As a table (CSV)").click()
    assert (
        open(download.value.path()).read().splitlines()[1] == "1970-01-01,ur,60,40,black,Anna,31,1"
    )
    page.wait_for_selector("#who table")
    assert page.get_by_role("link", name="As one page").get_attribute("href") == "/games/ur-1.html"
    sent = page.get_by_role("link", name="BG Stats").get_attribute("href")
    play = json.loads(unquote(sent.partition("?data=")[2]))
    assert play["playDate"] == "1970-01-01 00:00:00" and play["durationMin"] == 60
    (anna,) = play["players"]
    assert (anna["name"], anna["role"], anna["score"], anna["winner"]) == (
        "Anna",
        "Black",
        "31",
        True,
    )
    assert page.locator("#who tbody tr").inner_text().split("\t") == ["Anna", "1", "1", "31", "31"]
    assert "Winner: Anna (Black) · 40 moves in 1 h 0 min" in page.locator("#list").inner_text()
    assert fits(page) and explained(axe.run(page)) == []


def test_who_sits_down_says_a_name_and_the_phone_remembers_it(visit, app, table):
    page = visit("join#" + web(app).access.code)
    page.get_by_role("button", name="Sit down as Lion").click()
    page.get_by_label("Your name").fill("Anna")
    page.keyboard.press("Enter")
    page.wait_for_selector("#speak:has-text('Saved.')", state="attached")
    assert table.settings["names"] == {"lion": "Anna"}
    assert page.evaluate("localStorage.getItem('nilometer.name')") == "Anna"
    page.get_by_role("link", name="To the board").first.click()
    page.wait_for_selector("#players .person:has-text('Anna')")


def test_a_name_that_is_refused_is_not_said_to_be_saved(visit, app, table):
    page = visit("join", seat="lion", expected=["the server responded with a status of 4"])
    page.get_by_label("Your name").fill("Anna")
    web(app).access.free("lion")  # by the host, meanwhile
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#seat-fault')?.textContent")
    assert "Saved" not in page.locator("#speak").text_content()
    assert table.settings.get("names", {}) == {}


@pytest.mark.parametrize("path", ["", "tv"])
def test_a_drawing_that_did_not_come_is_asked_for_again(visit, path):
    page = visit(
        path,
        script="""const ask = fetch; let asked = 0;
        window.fetch = (path, ...more) => path === '/api/plan' && asked++ === 0
          ? Promise.reject(new TypeError('busy')) : ask(path, ...more);""",
    )
    page.wait_for_selector("svg.twin .pieces > [data-site]")


def test_the_board_can_be_turned_and_enlarged(visit):
    page = visit()
    before = page.locator("svg.twin").bounding_box()
    page.get_by_role("button", name="Turn").click()
    after = page.locator("svg.twin").bounding_box()
    assert after["height"] > before["height"]
    page.get_by_role("button", name="Larger").click()
    assert page.locator("svg.twin").bounding_box()["width"] > 1.8 * before["width"] and fits(page)


def test_after_a_week_the_page_says_how_the_board_should_look_and_what_differs(visit, table):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    table.act("bull: tile red C4", "C4", ["temple"])
    table.pause = {"since": time.time() - 604_800, "differs": None}
    table.conclude("unfinished")
    page = visit(seat="host")
    page.wait_for_selector("#pause:not([hidden]):has-text('has not seen the whole board')")
    table.pause = {
        **table.pause,
        "differs": [{"site": f"A{n}", "should": ["temple"], "seen": []} for n in range(1, 10)],
    }
    table.tell()
    page.wait_for_selector("#pause:has-text('9 places differ')")
    assert page.locator("#pause tbody tr").first.inner_text().split("\t") == [
        "A1",
        "a temple (red)",
        "nothing",
    ]
    assert page.locator(".mark.todo").count() == 9 and fits(page) and explained(axe.run(page)) == []
    page.get_by_role("button", name="Play on with the board as it lies").click()
    page.wait_for_selector("#pause", state="hidden")
    assert table.heard == [("go on", "host")]


def test_a_game_that_has_not_begun_is_not_one_that_goes_on(visit, table):
    """Nobody 'stopped on Thursday 1 January': the beginning is to be laid out, place by place."""
    table.pause = {"since": None, "differs": [{"site": "A1", "should": ["temple"], "seen": []}]}
    table.conclude("unfinished")
    said = visit().locator("#pause").inner_text()
    assert said.startswith("The board is not laid out yet") and "1970" not in said
    assert "You stopped" not in said and "One place differs" in said


def test_moves_are_told_in_words(visit, table):
    table.words = [{"t": "{seat} passes", "a": {"seat": {"t": "Bull"}}}]
    table.act("bull: pass", "C4", [])
    page = visit(locale="nl-NL")
    assert "Stier past" in page.locator("#moves").inner_text()
    page.locator("#moves .tool").first.click()
    page.wait_for_selector("dialog[open] .in-words")
    assert page.locator("dialog .in-words").inner_text() == "Stier past"


def test_laying_the_board_out_is_one_line_of_the_moves(visit, table):
    for n in range(5):
        table.act(f"box: lay C{n + 1} temple", f"C{n + 1}", ["temple"])
    table.act("bull: tile red C6", "C6", ["temple"])
    page = visit(locale="de-DE")
    assert page.locator("#moves > div > ol > li").count() == 1
    summary = page.get_by_text("Das Brett wurde aufgebaut: 5 Teile")
    summary.click()
    assert page.locator("#moves .laid li").count() == 5
