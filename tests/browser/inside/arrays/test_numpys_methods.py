"""Iteration, numbers, text, methods and attributes of arrays, as in NumPy."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same

pytestmark = [pytest.mark.native, pytest.mark.firefox]

X = np.float32([[3, -1, 2], [0.25, 4, -2.5]])
V = np.int32([5, 3, 9, 3])


def reads(bg: Any, work: Callable[[], Any]) -> int:
    """Return the number of GPU reads during some work."""
    recorder = bg.default_device().recorder
    before = recorder.counters["readbacks"]
    work()
    return int(recorder.counters["readbacks"] - before)


@pytest.mark.parametrize(
    "work",
    [list, max, min, sorted, sum, set, lambda a: [*zip(a, a, strict=True)],
     lambda a: dict(enumerate(a)), lambda a: list(a.flat), lambda a: [f"{x:5.2f}" for x in a]],
    ids=["list", "max", "min", "sorted", "sum", "set", "zip", "dict", "flat", "format"],
)  # fmt: skip
def test_a_vector_is_iterated_as_numpys_numbers(bg: Any, work: Callable[[Any], Any]) -> None:
    for host in (V, V.astype(np.float32) / 3, V > 3):
        a = bg.asarray(host) * 1 if host.dtype != bool else bg.asarray(host)
        assert work(a) == work(host)
        assert isinstance(next(iter(a)), host.dtype.type)


def test_a_vector_is_read_once(bg: Any) -> None:
    a = bg.arange(2000) * 1
    assert reads(bg, lambda: max(a)) == 1
    assert reads(bg, lambda: sorted(a)) == 1
    assert reads(bg, lambda: list(zip(a, a, strict=True))) == 2


def test_rows_are_views(bg: Any) -> None:
    a = bg.asarray(X)
    for row in a:
        row /= 2
    assert np.array_equal(a.numpy(), X / 2)
    first, last = a
    first[0] = last[0] = 7
    assert a[:, 0].tolist() == [7, 7]


def test_a_vector_with_gradients_is_iterated_as_arrays(bg: Any) -> None:
    found = bg.grad(lambda x: sum(one * one for one in x))(bg.asarray([1.0, 2.0]))
    assert found.tolist() == [2, 4]


def test_a_vector_is_iterated_as_arrays_in_a_block(bg: Any) -> None:
    x = bg.asarray([1.0, 2.0])
    with bg.capture() as graph:
        y = sum(one * 3 for one in x)
    x[...] = 5
    graph.replay()
    assert float(y) == 30


@pytest.mark.parametrize(
    "host", [X[0, 0], X, V, X > 0, np.arange(3000), np.float32([np.nan, 1e-9])]
)
def test_str_is_numpys(bg: Any, host: Any) -> None:
    host = np.asarray(host)
    own = bg.asarray(host)
    assert str(own) == str(host.astype(own.dtype))
    out = io.StringIO()
    with redirect_stdout(out):
        print(own)
    assert out.getvalue() == f"{host.astype(own.dtype)}\n"
    assert f"{own}" == f"{host.astype(own.dtype)}"


def test_numbers_are_formatted_and_rounded(bg: Any) -> None:
    x = bg.asarray(2.567)
    assert (f"{x:.2f}", f"{x:>8.1f}", round(x, 2), round(x)) == ("2.57", "     2.6", 2.57, 3)
    assert f"{bg.asarray(7):03d}" == "007"
    with pytest.raises(TypeError, match="unsupported format"):
        format(bg.asarray(X), ".2f")
    with pytest.raises(TypeError, match="round"):
        round(bg.asarray(X))


def test_divmod_and_products_in_place(bg: Any) -> None:
    a = bg.asarray(V)
    for ours, theirs in ((divmod(a, 2), divmod(V, 2)), (divmod(17, a), divmod(17, V))):
        assert [one.tolist() for one in ours] == [one.tolist() for one in theirs]
    own, host = bg.asarray(X[:, :2]), X[:, :2].copy()
    view = own[0]
    own @= bg.asarray(host.T.copy())
    host @= host.T.copy()
    assert np.allclose(own.numpy(), host)
    assert np.allclose(view.numpy(), host[0])


MASK = X > 0

METHODS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda a: a.sum(0, "float32", None, True, 2.0, MASK),
    "prod": lambda a: a.prod(1, initial=3),
    "max": lambda a: a.max(0, initial=0.5, where=MASK),
    "min": lambda a: a.min(1, None, True, -1),
    "mean": lambda a: a.mean(1, where=MASK),
    "any": lambda a: a.any(1, where=MASK),
    "all": lambda a: a.all(0, keepdims=True),
    "var": lambda a: a.var(0, "float32", None, 1, True),
    "var of some": lambda a: a.var(1, where=MASK),
    "var around": lambda a: a.var(1, mean=a.mean(1, keepdims=True)),
    "std": lambda a: a.std(1, ddof=1),
    "argmax": lambda a: a.argmax(0, keepdims=True),
    "argsort": lambda a: a.argsort(None, stable=True),
    "cumsum": lambda a: a.cumsum(1, "float32"),
    "cumprod": lambda a: a.cumprod(),
    "clip": lambda a: a.clip(max=1),
    "dot": lambda a: a.dot(X.T),
    "dot of numbers": lambda a: a.dot(2),
    "ravel": lambda a: a.ravel("F"),
    "copy": lambda a: a.copy("K"),
    "flatten": lambda a: a.flatten("F"),
    "round": lambda a: a.round(1),
    "take": lambda a: a.take([7, -7], mode="wrap"),
    "choose": lambda a: (a[:, :2] > 0).astype("int32").choose([10, 20]),
    "conjugate": lambda a: a.conjugate(),
    "diagonal": lambda a: a.diagonal(1),
    "searchsorted": lambda a: np.sort(a[0]).searchsorted(a),
    "trace": lambda a: a.trace(offset=1),
    "tobytes": lambda a: np.frombuffer(a.tobytes("F"), "float32"),
    "strides": lambda a: np.array([a.strides, a.T.strides, a[:, ::-1].strides]),
    "flat": lambda a: a.flat[1:5],
    "flat of columns": lambda a: a.T.flat[[0, 3]],
    "argpartition": lambda a: np.take_along_axis(a, a.argpartition(1), -1)[:, 1],
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(bg: Any, name: str) -> None:
    found, expected = METHODS[name](bg.asarray(X)), METHODS[name](X)
    assert np.shape(found) == np.shape(expected)
    assert np.allclose(np.asarray(found), expected)


OUT: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, out: a.sum(0, out=out),
    "max": lambda a, out: a.max(0, out),
    "mean": lambda a, out: a.mean(0, None, out),
    "cumsum": lambda a, out: a[0].cumsum(out=out),
    "clip": lambda a, out: a[0].clip(0, 1, out),
    "take": lambda a, out: a.take([2, 1, 0], out=out),
    "round": lambda a, out: a[0].round(out=out),
    "dot": lambda a, out: a[0].dot(np.eye(3, dtype="float32"), out),
}


@pytest.mark.parametrize("name", OUT)
def test_methods_with_out(bg: Any, name: str) -> None:
    own, host = bg.zeros(3), np.zeros(3, np.float32)
    assert OUT[name](bg.asarray(X), own) is own
    OUT[name](X, host)
    assert np.allclose(own.numpy(), host)


def _sort(a: Any) -> None:
    a.sort()


def _sort_columns(a: Any) -> None:
    a.T.sort(axis=-1)


def _fill(a: Any) -> None:
    a[0].fill(8)


def _partition(a: Any) -> None:
    a.partition(1)
    a.sort()


def _flat(a: Any) -> None:
    a.flat[2:4] = [7, 8]
    a.T.flat[1] = -9


def _all_flat(a: Any) -> None:
    a.flat = 3


@pytest.mark.parametrize("change", [_sort, _sort_columns, _fill, _partition, _flat, _all_flat])
def test_methods_that_write(bg: Any, change: Callable[[Any], None]) -> None:
    own, host = bg.asarray(X), X.copy()
    row, host_row = own[1], host[1]
    change(own)
    change(host)
    assert np.array_equal(own.numpy(), host)
    assert np.array_equal(row.numpy(), host_row), "and views see it"


def test_flags(bg: Any) -> None:
    a = bg.asarray(X)
    for ours, theirs in (
        (a, X),
        (a.T, X.T),
        (a[:, ::2], X[:, ::2]),
        (a[:1], X[:1]),
        (a + 1, X + 1),
    ):
        for name in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE"):
            assert ours.flags[name] == theirs.flags[name], (name, theirs.shape)
        assert ours.flags.forc == theirs.flags.forc
    assert not np.broadcast_to(a, (2, 2, 3)).flags.writeable
    with pytest.raises(KeyError):
        a.flags["NONE"]
    with pytest.raises(ValueError, match="read-only array"):
        np.broadcast_to(a, (2, 2, 3)).flags.writeable = True


def test_an_array_can_be_locked(bg: Any) -> None:
    a = bg.asarray(X)
    copy, row = a.copy(), a[0]
    a.flags.writeable = False
    for change in (lambda: a.__setitem__(0, 1), lambda: a.__iadd__(1), lambda: a[1].fill(2),
                   lambda: np.add(a, 1, out=a), lambda: a.sort()):  # fmt: skip
        with pytest.raises(ValueError, match="read-only"):
            change()
    assert_same(a, X)
    copy += 1
    row[...] = 7.0
    assert_same(copy, X + 1)
    assert a.numpy()[0].tolist() == [7.0] * len(X[0])
    a.flags["WRITEABLE"] = True
    a += 1
    assert a.numpy()[0].tolist() == [8.0] * len(X[0])
    assert "WRITEABLE : True" in repr(a.flags)


def test_views_of_records_are_copies_on_the_host(bg: Any) -> None:
    x = np.int32([[1, 2], [3, 4]])
    pair = [("a", "i4"), ("b", "i4")]
    bg.set_fallback("warn")  # also resets the warnings already given
    with pytest.warns(bg.HostFallbackWarning, match=r"Array\.view"):
        found = bg.asarray(x).view(pair)
    assert found.tolist() == x.view(pair).tolist()
    assert not found.flags.writeable
    with pytest.raises(TypeError, match="no subclasses"):
        bg.asarray(x).view(np.recarray)


def test_print_options_are_numpys(bg: Any) -> None:
    x = np.arange(2000, dtype=np.float32).reshape(40, 50)
    assert str(bg.asarray(x)) == str(x)
    with np.printoptions(threshold=sys.maxsize):
        assert str(bg.asarray(x)) == str(x)
    with np.printoptions(threshold=10, edgeitems=1, precision=2):
        assert str(bg.asarray(x / 7)) == str(x / 7)


def test_only_numbers_can_fill(bg: Any) -> None:
    with pytest.raises(ValueError, match=r"fill: value must be a number"):
        bg.asarray(X).fill([1, 2, 3])


def test_arguments_of_methods(bg: Any) -> None:
    a = bg.asarray(X)
    for call in (
        lambda x: x.reshape(3, 2, order="F"), lambda x: x.reshape((3, 2), order="F"),
        lambda x: x.reshape(-1, copy=True), lambda x: x.astype("int32", "K", "unsafe", True, False),
        lambda x: x.compress([True, False]), lambda x: x.compress([False, True, True], axis=1),
        lambda x: x.argpartition(1, -1, "introselect"), lambda x: x.T.trace(),
    ):  # fmt: skip
        assert_same(call(a), np.asarray(call(X)).astype(call(a).dtype))
    assert (a.item(4), a.item(1, 2), a.item((0, 1))) == (X.item(4), X.item(1, 2), X.item((0, 1)))
    with pytest.raises(TypeError, match="'safe' casts"):
        a.astype("int32", casting="safe")
    with pytest.raises(ValueError, match="order"):
        a.astype("int32", "X")
    b, host = a.copy(), X.copy()
    for x in (b, host):
        x.put([0, 5], [7, 8])
        x.partition(1, axis=1)
    assert_same(b, np.sort(host))
    a.setflags(write=False)
    assert not a.flags.writeable
    a.setflags(write=True)
    with pytest.raises(ValueError, match="setflags"):
        a.setflags(align=False)
