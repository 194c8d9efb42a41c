"""Linear algebra, as in ``numpy.linalg`` and the Array API standard."""

from typing import Any as _Any

from numpy.linalg import LinAlgError
from numpy.linalg import __all__ as _names

from browsergpu.compat.numpy.namespace import module_attribute as _module_attribute
from browsergpu.functions.linalg.decompositions import EighResult, EigResult, QRResult, SVDResult
from browsergpu.functions.linalg.equations import SlogdetResult

__all__ = ["EigResult", "EighResult", "LinAlgError", "QRResult", "SVDResult", "SlogdetResult"]
__all__ += [name for name in _names if name not in __all__]


def __getattr__(name: str) -> _Any:
    found = globals()[name] = _module_attribute("linalg", name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
