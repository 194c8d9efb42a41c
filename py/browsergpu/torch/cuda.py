"""Names of ``torch.cuda``. There is no CUDA: ``is_available()`` is False."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.context import current
from browsergpu.engine.core.errors import UnknownName
from browsergpu.engine.gpu import platform
from browsergpu.torch import amp
from browsergpu.torch.tensors.randoms import manual_seed

__all__ = ["amp"]


def is_available() -> bool:
    """Return False, as WebGPU is not CUDA."""
    return False


def is_bf16_supported() -> bool:
    """Return False, as WebGPU has no bfloat16."""
    return False


def device_count() -> int:
    """Return 0, as WebGPU is not CUDA."""
    return 0


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has computed everything so far."""
    del device
    own = current(None).device
    platform.block_on(own.recorder.synchronize(), "synchronize")


def empty_cache() -> None:
    """Do nothing: freed buffers are reused."""


def manual_seed_all(seed: int) -> None:
    """Seed all random numbers."""
    manual_seed(seed)


def set_device(device: Any) -> None:
    """Accept the number of a device. ``browsergpu.use`` chooses a GPU."""
    from browsergpu.torch.tensors.devices import device_of

    device_of("set_device", device)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.cuda.{name}", "there is no CUDA. Ask torch.cuda.is_available().")
