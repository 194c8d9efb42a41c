"""The nodes of ONNX for functions of networks."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import Unsupported
from browsergpu.onnx.exporter.recorder import Call, Name, Recorder, emits


def _refused(what: str) -> Unsupported:
    return Unsupported("onnx.export", f"{what} cannot be exported.")


def _each(value: Any, rank: int) -> list[int]:
    return [int(n) for n in value] if isinstance(value, tuple | list) else [int(value)] * rank


def _plain(kind: str, **names: str) -> Any:
    """Return an emitter of one node, whose attributes are arguments of the call."""

    def function(emit: Recorder, call: Call) -> Any:
        x = next(iter(call.given.values()))
        return emit(kind, x, **{name: call.given[of] for name, of in names.items()})

    return function


for _name, _kind, _names in (
    ("activations.relu", "Relu", {}), ("activations.sigmoid", "Sigmoid", {}),
    ("activations.tanh", "Tanh", {}), ("activations.hardswish", "HardSwish", {}),
    ("activations.softmax", "Softmax", {"axis": "dim"}),
    ("activations.log_softmax", "LogSoftmax", {"axis": "dim"}),
    ("activations.leaky_relu", "LeakyRelu", {"alpha": "negative_slope"}),
    ("activations.elu", "Elu", {"alpha": "alpha"}), ("gates.mish", "Mish", {}),
    ("gates.softsign", "Softsign", {}), ("piecewise.celu", "Celu", {"alpha": "alpha"}),
    ("piecewise.selu", "Selu", {}), ("spatial.shuffling.pixel_shuffle", "", {}),
):  # fmt: skip
    if _kind:
        emits(f"nn.{_name}")(_plain(_kind, **_names))


@emits("nn.activations.silu")
def _silu(emit: Recorder, call: Call) -> Any:
    x = call.given["input"]
    return emit("Mul", x, emit("Sigmoid", x))


@emits("nn.activations.softplus")
def _softplus(emit: Recorder, call: Call) -> Any:
    if call.given["beta"] != 1:
        raise _refused("softplus with another beta than 1")
    return emit("Softplus", call.given["input"])


@emits("nn.activations.gelu")
def _gelu(emit: Recorder, call: Call) -> Any:
    x, kind = call.given["input"], call.result.dtype

    def number(value: float) -> Name:
        return emit.name(np.asarray(value, kind))

    if call.given["approximate"] == "none":
        inner = emit("Erf", emit("Mul", x, number(sqrt(0.5))))
    else:
        cubed = emit("Mul", emit("Mul", emit("Mul", x, x), x), number(0.044715))
        inner = emit("Tanh", emit("Mul", emit("Add", x, cubed), number(sqrt(2 / np.pi))))
    return emit("Mul", emit("Mul", x, number(0.5)), emit("Add", inner, number(1)))


@emits("nn.piecewise.relu6")
def _relu6(emit: Recorder, call: Call) -> Any:
    kind = call.result.dtype
    limits = emit.name(np.asarray(0, kind)), emit.name(np.asarray(6, kind))
    return emit("Clip", call.given["input"], *limits)


@emits("nn.piecewise.hardtanh")
def _hardtanh(emit: Recorder, call: Call) -> Any:
    kind = call.result.dtype
    limits = [emit.name(np.asarray(call.given[name], kind)) for name in ("min_val", "max_val")]
    return emit("Clip", call.given["input"], *limits)


@emits("nn.piecewise.hardsigmoid")
def _hardsigmoid(emit: Recorder, call: Call) -> Any:
    return emit("HardSigmoid", call.given["input"], alpha=1 / 6, beta=0.5)


@emits("nn.piecewise.prelu")
def _prelu(emit: Recorder, call: Call) -> Any:
    weight = call.values["weight"]
    slope = call.given["weight"]
    rank = call.result.ndim
    if weight.size > 1:
        slope = emit("Reshape", slope, emit.integers(weight.size, *[1] * (rank - 2)))
    return emit("PRelu", call.given["input"], slope)


@emits("nn.tables._linear", "language.quantized.linear", "nn.tables.linear")
def _linear(emit: Recorder, call: Call) -> Any:
    x, weight, bias = (call.given[name] for name in ("input", "weight", "bias"))
    if call.values["input"].ndim == 2:
        return emit("Gemm", x, weight, bias, transB=1)
    found = emit("MatMul", x, emit("Transpose", weight, perm=[1, 0]))
    return found if bias is None else emit("Add", found, bias)


@emits("nn.tables._rows")
def _rows(emit: Recorder, call: Call) -> Any:
    return emit("Gather", call.given["weight"], call.given["input"], axis=0)


def _convolution(emit: Recorder, call: Call, kind: str, **more: Any) -> Any:
    x, weight, bias = (call.given[name] for name in ("input", "weight", "bias"))
    rank = call.values["weight"].ndim - 2
    single = call.values["input"].ndim == rank + 1
    x = emit("Unsqueeze", x, emit.integers(0)) if single else x
    found = emit(
        kind, x, weight, bias, strides=_each(call.given["stride"], rank),
        dilations=_each(call.given["dilation"], rank), group=int(call.given["groups"]),
        kernel_shape=call.values["weight"].shape[2:], **more,
    )  # fmt: skip
    return emit("Squeeze", found, emit.integers(0)) if single else found


@emits("nn.convolution.conv1d", "nn.convolution.conv2d", "nn.convolution.conv3d")
def _conv(emit: Recorder, call: Call) -> Any:
    rank = call.values["weight"].ndim - 2
    padding = call.given["padding"]
    if padding == "same":
        return _convolution(emit, call, "Conv", auto_pad="SAME_UPPER")
    pads = [0] * rank if padding == "valid" else _each(padding, rank)
    return _convolution(emit, call, "Conv", pads=[*pads, *pads])


@emits(
    "nn.convolution.conv_transpose1d", "nn.convolution.conv_transpose2d",
    "nn.convolution.conv_transpose3d",
)  # fmt: skip
def _conv_transpose(emit: Recorder, call: Call) -> Any:
    rank = call.values["weight"].ndim - 2
    pads = _each(call.given["padding"], rank)
    extra = _each(call.given["output_padding"], rank)
    return _convolution(emit, call, "ConvTranspose", pads=[*pads, *pads], output_padding=extra)


def _pooling(emit: Recorder, call: Call, kind: str, rank: int, **more: Any) -> Any:
    kernel = _each(call.given["kernel_size"], rank)
    stride = call.given["stride"]
    pads = _each(call.given["padding"], rank)
    return emit(
        kind, call.given["input"], kernel_shape=kernel,
        strides=kernel if stride is None else _each(stride, rank), pads=[*pads, *pads],
        ceil_mode=int(call.given["ceil_mode"]), **more,
    )  # fmt: skip


def _max_pool(rank: int) -> Any:
    def function(emit: Recorder, call: Call) -> Any:
        if call.given.get("return_indices"):
            raise _refused("max_pool with return_indices")
        return _pooling(emit, call, "MaxPool", rank, dilations=_each(call.given["dilation"], rank))

    return function


def _avg_pool(rank: int) -> Any:
    def function(emit: Recorder, call: Call) -> Any:
        counts = int(call.given["count_include_pad"])
        return _pooling(emit, call, "AveragePool", rank, count_include_pad=counts)

    return function


for _rank in (1, 2, 3):
    emits(f"nn.pooling.max_pool{_rank}d")(_max_pool(_rank))
    emits(f"nn.pooling.avg_pool{_rank}d")(_avg_pool(_rank))


@emits("nn.pooling.adaptive_avg_pool2d")
def _adaptive(emit: Recorder, call: Call) -> Any:
    x = call.values["input"]
    sizes = call.result.shape[-2:]
    if sizes == (1, 1):
        return emit("ReduceMean", call.given["input"], emit.integers(-2, -1), keepdims=1)
    if any(extent % size for extent, size in zip(x.shape[-2:], sizes, strict=True)):
        raise _refused("adaptive_avg_pool2d whose windows differ")
    kernel = [extent // size for extent, size in zip(x.shape[-2:], sizes, strict=True)]
    return emit("AveragePool", call.given["input"], kernel_shape=kernel, strides=kernel)


@emits("nn.normalization.batch_norm")
def _batch_norm(emit: Recorder, call: Call) -> Any:
    if call.given["training"]:
        raise _refused("batch_norm in training mode (call eval() first)")
    channels = call.result.shape[1]
    kind = call.result.dtype
    weight = call.given["weight"]
    bias = call.given["bias"]
    weight = emit.name(np.ones(channels, kind)) if weight is None else weight
    bias = emit.name(np.zeros(channels, kind)) if bias is None else bias
    return emit("BatchNormalization", call.given["input"], weight, bias,
                call.given["running_mean"], call.given["running_var"],
                epsilon=float(call.given["eps"]))  # fmt: skip


@emits("nn.normalization.layer_norm")
def _layer_norm(emit: Recorder, call: Call) -> Any:
    shape = call.given["normalized_shape"]
    rank = len(shape) if isinstance(shape, tuple | list) else 1
    sizes = call.result.shape[-rank:]
    weight = call.given["weight"]
    weight = emit.name(np.ones(sizes, call.result.dtype)) if weight is None else weight
    return emit("LayerNormalization", call.given["input"], weight, call.given["bias"], axis=-rank,
                epsilon=float(call.given["eps"]))  # fmt: skip


@emits("nn.normalization.group_norm")
def _group_norm(emit: Recorder, call: Call) -> Any:
    """Normalize groups as the channels of another shape, then scale."""
    x, shape = call.given["input"], call.result.shape
    kind = call.result.dtype
    groups = int(call.given["num_groups"])
    ones, zeros = emit.name(np.ones(groups, kind)), emit.name(np.zeros(groups, kind))
    flat = emit("Reshape", x, emit.integers(0, groups, -1))
    eps = float(call.given["eps"])
    found = emit("InstanceNormalization", flat, ones, zeros, epsilon=eps)
    found = emit("Reshape", found, emit.integers(*shape))
    for name, operation in (("weight", "Mul"), ("bias", "Add")):
        if call.given[name] is not None:
            sizes = emit.integers(-1, *[1] * (len(shape) - 2))
            found = emit(operation, found, emit("Reshape", call.given[name], sizes))
    return found


@emits("nn.attention.scaled_dot_product_attention")
def _attention(emit: Recorder, call: Call) -> Any:
    q, k, v = (call.given[name] for name in ("query", "key", "value"))
    values = call.values
    if call.given["enable_gqa"]:
        raise _refused("scaled_dot_product_attention with enable_gqa")
    kind = call.result.dtype
    rank = values["key"].ndim
    scale = call.given["scale"] or 1 / sqrt(values["query"].shape[-1])
    turned = emit("Transpose", k, perm=[*range(rank - 2), rank - 1, rank - 2])
    scores = emit("MatMul", emit("Mul", q, emit.name(np.asarray(scale, kind))), turned)
    mask = call.given["attn_mask"]
    low = emit.name(np.asarray(np.finfo(kind).min, kind))
    if call.given["is_causal"]:
        sizes = values["query"].shape[-2], values["key"].shape[-2]
        scores = emit("Where", emit.name(np.tri(*sizes, dtype=bool)), scores, low)
    if mask is not None and values["attn_mask"].dtype.kind == "b":
        scores = emit("Where", mask, scores, low)
    elif mask is not None:
        scores = emit("Add", scores, emit.cast(mask, values["attn_mask"].dtype, kind))
    return emit("MatMul", emit("Softmax", scores, axis=-1), v)


@emits("nn.padding.pad")
def _pad(emit: Recorder, call: Call) -> Any:
    numbers = [int(n) for n in call.given["pad"]]
    rank, count = call.result.ndim, len(numbers) // 2
    before, after = [0] * rank, [0] * rank
    for at in range(count):
        before[rank - 1 - at], after[rank - 1 - at] = numbers[2 * at], numbers[2 * at + 1]
    modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    number = emit.name(np.asarray(call.given["value"] or 0, call.result.dtype))
    return emit("Pad", call.given["input"], emit.integers(*before, *after), number,
                mode=modes[call.given["mode"]])  # fmt: skip
