"""Values of compiled functions that are computed again only after arrays change.

Each test compares replays with the plain function, before and after a change of an array that the
function reads. Without a change, replays must not run the kept kernels.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inside.compiled.merging import data, near

pytestmark = pytest.mark.native


def function_of(bg: Any, w: Any) -> Any:
    """A function with values that depend only on ``w``."""

    def f(x: Any) -> Any:
        return x @ (w.T * 2 + 1) + bg.exp(w.sum(axis=1))

    return f


def compiled(bg: Any, f: Any, x: Any) -> Any:
    """Return a compiled function that has been captured and replayed."""
    fast = bg.jit(f)
    for _ in range(3):
        near(fast(x), f(x))
    return fast


def count(fast: Any) -> int:
    return sum(fast.explain().variants[0]["kept"].values())


def dispatches(backend: Any, work: Callable[[], Any]) -> int:
    """Return the number of dispatches of some work."""
    backend.synchronize()
    counters = backend.device.recorder.counters
    before = counters["dispatches"]
    work()
    return int(backend.device.recorder.counters["dispatches"] - before)


CHANGES: dict[str, Callable[[Any, Any], None]] = {
    "an element": lambda bg, w: w.__setitem__((0, 1), 3.0),
    "a region": lambda bg, w: w.__setitem__((slice(2, 4), slice(1, 5)), data(bg, 2, 4, seed=7)),
    "all elements": lambda bg, w: w.__setitem__(..., data(bg, *w.shape, seed=8)),
    "in place": lambda bg, w: w.__iadd__(1),
    "through a view": lambda bg, w: w[1:3].__imul__(2),
    "through a transposed view": lambda bg, w: w.T.__setitem__(2, 0.5),
    "by indices": lambda bg, w: w.__setitem__(bg.asarray([0, 3]), data(bg, 2, w.shape[1], seed=9)),
    "by a mask": lambda bg, w: w.__setitem__(w > 0, -1.0),
    "by a sort": lambda bg, w: w.sort(axis=0),
    "by fill": lambda bg, w: w.fill(0.25),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_an_array_is_seen(bg: Any, change: str) -> None:
    w, x = data(bg, 6, 8), data(bg, 4, 8, seed=1)
    f = function_of(bg, w)
    fast = compiled(bg, f, x)
    assert count(fast) >= 2
    for _ in range(2):
        CHANGES[change](bg, w)
        near(fast(x), f(x))
        near(fast(x), f(x))
    assert len(fast.explain().variants) == 1


def test_unchanged_arrays_cost_no_kernels(bg: Any, backend: Any) -> None:
    w, x = data(bg, 6, 8), data(bg, 4, 8, seed=1)
    fast = compiled(bg, function_of(bg, w), x)
    (variant,) = fast.explain().variants
    assert dispatches(backend, lambda: fast(x)) == variant["kernels"]
    w[0] = 1.0
    bg.eval(w)
    kept = sum(variant["kept"].values())
    assert dispatches(backend, lambda: fast(x)) == variant["kernels"] + kept
    assert dispatches(backend, lambda: fast(x)) == variant["kernels"]
    v = data(bg, 3)
    v += 1  # an array that the function does not read
    bg.eval(v)
    assert dispatches(backend, lambda: fast(x)) == variant["kernels"]


def test_without_optimization_nothing_is_kept(bg: Any) -> None:
    w, x = data(bg, 6, 8), data(bg, 4, 8, seed=1)
    plain = bg.jit(function_of(bg, w), optimize=False)
    fast = compiled(bg, function_of(bg, w), x)
    for _ in range(3):
        plain(x)
    (without,), (variant,) = plain.explain().variants, fast.explain().variants
    assert without["kept"] == {}
    assert without["kept_bytes"] == 0
    merged = without["kernels"] - variant["kernels"] - sum(variant["kept"].values())
    assert merged == len(variant["merged"])
    assert "Only after changes" in str(fast.explain())
    assert "Only after changes" not in str(plain.explain())


def test_a_block_of_capture_runs_everything(bg: Any) -> None:
    w, x = data(bg, 6, 8), data(bg, 4, 8, seed=1)
    with bg.capture() as graph:
        y = x @ (w.T * 2 + 1)
    kernels = len(graph.kernels)
    assert kernels >= 2
    assert graph.constants is None
    w[0] = 1.0
    graph.replay()
    near(y, x @ (w.T * 2 + 1))


def test_the_memory_is_counted_and_freed(bg: Any, backend: Any) -> None:
    memory = backend.device.memory
    w, x = data(bg, 256, 512), data(bg, 2, 512, seed=1)
    fast = compiled(bg, lambda x: x @ (w.T * 2 + 1), x)
    (variant,) = fast.explain().variants
    assert variant["kept_bytes"] >= 4 * w.size
    assert variant["kept_bytes"] <= memory.by_label["values computed once"]
    held = memory.by_label["values computed once"]
    del fast
    gc.collect()
    assert held - memory.by_label.get("values computed once", 0) == variant["kept_bytes"]


def test_values_much_larger_than_the_arrays_are_not_kept(bg: Any) -> None:
    w, x = data(bg, 4200, 1), data(bg, 1, 4200, seed=1)
    f = lambda x: (x @ bg.cumsum(w + w.T, axis=1)).sum(axis=1)  # noqa: E731 - 67 MiB from 16 KiB
    fast = bg.jit(f)
    for _ in range(3):
        y = fast(x)
    near(y, f(x))
    assert fast.explain().variants[0]["kept_bytes"] < 64 * 2**20


def test_values_without_arrays(bg: Any) -> None:
    x = data(bg, 5, 5)
    f = lambda x: bg.cumsum(bg.arange(25).reshape(5, 5), axis=0) * x  # noqa: E731
    fast = compiled(bg, f, x)
    assert count(fast) >= 1


def test_numpy_arrays_of_closures(bg: Any) -> None:
    table, x = np.arange(8, dtype=np.float32), data(bg, 5, 8)
    f = lambda x: x * bg.cumsum(bg.asarray(table))  # noqa: E731
    fast = compiled(bg, f, x)
    table[2] = 9.0  # a guard compares the elements
    for _ in range(3):
        near(fast(x), f(x))


def test_values_that_depend_on_arguments_are_computed_each_time(bg: Any) -> None:
    w = data(bg, 8, 8)
    fast = bg.jit(lambda x, y: bg.cumsum(bg.cumsum(x, axis=0) * w, axis=0) + y)
    for seed in range(5):
        x, y = data(bg, 8, 8, seed=seed), data(bg, 8, 8, seed=seed + 10)
        near(fast(x, y), bg.cumsum(bg.cumsum(x, axis=0) * w, axis=0) + y)
    for _ in range(2):
        x[3] = 5.0
        near(fast(x, y), bg.cumsum(bg.cumsum(x, axis=0) * w, axis=0) + y)


def test_numbers_and_random_numbers_are_computed_each_time(bg: Any) -> None:
    w, x = data(bg, 8), data(bg, 4, 8)
    fast = bg.jit(lambda x, a: x * bg.cumsum(w * a))
    for a in (0.5, 2.0, 3.0, -1.0):
        near(fast(x, a), x * bg.cumsum(w * a))
    draw = bg.jit(lambda x: x + bg.cumsum(bg.random.normal(size=8)))
    found = [np.asarray(draw(x)) for _ in range(5)]
    assert len({one.tobytes() for one in found}) == 5


def test_arrays_that_the_function_changes(bg: Any) -> None:
    w, x = data(bg, 8), data(bg, 4, 8)

    def step(x: Any) -> Any:
        y = x * bg.cumsum(w)
        w[...] = w * 2
        return y + bg.cumsum(w)

    fast = bg.jit(step)
    was = np.asarray(w).astype(np.float64)
    for _ in range(5):
        y = fast(x)
        wanted = np.asarray(x) * np.cumsum(was) + np.cumsum(2 * was)
        np.testing.assert_allclose(np.asarray(y), wanted, rtol=1e-4, atol=1e-4)
        was = 2 * was


def test_another_function_changes_the_arrays(bg: Any) -> None:
    """Replays of another graph also count as changes of an array."""
    w, x = data(bg, 8), data(bg, 4, 8)
    f = lambda x: x * bg.cumsum(w)  # noqa: E731
    fast = compiled(bg, f, x)

    def grow(amount: Any) -> None:
        w[...] = w + amount

    growing = bg.jit(grow)
    with bg.capture() as graph:
        w[...] = w * 0.5
    for _ in range(4):
        growing(bg.ones(8))
        near(fast(x), f(x))
        graph.replay()
        near(fast(x), f(x))


def test_two_functions_with_results_of_each_other(bg: Any) -> None:
    """A graph's arrays change with its replays, so no other graph may keep values of them."""
    x = data(bg, 8)
    with bg.capture() as graph:
        y = bg.cumsum(x)
    f = lambda z: z + bg.cumsum(y)  # noqa: E731
    z = data(bg, 3, 8)
    fast = compiled(bg, f, z)
    for value in (1.0, 2.0):
        x[...] = value
        graph.replay()
        near(fast(z), f(z))


def test_evaluation_between_training_steps(bg: Any) -> None:
    """Parameters change by a compiled step, an uncompiled step and a loaded state."""
    nn = bg.nn
    nn.init.seed(0)
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(),
        nn.Linear(64, 3),
    )  # fmt: skip
    optimizer = bg.optim.Adam(model.parameters(), lr=0.05)
    x, y = data(bg, 4, 2, 4, 4), bg.asarray([0, 1, 2, 0])

    def train(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def evaluate(x: Any) -> Any:
        with bg.no_grad():
            return model(x)

    step, fast = bg.jit(train), bg.jit(evaluate)
    first = {name: one.copy() for name, one in model.state_dict().items()}
    model.eval()
    for _ in range(3):
        near(fast(x), evaluate(x))
    assert count(fast) >= 1
    changes = [lambda: step(x, y)] * 4
    changes += [lambda: train(x, y), lambda: model.load_state_dict(first), lambda: step(x, y)]
    seen = []
    for change in changes:
        model.train()
        change()
        model.eval()
        found = fast(x)
        wanted = evaluate(x)
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=2e-4, atol=2e-4)
        seen.append(np.asarray(found).tobytes())
    assert len(set(seen)) == len(seen)


def test_autocast_at_evaluation_casts_weights_once(bg: Any) -> None:
    nn = bg.nn
    nn.init.seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 8)).eval()
    x = data(bg, 4, 32)

    def f(x: Any) -> Any:
        with bg.no_grad(), bg.amp.autocast():
            return model(x)

    fast = bg.jit(f)
    for _ in range(3):
        near(fast(x), f(x))
    (variant,) = fast.explain().variants
    casts = sum(n for label, n in variant["kept"].items() if "astype" in label)
    assert casts >= 2
    with bg.no_grad():
        for one in model.parameters():
            one *= 0.5
    near(fast(x), f(x))


def test_gradients_through_a_function_with_kept_values(bg: Any) -> None:
    w, x = data(bg, 6, 8), data(bg, 4, 8)
    w.requires_grad_()

    def f(x: Any) -> Any:
        return (x @ bg.tanh(w.T * 2)).sum()

    def gradient(function: Any) -> Any:
        w.grad = None
        function(x).backward()
        return w.grad.copy()

    fast = bg.jit(f)
    for number in range(6):
        near(gradient(fast), gradient(f))
        if number > 2:
            with bg.no_grad():
                w -= 0.1 * w.grad


def test_two_calls_in_a_row_share_no_results(bg: Any) -> None:
    w, x = data(bg, 6, 8), data(bg, 4, 8)
    fast = compiled(bg, function_of(bg, w), x)
    first = fast(x)
    kept = np.asarray(first)
    w[...] = 0
    second = fast(x)
    assert np.array_equal(np.asarray(first), kept)
    near(second, function_of(bg, w)(x))


def test_a_result_that_depends_on_no_argument(bg: Any) -> None:
    w = data(bg, 6, 8)
    fast = bg.jit(lambda x: (bg.cumsum(w * 2, axis=0), x + 1))
    for value in range(5):
        w[0] = float(value)
        found, _ = fast(bg.ones(2))
        near(found, bg.cumsum(w * 2, axis=0))
        found[...] = -1.0  # the array belongs to the caller


def test_profiles_name_only_kernels_that_run(bg: Any) -> None:
    w, x = data(bg, 6, 8), data(bg, 4, 8, seed=1)
    fast = compiled(bg, function_of(bg, w), x)
    (variant,) = fast.explain().variants
    with bg.profile() as profile:
        fast(x)
    assert len(profile.events) == variant["kernels"]
