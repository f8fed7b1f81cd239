"""The journal: fold equals live state, undo, damage, newer versions, full disks, kill -9."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

import engine
from calibration.files import write_whole
from companion.table.journal import BadJournal, Journal, export_lines, fold_events, state_hash
from companion.table.table import Gone, Refused, Table


def start(game="tigris", seats=("bull", "lion")):
    return engine.game(game).setup(list(seats))


def play(table, n, seed=0):
    rng = random.Random(seed)
    for _ in range(n):
        actions = table.state.legal_actions()
        if not actions:
            break
        table.declare(str(rng.choice(actions)))


def test_the_fold_is_the_live_state(tmp_path):
    path = tmp_path / "g.journal"
    table = Table(start(), Journal(path))
    play(table, 25)
    lines = fold_events(Journal(path, readonly=True).events())
    assert lines[-1].state == table.state
    again = Table(None, Journal(path))
    assert again.state == table.state and state_hash(again.state) == state_hash(table.state)


def test_undo_goes_back_to_any_event_and_is_journalled(tmp_path):
    table = Table(start(), Journal(tmp_path / "g.journal"))
    states = [table.state]
    for i in range(8):
        play(table, 1, i)
        states.append(table.state)
    table.undo(table.lines[3].event)
    assert table.state == states[3]
    play(table, 2, 99)
    assert fold_events(table.journal.events())[-1].state == table.state
    with pytest.raises(Gone):
        table.undo(10_000)


def test_undo_to_each_event_of_a_game_and_a_restart_after_it(tmp_path):
    first = Table(start(), Journal(tmp_path / "g.journal"))
    play(first, 12)
    for n, line in enumerate(first.lines):
        copy = tmp_path / f"{n}.journal"
        shutil.copy(tmp_path / "g.journal", copy)
        shutil.copy(tmp_path / "g.journal-wal", tmp_path / f"{n}.journal-wal")
        table = Table(None, Journal(copy))
        table.undo(line.event)
        assert table.state == line.state and len(table.lines) == n + 1
        again = Table(None, Journal(copy))
        assert again.state == line.state and len(again.journal.events()) == len(first.lines) + (
            n + 1 < len(first.lines)
        )


def test_a_refused_act_leaves_no_trace():
    table = Table(start())
    n = len(table.journal.events())
    with pytest.raises(Refused) as e:
        table.declare("bull: leader black A1")
    assert "T13" in {v.rule for v in e.value.violations}
    with pytest.raises(engine.BadText):
        table.declare("bull: dance")
    assert len(table.journal.events()) == n


def test_a_full_disk_loses_nothing_and_says_so(tmp_path):
    journal = Journal(tmp_path / "g.journal")
    table = Table(start(), journal)
    play(table, 5)
    before, n = table.state, len(journal.events())
    pages = journal._db.execute("PRAGMA page_count").fetchone()[0]
    journal._db.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(BadJournal, match="disk is full"):
        for i in range(2000):
            before, n = table.state, len(journal.events())
            play(table, 1, i)
    assert table.state == before and len(journal.events()) == n
    assert table.trouble is not None
    journal._db.execute("PRAGMA max_page_count=1000000")
    play(table, 1, 3)
    assert table.trouble is None and fold_events(journal.events())[-1].state == table.state


def test_damaged_newer_or_foreign_files_are_named(tmp_path):
    rubbish = tmp_path / "rubbish.journal"
    rubbish.write_bytes(b"this is no database at all" * 100)
    with pytest.raises(BadJournal, match="rubbish"):
        Journal(rubbish)
    other = tmp_path / "other.db"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE t (x)")
    db.commit()
    with pytest.raises(BadJournal, match="not a journal"):
        Journal(other)
    newer = tmp_path / "newer.journal"
    j = Journal(newer)
    j._db.execute("UPDATE meta SET value='99' WHERE key='version'")
    j.close()
    with pytest.raises(BadJournal, match="newer"):
        Journal(newer)
    with pytest.raises(BadJournal, match="no such file"):
        Journal(tmp_path / "missing.journal", readonly=True)


def test_a_journal_cut_off_is_named(tmp_path):
    path = tmp_path / "g.journal"
    table = Table(start(), Journal(path))
    play(table, 60)
    table.journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    table.journal.close()
    path.write_bytes(path.read_bytes()[:6000])
    with pytest.raises(BadJournal, match="g.journal"):
        fold_events(Journal(path, readonly=True).events())


def test_bytes_altered_anywhere_are_a_bad_journal_or_none(tmp_path):
    """Whatever is damaged: the game comes out as it was, or one line says that it does not."""
    path, spoilt = tmp_path / "g.journal", tmp_path / "spoilt.journal"
    table = Table(start(), Journal(path))
    play(table, 8)
    table.journal.close()
    good, rng, noticed = path.read_bytes(), random.Random(4), 0
    for _ in range(60):
        data = bytearray(good)
        for _ in range(rng.choice((1, 20, 200))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        spoilt.write_bytes(data[: rng.choice((len(data), rng.randrange(len(data))))])
        try:
            journal = Journal(spoilt)
            if journal.events():
                states = [line.state for line in Table(None, journal).lines]
                assert states == [line.state for line in table.lines][: len(states)]
            journal.close()
        except BadJournal as e:
            noticed += "spoilt.journal: " in str(e)
        for end in ("-wal", "-shm"):
            spoilt.with_name(spoilt.name + end).unlink(missing_ok=True)
    assert noticed > 20


def test_an_altered_event_is_noticed(tmp_path):
    path = tmp_path / "g.journal"
    table = Table(start(), Journal(path))
    play(table, 4)
    table.journal._db.execute("UPDATE event SET hash='0' WHERE id=3")
    with pytest.raises(BadJournal, match="event 3"):
        fold_events(table.journal.events())


def test_export_is_json_lines(tmp_path):
    table = Table(start(), Journal(tmp_path / "g.journal"))
    play(table, 3)
    rows = [json.loads(line) for line in export_lines(table.journal.events())]
    assert [r["kind"] for r in rows] == ["start", "action", "action", "action"]


def test_pictures_are_kept_within_their_budget(tmp_path):
    journal = Journal(tmp_path / "g.journal", picture_budget=5000)
    for i in range(1, 20):
        journal.keep_picture(i, "after", b"x" * 1000)
    assert journal.pictured() == {15, 16, 17, 18, 19}
    assert (
        journal.picture(19, "after") == b"x" * 1000
        and journal.picture(19, "../../etc/passwd") is None
    )


CHILD = """
import random, sys, time
import engine
from calibration.files import write_whole
from companion.table.journal import Journal
from companion.table.table import Table
path, seed = sys.argv[1], int(sys.argv[2])
table = Table(engine.game("tigris").setup(["bull", "lion"]), Journal(path))
rng = random.Random(seed)
print("ready", flush=True)
while True:
    actions = table.state.legal_actions()
    if not actions:
        time.sleep(60)
    table.declare(str(rng.choice(actions)))
    print(len(table.lines), table.state.key().hex(), flush=True)
"""


@pytest.mark.parametrize("seed", range(6))
def test_kill_9_at_any_moment(tmp_path, seed):
    """What was said to be done before the kill is there after it; a restart goes on."""
    path = tmp_path / "g.journal"
    out = tmp_path / "out"
    for again in range(2):
        with open(out, "w") as f:
            child = subprocess.Popen(
                [sys.executable, "-c", CHILD, str(path), str(seed + again)], stdout=f
            )
            while "ready" not in out.read_text():
                assert child.poll() is None, "the table could not be opened"
                time.sleep(0.01)
            time.sleep(random.Random(seed * 7 + again).uniform(0.01, 0.4))
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        said = [
            line.split()
            for line in out.read_text().splitlines()
            if line.count(" ") == 1 and line.endswith(tuple("0123456789abcdef"))
        ]
        lines = Table(None, Journal(path)).lines
        if said:
            n, key = int(said[-1][0]), said[-1][1]
            states = [line.state.key().hex() for line in lines]
            assert key in states[-2:] or any(k.startswith(key) for k in states[-2:]), (
                "an acknowledged event is lost"
            )
            assert n in (len(lines), len(lines) - 1)


def test_a_game_that_was_cut_off_is_read_where_nobody_may_write(tmp_path):
    """Its last events stand in SQLite's log, which SQLite itself reads only where it can put a file
    beside it."""
    path = tmp_path / "g.journal"
    journal = Journal(path)
    journal.append([("start", {"n": 1}, "table", "h"), ("action", {"n": 2}, "table", "h")])
    there = {p.name: p.read_bytes() for p in tmp_path.iterdir() if not p.name.endswith("-shm")}
    journal.close()
    assert there["g.journal-wal"], "not yet in the file itself"
    shelf = tmp_path / "card"
    shelf.mkdir()
    for name, data in there.items():
        (shelf / name).write_bytes(data)
    # what a read-only file system comes to: that file cannot be made
    (shelf / "g.journal-shm").mkdir()
    assert [e.data["n"] for e in Journal(shelf / "g.journal", readonly=True).events()] == [1, 2]


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_files_written_whole_keep_their_rights(tmp_path, umask):
    """A new one has what was asked for, whatever the umask is; one that is there keeps its own;
    nothing lies beside it."""
    before = os.umask(umask)
    try:
        open_, secret, kept = tmp_path / "open", tmp_path / "secret", tmp_path / "kept"
        write_whole(open_, b"1", 0o644)
        write_whole(secret, b"1", 0o600)
        kept.write_bytes(b"0")
        kept.chmod(0o640)
        write_whole(kept, b"1")
    finally:
        os.umask(before)
    assert [oct(p.stat().st_mode & 0o777) for p in (open_, secret, kept)] == [
        "0o644",
        "0o600",
        "0o640",
    ]
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == dict.fromkeys(
        ("open", "secret", "kept"), b"1"
    )
    with pytest.raises(OSError, match="missing"):
        write_whole(tmp_path / "missing" / "file", b"1")


@pytest.mark.parametrize(
    "name, mark",
    [
        ("deluge", "c8e7b5381dff83f8"),
        ("nile", "691a82d0d77acdff"),
        ("tigris", "d64c7c96934bd433"),
        ("ur", "2063d1caae1dc2be"),
    ],
)
def test_games_in_older_journals_are_gone_on_with(name, mark):
    """What a game knows of its states may grow, but the marks of those in journals stay: write new
    ones only with a new game"""
    game, rng = engine.game(name), random.Random(3)
    state = game.setup([s.id for s in game.seats[:3]])
    for _ in range(12):
        state = state.apply(state.parse(rng.choice(sorted(map(str, state.legal_actions())))))
    assert state_hash(state) == mark


def test_what_nile_keeps_of_a_card_taken_in_silence_is_no_part_of_the_mark():
    state = engine.game("nile").setup(["red", "blue", "yellow"])
    again = engine.game("nile").load(state.to_json() | {"unsaid": "R3.2"})
    assert again != state and state_hash(again) == state_hash(state)
