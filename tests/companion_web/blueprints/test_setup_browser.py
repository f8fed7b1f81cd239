"""The whole set-up on a phone's screen: said, photographed, learnt, started; by eye, by keyboard,
for a screen reader."""

import cv2
import numpy as np
import pytest

from tests.companion_web.support.browsing import explained, fits, until, web
from tests.companion_web.support.setting_up import director, learnt, letters, table  # noqa: F401

WORDS = """() => {
    const other = [...document.querySelectorAll("main :is(svg, select)")], before = other.map(e => e.style.display);
    other.forEach(e => { e.style.display = "none"; });
    const text = document.querySelector("main").innerText;
    other.forEach((e, i) => { e.style.display = before[i]; });
    return text.split(/\\s+/).length;
}"""  # that a step shows, without those of a drawing or in a closed list
MOST_WORDS = 650  # three minutes and a quarter at 200 a minute: a new user shall play within ten


def test_the_whole_conversation_on_a_phone(visit, table, director, learnt):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit("setup", seat="host", worker=True)
    page.wait_for_selector("#advice p")
    words = [page.evaluate(WORDS)]
    page.get_by_role("button", name="Continue").click()  # the camera comes first
    page.get_by_role("button", name="Ur", exact=True).click()
    page.wait_for_selector("fieldset:has-text('whoever uses both actions')")
    assert explained(axe.run(page)) == []
    page.get_by_label("whoever uses neither").check()
    words.append(page.evaluate(WORDS))
    page.get_by_role("button", name="Continue").click()
    cards = page.get_by_role("button", name="With the four marker cards")
    cards.wait_for()
    words.append(page.evaluate(WORDS))
    cards.click()
    for number, step in enumerate(table_steps(page, table)):
        director.set(step.layout)
        page.wait_for_selector("#advice:has-text('4 of 4 cards')")
        if number == 2:
            assert page.locator("#task .pieces > [data-site]").count() == len(step.layout), (
                "the picture of what to lay where"
            )
            page.get_by_text("The same in words").click()
            assert explained(axe.run(page)) == [] and fits(page)
            page.get_by_text("The same in words").click()
        words.append(page.evaluate(WORDS))
        take_photo(page, number)
    page.get_by_role("button", name="Learn").click()
    page.wait_for_selector("#since:has-text('min so far')")
    assert explained(axe.run(page)) == []
    words.append(page.evaluate(WORDS))
    learnt.set()
    page.wait_for_selector(
        "#report:has-text('Learnt from 4 photos in 0:21 min: 0 of 0 places are read right in its photos, "
        "0.0 % on boards made up of them; the board is found to 0.4 px.')"
    )
    page.locator("#language").select_option("nl")
    page.wait_for_selector("#taking li:has-text('geen foto laat oorlog zien')")
    page.locator("#language").select_option("en")
    page.wait_for_selector("#report")
    words.append(page.evaluate(WORDS))
    assert sum(words) < MOST_WORDS, words
    page.get_by_role("button", name="Start the game").click()
    page.wait_for_selector("text=The table starts")
    assert table.options == {"bonus": "for-restraint"} and table.written.is_set()


# A person, in seconds: a word read, a tap, a piece found and laid as in a picture, any tile put into
# any empty place, a piece taken off, a sampler swept together; the PIN's screen and what the page
# itself takes, as measured on an idle machine.
WORD, TAP, LAY, FILL, OFF, SWEEP = 0.3, 3.0, 4.0, 2.0, 1.0, 10.0
PIN_SCREEN, PAGE = 15.0, 20.0
TEN_MINUTES = 600.0


def test_a_new_user_of_ur_makes_the_first_move_within_ten_minutes(visit, table, director, learnt):
    """From `nilometer run` with a printed copy, reckoned: what is learnt after the start costs no
    time, as the game goes on beside it, and the last photo's tiles stay."""
    page = visit("setup", seat="host")
    page.wait_for_selector("#advice p")
    words, taps, pieces = [page.evaluate(WORDS)], 0, []

    def tap(name, **more):
        page.get_by_role("button", name=name, **more).click()
        return 1

    taps += tap("Continue") + tap("Ur", exact=True)
    page.wait_for_selector("fieldset:has-text('whoever uses both actions')")
    words.append(page.evaluate(WORDS))
    taps += tap("Continue")
    page.get_by_role("button", name="With the four marker cards").wait_for()
    words.append(page.evaluate(WORDS))
    taps += tap("With the four marker cards")
    for number, step in enumerate(table_steps(page, table)):
        director.set(step.layout)
        page.wait_for_selector("#advice:has-text('4 of 4 cards')")
        words.append(page.evaluate(WORDS))
        pieces.append(sum(map(len, step.layout.values())))
        taps += 2 if number < 2 else 1
        take_photo(page, number)
    taps += tap("Learn")
    page.wait_for_selector("#since:has-text('min so far')")
    words.append(page.evaluate(WORDS))
    learnt.half.set()
    page.wait_for_selector("#beside")
    assert fits(page)
    words.append(page.evaluate(WORDS))
    taps += tap("Start the game")
    page.wait_for_selector("text=The table starts")
    assert table.written.is_set() and table.report is None, "it is still learning"
    laid, taken = first_layout(table, step.layout)
    read = PIN_SCREEN + WORD * sum(words) + TAP * taps
    lay = LAY * sum(pieces) + SWEEP + FILL * laid + OFF * taken
    told = f"{words} words, {taps} taps, pieces {pieces}, then {laid} laid and {taken} taken off"
    assert read + lay + PAGE < TEN_MINUTES, f"{read:.0f} + {lay:.0f} + {PAGE:.0f} s: {told}"


def first_layout(table, lies):
    """(pieces to lay, pieces to take off) until the game may begin, of what lies there"""
    state = table.game.setup(table.seats)
    while not set(state.actors) & set(state.seats):
        state = state.apply(state.legal_actions()[0])
    begins = state.layout().keys()
    taken = sum(len(contents) - (site in begins) for site, contents in lies.items())
    return len(begins - lies.keys()), taken


def take_photo(page, number):
    """As people do: asked whether it is to be taken all the same, they say yes, and once more where
    the live picture has meanwhile shown something else amiss."""
    button = page.locator("[data-focus=take]")
    button.click()
    taken = page.locator(f".photos li:nth-child({number + 1}) .again")
    again = page.get_by_role("button", name="Take it all the same?")
    taken.or_(again).first.wait_for(state="attached")
    for waited in range(300):
        if taken.count():
            break
        if waited % 100 == 0 and again.is_visible():
            again.click()
        page.wait_for_timeout(20)
    taken.wait_for(state="attached")


def table_steps(page, table):
    page.wait_for_selector("#task")
    return table.session.steps


def test_corners_are_tapped_or_moved_with_the_keyboard(visit, app, table, director):
    table.choose("ur", ["black", "white", "green"], {})
    web(app).feed.refresh()
    table.begin("No cards", markers=False)
    page = visit("setup", seat="host", expected=["409"])
    page.wait_for_selector("#mirrored")  # only people can see that
    page.get_by_role("button", name="Take the photo").click()
    page.wait_for_selector("#fault:has-text('tapped')")
    page.locator(".camera").scroll_into_view_if_needed()
    box = page.locator(".sight").bounding_box()
    for x, y in ((0.2, 0.1), (0.8, 0.1), (0.8, 0.9)):
        page.locator(".sight").click(position={"x": x * box["width"], "y": y * box["height"]})
    page.get_by_role("button", name="Corner lower left").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Take the photo").click()
    page.wait_for_selector(".photos .again", state="attached")
    assert [round(v / s, 1) for c in table.session._corners for v, s in zip(c, (820, 616))] == [
        0.2,
        0.1,
        0.8,
        0.1,
        0.8,
        0.9,
        0.1,
        0.9,
    ]
    page.wait_for_selector("#corners-part:not([open])")
    page.reload()
    page.wait_for_selector("#corners-part:not([open])", state="attached")
    # as they were tapped, also for a phone that comes later
    page.wait_for_selector(".corners path[d$=Z]", state="attached")


def test_a_finger_that_misses_a_corner_puts_it_right_in_the_magnified_picture(
    visit, app, table, director
):
    table.choose("ur", ["black", "white", "green"], {})
    web(app).feed.refresh()
    table.begin("No cards", markers=False)
    page = visit("setup", seat="host")
    page.wait_for_selector("#advice p")
    assert page.locator(".loupes").is_hidden()
    page.locator(".camera").scroll_into_view_if_needed()
    for x, y in ((0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75)):
        box = page.locator(".sight").bounding_box()
        page.locator(".sight").click(position={"x": x * box["width"], "y": y * box["height"]})
    assert [page.locator(".loupes canvas").nth(i).is_visible() for i in range(4)] == [True] * 4
    loupe = page.locator(".loupes canvas").nth(2)
    loupe.scroll_into_view_if_needed()
    size = loupe.bounding_box()["width"]
    loupe.click(position={"x": 0.75 * size, "y": 0.25 * size})
    assert (
        fits(page)
        and explained(pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run(page))
        == []
    )
    page.get_by_role("button", name="Take the photo").click()
    page.wait_for_selector(".photos .again", state="attached")
    x, y = np.array(table.session._corners[2]) / (820, 616)
    assert abs(x - 0.78) < 0.004 and abs(y - (0.75 - 0.03 * 820 / 616)) < 0.004


def test_a_corner_is_put_right_while_the_next_picture_fails_to_come(visit, app, table, director):
    table.choose("ur", ["black", "white", "green"], {})
    web(app).feed.refresh()
    table.begin("No cards", markers=False)
    page = visit("setup", seat="host", expected=["Failed to load resource"])
    until(page, "document.querySelector('.camera').naturalWidth > 0")
    page.locator(".sight").click(position={"x": 100, "y": 80})
    page.route("**/live.jpg*", lambda route: route.abort())
    until(page, "!document.querySelector('.camera').naturalWidth")
    page.locator(".loupes canvas").nth(0).click(position={"x": 30, "y": 30})
    drawn = page.locator("svg.corners path").get_attribute("d")
    assert len(drawn[1:].split()) == 2 and "NaN" not in drawn


def test_a_copy_whose_photos_were_begun_is_gone_on_with(visit, app, table, director):
    table.choose("ur", ["black", "white", "green"], {})
    table.begin("Half done", markers=True)
    table.take(0, None)
    table.session = None
    web(app).feed.refresh()
    page = visit("setup", seat="host")
    page.get_by_role("button", name="Go on with Half done (photos so far: 1)").click()
    page.wait_for_selector(".photos li:nth-child(1) .again", state="attached")
    page.wait_for_selector("#task:has-text('lamp on or off')")
    assert page.get_by_role("button", name="Go on with Half done").count() == 0 and fits(page)


def test_a_stranger_is_told_who_may_and_the_host_says_the_pin(visit, app):
    page = visit("setup", expected=["403"])
    page.wait_for_selector("#stranger:not([hidden])")
    assert page.locator("#game-part").is_hidden() and fits(page)
    assert (
        explained(pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run(page))
        == []
    )
    page.get_by_label("PIN").fill("00000000")
    page.keyboard.press("Enter")
    page.wait_for_selector("#pin-fault:has-text('not the PIN')")
    assert page.locator("#game-part").is_hidden()
    page.get_by_label("PIN").fill(web(app).access.pin)
    page.keyboard.press("Enter")
    page.wait_for_selector("#sight:not([hidden])")
    assert page.locator("#stranger").is_hidden()


def test_the_camera_is_chosen(visit, app, table, director):
    table._cameras = [
        {"name": name, "camera": {"kind": "usb", "device": name}} for name in ("Wide", "Narrow")
    ]
    table._camera = table._cameras[0]["camera"]
    table.choose("ur", ["black", "white", "green"], {})
    web(app).feed.refresh()
    table.begin("Mine", markers=True)
    page = visit("setup", seat="host")
    page.get_by_label("Camera", exact=True).select_option("Narrow")
    for _ in range(100):
        if table._camera["device"] == "Narrow":
            break
        page.wait_for_timeout(100)
    assert table._camera == {"kind": "usb", "device": "Narrow"}
    assert page.get_by_label("Camera", exact=True).input_value() == "1" and fits(page)
    assert (
        explained(pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run(page))
        == []
    )


def test_an_answer_asked_for_before_a_tap_does_not_take_it_back(visit, app, table, director):
    table.choose("ur", ["black", "white", "green"], {})
    web(app).feed.refresh()
    table.begin("Mine", markers=True)
    page = visit("setup", seat="host")
    page.wait_for_selector("#task")
    held = []

    def come(number):
        for _ in range(300):
            if len(held) >= number:
                return
            page.wait_for_timeout(20)
        raise AssertionError("the page does not ask")

    # answered by the server, not heard yet
    page.route("**/api/setup", lambda route: held.append((route, route.fetch())))
    come(1)
    page.get_by_role("button", name="Take the photo").click()
    page.wait_for_selector(".photos .again", state="attached")
    route, stale = held[0]
    route.fulfill(response=stale)
    come(2)
    assert page.locator(".photos .again").count() == 1, "a photo taken would be asked for again"
    page.unroute_all(behavior="ignoreErrors")


def test_a_board_without_rules_is_taken_through_on_the_phone(
    visit, server, table, director, letters, learnt
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit("setup", seat="host")
    page.get_by_role("button", name="Continue").click()  # the camera comes first
    page.get_by_role("button", name="letters", exact=True).click()
    page.get_by_role("button", name="This board").click()
    page.get_by_role("button", name="With the four marker cards").click()
    for number, step in enumerate(table_steps(page, table)):
        page.wait_for_selector("#advice:has-text('4 of 4 cards')")
        if step.layout:
            page.wait_for_selector("#task .pieces > [data-site]")
            assert page.locator("#task .pieces > [data-site]").count() == len(step.layout), (
                "the picture of what to lay where"
            )
            assert (
                page.locator("#task defs text").first.evaluate(
                    "e => getComputedStyle(e).textAnchor"
                )
                == "middle"
            )
            drawn_on = page.locator("#task .print image").get_attribute("href")
            photo = cv2.imdecode(
                np.frombuffer(page.request.get(server.url + drawn_on).body(), np.uint8),
                cv2.IMREAD_COLOR,
            )
            assert photo.shape == (1000, 1000, 3), (
                "of a board nobody has drawn the photo of it, from above"
            )
            assert explained(axe.run(page)) == [] and fits(page)
        take_photo(page, number)
    page.get_by_role("button", name="Learn").click()
    learnt.set()
    page.wait_for_selector("#own-learnt:has-text('nilometer read letters photo.jpg')")
    page.get_by_role("button", name="One more photo").click()
    page.wait_for_selector("#task h3:has-text('Pieces as in picture 3')")
    assert (
        set(k for c in table.session.steps[4].layout.values() for k in c) == {"B"}
        and table.session.next == 4
    )
    assert page.get_by_role("button", name="Start the game").count() == 0 and fits(page)
    page.get_by_role("link", name="How well this copy is read").click()
    page.wait_for_selector("h1:has-text('What is confused')")
