"""Records of games: the game's script and record, its statistics, all games of the table; and the
host's correction of the board."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response, jsonify

from companion.table.chronicle import game_chronicle
from companion.table.journal import BadJournal, Journal, Line, fold_events
from companion_web import catalogue
from companion_web.context import current_viewer, require_host, web
from companion_web.errors import Problem
from companion_web.http import answer_after, as_download, json_body, page_shell, result_of, text_in
from companion_web.kept import kept_page
from engine import BadText
from engine.layout import same_contents
from engine.script import BadScript, parse_script

bp = Blueprint("record", __name__)
MOST_PIECES = 60  # on one site; the fullest boat holds fewer
IN_TURN = 4  # requests for a whole game's page that may wait, including the one being served
_places = threading.BoundedSemaphore(IN_TURN)
_making = threading.Lock()
_made: dict[tuple[Any, ...], str] = {}  # the page made last


@bp.get("/api/record.play")
def game_script() -> Response:
    """The game as a rule script: its start and every valid action. It may reveal hands, so only
    once the game is over."""
    _over_or_host()
    lines = web.table.lines
    script = (
        lines[0].state.to_text().rstrip()
        + "\n"
        + "".join(f"{line.action}\n" for line in lines[1:] if line.action)
    )
    return as_download(Response(script, mimetype="text/plain; charset=utf-8"), "nilometer.play")


@bp.get("/api/record.json")
def game_record() -> Response:
    """Seats, moves with the points after each, and how it ended."""
    _over_or_host()
    shown = {
        k: web.snapshot.get(k) for k in ("game", "title", "seats", "scores", "outcome", "moves")
    }
    return as_download(
        jsonify({"table": web.settings.name, **shown, "chronicle": game_chronicle(web.table)}),
        "nilometer.json",
    )


@bp.get("/api/record.html")
def game_page() -> Response:
    """The game as one page that opens without the table."""
    _over_or_host()
    table = web.table
    with _in_turn():
        return _kept_page(table.lines, table.settings, table.journal, "nilometer")


@bp.get("/games/<name>.html")
def kept_game(name: str) -> Response:
    """A finished game of this table as one page: `name` is its journal's."""
    file, folder = f"{name}.journal", web.shelf.folder
    found = next((g for g in web.shelf.games() if g["file"] == file), None)
    if found is None or folder is None:
        raise Problem(404, "there is no such game")
    try:
        with (
            _in_turn(),
            contextlib.closing(Journal(folder / file, readonly=True)) as journal,
        ):
            lines = fold_events(journal.events(), check=False, name=file)
            return _kept_page(lines, {"names": found["names"]}, journal, name)
    except BadJournal:
        raise Problem(404, "there is no such game") from None


@contextlib.contextmanager
def _in_turn() -> Iterator[None]:
    """A game's page takes a second or two: one is made at a time, and only a few requests may wait,
    or they would occupy all threads. Raises Problem (503)."""
    if not _places.acquire(blocking=False):
        raise Problem(503, "too many requests; try again in a moment", retry_after=5.0)
    try:
        with _making:
            yield
    finally:
        _places.release()


def _kept_page(
    lines: Sequence[Line], settings: Mapping[str, Any], journal: Journal, name: str
) -> Response:
    """The last page is cached. Call only inside `_in_turn`."""
    language = catalogue.request_language()
    names = json.dumps(settings.get("names", {}))
    key = (journal.path, len(lines), lines[-1].event, language, names)
    if key not in _made:
        drawing = web.drawing.of({"game": lines[-1].state.game})[0]
        text = kept_page(
            lines,
            settings,
            json.loads(gzip.decompress(drawing)),
            web.settings.name,
            {e.id: e.at for e in journal.events()},
            lambda event: journal.picture(event, "after"),
            language,
        )
        _made.clear()
        _made[key] = text
    return as_download(Response(_made[key], mimetype="text/html"), f"{name}.html")


@bp.get("/api/record.journal")
def journal_file() -> Response:
    """The journal file, complete even during the game: `nilometer journal` can read it, and a table
    can continue it."""
    _over_or_host(points=False)
    return as_download(
        Response(result_of(web.table.journal.whole), mimetype="application/vnd.sqlite3"),
        "nilometer.journal",
    )


@bp.get("/api/chronicle")
def game_statistics() -> Response:
    """How long it took, the greatest gains, the longest wars."""
    _over_or_host()
    return jsonify(game_chronicle(web.table))


@bp.get("/games")
def games_page() -> Response:
    return page_shell("games")


@bp.get("/api/games")
def finished_games() -> Response:
    """All finished games of this table, and who won how often."""
    return jsonify(web.shelf.statistics())


@bp.get("/api/games.csv")
def games_csv() -> Response:
    """All finished games of this table, a line for each player: for a spreadsheet or another score
    keeper."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["date", "game", "minutes", "moves", "seat", "player", "score", "won"])
    for g in web.shelf.statistics()["games"]:
        day = datetime.fromtimestamp(g["ended"], UTC).date().isoformat()
        for seat in g["seats"]:
            name = g["names"].get(seat["id"], "")
            rows.writerow(
                [
                    day,
                    g["game"],
                    round((g["ended"] - g["began"]) / 60),
                    g["moves"],
                    seat["id"],
                    f"'{name}"
                    if name[:1] in tuple("=+-@")
                    else name,  # never a formula, whatever a player's name is
                    g["points"][seat["id"]],
                    int(seat["id"] in g["winners"]),
                ]
            )
    return Response(
        out.getvalue(),
        mimetype="text/csv",
        headers={"Content-Disposition": 'attachment; filename="games.csv"'},
    )


@bp.post("/api/host/edit")
def edit_place() -> Response:
    """`{"site": "C4", "contents": ["temple"]}`: sets what lies there; the rules continue from it,
    and the journal keeps both."""
    require_host()
    site = text_in("site")
    contents = json_body().get("contents")
    table = web.table
    if site not in table.plan.sites:
        raise Problem(400, "there is no place called {site}", site=site[:40])
    if (
        not isinstance(contents, list)
        or len(contents) > MOST_PIECES
        or not all(isinstance(k, str) and k in table.plan.counts for k in contents)
    ):
        raise Problem(400, "there is no such piece")
    try:
        # The engines' set-up text describes a whole state, and the last statement about a site
        # counts.
        state = parse_script(
            f"{table.state.to_text().rstrip()}\nlayout {site} {' '.join(contents)}\n"
        ).start(table.plan)
    except (BadScript, BadText) as e:
        raise Problem(409, "{reason}", reason=str(e).split(": ", 1)[-1]) from None
    if not same_contents(state.layout().get(site, ()), contents, table.plan.sites[site].reads):
        raise Problem(409, "the rules know no way for that to lie on {site}", site=site)
    return answer_after(lambda: table.edit(state, by="host"))


@bp.post("/api/host/go-on")
def go_on() -> Response:
    """After a pause: accepts the board as it is."""
    require_host()
    return answer_after(lambda: web.table.go_on(by="host"))


def _over_or_host(points: bool = True) -> None:
    """points: whether the answer reveals scores, which even the host does not see while they are
    hidden"""
    if not web.seats:
        raise Problem(404, "no game stands here yet")
    hidden = points and (web.snapshot.get("settings") or {}).get("hidden_scores")
    if hidden and not web.snapshot.get("outcome"):
        raise Problem(403, "scores stay hidden till the end")
    if not web.snapshot.get("outcome") and not current_viewer().host:
        raise Problem(403, "the record is open when the game is over")
