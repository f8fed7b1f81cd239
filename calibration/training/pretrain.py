"""Teaches the trunk that all copies begin from, on many copies at once, each with classes of its
own.

`python -m calibration.training.pretrain OUT.npz COPY... --minutes M`.
Each copy is shown in several printings, which makes other copies of it. Many processors make samples;
a graphics processor, where JAX finds one, learns them.
`... pretrain --pack FOLDER COPY...` writes what is learnt from as small files, which may be named
instead of copies on another machine."""

from __future__ import annotations

import multiprocessing
import os
import queue as queues
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import cv2
import msgspec
import numpy as np

from calibration.copy import load_copy
from calibration.fit import shots_of
from calibration.synthesis.drawn import draw_lesson
from calibration.synthesis.lesson import Lesson, prepare_lesson
from calibration.synthesis.packed import pack_lesson, unpack_lesson
from calibration.synthesis.painter import Look
from calibration.training.teach import initial_weights
from vision.learned.network import Weights

PRINTINGS = 3  # of each copy: as it is, its colours exchanged, its kinds' own exchanged besides
DRAWN = 4  # of each copy with prints that nobody printed
LARGE_BATCH = 8  # samples
AGAIN = 2  # times that a batch is learnt from while no new one waits: samples cost more than steps
KEPT = 12  # batches of each printing that are kept to be learnt from again
LARGE_AHEAD = 6  # batches that each maker makes before they are needed
LARGE_RATE, RISING = 1.5e-3, 1500  # the highest rate, and in how many steps it is reached
TOLD = 30.0  # seconds between two lines of what has been learnt
LargeBatch = dict[str, np.ndarray]


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
    reals = [] if apart else lesson.reals
    return msgspec.structs.replace(lesson, looks=looks, reals=reals).with_canvases(mixed)


class Printing(msgspec.Struct, frozen=True, eq=False):
    """One copy, the copy-th, in one printing, the number-th. seed: what a drawn one is drawn with"""

    copy: int
    name: str
    lesson: Lesson
    number: int
    seed: int

    def printed_lesson(self) -> Lesson:
        if self.number < PRINTINGS:
            return reprint_lesson(self.lesson, self.number)
        return draw_lesson(self.lesson, self.seed + self.number)


def printings_of(lessons: Mapping[str, Lesson], drawn: int, seed: int) -> list[Printing]:
    """Every copy as many: in other colours, and drawn anew"""
    return [
        Printing(c, name, lesson, n, seed + 1000 * c)
        for c, (name, lesson) in enumerate(lessons.items())
        for n in range(PRINTINGS + drawn)
    ]


def produce_mixed(
    printings: Mapping[int, Printing], seed: int, queue: multiprocessing.Queue
) -> None:
    """Makes batches of some printings, in a process of its own, for as long as they are taken"""
    cv2.setNumThreads(1)
    lessons = {n: p.printed_lesson() for n, p in printings.items()}
    composers = {n: lesson.composer(seed * 1000 + n) for n, lesson in lessons.items()}
    rng = np.random.default_rng(seed)
    while True:
        for n in rng.permutation(list(lessons)):
            samples = [composers[n].make_sample() for _ in range(LARGE_BATCH)]
            queue.put((int(n), narrow_batch(lessons[n].shapes.make_batch(samples, rng))))


def narrow_batch(batch: LargeBatch) -> LargeBatch:
    """What is learnt from, in as few bytes as tell it"""
    return {
        k: v.astype(np.float16) if k.endswith("_weight") else v
        for k, v in batch.items()
        if k != "points"
    }


class Makers:
    """Processes that make batches of printings. Start them before JAX: they are forked"""

    def __init__(self, printings: Sequence[Printing], count: int, seed: int) -> None:
        context = multiprocessing.get_context("fork")
        self.made: queues.Queue = queues.Queue(4 * count)
        self.workers, self.queues = [], []
        for k in range(min(count, len(printings))):
            mine = {n: p for n, p in enumerate(printings) if n % count == k}
            queue = context.Queue(LARGE_AHEAD)
            worker = context.Process(
                target=produce_mixed, args=(mine, seed + 1 + k, queue), daemon=True
            )
            worker.start()
            self.workers.append(worker)
            self.queues.append(queue)

    def __enter__(self) -> Makers:
        for queue in self.queues:
            threading.Thread(target=self._gather_batches, args=(queue,), daemon=True).start()
        return self

    def __exit__(self, *fault: object) -> None:
        for worker in self.workers:
            worker.terminate()

    def _gather_batches(self, queue: multiprocessing.Queue) -> None:
        while True:
            self.made.put(queue.get())

    def take_batches(self) -> Iterator[tuple[int, LargeBatch]]:
        """(printing's number, batch) without end"""
        while True:
            yield self.made.get()


def teach_trunk(
    printings: Sequence[Printing],
    minutes: float,
    makers: int,
    begin: Weights | None = None,
    keep: Callable[[Weights], None] | None = None,
    seed: int = 0,
) -> Weights:
    """The trunk taught on all these; minutes: by the clock, what is compiled not counted; keep:
    called with the weights every half minute"""
    with Makers(printings, makers, seed) as made:
        import jax

        from calibration.training.learning import MixedLearner

        whole = [initial_weights(p.lesson.shapes, seed + n, begin) for n, p in enumerate(printings)]
        learner = MixedLearner(whole)
        rng = np.random.default_rng(seed)
        kept: dict[int, deque[LargeBatch]] = defaultdict(lambda: deque(maxlen=KEPT))
        batches = made.take_batches()
        compile_steps(learner, printings, batches, kept)
        begun = told = time.monotonic()
        steps, losses = 0, defaultdict(list)
        while (gone := (time.monotonic() - begun) / 60 / minutes) < 1:
            n, batch = next(batches)
            batch = jax.device_put(batch)
            some = [(n, batch)]
            while len(some) < AGAIN and not made.made.qsize():
                other = int(rng.choice(list(kept)))
                some.append((other, kept[other][int(rng.integers(len(kept[other])))]))
            kept[n].append(batch)
            for number, one in some:
                steps += 1
                now = LARGE_RATE * min(1, steps / RISING, 1.6 * (1 - gone) + 1e-3)
                loss = learner.step(number, one, now)
            losses[printings[number].copy].append(loss)
            if time.monotonic() - told > TOLD:
                told = time.monotonic()
                tell_losses(gone * minutes, steps, printings, losses, made.made.qsize())
                losses.clear()
                if keep:
                    keep(learner.trunk_weights())
        return learner.trunk_weights()


def compile_steps(
    learner, printings: Sequence[Printing], batches: Iterator[tuple[int, LargeBatch]], kept
) -> None:
    """The steps of all copies at once, on as many threads, as soon as a batch shows their
    shapes; these are kept"""
    import jax

    begun, copies = time.monotonic(), {p.copy for p in printings}
    with ThreadPoolExecutor(len(copies)) as pool:
        running = {}
        for n, batch in batches:
            kept[n].append(jax.device_put(batch))
            if printings[n].copy not in running:
                running[printings[n].copy] = pool.submit(learner.compile_step, n, batch)
            if running.keys() == copies:
                break
        steps = {c: r.result() for c, r in running.items()}
    learner.compiled = [steps[p.copy] for p in printings]
    print(f"compiled in {time.monotonic() - begun:.0f} s", flush=True)


def tell_losses(
    minutes: float,
    steps: int,
    printings: Sequence[Printing],
    losses: dict[int, list],
    waiting: int,
) -> None:
    names = {p.copy: p.name for p in printings}
    told = " ".join(f"{names[c]} {np.mean(np.array(v)):.2f}" for c, v in sorted(losses.items()))
    print(f"{minutes:.1f} min, {steps} steps, {waiting} waiting: {told}", flush=True)


def copy_lesson(path: Path) -> Lesson:
    """What a copy's photos, or a packed lesson, teach. Raises BadCopy."""
    if path.is_file():
        return unpack_lesson(path)
    copy = load_copy(path)
    _, shots = shots_of(copy)
    return prepare_lesson(copy.plan, shots)


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("copies", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--minutes", type=float, default=60.0, show_default=True, help="to learn for, by the clock"
)
@click.option("--begin", type=click.Path(path_type=Path, exists=True), help="a trunk to go on from")
@click.option("--drawn", type=int, default=DRAWN, show_default=True, help="prints drawn of each")
@click.option("--makers", type=int, default=max((os.cpu_count() or 2) - 1, 1), show_default=True)
@click.option("--pack", is_flag=True, help="only write packed lessons into the folder OUT")
@click.option("--seed", type=int, default=0)
def main(
    out: Path,
    copies: Sequence[Path],
    minutes: float,
    begin: Path | None,
    drawn: int,
    makers: int,
    pack: bool,
    seed: int,
) -> None:
    """Teaches the trunk that calibrating begins from, on many copies at once."""
    cv2.setNumThreads(1)
    lessons = {}
    for path in copies:
        lesson = copy_lesson(path)
        if pack:
            pack_lesson(lesson, out / f"{path.parent.name}_{path.name}.lesson")
        lessons[f"{path.parent.name}/{path.stem}"] = lesson
        click.echo(f"{path}: cut out")
    if pack:
        return

    def keep(weights: Weights) -> None:
        np.savez_compressed(out, **{k: v.astype(np.float16) for k, v in weights.items()})

    keep(
        teach_trunk(
            printings_of(lessons, drawn, seed),
            minutes,
            makers,
            {k: v.astype(np.float32) for k, v in np.load(begin).items()} if begin else None,
            keep,
            seed,
        )
    )


if __name__ == "__main__":
    main()
