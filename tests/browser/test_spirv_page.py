"""SPIR-V in the project's own page, which serves the translator."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.all

_CODE = '''
import numpy as np
from pyodide.code import run_js
from browsergpu import TensorBackend, WasmBackend

wgsl = """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < 9u) { y[id.x] = f32(id.x * id.x); }
}
"""
make = run_js("""async (wgsl) => {
  const naga = await import(new URL("/vendor/naga-wasm/dist/index.js", location.href).href);
  await naga.init();
  return naga.translate({ from: "wgsl", to: "spirv", source: wgsl });
}""")
module = bytes((await make(wgsl)).to_bytes())
with WasmBackend() as backend:
    backend.init()
    tensors = TensorBackend(backend)
    y = tensors.alloc_tensor((9,), "f32")
    tensors.dispatch_compute(module, [y], None, 1)
    squares = tensors.read_numpy(y).astype(int).tolist()
squares
'''


def test_the_page_translates_spirv(new_page: Callable[..., Page], site_url: str) -> None:
    page = new_page()
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    page.goto(site_url)
    page.evaluate("browsergpu.ready")
    result = page.evaluate("(code) => browsergpu.run(code)", _CODE)
    assert result == "[0, 1, 4, 9, 16, 25, 36, 49, 64]"
    assert any(url.endswith("/naga_bg.wasm") for url in asked)
    foreign = [url for url in asked if not url.startswith((site_url, "data:", "blob:"))]
    assert not foreign, "the translator came from elsewhere"
