"""Pipelines of generated kernels."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.faults import Faults
from browsergpu.engine.gpu.port import Gpu, Pipeline
from browsergpu.engine.kernels.fused.source import FILE, MOST_KERNELS, Source
from browsergpu.engine.kernels.text import shaders

#: The name of a generated kernel, which is in no table.
NAME = "fused"


class GeneratedPipelines(Shown):
    """The pipelines of generated kernels on one device.

    Parameters
    ----------
    recorder : Gpu
        The device's recorder.
    faults : Faults
        The invalid values that kernels report.
    immediate_bytes : int
        Maximum bytes of parameters that a kernel can take as immediates.
    cached : bool
        Whether pipelines are kept.
    """

    def __init__(
        self, recorder: Gpu, faults: Faults, immediate_bytes: int, *, cached: bool = True
    ) -> None:
        self._recorder = recorder
        self._faults = faults
        self._immediate_bytes = immediate_bytes
        self._cached = cached
        self._made: dict[Source, Pipeline] = {}
        #: Number of kernels compiled so far.
        self.compiled = 0
        #: The kernel of each pipeline, for profiles and check_nan.
        self.sources: WeakKeyDictionary[Pipeline, Source] = WeakKeyDictionary()

    def pipeline(self, kernel: Source) -> Pipeline:
        """Return the pipeline of a kernel.

        A new kernel is compiled in the background. The least recently used pipeline is evicted when
        the cache is full.
        """
        made = self._made.pop(kernel, None)
        if made is None or not self._cached:
            if len(self._made) >= MOST_KERNELS:
                del self._made[next(iter(self._made))]
            made = self._compile(kernel)
        self._made[kernel] = made
        self._faults.is_armed |= kernel.checks
        return made

    def __len__(self) -> int:
        return len(self._made)

    def _compile(self, kernel: Source) -> Pipeline:
        self.compiled += 1
        immediate = 4 * kernel.parameters <= self._immediate_bytes
        made = self._recorder.create_pipeline(
            label=kernel.label,
            file=FILE,
            sections=kernel.sections,
            code=shaders.with_immediates(kernel.code) if immediate else kernel.code,
            entry_point="main",
            signature=kernel.signature,
            constants={},
            parameter_format="I" * kernel.parameters,
            immediate=immediate,
            kernel=NAME,
        )
        self.sources[made] = kernel
        return made
