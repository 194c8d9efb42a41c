"""Runs cases and compares their results."""

from __future__ import annotations

from typing import Any

import numpy as np

import browsergpu as bg
from onnx_suite.cases import Case

#: Types of the cases that should pass: floats, integers and bool of NumPy.
PLAIN = frozenset((
    "float", "float16", "double", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool",
))  # fmt: skip
#: Operators whose results are random numbers, of which only shape and dtype are compared.
RANDOM = frozenset((
    "Bernoulli", "RandomUniformLike", "RandomNormalLike", "RandomUniform", "RandomNormal",
))  # fmt: skip


def run(case: Case) -> str:
    """Return "" if a case passes, or else the reason why it does not."""
    try:
        model = bg.onnx.load(case.model)
        results = model(*map(_given, case.inputs))
        own = results if isinstance(results, tuple) else (results,)
        if len(own) != len(case.outputs):
            return f"{len(own)} outputs instead of {len(case.outputs)}"
        is_random = bool(case.operators & RANDOM) or (
            "training" in case.name and "Dropout" in case.operators
        )
        for at, (found, expected) in enumerate(zip(own, case.outputs, strict=True)):
            wrong = compare(found, expected, case.rtol, case.atol, is_random)
            if wrong:
                return f"output {at}: {wrong}"
    except Exception as error:  # every failure is reported
        return f"{type(error).__name__}: {error}"
    return ""


def _given(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_given, value))
    return np.asarray(value) if value is not None else None


def compare(found: Any, expected: Any, rtol: float, atol: float, is_random: bool = False) -> str:
    """Return how a result differs from the expected one, or ""."""
    if expected is None or found is None:
        return "" if expected is None and found is None else f"{found} instead of {expected}"
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return f"{found} instead of a list of {len(expected)}"
        wrongs = (compare(a, b, rtol, atol) for a, b in zip(found, expected, strict=True))
        return next(filter(None, wrongs), "")
    want = np.asarray(expected)
    got = np.asarray(found.numpy())
    if got.shape != want.shape:
        return f"shape {got.shape} instead of {want.shape}"
    kind = {"float64": "float32"}.get(want.dtype.name, want.dtype.name)
    if want.dtype.kind != "V" and want.dtype.isbuiltin == 1 and got.dtype.name != kind:
        return f"dtype {got.dtype} instead of {kind}"
    if is_random:
        return ""
    if want.dtype.kind in "biu" and want.dtype.isbuiltin == 1:
        return "" if (got == want).all() else f"{_first(got != want, got, want)}"
    wide, other = got.astype(np.float64), want.astype(np.float64)
    close = np.isclose(wide, other, rtol, atol, equal_nan=True)
    return "" if close.all() else _first(~close, wide, other)


def _first(wrong: np.ndarray, got: np.ndarray, want: np.ndarray) -> str:
    at = tuple(np.argwhere(wrong)[0])
    place = tuple(map(int, at))
    return f"{got[at]} instead of {want[at]} at {place}, {int(wrong.sum())} of {got.size}"
