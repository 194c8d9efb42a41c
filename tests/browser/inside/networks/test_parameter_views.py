"""Optimizers update parameters that are views of a larger array, and refuse read-only ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"lr": 0.125}),
    "momentum": ("SGD", {"lr": 0.125, "momentum": 0.5, "nesterov": True}),
    "adam": ("Adam", {"lr": 0.125, "amsgrad": True}),
    "adamw": ("AdamW", {"lr": 0.125}),
    "rmsprop": ("RMSprop", {"lr": 0.125, "momentum": 0.5, "centered": True}),
    "adagrad": ("Adagrad", {"lr": 0.125, "lr_decay": 0.5}),
    "lion": ("Lion", {"lr": 0.125}),
}
DTYPES = ("float32", "float16")


def _values(count: int) -> np.ndarray:
    return (np.arange(count) / 4 - 2).astype(np.float32)


def _gradient(count: int) -> np.ndarray:
    return np.resize(np.array([0.5, -1, 0.25, 2, -0.125], np.float32), count)


def _optimizer(bg: Any, name: str, params: list[Any]) -> Any:
    kind, settings = OPTIMIZERS[name]
    return getattr(bg.optim, kind)(params, **settings)


def _set(bg: Any, param: Any) -> Any:
    """Give a parameter the gradient of ``_gradient``.

    The gradient's memory has more elements after it.
    """
    gradient = np.append(_gradient(param.size), np.full(4, 3, np.float32))
    param.requires_grad = True
    param.grad = bg.asarray(gradient, dtype=param.dtype)[: param.size].reshape(param.shape)
    return param


def _eager(bg: Any, step: Callable[[], None]) -> None:
    for _ in range(4):
        step()


def _captured(bg: Any, step: Callable[[], None]) -> None:
    step()  # creates the state
    with bg.capture() as graph:
        step()
    graph.replay()
    graph.replay()


def _jitted(bg: Any, step: Callable[[], None]) -> None:
    step()
    compiled = bg.jit(step)
    for _ in range(3):
        compiled()


RUNS = {"eager": _eager, "captured": _captured, "jit": _jitted}


def _alone(bg: Any, name: str, dtype: str, count: int, start: int) -> np.ndarray:
    """Return the values after four steps of a parameter with memory of its own."""
    param = _set(bg, bg.asarray(_values(64)[start : start + count].copy(), dtype=dtype))
    optimizer = _optimizer(bg, name, [param])
    for _ in range(4):
        optimizer.step()
    return np.asarray(param.detach())


@pytest.mark.parametrize("start", [0, 3, 4])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_elements_around_a_view_stay(bg: Any, name: str, run: str, dtype: str, start: int) -> None:
    whole = bg.asarray(_values(16), dtype=dtype)
    before = np.asarray(whole)
    param = _set(bg, whole[start : start + 5])
    optimizer = _optimizer(bg, name, [param])
    RUNS[run](bg, optimizer.step)
    expected = before.copy()
    expected[start : start + 5] = _alone(bg, name, dtype, 5, start)
    assert (expected[start : start + 5] != before[start : start + 5]).all()
    np.testing.assert_array_equal(np.asarray(whole), expected)
    np.testing.assert_array_equal(np.asarray(param.detach()), expected[start : start + 5])


@pytest.mark.parametrize("run", RUNS)
def test_the_last_view_of_freed_memory(bg: Any, run: str) -> None:
    param = _set(bg, bg.asarray(_values(16))[:5])  # only the view remains
    RUNS[run](bg, _optimizer(bg, "momentum", [param]).step)
    expected = _alone(bg, "momentum", "float32", 5, 0)
    np.testing.assert_array_equal(np.asarray(param.detach()), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_all_views_of_one_array(bg: Any, name: str, run: str, dtype: str) -> None:
    bounds = [(0, 5), (5, 6), (6, 10), (12, 16), (17, 20)]
    whole = bg.asarray(_values(21), dtype=dtype)
    expected = np.array(whole)
    params = [_set(bg, whole[first:end]) for first, end in bounds]
    RUNS[run](bg, _optimizer(bg, name, params).step)
    for first, end in bounds:
        expected[first:end] = _alone(bg, name, dtype, end - first, first)
    np.testing.assert_array_equal(np.asarray(whole), expected)


@pytest.mark.parametrize("run", RUNS)
def test_columns_and_reversed_elements(bg: Any, run: str) -> None:
    whole = bg.asarray(_values(15).reshape(5, 3))
    expected = np.array(whole)
    params = [_set(bg, whole[:, 1]), _set(bg, whole[::-1, 2])]
    RUNS[run](bg, bg.optim.SGD(params, lr=0.5).step)
    expected[:, 1] -= 2 * _gradient(5)
    expected[::-1, 2] -= 2 * _gradient(5)
    np.testing.assert_array_equal(np.asarray(whole), expected)


@pytest.mark.parametrize("run", RUNS)
def test_parameters_that_share_elements(bg: Any, run: str) -> None:
    whole = bg.asarray(_values(8))
    expected = np.array(whole)
    params = [_set(bg, whole.reshape(2, 4)), _set(bg, whole[:]), _set(bg, whole[2:7])]
    RUNS[run](bg, bg.optim.SGD(params, lr=0.5).step)
    expected -= 2 * 2 * _gradient(8)
    expected[2:7] -= 2 * _gradient(5)
    np.testing.assert_array_equal(np.asarray(whole), expected)


@pytest.mark.parametrize("run", RUNS)
def test_gradients_in_the_memory_of_parameters(bg: Any, run: str) -> None:
    whole = bg.asarray(_values(16))
    expected = np.array(whole)
    params = [_set(bg, whole[0:8]), _set(bg, whole[8:16])]
    params[0].grad = whole[8:16].detach()
    RUNS[run](bg, bg.optim.SGD(params, lr=0.5).step)
    for _ in range(4):
        expected[0:8] -= 0.5 * expected[8:16]
        expected[8:16] -= 0.5 * _gradient(8)
    np.testing.assert_array_equal(np.asarray(whole), expected)


@pytest.mark.parametrize("step", ["step", "captured", "jit", "skipped"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_read_only_parameters_are_refused(bg: Any, name: str, step: str) -> None:
    source = bg.asarray(_values(4))
    other = _set(bg, bg.asarray(_values(4)))
    param = _set(bg, bg.broadcast_to(source, (3, 4)))
    optimizer = _optimizer(bg, name, [other, param])

    def steps() -> None:
        if step == "skipped":
            optimizer.step_unless(bg.asarray(False))
        elif step == "captured":
            with bg.capture():
                optimizer.step()
        else:
            (bg.jit(optimizer.step) if step == "jit" else optimizer.step)()

    expected = rf"{OPTIMIZERS[name][0]}: params must be a writable array, got a read-only view"
    with pytest.raises(bg.errors.InvalidArgument, match=expected):
        steps()
    np.testing.assert_array_equal(np.asarray(source), _values(4))
    np.testing.assert_array_equal(np.asarray(other.detach()), _values(4))
    assert not optimizer.state


def test_a_parameter_that_became_read_only(bg: Any) -> None:
    param = _set(bg, bg.asarray(_values(4)))
    optimizer = bg.optim.SGD([param], lr=0.5, momentum=0.5)
    optimizer.step()
    param.flags.writeable = False
    before = np.asarray(param.detach())
    with pytest.raises(bg.errors.InvalidArgument, match="SGD: params must be a writable array"):
        optimizer.step()
    np.testing.assert_array_equal(np.asarray(param.detach()), before)
    param.flags.writeable = True
    optimizer.step()
    assert (np.asarray(param.detach()) != before).all()
