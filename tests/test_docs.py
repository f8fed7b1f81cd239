"""README and docs as a newcomer meets them: what they show happens, what they name is there."""

import re
import shlex
import tomllib
from pathlib import Path

import click
import msgspec
import pytest

from cli.main import COMMANDS, _Commands, main
from companion.runtime.config import Config

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in PAGES}


def blocks(language):
    return [
        (name, b)
        for name, text in TEXTS.items()
        for b in re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.M | re.S)
    ]


@pytest.mark.parametrize("name, block", blocks("console"))
def test_a_transcript_is_what_happens(name, block, tmp_path, monkeypatch, capsys):
    """`$ cat FILE` shows a file, which the commands after it find there; what another command
    prints has to be just that."""
    monkeypatch.chdir(tmp_path)
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        line, _, expected = part.partition("\n")
        program, *args = shlex.split(line)
        if program == "cat":
            Path(args[0]).write_text(expected, encoding="utf-8")
            continue
        assert program == "nilometer"
        with pytest.raises(SystemExit):
            main(args)
        said = capsys.readouterr()
        assert said.out + said.err == expected, f"{name}: {line}"


def test_readme_has_a_transcript():
    assert any(name == "README.md" for name, _ in blocks("console"))


def commands():
    """(page, command) of all `nilometer ...` in code"""
    for name, text in TEXTS.items():
        fenced = [
            line
            for b in re.findall(r"```(?:console)?\n(.*?)```", text, re.S)
            for line in b.splitlines()
        ]
        inline = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
        for code in fenced + [" ".join(c.split()) for c in inline]:
            if found := re.match(
                r"(?:\$ |sudo |\.venv/bin/|-u nilometer |NILOMETER_STATE=\S+ )*nilometer (.+)", code
            ):
                yield name, re.sub(r"\s+#.*", "", found[1])


@pytest.mark.parametrize("name, said", sorted(set(commands())))
def test_every_command_that_is_named_is_one(name, said):
    """Its name and its options; what stands for something (`COPY`, `[GAME]`) is taken as it is."""
    if said.startswith("--"):
        return
    command, *args = shlex.split(said.split(" | ")[0].replace("...", "").replace("`", ""))
    assert command.rstrip(",") in COMMANDS, f"{name}: nilometer {said}"
    known = _Commands().get_command(None, command.rstrip(","))
    options = {
        o for p in known.params if isinstance(p, click.Option) for o in (*p.opts, *p.secondary_opts)
    } | {"--help"}
    for arg in args:
        if arg.lstrip("[").startswith("-"):
            assert arg.strip("[]") in options, f"{name}: nilometer {said}"


@pytest.mark.parametrize("name", TEXTS)
def test_links_and_pictures_are_there(name):
    for link, heading in re.findall(r"\]\(([^)#]+)(?:#([\w-]+))?\)", TEXTS[name]):
        if re.match(r"https?:", link):
            continue
        page = (ROOT / name).parent / link
        assert page.is_file(), link
        if heading:
            headings = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), re.M)
            assert heading in {
                re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings
            }


def test_files_that_are_named_are_there():
    """`motion/watcher.py` as well as `vision/motion/watcher.py`; lab notes tell of their day."""
    there = {
        f"/{path.relative_to(ROOT)}"
        for room in ROOT.iterdir()
        if room.name[0] != "."
        for path in (room, *room.rglob("*"))
    }
    for name, text in TEXTS.items():
        if name.startswith(("docs/lab/", "docs/manual/", "docs/decisions/")):
            continue
        prose = re.sub(r"```.*?```", "", text, flags=re.S)
        for file in re.findall(r"`((?:\w+/)+|(?:\w+/)*\w+\.(?:py|js|c))`", prose):
            if "NAME" not in file:  # which stands for any name
                end = f"/{file.rstrip('/')}"
                assert any(path.endswith(end) for path in there), f"{name}: {file}"


def test_every_page_can_be_reached_from_the_readme():
    seen, waiting = set(), ["README.md"]
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for link in re.findall(r"\]\(([^)#]+\.md)", TEXTS[name]):
            page = str(((ROOT / name).parent / link).resolve().relative_to(ROOT))
            if page not in seen:
                waiting.append(page)
    assert seen == set(TEXTS)


def test_reference_pages_are_short():
    """At most 600 words of prose each; forms of data and tables do not count."""
    for name, text in TEXTS.items():
        if name.startswith("docs/reference/"):
            prose = re.sub(r"```.*?```|^\|.*$", "", text, flags=re.S | re.M)
            assert len(prose.split()) <= 600, name


def test_readme_is_a_page_and_the_changelog_no_diary():
    assert len(TEXTS["README.md"].splitlines()) <= 80
    assert len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_make_can_do_what_is_said_of_it():
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.M))
    for name, text in TEXTS.items():
        for target in re.findall(r"`make ([a-z][\w-]*)", text):
            assert target in targets, f"{name}: make {target}"


def test_pictures_are_few_and_small_and_all_are_shown():
    pictures = [p for p in (ROOT / "docs").rglob("*") if p.suffix in (".png", ".jpg", ".svg")]
    assert sum(p.stat().st_size for p in pictures) < 600_000
    shown = " ".join(TEXTS.values())
    assert [p.name for p in pictures if p.name not in shown] == []


@pytest.mark.parametrize("name", [f"docs/manual/{page}.md" for page in ("play", "club", "wiring")])
def test_configurations_that_are_shown_can_be_read(name):
    shown = [b for page, b in blocks("toml") if page == name]
    assert shown
    for block in shown:
        # What is commented out is shown to be put in: that has to be right as well.
        full = re.sub(r"^( *)# (?=[a-z_]+ = )", r"\1", block, flags=re.M)
        for text in (block, full):
            msgspec.convert({"copy": "c", **tomllib.loads(text)}, Config)
