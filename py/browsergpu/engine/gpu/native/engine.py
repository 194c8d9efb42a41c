"""The library that drives GPUs outside a browser: Dawn, as in Chrome, or else wgpu-native.

Both come with wgpu-py's API. ``$BROWSERGPU_ENGINE`` ("dawn", "wgpu" or "none") selects one.
"""

from __future__ import annotations

import importlib
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from types import ModuleType
from typing import Any, NamedTuple

from browsergpu.engine.core.turns import new_lock
from browsergpu.engine.gpu.native import private, quiet
from browsergpu.engine.gpu.native.worker import WORKER

DAWN, WGPU = "wgpudawn", "wgpu"
VARIABLE = "BROWSERGPU_ENGINE"
_BACKENDS = ("Vulkan", "Metal", "D3D12")

#: NVIDIA's driver needs the second for f16. Subgroup matrices and immediates need the first.
TOGGLES = ["allow_unsafe_apis", "vulkan_enable_f16_on_nvidia"]
#: Browsers round times to 0.1 ms so that pages learn less about each other.
TOGGLES_OFF = ["timestamp_quantization"]

#: Dawn's reasons for refusing GPUs that it found.
_refusals: list[str] = []
#: Held while an engine is loaded or lists GPUs, since both change state of the whole process.
_asking = new_lock()


class Engine(NamedTuple):
    """A loaded engine.

    Attributes
    ----------
    name : str
        Name of its package.
    api : module
        The package, with wgpu-py's API.
    extras : module
        Its functions beyond wgpu-py.
    ffi, lib : object
        Its C interface.
    checked : object
        The C interface, with errors raised as exceptions.
    """

    name: str
    api: ModuleType
    extras: ModuleType
    ffi: Any
    lib: Any
    checked: Any

    @property
    def is_dawn(self) -> bool:
        """Whether the engine is Dawn."""
        return self.name == DAWN

    def upload(self, device: Any, buffer: Any, at: int, data: Any, nbytes: int) -> None:
        """Write the first bytes of an object with the buffer protocol.

        wgpu-py's own function is not used. If it raises, the error's frames keep a view that makes
        Python's garbage collector end the process.
        """
        pointer = self.ffi.cast("void *", self.ffi.from_buffer(data))
        self.checked.wgpuQueueWriteBuffer(
            device.queue._internal, buffer._internal, at, pointer, nbytes
        )

    def adapters(self) -> list[Any]:
        """Return the GPUs of the first graphics API that has any.

        Other graphics APIs offer the same GPUs. OpenGL lacks limits that kernels need.
        """
        with _asking, quiet.without_a_screen():
            found = self._all_adapters()
        by = {kind: [a for a in found if a.info.get("backend_type") == kind] for kind in _BACKENDS}
        return next((adapters for adapters in by.values() if adapters), [])

    def told(self, adapter: Any) -> dict[str, Any]:
        """Return Dawn's properties of an adapter beyond WebGPU, or {} for wgpu-native."""
        return dict(self.extras.get_adapter_properties(adapter)) if self.is_dawn else {}

    def _all_adapters(self) -> list[Any]:
        every = private.every_adapter(self.api)
        if not self.is_dawn or every is None:
            return list(self.api.gpu.enumerate_adapters_sync())
        # wgpudawn 0.32 lists only one of several GPUs with the same name, as in a multi-GPU host.
        known: dict[Any, Any] = {}
        for i, adapter in enumerate(every()):
            uuids = self.told(adapter).get("vulkan_uuids") or {}
            kind = adapter.info.get("backend_type")
            known.setdefault((kind, uuids.get("device_uuid", i)), adapter)
        return list(known.values())


def engine() -> Engine | None:
    """Return the engine to use, or None if none is installed.

    It is the first that is installed, allowed, and finds a GPU. If none finds a GPU, it is the
    first installed one.
    """
    return WORKER.do(_found_once)  # an interrupted import leaves incomplete modules


def _found_once() -> Engine | None:
    with _asking:  # concurrent threads load it once
        return _found()


@cache
def _found() -> Engine | None:
    wanted = {"dawn": [DAWN], "wgpu": [WGPU], "none": []}.get(os.environ.get(VARIABLE, ""))
    installed = [_load(name) for name in ([DAWN, WGPU] if wanted is None else wanted)]
    engines = [one for one in installed if one is not None]
    return next((one for one in engines if _has_adapters(one)), engines[0] if engines else None)


def _has_adapters(engine: Engine) -> bool:
    """Return whether an engine finds a GPU.

    Dawn's reasons for refusing GPUs are kept, since Dawn reports them only once.
    """
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
    extras = private.extras(name)
    if name == DAWN:
        extras.set_instance_extras(enable_toggles=TOGGLES, disable_toggles=TOGGLES_OFF)
    else:
        _leave_out_opengl(extras)
    ffi, lib, checked = private.c_interface(name)
    if name == DAWN:
        private.raise_errors_in_their_thread(checked, lib)
    return Engine(name, api, extras, ffi, lib, checked)


def _leave_out_opengl(extras: ModuleType) -> None:
    """Exclude OpenGL from wgpu-native.

    wgpu-native lists OpenGL adapters beside Vulkan's. It ends the process if one thread releases an
    OpenGL adapter while another lists adapters.
    """
    with suppress(RuntimeError):  # the program has used wgpu before
        extras.set_instance_extras(backends=["Vulkan", "Metal", "DX12"])


def engine_name() -> str:
    """Return the name and version of the engine, or "none"."""
    found = engine()
    return "none" if found is None else f"{found.name} {version(found.name)}"


def why_none() -> str:
    """Return the reason why there is no GPU, with advice."""
    if engine() is None:
        return (
            "there is no WebGPU outside a browser unless an engine is installed. Run pip install "
            "browsergpu[native], or run this in a page through Pyodide (python3 serve.py opens "
            "one)."
        )
    refused = "".join(f" Dawn refused one: {reason}" for reason in _refusals)
    return (
        "no GPU with Vulkan, Metal or Direct3D 12 was found. Install its driver, or a software "
        f"GPU (mesa-vulkan-drivers on Debian).{refused}"
    )
