"""browsergpu: NumPy- and BLAS-style compute on the real GPU, from Python inside a web page."""

from browsergpu import errors
from browsergpu.api.executor import BatchNormTraining, KernelExecutor, PipelineStats
from browsergpu.api.tensor_backend.backend import TensorBackend
from browsergpu.api.tensor_backend.contract import TensorHandle, TensorMeta
from browsergpu.api.wasm_backend.backend import WasmBackend
from browsergpu.api.wasm_backend.contract import ComputeBackend
from browsergpu.array.buffers import Buffer, BufferUsage, MapMode
from browsergpu.array.device_array import DeviceArray
from browsergpu.core.config import BackendConfig
from browsergpu.core.dtypes import DType
from browsergpu.core.enums import Activation, BinaryOp, ReduceOp, Transpose, UnaryOp
from browsergpu.core.errors import BackendError
from browsergpu.device.device import Device
from browsergpu.gpu.adapter_info import AdapterInfo
from browsergpu.gpu.memory import BufferPool
from browsergpu.gpu.platform import (
    enumerate_adapters,
    enumerate_adapters_async,
    get_adapter_info,
    get_adapter_info_async,
    get_best_adapter,
    get_best_adapter_async,
    is_available,
)
from browsergpu.kernels.workgroup_sizes import WorkgroupSizes
from browsergpu.tools.group import BackendGroup, Policy
from browsergpu.tools.profiling import KernelEvent, KernelSummary, Profile, profile
from browsergpu.tools.tuning import (
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
