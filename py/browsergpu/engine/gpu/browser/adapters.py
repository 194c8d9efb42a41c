"""The GPUs that the browser offers.

A page cannot list the machine's GPUs. It can request an adapter by power preference, or the
software fallback. This module lists the distinct answers; most machines have one.
"""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.config import BackendConfig
from browsergpu.engine.core.errors import InvalidArgument, NoAdapter
from browsergpu.engine.gpu.adapter_info import AdapterInfo, abilities_of
from browsergpu.engine.gpu.browser import interop as _js

_REQUESTS: tuple[dict[str, Any], ...] = (
    {"powerPreference": "high-performance"},
    {"powerPreference": "low-power"},
    {"forceFallbackAdapter": True},
)

_RELOAD = (
    "the browser gives no GPU adapter. Reload the page (a browser refuses adapters after a GPU "
    "crash), turn hardware acceleration on, or update the GPU's driver."
)


def is_available() -> bool:
    """Return whether WebGPU exists here. The browser may still refuse an adapter."""
    return _js.gpu() is not None


async def list_adapters(op: str) -> list[AdapterInfo]:
    """Return descriptions of the browser's adapters, best first.

    Raises NoAdapter if WebGPU is not available at all.
    """
    return [info for _, info in await _ask_all(op)]


def engine_name() -> str:
    """Return the name of the WebGPU implementation."""
    return "the browser"


def why_no_adapter() -> str:
    """Return the reason why the browser offers no adapter, with advice."""
    return _RELOAD


async def request_adapter(op: str, config: BackendConfig) -> tuple[Any, AdapterInfo]:
    """Return the GPUAdapter that a config selects, and its description.

    Raises NoAdapter if there is none.
    """
    if config.adapter_index is not None:
        answers = await _ask_all(op)
        if not answers:
            raise NoAdapter(op, _RELOAD)
        if config.adapter_index >= len(answers):
            raise InvalidArgument(
                op, "adapter_index", config.adapter_index, f"less than {len(answers)}"
            )
        return answers[config.adapter_index]
    adapter = await _ask(op, {"powerPreference": config.power_preference})
    if adapter is None:
        raise NoAdapter(op, _RELOAD)
    return adapter, _describe(0, adapter)


async def _ask(op: str, request: dict[str, Any]) -> Any | None:
    gpu = _js.gpu()
    if gpu is None:
        raise NoAdapter(op, _js.why_no_gpu())
    return _js.or_none(await gpu.requestAdapter(_js.to_object(request)))


async def _ask_all(op: str) -> list[tuple[Any, AdapterInfo]]:
    answers: list[tuple[Any, AdapterInfo]] = []
    seen = set()
    for request in _REQUESTS:
        adapter = await _ask(op, request)
        if adapter is None:
            continue
        info = _describe(len(answers), adapter)
        identity = (info.vendor, info.architecture, info.device, info.description, info.device_type)
        if identity not in seen:
            seen.add(identity)
            answers.append((adapter, info))
    return answers


def _describe(index: int, adapter: Any) -> AdapterInfo:
    info = adapter.info
    fallback = bool(getattr(info, "isFallbackAdapter", False))
    return AdapterInfo(
        index=index,
        vendor=str(info.vendor),
        architecture=str(info.architecture),
        device=str(info.device),
        description=str(info.description),
        device_type="cpu" if fallback else "gpu",
        features=frozenset(str(feature) for feature in adapter.features),
        limits=_js.limits(adapter.limits),
        abilities=_abilities(info) | abilities_of(str(info.vendor)),
    )


def _abilities(info: Any) -> frozenset[str]:
    size = getattr(info, "subgroupMinSize", 0)
    found = {f"subgroups of {size}"} if 0 < size == getattr(info, "subgroupMaxSize", 0) else set()
    for c in getattr(info, "subgroupMatrixConfigs", None) or ():
        found.add(f"matrices {c.componentType} {c.resultComponentType} {c.M}x{c.N}x{c.K}")
    return frozenset(found)
