"""The architectures by GGUF's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.core.errors import Unsupported
from browsergpu.llm.models.llama import Llama

#: Modules of decoders, called with weights, configuration and number of positions.
DECODERS: dict[str, Callable[..., Any]] = {"llama": Llama}


def decoder_of(architecture: str) -> Callable[..., Any]:
    """Return the class of an architecture. Raises Unsupported for an unknown one."""
    found = DECODERS.get(architecture)
    if found is None:
        known = ", ".join(sorted(DECODERS))
        raise Unsupported(
            "llm.load", f"general.architecture must be one of {known}, got {architecture!r}. "
            "Use another model."
        )  # fmt: skip
    return found
