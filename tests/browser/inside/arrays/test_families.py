"""A family of array classes: results, gradients and compiled functions keep it."""

from __future__ import annotations

import numpy as np
import pytest

import browsergpu as bg
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import register_family
from browsergpu.arrays.autograd.variable import Variable

pytestmark = pytest.mark.native


class Own(Array):
    __slots__ = ()


class OwnTracked(Variable, Own):
    __slots__ = ()


register_family(Own, OwnTracked)


def own(data) -> Own:
    x = bg.asarray(np.float32(data), copy=True)
    x.__class__ = Own
    return x


@pytest.mark.fast
def test_operations_and_views_keep_the_family() -> None:
    x = own([[1, 2], [3, 4]])
    for found in (x + 1, 1 - x, x * x, -x, x[0], x.T, x.detach(), bg.exp(x), bg.add(x, x), x @ x):
        assert type(found) is Own
    assert type(x.sum()) is Own
    assert (x[1] + 1).tolist() == [4, 5]


def test_tracked_results_keep_the_family() -> None:
    x = own([1, 2, 3])
    assert x.requires_grad_() is x
    assert type(x) is OwnTracked
    y = (x * x + 1)[1:]
    assert type(y) is OwnTracked
    assert y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [0, 4, 6]
    assert type(x.detach()) is Own
    x.requires_grad_(False)
    assert type(x) is Own


def test_in_place_writes_keep_the_family() -> None:
    w = own([1, 2]).requires_grad_()
    x = own([0, 0])
    x += w
    assert type(x) is OwnTracked
    x[0] = 5
    x.sum().backward()
    assert w.grad.tolist() == [0, 1]


def test_compiled_functions_return_the_family() -> None:
    @bg.jit
    def step(x, w):
        return x * w, (x + 1).sum(), x

    w = own([2, 3]).requires_grad_()
    for n in range(4):
        x = own([n, 1])
        product, total, same = step(x, w)
        assert (type(product), type(total), type(same)) == (OwnTracked, Own, Own)
        assert product.tolist() == [2 * n, 3]
        assert total.tolist() == n + 3
    product.sum().backward()
    assert w.grad.tolist() == [3, 1]


def test_optimizers_keep_the_family() -> None:
    w = own([1, 2]).requires_grad_()
    optimizer = bg.optim.Adam([w], lr=0.1)
    (w * w).sum().backward()
    optimizer.step()
    assert type(w) is OwnTracked
    np.testing.assert_allclose(w.tolist(), [0.9, 1.9], atol=1e-6)
