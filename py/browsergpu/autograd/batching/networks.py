"""Batching rules of layers: the examples join the samples, or the channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.autograd.batching.calls import RULES, Call, NoRule, Rule, rank_of
from browsergpu.engine.core.checks import product
from browsergpu.functions import elementwise, manipulation, statistics

_NN = "browsergpu.functions.nn."


def _merged(x: Array) -> Array:
    """Join the examples with the next axis."""
    return manipulation.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _parted(x: Array, size: int) -> Array:
    """Undo :func:`_merged`."""
    return manipulation.reshape(x, (size, x.shape[0] // size, *x.shape[1:]))


def _each(found: Any, change: Callable[[Array], Array]) -> Any:
    return tuple([change(x) for x in found]) if isinstance(found, tuple) else change(found)


def _samples(rank: int) -> Rule:
    """Return the rule of a function of ``[N, C, ...]`` or ``[C, ...]`` with ``rank`` last axes."""

    def rule(call: Call) -> Any:
        x = call.given["input"]
        if any(call.has(given) for name, given in call.given.items() if name != "input"):
            raise NoRule
        if x.ndim < rank + 2:
            return call()
        return _each(call(input=_merged(call.value(x))), lambda y: _parted(y, call.frame.size))

    return rule


def _at_maxima(call: Call) -> Any:
    g, places = (_merged(call.full(call.given[name])) for name in ("g", "places"))
    return _parted(call(g=g, places=places), call.frame.size)


def _convolution(rank: int, *, is_transposed: bool) -> Rule:
    by_samples = _samples(rank)

    def rule(call: Call) -> Any:
        x, weight, bias = (call.given[name] for name in ("input", "weight", "bias"))
        if not call.has(weight):
            if bias is None or not call.has(bias):
                return by_samples(call)
            rest = {name: x for name, x in call.given.items() if name != "bias"}
            found = call.public(**rest)
            return call.full(found + manipulation.reshape(bias, (-1, *(1,) * rank)))
        if weight.ndim != rank + 2 or (not is_transposed and x.ndim not in (rank + 1, rank + 2)):
            raise NoRule
        size, groups = call.frame.size, call.given["groups"]
        filters = _merged(call.value(weight))
        added = bias if bias is None else _merged(call.full(bias))
        is_single = x.ndim == rank + 1
        if call.has(x) or is_transposed or groups != 1:
            images = call.full(x)
            if is_single:
                images = manipulation.expand_dims(images, axis=1)
            images = _channels(images)
            found = call(input=images, weight=filters, bias=added, groups=groups * size)
        else:  # the filters of all examples see the same images
            images = manipulation.expand_dims(x, axis=0) if is_single else x
            found = call(input=images, weight=filters, bias=added)
        found = manipulation.reshape(
            found, (found.shape[0], size, found.shape[1] // size, *found.shape[2:])
        )
        found = manipulation.moveaxis(found, 1, 0)
        return manipulation.squeeze(found, axis=1) if is_single else found

    return rule


def _channels(images: Array) -> Array:
    """Join the examples' axis with the channels: [B, N, C, ...] becomes [N, B C, ...]."""
    turned = manipulation.moveaxis(images, 0, 1)
    samples, size, channels = turned.shape[:3]
    return manipulation.reshape(turned, (samples, size * channels, *turned.shape[3:]))


def _pad(call: Call) -> Any:
    x, pad = call.given["input"], call.given["pad"]
    if call.given["mode"] == "constant":
        return call()
    if x.ndim <= len(pad) // 2:
        raise NoRule
    return _parted(call(input=_merged(call.value(x))), call.frame.size)


def _normalised(call: Call) -> Any:
    """Normalize the last axes. Weights that differ between examples are applied afterwards."""
    weight, bias = call.given["weight"], call.given.get("bias")
    if not call.has(weight) and not call.has(bias):
        return call()
    rest = {name: x for name, x in call.given.items() if name not in ("weight", "bias")}
    found = call.public(**rest)
    if weight is not None:
        found = found * weight
    return call.full(found if bias is None else found + bias)


def _group_norm(call: Call) -> Any:
    x, weight, bias = (call.given[name] for name in ("input", "weight", "bias"))
    if not call.has(weight) and not call.has(bias):
        return _parted(call(input=_merged(call.value(x))), call.frame.size)
    found = call.public(x, call.given["num_groups"], None, None, call.given["eps"])
    by_channel = (-1, *(1,) * (x.ndim - 2))
    if weight is not None:
        found = found * manipulation.reshape(weight, by_channel)
    if bias is not None:
        found = found + manipulation.reshape(bias, by_channel)
    return call.full(found)


def _loss_of_elements(call: Call) -> Any:
    """Compute the loss of each element, and reduce the elements of an example."""
    reduction = call.given["reduction"]
    arrays = {
        name: x for name, x in call.given.items() if isinstance(x, Array) and name != "reduction"
    }
    rank = rank_of(*arrays.values())
    own = {name: call.ranked(x, rank) for name, x in arrays.items()}
    shape = (call.frame.size, *manipulation.broadcast_shapes(
        *[arrays[name].shape for name in ("input", "target") if name in arrays]
    ))  # fmt: skip
    for name in ("input", "target"):
        own[name] = manipulation.broadcast_to(call.ranked(call.given[name], rank), shape)
    if reduction not in ("mean", "sum"):
        return call(**own)
    losses = call(**own, reduction="none")
    axes = tuple(range(1, losses.ndim))
    return (statistics.mean if reduction == "mean" else statistics.sum)(losses, axis=axes)


def _loss_of_classes(call: Call) -> Any:
    """Join the examples with the samples, and reduce the losses of an example."""
    x, target, weight, reduction = (
        call.given[name] for name in ("input", "target", "weight", "reduction")
    )
    is_index = target.dtype.kind in "iu"
    if weight is not None or reduction not in ("mean", "sum", "none"):
        raise NoRule
    own = {"input": call.full(x), "target": call.full(target)}
    if x.ndim > 1:
        own = {name: _merged(one) for name, one in own.items()}
    losses = call(**own, reduction="none")
    losses = _parted(losses, call.frame.size) if x.ndim > 1 else losses
    if reduction == "none":
        return losses
    axes = tuple(range(1, losses.ndim))
    total = statistics.sum(losses, axis=axes)
    if reduction == "sum":
        return total
    if not is_index:
        return total / (product(losses.shape[1:]) or 1)
    counted = elementwise.not_equal(call.full(target), call.given["ignore_index"])
    return total / statistics.sum(counted.astype(losses.dtype), axis=axes)


_RULES: dict[str, dict[str, Rule]] = {
    "convolution": {
        f"{name}{rank}d": _convolution(rank, is_transposed=name != "conv")
        for name in ("conv", "conv_transpose") for rank in (1, 2, 3)
    },
    "losses": {
        **dict.fromkeys((
            "mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss",
            "binary_cross_entropy_with_logits",
        ), _loss_of_elements),
        **dict.fromkeys(("cross_entropy", "nll_loss"), _loss_of_classes),
    },
    "normalization": {
        "layer_norm": _normalised, "rms_norm": _normalised, "group_norm": _group_norm,
    },
    "padding": {"pad": _pad},
    "pooling": {
        **{f"{name}_pool{rank}d": _samples(rank) for name in ("max", "avg") for rank in (1, 2, 3)},
        "adaptive_avg_pool2d": _samples(2),
    },
    "pooling_gradients": {"at_maxima": _at_maxima},
    "spatial.adaptive_pooling": {
        "adaptive_avg_pool1d": _samples(1), "adaptive_avg_pool3d": _samples(3),
        **{f"adaptive_max_pool{rank}d": _samples(rank) for rank in (1, 2, 3)},
        **{f"lp_pool{rank}d": _samples(rank) for rank in (1, 2)},
    },
    "spatial.shuffling": dict.fromkeys(("pixel_shuffle", "pixel_unshuffle"), lambda call: call()),
}  # fmt: skip
RULES |= {
    f"{_NN}{module}.{name}": rule
    for module, rules in _RULES.items()
    for name, rule in rules.items()
}
