"""Loops over single elements: after a few waits, the memory is copied to the host."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same
from inside.spies import dispatched

pytestmark = [pytest.mark.native, pytest.mark.firefox]

KINDS = ("bool", "int8", "int32", "int64", "uint8", "uint32", "uint64", "float32")


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy memory at the first read of an element."""
    from browsergpu.arrays.lazy.element_reads import ElementReads

    monkeypatch.setattr(ElementReads, "is_copy_due", lambda self: True)


def is_known(x: Any) -> bool:
    """Return whether the host knows the value of an array."""
    from browsergpu.arrays.lazy.host_number import number_in

    return number_in(x.node) is not None


@pytest.fixture
def reads(backend: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all reads from the GPU."""
    from browsergpu.arrays.lazy.element_reads import ElementReads
    from browsergpu.arrays.lazy.trace import tracer_of

    tracer_of(backend.device).element_reads = ElementReads()
    seen: list[int] = []
    recorder = backend.device.recorder
    read = recorder.read

    def counted(buffer: int, offset: int, view: memoryview, *rest: Any) -> Any:
        seen.append(view.nbytes)
        return read(buffer, offset, view, *rest)

    monkeypatch.setattr(recorder, "read", counted)
    return seen


def test_a_loop_waits_a_few_times(bg: Any, reads: list[int]) -> None:
    a, b = bg.zeros((30, 40), dtype=bool), np.zeros((30, 40), dtype=bool)
    rng = np.random.default_rng(0)
    for y, x in rng.integers(0, (30, 40), (400, 2)):
        for z in (a, b):
            if z[y, x] == 0 and not z[y, x - 1]:
                z[y, x] = 1
    assert_same(a, b)
    assert len(reads) < 40


def test_a_program_that_never_waits_copies_nothing(bg: Any, reads: list[int]) -> None:
    a = bg.arange(100)
    total = bg.zeros(())
    for i in range(100):
        total = total + a[i]
    assert not reads
    assert float(total) == 4950
    assert len(reads) == 1


def test_copies_that_serve_few_reads_become_rare(bg: Any, reads: list[int]) -> None:
    for _ in range(200):
        found = bg.ones((8,)) * 3
        assert float(found.sum() + found[2]) == 27
    assert len(reads) < 200 + 40


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("kind", KINDS)
def test_elements_are_numpys(bg: Any, kind: str) -> None:
    b = np.arange(-6, 18).astype(kind).reshape(4, 6)
    a = bg.asarray(b)
    for view in (lambda z: z, lambda z: z.T, lambda z: z[1:, ::-2], lambda z: z[2]):
        x, y = view(a), view(b)
        for at in np.ndindex(y.shape):
            assert is_known(x[at])
            assert_same(x[at], y[at])
            assert x[at].item() == y[at].item()
            assert type(x[at].item()) is type(y[at].item())


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "an element": lambda xp, z: operator.setitem(z, (1, 2), 7),
    "an element of a view": lambda xp, z: operator.setitem(z.T[2:], (0, 1), 7),
    "an element of an element": lambda xp, z: operator.setitem(z, (1, 2), z[2, 2]),
    "a row": lambda xp, z: operator.setitem(z, 1, 7),
    "a slice": lambda xp, z: operator.setitem(z, (slice(1, 3), slice(2)), 7),
    "a mask": lambda xp, z: operator.setitem(z, z > 5, 7),
    "indices": lambda xp, z: operator.setitem(z, ([0, 1], [2, 2]), 7),
    "in place": lambda xp, z: operator.iadd(z, 1),
    "in place on a row": lambda xp, z: operator.imul(z[1], 2),
    "out": lambda xp, z: xp.add(z, 1, out=z),
    "sort": lambda xp, z: z.sort(axis=0),
    "fill": lambda xp, z: z.fill(4),
    "flat": lambda xp, z: operator.setitem(z.flat, 8, 40),
    "put": lambda xp, z: xp.put(z, [8, 2], [3, 4]),
    "at": lambda xp, z: xp.add.at(z, ([1, 1], [2, 2]), 5),
    "copyto": lambda xp, z: xp.copyto(z, z[::-1].copy()),
}


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("kind", ["int64", "float32"])
def test_writes_are_seen(bg: Any, name: str, kind: str) -> None:
    b = np.arange(24).astype(kind).reshape(4, 6)[::-1].copy()
    a = bg.asarray(b)
    rows = [(z, z[1:, 1:]) for z in (a, b)]
    for _ in range(3):
        for at in ((1, 2), (0, 0), (2, 1)):
            assert_same(rows[0][0][at], rows[1][0][at])
        WRITES[name](bg, a)
        WRITES[name](np, b)
        for at in np.ndindex(3, 5):
            assert_same(rows[0][0][at], rows[1][0][at])
            assert_same(rows[0][1][at], rows[1][1][at])
    assert_same(a, b)


@pytest.mark.usefixtures("copied")
def test_a_written_element_stays_known(bg: Any, reads: list[int]) -> None:
    a = bg.arange(10)
    for i in range(1, 10):
        a[i] = a[i - 1] * 2 + 1
    assert len(reads) == 1
    np.testing.assert_array_equal(a.numpy(), 2 ** np.arange(10) - 1)


@pytest.mark.usefixtures("copied")
def test_other_writers_are_seen(bg: Any) -> None:
    a = bg.arange(6, dtype=bg.float32)
    assert a[1] == 1
    with bg.capture() as graph:
        a += 1
    assert a[1] == 2
    graph.replay()
    assert a[1] == 3

    with bg.capture() as graph:
        made = a * 2
        a[1:3] += 1
    for n in range(4):
        graph.replay()
        assert a[1] == n + 5
        assert made[1] == 2 * (n + 4)
    a[1] = 3

    double = bg.jit(lambda: operator.imul(a, 2))
    for n in range(4):
        double()
        assert a[1] == 3 * 2 ** (n + 1)

    weights = bg.nn.Parameter(bg.ones(3))
    optimizer = bg.optim.SGD([weights], lr=0.5)
    for n in range(3):
        assert weights.detach()[0] == 1 - 0.5 * n
        weights.grad = bg.ones(3)
        optimizer.step()


@pytest.mark.usefixtures("copied")
def test_an_element_keeps_its_value(bg: Any) -> None:
    a = bg.arange(6)
    known = a[2]
    a[2] = 9
    assert known == 2
    assert a[2] == 9
    known += 5
    assert known == 7
    assert a[2] == 9


@pytest.mark.usefixtures("copied")
def test_rows_at_known_integers_are_copies(bg: Any) -> None:
    """An array without axes as an index gives a copy, as in NumPy."""
    a, at = bg.arange(12).reshape(3, 4), bg.asarray([0, 2])
    row = a[at[1]]
    assert is_known(at[1])
    row[0] = 99
    assert a[2, 0] == 8
    a[at[1]] = 5
    assert a[2, 3] == 5
    with pytest.raises(IndexError, match="an index from -3 to 2"):
        a[bg.asarray(7)]


OPERATORS = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "pow", "eq", "ne", "lt", "le", "gt", "ge",
                 "and_", "or_", "xor", "floordiv", "mod")
}  # fmt: skip
SUBNORMAL = 1.2e-38  # GPUs may flush it to 0
EDGES: dict[str, list[Any]] = {
    "b": [False, True],
    "i": [-(2**31), -128, -7, -1, 0, 1, 2, 127, 2**31 - 1],
    "u": [0, 1, 2, 255, 2**31],
    "f": [-np.inf, -3.4e38, -2.5, -0.0, 0.0, 1e-3, 1 / 3, 2.0, 3.4e38, np.inf, np.nan],
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("pair", ["ff", "ii", "uu", "bb", "fi", "ib", "iu"])
def test_the_host_computes_as_the_gpu(bg: Any, name: str, pair: str) -> None:
    kinds = {"f": "float32", "i": "int32", "u": "uint32", "b": "bool"}
    op = OPERATORS[name]
    left, right = (bg.asarray(EDGES[letter], dtype=kinds[letter]) for letter in pair)
    try:
        whole = op(left[:, None], right[None, :])
    except (TypeError, ValueError):
        with pytest.raises((TypeError, ValueError)):
            op(bg.asarray(EDGES[pair[0]][0], dtype=kinds[pair[0]]),
               bg.asarray(EDGES[pair[1]][0], dtype=kinds[pair[1]]))  # fmt: skip
        return
    expected = whole.numpy()
    for i, a in enumerate(EDGES[pair[0]]):
        for j, b in enumerate(EDGES[pair[1]]):
            x = bg.asarray(a, dtype=kinds[pair[0]])
            y = bg.asarray(b, dtype=kinds[pair[1]])
            found = op(x, y)
            assert found.dtype == expected.dtype
            tolerance = 4e-7 if name in ("truediv", "pow") else 0
            np.testing.assert_allclose(
                found.numpy(), expected[i, j], tolerance, SUBNORMAL, err_msg=f"{a} {name} {b}"
            )
            row = op(left, y).numpy()
            np.testing.assert_array_equal(row[i], expected[i, j], f"array {name} {b}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("to", KINDS)
def test_casts_on_the_host_are_the_gpus(bg: Any, kind: str, to: str) -> None:
    values = EDGES[np.dtype(kind).kind]
    values = [
        v for v in values if kind[0] not in "iu" or np.iinfo(kind).min <= v <= np.iinfo(kind).max
    ]
    expected = bg.asarray(values, dtype=kind).astype(to).numpy()
    for value, one in zip(values, expected, strict=True):
        assert_same(bg.asarray(value, dtype=kind).astype(to), one)


def test_a_known_number_is_a_parameter_of_kernels(bg: Any, backend: Any) -> None:
    x = bg.arange(6, dtype=bg.float32)
    bg.eval(x)
    with dispatched(backend.device) as kernels:
        y = x * bg.asarray(2.0) + bg.asarray(1.0)
        np.testing.assert_array_equal(y.numpy(), np.arange(6) * 2 + 1)
    assert len(kernels) == 1


def test_a_known_number_in_a_graph_is_read_at_each_replay(bg: Any) -> None:
    x, scale = bg.arange(6, dtype=bg.float32), bg.asarray(2.0)
    assert is_known(scale)
    with bg.capture() as graph:
        y = x * scale
        scale += 1
    for n in (3, 4, 5):
        graph.replay()
        np.testing.assert_array_equal(y.numpy(), np.arange(6) * n)
    scale[...] = 10
    graph.replay()
    np.testing.assert_array_equal(y.numpy(), np.arange(6) * 10)


DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "random": lambda r, size: r.random(size),
    "uniform": lambda r, size: r.uniform(-3.0, 7.7, size),
    "normal": lambda r, size: r.normal(2.0, 0.3, size),
    "exponential": lambda r, size: r.exponential(3.0, size),
    "integers": lambda r, size: r.integers(-5, 12, size),
    "all integers": lambda r, size: r.integers(-(2**31), 2**31, size),
    "uint32": lambda r, size: r.integers(0, 2**32, size, dtype="uint32"),
}


@pytest.mark.parametrize("name", DRAWS)
def test_single_draws_are_the_gpus(bg: Any, name: str, reads: list[int]) -> None:
    one, other = bg.random.default_rng(7), bg.random.default_rng(7)
    alone = [DRAWS[name](one, None) for _ in range(300)]
    assert all(is_known(x) for x in alone)
    numbers = [x.item() for x in alone]
    assert not reads
    assert numbers == [DRAWS[name](other, 1)[0].item() for _ in range(300)]
    assert one.bit_generator.state == other.bit_generator.state


def test_single_draws_in_a_graph_differ_in_each_replay(bg: Any) -> None:
    rng = bg.random.default_rng(3)
    x = bg.ones(4)
    with bg.capture() as graph:
        y = x * rng.random()
    seen = set()
    for _ in range(5):
        graph.replay()
        seen.add(float(y[0]))
    assert len(seen) == 5
