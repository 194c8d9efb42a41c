"""dispatch_compute with SPIR-V, which naga-wasm translates on demand."""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.tensors.lab import on_bench, sent
from inside.tensors.test_dispatch_compute import CONSTANTS, SCALE, X

NAGA = "/vendor/naga-wasm/dist/index.js"

# naga compiles WGSL to SPIR-V as glslang compiles GLSL: a real module, made in the page.
_COMPILE = """async (url, wgsl) => {
  const naga = await import(new URL(url, location.href).href);
  await naga.init();
  return naga.translate({ from: "wgsl", to: "spirv", source: wgsl });
}"""


def spirv_of(wgsl: str) -> bytes:
    """Return a SPIR-V module as bytes."""
    from pyodide.code import run_js
    from pyodide.ffi import run_sync

    words = run_sync(run_js(_COMPILE)(NAGA, wgsl))
    module = bytes(words.to_bytes()) if hasattr(words, "to_bytes") else bytes(words.to_py())
    assert module[:4] == bytes.fromhex("03022307")
    return module


@pytest.fixture(scope="module")
def module() -> bytes:
    """SPIR-V with the same effect as SCALE."""
    return spirv_of(SCALE)


@pytest.fixture
def naga_url() -> Iterator[Any]:
    """Set the page's address of naga-wasm; restore it and unload naga afterwards."""
    import js

    from browsergpu.compat.tensor_backend import spirv

    def set_url(url: str | None) -> None:
        js.browsergpuNagaUrl = url
        spirv._translator = None
        spirv._translated.clear()

    set_url(NAGA)
    yield set_url
    set_url(None)


def run(tensors: Any, shader: Any, constants: Any = None) -> np.ndarray:
    with on_bench(tensors) as bench:
        out = bench.new((100,))
        tensors.dispatch_compute(shader, [bench.up(X), out], constants, 2)
        return bench.get(out)


@pytest.mark.parametrize(
    "kind",
    [bytes, bytearray, memoryview, lambda module: memoryview(module).cast("I")],
    ids=["bytes", "bytearray", "memoryview", "memoryview of words"],
)
def test_spirv_computes(tensors: Any, naga_url: Any, module: bytes, kind: Any) -> None:
    assert_same_bits(run(tensors, kind(module)), 2.5 * X, "scaled")


def test_spirv_with_push_constants(backend: Any, tensors: Any, naga_url: Any) -> None:
    if backend.device.immediate_bytes == 0:
        pytest.skip("this browser has no WGSL immediates")
    module = spirv_of(CONSTANTS)
    assert_same_bits(run(tensors, module, pack("<If", 100, -1.5)), -1.5 * X, "scaled")


def test_spirv_is_translated_and_compiled_once(
    backend: Any, tensors: Any, naga_url: Any, module: bytes
) -> None:
    from browsergpu.compat.tensor_backend import spirv

    run(tensors, module)
    calls: list[Any] = []
    translate, spirv._translator = spirv._translator, calls.append
    pipelines = sent(backend)["pipelines_created"]
    try:
        run(tensors, module)
        assert not calls
        assert sent(backend)["pipelines_created"] == pipelines
    finally:
        spirv._translator = translate


def test_the_async_twin(tensors: Any, naga_url: Any, module: bytes) -> None:
    from pyodide.ffi import run_sync

    with on_bench(tensors) as bench:
        x, y = bench.up(X), bench.new((100,))
        run_sync(tensors.dispatch_compute_async(module, [x, y], None, 2))
        assert_same_bits(bench.get(y), 2.5 * X, "scaled")


@pytest.mark.provokes_errors
def test_a_translator_that_cannot_be_loaded(tensors: Any, naga_url: Any, module: bytes) -> None:
    from browsergpu.errors import Unsupported

    naga_url("/no/such/naga.js")
    with on_bench(tensors) as bench:
        x, y = bench.up(X), bench.up(np.zeros(100, np.float32))
        for _ in range(2):
            with pytest.raises(Unsupported) as caught:
                tensors.dispatch_compute(module, [x, y], None, 2)
        for part in ("SPIR-V needs a translator", "/no/such/naga.js", "Pass WGSL",
                     "globalThis.browsergpuNagaUrl"):  # fmt: skip
            assert part in str(caught.value)
        assert caught.value.op == "dispatch_compute"
        assert not bench.get(y).any()
    naga_url(NAGA)
    assert_same_bits(run(tensors, module), 2.5 * X, "scaled")


def test_the_default_is_a_pinned_release() -> None:
    from browsergpu.compat.tensor_backend import spirv

    assert spirv.NAGA_URL == "https://cdn.jsdelivr.net/npm/naga-wasm@30.1.0/dist/index.js"


def test_spirv_that_is_damaged(backend: Any, tensors: Any, naga_url: Any, module: bytes) -> None:
    from browsergpu.errors import InvalidArgument, ShaderCompilation

    with on_bench(tensors) as bench:
        handles = [bench.up(X), bench.new((100,))]
        before = sent(backend)
        with pytest.raises(InvalidArgument, match="whole 32-bit words"):
            tensors.dispatch_compute(module[:-1], handles, None, 2)
        for broken in (module[:4], module[:40], module[:20] + bytes(len(module) - 20)):
            with pytest.raises(ShaderCompilation, match=r"dispatch_compute: shader\.spv"):
                tensors.dispatch_compute(broken, handles, None, 2)
        assert sent(backend) == before
    assert_same_bits(run(tensors, module), 2.5 * X, "scaled")


@pytest.mark.parametrize("bindings", [[], [0, 0], None], ids=repr)
def test_bad_bindings_of_spirv(
    backend: Any, tensors: Any, naga_url: Any, module: bytes, bindings: Any
) -> None:
    from browsergpu.errors import InvalidArgument

    before = sent(backend)
    with pytest.raises(InvalidArgument, match="bindings"):
        tensors.dispatch_compute(module, bindings, None, 2)
    assert sent(backend) == before
