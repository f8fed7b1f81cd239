"""nilometer print GAME: marker cards, and board and pieces to print and play with, as PDF."""

from __future__ import annotations

from pathlib import Path

import click

import engine
from calibration.files import write_whole
from cli.language import language_option
from companion.printing.sheets import PAPERS, print_document
from companion.simulate import art_for, plan_of
from companion_web.catalogue import text_writer


@click.command()
@click.argument("game")
@click.option("-o", "--out", type=click.Path(), help="the PDF file; else GAME.pdf here")
@click.option(
    "--address",
    default="",
    help="a link for a QR code on the sheet of cards, such as the table's page",
)
@click.option(
    "--only",
    type=click.Choice(["cards", "board", "pieces"]),
    multiple=True,
    help="only these parts",
)
@click.option("--paper", type=click.Choice(sorted(PAPERS)), default="a4", show_default=True)
@language_option
def command(
    game: str, out: str | None, address: str, only: tuple[str, ...], paper: str, language: str
) -> int:
    """Marker cards, board and pieces as PDF."""
    title = engine.game(game).title
    plan, _ = plan_of(game, None)
    path = Path(out or f"{game}.pdf")
    pdf = print_document(
        plan,
        art_for(plan),
        title,
        address,
        only or ("cards", "board", "pieces"),
        PAPERS[paper],
        text_writer(language),
    )
    write_whole(path, pdf.to_bytes())
    pages = len(pdf.pages)
    click.echo(f"{path}: {pages} page{'s' * (pages > 1)}; print at 100 %")
    return 0
