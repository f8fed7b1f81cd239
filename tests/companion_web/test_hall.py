"""A club's night in the hall's page: people's names, whose game it was, who won how often."""

import json

import pytest

import companion_web
from companion.runtime.config import Club
from companion.runtime.hall import Hall
from companion_web.hall import create_hall
from tests.companion.runtime.test_club import heard
from tests.companion_web.support.browsing import PHONE, explained, fits


@pytest.mark.parametrize(
    "locale, words",
    [
        ("de-DE", ("Beendete Spiele", "Rangliste", "Anna (Schwarz) 21 ★, Ben (Weiß) 15")),
        ("fr-FR", ("Parties terminées", "Classement", "Anna (Noir) 21 ★, Ben (Blanc) 15")),
    ],
)
def test_a_night_on_a_phone(chromium, tmp_path, locale, words):
    hall = Hall(Club("localhost"))
    server = companion_web.serve_app(create_hall(hall), "127.0.0.1", 0)
    seats = [
        {"id": "black", "name": "Black", "person": "Anna"},
        {"id": "white", "name": "White", "person": "Ben"},
    ]
    said = {"name": "Kitchen", "began": "1", "title": "Ur", "seats": seats}
    said |= {"points": {"black": 21, "white": 15}, "winners": ["black"], "camera": "ok"}
    heard(hall, "nilometer/kitchen/state", json.dumps(said).encode())
    context = chromium.new_context(viewport=PHONE, locale=locale)
    try:
        page = context.new_page()
        page.goto(server.url)
        page.wait_for_selector("#night:not([hidden]) table")
        text = page.locator("#night").inner_text()
        assert all(w in text for w in words), text
        assert page.locator("#standings tbody tr").all_inner_texts() == ["Anna\t1\t1", "Ben\t1\t0"]
        assert "Anna" in page.locator("#tables").inner_text() and fits(page)
        axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
        assert explained(axe.run(page)) == []
    finally:
        context.close()
        server.stop()
