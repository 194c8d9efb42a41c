"""Private members of wgpu-py and wgpudawn, all in one place.

They may change with any minor version, so pyproject.toml allows one minor version of each library.
``tests/unit/test_native_private.py`` checks that the installed versions have these members.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

#: The module with each library's C interface.
BACKENDS = {"wgpudawn": "wgpudawn.backends.dawn", "wgpu": "wgpu.backends.wgpu_native"}
#: The attribute that holds an object's C handle. Every call reads it, so there is no function for
#: it.
HANDLE = "_internal"


def extras(library: str) -> ModuleType:
    """Return a library's functions beyond WebGPU. They are public."""
    return importlib.import_module(f"{BACKENDS[library]}.extras")


def c_interface(library: str) -> tuple[Any, Any, Any]:
    """Return a library's ``ffi``, its C functions, and the same functions with errors raised."""
    ffi = importlib.import_module(f"{BACKENDS[library]}._ffi")
    checked = importlib.import_module(f"{BACKENDS[library]}._api").libf
    return ffi.ffi, ffi.lib, checked


def dawns_instance() -> Any:
    """Return the WGPUInstance that wgpudawn created."""
    return importlib.import_module(f"{BACKENDS['wgpudawn']}._helpers").get_wgpu_instance()


def dawns_callback(kind: str) -> Any:
    """Return wgpudawn's C callback of a kind, such as "WGPUBufferMapCallback".

    Dawn requires one. wgpudawn ignores calls for which nothing was registered.
    """
    return importlib.import_module(f"{BACKENDS['wgpudawn']}._ffi").c_callback(kind)


def every_adapter(api: ModuleType) -> Callable[[], list[Any]] | None:
    """Return wgpudawn's function that lists all adapters, or None if it has none."""
    found: Callable[[], list[Any]] | None = getattr(api.gpu, "_enumerate_all_adapters", None)
    return found


class _Pending(threading.local):
    """The errors of each thread's own calls, in place of wgpudawn's list for all threads."""

    def __init__(self) -> None:
        self._found: list[Any] = []
        self.append = self._found.append
        self.clear = self._found.clear

    def __bool__(self) -> bool:
        return bool(self._found)

    def __getitem__(self, at: Any) -> Any:
        return self._found[at]


def raise_errors_in_their_thread(checked: Any, lib: Any) -> None:
    """Make wgpudawn raise an error in the thread whose call failed.

    Dawn reports an error within the failing call. wgpudawn 0.32 raises it in the first thread that
    returns from a call, which may be compiling for another device.
    """
    handler = getattr(checked, "_error_handler", None)
    if handler is not None and isinstance(getattr(handler, "pending", None), list):
        handler.pending = _Pending()
        checked._make_function_copies(lib)
