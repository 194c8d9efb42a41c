"""Functions that open a GPU of the page."""

from __future__ import annotations

from asyncio import Future, ensure_future, shield
from collections.abc import Awaitable, Callable, Set
from functools import partial
from typing import Any

from browsergpu.engine.core.config import BackendConfig
from browsergpu.engine.core.errors import NoAdapter
from browsergpu.engine.gpu.adapter_info import AdapterInfo
from browsergpu.engine.gpu.browser import interop
from browsergpu.engine.gpu.browser.adapters import request_adapter
from browsergpu.engine.gpu.browser.recorder import Recorder

#: A function that takes the wanted features. It raises NoAdapter if the GPU gives no device.
Opener = Callable[[Set[str]], Awaitable[Recorder]]


async def find_gpu(op: str, config: BackendConfig) -> tuple[AdapterInfo, Opener]:
    """Return the description of the GPU that a config selects, and a function that opens it.

    The device gets all limits of the GPU, and the wanted features that the GPU has. Raises
    NoAdapter if there is no GPU.
    """
    adapter, info = await request_adapter(op, config)
    return info, partial(_open, op, config, adapter, info)


async def _open(
    op: str, config: BackendConfig, adapter: Any, info: AdapterInfo, wanted: Set[str]
) -> Recorder:
    descriptor = {
        "label": "browsergpu",
        "requiredFeatures": sorted(wanted & info.features),
        "requiredLimits": info.limits,
    }
    request = ensure_future(adapter.requestDevice(interop.to_object(descriptor)))
    try:
        gpu_device = await shield(request)
    except interop.JsError as error:
        raise NoAdapter(op, f"the adapter gives no device: {error}. Reload the page.") from error
    except BaseException:  # interrupted: the device would have no owner
        request.add_done_callback(_destroy)
        raise
    return Recorder(gpu_device, one_by_one=config.debug_mode)


def _destroy(request: Future[Any]) -> None:
    if not request.cancelled() and request.exception() is None:
        request.result().destroy()
