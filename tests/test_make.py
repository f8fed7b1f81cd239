"""`make install` in any order, with a Python that only writes down what it is told; and the lock
files it installs from."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYTHON = """#!/bin/sh
case "$*" in *version_info*) echo 3.13; exit;; esac
echo "$*" >>"{log}"
if [ "$1 $2" = "-m venv" ]; then
    for last; do :; done
    mkdir -p "$last/bin" "$last/lib/python3.13"
    cp "$0" "$last/bin/python"
fi
"""
TRIPLES = [
    (python, machine) for python in ("3.11", "3.12", "3.13") for machine in ("x86_64", "aarch64")
]


@pytest.fixture
def install(tmp_path):
    """install() -> what python was told, since the last time; `site` is Debian's folder of
    packages, `path` where programs are"""
    log, python, site, path = (tmp_path / name for name in ("log", "python", "site", "path"))
    python.write_text(PYTHON.format(log=log))
    python.chmod(0o755)
    site.mkdir()
    path.mkdir()
    for program in ("sh", "mkdir", "cp", "rm", "touch", "cat", "make"):
        (path / program).symlink_to(shutil.which(program))

    def run(*more):
        log.write_text("")
        here = f"PYTHON={python}", f"SITE={site}", f"VENV={tmp_path / 'venv'}"
        done = subprocess.run(
            ["make", "install", *more, *here],
            cwd=ROOT,
            text=True,
            capture_output=True,
            env={**os.environ, "PATH": str(path), "MAKEFLAGS": ""},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        said = [line.replace(str(tmp_path), "") for line in log.read_text().splitlines()]
        assert "compileall" in said.pop(), "whatever else there was to do"
        return said

    run.site, run.path = site, path
    return run


def test_what_has_come_since_is_taken_up(install):
    first = install()
    assert (
        first[0].split() == ["-m", "venv", "--clear", "/venv"]
        and "--require-hashes -r locks/base.txt" in first[1]
    )
    assert (
        "--no-deps --no-build-isolation -e ." in first[-2]
        and sum("locks/learn.txt" in line for line in first) == 1
    )
    assert install() == []
    assert not any("learn" in line for line in install("LEARN=")) and install("LEARN=") == []
    assert any("learn" in line for line in install())
    (install.site / "lgpio.py").touch()
    pins = install()
    assert (
        pins[0].split() == ["-m", "venv", "--system-site-packages", "/venv"]
        and "locks/base.txt" in pins[1]
    )
    (install.site / "picamera2").mkdir()
    assert "locks/pi.txt" in install()[1] and install() == []
    (install.path / "gcc").write_text("#!/bin/sh\n")
    (install.path / "gcc").chmod(0o755)
    assert "-e ." in install()[-2] and install() == [], "the kernels are compiled now"
    shutil.rmtree(install.site / "picamera2")
    assert "locks/base.txt" in install()[1]


def test_an_install_that_fails_says_why_and_is_tried_again(install, tmp_path):
    install()
    python = tmp_path / "venv" / "bin" / "python"
    (install.site / "picamera2").mkdir()
    failing = 'case "$*" in *require-hashes*) echo "no network"; exit 1;; esac\n'
    (tmp_path / "python").write_text((tmp_path / "python").read_text() + failing)
    python.unlink()
    for _ in range(2):
        with pytest.raises(AssertionError, match="no network"):
            install()


def pinned(name, python, machine):
    """{package: (version, hashes)} of a lock file for one Python on one processor"""
    from packaging.markers import Marker

    here = {
        "python_version": python,
        "python_full_version": f"{python}.5",
        "platform_machine": machine,
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }
    found = {}
    for entry in re.split(r"\n(?=\w)", (ROOT / "locks" / f"{name}.txt").read_text()):
        line = re.match(r"([\w.-]+)==([\w.]+)(?: ; (.+?))? \\\n", entry)
        if line and (line[3] is None or Marker(line[3]).evaluate(here)):
            assert line[1] not in found, (name, line[1])
            found[line[1]] = line[2], re.findall(r"sha256:[0-9a-f]{64}", entry)
    return found


@pytest.mark.parametrize("python, machine", TRIPLES)
def test_every_dependency_is_pinned_with_hashes_for_every_python_and_processor(python, machine):
    pytest.importorskip("packaging")
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    base = pinned("base", python, machine)
    building = [*project["dependency-groups"]["build"], *project["build-system"]["requires"]]
    wanted = {"base": [*project["project"]["dependencies"], *building], **extras}
    for name, requirements in wanted.items():
        have = pinned(name, python, machine)
        assert base.items() <= have.items(), f"{name}: one version of everything"
        for requirement in map(Requirement, requirements):
            if requirement.marker is None or requirement.marker.evaluate(
                {"python_version": python}
            ):
                version, hashes = have[requirement.name]
                assert version in requirement.specifier and hashes, f"{requirement}: make lock"
