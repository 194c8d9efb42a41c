"""Gradients of indexing and of assignment to parts of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.gradients.checking import gradients_agree, second_gradients_agree

pytestmark = [pytest.mark.native, pytest.mark.firefox]

X = np.random.default_rng(0).uniform(-2, 2, (4, 3)).astype(np.float32)
TWICE = np.array([2, 0, 2, -1, 2], np.int32)
KEYS: dict[str, Any] = {
    "integer": 1, "slices": (slice(None, None, -2), slice(1, None)),
    "new axis": (None, Ellipsis, 0),
    "rows": TWICE, "elements": (TWICE, [0, 1, 0, 1, 2]), "columns": (slice(1, None), [1, 1, 0]),
    "rows and an integer": (TWICE, 0), "table of rows": TWICE[:4].reshape(2, 2),
    "one index": np.array(1, np.int32), "none": np.zeros(0, np.int32), "mask": X > 0,
    "mask of rows": X[:, 0] > 0, "mask and indices": (X[:, 0] > -3, TWICE[:4] // 2),
}  # fmt: skip


def _on_gpu(bg: Any, key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(_on_gpu(bg, item) for item in key)
    return bg.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("name", KEYS)
def test_of_a_part(bg: Any, name: str) -> None:
    key = KEYS[name]
    gradients_agree(bg, lambda x: x[key], lambda x: x[key], [X])
    ours = _on_gpu(bg, key)
    gradients_agree(bg, lambda x: x[ours] ** 2, lambda x: x[key] ** 2, [X])


@pytest.mark.parametrize("name", KEYS)
def test_of_assignment(bg: Any, name: str) -> None:
    key = KEYS[name]
    value = np.random.default_rng(1).uniform(-2, 2, X[key].shape).astype(np.float32)

    def assigned(x: Any, v: Any) -> Any:
        y = x * 2
        y[key] = v * v
        return y

    gradients_agree(bg, assigned, assigned, [X, value])


def test_of_a_part_twice(bg: Any) -> None:
    second_gradients_agree(bg, lambda x: x[TWICE] ** 3, lambda x: x[TWICE] ** 3, [X])


@pytest.mark.parametrize("dtype", [np.float16, np.complex64])
def test_of_other_dtypes(bg: Any, dtype: Any) -> None:
    gradients_agree(bg, lambda x: x[TWICE], lambda x: x[TWICE], [X.astype(dtype)])


def test_many_at_one_place(bg: Any) -> None:
    many = np.random.default_rng(0).integers(0, 3, 9000).astype(np.int32)
    many[:5000] = 1
    x = bg.asarray(np.float32([1, 2, 3]))
    found = bg.grad(lambda v: v[bg.asarray(many)].sum())(x)
    assert found.tolist() == np.bincount(many, minlength=3).tolist()


def test_sums_at_places_have_gradients(bg: Any) -> None:
    from browsergpu.functions.parts import added_at

    def theirs(x: Any, value: Any) -> Any:
        y = x.copy()
        np.add.at(y, TWICE, value)
        return y**2

    value = np.random.default_rng(1).uniform(-2, 2, (5, 3)).astype(np.float32)
    gradients_agree(bg, lambda x, v: added_at(x, TWICE, v) ** 2, theirs, [X, value])
