"""CuPy's names for devices, streams and memory, and copies to and from the host."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same

pytestmark = [pytest.mark.native, pytest.mark.firefox]

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    from browsergpu.compat.cupy import once

    once.reset_warnings()
    yield
    once.reset_warnings()


def test_arrays_to_the_host_and_back(bg: Any) -> None:
    a = bg.asarray(X)
    for found in (bg.asnumpy(a), a.get(), bg.asnumpy(X), bg.asnumpy(X.tolist())):
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, X)
    assert bg.asnumpy(a, order="F").flags.f_contiguous
    assert a.get(order="F").flags.f_contiguous
    out = np.zeros_like(X)
    assert a.get(out=out) is out
    np.testing.assert_array_equal(out, X)
    assert bg.asnumpy(a, bg.cuda.Stream.null, "C", out) is out
    view = a[1]
    a.set(X[::-1].copy())
    assert_same(a, X[::-1])
    assert_same(view, X[0])
    a.set(X, bg.cuda.Stream.null)
    assert_same(a, X)
    for call in (
        lambda: a.set(X[0]), lambda: a.set(X.astype("f8")), lambda: a.set([1, 2]),
        lambda: a.set(X, stream=3), lambda: a.get(out=np.zeros(3)), lambda: a.get(order="Z"),
        lambda: bg.asnumpy(a, blocking=False), lambda: a.get(blocking=False),
        lambda: a.get(stream=3), lambda: bg.asnumpy(a, out=[0]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            call()


def test_the_module_of_an_array(bg: Any) -> None:
    a = bg.asarray(X)
    assert bg.get_array_module(X, a) is bg
    assert bg.get_array_module(X, 3) is np
    assert bg.get_array_module() is np


def test_functions_that_are_fused(bg: Any) -> None:
    @bg.fuse()
    def one(x: Any, y: Any) -> Any:
        """x y + 1"""
        return x * y + 1

    @bg.fuse(kernel_name="mine")
    def two(x: Any) -> Any:
        return bg.exp(x) - x

    three = bg.fuse(lambda x: x * x)
    a = bg.asarray(X)
    assert_same(one(a, a), X * X + 1)
    assert (one.__doc__, two.__name__) == ("x y + 1", "mine")
    assert_same(two(a), np.exp(X) - X, rtol=1e-6)
    assert_same(three(a), X * X)
    assert bg.explain(one(a, a)).startswith("kernel 1 of 1: multiply, add")
    for call in (lambda: bg.fuse(3), lambda: bg.fuse(len, len), lambda: bg.fuse(kernel_name=3)):
        with pytest.raises(ValueError, match="must"):
            call()


def test_devices(bg: Any) -> None:
    cuda = bg.cuda
    before = bg.default_device()
    number = before.adapter.index
    assert cuda.Device() == cuda.Device(number)
    assert int(cuda.Device(number)) == cuda.Device(number).id == cuda.runtime.getDevice()
    with cuda.Device(number) as device:
        assert bg.zeros(3).device is before
        assert device.device is before
        device.synchronize()
    assert bg.default_device() is before
    cuda.runtime.setDevice(number)
    cuda.runtime.deviceSynchronize()
    assert cuda.runtime.getDeviceCount() >= 1
    assert cuda.is_available()
    for call, error in (
        (lambda: cuda.Device(-1), ValueError), (lambda: cuda.Device(99).use(), ValueError),
        (lambda: cuda.Device(number).compute_capability, NotImplementedError),
        (lambda: cuda.runtime.memcpy, NotImplementedError),
        (lambda: cuda.texture, AttributeError), (lambda: cuda.runtime._none, AttributeError),
    ):  # fmt: skip
        with pytest.raises(error):
            call()


def test_streams_and_events(bg: Any) -> None:
    cuda = bg.cuda
    with pytest.warns(RuntimeWarning, match="one queue") as caught:
        stream = cuda.Stream(non_blocking=True)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a second warning would be an error
        with cuda.Stream() as other:
            x = bg.ones(100) * 2
        start, end = cuda.Event(), stream.record()
    start.record(other)
    y = (x @ x).get()
    end = cuda.get_current_stream().record(end)
    stream.wait_event(end)
    stream.use().synchronize()
    end.synchronize()
    assert end.done
    assert y == 400
    assert cuda.get_elapsed_time(start, end) > 0
    for call in (
        lambda: cuda.Stream(priority=1), lambda: cuda.Stream(null=3), lambda: stream.wait_event(3),
        lambda: cuda.get_elapsed_time(cuda.Event(), end), lambda: end.record(3),
        lambda: cuda.get_elapsed_time(start, cuda.Event(disable_timing=True)),
        lambda: cuda.Event(interprocess=True), lambda: cuda.get_current_stream("one"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            call()


def test_memory_pools(bg: Any) -> None:
    pool = bg.get_default_memory_pool()
    memory = bg.default_device().memory
    x = bg.ones(1 << 16) + 1
    bg.eval(x)
    assert pool.used_bytes() == memory.in_use >= 4 << 16
    del x
    assert pool.total_bytes() == pool.used_bytes() + pool.free_bytes()
    pool.free_all_blocks()
    assert pool.free_bytes() == 0
    assert pool.get_limit() == 0
    pinned = bg.get_default_pinned_memory_pool()
    assert pinned.n_free_blocks() == 0
    with pytest.warns(RuntimeWarning, match="the browser or the driver"):
        pinned.free_all_blocks()
    with pytest.warns(RuntimeWarning, match="one pool"):
        bg.cuda.set_allocator(None)
    for call in (
        lambda: pool.set_limit(1), lambda: pool.set_limit(fraction=0.5),
        lambda: pool.free_all_blocks(stream=3), lambda: bg.cuda.set_allocator(3),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            call()


def test_a_program_of_cupys(bg: Any) -> None:
    """Conjugate gradients with only the import changed."""
    cp: Any = bg

    def fit(matrix: Any, b: Any) -> Any:
        xp = cp.get_array_module(matrix)
        x = xp.zeros_like(b)
        r = b - matrix @ x
        p = r.copy()
        before = (r * r).sum()
        for _ in range(20):
            ap = matrix @ p
            alpha = before / (p * ap).sum()
            x += alpha * p
            r -= alpha * ap
            after = (r * r).sum()
            if float(after) < 1e-10:
                break
            p = r + after / before * p
            before = after
        return x

    rng = np.random.default_rng(1)
    half = rng.normal(size=(12, 12)).astype(np.float32)
    matrix, b = half @ half.T + 12 * np.eye(12, dtype=np.float32), np.float32(rng.normal(size=12))
    with cp.cuda.Device(bg.default_device().adapter.index):
        x = fit(cp.asarray(matrix), cp.asarray(b))
        cp.cuda.get_current_stream().synchronize()
    np.testing.assert_allclose(cp.asnumpy(x), np.linalg.solve(matrix, b), atol=1e-4)
    np.testing.assert_allclose(cp.asnumpy(x), fit(matrix, b), atol=1e-4)


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_streams_events_and_memory_by_their_modules(bg: Any) -> None:
    x = bg.asarray([1.0, 2.0, 3.0])
    start, stop = bg.cuda.stream.Event(), bg.cuda.stream.Event()
    with bg.cuda.stream.Stream() as stream:
        start.record()
        y = bg.linalg.norm(x)
        stop.record(stream)
    assert bg.cuda.stream.get_elapsed_time(start, stop) >= 0
    assert y.item() == pytest.approx(14**0.5)
    assert bg.cuda.stream.get_current_stream() is bg.cuda.Stream.null
    bg.cuda.set_allocator(bg.cuda.MemoryPool().malloc)
    with pytest.raises(bg.errors.Unsupported, match=r"bg\.empty"):
        bg.cuda.MemoryPool().malloc(4)
    bg.cuda.set_pinned_memory_allocator(bg.cuda.PinnedMemoryPool().malloc)
    memory = np.frombuffer(bg.cuda.alloc_pinned_memory(12), np.float32)
    x.get(out=memory)
    assert memory.tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="allocator"):
        bg.cuda.set_pinned_memory_allocator(3)
