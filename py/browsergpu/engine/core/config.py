"""Options of a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument

PowerPreference = Literal["high-performance", "low-power"]


@dataclass(frozen=True, slots=True)
class BackendConfig:
    """Options of a device. They are checked when the config is created.

    Parameters
    ----------
    adapter_index : int, optional
        Index into :func:`enumerate_adapters`. By default, ``power_preference`` selects the GPU.
    power_preference : str
        "high-performance" or "low-power".
    debug_mode : bool
        Whether to submit and validate each operation separately. An error is raised for the
        operation that caused it, and at once if Python can block. Slow.
    check_nan : bool
        Whether debug mode also raises ValidationError for an operation or custom kernel that writes
        a float32 or float16 NaN. It reads all written buffers back. Operations that only move or
        fill words are not checked: transpose, copy, fill, and indexing of an array.
    max_buffer_size : int, optional
        Maximum bytes of one buffer, at least 256. The device's limit by default.
    memory_limit : int, optional
        Maximum bytes of all buffers together. No limit but the GPU's by default.
    enable_pipeline_cache : bool
        False compiles a kernel at each call, which is useful only for measurements.
    preferred_workgroup_size : int or sequence, optional
        Threads in a workgroup of elementwise kernels: a power of two within the device's limit, or
        (x, y, z) with such a product, which is stored. By default the tuned size, if any.
    warm_up : bool
        Whether to compile the most used kernels in the background after the device is opened, so
        that their first use need not wait. It has no effect on a software adapter, where compiling
        would take CPU time from the page.
    tune_by_use : bool, optional
        Whether to autotune kernel variants: the first calls of a size class use different variants,
        and the fastest is kept, also for later sessions. Until then, results may differ in the last
        bits between calls. By default on for GPUs without tuned defaults, and off for software
        adapters. True turns it on wherever calls can be timed.
    immediates : bool
        False passes parameters through the uniform ring even if the browser has WGSL immediates.
    """

    adapter_index: int | None = None
    power_preference: PowerPreference = "high-performance"
    debug_mode: bool = False
    check_nan: bool = False
    max_buffer_size: int | None = None
    memory_limit: int | None = None
    enable_pipeline_cache: bool = True
    preferred_workgroup_size: int | Sequence[int] | None = None
    warm_up: bool = True
    tune_by_use: bool | None = None
    immediates: bool = True

    def __post_init__(self) -> None:
        op = "BackendConfig"
        if self.power_preference not in get_args(PowerPreference):
            names = " or ".join(map(repr, get_args(PowerPreference)))
            raise InvalidArgument(op, "power_preference", self.power_preference, names)
        for name in ("debug_mode", "check_nan", "enable_pipeline_cache", "warm_up", "immediates"):
            checks.flag(op, name, getattr(self, name))
        if self.tune_by_use is not None:
            checks.flag(op, "tune_by_use", self.tune_by_use)
        self._whole(op, "adapter_index", 0)
        self._whole(op, "max_buffer_size", 256)
        self._whole(op, "memory_limit", 4)
        given = self.preferred_workgroup_size
        threads = checks.threads(op, "preferred_workgroup_size", given)
        object.__setattr__(self, "preferred_workgroup_size", threads)
        self._whole(op, "preferred_workgroup_size", 1)
        if threads is not None and threads & (threads - 1):
            raise InvalidArgument(op, "preferred_workgroup_size", given, "a power of two")
        if self.check_nan and not self.debug_mode:
            raise InvalidArgument(op, "check_nan", True, "False without debug_mode=True")

    def _whole(self, op: str, name: str, minimum: int) -> None:
        value: Any = getattr(self, name)
        if value is not None:
            checks.integer(op, name, value, minimum, 2**53)


def configured(op: str, config: Any, options: Mapping[str, Any]) -> BackendConfig:
    """Return a config with some fields replaced. None means the default config."""
    if config is not None and not isinstance(config, BackendConfig):
        raise InvalidArgument(op, "config", config, "a BackendConfig or None")
    known = [field.name for field in fields(BackendConfig)]
    for name in options:
        if name not in known:
            raise InvalidArgument(op, "option", name, f"one of {', '.join(known)}")
    return replace(config or BackendConfig(), **options)
