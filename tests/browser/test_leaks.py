"""10,000 rounds of alloc, operation and free leak nothing, and neither do closed backends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from harness.bare import BarePage
from harness.heap import Heap
from harness.lab import Lab

pytestmark = pytest.mark.all

ROUNDS = 10_000
WARM_UP = 1300  # fills the cache of plans, which holds a thousand

# The names of all WebGPU objects in a heap snapshot begin with GPU.
_GPU_OBJECT = re.compile(r"GPU[A-Z][A-Za-z]+")

# Chromium's own performance entries, of which a slow machine has more. The names of their lists
# contain the element type.
_TIMINGS = re.compile(
    r"Performance[A-Za-z]*|TaskAttributionTiming|blink::ScriptTimingInfo"
    r"|blink::HeapVectorBacking<.*blink::(Performance[A-Za-z]*|TaskAttributionTiming)\b.*>"
)

# Allowed growth by chance: one object per hundred rounds.
SLACK = ROUNDS // 100

_SETUP = """
import gc
import numpy as np
import js
from browsergpu import WasmBackend

backend = WasmBackend()
backend.init()
data = np.linspace(0.5, 1.5, 5000, dtype=np.float32)
result = np.zeros(16, np.float32)
sizes = [1, 3, 16, 61, 64, 65, 200, 256, 1000, 1024, 1031, 4096, 5000]

def play(rounds):
    for i in range(rounds):
        n = sizes[i % len(sizes)]
        x, y, z = (backend.alloc(4 * n) for _ in range(3))
        backend.copy_htod(x, data[:n])
        backend.copy_htod(y, data[:n].tobytes()[:4 * n - 1])
        backend.unary("sqrt", x, x, n)
        backend.binary("mul", x, x, z, n)
        backend.reduce("mean", x, y, [n], 0)
        # Each with a plan of its own. Of one row, since SwiftShader takes a millisecond for a row.
        backend.gemm("no_trans", "trans", 1, 1, 1, float(i), x, 1, x, 1, 1.0, z, 1)
        if i % 50 == 0:
            backend.copy_dtoh(result[:1], y)
        if i % 211 == 0:
            long = backend.alloc(4 * 70_000)
            backend.reduce("max", long, y, [70_000], 0)
            backend.free(long)
        for pointer in (y, x, z):
            backend.free(pointer)
    backend.synchronize()
    return True

def held():
    # Nothing is on its way any more.
    backend.synchronize()
    # Twice: what is freed in cycles may hold more cycles.
    gc.collect(); gc.collect()
    backend.device.memory.trim()
    memory, told = backend.device.memory, backend.device.recorder.counters
    return {
        "buffers in use": memory.buffers,
        "bytes in use": memory.in_use,
        "bytes allocated": memory.allocated,
        "buffers in the recorder's table": told["buffers"],
        "bind groups": told["bind_groups"],
        "pipelines": told["pipelines"],
        "staging buffers": told["staging"],
        "promises waited for": told["waiting"],
        "GPUBuffers not destroyed": js.gpuWatch.buffersAlive,
    }

def objects():
    # Pyodide's Python has no allocator of its own: sys.getallocatedblocks() is always 0 there.
    gc.collect(); gc.collect()
    return len(gc.get_objects())
"""


@pytest.fixture(scope="module")
def bare(lab: Lab) -> Iterator[BarePage]:
    """On the main thread, because DevTools can count its heap."""
    with lab.page_with_the_package("main") as bare:
        bare.run(_SETUP)
        yield bare


def gpu_objects(objects: Counter[str]) -> dict[str, int]:
    """Return the WebGPU objects among all objects."""
    return {name: count for name, count in objects.items() if _GPU_OBJECT.fullmatch(name)}


def growth(before: Counter[str], after: Counter[str]) -> dict[str, int]:
    """Return the growth of each kind of object, if it is at least SLACK."""
    grown = {name: after[name] - before[name] for name in after if not _TIMINGS.fullmatch(name)}
    return {name: more for name, more in grown.items() if more >= SLACK}


@pytest.mark.all
def test_ten_thousand_rounds_leave_nothing(bare: BarePage) -> None:
    heap = Heap(bare.page)
    bare.run(f"play({WARM_UP})")
    held = bare.run("held()")
    objects = heap.count()
    python_objects = bare.run("objects()")

    bare.run(f"play({ROUNDS})")

    assert bare.run("held()") == held
    assert bare.run("objects()") - python_objects < SLACK, "Python objects are left"
    after = heap.count()
    assert gpu_objects(after) == gpu_objects(objects)
    assert growth(objects, after) == {}, "JavaScript objects are left"


def test_reads_leave_nothing(bare: BarePage) -> None:
    heap = Heap(bare.page)
    bare.run("""
        x = backend.alloc(64)

        def read(rounds):
            for _ in range(rounds):
                backend.copy_dtoh(result, x)
                backend.synchronize()
            return True
    """)
    bare.run("read(50)")
    objects = heap.count()
    python_objects = bare.run("objects()")
    bare.run("read(300)")
    assert bare.run("objects()") - python_objects < SLACK
    assert growth(objects, heap.count()) == {}, "JavaScript objects are left"


def test_bind_groups_stay_bounded(bare: BarePage) -> None:
    kept: int = bare.run("""
        rng = np.random.default_rng(1)
        pointers = [backend.alloc(256) for _ in range(60)]
        for a, b, c in rng.integers(0, 60, (10_000, 3)).tolist():
            backend.binary("add", pointers[a], pointers[b], pointers[c], 4)
        backend.synchronize()
        kept = backend.device.recorder.counters["bind_groups"]
        for pointer in pointers:
            backend.free(pointer)
        kept
    """)
    # Nearly all of the 10,000 triples are different.
    assert kept <= 5000
    assert bare.run("backend.device.memory.trim(); held()")["bind groups"] == 0


def test_closed_backends_leave_nothing(bare: BarePage) -> None:
    code = """
        def open_and_close(times):
            for i in range(times):
                with WasmBackend(immediates=i % 2 == 0) as other:
                    other.init()
                    x = other.alloc(4096)
                    other.copy_htod(x, data[:1024])
                    other.unary("neg", x, x, 1024)
                    other.copy_dtoh(result, x)
                    other.alloc(100_000)  # closing frees what the user did not
            js.gpuWatch.devices.length = 1  # the watch must not keep them alive
            return True
    """
    heap = Heap(bare.page)
    bare.run(code)
    bare.run("open_and_close(6)")
    alive: int = bare.run("js.gpuWatch.buffersAlive")
    objects = heap.count()
    bare.run("open_and_close(20)")
    after = heap.count()
    assert bare.run("js.gpuWatch.buffersAlive") == alive
    assert gpu_objects(after) == gpu_objects(objects)
    assert growth(objects, after) == {}, "JavaScript objects are left"


def test_failed_calls_leave_nothing(bare: BarePage) -> None:
    bare.run("""
        from browsergpu.errors import InvalidArgument, OutOfMemory

        def fail(rounds):
            x = backend.alloc(64)
            bad = [
                lambda: backend.unary("relu", x, x, 17),
                lambda: backend.copy_htod(x, data),
                lambda: backend.copy_dtoh(data, x),
                lambda: backend.alloc(2**50),
                lambda: backend.free(x + 1_000_000),
                lambda: backend.reduce("sum", x, x, [16], 0),
            ]
            refused = 0
            for i in range(rounds):
                try:
                    bad[i % len(bad)]()
                except (InvalidArgument, OutOfMemory):
                    refused += 1
            backend.free(x)
            return refused
    """)
    heap = Heap(bare.page)
    bare.run("fail(120)")
    held: dict[str, Any] = bare.run("held()")
    python_objects = bare.run("objects()")
    objects = heap.count()
    assert bare.run("fail(1200)") == 1200
    assert bare.run("held()") == held
    assert bare.run("objects()") - python_objects < SLACK
    assert growth(objects, heap.count()) == {}, "JavaScript objects are left"
