"""Warnings of what CUDA has and WebGPU has not, each told once."""

from __future__ import annotations

import warnings

from browsergpu.core.places import frames_of_the_package

_told: set[str] = set()


def say(name: str, meaning: str) -> None:
    """Warn the first time that a name which does nothing, or less than CUDA's, is used."""
    if name not in _told:
        _told.add(name)
        warnings.warn(f"{name}: {meaning}", RuntimeWarning, stacklevel=frames_of_the_package())


def forget() -> None:
    """Have each warning be told again."""
    _told.clear()
