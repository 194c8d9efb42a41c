"""browsergpu: NumPy and PyTorch on the real GPU, from Python in a web page."""

import sys as _sys
from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from browsergpu import errors
from browsergpu.arrays.array import VERSIONS, Array
from browsergpu.arrays.autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from browsergpu.arrays.autograd.precision import autocast, is_autocast_enabled
from browsergpu.arrays.context import (
    default_device,
    devices,
    devices_async,
    init,
    init_async,
    recover,
    recover_async,
    use,
)
from browsergpu.arrays.debug import debug
from browsergpu.arrays.default_int import set_default_int
from browsergpu.arrays.x64 import set_x64
from browsergpu.autograd import array_methods as _of_arrays  # noqa: F401
from browsergpu.autograd import operators as _operators  # noqa: F401
from browsergpu.autograd.batching.calls import VmapWarning
from browsergpu.autograd.batching.vmap import vmap
from browsergpu.autograd.custom import checkpoint, custom_vjp
from browsergpu.autograd.jacobians import hessian, jacfwd, jacrev
from browsergpu.autograd.transforms import grad, jvp, linearize, value_and_grad, vjp
from browsergpu.compat.numpy import protocols as _protocols  # noqa: F401
from browsergpu.compat.numpy.fallback import HostFallbackWarning, set_fallback
from browsergpu.compat.numpy.namespace import LEFT_TO_PYTHON as _LEFT_TO_PYTHON
from browsergpu.compat.numpy.namespace import main_attribute as _main_attribute
from browsergpu.compat.numpy.namespace import names as _numpys_names
from browsergpu.engine.core.above import register as _register
from browsergpu.engine.core.config import BackendConfig
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.enums import Activation, BinaryOp, ReduceOp, Transpose, UnaryOp
from browsergpu.engine.core.errors import BackendError
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.adapter_info import AdapterInfo
from browsergpu.engine.gpu.adapters import (
    enumerate_adapters,
    enumerate_adapters_async,
    get_adapter_info,
    get_adapter_info_async,
    get_best_adapter,
    get_best_adapter_async,
)
from browsergpu.engine.gpu.memory import BufferPool
from browsergpu.engine.gpu.platform import is_available
from browsergpu.engine.kernels.base.workgroup_sizes import WorkgroupSizes
from browsergpu.engine.tensors.buffers import Buffer, BufferUsage, MapMode
from browsergpu.engine.tensors.device_array import DeviceArray
from browsergpu.functions.capture import capture
from browsergpu.functions.constants import (
    bool,  # noqa: F401 - import * leaves Python's
    complex64,
    complex128,
    e,
    float16,
    float32,
    float64,
    inf,
    int8,
    int16,
    int32,
    int64,
    nan,
    newaxis,
    pi,
    uint8,
    uint16,
    uint32,
    uint64,
)
from browsergpu.functions.data_types import astype, can_cast, finfo, iinfo, isdtype, result_type
from browsergpu.functions.evaluation import eval, explain
from browsergpu.functions.information import __array_namespace_info__
from browsergpu.functions.interchange.display import draw
from browsergpu.functions.interchange.dlpack import from_dlpack
from browsergpu.functions.interchange.files import (
    SavedArrays,
    load,
    save,
    save_async,
    savez,
    savez_async,
    savez_compressed,
    savez_compressed_async,
)

if _TYPE_CHECKING:  # the names of _MODULES and _LATER, which a test compares
    from browsergpu import amp, cuda, data, fft, image, io, linalg, nn, optim, random, special
    from browsergpu import hub as hub
    from browsergpu import jax as jax
    from browsergpu import lib as lib
    from browsergpu import llm as llm
    from browsergpu import onnx as onnx
    from browsergpu.compat.cupy.cuda import get_default_memory_pool, get_default_pinned_memory_pool
    from browsergpu.compat.cupy.names import asnumpy, fuse, get_array_module
    from browsergpu.compat.executor import BatchNormTraining, KernelExecutor, PipelineStats
    from browsergpu.compat.tensor_backend.backend import TensorBackend
    from browsergpu.compat.tensor_backend.handles import TensorHandle, TensorMeta
    from browsergpu.compat.wasm_backend.backend import WasmBackend
    from browsergpu.compat.wasm_backend.buffers import ComputeBackend
    from browsergpu.compat.wasm_backend.group import BackendGroup, Policy
    from browsergpu.compiled.jit import jit
    from browsergpu.engine.tuning import (
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
    from browsergpu.functions.custom.elementwise_kernel import ElementwiseKernel, kernel
    from browsergpu.functions.custom.raw_kernel import RawKernel
    from browsergpu.functions.custom.reduction_kernel import ReductionKernel
    from browsergpu.functions.images.picture import Picture
    from browsergpu.functions.images.pointer import PointerEvent
    from browsergpu.functions.interchange.download import download
    from browsergpu.functions.interchange.plot import plot
    from browsergpu.functions.profiling import KernelEvent, KernelSummary, Profile, profile

#: Public modules that are imported at their first use.
_MODULES = (
    "amp",
    "cuda",
    "data",
    "fft",
    "hub",
    "image",
    "io",
    "jax",
    "linalg",
    "llm",
    "nn",
    "onnx",
    "optim",
    "random",
    "special",
    "lib",
)
#: Public names whose modules are imported at their first use.
_LATER = {
    "BatchNormTraining": "compat.executor",
    "KernelExecutor": "compat.executor",
    "PipelineStats": "compat.executor",
    "TensorBackend": "compat.tensor_backend.backend",
    "TensorHandle": "compat.tensor_backend.handles",
    "TensorMeta": "compat.tensor_backend.handles",
    "ComputeBackend": "compat.wasm_backend.buffers",
    "WasmBackend": "compat.wasm_backend.backend",
    "get_default_memory_pool": "compat.cupy.cuda",
    "get_default_pinned_memory_pool": "compat.cupy.cuda",
    "asnumpy": "compat.cupy.names",
    "fuse": "compat.cupy.names",
    "get_array_module": "compat.cupy.names",
    "ElementwiseKernel": "functions.custom.elementwise_kernel",
    "kernel": "functions.custom.elementwise_kernel",
    "Picture": "functions.images.picture",
    "PointerEvent": "functions.images.pointer",
    "plot": "functions.interchange.plot",
    "RawKernel": "functions.custom.raw_kernel",
    "ReductionKernel": "functions.custom.reduction_kernel",
    "jit": "compiled.jit",
    "download": "functions.interchange.download",
    "BackendGroup": "compat.wasm_backend.group",
    "Policy": "compat.wasm_backend.group",
    "KernelEvent": "functions.profiling",
    "KernelSummary": "functions.profiling",
    "Profile": "functions.profiling",
    "profile": "functions.profiling",
    "Tuning": "engine.tuning",
    "WorkgroupTuning": "engine.tuning",
    "benchmark_workgroup_sizes": "engine.tuning",
    "benchmark_workgroup_sizes_async": "engine.tuning",
    "forget_tuning": "engine.tuning",
    "forget_tuning_async": "engine.tuning",
    "forget_workgroup_sizes": "engine.tuning",
    "forget_workgroup_sizes_async": "engine.tuning",
    "tune": "engine.tuning",
    "tune_async": "engine.tuning",
}

__version__ = "0.1.0"
__array_api_version__ = VERSIONS[-1]

__all__ = [
    "Activation",
    "AdapterInfo",
    "Array",
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
    "ElementwiseKernel",
    "HostFallbackWarning",
    "KernelEvent",
    "KernelExecutor",
    "KernelSummary",
    "MapMode",
    "Picture",
    "PipelineStats",
    "PointerEvent",
    "Policy",
    "Profile",
    "RawKernel",
    "ReduceOp",
    "ReductionKernel",
    "SavedArrays",
    "TensorBackend",
    "TensorHandle",
    "TensorMeta",
    "Transpose",
    "Tuning",
    "UnaryOp",
    "VmapWarning",
    "WasmBackend",
    "WorkgroupSizes",
    "WorkgroupTuning",
    "__array_namespace_info__",
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "amp",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "asarray",
    "asin",
    "asinh",
    "asnumpy",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "autocast",
    "benchmark_workgroup_sizes",
    "benchmark_workgroup_sizes_async",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "capture",
    "ceil",
    "checkpoint",
    "clip",
    "complex64",
    "complex128",
    "concat",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cuda",
    "cumulative_prod",
    "cumulative_sum",
    "custom_vjp",
    "data",
    "debug",
    "default_device",
    "devices",
    "devices_async",
    "diff",
    "divide",
    "download",
    "draw",
    "e",
    "einsum",
    "empty",
    "empty_like",
    "enable_grad",
    "enumerate_adapters",
    "enumerate_adapters_async",
    "equal",
    "errors",
    "eval",
    "exp",
    "expand_dims",
    "explain",
    "expm1",
    "eye",
    "fft",
    "finfo",
    "flip",
    "float16",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "forget_tuning",
    "forget_tuning_async",
    "forget_workgroup_sizes",
    "forget_workgroup_sizes_async",
    "from_dlpack",
    "full",
    "full_like",
    "fuse",
    "get_adapter_info",
    "get_adapter_info_async",
    "get_array_module",
    "get_best_adapter",
    "get_best_adapter_async",
    "get_default_memory_pool",
    "get_default_pinned_memory_pool",
    "grad",
    "greater",
    "greater_equal",
    "hessian",
    "hypot",
    "iinfo",
    "imag",
    "image",
    "inf",
    "init",
    "init_async",
    "int8",
    "int16",
    "int32",
    "int64",
    "io",
    "is_autocast_enabled",
    "is_available",
    "is_grad_enabled",
    "isdtype",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "kernel",
    "less",
    "less_equal",
    "linalg",
    "linearize",
    "linspace",
    "load",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "nan",
    "negative",
    "newaxis",
    "nextafter",
    "nn",
    "no_grad",
    "nonzero",
    "not_equal",
    "ones",
    "ones_like",
    "optim",
    "permute_dims",
    "pi",
    "plot",
    "positive",
    "pow",
    "prod",
    "profile",
    "random",
    "real",
    "reciprocal",
    "recover",
    "recover_async",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "save",
    "save_async",
    "savez",
    "savez_async",
    "savez_compressed",
    "savez_compressed_async",
    "searchsorted",
    "set_default_int",
    "set_fallback",
    "set_x64",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sort",
    "special",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "transpose",
    "tril",
    "triu",
    "trunc",
    "tune",
    "tune_async",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "use",
    "value_and_grad",
    "var",
    "vecdot",
    "vjp",
    "vmap",
    "where",
    "zeros",
    "zeros_like",
]
__all__ += _numpys_names(__all__)

_register("namespace", _sys.modules[__name__])


def __getattr__(name: str) -> _Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu' has no attribute {name!r}")
    if name in _MODULES:
        return _import_module(f"browsergpu.{name}")
    if name in _LATER:
        found = getattr(_import_module(f"browsergpu.{_LATER[name]}"), name)
    else:
        found = _main_attribute(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *__all__, *_LEFT_TO_PYTHON})
