"""Streams of made-up batches, in processes beside the one that learns."""

from __future__ import annotations

import multiprocessing
import queue as queues
from collections.abc import Iterator
from itertools import islice

import cv2
import numpy as np

from calibration.synthesis.lesson import Lesson
from calibration.workers import begin_apart

BATCH_SAMPLES = 4
MAKERS = 2  # processes that make batches: beside cheap steps one is too slow
SEEDS_APART = 1_000_003  # between the seeds of two makers
BATCHES_AHEAD = 4  # batches that each makes before they are needed
PATIENCE = 5.0  # seconds after which it is asked whether who makes batches still lives


def produce_batches(lesson: Lesson, seed: int, maker: int, queue: multiprocessing.Queue) -> None:
    """Makes a stream of batches, in a process of its own, for as long as they are taken"""
    begin_apart()
    cv2.setNumThreads(1)
    for batch in batch_stream(lesson, seed, maker):
        queue.put(batch)


def batch_stream(lesson: Lesson, seed: int, maker: int) -> Iterator[dict[str, np.ndarray]]:
    """One maker's batches without end, the same for the same seed"""
    composer = lesson.composer(seed + SEEDS_APART * maker)
    rng = np.random.default_rng(seed + SEEDS_APART * maker + 1)
    while True:
        yield lesson.shapes.make_batch([composer.make_sample() for _ in range(BATCH_SAMPLES)], rng)


def make_batches(lesson: Lesson, seed: int, count: int) -> Iterator[dict[str, np.ndarray]]:
    """So many batches of all makers in turn, made here"""
    streams = [batch_stream(lesson, seed, maker) for maker in range(MAKERS)]
    for n in range(count):
        yield next(streams[n % MAKERS])


def batches_beside(lesson: Lesson, seed: int, count: int) -> Iterator[dict[str, np.ndarray]]:
    """The same batches, made by other processes while this one learns; here, where none can be
    started or one dies"""
    # threads of this process would not survive a fork
    context = multiprocessing.get_context("spawn")
    done, makers = 0, []
    try:
        for maker in range(MAKERS):
            queue = context.Queue(BATCHES_AHEAD)
            process = context.Process(
                target=produce_batches, args=(lesson, seed, maker, queue), daemon=True
            )
            process.start()
            makers.append((process, queue))
        while done < count:
            process, queue = makers[done % MAKERS]
            try:
                batch = queue.get(timeout=PATIENCE)
            except queues.Empty:
                if process.is_alive():
                    continue
                break
            done += 1
            yield batch
    except OSError:  # no process could be started
        pass
    finally:
        for process, _ in makers:
            process.terminate()
            process.join(5)
    if done < count:
        yield from islice(make_batches(lesson, seed, count), done, None)
