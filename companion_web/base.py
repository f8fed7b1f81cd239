"""What the applications share: error messages, the guard, proxies, the page's files."""

from __future__ import annotations

from flask import Flask

from companion_web import errors, guard
from companion_web.blueprints import assets
from companion_web.proxies import Proxies
from companion_web.served import EXTENSION, Served
from companion_web.settings import Settings


def base_app(served: Served, settings: Settings) -> Flask:
    """An application without pages; `served` is what a server needs to know of it."""
    app = Flask("companion_web", static_folder=None)
    app.extensions[EXTENSION] = served
    errors.install_errors(app)
    guard.install_guard(app, settings)
    app.wsgi_app = Proxies(app.wsgi_app, settings.proxies)  # type: ignore[method-assign]
    app.register_blueprint(assets.bp)
    return app
