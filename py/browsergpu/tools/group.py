"""Several backends side by side: who computes next, and copies between them.

A page sees at most a few GPUs (see adapters.py), and a WebGPU device cannot reach another one's
memory: copies go through the host. Several devices on one GPU share it; they do not add speed, but
keep the work of one apart from the errors and the loss of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from time import perf_counter

import numpy as np

from browsergpu.api.wasm_backend.backend import WasmBackend
from browsergpu.core import checks
from browsergpu.core.errors import DeviceLost, InvalidArgument
from browsergpu.core.showing import Shown, byte_count
from browsergpu.gpu import platform

_SCORE_SIZE = 256  # of the square matrices whose product is timed
_SCORE_PRODUCTS = 20
_SCORE_LONG = 0.02  # seconds of one product, beside which a wait counts little


class Policy(StrEnum):
    """Which backend gets the next piece of work.

    round_robin: one after the other. utilization: the one with the least unfinished work.
    performance: the fastest, by :meth:`BackendGroup.measure`. memory: the one with the fewest
    bytes in use.
    """

    ROUND_ROBIN = "round_robin"
    UTILIZATION = "utilization"
    PERFORMANCE = "performance"
    MEMORY = "memory"


class BackendGroup(Shown):
    """Open backends that share work by a policy. Lost ones are passed over."""

    def __init__(
        self, backends: Sequence[WasmBackend], policy: Policy | str = Policy.ROUND_ROBIN
    ) -> None:
        op = "BackendGroup"
        self.policy = checks.choice(op, "policy", policy, Policy)
        if isinstance(backends, str) or not isinstance(backends, Sequence) or not backends:
            raise InvalidArgument(op, "backends", backends, "a sequence of at least one backend")
        self.backends = tuple(backends)
        for backend in self.backends:
            if not isinstance(backend, WasmBackend) or not backend.is_initialized:
                raise InvalidArgument(op, "backends", backend, "open WasmBackends")
        self._next = 0
        self._scores: list[float] = []

    def _facts(self) -> str:
        return f"of {len(self.backends)} backends, {self.policy}"

    def choose(self) -> WasmBackend:
        """The backend for the next piece of work. Raises DeviceLost where all are lost."""
        alive = [b for b in self.backends if _is_alive(b)]
        if not alive:
            raise DeviceLost("choose", "every device of the group is lost or closed")
        if self.policy is Policy.ROUND_ROBIN:
            chosen = alive[self._next % len(alive)]
            self._next += 1
            return chosen
        if self.policy is Policy.UTILIZATION:
            return min(alive, key=lambda b: b.device.recorder.unfinished)
        if self.policy is Policy.MEMORY:
            return min(alive, key=lambda b: b.device.memory.in_use)
        if not self._scores:
            raise InvalidArgument(
                "choose", "policy", self.policy, "a call of measure() before, for this policy"
            )
        scores = dict(zip(self.backends, self._scores, strict=True))
        return max(alive, key=lambda b: scores[b])

    def measure(self) -> list[float]:
        """GFLOP/s of each backend on a small matrix product, 0 for those that are lost. Waits."""
        return platform.block_on(self.measure_async(), "measure")

    async def measure_async(self) -> list[float]:
        """:meth:`measure` for callers that cannot block."""
        self._scores = [await _score(b) if _is_alive(b) else 0.0 for b in self.backends]
        return list(self._scores)

    def copy(self, source: WasmBackend, src: int, target: WasmBackend, dst: int) -> None:
        """Copies a whole buffer of one backend to the start of another one's. Waits."""
        platform.block_on(self.copy_async(source, src, target, dst), "copy")

    async def copy_async(
        self, source: WasmBackend, src: int, target: WasmBackend, dst: int
    ) -> None:
        """:meth:`copy` for callers that cannot block."""
        for name, backend in (("source", source), ("target", target)):
            if not any(backend is member for member in self.backends):
                raise InvalidArgument("copy", name, backend, "a backend of this group")
        contents = bytearray(source.buffer_bytes(src))
        if len(contents) > target.buffer_bytes(dst):
            raise InvalidArgument(
                "copy", "dst", dst, f"a buffer of at least {byte_count(len(contents))}"
            )
        await source.copy_dtoh_async(contents, src)
        target.copy_htod(dst, contents)


def _is_alive(backend: WasmBackend) -> bool:
    return backend.is_initialized and not backend.device.is_lost


async def _score(backend: WasmBackend) -> float:
    n = _SCORE_SIZE
    pointers: list[int] = []
    try:
        for _ in range(3):
            pointers.append(backend.alloc(4 * n * n, label="measure"))
        for pointer in pointers:
            backend.copy_htod(pointer, np.ones(n * n, np.float32))
        a, b, c = pointers

        async def seconds(count: int) -> float:
            start = perf_counter()
            for _ in range(count):
                backend.gemm("no_trans", "no_trans", n, n, n, 1.0, a, n, b, n, 0.0, c, n)
            await backend.synchronize_async()
            return (perf_counter() - start) / count

        await seconds(1)  # compiles the kernel
        best = await seconds(1)
        if best < _SCORE_LONG:  # most of that may be the wait
            best = min([await seconds(_SCORE_PRODUCTS) for _ in range(2)])
        return 2 * n**3 / best / 1e9
    finally:
        for pointer in pointers:
            backend.free(pointer)
