"""The GPU: adapter and device as plain Python, with the pipelines compiled on it so far."""

from __future__ import annotations

from typing import Any, Literal, get_args

from browsergpu import _js, shaders
from browsergpu.errors import InvalidArgument, NoAdapter
from browsergpu.kernels import KERNELS
from browsergpu.memory import Memory
from browsergpu.recorder import Pipeline, Recorder

PowerPreference = Literal["high-performance", "low-power"]

#: Optional features that kernels or tools make use of; a device is given those its adapter has.
WANTED_FEATURES = frozenset(
    {
        "shader-f16",
        "subgroups",
        "subgroup-size-control",
        "timestamp-query",
        "chromium-experimental-subgroup-matrix",
        "chromium-experimental-timestamp-query-inside-passes",
    }
)


def is_available() -> bool:
    """Whether this Python runs where there is WebGPU at all; the adapter may still be refused."""
    return _js.gpu() is not None


class Device:
    """One GPUDevice with its recorder, memory and compiled kernels.

    Made by :meth:`request`. ``info`` says which GPU it is (vendor, architecture, device,
    description), ``features`` and ``limits`` are those of the device, by WebGPU's names.
    """

    def __init__(self, gpu_adapter: Any, gpu_device: Any, *, immediates: bool) -> None:
        self.info = _info(gpu_adapter.info)
        self.features = frozenset(str(feature) for feature in gpu_device.features)
        self.limits = _limits(gpu_device.limits)
        #: Bytes of parameters that a kernel can take as immediates; 0: all go through the
        #: uniform ring.
        self.immediate_bytes = (
            self.limits.get("maxImmediateSize", 0)
            if immediates and "immediate_address_space" in _js.wgsl_language_features()
            else 0
        )
        self.recorder = Recorder(gpu_device)
        self.memory = Memory(self.recorder, self.largest_buffer)
        self._pipelines: dict[tuple[str, str], Pipeline] = {}

    @classmethod
    async def request(
        cls,
        *,
        power_preference: PowerPreference = "high-performance",
        immediates: bool = True,
    ) -> Device:
        """Opens the browser's GPU with all its limits and every feature in WANTED_FEATURES.

        ``immediates=False`` sends parameters through the uniform ring even where the browser
        has WGSL immediates. Raises NoAdapter where there is no WebGPU or no GPU.
        """
        if power_preference not in get_args(PowerPreference):
            raise InvalidArgument(
                "Device.request",
                "power_preference",
                power_preference,
                " or ".join(map(repr, get_args(PowerPreference))),
            )
        gpu = _js.gpu()
        if gpu is None:
            raise NoAdapter("Device.request", _js.why_no_gpu())
        options = _js.to_object({"powerPreference": power_preference})
        adapter = _js.or_none(await gpu.requestAdapter(options))
        if adapter is None:
            raise NoAdapter(
                "Device.request",
                "the browser gives no GPU adapter; reload the page (a browser refuses adapters "
                "after a GPU crash), turn hardware acceleration on, or update the GPU's driver",
            )
        features = sorted(WANTED_FEATURES.intersection(str(f) for f in adapter.features))
        try:
            gpu_device = await adapter.requestDevice(
                _js.to_object(
                    {
                        "label": "browsergpu",
                        "requiredFeatures": features,
                        "requiredLimits": _limits(adapter.limits),
                    }
                )
            )
        except _js.JsError as error:
            raise NoAdapter(
                "Device.request", f"the adapter gives no device: {error}; reload the page"
            ) from error
        return cls(adapter, gpu_device, immediates=immediates)

    @property
    def largest_buffer(self) -> int:
        """Bytes that one buffer can have: it must fit both an allocation and a binding."""
        return min(self.limits["maxBufferSize"], self.limits["maxStorageBufferBindingSize"])

    def pipeline(self, kernel: str, configuration: str = "") -> Pipeline:
        """The kernel compiled in one of its configurations, from the cache after the first time."""
        key = (kernel, configuration)
        pipeline = self._pipelines.get(key)
        if pipeline is None:
            pipeline = self._pipelines[key] = self._compile(kernel, configuration)
        return pipeline

    def _compile(self, name: str, configuration: str) -> Pipeline:
        kernel = KERNELS[name]
        immediate = 0 < kernel.params.nbytes <= self.immediate_bytes
        source = shaders.load(kernel.shader)
        return self.recorder.create_pipeline(
            label=f"{name}.{configuration}" if configuration else name,
            file=kernel.shader,
            code=shaders.with_immediates(source) if immediate else source,
            entry_point=kernel.entry_point,
            signature=kernel.signature,
            constants=dict(kernel.configurations[configuration]),
            parameter_format=kernel.params.format,
            immediate=immediate,
        )

    def compile_source(
        self,
        *,
        key: str,
        label: str,
        file: str,
        code: str,
        entry_point: str,
        signature: str,
        parameter_format: str,
    ) -> Pipeline:
        """A pipeline of source that is not in the table; parameters are immediates. The same
        ``key`` gives the pipeline that was made first."""
        pipeline = self._pipelines.get((key, ""))
        if pipeline is None:
            pipeline = self._pipelines[key, ""] = self.recorder.create_pipeline(
                label=label,
                file=file,
                code=code,
                entry_point=entry_point,
                signature=signature,
                constants={},
                parameter_format=parameter_format,
                immediate=bool(parameter_format),
            )
        return pipeline

    def close(self) -> None:
        """Destroys the device with all its buffers. Closing twice is allowed."""
        self.recorder.close()


def _info(info: Any) -> dict[str, str]:
    names = ("vendor", "architecture", "device", "description")
    return {name: str(getattr(info, name, "")) for name in names}


def _limits(limits: Any) -> dict[str, int]:
    return {name: int(getattr(limits, name)) for name in dir(limits) if name[:3] in ("max", "min")}
