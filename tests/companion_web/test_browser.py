"""The board's page in a real Chromium: what people see, with the keyboard, at 360 px, with a screen
reader's tree; nothing foreign."""

import time

import pytest

from engine import say
from tests.companion_web.support.browsing import DESK, PHONE, PIXEL, explained, fits, illegal, web


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
    assert (
        page.locator("#verdict h2").inner_text() == "Done"
        and "+1" in page.locator("#verdict").inner_text()
    )
    assert "tile red F6" in page.locator("#moves").inner_text()
    table.act("bull: tile red F6", "F6", [])
    page.wait_for_selector(".pieces > [data-site=F6]", state="detached")


def test_everything_the_table_says_stands_there(visit, table):
    page = visit(viewport=DESK)
    text = page.locator("main").inner_text()
    for said in (
        "It is Bull's turn.",
        "2 actions left",
        "Tiles in the bag",
        "120 of 143",
        "Catastrophes",
        "Kingdoms",
        "high",
        "The monument pays Bull",
        "Here one may build",
        "Bull plays first",
    ):
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


VERDICTS = {
    "same": "Ready",
    "moved": "Done",
    "unfinished": "Not finished yet",
    "illegal": "Not allowed",
    "unclear": "Not clear",
    "busy": "Hands on the board",
}


def test_verdicts_differ_in_word_and_shape_not_only_in_colour(visit, table):
    page, shapes = visit(), set()
    for verdict, head in VERDICTS.items():
        table.conclude(verdict)
        page.wait_for_selector(f"#verdict[data-verdict={verdict}]")
        assert page.locator("#verdict h2").inner_text() == head
        shapes.add(page.locator("#verdict use").get_attribute("href"))
    assert len(shapes) == len(VERDICTS)


def test_an_illegal_move_is_told_with_its_rule_and_the_rules_words(visit, table):
    page = visit()
    illegal(table)
    page.wait_for_selector("#verdict[data-verdict=illegal]")
    assert "Take the farm off E4" in page.locator("#wrong").inner_text()
    assert "arms lie on the river" in page.locator("#alarm").inner_text(), (
        "a screen reader is told at once"
    )
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
    page.wait_for_selector("#speak:has-text('ile red C4')", state="attached")
    page.locator("#words summary").click()
    words = page.locator("#words").inner_text()
    assert "C4" in words and "B2" in words
    assert page.locator("svg.twin").get_attribute("role") == "img" and page.locator(
        "svg.twin"
    ).get_attribute("aria-label")


def test_joining_by_the_link_in_the_qr_code(visit, server, app, table):
    page = visit("join#" + web(app).access.code)
    assert web(app).access.code not in page.url, "the code does not stay in the address"
    page.get_by_role("button", name="Sit down as Lion").click()
    page.wait_for_selector("text=You have a seat: Lion.")
    page.get_by_role("link", name="To the board").first.click()
    page.wait_for_selector("#say:not([hidden])")
    table.ask("lion")
    page.get_by_role("button", name="One", exact=True).click()
    page.wait_for_selector("#question", state="hidden")
    assert table.heard == [("answer", "q1", 1, "lion")]


def test_a_looker_cannot_even_press(visit, table):
    page = visit()
    table.ask("lion")
    page.wait_for_selector("#question:not([hidden])")
    assert page.locator("#question button:not([disabled])").count() == 0
    assert (
        page.locator("#say").is_hidden()
        and page.get_by_role("button", name="Take back").count() == 0
    )


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
    page = visit(
        seat="bull", expected=["409"], script='localStorage.setItem("nilometer.notation", "1")'
    )
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
        if page.evaluate(
            "[...document.querySelectorAll('button:focus')].some(b => b.textContent.includes('Take back the last'))"
        ):
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
    table.decision = {
        "seat": "bull",
        "text": {"t": "Which monument?"},
        "sites": ["D4"],
        "choices": [
            {"text": {"t": "none"}, "action": "bull: pass", "picture": None},
            {"text": {"t": "red"}, "action": "tile red C4", "picture": "temple"},
        ],
    }
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
@pytest.mark.parametrize(
    "size", [PHONE, {"width": 320, "height": 640}, DESK], ids=["360", "320", "1280"]
)
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
            table.conclude(
                verdict, todo=[{"text": say("take it off"), "sites": ["D4"], "seat": "bull"}]
            )
            page.wait_for_selector(f"#verdict[data-verdict={verdict}]")
            assert explained(axe.run(page)) == [], verdict
        page.locator("#words summary").click()
        page.get_by_role("button", name="Rules").click()
        page.wait_for_selector("dialog[open] .rules p")
        assert explained(axe.run(page)) == []


def test_in_dutch(visit, table):
    page = visit(locale="nl-NL")
    assert page.locator("html").get_attribute("lang") == "nl"
    assert page.locator("#moves h2").inner_text() == "Zetten"
    page.get_by_label("Taal").select_option("en")
    page.wait_for_selector("#moves h2:has-text('Moves')")
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize(
    "locale, rule, place",
    [
        ("de-DE", "Bauernhöfe nur auf Flussfelder", "Aus dem Regeltext: Een plaatje leggen"),
        ("fr-FR", "les fermes seulement sur le fleuve", "Dans le texte des règles : Een plaatje"),
    ],
)
def test_a_rule_is_read_in_the_readers_words_with_its_place_in_the_text(
    visit, table, locale, rule, place
):
    page = visit(locale=locale)
    illegal(table)
    page.locator("#wrong .rule").click()
    page.wait_for_selector(f"dialog[open]:has-text('{rule}')")
    page.locator("dialog summary", has_text=place).click()
    assert "blauwe plaatjes enkel op rivierdelen" in page.locator("dialog .source").inner_text()


def test_what_the_table_says_is_never_markup(visit, table):
    table.act('bull: tile <img src=x onerror="alert(1)"> <b>C4</b>', "C4", ["temple"])
    page = visit()
    assert page.locator("#moves img, #moves b:has-text('C4'), #verdict img").count() == 0
    assert "<b>C4</b>" in page.locator("#moves").inner_text()


def test_a_reload_marks_only_what_was_done_last(visit, table):
    page = visit()
    table.act("bull: tile red C4", "C4", ["temple"])
    page.wait_for_selector("#verdict[data-verdict=moved]")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector("svg.twin .mark.new")
    marked = page.locator("svg.twin .mark.new").evaluate_all("all => all.map(e => e.dataset.site)")
    assert marked == ["C4"] and page.locator(".pieces > [data-site]").count() > 1


def test_night_by_hand_and_remembered(visit):
    page = visit()
    page.get_by_label("Theme").select_option("dark")
    night = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert (
        page.evaluate("getComputedStyle(document.body).backgroundColor")
        == night
        == "rgb(20, 24, 26)"
    )


def test_what_matters_most_stands_below_the_board_and_a_wide_table_is_read_on_a_phone(visit, table):
    """The tide, large, before the players; and no column of the market is cut off."""
    columns = [
        say(c)
        for c in ("row", "fruit", "next free place", "refuses", "bad", "rotten", "would give now")
    ]
    table.more = {
        "tracks": [
            {
                "id": "tide",
                "label": say("Tide"),
                "value": 1,
                "max": 2,
                "steps": [say("flood"), say("ebb 1")],
                "marks": [],
                "large": True,
                "means": say("Bull takes two water cards"),
            },
            {
                "id": "bag",
                "label": say("Tiles in the bag"),
                "value": 120,
                "max": 143,
                "steps": None,
                "marks": [],
            },
        ],
        "tables": [
            {
                "title": say("Market"),
                "columns": columns,
                "rows": [
                    ["M1", "4 of 5", "M1.5", "flax, grain", 1, 1, "Blue 4, Red 2"],
                    ["M2", "0 of 4", "M2.1", "", 0, 0, ""],
                ],
            }
        ],
    }
    table.tell()
    page = visit()
    page.wait_for_selector("#large:has-text('ebb 1')")
    large, players = page.locator("#large"), page.locator("#players")
    assert "Bull takes two water cards" in large.inner_text()
    assert (
        page.locator("#board").bounding_box()["y"]
        < large.bounding_box()["y"]
        < players.bounding_box()["y"]
    )
    assert (
        "Tide" not in page.locator("#facts").inner_text()
        and "120 of 143" in page.locator("#facts").inner_text()
    )
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].every(e => e.scrollWidth <= e.clientWidth + 1)"
    )
    cell = page.locator("#facts td[data-column='would give now']").first
    assert cell.inner_text() == "Blue 4, Red 2" and "would give now" in cell.evaluate(
        "e => getComputedStyle(e, '::before').content"
    )
    page.set_viewport_size(DESK)
    assert page.locator("#facts thead th").last.is_visible()
    assert large.bounding_box()["y"] < page.locator("#facts").bounding_box()["y"]


def test_two_taps_say_what_lies_on_a_place(visit, table):
    page = visit(seat="bull")
    page.locator(".sites [data-site=C4] path").click(force=True)
    page.locator("dialog[open] .answers button").first.click()
    page.wait_for_selector(".pieces > [data-site=C4] use", state="attached")
    assert ("correct", "C4", ("temple",), "bull") in table.heard


def test_the_board_stays_where_it_is_whatever_is_said(visit, table):
    page = visit(
        script="""
        window.shifted = 0;
        window.moved = [];
        new PerformanceObserver(list => list.getEntries().filter(e => !e.hadRecentInput).forEach(e => {
            window.shifted += e.value;
            window.moved.push(e.sources.map(s => s.node?.id ?? s.node?.nodeName).join());
        })).observe({ type: "layout-shift", buffered: true });"""
    )
    page.wait_for_selector("#frame svg.twin")
    page.evaluate("window.shifted = 0")
    at = page.locator("#board").bounding_box()["y"]
    for verdict in ("moved", "busy", "unfinished", "unclear", "same"):
        table.conclude(verdict)
        page.wait_for_selector(f"#verdict[data-verdict={verdict}]")
    illegal(table)
    page.wait_for_selector("#wrong:not([hidden])")
    table.ask("lion")
    page.wait_for_selector("#question:not([hidden])")
    asked = page.locator("#question").bounding_box()["y"]
    table.conclude("busy")
    page.wait_for_selector("#verdict[data-verdict=busy]")
    assert page.locator("#wrong").is_visible(), "whoever puts it right reads on meanwhile"
    assert page.locator("#question").bounding_box()["y"] == asked
    assert page.locator("#board").bounding_box()["y"] == at
    assert page.evaluate("window.shifted") < 0.02, page.evaluate("window.moved")
    table.conclude("same")
    page.wait_for_selector("#wrong", state="hidden")


def test_fingers_meet_44_pixels(visit, table):
    illegal(table)
    table.act("bull: tile red C4", "C4", ["temple"])
    page = visit(seat="bull")
    small = page.evaluate("""[...document.querySelectorAll("button, select, summary, .skip, .brand, footer a, nav a, input:not([type=checkbox])")].filter(e => e.offsetParent)
        .map(e => [e.textContent.trim(), e.getBoundingClientRect().height]).filter(([, height]) => height < 43.9)""")
    assert small == []


def test_the_television_says_what_matters(visit, table):
    table.act("bull: tile red C4", "C4", ["temple"], 3)
    page = visit("tv", viewport={"width": 1920, "height": 1080})
    page.wait_for_selector("#frame svg.twin")
    assert (
        page.locator("#scores li").count() == 2
        and page.locator("#scores li > b").first.inner_text() == "3"
    )
    assert (
        page.evaluate(
            "parseFloat(getComputedStyle(document.querySelector('#scores li > b')).fontSize)"
        )
        > 60
    )
    assert (
        page.locator("#verdict h2").inner_text() == "Done"
        and "Bull" in page.locator("#turn").inner_text()
    )
    assert page.evaluate("document.documentElement.scrollHeight") <= 1080
    illegal(table)
    page.wait_for_selector("#verdict[data-verdict=illegal]")
    assert page.locator("#line").inner_text() == "Farms lie on the river. Take the farm off E4."
