"""Behind a proxy: takes the client's address, the host name and the scheme from headers of trusted
proxies; drops such headers from anybody else."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection
from typing import Any

from werkzeug.middleware.proxy_fix import ProxyFix

_SAID = (
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PORT",
    "HTTP_X_FORWARDED_PREFIX",
    "HTTP_X_FORWARDED_BY",
    "HTTP_FORWARDED",
)


class Proxies:
    """trusted: addresses or networks (192.168.1.0/24) of proxies."""

    def __init__(self, app: Callable[..., Any], trusted: Collection[str]) -> None:
        self._app, self._fixed = (
            app,
            ProxyFix(app, x_for=1, x_proto=1, x_host=1, x_port=0, x_prefix=0),
        )
        self._trusted = parsed_networks(trusted)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        if is_within(environ.get("REMOTE_ADDR", ""), self._trusted):
            return self._fixed(environ, start_response)
        for name in _SAID:
            environ.pop(name, None)
        return self._app(environ, start_response)


Networks = list[ipaddress.IPv4Network | ipaddress.IPv6Network]


def parsed_networks(said: Collection[str]) -> Networks:
    """Raises ValueError, naming what is not a network."""
    return [ipaddress.ip_network(s, strict=False) for s in said]


def is_within(address: str, among: Networks | tuple[()]) -> bool:
    if not among:
        return False
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in n for n in among)
