"""How a device is opened and used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument

PowerPreference = Literal["high-performance", "low-power"]


@dataclass(frozen=True, slots=True)
class BackendConfig:
    """Options of a device; each is checked when the config is made.

    adapter_index: which of :func:`enumerate_adapters`, None for what power_preference gives.
    power_preference: "high-performance" or "low-power".
    debug_mode: submit and validate every operation by itself, so that an error is raised for the
        operation that caused it (and at once, where Python can block); slow.
    check_nan: in debug mode, also raise ValidationError for an operation, kernels of your own
        included, whose written buffers hold a float32 or float16 NaN; reads every result back. Not
        for what only moves or fills words: transpose, copy, fill, an array's elements by index.
    max_buffer_size: bytes that one buffer may have, at least 256, None for the device's own limit.
    memory_limit: bytes that all buffers together may take, None for what the GPU gives.
    enable_pipeline_cache: False compiles a kernel at each call, which is only good for measuring.
    preferred_workgroup_size: threads of the elementwise kernels' workgroups, a power of two up to
        the device's limit, or (x, y, z) with such a product, which is then kept; None takes what
        tuning found, or the default.
    warm_up: compile the most used kernels in the background once the device is open, so that
        their first use need not wait; on a software adapter they are not, as it would take the
        CPU from the page.
    tune_by_use: let the first calls of a size class take turns among the kernels that can do them,
        and keep the quickest, for later visits too: its results may differ in their last bits from
        call to call until then. None does so on GPUs that nobody has measured, and on no software
        adapter; False never, True wherever calls can be timed.
    immediates: False sends parameters through the uniform ring even where the browser has WGSL
        immediates.
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
    """A config with some of its fields replaced; None is the default config."""
    if config is not None and not isinstance(config, BackendConfig):
        raise InvalidArgument(op, "config", config, "a BackendConfig or None")
    known = [field.name for field in fields(BackendConfig)]
    for name in options:
        if name not in known:
            raise InvalidArgument(op, "option", name, f"one of {', '.join(known)}")
    return replace(config or BackendConfig(), **options)
