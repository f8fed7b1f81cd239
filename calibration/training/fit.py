"""A copy's reader, from its photos. Its value: `fit_reader`, the one entry of learning."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from calibration.survey.outline_alignment import align_outlines
from calibration.synthesis.lesson import Lesson, prepare_lesson
from calibration.training.examine import examine_network
from calibration.training.teach import learned_reader, teach_apart, teach_network
from calibration.trial import Trial
from vision.evidence.heap_prior import HeapPrior
from vision.geometry.posed_photo import Shot
from vision.learned.network import Weights
from vision.plan import Plan
from vision.reader import Reader
from vision.registration.placement_prior import PlacementPrior
from vision.registration.registrar import Registrar

# batches that the trunk and its first classes are learnt from: so few keep Tigris within three minutes
# (docs/lab/2026-11-28-the-matchers-gone.md)
LEARNING_STEPS = 120
TRUNK_FILE = Path(__file__).with_name("trunk.npz")
NEEDED = ("jax", "onnx")


def can_learn() -> str | None:
    """What is missing that learning needs; None where nothing is"""
    return next((name for name in NEEDED if importlib.util.find_spec(name) is None), None)


def load_trunk_weights() -> Weights:
    """What all copies have in common, as the project ships it (`python -m
    calibration.training.pretrain` made it)"""
    with np.load(TRUNK_FILE, allow_pickle=False) as f:
        return {k: f[k].astype(np.float32) for k in f.files}


def fit_reader(
    plan: Plan,
    registrar: Registrar,
    shots: Sequence[Shot],
    steps: int = LEARNING_STEPS,
    beside: bool = True,
    progress: Callable[[float], None] | None = None,
    keep: Path | None = None,
    half_learnt: Callable[[Reader], None] | None = None,
) -> tuple[Reader, Lesson, Trial]:
    """From the calibration photos with their poses: a reader, what its network learnt from, and how
    that reads made-up boards it never saw. steps: in which the network learns; beside: whether other
    processes may help; progress: called with the share that is done; keep: where what is learnt is
    kept on the way; half_learnt: called with what reads as soon as anything does. Raises Unlearnt."""
    layouts = [s.layout for s in shots]
    if registrar.printed is not None and any(not layout for layout in layouts):
        # a board put together from photos of pieces shows their edges, too
        plan = align_outlines(plan, registrar.printed)
    lesson = prepare_lesson(plan, shots)
    prior, heaps = PlacementPrior.of(plan, layouts), HeapPrior.of(plan, layouts)

    def build_reader(weights: Weights) -> Reader:
        return Reader(plan, registrar, learned_reader(lesson, weights), prior, heaps)

    def show_first(weights: Weights) -> None:
        if half_learnt is not None:
            half_learnt(build_reader(weights))

    teach = teach_apart if beside else partial(teach_network, beside=False)
    first = None if half_learnt is None else show_first
    weights = teach(
        lesson, load_trunk_weights(), steps, progress=progress, keep=keep, half_learnt=first
    )
    reader = build_reader(weights)
    return reader, lesson, examine_network(lesson, reader.learned).trial(reader.learned)
