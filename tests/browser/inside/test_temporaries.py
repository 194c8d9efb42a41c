"""An operation that fails halfway frees its temporaries."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]


@pytest.fixture(scope="module")
def own() -> Iterator[Any]:
    """A backend for one test, with a memory limit.

    The limit is so small that no buffer is large enough to wait for the GPU.
    """
    from browsergpu import WasmBackend

    with WasmBackend(memory_limit=2**20) as backend:
        backend.init()
        yield backend


def held(backend: Any) -> tuple[int, int, dict[str, int]]:
    """Return the number of buffers in use, their bytes, and the bytes of each label."""
    memory = backend.device.memory
    return memory.buffers, memory.in_use, memory.by_label


# -- as a user meets it: a limit of memory, and ever more of it left -------------------------------


def with_ever_more_room(backend: Any, work: Callable[[], Any], most: int) -> int:
    """Call an operation with increasing memory until it has enough for its temporaries.

    Returns how often it failed. After each failure, as much memory is in use as before.
    """
    from browsergpu.errors import OutOfMemory

    memory = backend.device.memory
    limit = backend.device.config.memory_limit
    refused = 0
    for room in range(0, most, 256):
        memory.trim()
        filler = fill_up(backend, limit - memory.in_use - room)
        before = held(backend)
        try:
            work()
        except OutOfMemory:
            refused += 1
            assert held(backend) == before, f"{refused} requests were granted before"
        else:
            assert held(backend) == before
            return refused
        finally:
            for pointer in filler:
                backend.free(pointer)
    raise AssertionError(f"{most} bytes are not enough")


def fill_up(backend: Any, nbytes: int) -> list[int]:
    """Allocate buffers of ``nbytes`` in total, a multiple of 256."""
    from browsergpu.engine.gpu.memory import size_class

    pointers = []
    while nbytes > 0:
        size = nbytes
        while size_class(size) > nbytes:  # the next smaller class
            size -= max(256, size // 16 & ~255)
        pointers.append(backend.alloc(size))
        nbytes -= size_class(size)
    return pointers


def test_a_sum_of_integers_without_memory_leaves_nothing(own: Any) -> None:
    from browsergpu import KernelExecutor

    executor = KernelExecutor(own.device)
    x = executor.full((3 * 65536 + 5,), 2, "i32")
    out = executor.full((), 0, "i32")
    # Partial sums of some thousand elements each.
    assert with_ever_more_room(own, lambda: executor.sum(x, out=out), 8192) > 0
    assert out.numpy().tolist() == 2 * x.size


def test_a_variance_over_two_axes_without_room_leaves_nothing(own: Any) -> None:
    from browsergpu import KernelExecutor

    executor = KernelExecutor(own.device)
    data = np.random.default_rng(1).normal(size=(4, 3, 9000)).astype(np.float32)
    x, out = executor.from_numpy(data), executor.full((3,), 0.0)
    assert with_ever_more_room(own, lambda: executor.variance(x, (0, 2), out=out), 65536) > 0
    expected = data.astype(np.float64).var(axis=(0, 2))
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5)


# -- every operation, failing at each of its requests and of its dispatches ------------------------


@contextmanager
def failing(target: Any, method: str, number: int) -> Iterator[list[int]]:
    """Make a method's call number ``number`` raise. Yields a list that counts the calls."""
    from browsergpu.errors import OutOfMemory

    real = getattr(target, method)
    seen: list[int] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        seen.append(1)
        if len(seen) == number:
            raise OutOfMemory("test", f"refused at call {number} of {method}")
        return real(*args, **kwargs)

    setattr(target, method, call)
    try:
        yield seen
    finally:
        delattr(target, method)  # restores the class's method


KERNEL = """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@group(0) @binding(1) var<uniform> factor: vec4f;
@compute @workgroup_size(1) fn main() { y[0] = factor.x; }
"""


# Operations that need temporaries. Each creates its operands and returns a callable. `e` is a
# KernelExecutor, `t` a TensorBackend, `b` a WasmBackend.
CALLS: dict[str, Callable[[Any, Any, Any], Callable[[], Any]]] = {
    "softmax of long rows": lambda e, t, b: partial(e.softmax, e.full((2, 20_001), 0.5)),
    "layer_norm of long rows": lambda e, t, b: partial(e.layer_norm, e.full((2, 20_001), 0.5)),
    "add_layer_norm of long rows": lambda e, t, b: partial(
        e.add_layer_norm, e.full((2, 20_001), 0.5), e.full((2, 20_001), 0.5)
    ),
    "sum": lambda e, t, b: partial(e.sum, e.full((66_000,), 1.0)),
    "mean of f16": lambda e, t, b: partial(e.mean, e.full((66_000,), 1.0, "f16")),
    "max of two axes": lambda e, t, b: partial(e.max, e.full((3, 4, 5), 1.0), (0, 2)),
    "sum of whole numbers": lambda e, t, b: partial(e.sum, e.full((66_000,), 1, "i32")),
    "sum of whole numbers over two axes": lambda e, t, b: partial(
        e.sum, e.full((300, 2, 300), 1, "i32"), (0, 2)
    ),
    "variance": lambda e, t, b: partial(e.variance, e.full((66_000,), 1.0)),
    "variance over two axes": lambda e, t, b: partial(
        e.variance, e.full((40, 3, 50), 1.0), (0, 2)
    ),
    "batch_norm in training": lambda e, t, b: partial(
        e.batch_norm_training, e.full((2, 3, 5, 5), 1.0)
    ),
    "add, broadcast over many axes": lambda e, t, b: partial(
        e.add, e.full((2,) * 8, 1.0), e.full((1, 2) * 4, 1.0)
    ),
    "add of f16 and a number": lambda e, t, b: partial(e.add, e.full((7, 9), 0.5, "f16"), 1.0),
    "matmul": lambda e, t, b: partial(e.matmul, e.full((3, 1000), 0.5), e.full((1000, 4), 0.5)),
    "linear of f16": lambda e, t, b: partial(
        e.linear, e.full((5, 6), 0.5, "f16"), e.full((6, 7), 0.5, "f16"), e.full((7,), 1.0, "f16")
    ),
    "conv2d": lambda e, t, b: partial(
        e.conv2d, e.full((1, 256, 5, 5), 1.0), e.full((3, 256, 3, 3), 1.0)
    ),
    "attention of f16": lambda e, t, b: partial(e.attention, *(e.full((2, 9, 4), 0.5, "f16"),) * 3),
    "a kernel of the user's": lambda e, t, b: partial(
        e.execute_custom_kernel, KERNEL, None, [e.full((4,), 1.0)], 1, bytes(16)
    ),
    "cross_entropy of long rows": lambda e, t, b: partial(
        t.cross_entropy, t.alloc_tensor((2, 20_001), "f32"), t.alloc_tensor((2,), "i32"),
        t.alloc_tensor((2,), "f32"), t.alloc_tensor((2, 20_001), "f32"),
    ),
    "cross_entropy, its mean, in f16": lambda e, t, b: partial(
        t.cross_entropy, t.alloc_tensor((2, 5), "f16"), t.alloc_tensor((2,), "i32"),
        t.alloc_tensor((), "f32"), t.alloc_tensor((2, 5), "f16"),
    ),
    "gelu of f16": lambda e, t, b: partial(t.gelu, *(t.alloc_tensor((9,), "f16"),) * 2),
    "gaussian_blur": lambda e, t, b: partial(
        t.gaussian_blur, *(t.alloc_tensor((9, 8, 3), "u8"),) * 2, 1.5
    ),
    "gemm_f16": lambda e, t, b: partial(
        b.gemm_f16, 9, 9, 9, 1.0, b.alloc(162), b.alloc(162), 1.0, b.alloc(162)
    ),
}  # fmt: skip


@contextmanager
def prepared(backend: Any, name: str) -> Iterator[Callable[[], Any]]:
    """Yield one of CALLS, ready to be called."""
    from browsergpu import KernelExecutor, TensorBackend

    before = set(backend._buffers)
    yield CALLS[name](KernelExecutor(backend.device), TensorBackend(backend), backend)
    backend.synchronize()
    for pointer in set(backend._buffers) - before:
        backend.free(pointer)


def fails_everywhere(backend: Any, name: str, call: Callable[[], Any]) -> int:
    """Fail an operation at each of its allocations and dispatches in turn.

    Returns the number of failures.
    """
    from browsergpu.errors import OutOfMemory

    device = backend.device
    failures = 0
    recorder = device.recorder
    places = ((device.memory, "get_buffer"), (recorder, "dispatch"), (recorder, "repeat"))
    for target, method in places:
        number = 0
        while True:
            number += 1
            before = held(backend)
            with failing(target, method, number) as seen:
                try:
                    call()
                except OutOfMemory:
                    failures += 1
            assert held(backend) == before, f"{name}: call {number} of {method} was refused"
            if len(seen) < number:
                break
    return failures


@pytest.mark.parametrize("name", CALLS)
def test_an_operation_that_fails_half_way_leaves_nothing(own: Any, name: str) -> None:
    gc.collect()
    with prepared(own, name) as call:
        assert fails_everywhere(own, name, call) >= 1


@pytest.mark.parametrize(
    ("op", "variant", "name"), [("gemm", "tile32", "matmul"), ("conv2d", "tile32_split", "conv2d")]
)
def test_variants_that_cut_sums_leave_nothing_either(
    own: Any, op: str, variant: str, name: str
) -> None:
    gc.collect()
    with prepared(own, name) as call, own.device.variants.only(op, variant):
        with failing(own.device.memory, "get_buffer", 0) as requests:
            call()
        assert len(requests) > 1, "no more than the result"
        assert fails_everywhere(own, f"{op} {variant}", call) >= 4
