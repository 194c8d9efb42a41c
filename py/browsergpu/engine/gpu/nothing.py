"""A GPU without hardware, which discards all commands.

Arrays on it have shapes and dtypes, by the same checks and rules as everywhere, but no values.
"""

from __future__ import annotations

from typing import Any, Never

from browsergpu.engine.core.errors import NoAdapter
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.adapter_info import AdapterInfo
from browsergpu.engine.gpu.port import OPEN_ANOTHER, Gpu, Observer, Pipeline

_VAST = 1 << 60  # bytes; a buffer without contents can have any size

#: WebGPU's default limits, except for buffer sizes.
_LIMITS = {
    "maxBindingsPerBindGroup": 1000,
    "maxBufferSize": _VAST,
    "maxComputeInvocationsPerWorkgroup": 256,
    "maxComputeWorkgroupSizeX": 256,
    "maxComputeWorkgroupSizeY": 256,
    "maxComputeWorkgroupSizeZ": 64,
    "maxComputeWorkgroupStorageSize": 16384,
    "maxComputeWorkgroupsPerDimension": 65535,
    "maxStorageBufferBindingSize": _VAST,
    "maxStorageBuffersPerShaderStage": 8,
    "maxTextureDimension2D": 8192,
    "maxUniformBufferBindingSize": 65536,
}

ADAPTER = AdapterInfo(
    index=-1,
    vendor="",
    architecture="",
    device="none",
    description="no GPU (shapes and dtypes only)",
    device_type="cpu",
    features=frozenset(),
    limits=_LIMITS,
)

_PIPELINE = Pipeline(0, "nothing", 0, lambda *_: None)


class Nothing(Shown, Gpu):
    """Discards all commands. Only reading raises an error, NoAdapter."""

    def __init__(self) -> None:
        self.features = ADAPTER.features
        self.limits = ADAPTER.limits
        self.has_immediates = False
        self.failed: set[int] = set()
        self.is_short_of_memory = False
        self.refused: set[int] = set()
        self.is_ahead = False
        self.observers: list[Observer] = []
        self.loss = (0,)
        self.captured = None
        self.recovery = OPEN_ANOTHER

    def create_pipeline(self, **_: Any) -> Pipeline:
        """Return the same pipeline for all kernels."""
        return _PIPELINE

    def _forget(self, *_: Any, **__: Any) -> None:
        """Do nothing."""
        return

    async def _at_once(self, *_: Any, **__: Any) -> None:
        """Return at once."""
        return

    run = packed = repeat = dispatch = copy = clear = flush = submit = _forget
    create_buffer = abandon_buffer = label_buffer = destroy_buffer = trim_staging = _forget
    write = start_profile = start_span = end_span = close = _forget
    start_capture = stop_capture = place_of_last = divide = replay = _forget  # type: ignore[assignment]
    compiled = synchronize = catch_up = _at_once

    async def create_buffer_checked(self, identity: int, nbytes: int, label: str) -> bool:
        """Return True, since every size fits."""
        return True

    async def read(self, buffer: int, at: int, target: memoryview, nbytes: int) -> Never:
        """Raise NoAdapter."""
        raise NoAdapter(
            "read",
            "this array has a shape and a dtype but no values: it represents an array on a GPU "
            "that this process does not have. For a Dask array, call "
            '.to_backend("numpy").compute().',
        )

    def is_compiled(self, pipeline: Pipeline) -> bool:
        """Return True."""
        return True

    def spans(self) -> dict[int, float]:
        """Return no spans."""
        return {}

    def start_timing(self) -> bool:
        """Return False, since there is no clock."""
        return False

    async def stop_timing(self) -> float:
        """Return -1, since nothing was dispatched."""
        return -1

    @property
    def is_profiled(self) -> bool:
        """False."""
        return False

    async def stop_profile(self) -> list[tuple[float, float] | None]:
        """Return an empty list, since nothing was dispatched."""
        return []

    def draw(
        self, canvas: Any, buffer: int, height: int, width: int, channels: int, code: str
    ) -> str:
        """Return the reason why nothing can be drawn."""
        return "there is no GPU"

    @property
    def counters(self) -> dict[str, int]:
        """An empty dict."""
        return {}

    @property
    def compile_ms(self) -> float:
        """0."""
        return 0.0

    @property
    def unfinished(self) -> int:
        """0."""
        return 0

    @property
    def closed(self) -> bool:
        """False."""
        return False
