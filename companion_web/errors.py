"""Every error is one line of JSON with the right status: `{"error": sentence, "text": {"t":
template, "a": {...}}}`."""

from __future__ import annotations

import logging
import math
from typing import Any

from flask import Flask, Response, jsonify
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from engine.text import Text, pack_text

log = logging.getLogger(__name__)


class Problem(Exception):
    """What went wrong: the HTTP status, a sentence with its arguments; `more` goes into the JSON as
    it is."""

    def __init__(
        self,
        status: int,
        template: str,
        retry_after: float | None = None,
        more: dict[str, Any] | None = None,
        **args: Any,
    ) -> None:
        super().__init__(template)
        self.status, self.text, self.retry_after, self.more = (
            status,
            Text(template, args),
            retry_after,
            more or {},
        )


def problem_answer(status: int, text: Text, more: dict[str, Any] | None = None) -> Response:
    """A refusal in the one form the page knows: {"error": English, "text": packed}."""
    response = jsonify({"error": str(text), "text": pack_text(text), **(more or {})})
    response.status_code = status
    return response


def install_errors(app: Flask) -> None:
    """Turns every error, expected or not, into such a response: nobody sees a traceback."""

    @app.errorhandler(Problem)
    def problem(e: Problem) -> Response:
        response = problem_answer(e.status, e.text, e.more)
        if e.retry_after is not None:
            response.headers["Retry-After"] = str(max(1, math.ceil(e.retry_after)))
        return response

    @app.errorhandler(HTTPException)
    def http(e: HTTPException) -> Response:
        response = problem_answer(e.code or 500, Text(e.name or "Unknown"))
        if isinstance(e, MethodNotAllowed) and e.valid_methods:
            response.headers["Allow"] = ", ".join(e.valid_methods)
        return response

    @app.errorhandler(Exception)
    def fault(e: Exception) -> Response:
        log.exception("a request failed")
        return problem_answer(500, Text("something went wrong here; the table goes on"))
