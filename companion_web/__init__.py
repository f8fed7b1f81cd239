"""The page on the phones: shows what the table publishes, and takes what seated phones may reply.

app = companion_web.create_app(table, companion_web.Settings(name="Kitchen table"))
server = companion_web.serve_app(app, "0.0.0.0", 8000)
...
server.stop()
"""

from companion_web.app import create_app, create_setup_app, replace_table
from companion_web.context import web_of
from companion_web.server import CannotServe, Server, serve_app
from companion_web.settings import Settings, Switches

__all__ = [
    "CannotServe",
    "Server",
    "Settings",
    "Switches",
    "create_app",
    "create_setup_app",
    "replace_table",
    "serve_app",
    "web_of",
]
