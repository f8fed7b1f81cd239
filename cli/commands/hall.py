"""nilometer hall: all tables of a club on one page."""

from __future__ import annotations

import os
import signal
import threading

import click

import companion_web
from companion.runtime.config import Club
from companion.runtime.hall import Hall
from companion_web.hall import create_hall


@click.command()
@click.option("--broker", default="localhost", show_default=True, help="where the tables publish")
@click.option("--broker-port", default=1883, show_default=True)
@click.option(
    "--user",
    default="",
    help="the broker's; its password is asked for, or in NILOMETER_MQTT_PASSWORD",
)
@click.option(
    "--tls", is_flag=True, help="encrypted, to a broker whose certificate this machine trusts"
)
@click.option(
    "--ca",
    default="",
    type=click.Path(),
    help="encrypted, to a broker whose certificate this authority (a PEM file) signed",
)
@click.option("--prefix", default="nilometer", show_default=True, help="as in the tables' [club]")
@click.option("--host", default="0.0.0.0", show_default=True)
@click.option("--port", default=8090, show_default=True, help="the page's port; 0: any free one")
def command(
    broker: str, broker_port: int, user: str, tls: bool, ca: str, prefix: str, host: str, port: int
) -> int:
    """All tables of a club on one page."""
    password = (
        click.prompt("Password", hide_input=True, default="", show_default=False)
        if user and not _known_club()
        else _known_club()
    )
    hall = Hall(
        Club(broker, broker_port, user=user, password=password, tls=tls, ca=ca, prefix=prefix)
    )
    server = companion_web.serve_app(create_hall(hall), host, port)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    click.echo(f"The hall: {server.address}   (broker {broker}:{broker_port}; Ctrl-C ends it)")
    hall.start()
    stopped.wait()
    server.stop()
    hall.stop()
    return 0


def _known_club() -> str:
    return os.environ.get("NILOMETER_MQTT_PASSWORD", "")
