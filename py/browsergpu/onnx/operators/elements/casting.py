"""Casts between dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.onnx.graph.narrow import Narrow, narrowed, widened
from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.types import NarrowType
from browsergpu.onnx.graph.values import on_host, to_gpu
from browsergpu.onnx.registry import operator


def converted(x: Any, kind: Any, *, saturate: bool = True, up: bool = False) -> Any:
    """Return an array of any type in a dtype or narrow type."""
    if isinstance(kind, NarrowType):
        if isinstance(x, Narrow) and x.type is kind:
            return x
        return narrowed(to_gpu(widened(x)), kind, saturate=saturate, up=up)
    x = widened(x)
    if on_host(x):
        return np.asarray(x).astype(kind, copy=False)
    if x.dtype.kind in "fc" and np.dtype(kind).kind in "iu":
        wide = np.dtype(kind).itemsize < 4
        return (
            x.astype("int32", copy=False).astype(kind, copy=False)
            if wide
            else x.astype(kind, copy=False)
        )
    return x.astype(kind, copy=False)


def check_rounding(mode: str) -> None:
    """Raise ValueError for a rounding to float8e8m0 that is not available."""
    if mode not in ("up", "nearest"):
        raise ValueError(f"round_mode must be up or nearest, got {mode!r}")


@operator("Cast", since=6, raw=True)
def cast(x: Any, *, to: int, saturate: int = 1, round_mode: str = "up", node: Node) -> Any:
    """Cast to a dtype."""
    check_rounding(round_mode)
    kind = node.dtype(to)
    if not isinstance(kind, NarrowType):
        kind = np.dtype(kind)
    return converted(x, kind, saturate=bool(saturate), up=round_mode == "up")


@operator("CastLike", since=15, raw=True)
def cast_like(x: Any, target: Any, *, saturate: int = 1, round_mode: str = "up") -> Any:
    """Cast to the dtype of another array."""
    check_rounding(round_mode)
    kind = target.type if isinstance(target, Narrow) else target.dtype
    return converted(x, kind, saturate=bool(saturate), up=round_mode == "up")


@operator("BitCast", since=26, raw=True)
def bit_cast(x: Any, *, to: int, node: Node) -> Any:
    """Read the bits as another dtype of the same width."""
    kind = node.dtype(to)
    codes = to_gpu(x.codes if isinstance(x, Narrow) else x)
    if isinstance(kind, NarrowType):
        if kind.codes.itemsize * 8 != kind.bits or codes.dtype.itemsize != kind.codes.itemsize:
            raise ValueError(f"BitCast to {kind.name} of {codes.dtype} is not available")
        return Narrow(codes.view(kind.codes), kind)
    if np.dtype(kind).kind == "b":
        return codes != 0
    if codes.dtype.kind == "b":
        codes = codes.astype("uint8", copy=False)
    wanted = np.dtype(kind)
    if wanted.kind in "iu" and codes.dtype.kind in "iu" and wanted.itemsize == codes.dtype.itemsize:
        return codes.astype(wanted, copy=False)  # which keeps the bits
    return codes.view(kind)
