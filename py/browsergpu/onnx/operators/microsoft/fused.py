"""Operators that join a normalization, an activation or a product with what is beside it."""

from __future__ import annotations

from typing import Any

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.operators.microsoft import DOMAIN
from browsergpu.onnx.operators.networks.convolution import convolved
from browsergpu.onnx.operators.networks.normalization import layer_normalization, rms_normalization
from browsergpu.onnx.registry import operator


def _added(x: Any, *others: Any) -> Any:
    for one in others:
        x = x if one is None else x + one
    return x


@operator("SimplifiedLayerNormalization")
def simplified_layer_normalization(
    x: Any, scale: Any, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1, node: Node
) -> Any:
    """Divide by the root mean square over the axes from one on."""
    found = rms_normalization(x, scale, axis=axis, epsilon=epsilon)
    if not node.wants(1):
        return found
    axes = tuple(range(axis % x.ndim, x.ndim))
    wide = x.astype("float32", copy=False)
    return found, 1 / bg.sqrt(bg.mean(wide * wide, axis=axes, keepdims=True) + epsilon)


operator("SimplifiedLayerNormalization", domain=DOMAIN)(simplified_layer_normalization)


def _skipped(node: Node, normalized: Any, total: Any) -> Any:
    if node.wants(1) or node.wants(2):
        raise ValueError("the outputs mean and inv_std_var are not available")
    return normalized, None, None, total


@operator("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(
    x: Any, skip: Any, gamma: Any, beta: Any = None, bias: Any = None, *, epsilon: float = 1e-12,
    node: Node,
) -> Any:  # fmt: skip
    """Normalize the sum of two arrays and a bias."""
    total = _added(x, skip, bias)
    found = layer_normalization(total, gamma, beta, epsilon=epsilon, node=_OneOutput)
    return _skipped(node, found, total)


class _OneOutput:
    """A node that wants its first output alone."""

    @staticmethod
    def wants(output: int) -> bool:
        """Whether the graph uses an output."""
        return output == 0


@operator("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_simplified_layer_normalization(
    x: Any, skip: Any, gamma: Any, bias: Any = None, *, epsilon: float = 1e-12, node: Node
) -> Any:
    """Divide the sum of two arrays and a bias by its root mean square."""
    total = _added(x, skip, bias)
    return _skipped(node, rms_normalization(total, gamma, epsilon=epsilon), total)


@operator("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(
    input_ids: Any, segment_ids: Any, word_embedding: Any, position_embedding: Any,
    segment_embedding: Any = None, gamma: Any = None, beta: Any = None, mask: Any = None,
    position_ids: Any = None, *, epsilon: float = 1e-12, mask_index_type: int = 0, node: Node,
) -> Any:  # fmt: skip
    """Return the normalized sum of embeddings of tokens, positions and segments."""
    total = bg.take(word_embedding, input_ids.astype("int64", copy=False), axis=0)
    if position_ids is None:
        total = total + position_embedding[: input_ids.shape[1]]
    else:
        total = total + bg.take(
            position_embedding, position_ids.astype("int64", copy=False), axis=0
        )
    if segment_ids is not None:
        total = total + bg.take(segment_embedding, segment_ids.astype("int64", copy=False), axis=0)
    found = layer_normalization(total, gamma, beta, epsilon=epsilon, node=_OneOutput)
    count = bg.zeros(input_ids.shape[:1], dtype="int32")
    if mask is not None:
        count = bg.sum(mask.astype("int32", copy=False), axis=1).astype("int32", copy=False)
    return found, count, total


@operator("BiasGelu", domain=DOMAIN)
def bias_gelu(x: Any, bias: Any) -> Any:
    """Return the gelu of a sum."""
    return bg.nn.gelu(x + bias)


@operator("Gelu", domain=DOMAIN)
def gelu(x: Any) -> Any:
    """Return the gelu."""
    return bg.nn.gelu(x)


@operator("FastGelu", domain=DOMAIN)
def fast_gelu(x: Any, bias: Any = None) -> Any:
    """Return the gelu of a sum, by tanh."""
    return bg.nn.gelu(_added(x, bias), "tanh")


@operator("QuickGelu", domain=DOMAIN)
def quick_gelu(x: Any, *, alpha: float = 1.702) -> Any:
    """Return x times the sigmoid of alpha x."""
    return x * bg.nn.sigmoid(x * alpha)


@operator("BiasAdd", domain=DOMAIN)
def bias_add(x: Any, bias: Any, skip: Any) -> Any:
    """Return the sum of three arrays."""
    return x + bias + skip


@operator("BiasSplitGelu", domain=DOMAIN)
def bias_split_gelu(x: Any, bias: Any) -> Any:
    """Return one half of a sum, times the gelu of the other."""
    whole = x + bias
    half = whole.shape[-1] // 2
    return whole[..., :half] * bg.nn.gelu(whole[..., half:])


@operator("FusedMatMul", domain=DOMAIN)
def fused_matmul(
    a: Any, b: Any, *, alpha: float = 1.0, transA: int = 0, transB: int = 0, transBatchA: int = 0,
    transBatchB: int = 0,
) -> Any:  # fmt: skip
    """Return alpha a @ b, with axes exchanged before."""

    def turned(x: Any, matrix: int, batch: int) -> Any:
        if batch:  # the first axis becomes the second one from the end
            x = bg.moveaxis(x, 0, -2)
        return bg.matrix_transpose(x) if matrix and x.ndim > 1 else x

    found = bg.matmul(turned(a, transA, transBatchA), turned(b, transB, transBatchB))
    return found if alpha == 1 else found * alpha


_ACTIVATIONS: dict[str, Any] = {
    "": lambda x, p: x,
    "Relu": lambda x, p: bg.nn.relu(x),
    "Sigmoid": lambda x, p: bg.nn.sigmoid(x),
    "Tanh": lambda x, p: bg.tanh(x),
    "LeakyRelu": lambda x, p: bg.nn.leaky_relu(x, p[0] if p else 0.01),
    "Clip": lambda x, p: bg.clip(x, p[0], p[1]),
    "HardSigmoid": lambda x, p: bg.clip(x * p[0] + p[1], 0, 1),
}


@operator("FusedConv", domain=DOMAIN)
def fused_conv(
    x: Any, w: Any, b: Any = None, z: Any = None, *, activation: str = "",
    activation_params: list[float] | None = None, auto_pad: str = "NOTSET",
    dilations: list[int] | None = None, group: int = 1, kernel_shape: list[int] | None = None,
    pads: list[int] | None = None, strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Return the activation of a convolution and a summand."""
    if activation not in _ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(_ACTIVATIONS)}: {activation!r}")
    found = convolved(x, w, b, auto_pad, dilations, group, kernel_shape, pads, strides)
    return _ACTIVATIONS[activation](_added(found, z), activation_params or [])
