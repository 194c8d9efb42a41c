"""Transforms of images, as ``torchvision.transforms``."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.torch.vision.transforms import functional
from browsergpu.torch.vision.transforms.fixed import (
    CenterCrop,
    Compose,
    ConvertImageDtype,
    Grayscale,
    Lambda,
    Normalize,
    Pad,
    PILToTensor,
    Resize,
    ToPILImage,
    ToTensor,
)
from browsergpu.torch.vision.transforms.functional import InterpolationMode
from browsergpu.torch.vision.transforms.random import (
    RandomApply,
    RandomChoice,
    RandomCrop,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
)

__all__ = [
    "CenterCrop", "Compose", "ConvertImageDtype", "Grayscale", "InterpolationMode", "Lambda",
    "Normalize", "PILToTensor", "Pad", "RandomApply", "RandomChoice", "RandomCrop",
    "RandomGrayscale", "RandomHorizontalFlip", "RandomResizedCrop", "RandomVerticalFlip", "Resize",
    "ToPILImage", "ToTensor", "functional",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torchvision.transforms.{name}", "it is not available.")
