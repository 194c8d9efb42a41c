"""Imports IPython without its terminal part, which is half of its modules and of the import time.

Import this before any module of IPython.
"""

import sys
from types import ModuleType
from typing import Any, NoReturn

TERMINAL = "IPython.terminal"
EMBED = f"{TERMINAL}.embed"


def _embed(*_args: Any, **_options: Any) -> NoReturn:
    """Replacement for `IPython.embed`."""
    raise RuntimeError("IPython.embed() needs a terminal; this notebook has none: use %debug")


def _import() -> None:
    package, module = ModuleType(TERMINAL), ModuleType(EMBED)
    package.__path__ = []
    module.__dict__["embed"] = _embed
    sys.modules |= {TERMINAL: package, EMBED: module}
    try:
        import IPython  # noqa: F401
    finally:
        # Later imports find the real modules.
        del sys.modules[TERMINAL], sys.modules[EMBED]


_import()
