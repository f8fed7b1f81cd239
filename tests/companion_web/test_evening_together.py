"""Two phones and a television at one real table, for the last third of a game, to its end: all of
them say the same, and nobody's script complains."""

from pathlib import Path

import pytest

import companion_web
import engine
from companion.simulate.players import Players
from companion.table.table import Table
from engine import script
from tests.companion_web.support.browsing import PHONE, until

URS = Path(__file__).parent.parent / "companion/whole/ur-four.play"
TELEVISION = {"width": 1280, "height": 720}
LANGUAGES = {"tigris": "de-DE", "ur": "fr-FR", "nile": "nl-NL", "deluge": "en-GB"}
LOOKS = 4  # between when they are opened and the end, how often all pages are compared
MOST = 1500


@pytest.mark.slow
@pytest.mark.parametrize("game", sorted(LANGUAGES))
def test_two_phones_and_a_television_to_the_end(chromium, tmp_path, game):
    found = engine.game(game)
    table = Table(
        script.parse_script(URS.read_text(encoding="utf-8")).start()
        if game == "ur"  # made-up players are long about a whole game of it
        else found.new([s.id for s in found.seats[: found.players[1]]])
    )
    ahead, players = table.state, Players(1)  # the whole game, played beforehand
    acts = []
    while ahead.outcome() is None and len(acts) < MOST:
        chances = [a for a, _ in ahead.chance()]
        act = players.rng.choice(chances) if chances else players.choose(ahead)
        acts.append(str(act))
        ahead = ahead.apply(ahead.parse(acts[-1]))
    assert ahead.outcome() is not None
    app = companion_web.create_app(table, companion_web.Settings(name="Kitchen"))
    server, web = companion_web.serve_app(app, "127.0.0.1", 0), companion_web.web_of(app)
    complaints, contexts = [], []

    def opened(path, size, seat=None):
        context = chromium.new_context(viewport=size, locale=LANGUAGES[game])
        contexts.append(context)
        if seat:
            token = web.access.seat(seat)
            cookie = {"name": "nilometer_seat", "value": token, "url": server.url}
            context.add_cookies([{**cookie, "httpOnly": True}])
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("response", lambda r: complaints.append(r.url) if r.status >= 400 else None)
        page.goto(server.url + path)
        page.wait_for_selector("svg.twin")
        return page

    try:
        # opened late: following the earlier moves too takes three times as long, and shows no more
        before = 2 * len(acts) // 3
        for act in acts[:before]:
            table.declare(act, "test")
        seats = list(table.state.seats)
        pages = [opened("", PHONE, seats[0]), opened("", PHONE, seats[1]), opened("tv", TELEVISION)]
        for n, act in enumerate(acts[before:], before):
            table.declare(act, "test")
            if (n - before) % ((len(acts) - before) // LOOKS) == 0 or n == len(acts) - 1:
                compare(pages, table, web)
        for page in pages:
            assert page.evaluate(
                "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            )
        won = len(table.state.outcome().winners)
        assert [page.locator("#players .badge.won").count() for page in pages[:2]] == [won, won]
        assert pages[2].locator("#scores").inner_text().count("★") == won
        assert complaints == []
    finally:
        for context in contexts:
            context.close()
        server.stop()


def compare(pages, table, web):
    """Every page has come as far as the table, and shows the same pieces and the same verdict."""
    web.feed.refresh()
    lying = sum(bool(c) for c in table.state.layout().values())
    heads, pieces = set(), set()
    for page in pages:
        until(page, f"Number(document.body.dataset.ready) >= {web.feed.frame.serial}")
        heads.add(page.locator("#verdict-head").inner_text())
        pieces.add(page.locator(".pieces > [data-site]").count())
    assert len(heads) == 1 and len(pieces) == 1, (heads, pieces)
    assert pieces == {lying} or table.verdict.wrong
