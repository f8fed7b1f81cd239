"""Teaches the trunk that all copies begin from, on many copies at once, each with classes of its
own.

`python -m calibration.learned.pretrain OUT.npz COPY... --minutes M`.
Each copy is shown in several printings, which makes other copies of it."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
import cv2
import msgspec
import numpy as np

from calibration.copy import load_copy
from calibration.empty_board.reconstruct import reconstruct_empty_board
from calibration.fit import shots_of
from calibration.learned.compose import Look
from calibration.learned.drawn import draw_lesson
from calibration.learned.teach import BATCH, Lesson, initial_weights, prepare_lesson
from calibration.readers.loose.train import taught
from vision.learned.network import Weights

PRINTINGS = 3  # of each copy: as it is, its colours exchanged, its kinds' own exchanged besides
DRAWN = 4  # of each copy with prints that nobody printed


def reprint_lesson(lesson: Lesson, number: int) -> Lesson:
    """The same copy in another printing, 0 as it is: its colours exchanged; from the third on each
    kind's besides, tinted, and its print mirrored, which makes other kinds of it"""
    if not number:
        return lesson
    rng = np.random.default_rng(number)
    order, mirrored = list(np.roll(range(3), number)), rng.random() < 0.5
    apart = number > 1

    def mixed(picture: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(picture[..., order])

    def reprint_look(look: Look, inks: list[int], tint: np.ndarray) -> Look:
        patch = look.patch[..., inks] + tint
        if apart and mirrored and look.turned is None:
            patch = patch[:, ::-1]
        return msgspec.structs.replace(
            look,
            patch=np.ascontiguousarray(patch, np.float32),
            side=np.float32(look.side[inks] + tint),
        )

    looks = {}
    for kind, some in lesson.looks.items():
        inks = list(rng.permutation(3)) if apart else order
        tint = rng.normal(0, 0.35 * apart, 3)
        looks[kind] = [reprint_look(v, inks, tint) for v in some]
    return msgspec.structs.replace(
        lesson,
        looks=looks,
        empty=mixed(lesson.empty),
        empties=[mixed(e) for e in lesson.empties],
        reals=[] if apart else [(mixed(c), t) for c, t in lesson.reals],
    )


def printings_of(lesson: Lesson, seed: int) -> list[Lesson]:
    """One copy as many: in other colours, and drawn anew"""
    return [reprint_lesson(lesson, n) for n in range(PRINTINGS)] + [
        draw_lesson(lesson, seed * DRAWN + n) for n in range(DRAWN)
    ]


def produce_mixed(lessons: Sequence[Lesson], seed: int, queue: multiprocessing.Queue) -> None:
    composers = [lesson.composer(seed * 1000 + n) for n, lesson in enumerate(lessons)]
    rng = np.random.default_rng(seed)
    while True:
        for n in rng.permutation(len(lessons)):
            queue.put(
                (
                    int(n),
                    lessons[n].shapes.make_batch(
                        [composers[n].make_sample() for _ in range(BATCH)], rng
                    ),
                )
            )


def teach_trunk(
    lessons: Mapping[str, Lesson],
    minutes: float,
    rate: float = 1.5e-3,
    makers: int = 1,
    begin: Weights | None = None,
    keep: Callable[[Weights], None] | None = None,
    seed: int = 0,
) -> Weights:
    """The trunk taught on all these; minutes: by the clock; keep: called with the weights every few
    minutes"""
    names, some = list(lessons), list(lessons.values())
    queue: multiprocessing.Queue = multiprocessing.get_context("fork").Queue(24)
    workers = [
        multiprocessing.get_context("fork").Process(
            target=produce_mixed, args=(some, seed + 1 + n, queue), daemon=True
        )
        for n in range(makers)
    ]
    for w in workers:
        w.start()
    from calibration.learned.learning import MixedLearner

    whole = [initial_weights(lesson.shapes, seed + n, begin) for n, lesson in enumerate(some)]
    learner = MixedLearner(
        {k: v for k, v in whole[0].items() if k.startswith("trunk/")},
        [{k: v for k, v in w.items() if k.startswith("classes/")} for w in whole],
    )
    start, steps, losses, told = time.monotonic(), 0, {n: [] for n in names}, time.monotonic()
    while (gone := (time.monotonic() - start) / 60 / minutes) < 1:
        n, batch = queue.get()
        steps += 1
        now = rate * min(1, steps / 100) * (1.0 if gone < 0.5 else 2 * (1 - gone))
        losses[names[n]].append(learner.step(n, batch, now))
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(
                f"{gone * minutes:.1f} min, {steps} steps: "
                + " ".join(f"{k} {np.mean(v[-30:]):.2f}" for k, v in losses.items() if v),
                flush=True,
            )
            if keep:
                keep(learner.trunk_weights())
    for w in workers:
        w.terminate()
    return learner.trunk_weights()


def lesson_of(folder: Path) -> Lesson:
    """What a copy's photos teach. Raises BadCopy."""
    copy = load_copy(folder)
    _, shots = shots_of(copy)
    if all(s.layout for s in shots):
        shots.append(reconstruct_empty_board(copy.plan, shots))
    loose = any(s.reads == "cluster" for s in copy.plan.site)
    return prepare_lesson(copy.plan, shots, taught(copy.plan, shots).lying if loose else [])


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("copies", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--minutes", type=float, default=60.0, show_default=True, help="to learn for, by the clock"
)
@click.option("--begin", type=click.Path(path_type=Path, exists=True), help="a trunk to go on from")
@click.option("--seed", type=int, default=0)
def main(out: Path, copies: Sequence[Path], minutes: float, begin: Path | None, seed: int) -> None:
    """Teaches the trunk that calibrating begins from, on many copies at once."""
    cv2.setNumThreads(1)
    lessons = {}
    for folder in copies:
        lesson = lesson_of(folder)
        for n, one in enumerate(printings_of(lesson, seed + len(lessons))):
            lessons[f"{folder.parent.name}/{folder.name} {n}"] = one
        click.echo(f"{folder}: cut out")

    def keep(weights: Weights) -> None:
        np.savez_compressed(out, **{k: v.astype(np.float16) for k, v in weights.items()})

    keep(
        teach_trunk(
            lessons, minutes, begin=dict(np.load(begin)) if begin else None, keep=keep, seed=seed
        )
    )


if __name__ == "__main__":
    main()
