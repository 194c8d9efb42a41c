"""The GPU of WebGPU, as ``torch.accelerator``."""

from __future__ import annotations

from browsergpu.engine.gpu import platform
from browsergpu.torch.cuda import synchronize
from browsergpu.torch.tensors.devices import device

__all__ = ["current_accelerator", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Return whether there is WebGPU."""
    return platform.is_available()


def current_accelerator(check_available: bool = False) -> device:
    """Return the device "webgpu"."""
    del check_available
    return device("webgpu")


def device_count() -> int:
    """Return 1."""
    return 1


def current_device_index() -> int:
    """Return 0."""
    return 0
