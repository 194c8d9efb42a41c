"""Attributes that are computed from parameters, as ``torch.nn.utils.parametrize``."""

from browsergpu.networks import parametrize as _own
from browsergpu.networks.parametrize import (
    cached,
    is_parametrized,
    register_parametrization,
    remove_parametrizations,
)
from browsergpu.torch.nn.module import layer as _layer

ParametrizationList = _layer(_own.ParametrizationList)

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations",
]  # fmt: skip
