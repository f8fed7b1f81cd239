"""Ends what a copy's network learns: its classes and prints are fitted once more, from nothing, to
what the taught trunk makes of made-up samples, those of loose pieces at the places that its heat maps
show, as the reader will see them. `refit_classes` is what teaching calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import jax.numpy as jnp
import numpy as np

from calibration.synthesis.batch import Shapes, pad_rows
from calibration.synthesis.compose import turn_inputs, turn_places
from calibration.training.class_fit import (
    LEAST_ROUNDS,
    ROUND_ROWS,
    Batch,
    FitArrays,
    Rows,
    RunTrunk,
    TrunkFeatures,
    embed_sampled,
    fit_told,
    site_rows,
)
from vision.learned.canvas import picture_of
from vision.learned.groups import loose_names
from vision.learned.network import HEAT_SPAN, PIECE_GRID, PIECE_REACH, Weights, grid_places
from vision.learned.reader import find_peaks
from vision.learned.sampling import frame_pieces, sample_polar

# of Adam's steps for each batch in which prints move; `STILL_ROUNDS` times as many follow
LAST_ROUNDS = {"site": 0.8, "piece": 1.2}
# times that a place is learnt from at most: of Ur's few sites more are told wrong after thirty times
MOST_SEEN = 10
HIT_PEAK, NEAR_PEAK = 0.35, 0.55  # of a piece's width about its middle: it is meant, it may be
ASKED_PEAKS = 40  # places with a piece, and as many without, of a form in each sample
EDGE = 0.6  # of a piece's reach: nearer to a sample's edge too little of it is seen
ROOM = 128  # places that are embedded at once: each number of them is compiled for itself


def refit_classes(
    weights: Weights,
    fresh: Weights,
    shapes: Shapes,
    batches: Iterable[Batch],
    run: RunTrunk,
) -> Weights:
    """The taught weights, with their classes and prints fitted to these batches. fresh: weights of
    classes that nothing was taught yet; run: the trunk, as the reader has it"""
    w = {k: jnp.asarray(v) for k, v in weights.items()}
    told: dict[str, list[Rows]] = defaultdict(list)
    count = 0
    for count, batch in enumerate(batches, 1):
        features = run(batch["x"]) if "x" in batch else None
        told["site"] += site_rows(w, features, batch, run)
        if "heat" in batch:
            rng = np.random.default_rng(count)
            told["piece"] += peak_rows(w, shapes, features, batch, rng)
            # the same turned is new to the network, and costs no making
            turned = turn_batch(batch, int(rng.integers(1, 4)))
            told["piece"] += peak_rows(w, shapes, run(turned["x"]), turned, rng)
    begun = {k: v for k, v in fresh.items() if k.startswith(("classes/site", "classes/piece"))}
    rounds = {}
    for name, some in told.items():
        most = MOST_SEEN * sum(len(rows["label"]) for rows in some) / ROUND_ROWS
        rounds[name] = max(int(min(LAST_ROUNDS[name] * count, most)), LEAST_ROUNDS)
    return fit_told(dict(weights) | begun, told, rounds, parts=True)


def turn_batch(batch: Batch, quarters: int) -> Batch:
    """A batch's inputs and loose pieces turned counterclockwise"""
    out = {k: batch[k].copy() for k in ("points", "camera")}
    for at in (out["points"][..., 2:], out["camera"][..., :2]):
        at[:] = turn_places(at, quarters, 2 * batch["x"].shape[1])
    return out | {"x": turn_inputs(batch["x"], quarters)}


def peak_rows(
    w: FitArrays, shapes: Shapes, features: TrunkFeatures, batch: Batch, rng: np.random.Generator
) -> list[Rows]:
    """Of the places in a batch that heat maps show: what they are described by, their pixels, heat,
    label and kinds allowed"""
    fine, _, heat = features
    maps = np.asarray(heat @ w["classes/heat"] + w["classes/heat.bias"])
    names = loose_names(shapes.forms)
    none = len(names)
    told = [[(g, k) for g, k, name in names if name in form.told_kinds] for form in shapes.forms]
    out = []
    shown = zip(batch["x"].astype(np.float32), batch["points"], batch["camera"])
    for n, (x, points, camera) in enumerate(shown):
        seen, half = picture_of(x), len(x)
        for f, form in enumerate(shapes.forms):
            forms, kinds = zip(*told[f])
            allowed = np.isin(np.arange(none + 1), [*kinds, none])
            at, high = find_peaks(maps[n, ..., f])
            edge = EDGE * form.reach * shapes.scale
            inside = ((at > edge) & (at < 2 * half - edge)).all(1)
            at, high = at[inside], high[inside]
            width = form.width * shapes.scale
            label = label_peaks(at, points[np.isin(points[:, 0], forms)], width, none)
            asked = (label >= 0) & (label < none), label == none
            some = np.concatenate([rng.permutation(np.flatnonzero(v))[:ASKED_PEAKS] for v in asked])
            if not len(some):
                continue
            at = at[some]
            axes = frame_pieces(at, camera, width, form.standing_height * shapes.scale)
            index, weight = grid_places(at, PIECE_REACH * axes, PIECE_GRID, 2, (half, half))
            out.append(
                {
                    "embedded": embed_rows(w, fine[n], index, weight),
                    "pixels": sample_polar(seen, at, axes).astype(np.float16),
                    "heat": np.clip(high[some], *HEAT_SPAN).astype(np.float32),
                    "label": label[some].astype(np.int32),
                    "allowed": np.repeat(allowed[None], len(at), 0),
                    "matched": np.ones(len(at), np.float32),
                }
            )
    return out


def embed_rows(
    w: FitArrays, features: jnp.ndarray, index: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """(r, PIECE_SIZE) what places of one sample's features (h, w, c) are described by"""
    most = -len(index) // ROOM * -ROOM
    found = embed_sampled(w, "piece", features[None], pad_rows(index, most), pad_rows(weight, most))
    return np.asarray(found)[: len(index)]


def label_peaks(at: np.ndarray, points: np.ndarray, width: float, none: int) -> np.ndarray:
    """(r,) the kind of the piece that each place (r, 2) px is meant for, `none`, or -1 where that is
    not plain. points: (n, 4) as of a `Sample`; width: px"""
    label = np.full(len(at), none)
    if not len(points) or not len(at):
        return label
    away = np.hypot(*(at[:, None] - points[None, :, 2:]).transpose(2, 0, 1))
    label[away.min(1) < NEAR_PEAK * width] = -1
    for n, nearest in enumerate(away.argmin(0)):
        if away[nearest, n] < HIT_PEAK * width:
            label[nearest] = int(points[n, 1])
    return label
