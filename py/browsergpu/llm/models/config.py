"""The sizes and options of a model, from the metadata of its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument, Unsupported
from browsergpu.engine.core.showing import Description, Shown

_OP = "llm.load"
#: Limits that keep malformed files from allocating without bound.
_MOST_LAYERS, _MOST = 1024, 1 << 24


@dataclass(frozen=True)
class Config:
    """Sizes and options of a model.

    Attributes
    ----------
    architecture : str
        GGUF's name of the architecture.
    layers, width, inner, heads, kv_heads, head_width : int
        Blocks; elements of a token's state, of the feed-forward layer; heads of queries, of keys;
        elements of a head.
    context : int
        The most positions the model was trained for.
    eps : float
        Of the normalizations.
    rope_base, rope_local_base : float
        Base of the angles, and of those in layers with a sliding window.
    rope_width : int
        How many elements of a head turn.
    rope_scaling : str
        none, linear, yarn or longrope.
    rope_factor, rope_original, rope_attention_factor : float
        Factor of the scaling, context before the scaling, and factor of cosines and sines (0 for
        the scaling's own).
    window : int
        Keys that a token attends to in layers with a sliding window. 0 for none.
    attention_softcap, final_softcap : float
        Soft caps of scores and logits. 0 for none.
    attention_scale : float
        Factor of scores. 0 for 1 / √head_width.
    adjacent_pairs : bool
        Whether neighbors are a pair that turns, else elements half a head apart.
    """

    architecture: str
    layers: int
    width: int
    inner: int
    heads: int
    kv_heads: int
    head_width: int
    context: int
    eps: float
    rope_base: float
    rope_local_base: float
    rope_width: int
    rope_scaling: str
    rope_factor: float
    rope_original: int
    rope_attention_factor: float
    window: int
    attention_softcap: float
    final_softcap: float
    attention_scale: float
    adjacent_pairs: bool


class Reader(Shown):
    """Metadata of a GGUF file by keys without the architecture, checked."""

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        self._metadata = metadata
        #: The name of the architecture.
        self.architecture = architecture_of(metadata)

    def has(self, key: str) -> bool:
        """Whether the file has a key."""
        return f"{self.architecture}.{key}" in self._metadata

    def integer(self, key: str, default: int | None = None, most: int = _MOST) -> int:
        """Return an integer from 1 on, or the default. Equal numbers for all layers are one."""
        found = self._get(key, default)
        if isinstance(found, np.ndarray) and found.size:
            if (found != found[0]).any():
                raise Unsupported(_OP, f"{key} must be the same in all layers. Use another model.")
            found = found[0].item()
        if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= most:
            raise _wrong(key, found, f"an integer up to {most}")
        return found

    def real(self, key: str, default: float | None = None) -> float:
        """Return a finite number of at least 0, or the default."""
        found = self._get(key, default)
        if not isinstance(found, int | float) or not isfinite(found) or found < 0:
            raise _wrong(key, found, "a finite number of at least 0")
        return float(found)

    def string(self, key: str, default: str) -> str:
        """Return a string, or the default."""
        found = self._get(key, default)
        if not isinstance(found, str):
            raise _wrong(key, found, "a string")
        return found

    def _get(self, key: str, default: Any) -> Any:
        found = self._metadata.get(f"{self.architecture}.{key}", default)
        if found is None:
            raise _wrong(key, None, "in the file's metadata")
        return found


def architecture_of(metadata: Mapping[str, Any]) -> str:
    """Return the name of the architecture. Raises InvalidArgument if there is none."""
    found = metadata.get("general.architecture")
    if not isinstance(found, str):
        raise _wrong("general.architecture", found, "a string")
    return found


def config_of(metadata: Mapping[str, Any]) -> Config:
    """Return the configuration of a GGUF file. Raises InvalidArgument for malformed metadata."""
    read = Reader(metadata)
    if read.integer("expert_count", 0):
        raise Unsupported(_OP, "Models with experts are not supported. Use a dense model.")
    width = read.integer("embedding_length")
    heads = read.integer("attention.head_count", most=_MOST_LAYERS)
    if not heads or not width:
        raise _wrong("attention.head_count", heads, "at least 1")
    kv_heads = read.integer("attention.head_count_kv", heads)
    head_width = read.integer("attention.key_length", width // heads)
    if not kv_heads or heads % kv_heads:
        raise _wrong("attention.head_count_kv", kv_heads, f"a divisor of {heads}")
    if not 0 < head_width <= 512 or head_width % 4:
        raise _wrong("attention.key_length", head_width, "a multiple of 4 up to 512")
    if read.integer("attention.value_length", head_width) != head_width:
        raise Unsupported(_OP, "Values must have the width of keys. Use another model.")
    scaling = read.string("rope.scaling.type", "none")
    if scaling not in ("none", "linear", "yarn", "longrope"):
        raise Unsupported(_OP, f"rope.scaling.type must be none, linear, yarn or longrope, got "
                               f"{scaling!r}. Use another model.")  # fmt: skip
    eps = "attention.layer_norm_rms_epsilon"
    base = read.real("rope.freq_base", 10_000.0)
    rope_width = read.integer("rope.dimension_count", head_width)
    if rope_width > head_width or rope_width % 2:
        raise _wrong("rope.dimension_count", rope_width, f"an even number up to {head_width}")
    context = read.integer("context_length", 2048)
    return Config(
        architecture=read.architecture,
        layers=read.integer("block_count", most=_MOST_LAYERS),
        width=width,
        inner=read.integer("feed_forward_length"),
        heads=heads,
        kv_heads=kv_heads,
        head_width=head_width,
        context=context,
        eps=read.real(eps if read.has(eps) else "attention.layer_norm_epsilon", 1e-5),
        rope_base=base,
        rope_local_base=read.real("rope.local.freq_base", 10_000.0),
        rope_width=rope_width,
        rope_scaling=scaling,
        rope_factor=read.real("rope.scaling.factor", 1.0),
        rope_original=read.integer("rope.scaling.original_context_length", context),
        rope_attention_factor=read.real("rope.scaling.attn_factor", 0.0),
        window=read.integer("attention.sliding_window", 0),
        attention_softcap=read.real("attn_logit_softcapping", 0.0),
        final_softcap=read.real("final_logit_softcapping", 0.0),
        attention_scale=read.real("attention.scale", 0.0),
        # GGUF's converter reorders Llama's heads so that pairs are neighbors.
        adjacent_pairs=bool(metadata.get("general.adjacent_pairs", read.architecture == "llama")),
    )


def _wrong(key: str, value: Any, expected: str) -> InvalidArgument:
    return InvalidArgument(_OP, key, Description("none") if value is None else value, expected)
