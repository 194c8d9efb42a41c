"""The part of ``numpy.lib`` that browsergpu has: ``stride_tricks``."""

import sys as _sys

from browsergpu import stride_tricks

__all__ = ["stride_tricks"]
#: Allows ``from browsergpu.lib.stride_tricks import as_strided``.
__path__: list[str] = []
_sys.modules[f"{__name__}.stride_tricks"] = stride_tricks
