"""Networks as ONNX files in the form of usual exports, with random weights beside the file.

A library (``suite.whole.Onnx``) makes the nodes and lists the weights, which pages make themselves.
Batch normalization is folded into the convolution before it, as in files for inference.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from suite.onnx import constant, node
from suite.whole import Onnx


def _floats(lib: Onnx, shape: tuple[int, ...], values: Any, dtype: str = "f32") -> str:
    """Return the name of a constant of floats."""
    name = f"c{len(lib.constants)}"
    data = np.broadcast_to(np.asarray(values, np.float16 if dtype == "f16" else np.float32), shape)
    lib.constants[name] = constant(name, dtype, shape, data.tobytes())
    return name


def _conv(
    lib: Onnx, x: str, before: int, after: int, extent: int, stride: int = 1, *,
    groups: int = 1, gain: float = 2.0,
) -> str:  # fmt: skip
    within = before // groups
    deviation = sqrt(gain / (within * extent**2))
    w = lib.random(after, within, extent, extent, deviation=deviation)
    b = lib.random(after, deviation=0.1)
    more = {"group": groups} if groups > 1 else {}
    extents = {"kernel_shape": [extent] * 2, "strides": [stride] * 2, "pads": [extent // 2] * 4}
    return lib.add_node("Conv", [x, w, b], **extents, **more)


#: Expansion, channels, blocks and stride of MobileNetV2's stages.
_STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)  # fmt: skip


def mobilenet_v2(lib: Onnx, width: float) -> str:
    """Return the logits of MobileNetV2."""
    low, high = (_floats(lib, (), bound, lib.dtype) for bound in (0, 6))

    def relu6(x: str) -> str:
        return lib.add_node("Clip", [x, low, high])

    def channels(n: int) -> int:
        return max(8, int(n * width + 4) // 8 * 8)

    before = channels(32)
    x = relu6(_conv(lib, "x", 3, before, 3, 2))
    for expansion, wanted, blocks, first in _STAGES:
        after = channels(wanted)
        for block in range(blocks):
            stride, inner = first if block == 0 else 1, before * expansion
            y = relu6(_conv(lib, x, before, inner, 1)) if expansion > 1 else x
            y = relu6(_conv(lib, y, inner, inner, 3, stride, groups=inner))
            y = _conv(lib, y, inner, after, 1, gain=1.0)
            x = lib.add(x, y) if stride == 1 and before == after else y
            before = after
    last = max(1280, channels(1280)) if width >= 1 else channels(1280)
    x = relu6(_conv(lib, x, before, last, 1))
    w = lib.random(last, 1000, deviation=1 / sqrt(last))
    return lib.linear(lib.average(x), w, lib.random(1000, deviation=0.1))


def yolo_v8(lib: Onnx, widths: tuple[int, ...], classes: int, extent: int) -> str:
    """Return boxes, from 0 to 1, and scores of YOLOv8, [1, 4 + classes, places].

    v8n has widths from 16 to 256.
    """

    def conv(x: str, before: int, after: int, extent: int = 1, stride: int = 1) -> str:
        y = _conv(lib, x, before, after, extent, stride)
        return lib.add_node("Mul", [y, lib.add_node("Sigmoid", [y])])

    def joined(*parts: str) -> str:
        return lib.add_node("Concat", parts, axis=1)

    def c2f(x: str, before: int, after: int, blocks: int, adds: bool) -> str:
        half = after // 2
        y = conv(x, before, after)
        left, right = (f"s{len(lib.nodes)}{part}" for part in "ab")
        lib.nodes.append(node("Split", [y, lib.integers(half, half)], [left, right], axis=1))
        parts = [left, right]
        for _ in range(blocks):
            z = conv(conv(parts[-1], half, half, 3), half, half, 3)
            parts.append(lib.add(parts[-1], z) if adds else z)
        return conv(joined(*parts), (2 + blocks) * half, after)

    def pooled(x: str) -> str:
        extents = {"kernel_shape": [5, 5], "strides": [1, 1], "pads": [2, 2, 2, 2]}
        return lib.add_node("MaxPool", [x], **extents)

    twice = _floats(lib, (4,), (1, 1, 2, 2))

    def enlarged(x: str) -> str:
        how = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        return lib.add_node("Resize", [x, "", twice], mode="nearest", **how)

    a, b, c, d, e = widths
    x = conv(conv("x", 3, a, 3, 2), a, b, 3, 2)
    x = c2f(x, b, b, 1, True)
    third = c2f(conv(x, b, c, 3, 2), c, c, 2, True)
    fourth = c2f(conv(third, c, d, 3, 2), d, d, 2, True)
    x = c2f(conv(fourth, d, e, 3, 2), e, e, 1, True)
    pools = [conv(x, e, e // 2)]
    for _ in range(3):
        pools.append(pooled(pools[-1]))
    fifth = conv(joined(*pools), 2 * e, e)
    up = c2f(joined(enlarged(fifth), fourth), e + d, d, 1, False)
    small = c2f(joined(enlarged(up), third), d + c, c, 1, False)
    middle = c2f(joined(conv(small, c, c, 3, 2), up), c + d, d, 1, False)
    large = c2f(joined(conv(middle, d, d, 3, 2), fifth), d + e, e, 1, False)

    bins, inner = 16, max(16, c // 4, 64 if c >= 64 else 0)
    scores = max(c, min(classes, 100))
    heads = []
    for y, n in ((small, c), (middle, d), (large, e)):
        box = _conv(lib, conv(conv(y, n, inner, 3), inner, inner, 3), inner, 4 * bins, 1)
        score = _conv(lib, conv(conv(y, n, scores, 3), scores, scores, 3), scores, classes, 1)
        heads.append(lib.reshape(joined(box, score), 1, 4 * bins + classes, -1))
    x = lib.add_node("Concat", heads, axis=2)
    lib.nodes.append(
        node("Split", [x, lib.integers(4 * bins, classes)], ["boxes", "scores"], axis=1)
    )
    centers, strides = _places(extent)
    places = len(strides)
    x = lib.add_node("Transpose", [lib.reshape("boxes", 1, 4, bins, places)], perm=[0, 2, 1, 3])
    x = lib.add_node("Softmax", [x], axis=1)
    weights = _floats(lib, (1, bins, 1, 1), np.arange(bins).reshape(1, bins, 1, 1), lib.dtype)
    x = lib.add_node("Conv", [x, weights], kernel_shape=[1, 1])
    lib.nodes.append(
        node("Split", [lib.reshape(x, 1, 4, places), lib.integers(2, 2)], ["lt", "rb"], axis=1)
    )
    middles = _floats(lib, (1, 2, places), centers, lib.dtype)
    first = lib.add_node("Sub", [middles, "lt"])
    last = lib.add(middles, "rb")
    two = _floats(lib, (), 2, lib.dtype)
    center = lib.add_node("Div", [lib.add(first, last), two])
    box = joined(center, lib.add_node("Sub", [last, first]))
    box = lib.add_node("Mul", [box, _floats(lib, (1, places), strides / extent, lib.dtype)])
    return joined(box, lib.add_node("Sigmoid", ["scores"]))


def _places(extent: int) -> tuple[Any, Any]:
    """Return the centers of the cells of three grids, and their strides."""
    centers, strides = [], []
    for stride in (8, 16, 32):
        at = np.arange(extent // stride) + 0.5
        y, x = np.meshgrid(at, at, indexing="ij")
        centers.append(np.stack((x.ravel(), y.ravel())))
        strides.append(np.full(x.size, stride))
    return np.concatenate(centers, 1)[None], np.concatenate(strides)


def bert(lib: Onnx, layers: int, width: int, heads: int, words: int, length: int) -> str:
    """Return the last hidden state, [1, length, width], of BERT.

    With ``lib.fused``, attention, normalization with its sum, and Gelu are one operator each, as
    after onnxruntime's optimizer.
    """

    def linear(x: str, n: int, m: int) -> str:
        y = lib.add_node("MatMul", [x, lib.random(n, m, deviation=1 / sqrt(n))])
        return lib.add(y, lib.random(m, deviation=0.1))

    def norm(x: str, more: str) -> str:
        w = lib.random(width, deviation=0.1, mean=1.0)
        b = lib.random(width, deviation=0.1)
        if lib.fused:
            inputs = [x, more, w, b]
            return lib.add_node("SkipLayerNormalization", inputs, "com.microsoft", epsilon=1e-12)
        return lib.add_node("LayerNormalization", [lib.add(x, more), w, b], axis=-1, epsilon=1e-12)

    def gelu(x: str) -> str:
        if lib.fused:
            return lib.add_node("Gelu", [x], "com.microsoft")
        root, one, half = (_floats(lib, (), n, lib.dtype) for n in (sqrt(2), 1, 0.5))
        y = lib.add_node("Erf", [lib.add_node("Div", [x, root])])
        return lib.add_node("Mul", [lib.add_node("Mul", [x, lib.add(y, one)]), half])

    def attention(x: str) -> str:
        q, k, v = (linear(x, width, width) for _ in "qkv")
        if lib.fused:
            given = {"num_heads": heads}
            return lib.add_node("MultiHeadAttention", [q, k, v], "com.microsoft", **given)
        size = width // heads
        split = [lib.reshape(y, 1, length, heads, size) for y in (q, k, v)]
        q, k, v = (
            lib.add_node("Transpose", [y], perm=perm)
            for y, perm in zip(split, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
        )
        scores = lib.add_node(
            "Div", [lib.add_node("MatMul", [q, k]), _floats(lib, (), sqrt(size), lib.dtype)]
        )
        y = lib.add_node("MatMul", [lib.add_node("Softmax", [scores], axis=-1), v])
        return lib.reshape(lib.add_node("Transpose", [y], perm=[0, 2, 1, 3]), 1, length, width)

    x = lib.add_node("Gather", [lib.random(words, width, deviation=1.0), "x"])
    places = lib.random(1, length, width, deviation=0.5)
    x = norm(lib.add(x, places), lib.random(1, length, width, deviation=0.5))
    for _ in range(layers):
        x = norm(x, linear(attention(x), width, width))
        x = norm(x, linear(gelu(linear(x, width, 4 * width)), 4 * width, width))
    return x
