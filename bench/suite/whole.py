"""Whole models: their ONNX files, weights and reference logits.

Each model is a function of a library of operations. ``Onnx`` turns them into nodes, and
``Reference`` computes them with NumPy in float32. Shapes are those of page/networks.py. Batch
normalization is folded into the convolution before it, as in exported models. Weights are random,
and each page makes them itself (page/data.mjs).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import sqrt
from typing import Any

import numpy as np

from suite import onnx
from suite.data import Input
from suite.onnx import constant, int64, node, value
from suite.reference import entries


class _Library:
    """Base class of both libraries. Lists the weights in the order of their use."""

    def __init__(self, inputs: dict[str, Input], dtype: str) -> None:
        self.inputs, self.dtype = inputs, dtype
        self.weights: dict[str, Input] = {}

    def random(self, *shape: int, deviation: float, mean: float = 0.0) -> Any:
        """Add a weight of uniform random numbers with this standard deviation."""
        name = f"w{len(self.weights)}"
        salt = 100 + len(self.weights)
        self.weights[name] = Input(shape, salt, self.dtype, scale=deviation * sqrt(12), offset=mean)
        return self.given(name)

    def given(self, name: str) -> Any:
        raise NotImplementedError


class Onnx(_Library):
    """Makes an ONNX model. ``fused`` uses the operator for attention."""

    def __init__(self, inputs: dict[str, Input], dtype: str, fused: bool) -> None:
        super().__init__(inputs, dtype)
        self.fused = fused
        self.nodes: list[bytes] = []
        self.constants: dict[str, bytes] = {}

    def given(self, name: str) -> str:
        return name

    def add_node(self, op: str, inputs: Sequence[str], domain: str = "", **attributes: Any) -> str:
        out = f"v{len(self.nodes)}"
        self.nodes.append(node(op, inputs, out, domain, **attributes))
        return out

    def integers(self, *numbers: int) -> str:
        name = "i" + "_".join(map(str, numbers)).replace("-", "m")
        self.constants[name] = constant(name, "i64", (len(numbers),), int64(*numbers))
        return name

    def number(self, number: float, dtype: str) -> str:
        name = f"n{dtype}{len(self.constants)}"
        kind = np.float16 if dtype == "f16" else np.float32
        self.constants[name] = constant(name, dtype, (1,), np.array(number, kind).tobytes())
        return name

    def reshape(self, x: str, *shape: int) -> str:
        return self.add_node("Reshape", [x, self.integers(*shape)])

    def conv(self, x: str, w: str, b: str, stride: int, padding: int) -> str:
        extents = {"kernel_shape": list(self.weights[w].shape[2:]), "strides": [stride] * 2}
        return self.add_node("Conv", [x, w, b], pads=[padding] * 4, **extents)

    def relu(self, x: str) -> str:
        return self.add_node("Relu", [x])

    def add(self, x: str, y: str) -> str:
        return self.add_node("Add", [x, y])

    def max_pool(self, x: str) -> str:
        return self.add_node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])

    def average(self, x: str) -> str:
        return self.add_node("Flatten", [self.add_node("GlobalAveragePool", [x])], axis=1)

    def linear(self, x: str, w: str, b: str | None) -> str:
        return self.add_node("Gemm", [x, w, b]) if b else self.add_node("MatMul", [x, w])

    def embed(self, w: str, tokens: str) -> str:
        return self.add_node("Gather", [w, self.reshape(tokens, -1)])

    def some_rows(self, w: str, first: int, count: int) -> str:
        bounds = map(self.integers, (first, first + count, 0))
        return self.add_node("Slice", [w, *bounds])

    def layer_norm(self, x: str, w: str, b: str) -> str:
        return self.add_node("LayerNormalization", [x, w, b], axis=-1, epsilon=1e-5)

    def gelu(self, x: str) -> str:
        return self.add_node("FastGelu", [x], "com.microsoft")

    def attention(self, x: str, heads: int, length: int, width: int, kept: Sequence[str]) -> str:
        three = [f"split{len(self.nodes)}{part}" for part in "qkv"]
        self.nodes.append(node("Split", [self.reshape(x, 1, length, 3 * width)], three, axis=-1))
        if self.fused:
            out = f"v{len(self.nodes)}"
            outs = [out, f"{out}k", f"{out}v"] if kept else [out]
            before = ["", "", "", *kept] if kept else []
            causal = {"num_heads": heads, "unidirectional": int(not kept)}
            operator = "MultiHeadAttention"
            self.nodes.append(node(operator, [*three, *before], outs, "com.microsoft", **causal))
            return self.reshape(out, length, width)
        q, k, v = (
            self.add_node(
                "Transpose", [self.reshape(part, 1, length, heads, width // heads)],
                perm=[0, 2, 1, 3],
            )
            for part in three
        )  # fmt: skip
        if kept:
            k, v = (
                self.add_node("Concat", [old, new], axis=2)
                for old, new in zip(kept, (k, v), strict=True)
            )
        q = self.add_node("Mul", [q, self.number(sqrt(heads / width), self.dtype)])
        turned = self.add_node("Transpose", [k], perm=[0, 1, 3, 2])
        scores = self.add_node("MatMul", [q, turned])
        if not kept:
            scores = self.add_node("Add", [scores, self._mask(length)])
        y = self.add_node("MatMul", [self.add_node("Softmax", [scores], axis=-1), v])
        return self.reshape(self.add_node("Transpose", [y], perm=[0, 2, 1, 3]), length, width)

    def _mask(self, length: int) -> str:
        """Return -1e4 above the diagonal, a constant that the session computes once."""
        if not hasattr(self, "_made"):
            square = [self.number(-1e4, "f32"), self.integers(length, length)]
            mask = self.add_node("Expand", square)
            self._made = self.add_node("Trilu", [mask, self.integers(1)], upper=1)
            if self.dtype == "f16":
                self._made = self.add_node("Cast", [self._made], to=10)
        return self._made

    def model(self, last: str, out: tuple[int, ...]) -> bytes:
        self.nodes.append(node("Reshape", [last, self.integers(*out)], "out"))
        constants = [constant(name, x.dtype, x.shape, None) for name, x in self.weights.items()]
        inputs = [value(name, x.dtype, x.shape) for name, x in self.inputs.items()]
        ends = [value("out", self.dtype, out)]
        return onnx.model(self.nodes, [*constants, *self.constants.values()], inputs, ends)


class Reference(_Library):
    """Computes a model with NumPy in float32."""

    def given(self, name: str) -> Any:
        array = (self.weights | self.inputs)[name].copy()
        return array if array.dtype == np.int32 else array.astype(np.float32)

    def conv(self, x: Any, w: Any, b: Any, stride: int, padding: int) -> Any:
        extent = w.shape[-1]
        x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
        seen = np.lib.stride_tricks.sliding_window_view(x, (extent, extent), (2, 3))
        y = np.tensordot(seen[:, :, ::stride, ::stride], w, ((1, 4, 5), (1, 2, 3)))
        return y.transpose(0, 3, 1, 2) + b[:, None, None]

    def relu(self, x: Any) -> Any:
        return np.maximum(x, 0)

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def max_pool(self, x: Any) -> Any:
        x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
        seen = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
        return seen[:, :, ::2, ::2].max((-2, -1))

    def average(self, x: Any) -> Any:
        return x.mean((2, 3))

    def linear(self, x: Any, w: Any, b: Any) -> Any:
        return x @ w if b is None else x @ w + b

    def embed(self, w: Any, tokens: Any) -> Any:
        return w[tokens.reshape(-1)]

    def some_rows(self, w: Any, first: int, count: int) -> Any:
        return w[first : first + count]

    def layer_norm(self, x: Any, w: Any, b: Any) -> Any:
        off = x - x.mean(-1, keepdims=True)
        return off / np.sqrt(np.square(off).mean(-1, keepdims=True) + 1e-5) * w + b

    def gelu(self, x: Any) -> Any:
        return x / 2 * (1 + np.tanh(sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    def attention(self, x: Any, heads: int, length: int, width: int, kept: Sequence[Any]) -> Any:
        q, k, v = x.reshape(length, 3, heads, width // heads).transpose(1, 2, 0, 3)
        if kept:
            k, v = (np.concatenate([old[0], new], 1) for old, new in zip(kept, (k, v), strict=True))
        scores = q @ k.transpose(0, 2, 1) * sqrt(heads / width)
        if not kept:
            scores += np.triu(np.full((length, length), -np.inf, np.float32), 1)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        y = powers / powers.sum(-1, keepdims=True) @ v
        return y.transpose(1, 0, 2).reshape(length, width)


def resnet50(lib: Any, width: int) -> Any:
    """Return the logits of page/networks.py's ResNet, with folded batch normalization."""

    def conv(x: Any, before: int, after: int, extent: int, stride: int = 1, gain: float = 2) -> Any:
        fan_in = before * extent**2
        w = lib.random(after, before, extent, extent, deviation=sqrt(gain / fan_in))
        b = lib.random(after, deviation=0.1)
        return lib.conv(x, w, b, stride, extent // 2)

    x = lib.max_pool(lib.relu(conv(lib.given("x"), 3, width, 7, 2)))
    before = width
    for number, count in enumerate((3, 4, 6, 3)):
        within = width << number
        for block in range(count):
            stride = 1 + (number > 0 and block == 0)
            y = lib.relu(conv(x, before, within, 1))
            y = lib.relu(conv(y, within, within, 3, stride))
            y = conv(y, within, 4 * within, 1, gain=0.2)
            if block == 0:
                x = conv(x, before, 4 * within, 1, stride, gain=1)
            x, before = lib.relu(lib.add(y, x)), 4 * within
    w = lib.random(before, 1000, deviation=1 / sqrt(before))
    return lib.linear(lib.average(x), w, lib.random(1000, deviation=0.1))


def gpt(lib: Any, layers: int, width: int, heads: int, words: int, length: int, count: int,
        before: int) -> Any:  # fmt: skip
    """Return the logits of ``count`` tokens after ``before`` tokens with given keys and values."""

    def linear(x: Any, n: int, m: int) -> Any:
        w = lib.random(n, m, deviation=1 / sqrt(n))
        return lib.linear(x, w, lib.random(m, deviation=0.1))

    def norm(x: Any) -> Any:
        w = lib.random(width, deviation=0.1, mean=1.0)
        return lib.layer_norm(x, w, lib.random(width, deviation=0.1))

    x = lib.embed(lib.random(words, width, deviation=1.0), lib.given("x"))
    places = lib.random(length, width, deviation=0.5)
    x = lib.add(x, lib.some_rows(places, before, count))
    for layer in range(layers):
        kept = [lib.given(f"{part}{layer}") for part in ("keys", "values")] if before else []
        three = linear(norm(x), width, 3 * width)
        x = lib.add(x, linear(lib.attention(three, heads, count, width, kept), width, width))
        x = lib.add(x, linear(lib.gelu(linear(norm(x), width, 4 * width)), 4 * width, width))
    return lib.linear(norm(x), lib.random(width, words, deviation=1 / sqrt(width)), None)


_RESNET = {"small": ({"width": 4}, 32, (1, 2)), "big": ({"width": 64}, 224, (1, 32))}
_GPT = {
    "small": ({"layers": 2, "width": 32, "heads": 2, "words": 64, "length": 32}, 16, 8),
    "big": ({"layers": 12, "width": 768, "heads": 12, "words": 50257, "length": 1024}, 1024, 512),
}
_LAYOUTS = ("NHWC", "NCHW")


def whole_models(sizes: str) -> list[dict[str, Any]]:
    """Return the models for the pages.

    Each has its ONNX variants, inputs and weights, and some logits to check.
    """
    made = []
    for dtype in ("f32", "f16"):
        options, extent, batches = _RESNET[sizes]
        for batch in batches:
            inputs = {"x": Input((batch, 3, extent, extent), 1, dtype, scale=sqrt(12))}
            name = f"forward: resnet50, {(1, 32)[batches.index(batch)]}, {dtype}"
            made.append(_made(name, resnet50, options, inputs, (batch, 1000), dtype))
        options, most, cached = _GPT[sizes]
        for title, count, before in (
            ("gpt2, 1024 tokens", most, 0), ("gpt2, a token after 512", 1, cached)
        ):  # fmt: skip
            inputs = {"x": Input((1, count), 1, "i32")}
            old = (1, options["heads"], before, options["width"] // options["heads"])
            for layer in range(options["layers"] if before else 0):
                for at, part in enumerate(("keys", "values")):
                    salt = 10 + 2 * layer + at
                    inputs[f"{part}{layer}"] = Input(old, salt, dtype, scale=sqrt(12))
            given = {**options, "count": count, "before": before}
            out = (count, options["words"])
            made.append(_made(f"forward: {title}, {dtype}", gpt, given, inputs, out, dtype))
    return made


def _made(
    name: str,
    make: Callable[..., Any],
    options: dict[str, int],
    inputs: dict[str, Input],
    out: tuple[int, ...],
    dtype: str,
) -> dict[str, Any]:
    ways = []
    for fused in (True, False) if make is gpt else (True,):
        lib = Onnx(inputs, dtype, fused)
        data = lib.model(make(lib, **options), out)
        title = "MultiHeadAttention" if fused else "of its parts"
        for layout in (None,) if make is gpt else _LAYOUTS:
            for captured in (False, True):
                way = {"name": (layout or title) + (", captured" if captured else "")}
                way |= {"layout": layout, "captured": captured}
                ways.append({**way, "model": b64encode(data).decode()})
    return {
        "id": name,
        "model": make.__name__,
        "dtype": dtype,
        "options": options,
        "budget": 1.0,
        "inputs": {key: asdict(x) for key, x in inputs.items()},
        "weights": {key: asdict(x) for key, x in lib.weights.items()},
        "out": out,
        "ways": ways,
        "check": _check(make, options, inputs, out, dtype),
    }


def _check(
    make: Callable[..., Any],
    options: dict[str, int],
    inputs: dict[str, Input],
    out: tuple[int, ...],
    dtype: str,
) -> dict[str, Any]:
    """Return some logits. For a batch, only the first image is computed, since images are
    independent."""
    x = inputs["x"]
    if len(x.shape) == 4:
        out = (1, out[1])
    lib = Reference(inputs, dtype)
    if len(x.shape) == 4:
        first = Input((1, *x.shape[1:]), x.salt, x.dtype, scale=x.scale)
        lib.inputs = {"x": first}
    logits = make(lib, **options)
    found = logits.reshape(-1)
    at = entries(out)
    tolerance = float((0.1 if dtype == "f16" else 5e-3) * found.std())
    return {"at": at, "values": [float(found[i]) for i in at], "tolerance": tolerance}
