"""What a request is about: the table behind the page, and who asks. The application's one `Web` is
in `app.extensions`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from flask import Flask, current_app, request
from werkzeug.local import LocalProxy

from companion.printing.board_drawing import Drawing
from companion.setup.setup import Setup
from companion.table.games import Shelf
from companion.table.journal import Journal
from companion.table.table import Table
from companion_web.access import Access, Viewer
from companion_web.choices import Choices
from companion_web.desk import Desk
from companion_web.errors import Problem
from companion_web.feed import Feed, Streams, TableLike
from companion_web.limits import Tries
from companion_web.offers import Offers
from companion_web.otherwise import Otherwise
from companion_web.redaction import Snapshot
from companion_web.served import EXTENSION, Served
from companion_web.settings import Settings, Switches

COOKIE = "nilometer_seat"


class Web(Served):
    """What the blueprints share. Behind the page is a game's table, or one that is being set up."""

    def __init__(
        self,
        settings: Settings,
        switches: Switches | None = None,
        table: Table | None = None,
        setup: Setup | None = None,
    ) -> None:
        super().__init__(settings.proxies)
        behind: TableLike | None = table or setup
        if behind is None:
            raise TypeError("a page needs a table, or one that is being set up")
        self.settings, self.switches = settings, switches
        self._table, self._setup = table, setup
        folder = Path(settings.state) if settings.state is not None else None
        self.access = Access(settings.pin, folder / "seats.json" if folder is not None else None)
        self.joining = True
        self._legal: tuple[int | None, dict[str, set[str]]] = (None, {})
        self.offers, self.otherwise, self.choices = Offers(), Otherwise(), Choices()
        self.feed = Feed(behind, self._extras)
        self.streams = Streams(
            settings.max_streams, settings.reserved_streams, settings.streams_per_address
        )
        self.pin_tries = Tries(*settings.pin_tries)
        # a code of 16 letters cannot be guessed, so wrong ones need not lock anybody out
        self.code_tries = Tries(*settings.pin_tries, overall=0)
        self._drawing = Drawing(settings.plan)
        self.desk: Desk | None = None  # the copy's plan being drawn (blueprints/copy.py)
        self.desk_photo: tuple[Path, int] | None = None  # the photo, and its modification time
        self.shelf = Shelf(folder)
        self._shelve(table)
        self.access.keep_only(self.seats, self.began)

    def start(self) -> None:
        """Follows the table in a thread of its own."""
        self.feed.start()

    def stop(self) -> None:
        """Tells every phone goodbye."""
        self.feed.close()

    @property
    def table(self) -> Table:
        """The game's table. Raises Problem (404) while one is being set up."""
        if self._table is None:
            raise Problem(404, "no game stands here yet")
        return self._table

    @property
    def setup(self) -> Setup:
        """Raises Problem (404) if the table has already been set up."""
        if self._setup is None:
            raise Problem(404, "the table is set up already")
        return self._setup

    @property
    def is_set_up(self) -> bool:
        return self._setup is None

    @property
    def snapshot(self) -> Snapshot:
        return self.feed.frame.snapshot

    @property
    def seats(self) -> list[str]:
        return [s["id"] for s in self.snapshot.get("seats") or ()]

    @property
    def began(self) -> str:
        """Identifies this game among all others; "" while the table is set up"""
        return self._table.began if self._table is not None else ""

    @property
    def board_size(self) -> tuple[float, float] | None:
        """Width and height of the board in mm; None while the table is set up"""
        return self._table.plan.size if self._table is not None else None

    @property
    def drawing(self) -> Drawing:
        """The drawing of the plan in use; while the table is set up, of the one drawn for the
        copy."""
        own = self._setup.own_plan if self._setup is not None else None
        return self._drawing if own is None else Drawing(own)

    def actions(self, seat: str) -> list[str]:
        """The notation of a seat's legal actions, computed once per move for all phones."""
        version = self.snapshot.get("version")
        kept_for, kept = self._legal
        if kept_for != version:
            kept = {}
            for action in self.table.state.legal_actions():
                kept.setdefault(action.seat, set()).add(action.words())
            self._legal = version, kept
        return sorted(kept.get(seat, ()))

    def join_link(self, base: str | None = None) -> str:
        """The link that seats whoever opens it. The code follows `#`: browsers never send that
        part, so it is never logged."""
        return f"{self.look_link(base)}join#{self.access.code}"

    def look_link(self, base: str | None = None) -> str:
        return f"{(self.settings.address or base or 'http://localhost').rstrip('/')}/"

    def replace_table(self, table: Table) -> None:
        """Starts another game at the same table: phones stay, seats that it lacks are freed."""
        self._table = self.feed.table = table
        self._setup, self.offers = None, Offers()
        self._shelve(table)
        self.feed.refresh()
        self.access.keep_only(self.seats, self.began)
        self.feed.touch()

    def _shelve(self, table: Table | None) -> None:
        """Lists a game that is not kept in a file among the table's games, as long as it exists."""
        journal = table.journal if table is not None else None
        in_memory = isinstance(journal, Journal) and journal.in_memory
        self.shelf.in_memory = journal if in_memory else None

    def _extras(self) -> dict[str, Any]:
        wires = self.switches
        lit = wires.on() if wires else ()
        return {
            "switches": [{"id": i, "text": t, "on": i in lit} for i, t in wires.texts.items()]
            if wires
            else [],
            "offers": self.offers.standing() if self.offers else [],
            "table": {
                "name": self.settings.name,
                "joining": self.joining,
                "taken": sorted(self.access.taken()),
            },
        }


def web_of(app: Flask) -> Web:
    """The PIN is `web_of(app).access.pin`, the joining link `web_of(app).join_link(base)`."""
    return app.extensions[EXTENSION]


# The current application's `Web`: a proxy for use during a request, like Flask's `current_app`.
web = cast(Web, LocalProxy(lambda: web_of(current_app)))


def request_token() -> str | None:
    """The phone's cookie, which says who asks; None for one that never joined."""
    return request.cookies.get(COOKIE)


def current_viewer() -> Viewer:
    """Who asks: host, a seat or an onlooker."""
    who = web.access.viewer(request_token(), request.remote_addr or "")
    if who.seated and request.remote_addr:
        web.known.note(request.remote_addr)
    return who


def seated_viewer() -> Viewer:
    """Raises Problem (403) for onlookers."""
    who = current_viewer()
    if not who.seated:
        raise Problem(
            403,
            "this token holds no seat here"
            if request_token()
            else "only seated phones and the host may do this",
        )
    return who


def require_host() -> None:
    """Raises Problem (403) for everybody else."""
    if not current_viewer().host:
        raise Problem(403, "only the host may do this")


def require_seat(who: Viewer, seat: str | None, fault: Problem | None = None) -> None:
    """Raises Problem (403) unless the phone holds that seat; for actions without a seat (a draw
    from the bag), the seat whose turn it is."""
    if seat not in web.seats:
        seat = web.snapshot.get("turn")
    if not who.host and seat not in who.seats:
        raise fault or Problem(403, "this seat is not yours")


def require_asked(who: Viewer, question: Mapping[str, Any]) -> None:
    """Raises Problem (403) unless the phone may answer a snapshot's question."""
    require_seat(who, question.get("seat"), Problem(403, "this question is for somebody else"))


def acting_for(who: Viewer) -> str:
    """The author of an action for the journal: never a token."""
    return " ".join(who.seats) if who.seats else "host"
