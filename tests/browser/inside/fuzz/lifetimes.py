"""Random lifetimes of buffers, with a model of the expected contents.

Reads run concurrently, together with errors, losses of the GPU at any moment, and unreferenced
objects.
"""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

import numpy as np

from inside.comparison import assert_same_bits
from inside.gpu import SENTINEL
from inside.losing import destroy

MOST_BUFFERS = 5
BROKEN = """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] = unknown_name; }
"""

_names = count()


@dataclass
class Kept:
    """A buffer kept across device losses: GPU contents, and the host's copy with times."""

    pointer: int
    device: np.ndarray
    known: np.ndarray
    stamps: np.ndarray
    reading: list[tuple[int, np.ndarray, np.ndarray, Any]] = field(default_factory=list)

    def note(self, time: int, values: np.ndarray) -> None:
        """Record values that the host wrote, or read, at the given time."""
        newer = self.stamps[: len(values)] <= time
        self.known[: len(values)][newer] = values[newer]
        self.stamps[: len(values)][newer] = time


class Machine:
    """Makes random steps, one after another, on its own backend."""

    def __init__(self) -> None:
        from browsergpu import WasmBackend

        self.backend = WasmBackend(warm_up=False)
        self.random = Random(0)
        self.buffers: list[Kept] = []
        self.time = 0

    async def open(self) -> None:
        await self.backend.init_async()

    async def step(self, seed: int) -> None:
        """Make one step, selected by the seed."""
        self.random = Random(seed)
        self.time += 1
        if len(self.buffers) < 2:
            self._new()
        name = self.random.choice(self._STEPS)
        await getattr(self, name)()

    async def finish(self) -> None:
        """End all reads, check and free all buffers, and check that nothing is left."""
        await self._end_all_reads()
        for kept in self.buffers:
            await self._check(kept)
            self.backend.free(kept.pointer)
        self.buffers.clear()
        gc.collect()
        memory = self.backend.device.memory
        assert (memory.buffers, memory.in_use) == (0, 0), memory.by_label

    def close(self) -> None:
        self.backend.close()

    def _new(self) -> None:
        n = self.random.choice([1, 3, 64, 100, 3000])
        kept = Kept(
            self.backend.alloc(4 * n, keep=True, label="kept"),
            *(np.zeros(n, np.float32) for _ in range(2)), np.zeros(n, int),
        )  # fmt: skip
        self.buffers.append(kept)
        self._write_to(kept, n)

    def _write_to(self, kept: Kept, n: int) -> None:
        values = np.random.default_rng(self.random.getrandbits(32)).normal(size=n)
        data = values.astype(np.float32)
        self.backend.copy_htod(kept.pointer, data)
        kept.device[:n] = data
        kept.note(self.time, data)

    # -- steps -----------------------------------------------------------------------------------

    async def new(self) -> None:
        if len(self.buffers) < MOST_BUFFERS:
            self._new()

    async def write(self) -> None:
        kept = self.random.choice(self.buffers)
        self._write_to(kept, self.random.randint(1, len(kept.device)))

    async def compute(self) -> None:
        kept = self.random.choice(self.buffers)
        n = self.random.randint(1, len(kept.device))
        self.backend.unary("neg", kept.pointer, kept.pointer, n)
        kept.device[:n] = -kept.device[:n]

    async def read(self) -> None:
        """Start a read, which may end much later."""
        kept = self.random.choice(self.buffers)
        n = self.random.randint(1, len(kept.device))
        target = np.full(n, SENTINEL, np.float32)
        task = asyncio.ensure_future(self.backend.copy_dtoh_async(target, kept.pointer))
        await asyncio.sleep(0)  # it has started
        kept.reading.append((self.time, kept.device[:n].copy(), target, task))

    async def pause(self) -> None:
        await asyncio.sleep(0)

    async def wait(self) -> None:
        from browsergpu.errors import ShaderCompilation

        with suppress(ShaderCompilation):
            await self.backend.synchronize_async()

    async def end_reads(self) -> None:
        await self._end_all_reads()

    async def break_a_shader(self) -> None:
        """Break a kernel. Pending waits get the error, and no data."""
        self.backend.device.recorder.create_pipeline(
            label="broken", file="broken.wgsl", code=f"{BROKEN}// {next(_names)}",
            entry_point="main", signature="0w", constants={}, parameter_format="",
            immediate=False,
        )  # fmt: skip

    async def drop(self) -> None:
        """Drop objects, which must free their memory."""
        from browsergpu import Buffer, KernelExecutor, TensorBackend

        memory = self.backend.device.memory
        before = memory.buffers, memory.in_use
        n = self.random.randint(1, 500)
        executor = KernelExecutor(self.backend.device)
        a = executor.full((n,), 1.5)
        b = executor.sum(executor.add(a, 2.0)) if self.random.random() < 0.5 else a
        buffer = Buffer(self.backend.device, 4 * n)
        part = buffer.range(0, 2)
        tensors = TensorBackend(self.backend)
        handle = tensors.alloc_tensor((n,), "f16")
        tensors.relu(handle, handle)
        del a, b, buffer, part, tensors, executor
        gc.collect()
        assert (memory.buffers, memory.in_use) == before

    async def lose(self) -> None:
        """Lose the GPU with reads under way. Recovery restores the contents that the host knows."""
        from browsergpu.errors import DeviceLost

        destroy(self.backend.device)
        await self._end_all_reads(lost=True)
        with suppress(DeviceLost):
            await self.backend.synchronize_async()
        await self.backend.recover()
        for kept in self.buffers:
            kept.device = kept.known.copy()
            await self._check(kept)

    # -- checks ----------------------------------------------------------------------------------

    async def _end_all_reads(self, *, lost: bool = False) -> None:
        """Assert that each read has the contents at its start, or raised without writing."""
        from browsergpu.errors import DeviceLost, ShaderCompilation

        for kept in self.buffers:
            reading, kept.reading = kept.reading, []
            self.random.shuffle(reading)
            for time, expected, target, task in reading:
                try:
                    await task
                except ShaderCompilation:
                    continue
                except DeviceLost:
                    assert lost, "the GPU is not lost"
                    continue
                assert_same_bits(target, expected, f"read at {time}")
                kept.note(time, expected)

    async def _check(self, kept: Kept) -> None:
        from browsergpu.errors import ShaderCompilation

        result = np.full(len(kept.device), SENTINEL, np.float32)
        while True:
            try:
                await self.backend.copy_dtoh_async(result, kept.pointer)
            except ShaderCompilation:  # from an earlier step, raised by this wait
                continue
            break
        assert_same_bits(result, kept.device, "what is in a kept buffer")
        kept.note(self.time, result)

    _STEPS = (
        *("new", "drop", "wait", "break_a_shader", "lose"),
        *("write", "compute", "pause", "end_reads") * 3,
        *("read",) * 8,
    )
