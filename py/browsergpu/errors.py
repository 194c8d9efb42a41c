"""The exceptions of the package, under their public name."""

from browsergpu.core import errors as _errors
from browsergpu.core.errors import (
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

__doc__ = _errors.__doc__  # which draws their tree

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
