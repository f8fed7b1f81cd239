"""The page answers while a photo is read: reading leaves the interpreter and a processor to it."""

import threading
import time
from pathlib import Path
from urllib.request import urlopen

import cv2

import companion_web
import engine
from companion.runtime.copies import open_copy
from companion.runtime.machine import reading_threads
from companion.table.table import Table
from vision.storage.photo_file import load_photo


def test_pages_are_served_while_photos_are_read(copy):
    specimen = open_copy(copy)
    photos = [load_photo(p) for p in sorted(Path(copy).glob("sampler*.jpg"))[:2]]
    game = engine.game(specimen.game)
    server = companion_web.serve_app(
        companion_web.create_app(Table(game.setup(["bull", "lion"]))), "127.0.0.1", 0
    )
    before, ended, read = cv2.getNumThreads(), threading.Event(), []
    cv2.setNumThreads(reading_threads())

    def look():
        while not ended.is_set():
            read.append(specimen.reader.read(photos[len(read) % len(photos)]))

    reading, took = threading.Thread(target=look), []
    reading.start()
    try:
        while len(read) < 4:
            began = time.monotonic()
            with urlopen(f"{server.url}api/snapshot", timeout=20) as answer:
                assert answer.status == 200
            took.append(time.monotonic() - began)
            time.sleep(0.02)
    finally:
        ended.set()
        reading.join()
        server.stop()
        cv2.setNumThreads(before)
    assert len(took) >= 8, "and more than one page for each photo"
    assert sorted(took)[len(took) // 2] < 1.0
