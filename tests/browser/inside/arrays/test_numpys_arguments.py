"""NumPy's functions of arrays, each optional argument given another value than its default.

NumPy's own result on the host says what the argument does. Ours is the same, or the argument is
refused. None is accepted and ignored.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

#: Arguments for one array, by the names that NumPy gives them.
X = np.float32([[3, -1, 2, 0.5], [0.25, 4, -2.5, 1], [1.5, 0, -3.5, 7]])
MASK = X > 0
WHOLE = np.int32([[2, 0, 1], [0, 2, 1]])
LOWER = np.float32([[4, 9, 9], [1, 5, 9], [0.5, -1, 6]])
HEADS = X[:3, :3] @ X[:3, :3].T + 4 * np.eye(3, dtype=np.float32)

#: What a function takes where not X alone.
OPERANDS: dict[str, tuple[Any, ...]] = {
    "astype": (X, "int32"), "broadcast_to": (X[:1], (3, 4)), "concatenate": ([X, X],),
    "cross": (X[:, :3], X[::-1, :3]), "digitize": (X, np.float32([0, 1, 2])), "dot": (X, X.T),
    "expand_dims": (X, 1), "full_like": (X, 2), "histogram2d": (X[0], X[1]), "hstack": ([X, X],),
    "isclose": (X, X + 1), "allclose": (X, X + 1), "array_equal": (X, X), "isin": (X, X[0]),
    "moveaxis": (X, 0, 1), "stack": ([X, X],), "vstack": ([X, X],), "outer": (X[0], X[1]),
    "partition": (X, 2), "argpartition": (X, 2), "repeat": (X, 2), "reshape": (X, (4, 3)),
    "roll": (X, 1), "searchsorted": (np.float32([0, 1, 2]), X), "swapaxes": (X, 0, 1),
    "percentile": (X, 30), "nanpercentile": (X, 30), "quantile": (X, 0.3), "nanquantile": (X, 0.3),
    "take": (X, WHOLE), "take_along_axis": (X, WHOLE), "tensordot": (X, X.T), "tile": (X, 2),
    "where": (MASK, X, -X), "bincount": (WHOLE[0],), "choose": (WHOLE, [10, 20, 30]),
    "select": ([MASK], [X]), "sliding_window_view": (X, 2), "ravel_multi_index": (WHOLE, (4, 4)),
    "unravel_index": (WHOLE, (2, 3)), "linspace": (X[0], X[1]), "einsum": ("ij,kj->ik", X, X),
    "histogramdd": (X,), "can_cast": (X, "float64"), "matrix_power": (HEADS, 2),
    "solve": (HEADS, HEADS), "vecdot": (X, X), "average": (X,), "gradient": (X,),
    "clip": (X, -1, 2), "eigh": (LOWER,), "eigvalsh": (LOWER,), "pad": (X, 2),
    "packbits": (MASK,), "unpackbits": (np.uint8([[1, 2, 3], [7, 200, 9]]),),
    "polyadd": (X[0], X[1]), "polysub": (X[0], X[1]), "polyder": (X[0],), "polyint": (X[0],),
    "apply_over_axes": (np.sum, X, (0, 1)), "diag_indices_from": (HEADS,),
    "may_share_memory": (X, X), "trim_zeros": (np.float32([0, 0, 3, 0, 4, 0]),),
    "real_if_close": (X + np.complex64(1e-9j),),
}  # fmt: skip
SQUARE = {
    "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "pinv", "slogdet",
    "matrix_rank",
}  # fmt: skip
#: Whose vectors may be their negatives.
SIGNS = {"eigh", "svd"}
#: Values that are not the default. Each is tried where the function has an argument of the name.
VALUES: dict[str, list[Any]] = {
    "axis": [0, 1, -1], "axes": [(1, 0), 1], "keepdims": [True], "dtype": ["float16", "int32"],
    "ddof": [1], "correction": [1], "initial": [5.0], "where": [MASK], "order": ["F", "A", "K"],
    "mode": ["wrap", "clip", "complete", "r", "edge"], "n": [2, 6], "s": [(2, 6)],
    "norm": ["ortho"],
    "k": [1], "offset": [1], "axis1": [1], "axis2": [0], "out": ["out"], "side": ["right"],
    "sorter": [np.int32([2, 0, 1])], "prepend": [1.0], "append": [1.0], "right": [True],
    "kind": ["stable"], "stable": [True], "assume_unique": [True], "invert": [True],
    "equal_nan": [True, False], "rtol": [10.0], "atol": [10.0], "decimals": [1], "copy": [True],
    "nan": [1.0], "posinf": [1.0], "neginf": [1.0], "deg": [True], "bins": [3],
    "range": [(0.0, 2.0)], "density": [True], "weights": [X, X[0], np.abs(X[0]), WHOLE[0]],
    "minlength": [9], "default": [3.0], "return_index": [True], "return_inverse": [True],
    "return_counts": [True], "sorted": [False], "method": ["lower", "median_unbiased"],
    "overwrite_input": [True], "returned": [True], "edge_order": [2], "num": [4],
    "endpoint": [False], "retstep": [True], "UPLO": ["U"], "upper": [True], "tol": [1.0],
    "hermitian": [True], "rcond": [0.5], "full_matrices": [False], "compute_uv": [False],
    "ord": [1, np.inf, "nuc"], "casting": ["no", "unsafe"], "optimize": [True], "shape": [(2, 3)],
    "ndmin": [3], "ndmax": [1], "device": ["cpu", "nowhere"], "a_min": [0.0], "a_max": [1.0],
    "min": [0.0], "max": [1.0], "mean": [np.ones((3, 1), np.float32)], "subok": [True, False],
    "writeable": [True], "axisa": [0], "axisb": [0], "axisc": [0], "x": [X], "y": [X],
    "trim": ["f", "b"], "bitorder": ["little"], "count": [3, -2], "m": [2], "max_work": [5],
    "allow_pickle": [False], "stop": [9], "step": [2], "like": [],
}  # fmt: skip
#: Their results are not of the operands' values, or are other ones on the host: not compared here.
APART = {"empty_like", "save", "piecewise", "apply_along_axis", "result_type", "arange", "eig"}


def _functions(bg: Any) -> Iterator[Callable[..., Any]]:
    from browsergpu.arrays import protocols

    yield from (one for one in protocols._FUNCTIONS if one.__name__ not in APART)


def _operands(function: Callable[..., Any]) -> tuple[Any, ...]:
    name = function.__name__
    if name in OPERANDS:
        return OPERANDS[name]
    return (HEADS,) if name in SQUARE and function.__module__.endswith("linalg") else (X,)


def _on_gpu(bg: Any, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return bg.asarray(value)
    if isinstance(value, list):
        return [_on_gpu(bg, one) for one in value]
    return value


def _alike(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, tuple | list):
        return len(ours) == len(theirs) and all(map(_alike, ours, theirs))
    if theirs is None:
        return ours is None
    a, b = np.asarray(ours), np.asarray(theirs)
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True)


def _ours(bg: Any, function: Any, operands: tuple[Any, ...], name: str, value: Any) -> Any:
    """The result; what ``out`` holds afterwards where it is given."""
    if name != "out":
        return function(*operands, **{name: _on_gpu(bg, value)})
    into = bg.empty_like(function(*operands))
    function(*operands, out=into)
    return into


def _theirs(function: Any, operands: tuple[Any, ...], name: str, value: Any) -> Any:
    """NumPy's ifft2, irfft2 and hfft ignore ``out``."""
    return function(*operands, **({} if name == "out" else {name: value}))


def test_each_argument_does_what_it_does_in_numpy_or_is_refused(bg: Any) -> None:
    ignored, compared, missing = [], 0, set()
    for function in _functions(bg):
        operands = _operands(function)
        own = tuple(_on_gpu(bg, one) for one in operands)
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.default is parameter.empty or parameter.kind is parameter.POSITIONAL_ONLY:
                continue
            missing |= {name} - set(VALUES)
            for value in VALUES.get(name, ()):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        theirs = _theirs(function, operands, name, value)
                    except Exception:
                        continue  # it means nothing here
                    try:
                        ours = _ours(bg, function, own, name, value)
                    except (TypeError, ValueError, bg.BackendError):
                        continue
                compared += 1
                if function.__name__ in SIGNS:
                    ours, theirs = ([*map(np.abs, map(np.asarray, x))] for x in (ours, theirs))
                if not _alike(ours, theirs):
                    ignored.append(f"np.{function.__name__}({name}={value!r})")
    assert not missing
    assert compared > 200
    assert not ignored, "\n".join(ignored)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_orders(bg: Any, order: Any) -> None:
    x = bg.asarray(X)
    assert np.asarray(np.ravel(x, order=order)).tolist() == X.ravel(order).tolist()
    assert (
        np.asarray(np.reshape(x, (2, 6), order=order) if order != "K" else x).tolist()
        == (X.reshape((2, 6), order=order) if order != "K" else X).tolist()
    )
    if order in "CF":
        assert np.asarray(np.ravel(x.T, order=order)).tolist() == X.T.ravel(order).tolist()
    else:
        with pytest.raises(ValueError, match="order must be 'C' or 'F'"):
            np.ravel(x.T, order=order)
