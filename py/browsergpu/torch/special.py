"""Special functions, as ``torch.special``."""

from __future__ import annotations

from typing import Any

from browsergpu import special as _own
from browsergpu.engine.core.errors import UnknownName
from browsergpu.torch.tensors.public import FUNCTIONS, returning_tensors

for _name in ("entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammaln", "i0",
              "i0e", "i1", "i1e", "log1p", "log_ndtr", "ndtr", "ndtri", "psi", "sinc", "xlog1py",
              "xlogy", "digamma"):  # fmt: skip
    globals()[_name] = returning_tensors(getattr(_own, _name), out=True)
globals()["bessel_j0"] = returning_tensors(_own.j0, out=True)
globals()["bessel_j1"] = returning_tensors(_own.j1, out=True)
globals()["bessel_y0"] = returning_tensors(_own.y0, out=True)
globals()["bessel_y1"] = returning_tensors(_own.y1, out=True)
logit, logsumexp, round = FUNCTIONS["logit"], FUNCTIONS["logsumexp"], FUNCTIONS["round"]
polygamma = FUNCTIONS["polygamma"]


@returning_tensors
def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return shares of exponentials along an axis."""
    return _own.softmax(input if dtype is None else input.to(dtype), dim)


@returning_tensors
def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the logarithms of shares of exponentials along an axis."""
    return _own.log_softmax(input if dtype is None else input.to(dtype), dim)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.special.{name}", "it is not available.")
