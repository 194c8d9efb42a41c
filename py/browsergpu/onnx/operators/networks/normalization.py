"""Normalization."""

from __future__ import annotations

from typing import Any

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.values import axis_of
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


@operator("BatchNormalization", since=7, until=13)
def batch_normalization_7(
    x: Any, scale: Any, b: Any, mean: Any, var: Any, *, epsilon: float = 1e-5,
    momentum: float = 0.9, spatial: int = 1,
) -> Any:  # fmt: skip
    """Normalize channels by given statistics."""
    if not spatial:
        raise ValueError("spatial must be 1: statistics of single elements are not available")
    return bg.nn.batch_norm(x, mean, var, scale, b, eps=epsilon)


@operator("BatchNormalization", since=14)
def batch_normalization(
    x: Any, scale: Any, b: Any, mean: Any, var: Any, *, epsilon: float = 1e-5,
    momentum: float = 0.9, training_mode: int = 0,
) -> Any:  # fmt: skip
    """Normalize channels by given statistics, or by those of the batch in training mode."""
    if not training_mode:
        return bg.nn.batch_norm(x, mean, var, scale, b, eps=epsilon)
    axes = (0, *range(2, x.ndim))
    own_mean, own_var = bg.mean(x, axis=axes), bg.var(x, axis=axes)
    found = bg.nn.batch_norm(x, own_mean, own_var, scale, b, eps=epsilon)
    new_mean = mean * momentum + own_mean * (1 - momentum)
    new_var = var * momentum + own_var * (1 - momentum)
    return found, new_mean.astype(mean.dtype, copy=False), new_var.astype(var.dtype, copy=False)


@operator("InstanceNormalization", since=6)
def instance_normalization(x: Any, scale: Any, b: Any, *, epsilon: float = 1e-5) -> Any:
    """Normalize each channel of each example."""
    return bg.nn.instance_norm(x, weight=scale, bias=b, eps=epsilon)


@operator("GroupNormalization", since=18, until=20)
def group_normalization_18(
    x: Any, scale: Any, bias: Any, *, num_groups: int, epsilon: float = 1e-5
) -> Any:
    """Normalize groups of channels, with a factor for each group."""
    each = x.shape[1] // num_groups
    return bg.nn.group_norm(x, num_groups, bg.repeat(scale, each), bg.repeat(bias, each), epsilon)


@operator("GroupNormalization", since=21)
def group_normalization(
    x: Any, scale: Any, bias: Any, *, num_groups: int, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    """Normalize groups of channels."""
    return bg.nn.group_norm(x, num_groups, scale, bias, epsilon)


def _rows(x: Any, axis: int) -> tuple[int, ...]:
    return tuple(x.shape[axis_of(axis, x.ndim) :])


@operator("LayerNormalization", since=17)
def layer_normalization(
    x: Any, scale: Any, b: Any = None, *, axis: int = -1, epsilon: float = 1e-5,
    stash_type: int = 1, node: Node,
) -> Any:  # fmt: skip
    """Normalize over the axes from one on."""
    shape = _rows(x, axis)
    fits = scale.shape == shape and (b is None or b.shape == shape)
    if fits:
        found = bg.nn.layer_norm(x, shape, scale, b, epsilon)
    else:
        found = bg.nn.layer_norm(x, shape, None, None, epsilon) * scale
        found = found if b is None else found + b
    if not (node.wants(1) or node.wants(2)):
        return found
    axes = tuple(range(axis_of(axis, x.ndim), x.ndim))
    wide = x.astype("float32", copy=False)
    mean = bg.mean(wide, axis=axes, keepdims=True)
    deviation = bg.sqrt(bg.var(wide, axis=axes, keepdims=True) + epsilon)
    return found, mean, 1 / deviation


@operator("RMSNormalization", since=23)
def rms_normalization(
    x: Any, scale: Any, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    """Divide by the root mean square over the axes from one on."""
    shape = _rows(x, axis)
    if scale.shape == shape:
        return bg.nn.rms_norm(x, shape, scale, epsilon)
    return bg.nn.rms_norm(x, shape, None, epsilon) * scale


@operator("LRN")
def lrn(x: Any, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Any:
    """Divide by the local energy of neighboring channels."""
    if size % 2:
        return bg.nn.local_response_norm(x, size, alpha, beta, bias)
    # Of an even number, ONNX counts one channel more after a channel, and PyTorch before it.
    mirrored = bg.nn.local_response_norm(bg.flip(x, axis=1), size, alpha, beta, bias)
    return bg.flip(mirrored, axis=1)


@operator("MeanVarianceNormalization", since=9)
def mean_variance_normalization(x: Any, *, axes: list[int] | None = None) -> Any:
    """Normalize over axes to mean 0 and variance 1."""
    used = tuple(axes or (0, 2, 3))
    apart = x - bg.mean(x, axis=used, keepdims=True)
    return apart / (bg.sqrt(bg.mean(apart * apart, axis=used, keepdims=True)) + 1e-9)


@operator("LpNormalization")
def lp_normalization(x: Any, *, axis: int = -1, p: int = 2) -> Any:
    """Divide by the p-norm along an axis. Rows of norm 0 become 0."""
    if p not in (1, 2):
        raise ValueError(f"p must be 1 or 2, got {p}")
    size = bg.abs(x) if p == 1 else x * x
    norm = bg.sum(size, axis=axis, keepdims=True)
    norm = norm if p == 1 else bg.sqrt(norm)
    return bg.where(norm == 0, 0, x / bg.where(norm == 0, 1, norm)).astype(x.dtype, copy=False)


@operator("Dropout", until=11)
def dropout_of_attributes(x: Any, *, ratio: float = 0.5, node: Node) -> Any:
    """Return the input, as models run for inference."""
    return (x, bg.ones(x.shape, dtype="bool")) if node.wants(1) else x


@operator("Dropout", since=12, host=("ratio", "training_mode"))
def dropout(
    x: Any, ratio: Any = None, training_mode: Any = None, *, seed: int | None = None, node: Node
) -> Any:
    """Return the input, or drop elements in training mode."""
    share = 0.5 if ratio is None else float(ratio)
    if training_mode is None or not training_mode or share == 0:
        return (x, bg.ones(x.shape, dtype="bool")) if node.wants(1) else x
    generator = bg.random.default_rng(seed) if seed is not None else node.generator(None)
    mask = generator.random(x.shape, dtype="float32") >= share
    found = bg.where(mask, x * (1 / (1 - share)), 0).astype(x.dtype, copy=False)
    return found, mask
