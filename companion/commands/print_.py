"""nilometer print GAME: marker cards, board and pieces as PDF."""

from __future__ import annotations

from pathlib import Path

import click

import engine
from companion.cli import Fault
from companion.printing import document
from companion.simulate import art_for, plan_of


@click.command()
@click.argument("game")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="the PDF; GAME.pdf by default")
@click.option("--plan", "plan_file", type=click.Path(dir_okay=False), help="a copy's own plan instead of the game's")
@click.option("--address", default="", help="what the QR code on the first sheet leads to, such as http://nilometer.local:8080")
@click.option("--only", multiple=True, type=click.Choice(["cards", "board", "pieces"]), help="not all of it")
def command(game: str, output: str | None, plan_file: str | None, address: str, only: tuple[str, ...]) -> int:
    """Marker cards, and board and pieces to print and play with, in true size on A4."""
    plan, _ = plan_of(engine.game(game).name if plan_file is None else game, plan_file)
    title = str(engine.game(plan.game).title) if plan.game in engine.games() else plan.game
    path = Path(output or f"{plan.game}.pdf")
    pdf = document(plan, art_for(plan), title, address, only or ("cards", "board", "pieces"))
    try:
        pdf.save(path)
    except OSError as e:
        raise Fault(f"{path}: {e.strerror}") from None
    click.echo(f"{path}: {len(pdf.pages)} sheets of A4; print at 100 %, then check the ruler on the first")
    return 0
