"""Chromium with WebGPU on SwiftShader, a software Vulkan driver."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Playwright

from .patience import PATIENCE_MS

_FLAGS = [
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--use-vulkan=swiftshader",
    "--use-angle=swiftshader",
    "--enable-features=Vulkan",
    # Dawn then zeroes a workgroup's memory by a loop. Of Vulkan's own way SwiftShader makes a store
    # for each word, which takes 0.4 s to compile in each kernel that has such memory.
    "--disable-dawn-features=use_vulkan_zero_initialize_workgroup_memory_extension",
    # Pages are drawn by the CPU either way; without the detour by SwiftShader in half the time.
    "--disable-gpu-rasterization",
    # Lets the leak tests ask for a collection before they count; and a boot, of which there are a
    # hundred, spends a fifth less time on compiling what runs once.
    "--js-flags=--expose-gc --no-wasm-inlining",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def executable() -> Path:
    """The browser to test with: $BROWSERGPU_CHROMIUM, else Debian's."""
    path = Path(os.environ.get("BROWSERGPU_CHROMIUM") or "/usr/bin/chromium")
    if not path.exists():
        raise FileNotFoundError(
            f"no Chromium at {path}: set BROWSERGPU_CHROMIUM to one, "
            "or let `python3 tests/run.py` find or install one"
        )
    return path


def launch(playwright: Playwright, *flags: str) -> Browser:
    """Start Chromium, headless, with WebGPU on; `flags` are added to the usual ones."""
    return playwright.chromium.launch(**_options(*flags))


def launch_profile(playwright: Playwright, folder: Path) -> BrowserContext:
    """Start Chromium with the profile in a folder, which is made there if it is empty; closing the
    context ends the browser."""
    return playwright.chromium.launch_persistent_context(folder, **_options())


def _options(*flags: str) -> dict[str, Any]:
    # Chromium refuses to run its sandbox as root.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return {
        "executable_path": executable(),
        "args": [*_FLAGS, *sandbox, *flags],
        "chromium_sandbox": False,
        "timeout": PATIENCE_MS,
    }
