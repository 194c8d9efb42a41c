"""The library that drives GPUs outside a browser: Dawn, which Chrome has, or else wgpu-native.

Both come with wgpu-py's API; ``$BROWSERGPU_ENGINE`` ("dawn", "wgpu" or "none") chooses.
"""

from __future__ import annotations

import importlib
import os
import threading
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from types import ModuleType
from typing import Any, NamedTuple

from browsergpu.core.turns import new_lock
from browsergpu.gpu.native import quiet
from browsergpu.gpu.native.worker import WORKER

DAWN, WGPU = "wgpudawn", "wgpu"
VARIABLE = "BROWSERGPU_ENGINE"
_BACKENDS = ("Vulkan", "Metal", "D3D12")

#: What NVIDIA's driver needs for f16, and every device for subgroup matrices and immediates.
TOGGLES = ["allow_unsafe_apis", "vulkan_enable_f16_on_nvidia"]
#: Times are rounded to 0.1 ms so that pages learn less of each other.
TOGGLES_OFF = ["timestamp_quantization"]

#: Why Dawn refused the GPUs that it found.
_refusals: list[str] = []
#: Held while an engine is loaded, or asked for GPUs: both change what the whole process has.
_asking = new_lock()


class Engine(NamedTuple):
    """``api`` is the library; ``extras`` what it has beyond wgpu-py; ``ffi`` and ``lib`` its C
    interface, ``checked`` the same with errors raised."""

    name: str
    api: ModuleType
    extras: ModuleType
    ffi: Any
    lib: Any
    checked: Any

    @property
    def is_dawn(self) -> bool:
        """Whether it is Dawn."""
        return self.name == DAWN

    def upload(self, device: Any, buffer: Any, at: int, data: Any, nbytes: int) -> None:
        """Writes the first bytes of what has a buffer. Where wgpu-py's own way raises, the view
        that it leaves in the error's frames ends the process in Python's collector."""
        pointer = self.ffi.cast("void *", self.ffi.from_buffer(data))
        self.checked.wgpuQueueWriteBuffer(
            device.queue._internal, buffer._internal, at, pointer, nbytes
        )

    def adapters(self) -> list[Any]:
        """The GPUs that it finds by the first of these interfaces that has any: by another they are
        the same. OpenGL lacks limits that are needed."""
        with _asking, quiet.without_a_screen():
            found = self._all_adapters()
        by = {kind: [a for a in found if a.info.get("backend_type") == kind] for kind in _BACKENDS}
        return next((adapters for adapters in by.values() if adapters), [])

    def told(self, adapter: Any) -> dict[str, Any]:
        """What Dawn tells of an adapter beyond WebGPU; nothing from wgpu-native."""
        return dict(self.extras.get_adapter_properties(adapter)) if self.is_dawn else {}

    def _all_adapters(self) -> list[Any]:
        every = getattr(self.api.gpu, "_enumerate_all_adapters", None)
        if not self.is_dawn or every is None:
            return list(self.api.gpu.enumerate_adapters_sync())
        # wgpudawn 0.32 gives one of several that have the same name, as GPUs of one host have.
        known: dict[Any, Any] = {}
        for i, adapter in enumerate(every()):
            uuids = self.told(adapter).get("vulkan_uuids") or {}
            kind = adapter.info.get("backend_type")
            known.setdefault((kind, uuids.get("device_uuid", i)), adapter)
        return list(known.values())


def engine() -> Engine | None:
    """The engine to use: the first that is installed, wanted, and finds a GPU; where none finds
    one, the first; None where none is installed."""
    return WORKER.do(_found_once)  # an interrupted import leaves modules half-made


def _found_once() -> Engine | None:
    with _asking:  # threads that come together load it once
        return _found()


@cache
def _found() -> Engine | None:
    wanted = {"dawn": [DAWN], "wgpu": [WGPU], "none": []}.get(os.environ.get(VARIABLE, ""))
    installed = [_load(name) for name in ([DAWN, WGPU] if wanted is None else wanted)]
    engines = [one for one in installed if one is not None]
    return next((one for one in engines if _has_adapters(one)), engines[0] if engines else None)


def _has_adapters(engine: Engine) -> bool:
    """Whether an engine finds a GPU. Notes why Dawn refuses those it finds: it says so once."""
    if not engine.is_dawn:
        return bool(engine.adapters())
    with quiet.notices_set_aside() as notices:
        found = engine.adapters()
    _refusals.extend(notices)
    return bool(found)


def _load(name: str) -> Engine | None:
    try:
        api = importlib.import_module(name)
    except ImportError:
        return None
    backend = f"{name}.backends.{'dawn' if name == DAWN else 'wgpu_native'}"
    extras = importlib.import_module(f"{backend}.extras")
    if name == DAWN:
        extras.set_instance_extras(enable_toggles=TOGGLES, disable_toggles=TOGGLES_OFF)
    else:
        _leave_out_opengl(extras)
    ffi = importlib.import_module(f"{backend}._ffi")
    checked = importlib.import_module(f"{backend}._api").libf
    if name == DAWN:
        _tell_errors_by_thread(checked, ffi.lib)
    return Engine(name, api, extras, ffi.ffi, ffi.lib, checked)


def _leave_out_opengl(extras: ModuleType) -> None:
    """wgpu-native ends the process where one thread forgets an adapter of OpenGL, which it lists
    beside Vulkan's, while another looks for adapters."""
    with suppress(RuntimeError):  # the program has asked wgpu for a GPU before
        extras.set_instance_extras(backends=["Vulkan", "Metal", "DX12"])


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


def _tell_errors_by_thread(checked: Any, lib: Any) -> None:
    """Dawn tells of an error within the call that is wrong; wgpudawn 0.32 raises it from whichever
    thread comes back from a call first, which may be compiling for another device."""
    handler = getattr(checked, "_error_handler", None)
    if handler is not None and isinstance(getattr(handler, "pending", None), list):
        handler.pending = _Pending()
        checked._make_function_copies(lib)


def engine_name() -> str:
    """The library that is used, and its version; "none"."""
    found = engine()
    return "none" if found is None else f"{found.name} {version(found.name)}"


def why_none() -> str:
    """Why there is no GPU, and what to do."""
    if engine() is None:
        return (
            "there is no WebGPU outside a browser unless an engine for it is installed: pip "
            "install browsergpu[native]; or run this in a page through Pyodide (python3 serve.py "
            "opens one)"
        )
    refused = "".join(f" Dawn refused one: {reason}" for reason in _refusals)
    return (
        "no GPU with Vulkan, Metal or Direct3D 12 was found; install its driver, or a software "
        f"GPU (mesa-vulkan-drivers on Debian).{refused}"
    )
