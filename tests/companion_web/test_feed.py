"""Snapshots, what changes between them, and the stream that carries it."""

import json
import threading
import time

from hypothesis import given, settings
from hypothesis import strategies as st

import companion_web
from companion_web.access import LOOKER, Access, Viewer
from companion_web.blueprints.stream import stream_events
from companion_web.feed import Feed, Streams
from companion_web.redaction import snapshot_change

contents = st.lists(st.sampled_from(["temple", "farm"]), min_size=1, max_size=2)
snapshots = st.fixed_dictionaries(
    {
        "version": st.integers(1, 3),
        "layout": st.dictionaries(st.sampled_from("ABCD"), contents, max_size=4),
        "moves": st.lists(st.fixed_dictionaries({"event": st.integers(1, 4)}), max_size=4),
    },
    optional={"question": st.none() | st.just({"id": "q1"}), "trouble": st.integers(0, 2)},
)


def patched(shown, diff):
    """As static/js/follow.js does it."""
    out = {**shown, **{k: v for k, v in diff.items() if k not in ("gone", "sites", "moved")}}
    for key in diff.get("gone", ()):
        del out[key]
    if "sites" in diff:
        out["layout"] = {s: c for s, c in {**shown["layout"], **diff["sites"]}.items() if c}
    if "moved" in diff:
        out["moves"] = shown["moves"][: diff["moved"]["keep"]] + diff["moved"]["then"]
    return out


@settings(deadline=None, max_examples=200, derandomize=True)
@given(snapshots, snapshots)
def test_a_page_that_takes_the_change_shows_the_new_snapshot(old, new):
    assert patched(old, snapshot_change(old, new)) == new


def test_a_change_is_far_smaller_than_a_snapshot(table):
    feed = Feed(table, dict)
    for n in range(60):
        table.act(f"bull: tile red {n}", f"S{n}", ["temple"])
    feed.refresh()
    before, whole = feed.message(LOOKER)
    table.act("lion: tile red C4", "C4", ["temple"])
    feed.refresh()
    _, little = feed.message(LOOKER, before)
    assert len(little) < len(whole) / 5


def parse(chunks):
    """[(event, data), ...]"""
    out = []
    for block in b"".join(chunks).decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in fields:
            out.append((fields["event"], json.loads(fields["data"])))
    return out


def test_everything_first_then_what_changes_then_beats(table):
    feed, access = Feed(table, dict), Access("1")
    feed.start()
    stream = stream_events(feed, access, None, lambda: False, heartbeat=0.15)
    got = [next(stream), next(stream)]
    table.act("bull: tile red C4", "C4", ["temple"])
    got += [next(stream), next(stream)]
    feed.close()
    got += list(stream)
    said = parse(got)
    assert [name for name, _ in said] == ["snapshot", "change", "beat", "bye"]
    assert said[1][1]["sites"] == {"C4": ["temple"]} and len(said[1][1]["moved"]["then"]) == 1


def test_a_phone_that_is_far_behind_gets_everything(table):
    feed = Feed(table, dict)
    serial, _ = feed.message(LOOKER)
    for n in range(20):
        table.act("bull: tile red C4", "C4", ["temple"] * n)
        feed.refresh()
    assert b"event: snapshot" in feed.message(LOOKER, serial)[1]


def test_a_freed_seat_sees_no_more_than_a_looker(table):
    table.settings["hidden_scores"] = True
    feed, access = Feed(table, dict), Access("1")
    token = access.seat("bull")
    stream = stream_events(feed, access, token, lambda: False, heartbeat=9)
    own = parse([next(stream), next(stream)])[0][1]
    assert set(own["scores"]) == {"bull"}
    access.free("bull")
    feed.touch()
    ((name, after),) = parse([next(stream)])
    assert name == "snapshot" and after["scores"] == {} and after["you"]["seats"] == []
    stream.close()


def test_a_phone_that_is_gone_ends_its_stream(table):
    feed, here = Feed(table, dict), [True]
    stream = stream_events(feed, Access("1"), None, lambda: not here[0], heartbeat=0.05)
    next(stream), next(stream)
    here[0] = False
    began = time.monotonic()
    list(stream)
    assert time.monotonic() - began < 1


def test_the_table_failing_once_does_not_end_the_feed(table, eventually):
    feed = Feed(table, dict)
    feed.start()
    plain = table.snapshot
    table.snapshot = lambda: 1 / 0
    table.tell()
    time.sleep(0.05)
    table.snapshot = plain
    table.act("bull: tile red C4", "C4", ["temple"])
    eventually(lambda: feed.frame.snapshot["layout"].get("C4") == ["temple"])
    feed.close()


def test_the_last_frame_is_there_while_the_next_one_is_made(table):
    """A request that came in just then was answered with an error"""
    asked = []
    feed = Feed(table, lambda: asked and asked[0]() or {})
    asked.append(lambda: seen.append(feed.frame.serial))
    seen = []
    feed.touch()
    assert seen == [feed.frame.serial - 1]


def test_a_hundred_phones_are_told_at_once(table):
    """The feed alone: from the table's change to the last of 100 threads holding the encoded
    message."""
    feed, access, late = Feed(table, dict), Access("1"), []
    feed.start()
    ready, done = threading.Barrier(101), []

    def follow():
        stream = stream_events(feed, access, None, lambda: False, heartbeat=60)
        next(stream), next(stream)
        ready.wait()
        next(stream)
        done.append(time.monotonic())

    threads = [threading.Thread(target=follow) for _ in range(100)]
    [t.start() for t in threads]
    ready.wait()
    began = time.monotonic()
    table.act("bull: tile red C4", "C4", ["temple"])
    [t.join(5) for t in threads]
    late = [t - began for t in done]
    feed.close()
    assert len(late) == 100 and max(late) < 1.5, f"{max(late):.3f} s"


def test_no_room_is_kept_for_lookers_but_for_seats():
    streams = Streams(2, 1, per_address=2)
    first = streams.enter("127.0.0.1", False)
    assert first and streams.enter("127.0.0.1", False)
    assert (
        not streams.enter("127.0.0.1", False)
        and streams.enter("127.0.0.1", True)
        and not streams.enter("127.0.0.1", True)
    )
    streams.leave(first)
    assert streams.count == 2


def test_one_phone_cannot_take_all_streams():
    streams = Streams(100, 10, per_address=3)
    assert [bool(streams.enter("10.0.0.9", False)) for _ in range(4)] == [True, True, True, False]
    assert streams.enter("10.0.0.8", False)


def test_no_room_is_503_and_when_to_come_back(make_app, table):
    client = make_app(table, max_streams=0, reserved_streams=0).test_client()
    answer = client.get("/api/stream")
    assert (
        answer.status_code == 503
        and int(answer.headers["Retry-After"]) > 0
        and answer.json["error"]
    )


def test_a_stream_that_ended_leaves_its_place(app):
    web = companion_web.web_of(app)
    answer = app.test_client().get("/api/stream")
    assert web.streams.count == 1
    answer.close()
    assert web.streams.count == 0


def test_each_viewer_is_encoded_once(table):
    feed = Feed(table, dict)
    frame = feed.frame
    assert frame.encoded(LOOKER) is frame.encoded(LOOKER)
    assert frame.encoded(Viewer(False, ("bull",))) != frame.encoded(LOOKER)


def test_making_an_application_starts_no_thread(table):
    before = set(threading.enumerate())  # of which some may end meanwhile
    app = companion_web.create_app(table)
    assert set(threading.enumerate()) <= before
    server = companion_web.serve_app(app, "127.0.0.1", 0)
    try:
        table.conclude("busy")
        assert companion_web.web_of(app).feed.wait(1, 5.0) > 1, "who serves follows the table"
    finally:
        server.stop()
