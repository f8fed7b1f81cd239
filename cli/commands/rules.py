"""nilometer rules [GAME [NUMBER]]: the text of the rules; --coverage: numbers that no test
names."""

from __future__ import annotations

from pathlib import Path

import click

import engine
from companion.fault import Fault
from engine import rules

TESTS = Path(__file__).resolve().parent.parent.parent / "tests"


def tested_texts(game: str) -> list[str]:
    """The texts of a game's tests: files in folders with its name below tests/."""
    return [
        p.read_text(encoding="utf-8")
        for folder in TESTS.glob(f"*/{game}")
        for p in folder.rglob("*")
        if p.suffix in (".py", ".play")
    ]


@click.command()
@click.argument("game", required=False)
@click.argument("number", required=False)
@click.option(
    "--coverage",
    is_flag=True,
    help="list the numbers that no test names; exit 1 when there are any",
)
@click.option("--source", is_flag=True, help="the Dutch text the numbered statements are made from")
def command(game: str | None, number: str | None, coverage: bool, source: bool) -> int:
    """The rules' text, one numbered statement each."""
    names = [engine.game(game).name] if game else sorted(engine.games())
    if coverage:
        missing = 0
        for name in names:
            numbers = rules.uncovered_rules(name, tested_texts(name))
            missing += len(numbers)
            for n in numbers:
                click.echo(f"{name} {n} {rules.load_rules(name)[n].text}")
        return 1 if missing else 0
    if not game:
        for name in names:
            numbered = len(rules.load_rules(name))
            click.echo(f"{name}: {engine.game(name).title}, {numbered} numbered statements")
        return 0
    if source:
        click.echo(rules.source_text(game))
        return 0
    if number:
        rule = rules.load_rules(game).get(number.upper())
        if rule is None:
            raise Fault(f"{game} has no rule {number} (they go from {' to '.join(_ends_of(game))})")
        click.echo(f"{rule.number} [{rule.heading}] {_with_place(rule)}")
        return 0
    heading = ""
    for rule in rules.load_rules(game).values():
        if rule.heading != heading:
            heading = rule.heading
            click.echo(f"\n{heading}")
        click.echo(f"  {rule.number} {_with_place(rule)}")
    return 0


def _with_place(rule: rules.Rule) -> str:
    return f"[{', '.join(rule.places)}] {rule.text}" if rule.places else rule.text


def _ends_of(game: str) -> tuple[str, str]:
    numbers = list(rules.load_rules(game))
    return numbers[0], numbers[-1]
