"""Parametrizations of weights, as ``torch.nn.utils.parametrizations``."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.networks import parametrizations as _own
from browsergpu.networks.parametrizations import spectral_norm, weight_norm
from browsergpu.torch.nn.module import layer as _layer

for _kind in (_own.SpectralNorm, _own.WeightNorm):
    _layer(_kind)

__all__ = ["spectral_norm", "weight_norm"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    advice = "use weight_norm, spectral_norm or parametrize.register_parametrization."
    raise UnknownName(f"torch.nn.utils.parametrizations.{name}", advice)
