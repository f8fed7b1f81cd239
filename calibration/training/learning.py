"""Gradient steps, compiled: Adam (Kingma and Ba 2015) with decoupled decay and clipped gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from calibration.training.network import total_loss
from vision.learned.network import Weights

STEP_DECAY, CLIP = 1e-4, 2.0
HASTE = 3.0  # times the trunk's rate at which a copy's own classes are learnt
PARTS = ("weights", "first", "second")
LearnerArrays = dict[str, jax.Array]
CompiledStep = Any  # `advance`, compiled


class Moments:
    """Adam's memory of those of a network's weights whose names begin with a word"""

    def __init__(self, weights: Mapping[str, np.ndarray], part: str) -> None:
        self.weights: LearnerArrays = {
            k: jnp.asarray(v) for k, v in weights.items() if k.startswith(part)
        }
        self.first: LearnerArrays = {k: jnp.zeros_like(v) for k, v in self.weights.items()}
        self.second: LearnerArrays = {k: jnp.zeros_like(v) for k, v in self.weights.items()}
        self.steps = 0

    def state(self) -> tuple[LearnerArrays, LearnerArrays, LearnerArrays]:
        return self.weights, self.first, self.second

    def freeze(self, name: str) -> Weights:
        """All of it as arrays, their names beginning with `name`"""
        out = {f"{name}/steps": np.array(self.steps)}
        for part, arrays in zip(PARTS, self.state()):
            out |= {f"{name}/{part}/{k}": np.asarray(v) for k, v in arrays.items()}
        return out

    def restore(self, name: str, kept: Weights) -> None:
        """What `freeze` gave. Raises KeyError where something lacks."""
        self.steps = int(kept[f"{name}/steps"])
        for part, arrays in zip(PARTS, self.state()):
            arrays |= {k: jnp.asarray(kept[f"{name}/{part}/{k}"]) for k in arrays}


class MixedLearner:
    """A trunk in common, the first's, and each copy's classes, learnt a copy at a time"""

    def __init__(self, networks: Sequence[Weights]) -> None:
        self.trunk = Moments(networks[0], "trunk/")
        self.classes = [Moments(weights, "classes/") for weights in networks]
        self.compiled: list[CompiledStep] = [jax.jit(advance_weights, donate_argnums=(0, 1))] * len(
            self.classes
        )

    def compile_step(self, n: int, batch: dict[str, np.ndarray]) -> CompiledStep:
        """What may be set as the n-th copy's step beforehand: it takes batches like this one"""
        return self.compiled[n].lower(*self._arguments(n, batch, 0.0)).compile()

    def _arguments(self, n: int, batch: dict[str, np.ndarray], rate: float) -> tuple:
        trunk, classes = self.trunk, self.classes[n]
        counts = np.float32(trunk.steps), np.float32(classes.steps)
        return trunk.state(), classes.state(), counts, batch, np.float32(rate)

    def step(self, n: int, batch: dict[str, np.ndarray], rate: float) -> jax.Array:
        """A batch of the n-th copy learnt from; -> its loss"""
        trunk, classes = self.trunk, self.classes[n]
        trunk.steps, classes.steps = trunk.steps + 1, classes.steps + 1
        trunk_state, classes_state, loss = self.compiled[n](*self._arguments(n, batch, rate))
        trunk.weights, trunk.first, trunk.second = trunk_state
        classes.weights, classes.first, classes.second = classes_state
        return loss

    def trunk_weights(self) -> Weights:
        return {k: np.asarray(v) for k, v in self.trunk.weights.items()}


class Learner(MixedLearner):
    """One copy's network"""

    def __init__(self, weights: Weights) -> None:
        super().__init__([weights])

    def learn(self, batch: dict[str, np.ndarray], rate: float) -> float:
        return float(self.step(0, batch, rate))

    def freeze(self) -> Weights:
        """What `restore` needs to go on from here"""
        return self.trunk.freeze("trunk") | self.classes[0].freeze("classes")

    def restore(self, kept: Weights) -> None:
        """Goes on where another was. Raises KeyError where something lacks."""
        self.trunk.restore("trunk", kept)
        self.classes[0].restore("classes", kept)

    def current(self) -> Weights:
        return self.trunk_weights() | {k: np.asarray(v) for k, v in self.classes[0].weights.items()}


def advance_weights(trunk, classes, steps, batch, rate):
    weights = trunk[0] | classes[0]
    loss, slope = jax.value_and_grad(total_loss)(weights, batch)
    norm = jnp.sqrt(sum((g**2).sum() for g in slope.values()))
    shrink = jnp.minimum(1.0, CLIP / (norm + 1e-9))
    out = []
    for (now, first, second), done, pace in zip(
        (trunk, classes), steps, (rate, HASTE * rate), strict=True
    ):
        moved, one, two = {}, {}, {}
        for k in now:
            g = slope[k] * shrink
            one[k] = 0.9 * first[k] + 0.1 * g
            two[k] = 0.99 * second[k] + 0.01 * g * g
            move = (one[k] / (1 - 0.9**done)) / (jnp.sqrt(two[k] / (1 - 0.99**done)) + 1e-8)
            moved[k] = now[k] - pace * (move + (STEP_DECAY * now[k] if now[k].ndim > 1 else 0))
        out.append((moved, one, two))
    return *out, loss
