"""The library that drives GPUs outside a browser: Dawn, which Chrome has, or else wgpu-native.

Both come with wgpu-py's API; ``$BROWSERGPU_ENGINE`` ("dawn" or "wgpu") chooses where both are
installed.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

DAWN, WGPU = "wgpudawn", "wgpu"

#: What NVIDIA's driver needs for f16, and every device for subgroup matrices and immediates.
_TOGGLES = ["allow_unsafe_apis", "vulkan_enable_f16_on_nvidia"]


class Engine(NamedTuple):
    """``api`` is the library; ``extras`` what it has beyond wgpu-py; ``ffi`` and ``lib`` its C
    interface."""

    name: str
    api: ModuleType
    extras: ModuleType
    ffi: Any
    lib: Any

    @property
    def is_dawn(self) -> bool:
        """Whether it is Dawn."""
        return self.name == DAWN

    def finish(self, device: Any) -> None:
        """Waits until a device has done what was submitted to it."""
        if self.is_dawn:
            device.queue.on_submitted_work_done_sync()
        else:  # wgpu 0.32 passes wgpu-native a callback of another form than it takes
            device._poll_wait()


@cache
def engine() -> Engine | None:
    """The engine that is installed and wanted; None where there is none."""
    wanted = {"dawn": [DAWN], "wgpu": [WGPU]}.get(os.environ.get("BROWSERGPU_ENGINE", ""))
    for name in wanted or [DAWN, WGPU]:
        try:
            api = importlib.import_module(name)
        except ImportError:
            continue
        backend = f"{name}.backends.{'dawn' if name == DAWN else 'wgpu_native'}"
        extras = importlib.import_module(f"{backend}.extras")
        if name == DAWN:
            extras.set_instance_extras(enable_toggles=_TOGGLES)
        ffi = importlib.import_module(f"{backend}._ffi")
        return Engine(name, api, extras, ffi.ffi, ffi.lib)
    return None


def why_none() -> str:
    """Why there is no GPU, and what to do."""
    if engine() is None:
        return (
            "outside a browser browsergpu needs an engine for GPUs: pip install browsergpu[native]"
        )
    return (
        "no GPU with Vulkan, Metal or Direct3D 12 was found; install its driver, or a software "
        "GPU (mesa-vulkan-drivers on Debian)"
    )
