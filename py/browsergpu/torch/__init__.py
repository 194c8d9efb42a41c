"""PyTorch's names for browsergpu: ``import browsergpu.torch as torch``.

Tensors are arrays on the GPU of WebGPU, with PyTorch's methods and meaning. Each function is a few
lines over the function of browsergpu with the same purpose. Names that are not available raise an
error that says so.
"""

from __future__ import annotations

import builtins as _builtins
import math as _math
from typing import Any

from browsergpu.arrays.autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from browsergpu.compiled.jit import jit as _jit
from browsergpu.engine.core.errors import InvalidArgument as _InvalidArgument
from browsergpu.engine.core.errors import UnknownName as _UnknownName
from browsergpu.torch import (
    accelerator,
    amp,
    autograd,
    backends,
    cuda,
    distributions,
    fft,
    func,
    linalg,
    nn,
    optim,
    special,
    utils,
)
from browsergpu.torch.absent import ABSENT as _ABSENT
from browsergpu.torch.absent import module as _absent
from browsergpu.torch.amp import autocast
from browsergpu.torch.autograd import inference_mode, set_grad_enabled
from browsergpu.torch.installing import install
from browsergpu.torch.nn import functional as _functional
from browsergpu.torch.saving import load, save, serialization
from browsergpu.torch.tensors import compositions as _compositions  # noqa: F401
from browsergpu.torch.tensors import (
    conversions as _conversions,  # noqa: F401
)
from browsergpu.torch.tensors import in_place as _in_place  # noqa: F401
from browsergpu.torch.tensors import printing as _printing  # noqa: F401
from browsergpu.torch.tensors import scatter as _scatter  # noqa: F401
from browsergpu.torch.tensors import shapes as _shapes  # noqa: F401
from browsergpu.torch.tensors import strided as _strided  # noqa: F401
from browsergpu.torch.tensors import windows as _windows  # noqa: F401
from browsergpu.torch.tensors.devices import device
from browsergpu.torch.tensors.devices import notice as _notice
from browsergpu.torch.tensors.dtypes import CLASS_OF as _CLASS_OF
from browsergpu.torch.tensors.dtypes import DTYPES as _DTYPES
from browsergpu.torch.tensors.public import FUNCTIONS as _FUNCTIONS
from browsergpu.torch.tensors.public import add_method as _add_method
from browsergpu.torch.tensors.randoms import Generator, default_generator, fork_rng
from browsergpu.torch.tensors.tensor import Size, Tensor, is_tensor

#: The version of PyTorch whose names these are.
__version__ = "2.9.0+browsergpu"

globals().update(_DTYPES)
globals().update(_FUNCTIONS)
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None
strided, preserve_format, contiguous_format = "strided", "preserve_format", "contiguous_format"
channels_last = "channels_last"
vmap = func.vmap
dtype = type(_DTYPES["float32"])
for _name in ("dropout", "relu_", "embedding", "layer_norm",
              "batch_norm", "conv1d", "conv2d", "conv3d", "prelu", "selu", "celu", "rrelu",
              "cosine_similarity", "pairwise_distance", "conv_transpose1d", "conv_transpose2d",
              "avg_pool1d", "max_pool1d", "max_pool2d", "pixel_shuffle"):  # fmt: skip
    globals()[_name] = getattr(_functional, _name)
cholesky = linalg.cholesky
matrix_exp = linalg.matrix_exp
_add_method("matrix_exp", matrix_exp)


def _legacy_class(kind: Any) -> Any:
    def construct(*args: Any) -> Any:
        if len(args) == 1 and not isinstance(args[0], _builtins.int):
            return _FUNCTIONS["tensor"](args[0], dtype=kind)
        return _FUNCTIONS["zeros"](*args, dtype=kind)

    return construct


for _kind, _name in _CLASS_OF.items():
    globals()[_name] = _legacy_class(_kind)


def compile(model: Any = None, *, mode: Any = None, **options: Any) -> Any:
    """Compile a function or module: ``browsergpu.jit``.

    Parameters
    ----------
    model : callable or Module
        The function. Without it, the result is a decorator.
    mode, **options
        PyTorch's options ``fullgraph``, ``dynamic``, ``backend``, ``options`` and ``disable``.

    Returns
    -------
    callable or Module
        The compiled function.
    """
    unknown = options.keys() - {"fullgraph", "dynamic", "backend", "options", "disable"}
    if unknown:
        raise _InvalidArgument("compile", "options", sorted(unknown), "those of PyTorch")
    del mode  # graphs are captured in one way
    if model is None:
        return lambda function: compile(function, **options)
    return model if options.get("disable") else _jit(model)


def set_float32_matmul_precision(precision: str) -> None:
    """Accept a precision. Products of float32 matrices are always computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise _InvalidArgument(
            "set_float32_matmul_precision", "precision", precision, "'highest', 'high' or 'medium'"
        )
    if precision != "highest":
        _notice("precision", "set_float32_matmul_precision: products stay in float32.")


def get_float32_matmul_precision() -> str:
    """Return "highest"."""
    return "highest"


def use_deterministic_algorithms(
    mode: _builtins.bool, *, warn_only: _builtins.bool = False
) -> None:
    """Accept the setting. Results are the same on each run in any case."""
    del mode, warn_only


def set_num_threads(n: _builtins.int) -> None:
    """Accept the number of threads. The GPU computes."""
    del n


def get_num_threads() -> _builtins.int:
    """Return 1."""
    return 1


def set_default_device(device: Any) -> None:
    """Accept the name of a device. All tensors are on the GPU."""
    from browsergpu.torch.tensors.devices import device_of, not_meta

    not_meta("set_default_device", device)
    device_of("set_default_device", device)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _ABSENT:
        return _absent(name)
    advice = "it is not available. docs/coming-from-pytorch.md lists what is."
    raise _UnknownName(f"torch.{name}", advice)


__all__ = [
    "Generator", "Size", "Tensor", "accelerator", "amp", "autocast", "autograd", "backends",
    "cuda", "default_generator", "device", "distributions", "enable_grad", "fft", "fork_rng",
    "func", "inference_mode", "install", "is_grad_enabled", "is_tensor", "linalg", "load", "nn",
    "no_grad", "optim", "save",
    "serialization", "set_grad_enabled", "special", "utils",
]  # fmt: skip
__all__ += [*_DTYPES, *_FUNCTIONS]
