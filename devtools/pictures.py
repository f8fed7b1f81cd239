"""The pictures in the docs, made by the program itself: `make pictures` (python -m
devtools.pictures [FOLDER]).

Needs playwright and a Chromium, which `make test` sets up. A perfect reader stands in for the real
one, so that no model has to be trained.
"""

from __future__ import annotations

import contextlib
import math
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import msgspec
import numpy as np

import companion_web
import engine
from calibration.files import write_whole
from companion.runtime.club import ONLINE, table_summary
from companion.runtime.config import Club
from companion.runtime.hall import Hall
from companion.setup.setup import Setup
from companion.simulate import Director, plan_of
from companion.simulate.demo_copy import default_game
from companion.simulate.players import Players, wrong_doing
from companion.table.table import Refused, Table
from companion_web.hall import create_hall
from engine.layout import Layout
from vision.evidence.site_evidence import FLOOR, Evidence, Registration, SiteEvidence

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
ACROSS = 820  # pixels of a photo
PHONE, TALL = {"width": 390, "height": 844}, {"width": 390, "height": 1200}
HALL = {"width": 900, "height": 640}
ACTIONS, SEED = 12, 4


def evidence_of(layout: Layout, sites: Any) -> Evidence:
    """What a perfect reader would say about a layout."""
    return Evidence(
        {s: SiteEvidence(((tuple(layout.get(s, ())), math.log(0.998)),), FLOOR) for s in sites},
        Registration("markers", 0.3),
    )


def played_game(name: str, actions: int = ACTIONS, seed: int = SEED) -> tuple[Table, Director]:
    """A game after this many actions, and the simulated board it lies on."""
    game = engine.game(name)
    table = Table(game.setup([s.id for s in game.seats[: max(3, game.players[0])]]))
    director = Director(
        plan_of(name, None)[0], layout=table.state.layout(), seed=seed, sleep=lambda s: None
    )
    players = Players(seed)

    def say(action: engine.Action) -> engine.State:
        with contextlib.suppress(Refused):
            table.declare(str(action), "phone")
        return table.state

    for _ in range(actions):
        turn = players.next(table.state, say)
        if turn.action is None:
            break
        director.set(turn.layout)
        table.look(evidence_of(turn.layout, table.plan.sites), director.picture())
    return table, director


def small_png(image: np.ndarray) -> bytes:
    scale = ACROSS / image.shape[1]
    image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()


@contextlib.contextmanager
def shown_page(
    app: Any, browser: Any, view: dict[str, int], ready: str, host: bool = False
) -> Iterator[Any]:
    """The application's page in a browser, once `ready` selects something in it."""
    server = companion_web.serve_app(app, "127.0.0.1", 0)
    context = browser.new_context(
        viewport=view, locale="en-GB", color_scheme="light", reduced_motion="reduce"
    )
    try:
        if host:
            token = companion_web.web_of(app).access.make_host()
            context.add_cookies(
                [{"name": "nilometer_seat", "value": token, "url": server.url, "httpOnly": True}]
            )
        page = context.new_page()
        page.goto(server.url)
        page.wait_for_selector(ready)
        yield page
    finally:
        context.close()
        server.stop()


def hall_of(tables: list[Table]) -> Any:
    """The hall as it looks when these tables publish, without a broker"""
    hall = Hall(Club("localhost"))
    hall._set(True)
    for n, table in enumerate(tables, 1):
        published = {
            "state": msgspec.json.encode(table_summary(table.snapshot(), f"Table {n}", "")),
            "online": ONLINE.encode(),
        }
        for what, payload in published.items():
            hall._heard(
                None, None, SimpleNamespace(topic=f"nilometer/table-{n}/{what}", payload=payload)
            )
    return create_hall(hall)


def all_pictures(browser: Any) -> Iterator[tuple[str, bytes]]:
    """(file's name, its bytes) of each"""
    name = default_game()
    table, director = played_game(name)
    plain = director.picture()
    yield "from-above.jpg", small_png(plain)
    after = Players(SEED + 2).next(table.state)  # one who reaches far over the board
    # shows a hand
    yield (
        "table.jpg",
        small_png(
            max(director.frames(after.layout), key=lambda frame: cv2.absdiff(frame, plain).mean())
        ),
    )
    director.set(table.state.layout())
    with shown_page(
        companion_web.create_app(table, companion_web.Settings(name="Kitchen table")),
        browser,
        PHONE,
        "svg.twin",
    ) as page:
        yield "page.png", page.screenshot()
        wrong = wrong_doing(table.state, random.Random(SEED))
        if wrong is not None:
            table.look(evidence_of(wrong[1], table.plan.sites))
            page.wait_for_selector("#verdict[data-verdict=illegal]")
            yield "illegal.png", page.screenshot()
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(
            Path(folder) / "nilometer.toml", lambda: (director.picture(), ""), {"kind": "usb"}
        )
        setup.choose(name, [s.id for s in engine.game(name).seats[:3]], {})
        setup.begin("Kitchen table", markers=True)
        assert setup.session is not None
        for number, step in enumerate(setup.session.steps[:2]):
            director.set(step.layout)
            setup.take(number, None)
        with shown_page(
            companion_web.create_setup_app(setup),
            browser,
            TALL,
            "#task .pieces > [data-site]",
            host=True,
        ) as page:
            while not page.locator("img.camera").evaluate("picture => picture.naturalWidth"):
                page.wait_for_timeout(200)
            yield "setup.png", page.locator("#camera-part").screenshot()
    games = [played_game(n, 8, s)[0] for s, n in enumerate(sorted(engine.games()) * 2, 1)][:6]
    with shown_page(hall_of(games), browser, HALL, "#tables li") as page:
        yield "hall.png", page.screenshot()


def main(folder: Path = FOLDER, tell: Callable[[str], object] = print) -> int:
    program = next(
        (c for n in ("chromium", "chromium-browser", "google-chrome") if (c := shutil.which(n))),
        None,
    )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        print(
            "pictures: needs playwright and a Chromium; make test-install sets both up",
            file=sys.stderr,
        )
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for name, data in all_pictures(browser):
            write_whole(folder / name, data)
            tell(f"{folder / name}: {len(data) // 1024} kB")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
