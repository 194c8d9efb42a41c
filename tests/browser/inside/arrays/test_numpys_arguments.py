"""Each optional argument of NumPy's array functions, with a value other than its default.

NumPy computes the expected result on the host. The GPU's result is equal, or the argument is
refused. No argument is accepted and ignored.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from inside.arrays.numpys_operands import MASK, WHOLE, X, on_gpu, operands_of

pytestmark = pytest.mark.all

#: Functions whose vectors may have the opposite sign.
SIGNS = {"eigh", "svd"}
#: Values other than the default, for every function that has an argument of the name.
VALUES: dict[str, list[Any]] = {
    "axis": [0, 1, -1], "axes": [(1, 0), 1], "keepdims": [True], "dtype": ["float16", "int32"],
    "ddof": [1], "correction": [1], "initial": [5.0], "where": [MASK], "order": ["F", "A", "K"],
    "mode": ["wrap", "clip", "complete", "r", "edge"], "n": [2, 6], "s": [(2, 6)],
    "norm": ["ortho"],
    "k": [1], "offset": [1], "axis1": [1], "axis2": [0], "out": ["out"], "side": ["right"],
    "sorter": [np.int32([2, 0, 1])], "prepend": [1.0], "append": [1.0], "right": [True, 7.0],
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
    "sparse": [True], "aweights": [np.float32([1, 2, 1, 3])], "cov": [True], "to_end": [9.0],
    "to_begin": [9.0], "start": [2], "left": [7.0], "indexing": ["ij"],
    "fweights": [np.int32([1, 2, 1, 3])], "include_initial": [True],
    "w": [np.float32([1, 2, 3, 1])], "ind": [1], "period": [3.0], "rowvar": [False],
    "full": [True], "bias": [True], "increasing": [True], "discont": [1.0], "N": [2],
    "return_indices": [True], "wrap": [True], "dx": [0.5], "strides": [(8, 4)], "p": [1],
}  # fmt: skip
#: Functions whose results do not depend on the values, or differ on the host: not compared here.
APART = {
    "may_share_memory", "empty_like", "save", "piecewise", "apply_along_axis", "result_type",
    "arange", "eig",
}  # fmt: skip


def _functions(bg: Any) -> Iterator[Callable[..., Any]]:
    from browsergpu.compat.numpy import protocols

    yield from (one for one in protocols.FUNCTIONS if one.__name__ not in APART)


def _alike(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, tuple | list):
        return len(ours) == len(theirs) and all(map(_alike, ours, theirs))
    if theirs is None:
        return ours is None
    a, b = np.asarray(ours), np.asarray(theirs)
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True)


def _ours(bg: Any, function: Any, operands: tuple[Any, ...], name: str, value: Any) -> Any:
    """Return the result and the operands; with ``out``, its contents after the call."""
    given = [on_gpu(bg, one) for one in operands]
    if name != "out":
        return [function(*given, **{name: on_gpu(bg, value)}), *map(_shown, given)]
    into = bg.empty_like(function(*given))
    function(*given, out=into)
    return [into, *map(_shown, given)]


def _shown(operand: Any) -> Any:
    """Omit functions and subscripts, which a call does not change."""
    return None if callable(operand) or isinstance(operand, str) else operand


def _theirs(function: Any, operands: tuple[Any, ...], name: str, value: Any) -> Any:
    """Call NumPy without ``out``, which its ifft2, irfft2 and hfft ignore."""
    given = deepcopy(operands)
    return [function(*given, **({} if name == "out" else {name: value})), *map(_shown, given)]


def test_without_optional_arguments(bg: Any) -> None:
    """NumPy's functions on GPU arrays give NumPy's results."""
    differ = []
    for function in _functions(bg):
        operands = operands_of(function)
        theirs = _quietly(_theirs, function, operands, "out", None)
        given = [on_gpu(bg, one) for one in operands]
        ours = [_quietly(function, *given), *map(_shown, given)]
        if not _alike_but_for_signs(function, ours, theirs):
            differ.append(f"np.{function.__name__}")
    assert not differ


def test_lists(bg: Any) -> None:
    """The package's functions take lists where NumPy's do."""
    differ = []
    for function in _functions(bg):
        operands = [*map(_as_list, operands_of(function))]
        try:
            theirs = _quietly(function, *deepcopy(operands))
        except (TypeError, AttributeError, ValueError):
            continue  # NumPy takes no lists here
        try:
            ours = _quietly(_of_package(bg, function), *operands)
        except (TypeError, AttributeError, ValueError) as error:
            differ.append(f"np.{function.__name__}: {error}")
            continue
        if not _alike_but_for_signs(function, [ours], [theirs]):
            differ.append(f"np.{function.__name__}")
    assert not differ


def _quietly(function: Any, *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


def _alike_but_for_signs(function: Any, ours: list[Any], theirs: list[Any]) -> bool:
    if function.__name__ in SIGNS:
        ours, theirs = ([*map(np.abs, map(np.asarray, x[0]))] for x in (ours, theirs))
    return _alike(ours, theirs)


def _of_package(bg: Any, function: Any) -> Any:
    return functools.reduce(getattr, [*function.__module__.split(".")[1:], function.__name__], bg)


def _as_list(operand: Any) -> Any:
    return operand.tolist() if isinstance(operand, np.ndarray) else operand


def test_each_argument_does_what_it_does_in_numpy_or_is_refused(bg: Any) -> None:
    ignored, compared, missing = [], 0, set()
    for function in _functions(bg):
        operands = operands_of(function)
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
                        continue  # NumPy refuses the value
                    try:
                        ours = _ours(bg, function, operands, name, value)
                    except (TypeError, ValueError, bg.BackendError):
                        continue
                compared += 1
                if name == "overwrite_input":  # the operand's contents are unspecified
                    ours, theirs = ours[:1], theirs[:1]
                if not _alike_but_for_signs(function, ours, theirs):
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
