"""The page in a real Chromium: what people see, with the keyboard, at 360 px, with a screen reader's tree; nothing foreign."""

import time
from urllib.parse import urlsplit

import pytest

import companion_web
from engine import Violation, say
from tests.companion_web.conftest import CHROMIUM

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")]
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 800}


@pytest.fixture
def server(app):
    server = companion_web.serve(app, "127.0.0.1", 0)
    yield server
    server.stop()


@pytest.fixture
def visit(chromium, server, app):
    """visit(path, seat, **context) -> a page that is ready. Whatever the console or the network complains of fails the test."""
    complaints, contexts = [], []

    def open_page(path="", seat=None, expected=(), script=None, **options):
        context = chromium.new_context(**{"viewport": PHONE, "locale": "en-GB", "reduced_motion": "reduce", **options})
        contexts.append(context)
        if seat:
            token = web(app).access.make_host() if seat == "host" else web(app).access.seat(seat)
            context.add_cookies([{"name": "nilometer_seat", "value": token, "url": server.url, "httpOnly": True}])
            web(app).feed.touch()
        page = context.new_page()
        if script:
            page.add_init_script(script)
        page.set_default_timeout(30_000)      # a loaded machine is slow, not wrong

        def heard(message):
            if message.type in ("error", "warning") and not any(e in message.text for e in expected):
                complaints.append(f"console: {message.text}")

        def asked(request):
            if urlsplit(request.url).netloc != urlsplit(server.url).netloc:
                complaints.append(f"foreign: {request.url}")
        page.on("console", heard)
        page.on("pageerror", lambda e: complaints.append(f"script: {e}"))
        page.on("request", asked)
        page.goto(server.url + path)
        page.wait_for_selector("body[data-ready]")
        if not path:
            page.wait_for_selector("svg.twin")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def until(page, holds):
    """Waits until a JavaScript expression is true; the page's own policy forbids Playwright's way."""
    for _ in range(300):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"did not come: {holds}")


def web(app):
    return companion_web.web_of(app)


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_the_board_follows_within_half_a_second(visit, table):
    page = visit()
    assert page.locator(".pieces > [data-site]").count() == 3
    took = []
    for n, site in enumerate(("C4", "E6", "F6")):
        began = time.monotonic()
        table.act(f"{('bull', 'lion')[n % 2]}: tile red {site}", site, ["temple"])
        page.wait_for_selector(f".pieces > [data-site={site}] use", state="attached")
        page.wait_for_selector(f"#verdict:has-text('tile red {site}')")
        took.append(time.monotonic() - began)
    assert min(took) < 0.5, took
    assert page.locator("#verdict h2").inner_text() == "Done" and "+1" in page.locator("#verdict").inner_text()
    assert "tile red F6" in page.locator("#moves").inner_text()
    table.act("bull: tile red F6", "F6", [])
    page.wait_for_selector(".pieces > [data-site=F6]", state="detached")


def test_everything_the_table_says_stands_there(visit, table):
    page = visit(viewport=DESK)
    text = page.locator("main").inner_text()
    for said in ("It is Bull's turn.", "2 actions left", "Tiles in the bag", "120 of 143", "Catastrophes", "Kingdoms", "high",
                 "The monument pays Bull", "here one may build", "Bull plays first"):
        assert said in text, said
    assert "camera sees the board" in page.locator("header").inner_text()
    table.camera = {"state": "lost", "by": None, "error_px": None, "fps": None}
    table.trouble = {"t": "the journal cannot be written: {fault}", "a": {"fault": "disk full"}}
    table.tell()
    page.wait_for_selector("#camera:has-text('camera is gone')")
    assert "goes on by itself" in page.locator("#trouble").inner_text()
    table.camera = {"state": "no board", "message": "only card 2 of the four is in view"}
    table.tell()
    page.wait_for_selector("#trouble:has-text('the board is not in view'):has-text('only card 2')")
    table.camera = {"state": "ok"}
    table.tell()
    page.wait_for_selector("#trouble:not(:has-text('in view'))")
    assert "disk full" in page.locator("#trouble").inner_text()
    table.trouble = None
    table.tell()
    page.wait_for_selector("#trouble", state="hidden")


VERDICTS = {"same": "All is well", "moved": "Done", "unfinished": "Not finished yet", "illegal": "Not allowed",
            "unclear": "Not clear", "busy": "Looking away"}


def test_verdicts_differ_in_word_and_shape_not_only_in_colour(visit, table):
    page, shapes = visit(), set()
    for verdict, head in VERDICTS.items():
        table.conclude(verdict)
        page.wait_for_selector(f"#verdict[data-verdict={verdict}]")
        assert page.locator("#verdict h2").inner_text() == head
        shapes.add(page.locator("#verdict use").get_attribute("href"))
    assert len(shapes) == len(VERDICTS)


def illegal(table):
    why = say("farms lie on the river")
    table.conclude("illegal", actions=["lion: tile blue E4"], text=why, violations=[Violation("T19", why)],
                   back=[say("take {it} off E4", it=say("the farm"))])


def test_an_illegal_move_is_told_with_its_rule_and_the_rules_words(visit, table):
    page = visit()
    illegal(table)
    page.wait_for_selector("#verdict[data-verdict=illegal]")
    assert "take the farm off E4" in page.locator("#verdict").inner_text()
    assert "Rule T19" in page.locator("#alarm").inner_text(), "a screen reader is told at once"
    page.get_by_role("button", name="Rule T19, read it").click()
    page.wait_for_selector("dialog[open]:has-text('farms only on river spaces')")
    page.get_by_role("button", name="All rules").click()
    page.get_by_label("Find").fill("joining tile")
    page.get_by_role("button", name="Close").click()
    assert page.locator("dialog[open]").count() == 0


def test_a_screen_reader_hears_the_move_and_reads_the_board(visit, table):
    page = visit()
    assert page.locator("#speak").inner_text() == "", "nothing is read out before something happens"
    table.act("bull: tile red C4", "C4", ["temple"])
    page.wait_for_selector("#speak:has-text('Bull: tile red C4')", state="attached")
    page.locator("#words summary").click()
    words = page.locator("#words").inner_text()
    assert "C4" in words and "B2" in words
    assert page.locator("svg.twin").get_attribute("role") == "img" and page.locator("svg.twin").get_attribute("aria-label")


def test_joining_by_the_link_in_the_qr_code(visit, server, app, table):
    page = visit("join#" + web(app).access.code)
    assert web(app).access.code not in page.url, "the code does not stay in the address"
    page.get_by_role("button", name="Sit down as Lion").click()
    page.wait_for_selector("text=You have a seat: Lion.")
    page.get_by_role("link", name="To the board").first.click()
    page.wait_for_selector("#say:not([hidden])")
    table.ask("lion")
    page.get_by_role("button", name="one", exact=True).click()
    page.wait_for_selector("#question", state="hidden")
    assert table.heard == [("answer", "q1", 1, "lion")]


def test_a_looker_cannot_even_press(visit, table):
    page = visit()
    table.ask("lion")
    page.wait_for_selector("#question:not([hidden])")
    assert page.locator("#question button:not([disabled])").count() == 0
    assert page.locator("#say").is_hidden() and page.get_by_role("button", name="Take back").count() == 0


def test_the_host_by_pin_with_the_keyboard_alone(visit, table):
    page = visit("join", expected=["403"])
    page.get_by_label("The PIN").focus()
    page.keyboard.type("1111")
    page.keyboard.press("Enter")
    page.wait_for_selector("#pin-fault:has-text('not the PIN')")
    page.keyboard.type("12345678")
    page.keyboard.press("Enter")
    page.wait_for_selector("#host-panel:not([hidden]) img.qr")
    page.get_by_label("Scores stay hidden till the end").focus()
    page.keyboard.press("Space")
    for _ in range(100):
        if table.settings["hidden_scores"]:
            break
        page.wait_for_timeout(20)
    assert table.settings["hidden_scores"] is True


def test_declaring_and_taking_back_with_the_keyboard_alone(visit, table):
    page = visit(seat="bull", expected=["409"])
    page.wait_for_selector(".quick button")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(40):
        if page.evaluate("document.activeElement.id") == "act":
            break
        page.keyboard.press("Tab")
    page.keyboard.type("tile red C4")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verdict:has-text('tile red C4')")
    assert page.evaluate("document.activeElement.id") == "act", "the focus stays where people type"
    page.keyboard.type("tile blue J9")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]:has-text('T19')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="detached")
    for _ in range(40):
        if page.evaluate("[...document.querySelectorAll('button:focus')].some(b => b.textContent.includes('Take back the last'))"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]:has-text('Take back this move?')")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#moves:has-text('Nobody has moved yet.')")
    assert [h[0] for h in table.heard] == ["declare", "undo"] and table.heard[-1][1] == 1


def test_buttons_for_what_has_to_be_decided(visit, table):
    table.decision = {"seat": "bull", "text": {"t": "Which monument?"}, "sites": ["D4"],
                      "choices": [{"text": {"t": "none"}, "action": "bull: pass", "picture": None},
                                  {"text": {"t": "red"}, "action": "tile red C4", "picture": "temple"}]}
    table.tell()
    page = visit(seat="bull")
    page.get_by_role("button", name="red", exact=True).click()
    page.wait_for_selector("#verdict:has-text('tile red C4')")
    assert table.heard == [("declare", "bull: tile red C4", "bull")]


def test_looking_at_a_move(visit, table):
    table.pictures[(2, "after")] = PIXEL
    table.act("bull: tile red C4", "C4", ["temple"])
    page = visit()
    page.get_by_role("button", name="Look at move 1").click()
    page.wait_for_selector("dialog[open] .halves")
    assert page.locator("dialog svg.twin").count() == 2 and page.locator("dialog img").count() == 1
    assert "C4: nothing, then" in page.locator("dialog").inner_text()


def test_the_connection_lost_and_found_again_is_said(visit, server, app, table):
    page = visit(expected=["ERR_"])
    page.wait_for_selector("#link[data-state=on]")
    server.stop()
    page.wait_for_selector("#link[data-state=lost]")
    assert "connection lost" in page.locator("#link").inner_text()


def test_where_there_is_no_room_the_page_looks_now_and_then(visit, app, table):
    web(app).streams.most = 0
    page = visit(expected=["503"])
    page.wait_for_selector("#link[data-state=slow]")
    assert page.locator(".pieces > [data-site]").count() == 3


@pytest.mark.parametrize("path", ["", "join"])
@pytest.mark.parametrize("size", [PHONE, {"width": 320, "height": 640}, DESK], ids=["360", "320", "1280"])
def test_nothing_sticks_out_sideways(visit, table, path, size):
    illegal(table)
    table.ask("bull")
    for n in range(15):
        table.act(f"lion: leader black C4 and a long sentence {n}", "C4", ["temple"] * (n % 2))
    page = visit(path, seat="host", viewport=size)
    assert fits(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path, seat", [("", "bull"), ("", None), ("join", "host"), ("join", None)])
def test_axe_finds_nothing(visit, table, path, seat, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    table.act("bull: tile red C4", "C4", ["temple"])
    illegal(table)
    table.ask("bull")
    page = visit(path, seat=seat, color_scheme=scheme)
    assert explained(axe.run(page)) == []
    if path == "" and seat:
        for verdict in ("moved", "unfinished", "unclear", "busy"):
            table.conclude(verdict, todo=[{"text": say("take it off"), "sites": ["D4"], "seat": "bull"}])
            page.wait_for_selector(f"#verdict[data-verdict={verdict}]")
            assert explained(axe.run(page)) == [], verdict
        page.locator("#words summary").click()
        page.get_by_role("button", name="Rules").click()
        page.wait_for_selector("dialog[open] .rules p")
        assert explained(axe.run(page)) == []


def explained(results):
    return [f"{v['id']}: {[n['html'][:120] for n in v['nodes']]}" for v in results.response["violations"]]


def test_in_dutch(visit, table):
    page = visit(locale="nl-NL")
    assert page.locator("html").get_attribute("lang") == "nl"
    assert page.locator("#moves h2").inner_text() == "Zetten"
    page.get_by_label("Taal").select_option("en")
    page.wait_for_selector("#moves h2:has-text('Moves')")
    assert page.locator("html").get_attribute("lang") == "en"


def test_what_the_table_says_is_never_markup(visit, table):
    table.act('bull: tile <img src=x onerror="alert(1)"> <b>C4</b>', "C4", ["temple"])
    page = visit()
    assert page.locator("#moves img, #moves b:has-text('C4'), #verdict img").count() == 0
    assert "<b>C4</b>" in page.locator("#moves").inner_text()


def test_night_by_hand_and_remembered(visit):
    page = visit()
    page.get_by_label("Light").select_option("dark")
    night = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == night == "rgb(20, 24, 26)"


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
    page.locator("#site").click()      # one touch, and the page may sound again
    table.ask("lion", 2)
    until(page, "heard.length === 2 && felt.length === 1")
    table.act("bull: tile red C4", "C4", ["temple"])
    page.wait_for_selector("#verdict[data-verdict=moved]")
    until(page, "heard.length === 3 && felt.length === 1")
    table.turn = "lion"
    table.act("bull: tile red E6", "E6", ["temple"])
    until(page, "heard.length === 5 && felt.length === 2")      # it is one's own turn
    assert page.evaluate("heard.every(s => s === 'running')")


def test_the_installed_pages_open_while_the_table_is_off(visit, server):
    page = visit(expected=["ERR_", "Failed to load"])
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    until(page, """localStorage.getItem('nilometer.snapshot') && Promise.all(['/', '/join', '/games', '/api/plan',
        '/static/js/join.js', '/locale/en.json'].map(path => caches.match(path, {ignoreVary: true})))
        .then(all => all.every(Boolean))""")
    server.stop()
    page.reload()
    page.wait_for_selector("svg.twin")
    page.wait_for_selector("#link[data-state=lost]")
    assert page.locator(".pieces > [data-site]").count() == 3, "the board as it stood when the table was last heard"
    for path in ("join", "games"):
        page.goto(f"{server.url}{path}" if server.url.endswith("/") else f"{server.url}/{path}")
        page.wait_for_selector("main .fault:has-text('The table does not answer.')")
        assert page.locator("nav a").count() == 1 and fits(page)


def test_what_makes_the_page_installable(app):
    client = app.test_client()
    kept = client.get("/assets.json").json
    assert {"/static/js/main.js", "/static/css/page.css", "/locale/nl.json"} <= set(kept)
    assert all(client.get(path).status_code == 200 for path in kept)
    icons = client.get("/manifest.webmanifest").json["icons"]
    assert {i["sizes"] for i in icons} == {"any", "192x192", "512x512"} and all(client.get(i["src"]).status_code == 200 for i in icons)


def test_the_demos_faults_are_switched_from_the_page(visit, app):
    faults, wires = set(), web(app)
    wires.switches = companion_web.Switches({"dark": "the lamp is off"}, lambda: faults,
                                            lambda name, on: (faults.add if on else faults.discard)(name))
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
    page.get_by_role("button", name="Correct", exact=True).click()
    assert "Bull" in page.locator("dialog .contents").inner_text()
    page.get_by_role("button", name="Take off").first.click()
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
    monkeypatch.setattr("companion_web.parts.record.chronicle", lambda table: EVENING)
    page = end(table, visit)
    page.wait_for_selector("#summary .plot .line")
    assert page.locator("#summary .plot .line").count() == 2 and "Anna <b> (Lion): 9" in page.locator("#summary").inner_text()
    assert "Anna <b> (Lion) wins. the bag is empty" in page.locator("#verdict").inner_text()

def end(table, visit, **options):
    for n in range(6):
        table.act(f"{('bull', 'lion')[n % 2]}: tile red C4", "C4", ["temple"] * (n % 2), points=n)
    table.outcome = {"winners": ["lion"], "reason": {"t": "the bag is empty"}}
    table.settings["names"] = {"lion": "Anna <b>"}
    table.tell()
    return visit(**options)


EVENING = {"began": 0, "ended": 1_700_000_000, "played": 5400, "moves": 6, "undone": 2, "edits": 0,
           "seats": [{"id": "bull", "moves": 3, "seconds": 80, "longest": 70, "at": 3}],
           "gains": [{"seat": "lion", "points": 5, "move": 6, "words": [], "text": "lion: tile red C4"}],
           "tables": [{"title": {"t": "the greatest conflicts"}, "columns": [{"t": "move"}], "rows": [[3]]}]}


def test_the_evening_in_figures_and_its_summary_as_a_picture(visit, table, monkeypatch):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    monkeypatch.setattr("companion_web.parts.record.chronicle", lambda table: EVENING)
    page = end(table, visit)
    page.wait_for_selector("#after:not([hidden]):has-text('the greatest conflicts')")
    text = page.locator("#after").inner_text()
    for said in ("6 moves in 1 h 30 min", "Taken back 2 times.", "70 s (move 3)", "+5 Lion move 6"):
        assert said in text, said
    assert "Anna <b> (Lion)" in page.locator("#verdict").inner_text() and fits(page) and explained(axe.run(page)) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Picture").click()
    head = open(download.value.path(), "rb").read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(head[16:20]) == 1280
    for name, ending in (("Play record", "play"), ("JSON", "json")):
        assert page.get_by_role("link", name=name).get_attribute("href") == f"/api/record.{ending}"


def test_all_games_of_the_table(visit, app, table):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    shelf = {"games": [{"began": 0, "ended": 3600, "title": {"t": "Ur"}, "game": "ur", "names": {"black": "Anna"}, "moves": 40,
                        "seats": [{"id": "black", "name": {"t": "Black"}}], "winners": ["black"], "scores": {"black": 31}}],
             "players": [{"game": "ur", "title": {"t": "Ur"}, "name": "Anna", "seat": {"t": "Black"}, "played": 1, "won": 1,
                          "mean": 31.0, "best": 31}]}
    page = visit("games")
    assert "No game has been played to its end" in page.locator("#who").inner_text()
    web(app).shelf.statistics = lambda: shelf
    page.reload()
    page.wait_for_selector("#who table")
    assert page.locator("#who tbody tr").inner_text().split("\t") == ["Anna", "1", "1", "31", "31"]
    assert "Winner: Anna (Black) · 40 moves in 1 h 0 min" in page.locator("#list").inner_text()
    assert fits(page) and explained(axe.run(page)) == []


def test_who_sits_down_says_a_name_and_the_phone_remembers_it(visit, app, table):
    page = visit("join#" + web(app).access.code)
    page.get_by_role("button", name="Sit down as Lion").click()
    page.get_by_label("Your name").fill("Anna")
    page.keyboard.press("Enter")
    page.wait_for_selector("#speak:has-text('Noted.')", state="attached")
    assert table.settings["names"] == {"lion": "Anna"}
    assert page.evaluate("localStorage.getItem('nilometer.name')") == "Anna"
    page.get_by_role("link", name="To the board").first.click()
    page.wait_for_selector("#players .person:has-text('Anna')")


def test_the_board_can_be_turned_and_enlarged(visit):
    page = visit()
    before = page.locator("svg.twin").bounding_box()
    page.get_by_role("button", name="Turn").click()
    after = page.locator("svg.twin").bounding_box()
    assert after["height"] > before["height"]
    page.get_by_role("button", name="Larger").click()
    assert page.locator("svg.twin").bounding_box()["width"] > 1.8 * before["width"] and fits(page)


PIXEL = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300" + "01" * 64 + "ffc0000b080001000101011100ffc4001f00"
    "00010501010101010100000000000000000102030405060708090a0bffc400b5100002010303020403050504040000017d"
    "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a"
    "3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a929394"
    "95969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8"
    "e9eaf1f2f3f4f5f6f7f8f9faffda0008010100003f00fbd3ffd9")


def test_after_a_week_the_page_says_how_the_board_should_look_and_what_differs(visit, table):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    table.act("bull: tile red C4", "C4", ["temple"])
    table.pause = {"since": time.time() - 604_800, "differs": None}
    table.conclude("unfinished")
    page = visit(seat="host")
    page.wait_for_selector("#pause:not([hidden]):has-text('has not seen the whole board')")
    table.pause = {**table.pause, "differs": [{"site": f"A{n}", "should": ["temple"], "seen": []} for n in range(1, 10)]}
    table.tell()
    page.wait_for_selector("#pause:has-text('9 places differ')")
    assert page.locator("#pause tbody tr").first.inner_text().split("\t") == ["A1", "a temple (red)", "nothing"]
    assert page.locator(".mark.todo").count() == 9 and fits(page) and explained(axe.run(page)) == []
    page.get_by_role("button", name="Play on with the board as it lies").click()
    page.wait_for_selector("#pause", state="hidden")
    assert table.heard == [("go on", "host")]


def test_moves_are_told_in_words(visit, table):
    table.words = [{"t": "{seat} passes", "a": {"seat": {"t": "Bull"}}}]
    table.act("bull: pass", "C4", [])
    assert "Stier past pass" in visit(locale="nl-NL").locator("#moves").inner_text()
