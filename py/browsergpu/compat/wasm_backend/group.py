"""Groups of backends: scheduling by a policy, and copies between backends.

A page has access to only a few GPUs (see adapters.py). WebGPU devices do not share memory, so
copies go through the host. Several devices on one GPU share its speed, but errors or the loss of
one device do not affect the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from time import perf_counter

import numpy as np

from browsergpu.compat.wasm_backend.backend import WasmBackend
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import DeviceLost, InvalidArgument
from browsergpu.engine.core.showing import Shown, byte_count
from browsergpu.engine.gpu import platform

_SCORE_SIZE = 256  # side length of the square matrices in the timed product
_SCORE_PRODUCTS = 20
_SCORE_LONG = 0.02  # seconds of one product that is long compared with a wait


class Policy(StrEnum):
    """The policy by which a group chooses a backend.

    Attributes
    ----------
    ROUND_ROBIN
        One backend after the other.
    UTILIZATION
        The backend with the least unfinished work.
    PERFORMANCE
        The fastest backend, as measured by :meth:`BackendGroup.measure`.
    MEMORY
        The backend with the fewest bytes in use.
    """

    ROUND_ROBIN = "round_robin"
    UTILIZATION = "utilization"
    PERFORMANCE = "performance"
    MEMORY = "memory"


class BackendGroup(Shown):
    """Open backends that share work by a policy.

    Lost and closed backends are skipped.

    Parameters
    ----------
    backends : sequence of WasmBackend
        Open backends, at least one.
    policy : Policy or str
        How :meth:`choose` selects a backend.

    Raises
    ------
    InvalidArgument
        If a backend is not an open WasmBackend, or the policy is unknown.
    """

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
        """Return the backend for the next piece of work.

        Raises
        ------
        DeviceLost
            If all backends are lost or closed.
        InvalidArgument
            If the policy is ``performance`` and :meth:`measure` was not called.
        """
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
                "choose",
                "policy",
                self.policy,
                "a policy without measurements",
                "Call measure() first.",
            )
        scores = dict(zip(self.backends, self._scores, strict=True))
        return max(alive, key=lambda b: scores[b])

    def measure(self) -> list[float]:
        """Measure the speed of each backend on a small matrix product. Blocks until done.

        Returns
        -------
        list of float
            GFLOP/s of each backend, 0 for lost ones.
        """
        return platform.block_on(self.measure_async(), "measure")

    async def measure_async(self) -> list[float]:
        """Measure like :meth:`measure`, without blocking."""
        self._scores = [await _score(b) if _is_alive(b) else 0.0 for b in self.backends]
        return list(self._scores)

    def copy(self, source: WasmBackend, src: int, target: WasmBackend, dst: int) -> None:
        """Copy a whole buffer to the start of another backend's buffer. Blocks until done.

        Parameters
        ----------
        source, target : WasmBackend
            Backends of this group.
        src, dst : int
            Buffers of ``source`` and ``target``.

        Raises
        ------
        InvalidArgument
            If a backend is not in the group, or ``dst`` is smaller than ``src``.
        """
        platform.block_on(self.copy_async(source, src, target, dst), "copy")

    async def copy_async(
        self, source: WasmBackend, src: int, target: WasmBackend, dst: int
    ) -> None:
        """Copy like :meth:`copy`, without blocking."""
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
        if best < _SCORE_LONG:  # most of the time may be the wait
            best = min([await seconds(_SCORE_PRODUCTS) for _ in range(2)])
        return 2 * n**3 / best / 1e9
    finally:
        for pointer in pointers:
            backend.free(pointer)
