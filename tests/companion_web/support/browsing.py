"""A real Chromium for the tests: `visit` opens the page as a phone does, and fails the test for
whatever the browser complains of."""

from urllib.parse import urlsplit

import pytest

import companion_web
from engine import Violation, say

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 800}
PIXEL = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300"
    + "01" * 64
    + "ffc0000b080001000101011100ffc4001f00"
    "00010501010101010100000000000000000102030405060708090a0bffc400b5100002010303020403050504040000017d"
    "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a"
    "3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a929394"
    "95969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8"
    "e9eaf1f2f3f4f5f6f7f8f9faffda0008010100003f00fbd3ffd9"
)

# what is no complaint: of what was loaded ahead, as a busy machine is slow, not wrong; of `worker`
HARMLESS = ("not used within a few seconds", "Service Worker registration blocked by Playwright")


@pytest.fixture
def server(app):
    server = companion_web.serve_app(app, "127.0.0.1", 0)
    yield server
    server.stop()


@pytest.fixture
def visit(chromium, server, app):
    """visit(path, seat, **context) -> a page that is ready. Whatever the console or the network
    complains of fails the test. worker: whether the page's files are kept, which fetches all of
    them once more"""
    complaints, contexts = [], []

    def open_page(path="", seat=None, expected=(), script=None, worker=False, **options):
        usual = {"viewport": PHONE, "locale": "en-GB", "reduced_motion": "reduce"}
        context = chromium.new_context(
            service_workers="allow" if worker else "block", **(usual | options)
        )
        contexts.append(context)
        if seat:
            token = web(app).access.make_host() if seat == "host" else web(app).access.seat(seat)
            context.add_cookies(
                [{"name": "nilometer_seat", "value": token, "url": server.url, "httpOnly": True}]
            )
            web(app).feed.touch()
        page = context.new_page()
        if script:
            page.add_init_script(script)
        page.set_default_timeout(30_000)  # a loaded machine is slow, not wrong

        def heard(message):
            if message.type in ("error", "warning") and not any(
                e in message.text for e in (*expected, *HARMLESS)
            ):
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
    assert not complaints, complaints


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
    return page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def explained(results):
    return [
        f"{v['id']}: {[n['html'][:120] for n in v['nodes']]}"
        for v in results.response["violations"]
    ]


def illegal(table):
    why = say("farms lie on the river")
    table.conclude(
        "illegal",
        actions=["lion: tile blue E4"],
        text=why,
        violations=[Violation("T19", why)],
        back=[say("take {it} off E4", it=say("the farm"))],
    )
