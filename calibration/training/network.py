"""The network in the form that learns (JAX): trunk, heat maps of loose pieces, classifiers of
pieces and of sites.

Its parts that all copies have in common ("trunk/...") can be begun from what other copies taught;
`classes/...` are one copy's own. Convolutions are 3 x 3 and without normalisation, so that what was
learnt can be read by any runtime as it stands."""

from __future__ import annotations

import os
from collections.abc import Mapping

# one thread: another process makes samples beside it
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from vision.learned.canvas import unpack_pixels
from vision.learned.network import (
    ANGLES,
    FEW_CHANNELS,
    FINE_CHANNELS,
    PIECE_GRID,
    PIECE_REACH,
    PIECE_SIZE,
    RINGS,
    SITE_GRID,
    SITE_SIZE,
    SITE_TEMPLATE,
    TEMPLATES,
    TRUNK_LAYERS,
    WIDE_CHANNELS,
    Weights,
    coarsen_pictures,
    polar_offsets,
)

LABEL_SMOOTHING = 0.01  # of a label's certainty given away: a label may be wrong
WRONG, MISTAKEN = (
    4,
    0.5,
)  # places a form in each sample that heat maps mistake most, shown as "none"; how much each counts


def init_trunk(rng: np.random.Generator) -> Weights:
    """Fresh weights of what all copies have in common (He et al. 2015)"""
    out: Weights = {}
    for name, (size, inner, outer, *_) in TRUNK_LAYERS.items():
        gain = 0.5 if name.endswith("_res") else 1.0
        out[f"trunk/{name}"] = rng.normal(
            0, gain * np.sqrt(2 / (size * size * inner)), (size, size, inner, outer)
        ).astype(np.float32)
        out[f"trunk/{name}.bias"] = np.zeros(outer, np.float32)
    for name, inner, few, grid, size in (
        ("site", WIDE_CHANNELS, FEW_CHANNELS, SITE_GRID, SITE_SIZE),
        ("piece", FINE_CHANNELS, FEW_CHANNELS, PIECE_GRID, PIECE_SIZE),
    ):
        out[f"trunk/{name}_squeeze"] = rng.normal(0, np.sqrt(1 / inner), (inner, few)).astype(
            np.float32
        )
        out[f"trunk/{name}_embed"] = rng.normal(
            0, np.sqrt(2 / (few * grid * grid)), (few * grid * grid, size)
        ).astype(np.float32)
        out[f"trunk/{name}_embed.bias"] = np.zeros(size, np.float32)
    return out


def init_classes(rng: np.random.Generator, forms: int, kinds: int, classes: int) -> Weights:
    """Fresh weights of one copy's own: heat maps of its forms, its loose kinds and none, its sites'
    classes"""
    return {
        "classes/heat": rng.normal(0, 0.05, (FINE_CHANNELS, max(forms, 1))).astype(np.float32),
        "classes/heat.bias": np.full(max(forms, 1), -4.0, np.float32),
        "classes/site_prints": random_filters(rng, (SITE_TEMPLATE, SITE_TEMPLATE, 3, TEMPLATES)),
        "classes/site_prints.bias": np.zeros(TEMPLATES, np.float32),
        "classes/piece_prints": random_filters(rng, (ANGLES, RINGS, 3, TEMPLATES)),
        "classes/piece_prints.bias": np.zeros(TEMPLATES, np.float32),
        "classes/piece": rng.normal(0, 0.1, (PIECE_SIZE + TEMPLATES, kinds + 1)).astype(np.float32),
        "classes/piece.bias": np.zeros(kinds + 1, np.float32),
        # what heat at a place says for each kind, and against none
        "classes/piece_heat": np.append(np.zeros(kinds), -0.5).astype(np.float32),
        "classes/site": rng.normal(0, 0.1, (SITE_SIZE + TEMPLATES, classes)).astype(np.float32),
        "classes/site.bias": np.zeros(classes, np.float32),
    }


def random_filters(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.normal(0, np.sqrt(2 / np.prod(shape[:-1])), shape).astype(np.float32)


def run_convolution(x: jax.Array, w: Mapping[str, jax.Array], name: str) -> jax.Array:
    _, _, _, stride, dilation = TRUNK_LAYERS[name]
    y = slide_filters(x, w[f"trunk/{name}"], stride, dilation)
    return y + w[f"trunk/{name}.bias"]


def plain_slide(x: jax.Array, filters: jax.Array, stride: int, dilation: int) -> jax.Array:
    return lax.conv_general_dilated(
        x,
        filters,
        (stride, stride),
        "SAME",
        rhs_dilation=(dilation, dilation),
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )


def filter_slopes(
    x: jax.Array, shape: tuple[int, ...], stride: int, dilation: int, slope: jax.Array
) -> jax.Array:
    """The slopes of filters of this shape from those of what they made of x: a product of matrices
    for each of their places, in 0.4 to 0.7 of the time that XLA's own way takes on a processor"""
    size, _, inner, outer = shape
    _, height, width, _ = slope.shape
    reach = (size - 1) * dilation + 1
    more = [max((n - 1) * stride + reach - m, 0) for n, m in zip((height, width), x.shape[1:3])]
    padded = jnp.pad(x, ((0, 0), *((n // 2, n - n // 2) for n in more), (0, 0)))
    flat = slope.reshape(-1, outer)
    seen = [
        padded[
            :,
            i * dilation : i * dilation + (height - 1) * stride + 1 : stride,
            j * dilation : j * dilation + (width - 1) * stride + 1 : stride,
        ].reshape(-1, inner)
        for i in range(size)
        for j in range(size)
    ]
    return jnp.stack([v.T @ flat for v in seen]).reshape(shape)


def _slide_and_keep(x, filters, stride, dilation):
    return plain_slide(x, filters, stride, dilation), (x, filters)


def _slide_back(stride, dilation, kept, slope):
    x, filters = kept
    of_x = jax.linear_transpose(lambda v: plain_slide(v, filters, stride, dilation), x)
    return of_x(slope)[0], filter_slopes(x, filters.shape, stride, dilation, slope)


# the same, but for how it is differentiated
slide_filters = jax.custom_vjp(plain_slide, nondiff_argnums=(2, 3))
slide_filters.defvjp(_slide_and_keep, _slide_back)


def double_size(x: jax.Array) -> jax.Array:
    return jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)


def run_trunk(w: Mapping[str, jax.Array], x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(n, h/2, w/2, 24) -> features at a half (n, h/2, w/2, FINE), at a quarter (n, h/4, w/4,
    WIDE), heat features at a half"""
    relu = jax.nn.relu
    half = relu(run_convolution(x, w, "half"))
    quarter = relu(run_convolution(half, w, "quarter"))
    quarter = quarter + relu(run_convolution(quarter, w, "quarter_res"))
    eighth = relu(run_convolution(quarter, w, "eighth"))
    for name in ("eighth_a_res", "eighth_b_res", "eighth_c_res"):
        eighth = eighth + relu(run_convolution(eighth, w, name))
    quarter = relu(quarter + double_size(run_convolution(eighth, w, "eighth_up")))
    quarter = quarter + relu(run_convolution(quarter, w, "join_res"))
    fine = relu(half + double_size(run_convolution(quarter, w, "quarter_up")))
    return fine, quarter, relu(run_convolution(fine, w, "heat"))


def sample_features(features: jax.Array, index: jax.Array, weight: jax.Array) -> jax.Array:
    """(n, h, w, c) features at places given as four rows of the flattened map and their weights (r,
    g, 4) -> (r, g, c)"""
    flat = features.reshape(-1, features.shape[-1])
    return (flat[index] * weight[..., None]).sum(2)


def embed_places(w: Mapping[str, jax.Array], name: str, sampled: jax.Array) -> jax.Array:
    """(r, g, c) -> what sites or pieces are described by (r, n)"""
    few = (sampled @ w[f"trunk/{name}_squeeze"]).reshape(len(sampled), -1)
    return jax.nn.relu(few @ w[f"trunk/{name}_embed"] + w[f"trunk/{name}_embed.bias"])


def classify_places(
    w: Mapping[str, jax.Array], name: str, embedded: jax.Array, prints: jax.Array
) -> jax.Array:
    """What places are described by (r, n), prints of the whole (r, TEMPLATES) -> logits (r, classes)"""
    described = jnp.concatenate([embedded, prints], 1)
    logits = described @ w[f"classes/{name}"] + w[f"classes/{name}.bias"]
    hidden = f"classes/{name}_hidden"
    if hidden in w:
        together = jax.nn.relu(described @ w[hidden] + w[f"{hidden}.bias"])
        logits += together @ w[f"{hidden}_says"]
    return logits


def match_site_prints(
    w: Mapping[str, jax.Array], pixels: jax.Array, upright: jax.Array | None
) -> jax.Array:
    """(r, TEMPLATES) how well the copy's prints fit pictures of sites (r, n, n, 3), wherever on them
    they lie. upright: (r,) where they lie one way up; None: everywhere"""
    filters = w["classes/site_prints"]
    if upright is not None:
        filters = jnp.concatenate([jnp.rot90(filters, q, (0, 1)) for q in range(4)], -1)
    fits = lax.conv_general_dilated(
        pixels.astype(jnp.float32),
        filters,
        (1, 1),
        "VALID",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    ).max((1, 2))
    if upright is not None:
        turned = fits.reshape(len(pixels), 4, -1)
        fits = jnp.where(upright[:, None], turned[:, 0], turned.max(1))
    return jax.nn.relu(fits + w["classes/site_prints.bias"])


def match_piece_prints(w: Mapping[str, jax.Array], pixels: jax.Array) -> jax.Array:
    """(r, TEMPLATES) how well the copy's prints fit pieces (r, ANGLES, RINGS, 3), turned any way"""
    around = jnp.concatenate([pixels, pixels[:, :-1]], 1).astype(jnp.float32)
    # as one product of matrices: in half the time that a filter as long as the picture takes
    turns = jnp.stack(
        [around[:, n : n + ANGLES].reshape(len(pixels), -1) for n in range(ANGLES)], 1
    )
    fits = turns @ w["classes/piece_prints"].reshape(turns.shape[-1], -1)
    return jax.nn.relu(fits.max(1) + w["classes/piece_prints.bias"])


def heat_loss(logits: jax.Array, target: jax.Array) -> jax.Array:
    """CenterNet's focal loss (Zhou et al. 2019) over (n, h, w, forms)"""
    p = jax.nn.sigmoid(logits)
    hit = (target > 0.999).astype(jnp.float32)
    up = -((1 - p) ** 2) * jax.nn.log_sigmoid(logits) * hit
    down = -(p**2) * jax.nn.log_sigmoid(-logits) * (1 - target) ** 4 * (1 - hit)
    return (up + down).sum() / jnp.maximum(hit.sum(), 5)


def class_loss(
    logits: jax.Array, label: jax.Array, allowed: jax.Array, weight: jax.Array
) -> jax.Array:
    """Cross entropy over the classes allowed at each place, label smoothed over these"""
    logs = jax.nn.log_softmax(jnp.where(allowed, logits, -1e9))
    right = jnp.take_along_axis(logs, label[:, None], 1)[:, 0]
    spread = jnp.where(allowed, logs, 0).sum(1) / allowed.sum(1)
    return -(
        ((1 - LABEL_SMOOTHING) * right + LABEL_SMOOTHING * spread) * weight
    ).sum() / jnp.maximum(weight.sum(), 1)


def site_loss(
    w: Mapping[str, jax.Array], batch: Mapping[str, jax.Array], part: str, quarter: jax.Array
) -> jax.Array:
    """Of what lies on sites as one. part: "site" as they lie on the canvas, or "close" """
    sampled = sample_features(quarter, batch[f"{part}_index"], batch[f"{part}_weight"])
    embedded = embed_places(w, "site", sampled)
    prints = jnp.zeros((len(embedded), TEMPLATES))
    if part == "site":
        pixels = coarsen_pictures("site", batch["site_pixels"].astype(jnp.float32))
        prints = match_site_prints(w, pixels, batch.get("site_upright"))
    return class_loss(
        classify_places(w, "site", embedded, prints),
        batch[f"{part}_label"],
        batch[f"{part}_allowed"],
        batch[f"{part}_counts"],
    )


def total_loss(w: Mapping[str, jax.Array], batch: Mapping[str, jax.Array]) -> jax.Array:
    loss = jnp.zeros(())
    if "close_x" in batch:
        loss += site_loss(w, batch, "close", run_trunk(w, batch["close_x"].astype(jnp.float32))[1])
    if "x" not in batch:
        return loss
    fine, quarter, heat = run_trunk(w, batch["x"].astype(jnp.float32))
    loss += site_loss(w, batch, "site", quarter)
    if "heat" not in batch:
        return loss
    logits, target = (
        heat @ w["classes/heat"] + w["classes/heat.bias"],
        batch["heat"].astype(jnp.float32),
    )
    loss += heat_loss(logits, target)
    index, weight, form, sample, at, axes = mistaken_places(
        lax.stop_gradient(logits), target, batch
    )
    index, weight, pixels = (
        jnp.concatenate([batch[k], v])
        for k, v in (
            ("piece_index", index),
            ("piece_weight", weight),
            ("piece_pixels", polar_pixels(batch["x"], sample, at, axes)),
        )
    )
    none = batch["form_kinds"].shape[1] - 1
    label = jnp.concatenate([batch["piece_label"], jnp.full(len(form), none, jnp.int32)])
    allowed = jnp.concatenate([batch["piece_allowed"], batch["form_kinds"][form]])
    counts = jnp.concatenate([batch["piece_counts"], jnp.full(len(form), MISTAKEN)])
    embedded = embed_places(w, "piece", sample_features(fine, index, weight))
    prints = match_piece_prints(w, coarsen_pictures("piece", pixels.astype(jnp.float32)))
    logits = classify_places(w, "piece", embedded, prints)
    return loss + class_loss(logits, label, allowed, counts)


def polar_pixels(x: jax.Array, sample: jax.Array, at: jax.Array, axes: jax.Array) -> jax.Array:
    """(r, ANGLES, FINER * RINGS, 3) of inputs (n, h/2, w/2, 24) about places (r, 2) of samples (r,), in
    their pixels; axes: (r, 2, 2) pixels"""
    half = x.shape[1]
    flat = unpack_pixels(x, 3).reshape(-1, 3).astype(jnp.float32)
    places = at[:, None] + jnp.asarray(polar_offsets(), jnp.float32) @ axes
    fy, fx = (jnp.clip(places[..., k], 0, 2 * half - 1.001) for k in (1, 0))
    y0, x0 = jnp.floor(fy).astype(jnp.int32), jnp.floor(fx).astype(jnp.int32)
    py, px = (fy - y0)[..., None], (fx - x0)[..., None]
    first = sample[:, None] * (4 * half * half) + y0 * (2 * half) + x0
    rows = [flat[first + dy * 2 * half + dx] for dy in (0, 1) for dx in (0, 1)]
    top = rows[0] * (1 - px) + rows[1] * px
    low = rows[2] * (1 - px) + rows[3] * px
    return (top * (1 - py) + low * py).reshape(len(sample), ANGLES, -1, 3)


def mistaken_places(
    logits: jax.Array, target: jax.Array, batch: Mapping[str, jax.Array]
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]:
    """Where heat maps (n, h, w, forms) are highest though no piece lies there: places as of
    `sample_features`, their forms, samples, (r, 2) pixels of these, and sides as of `frame_pieces`"""
    n, h, _, forms = logits.shape
    wrong = jnp.where(target < 0.05, logits, -1e9)
    blocks = wrong.reshape(n, h // 4, 4, h // 4, 4, forms)  # at most one of 4 x 4 places
    best = blocks.transpose(0, 5, 1, 3, 2, 4).reshape(n, forms, (h // 4) ** 2, 16)
    value, inner = best.max(-1), best.argmax(-1)
    _, block = lax.top_k(value, WRONG)
    inner = jnp.take_along_axis(inner, block, 2)
    y, x = block // (h // 4) * 4 + inner // 4, block % (h // 4) * 4 + inner % 4
    form = jnp.broadcast_to(jnp.arange(forms).reshape(1, -1, 1), (n, forms, WRONG)).reshape(-1)
    sample = jnp.broadcast_to(jnp.arange(n).reshape(n, 1, 1), (n, forms, WRONG)).reshape(-1)
    y, x = y.reshape(-1), x.reshape(-1)
    at = jnp.stack([2 * x + 0.5, 2 * y + 0.5], 1)
    axes = lean_frames(
        at, batch["camera"][sample], batch["form_width"][form], batch["form_standing"][form]
    )
    t = ((jnp.arange(PIECE_GRID) + 0.5) / PIECE_GRID - 0.5) * PIECE_REACH / 2
    off = jnp.stack(jnp.meshgrid(t, t), -1).reshape(-1, 2) @ axes
    fy, fx = (jnp.clip(v[:, None] + off[..., k], 0, h - 1.001) for v, k in ((y, 1), (x, 0)))
    y0, x0 = jnp.floor(fy).astype(jnp.int32), jnp.floor(fx).astype(jnp.int32)
    py, px = fy - y0, fx - x0
    first = (sample * h * h)[:, None]
    index = jnp.stack([first + (y0 + dy) * h + x0 + dx for dy in (0, 1) for dx in (0, 1)], -1)
    weight = jnp.stack(
        [(py if dy else 1 - py) * (px if dx else 1 - px) for dy in (0, 1) for dx in (0, 1)], -1
    )
    return index, weight, form, sample, at, axes


def lean_frames(
    at: jax.Array, camera: jax.Array, width: jax.Array, standing: jax.Array
) -> jax.Array:
    """As `frame_pieces`, of places (r, 2) each seen by a camera (r, 3) of its own"""
    standing, high = standing[:, None], camera[:, 2:]
    feet = at - (at - camera[:, :2]) * (standing / (2 * high))
    shift = (feet - camera[:, :2]) * (standing / jnp.maximum(high - standing, standing / 10))
    length = jnp.linalg.norm(shift, axis=1, keepdims=True)
    along = jnp.where(length > 1e-6, shift / jnp.maximum(length, 1e-6), jnp.array([1.0, 0.0]))
    across = jnp.stack([-along[:, 1], along[:, 0]], 1)
    return jnp.stack([along * (length + width[:, None]), across * width[:, None]], 1)
