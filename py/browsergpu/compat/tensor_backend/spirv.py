"""Translation of SPIR-V to WGSL by naga in WebAssembly (npm: naga-wasm), loaded on demand.

A page can set the module's address in ``globalThis.browsergpuNagaUrl``. The default is the jsDelivr
CDN.
"""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import InvalidArgument, ShaderCompilation, Unsupported
from browsergpu.engine.core.showing import Description, byte_count
from browsergpu.engine.gpu import platform

NAGA_URL = "https://cdn.jsdelivr.net/npm/naga-wasm@30.1.0/dist/index.js"

_MAGIC = (0x07230203).to_bytes(4, "little")
_REMEMBERED = 64
_translator: Any = None
_translated: dict[bytes, str] = {}


def is_spirv(shader: Any) -> bool:
    """Return whether a shader is bytes that start with SPIR-V's magic number (little-endian)."""
    return isinstance(shader, bytes | bytearray | memoryview) and bytes(shader)[:4] == _MAGIC


async def to_wgsl(op: str, shader: Any) -> str:
    """Translate a SPIR-V module to WGSL. Recent results are cached.

    Raises
    ------
    Unsupported
        If the translator cannot be loaded.
    ShaderCompilation
        If the translator refuses the module.
    """
    module = bytes(shader)
    if len(module) % 4:
        raise InvalidArgument(
            op, "shader", Description(byte_count(len(module))), "SPIR-V of whole 32-bit words"
        )
    if module not in _translated:
        text = await _translate(op, module)
        while len(_translated) >= _REMEMBERED:
            del _translated[next(iter(_translated))]
        _translated[module] = text
    return _translated[module]


async def _translate(op: str, module: bytes) -> str:
    global _translator
    if _translator is None:
        url = platform.global_text("browsergpuNagaUrl") or NAGA_URL
        try:
            _translator = await platform.load_naga(url)
        except platform.JsError as error:
            raise Unsupported(
                op,
                f"SPIR-V needs a translator, which could not be loaded from {url} ({error}). "
                "Pass WGSL, or set globalThis.browsergpuNagaUrl to a copy of naga-wasm.",
            ) from error
    try:
        return str(_translator(module))
    except platform.JsError as error:
        raise ShaderCompilation(op, str(error), "shader.spv", 0, 0) from error
