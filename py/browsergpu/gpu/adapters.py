"""The GPUs that there are, for the public."""

from __future__ import annotations

from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, NoAdapter
from browsergpu.gpu import platform
from browsergpu.gpu.adapter_info import AdapterInfo


async def enumerate_adapters_async() -> list[AdapterInfo]:
    """:func:`enumerate_adapters` for callers that cannot block."""
    return await platform.list_adapters("enumerate_adapters")


def enumerate_adapters() -> list[AdapterInfo]:
    """The GPUs of the machine, or those that the browser offers, best first; empty where there is
    none. Waits. Raises NoAdapter where there is no WebGPU at all."""
    return platform.block_on(enumerate_adapters_async(), "enumerate_adapters")


async def get_best_adapter_async() -> AdapterInfo:
    """:func:`get_best_adapter` for callers that cannot block."""
    return (await _some("get_best_adapter"))[0]


def get_best_adapter() -> AdapterInfo:
    """The GPU that is used unless told otherwise. Waits. Raises NoAdapter where there is none."""
    return platform.block_on(get_best_adapter_async(), "get_best_adapter")


async def get_adapter_info_async(index: int) -> AdapterInfo:
    """:func:`get_adapter_info` for callers that cannot block."""
    op = "get_adapter_info"
    number = checks.integer(op, "index", index)
    found = await _some(op)
    if number >= len(found):
        raise InvalidArgument(op, "index", index, f"less than {len(found)}")
    return found[number]


def get_adapter_info(index: int) -> AdapterInfo:
    """One of :func:`enumerate_adapters`. Waits."""
    return platform.block_on(get_adapter_info_async(index), "get_adapter_info")


async def _some(op: str) -> list[AdapterInfo]:
    found = await platform.list_adapters(op)
    if not found:
        raise NoAdapter(op, platform.why_no_adapter())
    return found
