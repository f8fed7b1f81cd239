"""A plan being drawn on a photo of the empty board: what is drawn so far, kept in a file."""

from __future__ import annotations

import json
import logging
import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np

from calibration import trace
from calibration.files import write_whole
from calibration.trace import BadTracing, Tracing
from companion_web.errors import Problem
from engine.tracing import PlanFault

LARGEST = 2400  # pixels across: more do not help anybody to draw, and are slow on a phone
log = logging.getLogger(__name__)


class Desk:
    """base: data of the initial plan. image: BGR. out: the plan.toml to write; an unsaved drawing
    is kept next to it and loaded again. Raises OSError if it cannot be stored."""

    def __init__(self, base: Mapping[str, Any], image: np.ndarray, out: Path) -> None:
        scale = min(1.0, LARGEST / max(image.shape[:2]))
        self.base, self.out, self.key = base, out, secrets.token_urlsafe(9)
        self.image = (
            cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            if scale < 1
            else image
        )
        self.photo = cv2.imencode(".jpg", self.image, [cv2.IMWRITE_JPEG_QUALITY, 88])[1].tobytes()
        self.form, self.draft = trace.form_of(base), out.with_name(out.name + ".drawing.json")
        self._lock = threading.Lock()
        self.traced = self._kept() or trace.start_tracing(
            base, trace.corners_on(self.image, base["size"])
        )

    def looked_at(self, traced: Tracing) -> tuple[Tracing, dict[str, Any], list[PlanFault]]:
        """The drawing with missing spots of its cells added, the data of its plan, and the plan's
        faults."""
        full = msgspec.structs.replace(traced, sites=trace.completed_sites(self.form, traced))
        return full, *trace.checked_plan(self.base, self.form, full)

    def keep(self, traced: Tracing) -> tuple[Tracing, dict[str, Any], list[PlanFault]]:
        """The same, and stores the drawing."""
        with self._lock:
            self.traced = traced
            write_file(
                self.draft,
                json.dumps(
                    {"photo": list(self.image.shape), "drawing": msgspec.to_builtins(traced)}
                ),
            )
        return self.looked_at(traced)

    def _kept(self) -> Tracing | None:
        try:
            data = json.loads(self.draft.read_text(encoding="utf-8"))
            return (
                trace.parse_tracing(data["drawing"])
                if data["photo"] == list(self.image.shape)
                else None
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, BadTracing) as e:
            log.warning("%s: %s; the drawing begins anew", self.draft, e)
            return None


def write_file(path: Path, text: str) -> None:
    """Raises Problem (507) if it cannot be written."""
    try:
        write_whole(path, text.encode())
    except OSError as e:
        raise Problem(
            507, "{file} cannot be written: {reason}", file=path.name, reason=e.strerror or ""
        ) from None
