"""The page's own made-up table."""

from tests.companion_web.conftest import make_app, table  # noqa: F401
