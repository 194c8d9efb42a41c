"""Opening one of the page's GPUs."""

from __future__ import annotations

from asyncio import Future, ensure_future, shield
from collections.abc import Set
from typing import Any

from browsergpu.core.config import BackendConfig
from browsergpu.core.errors import NoAdapter
from browsergpu.gpu.adapter_info import AdapterInfo
from browsergpu.gpu.browser import interop
from browsergpu.gpu.browser.adapters import request_adapter
from browsergpu.gpu.browser.recorder import Recorder


async def open_gpu(
    op: str, config: BackendConfig, wanted: Set[str]
) -> tuple[Recorder, AdapterInfo]:
    """A device with all the limits of the adapter that a config asks for, and those of the wanted
    features that it has. Raises NoAdapter where there is none."""
    adapter, info = await request_adapter(op, config)
    descriptor = {
        "label": "browsergpu",
        "requiredFeatures": sorted(wanted & info.features),
        "requiredLimits": info.limits,
    }
    request = ensure_future(adapter.requestDevice(interop.to_object(descriptor)))
    try:
        gpu_device = await shield(request)
    except interop.JsError as error:
        raise NoAdapter(op, f"the adapter gives no device: {error}; reload the page") from error
    except BaseException:  # interrupted: nobody will have the device that comes
        request.add_done_callback(_destroy)
        raise
    return Recorder(gpu_device, one_by_one=config.debug_mode), info


def _destroy(request: Future[Any]) -> None:
    if not request.cancelled() and request.exception() is None:
        request.result().destroy()
