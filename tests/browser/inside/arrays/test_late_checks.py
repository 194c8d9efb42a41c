"""Errors that only the GPU can detect: indices out of bounds, with ``debug``, and bad matrices.

The matrices are singular or not positive definite. The next wait raises, and names the line.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from sys import _getframe
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same

pytestmark = [pytest.mark.native, pytest.mark.firefox]

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def on_gpu(bg: Any, *indices: int, dtype: str = "int32") -> Any:
    return bg.asarray(np.array(indices, dtype))


@pytest.fixture(autouse=True)
def nothing_left(bg: Any) -> Iterator[None]:
    """Assert that each test reports its own errors."""
    with bg.debug():
        yield
        assert bg.asarray(X)[on_gpu(bg, 0)].tolist() == [X[0].tolist()]


READS: dict[str, Callable[[Any, Any], Any]] = {
    "an index": lambda bg, x: x[on_gpu(bg, 0, 3)],
    "a negative one": lambda bg, x: x[on_gpu(bg, -4, 2)],
    "an unsigned one": lambda bg, x: x[on_gpu(bg, 0, 255, dtype="uint8")],
    "a second axis": lambda bg, x: x[:, on_gpu(bg, 1, 4)],
    "two axes": lambda bg, x: x[on_gpu(bg, 0, 1), on_gpu(bg, 7, 1)],
    "one beside a slice": lambda bg, x: x[1:, None][on_gpu(bg, 2)],
    "take": lambda bg, x: bg.take(x, on_gpu(bg, 0, 9), axis=1),
    "take_along_axis": lambda bg, x: bg.take_along_axis(x, on_gpu(bg, 3, 0, 0, 0)[None], axis=0),
    "within a chain": lambda bg, x: bg.sum(x[on_gpu(bg, 3)] * 2 + 1),
    "the last of many": lambda bg, x: x.reshape(-1)[bg.arange(1001) * 12 // 1000],
    "computed": lambda bg, x: x[bg.argmax(x, axis=0) + 1],
}


@pytest.mark.parametrize("name", READS)
def test_the_next_wait_raises_for_an_index_out_of_bounds(bg: Any, name: str) -> None:
    found = READS[name](bg, bg.asarray(X))
    with pytest.raises(IndexError, match="index: key must be indices from -"):
        found.numpy()


@pytest.mark.parametrize("wait", ["numpy", "item", "print", "ready", "synchronize", "another"])
def test_each_wait_tells(bg: Any, wait: str) -> None:
    x = bg.asarray(X)
    y = x[on_gpu(bg, 1, 5)].sum()
    line = _getframe().f_lineno - 1
    bg.eval(y)
    waits: dict[str, Callable[[], Any]] = {
        "numpy": y.numpy, "item": y.item, "print": lambda: str(y),
        "ready": lambda: bg_run(y.ready()), "another": (x * 2).numpy,
        "synchronize": bg.cuda.Device(bg.default_device().adapter.index).synchronize,
    }  # fmt: skip
    with pytest.raises(IndexError, match=r"got 5 along axis 0") as caught:
        waits[wait]()
    assert f"{__file__}, line {line}" in str(caught.value)
    waits[wait]()  # it is reported once


def bg_run(coroutine: Any) -> Any:
    from pyodide.ffi import run_sync

    return run_sync(coroutine)


def test_only_the_first_error_is_raised(bg: Any) -> None:
    x = bg.asarray(X)
    one = x[on_gpu(bg, 7)]
    bg.eval(one)
    other = x[on_gpu(bg, 8)]
    bg.eval(other)
    with pytest.raises(IndexError, match="got 7"):
        other.numpy()
    assert x[on_gpu(bg, 2)].tolist() == [X[2].tolist()]


def test_indices_that_are_inside_are_not(bg: Any) -> None:
    x = bg.asarray(X)
    for dtype in ("int8", "int32", "uint8", "uint32", "int64", "uint64"):
        assert_same(x[on_gpu(bg, 2, 0, dtype=dtype)], X[[2, 0]])
    assert_same(x[on_gpu(bg, -3, -1)], X[[-3, -1]])
    for n in range(1, 10):  # elements after the index's end are not read
        index = bg.asarray(np.r_[np.zeros(n), 99, -99, 77].astype(np.int32))[:n]
        assert_same(x[index], X[np.zeros(n, int)])
        assert_same(bg.sum(x[index, 1:]), X[np.zeros(n, int), 1:].sum())
    assert x[on_gpu(bg)].shape == (0, 4)
    mask = bg.asarray(X[:, 0] > 2)
    assert_same(x[mask], X[X[:, 0] > 2])
    sorted_places = bg.argsort(x, axis=1)
    assert_same(bg.take_along_axis(x, sorted_places, axis=1), X)


@pytest.mark.parametrize("size", [5, 400])
def test_nothing_is_written_outside(bg: Any, size: int) -> None:
    before = np.arange(size, dtype=np.float32)
    index = np.int32([1, size, -size - 1, 2, 2**30])
    for value in (50.0, np.float32([60, 61, 62, 63, 64])):
        x = bg.asarray(before)
        view = x[::-1]
        x[bg.asarray(index)] = value if isinstance(value, float) else bg.asarray(value)
        with pytest.raises(IndexError, match=f"indices from -{size} to {size - 1}"):
            x.numpy()
        expected = before.copy()
        expected[[1, 2]] = value if isinstance(value, float) else value[[0, 3]]
        assert_same(x, expected)
        assert_same(view, expected[::-1])
    matrix = bg.zeros((4, size))
    matrix[bg.asarray(np.int32([0, 3])), bg.asarray(np.int32([size, 1]))] = 7
    with pytest.raises(IndexError, match="along axis 1"):
        matrix.numpy()
    expected = np.zeros((4, size))
    expected[3, 1] = 7
    assert_same(matrix, expected)


def test_without_debug_no_error_is_raised(bg: Any) -> None:
    x = bg.asarray(X)
    with bg.debug(False):
        assert_same(x[on_gpu(bg, 1, 9, -9)], X[[1, 2, 0]])
        x[on_gpu(bg, 1, 9, -9)] = 5
        expected = X.copy()
        expected[1] = 5
        assert_same(x, expected)
    with pytest.raises(IndexError, match="got 9"):
        x[on_gpu(bg, 9)].numpy()
    for wrong in (1, "on", None):
        with pytest.raises(ValueError, match="debug: enabled"):
            bg.debug(wrong)


def test_debug_holds_from_the_call_on(bg: Any) -> None:
    bg.debug(False)
    bg.asarray(X)[on_gpu(bg, 9)].numpy()
    bg.debug()
    with pytest.raises(IndexError):
        bg.asarray(X)[on_gpu(bg, 9)].numpy()


@pytest.mark.parametrize("index", [2**40, -(2**40), 2**32])
def test_indices_of_64_bits(bg: Any, index: int) -> None:
    with pytest.raises(IndexError, match=f"got {index} along"):
        bg.asarray(X)[on_gpu(bg, 1, index, dtype="int64")].numpy()


def test_nothing_is_added_outside(bg: Any) -> None:
    table = bg.asarray(X).requires_grad_()
    rows = table[bg.asarray(np.int32([1, 3, 1]))]
    rows.sum().backward()
    with pytest.raises(IndexError, match="got 3"):
        table.grad.numpy()
    assert_same(table.grad, np.float32([[0] * 4, [2] * 4, [0] * 4]))


def test_replays_check_as_well(bg: Any) -> None:
    x, index = bg.asarray(X), on_gpu(bg, 0, 1)
    with bg.capture() as graph:
        y = x[index] * 2
    assert_same(y, 2 * X[[0, 1]])
    index[...] = on_gpu(bg, 2, 3)
    graph.replay()
    with pytest.raises(IndexError, match="got 3 along axis 0"):
        y.numpy()
    index[...] = on_gpu(bg, 2, 2)
    graph.replay()
    assert_same(y, 2 * X[[2, 2]])


async def _both(one: Any, other: Any) -> list[Any]:
    return await asyncio.gather(one.numpy_async(), other.numpy_async(), return_exceptions=True)


def test_tasks_that_wait_together(bg: Any) -> None:
    x = bg.asarray(X)
    good, bad = x[on_gpu(bg, 1)], x[on_gpu(bg, 9)]
    bg.eval(good, bad)
    found = bg_run(_both(good, bad))
    assert any(isinstance(one, IndexError) for one in found)
    assert_same(good, X[[1]])


SINGULAR = np.float32([[1, 2, 3], [2, 4, 6], [0, 1, 1]])
INDEFINITE = np.diag(np.float32([4, -1, 1]))

MATRICES: dict[str, tuple[np.ndarray, Callable[[Any, Any], Any], str]] = {
    "inv": (SINGULAR, lambda xp, x: xp.linalg.inv(x), "invertible"),
    "of zeros": (np.zeros((2, 2), np.float32), lambda xp, x: xp.linalg.inv(x), "invertible"),
    "complex": (SINGULAR * np.complex64(1j), lambda xp, x: xp.linalg.inv(x), "invertible"),
    "solve": (SINGULAR, lambda xp, x: xp.linalg.solve(x, xp.ones((3, 2))), "invertible"),
    "a vector": (SINGULAR, lambda xp, x: xp.linalg.solve(x, x[0]), "invertible"),
    "a power": (SINGULAR, lambda xp, x: xp.linalg.matrix_power(x, -2), "invertible"),
    "large": (np.diag(np.arange(80, dtype="f4")), lambda xp, x: xp.linalg.inv(x), "invertible"),
    "cholesky": (INDEFINITE, lambda xp, x: xp.linalg.cholesky(x), "positive definite"),
    "upper": (INDEFINITE, lambda xp, x: xp.linalg.cholesky(x, upper=True), "positive definite"),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_that_have_no_result(bg: Any, name: str) -> None:
    x, call, expected = MATRICES[name]
    if sys.platform != "emscripten":  # NumPy needs the processor's flags, which Wasm lacks
        with pytest.raises(np.linalg.LinAlgError):
            call(np, x)
    found = call(bg, bg.asarray(x))
    with pytest.raises(np.linalg.LinAlgError, match=f"must be {expected}, got a") as caught:
        found.numpy()
    assert isinstance(caught.value, bg.errors.BackendError)
    assert f"{__file__}, line {call.__code__.co_firstlineno}" in str(caught.value)
    assert not np.isfinite(found.numpy()).all()  # it is reported once


def test_one_of_many_matrices(bg: Any) -> None:
    x = np.stack([np.eye(3, dtype="f4"), SINGULAR, np.eye(3, dtype="f4")])
    found = bg.linalg.inv(bg.asarray(x))
    with pytest.raises(np.linalg.LinAlgError, match="at place 1 of 3"):
        found.numpy()
    with pytest.raises(np.linalg.LinAlgError):  # as in reference LAPACK, unlike OpenBLAS
        bg.linalg.cholesky(bg.asarray(x * np.nan)).numpy()
    assert_same(found[0], x[0])


def test_matrices_that_have_a_result(bg: Any) -> None:
    x = np.float32([[0, 2], [3, 0]])
    assert_same(bg.linalg.inv(bg.asarray(x)), np.linalg.inv(x), rtol=1e-6)
    assert np.isnan(bg.linalg.inv(bg.asarray(x * np.nan)).numpy()).any()  # as in NumPy
    assert np.linalg.cond(SINGULAR, 1) > 1e8
    assert not bg.linalg.cond(bg.asarray(SINGULAR), 1).item() < 1e8
    assert bg.linalg.det(bg.asarray(SINGULAR)).item() == 0
    turned = bg.asarray(SINGULAR).requires_grad_()
    bg.linalg.det(turned).backward()
    assert not np.isfinite(turned.grad.numpy()).all()


def test_replays_look_at_matrices(bg: Any) -> None:
    x = bg.asarray(np.eye(3, dtype="f4") * 2)
    with bg.capture() as graph:
        y = bg.linalg.inv(x)
    assert_same(y, np.eye(3, dtype="f4") / 2)
    x[...] = bg.asarray(SINGULAR)
    graph.replay()
    with pytest.raises(np.linalg.LinAlgError):
        y.numpy()
    x[...] = bg.eye(3)
    graph.replay()
    assert_same(y, np.eye(3, dtype="f4"))
