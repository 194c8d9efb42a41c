"""How each public name of NumPy is served: on the GPU, on the host, by NumPy, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from types import ModuleType
from typing import Any

import numpy as np

import browsergpu
from browsergpu.compat.numpy.namespace import LOADERS, READERS


class Kind(StrEnum):
    """How a name of NumPy is served."""

    GPU = "GPU"
    HOST = "host"  # computed by NumPy
    NUMPY = "NumPy's own"  # takes no arrays, or is about reading or loading them
    REFUSED = "refused"


MODULES: dict[str, tuple[Any, Any]] = {
    "": (np, browsergpu),
    "linalg.": (np.linalg, browsergpu.linalg),
    "fft.": (np.fft, browsergpu.fft),
    "random.": (np.random, browsergpu.random),
}


#: Functions that browsergpu defines and computes with NumPy.
ON_HOST = {"ix_", "ndenumerate", "vectorize", "linalg.eig", "linalg.eigvals"}


def names() -> Iterator[tuple[str, Any, Any]]:
    """Yield NumPy's public names, with NumPy's object and browsergpu's; None if refused."""
    for before, (theirs, ours) in MODULES.items():
        for name in sorted(theirs.__all__):
            one = getattr(theirs, name)
            if not isinstance(one, ModuleType) and not name.startswith("__"):
                yield before + name, one, getattr(ours, name, None)


def kind_of(name: str, theirs: Any, ours: Any) -> Kind:
    """Return how a name is served."""
    if ours is None and theirs is not None:
        return Kind.REFUSED
    if ours is theirs or name in READERS or name in LOADERS:
        return Kind.NUMPY
    is_empty = isinstance(theirs, np.ufunc) and not getattr(ours, "is_on_gpu", True)
    is_on_host = is_empty or hasattr(ours, "of_numpy") or name in ON_HOST
    return Kind.HOST if is_on_host else Kind.GPU
