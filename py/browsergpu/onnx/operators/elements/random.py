"""Random numbers. Seeds give the same numbers each time, but not those of other programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


def _uniform(shape: Any, low: float, high: float, seed: Any, node: Node) -> Any:
    drawn = node.generator(seed).random(tuple(shape), dtype="float32")
    return drawn * (high - low) + low


def _normal(shape: Any, mean: float, scale: float, seed: Any, node: Node) -> Any:
    return node.generator(seed).standard_normal(tuple(shape), dtype="float32") * scale + mean


@operator("RandomUniform")
def random_uniform(
    *, shape: list[int], dtype: int = 1, high: float = 1.0, low: float = 0.0,
    seed: float | None = None, node: Node,
) -> Any:  # fmt: skip
    """Return uniform random numbers."""
    return _uniform(shape, low, high, seed, node).astype(node.dtype(dtype), copy=False)


@operator("RandomUniformLike")
def random_uniform_like(
    x: Any, *, dtype: int = 0, high: float = 1.0, low: float = 0.0, seed: float | None = None,
    node: Node,
) -> Any:  # fmt: skip
    """Return uniform random numbers in the shape of an array."""
    kind = node.dtype(dtype) if dtype else x.dtype
    return _uniform(x.shape, low, high, seed, node).astype(kind, copy=False)


@operator("RandomNormal")
def random_normal(
    *, shape: list[int], dtype: int = 1, mean: float = 0.0, scale: float = 1.0,
    seed: float | None = None, node: Node,
) -> Any:  # fmt: skip
    """Return normal random numbers."""
    return _normal(shape, mean, scale, seed, node).astype(node.dtype(dtype), copy=False)


@operator("RandomNormalLike")
def random_normal_like(
    x: Any, *, dtype: int = 0, mean: float = 0.0, scale: float = 1.0, seed: float | None = None,
    node: Node,
) -> Any:  # fmt: skip
    """Return normal random numbers in the shape of an array."""
    kind = node.dtype(dtype) if dtype else x.dtype
    return _normal(x.shape, mean, scale, seed, node).astype(kind, copy=False)


@operator("Bernoulli", since=15)
def bernoulli(x: Any, *, dtype: int = 0, seed: float | None = None, node: Node) -> Any:
    """Return 1 with the probabilities of an array, 0 otherwise."""
    kind = node.dtype(dtype) if dtype else x.dtype
    return (_uniform(x.shape, 0.0, 1.0, seed, node) < x).astype(kind, copy=False)


@operator("Multinomial", since=7)
def multinomial(
    x: Any, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None, node: Node
) -> Any:
    """Draw classes with unnormalized logarithms of probabilities."""
    shape = (x.shape[0], sample_size, x.shape[1])
    drawn = node.generator(seed).random(shape, dtype="float32")
    noise = -bg.log(-bg.log(bg.maximum(drawn, np.finfo(np.float32).tiny)))
    return bg.argmax(x[:, None] + noise, axis=-1).astype(node.dtype(dtype), copy=False)
