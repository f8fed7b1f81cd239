"""Ends what a copy's network learns: once its trunk is taught, what sites are told by is fitted again,
and a second look at loose pieces to the places that heat maps show, as the reader will see them.
`fit_second_look` is what teaching calls."""

from __future__ import annotations

from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from calibration.learned.class_fit import Arrays, Batch, Rows, descend
from calibration.learned.network import class_loss, classify, embed_places
from vision.learned.canvas import picture_of
from vision.learned.network import (
    FINE,
    HEAT_SPAN,
    SECOND_GRID,
    SECOND_POOL,
    SECOND_SIZE,
    TEMPLATES,
    Weights,
    slide_templates,
)
from vision.learned.reader import LearnedReader, find_peaks, gather_places, log_softmax

ROUNDS, RATE = 1200, 2e-3  # Adam's steps of each fit, and how large they are at first
SITE_ROWS, PIECE_ROWS = 128, 192  # places in each
FEWEST = 300  # places below which nothing can be fitted to them
HIT, NEAR = 0.35, 0.55  # of a piece's width about its middle: it is meant, it may be
ASKED = 40  # places with a piece, and as many without, of a form in each sample
KEPT_ASIDE = 0.12  # of the places, by which a second look is judged


def fit_second_look(weights: Weights, reader: LearnedReader, batches: Iterable[Batch]) -> Weights:
    """The same weights, sites told and loose pieces looked at again as fits these batches better.
    reader: one with these weights"""
    sites: list[Rows] = []
    pieces: list[Rows] = []
    for n, batch in enumerate(batches):
        sites += site_rows(reader, batch)
        pieces += piece_rows(reader, batch, np.random.default_rng(n))
    out = dict(weights)
    for rows, fit in ((sites, refit_sites), (pieces, fit_pieces)):
        whole = {k: np.concatenate([r[k] for r in rows]) for k in rows[0]} if rows else {}
        if rows and len(whole["label"]) >= FEWEST:
            out |= fit(weights, whole)
    return out


def site_rows(reader: LearnedReader, batch: Batch) -> list[Rows]:
    """Of the sites of a batch that are learnt from: features about them, how well the prints fit
    them, label and classes allowed"""
    out = []
    for part, x in (("close", "close_x"), ("site", "x")):
        if x not in batch:
            continue
        shown = batch[f"{part}_counts"] > 0
        maps = np.stack([reader.trunk(v.astype(np.float32))[1] for v in batch[x]])
        places = [batch[f"{part}_{k}"][shown] for k in ("index", "weight")]
        prints = np.zeros((shown.sum(), TEMPLATES), np.float32)
        if part == "site":
            upright = batch.get("site_upright", np.ones(len(shown)))[shown].astype(bool)
            for turned in (False, True):
                mine = upright != turned
                if mine.any():
                    fits = slide_templates(
                        batch["site_pixels"][shown][mine].astype(np.float32),
                        reader.weights["classes/site_prints"],
                        turned,
                    )
                    prints[mine] = np.maximum(fits + reader.weights["classes/site_prints.bias"], 0)
        out.append(
            {k: batch[f"{part}_{k}"][shown] for k in ("label", "allowed")}
            | {
                "sampled": gather_places(maps.reshape(1, -1, maps.shape[-1]), *places).astype(
                    np.float16
                ),
                "prints": prints,
            }
        )
    return out


def piece_rows(reader: LearnedReader, batch: Batch, rng: np.random.Generator) -> list[Rows]:
    """Of the places in a batch that heat maps show: features about them, heat, form, what the first
    look says of them, label and kinds allowed"""
    out = []
    if "points" not in batch:
        return out
    for x, points in zip(batch["x"], batch["points"]):
        fine, _, heat = reader.trunk(x.astype(np.float32))
        seen, logits = picture_of(x.astype(np.float32)), reader.heat_maps(heat)
        for f, form in enumerate(reader.forms):
            at, high = find_peaks(logits[..., f])
            edge, side = 0.6 * form.reach * reader.view.scale, 2 * len(x)
            inside = ((at > edge) & (at < side - edge)).all(1)
            at, high = at[inside], high[inside]
            width = form.width * reader.view.scale
            label = label_peaks(at, points[points[:, 0] == f], width, len(reader.names))
            chosen = [rng.permutation(np.flatnonzero(v))[:ASKED] for v in told_apart(label, reader)]
            some = np.concatenate(chosen)
            if not len(some):
                continue
            at, high = at[some], high[some]
            here, kinds = reader.weigh_places(f, fine, high, seen, at)
            allowed = np.zeros((len(some), len(reader.names) + 1), bool)
            allowed[:, [*reader.of_form[f], -1]] = True
            first = np.full(allowed.shape, -1e9, np.float32)
            first[:, reader.of_form[f]] = np.log(kinds * here[:, None] + 1e-6)
            first[:, -1] = np.log(1 - here + 1e-6)
            out.append(
                {
                    "sampled": reader.sample_about(f, fine, at).astype(np.float16),
                    "heat": high.astype(np.float32),
                    "form": np.full(len(some), f),
                    "first": first,
                    "label": label[some],
                    "allowed": allowed,
                }
            )
    return out


def told_apart(label: np.ndarray, reader: LearnedReader) -> tuple[np.ndarray, np.ndarray]:
    """Which places show a piece, and which none"""
    none = len(reader.names)
    return (label >= 0) & (label < none), label == none


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


def refit_sites(weights: Weights, rows: Rows) -> Weights:
    """What sites are described by and told from, fitted to such rows; prints stay as they are"""
    own = [f"{part}{end}" for part in ("trunk/site_embed", "classes/site") for end in ("", ".bias")]
    start = {k: jnp.asarray(weights[k]) for k in ("trunk/site_squeeze", *own)}

    def loss(h: Arrays, some: Arrays) -> jax.Array:
        embedded = embed_places(h, "site", some["sampled"].astype(jnp.float32))
        logits = classify(h, "site", embedded, some["prints"])
        return class_loss(logits, some["label"], some["allowed"], jnp.ones(len(logits)))

    return descend(loss, start, rows, ROUNDS, RATE, SITE_ROWS)


def fit_pieces(weights: Weights, rows: Rows) -> Weights:
    """The weights of a second look, if places kept aside are told better with it; none otherwise"""
    rng = np.random.default_rng(0)
    forms, kinds = len(weights["classes/heat.bias"]), rows["allowed"].shape[1]
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
    aside = int(KEPT_ASIDE * len(rows["label"]))
    asked, shown = ({k: v[part] for k, v in rows.items()} for part in (slice(aside), slice(aside, None)))

    def loss(h: Arrays, some: Arrays) -> jax.Array:
        logits = second_logits(h, some["sampled"], some["heat"], some["form"])
        return class_loss(logits, some["label"], some["allowed"], jnp.ones(len(logits)))

    h = descend(loss, start, shown, ROUNDS, RATE, PIECE_ROWS)
    second = np.asarray(second_logits(h, asked["sampled"], asked["heat"], asked["form"]))
    second = log_softmax(np.where(asked["allowed"], second, -1e9))
    both = log_softmax(np.where(asked["allowed"], (asked["first"] + second) / 2, -1e9))
    surprise = [-np.mean(v[np.arange(aside), asked["label"]]) for v in (asked["first"], both)]
    return h if surprise[1] < surprise[0] else {}


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
