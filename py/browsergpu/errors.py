"""Public names of the package's exceptions."""

from browsergpu.engine.core import errors as _errors
from browsergpu.engine.core.errors import (
    BackendError,
    DeviceError,
    DeviceLost,
    InvalidArgument,
    InvalidIndex,
    InvalidMatrix,
    InvalidType,
    NoAdapter,
    NotDifferentiable,
    NotInitialized,
    OutOfMemory,
    ShaderCompilation,
    Timeout,
    UnknownName,
    Unsupported,
    ValidationError,
)

__doc__ = _errors.__doc__  # shows the class hierarchy

__all__ = [
    "BackendError",
    "DeviceError",
    "DeviceLost",
    "InvalidArgument",
    "InvalidIndex",
    "InvalidMatrix",
    "InvalidType",
    "NoAdapter",
    "NotDifferentiable",
    "NotInitialized",
    "OutOfMemory",
    "ShaderCompilation",
    "Timeout",
    "UnknownName",
    "Unsupported",
    "ValidationError",
]
