"""The blueprints of a table's application, one file each; each file is named after what it
serves."""

from companion_web.blueprints import (
    actions,
    choices,
    copy,
    host,
    moves,
    pages,
    record,
    seats,
    setup,
    stream,
    table,
)

BLUEPRINTS = (
    pages.bp,
    table.bp,
    stream.bp,
    actions.bp,
    choices.bp,
    moves.bp,
    seats.bp,
    host.bp,
    record.bp,
    copy.bp,
    setup.bp,
)
