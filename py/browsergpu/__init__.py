"""browsergpu: NumPy- and BLAS-style compute on the real GPU, from Python inside a web page."""

from browsergpu import errors
from browsergpu.adapters import (
    AdapterInfo,
    enumerate_adapters,
    enumerate_adapters_async,
    get_adapter_info,
    get_adapter_info_async,
    get_best_adapter,
    get_best_adapter_async,
    is_available,
)
from browsergpu.buffers import Buffer, BufferUsage, MapMode
from browsergpu.compute_backend import (
    Activation,
    BinaryOp,
    ComputeBackend,
    ReduceOp,
    Transpose,
    UnaryOp,
)
from browsergpu.config import BackendConfig
from browsergpu.device import Device
from browsergpu.device_array import DeviceArray
from browsergpu.dtypes import DType
from browsergpu.errors import BackendError
from browsergpu.executor import BatchNormTraining, KernelExecutor, PipelineStats
from browsergpu.group import BackendGroup, Policy
from browsergpu.memory import BufferPool
from browsergpu.profiling import KernelEvent, KernelSummary, Profile, profile
from browsergpu.tensor_backend import TensorBackend
from browsergpu.tensor_contract import TensorHandle, TensorMeta
from browsergpu.tuning import (
    Tuning,
    WorkgroupTuning,
    benchmark_workgroup_sizes,
    benchmark_workgroup_sizes_async,
    forget_tuning,
    forget_tuning_async,
    forget_workgroup_sizes,
    forget_workgroup_sizes_async,
    tune,
    tune_async,
)
from browsergpu.wasm_backend import WasmBackend
from browsergpu.workgroup_sizes import WorkgroupSizes

__version__ = "0.1.0"

__all__ = [
    "Activation",
    "AdapterInfo",
    "BackendConfig",
    "BackendError",
    "BackendGroup",
    "BatchNormTraining",
    "BinaryOp",
    "Buffer",
    "BufferPool",
    "BufferUsage",
    "ComputeBackend",
    "DType",
    "Device",
    "DeviceArray",
    "KernelEvent",
    "KernelExecutor",
    "KernelSummary",
    "MapMode",
    "PipelineStats",
    "Policy",
    "Profile",
    "ReduceOp",
    "TensorBackend",
    "TensorHandle",
    "TensorMeta",
    "Transpose",
    "Tuning",
    "UnaryOp",
    "WasmBackend",
    "WorkgroupSizes",
    "WorkgroupTuning",
    "benchmark_workgroup_sizes",
    "benchmark_workgroup_sizes_async",
    "enumerate_adapters",
    "enumerate_adapters_async",
    "errors",
    "forget_tuning",
    "forget_tuning_async",
    "forget_workgroup_sizes",
    "forget_workgroup_sizes_async",
    "get_adapter_info",
    "get_adapter_info_async",
    "get_best_adapter",
    "get_best_adapter_async",
    "is_available",
    "profile",
    "tune",
    "tune_async",
]
