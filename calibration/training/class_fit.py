"""Fits a copy's own classes and prints to features of synthetic samples, with the trunk frozen: the
features are computed once and used for many steps, in a fraction of the time that training through
the trunk takes. Training begins with `fit_classes`, while the trunk is still the one that ships
with the project, not yet fine-tuned on the copy; `refit.py` ends it with `fit_told`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from calibration.training.network import (
    class_loss,
    classify_places,
    embed_places,
    heat_loss,
    match_piece_prints,
    match_site_prints,
    run_trunk,
    sample_features,
)
from calibration.training.prints import (
    begin_prints,
    draw_colours,
    draw_parts,
    match_parts_of_rows,
    share_colours_of_rows,
    slice_rows,
)
from vision.learned.network import FINER, SITE_PIXELS, TEMPLATES, Weights, coarsen_pictures

# Adam's steps for each batch, all of them at least, and how large they are at first
FIRST_ROUNDS, LEAST_ROUNDS, CLASS_RATE = 0.5, 100, 3e-3
ROUND_ROWS = 256  # places in each
STILL_ROUNDS = 3  # times as many steps follow in which prints stay as they are by then
FEW_ROUNDS = 100  # after so few none follow: compiling them would take longer
HEAT_ROUNDS, HEAT_RATE, HEAT_SAMPLES = 150, 0.03, 8
HEAT_BATCHES = 16  # of which heat features are kept: 10 MB each
CLASS_DECAY = 1e-3  # of weights in each step, times its size
ROUND_SEED = 0
# numbers that what describes a loose piece is told by together, besides each by itself: of made-up pieces
# that were not learnt from a tenth fewer are told wrong; of close-ups, where nothing else is learnt from, a
# quarter fewer; of sites as many
HIDDEN, CLOSE_HIDDEN = {"piece": 64}, 64
# of what describes a place, in standard deviations, how much noise is added in each step of the last fit, and
# what share is left out (Srivastava et al. 2014), or made-up places would be learnt by heart: the mean loss over
# others than these was a fifth less for sites (Ur 0.216 -> 0.177, Nile 0.260 -> 0.204), a thirtieth for pieces.
# Close-ups of what stands have no prints: all of their few numbers are needed (real/chess 0.052 -> 0.027)
ROUND_NOISE = {"site": 1.0, "piece": 0.5, "close": 0.5}
LEFT_OUT = {"site": 0.5, "piece": 0.0, "close": 0.0}
Batch = Mapping[str, np.ndarray]
FitArrays = dict[str, jax.Array]
Rows = dict[str, np.ndarray]
TrunkFeatures = tuple[jax.Array, jax.Array, jax.Array]  # as of `run_trunk`
RunTrunk = Callable[[np.ndarray], TrunkFeatures]  # of inputs (n, h/2, w/2, 24)


def fit_classes(weights: Weights, batches: Iterable[Batch]) -> Weights:
    """The same weights, their "classes/..." fitted to what the trunk makes of these batches"""
    w = {k: jnp.asarray(v) for k, v in weights.items()}
    told: dict[str, list[Rows]] = defaultdict(list)
    heats: list[tuple[np.ndarray, np.ndarray]] = []
    count = 0
    for batch in batches:
        count += 1
        features = trunk_features(w, batch["x"]) if "x" in batch else None
        told["site"] += site_rows(w, features, batch, partial(trunk_features, w))
        if "heat" not in batch:
            continue
        fine, _, heat = features
        told["piece"].append(rows_of(w, "piece", "piece", fine, batch))
        if len(heats) < HEAT_BATCHES:
            heats.append((np.asarray(heat, np.float16), batch["heat"]))
    rounds = max(int(FIRST_ROUNDS * count), LEAST_ROUNDS)
    return fit_told(weights, told, dict.fromkeys(told, rounds), heats)


def fit_told(
    weights: Weights,
    told: Mapping[str, Sequence[Rows]],
    rounds: Mapping[str, int],
    heats: Sequence[tuple[np.ndarray, np.ndarray]] = (),
    parts: bool = False,
) -> Weights:
    """The same weights, the classes and prints of each classifier fitted to its rows in so many steps, and
    the heat maps to heat features and targets, each on a thread of its own. parts: with prints of parts"""
    with ThreadPoolExecutor() as pool:
        fits = [
            pool.submit(fit_joined, name, weights, some, rounds[name], parts)
            for name, some in told.items()
            if some
        ]
        if heats:
            joined = [np.concatenate(v) for v in zip(*heats, strict=True)]
            fits.append(pool.submit(fit_heat, weights, *joined))
        fitted = dict(weights)
        for fit in fits:
            fitted |= fit.result()
    return fitted


def fit_joined(
    name: str, weights: Weights, some: Sequence[Rows], rounds: int, parts: bool
) -> Weights:
    """As `fit_classifier`, of all these places together, which empties them: they are hundreds of MB"""
    return fit_classifier(
        name,
        weights,
        {k: np.concatenate([r.pop(k) for r in some]) for k in list(some[0])},
        rounds,
        parts,
    )


trunk_features = jax.jit(lambda w, x: run_trunk(w, x.astype(jnp.float32)))


def site_rows(
    w: FitArrays, features: TrunkFeatures | None, batch: Batch, run: RunTrunk
) -> list[Rows]:
    """A batch's sites, as they lie and as close-ups: what they are described by, their pixels, label
    and classes allowed. features: what the trunk makes of its samples; run: what makes it"""
    out = []
    if "close_x" in batch:
        rows = rows_of(w, "site", "close", run(batch["close_x"])[1], batch)
        shape = (len(rows["label"]), FINER * SITE_PIXELS, FINER * SITE_PIXELS, 3)
        out.append(rows | {"pixels": np.zeros(shape, np.float16)})
    if features is not None:
        out.append(rows_of(w, "site", "site", features[1], batch))
    return out


def rows_of(w: FitArrays, name: str, part: str, features: jax.Array, batch: Batch) -> Rows:
    """The places of one part of a batch that are learnt from"""
    shown = batch[f"{part}_counts"] > 0
    found = embed_sampled(w, name, features, batch[f"{part}_index"], batch[f"{part}_weight"])
    rows = {
        k: batch[f"{part}_{k}"][shown]
        for k in ("label", "allowed", "pixels", "upright")
        if f"{part}_{k}" in batch
    }
    matched = np.full(shown.sum(), part != "close", np.float32)
    return rows | {"embedded": np.asarray(found)[shown], "matched": matched}


embed_sampled = jax.jit(
    lambda w, name, features, index, weight: embed_places(
        w, name, sample_features(features, index, weight)
    ),
    static_argnums=1,
)


def fit_classifier(
    name: str, weights: Weights, rows: Rows, rounds: int, parts: bool = False
) -> Weights:
    """The classes and prints of one classifier, by the loss that is learnt with, in so many steps.
    parts: what prints of parts and the copy's own colours tell, which stay as they are drawn, is learnt
    from too"""
    drawn: Weights = {}
    if parts:
        drawn = draw_colours(name, rows) | draw_parts(name, rows)
        told = share_colours_of_rows(name, drawn, rows), match_parts_of_rows(name, drawn, rows)
        rows = rows | {"embedded": np.concatenate([rows["embedded"], *told], 1)}
    rows = rows | {"pixels": coarsen_rows(name, rows["pixels"])}
    begun = begin_prints(name, weights, rows)
    middle, spread = rows["embedded"].mean(0), rows["embedded"].std(0) + 1e-2
    rows = rows | {"embedded": (rows["embedded"] - middle) / spread}
    own = [f"classes/{name}{part}" for part in ("", ".bias", "_prints", "_prints.bias")]
    heat = f"classes/{name}_heat"
    start = {k: jnp.asarray(begun[k]) for k in (*own, *([heat] if "heat" in rows else ()))}
    classes = begun[own[0]].shape[1]
    nothing = jnp.zeros((len(middle), classes))
    start[own[0]] = jnp.concatenate([nothing, start[own[0]][-TEMPLATES:]])
    hidden = HIDDEN.get(name, 0) if rows["matched"].any() else CLOSE_HIDDEN
    if parts and hidden:
        start |= begin_hidden(name, len(middle) + TEMPLATES, hidden, classes)

    def round_loss(h: FitArrays, some: FitArrays, key: jax.Array) -> jax.Array:
        prints = some["prints"] if "prints" in some else match_prints(name, h, some)
        described = some["embedded"]
        if parts:
            described = disturb_numbers(name, described, some["matched"], key)
        logits = classify_places(h, name, described, prints)
        if heat in h:
            logits += some["heat"][:, None] * h[heat]
        return class_loss(logits, some["label"], some["allowed"], jnp.ones(len(logits)))

    h = descend_loss(round_loss, start, rows, rounds, CLASS_RATE)
    if parts and rounds > FEW_ROUNDS:  # then with prints that stay: in a tenth of the time
        rows = settle_prints(name, h, rows)
        stay = {k: v for k, v in h.items() if "_prints" in k}
        moved = {k: jnp.asarray(v) for k, v in h.items() if k not in stay}
        h = stay | descend_loss(round_loss, moved, rows, STILL_ROUNDS * rounds, CLASS_RATE)
    for k in (own[0], f"classes/{name}_hidden"):
        if k in h:
            h[k] = h[k].copy()
            h[k][: len(middle)] /= spread[:, None]
            h[f"{k}.bias"] = h[f"{k}.bias"] - middle @ h[k][: len(middle)]
    return drawn | h


def disturb_numbers(name: str, numbers: jax.Array, matched: jax.Array, key: jax.Array) -> jax.Array:
    """(r, n) numbers of a spread of 1 with noise, some of them left out, the others larger for it. matched: (r,) 0
    of close-ups"""
    noise, share = (
        jnp.where(matched[:, None] > 0, v[name], v["close"]) for v in (ROUND_NOISE, LEFT_OUT)
    )
    shaken, left = jax.random.split(key)
    kept = jax.random.bernoulli(left, 1 - share, numbers.shape) / (1 - share)
    return (numbers + noise * jax.random.normal(shaken, numbers.shape)) * kept


def match_prints(name: str, h: FitArrays, some: FitArrays) -> jax.Array:
    """(r, TEMPLATES) how well prints fit places as of `rows_of`, coarsened; 0 of close-ups"""
    pixels = some["pixels"].astype(jnp.float32)
    prints = (
        match_site_prints(h, pixels, some.get("upright"))
        if name == "site"
        else match_piece_prints(h, pixels)
    )
    return prints * some["matched"][:, None]


def settle_prints(name: str, h: FitArrays, rows: Rows) -> Rows:
    """The rows with how well prints fit them, which stay as they are, in place of their pictures"""
    match = jax.jit(match_prints, static_argnums=0)
    shown = {k: rows[k] for k in ("pixels", "upright", "matched") if k in rows}
    fits = [
        np.asarray(match(name, h, {k: v[some] for k, v in shown.items()}))
        for some in slice_rows(len(rows["label"]))
    ]
    kept = {k: v for k, v in rows.items() if k == "matched" or k not in shown}
    return kept | {"prints": np.concatenate(fits)}


def coarsen_rows(name: str, fine: np.ndarray) -> np.ndarray:
    """As `coarsen_pictures`, in 16 bits"""
    parts = (fine[some].astype(np.float32) for some in slice_rows(len(fine)))
    return np.concatenate([coarsen_pictures(name, p).astype(np.float16) for p in parts])


def begin_hidden(name: str, described: int, count: int, classes: int) -> FitArrays:
    """Fresh weights of what numbers tell together, which says nothing yet"""
    rng = np.random.default_rng(ROUND_SEED)
    spread = np.sqrt(1 / described)
    return {
        f"classes/{name}_hidden": jnp.asarray(
            rng.normal(0, spread, (described, count)), jnp.float32
        ),
        f"classes/{name}_hidden.bias": jnp.zeros(count),
        f"classes/{name}_hidden_says": jnp.zeros((count, classes)),
    }


def fit_heat(weights: Weights, heat: np.ndarray, target: np.ndarray) -> Weights:
    """Heat maps from heat features (n, h, w, FINE), by the loss that is learnt with"""
    start = {k: jnp.asarray(weights[k]) for k in ("classes/heat", "classes/heat.bias")}

    def round_loss(h: FitArrays, some: FitArrays, _: jax.Array) -> jax.Array:
        seen, target = (some[k].astype(jnp.float32) for k in ("heat", "target"))
        return heat_loss(seen @ h["classes/heat"] + h["classes/heat.bias"], target)

    rows = {"heat": heat, "target": target}
    return descend_loss(round_loss, start, rows, HEAT_ROUNDS, HEAT_RATE, HEAT_SAMPLES)


def descend_loss(
    loss: Callable[[FitArrays, FitArrays, jax.Array], jax.Array],
    weights: FitArrays,
    rows: Rows,
    rounds: int,
    rate: float,
    many: int = ROUND_ROWS,
) -> Weights:
    """Weights after so many of Adam's steps, each over `many` of the rows and smaller towards the
    end. loss: of weights, rows, and a key of what is random in a step"""

    @jax.jit
    def step(w, first, second, n, pace, some):
        slope = jax.grad(loss)(w, some, jax.random.key(n))
        first = {k: 0.9 * first[k] + 0.1 * slope[k] for k in w}
        second = {k: 0.99 * second[k] + 0.01 * slope[k] ** 2 for k in w}
        moved = {}
        for k in w:
            size = jnp.sqrt(second[k] / (1 - 0.99**n)) + 1e-8
            moved[k] = w[k] - pace * (first[k] / (1 - 0.9**n) / size + CLASS_DECAY * w[k])
        return moved, first, second

    rng = np.random.default_rng(ROUND_SEED)
    count = len(next(iter(rows.values())))
    first = {k: jnp.zeros_like(v) for k, v in weights.items()}
    second = dict(first)
    for n in range(1, rounds + 1):
        chosen = rng.integers(count, size=many) if many < count else np.arange(count)
        pace = rate * min(1.0, 1.5 * (1 - n / rounds) + 0.01)
        some = {k: v[chosen] for k, v in rows.items()}
        weights, first, second = step(weights, first, second, n, pace, some)
    return {k: np.asarray(v) for k, v in weights.items()}
