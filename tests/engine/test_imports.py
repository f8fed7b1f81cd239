"""No module of the engine needs one that needs it, not even for a type or inside a function."""

import ast
import graphlib
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[2] / "engine"


def module_name(path):
    parts = path.relative_to(ENGINE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(ENGINE.rglob("*.py"))}


def imported_by(path):
    """The engine's modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in FILES)
        elif isinstance(node, ast.ImportFrom) and node.module in FILES:
            for a in node.names:
                inner = f"{node.module}.{a.name}"
                yield inner if inner in FILES else node.module


def test_no_module_is_needed_by_what_it_needs():
    graph = {name: set(imported_by(path)) for name, path in FILES.items()}
    graphlib.TopologicalSorter(graph).prepare()  # CycleError names the modules of a circle
