"""The applications of a table: while a game is played, and while it is set up."""

from __future__ import annotations

from flask import Flask

from companion.setup.setup import Setup
from companion.table.table import Table
from companion_web.base import base_app
from companion_web.blueprints import BLUEPRINTS
from companion_web.context import Web, web_of
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
    """Starts another game at the same table: phones stay, seats that it lacks are freed."""
    web_of(app).replace_table(table)


def _app_of(shared: Web) -> Flask:
    app = base_app(shared, shared.settings)
    app.url_map.merge_slashes = False
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    return app
