"""The architectures by GGUF's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.engine.core.errors import Unsupported
from browsergpu.llm.models.gemma import Gemma
from browsergpu.llm.models.gpt2 import GPT2
from browsergpu.llm.models.llama import Llama
from browsergpu.llm.models.phi3 import Phi3
from browsergpu.llm.models.qwen import Qwen

#: Modules of decoders, called with weights, configuration and number of positions.
DECODERS: dict[str, Callable[..., Any]] = {
    "gemma2": Gemma, "gemma3": Gemma, "gpt2": GPT2, "llama": Llama, "phi3": Phi3, "qwen2": Qwen,
    "qwen3": Qwen,
}  # fmt: skip
#: Encoders, which embed texts and generate none.
ENCODERS = ("bert",)


def check_architecture(name: str) -> None:
    """Raise Unsupported for an unknown architecture."""
    if name not in DECODERS and name not in ENCODERS:
        known = ", ".join(sorted([*DECODERS, *ENCODERS]))
        raise Unsupported(
            "llm.load", f"general.architecture must be one of {known}, got {name!r}. "
            "Use another model."
        )  # fmt: skip
