"""Debug mode: every operation is validated by itself, and its results can be checked for NaN."""

from __future__ import annotations

import re
from functools import cache
from weakref import proxy

import numpy as np

from browsergpu import _js, shaders
from browsergpu.device import Device
from browsergpu.errors import ValidationError
from browsergpu.kernels import KERNELS, WRITE
from browsergpu.recorder import Pipeline


class Debugger:
    """Looks on as a device's recorder records dispatches. NaN are looked for in the whole of a
    written buffer, which check_nan has cleared when it was allocated.

    Where Python can block, an error is raised by the very call that caused it; elsewhere by the
    next call that waits, in that call's name.
    """

    def __init__(self, device: Device) -> None:
        self._device: Device = proxy(device)  # which holds the recorder, and this one with it

    def __call__(self, pipeline: Pipeline, fields: tuple[float, ...]) -> None:
        recorder = self._device.recorder
        recorder.submit()
        if not _js.can_block():
            return
        _js.block_on(recorder.synchronize(), pipeline.label)
        if self._device.config.check_nan:
            self._check_nan(pipeline, fields)

    def _check_nan(self, pipeline: Pipeline, fields: tuple[float, ...]) -> None:
        kernel = KERNELS.get(pipeline.kernel)
        if kernel is None:
            return
        recorder = self._device.recorder
        written = _written_floats(kernel.name)
        for binding, identity in zip(kernel.bindings, fields[3:], strict=False):
            if binding.number not in written:
                continue
            nbytes = self._device.memory.capacity_of(int(identity))
            values = np.empty(nbytes // 4, np.float32)
            _js.block_on(recorder.read(int(identity), 0, values.data, nbytes), pipeline.label)
            found = np.isnan(values)
            if found.any():
                raise ValidationError(
                    pipeline.label,
                    f"{int(found.sum())} of {values.size} elements of {binding.name!r} are NaN, "
                    f"the first at {int(found.argmax())}",
                )


@cache
def _written_floats(name: str) -> frozenset[int]:
    """Numbers of the bindings that a kernel writes float32 to."""
    kernel = KERNELS[name]
    source = shaders.load(kernel.shader)
    return frozenset(
        binding.number
        for binding in kernel.bindings
        if binding.access == WRITE
        and re.search(rf"@binding\({binding.number}\)[^;]*array<(f32|vec4f)>", source)
    )
