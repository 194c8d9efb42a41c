"""Functions that open a GPU of the machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Set
from functools import partial

from browsergpu.engine.core.config import BackendConfig
from browsergpu.engine.core.errors import NoAdapter
from browsergpu.engine.gpu.adapter_info import AdapterInfo
from browsergpu.engine.gpu.native.adapters import chosen_adapter, fresh_adapter
from browsergpu.engine.gpu.native.engine import Engine, engine
from browsergpu.engine.gpu.native.recorder import Recorder
from browsergpu.engine.gpu.native.worker import WORKER

#: wgpu-native enables immediates only on request. Dawn's devices are for a single thread unless
#: this feature makes them lock, and pipelines are compiled in several threads.
_ALWAYS = {"immediates", "implicit-device-synchronization"}

#: A function that takes the wanted features. It raises NoAdapter if the GPU gives no device.
Opener = Callable[[Set[str]], Awaitable[Recorder]]


async def find_gpu(op: str, config: BackendConfig) -> tuple[AdapterInfo, Opener]:
    """Return the description of the GPU that a config selects, and a function that opens it.

    Raises NoAdapter if there is no GPU.
    """
    info = chosen_adapter(op, config)
    return info, partial(_open, op, config, info)


async def _open(op: str, config: BackendConfig, info: AdapterInfo, wanted: Set[str]) -> Recorder:
    found = engine()
    assert found is not None
    await asyncio.sleep(0)  # let concurrent tasks cancel it
    return WORKER.do(partial(_opened, found, op, config, info, wanted))


def _opened(
    found: Engine, op: str, config: BackendConfig, info: AdapterInfo, wanted: Set[str]
) -> Recorder:
    adapter = fresh_adapter(info)
    features = set(wanted & info.features) | (_ALWAYS & adapter.features)
    try:
        device = adapter.request_device_sync(
            label="browsergpu",
            required_features=sorted(features),
            required_limits=dict(adapter.limits),
        )
    except Exception as error:  # each engine has its own exception classes
        raise NoAdapter(op, f"the adapter gives no device: {error}") from error
    return Recorder(found, device, one_by_one=config.debug_mode)
