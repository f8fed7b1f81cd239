"""Whose request is answered next, by hand: who has used least, and nobody waits for those that only
wait."""

from types import SimpleNamespace

import pytest

from companion_web import turns
from companion_web.turns import AT_ONCE, PATIENCE_S, REMEMBERED, FairTurns


class Asked(SimpleNamespace):
    """A request of somebody"""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


@pytest.fixture
def dispatcher():
    return FairTurns()


def ask(dispatcher, *askers):
    for asker in askers:
        dispatcher.add_task(Asked(asker=asker))


def served(dispatcher, seconds=0.01):
    """Who is next; it takes so many seconds of the processor"""
    asker, task = dispatcher._next(0)
    dispatcher._worked_on.pop(task)
    dispatcher._note_use(asker, seconds)
    return asker


def test_one_request_of_another_address_does_not_wait_for_a_crowds(dispatcher):
    ask(dispatcher, *"aaaabbbb")
    assert [served(dispatcher), served(dispatcher)] == ["a", "b"]
    ask(dispatcher, "c")
    assert served(dispatcher) == "c"


def test_who_uses_more_is_served_less_often(dispatcher):
    ask(dispatcher, *("dear", "cheap") * 40)
    order = []
    for _ in range(44):
        asker = min(dispatcher._waiting, key=dispatcher._used_by)
        order.append(served(dispatcher, 0.1 if asker == "dear" else 0.01))
    assert 3 <= order.count("dear") <= 5


def test_nobody_saves_turns_up(dispatcher):
    """Who comes late gets a share from then on, not what others had before."""
    ask(dispatcher, *"a" * 60)
    for _ in range(20):
        served(dispatcher)
    ask(dispatcher, *"b" * 20)
    assert 8 <= [served(dispatcher) for _ in range(20)].count("b") <= 12


def test_few_are_worked_on_at_once_and_others_come_when_they_only_wait(dispatcher):
    ask(dispatcher, *"abcdefgh")
    tasks = [dispatcher._next(0)[1] for _ in range(AT_ONCE)]
    assert len(dispatcher._worked_on) == AT_ONCE and dispatcher.is_crowded
    dispatcher.only_waits(tasks[0])
    dispatcher.only_waits(tasks[0])
    assert len(dispatcher._worked_on) == AT_ONCE - 1
    dispatcher._next(0)
    dispatcher._worked_on = {t: 100.0 for t in dispatcher._worked_on}
    dispatcher.look(100.0 + PATIENCE_S / 2)
    assert len(dispatcher._worked_on) == AT_ONCE
    dispatcher.look(100.0 + 2 * PATIENCE_S)
    assert not dispatcher._worked_on


def test_not_everybody_who_ever_came_is_remembered(dispatcher):
    for n in range(3 * REMEMBERED):
        ask(dispatcher, str(n))
        served(dispatcher)
    assert len(dispatcher._used) <= REMEMBERED


def test_a_page_is_served_while_others_wait_for_the_table(make_app, table, monkeypatch):
    """More requests than are worked on at once hang, all of one address; somebody else's page comes
    nevertheless."""
    import http.client
    import threading

    import companion_web

    app = make_app(table)
    go_on, hanging = threading.Event(), threading.Semaphore(0)

    @app.get("/hangs")
    def hangs():
        hanging.release()
        go_on.wait(10)
        return ""

    server = companion_web.serve_app(app, "127.0.0.1", 0)

    def ask_for(path, address):
        line = http.client.HTTPConnection("127.0.0.1", server.port, 5, (address, 0))
        line.request("GET", path)
        answer = line.getresponse()
        answer.read()
        line.close()
        return answer.status

    count = 3 * turns.AT_ONCE
    phones = [threading.Thread(target=ask_for, args=("/hangs", "127.0.0.9")) for _ in range(count)]
    try:
        for phone in phones:
            phone.start()
        for _ in range(count):
            assert hanging.acquire(timeout=5), "those that wait take nobody's turn"
        assert ask_for("/api/snapshot", "127.0.0.10") == 200
    finally:
        go_on.set()
        for phone in phones:
            phone.join(5)
        server.stop()
