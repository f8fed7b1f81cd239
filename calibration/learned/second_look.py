"""Ends what a copy's network learns: a second look at loose pieces is fitted to the places that the
taught network's heat maps show, as the reader will see them. `fit_second_look` is what teaching calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from calibration.learned.class_fit import Arrays, Batch, Rows, descend
from calibration.learned.network import class_loss
from vision.learned.canvas import picture_of
from vision.learned.network import (
    FINE,
    HEAT_SPAN,
    SECOND_GRID,
    SECOND_POOL,
    SECOND_SIZE,
    Weights,
)
from vision.learned.reader import LearnedReader, find_peaks, first_logs, log_softmax, mean_of_looks

ROUNDS, RATE = 1200, 2e-3  # Adam's steps, and how large they are at first
ROWS = 192  # places in each
FEWEST = 300  # places below which nothing can be fitted to them
HIT, NEAR = 0.35, 0.55  # of a piece's width about its middle: it is meant, it may be
ASKED = 40  # places with a piece, and as many without, of a form in each sample
KEPT_ASIDE = 0.12  # of the batches, by whose places a second look is judged


def fit_second_look(
    weights: Weights, reader: LearnedReader, batches: Iterable[Batch], count: int
) -> Weights:
    """The same weights, and those of a second look if they tell these batches' loose pieces better.
    reader: one with these weights; count: of the batches"""
    asked: list[Rows] = []
    shown: list[Rows] = []
    for n, batch in enumerate(batches):
        aside = n < max(KEPT_ASIDE * count, 1)
        (asked if aside else shown).extend(
            piece_rows(reader, batch, np.random.default_rng(n), aside)
        )
    if not asked or sum(len(rows["label"]) for rows in shown) < FEWEST:
        return weights
    return dict(weights) | fit_pieces(weights, join_rows(shown), join_rows(asked))


def join_rows(some: Sequence[Rows]) -> Rows:
    return {k: np.concatenate([rows[k] for rows in some]) for k in some[0]}


def piece_rows(
    reader: LearnedReader, batch: Batch, rng: np.random.Generator, aside: bool
) -> list[Rows]:
    """Of the places in a batch that heat maps show: features about them, heat, form, label and
    kinds allowed; of those kept aside what the first look says of them too, which takes longest"""
    out = []
    if "points" not in batch:
        return out
    none = len(reader.names)
    for x, points in zip(batch["x"].astype(np.float32), batch["points"]):
        fine, _, heat = reader.trunk(x)
        seen, logits = picture_of(x), reader.heat_maps(heat)
        for f, form in enumerate(reader.forms):
            at, high = find_peaks(logits[..., f])
            edge, side = 0.6 * form.reach * reader.view.scale, 2 * len(x)
            inside = ((at > edge) & (at < side - edge)).all(1)
            at, high = at[inside], high[inside]
            width = form.width * reader.view.scale
            label = label_peaks(at, points[points[:, 0] == f], width, none)
            shown = (label >= 0) & (label < none), label == none
            some = np.concatenate([rng.permutation(np.flatnonzero(v))[:ASKED] for v in shown])
            if not len(some):
                continue
            at, high = at[some], high[some]
            allowed, mine = np.zeros((len(some), none + 1), bool), [*reader.of_form[f], -1]
            allowed[:, mine] = True
            rows = {
                "sampled": reader.sample_about(f, fine, at).astype(np.float16),
                "heat": high.astype(np.float32),
                "form": np.full(len(some), f),
                "label": label[some],
                "allowed": allowed,
            }
            if aside:
                first = np.full(allowed.shape, -1e9, np.float32)
                first[:, mine] = first_logs(*reader.weigh_places(f, fine, high, seen, at))
                rows["first"] = first
            out.append(rows)
    return out


def label_peaks(at: np.ndarray, points: np.ndarray, width: float, none: int) -> np.ndarray:
    """(r,) the kind of the piece that each place (r, 2) px is meant for, `none`, or -1 where that is
    not plain. points: (n, 4) of one form as of a `Sample`; width: px"""
    label = np.full(len(at), none)
    if not len(points) or not len(at):
        return label
    away = np.hypot(*(at[:, None] - points[None, :, 2:]).transpose(2, 0, 1))
    label[away.min(1) < NEAR * width] = -1
    for n, nearest in enumerate(away.argmin(0)):
        if away[nearest, n] < HIT * width:
            label[nearest] = int(points[n, 1])
    return label


def fit_pieces(weights: Weights, shown: Rows, asked: Rows) -> Weights:
    """The weights of a second look fitted to the places shown, if those asked are told better with
    it; none otherwise"""
    rng = np.random.default_rng(0)
    forms, kinds = len(weights["classes/heat.bias"]), shown["allowed"].shape[1]
    pooled = ((SECOND_GRID - 2) // SECOND_POOL) ** 2 * SECOND_SIZE
    start = {
        "classes/second_conv": jnp.asarray(
            rng.normal(0, np.sqrt(2 / (9 * FINE)), (3, 3, FINE, SECOND_SIZE)), jnp.float32
        ),
        "classes/second_conv.bias": jnp.zeros(SECOND_SIZE),
        "classes/second": jnp.asarray(
            rng.normal(0, 0.02, (pooled + 1 + forms, kinds)), jnp.float32
        ),
        "classes/second.bias": jnp.zeros(kinds),
    }

    def loss(h: Arrays, some: Arrays) -> jax.Array:
        logits = second_logits(h, some["sampled"], some["heat"], some["form"])
        return class_loss(logits, some["label"], some["allowed"], jnp.ones(len(logits)))

    h = descend(loss, start, shown, ROUNDS, RATE, ROWS)
    second = np.asarray(second_logits(h, asked["sampled"], asked["heat"], asked["form"]))
    second = log_softmax(np.where(asked["allowed"], second, -1e9))
    both = mean_of_looks(asked["first"], second)
    rows = np.arange(len(both))
    before, now = (v[rows, asked["label"]].mean() for v in (asked["first"], both))
    return h if now > before else {}


def second_logits(h: Arrays, sampled: jax.Array, heat: jax.Array, form: jax.Array) -> jax.Array:
    """`vision.learned.network.look_again`, to learn by"""
    x = sampled.reshape(-1, SECOND_GRID, SECOND_GRID, FINE).astype(jnp.float32)
    seen = lax.conv_general_dilated(
        x, h["classes/second_conv"], (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    seen = jax.nn.relu(seen + h["classes/second_conv.bias"])
    n, k = SECOND_GRID - 2, SECOND_POOL
    pooled = seen.reshape(len(x), n // k, k, n // k, k, SECOND_SIZE).max((2, 4))
    forms = h["classes/second"].shape[0] - pooled[0].size - 1
    described = jnp.concatenate(
        [
            pooled.reshape(len(x), -1),
            jnp.clip(heat, *HEAT_SPAN)[:, None],
            jax.nn.one_hot(form, forms),
        ],
        1,
    )
    return described @ h["classes/second"] + h["classes/second.bias"]
