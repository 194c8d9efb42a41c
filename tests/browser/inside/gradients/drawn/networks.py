"""Calls of network functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from inside.arrays import nn_reference as nn
from inside.gradients.drawn.directions import Call
from inside.gradients.drawn.operands import (
    NUMBERS,
    REAL,
    Draw,
    Operand,
    Shape,
    away,
    axis_of,
    between,
    broadcast_shapes,
    chance,
    different,
    numbers,
    seen,
    shapes,
)
from inside.gradients.drawn.table import Table, entry
from inside.gradients.losses_reference import REDUCTIONS, entropy
from inside.networks.known import gather

NETWORKS: Table = {}
_BOTH = st.sampled_from((("f4", "f4"), ("f2", "f2"), ("f2", "f4"), ("f4", "f2")))


def _real(draw: Draw, shape: Shape, kind: str | None = None) -> Operand:
    """Draw a view of any real numbers."""
    return seen(draw, numbers(draw, shape, kind or draw(st.sampled_from(REAL))))


# -- activations -----------------------------------------------------------------------------------

_RANGE = -4.5, 4.5
_BENDS: dict[str, tuple[float, ...]] = {"hardswish": (-3, 3), "relu": (0,), "leaky_relu": (0,)}


@entry(NETWORKS, *(f"nn.{name}" for name in nn.ACTIVATIONS if name != "softplus"))
def _(draw: Draw, name: str) -> Call:
    function = name.partition(".")[2]
    points = _BENDS.get(function, (0,) if function == "elu" else ())
    kind = draw(st.sampled_from(REAL))
    x = seen(draw, away(draw, shapes(draw), *_RANGE, points, dtype=kind))
    theirs, more = nn.ACTIVATIONS[function], ()
    if function == "leaky_relu" and draw(st.booleans()):
        theirs, more = (lambda v: np.where(v > 0, v, 0.3 * v)), (0.3,)
    if function == "elu" and draw(st.booleans()):
        theirs = lambda v: np.where(v > 0, v, 0.6 * np.expm1(np.minimum(v, 0)))  # noqa: E731
        more = (0.6,)
    if function == "gelu" and draw(st.booleans()):
        theirs, more = _approximate_gelu, ("tanh",)
    return Call([x], lambda bg, v: getattr(bg.nn, function)(v, *more), theirs)


def _approximate_gelu(x: np.ndarray) -> np.ndarray:
    return x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2


@entry(NETWORKS, "nn.softplus")
def _(draw: Draw, name: str) -> Call:
    """Softplus jumps slightly at the threshold, so elements keep away from it."""
    beta, threshold = draw(st.sampled_from(((1.0, 20.0), (2.0, 3.0), (0.5, 1.0))))
    kind = draw(st.sampled_from(REAL))
    x = seen(draw, away(draw, shapes(draw), *_RANGE, (threshold / beta,), dtype=kind))
    return Call(
        [x], lambda bg, v: bg.nn.softplus(v, beta, threshold),
        lambda v: np.where(beta * v > threshold, v, np.logaddexp(beta * v, 0) / beta),
    )  # fmt: skip


@entry(NETWORKS, "nn.softmax", "nn.log_softmax")
def _(draw: Draw, name: str) -> Call:
    x = _real(draw, shape := shapes(draw, least=1))
    dim, is_log = axis_of(draw, len(shape)), name == "nn.log_softmax"
    more = {"dtype": "float32"} if draw(st.booleans()) else {}

    def theirs(v: np.ndarray) -> np.ndarray:
        if not v.size:
            return v
        logs = nn.log_softmax(v, dim)
        return logs if is_log else np.exp(logs)

    function = name.partition(".")[2]
    return Call([x], lambda bg, v: getattr(bg.nn, function)(v, dim, **more), theirs)


@entry(NETWORKS, "nn.dropout")
def _(draw: Draw, name: str) -> Call:
    x, p = _real(draw, shape := shapes(draw)), draw(st.sampled_from((0.5, 0.25, 0.0, 1.0)))
    training, seed = draw(st.booleans()), draw(st.integers(0, 99))

    def mask(bg: Any) -> tuple[np.ndarray]:
        if not training or not p:
            return (np.ones(shape),)
        kept = bg.random.default_rng(seed).random(shape).numpy() >= p
        return (np.where(kept & (p < 1), 1 / max(1 - p, 0.5), 0),)

    return Call(
        [x], lambda bg, v: bg.nn.dropout(v, p, training, generator=bg.random.default_rng(seed)),
        lambda kept, v: kept * v, beside=mask,
    )  # fmt: skip


_KNOWN = gather()


@entry(NETWORKS, *(f"nn.{name}" for name in _KNOWN))
def _(draw: Draw, name: str) -> Call:
    """Use the arrays of the value tests, in other views and in half precision."""
    one = draw(st.sampled_from(_KNOWN[name.partition(".")[2]]))
    kind = draw(st.sampled_from(REAL))
    own = [seen(draw, x.astype(kind), repeats=False) for x in one.arrays]
    return Call(own, one.ours, one.theirs)


@entry(
    NETWORKS,
    "nn.dropout1d",
    "nn.dropout2d",
    "nn.dropout3d",
    "nn.alpha_dropout",
    "nn.feature_alpha_dropout",
)
def _(draw: Draw, name: str) -> Call:
    """Results for zeros, and the differences that ones make, show the mask."""
    function, seed = name.partition(".")[2], draw(st.integers(0, 99))
    p = draw(st.sampled_from((0.5, 0.25, 0.0, 1.0)))
    shape = (2, 3, *((2,) if function in ("dropout1d", "dropout2d") else (2, 1, 2)))

    def ours(bg: Any, v: Any) -> Any:
        generator = bg.random.default_rng(seed)
        return getattr(bg.nn, function)(v, p, True, generator=generator)

    def line(bg: Any) -> tuple[np.ndarray, np.ndarray]:
        first, second = (ours(bg, bg.full(shape, x)).numpy().astype(float) for x in (0.0, 1.0))
        return second - first, first

    return Call([_real(draw, shape)], ours, lambda slope, first, v: slope * v + first, beside=line)


@entry(NETWORKS, "nn.gumbel_softmax")
def _(draw: Draw, name: str) -> Call:
    """Up to a constant, the logarithm of the result for zeros is the noise."""
    seed, tau = draw(st.integers(0, 99)), draw(st.sampled_from((1.0, 0.5, 3.0)))
    x = _real(draw, shape := (2, 3), "f4")

    def ours(bg: Any, v: Any) -> Any:
        return bg.nn.gumbel_softmax(v, tau, generator=bg.random.default_rng(seed))

    def noise(bg: Any) -> tuple[np.ndarray]:
        return (np.log(np.maximum(ours(bg, bg.zeros(shape)).numpy().astype(float), 1e-30)),)

    return Call(
        [x], ours, lambda own, v: np.exp(nn.log_softmax(v / tau + own, -1)), beside=noise
    )  # fmt: skip


# -- linear layers and tables ----------------------------------------------------------------------


@entry(NETWORKS, "nn.linear")
def _(draw: Draw, name: str) -> Call:
    lead = shapes(draw, most=2)
    inner, columns = (draw(st.sampled_from((3, 2, 1, 4, 0))) for _ in range(2))
    kind, other = draw(_BOTH)
    own = [_real(draw, (*lead, inner), kind), _real(draw, (columns, inner), other)]
    if draw(st.booleans()):
        own.append(_real(draw, (columns,), kind))
    return Call(
        own, lambda bg, *v: bg.nn.linear(*v), lambda x, w, b=0.0: x @ np.swapaxes(w, 0, 1) + b
    )


@entry(NETWORKS, "nn.embedding")
def _(draw: Draw, name: str) -> Call:
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    indices = chance(draw).integers(0, rows, shapes(draw, most=2)).astype(np.int32)
    return Call(
        [_real(draw, (rows, columns))],
        lambda bg, w: bg.nn.embedding(bg.asarray(indices), w), lambda w: w[indices],
    )  # fmt: skip


# -- convolutions, padding and pooling -------------------------------------------------------------


def _each(draw: Draw, rank: int, values: Sequence[int]) -> tuple[Any, tuple[int, ...]]:
    """Draw a number for each axis. Return it as passed, possibly an int, and as a tuple."""
    if draw(st.booleans()):
        return (found := tuple(draw(st.sampled_from(values)) for _ in range(rank))), found
    one = draw(st.sampled_from(values))
    return one, (one,) * rank


def _channels(draw: Draw) -> tuple[int, int, int]:
    """Draw the number of groups, and each group's channels on both sides."""
    groups = draw(st.sampled_from((1, 2)))
    return groups, draw(st.integers(1, 2)), draw(st.integers(1, 2))


@entry(NETWORKS, "nn.conv1d", "nn.conv2d", "nn.conv3d")
def _(draw: Draw, name: str) -> Call:
    rank = int(name[-2])
    groups, inside, outside = _channels(draw)
    kernel = tuple(draw(st.integers(1, 3 if rank < 3 else 2)) for _ in range(rank))
    stride, steps = _each(draw, rank, (1, 2, 3))
    dilation, gaps = _each(draw, rank, (1, 2))
    padding, around = _each(draw, rank, (0, 1, 2))
    extents = tuple(
        max(d * (k - 1) + 1 - 2 * p, 1) + draw(st.integers(0, 3))
        for k, d, p in zip(kernel, gaps, around, strict=True)
    )
    alone = draw(st.booleans())
    lead = () if alone else (draw(st.sampled_from((1, 2, 0))),)
    kind, other = draw(_BOTH)
    own = [_real(draw, (*lead, groups * inside, *extents), kind),
           _real(draw, (groups * outside, inside, *kernel), other)]  # fmt: skip
    if draw(st.booleans()):
        own.append(_real(draw, (groups * outside,), kind))

    def theirs(x: np.ndarray, w: np.ndarray, b: Any = None) -> np.ndarray:
        whole = x[None] if alone else x
        found = nn.convolved(whole, w, steps, around, gaps, groups)
        found = found if b is None else found + b.reshape(-1, *(1,) * rank)
        return found[0] if alone else found

    function = name.partition(".")[2]
    return Call(
        own, lambda bg, x, w, *b: getattr(bg.nn, function)(
            x, w, *b, stride=stride, padding=padding, dilation=dilation, groups=groups
        ), theirs,
    )  # fmt: skip


@entry(NETWORKS, "nn.conv_transpose1d", "nn.conv_transpose2d", "nn.conv_transpose3d")
def _(draw: Draw, name: str) -> Call:
    rank = int(name[-2])
    groups, inside, outside = _channels(draw)
    kernel = tuple(draw(st.integers(1, 3 if rank < 3 else 2)) for _ in range(rank))
    stride, steps = _each(draw, rank, (1, 2, 3))
    dilation, gaps = _each(draw, rank, (1, 2))
    padding, around = _each(draw, rank, (0, 1))
    extents = tuple(draw(st.integers(1, 3)) for _ in range(rank))
    more = tuple(draw(st.integers(0, max(s, d) - 1)) for s, d in zip(steps, gaps, strict=True))
    along = zip(extents, steps, gaps, kernel, around, more, strict=True)
    assume(all((n - 1) * s + d * (k - 1) + 1 + m > 2 * p for n, s, d, k, p, m in along))
    alone = draw(st.booleans())
    lead = () if alone else (draw(st.sampled_from((1, 2, 0))),)
    kind, other = draw(_BOTH)
    own = [_real(draw, (*lead, groups * inside, *extents), kind),
           _real(draw, (groups * inside, outside, *kernel), other)]  # fmt: skip
    if draw(st.booleans()):
        own.append(_real(draw, (groups * outside,), kind))

    def theirs(x: np.ndarray, w: np.ndarray, b: Any = None) -> np.ndarray:
        whole = x[None] if alone else x
        found = nn.transposed(whole, w, steps, around, more, gaps, groups)
        found = found if b is None else found + b.reshape(-1, *(1,) * rank)
        return found[0] if alone else found

    function = name.partition(".")[2]
    return Call(
        own, lambda bg, x, w, b=None: getattr(bg.nn, function)(
            x, w, b, stride=stride, padding=padding, output_padding=more, groups=groups,
            dilation=dilation,
        ), theirs,
    )  # fmt: skip


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@entry(NETWORKS, "nn.pad")
def _(draw: Draw, name: str) -> Call:
    """Also complex numbers; in mode "constant" also negative padding."""
    shape = shapes(draw, least=1, most=3, extents=(3, 4, 2))
    mode = draw(st.sampled_from(list(_MODES)))
    axes = draw(st.integers(1, len(shape)))
    least = -1 if mode == "constant" else 0
    pairs = [(0, 0)] * (len(shape) - axes)
    pairs += [(draw(st.integers(least, n - 1)), draw(st.integers(least, n - 1)))
              for n in shape[len(shape) - axes :]]  # fmt: skip
    flat = [n for pair in pairs[::-1][:axes] for n in pair]
    kept = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pairs, shape, strict=True))
    added = [(max(a, 0), max(b, 0)) for a, b in pairs]
    value = {"value": 1.5} if mode == "constant" and draw(st.booleans()) else {}
    by = {"constant_values": 1.5} if value else {}
    return Call(
        [seen(draw, numbers(draw, shape, draw(st.sampled_from(NUMBERS))))],
        lambda bg, v: bg.nn.pad(v, flat, mode, **value),
        lambda v: np.pad(v[kept], added, _MODES[mode], **by),
    )  # fmt: skip


def _windows(draw: Draw, rank: int) -> tuple[Shape, tuple[Any, ...], bool, Shape]:
    """Draw extents, the settings of each axis, ceil_mode, and the leading extents."""
    kernel = tuple(draw(st.integers(1, 3)) for _ in range(rank))
    stride = kernel if draw(st.booleans()) else tuple(draw(st.integers(1, 3)) for _ in range(rank))
    padding = tuple(draw(st.integers(0, k // 2)) for k in kernel)
    extents = tuple(max(k - 2 * p, 1) + draw(st.integers(0, 3 if rank < 3 else 2))
                    for k, p in zip(kernel, padding, strict=True))  # fmt: skip
    lead = draw(st.sampled_from(((2,), (1, 2), (2, 1), (0, 2))))
    return extents, (kernel, stride, padding), draw(st.booleans()), lead


@entry(NETWORKS, "nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d")
def _(draw: Draw, name: str) -> Call:
    rank, function = int(name[-2]), name.partition(".")[2]
    extents, along, upwards, lead = _windows(draw, rank)
    target = different(draw, (*lead, *extents), draw(st.sampled_from(REAL)))
    indices = rank < 3 and draw(st.booleans())

    def ours(bg: Any, v: Any) -> Any:
        more = {"return_indices": True} if indices else {}
        found = getattr(bg.nn, function)(v, *along, ceil_mode=upwards, **more)
        return found[0] if indices else found

    return Call(
        [seen(draw, target, repeats=False)], ours,
        lambda v: nn.pooled("max", v, *along, upwards),
    )  # fmt: skip


@entry(NETWORKS, "nn.avg_pool1d", "nn.avg_pool2d", "nn.avg_pool3d")
def _(draw: Draw, name: str) -> Call:
    rank, function = int(name[-2]), name.partition(".")[2]
    extents, along, upwards, lead = _windows(draw, rank)
    included = draw(st.booleans())
    return Call(
        [_real(draw, (*lead, *extents))],
        lambda bg, v: getattr(bg.nn, function)(v, *along, upwards, included),
        lambda v: nn.pooled("mean", v, *along, upwards, included),
    )  # fmt: skip


@entry(NETWORKS, "nn.adaptive_avg_pool2d")
def _(draw: Draw, name: str) -> Call:
    lead = draw(st.sampled_from(((2,), (1, 2), (2, 1))))
    extents = tuple(draw(st.integers(1, 5)) for _ in range(2))
    sizes = tuple(draw(st.sampled_from((2, 3, 1, None))) for _ in range(2))
    return Call(
        [_real(draw, (*lead, *extents))], lambda bg, v: bg.nn.adaptive_avg_pool2d(v, sizes),
        lambda v: nn.averaged(v, sizes),
    )  # fmt: skip


# -- normalisation ---------------------------------------------------------------------------------

#: Keeps the variances of equal elements, and of one element, above 0.
_EPS = 0.1


def _beside(draw: Draw, shape: Shape, kind: str) -> list[Operand]:
    """Draw factors and shifts, both or neither."""
    if not draw(st.booleans()):
        return []
    return [_real(draw, shape, kind) for _ in range(2)]


@entry(NETWORKS, "nn.layer_norm", "nn.rms_norm")
def _(draw: Draw, name: str) -> Call:
    shape = shapes(draw, least=1, extents=(2, 3, 1, 4))
    count = draw(st.integers(1, len(shape)))
    last, axes = shape[-count:], tuple(range(-count, 0))
    kind, other = draw(_BOTH)
    own = [_real(draw, shape, kind), *_beside(draw, last, other)]
    if name == "nn.layer_norm":
        return Call(
            own, lambda bg, x, *more: bg.nn.layer_norm(x, last, *more, eps=_EPS),
            lambda x, w=1.0, b=0.0: nn.normalised(x, axes, _EPS) * w + b,
        )  # fmt: skip
    return Call(
        own[:2], lambda bg, x, *w: bg.nn.rms_norm(x, last, *w, eps=_EPS),
        lambda x, w=1.0: x / np.sqrt((x * x).mean(axes, keepdims=True) + _EPS) * w,
    )  # fmt: skip


def _by_channel(v: np.ndarray, rank: int) -> np.ndarray:
    return np.reshape(v, (-1, *(1,) * (rank - 2)))


@entry(NETWORKS, "nn.group_norm")
def _(draw: Draw, name: str) -> Call:
    groups, each = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    shape = (draw(st.integers(1, 2)), groups * each,
             *shapes(draw, most=2, extents=(2, 3, 1)))  # fmt: skip
    kind, other = draw(_BOTH)
    own = [_real(draw, shape, kind), *_beside(draw, shape[1:2], other)]

    def theirs(x: np.ndarray, *more: np.ndarray) -> np.ndarray:
        rows = nn.normalised(x.reshape(shape[0], groups, -1), -1, _EPS).reshape(shape)
        for v, function in zip(more, (np.multiply, np.add), strict=False):
            rows = function(rows, _by_channel(v, len(shape)))
        return rows

    return Call(own, lambda bg, x, *more: bg.nn.group_norm(x, groups, *more, eps=_EPS), theirs)


@entry(NETWORKS, "nn.batch_norm")
def _(draw: Draw, name: str) -> Call:
    shape = (draw(st.integers(2, 3)), draw(st.integers(1, 3)),
             *shapes(draw, most=2, extents=(2, 3, 1)))  # fmt: skip
    kind, other = draw(_BOTH)
    channels = shape[1:2]
    x, more = _real(draw, shape, kind), _beside(draw, channels, other)
    rank = len(shape)
    axes = (0, *range(2, rank))

    def scaled(found: np.ndarray, more: tuple[np.ndarray, ...]) -> np.ndarray:
        if not more:
            return found
        return found * _by_channel(more[0], rank) + _by_channel(more[1], rank)

    if draw(st.booleans()):
        return Call(
            [x, *more],
            lambda bg, v, *w: bg.nn.batch_norm(v, None, None, *w, training=True, eps=_EPS),
            lambda v, *w: scaled(nn.normalised(v, axes, _EPS), w),
        )  # fmt: skip
    running = [_real(draw, channels, other), seen(draw, between(draw, channels, 0.3, 2, other))]

    def theirs(v: np.ndarray, m: np.ndarray, s: np.ndarray, *w: np.ndarray) -> np.ndarray:
        return scaled((v - _by_channel(m, rank)) / np.sqrt(_by_channel(s, rank) + _EPS), w)

    return Call(
        [x, *running, *more], lambda bg, *v: bg.nn.batch_norm(*v, eps=_EPS), theirs
    )  # fmt: skip


# -- attention -------------------------------------------------------------------------------------


@entry(NETWORKS, "nn.scaled_dot_product_attention")
def _(draw: Draw, name: str) -> Call:
    """Each query sees at least the first key."""
    queries, keys, width, columns = (draw(st.integers(1, 4)) for _ in range(4))
    lead, other = draw(st.sampled_from((
        ((), ()), ((2,), (2,)), ((2, 1), (3,)), ((1, 2), (1, 1)), ((0,), (0,)),
    )))  # fmt: skip
    kind = draw(st.sampled_from(REAL))
    own = [_real(draw, (*lead, queries, width), kind), _real(draw, (*other, keys, width), kind),
           _real(draw, (*other, keys, columns), kind)]  # fmt: skip
    causal, scale = draw(st.booleans()), draw(st.sampled_from((None, 0.7)))
    given = draw(st.sampled_from(("none", "seen", "added", "heads")))
    settings: dict[str, Any] = {"is_causal": causal, "scale": scale}
    if given == "added":
        shape = draw(st.sampled_from(((queries, keys), (keys,), (1, keys), (queries, 1))))
        own.append(_real(draw, shape, kind))
    seen_keys = numbers(draw, (queries, keys)) > 0 if given == "seen" else None
    times = 1
    if given == "heads":
        times = draw(st.integers(1, 3))
        own[0] = _real(draw, (1, 2 * times, queries, width), kind)
        own[1] = _real(draw, (1, 2, keys, width), kind)
        own[2] = _real(draw, (1, 2, keys, columns), kind)
        settings["enable_gqa"] = True
    if seen_keys is not None:
        seen_keys[:, 0] = True

    def ours(bg: Any, q: Any, k: Any, v: Any, *mask: Any) -> Any:
        more = (bg.asarray(seen_keys),) if seen_keys is not None else mask
        return bg.nn.scaled_dot_product_attention(q, k, v, *more, **settings)

    def theirs(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: Any = seen_keys) -> np.ndarray:
        k, v = (np.repeat(x, times, -3) if times > 1 else x for x in (k, v))
        return nn.attention(q, k, v, mask, causal=causal, scale=scale)

    return Call(own, ours, theirs)


# -- losses ----------------------------------------------------------------------------------------

_REDUCTIONS = st.sampled_from(tuple(REDUCTIONS))


@entry(NETWORKS, "nn.mse_loss", "nn.l1_loss", "nn.huber_loss", "nn.smooth_l1_loss")
def _(draw: Draw, name: str) -> Call:
    """Differences are neither near 0 nor near the kink."""
    function, reduction = name.partition(".")[2], draw(_REDUCTIONS)
    shape, (kind, other) = shapes(draw, extents=(2, 3, 1, 4)), draw(_BOTH)
    bend = draw(st.sampled_from((0.7, 1.0, 2.0)))
    target = numbers(draw, shape, other, 1)
    d = away(draw, shape, -3, 3, (0, bend, -bend), 0.1)
    x = (target + d).astype(kind)
    settings: dict[str, Any] = {}
    if function == "huber_loss":
        settings["delta"] = bend
    if function == "smooth_l1_loss":
        settings["beta"] = bend

    def theirs(a: np.ndarray, b: np.ndarray) -> Any:
        size = np.abs(a - b)
        near = size * size / 2
        losses = {
            "mse_loss": 2 * near, "l1_loss": size,
            "huber_loss": np.where(size < bend, near, bend * (size - bend / 2)),
            "smooth_l1_loss": np.where(size < bend, near / bend, size - bend / 2),
        }[function]  # fmt: skip
        return REDUCTIONS[reduction](losses)

    return Call(
        [seen(draw, x, repeats=False), seen(draw, target, repeats=False)],
        lambda bg, a, b: getattr(bg.nn, function)(a, b, reduction=reduction, **settings), theirs,
    )  # fmt: skip


@entry(NETWORKS, "nn.binary_cross_entropy_with_logits")
def _(draw: Draw, name: str) -> Call:
    whole, *parts = broadcast_shapes(draw, 3, most=3)
    whole = np.broadcast_shapes(whole, *parts)
    assume(0 not in whole)
    reduction, kind = draw(_REDUCTIONS), draw(st.sampled_from(REAL))
    names = draw(st.sampled_from(((), ("weight",), ("pos_weight",), ("weight", "pos_weight"))))
    own = [_real(draw, whole, kind), seen(draw, between(draw, whole, 0, 1, kind))]
    own += [seen(draw, between(draw, shape, 0.3, 2, kind))
            for shape, _ in zip(parts, names, strict=False)]  # fmt: skip

    def theirs(x: np.ndarray, t: np.ndarray, *more: np.ndarray) -> Any:
        by = dict(zip(names, more, strict=True))
        losses = by.get("pos_weight", 1.0) * t * np.logaddexp(-x, 0) + (1 - t) * np.logaddexp(x, 0)
        return REDUCTIONS[reduction](losses * by.get("weight", 1.0))

    return Call(
        own, lambda bg, x, t, *more: bg.nn.binary_cross_entropy_with_logits(
            x, t, reduction=reduction, **dict(zip(names, more, strict=True))
        ), theirs,
    )  # fmt: skip


@entry(NETWORKS, "nn.nll_loss", "nn.cross_entropy")
def _(draw: Draw, name: str) -> Call:
    """Some targets are ignored; cross entropy also takes probabilities."""
    classes, reduction = draw(st.integers(1, 4)), draw(_REDUCTIONS)
    rest = shapes(draw, most=3, extents=(2, 3, 1))
    shape = (*rest[:1], classes, *rest[1:])
    kind = draw(st.sampled_from(REAL))
    of_logits = name == "nn.cross_entropy"
    own = [_real(draw, shape, kind)]
    of_classes = not of_logits or draw(st.booleans())
    goals = chance(draw).integers(-1, classes, rest).astype(np.int32)
    goals[(0,) * len(rest)] = 0  # at least one is not ignored
    if not of_classes:
        own.append(seen(draw, between(draw, shape, 0, 1, kind)))
    is_weighted = draw(st.booleans())
    if is_weighted:
        own.append(seen(draw, between(draw, (classes,), 0.5, 2, kind)))
    smoothing = draw(st.sampled_from((0.0, 0.3))) if of_logits else 0.0

    def ours(bg: Any, x: Any, *more: Any) -> Any:
        settings: dict[str, Any] = {"reduction": reduction}
        if of_logits:
            settings["label_smoothing"] = smoothing
        if not of_classes:
            return bg.nn.cross_entropy(x, *more, **settings)
        function = getattr(bg.nn, name.partition(".")[2])
        return function(x, bg.asarray(goals), *more, ignore_index=-1, **settings)

    def theirs(x: np.ndarray, *more: np.ndarray) -> Any:
        logs = nn.log_softmax(x, min(x.ndim - 1, 1)) if of_logits else x
        target, *weight = (goals, *more) if of_classes else more
        return entropy(logs, target, weight[0] if weight else None, reduction, smoothing)

    return Call(own, ours, theirs)
