"""The page on which a plan is drawn: by touch, with the keyboard, and what it refuses."""

import json
import tomllib
from importlib import resources
from urllib.parse import urlsplit

import numpy as np
import pytest

from companion_web import serve_app
from companion_web.tracing import Desk, create_trace_app

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 800}
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
HERE = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
PHOTO = np.full((720, 960, 3), 90, np.uint8)


def base_of(game):
    return tomllib.loads(
        resources.files(f"engine.{game}").joinpath("plan.toml").read_text(encoding="utf-8")
    )


@pytest.fixture
def desk(tmp_path):
    return Desk(base_of("deluge"), PHOTO, tmp_path / "plan.toml")


@pytest.fixture
def client(desk):
    client = create_trace_app(desk).test_client()
    assert client.get(f"/?key={desk.key}").status_code == 302
    return client


@pytest.fixture
def visit(chromium, desk):
    server, complaints, contexts = serve_app(create_trace_app(desk), "127.0.0.1", 0), [], []

    def open_page(**options):
        context = chromium.new_context(
            **{"viewport": PHONE, "locale": "en-GB", "has_touch": True, **options}
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on(
            "console",
            lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on(
            "request",
            lambda r: (
                urlsplit(r.url).netloc == urlsplit(server.url).netloc or complaints.append(r.url)
            ),
        )
        page.goto(f"{server.url}?key={desk.key}")
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    server.stop()
    assert complaints == []


def test_only_who_has_the_link_may_draw(desk, client):
    stranger = create_trace_app(desk).test_client()
    for path in ("/", "/api/trace/photo.jpg", "/api/trace"):
        assert stranger.get(path).status_code == 403
    assert client.get("/api/trace/photo.jpg").data[:2] == b"\xff\xd8"
    assert client.post("/api/trace", json={"drawing": {}}, headers=HERE).status_code == 400
    assert (
        client.post(
            "/api/trace", json={"drawing": {}}, headers={"Origin": "http://else.test"}
        ).status_code
        == 403
    )


def test_the_links_key_cannot_be_guessed_and_stays_on_the_page(desk, tmp_path):
    other = Desk(base_of("deluge"), PHOTO, tmp_path / "other.toml")
    assert desk.key != other.key and len(desk.key) >= 12
    cookie = create_trace_app(desk).test_client().get(f"/?key={desk.key}").headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Domain" not in cookie
    assert create_trace_app(desk).test_client().get(f"/?key={other.key}").status_code == 403


def test_a_drawing_is_kept_and_gone_on_with(desk, client):
    drawing = client.get("/api/trace").json["drawing"]
    drawing["sites"] = [s for s in drawing["sites"] if s["id"] != "count14"]
    answer = client.post("/api/trace/save", json={"drawing": drawing}, headers=HERE).json
    assert answer["saved"] is False and not desk.out.exists() and answer["faults"][0]["stops"]
    again = Desk(desk.base, PHOTO, desk.out)
    assert "count14" not in {s.id for s in again.traced.sites}
    desk.draft.write_text("{")
    assert "count14" in {s.id for s in Desk(desk.base, PHOTO, desk.out).traced.sites}, (
        "a broken draft stops nobody"
    )
    crossed = {"drawing": drawing, "corners": [[0, 0], [9, 9], [9, 0], [0, 9]], "size": [8, 6]}
    assert client.post("/api/trace/corners", json=crossed, headers=HERE).status_code == 400
    for path in ("/api/trace", "/api/trace/corners", "/api/trace/save"):
        for nonsense in ([1], {"drawing": [1]}, {"drawing": drawing, "size": {}}, None):
            answer = client.post(path, json=nonsense, headers=HERE)
            assert answer.status_code < 500, (path, nonsense)


def tap(page, x, y):
    """On the photo, its pixels."""
    place = page.evaluate(
        """([x, y]) => {
        const p = new DOMPoint(x, y).matrixTransform(document.querySelector('#photo svg').getScreenCTM());
        return [p.x, p.y]; }""",
        [x, y],
    )
    page.touchscreen.tap(*place)


def test_a_cell_is_drawn_by_finger_described_undone_and_saved(visit, desk):
    page = visit()
    page.get_by_role("button", name="Begin with an empty map").click()
    for x, y in ((300, 300), (420, 300), (420, 420), (300, 420)):
        tap(page, x, y)
    page.get_by_role("button", name="Undo").click()
    tap(page, 310, 430)
    tap(page, 300, 300)
    page.wait_for_selector("[data-focus=choice-ground]")
    page.locator("[data-focus=choice-ground]").select_option("land")
    page.locator("[data-focus=choice-part]").select_option("eurasia")
    page.wait_for_selector("#check :text('Eurasia has no centre')")
    page.locator("[data-focus=choice-centre]").select_option("centre")
    page.wait_for_selector("#check :text('Eurasia has no centre')", state="detached")
    page.locator("[data-focus=name]").fill("home")
    page.keyboard.press("Tab")
    page.wait_for_selector("g[data-site=home] path", state="attached")
    assert page.locator("path.spot").count() == 3 and page.evaluate(FITS)
    page.get_by_role("button", name="Save the plan").click()
    page.wait_for_selector("#hint:has-text('Not written yet')")
    kept = json.loads(desk.draft.read_text())["drawing"]["sites"]
    assert [s["outlines"] for s in kept if s["id"] == "home"][0][0][2] == [420, 420]


def test_with_the_keyboard_alone(visit):
    page = visit(viewport=DESK)
    page.get_by_role("button", name="Draw", exact=True).press("Enter")
    before = page.locator("path.shape").count()
    page.locator("#photo").focus()
    for way in (None, "ArrowRight", "ArrowDown"):
        for _ in range(4 if way else 0):
            page.keyboard.press(f"Shift+{way}")
        page.keyboard.press("Enter")
    page.get_by_role("button", name="Close the outline").press("Enter")
    page.wait_for_function(f"document.querySelectorAll('path.shape').length === {before + 1}")
    page.get_by_role("button", name="Undo").press("Enter")
    page.wait_for_function(f"document.querySelectorAll('path.shape').length === {before}")


def test_a_point_is_dragged_and_the_plan_written(visit, desk):
    page = visit(viewport=DESK)
    page.get_by_role("button", name="Choose", exact=True).click()
    page.locator("[data-focus=which]").select_option("arctic")
    box = page.locator("[data-handle='point 0 0'] .handle").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 40, steps=4)
    page.mouse.up()
    page.get_by_role("button", name="Save the plan").click()
    page.wait_for_selector("#hint:has-text('plan.toml is written')")
    now = next(s for s in tomllib.loads(desk.out.read_text())["site"] if s["id"] == "arctic")
    was = next(s for s in base_of("deluge")["site"] if s["id"] == "arctic")
    assert np.hypot(*(np.array(now["outline"][0]) - was["outline"][0])) > 20
    assert np.abs(np.array(now["outline"][1:]) - was["outline"][1:]).max() < 0.3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(color_scheme=scheme)
    assert axe.run(page).response["violations"] == []
    page.get_by_role("button", name="Choose", exact=True).click()
    page.locator("[data-focus=which]").select_option("eurasia-5")
    page.wait_for_selector("[data-focus=touches]")
    assert axe.run(page).response["violations"] == [] and page.evaluate(FITS)
