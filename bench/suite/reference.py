"""Reference values of some entries of each operation's result, in float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import pi, prod, sqrt, tanh
from typing import Any

import numpy as np

from suite.data import Input

Inputs = Mapping[str, Input]
Options = Mapping[str, Any]

ENTRIES = 14  # besides the first and the last


def entries(out: tuple[int, ...]) -> list[int]:
    """Return the flat indices to check: the first, the last and some between them."""
    size = prod(out)
    some = np.random.default_rng(7).integers(0, size, ENTRIES)
    return sorted({0, size - 1, *map(int, some)})


def matmul(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    a, b = x["a"], x["b"]
    *_, m, n = out
    batch, i, j = index // (m * n), index // n % m, index % n
    k = options["k"]
    at_a, step_a = (i, m) if options.get("transpose_a") else (i * k, 1)
    at_b, step_b = (j * k, 1) if options.get("transpose_b") else (j, n)
    left = a.row(batch * m * k + at_a, k, step_a)
    return float(left @ b.row(batch * k * n + at_b, k, step_b))


def conv2d(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    image, w = x["x"], x["w"]
    _, c, h, width = image.shape
    _, f, p, q = out
    r, s = w.shape[2:]
    stride, padding = options["stride"], options["padding"]
    channel, row, column = index // (p * q) % f, index // q % p, index % q
    ys = row * stride - padding + np.arange(r)
    xs = column * stride - padding + np.arange(s)
    inside = ((ys >= 0) & (ys < h))[:, None] & ((xs >= 0) & (xs < width))[None, :]
    at = np.arange(c)[:, None, None] * h * width + ys[:, None] * width + xs[None, :]
    taken = np.where(inside, image.at(np.where(inside, at, 0)), 0.0)
    return float((taken.ravel() * w.row(channel * c * r * s, c * r * s)).sum())


def _row(x: Input, index: int) -> tuple[Any, int]:
    """Return the row of an element, and its position there."""
    n = x.shape[-1]
    return x.row(index // n * n, n), index % n


def _column(x: Input, index: int) -> tuple[Any, int]:
    """Return the column of a matrix element, and its position there."""
    rows, columns = x.shape
    return x.row(index % columns, rows, columns), index // columns


def softmax(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    row, at = _column(x["x"], index) if options.get("axis") == 0 else _row(x["x"], index)
    powers = np.exp(row - row.max())
    return float(powers[at] / powers.sum())


def _normal(row: Any, at: int) -> float:
    return float((row[at] - row.mean()) / sqrt(row.var() + 1e-5))


def layer_norm(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    row, at = _row(x["x"], index)
    return _normal(row, at) * float(x["gamma"].at(at)) + float(x["beta"].at(at))


def _along(x: Inputs, options: Options, index: int) -> Any:
    rows, columns = x["x"].shape
    if options["axis"] == 0:
        return x["x"].row(index, rows, columns)
    return x["x"].row(index * columns, columns)


def total(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    return float(_along(x, options, index).sum())


def variance(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    return float(_along(x, options, index).var())


def relu(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    return max(0.0, float(x["x"].at(index)))


def add(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    return float(x["x"].at(index) + x["y"].at(index))


def transpose(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    columns, rows = out
    return float(x["x"].at(index % rows * columns + index // rows))


def _attend(q: Any, k: Any, v: Any) -> float:
    """Return one entry of attention, from a query, its visible keys and a column of the values."""
    scores = k @ q / sqrt(len(q))
    powers = np.exp(scores - scores.max())
    return float(powers @ v / powers.sum())


def attention(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    s, d = out[-2:]
    head, row, column = index // (s * d), index // d % s, index % d
    seen = row + 1 if options["causal"] else s
    q = x["q"].row((head * s + row) * d, d)
    k = x["k"].row(head * s * d, seen * d).reshape(seen, d)
    return _attend(q, k, x["v"].row(head * s * d + column, seen, d))


def chain(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    value, step = float(x["x"].at(index)), float(x["y"].at(index))
    for _ in range(options["length"] // 2):
        value = max(0.0, value + step)
    return value


def copy(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    return float(x["x"].at(index))


def linear_gelu(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    y = matmul({"a": x["x"], "b": x["w"]}, out, options, index)
    y += float(x["bias"].at(index % out[-1]))
    return 0.5 * y * (1 + tanh(sqrt(2 / pi) * (y + 0.044715 * y**3)))


def add_layer_norm(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    row, at = _row(x["x"], index)
    other, _ = _row(x["residual"], index)
    return _normal(row + other, at) * float(x["gamma"].at(at)) + float(x["beta"].at(at))


def attention_block(x: Inputs, out: tuple[int, ...], options: Options, index: int) -> float:
    _, s, width = out
    heads = options["heads"]
    d = width // heads
    row, column = index // width, index % width
    tokens = x["x"].row(0, s * width).reshape(s, width)
    w = x["w_qkv"].row(0, 3 * width * width).reshape(width, 3 * width)
    bias = x["b_qkv"].row(0, 3 * width)
    joined = []
    for head in range(heads):
        part = slice(head * d, (head + 1) * d)
        q = tokens[row] @ w[:, :width][:, part] + bias[:width][part]
        k = tokens @ w[:, width : 2 * width][:, part] + bias[width : 2 * width][part]
        v = tokens @ w[:, 2 * width :][:, part] + bias[2 * width :][part]
        scores = k @ q / sqrt(d)
        powers = np.exp(scores - scores.max())
        joined.append(powers @ v / powers.sum())
    out_column = x["w_out"].row(column, width, width)
    projected = np.concatenate(joined) @ out_column + x["b_out"].at(column)
    return float(projected + x["x"].at(index))


REFERENCES: Mapping[str, Callable[[Inputs, tuple[int, ...], Options, int], float]] = {
    "matmul": matmul,
    "matmul_high": matmul,
    "conv2d": conv2d,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "sum": total,
    "variance": variance,
    "relu": relu,
    "add": add,
    "transpose": transpose,
    "attention": attention,
    "chain": chain,
    "upload": copy,
    "readback": copy,
    "linear_gelu": linear_gelu,
    "add_layer_norm": add_layer_norm,
    "attention_block": attention_block,
}
