"""All games of a table: the journals in its folder, and who has won how often."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import engine
from companion.table.journal import BadJournal, Journal, fold_events
from companion.table.snapshot import result_json
from engine.text import pack_text

MOST = 500  # journals examined at most, the newest first


class Shelf:
    """The journals of a folder. The result of a finished game is in the head of its journal;
    journals by an older Nilometer are replayed once and the result remembered."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        # the game that is played now, if it is kept in memory only: `games` has it too
        self.in_memory: Journal | None = None
        # by a journal's name: its time and size, and what was found in it
        self._known: dict[str, tuple[int, int, dict[str, Any] | None]] = {}

    def games(self) -> list[dict[str, Any]]:
        """The finished games, newest first: {"file", "began", "ended", "game", "title", "seats":
        [{"id", "name"}], "names", "scores", "points": {seat: what decides}, "winners", "moves"}.
        Damaged files and files that are not journals are left out; a game in memory only has the
        "file" ""."""
        own = None if self.in_memory is None else _game_of_journal(self.in_memory, "")
        return [*([own] if own else []), *self._kept()]

    def _kept(self) -> list[dict[str, Any]]:
        if self.folder is None:
            return []
        found = []
        try:
            files = sorted(
                (
                    (f.stat().st_mtime_ns, f.stat().st_size, f)
                    for f in self.folder.glob("*.journal")
                ),
                reverse=True,
            )
        except OSError:
            return []
        for changed, size, path in files[:MOST]:
            known = self._known.get(path.name)
            if known is None or known[:2] != (changed, size):
                known = self._known[path.name] = changed, size, _finished_game(path)
            if known[2] is not None:
                found.append(known[2])
        return sorted(found, key=lambda g: -g["ended"])

    def statistics(self) -> dict[str, Any]:
        """{"games", "players": [{"game", "name" or null, "seat", "played", "won", "mean",
        "best"}]}: by the name somebody sat down with, otherwise by the seat."""
        games = self.games()
        players: dict[Any, Any] = {}
        for g in games:
            for seat in g["seats"]:
                name = g["names"].get(seat["id"])
                one = players.setdefault(
                    (g["game"], name or seat["id"], not name),
                    {
                        "game": g["game"],
                        "title": g["title"],
                        "name": name,
                        "seat": seat["name"],
                        "played": 0,
                        "won": 0.0,
                        "points": [],
                    },
                )
                one["played"] += 1
                one["won"] += seat["id"] in g["winners"]
                one["points"].append(g["points"][seat["id"]])
        for one in players.values():
            points = one.pop("points")
            one["mean"], one["best"] = round(sum(points) / len(points), 1), max(points)
        order = sorted(
            players.values(), key=lambda p: (p["game"], -p["won"] / p["played"], -p["played"])
        )
        return {"games": games, "players": order}


def _finished_game(path: Path) -> dict[str, Any] | None:
    try:
        journal = Journal(path, readonly=True)
    except BadJournal:
        return None
    try:
        return _game_of_journal(journal, path.name)
    finally:
        journal.close()


def _game_of_journal(journal: Journal, file: str) -> dict[str, Any] | None:
    try:
        head = journal.meta("result", "old")
        span = journal.span()
        if head == "old":
            lines = fold_events(journal.events(), check=False, name=journal.path)
            head = (
                result_json(lines[-1].state, sum(bool(line.action) for line in lines), {})
                if lines
                else ""
            )
        if not head or span is None:
            return None
        data = json.loads(head)
        game = engine.game(data["game"])
        names = {s.id: pack_text(s.name) for s in game.seats}
        return {
            **data,
            "file": file,
            "began": span[0],
            "ended": span[1],
            "title": pack_text(game.title),
            "seats": [{"id": s, "name": names[s]} for s in data["seats"]],
            "points": {s: game.worth(data["scores"].get(s)) for s in data["seats"]},
        }
    except (BadJournal, engine.UnknownGame, ValueError, KeyError, TypeError, AttributeError):
        return None
