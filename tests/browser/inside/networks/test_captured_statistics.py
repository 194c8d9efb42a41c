"""Arrays that a captured block changes are computed in their original buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native

REPLAYS = 3


def _copies(graph: Any) -> int:
    """Return the number of kernels that copy values to original buffers."""
    return sum("assign" in label for label in graph.kernels)


def _network(bg: Any) -> Any:
    bg.nn.init.seed(5)
    return bg.nn.Sequential(
        bg.nn.Conv2d(2, 5, 3, padding=1), bg.nn.BatchNorm2d(5), bg.nn.ReLU(),
        bg.nn.Conv2d(5, 8, 3, padding=1), bg.nn.BatchNorm2d(8, momentum=0.5), bg.nn.ReLU(),
        bg.nn.Conv2d(8, 5, 3, padding=1), bg.nn.BatchNorm2d(5), bg.nn.ReLU(),
        bg.nn.AdaptiveAvgPool2d(1), bg.nn.Flatten(), bg.nn.Linear(5, 3),
    )  # fmt: skip


def _training(bg: Any) -> tuple[Any, Callable[[], Any], Any]:
    model = _network(bg)
    optimizer = bg.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    rng = np.random.default_rng(1)
    x = bg.asarray(rng.normal(size=(3, 2, 6, 6)).astype(np.float32))
    y = bg.asarray(np.array([0, 2, 1], np.int32))

    def step() -> Any:
        optimizer.zero_grad()
        loss = bg.nn.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return model, step, x


@pytest.mark.parametrize("run", ["captured", "jit"])
def test_statistics_of_a_network_are_not_copied(bg: Any, run: str) -> None:
    eager, step, _ = _training(bg)
    expected = [float(step()) for _ in range(REPLAYS + 2)]
    model, step, _ = _training(bg)
    found = [float(step())]
    if run == "captured":
        with bg.capture() as graph:
            loss = step()
        assert _copies(graph) == 0
        found.append(float(loss))
        for _ in range(REPLAYS):
            graph.replay()
            found.append(float(loss))
    else:
        compiled = bg.jit(step)
        found += [float(compiled()) for _ in range(REPLAYS + 1)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)  # sums may differ in order
    for name, value in eager.state_dict().items():
        own = np.asarray(model.state_dict()[name])
        np.testing.assert_allclose(own, np.asarray(value), rtol=1e-4, atol=1e-6, err_msg=name)


def _own(bg: Any, a: Any, b: Any) -> Any:
    a[...] = a * 2 + 1
    b -= 3
    return None


def _crossed(bg: Any, a: Any, b: Any) -> Any:
    total, rest = a + b, a - b
    a[...] = total
    b[...] = rest
    return None


def _old_is_read_later(bg: Any, a: Any, b: Any) -> Any:
    later = a * 3
    a[...] = a + 1
    b[...] = b + a
    return later


def _old_is_kept(bg: Any, a: Any, b: Any) -> Any:
    old = bg.asarray(a, copy=True)
    a[...] = a + 1
    b[...] = b * 2
    return old - a


def _new_is_shared(bg: Any, a: Any, b: Any) -> Any:
    new = a + b
    a += b
    b[...] = new
    new += 5
    return new


def _twice(bg: Any, a: Any, b: Any) -> Any:
    a += 1
    middle = bg.sum(a)
    a *= 2
    b += middle
    a -= b
    return middle


def _turned(bg: Any, a: Any, b: Any) -> Any:
    a[...] = a[::-1] + 1
    b[...] = bg.roll(b, 2) + a
    return bg.cumsum(a)


def _by_index(bg: Any, a: Any, b: Any) -> Any:
    order = bg.asarray(np.arange(a.size)[::-1].copy())
    a[...] = a[order] + b
    b[...] = b[order] - a
    return None


def _sums(bg: Any, a: Any, b: Any) -> Any:
    before = bg.sum(a * b)
    a[...] = a + before
    b[...] = b + bg.sum(a)
    return before


def _swapped(bg: Any, a: Any, b: Any) -> Any:
    first, second = a.copy(), b.copy()
    a[...] = second
    b[...] = first
    return None


BLOCKS: dict[str, tuple[Callable[..., Any], int | None]] = {
    "own": (_own, 0),
    "crossed": (_crossed, 0),
    "old is read later": (_old_is_read_later, None),
    "old is kept": (_old_is_kept, None),
    "new is shared": (_new_is_shared, None),
    "twice": (_twice, None),
    "turned": (_turned, None),
    "by index": (_by_index, None),
    "sums": (_sums, None),
    "swapped": (_swapped, None),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "int64"])
@pytest.mark.parametrize("size", [1, 5, 8])
@pytest.mark.parametrize("name", BLOCKS)
def test_replays_equal_the_block(bg: Any, name: str, size: int, dtype: str) -> None:
    block, most = BLOCKS[name]
    start = [(np.arange(size) % 5 + n).astype(dtype) for n in (1, 4)]
    # Multiplied values stay small: float16 holds these integers exactly.
    a, b = (bg.asarray(x) for x in start)
    expected = []
    for _ in range(REPLAYS + 1):
        made = block(bg, a, b)
        expected.append([np.asarray(x) for x in (a, b, made) if x is not None])
    a, b = (bg.asarray(x) for x in start)
    bg.eval(a, b)
    with bg.capture() as graph:
        made = block(bg, a, b)
    if most is not None:
        assert _copies(graph) == most
    for n in range(REPLAYS + 1):
        if n:
            graph.replay()
        found = [np.asarray(x) for x in (a, b, made) if x is not None]
        for own, other in zip(found, expected[n], strict=True):
            np.testing.assert_array_equal(own, other)


def test_views_of_changed_arrays_stay_apart(bg: Any) -> None:
    whole = bg.asarray(np.arange(9, dtype=np.float32))
    part = whole[:5]
    with bg.capture() as graph:
        part += 1
    graph.replay()
    expected = np.arange(9, dtype=np.float32)
    expected[:5] += 2
    np.testing.assert_array_equal(np.asarray(whole), expected)
    np.testing.assert_array_equal(np.asarray(part), expected[:5])


def test_the_last_view_of_memory_keeps_to_its_elements(bg: Any) -> None:
    part = bg.asarray(np.arange(9, dtype=np.float32))[:5]
    with bg.capture() as graph:
        part *= 2
    graph.replay()
    np.testing.assert_array_equal(np.asarray(part), 4 * np.arange(5, dtype=np.float32))


def test_more_arrays_than_a_kernel_binds(bg: Any) -> None:
    start = [np.arange(4, dtype=np.float32) + n for n in range(30)]
    arrays = [bg.asarray(x) for x in start]
    bg.eval(*arrays)
    with bg.capture() as graph:
        new = [
            x + y - z
            for x, y, z in zip(
                arrays, [*arrays[7:], *arrays[:7]], [*arrays[1:], arrays[0]], strict=True
            )
        ]
        for x, value in zip(arrays, new, strict=True):
            x[...] = value
        del new, value
    for _ in range(REPLAYS):
        graph.replay()
    expected = np.stack(start)
    for _ in range(REPLAYS + 1):
        expected = expected + np.roll(expected, -7, 0) - np.roll(expected, -1, 0)
    np.testing.assert_array_equal(np.stack([np.asarray(x) for x in arrays]), expected)


def test_gradients_read_the_values_of_before(bg: Any) -> None:
    x = bg.asarray(np.arange(4, dtype=np.float32))
    w = bg.asarray(np.full(4, 2, np.float32)).requires_grad_()
    bg.eval(x)
    with bg.capture() as graph:
        loss = (w * x).sum()
        x[...] = x + 1
        loss.backward()
        gradient = w.grad
    for n in range(REPLAYS + 1):
        if n:
            graph.replay()
        np.testing.assert_array_equal(np.asarray(gradient), np.arange(4) + n)
        np.testing.assert_array_equal(np.asarray(x), np.arange(4) + n + 1)


def test_a_failed_block_leaves_the_new_values(bg: Any) -> None:
    a = bg.asarray(np.arange(5, dtype=np.float32))
    bg.eval(a)

    def fail() -> None:
        nonlocal a
        with bg.capture():
            a += 1
            bg.eval(a)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    np.testing.assert_array_equal(np.asarray(a), np.arange(5) + 1)


def test_a_compiled_function_that_gives_up_keeps_its_changes(bg: Any) -> None:
    a = bg.asarray(np.arange(5, dtype=np.float32))

    @bg.jit
    def change(x: Any) -> float:
        x += 1
        x *= 2
        return float(x.sum())  # a block cannot read values

    change(a)
    with pytest.warns(UserWarning, match="reads a value"):
        change(a)
    np.testing.assert_array_equal(np.asarray(a), ((np.arange(5) + 1) * 2 + 1) * 2)
