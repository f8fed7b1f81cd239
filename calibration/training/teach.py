"""Teaches a copy's network what a lesson holds."""

from __future__ import annotations

import multiprocessing
import os
import queue as queues
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from calibration.synthesis.batch import Shapes
from calibration.synthesis.batches import PATIENCE, batches_beside, make_batches
from calibration.synthesis.card_looks import draw_card_banks
from calibration.synthesis.lesson import Lesson
from calibration.training.checkpoint import KEPT_EVERY, Checkpoint
from calibration.workers import begin_apart
from vision.learned.network import Weights
from vision.learned.reader import LearnedReader
from vision.learned.trunk import Trunk

LARGE_PAGES = "glibc.malloc.hugetlb=1"  # steps take a sixth less time where memory is had in these
TRUNK_RATE = 1.5e-3  # the highest learning rate
SAMPLES_SHOWN, SHOWN_SEED = 24, 88_888  # tell how large the trunk's numbers grow; no teacher's
GRAPH = "graph"  # the trunk as it is read with, among the weights that were taught
FIRST_SHARE = 0.25  # of all steps in which a copy's classes are fitted before the trunk learns too
# of all steps: so many batches more that the classes are fitted to once the trunk is taught: they cost a
# third of a step and lack more (docs/lab/2026-11-27-what-the-last-fit-learns-from.md)
LAST_SHARE = 2.4


class Unlearnt(RuntimeError):
    """A network could not be learnt, for want of memory as a rule; the message says what happened"""


def learning_rate(done: float, highest: float) -> float:
    """done: 0 to 1. Rises quickly, stays, and falls to nothing, so that the last weights are the
    best"""
    return highest * min(1.0, 20 * done + 0.05, 1.6 * (1 - done) + 1e-3)


def teach_network(
    lesson: Lesson,
    trunk: Weights | None,
    steps: int,
    beside: bool = True,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
    keep: Path | None = None,
    half_learnt: Callable[[Weights], None] | None = None,
) -> Weights:
    """The network of one copy, learnt in so many steps. trunk: what all copies have in common, to
    begin from; beside: whether another process makes the batches; keep: where what is learnt is kept
    on the way, and gone on from; half_learnt: called with weights that read already, before the trunk
    learns too. With the trunk's graph, as bytes, by the name of `GRAPH`. The same on every machine of
    one kind"""
    # here: JAX takes a second and 200 MB
    from calibration.training.class_fit import fit_classes
    from calibration.training.learning import Learner
    from calibration.training.refit import refit_classes

    first = int(FIRST_SHARE * steps)
    whole = steps + int(LAST_SHARE * steps)
    fresh = initial_weights(lesson.shapes, seed, trunk)
    learner = Learner(fresh)
    checkpoint = Checkpoint.of(keep, lesson, steps, seed) if keep is not None else None
    before, done = checkpoint.load_progress() if checkpoint is not None else None, 0
    if before is not None:
        done = before[0]
        learner.restore(before[1])
    # other batches than the first so many
    made = (batches_beside if beside else make_batches)(lesson, seed + done, whole - done)
    batches = told_progress(made, done, whole, progress)
    if first and before is None:
        done = first
        learner = Learner(fit_classes(fresh, islice(batches, first)))
        if half_learnt is not None:
            half_learnt(learner.current())
    for n, batch in enumerate(islice(batches, steps - done), done + 1):
        learner.learn(batch, learning_rate((n - 1 - first) / (steps - first), TRUNK_RATE))
        if checkpoint is not None and (n % KEPT_EVERY == 0 or n == steps):
            checkpoint.save_progress(n, learner.freeze())
    weights = learner.current()
    graph = draw_graph(lesson, weights)
    read = Trunk(graph)

    def run_graph(x: np.ndarray) -> tuple[np.ndarray, ...]:
        maps = zip(*(read(one.astype(np.float32)) for one in x))
        return tuple(np.stack(some) for some in maps)

    fitted = refit_classes(weights, fresh, lesson.shapes, batches, run_graph)
    return fitted | {GRAPH: np.frombuffer(graph, np.uint8)}


def told_progress(
    batches: Iterator[dict[str, np.ndarray]],
    done: int,
    steps: int,
    progress: Callable[[float], None] | None,
) -> Iterator[dict[str, np.ndarray]]:
    """The same batches, while `progress` is told the share of all steps that is done"""
    for n, batch in enumerate(batches, done + 1):
        if progress is not None:
            progress(n / steps)
        yield batch


def teach_apart(
    lesson: Lesson,
    trunk: Weights | None,
    steps: int,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
    keep: Path | None = None,
    half_learnt: Callable[[Weights], None] | None = None,
) -> Weights:
    """The same in a process of its own, so that JAX and its memory are gone afterwards. Raises
    Unlearnt."""
    context = multiprocessing.get_context("spawn")
    os.environ.setdefault("GLIBC_TUNABLES", LARGE_PAGES)
    try:
        queue = context.Queue()
        worker = context.Process(
            target=_teach_and_tell,
            args=(lesson, trunk, steps, seed, queue, keep, half_learnt is not None),
        )
        worker.start()
    except OSError as e:
        raise Unlearnt(f"no process could be started: {e.strerror}") from None
    try:
        while True:
            try:
                what, value = queue.get(timeout=PATIENCE)
            except queues.Empty:
                if worker.is_alive():
                    continue
                raise Unlearnt(f"the process that learns ended with {worker.exitcode}") from None
            if what == "weights":
                return value
            if what == "half" and half_learnt is not None:
                half_learnt(value)
            elif what == "part" and progress is not None:
                progress(value)
    finally:
        worker.terminate()
        worker.join(5)


def _teach_and_tell(
    lesson: Lesson,
    trunk: Weights | None,
    steps: int,
    seed: int,
    queue: multiprocessing.Queue,
    keep: Path | None,
    half_learnt: bool,
) -> None:
    begin_apart()

    def tell(what: str) -> Callable[[Any], None]:
        return lambda value: queue.put((what, value))

    half = tell("half") if half_learnt else None
    tell("weights")(teach_network(lesson, trunk, steps, True, seed, tell("part"), keep, half))


def learned_reader(lesson: Lesson, weights: Weights) -> LearnedReader:
    """A reader with these weights"""
    return LearnedReader(
        lesson.plan,
        lesson.view,
        lesson.shapes.groups,
        lesson.shapes.forms,
        lesson.reference,
        lesson.empty,
        weights,
        weights[GRAPH].tobytes() if GRAPH in weights else draw_graph(lesson, weights),
        cards=draw_card_banks(
            lesson.plan,
            lesson.shapes.groups,
            lesson.shapes.forms,
            lesson.looks,
            lesson.view.scale,
        ),
        plain=lesson.plain,
    )


def draw_graph(lesson: Lesson, weights: Weights) -> bytes:
    """The trunk as it is read with"""
    from calibration.training.export import export_trunk, quantize_trunk

    composer = lesson.composer(SHOWN_SEED)
    samples = (composer.make_sample() for _ in range(SAMPLES_SHOWN))
    shown = (x for s in samples for x in (s.x, *(picture for _, _, picture in s.close)))
    return quantize_trunk(export_trunk(weights), shown)


def initial_weights(shapes: Shapes, seed: int, trunk: Weights | None = None) -> Weights:
    from calibration.training.network import init_classes, init_trunk

    rng = np.random.default_rng(seed)
    fresh = init_trunk(rng) | init_classes(
        rng, len(shapes.forms), shapes.allowed_kinds.shape[1] - 1, shapes.offsets[-1]
    )
    return fresh | {
        k: v for k, v in (trunk or {}).items() if k in fresh and v.shape == fresh[k].shape
    }
