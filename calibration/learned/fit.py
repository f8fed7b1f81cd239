"""The learned voice of a copy's reader, from its photos. `add_learned_voice` is what calibrating
calls."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from calibration.learned.examine import weigh_trust
from calibration.learned.teach import (
    Lesson,
    learned_reader,
    prepare_lesson,
    teach_apart,
    teach_network,
)
from calibration.readers.reader_fit import fit_reader_without_network
from vision.geometry.posed_photo import Lying, Shot
from vision.learned.network import Weights
from vision.plan import Plan
from vision.reader import Reader
from vision.registration.registrar import Registrar

LEARNING_STEPS = 150  # batches that the trunk and its first classes are learnt from: docs/learned.md has the curve
TRUNK_FILE = Path(__file__).with_name("trunk.npz")
NEEDED = ("jax", "onnx")


def can_learn() -> str | None:
    """What is missing that learning needs; None where nothing is"""
    return next((name for name in NEEDED if importlib.util.find_spec(name) is None), None)


def load_trunk_weights() -> Weights:
    """What all copies have in common, as the project ships it (`python -m
    calibration.learned.pretrain` made it)"""
    with np.load(TRUNK_FILE, allow_pickle=False) as f:
        return {k: f[k].astype(np.float32) for k in f.files}


def lesson_of_reader(reader: Reader, shots: Sequence[Shot]) -> Lesson:
    """What a network learns from the calibration photos. reader: fitted to them without a network"""
    lying: list[Lying] = [p for part in reader.readers for p in getattr(part, "lying", ())]
    return prepare_lesson(reader.plan, shots, lying)


def add_learned_voice(
    reader: Reader,
    shots: Sequence[Shot],
    steps: int = LEARNING_STEPS,
    beside: bool = True,
    progress: Callable[[float], None] | None = None,
    keep: Path | None = None,
) -> None:
    """Teaches a network from the calibration photos and gives it to the reader.
    beside: whether other processes may help; keep: where what is learnt is kept on the way. Raises Unlearnt."""
    lesson = lesson_of_reader(reader, shots)
    teach = teach_apart if beside else partial(teach_network, beside=False)
    weights = teach(lesson, load_trunk_weights(), steps, progress=progress, keep=keep)
    learned = learned_reader(lesson, weights)
    learned.set_trust(*weigh_trust(lesson, learned))
    reader.learned = learned


def fit_reader(
    plan: Plan, registrar: Registrar, shots: Sequence[Shot], steps: int = LEARNING_STEPS
) -> Reader:
    """A reader with all its voices; without the network's where what that learns with is not
    installed"""
    reader = fit_reader_without_network(plan, registrar, list(shots))
    if steps and can_learn() is None:
        add_learned_voice(reader, shots, steps)
    return reader
