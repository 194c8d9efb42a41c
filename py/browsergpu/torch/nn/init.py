"""Initial values of parameters, as ``torch.nn.init``."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import InvalidArgument, UnknownName
from browsergpu.networks import init as _own
from browsergpu.torch.tensors.public import returning_tensors

for _name in _own.__all__:
    globals()[_name] = returning_tensors(getattr(_own, _name))


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Any = None,
) -> Any:  # fmt: skip
    """Fill a tensor from a normal distribution that is cut off at a and b."""
    from math import erf, sqrt

    from browsergpu.functions import elementwise, special

    if a >= b:
        raise InvalidArgument("trunc_normal_", "a", a, "below b")
    low, high = (0.5 * (1 + erf((x - mean) / std / sqrt(2))) for x in (a, b))
    _own.uniform_(tensor, 2 * low - 1, 2 * high - 1, generator)
    value = special.erfinv(tensor.detach()) * (std * sqrt(2)) + mean
    from browsergpu.networks.parameter import take

    take(tensor, elementwise.clip(value, a, b))
    return tensor


for _old in ("uniform", "normal", "constant", "xavier_uniform", "xavier_normal", "kaiming_uniform",
             "kaiming_normal", "orthogonal"):  # fmt: skip
    globals()[_old] = globals()[f"{_old}_"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.nn.init.{name}", "it is not available.")
