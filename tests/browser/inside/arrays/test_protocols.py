"""Arrays in NumPy's functions, in Python's protocols, and as text."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, by_default, sample

pytestmark = pytest.mark.firefox

X = sample("float32", (3, 4))


def test_numpys_elementwise_functions(bg: Any) -> None:
    a = bg.asarray(X)
    for got, expected in (
        (np.add(a, 1), X + 1), (np.multiply(X, a), X * X), (np.absolute(a), np.abs(X)),
        (np.true_divide(a, 2), X / 2), (np.greater(a, X[0]), X[0] < X), (np.rint(a), np.rint(X)),
        (np.add.accumulate(a), np.add.accumulate(X)),
        (np.matmul(a, X.T), X @ X.T), (np.add.reduce(a), X.sum(0)), (X @ a.T, X @ X.T),
        (np.maximum.reduce(a, axis=1), X.max(1)), (np.add(a, a, dtype="f2"), (X + X).astype("f2")),
        (X - a, X * 0), (np.float32(2) * a, 2 * X), ([1, 2, 3, 4] * a, [1, 2, 3, 4] * X),
    ):  # fmt: skip
        assert isinstance(got, bg.Array)
        rtol = 1e-3 if got.dtype == np.float16 else 1e-5
        assert_same(got, np.asarray(expected).astype(got.dtype), rtol=rtol)
    out = bg.zeros((3, 4))
    assert np.subtract(a, 1, out=out) is out
    assert_same(out, X - 1, rtol=1e-6)
    np.add.at(a, [0, 0], 1)
    assert_same(a[0], X[0] + 2, rtol=1e-6)
    with pytest.raises(TypeError, match="datetime64"):
        np.isnat(a)


def test_numpys_functions(bg: Any) -> None:
    a = bg.asarray(X)
    for got, expected in (
        (np.sum(a), X.sum()), (np.sum(a, axis=1, keepdims=True), X.sum(1, keepdims=True)),
        (np.mean(a, 0), X.mean(0)), (np.std(a, ddof=1), X.std(ddof=1)), (np.max(a), X.max()),
        (np.concatenate([a, X]), np.concatenate([X, X])), (np.stack([a, a]), np.stack([X, X])),
        (np.transpose(a), X.T), (np.reshape(a, (2, 6)), X.reshape(2, 6)),
        (np.where(a > 0, a, 0), np.where(X > 0, X, 0)), (np.clip(a, 0, 1), np.clip(X, 0, 1)),
        (np.zeros_like(a), X * 0), (np.squeeze(a[None]), X), (np.tile(a, 2), np.tile(X, 2)),
        (np.roll(a, 1), np.roll(X, 1)), (np.tril(a), np.tril(X)), (np.flip(a), np.flip(X)),
    ):  # fmt: skip
        assert isinstance(got, bg.Array)
        assert_same(got, expected, rtol=1e-5)
    assert np.shape(a) == (3, 4)
    with pytest.raises(ValueError, match="polyfit: x must be"):
        np.polyfit(a, a, 2)


def test_pythons_functions(bg: Any) -> None:
    from browsergpu.errors import InvalidArgument

    one = bg.asarray([2.5])
    assert (float(one), int(one), bool(one), complex(one), one.item()) == (2.5, 2, True, 2.5, 2.5)
    assert [10, 20, 30][bg.asarray(1)] == 20
    a = bg.asarray(X)
    assert len(a) == 3
    for row, expected in zip(a, X, strict=True):
        assert_same(row, expected)
    assert X[1, 2] in a
    assert 99.0 not in a
    assert a.tolist() == X.tolist()
    for call in (float, bool, int):
        with pytest.raises(InvalidArgument):
            call(a)
    for broken in (lambda: len(one[0]), lambda: hash(a), lambda: [1][one], lambda: iter(one[0])):
        with pytest.raises(TypeError):
            broken()
    assert (a.ndim, a.size, a.itemsize, a.nbytes, a.shape) == (2, 12, 4, 48, (3, 4))
    for same in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a)):
        assert_same(same, X)
    other = copy.copy(a)
    other[0] = 0
    assert_same(a, X)


def test_as_numpys_arrays(bg: Any) -> None:
    from browsergpu.errors import InvalidArgument

    a = bg.asarray(X)
    assert np.asarray(a).dtype == np.float32
    assert np.asarray(a, dtype=np.float64).dtype == np.float64
    np.testing.assert_array_equal(np.asarray(a.T), X.T)
    with pytest.raises(ValueError, match="copy"):
        np.asarray(a, copy=False)
    assert a.__array_namespace__() is bg
    with pytest.raises(InvalidArgument):
        a.__array_namespace__(api_version="1999.1")


def test_text(bg: Any, backend: Any) -> None:
    name = backend.device.name
    assert repr(bg.asarray([1, 2])) == f"Array([1, 2], shape=(2,), dtype=int64, device={name!r})"
    assert repr(bg.asarray(2.5)).startswith("Array(2.5, shape=(), dtype=float32")
    before = backend.device.recorder.counters["readbacks"]
    text = repr(bg.arange(1_000_000))
    assert text.startswith("Array([     0,      1,      2, ..., 999997, 999998, 999999], shape=")
    assert backend.device.recorder.counters["readbacks"] == before + 1
    assert "..." in repr(bg.ones((200, 300)))
    assert repr(bg.zeros((0, 3))).startswith("Array([], shape=(0, 3)")


def test_without_blocking(bg: Any) -> None:
    from pyodide.ffi import run_sync

    async def read() -> Any:
        a = bg.asarray(X) + 1
        await (a * 2).ready()
        return await a.numpy_async()

    np.testing.assert_allclose(run_sync(read()), X + 1, rtol=1e-6)


def test_methods_of_numpys_arrays(bg: Any) -> None:
    x = sample("float32", (3, 4, 1))
    a = bg.asarray(x)
    for name, arguments, options in (
        ("sum", (1,), {}), ("prod", (), {"axis": 0}), ("max", (), {}),
        ("min", (0,), {"keepdims": True}),
        ("mean", (-1,), {}), ("std", (0,), {"ddof": 1}), ("var", (), {}), ("any", (), {}),
        ("all", (1,), {}), ("clip", (-0.5, 0.5), {}), ("copy", (), {}), ("flatten", (), {}),
        ("ravel", (), {}), ("squeeze", (), {}), ("round", (), {}), ("swapaxes", (0, 1), {}),
        ("transpose", (), {}), ("transpose", (1, 0, 2), {}), ("transpose", ((2, 0, 1),), {}),
        ("repeat", (2,), {"axis": 0}), ("take", ([1, 0], 1), {}), ("take", ([5, 0],), {}),
        ("cumsum", (), {}), ("cumprod", (1,), {}), ("conj", (), {}), ("dot", (2.0,), {}),
        ("argmax", (), {}), ("argmin", (1,), {}),
    ):  # fmt: skip
        expected = by_default(getattr(x, name)(*arguments, **options))
        assert_same(getattr(a, name)(*arguments, **options), expected, name, rtol=1e-5)
    assert_same(a[..., 0].dot(a[0]), x[..., 0].dot(x[0]), rtol=1e-5)
    assert [part.shape for part in (a > 0).nonzero()] == [((x > 0).sum(),)] * 3
    assert_same(a.argsort(1), by_default(x.argsort(1)))


def test_numpy_arrays_are_updated_in_place_by_gpu_arrays(bg: Any) -> None:
    """Updates in place work with a warning, and the arrays stay NumPy's."""
    own = X.copy()
    row = own[1]
    row_before = row
    bg.set_fallback("warn")  # also resets the warnings already given
    with pytest.warns(bg.HostFallbackWarning, match=r"np\.add"):
        row += bg.asarray(X[0])
    assert row is row_before
    np.testing.assert_allclose(own[1], X[1] + X[0])


@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "int64", "uint64"])
def test_integers_are_added_at_indices_exactly(bg: Any, kind: str) -> None:
    rng = np.random.default_rng(1)
    for shape, key in (
        ((5,), rng.integers(0, 5, 40)), ((4, 3), rng.integers(-4, 4, 30)),
        ((4, 3), (rng.integers(0, 4, (5, 2)), rng.integers(0, 3, (5, 2)))), ((5,), slice(1, 3)),
    ):  # fmt: skip
        limits = np.iinfo(kind)
        x = rng.integers(limits.min, limits.max, shape, kind, endpoint=True)
        added = rng.integers(0, 100, x[key].shape, kind)
        ours = bg.asarray(x)
        with warnings.catch_warnings(action="error"):
            bg.add.at(ours, key, added)
            np.subtract.at(ours, key, added[::-1])
        np.add.at(x, key, added)
        np.subtract.at(x, key, added[::-1])
        assert_same(ours, x)
