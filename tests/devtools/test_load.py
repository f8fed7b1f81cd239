"""The load test, small: it runs against a started server and says its figures."""

import json

import pytest

import companion_web
from devtools.load import CannotMeasure, main, measure_load


@pytest.fixture
def server(make_app, table):
    server = companion_web.serve_app(
        make_app(table, max_streams=20, reserved_streams=0, write_rate=(1e6, 1e6)), "127.0.0.1", 0
    )
    yield server
    server.stop()


def test_it_measures(server, table):
    figures = measure_load(server.url, "12345678", phones=20, changes=6)
    assert figures.followed == 20 and figures.refused == (503, "10")
    assert 0 < figures.change_median_ms < 1000 and 0 < figures.page_median_ms < 1000
    assert companion_web.web_of(server.app).joining and table.heard == [], "the game was left alone"


def test_it_prints_what_it_measured(server, capsys):
    assert main([server.url, "--pin", "12345678", "--phones", "3", "--changes", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["followed"] == 3


def test_more_phones_than_there_is_room_for_is_not_fine(server, capsys):
    companion_web.web_of(server.app).streams.most = 2
    with pytest.raises(CannotMeasure):
        measure_load("http://127.0.0.1:9/", "1", phones=1)
    with pytest.raises(CannotMeasure, match="PIN"):
        measure_load(server.url, "wrong")
