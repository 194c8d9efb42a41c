"""Image transforms, models and datasets, by torchvision's names.

``import browsergpu.torch.vision as torchvision``, or ``from torchvision import transforms`` after
``browsergpu.torch.install()``.
"""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.torch.vision import datasets, models, transforms, utils

__all__ = ["datasets", "models", "transforms", "utils"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torchvision.{name}", "it is not available.")
