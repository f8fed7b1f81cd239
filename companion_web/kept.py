"""A game as one HTML file that opens without the table: the result, the scores, every move to step
through, with the camera's pictures. It embeds the page's own scripts."""

from __future__ import annotations

import base64
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import cv2
import numpy as np
from flask import render_template

import engine
from companion.table.journal import Line
from companion.table.snapshot import packed_doing
from companion_web import catalogue
from companion_web.document import STATIC
from engine.text import pack_text

WIDE = 480  # pixels of a picture: a hundred of them stay below 4 MB
_IMPORT = re.compile(r"""((?:from|import)\s*)(["'])(\.[^"']*)\2""")


def kept_page(
    lines: Sequence[Line],
    settings: Mapping[str, Any],
    plan: Mapping[str, Any],
    table: str,
    times: Mapping[int, float],
    picture: Callable[[int], bytes | None],
    language: str,
) -> str:
    """The file's text. lines: the game from its start on; plan: its drawing (`board_drawing`);
    times: when each event was, seconds since 1970; picture: the JPEG after an event, or None."""
    data = {
        **_game_data(lines, settings),
        "table": {"name": table},
        "plan": plan,
        "began": times.get(lines[0].event),
        "ended": times.get(lines[-1].event),
        "language": catalogue.catalogue_of(language),
        "pictures": {
            line.event: _data_address("image/jpeg", small)
            for line in lines[1:]
            if (jpeg := picture(line.event)) and (small := _smaller_picture(jpeg))
        },
    }
    return render_template(
        "kept.html",
        say=catalogue.template_translator(language),
        lang=language,
        title=catalogue.translated_sentence(language, data["title"]),
        styles=[_style_address(name) for name in ("base", "page", "kept")],
        scripts={"imports": _import_map("kept.js")},
        data=data,
    )


def _game_data(lines: Sequence[Line], settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the page's scripts need from a snapshot, and the sites that each move changed"""
    first, last = lines[0].state, lines[-1].state
    game, outcome = engine.game(last.game), last.outcome()
    names = {s.id: s for s in game.seats}
    moves = []
    for before, line in zip(lines, lines[1:]):
        was, now = before.state.layout(), line.state.layout()
        moves.append(
            {
                "event": line.event,
                "seat": str(line.action).split(":")[0] if line.action else None,
                "text": line.action or "",
                "words": packed_doing(line.state) if line.action else [],
                "scores": line.state.scores(),
                "standing": line.state.standing(),
                "sites": {
                    s: list(now.get(s, ())) for s in {*was, *now} if was.get(s) != now.get(s)
                },
            }
        )
    return {
        "game": last.game,
        "title": pack_text(game.title),
        "seats": [
            {"id": s, "name": pack_text(names[s].name), "colour": names[s].colour}
            for s in last.seats
        ],
        "settings": {"names": settings.get("names", {})},
        "layout": {s: list(c) for s, c in first.layout().items()},
        "opening": first.scores(),
        "opening_standing": first.standing(),
        "scores": last.scores(),
        "standing": last.standing(),
        "outcome": {"winners": list(outcome.winners), "reason": pack_text(outcome.reason)}
        if outcome
        else None,
        "moves": moves,
    }


def _smaller_picture(jpeg: bytes) -> bytes:
    """b"" if it is not a picture"""
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        return b""
    scale = min(1.0, WIDE / image.shape[1])
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 70])[1].tobytes()


@cache
def _import_map(entry: str) -> dict[str, str]:
    """A script and all its imports, as an import map of data: URLs named "n/NAME", since a module
    in a data: URL cannot resolve "./NAME"."""
    found: dict[str, str] = {}
    wanted = [entry]
    while wanted:
        name = wanted.pop()
        if f"n/{name}" in found:
            continue
        found[f"n/{name}"] = ""

        def renamed(m: re.Match[str], here: str = posixpath.dirname(name)) -> str:
            path = posixpath.normpath(posixpath.join(here, m[3]))
            wanted.append(path)
            return f'{m[1]}"n/{path}"'

        text = _IMPORT.sub(renamed, (STATIC / "js" / name).read_text(encoding="utf-8"))
        found[f"n/{name}"] = _data_address("text/javascript", text.encode())
    return found


@cache
def _style_address(name: str) -> str:
    return _data_address("text/css", (STATIC / "css" / f"{name}.css").read_bytes())


def _data_address(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
