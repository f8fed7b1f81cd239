"""One process makes what others ask for too."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sharing import made_once

ROOT = Path(__file__).resolve().parent.parent.parent
ASK = """
import sys, time
from pathlib import Path
from tests.support.sharing import made_once

class Factory:
    def getbasetemp(self):
        return Path(sys.argv[1])

def make(folder):
    (Path(sys.argv[1]) / f"made-by-{sys.argv[2]}").touch()
    time.sleep(0.2)
    (folder / "whole").touch()

print((made_once(Factory(), "thing", make) / "whole").is_file())
"""


class Factory:
    def __init__(self, folder):
        self.folder = folder

    def getbasetemp(self):
        return self.folder


def test_one_of_several_processes_makes_it_and_all_have_it_whole(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    asking = [
        subprocess.Popen(
            [sys.executable, "-c", ASK, str(tmp_path), str(n)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    assert [process.communicate()[0] for process in asking] == ["True\n"] * 3
    assert len(list(tmp_path.glob("made-by-*"))) == 1


def test_workers_of_one_run_share_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw1")
    made = []
    for worker in ("gw0", "gw1"):
        (tmp_path / worker).mkdir()
        assert made_once(Factory(tmp_path / worker), "thing", made.append).parent == tmp_path
    assert len(made) == 1


def test_what_failed_is_tried_again(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)

    def fails(folder):
        (folder / "part").touch()
        raise ValueError

    with pytest.raises(ValueError):
        made_once(Factory(tmp_path), "thing", fails)
    assert list(made_once(Factory(tmp_path), "thing", lambda folder: None).iterdir()) == []
