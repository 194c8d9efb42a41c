"""First results: while the selected kernel compiles, a call runs one that compiles sooner.

On an H200 the driver compiles the register tiles of matrix products and attention for 250 to 1,000
ms, and simple kernels for the same operations for 45 to 90 ms.
"""

from __future__ import annotations

from typing import Any, Protocol

from browsergpu.engine.gpu.port import Gpu, Pipeline
from browsergpu.engine.gpu.program import Dispatch, Program
from browsergpu.engine.kernels.choices import Choices
from browsergpu.engine.kernels.costs import work_of
from browsergpu.engine.kernels.table import KERNELS

#: Most operations on quick kernels while the same kernels compile, of one program or of many. With
#: more, they take longer than the compilation.
_MOST_OPERATIONS = 2.0**34
#: The same on kernels that are not much slower than the selected ones. A prompt of 512 tokens for
#: a model with 1,000 million weights has 2^40 operations.
_MOST_OF_KERNELS = {"quantized_tile": 2.0**41}

Key = tuple[Any, ...]


class Device(Protocol):
    """The parts of :class:`~browsergpu.engine.device.device.Device` that first results use."""

    recorder: Gpu
    #: Operations that quick kernels have computed in place of selected kernels.
    quick_operations: dict[tuple[tuple[str, str], ...], float]

    @property
    def variants(self) -> Choices:
        """The device's variants and picks."""

    def prepared(self, key: Key) -> Program:
        """Return the program of a key."""

    def pipeline(self, kernel: str, configuration: str = "") -> Pipeline:
        """Return a kernel compiled in one of its configurations."""

    def known_pipeline(self, name: str, configuration: str) -> Pipeline | None:
        """Return a kernel that is compiled or being compiled, or None."""

    def compiled_ahead(self, name: str, configuration: str) -> Pipeline:
        """Return a kernel that is being compiled in the background."""


def quick_program(device: Device, key: Key) -> Program | None:
    """Return a program on kernels that compile sooner than those of ``key``.

    Returns None if the kernels of ``key`` are compiled, or no others compile much sooner.
    """
    variants = device.variants
    with variants.noting() as asked:
        program = device.prepared(key)
    for op, size_class, able in asked:
        quick = variants.quick(op)
        if quick is None or not able(quick) or variants.choose(op, size_class, able) is quick:
            continue
        with variants.noting((op, size_class, quick), first=True):
            sooner = device.prepared(key)
        selected = tuple(_kernels(program))
        operations = device.quick_operations.get(selected, 0.0) + _operations(sooner)
        most = [_MOST_OF_KERNELS.get(kernel, _MOST_OPERATIONS) for kernel, _ in _kernels(sooner)]
        if operations > min(most, default=_MOST_OPERATIONS):
            continue
        known = [device.known_pipeline(*kernel) for kernel in selected]
        is_compiled = device.recorder.is_compiled
        if all(one is not None and is_compiled(one) is not False for one in known):
            return None
        for kernel in _kernels(sooner):
            device.pipeline(*kernel)  # first, so that the others do not delay it
        for kernel in selected:
            device.compiled_ahead(*kernel)
        device.quick_operations[selected] = operations
        return sooner
    return None


def _kernels(program: Program) -> list[tuple[str, str]]:
    return [
        (step.kernel, step.configuration) for step in program.steps if isinstance(step, Dispatch)
    ]


def _operations(program: Program) -> float:
    """Return the arithmetic operations of a program's kernels, as far as they are known."""
    total = 0.0
    for step in program.steps:
        if isinstance(step, Dispatch):
            names = [name for name, _ in KERNELS[step.kernel].params.fields]
            total += work_of(
                step.kernel, dict(zip(names, step.fields, strict=False)), step.grid[2]
            )[0]
    return total
