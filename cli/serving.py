"""Serving the page from a command: its settings for a copy, https, and its address for people."""

from __future__ import annotations

import ssl
from pathlib import Path

import click
import segno
from flask import Flask

import companion_web
from companion.fault import Fault
from companion.runtime.config import Web
from companion.runtime.copies import Specimen
from companion_web import Server
from companion_web.server import lan_address


def page_settings(
    specimen: Specimen,
    name: str,
    pin: str | None = None,
    state: Path | None = None,
    web: Web | None = None,
) -> companion_web.Settings:
    """The page's settings for a copy, with the copy's own plan if it has one."""
    web = web or Web()
    own = specimen.folder / "plan.toml"
    return companion_web.Settings(
        name=name,
        pin=pin,
        plan=own if own.is_file() else None,
        copy=specimen.folder,
        state=state,
        address=web.address or None,
        hosts=web.hosts,
        proxies=web.proxies,
        redirect=web.redirect,
    )


def https_context(web: Web, folder: Path) -> ssl.SSLContext | None:
    """The TLS context for the https setting of `web`, with the table's own certificate kept in
    `folder`; None: plain http. Raises Fault."""
    if not web.tls:
        return None
    from companion_web import tls  # imported here: 7 MB that plain http does not need

    try:
        if web.tls == "auto":
            return tls.server_context(folder, {*web.hosts, lan_address()})
        if web.tls == "files":
            key = folder / web.key if web.key else None
            return tls.context_of(folder / web.certificate, key)
    except OSError as e:
        raise Fault(f"{e.filename or web.certificate or folder}: {e.strerror or e}") from None
    return None


def print_address(app: Flask, server: Server, title: str, seats: bool = True) -> None:
    """Prints where the page is, as words and as a QR code, which also seats people once there are
    seats; and the host's PIN."""
    web = companion_web.web_of(app)
    click.echo(title)
    click.echo(f"The page:  {web.look_link(server.address)}")
    if seats:
        click.echo(f"For a television: {web.look_link(server.address)}tv")
        click.echo(f"To sit down at the table: {web.join_link(server.address)}")
    click.echo(f"The host's PIN: {web.access.pin}")
    segno.make(web.join_link(server.address) if seats else web.look_link(server.address)).terminal(
        compact=True
    )
