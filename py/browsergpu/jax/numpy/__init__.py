"""``jax.numpy``: NumPy's names with JAX's meaning.

Arrays are immutable, integers are int32 and floats float32. Lists are refused where JAX refuses
them. Names that are not available raise an error that says so.
"""

from __future__ import annotations

import difflib
from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.jax.arrays import methods as _methods  # noqa: F401 - adds methods to arrays
from browsergpu.jax.arrays.dtypes import MISSING as _MISSING
from browsergpu.jax.numpy import fft, linalg
from browsergpu.jax.numpy.namespace import CONSTANTS as _CONSTANTS
from browsergpu.jax.numpy.namespace import SAME as _SAME
from browsergpu.jax.numpy.scalars import SCALARS as _SCALARS
from browsergpu.jax.numpy.wrappers import FUNCTIONS as _FUNCTIONS

_NAMES: dict[str, Any] = {**_SAME, **_MISSING, **_SCALARS, **_CONSTANTS, **_FUNCTIONS}
_NAMES |= {"fft": fft, "linalg": linalg}
__all__ = sorted(_NAMES)
globals().update(_NAMES)
_ADVICE = {
    "fix": "Use trunc.", "in1d": "Use isin.", "row_stack": "Use vstack.",
    "trapz": "Use trapezoid.", "msort": "Use sort.", "product": "Use prod.",
    "ufunc": "The functions have reduce, accumulate, at and outer where JAX's do.",
    "frompyfunc": "Use vectorize.", "copyto": "Arrays cannot be changed. Use where or x.at[].",
    "putmask": "Arrays cannot be changed. Use where or x.at[].",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax.numpy' has no attribute {name!r}")
    advice = _ADVICE.get(name)
    if advice is None:
        close = difflib.get_close_matches(name, __all__, 1)
        advice = f"Did you mean {close[0]}?" if close else "browsergpu may have a function for it."
    raise UnknownName(f"browsergpu.jax.numpy.{name}", f"it is not available. {advice}")


def __dir__() -> list[str]:
    return __all__
