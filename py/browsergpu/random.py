"""Random numbers: ``browsergpu.random.default_rng(seed)``."""

from browsergpu.array.functions.drawing import Generator, default_rng

__all__ = ["Generator", "default_rng"]
