"""NumPy's functions of several arrays accept a number or a list in place of one of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from inside.arrays.numpys_operands import OPERANDS, on_gpu

pytestmark = pytest.mark.native

KINDS = {
    "number": lambda x: x.reshape(-1)[0].item(),
    "0-d array": lambda x: np.asarray(x.reshape(-1)[0]),
    "list": lambda x: x.tolist(),
}


def _cases() -> Iterator[Any]:
    for name, operands in OPERANDS.items():
        for at, x in enumerate(operands):
            for kind, made in KINDS.items():
                if isinstance(x, np.ndarray):
                    new = (*operands[:at], made(x), *operands[at + 1 :])
                    with suppress(Exception), warnings.catch_warnings(action="ignore"):
                        expected = _named(np, name)(*deepcopy(new))  # some write to one
                        yield pytest.param(name, new, at, expected, id=f"{name}-{at}-{kind}")


def _named(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


def _assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            _assert_same(*pair)
        return
    assert np.shape(np.asarray(found)) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("name", "operands", "at", "expected"), list(_cases()))
def test_in_place_of_an_array(
    bg: Any, name: str, operands: tuple[Any, ...], at: int, expected: Any
) -> None:
    """As NumPy, or refused by an error of the package."""
    ours = [x if n == at and isinstance(x, list) else on_gpu(bg, x) for n, x in enumerate(operands)]
    try:
        found = _named(bg, name)(*ours)
    except bg.errors.BackendError:
        return
    if expected is not None:
        _assert_same(found, expected)


def test_an_intersection_has_the_dtype_of_both(bg: Any) -> None:
    for pair in (np.int32([1, 2, 3]), np.float32([2, 3.5])), (np.int8([1]), np.int32([1, 300])):
        found = bg.intersect1d(*map(bg.asarray, pair))
        assert found.dtype == bg.result_type(*(x.dtype for x in pair))
        assert found.tolist() == np.intersect1d(*pair).tolist()
