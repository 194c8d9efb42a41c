"""The members of wgpu-py and wgpudawn that are not public, all in one place.

They are not part of the libraries' interfaces and may change with any minor version, so
pyproject.toml allows one minor version of each. ``tests/unit/test_native_private.py`` checks that
the installed versions have what is used here.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

#: The module of each library that has its C interface.
BACKENDS = {"wgpudawn": "wgpudawn.backends.dawn", "wgpu": "wgpu.backends.wgpu_native"}
#: The attribute of the libraries' objects that is their C handle. Read at every call: no function.
HANDLE = "_internal"


def extras(library: str) -> ModuleType:
    """What a library offers beyond WebGPU. It is public."""
    return importlib.import_module(f"{BACKENDS[library]}.extras")


def c_interface(library: str) -> tuple[Any, Any, Any]:
    """A library's ``ffi``, its C functions, and the same functions with errors raised."""
    ffi = importlib.import_module(f"{BACKENDS[library]}._ffi")
    checked = importlib.import_module(f"{BACKENDS[library]}._api").libf
    return ffi.ffi, ffi.lib, checked


def dawns_instance() -> Any:
    """The WGPUInstance that wgpudawn made."""
    return importlib.import_module(f"{BACKENDS['wgpudawn']}._helpers").get_wgpu_instance()


def dawns_callback(kind: str) -> Any:
    """wgpudawn's C callback of a kind, such as "WGPUBufferMapCallback". Dawn demands one; wgpudawn
    does nothing for what was not registered."""
    return importlib.import_module(f"{BACKENDS['wgpudawn']}._ffi").c_callback(kind)


def every_adapter(api: ModuleType) -> Callable[[], list[Any]] | None:
    """wgpudawn's function that lists all adapters; None where it has none."""
    found: Callable[[], list[Any]] | None = getattr(api.gpu, "_enumerate_all_adapters", None)
    return found


class _Pending(threading.local):
    """The errors of a thread's own calls, as the list that wgpudawn keeps for all threads."""

    def __init__(self) -> None:
        self._found: list[Any] = []
        self.append = self._found.append
        self.clear = self._found.clear

    def __bool__(self) -> bool:
        return bool(self._found)

    def __getitem__(self, at: Any) -> Any:
        return self._found[at]


def raise_errors_in_their_thread(checked: Any, lib: Any) -> None:
    """Have wgpudawn raise an error in the thread whose call is wrong.

    Dawn reports an error within the call; wgpudawn 0.32 raises it from whichever thread returns
    from a call first, which may be compiling for another device.
    """
    handler = getattr(checked, "_error_handler", None)
    if handler is not None and isinstance(getattr(handler, "pending", None), list):
        handler.pending = _Pending()
        checked._make_function_copies(lib)
