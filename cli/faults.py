"""The exceptions that bad input raises, in any room."""

from __future__ import annotations

from companion.fault import Fault


def input_faults() -> tuple[type[BaseException], ...]:
    """The exceptions that bad input raises, in any room; each message names file and fault in one
    line."""
    from calibration.copy import BadCopy
    from companion.table.journal import BadJournal
    from companion_web.server import CannotServe
    from engine import BadPlan, BadText, UnknownGame
    from engine.script import BadScript
    from hardware.camera import BadCamera, CameraLost
    from vision.evidence.site_evidence import NoBoard
    from vision.plan import BadPlan as BadVisionPlan
    from vision.storage.model_file import BadModel
    from vision.storage.photo_file import BadPhoto

    return (
        Fault,
        BadCopy,
        BadJournal,
        BadPlan,
        BadText,
        UnknownGame,
        BadScript,
        NoBoard,
        BadVisionPlan,
        BadModel,
        BadPhoto,
        BadCamera,
        CameraLost,
        CannotServe,
    )
