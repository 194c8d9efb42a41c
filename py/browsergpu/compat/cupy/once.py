"""Warnings about CUDA features that WebGPU does not have, shown once each."""

from __future__ import annotations

import warnings

from browsergpu.engine.core.places import frames_of_the_package

_warned: set[str] = set()


def warn_once(name: str, meaning: str) -> None:
    """Warn at the first use of a name that does nothing, or less than in CUDA."""
    if name not in _warned:
        _warned.add(name)
        warnings.warn(f"{name}: {meaning}", RuntimeWarning, stacklevel=frames_of_the_package())


def reset_warnings() -> None:
    """Show each warning again at its next use."""
    _warned.clear()
