"""Transforms without random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidType
from browsergpu.torch.nn.module import Module
from browsergpu.torch.vision.transforms import functional
from browsergpu.torch.vision.transforms.functional import InterpolationMode


class Compose:
    """Several transforms, one after the other."""

    def __init__(self, transforms: Sequence[Any]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        """Apply the transforms."""
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        lines = [f"\n    {transform}" for transform in self.transforms]
        return f"Compose({''.join(lines)}\n)"


class Lambda:
    """A function as a transform."""

    def __init__(self, lambd: Any) -> None:
        if not callable(lambd):
            raise InvalidType("Lambda", "lambd", lambd, "a function")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        """Call the function."""
        return self.lambd(img)

    def __repr__(self) -> str:
        return "Lambda()"


class ToTensor:
    """Convert an image to a tensor [C, H, W]. Bytes become floats from 0 to 1."""

    def __call__(self, pic: Any) -> Any:
        """Convert an image."""
        return functional.to_tensor(pic)

    def __repr__(self) -> str:
        return "ToTensor()"


class PILToTensor:
    """Convert an image of Pillow to a tensor [C, H, W] of its own dtype."""

    def __call__(self, pic: Any) -> Any:
        """Convert an image."""
        return functional.pil_to_tensor(pic)

    def __repr__(self) -> str:
        return "PILToTensor()"


class ToPILImage:
    """Convert a tensor [C, H, W] or an array [H, W, C] to an image of Pillow."""

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        """Convert a tensor or an array."""
        return functional.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return f"ToPILImage({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(Module):
    """Convert an image to another dtype, with its values scaled."""

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.dtype = np.dtype(dtype)

    def forward(self, image: Any) -> Any:
        """Convert an image."""
        return functional.convert_image_dtype(image, self.dtype)


class Normalize(Module):
    """Subtract a mean from each channel, and divide by a deviation."""

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor: Any) -> Any:
        """Return the normalized tensor."""
        return functional.normalize(tensor, self.mean, self.std, self.inplace)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"mean={self.mean}, std={self.std}"


class Resize(Module):
    """Resize an image. See :func:`functional.resize`."""

    def __init__(
        self, size: Any, interpolation: Any = InterpolationMode.BILINEAR,
        max_size: int | None = None, antialias: bool | None = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.size, self.max_size = size, max_size
        self.interpolation, self.antialias = InterpolationMode(interpolation), antialias

    def forward(self, img: Any) -> Any:
        """Return the resized image."""
        return functional.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def extra_repr(self) -> str:
        """Return the settings."""
        how = f"interpolation={self.interpolation.value}"
        return f"size={self.size}, {how}, max_size={self.max_size}, antialias={self.antialias}"


class CenterCrop(Module):
    """Take the center of an image."""

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = functional.pair_of("CenterCrop", "size", size)

    def forward(self, img: Any) -> Any:
        """Return the center."""
        return functional.center_crop(img, self.size)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"size={self.size}"


class Pad(Module):
    """Put a border around an image. See :func:`functional.pad`."""

    def __init__(self, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img: Any) -> Any:
        """Return the image with a border."""
        return functional.pad(img, self.padding, self.fill, self.padding_mode)


class Grayscale(Module):
    """Convert an image to gray."""

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img: Any) -> Any:
        """Return the gray image."""
        return functional.rgb_to_grayscale(img, self.num_output_channels)
