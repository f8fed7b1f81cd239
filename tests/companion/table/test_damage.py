"""Journals as a dying card leaves them: what is lost is noticed, what is left is gone on with,
nothing is thrown away."""

import json
import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

import engine
from calibration import files
from companion.table.games import Shelf
from companion.table.journal import (
    CHECKPOINT,
    BadJournal,
    Count,
    Journal,
    begin_again,
    salvage_events,
    set_aside,
    state_hash,
)
from companion.table.table import Table

EVENTS = 60


def play(table, count, seed=0):
    rng = random.Random(seed)
    while len(table.journal.events()) < count:
        table.declare(str(rng.choice(table.state.legal_actions())))


@pytest.fixture
def table(tmp_path):
    made = Table(engine.game("tigris").setup(["bull", "lion"]), Journal(tmp_path / "g.journal"))
    play(made, EVENTS)
    yield made
    made.journal.close()


def texts(events):
    return [(e.id, e.kind, e.data, e.hash) for e in events]


def copied(folder, endings):
    """The files of a running table's journal, copied elsewhere"""
    there = folder / "copy"
    shutil.rmtree(there, ignore_errors=True)
    there.mkdir()
    for ending in endings:
        shutil.copy(folder / f"g.journal{ending}", there / f"g.journal{ending}")
    return there / "g.journal"


def test_the_file_alone_lacks_the_last_few_events_at_most(table, tmp_path):
    for count in range(EVENTS, EVENTS + 45, 5):
        play(table, count, count)
        alone = Journal(copied(tmp_path, [""]), readonly=True).events()
        whole = table.journal.events()
        assert texts(alone) == texts(whole)[: len(alone)] and len(whole) - len(alone) < CHECKPOINT


def test_all_is_in_the_file_when_the_table_rests(table, tmp_path, monkeypatch):
    play(table, EVENTS + 5)
    monkeypatch.setattr("companion.table.journal.REST_S", 0.0)
    table.journal.rest()
    assert texts(Journal(copied(tmp_path, [""]), readonly=True).events()) == texts(
        table.journal.events()
    )


def test_every_loss_is_noticed_and_what_is_left_is_a_beginning_of_the_game(table, tmp_path):
    """The log cut off, a sector of it or of the file zeroed, either gone: 48 times."""
    play(table, EVENTS + 15)
    truth, rng, lost = texts(table.journal.events()), random.Random(7), 0
    for n in range(48):
        path = copied(tmp_path, ["", "-wal", ".count"])
        target = path.with_name(path.name + rng.choice(("", "-wal")))
        data = bytearray(target.read_bytes())
        at = rng.randrange(len(data))
        if n % 3 == 0:
            target.write_bytes(data[:at])
        elif n % 3 == 1:
            at -= at % 512
            data[at : at + 512] = bytes(512)
            target.write_bytes(data)
        elif n % 6 == 2:
            target.write_bytes(b"")
        else:
            target.unlink()
        good, said = salvage_events(path)
        assert texts(good) == truth[: len(good)] and said == len(truth)
        before = {
            p.name: p.read_bytes() for p in path.parent.iterdir() if not p.name.endswith("-shm")
        }
        try:
            state = Table(None, journal := Journal(path)).state
            journal.close()
            assert state == table.state, "another game, without a word"
        except BadJournal as e:
            lost += 1
            assert str(e).startswith(str(path)) and "\n" not in str(e)
            if before.get("g.journal"):
                assert path.read_bytes()[:100] == before["g.journal"][:100], (
                    "the damaged file stays"
                )
    assert lost > 24


@pytest.mark.parametrize(
    "spoil", [lambda p: p.write_bytes(b""), lambda p: p.unlink()], ids=["empty", "gone"]
)
def test_no_new_game_begins_where_one_was(table, tmp_path, spoil):
    table.journal.close()
    spoil(tmp_path / "g.journal")
    with pytest.raises(BadJournal, match=f"0 of {EVENTS} events"):
        Journal(tmp_path / "g.journal")


def test_a_game_goes_on_from_the_last_good_event(table, tmp_path):
    path = tmp_path / "g.journal"
    states = [line.state for line in table.lines]
    table.journal.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE event SET data=? WHERE id=41", (json.dumps({"action": "bull: swap 6"}),))
    with pytest.raises(BadJournal):
        Table(None, Journal(path))
    damaged = path.read_bytes()
    good, said = salvage_events(path)
    assert (len(good), said) == (40, EVENTS)
    aside = set_aside(path)
    begin_again(path, good)
    again = Table(None, Journal(path))
    assert again.state == states[39] and aside.read_bytes() == damaged, "kept as it was"
    play(again, 45, 3)
    assert Count(tmp_path / "g.journal.count").read() == 45
    again.journal.close()


def test_a_setting_that_is_altered_is_noticed(table, tmp_path):
    """One bit of `hidden_scores`, and what the host hides would be shown."""
    path = tmp_path / "g.journal"
    table.set(hidden_scores=True)
    play(table, EVENTS + 5)
    table.journal.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE event SET data=replace(data, 'hidden_s', 'hidden_c') WHERE id=61")
    with pytest.raises(BadJournal, match="event 61: the setting is not as it was written"):
        Table(None, Journal(path))
    assert len(salvage_events(path)[0]) == EVENTS


def test_settings_of_an_earlier_version_are_read(table, tmp_path):
    table.journal.append([("setting", {"hidden_scores": True}, "host", state_hash(table.state))])
    table.journal.close()
    assert Table(None, Journal(tmp_path / "g.journal")).settings["hidden_scores"]


def test_any_byte_altered_is_noticed_or_does_no_harm(tmp_path):
    """A bit of every 97th byte turned: never another state, another setting, or another fault."""
    path, rng = tmp_path / "g.journal", random.Random(5)
    table = Table(engine.game("tigris").setup(["bull", "lion"]), Journal(path))
    table.set(hidden_scores=True, names={"bull": "Anna"})
    play(table, 20)
    table.journal.close()
    whole, count = path.read_bytes(), Path(f"{path}.count").read_bytes()
    noticed = 0
    for at in range(rng.randrange(97), len(whole), 97):
        for file in tmp_path.iterdir():
            file.unlink()
        data = bytearray(whole)
        data[at] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        Path(f"{path}.count").write_bytes(count)
        Shelf(tmp_path).statistics()
        salvage_events(path)
        try:
            journal = Journal(path)
            try:
                again = Table(None, journal)
                assert (again.state, again.settings) == (table.state, table.settings), at
            finally:
                journal.close()
        except BadJournal:
            noticed += 1
    assert noticed > 20


def test_a_head_that_cannot_be_read_is_a_fault_in_words(table):
    """So that the table's games leave such a file out"""
    table.journal._db.close()
    with pytest.raises(BadJournal):
        table.journal.meta("result")


def test_what_is_set_aside_twice_in_a_second_is_there_twice(tmp_path):
    kept = set()
    for n in range(3):
        (tmp_path / "g.journal").write_bytes(b"%d" % n)
        (tmp_path / "g.journal.count").write_bytes(b"%d" % n)
        kept.add(set_aside(tmp_path / "g.journal"))
    assert sorted(p.read_bytes() for p in kept) == [b"0", b"1", b"2"]


def test_a_power_cut_while_a_file_is_set_aside_is_noticed(table, tmp_path, monkeypatch):
    """Whichever of the renames it comes after: no new game begins where one was."""
    table.journal.close()
    there, real = tmp_path / "g.journal", os.replace
    for cut in range(4):
        left = [cut]

        def replace(old, new, left=left):
            if not left[0]:
                raise KeyboardInterrupt
            real(old, new)
            left[0] -= 1

        here = tmp_path / f"{cut}"
        here.mkdir()
        shutil.copy(there, here), shutil.copy(f"{there}.count", here)
        monkeypatch.setattr("companion.table.journal.os.replace", replace)
        try:
            set_aside(here / "g.journal")
        except KeyboardInterrupt:
            if not (here / "g.journal").exists():
                with pytest.raises(BadJournal, match=f"0 of {EVENTS} events"):
                    Journal(here / "g.journal")


def test_a_newer_journal_is_not_meddled_with(table, tmp_path):
    table.journal._db.execute("UPDATE meta SET value='99' WHERE key='version'")
    with pytest.raises(BadJournal, match="newer"):
        salvage_events(tmp_path / "g.journal")


def test_a_whole_copy_while_it_is_played(table, tmp_path):
    (tmp_path / "download.journal").write_bytes(table.journal.whole())
    copy = Journal(tmp_path / "download.journal")
    assert texts(copy.events()) == texts(table.journal.events())
    assert Table(None, copy).state == table.state
    copy.close()


def test_a_number_that_cannot_be_kept_stops_nobody(tmp_path):
    (tmp_path / "g.journal.count").mkdir()
    table = Table(engine.game("tigris").setup(["bull", "lion"]), Journal(tmp_path / "g.journal"))
    play(table, 5)
    assert len(table.journal.events()) == 5


def test_the_name_of_a_file_written_whole_is_on_the_disk_too(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    files.write_whole(tmp_path / "file", b"1")
    assert synced == [tmp_path]


def test_a_backup_from_the_command_line(table, tmp_path, capsys):
    from cli.main import main

    with pytest.raises(SystemExit) as end:
        main(["journal", str(tmp_path / "g.journal"), "--backup", str(tmp_path / "copy.journal")])
    assert end.value.code == 0 and f"{EVENTS} events" in capsys.readouterr().out
    assert texts(Journal(tmp_path / "copy.journal").events()) == texts(table.journal.events())


def test_a_full_disk_is_told_at_the_start(tmp_path):
    made = Table(engine.game("tigris").setup(["bull", "lion"]), Journal(tmp_path / "g.journal"))
    made.try_writing()
    assert made.trouble is None
    made.journal._db.execute("PRAGMA query_only=ON")
    made.try_writing()
    assert made.trouble is not None and len(made.journal.events()) == 1


def test_the_pictures_folder_is_looked_through_once(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "g.journal", picture_budget=2500)
    journal.keep_picture(1, "after", b"x" * 1000)
    journal = Journal(tmp_path / "g.journal", picture_budget=2500)
    assert journal.pictured() == {1}
    monkeypatch.setattr("pathlib.Path.glob", lambda *_: 1 / 0)
    journal.keep_picture(2, "before", b"x" * 1000), journal.keep_picture(2, "after", b"x" * 1000)
    assert journal.pictured() == {2}


def test_where_no_file_can_be_written_nothing_is_salvaged_and_nothing_breaks(
    table, tmp_path, monkeypatch
):
    """A machine all of whose disks are read-only: the page says so, and must not fail of it."""

    def nowhere(*_, **__):
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("companion.table.journal.tempfile.TemporaryDirectory", nowhere)
    assert salvage_events(tmp_path / "g.journal") == ([], EVENTS)
