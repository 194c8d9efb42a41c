"""Every operation computes on the GPU and reads nothing back.

pages/watch-webgpu.mjs counts the WebGPU calls outside the package, and the package's counters
agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.gpu import Scratch, on_gpu, random_array
from inside.reference import BINARY_OPS, REDUCE_OPS, UNARY_OPS

pytestmark = pytest.mark.firefox


def watched() -> dict[str, int]:
    """Return the counts of WebGPU calls so far."""
    import js

    names = ("dispatches", "submits", "mappings")
    return {name: getattr(js.gpuWatch, name) for name in names}


def random_buffer(gpu: Scratch, count: int, seed: int = 1) -> int:
    return gpu.upload(random_array(seed, count))


def gemm(backend: Any, gpu: Scratch) -> None:
    a, b, c = (random_buffer(gpu, 64, seed) for seed in range(3))
    backend.gemm("no_trans", "trans", 8, 8, 8, 1.0, a, 8, b, 8, 0.5, c, 8)


def batched_gemm(backend: Any, gpu: Scratch) -> None:
    a, b, c = (random_buffer(gpu, 32, seed) for seed in range(3))
    backend.batched_gemm("no_trans", "no_trans", 4, 4, 4, 1.0, a, 4, 16, b, 4, 16, 0.5, c, 4, 16, 2)


def gemm_f16(backend: Any, gpu: Scratch) -> None:
    a, b, c = (gpu.upload(random_array(seed, 64, dtype=np.float16)) for seed in range(3))
    backend.gemm_f16(8, 8, 8, 1.0, a, b, 0.5, c)


def conv2d(backend: Any, gpu: Scratch) -> None:
    x, w, y = random_buffer(gpu, 2 * 8 * 8), random_buffer(gpu, 3 * 2 * 9), gpu.filled(3 * 36)
    backend.conv2d_forward(x, [1, 2, 8, 8], w, [3, 2, 3, 3], y, [1, 3, 6, 6], [1, 1], [0, 0])


def attention(backend: Any, gpu: Scratch) -> None:
    q, k, v = (random_buffer(gpu, 2 * 5 * 7, seed) for seed in range(3))
    backend.attention(q, k, v, gpu.filled(70), 1, 2, 5, 5, 7, 0.5, True)


def unary(op: str) -> Any:
    return lambda backend, gpu: backend.unary(op, random_buffer(gpu, 99), gpu.filled(99), 99)


def binary(op: str) -> Any:
    return lambda backend, gpu: backend.binary(
        op, random_buffer(gpu, 99), random_buffer(gpu, 99), gpu.filled(99), 99
    )


def reduce(op: str, axis: int) -> Any:
    return lambda backend, gpu: backend.reduce(
        op, random_buffer(gpu, 70_000), gpu.filled(35_000), [35_000, 2], axis
    )


CALLS = {
    "gemm": gemm,
    "batched_gemm": batched_gemm,
    "gemm_f16": gemm_f16,
    "conv2d_forward": conv2d,
    "attention": attention,
    **{f"unary {op}": unary(op) for op in UNARY_OPS},
    **{f"binary {op}": binary(op) for op in BINARY_OPS},
    **{f"reduce {op} rows": reduce(op, 1) for op in REDUCE_OPS},
    **{f"reduce {op} columns": reduce(op, 0) for op in REDUCE_OPS},
}


@pytest.mark.fast
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_an_op_dispatches_and_reads_nothing_back(backend: Any, call: Any) -> None:
    class Prepared(Scratch):
        """Counts start at the last upload, so that only the op itself is counted."""

        def alloc(self, nbytes: int) -> int:
            pointer = super().alloc(nbytes)
            backend.synchronize()
            return pointer

        def upload(self, array: np.ndarray) -> int:
            pointer = super().upload(array)
            backend.synchronize()
            marks[:] = [(watched(), backend.device.recorder.counters)]
            return pointer

    marks: list[Any] = []
    gpu = Prepared(backend)
    try:
        call(backend, gpu)
        backend.synchronize()
        (seen_before, told_before), seen = marks[0], watched()
        told = backend.device.recorder.counters
    finally:
        gpu.free()
    assert seen["dispatches"] > seen_before["dispatches"], "nothing was dispatched"
    assert seen["mappings"] == seen_before["mappings"], "something was read back"
    assert told["readbacks"] == told_before["readbacks"]
    assert told["uploads"] == told_before["uploads"], "something was computed on the CPU"
    assert (
        told["dispatches"] - told_before["dispatches"]
        == seen["dispatches"] - seen_before["dispatches"]
    ), "the recorder's own count is wrong"


def test_ops_are_batched(backend: Any) -> None:
    with on_gpu(backend) as gpu:
        x = gpu.upload(random_array(1, 64))
        for _ in range(3):  # until they are known to be quick
            backend.unary("neg", x, x, 64)
            backend.synchronize()
        before = watched()
        for _ in range(100):
            backend.unary("neg", x, x, 64)
        backend.synchronize()
        after = watched()
    assert after["dispatches"] - before["dispatches"] == 100
    assert after["submits"] - before["submits"] <= 4


def test_nothing_is_sent_until_somebody_waits(backend: Any) -> None:
    with on_gpu(backend) as gpu:
        x = gpu.upload(random_array(1, 64))
        backend.synchronize()
        before = watched()
        for _ in range(10):
            backend.unary("neg", x, x, 64)
        assert watched()["submits"] == before["submits"]
        gpu.download(x, 64)
        assert watched()["mappings"] == before["mappings"] + 1


def test_a_read_of_nothing_does_not_wait(backend: Any) -> None:
    with on_gpu(backend) as gpu:
        before = watched()["mappings"]
        backend.copy_dtoh(bytearray(), gpu.alloc(4))
        assert watched()["mappings"] == before
