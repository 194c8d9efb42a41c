"""Gradients of indexing and of assignment to parts of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.gradients.checking import gradients_agree, second_gradients_agree
from inside.spies import dispatched

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


SETS_OF_KEYS: dict[str, tuple[Any, ...]] = {
    "all rows": (0, 1, 2, 3),
    "some rows": (3, 1),
    "a row twice": (0, 0, 1, 2),
    "halves": ((Ellipsis, slice(0, 2)), (slice(None), slice(2, None))),
    "overlapping": (slice(0, 3), slice(2, None)),
    "negative": (-1, slice(0, -1)),
    "steps": (slice(None, None, 2), slice(1, None, 2)),
    "nothing and all": (slice(2, 2), slice(None)),
    "indices": (TWICE, slice(0, 2)),
}


@pytest.mark.parametrize("name", SETS_OF_KEYS)
def test_of_several_parts(bg: Any, name: str) -> None:
    keys = SETS_OF_KEYS[name]

    def loss(x: Any) -> Any:
        y = x * 2
        return sum((y[key] ** 2).sum() * (n + 1) for n, key in enumerate(keys))

    gradients_agree(bg, loss, loss, [X])
    second_gradients_agree(bg, loss, loss, [X])


def test_one_gradient_for_two_parts(bg: Any) -> None:
    """The gradients share memory, but they are not the parts of one array."""
    x = bg.asarray(X.reshape(2, 6)).requires_grad_()
    (x[0] + x[1]).backward(bg.arange(6, dtype=bg.float32))
    np.testing.assert_array_equal(x.grad.numpy(), [np.arange(6)] * 2)
    x = bg.asarray(X.reshape(2, 6)).requires_grad_()
    given = bg.arange(12, dtype=bg.float32).reshape(2, 6)
    bg.stack([x[0], x[1]]).backward(given)
    np.testing.assert_array_equal(x.grad.numpy(), given.numpy())
    x.grad[0] = 7  # and changes of one array do not change the other
    np.testing.assert_array_equal(given.numpy(), np.arange(12).reshape(2, 6))
    x = bg.asarray(X.reshape(2, 6)).requires_grad_()
    bg.stack([x[1], x[0]]).backward(given)
    np.testing.assert_array_equal(x.grad.numpy(), given.numpy()[::-1])


def test_parts_of_a_projection_need_no_copies(bg: Any) -> None:
    """Nothing but attention's kernels runs for the gradient of its three operands."""
    numbers = np.random.default_rng(2).normal(size=(2, 5, 3, 2, 8)).astype(np.float32)
    x = bg.asarray(numbers).requires_grad_()
    q, k, v = (x[:, :, part].swapaxes(1, 2) for part in range(3))
    y = bg.nn.scaled_dot_product_attention(q, k, v).swapaxes(1, 2)
    given = bg.ones(y.shape)
    given.numpy()
    with dispatched(x.device) as names:
        y.backward(given)
        x.grad.numpy()
    assert set(names) == {
        "attention_sums", "attention_query_gradients", "attention_key_gradients"
    }  # fmt: skip
