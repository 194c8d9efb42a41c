"""Layers and networks, as ``torch.nn``."""

from __future__ import annotations

import sys as _sys
from typing import Any

from browsergpu import nn as _own
from browsergpu.engine.core.errors import UnknownName
from browsergpu.torch.nn import functional, init, losses, utils
from browsergpu.torch.nn.module import Module, Parameter
from browsergpu.torch.nn.module import layer as _layer

__all__ = ["Module", "Parameter", "functional", "init", "utils"]

for _name in _own.__all__:
    _kind = getattr(_own, _name)
    if isinstance(_kind, type) and issubclass(_kind, _own.Module) and _kind is not _own.Module:
        globals()[_name] = _layer(_kind)
        __all__.append(_name)
for _name, _kind in losses.LOSSES.items():
    globals()[_name] = _kind
    __all__.append(_name)

#: The class of projections in PyTorch's attention layers, which differs only when quantized.
NonDynamicallyQuantizableLinear = globals()["Linear"]

#: Modules of PyTorch whose layers are all here.
_PARTS = {
    "modules", "activation", "batchnorm", "container", "conv", "distance", "dropout", "flatten",
    "fold", "instancenorm", "linear", "loss", "module", "normalization", "padding",
    "parameter", "pixelshuffle", "pooling", "rnn", "sparse", "transformer", "upsampling",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _PARTS:  # torch.nn.modules.linear.Linear
        return _sys.modules[__name__]
    if name == "DataParallel":
        raise UnknownName("torch.nn.DataParallel", "there is one GPU. Use the module itself.")
    raise UnknownName(f"torch.nn.{name}", "it is not available.")
