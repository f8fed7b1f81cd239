"""A small network: one hidden layer, trained on the spot, answering with log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import cv2
import msgspec
import numpy as np


class Net(msgspec.Struct, frozen=True, eq=False, dict=True):
    """mean, spread: (D,) of the inputs; first: (D, H), bias1: (H,), second: (H, K), bias2: (K,);
    sharpness: what the answers are multiplied by so that they mean what they say."""

    mean: np.ndarray
    spread: np.ndarray
    first: np.ndarray
    bias1: np.ndarray
    second: np.ndarray
    bias2: np.ndarray
    sharpness: float = 1.0

    @cached_property
    def unscaled(self) -> tuple[np.ndarray, np.ndarray]:
        """first (D, H) and bias1 (H,) for inputs as they come, mean and spread in them"""
        first = self.first / self.spread[:, None]
        return first, self.bias1 - self.mean @ first

    def scores(self, inputs: np.ndarray) -> np.ndarray:
        """(n, K) unnormalised"""
        first, bias1 = self.unscaled
        hidden = np.maximum(inputs @ first + bias1, 0)
        return (hidden @ self.second + self.bias2) * np.float32(self.sharpness)

    def answer(self, inputs: np.ndarray) -> np.ndarray:
        """(n, K) log-probabilities"""
        return log_softmax(self.scores(inputs))


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Log probabilities (n, classes) from scores."""
    s = scores - scores.max(1, keepdims=True)
    return s - np.log(np.exp(s).sum(1, keepdims=True))


def train(
    inputs: np.ndarray,
    labels: np.ndarray,
    classes: int,
    hidden: int,
    seed: int,
    epochs: int = 12,
    batch: int = 256,
    rate: float = 2e-3,
    decay: float = 1e-4,
    drop: float = 0.1,
    smooth: float = 0.01,
    weights: np.ndarray | None = None,
) -> Net:
    """Fits by Adam with a falling rate. inputs: (n, D) float32 or float16, scaled in place, since
    they may fill half of the memory; labels: (n,) ints; weights: (n,) of the examples; drop: share
    of inputs left out each time, to a 256th; smooth: share of certainty given to the other
    classes."""
    rng = np.random.default_rng(seed)
    n, d = inputs.shape
    mean, spread = scaled(inputs)
    p = [
        (rng.standard_normal((d, hidden)) * np.sqrt(2 / d)).astype(np.float32),
        np.zeros(hidden, np.float32),
        (rng.standard_normal((hidden, classes)) * np.sqrt(1 / hidden)).astype(np.float32),
        np.zeros(classes, np.float32),
    ]
    m, v, spare = ([np.zeros_like(q) for q in p] for _ in range(3))
    target = np.full((n, classes), smooth / classes, np.float32)
    target[np.arange(n), labels] += 1 - smooth
    share = (
        np.ones(n, np.float32) if weights is None else (weights / weights.mean()).astype(np.float32)
    )
    steps, t = epochs * max(n // batch, 1), 0
    for _ in range(epochs):
        order = rng.permutation(n)
        for a in range(0, max(n - batch + 1, 1), batch):
            pick = order[a : a + batch]
            # as astype() does, of float16 ten times as quick
            xb = cv2.add(inputs[pick], 0, dtype=cv2.CV_32F)
            if drop:
                xb *= np.frombuffer(rng.bytes(xb.size), np.uint8).reshape(xb.shape) >= round(
                    256 * drop
                )
            h = xb @ p[0] + p[1]
            on = h > 0
            h *= on
            s = h @ p[2] + p[3]
            s = np.exp(s - s.max(1, keepdims=True))
            s /= s.sum(1, keepdims=True)
            e = (s - target[pick]) * (share[pick] / len(pick))[:, None]
            back = (e @ p[2].T) * on
            grads = [xb.T @ back, back.sum(0), h.T @ e, e.sum(0)]
            t += 1
            lr = rate * min(t / 30, 1) * (0.5 * (1 + np.cos(np.pi * t / (steps + 1))) + 0.01)
            for q, g, mm, vv, work in zip(p, grads, m, v, spare):
                mm *= 0.9
                vv *= 0.999
                mm += np.multiply(g, 0.1, out=work)
                np.multiply(g, g, out=work)
                work *= 0.001
                vv += work
                np.sqrt(vv, out=work)
                work *= 1 / np.sqrt(1 - 0.999**t)
                work += 1e-8
                np.divide(mm, work, out=work)
                work *= lr / (1 - 0.9**t)
                q *= 1 - lr * decay
                q -= work
    return Net(mean, spread, *p)


def scaled(inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scales inputs (n, D), in place, part by part; -> what (D,) mean and (D,) spread they had,
    float32"""
    parts = np.array_split(inputs, len(inputs) // 1000 + 1)
    mean = sum(part.sum(0, dtype=float) for part in parts) / len(inputs)
    varied = sum(np.square(part - mean).sum(0) for part in parts) / len(inputs)
    # the spread of all numbers, whatever their column
    whole = np.sqrt((varied + np.square(mean - mean.mean())).mean())
    mean, spread = (
        mean.astype(np.float32),
        (np.sqrt(varied) + 0.05 * whole + 1e-3).astype(np.float32),
    )
    for part in parts:
        part[:] = (part - mean) / spread
    return mean, spread


def together(nets: Sequence[Net]) -> Net:
    """One whose scores are the middle of those of several, trained on the same inputs from other
    beginnings"""
    one = nets[0]
    return Net(
        one.mean,
        one.spread,
        np.hstack([n.first for n in nets]),
        np.concatenate([n.bias1 for n in nets]),
        np.vstack([n.second for n in nets]) / len(nets),
        np.mean([n.bias2 for n in nets], 0),
    )


def sharpened(
    net: Net, inputs: np.ndarray, labels: np.ndarray, together: int = 1, doubt: int = 0
) -> Net:
    """The same with `sharpness` set so that held-out examples are likeliest; so many rows following
    each other are one example, whose scores are averaged. doubt: examples supposed to be wrong
    besides: who was right a few dozen times is not certain"""
    raw = msgspec.structs.replace(net, sharpness=1.0).scores(inputs)
    raw, labels = raw.reshape(-1, together, raw.shape[1]).mean(1), labels[::together]
    tried = np.geomspace(0.2, 4, 25)
    rows = np.arange(len(labels))
    second = np.where(raw.argmax(1) == labels, np.argsort(raw, 1)[:, -2], raw.argmax(1))

    def cost(sharpness: float) -> float:
        told = log_softmax(raw * sharpness)
        return float(-told[rows, labels].sum() - doubt * told[rows, second].mean())

    return msgspec.structs.replace(net, sharpness=float(min(tried, key=cost)))
