"""nilometer selftest: a checklist for a person at the real table."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from companion.fault import Fault
from companion.runtime.config import load_config
from devtools.selftest import conduct_items, table_items
from hardware.panel import Panel, PinFault
from hardware.supervisor import Supervisor


@click.command()
@click.option(
    "--config",
    default="nilometer.toml",
    show_default=True,
    type=click.Path(),
    help="the table's configuration",
)
@click.option(
    "--record",
    default="selftest.jsonl",
    show_default=True,
    type=click.Path(dir_okay=False),
    help="what happened",
)
def command(config: str, record: str) -> int:
    """Says what to do at the real table, watches or asks, and writes down what happened. Stop
    `nilometer run` first."""
    settings = load_config(config)
    try:
        panel = Panel.open(settings.pins) if settings.pins else Panel()
    except PinFault as e:
        raise Fault(f"{config}: {e}") from None
    with contextlib.closing(panel), Supervisor(settings.open_camera()) as eye:
        wrong = conduct_items(
            table_items(settings, eye, panel),
            Path(record),
            click.echo,
            lambda words: click.prompt(words, type=click.Choice(["y", "n", "s"]), default="s"),
        )
    click.echo(f"\n{wrong} went wrong; all of it is in {record}")
    return int(wrong > 0)
