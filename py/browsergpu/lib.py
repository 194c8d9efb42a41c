"""NumPy's ``lib``: ``stride_tricks``."""

import sys as _sys

from browsergpu import stride_tricks

__all__ = ["stride_tricks"]
#: So that ``from browsergpu.lib.stride_tricks import as_strided`` finds it.
__path__: list[str] = []
_sys.modules[f"{__name__}.stride_tricks"] = stride_tricks
