"""Operands for NumPy's functions of arrays, by function name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: Arguments for one array, by NumPy's argument names.
X = np.float32([[3, -1, 2, 0.5], [0.25, 4, -2.5, 1], [1.5, 0, -3.5, 7]])
MASK = X > 0
WHOLE = np.int32([[2, 0, 1], [0, 2, 1]])
LOWER = np.float32([[4, 9, 9], [1, 5, 9], [0.5, -1, 6]])
HEADS = X[:3, :3] @ X[:3, :3].T + 4 * np.eye(3, dtype=np.float32)

#: The operands of functions that need more than X.
OPERANDS: dict[str, tuple[Any, ...]] = {
    "astype": (X, "int32"), "broadcast_to": (X[:1], (3, 4)), "concatenate": ([X, X],),
    "cross": (X[:, :3], X[::-1, :3]), "digitize": (X, np.float32([0, 1, 2])), "dot": (X, X.T),
    "expand_dims": (X, 1), "full_like": (X, 2), "histogram2d": (X[0], X[1]), "hstack": ([X, X],),
    "isclose": (X, X + 1), "allclose": (X, X + 1), "array_equal": (X, X), "isin": (X, X[0]),
    "moveaxis": (X, 0, 1), "stack": ([X, X],), "vstack": ([X, X],), "outer": (X[0], X[1]),
    "partition": (X, 2), "argpartition": (X, 2), "repeat": (X, 2), "reshape": (X, (4, 3)),
    "roll": (X, 1), "searchsorted": (np.float32([0, 1, 2]), X), "swapaxes": (X, 0, 1),
    "percentile": (X, 30), "nanpercentile": (X, 30), "quantile": (X, 0.3), "nanquantile": (X, 0.3),
    "take": (X, WHOLE), "take_along_axis": (X[:2], WHOLE), "tensordot": (HEADS, HEADS),
    "tile": (X, 2), "where": (MASK, X, -X), "bincount": (WHOLE[0],),
    "choose": (WHOLE, [10, 20, 30]), "select": ([MASK], [X]), "sliding_window_view": (X[0], 2),
    "ravel_multi_index": (WHOLE, (4, 4)), "unravel_index": (WHOLE, (2, 3)),
    "linspace": (X[0], X[1]), "einsum": ("ij,kj->ik", X, X), "histogramdd": (X,),
    "can_cast": (X, "float64"), "matrix_power": (HEADS, 2), "solve": (HEADS, HEADS),
    "vecdot": (X, X), "average": (X,), "gradient": (X,), "clip": (X, -1, 2), "eigh": (LOWER,),
    "eigvalsh": (LOWER,), "pad": (X, 2), "packbits": (MASK,),
    "unpackbits": (np.uint8([[1, 2, 3], [7, 200, 9]]),), "polyadd": (X[0], X[1]),
    "polysub": (X[0], X[1]), "polyder": (X[0],), "polyint": (X[0],),
    "apply_over_axes": (np.sum, X, (0, 1)), "diag_indices_from": (HEADS,),
    "may_share_memory": (X, X), "trim_zeros": (np.float32([0, 0, 3, 0, 4, 0]),),
    "real_if_close": (X + np.complex64(1e-9j),), "append": (X, X[0]), "array_equiv": (X, X),
    "array_split": (X, 3), "compress": (X[:, 0] > 1, X), "cumulative_prod": (X[0],),
    "cumulative_sum": (X[0],), "convolve": (X[0], X[1]), "copyto": (X, X[::-1]),
    "correlate": (X[0], X[1]), "delete": (X, 1), "dsplit": (X.reshape(1, 3, 4), 2),
    "extract": (MASK, X), "fill_diagonal": (X, 5.0), "hsplit": (X, 2), "inner": (X, X),
    "insert": (X, 1, X[0]), "interp": (X, np.float32([-2, 0, 1, 3]), X[0]),
    "intersect1d": (X[0], X[1]), "kron": (X, X), "linalg.lstsq": (HEADS, X),
    "linalg.matmul": (X, X.T), "linalg.multi_dot": ([X, X.T, X],),
    "linalg.tensorinv": (HEADS.reshape(3, 1, 3, 1),), "linalg.tensorsolve": (HEADS, X[:, 0]),
    "place": (X, MASK, np.float32([1, 2])), "polyfit": (X[0], X[1], 1), "polyval": (X[0], X),
    "put": (X, WHOLE, X[0]), "put_along_axis": (X[:2], WHOLE, X[:2, :3], 1),
    "putmask": (X, MASK, X[::-1]), "resize": (X, (5, 3)), "rollaxis": (X, 1),
    "setdiff1d": (X[0], X[1]), "setxor1d": (X[0], X[1]), "split": (X, 2, 1),
    "union1d": (X[0], X[1]), "vander": (X[0],), "vdot": (X, X), "vsplit": (X, 3),
}  # fmt: skip
SQUARE = {
    "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "pinv", "slogdet",
    "matrix_rank",
}  # fmt: skip


def operands_of(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the operands for a function of NumPy."""
    is_linear = function.__module__.endswith("linalg")
    return operands_by_name(f"linalg.{function.__name__}" if is_linear else function.__name__)


def operands_by_name(name: str) -> tuple[Any, ...]:
    """Return the operands for a function by name, such as "linalg.norm"."""
    own = name.rpartition(".")[2]
    for known in (name, own):
        if known in OPERANDS:
            return OPERANDS[known]
    return (HEADS,) if own in SQUARE and name.startswith("linalg.") else (X,)


def on_gpu(bg: Any, value: Any) -> Any:
    """Return the operands with GPU arrays instead of NumPy arrays."""
    if isinstance(value, np.ndarray):
        return bg.asarray(value)
    if isinstance(value, list):
        return [on_gpu(bg, one) for one in value]
    return value
