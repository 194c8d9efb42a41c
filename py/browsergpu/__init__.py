"""browsergpu: NumPy- and BLAS-style compute on the real GPU, from Python inside a web page."""

from browsergpu import errors
from browsergpu.compute_backend import (
    BinaryOp,
    ComputeBackend,
    ReduceOp,
    Transpose,
    UnaryOp,
)
from browsergpu.device import Device, is_available
from browsergpu.dtypes import DType
from browsergpu.errors import BackendError
from browsergpu.tensor_backend import TensorBackend
from browsergpu.tensor_contract import TensorHandle, TensorMeta
from browsergpu.wasm_backend import WasmBackend

__version__ = "0.1.0"

__all__ = [
    "BackendError",
    "BinaryOp",
    "ComputeBackend",
    "DType",
    "Device",
    "ReduceOp",
    "TensorBackend",
    "TensorHandle",
    "TensorMeta",
    "Transpose",
    "UnaryOp",
    "WasmBackend",
    "errors",
    "is_available",
]
