"""Configurations that nobody would write, and somebody does: one line that names the file."""

import pytest

from cli.rescue import web_part
from companion.fault import Fault
from companion.runtime.config import Web, is_begun, load_config, owners_part

NONSENSE = {
    "no TOML": b'copy = "x\n',
    "no text": b"\xff\xfe copy",
    "lists in lists": b"a = " + b"[" * 5000 + b"]" * 5000,
    "a number without end": b"looks_per_second = " + b"9" * 5000,
    "not a number": b'copy = "x"\nlooks_per_second = nan\n',
    "no such port": b'copy = "x"\n[web]\nport = 99999\n',
    "an unknown setting": b'copy = "x"\ngamee = "ur"\n',
}


@pytest.mark.parametrize("what", NONSENSE)
@pytest.mark.parametrize("load", [load_config, owners_part])
def test_a_broken_configuration_is_one_line_with_its_file(tmp_path, what, load):
    path = tmp_path / "nilometer.toml"
    path.write_bytes(NONSENSE[what])
    with pytest.raises(Fault) as told:
        load(path)
    assert "nilometer.toml" in str(told.value) and "\n" not in str(told.value)


@pytest.mark.parametrize("what", list(NONSENSE)[:4])
def test_what_cannot_be_read_counts_as_begun(tmp_path, what):
    path = tmp_path / "nilometer.toml"
    path.write_bytes(NONSENSE[what])
    assert is_begun(path)


@pytest.mark.parametrize("what", list(NONSENSE)[:4])
def test_the_page_that_tells_of_it_is_served_as_usual(tmp_path, what):
    path = tmp_path / "nilometer.toml"
    path.write_bytes(NONSENSE[what])
    assert web_part(str(path)) == Web()
