"""A page as it is sent: its styles inside it, the scripts it needs named, packed, and not sent
twice."""

import gzip
import re

import pytest

from companion_web.document import STATIC, imported_scripts, style_hashes, whole_page


def test_a_page_carries_its_styles_and_its_policy_knows_them(app):
    answer = app.test_client().get("/")
    styles = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    assert styles == [(STATIC / "css" / f"{name}.css").read_text() for name in ("base", "page")]
    assert 'rel="stylesheet"' not in answer.text
    assert style_hashes(styles) in answer.headers["Content-Security-Policy"]


def test_only_the_pages_own_links_are_replaced():
    html = '&lt;link rel="stylesheet" href="/static/css/base.css"&gt;<p>/static/css/base.css</p>'
    assert whole_page(html) == (html, [])


def test_modules_are_found_through_others():
    assert "board" in imported_scripts("main") and "main" not in imported_scripts("main")
    for name in imported_scripts("main"):
        assert set(imported_scripts(name)) <= set(imported_scripts("main"))


@pytest.mark.parametrize("path", ["", "tv", "join", "games"])
def test_what_a_page_names_is_what_it_loads(visit, path):
    """No module is found only when another has come, and none is fetched in vain."""
    page = visit(path, seat="bull")
    named, loaded = page.evaluate(
        "[[...document.querySelectorAll('link[rel=modulepreload]')].map(e => e.href)"
        ".concat([...document.scripts].map(e => e.src)).sort(),"
        " performance.getEntriesByType('resource').map(e => e.name)"
        ".filter(n => n.endsWith('.js')).sort()]"
    )
    assert named == loaded and len(named) > 4


@pytest.mark.parametrize("path", ["", "tv"])
def test_what_a_page_asks_for_early_is_asked_for_once(visit, path):
    page = visit(path)
    page.wait_for_selector("svg.twin")
    early, asked = page.evaluate(
        "[[...document.querySelectorAll('link[rel=preload]')].map(e => e.href),"
        " performance.getEntriesByType('resource').map(e => e.name)]"
    )
    assert len(early) == 2 and [asked.count(name) for name in early] == [1, 1]


def test_a_page_is_packed_and_sent_once(app):
    client = app.test_client()
    packed = client.get("/", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.data).decode() == client.get("/").text
    again = {"Accept-Encoding": "gzip", "If-None-Match": packed.headers["ETag"]}
    assert client.get("/", headers=again).status_code == 304
    assert client.get("/", headers={**again, "Accept-Language": "de"}).status_code == 200
