"""Setting the table up on the phone: only by the host, and only while there is no game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from flask import Blueprint, Response, jsonify

import engine
from companion.setup.layout_sheet import game_picture
from companion.setup.setup import NotSo, Setup
from companion_web.context import current_viewer, require_host, web
from companion_web.errors import Problem
from companion_web.http import json_body, number_in, page_shell, text_in

bp = Blueprint("setup", __name__)
LONGEST = 1280  # of the live picture, pixels; corners are given in pixels of the full picture


@bp.get("/setup")
def setup_page() -> Response:
    _ = web.setup  # raises Problem if there is nothing to set up
    return page_shell("setup")


@bp.get("/api/setup")
def setup_state() -> Response:
    setup, host = web.setup, current_viewer().host
    return jsonify({**(setup.said() if host else {}), "you": {"host": host}})


@bp.get("/api/setup/live.jpg")
def live_picture() -> Response:
    image = _setup_result(_hosts_setup().look)
    height, width = image.shape[:2]
    scale = min(1.0, LONGEST / max(width, height))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return _jpeg_answer(small, {"X-Size": f"{width} {height}"})


@bp.get("/api/setup/games/<name>.svg")
def game_drawing(name: str) -> Response:
    """A drawing of a game's board with pieces on it"""
    _hosts_setup()
    if name not in engine.games():
        raise Problem(404, "there is no such game")
    answer = Response(game_picture(name), mimetype="image/svg+xml")
    answer.headers["Cache-Control"] = "private, max-age=86400"
    return answer


@bp.get("/api/setup/board.jpg")
def board_from_above() -> Response:
    """The empty board as the first photo shows it, for the picture of what to lay where"""
    return _jpeg_answer(_setup_result(_hosts_setup().bare_board), {"Cache-Control": "no-store"})


def _jpeg_answer(image: np.ndarray, headers: dict[str, str]) -> Response:
    good, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    if not good:
        raise Problem(503, "the camera gives no picture: {why}", why="JPEG")
    return Response(data.tobytes(), mimetype="image/jpeg", headers=headers)


@bp.post("/api/setup/game")
def choose_game() -> Response:
    setup = _hosts_setup()
    data = json_body()
    seats, options = data.get("seats"), data.get("options")
    if (
        not isinstance(seats, list)
        or not all(isinstance(s, str) for s in seats)
        or not isinstance(options, dict)
        or not all(isinstance(v, str) for v in options.values())
    ):
        raise Problem(400, "send a JSON object")
    return _state_after(lambda: setup.choose(text_in("game"), seats, options))


@bp.post("/api/setup/board")
def choose_board() -> Response:
    """`{"board": "scrabble"}`: a folder with the plan of a board without rules"""
    setup = _hosts_setup()
    return _state_after(lambda: setup.choose_board(text_in("board")))


@bp.post("/api/setup/camera")
def choose_camera() -> Response:
    """`{"camera": 1}`: which of `cameras`"""
    setup = _hosts_setup()
    return _state_after(lambda: setup.see_with(number_in("camera")))


@bp.post("/api/setup/focus")
def focus_again() -> Response:
    """Makes the lens focus again, which takes seconds"""
    return _state_after(_hosts_setup().focus_again)


@bp.get("/api/setup/focus/<when>.jpg")
def focus_picture(when: str) -> Response:
    """The middle of the picture "before" or "after" the lens focused again"""
    shown = dict(zip(("before", "after"), _hosts_setup().sharper))
    if when not in shown:
        raise Problem(404, "there is no such picture")
    return _jpeg_answer(shown[when][0], {"Cache-Control": "no-store"})


@bp.post("/api/setup/use")
def use_copy() -> Response:
    setup = _hosts_setup()
    return _state_after(lambda: setup.use(text_in("copy")))


@bp.post("/api/setup/go-on")
def go_on() -> Response:
    """`{"copy": "kitchen"}`: one of `begun`"""
    setup = _hosts_setup()
    return _state_after(lambda: setup.go_on(text_in("copy")))


@bp.post("/api/setup/copy")
def begin_copy() -> Response:
    setup = _hosts_setup()
    return _state_after(lambda: setup.begin(text_in("name"), bool(number_in("markers"))))


@bp.post("/api/setup/take")
def take_photo() -> Response:
    """`{"photo": 0, "corners": [[x, y], ...] or null}`: corners as shares of the picture's width
    and height."""
    setup = _hosts_setup()
    corners = json_body().get("corners")
    if corners is not None:
        height, width = _setup_result(setup.look).shape[:2]
        try:
            corners = [[float(x) * width, float(y) * height] for x, y in corners]
        except (TypeError, ValueError):
            raise Problem(400, "send a JSON object") from None
    return _state_after(lambda: setup.take(number_in("photo"), corners))


@bp.post("/api/setup/more")
def add_photo() -> Response:
    return _state_after(_hosts_setup().more)


@bp.post("/api/setup/learn")
def start_learning() -> Response:
    return _state_after(_hosts_setup().learn)


@bp.post("/api/setup/go")
def start_game() -> Response:
    return _state_after(_hosts_setup().go)


def _hosts_setup() -> Setup:
    setup = web.setup
    require_host()
    return setup


def _setup_result(doing: Callable[[], Any]) -> Any:
    try:
        return doing()
    except NotSo as e:
        raise Problem(409, e.text.template, **e.text.args) from None


def _state_after(doing: Callable[[], Any]) -> Response:
    _setup_result(doing)
    web.feed.refresh()
    return setup_state()
