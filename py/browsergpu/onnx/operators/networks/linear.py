"""Matrix products, and what is made of them."""

from __future__ import annotations

from typing import Any

from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


@operator("MatMul")
def matmul(a: Any, b: Any) -> Any:
    """Return the matrix product, with NumPy's rules."""
    return bg.matmul(a, b)


@operator("Gemm", since=7)
def gemm(
    a: Any, b: Any, c: Any = None, *, alpha: float = 1.0, beta: float = 1.0, transA: int = 0,
    transB: int = 0,
) -> Any:  # fmt: skip
    """Return alpha a @ b + beta c."""
    left = a.T if transA else a
    is_layer = transB and c is not None and c.ndim == 1 and alpha == beta == 1
    if is_layer and a.dtype.kind == "f" and c.shape[0] == b.shape[0]:
        return bg.nn.linear(left, b, c)
    found = bg.matmul(left, b.T if transB else b)
    if alpha != 1:
        found = found * _number(alpha, found)
    if c is None or beta == 0:
        return found
    return found + (c if beta == 1 else c * _number(beta, c))


def _number(x: float, like: Any) -> float | int:
    return int(x) if like.dtype.kind in "iu" else x


@operator("Einsum", since=12)
def einsum(*inputs: Any, equation: str) -> Any:
    """Return the sum of products that an equation describes."""
    return bg.einsum(equation.replace(" ", ""), *inputs)


@operator("Det", since=11)
def det(x: Any) -> Any:
    """Return the determinants of matrices."""
    return bg.linalg.det(x)
