"""Chromium with WebGPU for tests and tools, mostly on SwiftShader, a software Vulkan driver."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Playwright

_SOFTWARE_GPU = [
    "--use-webgpu-adapter=swiftshader",
    "--use-vulkan=swiftshader",
    "--use-angle=swiftshader",
    # Makes Dawn zero workgroup memory in a loop. For Vulkan's extension, SwiftShader emits one
    # store per word, which takes 0.4 s to compile in each kernel with workgroup memory.
    "--disable-dawn-features=use_vulkan_zero_initialize_workgroup_memory_extension",
    # The CPU draws pages in either case; without SwiftShader this takes half the time.
    "--disable-gpu-rasterization",
]
_OWN_GPU = [
    "--use-angle=vulkan",
    "--disable-vulkan-surface",
    "--ignore-gpu-blocklist",
    "--enable-dawn-features=allow_unsafe_apis,vulkan_enable_f16_on_nvidia",
]
_FLAGS = [
    "--enable-unsafe-webgpu",
    "--enable-features=Vulkan",
    # expose-gc lets the leak tests collect garbage before they count. no-wasm-inlining saves a
    # fifth of each boot, since most code runs once; there are a hundred boots.
    "--js-flags=--expose-gc --no-wasm-inlining",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
_TIMEOUT_MS = 300_000.0  # detects hangs on slow and busy machines


def executable() -> Path:
    """Return the browser to use: $BROWSERGPU_CHROMIUM, or Debian's."""
    path = Path(os.environ.get("BROWSERGPU_CHROMIUM") or "/usr/bin/chromium")
    if not path.exists():
        raise FileNotFoundError(
            f"no Chromium at {path}: set BROWSERGPU_CHROMIUM to one, "
            "or let `python3 tests/run.py` find or install one"
        )
    return path


def launch(playwright: Playwright, *flags: str) -> Browser:
    """Start Chromium, headless, with WebGPU; `flags` are added to the default flags."""
    return playwright.chromium.launch(**_options(*_SOFTWARE_GPU, *flags))


def launch_own_gpu(playwright: Playwright) -> Browser:
    """Start Chromium, headless, with WebGPU on this machine's GPU (Linux, Vulkan)."""
    return playwright.chromium.launch(**_options(*_OWN_GPU))


def launch_profile(playwright: Playwright, folder: Path) -> BrowserContext:
    """Start Chromium with a profile folder.

    Chromium creates the profile if the folder is empty. Closing the context ends the browser.
    """
    return playwright.chromium.launch_persistent_context(folder, **_options(*_SOFTWARE_GPU))


def _options(*flags: str) -> dict[str, Any]:
    # Chromium's sandbox does not run as root.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return {
        "executable_path": executable(),
        "args": [*_FLAGS, *sandbox, *flags],
        "chromium_sandbox": False,
        "timeout": _TIMEOUT_MS,
    }
