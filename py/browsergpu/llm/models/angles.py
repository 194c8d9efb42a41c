"""Angles of rotary position embeddings, with the scalings of longer contexts."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.llm.models.config import Config


def angles(
    config: Config, positions: int, base: float, factors: np.ndarray | None = None,
    *, scaled: bool = True,
) -> np.ndarray:  # fmt: skip
    """Return the cosine and sine of each pair at each position, float32 [positions, R / 2, 2].

    Parameters
    ----------
    config : Config
        The model's.
    positions : int
        Number of positions.
    base : float
        Base of the frequencies.
    factors : array, optional
        Divisors of the frequencies, from the file: Llama 3's and LongRoPE's.
    scaled : bool
        Whether the configuration's scaling applies.
    """
    width = config.rope_width
    frequencies = base ** -(np.arange(0, width, 2, dtype=np.float64) / width)
    amplitude = 1.0
    if factors is not None:
        if factors.shape != frequencies.shape or not (factors > 0).all():
            expected = f"{width // 2} positive numbers"
            raise InvalidArgument("llm.load", "factors of rope", factors, expected)
        frequencies = frequencies / factors
    if scaled:
        frequencies, amplitude = _scaled(config, frequencies, base)
    turns = np.arange(positions, dtype=np.float64)[:, None] * frequencies
    found = np.stack([np.cos(turns), np.sin(turns)], axis=-1) * amplitude
    return found.astype(np.float32)


def _scaled(config: Config, frequencies: np.ndarray, base: float) -> tuple[np.ndarray, float]:
    """Return the scaled frequencies and the factor of cosines and sines."""
    kind, factor = config.rope_scaling, max(config.rope_factor, 1e-9)
    if kind == "linear":
        return frequencies / factor, 1.0
    if kind == "yarn":
        own = config.rope_attention_factor or 1.0
        return _yarn(config, frequencies, base), own * (0.1 * log(factor) + 1.0)
    if kind == "longrope":
        ratio = config.context / config.rope_original
        own = sqrt(1 + log(ratio) / log(config.rope_original)) if ratio > 1 else 1.0
        return frequencies, config.rope_attention_factor or own
    return frequencies, 1.0


def _yarn(config: Config, frequencies: np.ndarray, base: float) -> Any:
    """Interpolate slow pairs, keep fast pairs, and blend between (YaRN, arXiv 2309.00071)."""

    def pair_of(turns: float) -> float:
        """The pair that turns so often in the original context."""
        return config.rope_width * log(config.rope_original / (turns * 2 * pi)) / (2 * log(base))

    low = max(np.floor(pair_of(32.0)), 0.0)
    high = min(np.ceil(pair_of(1.0)), config.rope_width - 1.0)
    ramp = np.clip((np.arange(frequencies.size) - low) / max(high - low, 1e-3), 0, 1)
    return frequencies / config.rope_factor * ramp + frequencies * (1 - ramp)
