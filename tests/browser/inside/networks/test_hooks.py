"""Hooks of arrays, and gradients retained by results of operations."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Disable garbage collection, so that objects in reference cycles stay."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _leaf(bg: Any, *values: float) -> Any:
    return bg.asarray(np.float32(values)).requires_grad_()


def test_a_hook_of_a_leaf_runs_before_grad_is_added_up(bg: Any) -> None:
    x = _leaf(bg, 1, 2)
    seen = []
    x.register_hook(lambda g: seen.append((g.tolist(), x.grad)))
    handle = x.register_hook(lambda g: g * 10)
    (x * x).sum().backward()
    assert seen == [([2, 4], None)]
    assert x.grad.tolist() == [20, 40]
    handle.remove()
    handle.remove()
    (x * x).sum().backward()
    assert x.grad.tolist() == [22, 44]


def test_hooks_run_in_the_order_of_registration(bg: Any) -> None:
    x = _leaf(bg, 3)
    order = []
    x.register_hook(lambda g: order.append("first") or g + 1)
    with x.register_hook(lambda g: order.append("second") or g * 2):
        (x * 4).sum().backward()
    assert order == ["first", "second"]
    assert x.grad.tolist() == [10]
    (x * 4).sum().backward()
    assert order == ["first", "second", "first"]
    assert x.grad.tolist() == [15]


def test_a_hook_of_a_result_gets_the_complete_gradient_once(bg: Any) -> None:
    x = _leaf(bg, 1, 2)
    y = x * 3
    seen: list[Any] = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 2)
    (y + y * y).sum().backward()
    assert seen == [[7, 13]]
    assert x.grad.tolist() == [42, 78]


def test_in_place_changes_of_a_hook_affect_only_its_array(bg: Any) -> None:
    x, z = _leaf(bg, 1), _leaf(bg, 1)

    def double(g: Any) -> None:
        g *= 2

    x.register_hook(double)
    (x + z).sum().backward()
    assert x.grad.tolist() == [2]
    assert z.grad.tolist() == [1]


def test_hooks_of_one_of_several_results(bg: Any) -> None:
    x = _leaf(bg, 1, 2, 3, 4)
    first, second = bg.unstack(bg.reshape(x, (2, 2)))
    first.register_hook(lambda g: g * 5)
    (first + 2 * second).sum().backward()
    assert x.grad.tolist() == [5, 5, 2, 2]


def test_hooks_see_gradients_of_functions_and_of_gradients(bg: Any) -> None:
    x = bg.asarray([1.0, 2.0])

    def f(x: Any) -> Any:
        y = x * x
        y.register_hook(lambda g: g * 3)
        return y.sum()

    assert bg.grad(f)(x).tolist() == [6, 12]
    # The second gradient differentiates the hook's result, 3 * 2x.
    assert bg.grad(lambda x: bg.grad(f)(x).sum())(x).tolist() == [6, 6]


def test_hooks_of_recomputed_values_run_once(bg: Any) -> None:
    x, beside = _leaf(bg, 1), _leaf(bg, 2)
    calls: list[str] = []
    x.register_hook(lambda g: calls.append("x"))
    near = beside * 1
    near.register_hook(lambda g: calls.append("near") or g * 10)

    def part(x: Any) -> Any:
        y = x * near
        y.register_hook(lambda g: calls.append("y"))
        return y * y

    (bg.checkpoint(part)(x) + x * 0).sum().backward()
    assert sorted(calls) == ["near", "x", "y"]
    assert x.grad.tolist() == [8]
    assert beside.grad.tolist() == [40]


def test_retain_grad(bg: Any) -> None:
    x = _leaf(bg, 1, 2)
    y = x * 3
    assert y.grad is None
    assert not y.retains_grad
    y.retain_grad()
    y.register_hook(lambda g: g * 2)  # registered later, but runs before the gradient is retained
    assert y.retains_grad
    z = (y * y).sum()
    z.backward(retain_graph=True)
    assert y.grad.tolist() == [12, 24]
    z.backward()
    assert y.grad.tolist() == [24, 48]
    assert x.grad.tolist() == [72, 144]
    x.retain_grad()
    assert not x.retains_grad


def test_hooks_go_with_a_parameter_to_another_dtype(bg: Any) -> None:
    layer = bg.nn.Linear(2, 1)
    layer.weight.register_hook(lambda g: g * 0 + 7)
    layer.half()
    layer(bg.ones((1, 2), dtype="float16")).sum().backward()
    assert layer.weight.grad.dtype == np.float16
    assert layer.weight.grad.tolist() == [[7, 7]]


def test_captured_graphs_contain_hooks(bg: Any) -> None:
    x = _leaf(bg, 1, 2)
    calls: list[None] = []
    x.register_hook(lambda g: calls.append(None) or g * 3)
    with bg.capture() as graph:
        x.grad = None
        (x * x).sum().backward()
        found = x.grad
    with bg.no_grad():
        x[...] = np.float32([5, 7])
    graph.replay()
    assert found.tolist() == [30, 42]
    assert len(calls) == 1


@pytest.mark.usefixtures("no_collector")
def test_nothing_is_kept(bg: Any) -> None:
    x = _leaf(bg, 1, 2)
    y = x * 3
    y.retain_grad()
    handle = y.register_hook(lambda g, own=y: own * 0 + g)  # the hook holds the array itself
    gone = weakref.ref(y)
    loss = (y * y).sum()
    loss.backward()
    del y
    assert gone() is None, "the sweep has let go of the hook"
    handle.remove()

    z = x * 3
    hook = lambda g: g  # noqa: E731 - to be followed
    z.register_hook(hook)
    z.retain_grad()
    gone, gone_hook = weakref.ref(z), weakref.ref(hook)
    del hook, z
    assert gone() is None
    assert gone_hook() is None, "without a sweep they go with the array"


def test_errors(bg: Any) -> None:
    plain, x = bg.ones(2), _leaf(bg, 1, 2)
    with pytest.raises(RuntimeError, match="requires no gradient"):
        plain.register_hook(lambda g: g)
    with pytest.raises(RuntimeError, match="requires no gradient"):
        plain.retain_grad()
    with pytest.raises(TypeError, match="function"):
        x.register_hook(3)
    for wrong, kind in ((lambda g: 3, TypeError), (lambda g: g[:1], ValueError),
                        (lambda g: g.astype("float16"), ValueError)):  # fmt: skip
        with x.register_hook(wrong), pytest.raises(kind, match="hook"):
            (x * x).sum().backward()
        assert x.grad is None
