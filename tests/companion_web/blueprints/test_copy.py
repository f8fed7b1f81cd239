"""What the host sees and does about the copy: the report, what was learnt at the table, the plan
drawn anew on its photo."""

import base64
import json
import shutil
from html import escape
from pathlib import Path

import pytest

from tests.companion_web.support.browsing import explained, fits
from tests.companion_web.support.tables import Phone

PHOTOS = Path(__file__).resolve().parents[2] / "photos" / "tigris"
SVG = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg' width='7' height='7'/>").decode()
REPORT = (
    "<!DOCTYPE html><html lang='en'><head><title>Report</title><style>h1 { color: rgb(1, 2, 3) }</style></head>"
    "<body><main><h1>Kitchen</h1><img alt='C4' src='data:image/svg+xml;base64,"
    + SVG
    + "'></main></body></html>"
)


@pytest.fixture
def folder(tmp_path):
    copy = tmp_path / "kitchen"
    shutil.copytree(PHOTOS, copy, ignore=shutil.ignore_patterns("game", "test"))
    (copy / "report.html").write_text(REPORT)
    (copy / "model.npz").write_bytes(b"new")
    (copy / "model-before.npz").write_bytes(b"old")
    return copy


@pytest.fixture
def app(table, make_app, folder):
    return make_app(table, copy=folder)


ONLY_THE_HOSTS = ["/api/host/copy", "/report", "/trace", "/api/trace", "/api/trace/photo.jpg"]


@pytest.mark.parametrize("path", ONLY_THE_HOSTS)
def test_all_of_it_is_the_hosts(phone, path):
    assert phone().get(path).status_code == phone("bull").get(path).status_code == 403
    assert phone("host").get(path).status_code == 200


def test_only_the_host_takes_back_what_was_learnt_and_draws(phone, folder):
    bull = phone("bull")
    for path in ("/api/host/unlearn", "/api/trace", "/api/trace/corners", "/api/trace/save"):
        assert bull.post(path, {}).status_code == 403
    assert (folder / "model-before.npz").is_file() and not (folder / "plan.toml").exists()


def test_what_was_learnt_is_taken_back_once(phone, folder):
    host = phone("host")
    assert host.get("/api/host/copy").json == {
        "folder": "kitchen",
        "report": True,
        "learnt": True,
        "photo": "empty-1.jpg",
    }
    assert host.post("/api/host/unlearn", {}).json["learnt"] is False
    assert (folder / "model.npz").read_bytes() == b"old"
    assert host.post("/api/host/unlearn", {}).status_code == 409


def test_the_plan_is_drawn_on_the_copys_own_photo_and_lies_beside_it(phone, folder):
    host = phone("host")
    drawing = host.get("/api/trace").json["drawing"]
    assert host.get("/api/trace/photo.jpg").data[:2] == b"\xff\xd8"
    assert (
        host.post("/api/trace/save", {"drawing": drawing}).json["saved"] is True
        and (folder / "plan.toml").is_file()
    )
    assert (
        host.post("/api/trace", {"drawing": {**drawing, "sites": "x" * 100_000}}).status_code == 400
    ), "room for a whole map"


def test_without_a_copy_there_is_nothing_to_see(make_app, table):
    host = Phone(make_app(table))
    assert host.post("/api/host", {"pin": "12345678"}).status_code == 200
    assert (
        host.get("/api/host/copy").json == {}
        and host.get("/report").status_code == host.get("/trace").status_code == 404
    )


def test_the_report_keeps_its_look_and_nothing_else_may_run(visit, folder):
    (folder / "report.html").write_text(
        REPORT.replace("</main>", "</main><script>document.title = 'ran'</script>")
    )
    page = visit("join", seat="host", expected=["script-src", "default-src", "inline script"])
    page.get_by_role("link", name="How well this copy is read").click()
    page.wait_for_selector("h1")
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(1, 2, 3)"
    assert (
        page.evaluate("document.querySelector('img').naturalWidth") == 7
        and page.title() == "Report"
    )


def test_the_hosts_page_leads_there(visit, folder):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit("join", seat="host")
    page.wait_for_selector("#copy-panel:not([hidden]) button")
    assert explained(axe.run(page)) == [] and fits(page)
    page.get_by_role("button", name="Take back what it learnt").click()
    page.wait_for_selector("#copy-panel button", state="detached")
    assert (folder / "model.npz").read_bytes() == b"old"
    page.get_by_role("link", name="Correct its plan").click()
    page.wait_for_selector("#photo svg image")
    page.wait_for_selector("body[data-ready]")
    assert fits(page) and explained(axe.run(page)) == []
    assert "nilometer calibrate kitchen" in page.locator("main").inner_text()
    page.get_by_role("link", name="Back").click()
    page.wait_for_url("**/join")


def test_the_report_is_told_in_the_language_of_the_phone(phone, folder):
    """Sentences carry their template; what carries none, or a broken one, stays as it was written."""
    said = '<span data-say="{}">English</span>'
    inner = {
        "t": "read as {got}, {share} % sure",
        "a": {"got": {"t": "something else"}, "share": "<98>"},
    }
    carried = [escape(json.dumps(inner)), "{", escape('{"t": "no {such}", "a": {"x": 1}}')]
    lines = "|".join([*(said.format(c) for c in carried), "plain"])
    (folder / "report.html").write_text(
        REPORT.replace("<html lang='en'>", '<html lang="en">').replace("</main>", lines + "</main>")
    )
    host = phone("host")
    dutch = host.get("/report", headers={"Accept-Language": "nl"}).text
    assert (
        "gelezen als iets anders, &lt;98&gt;\u00a0% zeker|English|English|plain" in dutch
        and '<html lang="nl">' in dutch
    )
    policy = host.get("/report").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src" not in policy and "unsafe" not in policy
    english = host.get("/report", headers={"Accept-Language": "en"}).text
    assert "read as something else, &lt;98&gt; % sure|" in english and '<html lang="en">' in english
