"""Multiple backends, canvases by id, and a backend's properties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import on_gpu, random_array

pytestmark = pytest.mark.kernels("worker", "main")


def test_a_backend_describes_itself(backend: Any) -> None:
    import browsergpu

    assert browsergpu.is_available() is True
    assert isinstance(backend, browsergpu.ComputeBackend)
    assert backend.name == "webgpu"
    device = backend.device
    assert set(device.info) >= {"vendor", "architecture", "device", "description"}
    assert all(type(value) is str for value in device.info.values())
    assert all(type(value) is int for value in device.limits.values())
    assert all(type(value) is str for value in device.features)


def test_is_initialized_says_whether_the_device_is_open() -> None:
    from pyodide.ffi import run_sync

    from browsergpu import WasmBackend

    backend = WasmBackend()
    assert backend.is_initialized is False
    opening = backend.init_async()
    assert backend.is_initialized is False
    run_sync(opening)
    assert backend.is_initialized is True
    backend.init()
    assert backend.is_initialized is True
    backend.close()
    assert backend.is_initialized is False
    backend.init()
    assert backend.is_initialized is True
    backend.close()
    assert backend.is_initialized is False


def test_the_device_has_the_adapters_limits_and_features(backend: Any) -> None:
    import js
    from pyodide.ffi import run_sync

    from browsergpu.engine.device.device import WANTED_FEATURES

    adapter = run_sync(js.navigator.gpu.requestAdapter())
    for name in ("maxBufferSize", "maxStorageBufferBindingSize", "maxComputeWorkgroupStorageSize"):
        assert backend.device.limits[name] == getattr(adapter.limits, name)
    offered = {str(feature) for feature in adapter.features}
    assert offered & WANTED_FEATURES <= backend.device.features


def test_two_backends_do_not_meet() -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import InvalidArgument

    with WasmBackend() as first, WasmBackend() as second:
        first.init()
        second.init()
        data = random_array(1, 64)
        with on_gpu(first) as a, on_gpu(second) as b:
            x, y = a.upload(data), b.upload(-data)
            assert x != y
            for _ in range(3):
                first.unary("abs", x, x, 64)
                second.unary("relu", y, y, 64)
            with pytest.raises(InvalidArgument):
                first.free(y)
            with pytest.raises(InvalidArgument):
                second.unary("relu", y, x, 64)
            assert_same_bits(a.download(x, 64), np.abs(data), "first")
            assert_same_bits(b.download(y, 64), np.maximum(-data, 0), "second")


def test_closing_one_leaves_the_other() -> None:
    from browsergpu import WasmBackend

    with WasmBackend() as first:
        first.init()
        with WasmBackend() as second:
            second.init()
            second.alloc(16)
        with on_gpu(first) as gpu:
            data = random_array(1, 5)
            assert_same_bits(gpu.download(gpu.upload(data), 5), data, "array")


def test_opening_at_once_opens_one_device() -> None:
    import asyncio

    import js
    from pyodide.ffi import run_sync

    from browsergpu import WasmBackend

    backend = WasmBackend()

    async def open_twice() -> None:
        await asyncio.gather(backend.init_async(), backend.init_async())

    before = len(js.gpuWatch.devices)
    run_sync(open_twice())
    assert len(js.gpuWatch.devices) == before + 1
    backend.close()


def test_init_from_canvas() -> None:
    from pyodide.ffi import run_sync

    from browsergpu import WasmBackend

    backend = run_sync(WasmBackend.init_from_canvas("gpu-canvas"))
    assert backend.is_initialized
    backend.close()


@pytest.mark.parametrize("canvas_id", ["no-such-canvas", "", None, 5, b"gpu-canvas"])
def test_init_from_an_unknown_canvas(canvas_id: Any) -> None:
    from pyodide.ffi import run_sync

    from browsergpu import WasmBackend
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match="init_from_canvas: canvas_id") as caught:
        run_sync(WasmBackend.init_from_canvas(canvas_id))
    assert repr(canvas_id) in str(caught.value)
    assert "another tag" not in str(caught.value), "there is no element at all"


@pytest.mark.parametrize(
    ("arguments", "mention"),
    [
        ({"height": 0}, "height"), ({"height": -1}, "height"), ({"height": 2.0}, "height"),
        ({"width": 0}, "width"), ({"width": True}, "width"), ({"width": 10**6}, "width"),
        ({"channels": 2}, "channels"), ({"channels": 0}, "channels"), ({"channels": 5}, "channels"),
        ({"channels": True}, "channels"), ({"channels": "3"}, "channels"),
        ({"channels": 3.0}, "channels"),
        ({"height": 5, "width": 5}, "ptr"),
        ({"canvas_id": "no-such-canvas"}, "canvas_id"), ({"canvas_id": 5}, "canvas_id"),
        ({"canvas_id": None}, "canvas_id"),
    ],
    ids=str,
)  # fmt: skip
def test_draw_refuses(backend: Any, arguments: dict[str, Any], mention: str) -> None:
    from browsergpu.errors import InvalidArgument

    good = {"height": 4, "width": 6, "channels": 3, "canvas_id": "gpu-canvas"}
    with on_gpu(backend) as gpu:
        image = gpu.upload(np.zeros(72, np.float32))
        before = backend.device.recorder.counters
        with pytest.raises(InvalidArgument, match=f"draw: {mention}"):
            backend.draw(image, **(good | arguments))
        assert backend.device.recorder.counters == before
