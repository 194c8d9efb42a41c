"""Gradients of arrays that share memory: a write through one changes the others, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

X = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
WEIGHTS = np.float32([[1, -2, 3, 0.5], [2, 1, -1, 4], [0.25, 3, 1, -3]])


def leaf(bg: Any, values: Any = X) -> Any:
    return bg.asarray(np.float32(values)).requires_grad_()


def gradient(bg: Any, of: Any, *leaves: Any) -> list[np.ndarray]:
    """Return the gradients of the sum of an array times WEIGHTS."""
    (of * bg.asarray(np.broadcast_to(WEIGHTS, (*of.shape,)).copy())).sum().backward()
    return [x.grad.numpy() for x in leaves]


def test_a_part_is_changed_in_place(bg: Any) -> None:
    x = leaf(bg)
    y = x * 2
    y[1:] *= 3  # takes a view, changes it and assigns it
    np.testing.assert_array_equal(y.detach().numpy(), X * np.float32([[2], [6], [6]]))
    (found,) = gradient(bg, y, x)
    np.testing.assert_array_equal(found, WEIGHTS * np.float32([[2], [6], [6]]))


def test_a_view_is_changed_and_its_array_follows(bg: Any) -> None:
    x, w = leaf(bg), leaf(bg, [5, 6, 7, 8])
    y = x * 2
    row, turned = y[1], y.T
    row *= w
    row += 1
    expected = X * 2
    expected[1] = expected[1] * np.float32([5, 6, 7, 8]) + 1
    np.testing.assert_array_equal(y.detach().numpy(), expected)
    np.testing.assert_array_equal(turned.detach().numpy(), expected.T)
    assert turned.requires_grad
    of_x, of_w = gradient(bg, turned.T, x, w)
    scale = np.full((3, 4), 2, np.float32)
    scale[1] = 2 * np.float32([5, 6, 7, 8])
    np.testing.assert_array_equal(of_x, WEIGHTS * scale)
    np.testing.assert_array_equal(of_w, WEIGHTS[1] * 2 * X[1])


def test_an_array_is_changed_and_its_views_follow(bg: Any) -> None:
    x, w = leaf(bg), leaf(bg)
    y = x * 2
    column, rest = y[:, 1], y[:, 2:]
    y[1:, :2] = w[1:, :2] * 3
    np.testing.assert_array_equal(column.detach().numpy(), [4, 18, 30])
    of_column = column.sum()
    (of_column + (rest * rest).sum()).backward()
    expected = np.zeros((3, 4), np.float32)
    expected[0, 1] = 2
    expected[:, 2:] = 2 * 2 * 2 * X[:, 2:]
    np.testing.assert_array_equal(x.grad.numpy(), expected)
    expected = np.zeros((3, 4), np.float32)
    expected[1:, 1] = 3
    np.testing.assert_array_equal(w.grad.numpy(), expected)


def test_views_of_arrays_without_gradients(bg: Any) -> None:
    w = leaf(bg, [1, 2, 3, 4])
    buffer = bg.zeros((3, 4))
    row, whole = buffer[2], buffer.reshape(-1)
    other = buffer[0]
    buffer[2] = w * 2
    assert row.requires_grad
    assert whole.requires_grad
    assert other.requires_grad  # as in PyTorch; its gradient is 0
    np.testing.assert_array_equal(whole.detach().numpy()[8:], [2, 4, 6, 8])
    (row * row).sum().backward(retain_graph=True)
    np.testing.assert_array_equal(w.grad.numpy(), 2 * 2 * 2 * np.float32([1, 2, 3, 4]))
    w.grad = None
    ((whole * bg.arange(12.0)).sum() + other.sum()).backward()
    np.testing.assert_array_equal(w.grad.numpy(), 2 * np.float32([8, 9, 10, 11]))


def test_several_successive_writes(bg: Any) -> None:
    x, w = leaf(bg), leaf(bg, [2])
    y = x + 0
    a, b = y[0], y[:, 0]
    a *= w  # row 0: w x
    b += a[1]  # column 0: + w x01
    y[2] = 0.0
    a *= w  # row 0 again, with column 0 as changed
    expected = X.copy()
    expected[0] *= 2
    expected[:, 0] += expected[0, 1]
    expected[2] = 0
    expected[0] *= 2
    np.testing.assert_array_equal(y.detach().numpy(), expected)
    y.sum().backward()
    # y00 = w (w x00 + w x01), y0j = w² x0j, y10 = x10 + w x01, y1j = x1j
    np.testing.assert_allclose(
        x.grad.numpy(), [[4, 4 + 4 + 2, 4, 4], [1, 1, 1, 1], [0, 0, 0, 0]], rtol=1e-6
    )
    # d/dw: 2w (x00 + x01) + 2w (x01 + x02 + x03) + x01
    np.testing.assert_allclose(w.grad.numpy(), [4 * (1 + 2) + 4 * (2 + 3 + 4) + 2], rtol=1e-6)


def test_saved_values_are_kept(bg: Any) -> None:
    x, w = leaf(bg), leaf(bg)
    y = x * 1
    product = y * w  # its gradients need y and w as they are now
    row = y[1]
    row *= 100
    product.sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), X)
    np.testing.assert_array_equal(x.grad.numpy(), X)


def test_leaves(bg: Any) -> None:
    x = leaf(bg)
    row = x[1]
    with pytest.raises(ValueError, match="a view of a leaf that requires a gradient"):
        row += 1
    np.testing.assert_array_equal(x.detach().numpy(), X)
    with bg.no_grad():
        row[0] = 50.0
        x[0] *= 2
    expected = X.copy()
    expected[1, 0], expected[0] = 50, X[0] * 2
    np.testing.assert_array_equal(x.detach().numpy(), expected)
    assert x.is_leaf
    detached = x.detach()
    detached[2] = 0.0
    np.testing.assert_array_equal(x.detach().numpy()[2], np.zeros(4))
    assert not detached.requires_grad


def test_second_derivatives_through_a_view(bg: Any) -> None:
    def f(x: Any) -> Any:
        y = x * x
        tail = y[1:]
        tail *= x[:-1]
        return (y * y).sum()

    def plain(x: Any) -> Any:
        y = x * x
        return (bg.concat([y[:1], y[1:] * x[:-1]]) ** 2).sum()

    x = bg.asarray(np.float32([1, 2, -3, 0.5]))
    for derived in (bg.grad(f), bg.grad(lambda x: (bg.grad(f)(x) ** 2).sum())):
        assert derived(x).shape == (4,)
    np.testing.assert_allclose(bg.grad(f)(x).numpy(), bg.grad(plain)(x).numpy(), rtol=1e-5)
    np.testing.assert_allclose(
        bg.grad(lambda x: (bg.grad(f)(x) ** 2).sum())(x).numpy(),
        bg.grad(lambda x: (bg.grad(plain)(x) ** 2).sum())(x).numpy(),
        rtol=1e-4,
    )
