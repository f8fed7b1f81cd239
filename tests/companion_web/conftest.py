"""Fixtures of a page's tests: a made-up table, an application, phones."""

import time

import pytest

import companion_web
from companion.setup.setup import Setup
from tests.companion_web.support.browsing import server, visit  # noqa: F401
from tests.companion_web.support.tables import FakeTable, Phone


@pytest.fixture
def table():
    return FakeTable()


@pytest.fixture
def make_app():
    """make_app(table, **settings) -> app that follows its table, as one that is served does"""
    made = []

    def make(table, **settings):
        create = (
            companion_web.create_setup_app if isinstance(table, Setup) else companion_web.create_app
        )
        app = create(table, companion_web.Settings(**{"pin": "1234 5678", **settings}))
        made.append(companion_web.web_of(app))
        made[-1].start()
        return app

    yield make
    for web in made:
        web.stop()


@pytest.fixture
def app(table, make_app):
    return make_app(table)


@pytest.fixture
def phone(app):
    """phone() is a looker, phone("bull") has that seat, phone("host") is the host"""
    count = iter(range(2, 250))

    def make(who=None):
        made = Phone(app, f"10.0.0.{next(count)}")
        if who == "host":
            assert made.post("/api/host", {"pin": "12345678"}).status_code == 200
        elif who:
            made.sit(who)
        return made

    return make


@pytest.fixture
def eventually():
    """eventually(holds): waits until `holds()`, at most three seconds; its value"""

    def wait(holds, seconds=3.0):
        end = time.monotonic() + seconds
        while not (value := holds()):
            assert time.monotonic() < end, "did not come"
            time.sleep(0.01)
        return value

    return wait
