"""Without a browser and without a GPU engine, the package imports, and errors say why."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import browsergpu
from browsergpu import WasmBackend
from browsergpu.errors import DeviceError, NoAdapter, NotInitialized

pytestmark = pytest.mark.fast

PY = Path(__file__).resolve().parents[2] / "py"


def test_import_needs_no_browser_and_is_silent() -> None:
    code = "import browsergpu; print(browsergpu.__version__, browsergpu.is_available())"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={"PYTHONPATH": str(PY), "BROWSERGPU_ENGINE": "none"},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert done.stdout.split() == [browsergpu.__version__, "False"]
    assert done.stderr == ""


def test_there_is_no_webgpu() -> None:
    assert browsergpu.is_available() is False


def assert_says_what_to_do(error: Exception) -> None:
    assert isinstance(error, NoAdapter)
    assert isinstance(error, DeviceError)
    assert "no WebGPU outside a browser" in str(error)
    assert "serve.py" in str(error)
    assert "browsergpu[native]" in str(error)


def test_init() -> None:
    backend = WasmBackend()
    with pytest.raises(NoAdapter) as caught:
        backend.init()
    assert_says_what_to_do(caught.value)
    assert backend.is_initialized is False


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in its own thread, as Playwright's event loop may run in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result(600)


def test_init_async() -> None:
    with pytest.raises(NoAdapter) as caught:
        run(WasmBackend().init_async())
    assert_says_what_to_do(caught.value)


def test_init_from_canvas() -> None:
    with pytest.raises(NoAdapter) as caught:
        run(WasmBackend.init_from_canvas("gpu-canvas"))
    assert_says_what_to_do(caught.value)


def test_a_context_manager_that_was_never_opened() -> None:
    with WasmBackend() as backend:
        assert backend.name == "webgpu"


def test_use_without_init() -> None:
    with pytest.raises(NotInitialized, match=r"alloc: call init\(\) first"):
        WasmBackend().alloc(4)
    with pytest.raises(NotInitialized, match="copy_htod"):
        WasmBackend().copy_htod(1, np.zeros(1, np.float32))


def test_public_names() -> None:
    for name in browsergpu.__all__:
        found = getattr(browsergpu, name)
        if name == "newaxis":
            assert found is None  # None in NumPy too
        else:
            assert found.__doc__, f"{name} has no docstring"
