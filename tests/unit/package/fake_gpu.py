"""A fake Gpu that computes nothing and records its calls, so that tests can inspect programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from struct import Struct
from typing import Any

from browsergpu.engine.core.config import BackendConfig
from browsergpu.engine.core.grids import MAX_PER_DIMENSION
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.adapter_info import AdapterInfo
from browsergpu.engine.gpu.port import Gpu, Observer, Pipeline
from browsergpu.engine.gpu.program import BoundStep
from browsergpu.engine.kernels.base.workgroup_sizes import WorkgroupSizes

MATRICES = frozenset(
    {"shader-f16", "subgroups", "subgroup-size-control", "chromium-experimental-subgroup-matrix"}
)
ABILITIES = frozenset({"subgroups of 32", "matrices f16 f32 16x16x16", "matrices f16 f16 16x16x16"})
# The default limits of every WebGPU device, except sizes: https://www.w3.org/TR/webgpu/#limits
LIMITS = {
    "maxBufferSize": 2**32,
    "maxStorageBufferBindingSize": 2**31,
    "maxUniformBufferBindingSize": 65_536,
    "maxComputeWorkgroupStorageSize": 49_152,
    "maxComputeInvocationsPerWorkgroup": 1024,
    "maxComputeWorkgroupSizeX": 1024,
    "maxBindingsPerBindGroup": 1000,
    "maxStorageBuffersPerShaderStage": 8,
    "maxImmediateSize": 64,
}


class FakeGpu(Gpu):
    """A fake Gpu. ``told`` holds the arguments of each :meth:`run`, in order."""

    def __init__(self, features: frozenset[str] = frozenset(), **limits: int) -> None:
        self.features = features
        self.limits: Mapping[str, int] = {**LIMITS, **limits}
        self.has_immediates = True
        self.failed: set[int] = set()
        self.is_short_of_memory = False
        self.refused: set[int] = set()
        self.is_ahead = False
        self.observers: list[Observer] = []
        self.loss: Sequence[int] = [0]
        self.told: list[tuple[BoundStep, tuple[int, ...], tuple[float, ...]]] = []
        #: The arguments of each :meth:`dispatch`.
        self.dispatched: list[tuple[Pipeline, tuple[float, ...]]] = []
        self.buffers: dict[int, int] = {}
        self.is_closed = False
        self._pipelines = count(16)

    def create_pipeline(self, *, label: str, kernel: str = "", **spec: Any) -> Pipeline:
        access = "".join(filter(str.isalpha, spec["signature"]))
        form = Struct("<IIII" + "I" * len(access) + spec["parameter_format"])
        return Pipeline(
            next(self._pipelines), label, form.size, form.pack_into, kernel, access=access
        )

    def run(
        self, steps: Sequence[BoundStep], ids: tuple[int, ...], late: tuple[float, ...] = ()
    ) -> None:
        for step in steps:
            picked = step.pick(ids)
            assert all(identity in self.buffers for identity in picked)
            if step.pipeline is not None:
                rest = late if step.open else ()
                self._pack(step.pipeline, (*step.grid, *picked, *step.fields, *rest))
            self.told.append((step, picked, late if step.open else ()))

    def dispatch(self, pipeline: Pipeline, *fields: float) -> None:
        self._pack(pipeline, fields)
        self.dispatched.append((pipeline, fields))

    def _pack(self, pipeline: Pipeline, fields: tuple[float, ...]) -> None:
        assert max(fields[:3]) <= MAX_PER_DIMENSION
        pipeline.pack_into(bytearray(pipeline.nbytes), 0, pipeline.id, *fields)

    def packed(self, step: BoundStep, ids: tuple[int, ...]) -> Any:
        return step, ids

    def repeat(self, packed: Any) -> None:
        step, ids = packed
        self.run((step,), ids)

    def create_buffer(
        self, identity: int, nbytes: int, label: str, op: str, requested: int
    ) -> None:
        self.buffers[identity] = nbytes

    async def create_buffer_checked(self, identity: int, nbytes: int, label: str) -> bool:
        self.create_buffer(identity, nbytes, label, "", nbytes)
        return True

    def destroy_buffer(self, identity: int) -> None:
        del self.buffers[identity]

    def write(self, buffer: int, at: int, source: Any, nbytes: int) -> None:
        assert at + nbytes <= self.buffers[buffer]

    def clear(self, buffer: int, at: int, nbytes: int) -> None:
        assert at + nbytes <= self.buffers[buffer]

    def trim_staging(self) -> None:
        pass

    @property
    def closed(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True


def fake_device(
    vendor: str = "acme",
    features: frozenset[str] = frozenset(),
    abilities: frozenset[str] = frozenset(),
    **limits: int,
) -> Device:
    """Return an open device on a FakeGpu."""
    gpu = FakeGpu(features, **limits)
    info = AdapterInfo(0, vendor, "", "", "", "gpu", features, dict(gpu.limits), abilities)
    return Device(info, gpu, BackendConfig(warm_up=False), WorkgroupSizes())


@contextmanager
def programs(device: Device) -> Iterator[list[str]]:
    """Yield a list that holds the steps of the block after it ends.

    A step is "kernel.configuration x×y×z". If its result goes to temporaries, "+" and their number
    of words follow. A copy is "copy".
    """
    gpu = device.recorder
    assert isinstance(gpu, FakeGpu)
    gpu.told.clear()
    seen: list[str] = []
    yield seen
    for step, _, _ in gpu.told:
        if step.pipeline is None:
            seen.append("copy")
        else:
            seen.append(f"{step.pipeline.label} {'×'.join(map(str, step.grid))}")
