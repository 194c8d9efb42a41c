"""Transforms with random numbers, which ``torch.manual_seed`` determines."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Shown
from browsergpu.torch.nn.module import Module
from browsergpu.torch.tensors import randoms
from browsergpu.torch.vision.transforms import functional
from browsergpu.torch.vision.transforms.functional import InterpolationMode


def _number() -> float:
    """Draw a number from 0 to 1."""
    return float(randoms.rng_of(None).random())


def _integer(most: int) -> int:
    """Draw an integer from 0 to ``most``."""
    return int(randoms.rng_of(None).integers(0, most + 1))


class _WithChance(Module):
    """Transform an image with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise InvalidArgument(type(self).__name__, "p", p, "from 0 to 1")
        self.p = p

    def forward(self, img: Any) -> Any:
        """Return the image, or the transformed image."""
        return self._transformed(img) if _number() < self.p else img

    def _transformed(self, img: Any) -> Any:
        raise NotImplementedError

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"p={self.p}"


class RandomHorizontalFlip(_WithChance):
    """Swap left and right with a probability."""

    def _transformed(self, img: Any) -> Any:
        return functional.hflip(img)


class RandomVerticalFlip(_WithChance):
    """Swap top and bottom with a probability."""

    def _transformed(self, img: Any) -> Any:
        return functional.vflip(img)


class RandomGrayscale(_WithChance):
    """Convert an image to gray with a probability. It keeps its channels."""

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p)

    def _transformed(self, img: Any) -> Any:
        channels, _, _ = functional.get_dimensions(img)
        return functional.rgb_to_grayscale(img, channels)


class RandomApply(_WithChance):
    """Apply several transforms with a probability, or none of them."""

    def __init__(self, transforms: Sequence[Any], p: float = 0.5) -> None:
        super().__init__(p)
        self.transforms = transforms

    def _transformed(self, img: Any) -> Any:
        for transform in self.transforms:
            img = transform(img)
        return img


class RandomChoice(Shown):
    """Apply one of several transforms, drawn at random."""

    def __init__(self, transforms: Sequence[Any], p: Sequence[float] | None = None) -> None:
        if p is not None and len(p) != len(transforms):
            raise InvalidArgument("RandomChoice", "p", p, f"have {len(transforms)} numbers")
        self.transforms, self.p = transforms, p

    def __call__(self, img: Any) -> Any:
        """Apply one of the transforms."""
        weights = [1.0] * len(self.transforms) if self.p is None else self.p
        left = _number() * sum(weights)
        for transform, weight in zip(self.transforms, weights, strict=True):
            left -= weight
            if left < 0:
                return transform(img)
        return self.transforms[-1](img)


class RandomCrop(Module):
    """Take a rectangle at a random place.

    Parameters
    ----------
    size : int or sequence of int
        Height and width.
    padding : int or sequence of int, optional
        A border that the image gets before.
    pad_if_needed : bool, optional
        Whether a smaller image gets a border. Otherwise, it is refused.
    fill, padding_mode
        As in :func:`functional.pad`.
    """

    def __init__(
        self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:  # fmt: skip
        super().__init__()
        self.size = functional.pair_of("RandomCrop", "size", size)
        self.padding, self.pad_if_needed = padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    def forward(self, img: Any) -> Any:
        """Return the rectangle."""
        if self.padding is not None:
            img = functional.pad(img, self.padding, self.fill, self.padding_mode)
        height, width = self.size
        rows, columns = functional.size_of("RandomCrop", img)
        if self.pad_if_needed:
            missing = (max(width - columns, 0), max(height - rows, 0))
            if any(missing):
                img = functional.pad(img, missing, self.fill, self.padding_mode)
                rows, columns = functional.size_of("RandomCrop", img)
        if height > rows or width > columns:
            raise InvalidArgument("RandomCrop", "img", (rows, columns), f"at least {self.size}")
        top, left = _integer(rows - height), _integer(columns - width)
        return functional.crop(img, top, left, height, width)


class RandomResizedCrop(Module):
    """Take a rectangle of random size and shape, and resize it.

    Parameters
    ----------
    size : int or sequence of int
        Height and width of the result.
    scale : (float, float), optional
        The limits of the rectangle's share of the image's area.
    ratio : (float, float), optional
        The limits of the rectangle's width over its height.
    interpolation, antialias
        As in :func:`functional.resize`.
    """

    def __init__(
        self, size: Any, scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: Any = InterpolationMode.BILINEAR, antialias: bool | None = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.size = functional.pair_of("RandomResizedCrop", "size", size)
        for name, limits in (("scale", scale), ("ratio", ratio)):
            if not 0 < limits[0] <= limits[1]:
                raise InvalidArgument("RandomResizedCrop", name, limits, "two increasing numbers")
        self.scale, self.ratio = scale, ratio
        self.interpolation, self.antialias = interpolation, antialias

    def get_params(
        self, img: Any, scale: tuple[float, float], ratio: tuple[float, float]
    ) -> tuple[int, int, int, int]:
        """Draw a rectangle: top, left, height and width."""
        rows, columns = functional.size_of("RandomResizedCrop", img)
        low, high = (log(one) for one in ratio)
        for _ in range(10):
            area = rows * columns * (scale[0] + _number() * (scale[1] - scale[0]))
            shape = exp(low + _number() * (high - low))
            width, height = round(sqrt(area * shape)), round(sqrt(area / shape))
            if 0 < width <= columns and 0 < height <= rows:
                return _integer(rows - height), _integer(columns - width), height, width
        own = columns / rows  # the largest rectangle in the center with an allowed shape
        width = columns if own <= ratio[1] else round(rows * ratio[1])
        height = rows if own >= ratio[0] else round(columns / ratio[0])
        return (rows - height) // 2, (columns - width) // 2, height, width

    def forward(self, img: Any) -> Any:
        """Return the resized rectangle."""
        place = self.get_params(img, self.scale, self.ratio)
        return functional.resized_crop(img, *place, self.size, self.interpolation, self.antialias)
