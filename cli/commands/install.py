"""nilometer install: the table as a service of this machine."""

from __future__ import annotations

import socket
import time

import click
import segno

from companion.runtime.config import owners_part
from companion.setup.install import CONFIG, STATE, Machine, install_service
from companion_web.server import lan_address

PATIENCE = 60.0  # seconds that the page gets to appear


@click.command()
@click.option(
    "--root",
    default="/",
    type=click.Path(file_okay=False),
    help="another system's root, such as a mounted SD card",
)
@click.option("--dry-run", is_flag=True, help="only say what would be done")
def command(root: str, dry_run: bool) -> int:
    """User, directories, service, log, name: the table starts with the machine. May be run
    again."""
    machine = Machine(root, dry_run, click.echo)
    install_service(machine)
    if dry_run:
        return 0
    web = owners_part(machine.path(CONFIG)).web
    serves = not machine.booted or is_served(web.port, PATIENCE)
    page = web.address or f"http://{lan_address()}:{web.port}"
    click.echo(
        f"Done. The page:  {page}/"
        + (f"   or  http://{lan_address()}:{web.port}/" if machine.live and web.address else "")
    )
    click.echo(
        f"The host's PIN:  sudo cat /{STATE}/pin     What the table says:  journalctl "
        f"--namespace=nilometer -f"
    )
    segno.make(f"{page}/").terminal(compact=True)
    if not serves:
        click.echo(
            (
                f"The page does not answer after {PATIENCE:.0f} s; why:  journalctl "
                f"--namespace=nilometer -e"
            ),
            err=True,
        )
    return int(not serves)


def is_served(port: int, patience: float) -> bool:
    """Whether something answers at this port within `patience` seconds."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 2).close()
            return True
        except OSError:
            time.sleep(0.5)
    return False
