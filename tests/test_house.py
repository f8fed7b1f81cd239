"""The house keeps its order (docs/contracts.md, The rooms): who imports whom, and who knows a
game's name."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import engine

ROOT = Path(__file__).resolve().parent.parent
ROOMS = (
    "engine",
    "vision",
    "hardware",
    "calibration",
    "companion",
    "companion_web",
    "devtools",
    "cli",
)
MAY = {
    "engine": set(),
    "vision": set(),
    "hardware": set(),
    "calibration": {"vision", "engine"},
    "companion": {"calibration", "hardware", "vision", "engine"},
    "companion_web": {"companion", "calibration", "vision", "engine"},
    "devtools": set(ROOMS) - {"cli"},
    "cli": set(ROOMS),
}


def files(room):
    return sorted((ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_imports_only_what_it_may(room):
    for path in files(room):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                top = name.split(".")[0]
                assert top not in ROOMS or top == room or top in MAY[room], (
                    f"{path}: {room} may not import {top}"
                )


@pytest.mark.parametrize("room", [r for r in ROOMS if r != "vision"])
def test_no_modules_import_each_other_in_a_circle(room):
    """Imports inside functions and those for types count too; a package that names its own modules
    does not. vision is still to come."""
    modules = {
        ".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p
        for p in files(room)
    }
    arrows = {}
    for name, path in modules.items():
        wanted = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                wanted |= {a.name for a in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                whole = {f"{node.module}.{a.name}" for a in node.names} & set(modules)
                wanted |= whole or {node.module}
        arrows[name] = wanted & set(modules) - {name}
    assert circle_in(arrows) is None


def circle_in(arrows):
    """Names along a circle of arrows (name -> names), or None"""
    done = set()

    def walk(name, path):
        if name in path:
            return [*path[path.index(name) :], name]
        if name not in done:
            for other in sorted(arrows[name]):
                if found := walk(other, [*path, name]):
                    return found
            done.add(name)
        return None

    return next((c for name in sorted(arrows) if (c := walk(name, []))), None)


def test_a_circle_is_found():
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}) is None


@pytest.mark.parametrize("room", [r for r in ROOMS if r != "engine"])
def test_only_the_engine_knows_a_games_name(room):
    word = re.compile(r"['\"](" + "|".join(engine.games()) + r")['\"]")
    for path in [*files(room), *(ROOT / room).rglob("*.js"), *(ROOT / room).rglob("*.html")]:
        for n, line in enumerate(path.read_text().splitlines(), 1):
            assert not word.search(line), f"{path}:{n} names a game: {line.strip()}"


def test_engine_does_no_input_or_output():
    for path in files("engine"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("open", "print", "input"), (
                    f"{path}:{node.lineno} calls {node.func.id}"
                )


def test_no_model_file_depends_on_where_a_module_lies():
    looked_up = re.compile(r"sys\.modules|inspect\.signature|__module__|__qualname__")
    for room in ("vision", "calibration"):
        for path in files(room):
            assert not looked_up.search(path.read_text()), f"{path}: pack and unpack by name"


def without_docstrings(room):
    """Public names of a room that say nothing of themselves; a method may inherit what it says."""
    for path in files(room):
        parts = path.relative_to(ROOT).with_suffix("").parts
        # calibration's packages and the network are still to come
        owing = len(parts) > 2 if room == "calibration" else "learned" in parts
        if owing or parts[-1] in ("__init__", "__main__"):
            continue
        module = importlib.import_module(".".join(parts))
        for name, value in vars(module).items():
            own = getattr(value, "__module__", None) == module.__name__
            if name.startswith("_") or not own:
                continue
            if inspect.isclass(value):
                if not vars(value).get("__doc__"):
                    yield f"{module.__name__}.{name}"
                for inner, member in vars(value).items():
                    known = isinstance(member, (property, classmethod, staticmethod))
                    known = known or inspect.isfunction(member)
                    lambdas = getattr(member, "__name__", inner) == "<lambda>"
                    if not inner.startswith("_") and known and not lambdas:
                        if not inspect.getdoc(getattr(value, inner)):
                            yield f"{module.__name__}.{name}.{inner}"
            elif inspect.isfunction(value) and value.__name__ != "<lambda>" and not value.__doc__:
                yield f"{module.__name__}.{name}"


@pytest.mark.parametrize("room", ["calibration", "companion", "engine", "hardware", "vision"])
def test_public_names_say_what_they_are(room):
    """The list of rooms only grows."""
    assert list(without_docstrings(room)) == []


FLOORS = (  # of vision, each standing on those before it only
    "storage",
    "kernels",
    "plan",
    "evidence",
    "geometry",
    "frame_cache",
    "photometry",
    "registration",
    "placement",
    "motion",
    "learned",
    "reader",
)


def test_packages_of_vision_stand_on_each_other():
    """From files and values at the bottom to the whole eye on top: no circle, and no way up"""
    for path in files("vision"):
        own = path.relative_to(ROOT / "vision").with_suffix("").parts[0]
        if own == "__init__":
            continue
        for name in imported(path):
            parts = name.split(".")
            if parts[0] == "vision" and len(parts) > 1 and parts[1] != own:
                assert FLOORS.index(parts[1]) < FLOORS.index(own), f"{path} imports {name}"


def imported(path):
    """Dotted names of the modules that a file imports"""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{a.name}" for a in node.names)


def test_learning_goes_from_cutouts_to_made_up_boards_to_training():
    """Each of calibration's packages that teach stands on those before it only"""
    stages = ("cutouts", "synthesis", "training")
    for path in files("calibration"):
        own = path.relative_to(ROOT / "calibration").parts[0]
        for name in imported(path) if own in stages else ():
            room, *parts = name.split(".")
            if room == "calibration" and parts[0] in stages:
                assert stages.index(parts[0]) <= stages.index(own), f"{path} imports {name}"


def test_vision_takes_no_name_apart():
    """Which pieces lie below others, look alike or lie alike is the plan's to say, not that of
    kinds' names and sites' ids"""
    names = r"(?:\b|\.)(?:site|kind|name|id|tag)s?(?:\.id)?"
    parsing = re.compile(
        rf"startswith\(\(?[\"']\w+:|{names}\.(?:r?split|r?partition|startswith)\(|re\.\w+\([^)]*{names}\)"
    )
    for path in (*files("vision"), *files("calibration")):
        where = path.relative_to(ROOT).as_posix()
        if where == "vision/plan.py":
            continue
        for n, line in enumerate(path.read_text().splitlines(), 1):
            assert not parsing.search(line), f"{where}:{n} takes a name apart: {line.strip()}"


NAMED = [
    *(f"vision/{part}" for part in FLOORS),
    "calibration/survey",
    "calibration/empty_board",
    "calibration/cutouts",
    "calibration/synthesis",
    "calibration/training",
]


def top_level(path):
    """(name, is a function) of the functions, classes and constants of a file"""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, isinstance(node, ast.FunctionDef)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in ast.walk(node):
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    yield target.id, False


def named_files():
    """What is to stay of vision and calibration; the modules beside calibration's packages too"""
    for part in NAMED:
        folder = ROOT / part
        yield from sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    yield from sorted((ROOT / "calibration").glob("*.py"))


def test_no_name_of_the_eye_means_two_things():
    """Functions, classes and constants of vision and calibration"""
    homes = {}
    for path in named_files():
        for name, _ in top_level(path):
            where = path.relative_to(ROOT).as_posix()
            if not name.startswith("_"):
                assert name not in homes, f"{name} is in {where} and {homes[name]}"
                homes[name] = where


# `say("...")` marks a sentence for translation, `engine.game("ur")` is the way into the engine;
# `command` and `main` are what click and Python's own tools call them
SHORT = {"say", "game", "games", "command", "cli", "main"}

# here a name that begins with an underscore needs two words as well
PRIVATE_TOO = (
    "engine",
    "companion",
    "cli",
    "devtools",
    "hardware",
    "vision/storage",
    "calibration/cutouts",
    "calibration/synthesis",
    "calibration/training",
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "calibration").glob("*.py"))),
)


def test_functions_are_named_in_two_words():
    """The lists of rooms only grow."""
    rooms = ("hardware", "engine", "companion", "companion_web", "cli", "devtools")
    for path in (*named_files(), *(path for room in rooms for path in files(room))):
        where = path.relative_to(ROOT).as_posix()
        for name, is_function in top_level(path):
            words = name.strip("_") if where.startswith(PRIVATE_TOO) else name
            assert not is_function or "_" in words or words in SHORT, f"{where}: {name} is one word"


def test_no_name_of_the_table_or_the_tools_means_two_things():
    """Functions and classes of companion, cli and devtools, private ones too"""
    for room in ("companion", "cli", "devtools"):
        homes = {}
        for path in files(room):
            where = path.relative_to(ROOT).as_posix()
            for name, is_function in top_level(path):
                if (is_function or name[:1].isupper() and not name.isupper()) and name not in SHORT:
                    assert name not in homes, f"{name} is in {where} and {homes[name]}"
                    homes[name] = where
