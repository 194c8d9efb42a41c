"""A released Firefox with WebGPU on lavapipe, a software Vulkan driver.

``BROWSERGPU_BROWSER=firefox`` runs the tests in Firefox; python3 tests/run.py --firefox sets it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Playwright, sync_playwright

from runner.firefox import VARIABLE
from runner.vulkan import software_gpu

from .patience import PATIENCE_MS

#: Whether the tests run in Firefox instead of Chromium.
CHOSEN = os.environ.get("BROWSERGPU_BROWSER") == "firefox"

_DRIVER = Path(__file__).with_name("firefox-driver.cjs")

_PREFERENCES: dict[str, str | float | bool] = {
    # Firefox's defaults on Windows and macOS, where it is released with WebGPU.
    "dom.webgpu.enabled": True,
    "gfx.webgpu.ignore-blocklist": True,
}


def executable() -> Path:
    """Return the Firefox to test with: $BROWSERGPU_FIREFOX, or Debian's."""
    path = Path(os.environ.get(VARIABLE) or "/usr/bin/firefox-esr")
    if not path.exists():
        raise FileNotFoundError(
            f"no Firefox at {path}: set {VARIABLE} to one, "
            "or let `python3 tests/run.py --firefox` find or install one"
        )
    return path


@contextlib.contextmanager
def start_playwright() -> Iterator[Playwright]:
    """Return a Playwright that can drive a released Firefox."""
    options = os.environ.get("NODE_OPTIONS")
    os.environ["NODE_OPTIONS"] = f'--require "{_DRIVER}"'
    playwright = sync_playwright()
    try:
        started = playwright.__enter__()
    finally:
        if options is None:
            del os.environ["NODE_OPTIONS"]
        else:
            os.environ["NODE_OPTIONS"] = options
    try:
        yield started
    finally:
        playwright.__exit__()


def launch(playwright: Playwright) -> Browser:
    """Start Firefox, headless, with WebGPU."""
    return playwright.firefox.launch(
        channel="moz-firefox",
        executable_path=executable(),
        firefox_user_prefs=_PREFERENCES,
        env={**os.environ, **software_gpu("wgpu")},
        timeout=PATIENCE_MS,
    )
