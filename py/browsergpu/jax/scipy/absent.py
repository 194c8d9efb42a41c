"""The errors of names of SciPy that are not available."""

from __future__ import annotations

from browsergpu.engine.core.errors import UnknownName


def unknown(module: str, name: str) -> UnknownName:
    """Return the error for a name that a module of SciPy does not have here."""
    advice = "it is not available. browsergpu.special or browsergpu.linalg may have it."
    return UnknownName(f"browsergpu.jax.scipy.{module}.{name}", advice)
