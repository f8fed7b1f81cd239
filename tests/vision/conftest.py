"""Fixtures that several rooms' tests share."""

from tests.support.studio import board, carded, tools

__all__ = ["board", "carded", "tools"]
