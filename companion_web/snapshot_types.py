"""What the page adds to a table's snapshot, as types (companion.table.snapshot_types)."""

from __future__ import annotations

from typing import TypedDict

from companion.table.snapshot_types import Packed, TableSnapshot


class You(TypedDict):
    """The viewer: companion_web.access.Viewer."""

    host: bool
    seats: list[str]


class SwitchView(TypedDict):
    """A fault of simulated hardware that the host may switch on."""

    id: str
    text: str
    on: bool


# what one seat asks of others: companion_web.offers.Offers.standing
OfferView = TypedDict(
    "OfferView", {"id": int, "from": str, "to": list[str], "text": str, "words": list[Packed]}
)


class TableView(TypedDict):
    """joining: whether seats may be taken; taken: those that are."""

    name: str
    joining: bool
    taken: list[str]


class Snapshot(TableSnapshot):
    """What one viewer sees of a table."""

    serial: int
    you: You
    switches: list[SwitchView]
    offers: list[OfferView]
    table: TableView
