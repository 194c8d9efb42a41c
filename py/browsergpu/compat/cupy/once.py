"""Warnings of what CUDA has and WebGPU has not, each told once."""

from __future__ import annotations

import warnings

from browsergpu.core.places import frames_of_the_package

_warned: set[str] = set()


def warn_once(name: str, meaning: str) -> None:
    """Warn the first time that a name which does nothing, or less than CUDA's, is used."""
    if name not in _warned:
        _warned.add(name)
        warnings.warn(f"{name}: {meaning}", RuntimeWarning, stacklevel=frames_of_the_package())


def reset_warnings() -> None:
    """Have each warning be told again."""
    _warned.clear()
