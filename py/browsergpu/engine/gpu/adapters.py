"""Public functions that list the available GPUs."""

from __future__ import annotations

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, NoAdapter
from browsergpu.engine.gpu import platform
from browsergpu.engine.gpu.adapter_info import AdapterInfo


async def enumerate_adapters_async() -> list[AdapterInfo]:
    """Return the available GPUs, as :func:`enumerate_adapters` does, without blocking."""
    return await platform.list_adapters("enumerate_adapters")


def enumerate_adapters() -> list[AdapterInfo]:
    """Return the GPUs of the machine, or the GPUs that the browser offers. Blocks.

    Returns
    -------
    list of AdapterInfo
        The GPUs, best first. Empty if there is none.

    Raises
    ------
    NoAdapter
        If WebGPU is not available at all.
    """
    return platform.block_on(enumerate_adapters_async(), "enumerate_adapters")


async def get_best_adapter_async() -> AdapterInfo:
    """Return the default GPU, as :func:`get_best_adapter` does, without blocking."""
    return (await _some("get_best_adapter"))[0]


def get_best_adapter() -> AdapterInfo:
    """Return the GPU that is used by default. Blocks.

    Returns
    -------
    AdapterInfo
        The first of :func:`enumerate_adapters`.

    Raises
    ------
    NoAdapter
        If there is no GPU.
    """
    return platform.block_on(get_best_adapter_async(), "get_best_adapter")


async def get_adapter_info_async(index: int) -> AdapterInfo:
    """Return one GPU, as :func:`get_adapter_info` does, without blocking."""
    op = "get_adapter_info"
    number = checks.integer(op, "index", index)
    found = await _some(op)
    if number >= len(found):
        raise InvalidArgument(op, "index", index, f"less than {len(found)}")
    return found[number]


def get_adapter_info(index: int) -> AdapterInfo:
    """Return one of the GPUs that :func:`enumerate_adapters` lists. Blocks.

    Parameters
    ----------
    index : int
        Position in the list.

    Returns
    -------
    AdapterInfo
        The GPU at that position.

    Raises
    ------
    InvalidArgument
        If there are fewer GPUs.
    NoAdapter
        If there is no GPU.
    """
    return platform.block_on(get_adapter_info_async(index), "get_adapter_info")


async def _some(op: str) -> list[AdapterInfo]:
    found = await platform.list_adapters(op)
    if not found:
        raise NoAdapter(op, platform.why_no_adapter())
    return found
