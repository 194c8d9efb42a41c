"""What only a page has, and how its lack shows outside of one."""

from __future__ import annotations

import os
from typing import Any

from browsergpu.gpu.native.engine import why_none

IN_PYODIDE = False
JsError: type[BaseException] = RuntimeError


def why_no_gpu() -> str:
    """Why there is no GPU, and what to do."""
    return why_none()


def global_text(name: str) -> str | None:
    """A text from the environment, or None."""
    return os.environ.get(name)


async def load_naga(url: str) -> Any:
    """There is no JavaScript to translate SPIR-V."""
    raise JsError("SPIR-V is translated in a page only; give WGSL here")


def find_canvas(canvas_id: str) -> Any | None:
    """There is none."""
    return None


def is_canvas(value: Any) -> bool:
    """Nothing is a canvas here."""
    return False


def hand_over(name: str, content: bytes) -> bool:
    """Nobody takes downloads."""
    return False
