"""The applications of a table: while a game is played, and while it is set up."""

from __future__ import annotations

from flask import Flask

from companion.setup.setup import Setup
from companion.table.table import Table
from companion_web import errors, guard
from companion_web.blueprints import BLUEPRINTS
from companion_web.context import Web, web_of
from companion_web.proxies import Proxies
from companion_web.served import EXTENSION
from companion_web.settings import Settings, Switches


def create_app(
    table: Table, settings: Settings | None = None, switches: Switches | None = None
) -> Flask:
    """The page of a game. Raises engine.BadPlan or vision.plan.BadPlan for a plan that cannot be
    used, ValueError for a broken language file."""
    return _app_of(Web(settings or Settings(), switches, table=table))


def create_setup_app(setup: Setup, settings: Settings | None = None) -> Flask:
    """The page of a table that is being set up. Raises as create_app."""
    return _app_of(Web(settings or Settings(), setup=setup))


def replace_table(app: Flask, table: Table) -> None:
    """Another game at the same table: phones stay, seats that it lacks are freed."""
    web_of(app).replace_table(table)


def _app_of(shared: Web) -> Flask:
    app = Flask("companion_web", static_folder=None)
    app.url_map.merge_slashes = False
    app.extensions[EXTENSION] = shared
    errors.install(app)
    guard.install(app, shared.settings)
    app.wsgi_app = Proxies(app.wsgi_app, shared.settings.proxies)  # type: ignore[method-assign]
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    return app
