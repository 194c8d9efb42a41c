"""Lazy evaluation: recorded operations, fused kernels, and values that stay in memory."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, sample
from inside.spies import dispatched

pytestmark = pytest.mark.firefox


def test_a_chain_is_one_kernel(bg: Any, backend: Any) -> None:
    x, y = sample("float32", (33, 20)), sample("float32", 20, 1)
    a, b = bg.asarray(x), bg.asarray(y)
    with dispatched(backend.device) as kernels:
        z = bg.sqrt(bg.abs(a * b - 1.5)) / (a * a + 1)
        z = bg.where(z > 0.5, z, -z)
        assert kernels == []
        got = z.numpy()
    assert len(kernels) == 1
    expected = np.sqrt(np.abs(x * y - 1.5)) / (x * x + 1)
    np.testing.assert_allclose(got, np.where(expected > 0.5, expected, -expected), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_long_chains_of_operations_with_a_number_each(bg: Any, dtype: str) -> None:
    """Their numbers exceed the former size of a uniform slot."""
    x = sample(dtype, (6, 10))
    y = bg.asarray(x)[::2, ::-3]
    expected = x[::2, ::-3].astype("complex128" if dtype == "complex64" else "float64")
    for i in range(150):
        factor, term = 0.5 + i / 1024, 1 - i / 512
        if dtype == "complex64":
            factor, term = factor * (0.6 + 0.8j), term * 1j
        y = y * factor + term
        expected = expected * factor + term
    assert_same(y, expected.astype(dtype), rtol=1e-5)


def test_explanations(bg: Any, backend: Any) -> None:
    a = bg.asarray(sample("float32", 100))
    assert bg.explain(a).startswith("in memory")
    b = bg.sin(a) * 2 + a
    with dispatched(backend.device) as kernels:
        text, complete = bg.explain(b), bg.explain(b, helpers=True)
        assert kernels == []
        bg.eval(b)
    assert len(kernels) == 1
    assert text.startswith(
        "kernel 1 of 1: sin, multiply, add\nreads 1 arrays, 400 bytes; writes 1, 400 bytes\n"
    )
    assert text.count("fn ") == 1
    assert "fn main(" in text
    assert "fn np_sin(" in complete
    assert bg.explain(b).startswith("in memory")


def test_held_values_are_computed_by_the_same_kernel(bg: Any, backend: Any) -> None:
    x = sample("float32", 100)
    a = bg.asarray(x)
    before = backend.device.memory.buffers
    with dispatched(backend.device) as kernels:
        b = a + 1
        c = b * 2
        d = (c - a) + b
        del c
        d.numpy()
        assert len(kernels) == 1
        b.numpy()
    assert len(kernels) == 1
    assert backend.device.memory.buffers == before + 2
    assert_same(b, x + 1, rtol=1e-6)


def test_unreferenced_values_are_not_computed(bg: Any, backend: Any) -> None:
    a = bg.asarray(sample("float32", 10))
    with dispatched(backend.device) as kernels:
        for _ in range(200):
            a * 2
        backend.synchronize()
    assert kernels == []


def test_a_value_that_is_only_reduced_gets_no_memory(bg: Any, backend: Any) -> None:
    x = bg.asarray(sample("float32", (300, 40)))
    before = backend.device.memory.in_use
    with dispatched(backend.device) as kernels:
        total = bg.sum(bg.exp(x) * 0.5 + x, axis=1)
    assert len(kernels) == 1
    assert backend.device.memory.in_use - before <= 4 * 512
    y = x * 2.0
    least, greatest = bg.min(y), bg.max(y)  # the second call computes y into memory
    assert backend.device.memory.in_use - before >= 4 * 300 * 40
    values = x.numpy()
    assert float(least) == 2 * values.min()
    assert float(greatest) == 2 * values.max()
    assert_same(total, (np.exp(values) * 0.5 + values).sum(1), rtol=1e-5)


def test_kernels_do_not_depend_on_sizes_and_numbers(bg: Any, backend: Any) -> None:
    def compute(n: int, number: float) -> None:
        x = sample("float32", (n, 8))
        a = bg.asarray(x)
        got = (a * number + a[0]) - number
        assert_same(got, (x * np.float32(number) + x[0]) - np.float32(number), rtol=1e-5)

    compute(3, 0.5)
    made = backend.device.recorder.counters["pipelines"]
    for n, number in ((4, 0.25), (100, -3.0), (1001, 1e-3)):
        compute(n, number)
    assert backend.device.recorder.counters["pipelines"] == made


def test_long_chains_and_many_arrays(bg: Any) -> None:
    x = sample("float32", (7, 9))
    a = bg.asarray(x)
    expected = x.copy()
    for number in range(500):
        a = a * 0.5 + float(number % 7)
        expected = expected * np.float32(0.5) + np.float32(number % 7)
    assert_same(a, expected, rtol=1e-5)
    parts = [sample("float32", 50, seed) for seed in range(40)]
    total = bg.zeros(50)
    for part in parts:
        total = total + bg.asarray(part)
    assert_same(total, np.sum(parts, axis=0, dtype=np.float64), rtol=1e-5)


def test_more_results_than_a_kernel_may_write(bg: Any) -> None:
    x = sample("float32", 60)
    a = bg.asarray(x)
    results = [a * float(n) + n for n in range(20)]
    for n, result in enumerate(results):
        assert_same(result, x * np.float32(n) + n, rtol=1e-6)


def test_shapes_beside_each_other(bg: Any) -> None:
    arrays = [bg.ones(n) for n in range(1, 30)]
    for _ in range(5):
        arrays = [a + 1 for a in arrays]
    for n, a in enumerate(arrays, 1):
        assert_same(a, np.full(n, 6.0))


def test_memory_stays_flat(bg: Any, backend: Any) -> None:
    x, y = bg.zeros(1000), bg.ones(1000)

    def run(times: int) -> Any:
        value = x
        for i in range(times):
            value = value * 0.999 + y
            if i % 250 == 249:
                value.numpy()
        return value

    run(500)
    gc.collect()
    before, objects = backend.device.memory.statistics(), len(gc.get_objects())
    last = run(2000)
    assert_same(last, np.full(1000, (1 - 0.999**2000) / 0.001), rtol=1e-4)
    del last
    gc.collect()
    after = backend.device.memory.statistics()
    assert (after["buffers"], after["in_use"]) == (before["buffers"], before["in_use"])
    assert after["peak"] == before["peak"]
    assert len(gc.get_objects()) - objects < 200


def test_a_failed_write_leaves_other_values_unchanged(
    bg: Any, backend: Any, monkeypatch: Any
) -> None:
    from browsergpu.errors import InvalidArgument, OutOfMemory

    x = sample("float32", 300)
    a = bg.asarray(x)
    b = a * 2
    memory = backend.device.memory

    def refuse(op: str, nbytes: int, label: str = "") -> Any:
        raise OutOfMemory(op, "no room", nbytes)

    with monkeypatch.context() as patched:
        patched.setattr(memory, "get_buffer", refuse)
        with pytest.raises(OutOfMemory):
            b.numpy()
    assert_same(b, x * 2)
    with pytest.raises(InvalidArgument):
        b + bg.ones(7)
    assert_same(b + 1, x * 2 + 1, rtol=1e-6)


def test_fused_kernels_give_the_same_bits_as_separate_ones(bg: Any) -> None:
    """For integers, comparisons and float16, which fused multiply-adds do not change."""
    for dtype in ("int8", "uint16", "int32", "float16", "bool"):
        x, y = sample(dtype, 500), sample(dtype, 500, 1)
        fused, eager = [], []
        for results, wait in ((fused, False), (eager, True)):
            a, b = bg.asarray(x), bg.asarray(y)
            for op in ("add", "multiply", "maximum", "multiply", "minimum", "add"):
                a = getattr(bg, op)(a, b)
                if wait:
                    a.numpy()
            results.append(a.numpy())
        np.testing.assert_array_equal(fused[0], eager[0], dtype)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "complex64"])
def test_operands_that_are_turned(bg: Any, dtype: str) -> None:
    """A kernel of tiles; the last tiles are not full."""
    for shape in ((33, 36), (100, 64), (3, 40, 44), (2, 3, 32, 68)):
        x, y = sample(dtype, (*shape[:-2], shape[-1], shape[-2])), sample(dtype, shape, 1)
        a, b = bg.asarray(x), bg.asarray(y)
        assert_same(+a.mT, x.swapaxes(-1, -2), f"{shape}")
        assert_same(bg.equal(a.mT, b), x.swapaxes(-1, -2) == y, f"{shape}")
        assert_same(+a[..., ::-1].mT, x[..., ::-1].swapaxes(-1, -2), f"{shape}, backwards")
        assert_same(+a[..., 1:, 1:].mT, x[..., 1:, 1:].swapaxes(-1, -2), f"{shape}, a part")


def test_held_values_outlive_others(bg: Any, backend: Any) -> None:
    x, y = sample("float32", 50), sample("float32", 50, 1)
    a, b = bg.asarray(x), bg.asarray(y)
    kept = bg.where(a > 0, a * 2, b)
    with dispatched(backend.device) as kernels:
        for i in range(200):
            (b + i) * kept
        other = kept - b
        for i in range(200):
            (other + i) * a
    assert not kernels
    expected = np.where(x > 0, x * 2, y)
    assert_same(other, expected - y)
    assert_same(kept, expected)
