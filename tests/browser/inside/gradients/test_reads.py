"""Reads that would lose a gradient raise, and name the line of the read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]

AS_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "complex": lambda x: complex(x).real,
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
}
AS_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda x: x.numpy(),
    "array": np.asarray,
    "dlpack": np.from_dlpack,
}


def _line() -> int:
    return sys._getframe(1).f_lineno


@pytest.mark.parametrize("name", [*AS_NUMBERS, *AS_ARRAYS])
def test_a_function_that_is_differentiated_cannot_read(bg: Any, name: str) -> None:
    read = {**AS_NUMBERS, **AS_ARRAYS}[name]

    def f(x: Any) -> Any:
        return x * read(x * 2)

    with pytest.raises(RuntimeError, match=f"{name}: .* grad\\(\\) differentiates"):
        bg.grad(f)(2.0)
    with pytest.raises(RuntimeError, match="value_and_grad"):
        bg.value_and_grad(f)(2.0)
    with pytest.raises(RuntimeError, match="vjp"):
        bg.vjp(f, 2.0)
    with pytest.raises(RuntimeError, match="jvp"):
        bg.jvp(f, (2.0,), (1.0,))
    assert bg.grad(lambda x: x * x)(2.0).item() == 4.0  # the errors left nothing behind


def test_the_line_that_reads_is_named(bg: Any) -> None:
    line = 0

    def f(x: Any) -> Any:
        nonlocal line
        line = _line() + 1
        return x * float(x)

    with pytest.raises(bg.errors.NotDifferentiable) as caught:
        bg.grad(f)(2.0)
    assert f"{__file__}, line {line}" in str(caught.value)
    x = bg.ones(2).requires_grad_()

    def read() -> Any:
        nonlocal line
        line = _line() + 1
        return np.asarray(x)

    def read_by_numpy() -> Any:
        nonlocal line
        line = _line() + 1
        return np.polynomial.Polynomial(x)  # NumPy's own code reads

    for call in (read, read_by_numpy):
        with pytest.raises(bg.errors.NotDifferentiable) as caught:
            call()
        assert f"{__file__}, line {line}" in str(caught.value)


def test_reads_that_lose_nothing(bg: Any) -> None:
    beside = bg.asarray(np.float32([3, 4]))
    seen = []

    def f(x: Any) -> Any:
        seen.append(x.detach().item())
        with bg.no_grad():
            seen.append(float(x * 2))
            seen.append(np.asarray(x).item())
        seen.append(int(x))
        seen.append(float(beside.sum()))
        seen.append(float(x > 1))
        return x * x if x > 1 else -x

    assert bg.grad(f)(2.5).item() == 5.0
    assert seen == [2.5, 5.0, 2.5, 2, 7.0, 1.0]
    assert repr(bg.grad(lambda x: x * len(repr(x)) ** 0)(2.5)).startswith("Array(1")


def test_values_of_an_outer_transform_cannot_be_read(bg: Any) -> None:
    def outer(x: Any) -> Any:
        return bg.grad(lambda y: y * y * float(x))(3.0)

    with pytest.raises(RuntimeError, match="float"):
        bg.grad(outer)(2.0)
    assert bg.grad(lambda x: bg.grad(lambda y: y * y * x)(3.0))(2.0).item() == 6.0


def test_gradients_that_backward_gives_can_be_read_as_numbers(bg: Any) -> None:
    x = bg.asarray(np.float32([1, 2])).requires_grad_()
    loss = (x * x).sum()
    assert (loss.item(), float(loss), int(loss), bool(loss)) == (5.0, 5.0, 5, True)
    assert x.tolist() == [1, 2]
    assert 2 in x
    assert eval("float(loss)", {"loss": loss}) == 5.0  # its module has no name
    # Arrays that grad() does not differentiate can be read.
    assert bg.grad(lambda y: y * float(loss))(1.0).item() == 5.0


@pytest.mark.parametrize("name", AS_ARRAYS)
def test_arrays_that_require_a_gradient_are_no_numpy_arrays(bg: Any, name: str) -> None:
    read = AS_ARRAYS[name]
    x = bg.asarray(np.float32([1, 2])).requires_grad_()
    for one in (x, x * 1):
        with pytest.raises(RuntimeError, match=f"{name}: .*detach"):
            read(one)
        assert read(one.detach()).tolist() == [1, 2]
        with bg.no_grad():
            assert read(one).tolist() == [1, 2]


def test_waiting_for_an_array_reads_it_too(bg: Any) -> None:
    x = bg.asarray(np.float32([1, 2])).requires_grad_()
    with pytest.raises(RuntimeError, match="numpy_async"):
        x.numpy_async()


def test_the_gradient_of_a_gradient_requires_none(bg: Any) -> None:
    second = bg.grad(bg.grad(lambda x: x**3))(2.0)
    assert not second.requires_grad
    assert np.asarray(second) == 12.0
    along = bg.jvp(bg.grad(lambda x: (x**3).sum()), (bg.ones(2),), (bg.ones(2),))
    assert [x.requires_grad for x in along] == [False, False]
    w = bg.asarray(np.float32(2.0)).requires_grad_()
    beside = bg.grad(lambda x: x * x * w)(3.0)
    beside.backward()
    assert w.grad.item() == 6.0


def test_functions_do_not_read_numbers_that_require_a_gradient(bg: Any) -> None:
    x = bg.ones(2)
    w = bg.asarray(np.float32(2.0)).requires_grad_()
    for call in (
        lambda: bg.full_like(x, w), lambda: bg.full_like(x, w * 2),
        lambda: bg.nn.leaky_relu(x, w), lambda: bg.arange(0, w),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="gradient"):
            call()
    assert bg.asarray([w, w]).requires_grad  # asarray joins them
    assert bg.grad(lambda v: bg.full((3,), v * 2).sum())(w).item() == 6
    assert bg.grad(lambda v: bg.linspace(0, v, 3).sum())(w).item() == 1.5
    with bg.no_grad():
        assert bg.full_like(x, w).tolist() == [2, 2]
    assert bg.full_like(x, w.detach()).tolist() == [2, 2]


def test_the_device_of_an_array_is_its_own(bg: Any) -> None:
    x = bg.ones(2).requires_grad_()
    assert x.to_device(x.device) is x


def test_printing_an_array_that_requires_a_gradient(bg: Any) -> None:
    x = bg.asarray([1.0, 2.0])
    x.requires_grad = True
    loss = bg.sum(x * x)
    assert str(x) == f"{x}" == "[1. 2.]"
    assert f"{loss:.3f} {loss}" == "5.000 5.0"
    assert round(loss, 2) == 5.0
