"""Replacements for functions that only work in a page."""

from __future__ import annotations

import os
from typing import Any
from urllib.request import urlopen

from browsergpu.gpu.native.engine import why_none

IN_PYODIDE = False
_FETCH_S = 60.0  # without an answer
JsError: type[BaseException] = RuntimeError


def why_no_gpu() -> str:
    """Return the reason why there is no GPU, with advice."""
    return why_none()


def global_text(name: str) -> str | None:
    """Return an environment variable, or None."""
    return os.environ.get(name)


async def fetch(url: str) -> bytes:
    """Return the bytes at an address. Raises OSError if there are none."""
    with urlopen(url, timeout=_FETCH_S) as response:
        return response.read()  # type: ignore[no-any-return]


async def load_naga(url: str) -> Any:
    """Raise JsError, since there is no JavaScript to translate SPIR-V."""
    raise JsError("SPIR-V can be translated only in a page. Pass WGSL here.")


def find_canvas(canvas_id: str) -> Any | None:
    """Return None, since there are no canvases."""
    return None


def is_canvas(value: Any) -> bool:
    """Return False, since there are no canvases."""
    return False


def hand_over(name: str, content: bytes) -> bool:
    """Return False, since there is no browser to download the file."""
    return False
