"""Languages: every sentence people can see is in every catalogue, with the same places for its
arguments."""

import ast
import functools
import json
import random
import re
import string
from pathlib import Path

import pytest

import engine
from companion_web import catalogue
from engine.text import Text, pack_text, say

ROOT = Path(catalogue.__file__).resolve().parent.parent
LOCALE = ROOT / "companion_web" / "locale"
OTHERS = sorted(p.stem for p in LOCALE.glob("*.json") if p.stem != "en")


def python_templates(folder):
    """Every constant sentence below a folder: what say(), Text() and Problem() get, and whatever is
    given to a parameter called `template` of the folder's own functions; also `a if b else c`."""
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))
    }
    speaking = {("say", 0), ("Text", 0), ("Problem", 1)}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                names = [a.arg for a in node.args.args if a.arg != "self"]
                if "template" in names:
                    speaking.add((node.name, names.index("template")))
    found = {}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = (
                    node.func.id
                    if isinstance(node.func, ast.Name)
                    else getattr(node.func, "attr", "")
                )
                for spoken, at in speaking:
                    if name == spoken and len(node.args) > at:
                        for text in constants(node.args[at]):
                            found.setdefault(text, path.relative_to(ROOT))
    return found


def constants(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return constants(node.body) + constants(node.orelse)
    return []


def page_templates():
    """What the page itself says, and the calibration's report: scripts and HTML."""
    found, web = {}, ROOT / "companion_web"
    for path in [
        *(web / "static" / "js").glob("*.js"),
        *(web / "templates").glob("*.html"),
        ROOT / "calibration" / "page.html",
    ]:
        for quote, text in re.findall(
            r"""\bsay\((["'])((?:(?!\1)[^\\]|\\.)*)\1""", path.read_text(encoding="utf-8")
        ):
            found.setdefault(text.replace("\\" + quote, quote), path.relative_to(ROOT))
    return found


@functools.cache
def room_templates():
    found = page_templates()
    # words that come as data: colours of points, what found the board
    for word in catalogue.catalogue_of("en")["texts"]:
        found.setdefault(word, Path("companion_web/locale/en.json"))
    games = [path for path in (ROOT / "engine").iterdir() if (path / "plan.toml").is_file()]
    for folder in (ROOT / "companion", ROOT / "companion_web", ROOT / "calibration", *games):
        for text, where in python_templates(folder).items():
            found.setdefault(text, where)
    # Placeholders alone and bare signs are the same in every language.
    return {t: w for t, w in found.items() if re.search(r"[A-Za-z]", re.sub(r"\{\w*\}", "", t))}


def places(template):
    return sorted(name for _, name, _, _ in string.Formatter().parse(template) if name is not None)


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_the_page_says_is_missing(language):
    texts = catalogue.catalogue_of(language)["texts"]
    missing = {
        t: str(w)
        for t, w in room_templates().items()
        if t not in texts and str(w).startswith("companion_web")
    }
    assert missing == {}


COMPLETE = ["de", "fr", "nl"]  # a language somebody adds may fall back to English


@pytest.mark.parametrize("language", COMPLETE)
def test_nothing_the_table_and_the_games_say_is_missing(language):
    texts = catalogue.catalogue_of(language)["texts"]
    missing = {
        t: str(w)
        for t, w in room_templates().items()
        if t not in texts and not str(w).startswith("companion_web")
    }
    assert missing == {}


def sentences(value):
    """Every template inside packed data."""
    if isinstance(value, dict):
        yield from [value["t"]] if isinstance(value.get("t"), str) else []
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from sentences(part)


@pytest.mark.parametrize("game", sorted(engine.games()))
def test_what_a_game_says_while_it_is_played_is_translated(game):
    """Also what no constant in the source shows: sentences put together, names from tables."""
    found, choose = engine.game(game), random.Random(3)
    state = found.new([s.id for s in found.seats[: found.players[0]]])
    said = [
        found.title,
        list(found.options),
        list(found.seats),
        [found.kind_name(k) for k in found.plan().counts],
    ]
    done = []
    for _ in range(60):
        possible = [a for a, _ in state.chance()] or state.legal_actions()
        if not possible:
            break
        said += [state.view(), state.decision(), [state.check(a) for a in done[-3:]]]
        done.append(choose.choice(possible))
        state = state.apply(done[-1])
        said.append(list(state.steps))
    templates = {
        t for t in sentences(pack_text(said)) if re.search(r"[A-Za-z]", re.sub(r"\{\w*\}", "", t))
    }
    assert len(templates) > 20
    for language in COMPLETE:
        assert templates - set(catalogue.catalogue_of(language)["texts"]) == set()


@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_the_same_places(language):
    wrong = [
        t
        for t, said in catalogue.catalogue_of(language)["texts"].items()
        if set(places(said)) - set(places(t))
    ]
    assert wrong == []


def test_the_collector_finds_what_is_there():
    found = room_templates()
    assert (
        "connected again" in found
        and "Skip to the table" in found
        and "only the host may do this" in found
    )


def test_texts_inside_texts_are_translated():
    texts = {"take {what} off": "haal {what} weg", "the farm": "de boerderij"}
    assert (
        say("take {what} off", what=Text("the farm")).translated(lambda t: texts.get(t, t))
        == "haal de boerderij weg"
    )


@pytest.mark.parametrize(
    "wished, accepted, got",
    [
        (None, [], "en"),
        (None, ["nl-BE", "en"], "nl"),
        (None, ["xx", "nl"], "nl"),
        ("en", ["nl"], "en"),
        ("../etc", ["nl"], "nl"),
    ],
)
def test_the_language_is_what_the_phone_asks_for(wished, accepted, got):
    assert catalogue.chosen_language(wished, accepted) == got


def test_another_language_is_one_file(monkeypatch, tmp_path):
    for path in LOCALE.glob("*.json"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "eo.json").write_text(
        json.dumps({"name": "Esperanto", "texts": {"Moves": "Movoj"}})
    )
    monkeypatch.setattr(catalogue, "_FOLDER", tmp_path)
    catalogue.language_names.cache_clear(), catalogue.catalogue_of.cache_clear()
    try:
        assert catalogue.language_names()["eo"] == "Esperanto"
        assert (
            catalogue.translated_text("eo", "Moves") == "Movoj"
            and catalogue.translated_text("eo", "Players") == "Players"
        )
    finally:
        catalogue.language_names.cache_clear(), catalogue.catalogue_of.cache_clear()


@pytest.mark.parametrize(
    "text",
    ["{", '{"name": 1, "texts": {}}', '{"name": "X", "texts": {"a": 1}}', '{"texts": {}}', "[]"],
)
def test_a_broken_language_file_is_named(monkeypatch, tmp_path, text):
    (tmp_path / "zz.json").write_text(text)
    monkeypatch.setattr(catalogue, "_FOLDER", tmp_path)
    catalogue.catalogue_of.cache_clear()
    with pytest.raises(catalogue.BadCatalogue, match=r"zz\.json"):
        catalogue.catalogue_of("zz")
    catalogue.catalogue_of.cache_clear()


def test_the_page_comes_in_the_phones_language(app):
    client = app.test_client()
    dutch = client.get("/", headers={"Accept-Language": "nl-NL,nl;q=0.9"}).text
    assert '<html lang="nl">' in dutch and "Spelers" in dutch
    client.set_cookie("nilometer_language", "en")
    assert "Players" in client.get("/", headers={"Accept-Language": "nl-NL"}).text
    assert client.get("/locale/nl.json").json["name"] == "Nederlands"
    assert client.get("/locale/zz.json").status_code == 404
