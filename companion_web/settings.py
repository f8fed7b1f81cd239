"""The page's settings: one value, made by the command line and never changed afterwards."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import msgspec


class Switches(msgspec.Struct, frozen=True):
    """What the host may switch on and off from the page: the faults of simulated hardware.

    texts: name -> English sentence; on: the names that are on now; switch(name, on).
    """

    texts: Mapping[str, str]
    on: Callable[[], Collection[str]]
    switch: Callable[[str, bool], object]


class Settings(msgspec.Struct, frozen=True):
    """name: the table's name. pin: the host's PIN, None: one is generated at start. plan: the
    copy's own plan.toml, None: the game's. copy: the folder of the calibrated copy, None: the host
    can neither see its report nor correct its plan. state: a folder where seats are kept across
    restarts, and whose journals are the table's games, None: there is none. address: what joining
    links begin with (`http://nilometer.local:8000`), None: the request's own address. hosts: host
    names, besides private ones and addresses, under which the page may be requested. proxies:
    addresses or networks trusted about the client's address, the scheme and the host name.
    redirect: whether plain requests are redirected to https. (Hidden scores are the table's own
    setting: `table.set(hidden_scores=True)`.)

    heartbeat: seconds. max_streams: phones that may follow at once; reserved_streams: further ones
    for seated phones only. The rates are (tokens a second, burst) per address; pin_tries: (tries,
    seconds) per address, ten times that in all.
    """

    name: str = ""
    pin: str | None = None
    plan: str | Path | None = None
    copy: str | Path | None = None
    state: str | Path | None = None
    address: str | None = None
    hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    redirect: bool = False
    heartbeat: float = 5.0
    max_streams: int = 100
    reserved_streams: int = 12
    streams_per_address: int = 24
    body_limit: int = 64 * 1024
    large_body: int = 2**20  # of a drawn plan
    read_rate: tuple[float, float] = (60.0, 400.0)
    write_rate: tuple[float, float] = (5.0, 20.0)
    pin_tries: tuple[int, float] = (5, 300.0)
