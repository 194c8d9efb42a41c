"""The exceptions of the package; ``core.errors`` draws their tree."""

from browsergpu.core.errors import (
    BackendError,
    DeviceError,
    DeviceLost,
    InvalidArgument,
    NoAdapter,
    NotInitialized,
    OutOfMemory,
    ShaderCompilation,
    Timeout,
    Unsupported,
    ValidationError,
)

__all__ = [
    "BackendError",
    "DeviceError",
    "DeviceLost",
    "InvalidArgument",
    "NoAdapter",
    "NotInitialized",
    "OutOfMemory",
    "ShaderCompilation",
    "Timeout",
    "Unsupported",
    "ValidationError",
]
